"""A difference in the terminal: old on the left, new on the right, what stayed the same folded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from textwrap import wrap

from asof.caret import cells
from asof.change.difference import Difference, Line, Row
from asof.report.terminal import Piece, harmless, wrapped
from asof.report.words import number

# Below this two columns of text are too narrow to read, and both sides share one.
_TWO_COLUMNS = 60
_GUTTER = " │ "
_SIGNS = {"same": " ", "changed": "~", "removed": "-", "added": "+"}
_RED, _GREEN, _DIM, _STRONG, _OFF = "\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[1;7m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows in a row that are the same and not shown."""

    rows: tuple[Row, ...]

    def __str__(self) -> str:
        lines = {row.old.number for row in self.rows if row.old}
        return f"{number(len(lines), 'line')} unchanged"


def folded(rows: Sequence[Row], context: int = 3) -> Iterator[Row | Fold]:
    """The rows that changed with some that did not around them; the rest folded."""
    near = bytearray(len(rows))
    for place, row in enumerate(rows):
        if not row.same:
            start = max(place - context, 0)
            end = min(place + context + 1, len(rows))
            near[start:end] = b"\1" * (end - start)
    start = 0
    while start < len(rows):
        if near[start]:
            yield rows[start]
            start += 1
            continue
        end = near.find(1, start)
        end = len(rows) if end < 0 else end
        if end - start == 1:  # a line that says "one line" is no shorter
            yield rows[start]
        else:
            yield Fold(tuple(rows[start:end]))
        start = end


def terminal(
    found: Difference,
    width: int = 100,
    *,
    colour: bool = False,
    context: int = 3,
    names: tuple[str, str] = ("old", "new"),
) -> Iterator[str]:
    """Lines for a terminal of that many columns. Without colour, marked words stand in brackets."""
    if not found.is_change:
        yield from wrap("no difference in the text", width)
        return
    numbers = (line.number for row in found.rows for line in (row.old, row.new) if line)
    painter = _Painter(width, colour, len(str(max(numbers, default=1))))
    yield from painter.head(names)
    for item in folded(found.rows, context):
        if isinstance(item, Fold):
            yield painter.fold(item)
        else:
            yield from painter.row(item)


class _Painter:
    def __init__(self, width: int, colour: bool, digits: int) -> None:
        self.colour = colour
        self.width = width
        self.digits = digits
        self.two = width >= _TWO_COLUMNS
        # Each side: the number of the line, its sign, and the text.
        room = (width - len(_GUTTER)) // 2 if self.two else width
        self.text_width = max(room - digits - 3, 10)
        self.side_width = digits + 3 + self.text_width

    def head(self, names: tuple[str, str]) -> Iterator[str]:
        old, new = (harmless(" ".join(name.split())) for name in names)
        if self.two:
            side = self.side_width
            sides = (wrapped([(name, False)], side) for name in (old, new))
            for left, right in zip_longest(*sides, fillvalue=[]):
                yield self._joined(_text(left) + _fill(left, side), _text(right))
            yield "─" * side + "─┼─" + "─" * side
        else:
            for name, paint in ((f"--- {old}", _RED), (f"+++ {new}", _GREEN)):
                for line in wrapped([(name, False)], self.width):
                    yield self._paint(_text(line), paint)

    def fold(self, fold: Fold) -> str:
        return self._paint(f"{' ' * self.digits} ⋯ {fold}"[: self.width], _DIM)

    def row(self, row: Row) -> Iterator[str]:
        left = self._side(row.old, row, new=False) if row.old else ()
        right = self._side(row.new, row, new=True) if row.new else ()
        if self.two:
            for old, new in zip_longest(left, right):
                yield self._joined(old or " " * self.side_width, new or "")
        else:
            yield from (line.rstrip(" ") for line in chain(left, () if row.same else right))

    def _joined(self, left: str, right: str) -> str:
        return (left + _GUTTER + right).rstrip(" ")

    def _side(self, line: Line, row: Row, *, new: bool) -> Iterator[str]:
        """The lines of one side, filled up to the width of its column if something stands right."""
        sign = " " if row.same else ("+" if new else "-") if not self.two else _SIGNS[row.kind]
        number = f"{line.number:>{self.digits}} {sign} "
        paint = "" if row.same else _GREEN if new else _RED
        for place, text in enumerate(wrapped(self._pieces(line, row, new=new), self.text_width)):
            head = number if place == 0 else " " * len(number)
            fill = _fill(text, self.text_width) if self.two and not new else ""
            yield head + self._styled(text, paint, row.kind) + fill

    def _pieces(self, line: Line, row: Row, *, new: bool) -> list[Piece]:
        """The text of a line that can be shown; a changed end of line is shown as a pilcrow."""
        pieces: list[Piece] = []
        for span in line.spans:
            text = span.text.removesuffix("\n")
            if span.marked and row.kind == "changed" and text != span.text:
                text += "¶"
            text = harmless(text.replace("\n", " "))
            if not text:
                continue
            if span.marked and row.kind == "changed" and not self.colour:
                before, after = ("{+", "+}") if new else ("[-", "-]")
                text = f"{before}{text}{after}"
            pieces.append((text, span.marked))
        return pieces

    def _styled(self, line: list[Piece], paint: str, kind: str) -> str:
        if not self.colour or not paint:
            return _text(line)
        if kind != "changed":
            return self._paint(_text(line), paint)
        return "".join(
            self._paint(text, paint + _STRONG) if marked else text for text, marked in line
        )

    def _paint(self, text: str, paint: str) -> str:
        return f"{paint}{text}{_OFF}" if self.colour and text else text


def _text(line: Sequence[Piece]) -> str:
    return "".join(text for text, _ in line)


def _fill(line: Sequence[Piece], width: int) -> str:
    """The blanks that are missing to the end of a column."""
    return " " * (width - sum(cells(text) for text, _ in line))
