"""URLsCrawled.txt and stats.txt, as the assignment of CS6200 2019 states them."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.archive import OpenArchive
from asof.crawl.assignment import (
    AssignmentFiles,
    AssignmentPage,
    crawled_pages,
    stats,
    write_assignment,
)
from asof.errors import UsageError
from asof.ledger import url_key
from asof.model import Crawl
from support.served_archive import CRAWL, build
from support.served_archive import Page as Answer

FORMAT = re.compile(
    r"Maximum size: \d+ bytes\nMinimum size: \d+ bytes\nAverage size: \d+ bytes\n"
    r"Maximum depth reach: \d+\n"
)


class NotModified(Answer):
    """A revisit by a 304."""

    def record(self) -> bytes:
        found: bytes = super().record()
        return found.replace(b"identical-payload-digest", b"server-not-modified")


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}Z"


def answer(path: str, second: int, body: bytes = b"x", **more: Any) -> Answer:
    return Answer(f"http://a.org/{path}", at(second), body, **more)


def archive_of(folder: Path, answers: list[Answer], depths: dict[str, int] | None = None) -> Crawl:
    """An archive in which the crawl has captured these answers, at depth 0 unless told."""
    build(folder, answers)
    with OpenArchive.write(folder, purpose="test") as archive:
        crawl = archive.crawls()[0]
        with archive.ledger.transaction():
            number = archive.catalog.crawl_no(crawl.id)
            for url in {str(one.url) for one in answers}:
                depth = (depths or {}).get(url.removeprefix("http://a.org/"), 0)
                hops = "P" if url.endswith("/robots.txt") else "L" * depth
                archive.ledger.db.execute(
                    "INSERT INTO targets (crawl, key, url, host, state, priority, depth, hops) "
                    "VALUES (?, ?, ?, 'a.org', 'done', 0, ?, ?)",
                    (number, url_key(url), url, depth, hops),
                )
    return crawl


def written(folder: Path, crawl: Crawl) -> tuple[list[str], str]:
    with OpenArchive.open(folder) as archive:
        write_assignment(archive, crawl)
    text = (folder.parent / "URLsCrawled.txt").read_text()
    assert text == "" or text.endswith("\n")
    return text.splitlines(), (folder.parent / "stats.txt").read_text()


def test_both_files_lie_beside_the_archive_in_the_stated_format(tmp_path: Path) -> None:
    answers = [answer("", 1, b"x" * 300), answer("2", 2, b"y" * 100), answer("3", 3, b"z" * 101)]
    crawl = archive_of(tmp_path / "archive", answers, {"2": 1, "3": 2})
    urls, numbers = written(tmp_path / "archive", crawl)
    assert urls == ["http://a.org/", "http://a.org/2", "http://a.org/3"]
    assert numbers == (
        "Maximum size: 300 bytes\n"
        "Minimum size: 100 bytes\n"
        "Average size: 167 bytes\n"
        "Maximum depth reach: 3\n"
    )


def test_only_pages_are_listed_once_each_in_the_order_of_capture(tmp_path: Path) -> None:
    """Status 200 and HTML: no redirect, dead link, image or robots.txt; not by name but time."""
    crawl = archive_of(
        tmp_path / "archive",
        [
            answer("robots.txt", 1),
            answer("z", 2),
            answer("moved", 3, status="301 Moved", headers=(("Location", "/z"),)),
            answer("dead", 4, status="404 Not Found"),
            answer("logo", 5, media="image/png"),
            answer("a", 6, media="TEXT/HTML; charset=x"),
            answer("x", 7, media="application/xhtml+xml"),
            answer("z", 8),
        ],
    )
    urls, _ = written(tmp_path / "archive", crawl)
    assert urls == ["http://a.org/z", "http://a.org/a", "http://a.org/x"]


def test_the_size_is_that_of_the_document_as_a_file(tmp_path: Path) -> None:
    """Without content coding: what the assignment's urllib would have counted."""
    packed = gzip.compress(b"p" * 5000)
    crawl = archive_of(
        tmp_path / "archive", [answer("", 1, packed, headers=(("Content-Encoding", "gzip"),))]
    )
    assert written(tmp_path / "archive", crawl)[1].startswith("Maximum size: 5000 bytes\n")


def test_a_page_that_was_found_unchanged_was_crawled(tmp_path: Path) -> None:
    """By an equal digest or a 304; but a 304 for an image is no page."""
    folder = tmp_path / "archive"
    build(
        folder,
        [answer("1", 1, b"x" * 70), answer("2", 2, b"y" * 80), answer("i", 3, media="image/png")],
    )
    old = "000000-old.warc.gz"
    (folder / "warc" / f"000001-{CRAWL}.warc.gz").rename(folder / "warc" / old)
    with OpenArchive.write(folder, purpose="test") as archive, archive.ledger.transaction() as db:
        db.execute("UPDATE segments SET file = ?, crawl = NULL", (old,))
    unchanged = {"media": None, "status": "304 Not Modified"}
    crawl = archive_of(
        folder,
        [
            Answer("http://a.org/1", at(11), same_as=("http://a.org/1", at(1))),
            NotModified("http://a.org/2", at(12), same_as=("http://a.org/2", at(2)), **unchanged),  # type: ignore[arg-type]
            NotModified("http://a.org/i", at(13), same_as=("http://a.org/i", at(3)), **unchanged),  # type: ignore[arg-type]
        ],
    )
    urls, numbers = written(folder, crawl)
    assert urls == ["http://a.org/1", "http://a.org/2"]
    assert numbers.startswith("Maximum size: 80 bytes\nMinimum size: 70 bytes\n")


def test_a_damaged_page_still_counts_by_its_stored_size(tmp_path: Path) -> None:
    crawl = archive_of(tmp_path / "archive", [answer("1", 1, b"x" * 70)])
    path = tmp_path / "archive" / "warc" / f"000001-{CRAWL}.warc.gz"
    path.write_bytes(b"\0" * path.stat().st_size)
    urls, numbers = written(tmp_path / "archive", crawl)
    assert urls == ["http://a.org/1"]
    assert numbers.startswith("Maximum size: 70 bytes\n")


def test_a_crawl_without_a_page_has_empty_figures(tmp_path: Path) -> None:
    crawl = archive_of(tmp_path / "archive", [answer("dead", 1, status="404 Not Found")])
    urls, numbers = written(tmp_path / "archive", crawl)
    assert urls == []
    assert FORMAT.fullmatch(numbers)
    assert set(re.findall(r"\d+", numbers)) == {"0"}


def test_each_url_is_in_the_file_as_soon_as_it_is_crawled(tmp_path: Path) -> None:
    files = AssignmentFiles(tmp_path)
    path = tmp_path / "URLsCrawled.txt"
    files.crawled("http://a.org/")
    assert path.read_text() == "http://a.org/\n"
    files.crawled("http://a.org/2")
    files.crawled("http://a.org/")
    assert path.read_text() == "http://a.org/\nhttp://a.org/2\n"
    files.close()


def test_a_resumed_crawl_goes_on_with_its_own_list(tmp_path: Path) -> None:
    """Whatever another crawl left in the file, or a crash tore off."""
    path = tmp_path / "URLsCrawled.txt"
    path.write_text("http://other.org/\nhttp://tor")
    files = AssignmentFiles(tmp_path, already=["http://a.org/", "http://a.org/1"])
    files.crawled("http://a.org/2")
    files.crawled("http://a.org/1")
    assert path.read_text().splitlines() == ["http://a.org/", "http://a.org/1", "http://a.org/2"]
    files.finish([AssignmentPage("http://a.org/", 10, 1)])
    assert path.read_text() == "http://a.org/\n"
    assert FORMAT.fullmatch((tmp_path / "stats.txt").read_text())
    assert sorted(found.name for found in tmp_path.iterdir()) == ["URLsCrawled.txt", "stats.txt"]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        AssignmentFiles(tmp_path / "none").crawled("http://a.org/")
    with pytest.raises(UsageError):
        AssignmentFiles(tmp_path / "none").finish([])


def test_pages_know_their_depth_from_the_seed_on(tmp_path: Path) -> None:
    crawl = archive_of(tmp_path / "archive", [answer("", 1), answer("2", 2)], {"2": 4})
    with OpenArchive.open(tmp_path / "archive") as archive:
        pages = crawled_pages(archive, crawl)
    assert [(page.url, page.depth) for page in pages] == [
        ("http://a.org/", 1),
        ("http://a.org/2", 5),
    ]


@given(st.lists(st.integers(0, 10**9), min_size=1), st.integers(1, 5))
def test_the_figures_have_the_stated_form_and_order(sizes: list[int], depth: int) -> None:
    """Minimum <= average <= maximum, and the average is off by half a byte at most."""
    text = stats([AssignmentPage(str(no), size, depth) for no, size in enumerate(sizes)])
    assert FORMAT.fullmatch(text)
    most, least, mean, deepest = (int(number) for number in re.findall(r"\d+", text))
    assert (most, least, deepest) == (max(sizes), min(sizes), depth)
    assert least <= mean <= most
    assert abs(2 * mean * len(sizes) - 2 * sum(sizes)) <= len(sizes)
