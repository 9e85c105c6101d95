"""How often a term was there, over time: contents that were shown in each day, month or year."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

from tantivy import Query, Searcher

from asof.clock import Instant, from_datetime, to_datetime
from asof.search.question import Stretch

# Days are told up to two months, months up to ten years, then years. Before these there was no web:
# who says so had a clock that was wrong.
_MOST_DAYS = 62
_MOST_MONTHS = 120
_MOST_YEARS = 100


def earliest(searcher: Searcher) -> Instant:
    """When the first content of an index was seen."""
    found = searcher.aggregate(Query.all_query(), {"first": {"min": {"field": "since"}}})
    return int(found["first"]["value"] or 0)


def presence(searcher: Searcher, query: Query, first: Instant, now: Instant) -> tuple[Stretch, ...]:
    """Of all contents that a query finds, whenever they were shown; none where there are none."""
    named = [*_stretches(first, now)]
    starts = [start for _, start in named]
    asked = {name: _ranges(name, starts) for name in ("since", "ended")}
    found = searcher.aggregate(query, asked)
    if not any(bucket["doc_count"] for bucket in found["since"]["buckets"]):
        return ()
    counts = {name: _up_to(each) for name, each in found.items()}
    return tuple(
        # Nothing begins after the last of them.
        Stretch(name, counts["since"][place + 1] - counts["ended"][place])
        for place, (name, _) in enumerate(named)
    )


def _stretches(first: Instant, last: Instant) -> Iterator[tuple[str, Instant]]:
    """Days, months or years, with the moments at which they begin."""
    begin, end = to_datetime(first).date(), to_datetime(max(first, last)).date()
    months = (end.year - begin.year) * 12 + end.month - begin.month + 1
    if (end - begin).days < _MOST_DAYS:
        days = (begin + timedelta(each) for each in range((end - begin).days + 1))
        named = [(day.isoformat(), day) for day in days]
    elif months <= _MOST_MONTHS:
        starts = (begin.year * 12 + begin.month - 1 + each for each in range(months))
        named = [
            (f"{no // 12:04}-{no % 12 + 1:02}", date(no // 12, no % 12 + 1, 1)) for no in starts
        ]
    else:
        years = range(max(begin.year, end.year - _MOST_YEARS + 1), end.year + 1)
        named = [(f"{year:04}", date(year, 1, 1)) for year in years]
    for name, day in named:
        yield name, from_datetime(datetime(day.year, day.month, day.day, tzinfo=UTC))


def _ranges(field: str, starts: Sequence[Instant]) -> Mapping[str, Any]:
    """What lies before the first start, between each two, and from the last on."""
    between = [{"from": one, "to": other} for one, other in pairwise(starts)]
    return {"range": {"field": field,
                      "ranges": [{"to": starts[0]}, *between, {"from": starts[-1]}]}}  # fmt: skip


def _up_to(found: Mapping[str, Any]) -> list[int]:
    """How many lie before each start, and in all."""
    buckets = sorted(found["buckets"], key=lambda each: each.get("from", -1))
    counts = [0]
    for bucket in buckets:
        counts.append(counts[-1] + bucket["doc_count"])
    return counts[1:]
