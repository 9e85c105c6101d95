"""What is asked, as a tree; and written out again in the one spelling that is read back alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from asof.caret import Span
from asof.search.words import is_unspaced


class Field(StrEnum):
    """A part of a document that can be asked for by its name."""

    TITLE = "title"
    URL = "url"
    ANCHOR = "anchor"  # what others call it
    LINK = "link"  # an address to which it leads; its words are such addresses


@dataclass(frozen=True, slots=True)
class Term:
    """Words in a row, as they are indexed.

    `prefix`: the last one only begins so. `fuzzy`: how many letters of the one word may differ.
    """

    words: tuple[str, ...]
    field: Field | None
    exact: bool
    prefix: bool
    fuzzy: int
    span: Span


@dataclass(frozen=True, slots=True)
class Every:
    """All parts; those that are a `Without` must not be, and at least one is another."""

    parts: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one of the parts, none of which is a `Without`."""

    parts: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """What must not be; stands only among the parts of an `Every`."""

    part: Asked


Asked = Term | Every | Some | Without


def terms(asked: Asked, *, excluded: bool = False) -> Iterator[Term]:
    """The terms in the order in which they were asked, with those that are excluded or without."""
    match asked:
        case Term():
            yield asked
        case Every() | Some():
            for part in asked.parts:
                yield from terms(part, excluded=excluded)
        case Without() if excluded:
            yield from terms(asked.part, excluded=True)


def written(asked: Asked) -> str:
    """The question in its canonical spelling."""
    match asked:
        case Term():
            return _term(asked)
        case Without():
            inner = written(asked.part)
            return f"-{inner}" if isinstance(asked.part, Term) else f"-({inner})"
        case Some():
            return " OR ".join(map(written, asked.parts))
        case Every():
            return " ".join(
                f"({written(part)})" if isinstance(part, Some) else written(part)
                for part in asked.parts
            )


def _term(term: Term) -> str:
    if term.field is Field.LINK:
        whole, *others = term.words
        return f'{term.field}:"{whole.partition("://")[2] if others else whole}"'
    text = (" " if term.exact else "-").join(_runs(term.words))
    if term.exact:
        text = f'"{text}"'
    if term.prefix and not is_unspaced(term.words[-1]):
        text += "*"
    if term.fuzzy:
        text += "~" if term.fuzzy == 1 else f"~{term.fuzzy}"
    return f"{term.field}:{text}" if term.field else text


def _runs(words: Sequence[str]) -> Iterator[str]:
    """The words, with the pairs of runs in scripts without spaces as the runs they were."""
    run = ""
    for at, word in enumerate(words):
        pair = is_unspaced(word) and len(word) == 2
        if pair and at < len(words) - 1:
            run += word[0]
        else:
            yield run + word
            run = ""
