"""How each content came to a URL: by what kind of change, and whether it had been there before."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from asof.change.categories import Category
from asof.change.judgements import ChangeStore
from asof.errors import AsofError
from asof.model import State, Validity
from asof.text.database import TextDatabase


@dataclass(frozen=True, slots=True)
class Arrival:
    """A content, the category of the change to it, and an earlier stretch of the same content.

    The category is that of its first capture against the one before; None where nobody has
    compared them. Between the earlier stretch and this one there was something else.
    """

    validity: Validity
    change: Category | None = None
    before: Validity | None = None


def arrivals(texts: Path, history: Sequence[Validity]) -> list[Arrival]:
    """Of a history in its order, as far as documents have been read and compared."""
    changes = _changes(texts, history)
    found: list[Arrival] = []
    seen: dict[str, int] = {}
    for number, validity in enumerate(history):
        last = seen.get(validity.content) if validity.state is State.PRESENT else None
        before = history[last] if last is not None and last < number - 1 else None
        found.append(Arrival(validity, changes[number], before))
        if validity.state is State.PRESENT:
            seen[validity.content] = number
    return found


def _changes(texts: Path, history: Sequence[Validity]) -> list[Category | None]:
    """The catalog is whole without what was read of it, whatever is wrong with that."""
    unknown: list[Category | None] = [None] * len(history)
    if not texts.exists():
        return unknown
    try:
        with closing(TextDatabase(texts, writable=False)) as database:
            if not database.is_current:
                return unknown
            first = [(each.url, each.evidence[0]) for each in history]
            return ChangeStore(database).categories(first)
    except AsofError:
        return unknown
