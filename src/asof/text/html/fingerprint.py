"""How alike two pages are, cheaply: their visible text as a set of marks.

For the crawl, which asks of every pattern of URLs whether its pages still bring anything new
(`asof.scope.patterns`). Order, dates and numbers that change by themselves are left out.
"""

import re
from collections.abc import Iterable
from html import unescape
from zlib import crc32

from asof.text.html.blocks import layout
from asof.text.html.facts import line
from asof.text.html.parts import HEADER, NOISE

_HEAD = 1 << 16  # a page's first 64 KB tell
_MARKS = 8_191
_MOST_MARKS = 4
_LETTERS_A_MARK = 32
_SHORT = 80
_CHANGING = re.compile(rb"[0-9/]")
# Figures are content where tables are: 1.234,50 and 1013; 31, 12:30 and 2025 belong to dates.
_FIGURE = re.compile(rb"[0-9]{1,3}(?:[.,][0-9]{3})*[.,][0-9]+|(?!(?:1[5-9]|20)[0-9]{2}\Z)[0-9]{3,}")
# Months in other languages are all known after a year.
_DATE_WORDS = frozenset(
    """
    january february march april may june july august september october november december jan feb
    mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday
    sunday mon tue wed thu fri sat sun today am pm januar februar märz mai juni juli oktober
    dezember montag dienstag mittwoch donnerstag freitag samstag sonntag heute uhr janvier février
    mars avril juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi
    vendredi samedi dimanche enero febrero marzo abril mayo junio julio agosto septiembre octubre
    noviembre diciembre lunes martes miércoles jueves viernes sábado domingo
    """.encode().split()
)


def visible_blocks(html: bytes) -> list[bytes]:
    """The pieces of text that a page shows, lower case, without its furniture (navigation)."""
    page = layout(html[:_HEAD].decode("utf-8", "replace"))
    pieces = [line(unescape(mark.raw)) for mark in page.marks if mark.name == "title"][:1]
    pieces += [block.text for block in page.blocks if not block.said & (NOISE | HEADER)]
    return "\n".join(pieces).lower().encode("utf-8", "replace").split(b"\n")


def text_fingerprint(blocks: Iterable[bytes]) -> int:
    """A page's text as a set of marks: bits of a number, one to four for each block by length.

    Order is nothing, numbers and dates in a sentence are nothing: a sorted or filtered list has no
    mark that the whole one has not, and one empty month is like another.
    """
    bits = bytearray(_MARKS // 8 + 1)
    for block in blocks:
        if len(block) > _SHORT:
            text = block.translate(None, b"0123456789")
        else:
            words = block.split()
            text = b" ".join([w for w in words if not (w in _DATE_WORDS or _CHANGING.search(w))])
            if not text:
                text = next((w for w in words if _FIGURE.fullmatch(w)), b"")
        if text:
            mark = crc32(text)
            for _ in range(min(1 + len(text) // _LETTERS_A_MARK, _MOST_MARKS)):
                bits[mark % _MARKS >> 3] |= 1 << (mark % _MARKS & 7)
                mark = mark * 0x9E3779B1 + 0x7F4A7C15 & 0xFFFFFFFF
    return int.from_bytes(bits, "little")
