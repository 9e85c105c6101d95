"""Errors that point: the column, the text around it, and a caret under what is meant."""

import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from asof.errors import UsageError

Span = tuple[int, int]

_AROUND = 36  # characters shown on either side: a line of 80 with its indent
_LOOKALIKES = dict(
    zip(
        "АВЕКМНОРСТХЅІЈаеорсухѕіјԁһԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοϲϳν",  # noqa: RUF001 (that is the point)
        "ABEKMHOPCTXSIJaeopcyxsijdhqwABEZHIKMNOPTYXocjv",
        strict=True,
    )
)
"""Cyrillic and Greek letters that look like Latin ones, as far as NFKC leaves them alone."""


class Misread(Exception):
    """What (no capital, no full stop) cannot be read or asked, and where; see `pointing_into`."""

    def __init__(self, span: Span, what: str, hint: str = "") -> None:
        super().__init__(span, what, hint)


@contextmanager
def pointing_into(text: str) -> Iterator[None]:
    """What is misread here is told as an error that points into the text."""
    try:
        yield
    except Misread as error:
        raise error_at(text, *error.args) from None


def error_at(text: str, span: Span, what: str, hint: str = "") -> UsageError:
    """A UsageError that says what is wrong about a part of the text."""
    start, end = span
    before = text[:start]
    row, last = before.count("\n"), before.rfind("\n") + 1
    place = f"column {start - last + 1}"
    place = f"Line {row + 1}, {place}" if "\n" in text.strip() else place.capitalize()
    first, stop = max(start - _AROUND, 0), min(max(end, start) + _AROUND, start + 2 * _AROUND)
    left, dots = _shown(text[first:start]), "..." if first else ""
    middle = _shown(text[start : min(end, stop)])
    right = _shown(text[min(end, stop) : stop]) + ("..." if stop < len(text) else "")
    caret = " " * (len(dots) + cells(left)) + "^" * max(cells(middle), 1)
    lines = f"{place}: {what}.\n  {dots}{left}{middle}{right}\n  {caret}"
    return UsageError(lines, hint=f"\n{hint}" if hint else "")


def described(character: str) -> str:
    """A character as it can be told from those that look like it."""
    name = unicodedata.name(
        character, "a control character" if character < " " else "which is no letter"
    )
    code = f"U+{ord(character):04X} {name}"
    return f"{character!r} ({code})" if character.isprintable() else code


def plain(text: str) -> str:
    """The text in ASCII letters and signs, as far as other ones only look like them."""
    return "".join(_LOOKALIKES.get(c, c) for c in unicodedata.normalize("NFKC", text))


def suggestion(name: str, known: Iterable[str]) -> str:
    """`Did you mean ...?`, or nothing; names the characters that only look like others."""
    names = list(known)
    looks = plain(name)
    near = get_close_matches(looks[:80], names, 1, 0.6) or [
        other for other in names if other.lower() == looks.lower()
    ]
    meant = f"Did you mean {near[0]}?" if near else ""
    odd = next((c for c in name if ord(c) > 127 and plain(c) != c), None)
    if odd is not None:
        meant = f"{meant} {described(odd)} is not {plain(odd)!r}.".strip()
    return meant


def listed(names: Iterable[str], most: int = 12) -> str:
    """Names for a hint: some, and how many more."""
    every = sorted(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def clipped(text: str, most: int = 40) -> str:
    """A text of the user's, short enough for a sentence."""
    return repr(text if len(text) <= most else text[: most - 3] + "...")


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in text)


def cells(text: str) -> int:
    """How many columns a text takes; wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth  # only for texts of other scripts

    return max(wcswidth(text), 0)  # -1 stands for what cannot be measured
