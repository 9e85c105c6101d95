"""What a style sheet refers to: `url()`, `@import` and the strings of `image-set()`.

One pass over the tokens that matter (CSS Syntax, section 4): comments and strings are stepped over,
so that a `url(` in one of them counts for nothing; names may be written with escapes. `@namespace`
names a language, not a place. Links and replay both read style sheets here.
"""

import re
from collections.abc import Generator, Iterator
from functools import cache

from asof.model import Hop
from asof.text.encoding.charset import Charset
from asof.text.encoding.view import decode
from asof.text.links.attribute_values import Reference
from asof.text.links.link import Link, bare
from asof.text.markup import any_case

_WS = r"[ \t\r\n\f]"
_ESCAPED = r"(?:[0-9A-Fa-f]{1,6}(?:\r\n|[ \t\r\n\f])?|[^0-9A-Fa-f\r\n\f])"
_ESCAPE = r"\\" + _ESCAPED
_COMMENT_REST = r"\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
_COMMENT = "/" + _COMMENT_REST
# A string ends at its quote, at the end of the sheet, or, broken, before a bare line end.
_STRING_REST = r"(?:[^{0}\\\r\n\f]++|\\(?:\r\n|[\s\S])|\\\Z)*+{0}?"
_DOUBLE, _SINGLE = _STRING_REST.format('"'), _STRING_REST.format("'")
_STRING = rf""""{_DOUBLE}|'{_SINGLE}"""
_GAP = rf"(?:{_WS}|{_COMMENT})*+"
_NAMESPACE = rf"(?![\w-])(?:{_COMMENT}|{_STRING}|[^;{{}}\"'/]|/(?!\*))*+"
# What would make `url` the end of a longer name.
_IN_NAME = r"[\w\\\x80-\U0010ffff-]"


def _spelled(word: str) -> str:
    """A pattern for a name in any case, each letter plain or escaped (`u\\72 l` is `url`)."""
    letters = []
    for letter in word:
        codes = "|".join({f"{ord(c):x}" for c in (letter.lower(), letter.upper())})
        plain = re.escape(letter) if letter == "-" else any_case(letter)
        literal = "" if letter in "abcdef" else rf"|\\{plain}"
        letters.append(rf"(?:{plain}|\\0{{0,4}}(?:{codes})(?:\r\n|[ \t\r\n\f])?{literal})")
    return "".join(letters)


def _before(word: str) -> str:
    """A pattern for the place after a name and its parenthesis."""
    name = any_case(word) + r"\("
    return rf"(?<={name})(?<!{_IN_NAME}{name})"


# The tokens by their rarest character, which the search runs to: 12 times as fast as by their
# first. Names with escapes in them (`u\72l(`) are told by `_SPELLED` and left to the slow pattern.
_TOKENS = re.compile(
    rf"""[/"'(@\\](?:(?<=/){_COMMENT_REST}|(?<="){_DOUBLE}|(?<='){_SINGLE}|(?<=\\){_ESCAPED}"""
    rf"""|(?P<url>{_before("url")}|{_before("src")})|(?P<set>(?<={any_case("image-set")}\())"""
    rf"""|(?<=@)(?:(?P<import>{any_case("import")})(?![\w-])|{any_case("namespace")}{_NAMESPACE}))""",
    re.ASCII,
)
_SPELLED = re.compile(r"\\(?:0{0,4}[2-7][0-9a-fA-F](?![0-9a-fA-F])|[g-zG-Z-])")
_URL = rf"(?<!{_IN_NAME})(?P<url>{_spelled('url')}|{_spelled('src')})\("
_ALL_TOKENS = (
    rf"(?=[/\"'uUsSiI@\\])(?:{_COMMENT}|{_STRING}|{_URL}"
    rf"|@(?P<import>{_spelled('import')})(?![\w-])|@{_spelled('namespace')}{_NAMESPACE}"
    rf"|(?P<set>{_spelled('image-set')})\(|{_ESCAPE})"
)
_IN_SET = (
    rf"{_COMMENT}|(?P<string>{_STRING})|{_URL}|(?P<open>\()|(?P<close>\))|(?P<end>[;{{}}])"
    rf"|{_ESCAPE}"
)
_QUOTED = re.compile(rf"{_GAP}({_STRING})")
_AFTER_STRING = re.compile(rf"{_GAP}\)")
_BARE = re.compile(
    rf"{_WS}*+((?:[^\"'()\\\s\x00-\x08\x0e-\x1f\x7f]++|{_ESCAPE})++){_WS}*+(?=\)|\Z)"
)
_UNESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{1,6})(?:\r\n|[ \t\r\n\f])?|(\r\n|[\r\n\f]|\Z)|([\s\S]))")


# Encodings in which the second byte of a character can be a backslash or a quote, and what they
# take for one character, seen through latin-1.
_GB = r"[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xfe])"
_WIDE = {
    "shift_jis": r"[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]",
    "gbk": _GB,
    "gb18030": _GB,
    "big5": r"[\x81-\xfe][\x40-\x7e\xa1-\xfe]",
}


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Compiled when it is first needed: the two that seldom are took a tenth of asof's start."""
    return re.compile(text, re.ASCII)


def css_links(sheet: str, charset: Charset | None = None) -> Iterator[Link]:
    """What a style sheet needs: imports, images, fonts."""
    for found in css_references(sheet, charset):
        reference = bare(found.url)
        if reference:
            yield Link(reference, Hop.REQUISITE)


def css_references(sheet: str, charset: Charset | None = None) -> Iterator[Reference]:
    """The references of a style sheet or of declarations, in order.

    With a charset the sheet is bytes in it, seen through latin-1; without, characters.
    """
    seen = sheet
    if charset is not None and charset.name in _WIDE and not sheet.isascii():
        seen = _pattern(_WIDE[charset.name]).sub(lambda wide: "\x80" * len(wide[0]), sheet)
    for start, end, quote in _places(seen):
        literal = sheet[start:end] if quote == ")" else sheet[start + 1 : end - 1]
        url = unescape(decode(literal, charset) if charset else literal)
        if url:
            yield Reference(start, end, url, quote)


def unescape(text: str) -> str:
    """The characters that a string or a bare URL stands for (CSS Syntax, section 4.3.7)."""
    return _UNESCAPE.sub(_unescape, text) if "\\" in text else text


def _unescape(match: re.Match[str]) -> str:
    digits, line_end, literal = match.groups()
    if digits is None:
        return "" if line_end is not None else literal or ""
    code = int(digits, 16)
    return "\ufffd" if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF else chr(code)


# From where to where, and what is around it: quotes, which count as part of it, or a parenthesis.
_Place = tuple[int, int, str]


def _places(sheet: str) -> Iterator[_Place]:
    search = (_pattern(_ALL_TOKENS) if _SPELLED.search(sheet) else _TOKENS).search
    position = 0
    while (token := search(sheet, position)) is not None:
        position, kind = token.end(), token.lastgroup
        if kind == "url":
            position = yield from _url(sheet, position)
        elif kind == "import" and (quoted := _QUOTED.match(sheet, position)) is not None:
            position = quoted.end()
            yield from _string(quoted, 1)
        elif kind == "set":
            position = yield from _image_set(sheet, position)


def _url(sheet: str, start: int) -> Generator[_Place, None, int]:
    """After `url(`: a string and whatever follows it, or a bare URL up to the parenthesis."""
    quoted = _QUOTED.match(sheet, start)
    if quoted is not None:
        yield from _string(quoted, 1)
        close = _AFTER_STRING.match(sheet, quoted.end())
        return close.end() if close else quoted.end()
    found = _BARE.match(sheet, start)
    if found is not None:
        yield (*found.span(1), ")")
        return min(found.end() + 1, len(sheet))
    # Empty, or broken: the token runs to the next parenthesis (section 4.3.14).
    close_at = sheet.find(")", start)
    return len(sheet) if close_at < 0 else close_at + 1


def _image_set(sheet: str, start: int) -> Generator[_Place, None, int]:
    """After `image-set(`: bare strings are images, those inside `type()` are not."""
    depth, position = 1, start
    search = _pattern(_IN_SET).search
    while depth and (token := search(sheet, position)) is not None:
        position, kind = token.end(), token.lastgroup
        if kind == "url":
            position = yield from _url(sheet, position)
        elif kind == "string" and depth == 1:
            yield from _string(token, 0)
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind == "end":
            break  # no function goes on past these: the parentheses are unbalanced
    return position


def _string(match: re.Match[str], group: int) -> Iterator[_Place]:
    """A string, unless it is not closed."""
    string = match[group]
    if len(string) > 1 and string[-1] == string[0]:
        yield (*match.span(group), string[0])
