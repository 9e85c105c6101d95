"""Figure 9 of Spaniol 2009: what each strategy reaches, from still sites to restless ones.

Lines are expectations, points are means of simulated crawls. Colours are those of Okabe and Ito,
which people with any kind of colour blindness can tell apart; lines differ in their dashes as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from asof.coherence.simulate import Point, Setting, standard_error
from asof.coherence.verdict import Mode
from asof.errors import UsageError, missing_extra
from asof.files import output_file
from asof.report.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

FORMATS = (".png", ".svg")
Style = dict[str, Any]

_INK = "#222222"
_FAINT = "#8a8a8a"
_RANGE = "#eef0f2"  # between the worst and the best possible
_FIFO, _LIFO, _OPTIMAL = "#D55E00", "#E69F00", "#009E73"
# One hue for one strategy: the threshold's lines go from light to dark with eta.
_PALE, _DEEP = (0.62, 0.79, 0.93), (0.0, 0.27, 0.53)


@dataclass(frozen=True, slots=True)
class _Line:
    """One strategy in the drawing."""

    name: str
    eta: float | None
    label: str
    colour: str | tuple[float, float, float]
    dashes: str
    width: float
    mark: str


def require_plots(paths: Sequence[Path]) -> None:
    """Refuse, before anything is simulated, what could not be drawn afterwards."""
    for path in paths:
        if path.suffix.lower() not in FORMATS:
            raise UsageError(f"{path} is no name for a plot.", hint="Let it end in .png or .svg.")
    if paths and find_spec("matplotlib") is None:
        raise missing_extra("Drawing plots", "matplotlib", "plot")


def plot(setting: Setting, points: Sequence[Point], path: Path) -> None:
    """Write the figure as PNG or SVG, by the file's name; the same bytes for the same points."""
    import matplotlib as mpl

    drawn = BytesIO()
    kind = path.suffix.lower().removeprefix(".")
    undated = {"Date": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context(
        {
            "font.family": "DejaVu Sans",  # comes with matplotlib: the same drawing everywhere
            "font.size": 10,
            "text.color": _INK,
            "axes.labelcolor": _INK,
            "axes.edgecolor": _FAINT,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.axisbelow": True,
            "xtick.color": _FAINT,
            "ytick.color": _FAINT,
            "xtick.labelcolor": _INK,
            "ytick.labelcolor": _INK,
            "grid.color": "#dddddd",
            "grid.linewidth": 0.6,
            "legend.frameon": False,
            "svg.hashsalt": "asof",  # ids by content, not by chance
        }
    ):
        _figure(setting, points).savefig(drawn, format=kind, dpi=200, metadata=undated)
    with output_file(path) as file:
        file.write(drawn.getvalue())


def _figure(setting: Setting, points: Sequence[Point]) -> Figure:
    from matplotlib.figure import Figure

    families = [list(group) for _, group in groupby(points, key=lambda point: point.family)]
    figure = Figure(figsize=(3.2 + 5.2 * len(families), 7.8), layout="constrained")
    heading, body = figure.subfigures(2, 1, squeeze=False, height_ratios=[1, 11.5])[:, 0]
    grid = body.subplots(
        2, len(families), sharex=True, sharey="row", squeeze=False, height_ratios=[2.5, 1]
    )
    lines = _lines(setting)
    for column, site in enumerate(families):
        site.sort(key=lambda point: point.load)
        _draw_shares(grid[0][column], site, lines)
        _draw_gains(grid[1][column], site, lines)
        grid[0][column].set_title(f"{site[0].family} change rates", fontsize=11, loc="left")
    grid[0][0].set_ylabel("coherent pages, C")
    once = setting.mode is Mode.MEASURABLE
    grid[1][0].set_ylabel(f"points above\n{'BFS' if once else 'the better BFS'}")
    body.supxlabel(
        "load: changes of an average page in the time it takes to fetch the site once", fontsize=10
    )
    handles, labels = grid[0][-1].get_legend_handles_labels()
    grid[0][-1].legend(
        handles[::-1], labels[::-1], loc="upper left", bbox_to_anchor=(1.02, 1), handlelength=3,
        borderaxespad=0, labelspacing=0.7,
    )  # fmt: skip
    _write_heading(heading, setting)
    return figure


def _write_heading(heading: SubFigure, setting: Setting) -> None:
    crawls = f"{setting.runs:,} simulated crawls" if setting.runs > 1 else "one simulated crawl"
    points = f"mean of {crawls} with its 95 % interval" if setting.runs > 1 else crawls
    heading.text(
        0.012, 0.62, f"How coherent is a crawl of {number(setting.pages, 'page')}?",
        fontsize=15, fontweight="bold", va="center",
    )  # fmt: skip
    heading.text(
        0.012, 0.1,
        f"{setting.mode.capitalize()} coherence. Lines: expected. Points: {points}.",
        fontsize=10, color="#555555", va="center",
    )  # fmt: skip


def _lines(setting: Setting) -> list[_Line]:
    """The strategies, from the bottom of the legend to its top."""
    once = setting.mode is Mode.MEASURABLE  # each page is taken once: there is only one BFS
    lines = [] if once else [_Line("fifo", None, "BFS, FIFO", _FIFO, ":", 1.8, "v")]
    lines.append(_Line("lifo", None, "BFS" if once else "BFS, LIFO", _LIFO, "--", 1.8, "s"))
    etas = sorted(setting.etas)
    for rank, eta in enumerate(etas):
        depth = rank / (len(etas) - 1) if len(etas) > 1 else 1.0
        red, green, blue = (a + (b - a) * depth for a, b in zip(_PALE, _DEEP, strict=True))
        label = f"threshold, η = {eta:g}"
        lines.append(_Line("threshold", eta, label, (red, green, blue), "-", 1.2, ""))
    return [*lines, _Line("optimal", None, "optimal plan", _OPTIMAL, "-", 2.4, "o")]


def _draw_shares(axes: Axes, site: Sequence[Point], lines: Sequence[_Line]) -> None:
    loads = [point.load for point in site]
    worst, best = ([point.named(end).mean for point in site] for end in ("worst", "best"))
    axes.fill_between(loads, worst, best, color=_RANGE, linewidth=0)
    axes.plot(loads, worst, color=_FAINT, linewidth=1, dashes=(1, 2), label="worst possible")
    for line in lines:
        outcomes = [point.named(line.name, line.eta) for point in site]
        means, errors = [each.mean for each in outcomes], [each.error for each in outcomes]
        _draw(axes, line, loads, [each.expected or 0.0 for each in outcomes], means, errors)
    axes.plot(loads, best, color=_FAINT, linewidth=1, dashes=(5, 2), label="best possible")
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    _ground(axes)


def _draw_gains(axes: Axes, site: Sequence[Point], lines: Sequence[_Line]) -> None:
    """What a plan gains over the better one of FIFO and LIFO, run by run on the same histories."""
    from matplotlib.ticker import MaxNLocator

    loads = [point.load for point in site]
    axes.axhline(0, color=_LIFO, linewidth=1.8, linestyle="--")
    for line in lines:
        if line.name in ("fifo", "lifo"):
            continue
        expected, means, errors = [], [], []
        for point in site:
            outcome, blind = point.named(line.name, line.eta), point.conventional
            expected.append(100 * ((outcome.expected or 0.0) - (blind.expected or 0.0)))
            gains = 100 * (np.array(outcome.shares) - np.array(blind.shares))
            means.append(float(gains.mean()))
            errors.append(standard_error(gains))
        _draw(axes, line, loads, expected, means, errors)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.yaxis.set_major_formatter(lambda gain, _: f"{gain:+g}" if gain else "0")
    _ground(axes)


def _draw(
    axes: Axes,
    line: _Line,
    loads: Sequence[float],
    expected: Sequence[float],
    means: Sequence[float],
    errors: Sequence[float],
) -> None:
    stroke: Style = {"color": line.colour, "linestyle": line.dashes, "linewidth": line.width}
    axes.plot(loads, expected, **stroke, label="" if line.mark else line.label)
    if line.mark:
        mark: Style = {"markersize": 5, "markerfacecolor": "white", "markeredgewidth": 1.3}
        interval = [1.96 * error for error in errors]
        axes.errorbar(
            loads, means, yerr=interval, fmt=line.mark, color=line.colour, elinewidth=1.3, zorder=3,
            **mark,
        )  # fmt: skip
        # For the legend, both at once.
        axes.plot([], [], **stroke, marker=line.mark, **mark, label=line.label)


def _ground(axes: Axes) -> None:
    """Loads on a logarithmic axis, written as plain numbers."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda load, _: f"{load:g}")
    axes.xaxis.set_minor_formatter(lambda load, _: "")
    axes.grid(visible=True, which="major")
    axes.margins(x=0.03)
