"""Text in columns of a terminal: how wide it is, where to break it, and nothing that acts.

Archived text is hostile until shown otherwise: an escape sequence in it could repaint the screen
or retitle the window, a change of direction could show the old text as the new one. Such
characters are shown as pictures of themselves.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from asof.caret import cells

Piece = tuple[str, bool]  # some text, and whether it is marked

# Controls (Cc), changes of direction, line and paragraph separators, interlinear and tag
# characters, and halves of surrogate pairs, which no file can hold.
_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
_BREAKS = re.compile(r"\s+|\S+")


def harmless(text: str) -> str:
    """Text that only shows: what would act is replaced by a picture, tabs by a space."""
    return without_controls(text.replace("\t", " "))


def without_controls(text: str) -> str:
    """The same with its tabs, and with the ends of lines as they are here."""
    if text.isascii() and text.isprintable():
        return text
    return _ACTING.sub(_picture, text.replace("\r\n", "\n"))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


@lru_cache(maxsize=4096)
def _graphemes(word: str) -> tuple[str, ...]:
    """The characters that a reader sees, accents and joined emoji in one."""
    if word.isascii():
        return tuple(word)
    from wcwidth import iter_graphemes

    return tuple(iter_graphemes(word))


def wrapped(pieces: Iterable[Piece], width: int) -> list[list[Piece]]:
    """Lines of at most `width` columns; broken at blanks, or inside a word that is too long."""
    lines: list[list[Piece]] = [[]]
    used = 0
    for text, marked in _chunks(pieces):
        size = cells(text)
        if used + size > width and text.isspace():
            continue  # a blank at a break is not shown
        if used + size > width and used:
            lines.append([])
            used = 0
        for part, part_size in _fitting(text, size, width):
            if used + part_size > width:
                lines.append([])
                used = 0
            lines[-1].append((part, marked))
            used += part_size
    return lines


def _chunks(pieces: Iterable[Piece]) -> Iterator[Piece]:
    for text, marked in pieces:
        for match in _BREAKS.finditer(text):
            yield (" " if match[0].isspace() else match[0]), marked


def _fitting(text: str, size: int, width: int) -> Iterator[tuple[str, int]]:
    """The text in parts that fit in a line; most are one."""
    if size <= width:
        yield text, size
        return
    part, used = "", 0
    for letter in _graphemes(text):
        wide = cells(letter)
        if used + wide > width and part:
            yield part, used
            part, used = "", 0
        part += letter
        used += wide
    if part:
        yield part, used
