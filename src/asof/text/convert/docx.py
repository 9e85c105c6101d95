"""Text documents of Office Open XML (DOCX, DOCM, DOTX, strict or not), and XPS by the way."""

import posixpath
from itertools import islice

from asof.text.convert.flow import Flow
from asof.text.convert.found import Found, Refused
from asof.text.convert.ooxml import Package, put_embeddings, related
from asof.text.convert.within import read_within
from asof.text.convert.xml_parts import attribute, part_tree

# Parts that belong to the text, after it and in this order (ECMA-376 part 1, section 11.3).
_AFTER = ("footnotes", "endnotes", "comments", "diagramData", "chart", "chartEx")
_MAX_CHUNKS = 100


def fill_docx(package: Package, found: Found) -> None:
    """The text of a document with its headers, notes, comments, charts and diagrams."""
    package.properties(found)
    _edges(package, "header", found)
    flow = Flow(found)
    flow.read(package.parts.open(package.main), package.relations(package.main))
    for kind in _AFTER:
        flow.follow(package, related(package, package.main, kind))
    put_embeddings(package, package.main, found)
    _edges(package, "footer", found)
    # Whole documents of other formats that are to be shown as parts of this one.
    for relation in islice(related(package, package.main, "aFChunk"), _MAX_CHUNKS):
        name = package.find(relation)
        if name:
            found.within(read_within(package.parts.read(name), name=posixpath.basename(name)))


def _edges(package: Package, kind: str, found: Found) -> None:
    """Headers or footers: every section has its own, mostly with the same words."""
    seen: set[str] = set()
    for relation in related(package, package.main, kind):
        edge = Found()
        edge.title = "-"  # a header's title is not the document's
        Flow(edge).follow(package, [relation])
        page = edge.page("docx")
        found.links(page.links)
        if page.text not in seen:
            seen.add(page.text)
            found.paragraph(page.text)


def fill_xps(package: Package, found: Found) -> None:
    """The words of an XPS document, page by page (ECMA-388); each `Glyphs` is a line."""
    package.properties(found)
    flow = Flow(found)
    for document in _sources(package, package.main, "DocumentReference"):
        for page in _sources(package, document, "PageContent"):
            flow.read(package.parts.open(page), {})
            found.line()
    if not found.has_text:
        raise Refused("has no text")


def _sources(package: Package, part: str, element: str) -> list[str]:
    folder = posixpath.dirname(part)
    elements = part_tree(package.parts, part).iter(f"{{*}}{element}")
    sources = [attribute(each, "Source") or "" for each in elements]
    paths = [posixpath.normpath(posixpath.join("/", folder, source))[1:] for source in sources]
    return [path for path in map(package.parts.find, paths) if path]
