"""Change rates of a million pages: prior and posterior, and gathering them from captures.

    python bench/change_rates.py [--pages 1000000] [--captures 3]

Two archives: `crawls`, whose pages were all seen at about the same intervals, so that they share
histories, and `scattered`, where every page has gaps of its own. Seconds are CPU time.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator

import numpy as np

from asof.clock import SECOND
from asof.freshness.estimate import histories, rates
from asof.freshness.history import Group, Observed, gather
from asof.freshness.prior import fit, posterior
from asof.model import Capture, Location

DAY = 86_400.0


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pages", type=int, default=1_000_000)
    arguments.add_argument("--captures", type=int, default=3)
    given = arguments.parse_args()
    pages, gaps = given.pages, given.captures - 1
    random = np.random.default_rng(1)
    lengths = {
        "crawls": 30 * DAY + random.normal(0, 5 * 3600, (pages, gaps)),
        "scattered": np.exp(random.uniform(2, 17, (pages, gaps))),
    }
    print(f"{pages:,} pages with {given.captures} captures each")
    for name, apart in lengths.items():
        seen = archive(apart, random)
        start = time.process_time()
        prior = fit(seen)
        fitted = time.process_time()
        posterior(seen, prior)
        believed = time.process_time()
        rates(seen)
        single = time.process_time()
        print(
            f"{name:10} fit {fitted - start:5.2f} s  posterior {believed - fitted:5.2f} s  "
            f"rates {single - believed:5.2f} s  histories {len(histories(seen)):,}  "
            f"groups {len(prior.pace):,}  peak {peak():,.0f} MB"
        )
    some = min(pages, 100_000)
    start = time.process_time()
    for _ in captures(some, given.captures):
        pass
    made = time.process_time()
    gather(captures(some, given.captures))
    spent = (time.process_time() - made) - (made - start)
    print(f"gather     {spent / some * 1e6:.1f} us a page, without making the captures")


def archive(lengths: np.ndarray, random: np.random.Generator) -> Observed:
    """Pages of 20 hosts with 10 directories and 4 types each, all of different paces."""
    pages, gaps = lengths.shape
    groups = tuple(Group(f"h{k // 40}", f"/{k % 40 // 4}/", f"t{k % 4}") for k in range(800))
    group = np.sort(random.integers(0, len(groups), pages)).astype(np.int32)
    rate = np.exp(random.normal(-13, 2, pages) + random.normal(0, 1, len(groups))[group])
    changed = random.random(lengths.shape) < -np.expm1(-rate[:, None] * lengths)
    offsets = np.arange(pages + 1) * gaps
    return Observed(("",) * pages, offsets, lengths.ravel(), changed.ravel(), group, groups)


def captures(pages: int, each: int) -> Iterator[Capture]:
    """Downloads in the order of keys; every third page changes each time."""
    where = Location("file", 0, 1)
    for page in range(pages):
        path = f"/dir{page // 1000}/page{page}.html"
        for number in range(each):
            content = f"sha256:{page * each + (number if page % 3 == 0 else 0):064}"
            yield Capture(
                f"http://www.example.org{path}",
                f"org,example){path}",
                (1_700_000_000 + page + number * 2_592_000) * SECOND,
                "response",
                200,
                "text/html",
                content,
                content,
                1,
                f"{page}-{number}",
                where,
            )


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
