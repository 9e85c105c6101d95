"""Outcomes summed up by kind and by group of servers, and the bars that each group has to meet.

Put `tests` on the path and import it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from statistics import fmean

from asof.model import Grade
from support.server_kinds import Group, Kind, Scene
from support.truth import SAYING, Outcome, Sayings

# At least so much of what bytes can show is to be measured, and a plan is off by at most so much.
SHARE_OF_TRUTH, PROMISE = 0.9, 0.05
# A host with false validators is to be caught in 29 of 30 runs in which it told a false 304.
CAUGHT = 29 / 30
_FIRM = (Grade.PROVEN, Grade.CONFIRMED, Grade.CLAIMED)


@dataclass(frozen=True)
class Row:
    """All outcomes of a kind of server."""

    kind: Kind
    outcomes: tuple[Outcome, ...]

    @property
    def pages(self) -> int:
        return sum(each.pages for each in self.outcomes)

    def sayings(self, grade: Grade) -> Sayings:
        return reduce(add, (each.grades[grade] for each in self.outcomes), Sayings())

    @property
    def unchanged(self) -> Sayings:
        return reduce(add, (each.unchanged for each in self.outcomes), Sayings())

    def share(self, of: Callable[[Outcome], int]) -> float:
        """The share of pages, over all runs."""
        return sum(map(of, self.outcomes)) / max(1, self.pages)

    @property
    def c(self) -> float:
        """C as it is measured; where bytes always differ, that in substance."""
        return self.share(lambda each: each.alike if self.kind.substance else each.coherent)

    @property
    def c_same(self) -> float:
        """The share of pages that truly stayed from the visit to the revisit."""
        return self.share(lambda each: each.staying)

    @property
    def c_true(self) -> float:
        """The share of pages of which some copy stood at the reference."""
        return self.share(lambda each: each.standing)

    @property
    def is_twice(self) -> bool:
        """Whether pages were visited twice, so that bytes can show what stayed."""
        return all(each.twice for each in self.outcomes)

    @property
    def ratio(self) -> float:
        """C over what can be shown: what stayed; of a single visit, the copies that were true."""
        most = self.c_same if self.is_twice else self.c_true
        return self.c / most if most else 1.0

    @property
    def can_be_shown(self) -> bool:
        """Whether C can come near to that: by bytes, or at least by dates."""
        return self.is_twice or self.kind.build(Scene(1.0)).validators.dates

    @property
    def expected(self) -> float | None:
        found = [each.expected for each in self.outcomes if each.expected is not None]
        return fmean(found) if found else None

    @property
    def promise(self) -> float:
        """By how much plans were off."""
        strict = fmean(each.coherent / max(1, each.pages) for each in self.outcomes)
        return 0.0 if self.expected is None else abs(self.expected - strict)

    @property
    def caught(self) -> int:
        return sum(each.caught for each in self.outcomes)

    @property
    def lying(self) -> int:
        """Runs in which there was something to be caught at."""
        return sum(each.caught or each.lied > 0 for each in self.outcomes)


@dataclass(frozen=True)
class Bar:
    """What a group has to meet, and what it came to."""

    group: Group
    name: str
    found: str
    met: bool


def by_kind(found: Iterable[tuple[Kind, Outcome]]) -> list[Row]:
    kinds: dict[str, tuple[Kind, list[Outcome]]] = {}
    for kind, outcome in found:
        kinds.setdefault(kind.name, (kind, []))[1].append(outcome)
    return [Row(kind, tuple(outcomes)) for kind, outcomes in kinds.values()]


def bars(rows: Sequence[Row]) -> list[Bar]:
    """Each bar of each group that was tried."""
    found: list[Bar] = []
    for group in Group:
        own = [row for row in rows if row.kind.group is group]
        if own:
            found += [Bar(group, *each) for each in _BARS[group](own)]
    return found


_Found = tuple[str, str, bool]


def _summed(rows: Sequence[Row], grade: Grade) -> Sayings:
    return reduce(add, (row.sayings(grade) for row in rows), Sayings())


def _none_false(rows: Sequence[Row], *grades: Grade) -> list[_Found]:
    found = []
    for grade in grades:
        said = _summed(rows, grade)
        found.append((f"{grade} false: 0", f"{said.false} of {said.all}", said.false == 0))
    return found


def _few_false(rows: Sequence[Row], *grades: Grade) -> list[_Found]:
    found = []
    for grade in grades:
        said = _summed(rows, grade)
        met = said.false < 0.01 * said.all or not said.false
        found.append((f"{grade} false: under 1 %", f"{said.false} of {said.all}", met))
    return found


def _honest(rows: Sequence[Row]) -> list[_Found]:
    low = [
        f"{r.kind.name} {r.ratio:.2f}" for r in rows if r.can_be_shown and r.ratio < SHARE_OF_TRUTH
    ]
    off = [f"{r.kind.name} {r.promise:.2f}" for r in rows if r.promise > PROMISE]
    still = [r for r in rows if r.kind.name == "gzip-at-rest"]
    found = _none_false(rows, *_FIRM)
    found.append((f"C at least {SHARE_OF_TRUTH:g} of what can be shown", _listed(low), not low))
    found.append((f"promised within {PROMISE:g}", _listed(off), not off))
    if still:
        c = still[0].c
        found.append(("nginx with gzip at rest: C = 100 %", f"{c:.0%}", c == 1.0))
    return found


def _false(rows: Sequence[Row]) -> list[_Found]:
    said, pages = _summed(rows, Grade.CONFIRMED), sum(row.pages for row in rows)
    missed = [
        f"{row.kind.name} {row.caught} of {row.lying}"
        for row in rows
        if row.caught < CAUGHT * row.lying
    ]
    few = said.false < 0.01 * pages
    return [
        *_none_false(rows, Grade.PROVEN, Grade.CLAIMED),
        ("confirmed false: under 1 % of pages", f"{said.false} of {pages} pages", few),
        ("caught in 29 of 30 runs with lies", _listed(missed), not missed),
    ]


def _dates(rows: Sequence[Row]) -> list[_Found]:
    firm = _none_false(rows, Grade.PROVEN, Grade.CONFIRMED)
    return firm + _few_false(rows, Grade.CLAIMED)


def _caches(rows: Sequence[Row]) -> list[_Found]:
    return _few_false(rows, *_FIRM)


def _returns(rows: Sequence[Row]) -> list[_Found]:
    found = []
    for grade in _FIRM:
        said = _summed(rows, grade)
        words = f"{said.contradicted} of {said.all}, and {said.false - said.contradicted} unseen"
        found.append(
            (f"{grade} false though the archive shows it: 0", words, not said.contradicted)
        )
    return found


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or "all"


_BARS: Mapping[Group, Callable[[Sequence[Row]], list[_Found]]] = {
    Group.HONEST: _honest,
    Group.FALSE: _false,
    Group.DATES: _dates,
    Group.CACHES: _caches,
    Group.RETURNS: _returns,
}

# -- as text and as values -------------------------------------------------------------------------

_COLUMNS = (
    *("pages", "proven", "confirmed", "claimed", "equivalent", "C", "stayed", "true", "ratio"),
    *("plan", "caught", "requests", "kB", "unchanged"),
)


def _cells(row: Row) -> list[str]:
    runs = len(row.outcomes)
    pairs = [*(row.sayings(grade) for grade in SAYING), row.unchanged]
    *grades, unchanged = [f"{said.all}/{said.false}" for said in pairs]
    return [
        str(row.pages),
        *grades,
        *(f"{each:.2f}" for each in (row.c, row.c_same, row.c_true, row.ratio)),
        "" if row.expected is None else f"{row.expected:.2f}",
        f"{row.caught} of {row.lying}",
        f"{sum(each.requests for each in row.outcomes) / runs:.0f}",
        f"{sum(each.sent for each in row.outcomes) / runs / 1000:.0f}",
        unchanged,
    ]


def table(rows: Sequence[Row]) -> list[str]:
    """Lines to print: a head, and one for each kind; `5/1` is 5 of which 1 is false."""
    lines = [["kind", *_COLUMNS], *([row.kind.name, *_cells(row)] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]


def bar_lines(found: Sequence[Bar]) -> list[str]:
    lines, group = [], None
    for bar in found:
        if bar.group is not group:
            lines.append(f"{bar.group}:")
            group = bar.group
        lines.append(f"  {'met    ' if bar.met else 'NOT MET'}  {bar.name}: {bar.found}")
    return lines


def as_json(rows: Sequence[Row], found: Sequence[Bar]) -> dict[str, object]:
    return {
        "kinds": {row.kind.name: _values(row) for row in rows},
        "bars": [
            {"group": b.group.value, "bar": b.name, "found": b.found, "met": b.met} for b in found
        ],
    }


def _values(row: Row) -> dict[str, object]:
    said = {grade.value: row.sayings(grade) for grade in SAYING} | {"unchanged": row.unchanged}
    return {
        "group": row.kind.group.value,
        "runs": len(row.outcomes),
        "pages": row.pages,
        "load": fmean(each.load for each in row.outcomes),
        **{
            name: {"all": each.all, "false": each.false, "contradicted": each.contradicted}
            for name, each in said.items()
        },
        "c": row.c, "c_same": row.c_same, "c_true": row.c_true, "ratio": row.ratio,
        "expected": row.expected, "caught": row.caught, "lying": row.lying,
        "requests": sum(each.requests for each in row.outcomes),
        "sent": sum(each.sent for each in row.outcomes),
        "wrong": [words for each in row.outcomes for words in each.wrong],
    }  # fmt: skip
