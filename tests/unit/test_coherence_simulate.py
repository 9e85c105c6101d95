"""Simulated crawls: the paper's histories slot by slot are the referee of the two draws a page."""

from __future__ import annotations

import json
import math
from itertools import permutations
from pathlib import Path
from random import Random
from statistics import NormalDist

import click
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof.cli import run
from asof.cli.simulate import coherence_command
from asof.coherence.plan import ETAS
from asof.coherence.simulate import (
    Family,
    Schedule,
    Setting,
    SimulatedHistory,
    SimulatedOutcome,
    best_possible,
    change_rates,
    draw,
    in_turn,
    mirrored,
    simulate,
    standard_error,
    strategies,
    worst_possible,
)
from asof.coherence.verdict import Mode
from support.laws import examples

# -- Sites ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", Family)
@pytest.mark.parametrize("load", [0.1, 1.0, 10.0])
def test_a_grid_has_exactly_the_mean_it_was_asked_for(family: Family, load: float) -> None:
    rates = change_rates(family, 10_000, load)
    assert rates.mean() == pytest.approx(load / 10_000, rel=1e-12)
    assert (np.diff(rates) > 0).all()


def test_grids_are_the_quantiles_of_their_families() -> None:
    """Page k has the quantile (k + 0.5) / n of its family, whatever the mean."""
    u = (np.arange(1000) + 0.5) / 1000
    assert change_rates(Family.UNIFORM, 1000, 1.0) == pytest.approx(2 * u / 1000, rel=1e-12)
    exponential = change_rates(Family.EXPONENTIAL, 1000, 1.0)
    assert exponential / exponential[0] == pytest.approx(np.log(1 - u) / math.log(1 - u[0]))
    lognormal = change_rates(Family.LOGNORMAL, 1000, 1.0)
    z = [NormalDist().inv_cdf(quantile) for quantile in (u[900], u[100])]
    assert lognormal[900] / lognormal[100] == pytest.approx(math.exp(2 * (z[0] - z[1])))


def test_a_probability_is_never_above_one() -> None:
    """Cut after the mean was set: the hottest pages of a restless site change in each slot."""
    rates = change_rates(Family.LOGNORMAL, 50, 40.0)
    assert rates.max() == 1.0
    assert rates.mean() < 0.8


# -- Histories ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "lengths"),
    [(1e-3, (1, 40, 700, 3000)), (0.02, (1, 5, 100)), (0.3, (1, 2, 5, 15)), (0.9, (1, 2))],
)
@pytest.mark.parametrize("side", ["before", "after"])
def test_a_page_stays_quiet_as_the_model_has_it(
    rate: float, lengths: tuple[int, ...], side: str
) -> None:
    """The share of pages that are quiet for k slots is (1 - lambda)^k, within 4 sigma."""
    count = 200_000
    history = draw(np.full(count, rate), Mode.INDUCIBLE, np.random.default_rng(7))
    quiet = getattr(history, side)
    for k in lengths:
        expected = (1 - rate) ** k
        sigma = math.sqrt(expected * (1 - expected) / count)
        assert abs(np.mean(quiet >= k) - expected) <= 4 * sigma


def test_both_sides_of_the_turn_are_drawn_apart() -> None:
    history = draw(np.full(100_000, 0.1), Mode.INDUCIBLE, np.random.default_rng(8))
    assert abs(np.corrcoef(history.before, history.after)[0, 1]) < 4 / math.sqrt(100_000)


def test_pages_that_never_or_always_change() -> None:
    rates = np.array([0.0, 1.0, 1e-300, 1 - 1e-16])
    history = draw(rates, Mode.INDUCIBLE, np.random.default_rng(9))
    assert history.before.tolist() == [4, 0, 4, 0]
    assert history.after.tolist() == [4, 0, 4, 0]


def test_what_is_measured_knows_no_time_before_the_start() -> None:
    history = draw(np.full(5, 0.9), Mode.MEASURABLE, np.random.default_rng(1))
    assert history.before.tolist() == [5] * 5
    assert history.after.max() < 5


class Literal:
    """A history of the paper: for each page and slot, whether it changed before the download.

    Slots are t_1 to t_2n-1; the turn is t_n.
    """

    def __init__(self, changed: np.ndarray) -> None:
        self.pages = len(changed)
        self.versions = np.cumsum(changed, axis=1)
        turn = self.pages - 1
        back, ahead = changed[:, turn::-1], changed[:, turn + 1 :]
        self.history = SimulatedHistory(_run(back), _run(ahead))

    def c(self, visits: tuple[int, ...], revisits: tuple[int, ...]) -> float:
        """Definition 3.6: the share of pages with the same content at visit and revisit."""
        seen = {page: self.versions[page, slot] for slot, page in enumerate(visits)}
        again = {visits[-1]: seen[visits[-1]]}  # the joker is its own revisit
        for slot, page in enumerate(revisits, len(visits)):
            again[page] = self.versions[page, slot]
        return sum(seen[page] == again[page] for page in seen) / self.pages


def _run(changed: np.ndarray) -> np.ndarray:
    """Slots without a change from the first on; where there is none, all of them."""
    return np.pad(changed, ((0, 0), (0, 1)), constant_values=True).argmax(axis=1)


@st.composite
def literals(draw_: st.DrawFn, most: int = 6) -> Literal:
    pages = draw_(st.integers(1, most))
    row = st.lists(st.booleans(), min_size=2 * pages - 1, max_size=2 * pages - 1)
    return Literal(np.array(draw_(st.lists(row, min_size=pages, max_size=pages))))


@given(literals(), st.randoms(use_true_random=False))
def test_two_numbers_a_page_tell_what_the_whole_history_tells(
    past: Literal, random: Random
) -> None:
    """LIFO and FIFO on the same history: all of it written down, or the two quiet stretches."""
    visits = list(range(past.pages))
    random.shuffle(visits)
    order = np.array(visits[::-1], dtype=np.intp)  # the last visited is nearest to the turn
    lifo = past.c(tuple(visits), tuple(visits[-2::-1]) if past.pages > 1 else ())
    fifo = past.c(tuple(visits), tuple(visits[:-1]))
    assert mirrored(order, Mode.INDUCIBLE).share(past.history) == pytest.approx(lifo)
    assert in_turn(np.array(visits, dtype=np.intp)).share(past.history) == pytest.approx(fifo)


def test_measured_pages_are_as_far_away_as_their_download() -> None:
    schedule = mirrored(np.array([2, 0, 1]), Mode.MEASURABLE)
    assert schedule.before.tolist() == [0, 0, 0]
    assert schedule.after.tolist() == [1, 2, 0]
    history = SimulatedHistory(np.full(3, 3), np.array([1, 1, 0]))
    assert schedule.share(history) == pytest.approx(2 / 3)


# -- Full knowledge -------------------------------------------------------------------------------


@st.composite
def histories(draw_: st.DrawFn, most: int = 5) -> SimulatedHistory:
    pages = draw_(st.integers(1, most))
    quiet = st.lists(st.integers(0, pages), min_size=pages, max_size=pages)
    return SimulatedHistory(np.array(draw_(quiet)), np.array(draw_(quiet)))


def every_pair(history: SimulatedHistory) -> list[float]:
    """C of every visit order with every revisit order that has the same joker."""
    pages = len(history.after)
    places = [np.array(order) for order in permutations(range(pages))]
    return [
        Schedule(before, after).share(history)
        for before in places
        for after in places
        if before.argmin() == after.argmin()
    ]


@settings(max_examples=examples(60), deadline=None)
@given(histories(most=4))
def test_limits_are_those_of_all_pairs_of_orders(history: SimulatedHistory) -> None:
    found = every_pair(history)
    assert best_possible(history) == pytest.approx(max(found))
    assert worst_possible(history) == pytest.approx(min(found))


@pytest.mark.parametrize("seed", range(6))
def test_limits_are_those_of_all_pairs_of_orders_of_five_pages(seed: int) -> None:
    random = np.random.default_rng(seed)
    history = SimulatedHistory(random.integers(0, 6, 5), random.integers(0, 6, 5))
    found = every_pair(history)
    assert best_possible(history) == pytest.approx(max(found))
    assert worst_possible(history) == pytest.approx(min(found))


def test_orders_that_do_not_mirror_each_other_can_do_better() -> None:
    """Quiet for (1, 2) and (2, 1) slots: one first visited, the other first revisited."""
    history = SimulatedHistory(np.array([0, 1, 2]), np.array([0, 2, 1]))
    mirror = [mirrored(np.array(order), Mode.INDUCIBLE) for order in permutations(range(3))]
    assert max(schedule.share(history) for schedule in mirror) == pytest.approx(2 / 3)
    assert best_possible(history) == 1.0


@settings(max_examples=examples(50), deadline=None)
@given(histories(most=40), st.randoms(use_true_random=False))
def test_no_strategy_leaves_the_limits(history: SimulatedHistory, random: Random) -> None:
    pages = list(range(len(history.after)))
    random.shuffle(pages)
    order = np.array(pages, dtype=np.intp)
    for schedule in (mirrored(order, Mode.INDUCIBLE), in_turn(order)):
        share = schedule.share(history)
        assert worst_possible(history) - 1e-12 <= share <= best_possible(history) + 1e-12


@pytest.mark.parametrize("mode", [Mode.INDUCIBLE, Mode.MEASURABLE])
def test_limits_of_sites_that_never_and_always_change(mode: Mode) -> None:
    still = draw(np.zeros(50), mode, np.random.default_rng(1))
    assert (worst_possible(still), best_possible(still)) == (1.0, 1.0)
    restless = draw(np.ones(50), mode, np.random.default_rng(1))
    joker = pytest.approx(1 / 50)
    assert (worst_possible(restless), best_possible(restless)) == (joker, joker)  # type: ignore[comparison-overlap]


# -- Strategies -----------------------------------------------------------------------------------


def expected_of(
    rates: np.ndarray, mode: Mode, *etas: float
) -> dict[tuple[str, float | None], float]:
    return {(each.name, each.eta): each.expected for each in strategies(rates, mode, etas)}


GOLDEN = np.array([0.9, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01])


def test_the_golden_case() -> None:
    found = expected_of(GOLDEN, Mode.INDUCIBLE, 0.45, 0.6)
    assert 8 * found["threshold", 0.6] == pytest.approx(4.797980145, abs=1e-9)
    assert 8 * found["threshold", 0.45] == pytest.approx(4.800239311, abs=1e-9)
    assert 8 * found["optimal", None] == pytest.approx(4.800239311, abs=1e-9)
    found = expected_of(GOLDEN, Mode.MEASURABLE, 0.6)
    assert 8 * found["threshold", 0.6] == pytest.approx(5.749788666, abs=1e-9)
    assert 8 * found["optimal", None] == pytest.approx(5.749788666, abs=1e-9)


TABLE = [
    (Family.UNIFORM, 1, 0.4324, 0.4918, 0.5383, 0.5442),
    (Family.EXPONENTIAL, 1, 0.5000, 0.5493, 0.6214, 0.6285),
    (Family.EXPONENTIAL, 3, 0.2501, 0.3243, 0.3624, 0.3996),
    (Family.LOGNORMAL, 1, 0.7324, 0.7534, 0.8588, 0.8604),
    (Family.LOGNORMAL, 10, 0.3603, 0.4096, 0.4666, 0.5089),
]


@pytest.mark.parametrize(("family", "load", "fifo", "lifo", "threshold", "optimum"), TABLE)
def test_the_table_of_expectations(
    family: Family, load: float, fifo: float, lifo: float, threshold: float, optimum: float
) -> None:
    """10,000 pages, inducible; the optimum may be missed by 0.0005, the rest by its rounding."""
    found = expected_of(change_rates(family, 10_000, load), Mode.INDUCIBLE, 0.6)
    assert found["fifo", None] == pytest.approx(fifo, abs=0.5e-4)
    assert found["lifo", None] == pytest.approx(lifo, abs=0.5e-4)
    assert found["threshold", 0.6] == pytest.approx(threshold, abs=0.5e-4)
    assert optimum - 5e-4 <= found["optimal", None] <= optimum + 0.5e-4


def test_breadth_first_search_of_what_is_taken_once_is_one_strategy() -> None:
    found = expected_of(GOLDEN, Mode.MEASURABLE, 0.6)
    mean = np.mean([np.prod([1 - rate] * d) for rate in GOLDEN for d in range(8)])
    assert found["fifo", None] == found["lifo", None] == pytest.approx(mean)


# -- Simulations ----------------------------------------------------------------------------------

RUNS = 60


@pytest.mark.parametrize("mode", [Mode.INDUCIBLE, Mode.MEASURABLE])
@pytest.mark.parametrize(
    ("family", "load"),
    [(Family.UNIFORM, 1.0), (Family.EXPONENTIAL, 3.0), (Family.LOGNORMAL, 10.0)],
)
def test_simulated_means_lie_within_4_sigma_of_the_expected_ones(
    mode: Mode, family: Family, load: float
) -> None:
    point = simulate(Setting(2_000, mode, (0.45, 0.6), RUNS, 3), family, load)
    for outcome in point.outcomes:
        if outcome.expected is not None:
            assert len(outcome.shares) == RUNS
            assert 0 < outcome.error < 0.005
            assert abs(outcome.mean - outcome.expected) <= 4 * outcome.error, outcome.name


def test_a_point_is_the_same_whatever_is_simulated_beside_it() -> None:
    setting = Setting(200, Mode.INDUCIBLE, (0.6,), 3, 5)
    alone = simulate(setting, Family.UNIFORM, 2.0)
    simulate(setting, Family.LOGNORMAL, 1.0)
    assert simulate(setting, Family.UNIFORM, 2.0) == alone
    other = simulate(Setting(200, Mode.INDUCIBLE, (0.6,), 3, 6), Family.UNIFORM, 2.0)
    assert other.named("lifo").shares != alone.named("lifo").shares


def test_a_threshold_more_changes_nothing_for_the_others() -> None:
    """All strategies see the same histories, however many there are."""
    few = simulate(Setting(200, Mode.INDUCIBLE, (0.6,), 3, 5), Family.UNIFORM, 2.0)
    more = simulate(Setting(200, Mode.INDUCIBLE, (0.3, 0.6), 3, 5), Family.UNIFORM, 2.0)
    assert [more.named(each.name, each.eta) for each in few.outcomes] == list(few.outcomes)
    assert [each.eta for each in more.thresholds] == [0.3, 0.6]


def test_progress_is_told_of_every_step() -> None:
    steps: list[int] = []
    simulate(Setting(20, Mode.INDUCIBLE, (0.6,), 4, 1), Family.UNIFORM, 1.0, steps.append)
    assert steps == [1] * 5


@pytest.mark.parametrize("mode", [Mode.INDUCIBLE, Mode.MEASURABLE])
@pytest.mark.parametrize("family", Family)
def test_a_site_of_one_page_is_always_coherent(mode: Mode, family: Family) -> None:
    point = simulate(Setting(1, mode, (0.0, 1.0), 2, 1), family, 5.0)
    assert {outcome.mean for outcome in point.outcomes} == {1.0}


def test_errors_of_means() -> None:
    assert standard_error(np.array([0.5])) == 0.0
    assert SimulatedOutcome("lifo", None, 0.5, (0.4, 0.6)).error == pytest.approx(0.1)
    assert SimulatedOutcome("lifo", None, 0.5, (0.4, 0.6)).mean == pytest.approx(0.5)


def test_the_conventional_one_is_the_better_of_both() -> None:
    point = simulate(Setting(500, Mode.INDUCIBLE, (0.6,), 5, 1), Family.EXPONENTIAL, 3.0)
    assert point.conventional == point.named("lifo")
    assert point.conventional.mean > point.named("fifo").mean


# -- The command, in this process -----------------------------------------------------------------


def told(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = run(["simulate", "coherence", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


GOOD_FILES = {
    "crlf": b"0.5\r\n0.25\r\n",
    "no-end": b"0.5\n0.25",
    "spaces-and-an-empty-end": b"  5e-1 \n+.25\n\n\n",
    "mark-of-an-editor": b"\xef\xbb\xbf0.5\n0.25\n",
    "many-digits": b"0.5" + b"0" * 500 + b"\n.25\n",
}


@pytest.mark.parametrize("data", GOOD_FILES.values(), ids=GOOD_FILES)
def test_files_as_different_programs_write_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    (tmp_path / "rates.txt").write_bytes(data)
    code, out, _ = told(capsys, "--rates", tmp_path / "rates.txt", "--json")
    assert code == 0
    assert json.loads(out)["pages"] == 2
    assert json.loads(out)["strategies"][-1]["expected"] == pytest.approx((1 + 0.75**2) / 2)


BAD_FILES = {
    "word": (b"0.5\nhot\n", "line 2: 'hot' is no probability"),
    "nan": (b"nan\n", "line 1: 'nan' is no probability"),
    "inf": (b"0.5\ninf\n", "line 2: 'inf' is no probability"),
    "below-0": (b"0.1\n0.2\n-0.5\n", "line 3: '-0.5' is no probability"),
    "above-1": (b"1.5\n", "line 1: '1.5' is no probability"),
    "just-above-1": (b"1.0000000000000002\n", "line 1: '1.0000000000000002' is no probability"),
    "comma": (b"0,5\n", "line 1: '0,5' is no probability"),
    "two-numbers": (b"0.5 0.5\n", "line 1: '0.5 0.5' is no probability"),
    "underscore": (b"0.5\n0.1_0\n", "line 2: '0.1_0' is no probability"),
    "hex": (b"0x1p-2\n", "line 1: '0x1p-2' is no probability"),
    "gap": (b"0.5\n\n0.5\n", "line 2: there is no number"),
    "empty": (b"", "is empty"),
    "only-empty-lines": (b"\n\n \n", "is empty"),
    "binary": (b"\x89PNG\r\n\x1a\n\x00\x00", r"line 1: '\\x89PNG' is no probability"),
    "nul": (b"0.5\x00\n", r"line 1: '0.5\x00' is no probability"),
    "orders-to-a-terminal": (b"\x1b[2J\x1b[31m\n", r"line 1: '\x1b[2J\x1b[31m' is no probability"),
    "other-digits": ("\u0660.\u0665\n".encode(), "line 1: "),
    "utf-16": ("0.5\n".encode("utf-16"), "line 1: "),
    "one-long-line": (b"0.5 " * 500_000, "line 1: '0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 ' is"),
    "far-down": (b"0.5\n" * 70_000 + b"x\n0.5\n", "line 70,001: 'x' is no probability"),
}


@pytest.mark.parametrize(("data", "said"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_refused_with_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, said: str
) -> None:
    path = tmp_path / "rates.txt"
    path.write_bytes(data)
    code, out, err = told(capsys, "--rates", path, "--json")
    assert (code, out) == (2, "")
    assert err.startswith(f"asof: {path}")
    assert said in err
    assert err.endswith("Write one number from 0 to 1 in each line.\n")
    assert err.removesuffix("\n").isprintable()


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = told(capsys, "--rates", tmp_path / "nothing.txt")
    assert code == 2
    assert "nothing.txt cannot be read: No such file or directory." in err
    code, _, err = told(capsys, "--rates", tmp_path)
    assert code == 2
    assert "cannot be read: Is a directory." in err


def test_files_that_are_too_large(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asof.coherence.rates_file._MOST_RATES", 3)
    monkeypatch.setattr("asof.coherence.rates_file._MOST_BYTES", 20)
    path = tmp_path / "rates.txt"
    for text, code in (("0\n0\n0\n", 0), ("0\n0\n0\n0\n", 2), ("0." + "1" * 18, 0), ("1" * 21, 2)):
        path.write_text(text)
        assert told(capsys, "--rates", path)[0] == code, text


BAD_USAGE = {
    "no-list": (["--loads", "many"], "no list of numbers above 0"),
    "load-0": (["--loads", "0,1"], "no list of numbers above 0"),
    "load-nan": (["--loads", "nan"], "no list of numbers above 0"),
    "load-inf": (["--loads", "1,inf"], "no list of numbers above 0"),
    "no-loads": (["--loads", ""], "no list of numbers above 0"),
    "eta-2": (["--eta", "2"], "0<=x<=1"),
    "eta-nan": (["--eta", "nan"], "nan is no number from 0 to 1"),
    "no-pages": (["--pages", "0"], "1<=x<=1000000"),
    "no-runs": (["--runs", "0"], "1<=x"),
    "seed": (["--seed", "-1"], "x>=0"),
    "family": (["--family", "zipf"], "uniform"),
    "mode": (["--mode", "off"], "measurable"),
    "plot": (["--plot", "figure.pdf"], "figure.pdf is no name for a plot"),
    "plot-nowhere": (["--plot", "none/figure.png"], "none is not a folder"),
    "csv-nowhere": (["--csv", "none/out.csv"], "none is not a folder"),
    "csv-folder": (["--csv", "."], "is a directory"),
    "orders-alone": (["--orders"], "--orders goes with --rates and --json"),
    "orders-unseen": (["--orders", "--rates", "r.txt"], "--orders goes with --rates and --json"),
    "rates-and-pages": (["--rates", "r.txt", "--pages", "5"], "--pages steers a simulation"),
    "rates-and-plot": (["--rates", "r.txt", "--plot", "a.svg"], "--plot steers a simulation"),
    "no-rates": (["--rates", ""], "cannot be read"),
}


@pytest.mark.parametrize(("words", "said"), BAD_USAGE.values(), ids=BAD_USAGE)
def test_bad_usage_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = told(capsys, *words)
    assert (code, out) == (2, "")
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_the_command_offers_what_the_module_knows() -> None:
    options = {option.name: option for option in coherence_command.params}
    assert isinstance(families := options["families"].type, click.Choice)
    assert list(families.choices) == list(Family)
    assert options["etas"].default == ETAS
