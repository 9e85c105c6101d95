"""Attributes that wishes name: any to keep some of each value, a number or a time to prefer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from asof.cover.columns import Column
from asof.cover.pointer import listed, suggestion
from asof.errors import UsageError

if TYPE_CHECKING:
    from asof.cover.run import Wishes

# A word of the command line for what is asked for most.
_ALSO = {"recency": "timestamp"}


def check_wishes(
    columns: Mapping[str, Column], wishes: Wishes, qualities: Iterable[str] = ()
) -> None:
    """Refuse wishes for what is not known; `qualities` can be preferred though no column is one."""
    if wishes.at_least is not None:
        wished_attribute(columns, wishes.at_least[1])
    if wishes.prefer is not None and wishes.prefer not in qualities:
        wished_quality(columns, wishes.prefer, qualities)


def wished_attribute(columns: Mapping[str, Column], name: str) -> Column:
    """The column that `--at-least` names."""
    found = columns.get(name)
    if found is None:
        raise _unknown(name, columns)
    return found


def wished_quality(
    columns: Mapping[str, Column], name: str, qualities: Iterable[str] = ()
) -> Column:
    """The column that `--prefer` names, whose values can be summed."""
    meant = _ALSO.get(name, name)
    found = columns.get(meant)
    fine = [known for known, column in columns.items() if column.kind != "text"]
    fine += [word for word, known in _ALSO.items() if known in columns]
    if found is None:
        raise _unknown(meant, [*fine, *qualities])
    if found.kind == "text":
        raise UsageError(
            f"{name} is a text, and no quality.",
            hint=f"Name a number or a time: {listed([*fine, *qualities])}.",
        )
    return found


def _unknown(name: str, known: Iterable[str]) -> UsageError:
    names = list(known)
    there = f"There are {listed(names)}." if names else "None is known of these documents."
    return UsageError(f"There is no attribute {name!r}.", hint=suggestion(name, names) or there)
