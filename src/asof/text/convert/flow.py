"""Running text of Office Open XML: paragraphs, tables, links and fields of any of its parts.

WordprocessingML, DrawingML, charts and diagrams share the names that matter here: `p` is a
paragraph, `t` a stretch of text, `tr` and `tc` are rows and cells (ECMA-376 part 1, 17 and 21).
"""

from collections.abc import Iterable

from lxml.etree import _Element

from asof.text.convert.found import Found, field_links
from asof.text.convert.ooxml import Package, PartRelation, put_link
from asof.text.convert.xml_parts import attribute, events
from asof.text.convert.zip_parts import Part

_NAMES = (
    *("p", "tr", "tc", "t", "v", "tab", "br", "cr", "noBreakHyphen", "sym", "Glyphs", "textpath"),
    *("hyperlink", "hlinkClick", "instrText", "fldChar", "fldSimple", "pStyle", "ph", "sp"),
    *("text", "AlternateContent", "Choice", "Fallback", "moveFrom", "tabs", "rPh"),
)
# Not what a reader sees: where text was moved from, tab stops, how a name is pronounced.
_HIDDEN = frozenset(("moveFrom", "tabs", "rPh"))
_ALTERNATIVES = frozenset(("AlternateContent", "Choice", "Fallback"))
_MARKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011"}
# Style names of titles; Word translates them. Placeholders of slides are never translated.
_TITLES = frozenset(("title", "titel", "titre", "titolo", "ttulo", "ctrtitle"))


class Flow:
    """The text of parts, put down line by line.

    Without `placeholders` the text is left out that only shows where text could be.
    """

    def __init__(self, found: Found, *, placeholders: bool = True) -> None:
        self._found = found
        self._placeholders = placeholders
        self._in_placeholder = False
        self._relations: dict[str, PartRelation] = {}
        self._fresh = True  # nothing stands on the line yet
        self._in_cell = False  # a cell has begun, its first paragraph has not
        self._first_cell = False
        self._depth = 0  # of paragraphs: a text box stands in one and has its own
        self._hidden = 0
        self._chosen: list[bool] = []
        self._instruction: list[str] = []
        self._title: list[str] | None = None
        self._title_ends = ""

    def follow(self, package: Package, relations: Iterable[PartRelation]) -> None:
        """Add the parts that these relations lead to, as far as they are there."""
        for relation in relations:
            part = package.open(relation)
            if part is not None:
                self.read(part, package.relations(relation.target))

    def read(self, part: Part | bytes, relations: dict[str, PartRelation]) -> None:
        """Add the text of a part and its links, and its title if the document has none."""
        self._relations = relations
        self._depth = self._hidden = 0
        self._chosen.clear()
        for event, name, element in events(part, *_NAMES, found=self._found):
            begins = event == "start"
            if name in _HIDDEN:
                self._hidden += 1 if begins else -1
            elif name in _ALTERNATIVES:
                self._alternative(name, begins)
            elif self._hidden:
                continue
            elif begins:
                self._start(name)
            else:
                self._end(name, element)
        self._new_line()

    def _alternative(self, name: str, begins: bool) -> None:
        """A choice, and what stands for it where it is not understood: only one is shown."""
        if name == "AlternateContent":
            if begins:
                self._chosen.append(False)
            elif self._chosen:
                self._chosen.pop()
        elif not self._chosen:
            return
        elif name == "Choice":
            self._chosen[-1] = True
        elif self._chosen[-1]:
            self._hidden += 1 if begins else -1

    def _start(self, name: str) -> None:
        if name == "p":
            self._depth += 1
            if not self._in_cell:
                self._new_line()
            self._in_cell = False
        elif name == "tr":
            self._new_line()
            self._first_cell = True
        elif name == "tc":
            if not self._first_cell:
                self._put("\t")
            self._first_cell = False
            self._in_cell = True

    def _end(self, name: str, element: _Element) -> None:
        if name == "t":
            self._put(element.text or "")
        elif name in _MARKS:
            self._put(_MARKS[name])
        elif name == "p":
            self._depth -= 1
            if self._depth > 0:
                self._new_line()
            element.clear()
        elif name == "tr":
            self._in_cell = False
            self._new_line()
            element.clear()
        elif name in ("v", "text", "Glyphs", "textpath"):
            self._own_line(name, element)
        else:
            self._mark(name, element)
        if name == self._title_ends and self._title is not None:
            self._found.title = "".join(self._title).strip() or self._found.title
            self._title = None

    def _own_line(self, name: str, element: _Element) -> None:
        text = element.text
        if name == "Glyphs":
            text = element.get("UnicodeString", "").removeprefix("{}")
        elif name == "textpath":
            text = element.get("string")
        self._new_line()
        self._put(text or "")
        self._new_line()

    def _mark(self, name: str, element: _Element) -> None:
        """What is not text itself: links, fields, and what makes a paragraph a title."""
        if name in ("hyperlink", "hlinkClick"):
            put_link(self._relations, attribute(element, "id"), self._found)
        elif name == "instrText":
            self._instruction.append(element.text or "")
        elif name == "fldChar":
            self._found.links(field_links("".join(self._instruction)))
            self._instruction.clear()
        elif name == "fldSimple":
            self._found.links(field_links(attribute(element, "instr") or ""))
        elif name == "sym":
            self._put(_symbol(attribute(element, "char") or ""))
        elif name == "sp":
            self._in_placeholder = False
        elif name == "ph" and not self._placeholders:
            self._in_placeholder = True
        elif name in ("pStyle", "ph"):
            value = attribute(element, "val" if name == "pStyle" else "type") or ""
            if value.lower() in _TITLES and not self._found.title and self._title is None:
                self._title = []
                self._title_ends = "p" if name == "pStyle" else "sp"

    def _put(self, text: str) -> None:
        if text and not self._in_placeholder:
            self._found.add(text)
            self._fresh = text.endswith("\n")
            if self._title is not None:
                self._title.append(text)

    def _new_line(self) -> None:
        if not self._fresh:
            self._found.add("\n")
            self._fresh = True


def _symbol(code: str) -> str:
    """A character of a symbol font, where Unicode has it at the same place."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    # Symbol fonts live in the private area, where nobody can tell what they mean.
    return chr(number) if 0x20 <= number < 0xD800 else ""
