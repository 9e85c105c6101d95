"""Randomness without state: a number is a function of its name.

Every choice of the synthetic web is `mix(seed, purpose, which...)`, so it comes out the same
whatever was asked before, and costs no generator to keep (a `random.Random` holds 2.5 KB, which
is 50 MB for 20,000 pages). The rounds are those of the SplitMix64 generator.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import TypeVar

_MASK = (1 << 64) - 1
T = TypeVar("T")


class Purpose(IntEnum):
    """What a number is for: keeps choices about the same page independent of one another."""

    CHANGE = 1
    TITLE = 2
    SENTENCE = 3
    HEADLINE = 4
    BYLINE = 5
    LINK = 6
    RATE = 7
    LIFE = 8
    AGE = 9
    PICTURE = 10
    FRAMING = 11
    REDIRECT = 12
    LENGTH = 13
    TAG = 14
    NOTICE = 15


def mix(*parts: int, after: int = 0x9E3779B97F4A7C15) -> int:
    """A 64-bit number that depends on all the parts and looks random.

    `mix(a, b, c)` is `mix(b, c, after=mix(a))`: whoever needs many numbers about one thing can
    keep the common start.
    """
    state = after
    for part in parts:
        state = ((state ^ part) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state


def uniform(*parts: int, after: int = 0x9E3779B97F4A7C15) -> float:
    """A number in (0, 1]: never 0, so that its logarithm exists."""
    return ((mix(*parts, after=after) >> 11) + 1) * 2.0**-53


def pick(options: Sequence[T], *parts: int) -> T:
    return options[mix(*parts) % len(options)]
