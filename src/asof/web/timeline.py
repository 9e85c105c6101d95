"""The history of a URL as a picture: which content is known at what time, and how well.

Pure geometry in a box of 1000 units; the template draws it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from asof.clock import DAY, SECOND, Instant
from asof.model import Grade, Validity

WIDTH = 1000.0
# Narrower bars could not be seen or clicked; one of many thousand captures still shows.
_MIN_WIDTH = 3.0
# More bars than this cannot be told apart: neighbours closer than half a unit share one.
_MANY = 400


@dataclass(frozen=True, slots=True)
class Bar:
    """One content from `x` over `width`, in stretches of one grade: (grade, x, width)."""

    x: float
    width: float
    stretches: tuple[tuple[Grade, float, float], ...]
    tone: int
    validity: Validity


@dataclass(frozen=True, slots=True)
class Timeline:
    """Bars in order, the two ends of the axis, and where the moment asked for lies."""

    bars: tuple[Bar, ...]
    start: Instant
    end: Instant
    mark: float | None


def timeline(history: Sequence[Validity], asked: Instant | None) -> Timeline | None:
    """The picture of a history; None when there is nothing to draw."""
    if not history:
        return None
    start = min(v.since if v.claimed_since is None else v.claimed_since for v in history)
    end = max(v.until for v in history)
    if asked is not None and start <= asked <= end + (end - start + DAY):
        end = max(end, asked)  # near enough to show how far it is from the last proof
    span = max(end - start, SECOND)

    def x(at: Instant) -> float:
        # The last bar needs room for its smallest width.
        return (at - start) / span * (WIDTH - _MIN_WIDTH)

    bars: list[Bar] = []
    for number, validity in enumerate(history):
        left = x(validity.since)
        width = max(x(validity.until) - left, _MIN_WIDTH)
        if len(history) > _MANY and bars and left < bars[-1].x + bars[-1].width - _MIN_WIDTH / 2:
            continue
        stretches = tuple(_stretches(validity, x))
        bars.append(Bar(left, width, stretches, number % 2, validity))
    mark = x(asked) if asked is not None and start <= asked <= end else None
    return Timeline(tuple(bars), start, end, mark)


def _stretches(
    validity: Validity, x: Callable[[Instant], float]
) -> Iterator[tuple[Grade, float, float]]:
    """What is claimed of before, proven, confirmed and claimed; of what was seen once a mark."""
    since = validity.since if validity.claimed_since is None else validity.claimed_since
    proven, confirmed = validity.proven_until, validity.confirmed_until
    for grade, begin, end in (
        (Grade.CLAIMED, since, validity.since),
        (Grade.CLAIMED, confirmed, validity.until),
        (Grade.CONFIRMED, proven, confirmed),
        (Grade.PROVEN, validity.since, proven),
    ):
        least = _MIN_WIDTH if grade is Grade.PROVEN else 0.0
        if (width := max(x(end) - x(begin), least)) > 0:
            yield grade, x(begin), width
