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


def test_near_ones_are_told_once_also_on_later_pages(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    story = " ".join(f"word{number}" for number in range(200))
    pages = [
        page(f"http://wire.example/{number}", words, f"2021-01-{number // 10 + 1:02}")
        for number in range(120)
        for words in [f"newswire {story} {number}" if number % 2 else f"newswire {number} " * 9]
    ]
    add(archive, "1.warc.gz", *pages)
    told: list[str] = []
    stories, offset = 0, 0
    with Archive.open(archive) as opened:
        while True:
            answer = opened.search("newswire", limit=10, offset=offset, order="oldest")
            for hit in answer.hits:
                told += [hit.url, *(each.url for each in hit.also)]
                stories += int(hit.url.rpartition("/")[2]) % 2
            if answer.next is None:
                break
            offset = answer.next
    assert stories == 1
    assert len(told) == len(set(told))
    assert {f"http://wire.example/{number}" for number in range(0, 120, 2)} <= set(told)


def test_what_was_not_said_then_is_told_when_it_was(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    add(archive, "1.warc.gz", page(HERE, "harbour", "2021-01-01"), page(HERE, "x", "2021-03-01"))
    with Archive.open(archive) as opened:
        answer = opened.search("harbour", as_of="2021-06")
        assert not answer.hits
        assert {each.name for each in answer.presence if each.contents} >= {"2021-01", "2021-02"}
        assert opened.search("nowhere", as_of="2021-06").presence == ()
    told = rig.ok("search", "harbour", "-a", archive, "--as-of", "2021-06", code=1).err
    assert "at other times" in told


def test_hosts_are_counted_as_they_narrow_down(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    urls = ("www.a.example/1", "a.example/2", "sub.a.example/3", "xn--bcher-kva.example/4")
    add(archive, "1.warc.gz", *(page(f"http://{url}", "harbour", "2021-01-01") for url in urls))
    with Archive.open(archive) as opened:
        hosts = dict(opened.search("harbour", fold=False).hosts)
        assert hosts == {"a.example": 2, "sub.a.example": 1, "xn--bcher-kva.example": 1}
        for host, count in hosts.items():
            assert opened.search("harbour", prefix=f"{host}/", fold=False).found == count
        for words in ("url:bücher", "url:xn--bcher-kva.example", "http://bücher.example/4"):
            assert [hit.url for hit in opened.search(words).hits] == [f"http://{urls[3]}"]
        assert opened.search("http://www.a.example/1").found == 1
