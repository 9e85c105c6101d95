"""The category of every capture against its predecessor, kept beside the texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from asof.change.categories import Change
from asof.text.shelf import Shelf


class Judgement(NamedTuple):
    """What became of a URL: the category, what decided, and how alike the texts are."""

    category: str
    stage: str
    similarity: float | None


class ChangeStore:
    """Judgements by the id of the capture's record."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def __contains__(self, record_id: str) -> bool:
        return self.get(record_id) is not None

    def get(self, record_id: str) -> Judgement | None:
        """What was found out about a capture, or None if nobody has looked."""
        row = self._shelf.db.execute(
            "SELECT category, stage, similarity FROM changes WHERE record_id = ?", (record_id,)
        ).fetchone()
        return None if row is None else Judgement(*row)

    def put(self, changes: Iterable[tuple[str, Change]]) -> None:
        """Keep what was found out, all or nothing."""
        rows = [
            (record_id, change.category.value, change.stage.value, change.similarity)
            for record_id, change in changes
        ]
        with self._shelf.transaction() as db:
            db.executemany("INSERT OR REPLACE INTO changes VALUES (?, ?, ?, ?)", rows)
