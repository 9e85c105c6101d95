"""Coherence that comes of plans, over real HTTP on virtual time, against what the plans promised.

    PYTHONPATH=tests python bench/coherence_live.py [--seeds 30] [--pages 60] [--training 5]

Each seed is a site of its own with a history of its own. After some plain crawls, by which rates of
change become known, the archive is copied and the same moment is crawled by each plan: same site,
same changes, only the order differs. Every verdict is compared with the site's true history.

Then servers that answer 304 to everything: in how many crawls an audit catches them, against the
chance of it, 1 - the product of the survivals of the audited pages.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

from asof.coherence.verdict import COHERENT
from asof.model import Grade
from support.changing_web import PLANS, ChangingWeb, compared, newspaper, scratch
from support.lying_web import LyingSite, audits, chance_to_catch, not_modified

# Family of rates, changes of a page while all are visited once, share that never changes, dates.
SITES = {
    "exponential": ("exponential", 1.0, 0.0, False),
    "exponential, 30 % still": ("exponential", 2.0, 0.3, False),
    "lognormal": ("lognormal", 4.0, 0.0, False),
    "exponential, with dates": ("exponential", 2.0, 0.3, True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--training", type=int, default=5)
    given = parser.parse_args()
    print(f"{given.seeds} seeds, {given.pages} pages, {given.training} crawls before\n")
    print(f"{'':26}{'auto':>16}{'lifo':>16}{'fifo':>16}{'over lifo':>26}{'over fifo':>26}")
    print(f"{'':26}" + f"{'C (expected)':>16}" * 3 + f"{'gain (promised)':>26}" * 2)
    for name in SITES:
        plans(name, given)
    caught(given.seeds)


def plans(name: str, given: argparse.Namespace) -> None:
    family, load, static, dates = SITES[name]
    rows: list[dict[str, tuple[float, float]]] = []
    coherent = wrong = 0
    for seed in range(1, given.seeds + 1):
        spec = newspaper(seed, given.pages, load, family, static)
        with scratch() as folder:
            pause = given.pages / 2
            found = compared(replace(spec, last_modified=dates), folder, given.training, pause)
            rows.append({plan: (crawl.c, crawl.expected) for plan, (_, crawl) in found.items()})
            for web, crawl in found.values():
                coherent += len(crawl.having(*COHERENT))
                wrong += len(web.lies(crawl, *COHERENT))
    line = f"{name:26}"
    for plan in PLANS:
        measured, expected = (statistics.fmean(row[plan][k] for row in rows) for k in (0, 1))
        line += f"{f'{measured:.3f} ({expected:.3f})':>16}"
    for blind in PLANS[1:]:
        gains = [row["auto"][0] - row[blind][0] for row in rows]
        promised = [row["auto"][1] - row[blind][1] for row in rows]
        line += f"{f'{mean(gains)} ({statistics.fmean(promised):.3f})':>26}"
    print(f"{line}   {wrong} of {coherent:,} wrong", flush=True)


def mean(values: Sequence[float]) -> str:
    """A mean and its standard error."""
    error = statistics.stdev(values) / sqrt(len(values))
    return f"{statistics.fmean(values):.3f} +- {error:.3f}"


def caught(seeds: int) -> None:
    """Servers that answer 304 to everything, each crawled once with audits."""
    times = made = wrong = 0
    expected = 0.0
    for seed in range(1, seeds + 1):
        with scratch() as folder:
            site = LyingSite(newspaper(seed, 30, 1.0, static=0.2), not_modified(1.0))
            web = ChangingWeb(site, folder / "archive")
            crawled = web.crawl(coherence="inducible")
            checked = audits(crawled)
            made += len(checked)
            expected += chance_to_catch(web, checked)
            times += not crawled.trust.trusts_validators
            wrong += len(web.lies(crawled, Grade.CONFIRMED))
    print(f"\n304 to everything, {seeds} first crawls, {made / seeds:.1f} audits each:")
    print(f"caught in {times} ({expected:.1f} expected), {wrong} false confirmations in the others")


if __name__ == "__main__":
    main()
