"""A certificate is of the whole: what could speak against it cannot be left out unseen."""

from __future__ import annotations

import gzip
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asof.archive.folder import Folder
from asof.archive.reindex import reindex
from asof.clock import SECOND
from asof.coherence.certificate import Choice
from asof.coherence.lots import ONE_IN, AuditLots, audit_lots, draw
from asof.errors import ArchiveError
from asof.model import Capture, CoherencePlan, Crawl, CrawlState, Location
from support.certified import CRAWL, FILL, HOST, Maker, checked, inducible, made, nothing
from support.exchanges import START

NAME = CRAWL.crawls[0]
HOUR = 3600 * SECOND


@pytest.fixture
def maker(tmp_path: Path) -> Maker:
    """One crawl, certified as `document` says."""
    found = Maker(tmp_path / "archive")
    inducible(found, NAME)
    return found


@pytest.fixture
def document(maker: Maker) -> dict[str, Any]:
    return made(maker.index())


def one_visit(maker: Maker, name: str, url: str, at: int, body: bytes = FILL) -> None:
    crawl = maker.crawl(name, started=at)
    maker.visit(crawl, url, body, at)
    maker.end(crawl, at + SECOND)


# -- what lies beside its files --------------------------------------------------------------------


def test_files_of_later_crawls_do_not_matter(maker: Maker, document: dict[str, Any]) -> None:
    one_visit(maker, "later", f"{HOST}/same", START + HOUR)
    assert checked(maker.folder.root, document) == ()


def test_earlier_captures_of_other_hosts_do_not_matter(
    maker: Maker, document: dict[str, Any]
) -> None:
    one_visit(maker, "earlier", "http://b.example/", START - HOUR)
    assert checked(maker.folder.root, document) == ()


def test_earlier_captures_of_the_same_host_must_not_be_omitted(
    maker: Maker, document: dict[str, Any]
) -> None:
    """They could have shown that its word is false."""
    one_visit(maker, "earlier", f"{HOST}/else", START - HOUR)
    [said] = checked(maker.folder.root, document)
    assert said.startswith("files[000002-earlier.warc.gz]: holds earlier captures of")
    assert "make the certificate anew, of all files" in said
    anew = made(maker.index())
    assert [item["file"] for item in anew["files"]] == [
        f"000001-{NAME}.warc.gz",
        "000002-earlier.warc.gz",
    ]
    assert checked(maker.folder.root, anew) == ()


def test_a_file_by_others_is_read_whatever_it_begins_with(
    maker: Maker, document: dict[str, Any]
) -> None:
    """Nobody knows in which order others write."""
    one_visit(maker, "later", f"{HOST}/else", START + HOUR)
    one_visit(maker, "earlier", f"{HOST}/else", START - HOUR)
    _, late, early = maker.folder.segment_files()
    (maker.folder.warc / "others.warc.gz").write_bytes(
        _without_info(late.read_bytes()) + _without_info(early.read_bytes())
    )
    late.unlink()
    early.unlink()
    [said] = checked(maker.folder.root, document)
    assert said.startswith("files[others.warc.gz]: holds earlier captures of")


def _without_info(data: bytes) -> bytes:
    """A file without its first record."""
    end = data.index(b"\x1f\x8b\x08", 1)
    assert gzip.decompress(data[:end]).startswith(b"WARC/1.1\r\nWARC-Type: warcinfo")
    return data[end:]


def test_a_copy_of_its_own_records_is_nothing_new(maker: Maker, document: dict[str, Any]) -> None:
    [path] = maker.folder.segment_files()
    (maker.folder.warc / "copy.warc.gz").write_bytes(_without_info(path.read_bytes()))
    assert checked(maker.folder.root, document) == ()


def test_a_record_that_does_not_hold_its_digest_speaks_against_nobody(
    maker: Maker, document: dict[str, Any]
) -> None:
    one_visit(maker, "earlier", f"{HOST}/else", START - HOUR, b"true words" + FILL)
    path = maker.folder.segment_files()[1]
    info, *records = _members(path.read_bytes())
    changed = [record.replace(b"true words", b"false word") for record in records]
    path.write_bytes(b"".join(gzip.compress(each) for each in (info, *changed)))
    assert checked(maker.folder.root, document) == ()


def _members(data: bytes) -> list[bytes]:
    starts = [0]
    while (place := data.find(b"\x1f\x8b\x08", starts[-1] + 1)) > 0:
        starts.append(place)
    return [gzip.decompress(data[a:b]) for a, b in zip(starts, [*starts[1:], None], strict=True)]


def test_no_file_of_the_same_crawl_may_be_omitted(maker: Maker, document: dict[str, Any]) -> None:
    maker.crawl(NAME)
    said = checked(maker.folder.root, document)
    assert said == (
        f"files[000002-{NAME}.warc.gz]: is not named, and is of the crawl {NAME}; "
        "make the certificate anew, of all files",
    )


def test_nor_the_end_of_a_file(tmp_path: Path) -> None:
    """Who certifies the first bytes of a file only leaves out as much."""
    maker = Maker(tmp_path / "archive")
    crawl = maker.crawl(NAME)
    maker.visit(crawl, f"{HOST}/x", b"x" + FILL, START)
    document = made(maker.index())
    assert checked(maker.folder.root, document) == ()
    maker.visit(crawl, f"{HOST}/x", b"y" + FILL, START + HOUR)
    [said] = checked(maker.folder.root, document)
    assert said.startswith(f"files[000001-{NAME}.warc.gz]: goes on after the bytes that")


# -- which files it names --------------------------------------------------------------------------


def chain(maker: Maker, name: str, started: int, *pages: str) -> None:
    """A crawl of a file for each page, each naming the one before."""
    crawl = maker.crawl(name, started=started)
    for no, page in enumerate(pages):
        if no:
            maker.segment(crawl, maker.folder.segment_files()[-1].name)
        maker.visit(crawl, page, FILL + page.encode(), started + no * SECOND)
    maker.end(crawl, started + HOUR)


@pytest.mark.parametrize("lost", [0, 1])
def test_whoever_lost_a_file_of_the_crawl_cannot_certify_it(tmp_path: Path, lost: int) -> None:
    maker = Maker(tmp_path / "archive")
    chain(maker, NAME, START, f"{HOST}/1", f"{HOST}/2", f"{HOST}/3")
    document = made(maker.index())
    assert len(document["files"]) == 3
    gone = maker.folder.segment_files()[lost]
    gone.rename(tmp_path / gone.name)
    with pytest.raises(ArchiveError, match=f"missing: {gone.name}"):
        made(maker.folder.root)
    with pytest.raises(ArchiveError, match=f"missing: {gone.name}"):
        made(maker.index())  # the catalog has forgotten it; the files have not


def test_a_check_of_some_files_says_which_one_is_missing(tmp_path: Path) -> None:
    """As if somebody had certified them with a tool that does not care."""
    maker = Maker(tmp_path / "archive")
    chain(maker, NAME, START, f"{HOST}/1", f"{HOST}/2", f"{HOST}/3")
    document = made(maker.index())
    gone = maker.folder.segment_files()[1]
    gone.unlink()
    document["files"] = [item for item in document["files"] if item["file"] != gone.name]
    said = checked(maker.folder.root, document)
    expected = f"files[{gone.name}]: is not named, and another file of its crawl says"
    assert any(line.startswith(expected) for line in said), said


def test_of_a_crawl_that_it_rests_on_it_names_all_files_up_to_the_last_that_counts(
    tmp_path: Path,
) -> None:
    maker = Maker(tmp_path / "archive")
    chain(maker, "earlier", START - HOUR, "http://b.example/", f"{HOST}/1", "http://b.example/2")
    chain(maker, NAME, START, f"{HOST}/1")
    document = made(maker.index())
    named = [item["file"] for item in document["files"]]
    assert named == [
        "000001-earlier.warc.gz",
        "000002-earlier.warc.gz",
        f"000004-{NAME}.warc.gz",
    ]
    assert checked(maker.folder.root, document) == ()


def test_imported_files_are_known_by_the_names_under_which_they_were_begun(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "archive")
    chain(maker, NAME, START, f"{HOST}/1", f"{HOST}/2")
    for no, path in enumerate(maker.folder.segment_files()):
        path.rename(path.with_name(f"00000{no + 3}-import-{path.name}"))
    assert checked(maker.folder.root, made(maker.index())) == ()


def test_a_catalog_that_does_not_know_all_files_is_not_asked(
    maker: Maker, document: dict[str, Any]
) -> None:
    one_visit(maker, "earlier", f"{HOST}/else", START - HOUR)
    with pytest.raises(ArchiveError, match="hold more than its catalog"):
        made(maker.folder.root)


def test_a_copy_elsewhere_needs_only_the_named_files(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "archive")
    one_visit(maker, "other", "http://b.example/", START - HOUR)
    inducible(maker, NAME)
    document = made(maker.index())
    elsewhere = Folder(tmp_path / "copy")
    elsewhere.create()
    for item in document["files"]:
        shutil.copy(maker.folder.warc / item["file"], elsewhere.warc)
    assert len(elsewhere.segment_files()) == 1
    assert checked(elsewhere.root, document) == ()
    reindex(elsewhere, spread=map, progress=nothing)
    assert made(elsewhere.root) == document


# -- audits ----------------------------------------------------------------------------------------

SECRET = "0123456789abcdef"
PLAN = CoherencePlan("inducible", "optimal", turn=START, secret=SECRET)
URLS = [f"{HOST}/{number}" for number in range(200)]
DRAWN = [url for url in URLS if draw(SECRET, url) % ONE_IN == 0]


def seen(url: str, seconds: int, status: int = 200, crawl: str = NAME) -> Capture:
    return Capture(
        url=url, surt=url, at=START + seconds * SECOND, kind="response", status=status,
        media_type="text/html", digest=None, content=None, size=0, crawl=crawl,
        record_id=f"{url} {seconds}", where=Location("file", 0, 1),
    )  # fmt: skip


def crawled(**more: Any) -> Crawl:
    plain = Crawl(NAME, (), START - HOUR, CrawlState.FINISHED, coherence_plan=PLAN)
    return replace(plain, **more)


def lots(crawl: Crawl, *told: tuple[int, int]) -> AuditLots | None:
    """Of all URLs seen at some seconds with some status."""
    return audit_lots(crawl, [seen(url, at, status) for url in URLS for at, status in told])


def test_a_drawn_answer_is_followed_by_bytes() -> None:
    assert 5 < len(DRAWN) < 40
    whole = lots(crawled(), (-9, 200), (5, 304), (6, 200))
    assert whole == AuditLots(len(DRAWN), ())
    without = lots(crawled(), (-9, 200), (5, 304))
    assert without == AuditLots(len(DRAWN), tuple(sorted(DRAWN)))


@pytest.mark.parametrize(
    ("status", "is_made"), [(200, True), (404, True), (304, False), (503, False)]
)
def test_what_brought_nothing_is_no_audit(status: int, is_made: bool) -> None:
    found = lots(crawled(), (-9, 200), (5, 304), (6, status))
    assert found is not None
    assert (not found.missing) is is_made


def test_an_interrupted_audit_is_made_when_the_crawl_goes_on() -> None:
    assert lots(crawled(), (-9, 200), (5, 304), (6, 304), (7, 200)) == AuditLots(len(DRAWN), ())


@pytest.mark.parametrize(
    "told",
    [
        ((-9, 304), (5, 200)),  # the visit of an inducible crawl
        ((5, 304),),  # found after the turning point
        ((-9, 200), (5, 200)),
    ],
)
def test_only_the_look_on_which_all_rests_is_audited(told: tuple[tuple[int, int], ...]) -> None:
    assert lots(crawled(), *told) == AuditLots(0, ())


def test_in_a_measurable_crawl_that_is_the_visit() -> None:
    plan = replace(PLAN, mode="measurable")
    assert lots(crawled(coherence_plan=plan), (5, 304), (6, 200)) == AuditLots(len(DRAWN), ())
    assert lots(crawled(coherence_plan=plan), (0, 304)) == AuditLots(
        len(DRAWN), tuple(sorted(DRAWN))
    )


@pytest.mark.parametrize(
    "crawl",
    [
        crawled(settings={"audit": False}),
        crawled(coherence_plan=None),
        crawled(coherence_plan=replace(PLAN, secret="")),
    ],
    ids=["unwanted", "without plan", "without secret"],
)
def test_crawls_without_audits(crawl: Crawl) -> None:
    assert lots(crawl, (-9, 200), (5, 304)) is None


def test_the_secret_and_the_lots_are_in_the_certificate(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "archive")
    crawl = maker.crawl(NAME, coherence_plan=replace(PLAN, turn=None), started=START - HOUR)
    urls = [f"{HOST}/{number}" for number in range(40)]
    first = [maker.visit(crawl, url, FILL, START - 2 * SECOND) for url in urls]
    crawl = maker.turn(crawl, START)
    for each in first:
        maker.visit(crawl, each.url, b"", START + SECOND, status=304, refers_to=each)
    maker.end(crawl, START + HOUR)
    document = made(maker.index(), Choice((NAME,)))
    [told] = document["crawls"]
    drawn = sorted(set(urls) & set(DRAWN))
    assert drawn
    assert told["course"]["secret"] == SECRET
    assert told["audits"] == {"drawn": len(drawn), "missing": drawn}
    assert checked(maker.folder.root, document) == ()
