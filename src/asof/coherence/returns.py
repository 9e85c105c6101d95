"""How often pages were seen to come back to what they had been: A, B, and A again.

Two looks that bring the same bytes cannot tell whether something else was there in between.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from asof.catalog.observe import Observation
from asof.coherence.credibility import firm_runs
from asof.coherence.observations import SameAnswers, Sights, alike
from asof.coherence.verdict import HostTrust
from asof.model import State


@dataclass(frozen=True, slots=True)
class Returns:
    """Of some pages: how many were seen three times or more, which a return takes; how often one
    that had changed was seen to change again, and how often it was then what it had been before.
    """

    seen_thrice: int = 0
    changed_again: int = 0
    returned: int = 0


def count_returns(
    seen: Sights, host_trust: Mapping[str, HostTrust], *, urls: Collection[str]
) -> Returns:
    """Those of all these pages, by what is firm."""
    thrice = again = returned = 0
    for url, own in seen.items():
        if url not in urls:
            continue
        sights = [each for each in own if each.state is not State.SILENT]
        thrice += len(sights) > 2
        if len(sights) < 3 or len({(s.state, s.redirect, s.identity) for s in sights}) == 1:
            continue  # most pages: intervals cost more to find
        [(_, runs, _)] = firm_runs({url: sights}, host_trust)
        answers = _different(runs)
        again += max(len(answers) - 2, 0)
        # One that is told again is not the one before it.
        returned += len(answers) - len(set(answers))
    return Returns(thrice, again, returned)


def _different(runs: Iterable[SameAnswers]) -> list[tuple[object, ...]]:
    """What a page was, one after the other. Neither what cannot be compared with what was before
    it nor equal bytes of a later date were seen to be something else.
    """
    found: list[Observation] = []
    for run in runs:
        if not run.mixed and (not found or alike(found[-1], run.seen[0]) is False):
            found.append(run.seen[-1])
    return [
        () if each.state is State.GONE else (each.status, each.redirect or each.identity)
        for each in found
    ]
