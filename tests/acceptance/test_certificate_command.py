"""`asof quality --certificate` and `asof check --certificate`: a claim that anybody can check.

The files here are built by hand as a crawl of asof leaves them, so that every moment is known; and
one site is crawled over HTTP. The catalog is deleted before a check: the files must be enough.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import pytest

from support import rig
from support.forge import Rec
from support.rig import crawl, ok, page, run, site

CRAWL = "20260301120000-hand"
HOST = "http://www.example.org"
TURN = "2026-03-01T12:05:00.000000Z"


def at(minute: int) -> str:
    return f"2026-03-01T12:{minute:02d}:00.000000Z"


def about_crawl(kind: str, minute: int, turn: str | None, state: str = "running") -> Rec:
    """What a file says of the crawl it is of."""
    said = {
        "id": CRAWL, "seeds": [f"{HOST}/"], "started": at(0), "state": state,
        "ended": at(minute) if state == "finished" else None, "settings": {}, "note": "",
        "course": {
            "mode": "inducible", "plan": "optimal", "expected": 0.75, "pages": 4, "eta": None,
            "turn": turn,
        },
    }  # fmt: skip
    block = f"asof-crawl: {json.dumps(said)}\r\n".encode()
    return Rec(
        "", kind=kind, block=block, date=at(minute), version="WARC/1.1",
        extra=(("WARC-Asof-Crawl", CRAWL),),
    )  # fmt: skip


def visit(name: str, minute: int, text: str, **kw: Any) -> Rec:
    headers = (("Content-Type", "text/html"), ("Date", f"Sun, 01 Mar 2026 12:{minute:02d}:00 GMT"))
    return Rec(
        f"{HOST}/{name}", text.encode() * 40, at(minute), version="WARC/1.1",
        headers=kw.pop("headers", headers), **kw,
    )  # fmt: skip


def packed(records: list[Rec]) -> bytes:
    """The records of a file; those about the crawl have no target and are fields of text."""
    parts = []
    for rec in records:
        plain = rec.plain()
        if rec.kind in {"warcinfo", "metadata"}:
            plain = plain.replace(b"WARC-Target-URI: \r\n", b"").replace(
                b"application/octet-stream", b"application/warc-fields"
            )
        parts.append(gzip.compress(plain, 6, mtime=0))
    return b"".join(parts)


def build(root: Path) -> Path:
    """Four pages, visited until 12:05 and then again: two the same, one changed, one lost."""
    folder = root / "archive"
    (folder / "warc").mkdir(parents=True)
    records = [
        about_crawl("warcinfo", 0, None),
        visit("gone", 1, "going"),
        visit("news", 2, "old news"),
        visit("about", 3, "about us"),
        visit("", 5, "joker"),
        about_crawl("metadata", 5, TURN),
        visit("about", 6, "about us"),
        visit("news", 7, "new news"),
        visit("gone", 8, "not here", status="404 Not Found"),
        about_crawl("metadata", 9, TURN, "finished"),
    ]
    (folder / "warc" / f"000001-{CRAWL}.warc.gz").write_bytes(packed(records))
    ok("reindex", "-a", folder)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive and its certificate, made once; every test has copies."""
    root = tmp_path_factory.mktemp("built")
    folder = build(root)
    done = ok("quality", CRAWL, "-a", folder, "--certificate", root / "certificate.json")
    assert "sealed with sha256:" in done.err
    rig.remove_database(folder)
    return root


@pytest.fixture
def archive(built: Path, tmp_path: Path) -> Path:
    shutil.copytree(built / "archive", tmp_path / "archive")
    return tmp_path / "archive"


@pytest.fixture
def certificate(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(built / "certificate.json", tmp_path))


def check(archive: Path, certificate: Path, code: int = 0) -> dict:
    return ok("check", "-a", archive, "--certificate", certificate, "--json", code=code).json()


def test_it_says_what_is_known_of_every_page(certificate: Path) -> None:
    said = json.loads(certificate.read_bytes())
    grades = {found["url"].removeprefix(HOST): found["grade"] for found in said["pages"]}
    assert grades == {"/": "proven", "/about": "proven", "/news": "changed", "/gone": "changed"}
    assert said["c"] == 0.5
    assert (said["mode"], said["reference"]) == ("inducible", TURN)
    assert said["crawls"][0]["seeds"] == [f"{HOST}/"]
    about = next(found for found in said["pages"] if found["url"].endswith("/about"))
    assert (about["before"]["at"], about["after"]["at"]) == (at(3), at(6))
    assert about["before"]["digest"] == about["after"]["digest"]
    assert about["before"]["record_id"].startswith("urn:uuid:")


def test_it_is_verified_from_the_files_alone(archive: Path, certificate: Path) -> None:
    done = ok("check", "-a", archive, "--certificate", certificate)
    assert b"the certificate holds: C = 0.5 as of 2026-03-01T12:05:00" in done.out
    assert not (archive / "asof.db").exists(), "a check writes nothing"


def test_it_holds_after_reindex_and_another_crawl(archive: Path, certificate: Path) -> None:
    ok("reindex", "-a", archive)
    with site({"/": page("<p>another site</p>")}) as server:
        crawl(archive, server.url)
    assert check(archive, certificate)["ok"] is True


def test_a_changed_verdict_is_named(archive: Path, certificate: Path) -> None:
    text = certificate.read_text()
    certificate.write_text(text.replace('"grade": "changed"', '"grade": "proven"', 1))
    said = check(archive, certificate, code=1)
    assert said["ok"] is False
    assert said["differences"][0].startswith("digest: the certificate was changed")
    assert f"pages[{HOST}/gone].grade" in said["differences"][1]
    done = ok("check", "-a", archive, "--certificate", certificate, code=1)
    assert b"the certificate does not hold: 2 differences" in done.out


def test_a_changed_byte_of_a_file_is_found(archive: Path, certificate: Path) -> None:
    (file,) = rig.warcs(archive)
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 1
    file.write_bytes(whole)
    said = check(archive, certificate, code=1)
    assert any(f"files[{file.name}].sha256" in line for line in said["differences"])


def test_files_that_are_missing_renamed_or_short(archive: Path, certificate: Path) -> None:
    (file,) = rig.warcs(archive)
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    assert "bytes, not" in check(archive, certificate, code=1)["differences"][0]
    file.rename(file.with_name("000001-other.warc.gz"))
    assert "the file is missing" in check(archive, certificate, code=1)["differences"][0]


def test_a_hostile_certificate_does_not_steer_the_terminal(
    archive: Path, certificate: Path
) -> None:
    said = json.loads(certificate.read_text())
    said["files"][0]["file"] = "\x1b[2J\x1b]0;owned\x07.warc.gz"
    certificate.write_text(json.dumps(said))
    done = ok("check", "-a", archive, "--certificate", certificate, code=1)
    assert b"the file is missing" in done.out
    assert all(line.isprintable() for line in done.out.decode().splitlines())


def test_what_was_appended_later_is_no_evidence_but_named(archive: Path, certificate: Path) -> None:
    """A torn end is nothing; a crawl that went on is no longer certified as a whole."""
    (file,) = rig.warcs(archive)
    with file.open("ab") as more:
        more.write(b"a torn end")
    assert check(archive, certificate)["ok"] is True
    with file.open("ab") as more:
        more.write(visit("more", 30, "later").gz())
    [said] = check(archive, certificate, code=1)["differences"]
    assert f"files[{file.name}]: goes on after the bytes that are named" in said
    assert f"{HOST}/more" in said


# -- of the whole ----------------------------------------------------------------------------------

PAGES = 30


def confirmed(name: str, second: int, of: str) -> Rec:
    """A 304 about a page that was visited in a minute."""
    return Rec(
        f"{HOST}/{name}", b"", f"2026-03-01T12:06:{second:02d}.000000Z", kind="revisit",
        version="WARC/1.1", status="304 Not Modified", headers=(("ETag", '"v1"'),),
        extra=(
            ("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/server-not-modified"),
            ("WARC-Refers-To-Target-URI", f"{HOST}/{name}"), ("WARC-Refers-To-Date", of),
        ),
    )  # fmt: skip


def lying(folder: Path) -> Path:
    """A server that confirms what has changed: told in one file, found out by audits in another."""
    (folder / "warc").mkdir(parents=True)
    pages = [f"page{number}" for number in range(PAGES)]
    tag = (("Content-Type", "text/html"), ("ETag", '"v1"'))
    told = [
        about_crawl("warcinfo", 0, None),
        *(visit(name, 1, f"{name} at first", headers=tag) for name in pages),
        about_crawl("metadata", 5, TURN),
        *(confirmed(name, 2 * no, at(1)) for no, name in enumerate(pages)),
        about_crawl("metadata", 9, TURN, "finished"),
    ]
    audits = [about_crawl("warcinfo", 0, TURN)]
    for no, name in enumerate(pages[:6]):
        audit = visit(name, 6, f"{name} has changed", headers=tag)
        audits.append(replace(audit, date=f"2026-03-01T12:06:{2 * no + 1:02d}.000000Z"))
    (folder / "warc" / f"000001-{CRAWL}.warc.gz").write_bytes(packed(told))
    (folder / "warc" / f"000002-{CRAWL}.warc.gz").write_bytes(packed(audits))
    return folder


def counts(certificate: Path) -> dict[str, int]:
    return json.loads(certificate.read_bytes())["counts"]


def test_who_leaves_out_the_files_with_the_audits_is_found_out(tmp_path: Path) -> None:
    whole = lying(tmp_path / "whole")
    part = Path(shutil.copytree(whole, tmp_path / "part"))
    left_out = rig.warcs(part)[1]
    left_out.unlink()
    for folder in (whole, part):
        ok("reindex", "-a", folder)
        ok("quality", CRAWL, "-a", folder, "--certificate", tmp_path / f"{folder.name}.json")
    assert counts(tmp_path / "whole.json")["confirmed"] == 0, "the audits convict the server"
    assert counts(tmp_path / "part.json")["confirmed"] == PAGES, "nothing tells in the files"
    assert check(whole, tmp_path / "whole.json")["ok"] is True
    said = check(whole, tmp_path / "part.json", code=1)
    [line] = said["differences"]
    assert line.startswith(f"files[{left_out.name}]: is not named, and is of the crawl {CRAWL}")
    done = ok("check", "-a", whole, "--certificate", tmp_path / "part.json", code=1)
    assert b"the certificate does not hold: 1 difference" in done.out
    assert b"make the certificate anew, of all files" in done.out


def test_a_crawl_of_which_a_file_is_missing_is_not_certified(tmp_path: Path) -> None:
    """Each file names the one before it, so that a gap shows without the archive it was made in."""
    archive, out = tmp_path / "archive", tmp_path / "certificate.json"
    archive.mkdir()
    (archive / "asof.toml").write_text("segment_bytes = 2000\ngroup_records = 2\n")
    names = [f"/{number}" for number in range(8)]
    pages = {name: page(f"<p>{name}</p>" * 90, ETag='"1"') for name in names}
    with site({"/": page(rig.links(*names)), **pages}) as server:
        crawl(archive, server.url, "--coherence", "inducible")
    files = rig.warcs(archive)
    assert len(files) > 3
    ok("quality", "-a", archive, "--certificate", out)
    assert len(json.loads(out.read_bytes())["files"]) == len(files)
    files[1].rename(tmp_path / files[1].name)
    ok("reindex", "-a", archive)
    done = run("quality", "-a", archive, "--certificate", tmp_path / "part.json")
    assert done.code != 0
    assert f"of these is missing: {files[1].name}" in done.err
    assert not (tmp_path / "part.json").exists()
    assert "the file is missing" in check(archive, out, code=1)["differences"][0]
    (tmp_path / files[1].name).rename(files[1])
    assert check(archive, out)["ok"] is True


def unchanged(name: str) -> Callable[[bytes], rig.Reply]:
    """A page too large to be asked for twice, which its server honestly confirms."""

    def answer(head: bytes) -> rig.Reply:
        if b"if-none-match" in head.lower():
            return page("", "304 Not Modified", ETag=f'"{name}"')
        return page(name * 50_000, media="text/plain", ETag=f'"{name}"')

    return answer


def test_anybody_can_draw_the_audits_again(tmp_path: Path) -> None:
    archive, out = tmp_path / "archive", tmp_path / "certificate.json"
    names = [f"/page{number}" for number in range(60)]
    with site({"/": page(rig.links(*names)), **{n: unchanged(n) for n in names}}) as server:
        crawl(archive, server.url, "--coherence", "inducible")
        urls = [f"{server.url}{name}" for name in names]
    ok("quality", "-a", archive, "--certificate", out)
    [told] = json.loads(out.read_bytes())["crawls"]
    key = told["course"]["secret"].encode()
    lots = {url: blake2b(url.encode(), key=key, digest_size=8).digest() for url in urls}
    drawn = [url for url, lot in lots.items() if int.from_bytes(lot) % 10 == 0]
    # The last page before the turning point is not looked at again.
    assert len(drawn) - 1 <= told["audits"]["drawn"] <= len(drawn)
    assert told["audits"]["missing"] == []
    said = check(archive, out)
    assert (said["ok"], said["drawn"], said["unaudited"]) == (True, told["audits"]["drawn"], 0)


def test_a_certificate_by_the_rules_of_before_is_to_be_made_anew(
    archive: Path, certificate: Path
) -> None:
    said = json.loads(certificate.read_bytes()) | {"version": 1}
    certificate.write_text(json.dumps(said))
    done = run("check", "-a", archive, "--certificate", certificate)
    assert done.code == 2
    assert "of version 1, made by other rules than those of today" in done.err
    assert "--certificate FILE" in done.err


def test_a_forger_who_seals_and_sums_again_cannot_change_what_a_record_says(
    archive: Path, certificate: Path
) -> None:
    (file,) = rig.warcs(archive)
    said = json.loads(certificate.read_bytes())
    # The changed page gets its old text back, under the digest of the new one.
    old, new = visit("news", 7, "old news"), visit("news", 7, "new news")
    forged = file.read_bytes().replace(
        new.gz(), gzip.compress(new.plain().replace(b"new news", b"old news"), 6, mtime=0)
    )
    assert old.http() != new.http()
    assert forged != file.read_bytes()
    file.write_bytes(forged)
    said["files"][0] |= {"size": len(forged), "sha256": sha256(forged).hexdigest()}
    said.pop("digest")
    canonical = json.dumps(said, sort_keys=True, separators=(",", ":"))
    said["digest"] = f"sha256:{sha256(canonical.encode()).hexdigest()}"
    certificate.write_text(json.dumps(said))
    lines = check(archive, certificate, code=1)["differences"]
    assert not any(line.startswith(("digest:", "files")) for line in lines)
    assert any("/news]" in line for line in lines), lines


@pytest.mark.parametrize(
    "text",
    [
        b"\x00\xff",
        b'{"a":' * 200_000,
        b'{"format": "asof-coherence-certificate", "version": 2, "software": "asof/9",'
        b' "choice": {"crawls": []}, "files": [{"file": "../x.warc", "size": 1, "sha256": "%s"}]}'
        % (b"0" * 64),
        b"[" + b"[]," * 3_000_000 + b"0]",
    ],
    ids=["binary", "deep", "outside", "many"],
)
def test_what_is_no_certificate_is_refused(archive: Path, tmp_path: Path, text: bytes) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(text)
    done = run("check", "-a", archive, "--certificate", bad, fresh=True)
    assert done.code == 2, str(done)
    assert done.err.startswith(f"asof: {bad} is ")
    assert done.err.count("\n") == 1
    assert done.peak_rss < 400 << 20


def test_a_file_of_any_size_takes_little_memory(archive: Path, tmp_path: Path) -> None:
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(40 << 30)
    done = run("check", "-a", archive, "--certificate", huge, fresh=True)
    assert done.code == 2
    assert "larger than a certificate can be" in done.err
    assert done.peak_rss < 400 << 20


def test_a_certificate_that_cannot_be_written_leaves_nothing(archive: Path, tmp_path: Path) -> None:
    ok("reindex", "-a", archive)
    done = run("quality", "-a", archive, "--certificate", tmp_path / "no" / "c.json")
    assert done.code in (1, 2)
    assert "is not a folder" in done.err
    assert not (tmp_path / "no").exists()


def test_crawls_over_http_are_certified_each_for_itself(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    pages = {
        "/": page(rig.links("/a", "/b"), ETag='"1"'),
        "/a": page("<p>a</p>" * 50, ETag='"a"'),
        "/b": page("<p>b</p>" * 50),
    }
    with site(pages) as server:
        crawl(archive, server.url)
        server.pages["/b"] = page("<p>b, anew</p>" * 50)
        crawl(archive, server.url)
    by_file = {row["file"]: row["crawl"] for row in rig.rows_of(archive)}
    listed = [by_file[name] for name in sorted(by_file)]
    assert len(listed) == 2
    outs = [tmp_path / f"{name}.json" for name in listed]
    for name, out in zip(listed, outs, strict=True):
        ok("quality", name, "-a", archive, "--certificate", out, "--json").json()
    rig.remove_database(archive)
    for name, out in zip(listed, outs, strict=True):
        said = json.loads(out.read_bytes())
        assert [found["id"] for found in said["crawls"]] == [name]
        assert said["counts"]["pages"] == 3
        assert check(archive, out)["ok"] is True
    assert len(json.loads(outs[0].read_bytes())["files"]) == 1
