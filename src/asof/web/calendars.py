"""The captures of a URL in a calendar: its years, and the months of one of them, day by day.

Pure counting; the template draws it, and the JSON API tells the same.
"""

from bisect import bisect_left
from calendar import Calendar as Weeks
from calendar import isleap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from asof.change.arrivals import Arrival
from asof.clock import DAY, Instant, to_datetime
from asof.report.change_kinds import TOLD, Kind, graver, kind_of
from asof.report.words import MONTHS, number

# So many years are shown at once, those around the one whose months are.
YEARS_SHOWN = 30
# From so many captures on a day is drawn a shade darker.
_SHADES = (1, 2, 5, 20)
_WEEKS = Weeks()


@dataclass(frozen=True, slots=True)
class Year:
    """One with captures; `months` are twelve counts."""

    year: int
    captures: int
    months: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """One with captures: how many, how many contents began, and the gravest change that day."""

    day: date
    captures: int
    contents: int
    change: Kind | None

    @property
    def shade(self) -> int:
        """1 to 4."""
        return sum(self.captures >= least for least in _SHADES)

    @property
    def label(self) -> str:
        """As it is read out."""
        told = f"{self.day.day} {MONTHS[self.day.month - 1]}, {number(self.captures, 'capture')}"
        return told if self.change in (None, Kind.UNKNOWN) else f"{told}, {TOLD[self.change]}"


@dataclass(frozen=True, slots=True)
class Month:
    """One with captures, by weeks from Monday; days of other months are 0."""

    first: date
    captures: int
    weeks: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Calendar:
    """The years around one, and what is in that one; `days` are by their date."""

    years: tuple[Year, ...]
    earlier: int | None
    later: int | None
    year: int
    months: tuple[Month, ...]
    days: Mapping[date, Day]

    @property
    def most(self) -> int:
        """Captures of the fullest of all months shown."""
        return max((count for each in self.years for count in each.months), default=1)


def years(times: Iterable[Instant]) -> tuple[Year, ...]:
    """The years with captures."""
    by_day = Counter(at // DAY for at in times)
    counts: dict[int, list[int]] = {}
    for day, count in by_day.items():
        when = to_datetime(day * DAY)
        counts.setdefault(when.year, [0] * 12)[when.month - 1] += count
    return tuple(Year(each, sum(counts[each]), tuple(counts[each])) for each in sorted(counts))


def days(times: Sequence[Instant], history: Iterable[Arrival], year: int) -> dict[date, Day]:
    """The days of a year with captures, by captures in their order."""
    start = _start(year)
    end = start + (366 if isleap(year) else 365) * DAY
    within = times[bisect_left(times, start) : bisect_left(times, end)]
    changes: dict[int, list[Kind]] = {}
    for each in history:
        if start <= (at := each.validity.evidence[0].at) < end:
            changes.setdefault(at // DAY, []).append(kind_of(each.change))
    found = {}
    for each_day, count in sorted(Counter(at // DAY for at in within).items()):
        kinds = changes.get(each_day, [])
        gravest = None
        for kind in kinds:
            gravest = kind if gravest is None else graver(gravest, kind)
        day = to_datetime(each_day * DAY).date()
        found[day] = Day(day, count, len(kinds), gravest)
    return found


def calendar(
    known: Sequence[Year], times: Sequence[Instant], history: Iterable[Arrival], year: int
) -> Calendar:
    """What a page shows of a URL with captures in these years."""
    place = bisect_left(known, year, key=lambda each: each.year)
    begin = max(0, min(place - YEARS_SHOWN // 2, len(known) - YEARS_SHOWN))
    end = begin + YEARS_SHOWN
    own = next((each for each in known if each.year == year), None)
    months = tuple(
        Month(date(year, each, 1), count, tuple(map(tuple, _WEEKS.monthdayscalendar(year, each))))
        for each, count in enumerate(() if own is None else own.months, 1) if count
    )  # fmt: skip
    return Calendar(
        tuple(known[begin:end]),
        known[begin - 1].year if begin else None,
        known[end].year if end < len(known) else None,
        year, months, days(times, history, year),
    )  # fmt: skip


def _start(year: int) -> Instant:
    return (date(year, 1, 1).toordinal() - date(1970, 1, 1).toordinal()) * DAY
