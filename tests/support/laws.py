"""How many examples of a law are tried: by the profile, and by what a law asks for."""

from __future__ import annotations

from hypothesis import settings

USUAL = 200
FEWEST = 25


def examples(number: int) -> int:
    """As many for this law as the profile has where `number` stands for `USUAL` ones."""
    scaled = number * settings.default.max_examples // USUAL
    return max(scaled, min(number, FEWEST))
