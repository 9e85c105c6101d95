"""The language of questions: from what a person types to a tree, or an error that points.

    question     = alternative { OR alternative }
    alternative  = part { [AND] part }
    part         = [ "-" | NOT ] ( term | [ field ":" ] "(" question ")" )
    term         = [ field ":" ] ( word [ "*" | "~" | "~1" | "~2" ] | quoted [ "*" ] )

What people paste (addresses, times, names of files) is read as words, not as signs.
"""

import re

from asof.caret import Misread, Span, clipped, pointing_into
from asof.errors import UsageError
from asof.search.asked import Asked, Every, Field, Some, Term, Without, terms, written
from asof.search.signs import Sign, signs
from asof.search.words import folded, is_unspaced, words_of
from asof.url import canonical, typed

__all__ = [
    "Asked", "Every", "Field", "Some", "Term", "Without", "parse", "terms", "written",
]  # fmt: skip

LONGEST_QUESTION = 1_000  # characters
MOST_WORDS = 64
DEEPEST = 20  # parentheses inside each other

_SCHEME = re.compile(r"\A\s*[a-z]+://", re.IGNORECASE)
_HOW = "Write a word, or words that must all occur."


def parse(text: str) -> Asked:
    """What a question asks; a UsageError points at what cannot be read."""
    length, most = len(text), LONGEST_QUESTION
    if length > most:
        raise UsageError(
            f"The question is {length:,} characters long; at most {most:,} are read.",
            hint="Ask for fewer words.",
        )
    if not text.strip():
        raise UsageError("The question is empty.", hint=_HOW)
    with pointing_into(text):
        whole = (0, len(text.rstrip()))
        reader = _Reader(signs(text))
        asked = reader.question(None)
        if reader.sign.kind == ")":
            raise Misread(reader.sign.span, "this parenthesis was not opened", "Leave it out.")
        if asked is None:
            raise Misread(whole, "there is no word in the question", _HOW)
        _check_some_are_wanted(asked, whole)
        _check_number(asked)
        return asked


class _Reader:
    """Recursive descent, as deep as parentheses are allowed to be."""

    def __init__(self, found: list[Sign]) -> None:
        self._signs = found
        self._at = 0
        self._depth = 0

    @property
    def sign(self) -> Sign:
        return self._signs[self._at]

    def question(self, field: Field | None) -> Asked | None:
        """Alternatives up to a closing parenthesis or the end; nothing where no word is."""
        found: list[tuple[Asked, Span]] = []
        seen = 1
        while True:
            start = self.sign.span[0]
            before = self._at
            asked = self._alternative(field)
            empty = self._at == before
            if empty and (self.sign.kind == "or" or seen > 1):
                sign = self.sign if self.sign.kind == "or" else self._signs[self._at - 1]
                raise Misread(
                    sign.span,
                    f"{sign.text} stands between two alternatives, and one is missing",
                    f'Write "{sign.text}" in quotes if you mean the word.',
                )
            if asked is not None:
                found.append((asked, (start, self._signs[self._at - 1].span[1])))
            if self.sign.kind != "or":
                break
            self._at += 1
            seen += 1
        if len(found) > 1:
            for asked, span in found:
                _check_some_are_wanted(asked, span)
        return _joined(Some, [asked for asked, _ in found])

    def _alternative(self, field: Field | None) -> Asked | None:
        parts: list[Asked] = []
        while self.sign.kind not in ("or", ")", "end"):
            if self.sign.kind == "and":
                self._at += 1
            elif (part := self._part(field)) is not None:
                parts.append(part)
        return _joined(Every, parts)

    def _part(self, field: Field | None) -> Asked | None:
        sign = self.sign
        if sign.kind != "not":
            return self._operand(field)
        self._at += 1
        if self.sign.kind not in ("word", "quoted", "("):
            raise Misread(
                sign.span,
                f"{sign.text} excludes what comes after it, and nothing does",
                'Write "NOT" in quotes if you mean the word.'
                if sign.text == "NOT"
                else "Write -word.",
            )
        start = self.sign.span[0]
        operand = self._operand(field)
        if operand is None:
            return None
        _check_some_are_wanted(operand, (start, self._signs[self._at - 1].span[1]))
        return Without(operand)

    def _operand(self, field: Field | None) -> Asked | None:
        sign = self.sign
        self._at += 1
        if sign.kind != "(":
            return _term(sign, sign.field or field)
        if self._depth == DEEPEST:
            raise Misread(
                sign.span,
                f"parentheses are nested more than {DEEPEST} deep",
                "Ask in a plainer way.",
            )
        self._depth += 1
        asked = self.question(sign.field or field)
        self._depth -= 1
        if self.sign.kind != ")":
            raise Misread(sign.span, "this parenthesis is not closed", "Write ) where it ends.")
        self._at += 1
        return asked


def _joined(kind: type[Every] | type[Some], parts: list[Asked]) -> Asked | None:
    """The parts as one; what is of the same kind is laid open, so that each tree has one form."""
    flat: list[Asked] = []
    for part in parts:
        flat += part.parts if isinstance(part, kind) else [part]
    if len(flat) < 2:
        return flat[0] if flat else None
    return kind(tuple(flat))


def _term(sign: Sign, field: Field | None) -> Term | None:
    if field is Field.LINK:
        return Term(_targets(sign), field, True, False, 0, sign.span)
    words = words_of(folded(_SCHEME.sub("", sign.text)))  # addresses are entered without it
    if not words:
        return None
    prefix = sign.prefix
    if is_unspaced(words[-1]):
        # The last character alone ends a run in a document; where one is asked for, it may go on.
        if len(words) > 1 and len(words[-1]) == 1 and _is_pair(words[-2]):
            words.pop()
        prefix = len(words[-1]) == 1
    elif prefix and len(words[-1]) < 2:
        raise Misread(
            sign.span,
            "too many words begin with a single letter",
            "Write two letters or more before the *.",
        )
    term = Term(tuple(words), field, sign.kind == "quoted", prefix, sign.fuzzy, sign.span)
    if term.fuzzy:
        _check_fuzzy(term)
    return term


def _targets(sign: Sign) -> tuple[str, ...]:
    """The address that is asked for by what leads to it; both, where its scheme is left out."""
    found = canonical(typed(sign.text) or "")
    if found is None or sign.fuzzy:
        raise Misread(
            sign.span,
            f"{clipped(sign.text)} is no address to which a page can lead",
            'Write it as link:"http://example.org/page".',
        )
    is_whole = _SCHEME.match(sign.text) is not None
    return (found,) if is_whole else (found, found.replace("https://", "http://", 1))


def _is_pair(word: str) -> bool:
    return len(word) == 2 and is_unspaced(word)


def _check_fuzzy(term: Term) -> None:
    if len(term.words) > 1 or is_unspaced(term.words[0]):
        raise Misread(
            term.span,
            "~ finds words that are spelt nearly so, and this is not a single word",
            "Leave the ~ out, or write it after one word.",
        )
    if len(term.words[0]) <= term.fuzzy:
        raise Misread(
            term.span,
            "nearly every short word is spelt nearly so",
            "Write a longer word before the ~.",
        )


def _check_some_are_wanted(asked: Asked, span: Span) -> None:
    parts = asked.parts if isinstance(asked, Every) else (asked,)
    if all(isinstance(part, Without) for part in parts):
        raise Misread(
            span, "it says only what is not wanted", "Write a word that must occur as well."
        )


def _check_number(asked: Asked) -> None:
    count = 0
    for term in terms(asked, excluded=True):
        count += len(term.words)
        if count > MOST_WORDS:
            raise Misread(
                term.span,
                f"the question has more than {MOST_WORDS} words",
                "Ask for fewer; in scripts without spaces each character counts.",
            )
