"""Books (EPUB 2 and 3): the chapters in reading order, the properties from the package document.

EPUB 3.3, sections 4 and 5. Chapters are HTML and read as such. Links inside the book lead nowhere
outside of it and are left out.
"""

import posixpath
from urllib.parse import unquote

from lxml.etree import _Element

from asof.text.convert.found import Found, Refused, day_of, tag_of
from asof.text.convert.within import read_within
from asof.text.convert.xml_parts import local, part_tree, tree
from asof.text.convert.zip_parts import Parts

_MAX_CHAPTERS = 10_000
_MAX_CHAPTER = 16 << 20
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")


def fill_epub(data: bytes, found: Found) -> None:
    """The chapters of a book that can be read; those that are locked or missing are passed over."""
    parts = Parts(data)
    path = _package(parts)
    root = tree(parts.read(path))
    if root is None:
        raise Refused("is a book with a damaged package document")
    _properties(root, found)
    locked = _locked(parts)
    passed: list[str] = []
    for chapter in _spine(parts, root, posixpath.dirname(path))[:_MAX_CHAPTERS]:
        if chapter in locked:
            passed.append("is encrypted")
            continue
        try:
            page = read_within(parts.read(chapter, _MAX_CHAPTER), "application/xhtml+xml")
        except Refused as refused:
            passed.append(f"has a chapter that {refused.reason}")
            continue
        found.paragraph(page.text)
        found.links(link for link in page.links if "://" in link)
        found.title = found.title or page.title
    if passed:
        raise Refused(passed[0])


def _package(parts: Parts) -> str:
    """The package document; the container says where, or it is the only one of its kind."""
    container = part_tree(parts, "META-INF/container.xml")
    named = [each.get("full-path", "") for each in container.iter("{*}rootfile")]
    for path in [*named, *(name for name in parts.entries if name.lower().endswith(".opf"))]:
        found = parts.find(posixpath.normpath(posixpath.join("/", unquote(path)))[1:])
        if found:
            return found
    raise Refused("is a book without a package document")


def _properties(root: _Element, found: Found) -> None:
    for element in root.iter("{*}metadata"):
        for child in element.iter():
            name, text = local(child), (child.text or "").strip()
            if name == "title":
                found.title = found.title or text
            elif name == "language":
                found.language = found.language or tag_of(text)
            elif name == "date":
                found.date = found.date or day_of(text)
        return


def _spine(parts: Parts, root: _Element, folder: str) -> list[str]:
    """The parts in reading order; all pages of the manifest where there is no order."""
    items: dict[str, str] = {}
    pages: list[str] = []
    for item in root.iter("{*}item"):
        href = unquote(item.get("href", "").partition("#")[0])
        path = parts.find(posixpath.normpath(posixpath.join("/", folder, href))[1:])
        if path:
            items[item.get("id", "")] = path
            if item.get("media-type") in _PAGES:
                pages.append(path)
    ordered = [items.get(each.get("idref", ""), "") for each in root.iter("{*}itemref")]
    return list(dict.fromkeys(path for path in ordered if path) or dict.fromkeys(pages))


def _locked(parts: Parts) -> frozenset[str]:
    """Parts under digital rights management; fonts are often garbled, which harms no text."""
    references = part_tree(parts, "META-INF/encryption.xml").iter("{*}CipherReference")
    uris = (unquote(each.get("URI", "")) for each in references)
    return frozenset(found for found in map(parts.find, uris) if found)
