"""XML inside documents: lxml without entities, network or documents types, as far as it goes.

Elements are known by their local names: strict and transitional OOXML, ODF and its forerunners
differ in nothing else but their namespaces. `huge_tree` lifts libxml2's limit of 10 MB for one
text, which embedded pictures break; entities, the reason for it, are refused before (`Part.read`).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from asof.text.convert.found import Found
from asof.text.convert.zip_parts import Part

if TYPE_CHECKING:
    from lxml.etree import _Element

Event = tuple[str, str, "_Element"]


def local(element: _Element) -> str:
    """The name of an element without its namespace; empty for comments and the like."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: _Element, name: str) -> str | None:
    """An attribute by its local name, whatever its namespace."""
    value = element.get(name)
    if value is not None:
        return str(value)
    for key, value in element.attrib.items():
        if isinstance(key, str) and key.endswith(f"}}{name}"):
            return str(value)
    return None


def tree(data: bytes) -> _Element | None:
    """The root of a document, mended where it is broken; None where there is nothing to mend."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=True
    )
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def events(source: Part | bytes, *names: str, found: Found, starts: bool = True) -> Iterator[Event]:
    """The elements with these local names: (start or end, name, element); `starts` can be left out.

    What is not wanted any more has to be cleared by the caller, else the tree grows. That a
    document could not be read to its end becomes the problem of `found`.
    """
    from lxml import etree

    parse = etree.iterparse(
        io.BytesIO(source) if isinstance(source, bytes) else source,
        events=("start", "end") if starts else ("end",),
        tag=[f"{{*}}{name}" for name in names],
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=True,
        huge_tree=True,
    )
    try:
        for event, element in parse:
            yield event, element.tag.rpartition("}")[2], element
    except etree.XMLSyntaxError as error:
        found.problem = found.problem or _problem(str(error))
        return
    fatal = parse.error_log.filter_from_fatals()
    if len(fatal):
        found.problem = found.problem or _problem(str(fatal[0].message))


def _problem(message: str) -> str:
    if "depth" in message:
        return "is nested too deeply"
    return f"is damaged ({' '.join(message.split())[:120]})"
