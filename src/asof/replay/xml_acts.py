"""What XML does in a browser, as a parser of XML reads it, whatever it looks like.

Entities, prefixes and comments that end elsewhere in HTML hide markup from who reads text. So what
is to be shown, or opened as a file, is read once more as it will be sent. Elements of XHTML and SVG
act; those of other languages, as of feeds, are words, and act only by a style sheet.
"""

import re
from collections.abc import Mapping
from html.entities import html5
from xml.parsers.expat import ExpatError, ParserCreate

from asof.text.links.attribute_values import refresh_target
from asof.text.links.css import css_references
from asof.text.links.elements import pragma
from asof.text.links.link import EDGE
from asof.text.markup import names

XHTML = "http://www.w3.org/1999/xhtml"
_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
# Some browsers go by it, and it is not rewritten.
_BASE = "http://www.w3.org/XML/1998/namespace base"
_ACTING = frozenset((XHTML, _SVG, "http://www.w3.org/1998/Math/MathML"))
# What is known to show something and do nothing else. The names of XML are as they are written.
_STILL = {
    XHTML: names(
        "html head title body div span p br hr a img h1 h2 h3 h4 h5 h6 ul ol li dl dt dd b i u s em"
        " strong small big sub sup code pre tt kbd samp var abbr cite q blockquote del ins mark"
        " center font table caption thead tbody tfoot tr td th figure figcaption section article"
    ),
    _SVG: names(
        "svg g defs symbol use image switch a view title desc metadata style foreignObject path"
        " rect circle ellipse line polyline polygon text tspan textPath tref linearGradient"
        " radialGradient stop pattern mask clipPath marker filter font font-face glyph"
        " missing-glyph hkern vkern animate animateTransform animateMotion animateColor set mpath"
        " feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting"
        " feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR"
        " feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight"
        " feSpecularLighting feSpotLight feTile feTurbulence"
    ),
}
_ATTRIBUTES = names(
    "href src style class id title alt lang dir width height align valign border color face size"
    " colspan rowspan cellpadding cellspacing bgcolor type start value cite name rel target"
    " requiredFeatures requiredExtensions"
)
_MOVED = frozenset(("href", "src", "style"))
_DRAWN = re.compile(r"data:image/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)[;,]", re.IGNORECASE)
_IN_SHEETS = re.compile(
    r"data:(?:image/(?:png|jpe?g|gif|webp|avif)|(?:application/(?:x-)?|)font[\w./-]*)[;,]",
    re.IGNORECASE,
)
_PICTURES = frozenset(("image", "img", "feImage"))
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|[/\\]{2}", re.IGNORECASE)
# What leads to nothing that answers.
_NOBODY = re.compile(r"(?:data|blob|about|javascript|mailto|tel):", re.IGNORECASE)
_DROPPED = re.compile(r"[\t\n\r]")
_NAMED = re.compile(rb"&([A-Za-z][A-Za-z0-9]*;)")
_PREDEFINED = names("amp; lt; gt; quot; apos;")


class XmlActs:
    """What a document in UTF-8 does.

    `is_read` says that it is well-formed, and that no entity holds markup; else the rest counts for
    nothing. `leads_out`: a link, not only a part, leads to another machine or is connected to.
    `holds`: some of it is more than words. `acts`: something may be loaded or run, perhaps by a
    sheet that is named in front (`is_styled`). `first` are its first three elements.
    """

    def __init__(self, data: bytes) -> None:
        self.is_read = True
        self.leads_out = self.acts = self.is_styled = False
        self.first: list[tuple[str, Mapping[str, str]]] = []
        self._sheet: list[str] | None = None
        self.holds = self._based = False
        parser = ParserCreate("utf-8", " ")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler, parser.EntityDeclHandler = self._text, self._entity
        parser.ProcessingInstructionHandler = self._instruction
        try:
            parser.Parse(_NAMED.sub(_number, data) if b"<!DOCTYPE" in data else data, True)
        except (ExpatError, ValueError):
            self.is_read = False
        self.acts |= self.is_styled or (self.holds and self._based)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.first) < 3:
            self.first.append((name, attributes))
        language, _, element = name.rpartition(" ")
        self.acts |= self._sheet is not None
        self._based |= _BASE in attributes
        if language not in _ACTING:
            return
        self.holds = True
        if language == XHTML and element == "meta" and pragma(attributes) == "refresh":
            self.leads_out |= leads_elsewhere(refresh_target(attributes.get("content", "")))
        self.acts |= element not in _STILL.get(language, ())
        for key, value in attributes.items():
            space, _, attribute = key.rpartition(" ")
            if space in ("", _XLINK):
                self._attribute(language, element, attribute, value)
        if element == "style":
            self._sheet = []

    def _attribute(self, language: str, element: str, attribute: str, value: str) -> None:
        if attribute == "href":
            self.leads_out |= leads_elsewhere(value)
        if attribute in ("href", "src"):
            is_picture = element in _PICTURES and _DRAWN.match(value)
            self.acts |= not (is_picture or _is_beside(value))
            return
        is_known = attribute in _ATTRIBUTES or attribute.startswith(("data-", "aria-"))
        self.acts |= attribute.lower().startswith("on") or (language == XHTML and not is_known)
        if attribute == "attributeName":
            self.acts |= value.strip().rpartition(":")[2].lower() in _MOVED
        self._styled(value)

    def _styled(self, css: str) -> None:
        for found in css_references(css) if "(" in css or "@" in css else ():
            self.acts |= not (_is_beside(found.url) or _IN_SHEETS.match(found.url))

    def _end(self, name: str) -> None:
        if self._sheet is not None and name.endswith(" style"):
            self._styled("".join(self._sheet))
            self._sheet = None

    def _text(self, text: str) -> None:
        if self._sheet is not None:
            self._sheet.append(text)

    def _instruction(self, target: str, _: str) -> None:
        self.is_styled |= target.lower() == "xml-stylesheet"

    def _entity(self, name: str, is_parameter: bool, value: str | None, *_: object) -> None:
        """One that is a character as everybody knows it, or words, is as if it stood there."""
        known = html5.get(f"{name};", value)
        is_plain = value is not None and value == known and re.search("[<&%]", value) is None
        if is_parameter or not (is_plain or f"{name};" in _PREDEFINED):
            raise ValueError(name)


def leads_elsewhere(reference: str) -> bool:
    """Whether a reference leads to another machine, or names one; not what is asked of nobody."""
    bare = _bare(reference)
    return _ELSEWHERE.match(bare) is not None and _NOBODY.match(bare) is None


def _is_beside(reference: str) -> bool:
    return reference == "about:blank" or _ELSEWHERE.match(_bare(reference)) is None


def _bare(reference: str) -> str:
    return _DROPPED.sub("", reference.strip(EDGE))


def _number(found: re.Match[bytes]) -> bytes:
    """A character that browsers know by name where there is a document type."""
    name = found[1].decode()
    known = "" if name in _PREDEFINED else html5.get(name, "")
    return "".join(f"&#{ord(each)};" for each in known).encode() or found[0]
