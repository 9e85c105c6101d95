"""Planned crawls on virtual time: what history teaches, and whether the crawl keeps to the plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.archive.folder import Folder
from asof.archive.reindex import reindex
from asof.catalog.captures import Catalog
from asof.clock import SECOND
from asof.crawl import CrawlRequest
from asof.crawl.plan import Itinerary
from asof.crawl.run import plan_crawl
from asof.errors import UsageError
from asof.ledger import Ledger
from asof.model import CoherencePlan, Crawl, CrawlState
from asof.report.plan_text import plan_json
from asof.warc.info import _coherence_plan_from
from support.made_up_web import FILL, A, B, Copies, Web, seen_twice, turn

# Seconds from one request to the next, and from one crawl of the history to the next.
STEP = 3.0
LATER = 400.0


_OF_SQLITE = (".db-shm", ".db-wal")


def changing(web: Web, *urls: str) -> None:
    """These pages say something else from now on."""
    for url in urls:
        web.pages[url] += f"<p>Now it is {web.clock.now()}.</p>"


def live(web: Web, folder: Path, *hot: str, crawls: int = 4, seeds: tuple[str, ...] = (A,)) -> None:
    """A history of daily crawls over which some pages change each time."""
    for _ in range(crawls):
        web.crawl(folder, *seeds, coherence="off", delay=STEP)
        web.clock.jump(seconds=LATER)
        changing(web, *hot)
    web.asked.clear()


def planned(folder: Path, *seeds: str, **settings: Any) -> Itinerary:
    return plan_crawl(CrawlRequest(folder, seeds or (A,), {"delay": STEP, **settings}))


def order_of(itinerary: Itinerary) -> list[str]:
    """The paths of the plan of the only host, the shortest slot first."""
    told = json.loads(json.dumps(plan_json(itinerary)))
    (host,) = told["hosts"]
    return ["/" + row["url"].split("/", 3)[3] for row in host["order"]]


@pytest.fixture
def web() -> Web:
    found = Web()
    found.fan(A, 7)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


@pytest.fixture
def hot(web: Web, folder: Path) -> set[str]:
    """Two pages that change every day, known from four crawls."""
    live(web, folder, f"{A}2", f"{A}5")
    return {"/2", "/5"}


@pytest.mark.parametrize("plan", ["optimal", "threshold", "auto"])
def test_what_changes_often_is_visited_last_and_seen_again_first(
    web: Web, folder: Path, hot: set[str], plan: str
) -> None:
    before = planned(folder, plan=plan)
    outcome = web.crawl(folder, A, plan=plan, delay=STEP, audit=False)
    visits, again = seen_twice(folder)
    assert set(visits[-2:]) == hot
    assert again[0] in hot
    assert visits == order_of(before)[::-1], "the crawl goes as the plan said"
    assert sorted(again) == sorted(visits[:-1])
    if plan == "threshold":
        assert again == visits[-2::-1]
    assert outcome.crawl.coherence_plan is not None
    assert outcome.crawl.coherence_plan.expected == before.coherence_plan.expected


@pytest.mark.parametrize("plan", ["bfs", "lifo", "fifo"])
def test_plans_that_know_nothing_go_as_found(
    web: Web, folder: Path, hot: set[str], plan: str
) -> None:
    web.crawl(folder, A, plan=plan, delay=STEP, audit=False)
    visits, again = seen_twice(folder)
    assert visits == ["/", *(f"/{number}" for number in range(1, 8))]
    assert again == (visits[:-1] if plan == "fifo" else visits[-2::-1])


def test_expected_coherence_of_all_strategies(folder: Path, web: Web, hot: set[str]) -> None:
    """What is planned is never expected to be worse than what is not."""
    told = planned(folder, plan="auto")
    strategies = told.candidates
    assert set(strategies) == {"fifo", "lifo", "threshold", "optimal", "auto"}
    assert all(0 < expected <= 1 for expected in strategies.values())
    assert strategies["fifo"] <= strategies["lifo"] <= strategies["optimal"]
    assert strategies["auto"] == pytest.approx(max(strategies.values()))
    assert told.coherence_plan.pages == 8


def test_a_plan_writes_nothing(folder: Path, web: Web, hot: set[str]) -> None:
    def look() -> dict[str, tuple[int, bytes]]:
        # SQLite itself keeps files beside a database that anybody reads.
        files = [p for p in folder.rglob("*") if p.is_file() and p.suffix not in _OF_SQLITE]
        return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    before = look()
    planned(folder)
    assert look() == before
    nothing = folder.with_name("none")
    assert planned(nothing).coherence_plan.pages == 0
    assert not nothing.exists()


def test_a_plan_needs_seeds_and_sound_rules(folder: Path) -> None:
    with pytest.raises(UsageError):
        plan_crawl(CrawlRequest(folder, ()))
    with pytest.raises(UsageError):
        planned(folder, A, rules=("nonsense",))


def test_other_seeds_have_other_pages(folder: Path, web: Web, hot: set[str]) -> None:
    assert planned(folder, B).coherence_plan.pages == 0
    assert planned(folder, A, exclude=("/[1-6]$",)).coherence_plan.pages == 2
    assert planned(folder, A, max_pages=3).coherence_plan.pages == 3


@pytest.mark.parametrize("lost", [False, True], ids=["", "database lost"])
def test_files_of_another_site_in_the_archive_are_not_asked_for(
    web: Web, folder: Path, lost: bool
) -> None:
    """What a crawl of two sites found on the one is of no concern to a crawl of the other."""
    own, other = "http://cdn.example/own.png", "http://cdn.example/other.png"
    web.pages |= {B: f'<img src="{other}"><img src="{B}pic.png">{FILL}', other: "x", own: "x"}
    web.pages[f"{B}pic.png"] = "x"
    web.pages[A] += f'<img src="{own}">'
    live(web, folder, seeds=(A, B), crawls=2)
    if lost:
        rebuild(folder)
    web.crawl(folder, A, coherence="inducible", delay=STEP)
    asked = {each.url for each in web.asked if not each.url.endswith("/robots.txt")}
    assert own in asked
    assert {url for url in asked if not url.startswith(A)} == {own}


@pytest.mark.parametrize("lost", [False, True], ids=["", "database lost"])
def test_new_pages_have_a_place_in_the_middle(folder: Path, tmp_path: Path, lost: bool) -> None:
    """Where a page of average rate has it; and seen again like all others.

    Also when the crawl is killed and what it has found must be found again in its files.
    """
    web = Web()
    web.fan(A, 7)
    for number in range(5):
        live(web, folder, f"{A}2", f"{A}5", crawls=1)
        changing(web, *(f"{A}{warm}" for warm in (1, 3, 6) if number % 2))
    web.put(A, *(f"{A}{number}" for number in range(1, 8)), f"{A}new")
    web.put(f"{A}new", f"{A}newer")
    web.put(f"{A}newer")
    web.happens = copies = Copies(web, folder, tmp_path, lambda number, url: number == 3)
    web.crawl(folder, A, delay=STEP, audit=False)
    web.happens = lambda url: None
    if lost:
        (folder,) = copies.made
        rebuild(folder)
        web.crawl(folder, A, delay=STEP, audit=False)
    visits, again = seen_twice(folder)
    assert sorted(again) == sorted(visits[:-1])
    assert len(visits) == 10
    assert set(visits[:3]) == {"/", "/4", "/7"}, "what never changes"
    assert set(visits[-2:]) == {"/2", "/5"}, "what always changes"
    assert visits.index("/new") < visits.index("/newer") < 8


def test_the_dead_are_asked_for_first_and_then_forgotten(
    web: Web, folder: Path, hot: set[str]
) -> None:
    """What answered with an error last time may be back; after two crawls it is not asked for."""
    del web.pages[f"{A}3"]
    web.put(A, *(f"{A}{number}" for number in (1, 2, 4, 5, 6, 7)))
    web.crawl(folder, A, delay=STEP, audit=False)
    web.clock.jump(seconds=LATER)
    web.asked.clear()
    web.crawl(folder, A, delay=STEP, audit=False)
    assert web.paths()[0] == "/3"
    assert web.paths().count("/3") == 1, "an error is no page to look at again"
    web.clock.jump(seconds=LATER)
    web.asked.clear()
    web.crawl(folder, A, delay=STEP, coherence="off")
    web.clock.jump(seconds=LATER)
    web.asked.clear()
    web.crawl(folder, A, delay=STEP, audit=False)
    assert "/3" not in web.paths()


def test_under_a_budget_the_hopeless_are_not_seen_again(folder: Path) -> None:
    """A page that changes every few seconds has no chance over slots of minutes."""
    web = Web()
    web.fan(A, 7)
    for _ in range(6):
        web.crawl(folder, A, coherence="off", delay=1.0)
        web.clock.jump(seconds=10)
        changing(web, f"{A}2", f"{A}5", f"{A}6")
    told = planned(folder, revisits=4, delay=20.0)
    rows = json.loads(json.dumps(plan_json(told)))["hosts"][0]["order"]
    assert [row["slot"] is None for row in rows].count(True) == 3
    web.asked.clear()
    web.crawl(folder, A, delay=20.0, revisits=4, audit=False)
    visits, again = seen_twice(folder)
    assert len(again) == 4
    assert not {"/2", "/5", "/6"} & set(again)
    assert len(visits) == 8


def test_measurable_downloads_in_the_order_of_the_plan(
    web: Web, folder: Path, hot: set[str]
) -> None:
    """Figure 7: what changes often comes first, as the reference is the start."""
    before = order_of(planned(folder, coherence="measurable"))
    web.crawl(folder, A, coherence="measurable", delay=STEP, audit=False)
    assert web.paths() == before
    assert before[0] in hot


def test_measurable_crawls_ask_for_bytes(web: Web, folder: Path, hot: set[str]) -> None:
    """All rests on this one look; hosts are probed by what they had before, twice at once."""
    web.crawl(folder, A, coherence="measurable", delay=STEP)
    taken = [each for each in web.asked if not each.conditional]
    probes = [place for place, each in enumerate(web.asked) if each.conditional]
    assert len({each.url for each in taken}) == len(taken) == 9
    assert {(web.asked[place].path, web.asked[place].status) for place in probes} == {
        (path, 200) for path in hot
    }
    for place in probes[:2]:
        assert (web.asked[place - 1].url, place < 11) == (web.asked[place].url, True)
    assert probes[2:] == list(range(11, len(web.asked)))


def two_hosts(folder: Path) -> Web:
    web = Web()
    web.fan(A, 11)
    web.fan(B, 2)
    live(web, folder, f"{A}2", f"{B}1", crawls=3, seeds=(A, B))
    return web


def test_smaller_hosts_begin_later_and_all_turn_together(folder: Path) -> None:
    web = two_hosts(folder)
    web.crawl(folder, A, B, delay=STEP, audit=False)
    moment = (turn(folder) - web.clock.start) / SECOND
    first = {host: min(e.start for e in web.asked if e.url.startswith(host)) for host in (A, B)}
    last = {
        host: max(e.start for e in web.asked if e.url.startswith(host) and e.start <= moment)
        for host in (A, B)
    }
    assert first[B] - first[A] > 8 * STEP
    assert abs(last[A] - last[B]) < 1.5 * STEP
    for host, count in ((A, 12), (B, 3)):
        mine = [e for e in web.asked if e.url.startswith(host) and "robots" not in e.url]
        assert len([e for e in mine if e.start <= moment]) == count


def test_a_limit_of_time_leaves_no_host_out(folder: Path) -> None:
    """Hosts end their visits together at half of the time, if that comes before all is visited."""
    web = two_hosts(folder)
    web.crawl(folder, A, B, delay=STEP, time_limit=12 * STEP, audit=False)
    moment = (turn(folder) - web.clock.start) / SECOND
    early = [e.url for e in web.asked if e.start <= moment and "robots" not in e.url]
    assert len([url for url in early if url.startswith(B)]) == 3


def rebuild(folder: Path) -> None:
    for path in folder.glob("asof.db*"):
        path.unlink()
    reindex(Folder(folder), spread=map, progress=lambda size: None)


def test_the_files_are_enough_to_plan_by(web: Web, folder: Path, hot: set[str]) -> None:
    """A lost database loses how pages were found, not which there are, nor how they change."""
    before = planned(folder)
    rebuild(folder)
    after = planned(folder)
    assert after.coherence_plan.pages == before.coherence_plan.pages
    assert after.coherence_plan.expected == pytest.approx(before.coherence_plan.expected)
    assert set(order_of(after)[:2]) == hot


@pytest.mark.parametrize("lost", [False, True], ids=["killed", "database lost"])
def test_a_planned_crawl_goes_on_with_its_plan(
    web: Web, folder: Path, tmp_path: Path, hot: set[str], lost: bool
) -> None:
    """In the middle of the visits: the rest in the planned order, also what nothing links to."""
    web.put(A, *(f"{A}{number}" for number in (1, 2, 4, 5, 6, 7)))  # no link to /3 any more
    expected = order_of(planned(folder))[::-1]
    copies = Copies(web, folder, tmp_path, lambda number, url: number in (1, 4, 7))
    web.happens = copies
    web.crawl(folder, A, delay=STEP, audit=False)
    web.happens = lambda url: None
    assert seen_twice(folder)[0] == expected
    for copy in copies.made:
        if lost:
            rebuild(copy)
        outcome = web.crawl(copy, A, delay=STEP, audit=False)
        assert outcome.crawl.state is CrawlState.FINISHED
        visits, again = seen_twice(copy)
        assert sorted(visits) == sorted(expected)
        assert set(visits[-2:]) == hot
        assert sorted(again) == sorted(visits[:-1])
        if not lost:
            assert visits == expected


# -- The course, written and read back -------------------------------------------------------------

courses = st.builds(
    CoherencePlan,
    mode=st.sampled_from(["measurable", "inducible"]),
    plan=st.sampled_from(["auto", "optimal", "threshold", "lifo", "fifo"]),
    expected=st.none() | st.floats(0, 1),
    pages=st.integers(0, 10**9),
    eta=st.none() | st.floats(0, 1),
    turn=st.none() | st.integers(0, 4 * 10**15),
    newcomers=st.none() | st.floats(0, 1),
)
nonsense = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(courses)
def test_a_course_comes_back_from_a_file(coherence_plan: CoherencePlan) -> None:
    said = json.loads(json.dumps(coherence_plan.facts()))
    assert _coherence_plan_from(said) == coherence_plan


@given(st.dictionaries(st.sampled_from(list(CoherencePlan.__dataclass_fields__)), nonsense))
def test_any_nonsense_is_a_course_or_none(said: dict[str, object]) -> None:
    """WARC files come from anywhere, with numbers that are none and of any size."""
    for number in (said, {"mode": "inducible", "plan": "auto", **said}):
        found = _coherence_plan_from(json.loads(json.dumps(number)))
        assert found is None or all(
            value is None or (isinstance(value, int | float) and abs(value) < 1e308)
            for value in (found.expected, found.eta, found.newcomers, found.pages)
        )
        assert found is None or found.newcomers is None or 0 <= found.newcomers <= 1


def test_a_number_without_end_is_none() -> None:
    huge = json.loads('{"mode": "inducible", "plan": "auto", "expected": 1' + "0" * 400 + "}")
    assert _coherence_plan_from(huge) == CoherencePlan("inducible", "auto")


def test_a_turning_point_stays(tmp_path: Path) -> None:
    """An older word about a crawl does not take it back; a newer one moves it."""
    ledger = Ledger(tmp_path / "asof.db", writable=True)
    catalog = Catalog(ledger)
    crawl = Crawl(
        "c", (A,), 5, CrawlState.RUNNING, coherence_plan=CoherencePlan("inducible", "auto")
    )
    found: list[CoherencePlan | None] = []
    for moment in (None, 7, None, 9):
        told = CoherencePlan("inducible", "auto", turn=moment)
        catalog.put_crawl(Crawl("c", (A,), 5, CrawlState.RUNNING, coherence_plan=told))
        found += [stored.coherence_plan for stored in catalog.crawls()]
    assert [each.turn for each in found if each] == [None, 7, 7, 9]
    catalog.put_crawl(crawl)
    ledger.close()
