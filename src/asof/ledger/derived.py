"""Databases of what is derived from an archive: rebuilt, whenever they were made otherwise.

They stand apart from the archive's own, so that making them can go on beside a crawl, which holds
that one, and so that nothing is lost when one is deleted.
"""

import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asof.errors import ArchiveError
from asof.files import open_plain, refuse_link
from asof.ledger.connection import connect_for_reading, refuse_odd, translate

# Of an archive that may only be read.
_NOT_OURS = (errno.EROFS, errno.EACCES, errno.EPERM)


@dataclass(frozen=True, slots=True)
class Form:
    """What a database is made of; `version` is one up whenever the same would be made otherwise.

    `busy` says of the archive in {} that another process writes it, `anew` how a damaged one is
    made again.
    """

    schema: str
    tables: tuple[str, ...]
    version: int
    busy: str
    anew: str


class DamagedDatabase(ArchiveError):
    """A database of ours that cannot be read."""


class DerivedDatabase:
    """A connection to a database. One process writes at a time; readers never wait."""

    def __init__(self, path: Path, form: Form, *, writable: bool) -> None:
        self.path = path
        self._form = form
        with ExitStack() as held, self._translated():
            if writable:
                held.callback(os.close, _hold(path, form))
                refuse_link(path)
                refuse_odd(path)
                self.db = sqlite3.connect(path, isolation_level=None)
            else:
                self.db = connect_for_reading(path)
            held.callback(self.db.close)
            self._prepare(writable=writable)
            # Whether it was written by readers that read as these do.
            self.is_current = self._version() == form.version
            self._held = held.pop_all()

    def _prepare(self, *, writable: bool) -> None:
        self.db.execute("PRAGMA busy_timeout = 10000")
        if not writable:
            return
        self.db.execute("PRAGMA journal_mode = WAL")
        # What a power cut takes away is made again.
        self.db.execute("PRAGMA synchronous = NORMAL")
        if self._version() != self._form.version:
            self.make_anew()

    def make_anew(self) -> None:
        """Empty, with the tables of today."""
        with self.transaction():
            for table in self._form.tables:
                self.db.execute(f"DROP TABLE IF EXISTS {table}")
            for statement in self._form.schema.split(";\n"):
                self.db.execute(statement)
            self.db.execute(f"PRAGMA user_version = {self._form.version}")

    def _version(self) -> int:
        return int(self.db.execute("PRAGMA user_version").fetchone()[0])

    def fetch(self, sql: str, *values: int | str) -> tuple[Any, ...] | None:
        """The first row of an answer, if it has any."""
        with self._translated():
            row: tuple[Any, ...] | None = self.db.execute(sql, values).fetchone()
            return row

    def fetch_all(self, sql: str, *values: int | str) -> list[tuple[Any, ...]]:
        with self._translated():
            return self.db.execute(sql, values).fetchall()

    def damaged(self, what: object) -> DamagedDatabase:
        return DamagedDatabase(f"{self.path} is damaged ({what}).", hint=self._form.anew)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; within another, a part of that one."""
        is_part = self.db.in_transaction
        if is_part:
            yield self.db
            return
        with self._translated():
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
    def _translated(self) -> Iterator[None]:
        """SQLite's errors become ours; of damage, with the way out of it that this one has."""
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
                raise self.damaged(error) from error
            raise translate(error, self.path) from error


def _hold(path: Path, form: Form) -> int:
    """A lock that ends with this process: two of them would do everything twice."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = open_plain(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT)
    except OSError as error:
        if error.errno not in _NOT_OURS:
            raise
        what = f"{path} cannot be written ({os.strerror(error.errno)})."
        raise ArchiveError(what, hint="Check the rights of its folder.") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        hint = "Wait until it has finished; what it has done is kept."
        archive = str(path).rpartition("/derived/")[0]
        raise ArchiveError(form.busy.format(archive), hint=hint) from None
    return handle
