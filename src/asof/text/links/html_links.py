"""The links of an HTML document: what a crawl may go on to, and what a page needs to be shown.

One pattern, or its compiled twin, finds the tags that may refer to something, as a browser's
tokenizer would, without building a tree. For a page of 26 KB with 51 references that takes 155 us,
compiled 83; with a tree by lexbor 255, of which the tree alone is 107, and quadratic time for
nested elements. `markup` is the careful tokenizer behind it, for SVG, MathML and XML. Tests hold it
to lexbor: nothing that a browser sees is lost. On purpose more is found:

- in `<template>`, `<select>` and `<noframes>`, where a browser shows no links, but scripts and
  browsers without frames do;
- elements that a tree has no place for (a second `<body>`, a `<frame>` outside a frameset);
- what follows an SVG that is never closed, up to the next HTML element.

References are given as written; the caller resolves them against `Links.base`. Bytes are seen
through latin-1; only a reference that is not ASCII asks for the encoding.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import islice

from asof.model import Hop
from asof.native import compiled
from asof.text.encoding.charset import Charset, charset_of
from asof.text.encoding.detection import may_be_wide
from asof.text.encoding.view import UTF_8, decode, encode_query, open_text, query_encoding
from asof.text.links.css import css_links
from asof.text.links.elements import ELEMENTS, element_links, srcset
from asof.text.links.jsonld import jsonld_links
from asof.text.links.link import SUSPECT, Link, Links, bare
from asof.text.links.scripts import MAX_GUESSES, script_links
from asof.text.markup import WS, Nest, Raw, Tag, raw_end, tokens, unescape

__all__ = ["MAX_LINKS", "PIECE", "Link", "Links", "css_links", "html_links", "srcset"]

# One page may not flood the frontier (a hostile page has millions of links).
MAX_LINKS = 100_000
# What stands inside a page (JSON-LD, a document in an attribute) is read up to this size.
PIECE = 1 << 17

# What begins text that is not markup, SVG or MathML.
_TURNS = frozenset(
    [
        *("script", "style", "svg", "title", "textarea", "iframe", "xmp", "math", "plaintext"),
        *("noframes", "noembed"),
    ]
)
_SPEAKING = ELEMENTS | _TURNS

_NAME = rf"[A-Za-z][^{WS}/>]*+"
_VALUE = rf"""(?:"[^"]*+"?|'[^']*+'?|[^{WS}>"'][^{WS}>]*+)"""
# A quote that never closes runs to the end of the document, where its tag fails.
_ATTRIBUTE = rf"[{WS}/]*+[^{WS}/>][^{WS}/>=]*+(?:[{WS}]*+=[{WS}]*+{_VALUE}?+)?+"
_END = rf"[{WS}/]*+>"
# An attribute as most are written, unless any element may refer to something by it.
_KEY = "[a-z0-9:_-]++"
_PLAIN = rf' (?!data-[bhlops]|sty|backg){_KEY}="[^"]*+"'
_NO_HREF = _PLAIN.replace("(?!", "(?!h|")
# Elements that refer to nothing and are met most often: 9 in 10 of all that have no href.
_DULL = (
    "(?:p|div|span|li|h[1-6]|ul|t[dr]|b|i|em|strong|time|section|header|footer|nav|main|article"
    "|aside|figure|figcaption|button|label)"
)
# A drawing of shapes that refer to nothing, as pages have by the dozen for their icons.
_SHAPE = "(?:path|g|circle|rect|line|poly(?:gon|line)|ellipse|defs|stop)"
_DRAWN = r'\s++(?!xl|hr|sr|data-[bhlops]|backg)[A-Za-z0-9:_-]++="[^"(&]*+"'
_ICON = rf"svg(?:{_DRAWN})*+>(?:[^<]*+<{_SHAPE}(?:{_DRAWN})*+/?>(?:</{_SHAPE}>)*+)*+[^<]*+</svg>"
# What follows and matters as little is taken along: a match for each would cost as much again.
_ALONG = rf"[^<]*+(?:<(?:/[a-z][a-z0-9]*+>|{_DULL}(?:{_PLAIN})*+>|{_ICON})[^<]*+)*+"
_MARKUP = re.compile(
    # 1: the href of an ordinary link, the bulk of all references
    rf'<(?:(?:a(?:{_NO_HREF})*+ href="([^"\0]*+)"(?:{_PLAIN})*+>'
    rf"|{_DULL}(?:{_PLAIN})*+>|{_ICON}){_ALONG}"
    # 2: the name of any other element that is plainly written
    rf"|([a-z][a-z0-9]*+)(?:{_PLAIN})*+{_END}"
    # 3, 4: name and attributes of all others
    rf"|({_NAME})((?:{_ATTRIBUTE})*+){_END}"
    # end tags, comments, doctypes and the like; 5 and 6: the document ends inside a tag
    rf"|/[A-Za-z][^{WS}/><]*+(?!>)(?:[^{WS}/>]*+(?:{_ATTRIBUTE})*+{_END}|())"
    r"|/[^A-Za-z>][^>]*+(?:>|\Z)"
    r"|!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))|[!?][^>]*+(?:>|\Z)|([A-Za-z]))"
).finditer
_HREF, _PLAINLY, _OTHERWISE = 1, 2, 4
_ATTRIBUTES = re.compile(
    rf"""[{WS}/]*+([^{WS}/>][^{WS}/>=]*+)"""
    rf"""(?:[{WS}]*+=[{WS}]*+(?:"([^"]*+)"|'([^']*+)'|([^{WS}>"'][^{WS}>]*+)|))?+"""
).findall
_SPACE = re.compile(rf"[{WS}/]").split
# Without one of these words a meta element, or one that is none of ELEMENTS, refers to nothing.
_IN_META = ("refresh", "image", "url", "player")
_IN_OTHERS = ("(", "data-", "background", "href", "src")
_FOREIGN = ("svg", "math")
_JSON_LD = "application/ld+json"
# Scripts and data for scripts; templates and shaders have types of their own.
_SCRIPTS = re.compile(r"|module|importmap|(?:text|application)/(?:x-)?(?:java|ecma)script|.*json")
# A document inside a document inside a document ...: hostile from here on.
_MAX_NESTING = 4


_Hit = Link | str | tuple[str, str]
_Tags = Callable[[str, int, int, Link], tuple[list[_Hit], int, int]]
# Links, other hrefs and elements from a place on, and the tag of the first text that is no markup.
_tags: _Tags | None = getattr(compiled, "tags", None)


def html_links(document: bytes | str, charset: str | None = None, *, xml: bool = False) -> Links:
    """The references of an HTML document, in document order, at most MAX_LINKS.

    `charset` is what HTTP says, a label or a Content-Type value; `xml` reads it by the rules of
    XHTML and SVG.
    """
    page = _Page(document, charset)
    if xml:
        page.read_tokens(xml=True)
    else:
        page.read()
    return Links(page.base, tuple(page.found[:MAX_LINKS]))


_LINK = Hop.LINK
# What links are made like.
_ANY = Link("", _LINK)
# Link(...) at a third of the price, of all its values.
_link: Callable[[tuple[str, Hop, float, bool]], Link] = partial(tuple.__new__, Link)


class _Page:
    """One pass over a document."""

    def __init__(self, document: bytes | str, declared: str | None, nesting: int = 0) -> None:
        self.base: str | None = None
        self.found: list[Link] = []
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
        self._type = ""

    def read(self) -> None:
        """The fast way, the fastest where it is compiled."""
        if _tags is None or "\0" in self.view:
            self.read_in_python()
        else:
            self._read_compiled(_tags)

    def _read_compiled(self, tags: _Tags) -> None:
        view, position = self.view, 0
        while position < len(view):
            hits, start, position = tags(view, position, MAX_LINKS, _ANY)
            for hit in hits:
                if type(hit) is Link:
                    self.found.append(hit)
                elif type(hit) is str:
                    self._href(hit)
                else:
                    self._tag(*hit)
            if start < 0 or len(self.found) >= MAX_LINKS:
                return
            written = view[start + 1 : position - 1]
            name = _SPACE(written, 1)[0].lower()
            self._tag(name, written[len(name) :])
            position = self._turn(name, start, position)

    def read_in_python(self) -> None:
        """With patterns."""
        view, found, position = self.view, self.found, 0
        while position < len(view):
            for match in _MARKUP(view, position):
                kind = match.lastindex
                if kind is None:
                    continue
                if kind == _HREF:
                    self._href(match[1])
                    if len(found) >= MAX_LINKS:
                        return
                    continue
                if kind == _PLAINLY:
                    name = match[2]
                    if name not in _SPEAKING:
                        continue
                    written = view[match.end(2) : match.end() - 1]
                elif kind == _OTHERWISE:
                    name, written = match[3].lower(), match[4]
                else:  # the document ends inside a tag, which therefore is none
                    return
                self._tag(name, written)
                if len(found) >= MAX_LINKS:
                    return
                if name in _TURNS:
                    position = self._turn(name, match.start(), match.end())
                    break
            else:
                return

    def read_tokens(self, *, xml: bool = False, position: int = 0) -> int:
        """The careful way, for XML; or from an SVG element to its end, and gives where that is."""
        nest = Nest()
        for token in tokens(self.view, xml=xml, position=position, nest=nest):
            if isinstance(token, Tag):
                if not token.closing:
                    self._careful_tag(token, xml=xml)
            elif isinstance(token, Raw):
                self._raw(token.name, self.view[token.start : token.end])
            if len(self.found) >= MAX_LINKS or not (xml or nest.open):
                return token.end
        return len(self.view)

    def _href(self, reference: str) -> None:
        """The reference of a link that is plainly written."""
        if (
            reference[:1] in SUSPECT
            or reference[-1] <= " "
            or "&" in reference
            or not reference.isascii()
        ):
            self._add(self._text(reference), _LINK)
        else:
            self.found.append(_link((reference, _LINK, 0.0, False)))

    def _tag(self, name: str, written: str) -> None:
        """An element that may refer to something, with its attributes as written."""
        if name == "image":  # as in a browser, outside SVG
            name = "img"
        elif name == "script":
            self._type = ""
        elif name in _FOREIGN:
            return
        if name == "meta" or name not in ELEMENTS:
            folded = written.lower()
            words = _IN_META if name == "meta" else _IN_OTHERS
            speaks = any(word in folded for word in words)
        else:
            speaks = bool(written)
        if speaks:
            self._element(name, self._attributes(written))

    def _turn(self, name: str, start: int, end: int) -> int:
        """Past what follows a tag and is not ordinary markup, after a look into it."""
        if name in _FOREIGN:
            return self.read_tokens(position=start)
        if name == "plaintext":
            return len(self.view)
        stop = raw_end(self.view, end, name)
        if stop > end:
            self._raw(name, self.view[end:stop])
        return stop

    def _careful_tag(self, tag: Tag, *, xml: bool) -> None:
        name = tag.name.rpartition(":")[2] if xml else tag.name
        if tag.end - tag.inside > 1:
            attributes = self._attributes(self.view[tag.inside : tag.end - 1])
            self._element(name, attributes, drawn=True)

    def _attributes(self, written: str) -> dict[str, str]:
        """The attributes of a tag; the first of two with one name counts."""
        plain = "&" not in written and "\0" not in written and written.isascii()
        attributes: dict[str, str] = {}
        for key, double, single, unquoted in _ATTRIBUTES(written):
            key = key.lower()
            if key not in attributes:
                value = double or single or unquoted
                attributes[key] = value if plain else self._text(value)
        return attributes

    def _element(self, name: str, attributes: dict[str, str], *, drawn: bool = False) -> None:
        if name == "base":
            if self.base is None:
                self.base = attributes.get("href")
            return
        for reference, hop in element_links(name, attributes, drawn=drawn):
            self._add(reference, hop)
        if name == "script":
            self._type = attributes.get("type", "").strip().lower()
        elif name == "iframe" and "srcdoc" in attributes:
            self._document(attributes["srcdoc"])

    def _document(self, markup: str) -> None:
        """A document in an attribute, or what is shown instead of frames."""
        if self._nesting < _MAX_NESTING and len(markup) <= PIECE:
            inner = _Page(markup, None, self._nesting + 1)
            inner.read()
            self.found += inner.found

    def _raw(self, name: str, text: str) -> None:
        """The text of an element that is not markup."""
        if name == "style":
            if "(" in text or "@" in text:
                room = MAX_LINKS - len(self.found)
                self.found += islice(css_links(self._decoded(text)), room)
        elif name == "script" and self._guesses and len(text) > 8:
            if self._type.startswith(_JSON_LD):
                links = list(jsonld_links(self._decoded(text[:PIECE]), self._guesses))
            elif _SCRIPTS.fullmatch(self._type):
                links = list(script_links(self._decoded(text), self._guesses))
            else:
                return
            self._guesses -= len(links)
            self.found += links
        elif name in ("noframes", "noembed"):
            self._document(self._decoded(text))

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
        """The characters of an attribute value."""
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
