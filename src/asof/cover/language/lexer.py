"""The words of a relation: names, numbers, spans of time, dates, strings, signs.

Beside the ASCII spelling the signs of Paudel 2013 are read. Every character is accounted for; what
is none of these is named with its code, since many characters look like others.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from asof.caret import Misread, Span, clipped, described, plain
from asof.clock import DAY, SECOND, parse_iso
from asof.cover.language.syntax import LENGTH, LONGEST
from asof.errors import UsageError

WordKind = Literal["name", "number", "duration", "date", "text", "sign", "end"]

UNITS = {"w": 7 * DAY, "d": DAY, "h": 3600 * SECOND, "m": 60 * SECOND, "s": SECOND}
_DIGITS = 40  # in a number; more than any threshold or size needs
_EXPONENT = 30

_SIGNS = {
    "∧": "and", "∨": "or", "¬": "not", "≥": ">=", "≤": "<=", "≠": "!=", "⩾": ">=", "⩽": "<=",  # noqa: RUF001
    "−": "-", "×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/",  # noqa: RUF001
}  # fmt: skip
_WRONG = {
    "==": "=", "=>": ">=", "=<": "<=", "<>": "!=", "&&": "and", "||": "or", "&": "and", "|": "or",
    "!": "not", "**": "*", "{": "(", "}": ")", "[": "(", "]": ")", "~": "not",
}  # fmt: skip
_QUOTES = dict.fromkeys("‘’‚‛′", "'") | dict.fromkeys("“”„‟″«»", '"')  # noqa: RUF001
_SPACE = re.compile(r"[ \t\r\n]+")
_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r",[0-9]{3}")
_UNIT = re.compile(r"[^\W\d]\w*")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?(?![\w.])"
)
NAME = re.compile(r"[^\W\d]\w*(?:[-.:][^\W\d]\w*)*")
_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]+`""")
_TERM = re.compile(r"\w+")  # as shingles are made of
_SIGN = re.compile(r"==|=>|=<|<>|&&|\|\||\*\*|!=|<=|>=|[-+*/=<>(),;&|!{}\[\]~]")


@dataclass(frozen=True, slots=True)
class Word:
    """One word, where it stands, and what it is worth."""

    kind: WordKind
    text: str
    span: Span
    value: Fraction | int | str = ""

    @property
    def shown(self) -> str:
        return "the end" if self.kind == "end" else clipped(self.text)


def words(text: str, what: str) -> list[Word]:
    """All words of a text, then one of kind `end`. `what` names the text in errors."""
    if len(text) > LENGTH:
        raise UsageError(
            f"The {what} is {len(text):,} characters long; at most {LENGTH:,} are read.",
            hint="Say it shorter.",
        )
    found: list[Word] = []
    at = 0
    while at < len(text):
        if space := _SPACE.match(text, at):
            at = space.end()
            continue
        word = _word(text, at)
        found.append(word)
        at = word.span[1]
    found.append(Word("end", "", (len(text), len(text))))
    return found


def _word(text: str, at: int) -> Word:
    character = text[at]
    if character in _SIGNS:
        return Word("sign", _SIGNS[character], (at, at + 1))
    for pattern, reader in _READERS:
        if match := pattern.match(text, at):
            return reader(text, match)
    if character in "'\"`":
        raise Misread(
            (at, len(text)),
            f"the string that begins with {character} does not end",
            f"Write {character} where it ends.",
        )
    looks = {"%": "Write 70% as 0.7."}.get(character)
    if looks is None:
        meant = _QUOTES.get(character, plain(character))
        looks = f"Did you mean {meant} ?" if meant != character and meant.strip() else ""
    raise Misread((at, at + 1), f"{described(character)} is no part of the language", looks)


def _number(text: str, match: re.Match[str]) -> Word:
    start, end = match.span()
    mantissa, _, exponent = match[0].lower().partition("e")
    if len(mantissa) > _DIGITS or len(exponent) > 4 or abs(int(exponent or 0)) > _EXPONENT:
        raise Misread(
            (start, end),
            "the number is too long or too large",
            f"At most {_DIGITS} digits and an exponent up to {_EXPONENT} are read.",
        )
    if thousands := _THOUSANDS.match(text, end):
        raise Misread(
            (start, thousands.end()),
            "a comma cannot stand in a number",
            "Write 604,800,000 as 604800000.",
        )
    value = Fraction(match[0])
    unit = _UNIT.match(text, end)
    if unit is None:
        return Word("number", match[0], (start, end), value)
    span = (start, unit.end())
    size = UNITS.get(unit[0])
    if size is None:
        near = unit[0][0].lower()
        hint = f"Did you mean {match[0]}{near}? " if near in UNITS else ""
        raise Misread(
            span,
            f"{clipped(unit[0])} is not a unit of time",
            hint + "Write 10s, 30m, 12h, 7d or 2w.",
        )
    if (value * size).denominator != 1 or value * size > LONGEST:
        raise Misread(
            span,
            "the span of time is too long, or finer than a microsecond",
            "Spans are whole microseconds, up to 73,000 years.",
        )
    return Word("duration", text[start : unit.end()], span, int(value * size))


def _date(text: str, match: re.Match[str]) -> Word:
    instant = parse_iso(match[0])
    if instant is None:
        raise Misread(
            match.span(),
            f"{match[0]} is not a date",
            "Write it as 2010-01-31 or 2010-01-31T12:00:00Z.",
        )
    return Word("date", match[0], match.span(), instant)


def _quoted(text: str, match: re.Match[str]) -> Word:
    quote, start = match[0][0], match.start()
    inside = match[0][1:-1].replace(quote * 2, quote)
    for offset, character in enumerate(match[0]):
        if not character.isprintable() and character not in "\t\n\u00a0":
            at = start + offset
            raise Misread((at, at + 1), f"{described(character)} cannot stand in a string")
    kind: WordKind = "name" if quote == "`" else "text"
    return Word(kind, match[0], match.span(), inside)


def _sign(text: str, match: re.Match[str]) -> Word:
    if match[0] in _WRONG:
        raise Misread(
            match.span(),
            f"{match[0]} is no part of the language",
            f"Did you mean {_WRONG[match[0]]} ?",
        )
    return Word("sign", match[0], match.span())


_READERS: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str]], Word]], ...] = (
    (_DATE, _date),
    (_NUMBER, _number),
    (NAME, lambda _, match: Word("name", match[0], match.span(), match[0])),
    (_QUOTED, _quoted),
    (_SIGN, _sign),
)


def terms(text: str) -> list[str]:
    return _TERM.findall(text.lower())


def contains(text: str, phrase: str) -> bool:
    """Whether the terms of the phrase come in the text, in a row.

    `expense` is in "Expense claims" and not in "expenses": Paudel 2013 has terms (section 4.2).
    """
    wanted = terms(phrase)
    if not wanted:
        return True
    return f" {' '.join(wanted)} " in f" {' '.join(terms(text))} "
