"""What the index holds, beside it: `derived/search/entries.db`. Rebuilt with it.

The index is committed first, then this. What a crash leaves between the two is entered again, and
taken out before (`begun`), so that nothing is lost and nothing is there twice.
"""

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path

from asof.clock import Instant
from asof.ledger import DerivedDatabase, Form, url_key
from asof.search.contents import Content
from asof.search.schema import VERSION
from asof.text.database import VERSION as TEXT_VERSION

# `page` is the hash of a key.
_FORM = Form(
    """
CREATE TABLE entries (id INTEGER PRIMARY KEY, page INTEGER NOT NULL, ended INTEGER);
CREATE INDEX entries_page ON entries (page);
CREATE TABLE waiting (key TEXT PRIMARY KEY, why TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE noted (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
""",
    ("entries", "waiting", "noted"),
    VERSION * 1000 + TEXT_VERSION,  # of other texts another index is made
    busy="The index of {} is being made by another process.",
    anew="Delete derived/search; `asof reindex --search` makes it again.",
)


class Lack(StrEnum):
    """What a key waits for before all of its contents can be entered."""

    TEXT = "text"  # it has not been read
    PAYLOAD = "payload"  # a revisit names it, and it is not in the archive


class Entries:
    """Of one index."""

    def __init__(self, folder: Path, *, writable: bool) -> None:
        self._database = DerivedDatabase(folder / "entries.db", _FORM, writable=writable)
        if writable:  # the index is on the disk when it is committed, and so has this to be
            self._database.db.execute("PRAGMA synchronous = FULL")
        self.close = self._database.close
        self.is_current = self._database.is_current

    @property
    def is_new(self) -> bool:
        return self._database.fetch("SELECT 1 FROM noted") is None

    def make_anew(self) -> None:
        self._database.make_anew()

    def of(self, keys: Iterable[str]) -> dict[int, Instant | None]:
        """The contents that the index holds of some keys, by id, and when each ended."""
        asked = json.dumps([url_key(key) for key in keys])
        sql = "SELECT id, ended FROM entries WHERE page IN (SELECT value FROM json_each(?))"
        return dict(self._database.fetch_all(sql, asked))

    def put(self, entered: Iterable[Content], gone: Iterable[int]) -> None:
        """What was entered and taken out; the index is committed."""
        rows = [(each.id, url_key(each.surt), each.ended) for each in entered]
        with self._database.transaction() as db:
            db.executemany("DELETE FROM entries WHERE id = ?", ((id,) for id in gone))
            db.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", rows)

    def waiting(self, why: Lack) -> list[str]:
        """Keys that lack something."""
        found = self._database.fetch_all("SELECT key FROM waiting WHERE why = ?", why)
        return [key for (key,) in found]

    def wait(self, lacks: Mapping[str, Lack | None]) -> None:
        """What each key lacks now."""
        still = ((key, why) for key, why in lacks.items() if why is not None)
        with self._database.transaction() as db:
            db.executemany("DELETE FROM waiting WHERE key = ?", ((key,) for key in lacks))
            db.executemany("INSERT INTO waiting VALUES (?, ?)", still)

    def draw_on(self, files: Mapping[str, int]) -> None:
        """What the files of the archive were, as an update began."""
        self._note("drawn on", json.dumps(files))

    def holds_more(self, files: Mapping[str, int]) -> bool:
        """Whether the index may hold what these files do not: some were taken away, or cut."""
        drawn_on = json.loads(self._noted("drawn on") or "{}")
        return any(files.get(file, 0) < size for file, size in drawn_on.items())

    @property
    def seen(self) -> Mapping[str, int]:
        """How far each file of the archive has been looked at."""
        found: Mapping[str, int] = json.loads(self._noted("seen") or "{}")
        return found

    def saw(self, files: Mapping[str, int]) -> None:
        self._note("seen", json.dumps(files))

    @property
    def begun(self) -> bool:
        """Whether the index may hold what is not told here."""
        return bool(self._noted("begun"))

    def begin(self, *, begun: bool = True) -> None:
        self._note("begun", "yes" if begun else "")

    def __len__(self) -> int:
        row = self._database.fetch("SELECT count(*) FROM entries")
        return 0 if row is None else int(row[0])

    def _noted(self, name: str) -> str:
        row = self._database.fetch("SELECT value FROM noted WHERE name = ?", name)
        return "" if row is None else str(row[0])

    def _note(self, name: str, value: str) -> None:
        with self._database.transaction() as db:
            db.execute("INSERT OR REPLACE INTO noted VALUES (?, ?)", (name, value))
