"""Readable nonsense: titles, headlines and sentences of a small town's newspaper.

Every text is a function of a number, so that a page is a function of its seed and version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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


PAPERS = (
    Paper("The Harbour Gazette", "harbour-gazette", "All the news that washes ashore", 1871,
          "#14506b", "#d9e6ea"),
    Paper("The Hill Courier", "hill-courier", "Seen from above, told straight", 1888,
          "#6b3a14", "#efe2d3"),
    Paper("The Mill Lane Herald", "mill-lane-herald", "Slowly, but exceedingly fine", 1902,
          "#2f5d3a", "#dde9dc"),
    Paper("The Lighthouse Review", "lighthouse-review", "Brief, bright, and regular", 1895,
          "#7a1f2b", "#f0dcdd"),
    Paper("The Ropewalk Observer", "ropewalk-observer", "Many strands, one line", 1867,
          "#4a3a78", "#e3dfef"),
    Paper("The Market Bell", "market-bell", "Rung every morning at six", 1910,
          "#8a5a00", "#f3e7cc"),
)  # fmt: skip

SECTIONS = ("Harbour", "Town Hall", "Market", "Weather", "Arts", "Letters")

_LEXICON: dict[str, tuple[str, ...]] = {
    "who": (
        "the harbour master", "the postmistress", "the baker of Fish Street",
        "a retired sea cook", "the town clerk", "the lighthouse keeper", "the brass band",
        "Mrs Alder of Pump Lane",
        "the ferry captain", "a visiting botanist", "the schoolmistress", "the night watchman",
        "the bell ringer", "old Mr Penrose", "the librarian", "the rowing club", "the mayor",
        "the oyster grower", "the coastguard", "a boy with a kite",
    ),
    "place": (
        "the east quay", "Fish Street", "the customs house", "Pump Lane", "the old ropewalk",
        "Gull Point", "the market square", "the reading room", "the ferry steps", "the mill pond",
        "Lantern Hill", "the bathing huts", "the signal station", "the almshouses",
    ),
    "thing": (
        "a brass telescope", "a crate of lemons", "the weathervane", "a blue rowing boat",
        "the town piano", "a box of unsent letters", "the spare anchor", "a map of the sandbanks",
        "the church bell", "an umbrella with a silver handle", "the tide clock",
        "a wandering goose",
        "the second-best teapot", "a barrel of cider", "the regatta cup", "a lantern from the pier",
        "forty yards of rope", "a tin of sea biscuits",
    ),
    "did": (
        "repaired", "painted", "borrowed", "auctioned", "measured", "returned", "photographed",
        "polished", "weighed", "rescued", "admired", "misplaced", "described", "insured",
    ),
    "when": (
        "on Tuesday", "before sunrise", "shortly after the noon gun", "at slack water",
        "during the fair", "on market day", "in the first frost", "between two showers",
        "after evensong", "on the last ferry", "while the fog held", "at half past four",
    ),
    "sum": (
        "nine pounds", "forty shillings", "twelve pounds and sixpence", "the price of a good coat",
        "a month of harbour dues", "two hundred pounds", "half the lamp fund",
    ),
    "many": (
        "eleven", "about thirty", "no fewer than sixty", "a dozen", "some two hundred",
        "just three", "a surprising number of",
    ),
    "since": (
        "last winter", "the great storm", "the spring tide", "the days of sail", "Michaelmas",
        "the visit of the old king", "the year of the two regattas", "anyone can remember",
    ),
    "quote": (
        "It was never a question of money", "You can hear it from the pier",
        "We only wanted it back",
        "The gulls knew first", "I have kept the receipt", "It floats better than it looks",
        "Nobody asked the goose", "One grows used to the wind", "There is still room on the bench",
        "It will be ready by the regatta", "My mother painted the first one",
    ),
    "mood": (
        "cheerful", "doubtful", "rather proud", "not in the least surprised", "of two minds",
        "glad of the company", "waiting for the tide", "unusually quiet",
    ),
}  # fmt: skip

_TEMPLATES = (
    "{When}, {who} {did} {thing} near {place}.",
    "{Who} told this paper that {thing} had not been seen since {since}.",
    "Nobody at {place} could say who had {did} {thing}.",
    "The council will hear {who} and then vote on {sum} for repairs.",
    "{Many} people gathered at {place} {when} to see for themselves.",
    "“{quote},” said {who}, pointing at {thing}.",
    "{Who} had {did} {thing} twice before, {when} and again {when}.",
    "It is the first time since {since} that {place} has been closed.",
    "By evening {who} was {mood}, and {place} was empty.",
    "A notice at {place} asks whoever {did} {thing} to call {when}.",
    "The work cost {sum}, most of it given by {who}.",
    "“{quote},” {who} remarked {when}, and would not be drawn further.",
    "{Who} and {who} have not spoken since {since}.",
    "There were {many} witnesses at {place}, and no two agreed about {thing}.",
    "At {place} the talk is of {thing}, and of little else.",
    "{Who} keeps {thing} in the shed behind {place} and has {did} it every year since {since}.",
    "Visitors are asked not to lean on {thing} until {who} has {did} it.",
    "An offer of {sum} was made {when} and politely declined.",
    "{When} the wind went round to the west, and {who} was {mood}.",
    "What became of {thing} is a matter for {who}.",
    "The minutes record that {who} was {mood} and that {thing} was {did}.",
    "From {place} to {place} there is hardly a window that does not look out on it.",
)

_ADJECTIVES = (
    "Quiet", "Borrowed", "Blue", "Reluctant", "Forgotten", "Second", "Wandering", "Early",
    "Stubborn", "Midnight", "Patient", "Painted", "Unclaimed", "Ticking",
)  # fmt: skip
_NOUNS = (
    "Lamp", "Ferry", "Anchor", "Clock", "Bell", "Lantern", "Weathervane", "Piano", "Lifeboat",
    "Teapot", "Compass", "Kite", "Herring", "Goose", "Telescope", "Umbrella", "Sandbank", "Parcel",
)  # fmt: skip
_PLACES = (
    "Gull Point", "Fish Street", "Lantern Hill", "Pump Lane", "the Ropewalk", "the East Quay",
    "the Mill Pond", "the Reading Room", "the Ferry Steps", "the Market Square",
)  # fmt: skip
_TITLES = (
    "The {a} {n} of {p}", "{a} {n} Found at {p}", "A {a} {n} Comes to {p}",
    "Who Owns the {n} of {p}?",
    "The {n} That Missed {p}", "{a} {n}, New Rules for {p}", "In Praise of the {a} {n}",
    "A Night with the {n} of {p}", "The {a} {n} and the {n2}", "{p} Says Farewell to Its {n}",
)  # fmt: skip
_TWISTS = (
    "Council Divided", "Neighbours Respond", "A Second Look", "The Mayor Replies",
    "Experts Baffled",
    "Now with a Map", "Price Agreed", "Ferry Delayed", "A Witness Comes Forward", "Vote on Friday",
    "Goose Cleared", "Our Readers Write",
)  # fmt: skip
_AUTHORS = (
    "Ada Finch", "Tobias Reed", "Marguerite Sole", "Edmund Tarn", "Nell Hathersage", "Josiah Quill",
    "Winifred Dace", "Oren Blackthorn",
)  # fmt: skip

_Piece = tuple[str, str, tuple[str, ...]]


def _compile(template: str) -> tuple[_Piece, ...]:
    """`Text {slot} text` as pieces; a capital slot starts its word with a capital."""
    pieces: list[_Piece] = []
    fields = re.split(r"\{(\w+)\}", template)
    for literal, slot in zip(fields[::2], [*fields[1::2], ""], strict=True):
        options = _LEXICON[slot.lower()] if slot else ()
        if slot and slot[0].isupper():
            options = tuple(word[0].upper() + word[1:] for word in options)
        pieces.append((literal, slot.lower(), options))
    return tuple(pieces)


_SENTENCES = tuple(_compile(template) for template in _TEMPLATES)


def sentence(number: int) -> str:
    """One sentence."""
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
    text = pick(_TITLES, *key, Purpose.TITLE).format(
        a=pick(_ADJECTIVES, *key, Purpose.TITLE, 1),
        n=pick(_NOUNS, *key, Purpose.TITLE, 2),
        p=pick(_PLACES, *key, Purpose.TITLE, 3),
        n2=pick(_NOUNS, *key, Purpose.TITLE, 4),
    )
    return re.sub(r"\bA (?=[AEIOU])", "An ", text.removeprefix("the "))


def headline(subject: str, revision: int, *key: int) -> str:
    """The title with the latest turn of events; plain at first."""
    if revision == 0:
        return subject
    return f"{subject}: {pick(_TWISTS, *key, Purpose.HEADLINE, revision)}"


def author(*key: int) -> str:
    """Who wrote it."""
    return pick(_AUTHORS, *key, Purpose.BYLINE)


def slug(text: str) -> str:
    """A title as part of a path."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
