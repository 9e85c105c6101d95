"""Certificates: what they say follows from the files alone, and nothing in them can be changed."""

from __future__ import annotations

import gzip
import json
from base64 import b32encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.archive.reindex import reindex
from asof.catalog.derive import derive
from asof.clock import SECOND, http_date, iso
from asof.coherence.certificate import (
    MOST_BYTES,
    MOST_VALUES,
    Choice,
    certificate,
    certificate_text,
    read_certificate,
    seal,
)
from asof.coherence.certify import write_certificate
from asof.coherence.differences import differences
from asof.coherence.gather import DATES, Catalogued, gather, measured, skews
from asof.coherence.recheck import certificate_bytes, recheck
from asof.coherence.verdict import Measurement, Mode, Reason
from asof.errors import ArchiveError, InputError, NotCaptured, UsageError
from asof.model import Capture, CoherencePlan, Crawl, CrawlState, Grade
from asof.warc.reader import scan
from asof.warc.record import StoredRecord
from support.certified import (
    CRAWL,
    FILL,
    HOST,
    Maker,
    checked,
    inducible,
    made,
    nothing,
)
from support.exchanges import START
from support.laws import examples


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    maker = Maker(tmp_path_factory.mktemp("site") / "archive")
    inducible(maker, "20260101000000-aaaa")
    return maker.index()


@pytest.fixture(scope="module")
def document(site: Path) -> dict[str, Any]:
    return made(site)


# -- what it says ----------------------------------------------------------------------------------


def test_every_page_has_its_grade_and_its_records(site: Path, document: dict[str, Any]) -> None:
    grades = {page["url"].rpartition("/")[2]: page["grade"] for page in document["pages"]}
    assert grades == {
        "joker": "proven", "same": "proven", "confirmed": "confirmed", "changes": "changed",
        "gone": "changed", "fails": "unknown", "never": "unknown",
    }  # fmt: skip
    assert document["counts"]["pages"] == 7
    assert document["c"] == 3 / 7
    assert document["mode"] == "inducible"
    with OpenArchive.open(site) as archive:
        known = {f"urn:uuid:{c.record_id}": c for c in archive.captures()}
    for page in document["pages"]:
        for side in ("before", "after"):
            if page[side] is not None:
                capture = known[page[side]["record_id"]]
                assert capture.url == page["url"]
                assert iso(capture.at) == page[side]["at"]
                assert capture.digest == page[side]["digest"]


def test_the_reference_is_the_turning_point(document: dict[str, Any]) -> None:
    turn = document["crawls"][0]["course"]["turn"]
    assert document["reference"] == turn == iso(START + 70 * SECOND)
    assert document["crawls"][0]["state"] == "finished"


def test_it_holds_and_needs_no_database(
    site: Path, document: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "c.json"
    write_certificate(document, out)
    claim = read_certificate(certificate_bytes(out), str(out))
    elsewhere = tmp_path / "copy"
    (elsewhere / "warc").mkdir(parents=True)
    for path in (site / "warc").iterdir():
        (elsewhere / "warc" / path.name).write_bytes(path.read_bytes())
    result = recheck(Folder(elsewhere), claim, spread=map, progress=nothing)
    assert result.differences == ()
    assert "7 pages" in result.summary
    assert not (elsewhere / "asof.db").exists()


def test_the_same_is_measured_from_the_catalog(site: Path, document: dict[str, Any]) -> None:
    with OpenArchive.open(site) as archive:
        value = measured(gather(Catalogued(archive), CRAWL))
    assert value.mode is Mode.INDUCIBLE
    assert value.c == document["c"]
    assert [page.url for page in value.pages] == [page["url"] for page in document["pages"]]
    assert [page.grade for page in value.pages] == [page["grade"] for page in document["pages"]]


def test_making_it_twice_gives_the_same_bytes(site: Path, document: dict[str, Any]) -> None:
    assert "".join(certificate_text(made(site))) == "".join(certificate_text(document))


# -- tampering with the certificate ----------------------------------------------------------------


def test_no_single_character_can_be_changed(document: dict[str, Any]) -> None:
    """Every place of the file, each against several characters: another meaning breaks the seal."""
    short = document | {"pages": document["pages"][:2]}
    text = "".join(certificate_text(short | {"digest": seal(short)}))
    meaning = json.loads(text)
    tried = 0
    for place, was in enumerate(text):
        for letter in {'"', "0", "7", " ", chr(ord(was) ^ 1)} - {was}:
            other = text[:place] + letter + text[place + 1 :]
            try:
                said = json.loads(other)
            except ValueError:
                said = None
            if said == meaning:
                continue
            tried += 1
            try:
                claim = read_certificate(other.encode(), "c.json")
            except InputError:
                continue
            assert claim.document.get("digest") != claim.digest, (place, was, letter)
    assert tried > 3 * len(text)


@given(data=st.data())
def test_nor_any_stretch_of_it(document: dict[str, Any], data: st.DataObject) -> None:
    text = "".join(certificate_text(document)).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 60)))
    other = text[:start] + data.draw(st.binary(max_size=40)) + text[end:]
    try:
        same = json.loads(other) == document
    except ValueError:
        same = False
    try:
        claim = read_certificate(other, "c.json")
    except InputError:
        return
    assert same or claim.document.get("digest") != claim.digest


def test_white_space_and_the_order_of_names_do_not_matter(
    site: Path, document: dict[str, Any]
) -> None:
    turned = json.dumps(dict(reversed(document.items())), indent=3, ensure_ascii=False)
    claim = read_certificate(turned.encode(), "c.json")
    assert recheck(Folder(site), claim, spread=map, progress=nothing).ok


def resealed(document: dict[str, Any], change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """A forger who knows how seals are made."""
    forged = json.loads(json.dumps(document))
    change(forged)
    return forged | {"digest": seal(forged)}


def page(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(found for found in document["pages"] if found["url"].endswith(f"/{name}"))


FORGERIES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "c": (lambda d: d.update(c=1.0), "c: says 1.0, but the files say 0.428"),
    "grade": (lambda d: page(d, "changes").update(grade="proven"), "/changes].grade: says"),
    "reason": (lambda d: page(d, "changes").update(reason=""), "/changes].reason: says"),
    "page left out": (lambda d: d["pages"].remove(page(d, "changes")), "/changes]: is missing"),
    "page added": (
        lambda d: d["pages"].append(page(d, "same") | {"url": f"{HOST}/more"}),
        "/more]: nothing in the files says so",
    ),
    "page twice": (lambda d: d["pages"].append(page(d, "same")), "/same]: stands there twice"),
    "evidence": (
        lambda d: page(d, "gone").update(after=page(d, "same")["after"]),
        "/gone].after.record_id: says",
    ),
    "no evidence": (lambda d: page(d, "same").update(after=None), "/same].after: says null"),
    "digest": (
        lambda d: page(d, "same")["before"].update(digest="sha256:AA"),
        "/same].before.digest: says",
    ),
    "reference": (lambda d: d.update(reference=iso(START)), "reference: says"),
    "until": (lambda d: d.update(until=iso(START)), "until: says"),
    "mode": (lambda d: d.update(mode="measurable"), "mode: says"),
    "counts": (lambda d: d["counts"].update(proven=9), "counts.proven: says 9"),
    "counts as text": (lambda d: d["counts"].update(proven="2"), 'counts.proven: says "2"'),
    "one is not true": (
        lambda d: d["counts"].update(confirmed=True),
        "counts.confirmed: says true, but the files say 1",
    ),
    "standing": (
        lambda d: d["standings"][0].update(trusts_dates=True),
        "standings[a.example].trusts_dates: says true",
    ),
    "seeds": (lambda d: d["crawls"][0].update(seeds=[]), "crawls[20260101000000-aaaa].seeds"),
    "plan": (
        lambda d: d["crawls"][0]["course"].update(expected=0.1),
        "crawls[20260101000000-aaaa].course.expected: says 0.1",
    ),
    "something new": (lambda d: d.update(judge="me"), "judge: is not part of a certificate"),
    "something less": (lambda d: d.pop("until"), "until: is missing"),
    "size": (lambda d: d["files"][0].update(size=200), "choice: There is no crawl"),
    "a little less": (
        lambda d: d["files"][0].update(size=d["files"][0]["size"] - 1),
        "].sha256: says",
    ),
    "more than there is": (
        lambda d: d["files"][0].update(size=1 << 30),
        "bytes, not 1,073,741,824",
    ),
    "sum": (lambda d: d["files"][0].update(sha256="0" * 64), "].sha256: says"),
    "name": (lambda d: d["files"][0].update(file="x.warc.gz"), "[x.warc.gz]: the file is missing"),
    "other crawl": (lambda d: d["choice"].update(crawls=["x"]), "There is no crawl 'x'"),
    "other part": (
        lambda d: d["choice"].update(prefix="http://b.example/"), "choice: Nothing was captured"
    ),
    "other moment": (lambda d: d["choice"].update(reference=iso(START)), "mode: says"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_with_a_fresh_seal_is_found_by_what_it_says(
    site: Path, document: dict[str, Any], name: str
) -> None:
    change, expected = FORGERIES[name]
    said = checked(site, resealed(document, change))  # type: ignore[arg-type]
    assert any(expected in line for line in said), said
    assert not any(line.startswith("digest:") for line in said)


def test_a_broken_seal_is_named_and_so_is_what_was_changed(
    site: Path, document: dict[str, Any]
) -> None:
    forged = json.loads(json.dumps(document))
    page(forged, "changes")["grade"] = "proven"
    said = checked(site, forged)
    assert said[0].startswith("digest: the certificate was changed; its seal should be sha256:")
    assert said[1:] == (f'pages[{HOST}/changes].grade: says "proven", but the files say "changed"',)


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers(-3, 3) | st.floats(0, 1) | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_documents_differ_exactly_where_their_canonical_forms_do(value: object) -> None:
    other = json.loads(json.dumps(value))
    assert list(differences(value, other)) == []
    for changed in ({"a": value}, [value], [value, value], None, 0, "text"):
        canonical = [json.dumps(each, sort_keys=True) for each in (value, changed)]
        assert bool(list(differences(value, changed))) == (canonical[0] != canonical[1])


# -- tampering with the files ----------------------------------------------------------------------


@pytest.fixture
def copy(site: Path, tmp_path: Path) -> Path:
    (tmp_path / "warc").mkdir()
    for path in (site / "warc").iterdir():
        (tmp_path / "warc" / path.name).write_bytes(path.read_bytes())
    return tmp_path


def only_file(root: Path) -> Path:
    (path,) = (root / "warc").iterdir()
    return path


def test_what_is_added_to_a_file_later_does_not_matter(
    copy: Path, document: dict[str, Any]
) -> None:
    path = only_file(copy)
    path.write_bytes(path.read_bytes() + path.read_bytes() + b"torn")
    assert checked(copy, document) == ()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.99])
def test_a_changed_byte_of_a_file_is_found(
    copy: Path, document: dict[str, Any], share: float
) -> None:
    path = only_file(copy)
    data = bytearray(path.read_bytes())
    data[int(share * len(data))] ^= 0x10
    path.write_bytes(data)
    assert any(f"files[{path.name}].sha256: says" in line for line in checked(copy, document))


def test_a_lost_a_renamed_and_a_cut_file_are_found(copy: Path, document: dict[str, Any]) -> None:
    path = only_file(copy)
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    assert f"the file has {len(whole) - 10:,} bytes" in checked(copy, document)[0]
    path.rename(path.with_name("000009-other.warc.gz"))
    assert checked(copy, document)[0] == f"files[{path.name}]: the file is missing"


def test_a_record_that_was_written_anew_with_its_old_digest_is_no_evidence(
    copy: Path, document: dict[str, Any]
) -> None:
    """A forger who packs the changed record anew, and sums and seals all of it again."""
    path = only_file(copy)
    same = [c for c in _captures(path) if c.url.endswith("/same")]
    _replace_in_record(path, same[0], b"sameWords", b"samewords")
    forged = path.read_bytes()

    def sums(found: dict[str, Any]) -> None:
        found["files"][0] |= {"size": len(forged), "sha256": sha256(forged).hexdigest()}

    said = checked(copy, resealed(document, sums))
    assert any("/same].grade" in line for line in said), said
    assert "unsound: says 0, but the files say 1" in said


def _replace_in_record(path: Path, capture: Capture, old: bytes, new: bytes) -> None:
    """Change what a record says, and pack it again."""
    data, where = path.read_bytes(), capture.where
    end = where.offset + where.length
    record = gzip.decompress(data[where.offset : end])
    assert old in record
    changed = gzip.compress(record.replace(old, new), mtime=0)
    path.write_bytes(data[: where.offset] + changed + data[end:])


def _captures(path: Path) -> list[Capture]:
    found = (derive(item) for item in scan(path) if isinstance(item, StoredRecord))
    return [capture for capture in found if capture is not None]


# -- what is no certificate ------------------------------------------------------------------------


def with_file(document: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps(document | {"files": [document["files"][0] | changes]}).encode()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", "is not a certificate: not JSON"),
        (b"\xff\xfe\x00", "is not a certificate: not JSON"),
        (b"[]", "no JSON object"),
        (b"null", "no JSON object"),
        (b"{}", "is not a coherence certificate"),
        (b'{"format": "asof-coherence-certificate"}', "of version null"),
        (b'{"format": "asof-coherence-certificate", "version": true}', "of version true"),
        (b'{"format": "asof-coherence-certificate", "version": 3}', "of version 3; this asof"),
        (b'{"format": "asof-coherence-certificate", "version": 1}', "made by other rules"),
        (b'{"format": "asof-coherence-certificate", "version": 2}', "`software` is missing"),
        (b'{"a": 1, "a": 2}', "a name occurs twice"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": 1e999}', "1e999 is no number"),
        (b'{"a": ' + b"9" * 5000 + b"}", "is not a certificate"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"[" + b"0," * MOST_VALUES, "larger than a certificate can be"),
    ],
    ids=lambda value: value[:12].decode("latin-1") if isinstance(value, bytes) else "",
)
def test_what_is_none_is_refused_by_its_name(text: bytes, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as refusal:
        read_certificate(text, "c.json")
    assert str(refusal.value).startswith("c.json ")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"file": "../asof.db"}, r"`files\[0\].file` is not the name of a WARC file"),
        ({"file": "/etc/x.warc.gz"}, "is not the name"),
        ({"file": "a\0.warc"}, "is not the name"),
        ({"file": 3}, "is not the name"),
        ({"size": -1}, r"`files\[0\].size`"),
        ({"size": 0}, r"`files\[0\].size`"),
        ({"size": 1.5}, r"`files\[0\].size`"),
        ({"size": True}, r"`files\[0\].size`"),
        ({"size": 1 << 80}, r"`files\[0\].size`"),
        ({"sha256": "XYZ"}, r"`files\[0\].sha256`"),
        ({"sha256": None}, r"`files\[0\].sha256`"),
    ],
)
def test_a_list_of_files_that_cannot_be(
    document: dict[str, Any], changes: dict[str, object], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        read_certificate(with_file(document, **changes), "c.json")


@pytest.mark.parametrize(
    "changes",
    [
        {"files": []},
        {"files": {}},
        {"files": [7]},
        {"choice": None},
        {"choice": {"crawls": "x"}},
        {"choice": {"crawls": [1]}},
        {"choice": {"crawls": [], "prefix": 1}},
        {"choice": {"crawls": [], "reference": 1}},
        {"choice": {"crawls": [], "reference": "soon"}},
        {"software": None},
    ],
    ids=str,
)
def test_what_a_check_rests_on_must_be_there(
    document: dict[str, Any], changes: dict[str, object]
) -> None:
    with pytest.raises(InputError, match="damaged certificate"):
        read_certificate(json.dumps(document | changes).encode(), "c.json")


def test_a_file_named_twice(document: dict[str, Any]) -> None:
    twice = document | {"files": document["files"] * 2}
    with pytest.raises(InputError, match="names a file twice"):
        read_certificate(json.dumps(twice).encode(), "c.json")


def test_a_huge_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES * 100)
    with pytest.raises(InputError, match="larger than a certificate can be"):
        read_certificate(certificate_bytes(path), str(path))


def test_what_is_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(InputError, match="cannot be read"):
            read_certificate(certificate_bytes(path), str(path))


# -- what counts -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two crawls of the same site; the second begins by asking about what the first has."""
    maker = Maker(tmp_path_factory.mktemp("two") / "archive")
    inducible(maker, "20260101000000-aaaa")
    later = maker.crawl("20260105000000-bbbb", started=START + 400 * SECOND)
    with_type = {"headers": (("ETag", '"v1"'),)}
    first = {
        c.url.rpartition("/")[2]: c for c in reversed(_captures(maker.folder.segment_files()[0]))
    }
    for no, name in enumerate(("same", "joker", "never")):
        maker.visit(
            later, f"{HOST}/{name}", b"", later.started + no * 10 * SECOND,
            status=304, refers_to=first[name], **with_type,
        )  # fmt: skip
    maker.visit(later, f"{HOST}/part/new", b"new" + FILL, later.started + 50 * SECOND)
    maker.end(later, later.started + 60 * SECOND)
    return maker.index()


SECOND_CRAWL = "20260105000000-bbbb"


@pytest.mark.parametrize(
    ("choice", "pages"),
    [
        (CRAWL, 7),
        (Choice((SECOND_CRAWL,)), 4),
        (Choice((CRAWL.crawls[0], SECOND_CRAWL)), 8),
        (Choice(), 8),
        (Choice(prefix=f"{HOST}/part/"), 1),
        (Choice(prefix="example,a)/s"), 1),
        (Choice(CRAWL.crawls, reference=START + 60 * SECOND), 7),
    ],
    ids=str,
)
def test_a_choice_is_certified_and_holds(two: Path, choice: Choice, pages: int) -> None:
    document = made(two, choice)
    assert document["counts"]["pages"] == pages
    assert checked(two, document) == ()
    with OpenArchive.open(two) as archive:
        assert measured(gather(Catalogued(archive), choice)).c == document["c"]


def test_the_certificate_of_an_earlier_crawl_does_not_name_files_of_a_later_one(two: Path) -> None:
    document = made(two)
    assert [item["file"] for item in document["files"]] == ["000001-20260101000000-aaaa.warc.gz"]


def test_what_an_earlier_crawl_saw_is_evidence_for_a_later_one(two: Path) -> None:
    """The second crawl was told by a 304 that nothing changed, and the first has the bytes."""
    document = made(two, Choice((SECOND_CRAWL,)))
    found = page(document, "never")
    assert (found["grade"], found["before"]["proof"]) == ("confirmed", "download")
    assert found["before"]["at"] < document["crawls"][0]["started"] < found["after"]["at"]
    assert len(document["files"]) == 2


def test_without_a_course_the_reference_is_the_best_moment(two: Path) -> None:
    with OpenArchive.open(two) as archive:
        found = gather(Catalogued(archive), Choice())
    assert found.mode is Mode.OFF
    value = measured(found)
    assert value.c is not None
    for moment in sorted({c.at for c in found.counted}):
        other = measured(replace(found, reference=moment))
        assert other.c is not None
        assert other.c <= value.c + 1 / 8, "nowhere are clearly more pages known"


def test_what_was_never_captured_cannot_be_certified(two: Path) -> None:
    with pytest.raises(NotCaptured):
        made(two, Choice(prefix="http://b.example/"))
    with pytest.raises(UsageError, match="no crawl"):
        made(two, Choice(("nothing",)))


def test_a_catalog_that_says_otherwise_stops_a_certificate(site: Path, copy: Path) -> None:
    reindex(Folder(copy), spread=map, progress=nothing)
    path = only_file(copy)
    data = bytearray(path.read_bytes())
    same = [c.where for c in _captures(path) if c.url.endswith("/same")]
    data[same[0].offset + 40] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match="do not say the same"):
        made(copy)


def test_a_record_whose_digest_never_held_is_no_evidence_but_stopsnothing(copy: Path) -> None:
    """The catalog of an import does not judge digests; a certificate does, and counts them."""
    path = only_file(copy)
    same = [c for c in _captures(path) if c.url.endswith("/same")]
    _replace_in_record(path, same[0], b"sameWords", b"samewords")
    reindex(Folder(copy), spread=map, progress=nothing)
    document = made(copy)
    assert document["unsound"] == 1
    assert page(document, "same")["grade"] == "unknown"
    assert checked(copy, document) == ()


def test_contents_known_by_different_hashes_are_compared_under_one(tmp_path: Path) -> None:
    """What another tool captured with SHA-1 is the same as what asof captured with SHA-256."""
    maker = Maker(tmp_path / "archive")
    crawl = maker.crawl("20260101000000-aaaa")
    maker.visit(crawl, f"{HOST}/x", b"same" + FILL, START)
    maker.visit(crawl, f"{HOST}/x", b"same" + FILL, START + 100 * SECOND)
    maker.end(crawl, START + 200 * SECOND)
    path = maker.folder.segment_files()[0]
    first = _captures(path)[0]
    assert first.digest is not None
    by_sha1 = "sha1:" + b32encode(sha1(b"same" + FILL).digest()).decode()
    _replace_in_record(path, first, first.digest.encode(), by_sha1.encode())
    document = made(maker.index(), Choice(reference=START + 50 * SECOND))
    (found,) = document["pages"]
    assert found["before"]["digest"] == by_sha1
    assert found["after"]["digest"].startswith("sha256:")
    assert found["grade"] == "proven"
    assert checked(maker.folder.root, document) == ()


def test_what_a_revisit_refers_to_under_another_host_is_found(tmp_path: Path) -> None:
    """Payloads are stored once, wherever they were met first; chunked ones need that record."""
    maker = Maker(tmp_path / "archive")
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(FILL), FILL)
    coded = (("Transfer-Encoding", "chunked"),)
    crawl = maker.crawl(
        "20260101000000-aaaa", coherence_plan=CoherencePlan("inducible", "bfs", None, 1)
    )
    origin = maker.visit(crawl, "http://cdn.example/x", chunked, START, headers=coded)
    for moment in (START + 10 * SECOND, START + 20 * SECOND):
        found = maker.visit(crawl, f"{HOST}/x", chunked, moment, headers=coded, refers_to=origin)
        assert (found.kind, found.content) == ("revisit", None)
    maker.end(maker.turn(crawl, START + 15 * SECOND), START + 30 * SECOND)
    root = maker.index()
    choice = Choice(crawl_ids := ("20260101000000-aaaa",), prefix=f"{HOST}/")
    with OpenArchive.open(root) as archive:
        gathered = gather(Catalogued(archive), choice)
    assert [c.url for c in gathered.elsewhere] == ["http://cdn.example/x"]
    document = made(root, choice)
    assert [found["grade"] for found in document["pages"]] == ["proven"]
    assert document["choice"]["crawls"] == list(crawl_ids)
    assert checked(root, document) == ()


def test_a_course_of_odd_numbers_can_be_written() -> None:
    odd = CoherencePlan("inducible", "bfs", float("nan"), 1, float("inf"))
    document: dict[str, Any] = certificate(
        Measurement(Mode.OFF, START, ()),
        choice=Choice(),
        crawls=[(Crawl("c", (), START, CrawlState.FINISHED, coherence_plan=odd), None)],
        until=START,
        files=[],
        unsound=0,
        capture_of=lambda url, evidence: pytest.fail("there is no evidence"),
        software="asof/0",
    )
    coherence_plan = document["crawls"][0]["course"]
    assert (coherence_plan["expected"], coherence_plan["eta"], document["c"]) == (None, None, None)


def test_a_turning_point_is_not_forgotten_by_a_file_that_was_begun_after_it(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "archive")
    name = "20260101000000-aaaa"
    crawl = maker.crawl(name, coherence_plan=CoherencePlan("inducible", "bfs"))
    maker.visit(crawl, f"{HOST}/x", b"x" + FILL, START)
    maker.turn(crawl, START + 5 * SECOND)
    crawl = maker.crawl(name, coherence_plan=CoherencePlan("inducible", "bfs"))
    maker.visit(crawl, f"{HOST}/x", b"x" + FILL, START + 10 * SECOND)
    document = made(maker.index())
    assert (document["mode"], document["reference"]) == ("inducible", iso(START + 5 * SECOND))
    assert len(document["files"]) == 2
    assert checked(maker.folder.root, document) == ()


VISIT = st.tuples(
    st.sampled_from(("a.example", "www.a.example", "b.example:81", "[::1]")),
    st.sampled_from(("x", "y", "robots.txt")),
    st.sampled_from((200, 200, 200, 304, 302, 404, 500)),
    st.sampled_from((b"one", b"two")),
    st.integers(0, 90),
    st.sampled_from((None, '"t"', 'W/"t"')),
    st.booleans(),
)


@given(
    visits=st.lists(VISIT, min_size=1, max_size=12),
    turn=st.none() | st.integers(0, 90),
    mode=st.sampled_from(("inducible", "measurable", "off", "odd")),
)
@settings(max_examples=examples(40))
def test_catalog_and_files_agree_about_any_crawl(
    tmp_path_factory: pytest.TempPathFactory,
    visits: list[tuple[Any, ...]],
    turn: int | None,
    mode: str,
) -> None:
    maker = Maker(tmp_path_factory.mktemp("any") / "archive")
    crawl = maker.crawl("20260101000000-aaaa", coherence_plan=CoherencePlan(mode, "bfs"))
    last: dict[str, Capture] = {}
    for host, path, status, body, moment, tag, dated in visits:
        url, at = f"http://{host}/{path}", START + moment * SECOND
        headers = (("ETag", tag),) if tag else ()
        headers += (("Last-Modified", http_date(at - 9 * SECOND)),) if dated else ()  # type: ignore[assignment]
        headers += (("Location", f"/{body.decode()}"),) if status == 302 else ()  # type: ignore[assignment]
        known = last.get(url)
        found = maker.visit(
            crawl, url, b"" if status == 304 else body, at,
            status=status, headers=headers, refers_to=known,
        )  # fmt: skip
        last[url] = found
    if turn is not None:
        crawl = maker.turn(crawl, START + turn * SECOND)
    maker.end(crawl, START + 100 * SECOND)
    root = maker.index()
    document = made(root)  # refuses where catalog and files differ
    assert checked(root, document) == ()


# -- clocks ----------------------------------------------------------------------------------------


def test_clocks_are_read_from_some_records_of_every_host(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "archive")
    crawl = maker.crawl("c")
    hour = 3600 * SECOND
    captures = [
        maker.visit(
            crawl, f"{host}/{no}", b"x", at,
            headers=() if host == HOST else (("Date", http_date(at + hour)),),
        )
        for no in range(DATES * 2 + 7)
        for host, at in ((HOST, START + no * SECOND), ("http://b.example", START + no * SECOND))
    ]  # fmt: skip
    maker.end(crawl, START + hour)
    found = skews(captures, maker.folder.warc)
    assert found["a.example"] == 0
    lost = skews(
        [replace(c, where=replace(c.where, file="no.warc.gz")) for c in captures], tmp_path
    )
    assert set(lost.values()) == {None}


def test_robots_txt_of_another_clock_leaves_that_of_the_pages_alone(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "archive")
    crawl = maker.crawl("c")
    robots = (("Date", http_date(START - 3600 * SECOND)),)
    captures = [
        maker.visit(crawl, f"{HOST}/robots.txt", b"x", START, headers=robots),
        *(maker.visit(crawl, f"{HOST}/{no}", b"x", START + no * SECOND) for no in range(1, 4)),
    ]
    assert skews(captures, maker.folder.warc)["a.example"] == 0


def test_reasons_and_grades_are_words_of_the_certificate(document: dict[str, Any]) -> None:
    assert {found["reason"] for found in document["pages"]} <= {reason.value for reason in Reason}
    assert {found["grade"] for found in document["pages"]} <= {grade.value for grade in Grade}
