from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.errors import ArchiveError, StorageError
from asof.ledger import SCHEMA_VERSION, Ledger, translate

NOBODY = 65534


@contextmanager
def ledger(path: Path, *, writable: bool = True) -> Iterator[Ledger]:
    book = Ledger(path, writable=writable)
    try:
        yield book
    finally:
        book.close()


def add(book: Ledger, name: str) -> None:
    book.db.execute(
        "INSERT INTO crawls (id, seeds, started, state, settings) VALUES (?, '[]', 0, 'x', '{}')",
        (name,),
    )


def names(book: Ledger) -> list[str]:
    return [row[0] for row in book.db.execute("SELECT id FROM crawls ORDER BY no")]


class TestOpening:
    def test_a_new_file_gets_the_tables_of_catalog_and_frontier(self, tmp_path: Path) -> None:
        with ledger(tmp_path / "asof.db") as book:
            rows = book.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            assert {row[0] for row in rows} == {
                "crawls",
                "segments",
                "captures",
                "public_hosts",
                "payloads",
                "targets",
                "patterns",
            }
            assert book.db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)

    def test_every_commit_is_forced_to_disk_and_readers_never_block(self, tmp_path: Path) -> None:
        with ledger(tmp_path / "asof.db") as book:
            assert book.db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert book.db.execute("PRAGMA synchronous").fetchone() == (2,)
            with book.transaction():
                add(book, "half")
                with ledger(tmp_path / "asof.db", writable=False) as reader:
                    assert names(reader) == []

    def test_opening_again_keeps_what_is_there(self, tmp_path: Path) -> None:
        for name in ("one", "two"):
            with ledger(tmp_path / "asof.db") as book, book.transaction():
                add(book, name)
        with ledger(tmp_path / "asof.db", writable=False) as book:
            assert names(book) == ["one", "two"]

    def test_many_processes_may_create_it_at_once(self, tmp_path: Path) -> None:
        openers = [subprocess.Popen([sys.executable, "-c", _OPENER, tmp_path]) for _ in range(4)]
        time.sleep(0.5)  # all have started
        (tmp_path / "go").touch()
        assert [opener.wait(20) for opener in openers] == [0] * 4

    def test_who_opens_it_waits_for_others_that_do(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The change to a write-ahead log is refused at once while another reads."""
        path = tmp_path / "asof.db"
        Ledger(path, writable=True).close()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("PRAGMA journal_mode = DELETE")
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM crawls").fetchone()
            naps: list[float] = []

            def nap(seconds: float) -> None:
                naps.append(seconds)
                if len(naps) == 3:
                    other.execute("COMMIT")

            monkeypatch.setattr("asof.ledger.connection.nap", nap)
            monkeypatch.setattr("asof.ledger.connection._BUSY", 0)
            with ledger(path) as book:
                assert book.db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert len(naps) == 3

    def test_a_reader_cannot_write(self, tmp_path: Path) -> None:
        ledger_path = tmp_path / "asof.db"
        Ledger(ledger_path, writable=True).close()
        with (
            ledger(ledger_path, writable=False) as book,
            pytest.raises(ArchiveError, match="readonly"),
            book.transaction(),
        ):
            add(book, "no")

    def test_a_reader_does_not_create_a_database(self, tmp_path: Path) -> None:
        with pytest.raises(ArchiveError, match="cannot be used"):
            Ledger(tmp_path / "asof.db", writable=False)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("writable", [True, False])
    def test_another_version_is_refused_with_the_way_out(
        self, tmp_path: Path, writable: bool
    ) -> None:
        path = tmp_path / "asof.db"
        with ledger(path) as book:
            book.db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        with pytest.raises(ArchiveError, match=f"schema version {SCHEMA_VERSION + 1}") as caught:
            Ledger(path, writable=writable)
        assert "asof reindex" in caught.value.hint

    @pytest.mark.parametrize("writable", [True, False])
    def test_a_file_that_is_no_database_is_named_with_the_way_out(
        self, tmp_path: Path, writable: bool
    ) -> None:
        path = tmp_path / "asof.db"
        path.write_bytes(b"<html>not a database</html>" * 100)
        with pytest.raises(ArchiveError, match=r"asof\.db is damaged") as caught:
            Ledger(path, writable=writable)
        assert "asof reindex" in caught.value.hint
        assert path.read_bytes().startswith(b"<html>")

    def test_the_database_of_another_program_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "asof.db"
        foreign = sqlite3.connect(path)
        foreign.execute("CREATE TABLE bookmarks (url TEXT)")
        foreign.close()
        before = path.read_bytes()
        with pytest.raises(ArchiveError, match="another program"):
            Ledger(path, writable=True)
        assert path.read_bytes() == before

    def test_a_missing_folder_is_one_sentence(self, tmp_path: Path) -> None:
        with pytest.raises(ArchiveError, match="cannot be used"):
            Ledger(tmp_path / "no" / "asof.db", writable=True)

    def test_odd_letters_in_the_path_are_no_part_of_the_uri(self, tmp_path: Path) -> None:
        folder = tmp_path / "a b?mode=rw#é%20"
        folder.mkdir()
        Ledger(folder / "asof.db", writable=True).close()
        with ledger(folder / "asof.db", writable=False) as book:
            assert names(book) == []


class TestReadOnlyMedium:
    """A folder that cannot be written, as on a mounted image or another user's archive."""

    @pytest.fixture
    def folder(self) -> Iterator[Path]:
        # Not tmp_path: its parents are closed to the plain user that root becomes below.
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)

    @contextmanager
    def locked(self, folder: Path) -> Iterator[None]:
        """Make the folder unwritable; modes do not bind root, so root steps down meanwhile."""
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        root = os.geteuid() == 0
        if root:
            os.seteuid(NOBODY)
        try:
            yield
        finally:
            if root:
                os.seteuid(0)
            folder.chmod(0o755)

    def test_a_closed_archive_is_readable(self, folder: Path) -> None:
        with ledger(folder / "asof.db") as book, book.transaction():
            add(book, "one")
        with self.locked(folder):
            with ledger(folder / "asof.db", writable=False) as book:
                assert names(book) == ["one"]
            assert [path.name for path in folder.iterdir()] == ["asof.db"]

    def test_writing_there_is_refused_in_one_sentence(self, folder: Path) -> None:
        Ledger(folder / "asof.db", writable=True).close()
        with self.locked(folder), pytest.raises(ArchiveError, match="cannot be used"):
            Ledger(folder / "asof.db", writable=True)

    def test_what_only_the_log_holds_is_never_silently_left_out(self, folder: Path) -> None:
        """Copied from a running crawl: without its log the database would show an older state."""
        live = folder / "live"
        live.mkdir()
        copy = folder / "copy"
        copy.mkdir()
        with ledger(live / "asof.db") as book:
            with book.transaction():
                add(book, "one")
            for name in ("asof.db", "asof.db-wal"):
                shutil.copy(live / name, copy / name)
        folder.chmod(0o755)
        with self.locked(copy), pytest.raises(ArchiveError, match="not closed cleanly"):
            Ledger(copy / "asof.db", writable=False)
        # Where it can be written, the log is used.
        for path in copy.iterdir():
            path.chmod(0o644)
        with ledger(copy / "asof.db", writable=False) as book:
            assert names(book) == ["one"]


class TestTransactions:
    @pytest.fixture
    def book(self, tmp_path: Path) -> Iterator[Ledger]:
        with ledger(tmp_path / "asof.db") as book:
            yield book

    def test_an_exception_undoes_everything(self, book: Ledger) -> None:
        def work() -> None:
            with book.transaction():
                add(book, "one")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            work()
        assert names(book) == []
        assert not book.db.in_transaction

    def test_a_nested_transaction_joins_the_outer(self, book: Ledger) -> None:
        def work() -> None:
            with book.transaction():
                with book.transaction():
                    add(book, "inner")
                assert names(book) == ["inner"]
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            work()
        assert names(book) == []

    def test_a_transaction_may_be_rolled_back_inside(self, book: Ledger) -> None:
        with book.transaction():
            add(book, "one")
            book.rollback()
            book.rollback()
        assert names(book) == []

    def test_closing_forgets_an_open_transaction(self, tmp_path: Path, book: Ledger) -> None:
        book.db.execute("BEGIN IMMEDIATE")
        add(book, "one")
        book.close()
        with ledger(tmp_path / "asof.db", writable=False) as reader:
            assert names(reader) == []

    def test_after_an_error_the_next_transaction_works(self, book: Ledger) -> None:
        with pytest.raises(ArchiveError), book.transaction():
            book.db.execute("INSERT INTO nothing VALUES (1)")
        with book.transaction():
            add(book, "one")
        assert names(book) == ["one"]

    def test_the_reason_is_kept_when_sqlite_rolled_back_by_itself(self, book: Ledger) -> None:
        def work() -> None:
            with book.transaction():
                add(book, "one")
                book.db.execute("INSERT OR ROLLBACK INTO crawls SELECT * FROM crawls")

        with pytest.raises(ArchiveError, match="UNIQUE"):
            work()
        assert names(book) == []

    def test_a_full_disk_is_a_storage_error_and_nothing_is_half_written(self, book: Ledger) -> None:
        with book.transaction():
            add(book, "kept")
        pages = book.db.execute("PRAGMA page_count").fetchone()[0]
        book.db.execute(f"PRAGMA max_page_count = {pages}")

        def work() -> None:
            with book.transaction():
                for no in range(10_000):
                    add(book, f"crawl {no}")

        with pytest.raises(StorageError, match="full") as caught:
            work()
        assert "run the same command again" in caught.value.hint
        assert names(book) == ["kept"]

    def test_a_second_writer_is_told_who_is_in_the_way(self, tmp_path: Path, book: Ledger) -> None:
        with ledger(tmp_path / "asof.db") as other:
            other.db.execute("PRAGMA busy_timeout = 0")
            with (
                book.transaction(),
                pytest.raises(ArchiveError, match="in use") as caught,
                other.transaction(),
            ):
                pass
            assert "Wait" in caught.value.hint
            with other.transaction():
                add(other, "later")

    @given(st.lists(st.tuples(st.lists(st.integers(0, 5), max_size=4), st.booleans()), max_size=6))
    def test_the_tables_hold_exactly_what_was_committed(
        self, groups: list[tuple[list[int], bool]]
    ) -> None:
        expected: list[str] = []
        with tempfile.TemporaryDirectory() as folder, ledger(Path(folder) / "asof.db") as book:
            for no, (group, fails) in enumerate(groups):
                new = [f"{no}-{place}-{value}" for place, value in enumerate(group)]
                try:
                    with book.transaction():
                        for name in new:
                            add(book, name)
                        if fails:
                            raise ZeroDivisionError
                    expected += new
                except ZeroDivisionError:
                    pass
            assert names(book) == expected


_OPENER = """
import sys, time
from pathlib import Path
from asof.ledger import Ledger

folder = Path(sys.argv[1])
while not (folder / "go").exists():
    time.sleep(0.001)
for no in range(10):
    Ledger(folder / f"{no}.db", writable=True).close()
"""

_WRITER = """
import sys
from pathlib import Path
from asof.ledger import Ledger

book = Ledger(Path(sys.argv[1]), writable=True)
insert = "INSERT INTO crawls (id, seeds, started, state, settings) VALUES (?, '', 0, '', '')"
for no in range(1_000_000):
    with book.transaction() as db:
        db.execute(insert, (f"{no}a",))
        db.execute(insert, (f"{no}b",))
    print(no, flush=True)
"""


def test_what_was_committed_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "asof.db"
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE)
    with writer:
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(20)]
        writer.send_signal(signal.SIGKILL)
        lines += writer.stdout.readlines()
    told = [int(line) for line in lines if line.endswith(b"\n")]
    with ledger(path, writable=False) as book:
        kept = names(book)
    assert len(told) >= 20
    # All that was told is there; at most one group more, and never half of one.
    assert kept == [f"{no}{half}" for no in range(len(kept) // 2) for half in "ab"]
    assert len(told) <= len(kept) // 2 <= len(told) + 1


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("SQLITE_FULL", StorageError),
        ("SQLITE_IOERR_WRITE", StorageError),
        ("SQLITE_NOTADB", ArchiveError),
        ("SQLITE_CORRUPT_INDEX", ArchiveError),
        ("SQLITE_BUSY_SNAPSHOT", ArchiveError),
        ("SQLITE_CANTOPEN", ArchiveError),
    ],
)
def test_every_sqlite_error_becomes_ours_with_a_hint(code: str, kind: type) -> None:
    error = sqlite3.OperationalError("something")
    error.sqlite_errorname = code
    ours = translate(error, Path("asof.db"))
    assert type(ours) is kind
    assert "asof.db" in ours.what
    assert ours.hint.endswith(".")
