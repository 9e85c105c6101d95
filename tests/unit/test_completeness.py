"""Completeness, and the report of what was left out and why: counted by hand, then by law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.frontier import report
from asof.frontier.completeness import (
    Completeness,
    Share,
    Traps,
    completeness,
    completeness_json,
    likely_traps,
)
from asof.frontier.report import LeftOutReason
from asof.frontier.states import TargetState
from asof.ledger import Ledger, url_key
from asof.scope.traps import SESSION

CRAWL = 1


@pytest.fixture
def ledger(ledger: Ledger) -> Iterator[Ledger]:
    ledger.db.execute("BEGIN IMMEDIATE")
    yield ledger
    ledger.rollback()


def put(ledger: Ledger, state: str, *urls: str, hops: str = "L", reason: str | None = None) -> None:
    """Targets in the ledger's table, as a crawl leaves them there."""
    for url in urls:
        ledger.db.execute(
            "INSERT INTO targets (crawl, key, url, host, state, priority, depth, hops, reason) "
            "VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?)",
            (
                CRAWL,
                url_key(f"https://{url}"),
                f"https://{url}",
                url.partition("/")[0],
                state,
                len(hops),
                hops,
                reason,
            ),
        )


def of(ledger: Ledger) -> Completeness:
    return completeness(ledger, CRAWL)


# -- Vertical -----------------------------------------------------------------------------------


def test_found_and_not_taken_are_failed_queued_and_refused_by_robots(ledger: Ledger) -> None:
    put(ledger, "done", "a.org/", hops="")
    put(ledger, "done", "a.org/1", "a.org/2")
    put(ledger, "failed", "a.org/dead", reason="timeout")
    put(ledger, "queued", "a.org/later", "a.org/again")
    put(ledger, "left_out", "a.org/private", reason="robots.txt")
    put(ledger, "left_out", "a.org/shy", reason="robots.txt unavailable")
    assert of(ledger).vertical == Share(found=8, taken=3)
    assert of(ledger).hosts == (("a.org", Share(8, 3)),)


def test_what_the_rules_left_out_does_not_belong(ledger: Ledger) -> None:
    put(ledger, "done", "a.org/")
    put(ledger, "left_out", "a.org/x", reason="excluded by x")
    put(ledger, "left_out", "a.org/y", reason="deeper than 2")
    put(ledger, "left_out", "a.org/z")
    put(ledger, "left_out", "b.org/")
    assert of(ledger).vertical == Share(1, 1)


def test_what_looked_like_a_trap_was_found_and_not_taken(ledger: Ledger) -> None:
    """Nobody has seen whether it was one. The same page under another session id is taken."""
    put(ledger, "done", "a.org/")
    put(ledger, "left_out", "a.org/1", "a.org/2", reason="trap: pages like a.org/# keep repeating")
    put(ledger, "left_out", "a.org/a/a/a/a", reason="trap: repeated path")
    put(ledger, "left_out", "a.org/?sid=1", reason=SESSION)
    put(ledger, "left_out", "a.org/b/b/b/b", hops="LX", reason="trap: repeated path")
    assert of(ledger).vertical == Share(found=4, taken=1)
    assert of(ledger).traps == likely_traps(ledger, CRAWL) == Traps(3, "https://a.org/1")


def test_robots_txt_itself_is_no_page(ledger: Ledger) -> None:
    """Nor is what it redirects to; but a page that its sitemap lists is one."""
    put(ledger, "done", "a.org/robots.txt", hops="P")
    put(ledger, "done", "a.org/robots", hops="PR")
    assert of(ledger).vertical == Share(0, 0)
    put(ledger, "done", "a.org/listed", hops="PM")
    assert of(ledger).vertical == Share(1, 1)


def test_a_guess_counts_when_it_was_right(ledger: Ledger) -> None:
    put(ledger, "done", "a.org/guessed", hops="LX")
    put(ledger, "failed", "a.org/wrong", hops="LX", reason="reset")
    put(ledger, "queued", "a.org/maybe", hops="LX")
    put(ledger, "queued", "a.org/maybe/moved", hops="LXR")
    assert of(ledger).vertical == Share(1, 1)
    put(ledger, "queued", "a.org/linked", hops="LXL")
    assert of(ledger).vertical == Share(2, 1)


# -- Horizontal ---------------------------------------------------------------------------------


def test_entry_points_are_the_hosts_that_links_lead_to(ledger: Ledger) -> None:
    put(ledger, "done", "a.org/", hops="")
    put(ledger, "left_out", "b.org/", "b.org/2", reason="other host")
    put(ledger, "left_out", "c.org/", hops="LM", reason="other host")
    put(ledger, "failed", "dead.org/", reason="dns")
    assert of(ledger).horizontal == Share(found=4, taken=1)


def test_parts_of_pages_and_guesses_make_no_entry_point(ledger: Ledger) -> None:
    put(ledger, "done", "a.org/", hops="")
    put(ledger, "done", "cdn.org/a.css", hops="LE")
    put(ledger, "done", "cdn.org/b.css", hops="LER")
    put(ledger, "left_out", "x.org/a.js", hops="LX", reason="other host")
    put(ledger, "done", "r.org/robots.txt", hops="P")
    assert of(ledger).horizontal == Share(1, 1)
    put(ledger, "left_out", "cdn.org/about", hops="LL", reason="other host")
    assert of(ledger).horizontal == Share(2, 2)


def test_a_host_of_which_only_robots_txt_came_was_not_taken(ledger: Ledger) -> None:
    put(ledger, "done", "a.org/robots.txt", hops="P")
    put(ledger, "left_out", "a.org/", reason="robots.txt")
    assert of(ledger).horizontal == Share(1, 0)


# -- Both ---------------------------------------------------------------------------------------


def test_without_a_frontier_nothing_is_known(ledger: Ledger) -> None:
    """After `asof reindex`: no share, rather than a share of 0 or 1."""
    value = of(ledger)
    assert (value.vertical.share, value.horizontal.share) == (None, None)
    assert completeness_json(value) == {
        "vertical": {"share": None, "found": 0, "taken": 0},
        "horizontal": {"share": None, "found": 0, "taken": 0},
        "hosts": [],
        "traps": {"count": 0, "example": None},
    }


def test_other_crawls_do_not_count(ledger: Ledger) -> None:
    put(ledger, "queued", "b.org/")
    ledger.db.execute("UPDATE targets SET crawl = ?", (CRAWL + 1,))
    put(ledger, "done", "a.org/")
    assert of(ledger).vertical == Share(1, 1)
    assert of(ledger).horizontal == Share(1, 1)


def test_hosts_that_miss_most_come_first(ledger: Ledger) -> None:
    put(ledger, "done", "a.org/1", "a.org/2", "c.org/")
    put(ledger, "queued", "b.org/1", "b.org/2", "c.org/1")
    assert [host for host, _ in of(ledger).hosts] == ["b.org", "c.org", "a.org"]
    rows = completeness_json(of(ledger), most=1)["hosts"]
    assert rows == [{"host": "b.org", "share": 0.0, "found": 2, "taken": 0}]


rows = st.lists(
    st.tuples(
        st.sampled_from(["a.org/", "a.org/1", "b.org/", "b.org/1", "c.org/", "d.org/"]),
        st.sampled_from(["", "L", "LL", "E", "LER", "M", "F", "X", "XR", "P", "PR", "PM", "XL"]),
        st.sampled_from(["done", "queued", "failed", "robots.txt", "out"]),
    ),
    max_size=12,
    unique_by=lambda row: row[0],
)


@given(rows)
def test_the_figures_are_those_of_the_definition(found: list[tuple[str, str, str]]) -> None:
    """The docstring's words, in Python, over any set of targets."""
    ledger = Ledger(Path(":memory:"), writable=True)
    for url, hops, fate in found:
        left_out = fate in ("robots.txt", "out")
        put(ledger, "left_out" if left_out else fate, url, hops=hops, reason=fate)
    pages = [(url.partition("/")[0], hops.rstrip("R")[-1:], fate) for url, hops, fate in found]
    pages = [page for page in pages if page[1] != "P"]
    taken = [page for page in pages if page[2] == "done"]
    missed = [p for p in pages if p[2] in ("queued", "failed", "robots.txt") and p[1] != "X"]
    entries = {host for host, step, _ in pages if step not in ("E", "X")}
    value = of(ledger)
    ledger.close()
    assert value.vertical == Share(len(taken) + len(missed), len(taken))
    assert value.horizontal == Share(len(entries), len(entries & {host for host, _, _ in taken}))
    by_host = Counter(host for host, _, _ in [*taken, *missed])
    assert {host: share.found for host, share in value.hosts} == by_host


# -- What was left out, and what failed ---------------------------------------------------------


def test_reasons_come_with_counts_and_the_first_few_examples(ledger: Ledger) -> None:
    put(ledger, "left_out", "a.org/deep", reason="deeper than 2")
    put(ledger, "left_out", *(f"b.org/{no}" for no in range(5)), reason="other host")
    put(ledger, "failed", "dead.org/", reason="dns")
    assert report.left_out(ledger, CRAWL) == [
        LeftOutReason("other host", 5, ("https://b.org/0", "https://b.org/1", "https://b.org/2")),
        LeftOutReason("deeper than 2", 1, ("https://a.org/deep",)),
    ]
    assert report.failed(ledger, CRAWL) == [LeftOutReason("dns", 1, ("https://dead.org/",))]
    assert report.failed(ledger, CRAWL, examples=0) == [LeftOutReason("dns", 1, ())]
    assert report.left_out(ledger, CRAWL + 1) == []
    assert report.reasons(ledger, CRAWL) == {"other host": 5, "deeper than 2": 1, "dns": 1}


def test_a_target_without_a_reason_is_reported_all_the_same(ledger: Ledger) -> None:
    put(ledger, "failed", "a.org/")
    assert report.failed(ledger, CRAWL) == [
        LeftOutReason("no reason given", 1, ("https://a.org/",))
    ]


def test_the_queue_by_state_and_host(ledger: Ledger) -> None:
    put(ledger, "done", "a.org/")
    put(ledger, "queued", "a.org/1", "b.org/1", "b.org/2")
    assert report.tally(ledger, CRAWL) == {
        TargetState.QUEUED: 3, TargetState.DONE: 1, TargetState.FAILED: 0, TargetState.LEFT_OUT: 0,
    }  # fmt: skip
    assert report.busiest(ledger, CRAWL) == [("b.org", 2), ("a.org", 1)]
    assert report.busiest(ledger, CRAWL, most=1) == [("b.org", 2)]
    assert report.queued_hosts(ledger, CRAWL) == 2
