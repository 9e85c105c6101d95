"""A difference as one HTML file that needs nothing else and runs nothing.

Everything from the archive is escaped, and the page forbids itself scripts, pictures and requests:
what is shown was written by strangers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from asof.change.difference import Difference, Line, Row
from asof.report.difference_terminal import folded
from asof.report.terminal import harmless

# Folds can be opened. Of a long text so many rows are there to be seen, else the file would be
# many times what changed.
_FOLDED_ROWS = 5_000

_STYLE = """
:root { color-scheme: light dark; --same: #8885; --old: #d33; --new: #293; }
body {
  font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 110rem; padding: 0 1rem;
}
h1 { font-size: 1.3rem; overflow-wrap: anywhere; }
ul { padding-left: 1.2rem; }
li { overflow-wrap: anywhere; }
.row { display: grid; grid-template-columns: 5ch 1fr 5ch 1fr; column-gap: .6rem; }
.row > * {
  min-width: 0; padding: .1rem .3rem; white-space: pre-wrap; overflow-wrap: anywhere;
  unicode-bidi: isolate;
}
.head {
  font-weight: 600; position: sticky; top: 0; background: Canvas;
  border-bottom: 1px solid var(--same);
}
.n { color: GrayText; text-align: right; font-variant-numeric: tabular-nums; user-select: none; }
.old { box-shadow: inset 3px 0 var(--old); background: color-mix(in srgb, var(--old) 8%, Canvas); }
.new { box-shadow: inset 3px 0 var(--new); background: color-mix(in srgb, var(--new) 8%, Canvas); }
del { background: color-mix(in srgb, var(--old) 30%, Canvas); }
ins { background: color-mix(in srgb, var(--new) 30%, Canvas); text-decoration: none; }
details { border-block: 1px dashed var(--same); margin: .3rem 0; }
summary, .fold { color: GrayText; text-align: center; }
summary { cursor: pointer; }
"""


def page(
    found: Difference,
    *,
    title: str = "Difference",
    names: tuple[str, str] = ("old", "new"),
    notes: Iterable[str] = (),
    context: int = 3,
) -> str:
    """The whole file, to be written as UTF-8. `notes` are sentences above the difference."""
    parts = [
        "<!doctype html>\n<html>\n<head>\n<meta charset=utf-8>\n",
        "<meta http-equiv=Content-Security-Policy"
        " content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
        "<meta name=referrer content=no-referrer>\n",
        "<meta name=viewport content='width=device-width'>\n",
        f"<title>{_safe(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n",
        f"<h1>{_safe(title)}</h1>\n",
    ]
    items = "".join(f"<li dir=auto>{_safe(note)}</li>\n" for note in notes)
    if items:
        parts.append(f"<ul>\n{items}</ul>\n")
    parts.append(
        f'<div class="row head"><span></span><span dir=auto>{_safe(names[0])}</span>'
        f"<span></span><span dir=auto>{_safe(names[1])}</span></div>\n"
    )
    if all(row.same for row in found.rows):
        parts.append("<p>No difference.</p>\n")
    parts.extend(_items(found.rows, context))
    parts.append("</body>\n</html>\n")
    return "".join(parts)


def _items(rows: Sequence[Row], context: int) -> Iterator[str]:
    room = _FOLDED_ROWS
    for item in folded(rows, context):
        if isinstance(item, Row):
            yield _row(item)
        elif len(item.rows) <= room:
            room -= len(item.rows)
            inside = "".join(map(_row, item.rows))
            yield f"<details><summary>{item}</summary>\n{inside}</details>\n"
        else:
            yield f"<p class=fold>{item}</p>\n"


def _row(row: Row) -> str:
    return f"<div class=row>{_cell(row.old, row, 'old')}{_cell(row.new, row, 'new')}</div>\n"


def _cell(line: Line | None, row: Row, side: str) -> str:
    if line is None:
        return "<span></span><span></span>"
    mark = "del" if side == "old" else "ins"
    text = ""
    for span in line.spans:
        shown = span.text.removesuffix("\n")
        changed = span.marked and row.kind == "changed"
        if changed and shown != span.text:
            shown += "¶"
        shown = _safe(shown)
        text += f"<{mark}>{shown}</{mark}>" if changed and shown else shown
    kind = "" if row.same else f" class={side}"
    return f"<span class=n>{line.number}</span><span dir=auto{kind}>{text}</span>"


def _safe(text: str) -> str:
    return escape(harmless(text.replace("\n", " ")))
