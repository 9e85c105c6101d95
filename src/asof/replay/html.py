"""HTML and SVG documents: replace references where they stand, copy all else as it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from asof.replay.body import BodyFinder
from asof.replay.css import rewrite_text, rewrite_view
from asof.replay.links import Place
from asof.replay.refresh import refresh_target, rewrite_refresh
from asof.replay.srcset import rewrite_srcset
from asof.text.encoding.view import Text, decode, encode, open_text
from asof.text.markup import WS, Attribute, Raw, Tag, quoted, tokens, unescape

# Attributes that hold one URL: on any element, or only on those named.
_URLS: dict[str, frozenset[str]] = {
    "href": frozenset(),
    "xlink:href": frozenset(),
    "src": frozenset(),
    "background": frozenset(),
    "poster": frozenset(),
    "lowsrc": frozenset(),
    "dynsrc": frozenset(),
    "longdesc": frozenset(),
    "action": frozenset(("form",)),
    "formaction": frozenset(("button", "input")),
    "cite": frozenset(("blockquote", "q", "ins", "del")),
    "data": frozenset(("object",)),
    "codebase": frozenset(("object", "applet")),
    "data-src": frozenset(["img", "source", "iframe", "video", "audio", "embed", "input"]),
    "to": frozenset(("set", "animate")),
    "from": frozenset(("animate",)),
}
_SRCSETS = frozenset(("srcset", "imagesrcset", "data-srcset"))
# SVG presentation attributes hold CSS values: `fill="url(other.svg#id)"`.
_STYLES = frozenset(
    [
        "style",
        "fill",
        "stroke",
        "filter",
        "mask",
        "clip-path",
        "cursor",
        "marker-start",
        "marker-mid",
        "marker-end",
    ]
)
# Rewritten style sheets would fail their integrity check; the others send requests of their own.
_REMOVED = frozenset(("integrity", "ping", "attributionsrc"))
_NAMES = "|".join(sorted((*_URLS, *_SRCSETS, *_STYLES, *_REMOVED, "srcdoc", "http-equiv")))
_LOOKED_AT = re.compile(rf"(?:{_NAMES})[{WS}]*+=", re.IGNORECASE)
# Policies of the live site would work against the replay; ours comes in the HTTP header.
_POLICIES = frozenset(
    [
        "content-security-policy",
        "content-security-policy-report-only",
        "x-content-security-policy",
        "x-webkit-csp",
        "x-dns-prefetch-control",
    ]
)
# A document inside a document inside a document ...: hostile from here on.
_MAX_NESTING = 8


Banner = Callable[[str | None], str]
"""Makes the ASCII markup to stand first in a body, given where the page sends its reader on.

Browsers do not follow a meta refresh in a sandbox without scripts, so somebody has to offer it.
"""


def no_banner(refresh: str | None) -> str:
    """Nothing."""
    return ""


def rewrite_html(
    data: bytes,
    declared: str | None,
    place: Place,
    *,
    banner: Banner = no_banner,
    xml: bool = False,
) -> tuple[bytes, str]:
    """Rewrite a document; gives the name of the encoding that it is in now as well."""
    text = open_text(data, declared)
    rewriting = _Rewriting(text, place.reading(text.query), xml=xml)
    return text.back(rewriting.run(banner)), text.charset.name


@dataclass(slots=True)
class _Rewriting:
    """One pass over a document: `out` holds it up to `done`, rewritten."""

    text: Text
    place: Place
    xml: bool = False
    nesting: int = 0
    out: list[str] = field(default_factory=list)
    done: int = 0
    based: bool = False
    refresh: str | None = None

    def run(self, banner: Banner = no_banner) -> str:
        view, body = self.text.view, BodyFinder(self.text.view, xml=self.xml)
        for token in tokens(view, xml=self.xml):
            after = None
            if not body.found:
                body.see(token)
                after = body.after
                if body.before is not None:
                    self._insert(body.before, banner)
            if isinstance(token, Tag):
                if not token.closing and token.end - token.inside > 1:
                    self._tag(token)
            elif isinstance(token, Raw) and token.name == "style":
                self._style(token)
            if after is not None:
                self._insert(after, banner)
        if not body.found and not self.xml:
            self._insert(body.end, banner)
        return "".join(self.out) + view[self.done :]

    def _insert(self, position: int, banner: Banner) -> None:
        self._replace(position, position, banner(self.refresh))

    def _style(self, raw: Raw) -> None:
        old = self.text.view[raw.start : raw.end]
        new = rewrite_view(old, self.text.charset, self.place)
        if new != old:
            self._replace(raw.start, raw.end, new)

    def _tag(self, tag: Tag) -> None:
        if _LOOKED_AT.search(self.text.view, tag.inside, tag.end) is None:
            return
        name = tag.name.rpartition(":")[2] if self.xml else tag.name
        attributes = tag.attributes(self.text.view)
        if name == "meta":
            self._meta(attributes)
        elif name == "base" and not self.based:
            self._base(attributes)
        elif not (name == "link" and _value(attributes, "rel").lower() == "canonical"):
            for attribute in attributes:
                self._attribute(name, attribute, attributes)

    def _attribute(self, element: str, attribute: Attribute, others: list[Attribute]) -> None:
        name = attribute.name
        if name in _REMOVED:
            self._replace(attribute.start, attribute.end, "")
        elif attribute.value is None:
            return
        elif name in _URLS:
            only = _URLS[name]
            if not only or (element in only and _leads(element, others)):
                self._write(attribute, self.place.refer)
        elif name in _SRCSETS:
            self._write(attribute, lambda value: rewrite_srcset(value, self.place.refer))
        elif name in _STYLES and ("(" in attribute.value or "&" in attribute.value):
            self._write(attribute, lambda value: rewrite_text(value, self.place))
        elif name == "srcdoc" and element == "iframe":
            self._write(attribute, self._document)

    def _write(self, attribute: Attribute, change: Callable[[str], str | None]) -> None:
        """Replace a value by what `change` makes of it; None or the same leaves it as written."""
        old = unescape(decode(attribute.value or "", self.text.charset))
        new = change(old)
        if new is None or new == old:
            return
        quote = self.text.view[attribute.end - 1]
        written = encode(quoted(new, "'" if quote == "'" else '"'), self.text.charset)
        self._replace(attribute.start, attribute.end, f"{self._name(attribute)}={written}")

    def _name(self, attribute: Attribute) -> str:
        """The name as it was written (SVG in XML knows upper and lower case)."""
        return self.text.view[attribute.start : attribute.start + len(attribute.name)]

    def _base(self, attributes: list[Attribute]) -> None:
        """The first base with an href counts, for what follows it."""
        for attribute in attributes:
            if attribute.name == "href" and attribute.value is not None:
                self.based = True
                url = self.place.resolve(unescape(decode(attribute.value, self.text.charset)))
                self._write(attribute, self.place.refer)
                if url is not None:
                    self.place = self.place.at(url.partition("#")[0])
                return

    def _meta(self, attributes: list[Attribute]) -> None:
        pragma = _value(attributes, "http-equiv").strip(WS).lower()
        for attribute in attributes:
            if attribute.name == "http-equiv" and pragma in _POLICIES:
                end = attribute.start + len(attribute.name)
                self._replace(attribute.start, end, "data-asof-dropped")
            elif attribute.name == "content" and pragma == "refresh":
                self._write(attribute, self._refresh)

    def _refresh(self, value: str) -> str | None:
        self.refresh = self.refresh or self.place.resolve(refresh_target(value))
        return rewrite_refresh(value, self.place.refer)

    def _document(self, markup: str) -> str:
        if self.nesting >= _MAX_NESTING:
            return ""
        inner = Text(markup.encode("utf-8", "replace").decode("latin-1"))
        rewriting = _Rewriting(inner, self.place.reading("utf-8"), nesting=self.nesting + 1)
        return inner.back(rewriting.run()).decode("utf-8")

    def _replace(self, start: int, end: int, new: str) -> None:
        self.out += (self.text.view[self.done : start], new)
        self.done = end


def _value(attributes: list[Attribute], name: str) -> str:
    """The first value of an attribute, which is the one that counts."""
    return next((unescape(a.value or "") for a in attributes if a.name == name), "")


def _leads(element: str, attributes: list[Attribute]) -> bool:
    """An SVG animation matters only when it changes where a link leads."""
    if element not in ("set", "animate"):
        return True
    return _value(attributes, "attributename").lower() in ("href", "xlink:href")
