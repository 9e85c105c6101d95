"""The history of a URL as a picture: which content is known at what time, how well, and by what
kind of change it came.

Pure geometry in a box of 1000 units; the template draws it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from asof.change.arrivals import Arrival
from asof.clock import DAY, SECOND, Instant
from asof.model import Grade, Validity
from asof.report.change_kinds import Kind, graver, kind_of

WIDTH = 1000.0
# Narrower bars could not be seen or clicked; one of many thousand captures still shows.
_MIN_WIDTH = 3.0
# More bars than this cannot be told apart: neighbours closer than half a bar share one, and with
# more of them the page would weigh too much.
_MANY = 120


@dataclass(frozen=True, slots=True)
class Bar:
    """One content from `x` over `width`, in stretches of one grade: (grade, x, width).

    `kind` is that of the change to it; the gravest where it stands for those beside it.
    """

    x: float
    width: float
    stretches: tuple[tuple[Grade, float, float], ...]
    kind: Kind
    validity: Validity


@dataclass(frozen=True, slots=True)
class Timeline:
    """Bars in order, the two ends of the axis, and where the moment asked for lies."""

    bars: tuple[Bar, ...]
    start: Instant
    end: Instant
    mark: float | None

    @property
    def kinds(self) -> set[Kind]:
        """Those that are drawn."""
        return {bar.kind for bar in self.bars}

    @property
    def grades(self) -> set[Grade]:
        """The same."""
        return {grade for bar in self.bars for grade, _, _ in bar.stretches}


def timeline(came: Sequence[Arrival], asked: Instant | None) -> Timeline | None:
    """The picture of a history; None when there is nothing to draw."""
    history = [each.validity for each in came]
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
    # Where there are many, each is as wide as what many of them have room for.
    room = WIDTH / _MANY if len(history) > _MANY else 0.0
    for validity, kind in zip(history, (kind_of(each.change) for each in came), strict=True):
        left = x(validity.since)
        width = max(x(validity.until) - left, _MIN_WIDTH)
        if room and bars and left < bars[-1].x + max(bars[-1].width, room) - _MIN_WIDTH / 2:
            bars[-1] = replace(bars[-1], kind=graver(bars[-1].kind, kind))
            continue
        bars.append(Bar(left, width, tuple(_stretches(validity, x)), kind, validity))
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
