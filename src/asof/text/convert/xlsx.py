"""Workbooks of Office Open XML (XLSX, XLSM, XLTX): what the cells show, sheet by sheet.

Cells are streamed: a sheet says it spans A1:XFD1048576 and holds three of them; none is made up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asof.text.convert.cells import Style, shown, style_of
from asof.text.convert.flow import Flow, field_links
from asof.text.convert.found import Found, Refused
from asof.text.convert.ooxml import Package, PartRelation
from asof.text.convert.xml_parts import attribute, events, tree
from asof.text.convert.zip_parts import Part

if TYPE_CHECKING:
    from lxml.etree import _Element

# Shared strings are kept in memory; a workbook may have no more characters than any document.
MAX_CELLS = 1_000_000
_CODE = re.compile(r'&(?:"[^"]*"|K[0-9A-Fa-f]{6}|\d+|[A-Za-z])')
_SHOWN = ("drawing", "comments", "threadedComment", "table")
_INSIDE_DRAWINGS = ("chart", "chartEx", "diagramData")


class Strings:
    """The strings that cells share, by number."""

    def __init__(self) -> None:
        self._strings: list[str] = []

    def read(self, part: Part, found: Found) -> None:
        """All of them; how a word is pronounced (`rPh`) is left out."""
        parts: list[str] = []
        phonetic = 0
        for event, name, element in events(part, "si", "t", "rPh", found=found):
            if name == "rPh":
                phonetic += 1 if event == "start" else -1
            elif event == "end" and name == "t":
                if not phonetic:
                    parts.append(element.text or "")
            elif event == "end":
                self._strings.append("".join(parts))
                parts.clear()
                element.clear()

    def add(self, text: str) -> None:
        """One more."""
        self._strings.append(text)

    def at(self, number: str | int) -> str:
        """The string of that number; nothing where there is none."""
        try:
            index = int(number)
        except ValueError:
            return ""
        return self._strings[index] if 0 <= index < len(self._strings) else ""


class Styles:
    """How cell styles show numbers."""

    def __init__(self, root: _Element | None) -> None:
        codes: dict[int, str] = {}
        self._styles: list[Style] = []
        if root is None:
            return
        for each in root.iter("{*}numFmt"):
            codes[_number(each.get("numFmtId"))] = each.get("formatCode", "")
        for formats in root.iter("{*}cellXfs"):
            for style in formats.iterchildren("{*}xf"):
                number = _number(style.get("numFmtId"))
                self._styles.append(style_of(number, codes.get(number)))

    def at(self, style: str | None) -> Style:
        """How cells of this style show numbers."""
        number = _number(style)
        return self._styles[number] if 0 <= number < len(self._styles) else Style.BARE


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else 0


def fill_xlsx(package: Package, found: Found) -> None:
    """The cells, comments and drawings of all sheets, each under its name."""
    package.properties(found)
    relations = package.relations(package.main)
    strings, styles = Strings(), Styles(None)
    for relation in relations.values():
        part = package.open(relation) if relation.kind in ("sharedStrings", "styles") else None
        if part is not None and relation.kind == "sharedStrings":
            strings.read(part, found)
        elif part is not None:
            styles = Styles(tree(part.read()))
    root = tree(package.parts.read(package.main))
    since_1904 = root is not None and any(
        each.get("date1904") in ("1", "true") for each in root.iter("{*}workbookPr")
    )
    cells = Cells(found, strings, styles, since_1904)
    for name, relation in _sheets(root, relations):
        part = package.open(relation)
        if part is not None:
            found.line(name)
            cells.read(part, package.relations(relation.target))
            _drawn(package, relation.target, found)
            found.line()


def _sheets(
    root: _Element | None, relations: dict[str, PartRelation]
) -> list[tuple[str, PartRelation]]:
    listed = [] if root is None else list(root.iter("{*}sheet"))
    named = [(each.get("name", ""), attribute(each, "id") or "") for each in listed]
    sheets = [(name, relations[key]) for name, key in named if key in relations]
    return sheets or [("", each) for each in relations.values() if each.kind == "worksheet"]


def _drawn(package: Package, sheet: str, found: Found) -> None:
    """Comments and text boxes of a sheet, and the charts in its drawings."""
    flow = Flow(found)
    for relation in package.relations(sheet).values():
        part = package.open(relation) if relation.kind in _SHOWN else None
        if part is None:
            continue
        relations = package.relations(relation.target)
        flow.read(part, relations)
        for inner in relations.values():
            part = package.open(inner) if inner.kind in _INSIDE_DRAWINGS else None
            if part is not None:
                flow.read(part, package.relations(inner.target))


class Cells:
    """The cells of sheets, a line for each row and a tab between cells."""

    def __init__(self, found: Found, strings: Strings, styles: Styles, since_1904: bool) -> None:
        self._found = found
        self._strings = strings
        self._styles = styles
        self._since_1904 = since_1904
        self._room = MAX_CELLS

    def read(self, part: Part, relations: dict[str, PartRelation]) -> None:
        """Add the rows of a sheet, its links, its headers and footers."""
        for _, name, element in events(part, *_SHEET, found=self._found, starts=False):
            if name == "row":
                row = [self._cell(cell) for cell in element.iterchildren("{*}c")]
                if any(row):
                    self._found.line("\t".join(row).rstrip("\t"))
                element.clear()
                _forget_before(element)
            elif name == "hyperlink":
                relation = relations.get(attribute(element, "id") or "")
                if relation is not None and relation.external:
                    self._found.link(relation.target)
            else:
                self._found.line(page_edge(element.text or ""))

    def _cell(self, cell: _Element) -> str:
        self._room -= 1
        if self._room < 0:
            raise Refused(f"has more than {MAX_CELLS:,} cells, the rest is left out")
        kind = cell.get("t", "n")
        value = ""
        for child in cell:
            tag = child.tag.rpartition("}")[2] if isinstance(child.tag, str) else ""
            if tag == "v":
                value = child.text or ""
            elif tag == "is":
                return "".join(each.text or "" for each in child.iter("{*}t"))
            elif tag == "f" and child.text and "HYPERLINK" in child.text:
                self._found.links(field_links(child.text))
        if kind == "s":
            return self._strings.at(value)
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE" if value else ""
        return self._shown(value, cell.get("s")) if kind == "n" else value

    def _shown(self, value: str, style: str | None) -> str:
        dress = self._styles.at(style)
        # 0.1 is stored as 0.10000000000000001 by some; what people typed is what they look for.
        if not value or (dress is Style.BARE and len(value) <= 15):
            return value
        try:
            return shown(float(value), dress, since_1904=self._since_1904)
        except ValueError:
            return value


_EDGES = ("oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter")
_SHEET = ("row", "hyperlink", *_EDGES)


def _forget_before(row: _Element) -> None:
    """Let go of the rows before this one; a sheet has a million of them."""
    while (before := row.getprevious()) is not None:
        parent = before.getparent()
        if parent is None:
            return
        parent.remove(before)


def page_edge(text: str) -> str:
    """A header or footer without its codes for fonts, pages and dates (18.3.1.46)."""
    return " ".join(_CODE.sub(" ", text).replace("&&", "&").split())
