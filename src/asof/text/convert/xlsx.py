"""Workbooks of Office Open XML (XLSX, XLSM, XLTX): what the cells show, sheet by sheet.

Cells are streamed: a sheet says it spans A1:XFD1048576 and holds three of them; none is made up.
"""

from collections.abc import Iterator

from lxml.etree import _Element

from asof.text.convert.cells import Style, Workbook, page_edge, style_of
from asof.text.convert.flow import Flow
from asof.text.convert.found import Found, field_links
from asof.text.convert.ooxml import Package, PartRelation, put_link
from asof.text.convert.xml_parts import attribute, events, part_tree, tree
from asof.text.convert.zip_parts import Part

_SHOWN = ("drawing", "comments", "threadedComment", "table")
_INSIDE_DRAWINGS = ("chart", "chartEx", "diagramData")
_EDGES = ("oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter")


def _strings(part: Part, found: Found) -> Iterator[str]:
    """The strings that cells share; how a word is pronounced (`rPh`) is left out."""
    parts: list[str] = []
    phonetic = 0
    for event, name, element in events(part, "si", "t", "rPh", found=found):
        if name == "rPh":
            phonetic += 1 if event == "start" else -1
        elif event == "end" and name == "t":
            if not phonetic:
                parts.append(element.text or "")
        elif event == "end":
            yield "".join(parts)
            parts.clear()
            element.clear()


def _styles(root: _Element | None) -> list[Style]:
    if root is None:
        return []
    formats = root.iter("{*}numFmt")
    codes = {_number(each.get("numFmtId")): each.get("formatCode", "") for each in formats}
    numbers = [
        _number(style.get("numFmtId"))
        for styles in root.iter("{*}cellXfs")
        for style in styles.iterchildren("{*}xf")
    ]
    return [style_of(number, codes.get(number)) for number in numbers]


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else 0


def fill_xlsx(package: Package, found: Found) -> None:
    """The cells, comments and drawings of all sheets, each under its name."""
    package.properties(found)
    book = Workbook()
    for part in package.opened(package.main, "sharedStrings"):
        book.strings += _strings(part, found)
    for part in package.opened(package.main, "styles"):
        book.styles = _styles(tree(part.read()))
    root = part_tree(package.parts, package.main)
    properties = root.iter("{*}workbookPr")
    book.since_1904 = any(each.get("date1904") in ("1", "true") for each in properties)
    cells = _Cells(found, book)
    for name, sheet in _sheets(root, package.relations(package.main)):
        opened = package.open(sheet)
        if opened is not None:
            found.line(name)
            cells.read(opened, package.relations(sheet.target))
            _drawn(package, sheet.target, found)
            found.line()


def _sheets(root: _Element, relations: dict[str, PartRelation]) -> list[tuple[str, PartRelation]]:
    named = [(each.get("name", ""), attribute(each, "id") or "") for each in root.iter("{*}sheet")]
    sheets = [(name, relations[key]) for name, key in named if key in relations]
    return sheets or [("", each) for each in relations.values() if each.kind == "worksheet"]


def _drawn(package: Package, sheet: str, found: Found) -> None:
    """Comments and text boxes of a sheet, and the charts in its drawings."""
    flow = Flow(found)
    for relation in package.relations(sheet).values():
        if relation.kind in _SHOWN and package.find(relation):
            flow.follow(package, [relation])
            inner = package.relations(relation.target).values()
            flow.follow(package, [each for each in inner if each.kind in _INSIDE_DRAWINGS])


class _Cells:
    """The cells of sheets, a line for each row and a tab between cells."""

    def __init__(self, found: Found, book: Workbook) -> None:
        self._found = found
        self._book = book

    def read(self, part: Part, relations: dict[str, PartRelation]) -> None:
        for _, name, element in events(
            part, "row", "hyperlink", *_EDGES, found=self._found, starts=False
        ):
            if name == "row":
                row = [self._cell(cell) for cell in element.iterchildren("{*}c")]
                if any(row):
                    self._found.line("\t".join(row).rstrip("\t"))
                element.clear()
                _forget_before(element)
            elif name == "hyperlink":
                put_link(relations, attribute(element, "id"), self._found)
            else:
                self._found.line(page_edge(element.text or ""))

    def _cell(self, cell: _Element) -> str:
        self._book.count()
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
            return self._book.string(value)
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE" if value else ""
        if kind != "n" or not value:
            return value
        style = _number(cell.get("s"))
        # 0.1 is stored as 0.10000000000000001 by some; what people typed is what they look for.
        if len(value) <= 15 and self._book.style(style) is Style.BARE:
            return value
        try:
            return self._book.number(float(value), style)
        except ValueError:
            return value


def _forget_before(row: _Element) -> None:
    """Let go of the rows before this one; a sheet has a million of them."""
    while (before := row.getprevious()) is not None:
        parent = before.getparent()
        if parent is None:
            return
        parent.remove(before)
