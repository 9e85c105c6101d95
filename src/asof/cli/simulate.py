"""`asof simulate`: what strategies reach on made-up sites, and plan for one with known rates."""

from __future__ import annotations

import codecs
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.cli.options import examples, file_option, json_option, refuse_given, require_place
from asof.cli.output import count_progress, print_json, say, table
from asof.cli.screen import console
from asof.clock import SystemClock
from asof.errors import InputError, UsageError
from asof.files import input_file, output_file
from asof.report.words import number, percent

if TYPE_CHECKING:
    from rich.table import Table

    from asof.coherence.simulate import Point, Setting, SimulatedOutcome, Strategy

# From a nearly static to an almost unstable site (Spaniol 2009, section 5).
_LOADS = "0.02,0.05,0.1,0.2,0.5,1,2,3,5,10,20,50,100"
_ETAS = (0.45, 0.5, 0.55, 0.6, 0.65, 0.7)  # Figure 9
_MOST_PAGES = 1_000_000
_COLUMNS = ("family", "load", "pages", "mode", "runs", "seed",
            "strategy", "eta", "expected", "mean", "error")  # fmt: skip
_SIMULATED = ("pages", "families", "loads", "runs", "seed", "csv_file", "plots")
# Columns from which on a table has room for every eta.
_WIDE = 96


@click.group("simulate")
def simulate_command() -> None:
    """What a strategy would reach, before any server is asked."""


def _numbers(context: click.Context, option: click.Parameter, value: str) -> tuple[float, ...]:
    try:
        loads = [float(word) for word in value.split(",")]
    except ValueError:
        loads = [math.nan]
    if not all(0 < load < math.inf for load in loads):
        raise click.BadParameter(
            f"{value!r} is no list of numbers above 0; write 0.5,1,2.", ctx=context, param=option
        )
    return tuple(sorted(set(loads)))


def _distinct(
    context: click.Context, option: click.Parameter, value: tuple[float, ...]
) -> tuple[float, ...]:
    if any(map(math.isnan, value)):  # which no range of click refuses
        raise click.BadParameter("nan is no number from 0 to 1.", ctx=context, param=option)
    return tuple(sorted(set(value)))


_HELP = """\
How coherent crawls become, by the order of visits.

Orders are breadth-first, by threshold, optimal, best and worst possible. One download takes one
slot of time; in each slot a page changes with a probability of its own. C is the share of pages
that stayed the same from visit to revisit (inducible), or since the start of the crawl
(measurable). All strategies crawl through the same histories.

With --rates nothing is simulated: the expected C of each strategy for those pages, and the
seconds it took to plan. Orders are of pages by their line, from 0, beginning with the one
nearest to the turning point (inducible: visited in reversed order, revisited in this one, but
for the first) or downloaded first (measurable). fifo and lifo have none: their C is the mean
over all orders, for breadth-first search knows nothing of changes.
"""


@simulate_command.command(
    "coherence",
    help=_HELP,
    epilog=examples(
        "asof simulate coherence --plot figure9.svg",
        "asof simulate coherence --family lognormal --loads 0.5,1,2 --pages 50000 --csv out.csv",
        "asof simulate coherence --rates rates.txt --eta 0.6 --json --orders",
    ),
)
@click.option("--mode", type=click.Choice(["inducible", "measurable"]), default="inducible",
              show_default=True,
              help="By visiting twice, or by the dates that servers give.")  # fmt: skip
@click.option("--eta", "etas", type=click.FloatRange(0, 1), multiple=True, default=_ETAS,
              callback=_distinct, show_default=True, metavar="X",
              help="A threshold; may be given more than once.")  # fmt: skip
@click.option("--pages", type=click.IntRange(1, _MOST_PAGES), default=10_000, show_default=True,
              metavar="N", help="How many pages a site has.")  # fmt: skip
@click.option("--family", "families", type=click.Choice(["uniform", "exponential", "lognormal"]),
              multiple=True, default=("exponential",), show_default=True,
              help="How changes are spread over pages; may be given more than once.")  # fmt: skip
@click.option("--loads", callback=_numbers, default=_LOADS, show_default=True, metavar="L,...",
              help="Changes of an average page while all are fetched once.")  # fmt: skip
@click.option("--runs", type=click.IntRange(1, 100_000), default=50, show_default=True,
              metavar="N", help="Simulated crawls of each site.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, metavar="N",
              help="Of the random numbers: the same seed, the same crawls.")  # fmt: skip
@file_option("--csv", "csv_file", help="Write all figures as CSV.", dir_okay=False)
@file_option("--plot", "plots", help="Draw them, as .png or .svg; may be given more than once.",
             dir_okay=False, multiple=True)  # fmt: skip
@click.option("--rates", type=click.Path(allow_dash=True), metavar="FILE",
              help="Plan one site: a page's change probability a line; - is stdin.")  # fmt: skip
@click.option("--orders", is_flag=True, help="With --rates and --json: also the planned orders.")
@json_option
def coherence_command(
    mode: str,
    etas: tuple[float, ...],
    pages: int,
    families: tuple[str, ...],
    loads: tuple[float, ...],
    runs: int,
    seed: int,
    csv_file: Path | None,
    plots: tuple[Path, ...],
    rates: str | None,
    orders: bool,
    as_json: bool,
) -> int:
    if orders and not (rates and as_json):
        raise UsageError("--orders goes with --rates and --json.", hint="Give all three.")
    if rates is not None:
        refuse_given(_SIMULATED, "{} steers a simulation, and --rates simulates nothing.")
        return _plan(rates, mode, etas, orders=orders, as_json=as_json)
    written = [*plots, *([] if csv_file is None else [csv_file])]
    for path in written:
        require_place(path)
    from asof.coherence.simulate import Family, Setting, simulate
    from asof.coherence.verdict import Mode
    from asof.report.figure9 import plot, require_plots

    require_plots(plots)
    setting = Setting(pages, Mode(mode), etas, runs, seed)
    sites = list(itertools.product(map(Family, dict.fromkeys(families)), loads))
    with count_progress("simulating", len(sites) * (runs + 1)) as progress:
        points = [simulate(setting, family, load, progress) for family, load in sites]
    if csv_file is not None:
        _write_csv(setting, points, csv_file)
    for path in plots:
        plot(setting, points, path)
    if as_json:
        print_json(_points_json(setting, points))
    else:
        _print_points(setting, points, written)
    return 0


# -- A simulation ---------------------------------------------------------------------------------


def _points_json(setting: Setting, points: Sequence[Point]) -> dict[str, object]:
    common = {name: getattr(setting, name) for name in ("pages", "mode", "runs", "seed")}
    shown = [
        {
            "family": point.family,
            "load": point.load,
            "strategies": [
                _known(each, "name", "eta", "expected", "mean", "error") for each in point.outcomes
            ],
        }
        for point in points
    ]
    return {**common, "points": shown}


def _known(value: object, *names: str) -> dict[str, object]:
    """The fields of these names that are not None."""
    found = {name: getattr(value, name) for name in names}
    return {name: each for name, each in found.items() if each is not None}


def _write_csv(setting: Setting, points: Sequence[Point], path: Path) -> None:
    import csv

    with output_file(path) as out:
        rows = csv.writer(codecs.getwriter("utf-8")(out), lineterminator="\n")
        rows.writerow(_COLUMNS)
        common = [setting.pages, setting.mode.value, setting.runs, setting.seed]
        for point in points:
            for each in point.outcomes:
                eta = "" if each.eta is None else f"{each.eta:g}"
                expected = "" if each.expected is None else f"{each.expected:.9f}"
                reached = (eta, expected, f"{each.mean:.9f}", f"{each.error:.9f}")
                rows.writerow((point.family.value, f"{point.load:g}", *common, each.name, *reached))


def _print_points(setting: Setting, points: Sequence[Point], written: Sequence[Path]) -> None:
    screen = console()
    crawls = f"mean of {setting.runs:,} simulated crawls" if setting.runs > 1 else "one crawl"
    click.echo(
        f"Coherent pages in percent, {setting.mode}, {number(setting.pages, 'page')}: {crawls}"
    )
    for family, site in itertools.groupby(points, key=lambda point: point.family):
        click.echo(f"\n{family} change rates")
        screen.print(_table(setting, list(site), wide=screen.width >= _WIDE))
    click.echo(
        "\nload: changes of an average page in the time it takes to fetch all once\n"
        "gain: points that the optimal plan is above the better breadth-first order"
    )
    if setting.runs > 1:
        off = max(_departure(each) for point in points for each in point.outcomes)
        click.echo(f"No mean is more than {off:.1f} standard errors off what is expected.")
    for path in written:
        say(f"{click.format_filename(path)} written")


def _departure(outcome: SimulatedOutcome) -> float:
    """How many standard errors a mean is off its expectation."""
    if outcome.expected is None or not outcome.error:
        return 0.0
    return abs(outcome.mean - outcome.expected) / outcome.error


def _table(setting: Setting, site: Sequence[Point], *, wide: bool) -> Table:
    from rich.text import Text

    etas = setting.etas if wide else ()
    blind = ["lifo"] if setting.mode == "measurable" else ["fifo", "lifo"]
    names = ["BFS"] if setting.mode == "measurable" else ["FIFO", "LIFO"]
    names += [f"η {eta:g}" for eta in etas] if etas else ["threshold"]
    shown = table((), ("load", "worst", *names, "optimal", "best", "gain"))
    for column in (shown.columns[1], shown.columns[-2]):
        column.style = "dim"
    for point in sorted(site, key=lambda point: point.load):
        thresholds = point.thresholds
        best = thresholds if etas else (max(thresholds, key=lambda each: each.mean),)
        gain = 100 * (point.named("optimal").mean - point.conventional.mean)
        shown.add_row(
            f"{point.load:g}",
            _percent(point.named("worst")),
            *map(_percent, (*map(point.named, blind), *best)),
            Text(_percent(point.named("optimal")), "bold green"),
            _percent(point.named("best")),
            f"{gain:+.1f}",
        )
    return shown


def _percent(outcome: SimulatedOutcome) -> str:
    return percent(outcome.mean).removesuffix(" %")


# -- Plans for pages with known change probabilities ----------------------------------------------


def _plan(source: str, mode: str, etas: Sequence[float], *, orders: bool, as_json: bool) -> int:
    from asof.coherence.rates_file import RATES_HINT, rates_in
    from asof.coherence.simulate import strategies
    from asof.coherence.verdict import Mode

    name = "stdin" if source == "-" else click.format_filename(source)
    try:
        with input_file(Path(source)) as file:
            rates = rates_in(file, name)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}.", hint=RATES_HINT) from error
    clock = SystemClock()
    found: list[tuple[Strategy, float]] = []
    with count_progress("planning", len(etas) + 3) as progress:
        since = clock.monotonic()
        for strategy in strategies(rates, Mode(mode), etas):
            found.append((strategy, clock.monotonic() - since))
            progress(1)
            since = clock.monotonic()
    if as_json:
        listed = [_strategy_json(*pair, orders=orders) for pair in found]
        print_json({"pages": len(rates), "mode": mode, "strategies": listed})
    else:
        _print_strategies(len(rates), mode, found)
    return 0


def _strategy_json(strategy: Strategy, seconds: float, *, orders: bool) -> dict[str, object]:
    shown = _known(strategy, "name", "eta", "expected") | {"seconds": round(seconds, 6)}
    if orders and strategy.order is not None:
        shown["order"] = strategy.order.tolist()
    return shown


def _print_strategies(pages: int, mode: str, found: Sequence[tuple[Strategy, float]]) -> None:
    shown = table(("strategy",), ("eta", "expected C", "gain", "seconds"))
    blind = max(each.expected for each, _ in found if each.name in ("fifo", "lifo"))
    most = max(each.expected for each, _ in found)
    for each, seconds in found:
        planned = each.name in ("threshold", "optimal")
        shown.add_row(
            each.name,
            "" if each.eta is None else f"{each.eta:g}",
            f"{100 * each.expected:.2f} %",
            f"{100 * (each.expected - blind):+.2f}" if planned else "",
            f"{seconds:.3f}",
            style="bold green" if each.expected == most else None,
        )
    click.echo(f"Expected coherence, {mode}, {number(pages, 'page')}")
    console().print(shown)
    click.echo("gain: points above the better breadth-first order")
