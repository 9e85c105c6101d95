"""The category of every capture against its predecessor, kept beside the texts."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from asof.change.categories import Category, Change
from asof.errors import AsofError
from asof.model import Capture, Evidence
from asof.text.database import TextDatabase
from asof.text.store import hashed
from asof.url import surt

_NAMED = {category.value: category for category in Category}


class ChangeStore:
    """Judgements by capture, each with the capture that it was compared with."""

    def __init__(self, database: TextDatabase) -> None:
        self._database = database

    def category(self, capture: Capture) -> str | None:
        """What became of a URL with a capture, or None if nobody has looked."""
        row = self._database.fetch("SELECT category FROM changes WHERE key = ?", _key(capture))
        return None if row is None else str(row[0])

    def categories(self, shown: Iterable[tuple[str, Evidence]]) -> list[Category | None]:
        """The same of many captures at once, each by its URL and what it is evidence of."""
        keys = [hashed(surt(url), str(each.at), each.record_id) for url, each in shown]
        sql = "SELECT key, category FROM changes WHERE key IN (SELECT value FROM json_each(?))"
        known = dict(self._database.fetch_all(sql, json.dumps(keys)))
        return [_NAMED.get(known.get(key, "")) for key in keys]

    def is_settled(self, capture: Capture, before: Capture | None) -> bool:
        """Whether a capture was compared with this one; an import may bring another before it."""
        row = self._database.fetch("SELECT before FROM changes WHERE key = ?", _key(capture))
        return row is not None and row[0] == (before and _key(before))

    def put(self, changes: Iterable[tuple[Capture, Capture | None, Change]]) -> None:
        """Keep what was found out of captures and those before them, all or nothing."""
        rows = [
            (_key(capture), before and _key(before), found.category, found.stage, found.similarity)
            for capture, before, found in changes
        ]
        with self._database.transaction() as db:
            db.executemany("INSERT OR REPLACE INTO changes VALUES (?, ?, ?, ?, ?)", rows)


def _key(capture: Capture) -> int:
    """By what the catalog tells captures apart: ids of foreign records may stand twice."""
    return hashed(capture.surt, str(capture.at), capture.record_id)


@contextmanager
def stored_categories(
    texts: Path, complain: Callable[[str], None]
) -> Iterator[Callable[[Capture], str | None]]:
    """What became of a URL with a capture, as far as documents have been read (a category)."""
    try:
        database = TextDatabase(texts, writable=False)
    except AsofError as error:  # the catalog is whole without it
        complain(f"asof: {error}")
        yield lambda capture: None
        return
    with closing(database):
        yield ChangeStore(database).category if database.is_current else lambda capture: None
