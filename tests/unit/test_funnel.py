"""What was found, into the queue or the report; and that memory changes nothing but the cost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.config import Config
from asof.crawl import funnel as module
from asof.crawl.funnel import MAX_REDIRECTS, Funnel
from asof.frontier.queue import Frontier
from asof.ledger import Ledger
from asof.model import Target
from asof.scope.rules import Scope
from asof.scope.traps import FAR_DATE, REPEATED_PATH, SESSION, TOO_LONG
from asof.testing import SimulatedClock

SEED = "http://a.example/"
OTHER = "http://b.example/"
PLENTY = 30


class Hopper:
    """A funnel into a queue of its own."""

    def __init__(self, ledger: Ledger, crawl: int = 1, **settings: Any) -> None:
        config = Config().updated(settings, source="a test")
        self.ledger = ledger
        self.crawl = crawl
        self.frontier = Frontier(ledger, crawl)
        self.clock = SimulatedClock(virtual=True)
        self.funnel = Funnel(Scope((SEED,), config), self.frontier, config, self.clock)

    def put(self, *targets: Target) -> list[str]:
        """What was queued, and all that was learnt is in the database."""
        queued = [target.url for target in self.funnel.put(targets)]
        with self.ledger.transaction():
            self.frontier.flush()
        return queued

    def states(self) -> dict[str, tuple[str, str | None]]:
        """State and reason of every URL."""
        sql = "SELECT url, state, reason FROM targets WHERE crawl = ?"
        rows = self.ledger.db.execute(sql, (self.crawl,))
        return {url: (state, reason) for url, state, reason in rows}


def link(path: str, depth: int = 1, hops: str = "L") -> Target:
    return Target(SEED + path, depth, SEED, hops)


# -- In and out -----------------------------------------------------------------------------------


def test_what_belongs_is_queued_and_the_rest_has_a_reason(ledger: Ledger) -> None:
    hopper = Hopper(ledger, depth=1)
    queued = hopper.put(Target(SEED), link("a"), link("deep", 2), Target(OTHER, 1, SEED, "L"))
    assert queued == [SEED, SEED + "a"]
    assert hopper.states() == {
        SEED: ("queued", None),
        SEED + "a": ("queued", None),
        SEED + "deep": ("left_out", "deeper than 1"),
        OTHER: ("left_out", "other host"),
    }


def test_a_url_is_decided_once(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most links of a page were on the page before: neither scope nor database is asked again."""
    hopper = Hopper(ledger)
    hopper.put(link("a"), Target(OTHER, 1, SEED, "L"))
    for name in ("add", "leave_out"):
        monkeypatch.setattr(hopper.frontier, name, lambda targets: pytest.fail("asked again"))
    assert hopper.put(link("a"), link("a", 5), Target(OTHER, 3, SEED + "a", "LLL")) == []


def test_the_same_url_twice_at_once_is_queued_once(ledger: Ledger) -> None:
    assert Hopper(ledger).put(link("a"), link("a"), link("a", 3)) == [SEED + "a"]


def test_what_is_found_nearer_is_decided_anew(ledger: Ledger) -> None:
    hopper = Hopper(ledger, depth=1)
    assert hopper.put(link("a", 3, "LLL"), link("a", 2, "LL")) == []
    assert hopper.put(link("a", 1, "L")) == [SEED + "a"]
    assert hopper.states()[SEED + "a"] == ("queued", None)


def test_out_as_a_link_and_in_as_a_part_of_a_page(ledger: Ledger) -> None:
    hopper = Hopper(ledger)
    image = OTHER + "logo.png"
    assert hopper.put(Target(image, 1, SEED, "L")) == []
    assert hopper.put(Target(image, 1, SEED + "a", "LE")) == [image]
    assert hopper.states()[image] == ("queued", None)


# -- Redirects ------------------------------------------------------------------------------------


def test_redirects_without_end_are_left_out(ledger: Ledger) -> None:
    """As many as browsers follow, and not one more; a page in between starts a new count."""
    hopper = Hopper(ledger)
    chain = "R" * MAX_REDIRECTS
    assert hopper.put(link("last", 0, chain)) == [SEED + "last"]
    assert hopper.put(link("beyond", 0, chain + "R")) == []
    assert hopper.put(link("other", 1, chain + "L" + chain)) == [SEED + "other"]
    assert hopper.states()[SEED + "beyond"] == ("left_out", "more than 20 redirects")


def test_too_many_redirects_there_and_a_plain_link_here(ledger: Ledger) -> None:
    """The chain was refused, not the page at its end."""
    hopper = Hopper(ledger)
    page = SEED + "page"
    assert hopper.put(link("page", 0, "R" * (MAX_REDIRECTS + 1))) == []
    assert hopper.put(link("page", 1, "L")) == [page]
    assert hopper.states()[page] == ("queued", None)


def test_a_redirect_of_a_seed_is_taken_however_it_was_found_before(ledger: Ledger) -> None:
    """`scope page`: where a seed has moved to is the page that was asked for."""
    hopper = Hopper(ledger, scope="page")
    moved = SEED + "moved"
    assert hopper.put(link("moved", 0, "RRRRRR")) == []
    assert hopper.put(link("moved", 0, "R")) == [moved]


# -- Traps ----------------------------------------------------------------------------------------


TRAPS = [
    ("/".join(["here"] * 6), REPEATED_PATH),
    ("x" * 5_000, TOO_LONG),
    ("calendar?date=2099-01-01", FAR_DATE),
]


@pytest.mark.parametrize(("path", "reason"), TRAPS, ids=[reason for _, reason in TRAPS])
def test_a_trap_is_left_out_by_its_shape(ledger: Ledger, path: str, reason: str) -> None:
    hopper = Hopper(ledger)
    assert hopper.put(link(path)) == []
    assert hopper.states()[SEED + path] == ("left_out", reason)


def test_what_the_user_named_is_no_trap(ledger: Ledger) -> None:
    """A seed may look as it likes, and with `traps` off so may everything."""
    trap = SEED + TRAPS[0][0]
    assert Hopper(ledger, 1).put(Target(trap)) == [trap]
    assert Hopper(ledger, 2, traps=False).put(link(TRAPS[0][0])) == [trap]


def test_what_is_far_away_depends_on_the_clock(ledger: Ledger) -> None:
    hopper = Hopper(ledger)
    hopper.clock.jump(days=365 * 60)
    path = TRAPS[2][0]
    assert hopper.put(link(path)) == [SEED + path]


def test_of_pages_that_differ_by_a_session_id_the_first_is_taken(ledger: Ledger) -> None:
    hopper = Hopper(ledger)
    first, second, other = (
        link("p?PHPSESSID=1"),
        link("p?PHPSESSID=2"),
        link("q?PHPSESSID=2"),
    )
    assert hopper.put(first, second, other) == [first.url, other.url]
    assert hopper.states()[second.url] == ("left_out", SESSION)
    assert hopper.put(first, link("p?PHPSESSID=3")) == []


def test_a_session_id_is_not_taken_beside_the_plain_page(ledger: Ledger) -> None:
    hopper = Hopper(ledger)
    assert hopper.put(link("p"), link("p?PHPSESSID=1")) == [SEED + "p"]


def test_the_first_of_a_session_stays_the_first_when_rules_change(ledger: Ledger) -> None:
    hopper = Hopper(ledger)
    hopper.put(link("p?PHPSESSID=1"))
    hopper.funnel.forget()
    assert hopper.put(link("p?PHPSESSID=2")) == []


# -- Memory ---------------------------------------------------------------------------------------


def test_a_later_run_knows_what_was_queued(ledger: Ledger) -> None:
    """What is queued for the first time is what tells traps: a restart makes nothing new."""
    before = Hopper(ledger, depth=1)
    before.put(Target(SEED), link("a"), link("p?PHPSESSID=1"), link("deep", 2))
    after = Hopper(ledger, depth=1)
    assert after.put(Target(SEED), link("a"), link("b"), link("p?PHPSESSID=2")) == [SEED + "b"]
    assert after.put(link("deep")) == [SEED + "deep"]
    assert Hopper(ledger, 2).put(link("a")) == [SEED + "a"]


def test_what_was_queued_is_not_new_when_rules_change(ledger: Ledger) -> None:
    hopper = Hopper(ledger)
    hopper.put(link("a"))
    hopper.funnel.forget()
    assert hopper.put(link("a"), link("b")) == [SEED + "b"]


def test_forgetting_decides_everything_anew(ledger: Ledger) -> None:
    """After `asof exclude`: what was in may be out, and what was out may be in."""
    hopper = Hopper(ledger)
    hopper.put(link("a"), Target(OTHER, 1, SEED, "L"))
    hopper.funnel.scope = Scope((SEED, OTHER), Config(exclude=("/a$",)))
    hopper.funnel.forget()
    assert hopper.put(Target(OTHER, 1, SEED, "L")) == [OTHER]
    assert hopper.put(link("a")) == []
    assert hopper.states()[OTHER] == ("queued", None)
    # What is queued stays so: the order itself takes it out (Frontier.exclude).
    assert hopper.states()[SEED + "a"] == ("queued", None)


def test_memory_does_not_grow_without_end(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The older half is forgotten; the database knows better, so nothing is queued twice."""
    monkeypatch.setattr(module, "_REMEMBERED", PLENTY)
    hopper = Hopper(ledger)
    for n in range(10 * PLENTY):
        hopper.put(link(f"{n}"), link(f"{n}?PHPSESSID={n}"), Target(f"{OTHER}{n}", 1, SEED, "L"))
        assert len(hopper.funnel.known) <= PLENTY
        assert len(hopper.funnel._left) <= PLENTY
        assert len(hopper.funnel._sessions) <= PLENTY
    assert SEED + "0" not in hopper.funnel.known
    before = hopper.frontier.tally.copy()
    hopper.put(link("0"), Target(f"{OTHER}0", 1, SEED, "L"))
    assert hopper.frontier.tally == before


HOPS = [
    *("R", "RR", "R" * 6, "R" * 21, "L", "LL", "LLL", "E", "LE", "LLE", "LEEEEE"),
    *("LR", "RL", "L" + "R" * 21, "M", "LX"),
]


@st.composite
def targets(draw: st.DrawFn) -> Target:
    hops = draw(st.sampled_from(HOPS))
    base = draw(st.sampled_from([SEED, OTHER]))
    path = draw(st.sampled_from(["a", "b", "x/x/x/x/x/x/x"]))
    return Target(base + path, sum(hops.count(h) for h in "LMX"), SEED, hops)


@given(
    st.lists(targets(), max_size=25),
    st.sampled_from(["host", "page", "path"]),
    st.sampled_from([None, 1, 2]),
)
def test_memory_spares_questions_and_changes_no_answer(
    tmp_path_factory: pytest.TempPathFactory,
    found: list[Target],
    scope: str,
    depth: int | None,
) -> None:
    """Whatever is found in whatever order, the queue is as if nothing had been remembered."""
    ledger = Ledger(tmp_path_factory.mktemp("law") / "asof.db", writable=True)
    ledger.db.execute("PRAGMA synchronous = OFF")
    with_memory = Hopper(ledger, 1, scope=scope, depth=depth)
    without = Hopper(ledger, 2, scope=scope, depth=depth)
    for target in found:
        with_memory.put(target)
        without.funnel.forget()
        without.funnel.known.clear()
        without.put(target)
    states, expected = with_memory.states(), without.states()
    ledger.close()
    assert {url: state for url, (state, _) in states.items()} == {
        url: state for url, (state, _) in expected.items()
    }
