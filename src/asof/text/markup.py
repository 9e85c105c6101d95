"""Where tags, attributes and raw text begin and end, as a browser's tokenizer sees it.

The one reader of HTML: links, text and replay all go by it (`_markup.h` is its twin in C). Follows
HTML, section 13.2.5, with positions instead of a tree: whatever is not replaced can be copied as it
stands, broken or not. Patterns are possessive, so hostile markup costs linear time.
"""

import re
from collections.abc import Callable, Iterator
from html.entities import html5
from typing import NamedTuple


def names(written: str) -> frozenset[str]:
    """Names of elements, attributes or the like, written with blanks between them."""
    return frozenset(written.split())


WS = "\t\n\f\r "
_NAME = rf"(?:=[^{WS}/>=]*+|[^{WS}/>=]++)"
_VALUE = rf"""(?:"([^"]*+)"|'([^']*+)'|([^{WS}>"'][^{WS}>]*+)|(?=>|\Z))"""
# Name, then a value or no equals sign at all: a quote that never closes fails the whole tag, as it
# does in a browser, which throws the rest of the document away.
_ATTRIBUTE = rf"[{WS}/]*+({_NAME})(?:[{WS}]*+=[{WS}]*+{_VALUE}|(?![{WS}]*+=))"
_ATTRIBUTES = re.compile(_ATTRIBUTE)
# As nearly all are written; then as they may be written.
_PLAIN = r'(?: [A-Za-z:_-]++="[^"]*+")'
_LIST = rf"{_PLAIN}*+(?:{re.sub(r'[(](?=[^?])', '(?:', _ATTRIBUTE)})*+"
_TAG = re.compile(rf"<(/?)([A-Za-z][^{WS}/>]*+)({_LIST})[{WS}/]*+>")
_MARK = re.compile(r"<[A-Za-z/!?]")
_COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)

# Elements whose content is text up to their end tag. `noscript` is not one of them: replayed
# documents are sandboxed without scripts, where browsers parse it like any other markup.
_RAW = names("title textarea style script xmp iframe noembed noframes")


def any_case(word: str) -> str:
    """A pattern for a word in any case.

    Unlike re.IGNORECASE it leaves the literal `<` in front in place, by which a search runs ten
    times as fast (a script of 100 KB: 0.1 ms instead of 1 ms).
    """
    return "".join(f"[{letter}{letter.upper()}]" for letter in word)


_ENDS = {name: re.compile(rf"</{any_case(name)}(?=[{WS}/>])") for name in _RAW}
_SCRIPT = re.compile(rf"<!--|-->|<(/?)script(?=[{WS}/>])", re.IGNORECASE | re.ASCII)
_FOREIGN = frozenset(("svg", "math"))
# Inside these elements of SVG the rules of HTML hold again.
_HTML_INSIDE = frozenset(("foreignobject", "desc", "title"))
_NESTING = _FOREIGN | _HTML_INSIDE
_DEEPEST = 512  # as browsers do, and so that hostile nesting stays cheap
# Start tags that end SVG or MathML (HTML, section 13.2.6.5).
_BREAKOUT = names(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li"
    " listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
)

_REFERENCE = re.compile(r"&(?:#([0-9]+);?|#[xX]([0-9A-Fa-f]+);?|([A-Za-z][A-Za-z0-9]*;?)(=?))")
# Numbers that stand for windows-1252 characters (HTML, section 13.2.5.80).
_C1_MAP = {
    code: character
    for code in range(0x80, 0xA0)
    if (character := bytes([code]).decode("cp1252", "ignore"))
}
_SMALL = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


# Named tuples: a page has thousands of tags, and a frozen dataclass costs three times as much.
class Attribute(NamedTuple):
    """An attribute in place; `value` is as written between its quotes, None without one."""

    name: str
    value: str | None
    start: int
    end: int


class Tag(NamedTuple):
    """A start or end tag from `start` to `end`, with its attributes from `inside` to `stop`.

    Up to `after` follows text that is no markup, if it is the tag of a script, a style, a title ...
    """

    name: str
    closing: bool
    start: int
    inside: int
    stop: int
    end: int
    after: int
    foreign: bool  # it stands where the rules of SVG or MathML hold
    drawn: bool  # it is, or stands in, an element of SVG or MathML, however far out
    empty: bool  # `<x/>`, where that says that it has no content

    def attributes(self, text: str) -> list[Attribute]:
        """Its attributes, names in lower case, in order, doubles included."""
        found = []
        for match in _ATTRIBUTES.finditer(text, self.inside, self.stop):
            last = match.lastindex or 1
            value = match[last] if last > 1 else None
            found.append(Attribute(small(match[1]), value, match.start(1), match.end()))
        return found


class Other(NamedTuple):
    """A comment, doctype, processing instruction or CDATA section, or a tag that never ends."""

    start: int
    end: int

    @property
    def after(self) -> int:
        """What a tag has, too."""
        return self.end


Token = Tag | Other


def tokens(text: str, *, xml: bool = False) -> Iterator[Token]:
    """The markup of a document in order; what lies between two tokens is text."""
    nest = _Nest()
    foreign, drawn, position = xml, False, 0
    while (mark := _MARK.search(text, position)) is not None:
        start = mark.start()
        tag = _TAG.match(text, start)
        if tag is None:
            position = _other_end(text, start, foreign)
            if position > start + 1:
                yield Other(start, position)
            continue
        name, end, closing = small(tag[2]), tag.end(), bool(tag[1])
        stop = tag.end(3)
        closed = text[end - 2] == "/" and stop < end - 1
        inside = foreign
        if drawn or name in _FOREIGN:
            nest.see(name, closing=closing, closed=closed)
            foreign, drawn = xml or nest.foreign, nest.open
            inside = xml or (inside and (closing or name not in _BREAKOUT))
        empty = closed and (inside or name in _FOREIGN)
        raw = not (closing or (closed and inside)) and name in _RAW
        position = _raw_end(text, end, name, inside) if raw else end
        shown = drawn or xml or name in _FOREIGN
        yield Tag(name, closing, start, tag.start(3), stop, end, position, inside, shown, empty)
        if name == "plaintext" and not (closing or inside):
            return


class _Nest:
    """Whether the rules of SVG and MathML hold, from the open elements that decide it."""

    def __init__(self) -> None:
        self._open: list[str] = []

    @property
    def open(self) -> bool:
        return bool(self._open)

    @property
    def foreign(self) -> bool:
        return bool(self._open) and self._open[-1] in _FOREIGN

    def see(self, name: str, *, closing: bool, closed: bool) -> None:
        """Take a tag into account (`closed`: `<x/>`, `closing`: `</x>`)."""
        stack, foreign = self._open, self.foreign
        if closing:
            if name in _NESTING and name in stack:
                del stack[len(stack) - 1 - stack[::-1].index(name) :]
            elif foreign and name in ("p", "br"):
                self._leave()
        elif name in _FOREIGN:
            # `<math><svg>` is an element of MathML by that name.
            if not closed and (not foreign or stack[-1] == name):
                self._push(name)
        elif foreign and name in _HTML_INSIDE:
            if not closed and stack[-1] == "svg":
                self._push(name)
        elif foreign and name in _BREAKOUT:
            self._leave()

    def _leave(self) -> None:
        while self.foreign:
            self._open.pop()

    def _push(self, name: str) -> None:
        if len(self._open) < _DEEPEST:
            self._open.append(name)


def small(name: str) -> str:
    """A name in lower case, as ASCII: the sign for kelvin is no letter of a tag."""
    return name.lower() if name.isascii() else name.translate(_SMALL)


def values(written: str, read: Callable[[str], str] | None = None) -> dict[str, str]:
    """The attributes of a tag, as written in it; the first of two with one name counts.

    `read` makes characters of what stands between quotes; unless told, `unescape` does.
    """
    read = read or unescape
    plain = written.isascii() and "&" not in written and "\0" not in written  # as most are
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTES.findall(written):
        name = small(name)
        if name not in found:
            value = double or single or bare
            found[name] = value if plain else read(value)
    return found


def pairs(written: str) -> list[tuple[str, str]]:
    """Names in lower case and values as written, doubles included."""
    return [(small(name), a or b or c) for name, a, b, c in _ATTRIBUTES.findall(written)]


def _other_end(text: str, position: int, foreign: bool) -> int:
    """The end of a comment or its like; the next character if it is only a less-than sign."""
    if text.startswith("<!--", position):
        comment = _COMMENT.match(text, position)
        return comment.end() if comment else len(text)
    if foreign and text.startswith("<![CDATA[", position):
        end = text.find("]]>", position)
        return len(text) if end < 0 else end + 3
    second = text[position + 1]
    third = text[position + 2 : position + 3]
    if second == "/" and not third:
        return position + 1
    if second not in "!?" and (second != "/" or (third.isascii() and third.isalpha())):
        return len(text)  # a tag, in which the document ends
    end = text.find(">", position)
    return len(text) if end < 0 else end + 1


def _raw_end(text: str, start: int, name: str, foreign: bool) -> int:
    """Where the text of a raw text element ends that begins at `start`."""
    if foreign:
        # Nothing is raw in SVG and MathML, but what is in a style element is a style sheet.
        return _foreign_end(text, start) if name == "style" else start
    found = _ENDS[name].search(text, start)
    end = found.start() if found else len(text)
    if name == "script" and text.find("<!--", start, end) >= 0:
        return _script_end(text, start)
    return end


def _foreign_end(text: str, position: int) -> int:
    """The end of the text of an SVG style element, CDATA sections included."""
    while (position := text.find("<", position)) >= 0 and text.startswith("<![CDATA[", position):
        position = _other_end(text, position, foreign=True)
    return len(text) if position < 0 else position


def _script_end(text: str, start: int) -> int:
    """`<!-- <script>` hides one `</script>` (HTML, "script data double escaped state")."""
    escaped = doubly = False
    while (match := _SCRIPT.search(text, start)) is not None:
        start = match.end()
        if match[0] == "<!--":
            escaped = True
            start -= 2  # its dashes may belong to the `-->` of an empty comment
        elif match[0] == "-->":
            escaped = doubly = False
        elif not match[1]:
            doubly = escaped
        elif not doubly:
            return match.start()
        else:
            doubly = False
    return len(text)


def unescape(value: str) -> str:
    """The characters of an attribute value (HTML, "named character reference state").

    Not `html.unescape`: in an attribute `&copy=1` and `&copyx` are no references.
    """
    value = value.replace("\0", "\ufffd")
    return _REFERENCE.sub(_unescape, value) if "&" in value else value


def _unescape(match: re.Match[str]) -> str:
    decimal, hexadecimal, name, equals = match.groups()
    if name is not None:
        known = html5.get(name)
        if known is None or (equals and not name.endswith(";")):
            return match[0]
        return known + equals
    digits, base = (decimal, 10) if decimal is not None else (hexadecimal, 16)
    digits = digits.lstrip("0")
    # Longer numbers are out of range in any case, and slow to convert.
    code = int(digits or "0", base) if len(digits) < 10 else 0x110000
    if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return _C1_MAP.get(code) or chr(code)


def quoted(value: str, quote: str = '"') -> str:
    """An attribute value with its quotes; what needs it is written as a reference."""
    escaped = value.replace("&", "&amp;").replace(quote, "&quot;" if quote == '"' else "&#39;")
    # Only XML forbids a bare `<` in a value; in HTML the reference reads the same.
    escaped = escaped.replace("<", "&lt;")
    return f"{quote}{escaped}{quote}"
