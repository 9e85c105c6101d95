"""The one SQLite database of an archive: opening, schema, and the transaction.

Catalog and frontier are tables of the same file, so that one transaction can hold both (the commit
protocol in ARCHITECTURE.md). The database is never the truth: `asof reindex` rebuilds it from the
WARC files. Instants are integer microseconds UTC.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from asof.errors import ArchiveError, StorageError

SCHEMA_VERSION = 3

_SCHEMA = """
CREATE TABLE crawls (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  seeds TEXT NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER,
  state TEXT NOT NULL,
  settings TEXT NOT NULL,
  note TEXT NOT NULL DEFAULT '',
  memory TEXT NOT NULL DEFAULT '',
  course TEXT
);
CREATE TABLE segments (
  no INTEGER PRIMARY KEY,
  file TEXT NOT NULL UNIQUE,
  crawl INTEGER REFERENCES crawls(no),
  committed INTEGER NOT NULL,
  sealed INTEGER NOT NULL DEFAULT 0
);
-- Key (surt, at, ...): a point lookup is one descent, a history one range scan. The record id
-- makes the key unique and a second import of the same record a no-op.
CREATE TABLE captures (
  surt TEXT NOT NULL,
  at INTEGER NOT NULL,
  record_id TEXT NOT NULL,
  url TEXT NOT NULL,
  kind TEXT NOT NULL,
  status INTEGER,
  media_type TEXT,
  digest TEXT,
  content TEXT,
  size INTEGER NOT NULL,
  segment INTEGER NOT NULL REFERENCES segments(no),
  offset INTEGER NOT NULL,
  length INTEGER NOT NULL,
  etag TEXT,
  last_modified INTEGER,
  redirect TEXT,
  truncated TEXT,
  profile TEXT,
  refers_to_url TEXT,
  refers_to_at INTEGER,
  anomalies TEXT,
  PRIMARY KEY (surt, at, record_id)
) WITHOUT ROWID;
-- Where a payload lies, by the first 60 bits of its digest: the record has the last word.
CREATE TABLE payloads (
  key INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL REFERENCES segments(no),
  offset INTEGER NOT NULL
);
-- `key` is a 64-bit hash of the URL: an index of such keys stays in memory far longer than one of
-- the URLs themselves, and every link of every page is looked up in it.
CREATE TABLE targets (
  no INTEGER PRIMARY KEY,
  crawl INTEGER NOT NULL REFERENCES crawls(no),
  key INTEGER NOT NULL,
  url TEXT NOT NULL,
  host TEXT NOT NULL,
  state TEXT NOT NULL,
  priority REAL NOT NULL,
  depth INTEGER NOT NULL,
  hops TEXT NOT NULL,
  via TEXT,
  tries INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  UNIQUE (crawl, key)
);
CREATE INDEX targets_queue ON targets (crawl, host, priority, no) WHERE state = 'queued';
"""


class Ledger:
    """A connection to the archive's database. One writer at a time; readers never block."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        self.writable = writable
        try:
            self.db = _connect(path) if writable else connect_for_reading(path)
            try:
                self._prepare()
            except BaseException:
                self.db.close()
                raise
        except sqlite3.Error as error:
            raise translate(error, path) from error

    def _prepare(self) -> None:
        self.db.execute("PRAGMA busy_timeout = 10000")
        self.db.execute(f"PRAGMA cache_size = {-32000 if self.writable else -8000}")
        self.db.execute("PRAGMA foreign_keys = OFF")
        if self.writable:
            # FULL: a commit that returned survives a power cut. With NORMAL the last groups could
            # roll back although their records are safe in the WARC.
            self.db.execute("PRAGMA synchronous = FULL")
            if self._version() == 0:
                self._create()
        version = self._version()
        if version != SCHEMA_VERSION:
            raise ArchiveError(
                f"{self.path} has schema version {version}; this asof reads {SCHEMA_VERSION}.",
                hint="Run `asof reindex` to rebuild it from the WARC files.",
            )
        if self.writable:
            self.db.execute("PRAGMA journal_mode = WAL")
            # 64 MB: a large frontier touches pages all over the file, and the fewer the checkpoints
            # the more often a page is written once for many changes (a million URLs: 32,000 new
            # ones a second with SQLite's own 4 MB, 39,000 with this).
            self.db.execute("PRAGMA wal_autocheckpoint = 16000")

    def _version(self) -> int:
        return int(self.db.execute("PRAGMA user_version").fetchone()[0])

    def _create(self) -> None:
        with self.transaction():
            # Asked again under the lock: another process may have made the tables meanwhile.
            if self._version() != 0:
                return
            if self.db.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
                raise ArchiveError(
                    f"{self.path} is a database of another program.",
                    hint="Name another folder for the archive.",
                )
            for statement in _SCHEMA.split(";\n"):
                self.db.execute(statement)
            self.db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, durable on return, unless rolled back inside. An open one is joined."""
        if self._is_open():
            yield self.db
            return
        self.begin()
        try:
            yield self.db
        except sqlite3.Error as error:
            self.rollback()
            raise translate(error, self.path) from error
        except BaseException:
            self.rollback()
            raise
        if self._is_open():
            self.commit()

    def _is_open(self) -> bool:
        return self.db.in_transaction

    def begin(self) -> None:
        """Open a transaction that stays open until `commit`; what it holds is seen here at once."""
        try:
            self.db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def commit(self) -> None:
        """Make the open transaction durable; on failure nothing of it remains."""
        try:
            self.db.execute("COMMIT")
        except sqlite3.Error as error:
            self.rollback()
            raise translate(error, self.path) from error

    def rollback(self) -> None:
        """Forget the open transaction, if SQLite has not done so itself."""
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""
        self.db.close()


def _connect(name: Path | str) -> sqlite3.Connection:
    uri = isinstance(name, str)
    return sqlite3.connect(name, uri=uri, isolation_level=None, check_same_thread=False)


def connect_for_reading(path: Path) -> sqlite3.Connection:
    """Read-only; on a medium that cannot be written, without the shared-memory file WAL needs."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    db = _connect(uri)
    try:
        db.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.Error as error:
        db.close()
        # A database that is merely busy or damaged must not be read past its locks.
        if not error.sqlite_errorname.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
            raise
        log = Path(f"{path}-wal")
        if log.exists() and log.stat().st_size:
            raise ArchiveError(
                f"{path} was not closed cleanly and its folder cannot be written.",
                hint="Copy the archive to where it can be written, then ask again.",
            ) from error
        db = _connect(f"{uri}&immutable=1")
    return db


def translate(error: sqlite3.Error, path: Path) -> StorageError | ArchiveError:
    """The one place where SQLite's errors become ours."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return StorageError(
            f"{path} cannot be written: {error}.",
            hint="Make room or mend the disk, then run the same command again; nothing is lost.",
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return ArchiveError(
            f"{path} is in use by another program.",
            hint="Wait until that one has ended, then run the same command again.",
        )
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return ArchiveError(
            f"{path} is damaged ({error}).",
            hint="Run `asof reindex` to rebuild it from the WARC files.",
        )
    return ArchiveError(f"{path} cannot be used: {error}.", hint="Check the path and its rights.")
