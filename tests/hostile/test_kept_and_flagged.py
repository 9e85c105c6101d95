"""What can be read of a file by others is kept, and flagged for what is wrong with it."""

from __future__ import annotations

import gzip
import random
import zipfile
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import zstandard

from asof.archive import OpenArchive
from asof.archive.check import Checked, check
from asof.archive.folder import Folder
from asof.archive.intake import Intake, take_in
from asof.archive.reindex import reindex
from asof.config import Config
from asof.errors import StorageError
from asof.model import Capture
from support import forge, rig
from support.forge import CRLF, Rec, recs

Pack = Callable[[bytes], bytes]
PACKS: dict[str, Pack] = {
    "plain": bytes,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
}
every_pack = pytest.mark.parametrize("form", PACKS)
WRONG = forge.sha1(b"something else")


def written(path: Path, form: str, *parts: bytes) -> Path:
    path.write_bytes(b"".join(PACKS[form](part) for part in parts))
    return path


def taken(root: Path, *paths: Path, config: Config = Config()) -> list[Intake]:  # noqa: B008
    with OpenArchive.write(root, purpose="import") as archive:
        return [
            take_in(archive, path, spread=map, progress=lambda size: None, config=config)
            for path in paths
        ]


def captures(root: Path) -> dict[str, Capture]:
    with OpenArchive.open(root) as archive:
        return {capture.url: capture for capture in archive.captures()}


def payload(root: Path, capture: Capture) -> bytes:
    with OpenArchive.open(root) as archive:
        return b"".join(archive.read(capture).payload())


def checked(root: Path) -> Checked:
    with OpenArchive.open(root) as archive:
        return check(archive, spread=map, progress=lambda size: None)


def same_after_reindex(root: Path) -> bool:
    before = captures(root)
    reindex(Folder(root), spread=map, progress=lambda size: None)
    return captures(root) == before


# --- digests -------------------------------------------------------------------------------------


@every_pack
@pytest.mark.parametrize("field", ["WARC-Block-Digest", "WARC-Payload-Digest"])
@pytest.mark.parametrize("value", [WRONG, "sha1:not-a-digest", WRONG.lower()])
def test_a_wrong_digest_is_kept_flagged_and_told_by_every_check(
    tmp_path: Path, form: str, field: str, value: str
) -> None:
    records = recs(3)
    bad = replace(records[1], digests=False, extra=[(field, value)])
    path = written(tmp_path / "x.warc", form, *(r.plain() for r in [records[0], bad, records[2]]))
    root = tmp_path / "archive"
    (report,) = taken(root, path)
    assert (report.captures, report.added, len(report.flagged)) == (3, 3, 1)
    assert report.flagged[0].file == str(path)
    found = captures(root)
    assert found[bad.url].anomalies == ("digest-mismatch",)
    assert [found[r.url].anomalies for r in (records[0], records[2])] == [(), ()]
    assert payload(root, found[bad.url]) == bad.body
    for _ in range(2):
        result = checked(root)
        assert result.ok
        assert [problem.offset for problem in result.as_it_came] == [found[bad.url].where.offset]
    assert same_after_reindex(root)
    assert len(checked(root).as_it_came) == 1
    assert taken(root, path)[0].added == 0


def test_a_digest_that_comes_to_be_wrong_is_damage(tmp_path: Path) -> None:
    records = recs(3)
    root = tmp_path / "archive"
    taken(root, written(tmp_path / "x.warc.gz", "gzip", *(record.plain() for record in records)))
    (file,) = (root / "warc").iterdir()
    parts = [record.plain() for record in records]
    parts[1] = parts[1].replace(b"<title>1", b"<title>7")
    written(file, "gzip", *parts)
    result = checked(root)
    assert not result.ok
    assert not result.as_it_came


def test_what_is_whole_takes_the_place_of_what_was_not(tmp_path: Path) -> None:
    (record,) = recs(1)
    torn = written(tmp_path / "torn.warc", "plain", record.plain()[:-12])
    whole = written(tmp_path / "whole.warc", "plain", record.plain())
    root = tmp_path / "archive"
    taken(root, torn)
    assert captures(root)[record.url].truncated == "unspecified"
    assert taken(root, whole)[0].added == 1
    assert captures(root)[record.url].truncated is None
    assert same_after_reindex(root)
    assert [each.added for each in taken(root, torn, whole)] == [0, 0]
    assert checked(root).ok


# --- records that are not whole ------------------------------------------------------------------


@pytest.mark.parametrize("form", ["plain", "gzip"])
def test_a_record_that_is_cut_short_is_kept_as_truncated(tmp_path: Path, form: str) -> None:
    records = recs(3)
    pack = PACKS[form]
    last = pack(records[2].plain())
    path = tmp_path / "cut.warc"
    path.write_bytes(b"".join(pack(r.plain()) for r in records[:2]) + last[: len(last) - 14])
    root = tmp_path / "archive"
    (report,) = taken(root, path)
    assert [damage.file for damage in report.damage] == [str(path)]
    found = captures(root)[records[2].url]
    assert found.truncated == "unspecified"
    assert "cut-short" in found.anomalies
    assert records[2].body.startswith(payload(root, found))
    assert checked(root).ok
    assert same_after_reindex(root)


@pytest.mark.parametrize("form", ["plain", "gzip"])
def test_a_large_record_that_is_cut_short_is_kept_in_pieces(tmp_path: Path, form: str) -> None:
    record = Rec("http://a.example/large", random.Random(1).randbytes(6 << 20))
    path = tmp_path / "cut.warc"
    path.write_bytes(PACKS[form](record.plain())[: -(1 << 20)])
    root = tmp_path / "archive"
    taken(root, path)
    kept = payload(root, captures(root)[record.url])
    assert len(kept) > 4 << 20
    assert record.body.startswith(kept)
    assert checked(root).ok


@every_pack
@pytest.mark.parametrize("declared", [3, 10**6, "", "0x10", "12 13"])
def test_a_wrong_length_costs_nothing_that_can_be_read(
    tmp_path: Path, form: str, declared: int | str
) -> None:
    records = recs(4)
    records[1].declared = declared  # type: ignore[assignment]
    path = written(tmp_path / "x.warc", form, *(record.plain() for record in records))
    root = tmp_path / "archive"
    (report,) = taken(root, path)
    found = captures(root)
    assert set(found) == {record.url for record in records}
    assert "cut-short" in found[records[1].url].anomalies
    assert payload(root, found[records[1].url]) == records[1].body
    assert "kept" in report.damage[0].reason
    assert checked(root).ok


def test_a_member_with_a_wrong_checksum_is_kept_and_flagged(tmp_path: Path) -> None:
    records = recs(3, digests=False)
    parts = [record.gz() for record in records]
    parts[1] = parts[1][:-8] + bytes(4) + parts[1][-4:]
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"".join(parts))
    root = tmp_path / "archive"
    (report,) = taken(root, path)
    assert len(report.damage) == 1
    assert [c.anomalies for c in captures(root).values()] == [(), ("checksum-mismatch",), ()]


def test_torn_documents_of_arc_and_trec_are_kept(tmp_path: Path) -> None:
    arc = tmp_path / "x.arc"
    arc.write_bytes(forge.arc_head() + forge.arc_rec("http://a/", b"half of it", declared=99))
    trec = tmp_path / "x.trec"
    trec.write_bytes(forge.trec_doc(1)[:-20])
    root = tmp_path / "archive"
    assert [len(report.damage) for report in taken(root, arc, trec)] == [1, 1]
    found = captures(root)
    assert {capture.truncated for capture in found.values()} == {"unspecified"}
    assert payload(root, found["http://a/"]).startswith(b"half of it")


def test_a_record_inside_of_a_damaged_one_says_that_it_may_be_forged(tmp_path: Path) -> None:
    """Who writes a page can write records into it; they come to light when its length is lost."""
    forged = Rec("http://bank.example/", b"send money", "2021-03-04T05:00:00Z")
    page = Rec("http://evil.example/", b"<p>\n" + forged.plain() + b"</p>")
    before, after = recs(2)
    path = written(tmp_path / "x.warc", "plain", before.plain(), page.plain(), after.plain())
    root = tmp_path / "whole"
    taken(root, path)
    assert set(captures(root)) == {before.url, page.url, after.url}
    page.declared = 7
    written(path, "plain", before.plain(), page.plain(), after.plain())
    root = tmp_path / "damaged"
    (report,) = taken(root, path)
    found = captures(root)
    assert found[before.url].anomalies == ()
    assert found[forged.url].anomalies == ("after-damage",)
    assert "forge" in report.flagged[-1].reason
    assert same_after_reindex(root)


def test_a_file_that_is_damaged_later_is_read_with_the_same_doubt(tmp_path: Path) -> None:
    forged = Rec("http://bank.example/", b"send money", "2021-03-04T05:00:00Z")
    page = Rec("http://evil.example/", b"<p>\n" + forged.plain() + b"</p>")
    before, after = recs(2)
    path = written(tmp_path / "x.warc", "plain", before.plain(), page.plain(), after.plain())
    root = tmp_path / "archive"
    taken(root, path)
    (file,) = (root / "warc").iterdir()
    page.declared = 7
    written(file, "plain", before.plain(), page.plain(), after.plain())
    assert not checked(root).ok
    result = reindex(Folder(root), spread=map, progress=lambda size: None)
    assert result.damage
    found = {url: capture.anomalies for url, capture in captures(root).items()}
    assert found == {before.url: ()} | dict.fromkeys((forged.url, after.url), ("after-damage",))


def test_a_member_inside_of_a_damaged_one_says_that_it_may_be_forged(tmp_path: Path) -> None:
    """A captured .warc.gz lies in its member as it is; where that breaks, its own members show."""
    forged = Rec("http://bank.example/", b"send money", "2021-03-04T05:00:00Z")
    page = Rec("http://evil.example/x.warc.gz", random.Random(2).randbytes(99_000) + forged.gz())
    before, after = recs(2)
    middle = bytearray(gzip.compress(page.plain(), 0, mtime=0))
    middle[10:15] = b"\xff" * 5  # no such block of deflate
    path = tmp_path / "x.warc.gz"
    path.write_bytes(before.gz() + middle + after.gz())
    root = tmp_path / "archive"
    taken(root, path)
    found = captures(root)
    assert {before.url, after.url} <= set(found)
    assert [c.anomalies for url, c in found.items() if url != before.url] in (
        [("after-damage",)],
        [("after-damage",), ("after-damage",)],
    )


# --- forms ---------------------------------------------------------------------------------------


@every_pack
@pytest.mark.parametrize("version", ["warc/1.0", "WARC/0.9", "Warc/0.17", "WARC/1.1"])
@pytest.mark.parametrize("eol", [CRLF, b"\n", b"\r\r\n"], ids=["crlf", "lf", "cr-cr-lf"])
def test_versions_and_line_ends(tmp_path: Path, form: str, version: str, eol: bytes) -> None:
    records = recs(3, version=version, eol=eol)
    path = written(tmp_path / "x.warc", form, *(record.plain() for record in records))
    root = tmp_path / "archive"
    (report,) = taken(root, path)
    assert (report.added, report.damage, report.flagged) == (3, (), ())
    assert payload(root, captures(root)[records[2].url]) == records[2].body


def test_files_without_captures_are_kept_once(tmp_path: Path) -> None:
    kinds = ["conversion", "request", "metadata", "warcinfo"]
    paths = []
    for kind in kinds:
        media = (("Content-Type", "application/warc-fields"),) if kind == "metadata" else ()
        record = Rec("http://a.example/", b"text", kind=kind, block=b"text", extra=media)
        plain = record.plain()
        if media:
            plain = plain.replace(b"Content-Type: application/octet-stream\r\n", b"")
        paths.append(written(tmp_path / f"{kind}.warc.gz", "gzip", plain))
    root = tmp_path / "archive"
    assert [(report.captures, len(report.stored)) for report in taken(root, *paths)] == [(0, 1)] * 4
    assert [report.stored for report in taken(root, *paths)] == [()] * 4
    assert len(list((root / "warc").iterdir())) == 4
    assert checked(root).records == 4


def segments(*, last: bool = True) -> list[Rec]:
    whole = Rec("http://a.example/long", b"0123456789" * 20)
    block = whole.http()
    one = replace(
        whole,
        block=block[:100],
        record_id="11111111-1111-4111-8111-111111111111",
        extra=[("WARC-Segment-Number", "1"), ("WARC-Payload-Digest", forge.sha1(whole.body))],
    )
    rest = [
        Rec(
            whole.url,
            kind="continuation",
            block=part,
            record_id=f"11111111-1111-4111-8111-11111111111{number}",
            extra=[
                ("WARC-Segment-Number", str(number)),
                ("WARC-Segment-Origin-ID", "<urn:uuid:11111111-1111-4111-8111-111111111111>"),
                *([("WARC-Segment-Total-Length", str(len(block)))] if number == 3 else []),
            ],
        )
        for number, part in ((2, block[100:150]), (3, block[150:]))
    ]
    return [one, *rest] if last else [one, rest[0]]


@every_pack
def test_records_in_segments_are_put_together(tmp_path: Path, form: str) -> None:
    parts = [recs(1)[0], *segments()]
    path = written(tmp_path / "x.warc", form, *(record.plain() for record in parts))
    root = tmp_path / "archive"
    (report,) = taken(root, path)
    assert (report.captures, report.damage, report.flagged) == (2, (), ())
    found = captures(root)["http://a.example/long"]
    assert found.truncated is None
    assert payload(root, found) == b"0123456789" * 20
    assert checked(root).ok
    assert not checked(root).as_it_came


def test_a_segment_that_is_missing_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "x.warc", "gzip", *(r.plain() for r in segments(last=False)))
    root = tmp_path / "archive"
    (report,) = taken(root, path)
    assert captures(root)["http://a.example/long"].truncated == "segmentation"
    assert "segment 1 of http://a.example/long" in report.damage[0].reason


# --- room, and nothing left ----------------------------------------------------------------------


def left(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.name.endswith((".warc", ".gz", ".part"))]


@pytest.mark.parametrize("form", ["plain", "gzip"])
@pytest.mark.parametrize("cut", [0, 9])
def test_an_import_leaves_the_disk_its_reserve(tmp_path: Path, form: str, cut: int) -> None:
    path = written(tmp_path / "x.warc", form, *(record.plain() for record in recs(3)))
    path.write_bytes(path.read_bytes()[: -cut or None])
    root = tmp_path / "archive"
    with pytest.raises(StorageError, match="disk_reserve"):
        taken(root, path, config=Config(disk_reserve=1 << 60))
    assert left(root) == []
    assert captures(root) == {}


@pytest.mark.parametrize("deflate", [False, True])
def test_a_package_that_the_disk_does_not_take_is_not_called_damaged(
    tmp_path: Path, deflate: bool
) -> None:
    packed = b"".join(record.gz() for record in recs(3))
    path = forge.wacz(tmp_path / "x.wacz", {"archive/x.warc.gz": packed}, deflate=deflate)
    root = tmp_path / "archive"
    with pytest.raises(StorageError, match=r"x\.wacz was not imported, for .* disk_reserve"):
        taken(root, path, config=Config(disk_reserve=1 << 60))
    assert left(root) == []


@pytest.mark.parametrize("form", ["get", "warc", "trec", "wacz"])
def test_what_unpacks_to_much_leaves_the_disk_its_reserve(tmp_path: Path, form: str) -> None:
    """A small file of zeros, and where they would be written out."""
    noise = b"".join(sha256(b"%d" % n).digest() for n in range(1 << 18))
    body = noise if form in ("warc", "wacz") else bytes(40_000_000)
    path = tmp_path / "x.warc.gz"
    path.write_bytes(Rec("http://a.example/", body).gz())
    root, out = tmp_path / "archive", tmp_path / "out"
    rig.ok("import", path, "-a", root)
    words = ["get", "http://a.example/"] if form == "get" else ["export", "--format", form]
    rig.ok(*words, "-a", root, "-o", out)
    out.unlink()
    short = {"ASOF_DISK_RESERVE": "900000000000000"}
    refused = rig.ok(*words, "-a", root, "-o", out, code=1, env=short)
    assert f"The disk of {out} has only its reserve left." in refused.err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["archive", "x.warc.gz"]


def test_of_a_package_that_fails_nothing_stays(tmp_path: Path) -> None:
    """The second file does not fit any more; the first is taken back."""
    first, second = (b"".join(r.gz() for r in recs(9, host=h)) for h in ("a.example", "b.example"))
    path = forge.wacz(
        tmp_path / "x.wacz", {"archive/a.warc.gz": first, "archive/b.warc.gz": second}
    )
    root = tmp_path / "archive"

    class Filling(Config):
        def room(self, folder: Path) -> int:
            return 0 if any(folder.rglob("*a.warc.gz")) and folder == root else 1 << 40

    with pytest.raises(StorageError, match="nothing of it was kept"):
        taken(root, path, config=Filling())
    assert left(root) == []
    assert captures(root) == {}
    assert [report.added for report in taken(root, path)] == [18]


def test_a_package_that_unpacks_to_far_more_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.wacz"
    page = Rec("http://a.example/", b"0" * (8 << 20)).plain()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("archive/a.warc", page)
    root = tmp_path / "archive"
    (report,) = taken(root, path)
    assert "100 times" in report.damage[0].reason
    assert left(root) == []


def test_an_import_of_nothing_makes_no_archive(tmp_path: Path) -> None:
    junk = tmp_path / "junk.warc"
    junk.write_bytes(b"no archive at all")
    result = rig.run("import", junk, "-a", tmp_path / "archive")
    assert result.code == 2, str(result)
    assert str(junk) in result.err
    assert not (tmp_path / "archive").exists()


def test_commands_say_what_is_flagged_and_what_came_so(tmp_path: Path) -> None:
    records = recs(2)
    bad = replace(records[1], digests=False, extra=[("WARC-Payload-Digest", WRONG)])
    path = written(tmp_path / "x.warc", "plain", records[0].plain(), bad.plain())
    archive = tmp_path / "archive"
    result = rig.run("import", path, "-a", archive)
    assert result.code == 1, str(result)
    assert f"{path} at {len(records[0].plain()):,}: the payload digest does not match" in result.err
    rows = {row["url"]: row["anomalies"] for row in rig.rows_of(archive)}
    assert rows == {records[0].url: [], bad.url: ["digest-mismatch"]}
    told = rig.run("check", "-a", archive)
    assert told.code == 0, str(told)
    assert "all well" not in (told.out.decode() + told.err)
    assert "as they came" in (told.out.decode() + told.err)
    report = rig.run("check", "-a", archive, "--json").json()
    assert (report["ok"], report["problems"], len(report["as_it_came"])) == (True, [], 1)
    wet = written(tmp_path / "x.wet", "gzip", Rec("http://a/", b"text", kind="conversion").plain())
    result = rig.run("import", wet, "-a", archive)
    assert result.code == 0, str(result)
    assert f"{wet} holds no capture; it is kept as 000002-import-" in result.err
