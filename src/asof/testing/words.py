"""Readable nonsense: titles, headlines and sentences of a small town's newspaper.

Every text is a function of a number, so that a page is a function of its seed and version.
"""

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files

from asof.testing.chance import Purpose, pick


@dataclass(frozen=True, slots=True)
class Paper:
    """The newspaper that one host of the synthetic web publishes."""

    name: str
    slug: str
    motto: str
    founded: int
    accent: str
    tint: str


def read(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


_GAZETTE = tomllib.loads(read("gazette.toml"))
FILTERS: tuple[str, ...] = tuple(
    f"{name}={value}" for name, values in _GAZETTE["filters"].items() for value in values
)
PAPERS = tuple(Paper(**each) for each in _GAZETTE["papers"])
SECTIONS: tuple[str, ...] = tuple(_GAZETTE["sections"])

_Piece = tuple[str, str, tuple[str, ...]]


def _compile(template: str) -> tuple[_Piece, ...]:
    """`Text {slot} text` as pieces; a capital slot starts its word with a capital."""
    pieces: list[_Piece] = []
    fields = re.split(r"\{(\w+)\}", template)
    for literal, slot in zip(fields[::2], [*fields[1::2], ""], strict=True):
        options = tuple(_GAZETTE["lexicon"][slot.lower()]) if slot else ()
        if slot and slot[0].isupper():
            options = tuple(word[0].upper() + word[1:] for word in options)
        pieces.append((literal, slot.lower(), options))
    return tuple(pieces)


_SENTENCES = tuple(_compile(template) for template in _GAZETTE["sentences"])


def sentence(number: int) -> str:
    pieces = _SENTENCES[number % len(_SENTENCES)]
    out: list[str] = []
    used: set[tuple[str, int]] = set()
    state = number // len(_SENTENCES)
    for literal, slot, options in pieces:
        out.append(literal)
        if options:
            # A linear congruential step will do within a sentence, at a third of mix()'s cost.
            state = (state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
            nth = (state >> 33) % len(options)
            while (slot, nth) in used:  # "from Pump Lane to Pump Lane" reads badly
                nth = (nth + 1) % len(options)
            used.add((slot, nth))
            out.append(options[nth])
    return "".join(out)


def title(*key: int) -> str:
    """What a page is about, for its whole life."""
    text = pick(_GAZETTE["titles"], *key, Purpose.TITLE).format(
        a=pick(_GAZETTE["adjectives"], *key, Purpose.TITLE, 1),
        n=pick(_GAZETTE["nouns"], *key, Purpose.TITLE, 2),
        p=pick(_GAZETTE["places"], *key, Purpose.TITLE, 3),
        n2=pick(_GAZETTE["nouns"], *key, Purpose.TITLE, 4),
    )
    return re.sub(r"\bA (?=[AEIOU])", "An ", text.removeprefix("the "))


def headline(subject: str, revision: int, *key: int) -> str:
    """The title with the latest turn of events; plain at first."""
    if revision == 0:
        return subject
    return f"{subject}: {pick(_GAZETTE['twists'], *key, Purpose.HEADLINE, revision)}"


def author(*key: int) -> str:
    return str(pick(_GAZETTE["authors"], *key, Purpose.BYLINE))


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
