"""Figure 9 of Spaniol 2009: what it claims, and that it can be drawn."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from asof.coherence.plan import ETAS
from asof.coherence.simulate import Family, Point, Setting, change_rates, simulate, strategies
from asof.coherence.verdict import Mode
from asof.errors import UsageError
from asof.report.figure9 import plot, require_plots

# From nearly static to almost unstable, and a site on which most pages change all the time.
LOADS = (0.02, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 2000.0)
# Where breadth-first search loses about a fifth to two thirds of the pages: "non-pathological".
ORDINARY = (0.5, 1.0, 2.0)
MODES = (Mode.INDUCIBLE, Mode.MEASURABLE)


@cache
def expected(family: Family, load: float, mode: Mode) -> tuple[float, tuple[float, ...], float]:
    """The better breadth-first order, the thresholds of the figure, the optimum; 1,000 pages."""
    found = list(strategies(change_rates(family, 1000, load), mode, ETAS))
    by_name = {each.name: each.expected for each in found}
    thresholds = tuple(each.expected for each in found if each.name == "threshold")
    return max(by_name["fifo"], by_name["lifo"]), thresholds, by_name["optimal"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", Family)
@pytest.mark.parametrize("load", LOADS)
def test_always_better_than_the_best_conventional_strategy(
    family: Family, load: float, mode: Mode
) -> None:
    """Every eta of the figure, on every site; and the optimum is never below any of them."""
    blind, thresholds, optimum = expected(family, load, mode)
    assert min(thresholds) > blind
    assert optimum >= max(thresholds) - 1e-12


@pytest.mark.parametrize("family", Family)
@pytest.mark.parametrize("load", ORDINARY)
def test_about_10_percent_better_on_ordinary_sites(family: Family, load: float) -> None:
    """The seed: "about 10% better given non-pathological Web site behaviour"."""
    blind, thresholds, optimum = expected(family, load, Mode.INDUCIBLE)
    assert 1.09 <= max(thresholds) / blind <= 1.16
    assert optimum / blind >= 1.09


@pytest.mark.parametrize("family", Family)
@pytest.mark.parametrize("load", [0.02, 100.0])
def test_little_to_gain_where_nothing_or_everything_changes(family: Family, load: float) -> None:
    """In points; of a site that hardly changes at most 1.5, less than of an ordinary one."""
    gains = {at: expected(family, at, Mode.INDUCIBLE) for at in (load, 0.5)}
    best = {at: max(thresholds) - blind for at, (blind, thresholds, _) in gains.items()}
    assert best[load] < best[0.5]


def test_too_much_and_too_little_risk_pay_less() -> None:
    """Outside of [0.45, 0.7] the gain is "minor (or even zero)" (Spaniol 2009, section 5)."""
    rates = change_rates(Family.EXPONENTIAL, 1000, 1.0)
    etas = (0.0, 0.1, *ETAS, 0.95, 1.0)
    found = {
        each.eta: each.expected
        for each in strategies(rates, Mode.INDUCIBLE, etas)
        if each.name == "threshold"
    }
    inside = [found[eta] for eta in ETAS]
    assert max(found[0.0], found[0.1]) < min(inside)
    rates = change_rates(Family.EXPONENTIAL, 1000, 5.0)
    found = {
        each.eta: each.expected
        for each in strategies(rates, Mode.INDUCIBLE, etas)
        if each.name == "threshold"
    }
    assert max(found[0.95], found[1.0]) < min(found[eta] for eta in ETAS)


@pytest.mark.parametrize("family", Family)
@pytest.mark.parametrize("load", [0.5, 2.0, 10.0])
def test_measured_sites_are_like_induced_ones_of_half_the_load(family: Family, load: float) -> None:
    """ "Similar performance, considering a by factor 2 decreased exponent" (Spaniol 2009)."""
    once = expected(family, 2 * load, Mode.MEASURABLE)
    twice = expected(family, load, Mode.INDUCIBLE)
    assert once[0] == pytest.approx(twice[0], abs=0.003)
    assert once[1] == pytest.approx(twice[1], abs=0.003)
    assert once[2] == pytest.approx(twice[2], abs=0.003)


@pytest.mark.parametrize("family", Family)
def test_simulated_crawls_show_it_too(family: Family) -> None:
    """Run by run on the same histories, the gain is 4 standard errors above nothing."""
    for load in (0.5, 3.0):
        point = simulate(Setting(3000, Mode.INDUCIBLE, (0.45, 0.6), 20, 9), family, load)
        blind = np.array(point.conventional.shares)
        for plan in (*point.thresholds, point.named("optimal")):
            gain = np.array(plan.shares) - blind
            assert gain.mean() > 4 * gain.std(ddof=1) / np.sqrt(len(gain))
            assert (np.array(plan.shares) <= np.array(point.named("best").shares)).all()
            assert (np.array(plan.shares) >= np.array(point.named("worst").shares)).all()


# -- The drawing ----------------------------------------------------------------------------------

SETTING = Setting(100, Mode.INDUCIBLE, (0.45, 0.6), 3, 1)


@pytest.fixture(scope="module")
def points() -> list[Point]:
    return [
        simulate(SETTING, family, load)
        for family in (Family.EXPONENTIAL, Family.LOGNORMAL)
        for load in (0.1, 1.0, 10.0)
    ]


def words(path: Path) -> set[str]:
    """What an SVG says: matplotlib writes each text beside its outline, as a comment."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    tree = ElementTree.parse(path, parser)
    return {(each.text or "").strip() for each in tree.iter() if each.tag is ElementTree.Comment}  # type: ignore[comparison-overlap]


def test_an_svg_names_every_line_and_axis(points: list[Point], tmp_path: Path) -> None:
    plot(SETTING, points, tmp_path / "figure.svg")
    assert {
        "How coherent is a crawl of 100 pages?",
        "Inducible coherence. Lines: expected. Points: mean of 3 simulated crawls"
        " with its 95 % interval.",
        "exponential change rates", "lognormal change rates",
        "best possible", "worst possible", "optimal plan", "BFS, FIFO", "BFS, LIFO",
        "threshold, η = 0.45", "threshold, η = 0.6", "coherent pages, C", "100%", "0%",
        "load: changes of an average page in the time it takes to fetch the site once",
    } <= words(tmp_path / "figure.svg")  # fmt: skip


def test_a_crawl_that_takes_each_page_once_has_one_breadth_first_order(tmp_path: Path) -> None:
    setting = Setting(50, Mode.MEASURABLE, (0.6,), 1, 1)
    plot(setting, [simulate(setting, Family.UNIFORM, 1.0)], tmp_path / "one.svg")
    found = words(tmp_path / "one.svg")
    assert {"BFS", "Measurable coherence. Lines: expected. Points: one simulated crawl."} <= found
    assert not {"BFS, FIFO", "BFS, LIFO"} & found


@pytest.mark.parametrize("name", ["figure.svg", "figure.PNG"])
def test_the_same_points_make_the_same_bytes(tmp_path: Path, name: str) -> None:
    setting = Setting(30, Mode.MEASURABLE, (0.6,), 2, 1)
    points = [simulate(setting, Family.UNIFORM, load) for load in (1.0, 3.0)]
    drawn = set()
    for _ in range(2):
        plot(setting, points, tmp_path / name)
        drawn.add((tmp_path / name).read_bytes())
    assert len(drawn) == 1
    assert str(tmp_path).encode() not in drawn.pop()


def test_a_png_is_large_enough_for_print_and_not_blank(points: list[Point], tmp_path: Path) -> None:
    from matplotlib.image import imread

    plot(SETTING, points, tmp_path / "figure.PNG")
    height, width, _ = (image := imread(tmp_path / "figure.PNG", format="png")).shape
    assert width > 2000
    assert height > 1200
    pixels = (image[:, :, :3].reshape(-1, 3) * 255).round().astype(np.uint8)
    for colour in ("009E73", "E69F00", "D55E00"):  # optimal, LIFO, FIFO
        assert (pixels == list(bytes.fromhex(colour))).all(axis=1).sum() > 500


def test_drawing_leaves_the_settings_of_matplotlib_alone(
    points: list[Point], tmp_path: Path
) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    plot(SETTING, points, tmp_path / "figure.svg")
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("name", ["figure.pdf", "figure", "svg", ".png", "figure.svg.gz"])
def test_other_kinds_of_files_are_refused_before_the_work(name: str) -> None:
    with pytest.raises(UsageError, match=r"\.png or \.svg"):
        require_plots([Path("fine.png"), Path(name)])


def test_without_matplotlib_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    require_plots([])
    with pytest.raises(UsageError, match="pip install matplotlib"):
        require_plots([Path("figure.svg")])
