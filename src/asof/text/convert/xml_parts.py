"""XML inside documents: lxml without entities, network or documents types, as far as it goes.

Elements are known by their local names: strict and transitional OOXML, ODF and its forerunners
differ in nothing else but their namespaces. `huge_tree` lifts libxml2's limit of 10 MB for one
text, which embedded pictures break; entities, the reason for it, are refused before (`Part.read`).
"""

import io
from collections.abc import Iterator

from lxml import etree
from lxml.etree import _Element

from asof.text.convert.found import Found
from asof.text.convert.zip_parts import Part, Parts

_CAREFUL = {"resolve_entities": False, "no_network": True, "load_dtd": False}
_CAREFUL |= {"recover": True, "huge_tree": True}


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
    try:
        return etree.fromstring(data, etree.XMLParser(**_CAREFUL))
    except (etree.XMLSyntaxError, ValueError):
        return None


def part_tree(parts: Parts, name: str) -> _Element:
    """The root of a part; an empty one where the part is missing or beyond mending."""
    root = tree(parts.read(name)) if parts.find(name) else None
    return etree.Element("nothing") if root is None else root


def events(
    source: Part | bytes, *names: str, found: Found, starts: bool = True
) -> Iterator[tuple[str, str, _Element]]:
    """The elements with these local names: (start or end, name, element); `starts` can be left out.

    What is not wanted any more has to be cleared by the caller, else the tree grows. That a
    document could not be read to its end becomes the problem of `found`.
    """
    parse = etree.iterparse(
        io.BytesIO(source) if isinstance(source, bytes) else source,
        events=("start", "end") if starts else ("end",),
        tag=[f"{{*}}{name}" for name in names],
        **_CAREFUL,
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
