"""HTML and SVG documents: replace references where they stand, copy all else as it was."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from asof.model import Hop
from asof.replay.body import BodyFinder
from asof.replay.links import ReplayPlace
from asof.text.encoding.view import ByteView, decode, encode, open_text
from asof.text.links.attribute_values import refresh_target, replaced
from asof.text.links.css import css_references
from asof.text.links.elements import MENTION, NAMES, pragma, references, uses
from asof.text.links.html_links import MAX_NESTING
from asof.text.links.link import EDGE
from asof.text.markup import WS, Attribute, Tag, quoted, tokens, unescape

# Rewritten style sheets would fail their integrity check; the others send requests of their own.
_REMOVED = frozenset(("integrity", "ping", "attributionsrc"))
# With it browsers ask a server for leave, and a file has none.
_NEEDS_SERVER = "crossorigin"
# By a script of this type pages are loaded beforehand.
_SPECULATES = "speculationrules"
_LOOKED_AT = re.compile(
    rf"(?:{'|'.join(sorted((*NAMES, *_REMOVED, 'srcdoc', 'http-equiv', 'target')))})[{WS}]*+="
    rf"|{_NEEDS_SERVER}|{_SPECULATES}",
    re.IGNORECASE,
)
_BASE = re.compile(rf"<base[{WS}/]", re.IGNORECASE)
# A title, or a meta element that sends on.
_SAID = re.compile(rf"<title|http-equiv[{WS}]*+=[{WS}\"']*+(refresh)", re.IGNORECASE)
# Policies of the live site would work against the replay; ours comes in the HTTP header.
_POLICIES = frozenset(
    [
        *("content-security-policy", "content-security-policy-report-only", "x-webkit-csp"),
        *("x-content-security-policy", "x-dns-prefetch-control"),
    ]
)
# Text that is markup where there are no frames.
_FRAMELESS = frozenset(("noframes", "noembed"))


# Where the page below a banner leads: banner and all are replaced, and only it is moved within.
_WHOLE, _ITSELF = "_top", "_self"
_AIMED = frozenset(("a", "area", "form", "base"))


@dataclass(frozen=True, slots=True)
class About:
    """What a page says of itself in its head: its title, and where it sends its reader on.

    Browsers do not follow a meta refresh in a sandbox without scripts, so somebody has to offer it.
    """

    title: str = ""
    refresh: str | None = None


def rewrite_html(
    data: bytes,
    declared: str | None,
    place: ReplayPlace,
    *,
    below: bool = False,
    xml: bool = False,
) -> tuple[bytes, str]:
    """Rewrite a document; gives the name of the encoding that it is in now as well.

    `below` says that it is the page below a banner, whose links replace both.
    """
    text = open_text(data, declared)
    rewriting = _Rewriting(text, place.reading(text.query), xml=xml, below=below)
    return text.back(rewriting.run()), text.charset.name


def about(start: bytes, declared: str | None, place: ReplayPlace, *, xml: bool = False) -> About:
    """What the first bytes of a page say about it; read no further than there is something."""
    text = open_text(start, declared)
    found, title, refresh = _SAID.findall(text.view), "", None
    if not found:
        return About()
    reading = _Rewriting(text, place.reading(text.query), xml=xml)
    reading.find_base()
    is_sent_on = any(found)
    for token in tokens(text.view, xml=xml):
        if not isinstance(token, Tag) or token.closing:
            continue
        if token.name == "title" and not title and not token.drawn:
            title = unescape(decode(text.view[token.end : token.after], text.charset)).strip()
        elif token.name == "meta" and is_sent_on and not refresh:
            said = reading.values(token.attributes(text.view))
            if pragma(said) == "refresh":
                refresh = reading.place.resolve(refresh_target(said.get("content", "")))
        if title and (refresh or not is_sent_on):
            break
    return About(title, refresh)


@lru_cache(maxsize=4096)  # `class="x"` stands in hundreds of tags
def _is_looked_at(written: str) -> bool:
    return _LOOKED_AT.search(written) is not None


@dataclass(slots=True)
class _Rewriting:
    """One pass over a document: `out` holds it up to `done`, rewritten.

    A base counts for every link, which is followed later, and for all else that comes after it: the
    parts of a page that stand before it are loaded by then, relative to `early`.
    """

    text: ByteView
    place: ReplayPlace
    xml: bool = False
    nesting: int = 0
    below: bool = False
    based: bool = False
    out: list[str] = field(default_factory=list)
    done: int = 0
    early: ReplayPlace = field(init=False)
    parts: ReplayPlace = field(init=False)

    def __post_init__(self) -> None:
        self._stand(self.place)

    def _stand(self, place: ReplayPlace) -> None:
        self.early, self.parts = place, place.of_parts()

    def run(self) -> str:
        view, body = self.text.view, BodyFinder(self.text.view, xml=self.xml)
        body.found = not self.below
        self.find_base()
        for token in tokens(view, xml=self.xml):
            after = None
            if not body.found:
                body.see(token)
                after = body.after
                self._insert(body.before)
            if isinstance(token, Tag) and token.name == "noscript" and self.place.unscripted:
                self._replace(token.start, token.end, "")
            elif isinstance(token, Tag) and not token.closing:
                if token.stop > token.inside:
                    self._tag(token)
                if token.after > token.end:
                    self._raw(token)
            self._insert(after)
        if not body.found and not self.xml:
            self._insert(body.end)
        return "".join(self.out) + view[self.done :]

    def _insert(self, position: int | None) -> None:
        """Where the body begins: a page that has aimed its links before keeps to that."""
        if position is not None:
            self._replace(position, position, f'<base target="{_WHOLE}"/>')

    def find_base(self) -> None:
        """The first base with an href counts."""
        if _BASE.search(self.text.view) is None:
            return
        for token in tokens(self.text.view, xml=self.xml):
            if isinstance(token, Tag) and token.name == "base" and not token.closing:
                href = self.values(token.attributes(self.text.view)).get("href")
                if href is not None:
                    self.based = True
                    base = self.place.resolve(href)
                    self.place = self.place if base is None else self.place.at(base)
                    return

    def _raw(self, tag: Tag) -> None:
        old = self.text.view[tag.end : tag.after]
        if tag.name == "style":
            new = replaced(old, css_references(old, self.text.charset), self.parts.refer)
        elif tag.name in _FRAMELESS:
            inner = ByteView(old, self.text.charset, self.text.query)
            new = _Rewriting(inner, self.place, nesting=self.nesting + 1).run()
        else:
            return
        if new != old:
            self._replace(tag.end, tag.after, new)

    def _tag(self, tag: Tag) -> None:
        if not _is_looked_at(self.text.view[tag.inside : tag.stop]):
            return
        name = tag.name.rpartition(":")[2] if self.xml else tag.name
        if name == "image" and not tag.foreign:
            name = "img"  # as in a browser
        attributes = tag.attributes(self.text.view)
        said = self.values(attributes)
        used = {use[0]: use for use in uses(name, said, drawn=tag.drawn)}
        aim = self._aim(said) if self.below and name in _AIMED else ""
        if aim and "target" not in said:
            self._replace(tag.inside, tag.inside, f' target="{aim}"')
        for attribute in attributes:
            # Of two with one name the first counts.
            _, form, hop = used.pop(attribute.name, ("", MENTION, None))
            if attribute.name in _REMOVED or self._is_in_the_way(name, attribute):
                self._replace(attribute.start, attribute.end, "")
            elif aim and attribute.name == "target":
                self._replace(attribute.start, attribute.end, f'target="{aim}"')
            elif name == "iframe" and attribute.name == "srcdoc":
                self._write(attribute, said["srcdoc"], self._document)
            elif name == "meta" and attribute.name == "http-equiv" and pragma(said) in _POLICIES:
                end = attribute.start + len(attribute.name)
                self._replace(attribute.start, end, "data-asof-dropped")
            elif form != MENTION:
                place = {None: self.early, Hop.REQUISITE: self.parts}.get(hop, self.place)
                self._refer(attribute, said[attribute.name], form, place)
        if name == "base" and "href" in said:
            self._stand(self.place)

    def _is_in_the_way(self, element: str, attribute: Attribute) -> bool:
        """Whether it would break a document that is opened as a file, all of whose references are
        relative to itself, or have it ask for others.
        """
        if not self.place.on_disk:
            return False
        if element == "script" and attribute.name == "type":
            return _SPECULATES in (attribute.value or "").lower()
        return attribute.name == _NEEDS_SERVER or (element, attribute.name) == ("base", "href")

    def _aim(self, said: dict[str, str]) -> str:
        """The target that a link below a banner must have; none where it has it already."""
        if said.get("href", "").strip(EDGE).startswith("#") and not self.based:
            return _ITSELF
        return _WHOLE if said.get("target", "_blank").lower() in ("", "_self", "_parent") else ""

    def values(self, attributes: list[Attribute]) -> dict[str, str]:
        """Reversed, as of two with one name the first counts."""
        return {
            a.name: unescape(decode(a.value or "", self.text.charset)) for a in attributes[::-1]
        }

    def _refer(self, attribute: Attribute, value: str, form: int, place: ReplayPlace) -> None:
        self._write(attribute, value, lambda old: replaced(old, references(form, old), place.refer))

    def _write(self, attribute: Attribute, old: str, change: Callable[[str], str]) -> None:
        """Replace a value by what `change` makes of it; the same leaves it as written."""
        new = change(old)
        if new == old:
            return
        view = self.text.view
        written = encode(
            quoted(new, "'" if view[attribute.end - 1] == "'" else '"'), self.text.charset
        )
        # The name as it was written: SVG in XML knows upper and lower case.
        name = view[attribute.start : attribute.start + len(attribute.name)]
        self._replace(attribute.start, attribute.end, f"{name}={written}")

    def _document(self, markup: str) -> str:
        if self.nesting >= MAX_NESTING:
            return ""
        inner = ByteView(markup.encode("utf-8", "replace").decode("latin-1"))
        rewriting = _Rewriting(inner, self.place.reading("utf-8"), nesting=self.nesting + 1)
        return inner.back(rewriting.run()).decode("utf-8")

    def _replace(self, start: int, end: int, new: str) -> None:
        self.out += (self.text.view[self.done : start], new)
        self.done = end
