"""OpenDocument (ODT, ODS, ODP, ODG, their templates and flat forms) and its forerunners (SXW ...).

OASIS OpenDocument 1.3 part 3. Names are local (`xml_parts`), which makes the three generations one.
"""

from itertools import islice

from lxml import etree
from lxml.etree import _Element

from asof.text.convert.found import Found, Refused, day_of, tag_of
from asof.text.convert.xml_parts import attribute, events, local
from asof.text.convert.zip_parts import Part, Parts, refuse_entities

_NAMES = (
    *("p", "h", "a", "table-row", "table-cell", "covered-table-cell", "page", "table"),
    *("tracked-changes", "body", "header", "footer", "header-left", "footer-left"),
)
# What stands inside a paragraph and is not its text: pronunciations, the signs of notes, who wrote
# a comment and when, pictures.
_UNSHOWN = frozenset(
    [
        *("ruby-text", "note-citation", "creator", "date", "date-string", "binary-data"),
        *("script", "sender-initials", "creator-initials"),
    ]
)
_EDGES = frozenset(("header", "footer", "header-left", "footer-left"))
_VALUES = ("string-value", "date-value", "time-value", "boolean-value", "value")
_MARKS = {"tab": "\t", "line-break": "\n", "p": "\n", "h": "\n"}
_MOST_BLANKS = 100


def fill_odf(data: bytes, found: Found) -> None:
    """The text, properties and links of a packed document."""
    parts = Parts(data)
    manifest = parts.find("META-INF/manifest.xml")
    if manifest and b"encryption-data" in parts.read(manifest):
        raise Refused("is encrypted")
    if parts.find("meta.xml"):
        _properties(parts.read("meta.xml"), found)
    kind = parts.read("mimetype", 1000) if parts.find("mimetype") else b""
    _Reading(found, edges=False).read(parts.open("content.xml"))
    # Headers and footers; those of sheets and slides hold only numbers.
    if (b"text" in kind or b"writer" in kind) and parts.find("styles.xml"):
        _Reading(found, edges=True).read(parts.open("styles.xml"))


def fill_flat_odf(data: bytes, found: Found) -> None:
    """The same of a document that is one XML file."""
    refuse_entities(data)
    _properties(data, found)
    _Reading(found, edges=False).read(data)


def _properties(data: bytes, found: Found) -> None:
    wanted = ("title", "language", "date", "creation-date")
    for event, name, element in islice(events(data, "meta", *wanted, found=found), 200):
        if event == "start":
            continue
        if name == "meta" and element.getparent() is not None and len(element):
            return  # the body of a flat document follows, which has titles of its own
        if name == "title":
            found.title = found.title or element.text
        elif name == "language":
            found.language = tag_of(element.text)
        elif name == "date" or not found.date:
            found.date = day_of(element.text) or found.date


class _Reading:
    """The body of a document, or the headers and footers that stand among its styles."""

    def __init__(self, found: Found, *, edges: bool) -> None:
        self._found = found
        self._edges = edges
        self._inside = self._hidden = self._depth = self._cells = self._in_cell = 0
        self._said = False  # the open cell has text
        self._seen: set[str] = set()

    def read(self, source: Part | bytes) -> None:
        for event, name, element in events(source, *_NAMES, found=self._found):
            step = 1 if event == "start" else -1
            if name == "body" or name in _EDGES:
                self._inside += step if (name in _EDGES) == self._edges else 0
            elif name == "tracked-changes":
                self._hidden += step
            elif self._inside <= 0 or self._hidden > 0:
                continue
            elif name in ("p", "h"):
                self._paragraph(element, step)
            elif event == "start":
                self._start(name, element)
            else:
                self._end(name, element)

    def _paragraph(self, element: _Element, step: int) -> None:
        self._depth += step
        if step > 0 or self._depth > 0:
            return
        text = self._text(element)
        element.clear()
        if self._edges:
            if text in self._seen:
                return
            self._seen.add(text)
        if self._in_cell:
            self._found.add(f" {text}" if self._said else text)
            self._said = True
        else:
            self._found.line(text)

    def _start(self, name: str, element: _Element) -> None:
        if self._depth:
            return
        if name == "table-row":
            self._cells = 0
        elif name == "table-cell":
            if self._cells:
                self._found.add("\t")
            self._cells += 1
            self._in_cell += 1
            self._said = False
        elif name == "table":
            self._found.line(attribute(element, "name") or "" if not self._in_cell else "")

    def _end(self, name: str, element: _Element) -> None:
        if name == "a":
            self._found.link(_href(element))
        elif self._depth:
            return
        elif name == "table-cell":
            self._in_cell -= 1
            if not self._said:
                values = (attribute(element, value) for value in _VALUES)
                self._found.add(next((value for value in values if value), ""))
            self._said = True
            element.clear()
        elif name == "table-row":
            self._found.line()
            element.clear()
        elif name == "page":
            self._found.line()

    def _text(self, paragraph: _Element) -> str:
        """The characters of a paragraph and of what stands in it, notes and frames included."""
        parts: list[str] = []
        hidden = 0
        for event, element in etree.iterwalk(paragraph, events=("start", "end")):
            name = local(element)
            if event == "start":
                hidden += name in _UNSHOWN
                if hidden:
                    continue
                if element is not paragraph:
                    parts.append(self._mark(name, element))
                parts.append(element.text or "")
            else:
                hidden -= name in _UNSHOWN
                if element is not paragraph and not hidden:
                    parts.append("\n" if name in ("p", "h") else "")
                    parts.append(element.tail or "")
        return "".join(parts)

    def _mark(self, name: str, element: _Element) -> str:
        if name == "s":
            count = attribute(element, "c") or "1"
            return " " * min(int(count), _MOST_BLANKS) if count.isdecimal() else " "
        if name == "a":
            self._found.link(_href(element))
        return _MARKS.get(name, "")


def _href(element: _Element) -> str:
    href = attribute(element, "href") or ""
    return "" if href.startswith("#") else href
