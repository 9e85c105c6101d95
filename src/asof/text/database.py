"""The database of what was read out of documents: `derived/text.db`. Rebuilt from the WARC files.

It stands apart from the archive's own database, so that reading can go on beside a crawl, which
holds that one, and so that nothing is lost when it is deleted. Texts lie packed in blocks of some
dozen documents; a document says which block, and where in it (Naumann 2011: "large files, each
compressed block by block, and an index").
"""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from asof.errors import ArchiveError
from asof.files import open_plain, refuse_link
from asof.ledger import connect_for_reading, translate

# One up whenever readers give other texts for the same bytes, or changes are judged otherwise:
# everything is then read again.
VERSION = 5

_ANEW = "Delete it; `asof reindex --text` reads the documents again."

_SCHEMA = """
CREATE TABLE blocks (no INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE documents (
  key INTEGER PRIMARY KEY,
  block INTEGER NOT NULL REFERENCES blocks(no),
  start INTEGER NOT NULL,
  size INTEGER NOT NULL,
  media_type TEXT NOT NULL,
  charset TEXT,
  title TEXT,
  language TEXT,
  date TEXT,
  method TEXT NOT NULL,
  error TEXT
);
CREATE TABLE changes (
  key INTEGER PRIMARY KEY,
  before INTEGER,
  category TEXT NOT NULL,
  stage TEXT NOT NULL,
  similarity REAL
);
CREATE TABLE sketches (
  no INTEGER PRIMARY KEY,
  keys BLOB NOT NULL,
  sizes BLOB NOT NULL,
  slots BLOB NOT NULL,
  urls TEXT NOT NULL
);
CREATE TABLE complete (what TEXT PRIMARY KEY, state INTEGER NOT NULL);
"""
_TABLES = ("documents", "blocks", "changes", "sketches", "complete")


class TextDatabase:
    """A connection to the database. One process writes at a time; readers never wait."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        with ExitStack() as held, _translated(path):
            if writable:
                path.parent.mkdir(parents=True, exist_ok=True)
                held.callback(os.close, _hold(path))
                refuse_link(path)
                self.db = sqlite3.connect(path, isolation_level=None)
            else:
                self.db = connect_for_reading(path)
            held.callback(self.db.close)
            self._prepare(writable=writable)
            # Whether it was written by readers that read as these do.
            self.is_current = self._version() == VERSION
            self._held = held.pop_all()

    def _prepare(self, *, writable: bool) -> None:
        self.db.execute("PRAGMA busy_timeout = 10000")
        if not writable:
            return
        self.db.execute("PRAGMA journal_mode = WAL")
        # What a power cut takes away is read again.
        self.db.execute("PRAGMA synchronous = NORMAL")
        if self._version() == VERSION:
            return
        with self.transaction():
            for table in _TABLES:
                self.db.execute(f"DROP TABLE IF EXISTS {table}")
            for statement in _SCHEMA.split(";\n"):
                self.db.execute(statement)
            self.db.execute(f"PRAGMA user_version = {VERSION}")

    def _version(self) -> int:
        return int(self.db.execute("PRAGMA user_version").fetchone()[0])

    def fetch(self, sql: str, *values: int | str) -> tuple[Any, ...] | None:
        """The first row of an answer, if it has any."""
        with _translated(self.path):
            row: tuple[Any, ...] | None = self.db.execute(sql, values).fetchone()
            return row

    def fetch_all(self, sql: str, *values: int | str) -> list[tuple[Any, ...]]:
        with _translated(self.path):
            return self.db.execute(sql, values).fetchall()

    def is_complete(self, what: str, state: int) -> bool:
        """Whether all was done of something for this state of the archive, as `completed` says."""
        return self.fetch("SELECT 1 FROM complete WHERE what = ? AND state = ?", what, state) == (
            1,
        )

    def completed(self, what: str, state: int) -> None:
        with self.transaction() as db:
            db.execute("INSERT OR REPLACE INTO complete VALUES (?, ?)", (what, state))

    def damaged(self, what: object) -> ArchiveError:
        return ArchiveError(f"{self.path} is damaged ({what}).", hint=_ANEW)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; within another, a part of that one."""
        is_part = self.db.in_transaction
        if is_part:
            yield self.db
            return
        with _translated(self.path):
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield self.db
                self.db.execute("COMMIT")
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self._held.close()


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """SQLite's errors become ours; of damage, with the way out of it that this database has."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            raise ArchiveError(f"{path} is damaged ({error}).", hint=_ANEW) from error
        raise translate(error, path) from error


def _hold(path: Path) -> int:
    """A lock that ends with this process: two of them would read everything twice."""
    handle = open_plain(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise ArchiveError(
            f"The texts of {path.parent.parent} are being read by another process.",
            hint="Wait until it has finished; what it reads is kept.",
        ) from None
    return handle
