"""The moments of a site among which a reader picks: what was there at each, and what was new.

Time from the first sight to the last is cut into equal steps, each a whole second. Between two of
them nothing is told, so what is known at all of them takes little room, whatever the histories.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from asof.clock import SECOND, Instant
from asof.replay.site import THERE, Course, Standing, joined

# Steps of one site: as many as can be told apart on a line, or half of them again and again where
# histories are so restless that MOST_CODED bytes would not hold them.
_STEPS = (480, 240, 120, 60, 30)
MOST_CODED = 150_000
MOST_BURSTS = 12
LETTER = dict(zip(Standing, "PCLOEGSN", strict=True))
Runs = list[tuple[int, Standing]]
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Axis:
    """The seconds from `start` to `end`, cut into so many steps: one moment more than those."""

    start: int
    end: int
    steps: int

    def moment(self, step: int) -> Instant:
        return (self.start + (self.end - self.start) * step // self.steps) * SECOND + SECOND - 1

    def step_of(self, moment: Instant) -> int:
        """The last step that is not after a moment, or the first of all."""
        return max(bisect_right(range(self.steps + 1), moment, key=self.moment) - 1, 0)

    def reached(self, second: int) -> int:
        """The first step that is not before a second; beyond the last there may be none."""
        return max(-((self.start - second) * self.steps // (self.end - self.start)), 0)

    def runs(self, course: Course) -> Runs:
        """From which step on what is known of an address."""
        changes = zip(map(self.reached, course.since), course.standings, strict=True)
        begin = (0, Standing.NOT_YET)
        return joined([begin, *(each for each in changes if each[0] <= self.steps)])


@dataclass(frozen=True, slots=True)
class Burst:
    """A step before which much was new: how many answers that were others than before."""

    step: int
    answers: int


@dataclass(frozen=True, slots=True)
class Moments:
    """What is known at each step: `patterns` are those of all addresses, each told once, and
    `pattern_of` says which is whose. `counts` are by standing and step.
    """

    axis: Axis
    patterns: tuple[str, ...]
    pattern_of: tuple[int, ...]
    counts: Mapping[Standing, Sequence[int]]
    bursts: tuple[Burst, ...]

    @property
    def there(self) -> list[int]:
        """How many addresses were there at each step."""
        return [sum(each) for each in zip(*(self.counts[name] for name in THERE), strict=True)]


def moments(courses: Sequence[Course], most: int = MOST_CODED) -> Moments | None:
    """None where all was seen within one second, or nothing was."""
    start = min((each.begun[0] for each in courses if each.begun), default=0)
    end = max((each.last for each in courses if each.begun), default=0)
    if end <= start:
        return None
    axis = Axis(start, end, next((steps for steps in _STEPS if steps <= end - start), end - start))
    runs = [axis.runs(each) for each in courses]
    while sum(map(len, patterns := dict.fromkeys(coded := [*map(_coded, runs)]))) > most:
        if axis.steps % 2:
            break
        axis = Axis(start, end, axis.steps // 2)
        runs = [joined((-(-step // 2), standing) for step, standing in each) for each in runs]
    place_of = {pattern: place for place, pattern in enumerate(patterns)}
    places = tuple(place_of[each] for each in coded)
    return Moments(axis, tuple(patterns), places, _counts(axis, runs), _bursts(axis, courses))


def _coded(runs: Runs) -> str:
    """A letter for what is known, and after how many steps: `NP4O1c`, in base 36."""
    before, told = 0, ""
    for step, standing in runs:
        told += LETTER[standing] + (_base36(step - before) if step else "")
        before = step
    return told


def _base36(number: int) -> str:
    high, low = divmod(number, 36)
    return (_base36(high) if high else "") + _DIGITS[low]


def _counts(axis: Axis, runs: Sequence[Runs]) -> dict[Standing, list[int]]:
    changes = {standing: [0] * (axis.steps + 1) for standing in Standing}
    for each in runs:
        before = None
        for step, standing in each:
            changes[standing][step] += 1
            if before is not None:
                changes[before][step] -= 1
            before = standing
    return {standing: list(accumulate(each)) for standing, each in changes.items()}


def _bursts(axis: Axis, courses: Sequence[Course]) -> tuple[Burst, ...]:
    """The ends of the stretches in which the most answers began, in the order of time."""
    begun = Counter(
        min(axis.reached(second), axis.steps) for each in courses for second in each.begun
    )
    found = [Burst(run[-1], sum(begun[step] for step in run)) for run in _rows(sorted(begun))]
    most = sorted(found, key=lambda burst: -burst.answers)[:MOST_BURSTS]
    return tuple(sorted(most, key=lambda burst: burst.step))


def _rows(steps: Sequence[int]) -> Iterator[list[int]]:
    """Steps in a row together."""
    for _, together in groupby(enumerate(steps), key=lambda pair: pair[1] - pair[0]):
        yield [step for _, step in together]
