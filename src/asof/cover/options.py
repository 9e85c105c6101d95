"""What is asked of a cover besides few documents, and the attributes that this names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from asof.cover.language.caret import listed, suggestion
from asof.cover.language.columns import Column
from asof.cover.question import TIME_LIMIT, Question, Solver
from asof.errors import UsageError

# A word of the command line for what is asked for most.
_ALSO = {"recency": "timestamp"}


@dataclass(frozen=True, slots=True)
class CoverOptions:
    """What the user wants besides few documents.

    `at_least` is (m, attribute): keep m documents of each of its values, or all if there are fewer.
    `prefer` is an attribute: among the smallest sets the one with the highest sum of it.
    """

    at_least: tuple[int, str] | None = None
    prefer: str | None = None
    solver: Solver = "auto"
    time_limit: float = TIME_LIMIT

    @classmethod
    def of(cls, question: Question) -> CoverOptions:
        solver: Solver = "seed" if question.solver == "seed" else "auto"
        return cls(question.at_least, question.prefer, solver, question.time_limit)


def check_options(
    columns: Mapping[str, Column], options: CoverOptions, qualities: Iterable[str] = ()
) -> None:
    """Refuse to ask for what is not known; `qualities` can be preferred though no column is one."""
    if options.at_least is not None:
        attribute_to_keep(columns, options.at_least[1])
    if options.prefer is not None and options.prefer not in qualities:
        attribute_to_prefer(columns, options.prefer, qualities)


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
