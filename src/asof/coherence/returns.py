"""How often pages were seen to come back to what they had been: A, B, and A again.

Two looks that bring the same bytes cannot tell whether something else was there in between.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from asof.catalog.observe import Observation
from asof.coherence.observations import SameAnswers, alike
from asof.model import State


@dataclass(frozen=True, slots=True)
class Returns:
    """Of some pages: how many were seen three times or more, which a return takes; how often one
    that had changed was seen to change again, and how often it was then what it had been before.
    """

    seen_thrice: int = 0
    changed_again: int = 0
    returned: int = 0

    def __add__(self, other: Self) -> Self:
        thrice, again = (
            self.seen_thrice + other.seen_thrice,
            self.changed_again + other.changed_again,
        )
        return type(self)(thrice, again, self.returned + other.returned)


def returns_of(runs: Sequence[SameAnswers]) -> Returns:
    """Those of one page, by its firm runs."""
    if sum(len(run.seen) for run in runs) < 3:
        return Returns()
    answers = _different(runs)
    # One that is told again is not the one before it.
    return Returns(1, max(len(answers) - 2, 0), len(answers) - len(set(answers)))


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
