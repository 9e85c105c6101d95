"""The best as-of moment over a million intervals, and what the verdicts of a large site take.

    .venv/bin/python bench/stabbing.py [--intervals 1000000] [--pages 50000]

Intervals begin at random within five years and last from nothing to months. Prints seconds of CPU,
the best of three, and checks the best moment against a plain sweep over all ends.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable

import numpy as np

from asof.clock import DAY, SECOND
from asof.coherence.host_trust import learn_host_trust
from asof.coherence.intervals import Stretches, coverage, curve, stab, thinned
from asof.coherence.measure import measure
from asof.coherence.verdict import Mode
from asof.model import Capture, Location

START = 1_600_000_000 * SECOND


def best_of(times: int, task: Callable[[], object]) -> float:
    taken = []
    for _ in range(times):
        start = time.process_time()
        task()
        taken.append(time.process_time() - start)
    return min(taken)


def sweep(since: list[int], until: list[int]) -> int:
    """The greatest number of intervals that hold at once, one end after the other."""
    ends = sorted([(at, 0, 1) for at in since] + [(at, 1, -1) for at in until])
    most = held = 0
    for _, _, step in ends:
        held += step
        most = max(most, held)
    return most


def site(pages: int) -> list[Capture]:
    """Visit and revisit of each page, a tenth of them changed, half of the rest by 304."""

    def capture(number: int, at: int, what: str, **more: object) -> Capture:
        url = f"http://example.org/page/{number}"
        return Capture(
            url=url, surt=f"org,example)/page/{number}", at=at, media_type="text/html", size=9,
            record_id=f"{number}-{at}", where=Location("file", at, 1), crawl="one",
            **({"kind": "response", "status": 200, "digest": what, "content": what} | more),
        )  # fmt: skip

    found = []
    for number in range(pages):
        early, late = START - number * SECOND, START + number * SECOND
        content = "sha1:" + "A" * 32
        found.append(capture(number, early, content, etag=f'"{number}"'))
        if number % 10 == 0:
            found.append(capture(number, late, "sha1:" + "B" * 32))
        elif number % 2:
            found.append(capture(number, late, content))
        else:
            found.append(
                capture(
                    number, late, content, kind="revisit", status=304, etag=f'"{number}"',
                    profile="server-not-modified", content=None, refers_to_at=early,
                    refers_to_url=f"http://example.org/page/{number}",
                )
            )  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--intervals", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=50_000)
    options = parser.parse_args()
    rng = np.random.default_rng(5)
    since = START + rng.integers(0, 5 * 365 * DAY, options.intervals)
    until = since + (rng.exponential(30 * DAY, options.intervals)).astype(np.int64)
    until[::3] = since[::3]

    out = sys.stdout.write
    out(f"{options.intervals:,} intervals\n")
    out(f"  stab             {best_of(3, lambda: stab(since, until)):7.2f} s\n")
    out(f"  curve            {best_of(3, lambda: curve(since, until)):7.2f} s\n")
    moments, counts = curve(since, until)
    out(f"  thinned to 2,000 {best_of(3, lambda: thinned(moments, counts, 2000)):7.2f} s\n")
    if stab(since, until).count != sweep(since.tolist(), until.tolist()):
        sys.exit("the best moment is not what a sweep finds")

    order = np.sort(since)
    some = order[: options.intervals // 10]
    known = Stretches.of([f"{k // 4:07}" for k in range(len(some))], some, some)
    rates = np.full(len(known), 1e-7)
    when = np.linspace(int(order[0]), int(order[-1]), 200).astype(np.int64).tolist()
    taken = best_of(1, lambda: coverage(known, rates, when, len(set(known.urls))))
    out(f"  coverage of {len(known):,} at 200 moments {taken:7.2f} s\n")

    captures = site(options.pages)
    learnt = learn_host_trust(captures, {"example.org": 0})
    out(f"{options.pages:,} pages, visited and revisited\n")
    out(f"  host trust       {best_of(3, lambda: learn_host_trust(captures, {})):7.2f} s\n")
    taken = best_of(3, lambda: measure(captures, START, mode=Mode.INDUCIBLE, host_trust=learnt))
    out(f"  measure          {taken:7.2f} s\n")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    out(f"peak memory {peak:.0f} MB\n")


if __name__ == "__main__":
    main()
