"""The connection to the database: opening, upgrading, and the transaction."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from asof.clock import nap
from asof.errors import ArchiveError, StorageError
from asof.files import refuse_link
from asof.ledger.migrations import STEPS, run, upgrade, version_of
from asof.ledger.schema import SCHEMA, SCHEMA_VERSION

# Milliseconds that a lock is waited for, and as long in tries of a tenth of a second.
_BUSY, _TRIES = 10_000, 100
# What SQLite says where it cannot make its file of locks: on a disk that is full or read-only.
_NO_LOCKS = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_IOERR_SHM")


class Ledger:
    """A connection to the archive's database. One writer at a time; readers never block."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        self.writable = writable
        self._file, self._followed = _identity(path), 0
        with translated(path):
            if writable:
                refuse_link(path)
                refuse_odd(path)
            self.db = _connect(path) if writable else connect_for_reading(path)
            try:
                self._prepare()
            except BaseException:
                self.db.close()
                raise

    def _prepare(self) -> None:
        self.db.execute(f"PRAGMA busy_timeout = {_BUSY}")
        self.db.execute(f"PRAGMA cache_size = {-32000 if self.writable else -8000}")
        self.db.execute("PRAGMA foreign_keys = OFF")
        if self.writable:
            # FULL: a commit that returned survives a power cut. With NORMAL the last groups could
            # roll back although their records are safe in the WARC.
            self.db.execute("PRAGMA synchronous = FULL")
            if version_of(self.db) == 0:
                self._create()
            elif version_of(self.db) in STEPS:
                with self.transaction() as db:
                    upgrade(db)
        if (version := version_of(self.db)) != SCHEMA_VERSION:
            raise _refusal(self.path, version)
        if self.writable:
            self._write_ahead()
            # 64 MB: a large frontier touches pages all over the file, and the fewer the checkpoints
            # the more often a page is written once for many changes (a million URLs: 32,000 new
            # ones a second with SQLite's own 4 MB, 39,000 with this).
            self.db.execute("PRAGMA wal_autocheckpoint = 16000")

    def _write_ahead(self) -> None:
        """Others that open it just now are waited for: with this, SQLite itself does not always."""
        for left in reversed(range(_TRIES)):
            try:
                self.db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if not left or error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                nap(0.1)

    def _create(self) -> None:
        with self.transaction():
            # Asked again under the lock: another process may have made the tables meanwhile.
            if version_of(self.db) != 0:
                return
            if self.db.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
                raise ArchiveError(
                    f"{self.path} is a database of another program.",
                    hint="Name another folder for the archive.",
                )
            run(self.db, SCHEMA, SCHEMA_VERSION)

    def fetch(self, sql: str, values: Sequence[str | int] = ()) -> list[tuple[Any, ...]]:
        self._follow()
        with translated(self.path):
            return self.db.execute(sql, values).fetchall()

    def _follow(self) -> None:
        """A reader goes on in the file that took the place of its own: SQLite would stay in that.

        The old connection is closed when the last thread has let go of it.
        """
        found = None if self.writable else _identity(self.path)
        if found is not None and found != self._file:
            self.db, self._file = Ledger(self.path, writable=False).db, found
            self._followed += 1

    def version(self) -> tuple[int, int, int]:
        """Another value whenever something was written: by others, or by this connection."""
        told = int(self.fetch("PRAGMA data_version")[0][0])
        return self._followed, told, self.db.total_changes

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, durable on return, unless rolled back inside. An open one is joined."""
        with translated(self.path):
            is_joined = self.db.in_transaction
            if is_joined:
                yield self.db
                return
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield self.db
                if self.db.in_transaction:
                    self.db.execute("COMMIT")
            except BaseException:
                self.rollback()
                raise

    def overwrite(self, path: Path) -> bool:
        """Give another database the content of this one, in one transaction of that one.

        A file put in its place instead would meet the write-ahead log of the old one, and cut off
        those who have that open. False, and nothing done, where there is no database to write to.
        """
        if not path.exists():
            return False
        refuse_odd(path)
        with translated(path), closing(_connect(path)) as other:
            try:
                other.execute(f"PRAGMA busy_timeout = {_BUSY}")
                other.execute("PRAGMA synchronous = FULL")
                other.execute("PRAGMA journal_mode = WAL")
                self.db.backup(other)
                other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode & 0xFF not in (
                    sqlite3.SQLITE_NOTADB,
                    sqlite3.SQLITE_CORRUPT,
                ):
                    raise
                return False
        return True

    @contextmanager
    def attempt(self) -> Iterator[Callable[[], None]]:
        """A part of a transaction that can be undone by itself: by an error, or by the value."""
        with self.transaction() as db:
            undone = False

            def undo() -> None:
                nonlocal undone
                undone = True

            db.execute("SAVEPOINT attempt")
            try:
                yield undo
            except BaseException:
                undo()
                raise
            finally:
                if db.in_transaction:  # SQLite may have rolled back all of it
                    if undone:
                        db.execute("ROLLBACK TO attempt")
                    db.execute("RELEASE attempt")

    def rollback(self) -> None:
        """Forget the open transaction, if SQLite has not done so itself."""
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""
        self.db.close()


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is there now, or None."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def discard(path: Path) -> None:
    """Take a database away, before its log: nobody opens it without."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def is_outdated(path: Path) -> bool:
    """Whether a database was written by an earlier asof, and is upgraded by opening it to write."""
    with translated(path), closing(connect_for_reading(path)) as db:
        return version_of(db) in STEPS


def _refusal(path: Path, version: int) -> ArchiveError:
    which = "a later"
    hint = "Install that one, or run `asof reindex` to rebuild it from the WARC files."
    if version in STEPS:
        which = "an earlier"
        hint = "Open the archive where it can be written: that upgrades it, and nothing is lost."
    found = f"has schema version {version}; this asof reads {SCHEMA_VERSION}."
    return ArchiveError(f"{path} was written by {which} asof: it {found}", hint=hint)


def refuse_odd(path: Path) -> None:
    """Stop where a database, or what SQLite keeps beside it, is no file: a pipe has no end."""
    for end in ("", "-wal", "-shm", "-journal"):
        found = path.with_name(path.name + end)
        if found.exists() and not found.is_file():
            hint = "Remove it, then run the same again."
            raise ArchiveError(f"{found} is not a file.", hint=hint)


def _connect(name: Path | str) -> sqlite3.Connection:
    uri = isinstance(name, str)
    return sqlite3.connect(name, uri=uri, isolation_level=None, check_same_thread=False)


def connect_for_reading(path: Path) -> sqlite3.Connection:
    """Read-only; on a medium that cannot be written, without the shared-memory file WAL needs."""
    refuse_odd(path)
    uri = f"{path.resolve().as_uri()}?mode=ro"
    db = _connect(uri)
    try:
        db.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.Error as error:
        db.close()
        # A database that is merely busy or damaged must not be read past its locks.
        if not error.sqlite_errorname.startswith(_NO_LOCKS):
            raise
        log = Path(f"{path}-wal")
        if log.exists() and log.stat().st_size:
            raise ArchiveError(
                f"{path} was not closed cleanly and its folder cannot be written.",
                hint="Copy the archive to where it can be written, then ask again.",
            ) from error
        db = _connect(f"{uri}&immutable=1")
    return db


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error


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
