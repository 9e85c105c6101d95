"""The tree of a site, as many rows of it as a page shows: what is folded is a page of its own."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from asof.replay.site import THERE, Course, Standing

# Rows of one page, those in open folders included.
ROWS = 300


@dataclass(slots=True)
class Row:
    """An address, or a folder with the `count` addresses from `first` on; `rows` are of an open
    one. The name of a folder that has nothing but another one has that in it, too.
    """

    name: str
    url: str
    first: int
    count: int
    depth: int
    is_folder: bool
    counts: Counter[Standing]
    rows: list["Row"] = field(default_factory=list)

    @property
    def there(self) -> int:
        return sum(self.counts[standing] for standing in THERE)

    @property
    def standing(self) -> Standing:
        """What is known of it, if it is an address."""
        return next(iter(self.counts))

    @property
    def bar(self) -> Iterator[tuple[Standing, int, int]]:
        """How many there are of each standing, beside each other."""
        begin = 0
        for standing in Standing:
            if count := self.counts[standing]:
                yield standing, begin, count
                begin += count


class Tree:
    """The rows of a site as of a moment, by the standing of each address."""

    def __init__(self, courses: Sequence[Course], standings: Sequence[Standing]) -> None:
        self._courses = courses
        self._standings = standings

    def page(self, number: int) -> tuple[list[Row], int]:
        """The rows of one page, and how many pages there are."""
        top = self._within(0, len(self._courses), 0)
        while len(top) == 1 and top[0].is_folder:
            top = self._within(top[0].first, top[0].count, top[0].depth)
        pages = max(-(-len(top) // ROWS), 1)
        number = min(max(number, 1), pages)
        shown = top[(number - 1) * ROWS : number * ROWS]
        self._unfold(shown)
        return shown, pages

    def _unfold(self, rows: list[Row]) -> None:
        """Open folders as deep as there is room for all of one depth."""
        room, level = ROWS - len(rows), [row for row in rows if row.is_folder]
        while level:
            inner = [self._within(row.first, row.count, row.depth) for row in level]
            room -= sum(map(len, inner))
            if room < 0:
                return
            for row, own in zip(level, inner, strict=True):
                row.rows = own
            level = [each for own in inner for each in own if each.is_folder]

    def _within(self, first: int, count: int, depth: int) -> list[Row]:
        """The rows of a stretch of addresses that have their first `depth` parts in common."""
        rows, start, end = [], first, first + count
        while start < end:
            part, place = self._courses[start].parts[depth], start + 1
            while place < end and self._courses[place].parts[depth] == part:
                place += 1
            rows.append(self._row(start, place, depth))
            start = place
        return rows

    def _row(self, first: int, end: int, depth: int) -> Row:
        own, last = self._courses[first].parts, self._courses[end - 1].parts
        below = depth + 1
        counts = Counter(self._standings[first:end])
        if end - first == 1:
            name = "".join(own[depth:]) or own[-2]
            return Row(name, "".join(own), first, 1, len(own), False, counts)
        while below < min(len(own), len(last)) - 1 and own[below] == last[below]:
            below += 1
        name, url = "".join(own[depth:below]), "".join(own[:below])
        return Row(name, url, first, end - first, below, True, counts)
