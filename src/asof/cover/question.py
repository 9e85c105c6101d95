"""What is asked of a cover: by which relation, of which documents, and what besides few of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from asof.caret import listed, suggestion
from asof.errors import UsageError

if TYPE_CHECKING:
    from asof.change.shingles import Unit
    from asof.cover.language.columns import Column

TIME_LIMIT = 60.0  # seconds for all proofs together
Solver = Literal["auto", "seed"]
# A word of the command line for what is asked for most.
_ALSO = {"recency": "timestamp"}


@dataclass(frozen=True, slots=True)
class Question:
    """All that an answer depends on, besides the documents as they are.

    `table` is the file that the documents come from, None for the archive itself. `at_least` is
    (m, attribute): keep m documents of each of its values, or all if there are fewer. `prefer` is
    an attribute: among the smallest sets the one with the highest sum of it.
    """

    relation: str
    table: str | None = None
    where: str | None = None
    k: int = 5
    text: str = "main"
    at_least: tuple[int, str] | None = None
    prefer: str | None = None
    solver: Solver = "auto"
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


def check_options(
    columns: Mapping[str, Column], question: Question, qualities: Iterable[str] = ()
) -> None:
    """Refuse to ask for what is not known; `qualities` can be preferred though no column is one."""
    if question.at_least is not None:
        attribute_to_keep(columns, question.at_least[1])
    if question.prefer is not None and question.prefer not in qualities:
        attribute_to_prefer(columns, question.prefer, qualities)


def attribute_to_keep(columns: Mapping[str, Column], name: str) -> Column:
    """The column that `--at-least` names."""
    if name not in columns:
        raise _unknown(name, columns)
    return columns[name]


def attribute_to_prefer(
    columns: Mapping[str, Column], name: str, qualities: Iterable[str] = ()
) -> Column:
    """The column that `--prefer` names, whose values can be summed."""
    meant = _ALSO.get(name, name)
    found = columns.get(meant)
    fine = [known for known, column in columns.items() if column.kind != "text"]
    fine += [word for word, known in _ALSO.items() if known in columns]
    fine += qualities
    if found is None:
        raise _unknown(meant, fine)
    if found.kind == "text":
        what = f"{name} is a text, and no quality."
        raise UsageError(what, hint=f"Name a number or a time: {listed(fine)}.")
    return found


def _unknown(name: str, known: Collection[str]) -> UsageError:
    there = f"There are {listed(known)}." if known else "None is known of these documents."
    return UsageError(f"There is no attribute {name!r}.", hint=suggestion(name, known) or there)
