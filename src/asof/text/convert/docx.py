"""Text documents of Office Open XML (DOCX, DOCM, DOTX, strict or not), and XPS by the way."""

from __future__ import annotations

import posixpath

from asof.text.convert.flow import Flow
from asof.text.convert.found import Found, Refused
from asof.text.convert.ooxml import Package, PartRelation, put_embeddings, related
from asof.text.convert.xml_parts import attribute, tree

# Parts that belong to the text, after it and in this order (ECMA-376 part 1, section 11.3).
_AFTER = ("footnotes", "endnotes", "comments", "diagramData", "chart", "chartEx")
_MAX_CHUNKS = 100


def fill_docx(package: Package, found: Found) -> None:
    """The text of a document with its headers, notes, comments, charts and diagrams."""
    package.properties(found)
    relations = package.relations(package.main)
    _edges(package, "header", found)
    flow = Flow(found)
    flow.read(package.parts.open(package.main), relations)
    for kind in _AFTER:
        for relation in related(package, package.main, kind):
            part = package.open(relation)
            if part is not None:
                flow.read(part, package.relations(relation.target))
    put_embeddings(package, package.main, found)
    _edges(package, "footer", found)
    for relation in list(related(package, package.main, "aFChunk"))[:_MAX_CHUNKS]:
        _chunk(package, relation, found)


def _edges(package: Package, kind: str, found: Found) -> None:
    """Headers or footers: every section has its own, mostly with the same words."""
    seen: set[str] = set()
    for relation in related(package, package.main, kind):
        part = package.open(relation)
        if part is None:
            continue
        edge = Found()
        edge.title = "-"  # a header's title is not the document's
        Flow(edge).read(part, package.relations(relation.target))
        page = edge.page("docx")
        found.links(page.links)
        if page.text not in seen:
            seen.add(page.text)
            found.paragraph(page.text)


def _chunk(package: Package, relation: PartRelation, found: Found) -> None:
    """A whole document of another format that is to be shown as a part of this one."""
    name = None if relation.external else package.parts.find(relation.target)
    if name is None:
        return
    from asof.text.convert.within import read_within

    page = read_within(package.parts.read(name), name=posixpath.basename(name))
    found.paragraph(page.text)
    found.links(page.links)


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
    root = tree(package.parts.read(part))
    if root is None:
        return []
    folder = posixpath.dirname(part)
    sources = [attribute(each, "Source") or "" for each in root.iter(f"{{*}}{element}")]
    paths = [posixpath.normpath(posixpath.join("/", folder, source))[1:] for source in sources]
    return [path for path in map(package.parts.find, paths) if path]
