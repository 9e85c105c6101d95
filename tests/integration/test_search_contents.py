"""What the index holds is what the archive holds: whatever came, in whatever order, and went."""

from __future__ import annotations

from pathlib import Path

import pytest

from asof import index
from asof.api import Archive, import_files
from asof.errors import ArchiveError
from support import rig
from support.forge import Rec, sha1

HERE, THERE = "http://a.example/here", "http://b.example/there"
HTML = (("Content-Type", "text/html; charset=utf-8"),)


def says(words: str) -> bytes:
    return f"<!doctype html><title>P</title><p>The minutes record the {words}.</p>".encode()


def page(url: str, words: str, date: str, record_id: str = "") -> Rec:
    return Rec(url, says(words), f"{date}T00:00:00Z", headers=HTML, record_id=record_id)


def copy(url: str, words: str, date: str) -> Rec:
    """A revisit of what stands at another address."""
    extra = [
        ("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"),
        ("WARC-Payload-Digest", sha1(says(words))),
        ("WARC-Refers-To-Target-URI", THERE),
    ]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    return Rec(url, kind="revisit", block=head, date=f"{date}T00:00:00Z", extra=extra)


def add(archive: Path, name: str, *records: Rec) -> None:
    """Captures in a file of their own, indexed."""
    file = archive.with_name(name)
    file.write_bytes(b"".join(each.gz() for each in records))
    import_files(archive, file)
    index(archive)


def found(archive: Path, words: str, at: str | None = None) -> set[str]:
    with Archive.open(archive) as opened:
        return {hit.url for hit in opened.search(words, as_of=at, fold=False).hits}


def test_a_payload_that_comes_after_its_revisit_is_found_at_both(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    add(archive, "1.warc.gz", copy(HERE, "harbour", "2021-01-02"))
    assert found(archive, "harbour") == set()
    add(archive, "2.warc.gz", page(THERE, "harbour", "2021-01-01"))
    assert found(archive, "harbour") == {HERE, THERE}


@pytest.mark.parametrize("stopped", [False, True])
def test_what_the_archive_holds_no_more_is_not_found(tmp_path: Path, stopped: bool) -> None:
    """Also where the index was not finished when its files were taken away."""
    archive = tmp_path / "archive"
    add(archive, "1.warc.gz", page(HERE, "harbour", "2021-01-01"))
    add(archive, "2.warc.gz", page(HERE, "pier", "2022-01-01"), page(THERE, "pier", "2022-01-01"))
    if stopped:
        index(archive, stop=lambda: True)
    next((archive / "warc").glob("*-2.warc.gz")).unlink()
    rig.ok("reindex", "-a", archive)
    with pytest.raises(ArchiveError, match="reindex --search"):
        found(archive, "pier")
    index(archive)
    assert found(archive, "pier") == set()
    assert found(archive, "harbour", "2023") == {HERE}


@pytest.mark.parametrize("first", ["harbour", "ferry"])
def test_of_one_instant_what_get_shows_is_found(tmp_path: Path, first: str) -> None:
    archive = tmp_path / "archive"
    ids = ("00000000-0000-0000-0000-000000000001", "ffffffff-0000-0000-0000-000000000001")
    second = "ferry" if first == "harbour" else "harbour"
    add(archive, "1.warc.gz", *(
        page(HERE, words, "2021-01-01", record_id=own)
        for words, own in zip((first, second), ids, strict=True)
    ))  # fmt: skip
    shown = rig.ok("get", HERE, "-a", archive, "--at", "2022").out.decode()
    for words in (first, second):
        assert found(archive, words, "2022") == ({HERE} if words in shown else set())
        assert found(archive, words) == {HERE}


def test_a_record_id_that_was_given_twice_leads_to_both(tmp_path: Path) -> None:
    archive, own = tmp_path / "archive", "00000000-0000-0000-0000-000000000001"
    add(archive, "1.warc.gz", *(
        page(HERE, words, date, record_id=own)
        for words, date in (("harbour", "2021-01-01"), ("ferry", "2021-01-02"))
    ))  # fmt: skip
    assert found(archive, "harbour", "2021-01-01") == {HERE}
    assert found(archive, "ferry", "2021-01-02") == {HERE}
    assert found(archive, "harbour", "2021-01-02") == set()


def test_contents_that_tools_hashed_in_their_ways_are_all_found(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    md5 = [("WARC-Payload-Digest", "md5:" + "0" * 32)]
    odd = Rec(HERE, says("ferry"), "2021-01-02T00:00:00Z", headers=HTML, digests=False, extra=md5)
    add(archive, "1.warc.gz", page(HERE, "harbour", "2021-01-01"), odd)
    assert found(archive, "harbour", "2021-01-01") == {HERE}
    assert found(archive, "ferry", "2021-01-02") == {HERE}


def test_a_date_that_is_wrong_does_not_stretch_what_is_told_over_time(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    add(archive, "1.warc.gz", page(HERE, "pier", "0001-01-01"), page(THERE, "pier", "2021-01-01"))
    with Archive.open(archive) as opened:
        told = opened.search("pier").presence
    assert len(told) <= 100
    assert told[-1].contents == 2
