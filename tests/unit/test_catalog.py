"""The catalog: looking captures up by URL and time, listing them, following revisits."""

from __future__ import annotations

import sqlite3
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.catalog import captures as module
from asof.catalog.captures import Catalog
from asof.catalog.rows import capture_of
from asof.catalog.validity import intervals
from asof.clock import DAY, SECOND, Instant
from asof.errors import ArchiveError
from asof.ledger import Ledger
from asof.model import Capture, Crawl, CrawlState, Location, Proof, Segment
from asof.url import key_ranges, surt
from support.captures import plain_capture
from support.catalog_entry import enter, row_of

URL = "http://example.org/page"
START = 1_600_000_000 * SECOND


@pytest.fixture
def catalog(ledger: Ledger) -> Catalog:
    made = Catalog(ledger)
    made.put_crawl(Crawl("crawl-1", (URL,), START, CrawlState.RUNNING))
    made.put_segment(Segment("000001-crawl-1.warc.gz", 0, crawl="crawl-1"))
    return made


def capture(number: int, at: Instant, url: str = URL, **fields: Any) -> Capture:
    where = Location("000001-crawl-1.warc.gz", number, 1)
    named = {"record_id": f"id-{number:05}", "where": where, "crawl": "crawl-1"}
    return plain_capture(url, at, **(named | fields))


def revisit(number: int, at: Instant, **fields: Any) -> Capture:
    plain: dict[str, object] = {
        "kind": "revisit",
        "content": None,
        "profile": "identical-payload-digest",
    }
    return capture(number, at, **(plain | fields))  # type: ignore[arg-type] # as above


def test_what_goes_in_comes_out(catalog: Catalog) -> None:
    full = capture(
        1, START, etag='"e"', last_modified=START - DAY, redirect=URL + "2", truncated="time",
        profile="p", refers_to_url=URL, refers_to_at=START - 1, anomalies=("a", "b"),
    )  # fmt: skip
    assert enter(catalog, [full], 1) == 1
    assert list(catalog.captures()) == [full]
    assert capture_of(row_of(full), full.where.file, "crawl-1") == full


def test_a_capture_is_entered_once(catalog: Catalog) -> None:
    captures = [capture(number, START + number) for number in range(5)]
    assert enter(catalog, captures, 1) == 5
    assert enter(catalog, captures, 1) == 0
    assert enter(catalog, [*captures, capture(9, START)], 1) == 1
    assert catalog.count() == 6
    assert enter(catalog, [], 1) == 0


def test_as_of_is_the_latest_at_or_before_never_the_future(catalog: Catalog) -> None:
    enter(catalog, [capture(number, START + number * DAY) for number in range(3)], 1)
    assert catalog.as_of(URL, START - 1) is None
    for moment, number in ((0, 0), (1, 0), (DAY - 1, 0), (DAY, 1), (99 * DAY, 2)):
        found = catalog.as_of(URL, START + moment)
        assert found is not None
        assert found.record_id == f"id-{number:05}"


def test_rows_of_exactly_the_url_come_before_those_that_share_its_key(catalog: Catalog) -> None:
    exact, other = capture(1, START), capture(2, START + DAY, "https://www.example.org/page")
    enter(catalog, [exact, other], 1)
    assert catalog.as_of(URL, START + 2 * DAY) == exact
    assert catalog.as_of(other.url, START + 2 * DAY) == other
    assert catalog.as_of(other.url, START) == exact
    assert catalog.as_of("http://www.example.org/page", START + 2 * DAY) == other
    assert list(catalog.captures(url=URL)) == [exact]
    assert list(catalog.captures(url="http://www.example.org/page")) == [exact, other]
    assert {validity.url for validity in intervals(catalog.observations(URL))} == {URL}


def test_a_url_may_be_asked_for_before_it_is_canonical(catalog: Catalog) -> None:
    page = capture(1, START, "http://example.org/a%20b")
    enter(catalog, [page, capture(2, START + 1, "https://example.org/a%20b")], 1)
    assert catalog.as_of("HTTP://Example.org/a b#top", START + 1) == page


def test_metadata_is_listed_but_is_no_answer(catalog: Catalog) -> None:
    enter(catalog, [capture(1, START), capture(2, START + 1, kind="metadata")], 1)
    found = catalog.as_of(URL, START + 1)
    assert found is not None
    assert found.kind == "response"
    assert [c.kind for c in catalog.captures(url=URL)] == ["response", "metadata"]


def test_a_listing_is_in_order_and_needs_no_memory_of_its_size(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 7)
    pages = [f"http://example.org/{page}" for page in range(10)]
    captures = [capture(n, START + n % 5, pages[n % 10]) for n in range(100)]
    enter(catalog, captures, 1)
    listed = list(catalog.captures())
    keys = [(c.surt, c.at, c.record_id) for c in listed]
    assert keys == sorted(keys)
    assert len(keys) == 100
    in_time = list(catalog.captures(since=START + 1, until=START + 2))
    assert in_time == [c for c in listed if START + 1 <= c.at <= START + 2]


def test_a_listing_goes_on_while_rows_are_written(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    enter(catalog, [capture(n, START + n) for n in range(10)], 1)
    seen = []
    for n, found in enumerate(catalog.captures(), start=100):
        seen.append(found.record_id)
        if n < 110:  # one row behind the listing, one ahead of it
            enter(catalog, [capture(n, START - n), capture(n, START + 5, URL + str(n))], 1)
    assert seen[:10] == [f"id-{n:05}" for n in range(10)]
    assert seen[10:] == [f"id-{n:05}" for n in range(100, 110)]


def test_a_listing_of_one_crawl(catalog: Catalog) -> None:
    catalog.put_crawl(Crawl("crawl-2", (), START, CrawlState.FINISHED))
    second = catalog.put_segment(Segment("000002-crawl-2.warc.gz", 0, crawl="crawl-2"))
    third = catalog.put_segment(Segment("000003-import-x.warc.gz", 0))
    enter(catalog, [capture(1, START)], 1)
    enter(catalog, [capture(2, START)], second)
    enter(catalog, [capture(3, START)], third)
    assert [c.record_id for c in catalog.captures(crawl="crawl-2")] == ["id-00002"]
    assert [c.crawl for c in catalog.captures()] == ["crawl-1", "crawl-2", None]
    assert [c.where.file[:6] for c in catalog.captures()] == ["000001", "000002", "000003"]
    assert {file: list(some) for file, some in catalog.offsets().items()} == {
        "000001-crawl-1.warc.gz": [1],
        "000002-crawl-2.warc.gz": [2],
        "000003-import-x.warc.gz": [3],
    }


PAGES = [
    "http://example.org/",
    "http://example.org/dir",
    "http://example.org/dir/",
    "http://example.org/dir/?q=1",
    "http://example.org/dir/a",
    "http://example.org/dir/b/c",
    "http://example.org/dir-x",
    "http://example.org/dir.html",
    "http://example.org/directory",
    "http://example.org:8080/dir/a",
    "http://sub.example.org/dir/",
    "http://example-two.org/",
    "http://examples.org/",
    "dns:example.org",
]


@pytest.mark.parametrize(
    ("prefix", "numbers"),
    [
        ("http://example.org/", {0, 1, 2, 3, 4, 5, 6, 7, 8}),
        ("https://www.example.org/dir/", {1, 2, 3, 4, 5}),
        ("http://example.org/dir", {1, 2, 3, 4, 5, 6, 7, 8}),
        ("http://example.org", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
        ("example.org", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
        ("http://example.org:8080", {9}),
        ("org,example)/dir/b", {5}),
        ("org,example,", {10}),
        ("org,example", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
        ("http://(org,example,", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
        ("http://(org,example,www,)/dir/", {1, 2, 3, 4, 5}),
        ("http://(org,example,)/DIR/a", {4}),
        ("dns:", {13}),
        ("http://nowhere.example/", set()),
    ],
)
def test_prefixes(catalog: Catalog, prefix: str, numbers: set[int]) -> None:
    enter(catalog, [capture(number, START, url) for number, url in enumerate(PAGES)], 1)
    assert {c.where.offset for c in catalog.captures(prefix=prefix)} == numbers


@given(st.text(max_size=30) | st.sampled_from(PAGES), st.text("abc/?.", max_size=5))
def test_key_ranges_are_ascending_and_hold_what_they_are_made_from(url: str, more: str) -> None:
    ranges = key_ranges(url)
    assert all(low < high for low, high in ranges)
    assert all(high <= low for (_, high), (low, _) in pairwise(ranges))
    if url in PAGES[:6]:
        assert any(low <= surt(url) < high for low, high in ranges)
    if url in PAGES[:1]:
        assert any(low <= surt(url + more) < high for low, high in ranges)


def test_a_revisit_resolves_by_url_and_date(catalog: Catalog) -> None:
    origin = capture(1, START + 250_000, "http://other.example/")
    by_name = revisit(2, START + DAY, refers_to_url=origin.url, refers_to_at=origin.at)
    by_second = revisit(3, START + DAY, refers_to_url=origin.url, refers_to_at=START)
    missing = revisit(4, START, refers_to_url=origin.url, refers_to_at=START - DAY, digest="x")
    enter(catalog, [origin, by_name, by_second, missing], 1)
    assert catalog.observation(by_name).source == origin
    assert catalog.observation(by_second).source == origin
    assert catalog.observation(missing).source is None
    assert catalog.observation(origin).source == origin


def test_a_revisit_resolves_by_digest_when_it_names_nothing(catalog: Catalog) -> None:
    first, second = capture(1, START), capture(2, START + DAY)
    other = capture(3, START + DAY, digest="sha1:B")
    again = revisit(4, START + 2 * DAY)
    enter(catalog, [first, second, other, again], 1)
    assert catalog.observation(again).source == second
    assert catalog.observation(revisit(5, START - DAY)).source == first
    assert catalog.observation(revisit(6, START, digest=None)).source is None


def test_a_304_that_names_nothing_means_the_good_answer_before_it(catalog: Catalog) -> None:
    good, bad = capture(1, START), capture(2, START + 1, status=404)
    unchanged = revisit(3, START + 2, profile="server-not-modified", status=304, digest=None)
    enter(catalog, [good, bad, unchanged], 1)
    assert catalog.observation(unchanged).source == good


def test_revisits_of_revisits_are_followed_and_circles_end(catalog: Catalog) -> None:
    origin = capture(1, START)
    first = revisit(2, START + DAY, refers_to_url=URL, refers_to_at=START)
    second = revisit(3, START + 2 * DAY, refers_to_url=URL, refers_to_at=START + DAY)
    left = revisit(4, START + 3 * DAY, refers_to_url=URL, refers_to_at=START + 4 * DAY, digest="x")
    right = revisit(5, START + 4 * DAY, refers_to_url=URL, refers_to_at=left.at, digest="x")
    own = revisit(6, START + 5 * DAY, refers_to_url=URL, refers_to_at=START + 5 * DAY, digest="x")
    enter(catalog, [origin, first, second, left, right, own], 1)
    assert catalog.observation(second).source == origin
    assert catalog.observation(left).source is None
    assert catalog.observation(own).source is None


def test_history_merges_what_revisits_confirm(catalog: Catalog) -> None:
    elsewhere = capture(
        9, START - DAY, "http://other.example/", content="sha256:C", digest="sha1:C"
    )
    captures = [
        capture(1, START, last_modified=START - DAY),
        revisit(2, START + DAY, refers_to_url=URL, refers_to_at=START),
        revisit(3, START + 2 * DAY, refers_to_url=URL, refers_to_at=START,
                profile="server-not-modified", status=304, digest=None),
        capture(4, START + 3 * DAY),
        capture(5, START + 4 * DAY, content="sha256:B", digest="sha1:B", last_modified=START - DAY),
        revisit(6, START + 5 * DAY, refers_to_url=elsewhere.url, refers_to_at=elsewhere.at,
                digest="sha1:C"),
    ]  # fmt: skip
    enter(catalog, [elsewhere, *captures], 1)
    first, second, third = intervals(catalog.observations(URL))
    assert (first.since, first.until) == (START, START + 3 * DAY)
    assert [evidence.proof for evidence in first.evidence] == [
        Proof.DOWNLOAD,
        Proof.SAME_DIGEST,
        Proof.NOT_MODIFIED,
        Proof.SAME_DIGEST,
    ]
    assert (first.content, first.status, first.claimed_since) == ("sha256:A", 200, START - DAY)
    assert (second.content, second.claimed_since) == ("sha256:B", None)
    assert (third.content, third.status) == ("sha256:C", 200)


def test_a_redirect_that_leads_elsewhere_is_another_answer(catalog: Catalog) -> None:
    there = [URL + "1", URL + "1", URL + "2"]
    enter(
        catalog, [capture(n, START + n, status=301, redirect=to) for n, to in enumerate(there)], 1
    )
    assert [len(validity.evidence) for validity in intervals(catalog.observations(URL))] == [2, 1]


def test_what_holds_and_how_much(catalog: Catalog) -> None:
    here = capture(1, START)
    enter(catalog, [here, capture(2, START + 1), capture(3, START, "https://example.org/page")], 1)
    assert catalog.anomalies(here) == ()
    assert catalog.anomalies(capture(4, START)) is None
    assert catalog.count() == 3


def test_crawls(catalog: Catalog) -> None:
    crawl = Crawl("crawl-0", ("a", "b"), START - 1, CrawlState.RUNNING, None, {"x": [1]}, "note")
    catalog.put_crawl(crawl)
    assert catalog.crawls()[0] == crawl
    assert [found.id for found in catalog.crawls()] == ["crawl-0", "crawl-1"]
    done = Crawl("crawl-0", ("a", "b"), START - 1, CrawlState.FINISHED, START, {}, "")
    number = catalog.crawl_no("crawl-0")
    catalog.put_crawl(done)
    assert catalog.crawls()[0] == done
    assert catalog.crawl_no("crawl-0") == number
    with pytest.raises(KeyError):
        catalog.crawl_no("nothing")


def test_segments_keep_the_numbers_of_their_names(catalog: Catalog) -> None:
    assert catalog.put_segment(Segment("000007-crawl-1.warc.gz", 10, crawl="crawl-1")) == 7
    assert catalog.put_segment(Segment("000007-again.warc.gz", 0)) == 8
    assert catalog.put_segment(Segment("without-a-number.warc", 0)) == 9
    changed = Segment("000007-crawl-1.warc.gz", 99, crawl="crawl-1", sealed=True)
    assert catalog.put_segment(changed) == 7
    assert catalog.segments()[1] == changed
    with pytest.raises(KeyError):
        catalog.put_segment(Segment("000011-x.warc.gz", 0, crawl="nothing"))


def test_entry_joins_the_transaction_that_is_open(catalog: Catalog, ledger: Ledger) -> None:
    with ledger.transaction():
        enter(catalog, [capture(1, START)], 1)
        catalog.put_segment(Segment("000002-x.warc.gz", 0))
        ledger.rollback()
    assert catalog.count() == 0
    assert len(catalog.segments()) == 1


def test_a_damaged_database_is_one_sentence(
    tmp_path: Path, catalog: Catalog, ledger: Ledger
) -> None:
    enter(catalog, [capture(n, START + n, f"http://example.org/{n}") for n in range(2000)], 1)
    ledger.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with (tmp_path / "asof.db").open("r+b") as file:
        file.seek(20_000)
        file.write(b"\xff" * 200_000)
    hurt = Ledger(tmp_path / "asof.db", writable=False)
    with pytest.raises(ArchiveError, match="reindex") as caught:
        list(Catalog(hurt).captures())
    assert isinstance(caught.value.__cause__, sqlite3.Error)
    hurt.close()
