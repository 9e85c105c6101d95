"""The links of an HTML document: what a crawl may go on to, and what a page needs to be shown.

`markup` finds the tags as a browser's tokenizer would, without building a tree, and `elements` says
what they refer to. Compiled, the tags that refer to nothing never come to Python (see `_native.c`
for what that gains). Tests hold it to lexbor: nothing that a browser sees is lost. On purpose more
is found:

- in `<template>`, `<select>` and `<noframes>`, where a browser shows no links, but scripts and
  browsers without frames do;
- elements that a tree has no place for (a second `<body>`, a `<frame>` outside a frameset);
- what follows an SVG that is never closed, up to the next HTML element.

References are given as written; the caller resolves them against `Links.base`. Bytes are seen
through latin-1; only a reference that is not ASCII asks for the encoding.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from urllib.parse import urljoin

from asof.model import Hop
from asof.native import compiled
from asof.text.encoding.charset import Charset, charset_of
from asof.text.encoding.detection import may_be_wide
from asof.text.encoding.view import UTF_8, decode, encode_query, open_text, query_encoding
from asof.text.links.css import css_links
from asof.text.links.elements import ELEMENTS, element_links
from asof.text.links.jsonld import jsonld_links
from asof.text.links.link import SUSPECT, Link, Links, bare
from asof.text.links.scripts import MAX_GUESSES, module_imports, script_links
from asof.text.markup import Tag, tokens, unescape, values

# One page may not flood the frontier (a hostile page has millions of links).
MAX_LINKS = 100_000
# What stands inside a page (JSON-LD, a document in an attribute) is read up to this size.
PIECE = 1 << 17
# A document inside a document inside a document ...: hostile from here on.
MAX_NESTING = 4

_LINK = Hop.LINK
# Without one of these words a meta element, or one that is none of ELEMENTS, refers to nothing.
_IN_META = ("refresh", "image", "url", "player", "&")
_IN_OTHERS = ("(", "data-", "background", "href", "src", "poster", "&")
_READ = frozenset(("style", "script", "noframes", "noembed"))
_JSON_LD = "application/ld+json"
# Scripts and data for scripts; templates and shaders have types of their own.
_SCRIPTS = re.compile(r"|module|importmap|(?:text|application)/(?:x-)?(?:java|ecma)script|.*json")

# A link; or the href of one, as written; or the name of an element that may refer to something, its
# attributes as written, whether it is part of a drawing, and the text in it that is no markup.
_Hit = Link | str | tuple[str, str, bool, str]
# What links are made like.
_ANY = Link("", _LINK)
# Link(...) at a third of the price, of all its values.
_link: Callable[[tuple[str, Hop, float, bool]], Link] = partial(tuple.__new__, Link)


def html_links(document: bytes | str, charset: str | None = None, *, xml: bool = False) -> Links:
    """The references of an HTML document, in document order, at most MAX_LINKS.

    `charset` is what HTTP says, a label or a Content-Type value; `xml` reads it by the rules of
    XHTML and SVG.
    """
    page = _Page(document, charset)
    page.read(hits_in_python(page.view, xml=True) if xml else hits(page.view))
    return Links(page.base, tuple(page.found[:MAX_LINKS]), early=tuple(page.early))


def hits_in_python(view: str, *, xml: bool = False) -> Iterator[_Hit]:
    for tag in tokens(view, xml=xml):
        if not isinstance(tag, Tag) or tag.closing:
            continue
        name, _, _, inside, stop, end, after, foreign, drawn, _ = tag
        written = view[inside:stop]
        raw = view[end:after] if after > end and name in _READ else ""
        if raw or written:
            if xml:
                name = name.rpartition(":")[2]
            elif name == "image" and not foreign:  # as in a browser
                name = "img"
            yield name, written, drawn, raw


def _may_refer(name: str, written: str) -> bool:
    if name in ELEMENTS and name != "meta":
        return True
    folded = written.lower()
    return any(word in folded for word in (_IN_META if name == "meta" else _IN_OTHERS))


def hits(view: str) -> Iterable[_Hit]:
    """The same, compiled where it can be."""
    return hits_in_python(view) if compiled is None else compiled.tags(view, MAX_LINKS, _ANY)


class _Page:
    """One pass over a document."""

    def __init__(self, document: bytes | str, declared: str | None, nesting: int = 0) -> None:
        self.base: str | None = None
        self.found: list[Link] = []
        self.early: list[Link] = []
        self._declared = declared
        self._charset: Charset | None = None
        self._query: str | None = None
        self._nesting = nesting
        self._guesses = MAX_GUESSES
        if isinstance(document, str):
            self.view = document.encode("utf-8", "replace").decode("latin-1")
            self._charset = UTF_8
        elif may_be_wide(document):
            text = open_text(document, declared)
            self.view, self._charset, self._query = text.view, text.charset, text.query
        else:
            self.view = document.decode("latin-1")

    def read(self, hits: Iterable[_Hit]) -> None:
        found = self.found
        for hit in hits:
            if isinstance(hit, Link):
                found.append(hit)
            elif isinstance(hit, str):
                self._add(self._text(hit), _LINK)
            else:
                name, written, drawn, raw = hit
                attributes = values(written, self._text) if _may_refer(name, written) else {}
                if attributes:
                    self._element(name, attributes, drawn=drawn)
                if raw:
                    self._raw(name, attributes, raw)
            if len(found) >= MAX_LINKS:
                return

    def _element(self, name: str, attributes: dict[str, str], *, drawn: bool) -> None:
        if name == "base":
            if self.base is None and "href" in attributes:
                self.base = attributes["href"]
                self.early = [link for link in self.found if link.hop is Hop.REQUISITE]
                self.found[:] = [link for link in self.found if link.hop is not Hop.REQUISITE]
            return
        for reference, hop in element_links(name, attributes, drawn=drawn):
            self._add(reference, hop)
        if name == "iframe" and "srcdoc" in attributes:
            self._document(attributes["srcdoc"])

    def _document(self, markup: str) -> None:
        """A document in an attribute, or what is shown instead of frames."""
        if self._nesting < MAX_NESTING and len(markup) <= PIECE:
            inner = _Page(markup, None, self._nesting + 1)
            inner.read(hits(inner.view))
            base = inner.base
            self.found += inner.early
            self.found += inner.found if base is None else _based(base, inner.found)

    def _raw(self, name: str, attributes: dict[str, str], text: str) -> None:
        """The text of an element that is not markup."""
        if name == "style":
            if "(" in text or "@" in text:
                charset = None if text.isascii() else self.charset
                self.found += islice(css_links(text, charset), MAX_LINKS - len(self.found))
        elif name == "script":
            kind = attributes.get("type", "").strip().lower()
            if kind == "module":
                room = MAX_LINKS - len(self.found)
                self.found += islice(module_imports(self._decoded(text)), room)
            if self._guesses and len(text) > 8:
                self._script(kind, text)
        else:
            self._document(self._decoded(text))

    def _script(self, kind: str, text: str) -> None:
        if kind.startswith(_JSON_LD):
            links = list(jsonld_links(self._decoded(text[:PIECE]), self._guesses))
        elif _SCRIPTS.fullmatch(kind):
            links = list(script_links(self._decoded(text), self._guesses))
        else:
            return
        self._guesses -= len(links)
        self.found += links

    def _add(self, reference: str, hop: Hop) -> None:
        if reference[:1] in SUSPECT or reference[-1] <= " ":
            reference = bare(reference)
        if not reference or len(self.found) >= MAX_LINKS:
            return
        if not reference.isascii():
            query = self._query or query_encoding(self.charset)
            reference = reference if query == "utf-8" else encode_query(reference, query)
        self.found.append(_link((reference, hop, 0.0, False)))

    def _text(self, value: str) -> str:
        value = self._decoded(value)
        return unescape(value) if "&" in value or "\0" in value else value

    def _decoded(self, view: str) -> str:
        return view if view.isascii() else decode(view, self.charset)

    @property
    def charset(self) -> Charset:
        """The document's encoding, looked for when it is first needed: most pages are ASCII."""
        if self._charset is None:
            self._charset = charset_of(self.view.encode("latin-1"), self._declared)
        return self._charset


def _based(base: str, links: list[Link]) -> Iterator[Link]:
    """Links of a document inside a document that has a base of its own."""
    for link in links:
        with suppress(ValueError):  # not even like a URL
            yield link._replace(reference=urljoin(bare(base), link.reference))
