"""A difference as one HTML file that needs nothing else and runs nothing."""

from collections.abc import Iterator, Sequence

from asof.change.difference import Difference, Row
from asof.report.difference_terminal import folded
from asof.report.render import render

# Folds can be opened. Of a long text so many rows are there to be seen, else the file would be
# many times what changed.
_FOLDED_ROWS = 5_000


def page(
    found: Difference,
    *,
    title: str = "Difference",
    names: tuple[str, str] = ("old", "new"),
    notes: Sequence[str] = (),
    context: int = 3,
) -> str:
    """The whole file, to be written as UTF-8. `notes` are sentences above the difference."""
    return render(
        "difference.html", title=title, names=names, notes=notes, changed=found.is_change,
        items=shown(found.rows, context),
    )  # fmt: skip


def shown(
    rows: Sequence[Row], context: int = 3, room: int = _FOLDED_ROWS
) -> Iterator[tuple[str, Sequence[Row]]]:
    """Folds and the rows in them, none where there is no more room; rows between folds."""
    between = list[Row]()
    for item in folded(rows, context):
        if isinstance(item, Row):
            between.append(item)
            continue
        yield "", between
        between = []
        fits = len(item.rows) <= room
        room -= len(item.rows) if fits else 0
        yield str(item), item.rows if fits else ()
    yield "", between
