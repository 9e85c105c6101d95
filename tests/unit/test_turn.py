"""The crawl that visits and revisits, on virtual time: order, interruption, loss, patience."""

from __future__ import annotations

import gzip
import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.archive.reindex import reindex
from asof.clock import SECOND, iso
from asof.coherence.gather import learn_trust_in
from asof.crawl import phases as turning
from asof.crawl.audit import PROBES
from asof.crawl.control import Act, send_order
from asof.crawl.summary import Snapshot, Summary
from asof.model import CrawlState
from asof.url import host_of
from support.laws import examples
from support.made_up_web import A, B, Copies, Odd, Web, captures, coherence_plan, seen_twice, turn

ALL = ["/", "/1", "/2", "/3", "/4", "/5", "/6"]


@pytest.fixture
def web() -> Web:
    """A front page and six others."""
    found = Web()
    found.fan(A, 6)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def rebuild(folder: Path) -> None:
    """Lose the database, and have it made anew from the files."""
    for path in folder.glob("asof.db*"):
        path.unlink()
    reindex(Folder(folder), spread=map, progress=lambda size: None)


def at_request(web: Web, number: int, act: Callable[[], object]) -> None:
    """Have something happen when so many requests have been answered."""

    def happens(url: str) -> None:
        if len(web.asked) == number:
            act()

    web.happens = happens


def stop(web: Web, times: int) -> None:
    """Ctrl-C, so often."""
    for _ in range(times):
        web.stop()


def when_asked_again(web: Web, path: str, act: Callable[[], object]) -> None:
    """Have something happen when a path is asked for the second time."""
    times = Counter[str]()

    def happens(url: str) -> None:
        times[url] += 1
        if times[url] == 2 and url == A + path.lstrip("/"):
            act()

    web.happens = happens


# -- The order of requests ------------------------------------------------------------------------


@pytest.mark.parametrize("plan", ["lifo", "bfs", "threshold", "optimal", "auto"])
def test_a_first_crawl_looks_again_backwards(web: Web, folder: Path, plan: str) -> None:
    """Nothing is known of any page, so all are alike; the last visited is not asked for twice."""
    outcome = web.crawl(folder, A, plan=plan, audit=False)
    assert web.paths() == [*ALL, *ALL[-2::-1]]
    assert (outcome.summary.revisited, outcome.summary.to_revisit) == (6, 0)
    assert outcome.crawl.state is CrawlState.FINISHED


def test_fifo_looks_again_in_the_same_order(web: Web, folder: Path) -> None:
    web.crawl(folder, A, plan="fifo", audit=False)
    assert web.paths() == [*ALL, *ALL[:-1]]


def test_the_turning_point_is_the_last_visit(web: Web, folder: Path) -> None:
    """The reference is t_n of definition 3.5: the moment at which the joker was asked for."""
    web.crawl(folder, A, audit=False)
    (joker,) = [each for each in web.asked if each.path == "/6"]
    assert turn(folder) == web.clock.start + int(joker.start * SECOND)
    assert seen_twice(folder) == (ALL, ALL[-2::-1])


class Weak(Web):
    """As nginx with `gzip on`."""

    def tag(self, url: str) -> str:
        return f"W/{super().tag(url)}"


def test_a_last_visit_without_a_firm_word_is_made_again(folder: Path) -> None:
    """Else nothing but a weak validator would speak for that page."""
    web = Weak()
    web.fan(A, 6)
    web.crawl(folder, A, coherence="off")
    web.asked.clear()
    web.crawl(folder, A)
    visits = [each.path for each in web.asked if each.conditional]
    assert sorted(visits) == sorted(ALL)
    again = [each.path for each in web.asked if each.status == 200]
    assert sorted(again) == sorted(ALL), "bytes of every page"


def test_revisits_ask_for_what_has_changed(web: Web, folder: Path) -> None:
    """By the validators of the visit; a page without any is asked for whole."""
    web.tags = lambda url: not url.endswith("/3")
    web.crawl(folder, A, audit=False)
    again = {each.path: each for each in web.asked[8:]}
    assert {path for path, each in again.items() if not each.conditional} == {"/3"}
    assert {path: each.status for path, each in again.items()} == {
        path: 200 if path == "/3" else 304 for path in ALL[:-1]
    }
    for path, each in again.items():
        if path != "/3":
            assert dict(each.headers)["If-None-Match"] == web.tag(each.url)
    kinds = {capture.kind for capture in captures(folder) if capture.at > turn(folder)}
    assert kinds == {"revisit"}


def test_without_conditions_everything_comes_again(web: Web, folder: Path) -> None:
    web.crawl(folder, A, conditional=False)
    assert not any(each.conditional for each in web.asked)
    assert web.paths() == [*ALL, *ALL[-2::-1]], "and nothing is left to audit"


def test_a_look_again_asks_for_bytes(tmp_path: Path) -> None:
    """Pages are small; with --no-audit a server is believed that says what it says firmly."""
    web = Web()
    web.fan(A, 20)
    web.crawl(tmp_path / "audited", A, plan="lifo")
    assert not any(each.conditional for each in web.asked)
    silent = Web()
    silent.fan(A, 20)
    silent.crawl(tmp_path / "silent", A, plan="lifo", audit=False)
    assert all(each.conditional for each in silent.asked[22:])


def test_hosts_are_probed_at_once_and_when_all_was_seen_again(web: Web, folder: Path) -> None:
    """By the tag of the visit, if the revisit brought something else; no such page, no probe."""
    when_asked_again(web, "/4", lambda: web.put(f"{A}2", text="new"))
    web.crawl(folder, A)
    places = [place for place, each in enumerate(web.asked) if each.conditional]
    first, *rest = places
    assert {(web.asked[place].path, web.asked[place].status) for place in places} == {("/2", 200)}
    assert (web.asked[first - 1].path, web.asked[first + 1].path) == ("/2", "/1")
    assert rest == list(range(len(web.asked)))[1 - PROBES :]


def test_only_some_changes_of_a_host_are_probed_at_once(folder: Path) -> None:
    web = Web()
    web.fan(A, 9)

    def change() -> None:
        for number in range(1, 7):
            web.put(f"{A}{number}", text="new")

    when_asked_again(web, "/7", change)
    web.crawl(folder, A)
    again = [(each.path, each.conditional) for each in web.asked]
    front = max(place for place, each in enumerate(again) if each == ("/", False))
    assert [path for path, asked in again[:front] if asked] == ["/6", "/5", "/4", "/3"]


HOT = {"/2", "/3"}


def known(web: Web, folder: Path) -> None:
    """Two crawls before, between which two pages have changed."""
    web.crawl(folder, A, coherence="off")
    for path in HOT:
        web.put(A + path[1:], text="new")
    web.crawl(folder, A, coherence="off")
    web.asked.clear()


def test_half_of_the_probes_come_before_the_visits(web: Web, folder: Path) -> None:
    """By what earlier crawls saw to change, and no visit or revisit waits for them."""
    known(web, folder)
    web.crawl(folder, A)
    visits = next(place for place, each in enumerate(web.asked) if each.path == "/1")
    while web.asked[visits - 1].path not in HOT:
        visits -= 1
    first, rest = web.asked[1:visits], web.asked[visits:]
    assert {each.path for each in first} == HOT
    assert [each.conditional for each in first[:3]] == [False, False, True], "bytes to compare with"
    assert abs(sum(each.conditional for each in first) - PROBES // 2) <= 3
    last = [each.conditional for each in rest[7 + 6 :]]
    assert last == [True] * len(last)
    assert sum(each.conditional for each in first) + len(last) in range(PROBES - 2, PROBES + 1)


def test_a_liar_that_is_caught_first_is_asked_for_bytes(web: Web, folder: Path) -> None:
    known(web, folder)
    web.liars = {f"{A}2", f"{A}3"}
    web.crawl(folder, A)
    assert [each.conditional for each in web.asked[1:5]] == [False, False, True, False]
    assert not any(each.conditional for each in web.asked[4:])
    with OpenArchive.open(folder) as archive:
        host = host_of(A)
        assert not learn_trust_in(archive, [host])[host].trusts_validators


def test_pages_that_are_again_what_they_were_are_not_probed(web: Web, folder: Path) -> None:
    """An honest server confirms that."""
    known(web, folder)
    for path in HOT:
        web.put(A + path[1:])
    web.crawl(folder, A)
    assert {each.path for each in web.asked[1:3]} == HOT
    assert [each.conditional for each in web.asked[1:4]] == [False, False, True], "then the visits"
    assert sum(each.conditional for each in web.asked) == 7


def test_who_goes_on_is_not_probed_first_again(web: Web, folder: Path) -> None:
    known(web, folder)
    at_request(web, PROBES // 2 + 6, web.stop)
    web.crawl(folder, A)
    before = len(web.asked)
    web.happens = lambda url: None
    web.crawl(folder, A)
    again = [each.path for each in web.asked[before : before + 4]]
    assert len(set(again)) == 4, "visits, of each page one"


def test_a_stop_holds_for_the_probes_before_the_visits(web: Web, folder: Path) -> None:
    known(web, folder)
    at_request(web, 4, web.stop)
    outcome = web.crawl(folder, A)
    assert {each.path for each in web.asked[1:]} == HOT
    assert (len(web.asked), outcome.summary.ended_by) == (5, "interrupted")


def test_probes_before_the_visits_are_polite(web: Web, folder: Path) -> None:
    known(web, folder)
    web.robots(A, "User-agent: *\nCrawl-delay: 10\n")
    web.crawl(folder, A)
    assert min(web.gaps()) > 9.99
    web.robots(A, "User-agent: *\nDisallow: /2\n")
    web.asked.clear()
    web.crawl(folder, A)
    assert "/2" not in {each.path for each in web.asked}


def test_what_is_gone_is_not_probed_again(web: Web, folder: Path) -> None:
    def happens(url: str) -> None:
        if len(web.asked) == 9:
            web.put(f"{A}2", text="new")
        if len(web.asked) == 14:
            del web.pages[f"{A}2"]

    web.happens = happens
    web.crawl(folder, A)
    assert [each.status for each in web.asked if each.conditional] == [200, 404]
    assert web.asked[-1].conditional, "and its bytes are not asked for"


def test_probes_count_and_stop_at_limits(tmp_path: Path) -> None:
    """Their bytes and their time are the crawl's."""

    def crawl(name: str, **limits: Any) -> tuple[int, Summary]:
        web = Web()
        web.fan(A, 6)
        when_asked_again(web, "/4", lambda: web.put(f"{A}2", text="new"))
        summary = web.crawl(tmp_path / name, A, **limits).summary
        return sum(each.conditional for each in web.asked), summary

    most, whole = crawl("whole")
    assert (most, whole.ended_by) == (PROBES, "done")
    probes, found = crawl("bytes", max_bytes=whole.bytes - 1000)
    assert (most - 3 <= probes < most, found.ended_by) == (True, "max-bytes")
    probes, found = crawl("host", max_bytes_per_host=whole.bytes - 1000)
    assert most - 3 <= probes < most
    probes, found = crawl("time", time_limit=whole.seconds - 4.0)
    assert (0 < probes < most, found.ended_by) == (True, "time-limit")
    assert found.seconds < whole.seconds - 3.5


def test_the_screen_says_that_hosts_are_probed(web: Web, folder: Path) -> None:
    seen: list[Snapshot] = []
    web.watch = seen.append
    when_asked_again(web, "/4", lambda: web.put(f"{A}2", text="new"))
    web.crawl(folder, A)
    told = list(dict.fromkeys(each.waiting for each in seen if each.waiting))
    host = host_of(A)
    assert told == [f"probing {host}, {left} to go" for left in range(PROBES - 1, 0, -1)]
    assert max(two.elapsed - one.elapsed for one, two in pairwise(seen)) < 1.3


def test_a_pause_holds_for_probes_too(web: Web, folder: Path) -> None:
    def pause(paused: bool) -> None:
        assert web.crawler is not None
        web.crawler.paused = paused

    def happens(url: str) -> None:
        if len(web.asked) == 9:
            web.put(f"{A}2", text="new")
        if len(web.asked) == 17:
            pause(True)

    web.happens, web.later = happens, (90.0, partial(pause, False))
    web.crawl(folder, A)
    assert [each.conditional for each in web.asked[15:]] == [True] * (PROBES - 1)
    assert max(web.gaps()) > 60


def changed_at(web: Web, act: Callable[[], object]) -> None:
    """One page changes before it is looked at again; have something happen while it is."""
    again = 0

    def happens(url: str) -> None:
        nonlocal again
        if len(web.asked) == 9:
            web.put(f"{A}2", text="new")
        if len(web.asked) > 9 and url == f"{A}2":
            again += 1
            if again == 1:
                act()

    web.happens = happens


def test_a_stop_holds_for_probes_at_once_too(web: Web, folder: Path) -> None:
    changed_at(web, web.stop)
    web.crawl(folder, A)
    assert [(each.path, each.conditional) for each in web.asked[-2:]] == [
        ("/3", False),
        ("/2", False),
    ]


def test_a_pause_holds_for_probes_at_once_too(web: Web, folder: Path) -> None:
    def pause(paused: bool) -> None:
        assert web.crawler is not None
        web.crawler.paused = paused

    changed_at(web, partial(pause, True))
    web.later = 90.0, partial(pause, False)
    web.crawl(folder, A)
    first = next(each for each in web.asked if each.conditional)
    assert (first.path, first.start >= 90.0) == ("/2", True)


def test_probes_at_once_stop_at_limits_of_bytes(tmp_path: Path) -> None:
    sizes: list[int] = []

    def crawl(name: str, **limits: Any) -> list[bool]:
        web = Web()
        web.fan(A, 6)

        def note() -> None:
            assert web.crawler is not None
            sizes.append(web.crawler.equipment.limits.bytes)

        changed_at(web, note)
        web.crawl(tmp_path / name, A, **limits)
        return [each.conditional for each in web.asked]

    assert any(crawl("whole"))
    assert not any(crawl("less", max_bytes=sizes[0] + 10))
    assert len(sizes) == 2, "the page was looked at again"


def test_probes_are_as_polite_as_visits(web: Web, folder: Path) -> None:
    """The first one at the end comes after a visit, too."""
    web.robots(A, "User-agent: *\nCrawl-delay: 10\n")
    changed_at(web, lambda: None)
    web.crawl(folder, A)
    assert sum(each.conditional for each in web.asked) == PROBES
    assert min(web.gaps()) > 9.99


def test_a_change_of_the_last_page_is_probed_at_the_end_only(web: Web, folder: Path) -> None:
    """Not again when what was found meanwhile is taken."""

    def happens(url: str) -> None:
        if len(web.asked) == 9:
            web.put(f"{A}late")
            web.put(A, *(f"{A}{number}" for number in range(1, 7)), f"{A}late", text="new")

    web.happens = happens
    web.crawl(folder, A)
    assert [each.path for each in web.asked[-2 - PROBES :]] == ["/"] * (1 + PROBES) + ["/late"]


def test_what_was_excluded_by_an_order_is_not_probed(web: Web, folder: Path) -> None:
    def happens(url: str) -> None:
        if len(web.asked) == 9:
            web.put(f"{A}2", text="new")
        if len(web.asked) == 14:
            send_order(Folder(folder), web.clock, Act.EXCLUDE, "/2$")

    web.happens = happens
    web.crawl(folder, A, control=True)
    assert [each.path for each in web.asked if each.conditional] == ["/2"], "at once, before that"


def test_probes_are_committed_while_others_are_made(web: Web, folder: Path) -> None:
    kept: list[int] = []

    def happens(url: str) -> None:
        if len(web.asked) == 9:
            web.put(f"{A}2", text="new")
        if web.asked:
            kept.append(len(web.asked) - len(captures(folder)))

    web.happens = happens
    web.crawl(folder, A)
    assert max(kept) <= 3


def test_who_is_interrupted_looks_for_nothing_to_probe(web: Web, folder: Path) -> None:
    """It may take long to find, and nobody would be asked."""
    web.crawl(folder, A, coherence="off")
    web.asked.clear()
    at_request(web, 3, web.stop)
    with patch.object(turning, "_probes", side_effect=AssertionError):
        outcome = web.crawl(folder, A, coherence="measurable")
    assert outcome.summary.ended_by == "interrupted"


def test_a_budget_counts_revisits(web: Web, folder: Path) -> None:
    web.crawl(folder, A, revisits=2)
    assert [each.path for each in web.asked[8:]] == ["/5", "/4"]


def test_one_page_is_its_own_joker(folder: Path) -> None:
    web = Web()
    web.put(A)
    outcome = web.crawl(folder, A)
    assert web.paths() == ["/"]
    assert turn(folder) == captures(folder)[0].at
    assert outcome.crawl.state is CrawlState.FINISHED


def test_a_site_that_is_not_there_has_no_turning_point(folder: Path) -> None:
    """Errors are no pages."""
    web = Web()
    outcome = web.crawl(folder, A)
    assert web.paths() == ["/"]
    assert coherence_plan(folder).turn is None
    assert outcome.crawl.state is CrawlState.FINISHED


def test_without_a_delay(web: Web, folder: Path) -> None:
    """No politeness, no step: the order is the same."""
    web.takes = 0.001
    web.crawl(folder, A, delay=0.0, audit=False)
    assert sorted(web.paths()) == sorted([*ALL, *ALL[:-1]])


# -- The site moves meanwhile ---------------------------------------------------------------------


def test_pages_that_appear_and_vanish(web: Web, folder: Path) -> None:
    """New in the visits: looked at again. New in the revisits: taken after them, once."""
    web.put(f"{A}2", f"{A}early")
    web.put(f"{A}early")

    def change() -> None:
        web.put(f"{A}3", f"{A}late", text="now with a link")
        web.put(f"{A}late", f"{A}later")
        web.put(f"{A}later")
        del web.pages[f"{A}1"]

    when_asked_again(web, "/3", change)
    outcome = web.crawl(folder, A, audit=False)
    visits, again = seen_twice(folder)
    assert visits == [*ALL, "/early"]
    assert again == ["/6", "/5", "/4", "/3", "/2", "/1", "/", "/late", "/later"]
    assert outcome.summary.captured == 11
    gone = [capture for capture in captures(folder) if capture.url == f"{A}1"]
    assert [capture.status for capture in gone] == [200, 404]


def test_what_did_not_answer_with_a_page_is_not_looked_at_again(web: Web, folder: Path) -> None:
    """A 404 of the visits is no page, a redirect is one."""
    del web.pages[f"{A}6"]
    web.odd[f"{A}5"] = [Odd(500)]
    web.crawl(folder, A, audit=False)
    visits, again = seen_twice(folder)
    assert visits == ALL[:5]
    assert again == ["/5", "/6", "/3", "/2", "/1", "/"], "each error once, as it was found"
    assert turn(folder) == next(c.at for c in captures(folder) if c.url == f"{A}4")


def test_busy_at_the_revisit_and_then_back(web: Web, folder: Path) -> None:
    """503 is no answer about the page: it is asked for again, whole, and settled by that."""
    when_asked_again(web, "/5", lambda: web.odd.update({f"{A}5": [Odd(503, retry_after=20)]}))
    outcome = web.crawl(folder, A, audit=False)
    assert web.paths().count("/5") == 3
    assert [c.status for c in captures(folder) if c.url == f"{A}5"] == [200, 503, 200]
    assert max(web.gaps()) >= 20
    assert (outcome.summary.revisited, outcome.summary.to_revisit) == (6, 0)


def test_a_host_that_vanishes_between_the_phases(web: Web, folder: Path) -> None:
    """It is not asked for ever, the crawl ends, and nothing of the visits is lost."""
    when_asked_again(
        web, "/5", lambda: web.odd.update({f"{A}{path[1:]}": [Odd(0)] * 9 for path in ALL})
    )
    outcome = web.crawl(folder, A, audit=False)
    assert outcome.crawl.state is CrawlState.FINISHED
    assert len(web.asked) <= 8 + 7
    assert seen_twice(folder) == (ALL, [])
    assert outcome.summary.captured == 8
    assert (outcome.summary.failed, outcome.summary.revisited) == (0, 0)


# -- Limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [0, 2, 6, 100])
def test_a_budget_of_revisits(web: Web, folder: Path, budget: int) -> None:
    """Those with the best chance, in order: of alike pages the ones visited last."""
    web.crawl(folder, A, revisits=budget, audit=False)
    assert seen_twice(folder)[1] == ALL[-2::-1][:budget]


def test_a_budget_of_a_single_page(folder: Path) -> None:
    """There is nothing to share out."""
    web = Web()
    web.put(A)
    assert web.crawl(folder, A, revisits=3).crawl.state is CrawlState.FINISHED


def test_a_budget_holds_for_the_whole_crawl(web: Web, folder: Path) -> None:
    """Also when it is interrupted and its queue lost: what was looked at again counts."""
    at_request(web, 10, web.stop)
    web.crawl(folder, A, revisits=4, audit=False)
    web.happens = lambda url: None
    rebuild(folder)
    web.crawl(folder, A, revisits=4, audit=False)
    assert len(seen_twice(folder)[1]) == 4


def test_the_limit_of_pages_counts_visits(web: Web, folder: Path) -> None:
    outcome = web.crawl(folder, A, max_pages=4, audit=False)
    assert web.paths() == ["/", "/1", "/2", "/3", "/2", "/1", "/"]
    assert outcome.summary.ended_by == "max-pages"
    assert outcome.summary.queued == 3


def test_half_of_the_time_is_for_the_visits(folder: Path) -> None:
    web = Web()
    web.fan(A, 100)
    outcome = web.crawl(folder, A, time_limit=40.0, audit=False)
    visits, again = seen_twice(folder)
    assert turn(folder) - web.clock.start <= 20 * SECOND
    assert 15 <= len(visits) <= 19
    assert again[: len(visits) - 1] == visits[-2::-1], "there is time for all of them"
    assert outcome.summary.ended_by == "time-limit"
    assert web.asked[-1].end <= 41


def test_a_limit_of_bytes_of_one_host(web: Web, folder: Path) -> None:
    """Reached in the revisits, it ends them; those of other hosts go on."""
    web.tags = lambda url: False
    web.fan(B, 2)
    first = web.crawl(folder.with_name("all"), A, B, audit=False)
    web.asked.clear()
    most = first.summary.bytes // 2
    web.crawl(folder, A, B, audit=False, max_bytes_per_host=most)
    assert 7 < len(web.paths(A)) < 13
    assert len(web.paths(B)) == 6


def test_rules_about_answers_hold_in_the_revisits(web: Web, folder: Path) -> None:
    """A page that has grown beyond what is wanted is not kept again."""

    def grow() -> None:
        web.pages[f"{A}4"] += "x" * 9000

    when_asked_again(web, "/5", grow)
    web.crawl(folder, A, audit=False, rules=("out size:5kB",))
    assert seen_twice(folder) == (ALL, ["/5", "/3", "/2", "/1", "/"])
    assert web.paths().count("/4") == 2


def test_a_limit_of_bytes_ends_either_phase(tmp_path: Path) -> None:
    def crawl(name: str, limit: int | None) -> tuple[Web, int, str]:
        web = Web()
        web.fan(A, 6)
        web.tags = lambda url: False
        outcome = web.crawl(tmp_path / name, A, max_bytes=limit)
        return web, outcome.summary.bytes, outcome.summary.ended_by

    whole, size, _ = crawl("whole", None)
    early, _, why = crawl("early", size // 4)
    assert (why, len(early.asked) < 8) == ("max-bytes", True)
    late, _, why = crawl("late", size * 3 // 4)
    assert (why, 8 < len(late.asked) < len(whole.asked)) == ("max-bytes", True)


# -- Interrupted ----------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 2], ids=["gently", "at once"])
@pytest.mark.parametrize("number", [1, 5, 7, 8, 12, 13])
def test_ctrl_c_at_any_request(web: Web, folder: Path, number: int, times: int) -> None:
    """The same command goes on: nothing is visited twice in a phase, nothing left out."""
    at_request(web, number, partial(stop, web, times))
    first = web.crawl(folder, A, audit=False)
    web.happens = lambda url: None
    assert first.crawl.state is CrawlState.INTERRUPTED
    second = web.crawl(folder, A, audit=False)
    assert second.resumed
    assert second.crawl.state is CrawlState.FINISHED
    visits, again = seen_twice(folder)
    assert visits == ALL
    assert again == ALL[-2::-1]
    assert [each.path for each in web.asked].count("/robots.txt") == 1


def test_ctrl_c_while_it_turns(web: Web, folder: Path) -> None:
    """Between the last visit and the first revisit nobody listens; the wish is heard after it."""
    plain = turning._turn

    async def turned(*given: object) -> bool:
        found = await plain(*given)  # type: ignore[arg-type]
        web.stop()
        return found

    with patch.object(turning, "_turn", turned):
        outcome = web.crawl(folder, A, audit=False)
    assert outcome.crawl.state is CrawlState.INTERRUPTED
    assert len(web.paths()) == 7
    web.crawl(folder, A, audit=False)
    assert seen_twice(folder) == (ALL, ALL[-2::-1])


def test_ctrl_c_at_the_limit_of_pages(web: Web, folder: Path) -> None:
    """The visits have ended; the crawl has not, and can be resumed."""
    plain = turning._turn

    async def turned(*given: object) -> bool:
        web.stop()
        return await plain(*given)  # type: ignore[arg-type]

    with patch.object(turning, "_turn", turned):
        outcome = web.crawl(folder, A, audit=False, max_pages=4)
    assert outcome.crawl.state is CrawlState.INTERRUPTED
    web.crawl(folder, A, audit=False)
    assert seen_twice(folder) == (ALL[:4], ALL[2::-1])


def test_ctrl_c_while_the_last_visits_end(web: Web, folder: Path) -> None:
    """The time for visits is over, one is still in flight: interrupted, not finished."""
    web.takes = 3.0
    web.later = (14.5, web.stop)
    outcome = web.crawl(folder, A, audit=False, time_limit=28.0)
    assert outcome.crawl.state is CrawlState.INTERRUPTED
    assert coherence_plan(folder).turn is None
    web.later = None
    web.takes = 0.1
    web.crawl(folder, A, audit=False, time_limit=1000.0)
    assert seen_twice(folder) == (ALL, ALL[-2::-1])


@pytest.mark.parametrize("lost", [False, True], ids=["killed", "database lost"])
def test_killed_at_any_request(tmp_path: Path, lost: bool) -> None:
    """A copy of the folder is what a kill leaves; each copy is gone on with to the end."""
    web, folder = Web(), tmp_path / "archive"
    paths = web.fan(A, 3)
    copies = Copies(web, folder, tmp_path, lambda number, url: number > 0)
    web.happens = copies
    plain = turning._queue_revisits

    def queued(*given: object) -> None:
        copies("turn")
        plain(*given)  # type: ignore[arg-type]
        copies("queued")

    with patch.object(turning, "_queue_revisits", queued):
        web.crawl(folder, A, audit=False)
    web.happens = lambda url: None
    assert len(copies.made) == 9
    for copy in copies.made:
        if lost:
            rebuild(copy)
        outcome = web.crawl(copy, A, audit=False)
        assert outcome.crawl.state is CrawlState.FINISHED, copy.name
        visits, again = seen_twice(copy)
        assert visits == paths, copy.name
        assert sorted(again) == paths[:-1], copy.name
        assert len({capture.crawl for capture in captures(copy)}) == 1


def test_the_turning_point_survives_a_new_file(tmp_path: Path) -> None:
    """Files that are begun in the revisits know it, too: a lost database does not undo it."""
    web = Web()
    web.fan(A, 6)
    web.tags = lambda url: False
    web.takes = 0.2
    texts = iter(range(10_000))

    def happens(url: str) -> None:
        if "robots" not in url:
            web.pages[url] += str(next(texts)) * 50
        if len(web.asked) == 13:
            web.stop()

    web.happens = happens
    folder = tmp_path / "archive"
    web.crawl(folder, A, segment_bytes=1500)
    moment = turn(folder)
    assert len(list((folder / "warc").iterdir())) > 4
    rebuild(folder)
    assert turn(folder) == moment
    web.happens = lambda url: None
    web.crawl(folder, A)
    visits, again = seen_twice(folder)
    assert turn(folder) == moment
    assert (visits, sorted(again)) == (ALL, ALL[:-1])


def test_a_page_that_was_busy_when_the_queue_was_lost(web: Web, folder: Path) -> None:
    """503 proves nothing: the page is still to be looked at."""
    when_asked_again(web, "/5", lambda: web.odd.update({f"{A}5": [Odd(503, retry_after=9)]}))
    plain = web.happens

    def happens(url: str) -> None:
        plain(url)
        if len(web.asked) == 10:
            web.stop()

    web.happens = happens
    web.crawl(folder, A, audit=False)
    web.happens = lambda url: None
    rebuild(folder)
    web.crawl(folder, A, audit=False)
    assert [c.status for c in captures(folder) if c.url == f"{A}5"] == [200, 503, 200]


def test_resumed_without_coherence(web: Web, folder: Path) -> None:
    """Options of the new command count: the rest is visited, and nothing twice."""
    at_request(web, 4, web.stop)
    web.crawl(folder, A)
    web.happens = lambda url: None
    web.crawl(folder, A, coherence="off")
    assert web.paths() == ALL


# -- Rules, orders, politeness --------------------------------------------------------------------


def test_robots_txt_is_asked_for_once_and_obeyed(web: Web, folder: Path) -> None:
    """Also after an interruption in the revisits."""
    web.robots(A, "User-agent: *\nDisallow: /3\n")
    at_request(web, 9, web.stop)
    web.crawl(folder, A, audit=False)
    web.happens = lambda url: None
    web.crawl(folder, A, audit=False)
    assert [each.path for each in web.asked].count("/robots.txt") == 1
    kept = [path for path in ALL if path != "/3"]
    assert seen_twice(folder) == (kept, kept[-2::-1])


def test_a_rule_that_came_with_the_resumption(web: Web, folder: Path) -> None:
    """What is excluded now is not looked at again either."""
    at_request(web, 10, web.stop)
    web.crawl(folder, A, audit=False)
    web.happens = lambda url: None
    before = len(web.asked)
    web.crawl(folder, A, audit=False, exclude=("/2$",))
    assert web.paths(since=before) == ["/1", "/"]


def test_an_exclusion_in_the_revisits(web: Web, folder: Path) -> None:
    """What matches is neither looked at again, nor visited when it was found on the way."""

    def happens(url: str) -> None:
        again = len(web.asked) - 8
        if again == 0:
            web.put(f"{A}5", f"{A}2/new", f"{A}new", text="changed")
            web.put(f"{A}2/new")
            web.put(f"{A}new")
        if again == 1:
            send_order(Folder(folder), web.clock, Act.EXCLUDE, "/2")

    web.happens = happens
    web.crawl(folder, A, audit=False, control=True)
    assert seen_twice(folder)[1] == ["/5", "/4", "/3", "/1", "/", "/new"]


def test_an_exclusion_in_the_visits_holds_for_the_revisits(web: Web, folder: Path) -> None:
    at_request(web, 4, lambda: send_order(Folder(folder), web.clock, Act.EXCLUDE, "/[25]"))
    web.crawl(folder, A, audit=False, control=True)
    assert seen_twice(folder) == (["/", "/1", "/2", "/3", "/4", "/6"], ["/4", "/3", "/1", "/"])


def test_a_pause_in_the_revisits(web: Web, folder: Path) -> None:
    """Nothing is asked for until it is over; then the rest, in order."""

    def happens(url: str) -> None:
        if len(web.asked) == 10:
            send_order(Folder(folder), web.clock, Act.PAUSE)

    web.happens = happens
    web.later = (100.0, lambda: send_order(Folder(folder), web.clock, Act.RESUME))
    web.crawl(folder, A, audit=False, control=True)
    assert seen_twice(folder) == (ALL, ALL[-2::-1])
    assert max(web.gaps()) > 80


def test_a_stop_in_the_revisits(web: Web, folder: Path) -> None:
    at_request(web, 10, lambda: send_order(Folder(folder), web.clock, Act.STOP))
    outcome = web.crawl(folder, A, audit=False, control=True)
    assert outcome.crawl.state is CrawlState.INTERRUPTED
    web.happens = lambda url: None
    web.crawl(folder, A, audit=False)
    assert seen_twice(folder) == (ALL, ALL[-2::-1])


@given(st.integers(0, 1 << 32))
@settings(max_examples=examples(15))
def test_whatever_happens_every_page_is_seen_once_in_each_phase(number: int) -> None:
    """Any links, busy servers, pages that change and come and go, stops and lost databases."""
    chance = random.Random(number)
    web = Web()
    urls = [f"{host}{page}" for host in (A, B) for page in ("", "1", "2", "3", "4")]

    def put(url: str) -> None:
        web.put(url, *chance.sample(urls, chance.randrange(5)), text=str(chance.random()))

    for url in urls:
        if chance.random() < 0.9:
            put(url)
    web.tags = lambda url: crc32(url.encode()) % 3 > 0

    def happens(url: str) -> None:
        whim = chance.random()
        if whim < 0.1:
            put(chance.choice(urls))
        elif whim < 0.15:
            web.pages.pop(chance.choice(urls), None)
        elif whim < 0.25:
            web.odd[url] = [Odd(503, retry_after=chance.choice([None, 5]))]
        elif whim < 0.4:
            stop(web, chance.choice([1, 1, 2]))

    web.happens = happens
    plan = chance.choice(["auto", "optimal", "threshold", "lifo", "fifo"])
    with TemporaryDirectory() as name:
        folder = Path(name) / "archive"
        state = None
        while state is not CrawlState.FINISHED:
            outcome = web.crawl(folder, A, B, plan=plan, audit=False, scope="surt:example,")
            state = outcome.crawl.state
            if state is not CrawlState.FINISHED and chance.random() < 0.3:
                rebuild(folder)
        moment, found = coherence_plan(folder).turn, captures(folder)
    assert outcome.summary.queued == outcome.summary.to_revisit == 0
    told = [each for each in found if each.status != 503]
    visits = [each for each in told if moment is None or each.at <= moment]
    assert max(Counter(each.url for each in visits).values(), default=1) == 1
    pages = {each.url: each.at for each in visits if each.status in (200, 304)}
    last = max(pages.values(), default=None)
    if moment is None or len({url[: len(A)] for url in pages}) < 2:
        assert moment == last
    else:  # the end of all visits: of two hosts one may still be answering when the last begins
        assert last is not None
        assert last <= moment
    later = Counter(each.url for each in told if moment is not None and each.at > moment)
    assert max(later.values(), default=1) == 1
    answered = {each.url for each in found if moment is not None and each.at > moment}
    assert {url for url, at in pages.items() if at != moment} <= answered


@given(st.data())
@settings(max_examples=examples(15))
def test_politeness_holds_across_the_turning_point(data: st.DataObject) -> None:
    """Delay, Crawl-delay and Retry-After, in visits, revisits and audits, of two hosts."""
    web = Web(takes=data.draw(st.sampled_from([0.0, 0.3, 2.0])))
    delay = data.draw(st.sampled_from([0.5, 1.0, 3.0]))
    wish = data.draw(st.sampled_from([None, 2, 7]))
    for host in (A, B):
        web.fan(host, data.draw(st.integers(0, 7)))
    if wish is not None:
        web.robots(A, f"User-agent: *\nCrawl-delay: {wish}\n")
    patience: dict[float, int] = {}
    sick = data.draw(st.lists(st.integers(1, 20), max_size=3))

    def happens(url: str) -> None:
        if len(web.asked) in sick and "robots" not in url:
            web.odd[url] = [Odd(503, retry_after=11)]
            patience[web.clock.monotonic()] = 11

    web.happens = happens
    with TemporaryDirectory() as folder:
        outcome = web.crawl(Path(folder) / "archive", A, B, delay=delay)
    assert outcome.crawl.state is CrawlState.FINISHED
    assert outcome.summary.to_revisit == 0
    for host in (A, B):
        mine = [each for each in web.asked if each.url.startswith(host)]
        mine.sort(key=lambda each: each.start)
        for before, after in pairwise(mine):
            need = max(delay, before.end - before.start)
            if host == A and wish is not None:
                need = max(need, wish)
            if before.status == 503:
                need = max(need, patience[before.start])
            assert after.start - before.end >= need - 1e-5, (before, after)


def test_several_hosts_turn_together(tmp_path: Path) -> None:
    """One moment for both, after all visits; every page is looked at again."""
    web = Web()
    web.fan(A, 9)
    web.fan(B, 2)
    folder = tmp_path / "archive"
    web.crawl(folder, A, B, audit=False)
    moment = (turn(folder) - web.clock.start) / SECOND
    last = min(each.end for each in web.asked if each.path == "/9")
    assert moment == pytest.approx(last, abs=0.01)
    for host, count in ((A, 10), (B, 3)):
        mine = [each for each in web.asked if each.url.startswith(host)][1:]
        before = [each.path for each in mine if each.start <= moment]
        after = [each.path for each in mine if each.start > moment]
        assert len(before) == count
        assert sorted(after) == sorted(before)


def test_a_crawl_without_coherence_asks_once(web: Web, folder: Path) -> None:
    outcome = web.crawl(folder, A, coherence="off")
    assert web.paths() == ALL
    assert outcome.crawl.coherence_plan is None
    assert (outcome.summary.revisited, outcome.summary.to_revisit) == (0, 0)


def test_measurable_visits_once_and_refers_to_its_start(web: Web, folder: Path) -> None:
    web.crawl(folder, A, coherence="measurable")
    assert web.paths() == ALL
    assert turn(folder) == captures(folder)[0].at


def test_the_record_of_the_turn_comes_before_the_first_revisit(web: Web, folder: Path) -> None:
    """So that the files alone tell when it was; a certificate rests on that."""
    web.crawl(folder, A, audit=False)
    (file,) = (folder / "warc").iterdir()
    text = gzip.decompress(file.read_bytes()).decode("latin-1")
    said = text.index(f'"turn": "{iso(turn(folder))}"')
    assert text.index("WARC-Type: revisit") > said
    with OpenArchive.open(folder) as archive:
        assert len(archive.crawls()) == 1
