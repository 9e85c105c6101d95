"""What is asked of a cover: by which relation, of which documents, and what besides few of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from asof.errors import UsageError

if TYPE_CHECKING:
    from asof.change.shingles import Unit

TIME_LIMIT = 60.0  # seconds for all proofs together
Solver = Literal["auto", "seed"]


@dataclass(frozen=True, slots=True)
class Question:
    """All that an answer depends on, besides the documents as they are.

    `table` is the file that the documents come from, None for the archive itself. `at_least` is
    (m, attribute): keep m documents of each of its values.
    """

    relation: str
    table: str | None = None
    where: str | None = None
    k: int = 5
    text: str = "main"
    at_least: tuple[int, str] | None = None
    prefer: str | None = None
    solver: str = "auto"
    time_limit: float = TIME_LIMIT
    terms: str = "words"

    @property
    def unit(self) -> Unit:
        return "characters" if self.terms == "characters" else "terms"

    @property
    def which(self) -> Literal["main", "full"]:
        return "full" if self.text == "full" else "main"


def parse_at_least(text: str) -> tuple[int, str]:
    """`2 per hostname`: how many, and of each value of what."""
    found = re.fullmatch(r"\s*(\d{1,9})\s+per\s+(\S+)\s*", text)
    if found is None or not int(found[1]):
        raise UsageError(f"--at-least {text!r} is not understood.", hint="Write '2 per hostname'.")
    return int(found[1]), found[2]
