"""What every `Writer` promises, proven on each of them: the crawl's own process, and one beside it.

A write that has returned is on the disk, in the order of the groups; one that failed says why in
the same words whoever did the work, and leaves the archive as it was.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from asof.archive import OpenArchive
from asof.archive.journal import CommitGroup
from asof.archive.recovery import recover
from asof.archive.reindex import reindex
from asof.config import Config
from asof.crawl.writer import OwnWriter, ProcessWriter, Writer, open_writer
from asof.errors import AsofError, StorageError, UsageError
from asof.files import sync_folder
from asof.frontier.queue import Applied, Changes, Frontier
from asof.frontier.states import Event
from asof.ledger import Ledger
from asof.model import Target
from asof.testing import SimulatedClock
from asof.warc import write as warc_write
from asof.warc.info import read_previous
from asof.warc.reader import scan
from asof.warc.record import Record, StoredRecord
from support.exchanges import CRAWL, START
from support.writing_desk import NOTHING, ROOMY, Desk, group, noise, unit, url

TESTS = Path(__file__).parents[1]


@pytest.fixture(params=["own", "process"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    return Desk(request.param, tmp_path / "archive")


def kinds_and_urls(path: Path) -> list[tuple[str, str | None]]:
    """What warcio finds in a file, in order."""
    with path.open("rb") as stream:
        return [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"))
            for record in ArchiveIterator(stream)
        ]


def is_sound(path: Path) -> bool:
    """By the digests of every record."""
    checker = Checker(type("Options", (), {"verbose": False, "inputs": []}))
    checker.process_one(str(path))
    return bool(checker.exit_value == 0)


def of(*names: object) -> list[tuple[str, str | None]]:
    return [(kind, url(n)) for n in names for kind in ("request", "response", "metadata")]


# -- What a write that has returned means ---------------------------------------------------------


def test_what_was_written_is_in_the_file_and_in_the_database(desk: Desk) -> None:
    """For others to see, at once: the records to warcio, the rows to any connection."""
    with desk:
        desk.write(group("a", "b"))
        [path] = desk.files()
        assert kinds_and_urls(path) == [("warcinfo", None), *of("a", "b")]
        assert is_sound(path)
        assert desk.urls() == [url("a"), url("b")]
        assert desk.rows("SELECT file, committed, sealed FROM segments") == [
            (path.name, path.stat().st_size, 0)
        ]


def test_records_are_safe_before_a_row_speaks_of_them(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit protocol: append, sync, then the transaction; file and folder are both synced."""
    told = tmp_path / "told"
    plain_sync, plain_folder = warc_write._datasync, sync_folder
    plain_transaction = Ledger.transaction

    def tell(word: str) -> None:
        with told.open("a") as file:
            file.write(f"{word}\n")

    def sync(handle: int) -> None:
        tell(f"sync {os.fstat(handle).st_size}")
        plain_sync(handle)

    def folder(path: Path) -> None:
        tell("folder")
        plain_folder(path)

    @contextmanager
    def transaction(ledger: Ledger) -> Iterator[sqlite3.Connection]:
        is_own = not ledger.db.in_transaction
        if is_own:
            tell("begin")
        with plain_transaction(ledger) as db:
            yield db
        if is_own:
            tell("commit")

    with monkeypatch.context() as patch:
        patch.setattr(warc_write, "_datasync", sync)
        patch.setattr(warc_write, "sync_folder", folder)
        patch.setattr(Ledger, "transaction", transaction)
        with desk:
            told.unlink(missing_ok=True)  # what it takes to open an archive
            desk.write(group("a"))
            first = desk.files()[0].stat().st_size
            desk.write(group("b"))
            second = desk.files()[0].stat().st_size
            assert told.read_text().splitlines() == [
                f"sync {first}", "folder", "begin", "commit", f"sync {second}", "begin", "commit",
            ]  # fmt: skip


def test_what_was_learnt_is_committed_with_the_records(desk: Desk) -> None:
    """And the writer tells what it came to."""
    with desk:
        frontier = Frontier(desk.archive.ledger, desk.archive.catalog.crawl_no(CRAWL.id))
        frontier.add([Target(url("a")), Target(url("b")), Target(url("a"))])
        frontier.leave_out([(Target(url("out")), "other host")])
        frontier.settle(Target(url("c")), Event.CAPTURED)
        assert desk.write(group("c"), frontier.take_changes()) == Applied(3, 0, 1)
        assert desk.rows("SELECT url, state FROM targets ORDER BY no") == [
            (url("a"), "queued"),
            (url("b"), "queued"),
            (url("c"), "done"),
            (url("out"), "left_out"),
        ]


def test_what_was_learnt_without_any_record_is_committed_too(desk: Desk) -> None:
    with desk:
        frontier = Frontier(desk.archive.ledger, desk.archive.catalog.crawl_no(CRAWL.id))
        frontier.add([Target(url("a"))])
        assert desk.write(CommitGroup(), frontier.take_changes()) == Applied(1, 0, 0)
        assert desk.rows("SELECT url FROM targets") == [(url("a"),)]
        assert desk.files() == []


def test_groups_and_their_records_keep_their_order(desk: Desk) -> None:
    names = [f"{n}" for n in random.Random(1).sample(range(100), 30)]
    with desk:
        for at in range(0, 30, 6):
            desk.write(group(*names[at : at + 6]))
        [path] = desk.files()
        assert kinds_and_urls(path)[1:] == of(*names)


def named_before(path: Path) -> str:
    """The file that a file of a crawl names as the one before it."""
    info = next(scan(path))
    assert isinstance(info, StoredRecord)
    found = read_previous(info)
    assert found is not None
    assert found[0] == path.name
    return found[1]


# -- Files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("per_group", "most"), [(1, 5_000), (3, 5_000), (3, 10_000), (4, 20_000), (24, 5_000)]
)
def test_a_file_that_is_full_is_followed_by_another(desk: Desk, per_group: int, most: int) -> None:
    """Wherever in a group that falls: no record is lost, none is torn from its unit."""
    names = [f"{n:02}" for n in range(24)]
    desk.config = Config(segment_bytes=most)
    with desk:
        for at in range(0, 24, per_group):
            desk.write(group(*names[at : at + per_group]))
        files = desk.files()
        assert len(files) > 1
        found = []
        for path in files:
            first, *rest = kinds_and_urls(path)
            assert first == ("warcinfo", None)
            assert len(rest) % 3 == 0
            found += rest
            assert is_sound(path)
            if path != files[-1]:
                assert path.stat().st_size >= most
        assert found == of(*names)
        segments = desk.archive.segments()
        assert [s.committed for s in segments] == [path.stat().st_size for path in files]
        assert [s.sealed for s in segments] == [True] * (len(files) - 1) + [False]
        assert [named_before(path) for path in files] == ["", *(path.name for path in files[:-1])]
        for name in names:
            capture = desk.archive.as_of(url(name))
            assert capture is not None
            assert b"".join(desk.archive.read(capture).payload()) == noise(name)


def test_the_next_writer_of_a_crawl_goes_on_with_its_last_file(desk: Desk) -> None:
    with desk:
        desk.write(group("a"))
        desk.writer.close()
        desk.writer = desk.hire()
        desk.write(group("b"))
        [path] = desk.files()
        assert kinds_and_urls(path)[1:] == of("a", "b")


def test_a_spooled_body_is_stored_and_its_file_removed(desk: Desk, tmp_path: Path) -> None:
    body, spool = noise("big", 3_000_000), tmp_path / "spooled"
    units = [unit("a", b"before"), unit("big", body, spool), unit("b", b"after")]
    with desk:
        desk.write(CommitGroup(units, taken=START))  # type: ignore[arg-type]
        assert not spool.exists()
        [path] = desk.files()
        assert kinds_and_urls(path)[1:] == of("a", "big", "b")
        assert is_sound(path)
        capture = desk.archive.as_of(url("big"))
        assert capture is not None
        assert capture.size == len(body)
        assert b"".join(desk.archive.read(capture).payload()) == body


# -- When it cannot be done -----------------------------------------------------------------------


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[None]:
    """A file system of its own; unmounted whatever happens."""
    path.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        if os.environ.get("CI") == "true":
            pytest.fail(f"a tmpfs cannot be mounted: {done.stderr}")
        pytest.skip(f"a tmpfs cannot be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(path)], check=True)


@contextmanager
def read_only(path: Path) -> Iterator[None]:
    """A folder in which nothing can be written, not even by root."""
    if os.geteuid():
        path.chmod(0o555)
        try:
            yield
        finally:
            path.chmod(0o755)
        return
    subprocess.run(["mount", "--bind", str(path), str(path)], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(path)], check=True)
        yield
    finally:
        subprocess.run(["umount", str(path)], check=True)


def nothing_is_hidden(desk: Desk) -> None:
    """The next start knows of all that is in the files: as much as a rebuild from them would."""
    rows = (
        "SELECT c.*, s.file, s.committed FROM captures c JOIN segments s ON c.segment = s.no "
        "ORDER BY surt, at, record_id"
    )
    desk.writer.close()
    desk.archive.close()
    with OpenArchive.write(desk.root, purpose="test") as archive:
        recover(archive)
        known = desk.rows(rows)
    rebuilt = reindex(archive.folder, spread=map, progress=lambda size: None)
    assert rebuilt.damage == ()
    assert known == desk.rows(rows)


def test_a_full_disk_is_said_in_one_sentence(desk: Desk, tmp_path: Path) -> None:
    """The same type, sentence and hint from both, and what was committed before stays."""
    disk = tmp_path / "disk"
    desk.root = disk / "archive"
    with small_disk(disk, "1m"), desk:
        desk.write(group("a"))
        [path] = desk.files()
        size = path.stat().st_size
        with pytest.raises(StorageError) as caught:
            desk.write(group("b", "c", size=800_000))
        assert type(caught.value) is StorageError
        assert caught.value.what == f"{path} cannot be written: No space left on device."
        assert caught.value.hint.startswith("Make room")
        assert str(caught.value) == f"{caught.value.what} {caught.value.hint}"
        assert path.stat().st_size == size
        assert desk.urls() == [url("a")]
        nothing_is_hidden(desk)


def test_a_database_without_room_is_said_in_one_sentence(desk: Desk, tmp_path: Path) -> None:
    """The records have found room, the rows that speak of them have not."""
    disk = tmp_path / "disk"
    desk.root = disk / "archive"
    with small_disk(disk, "2m"), desk:
        desk.write(group("a"))
        frontier = Frontier(desk.archive.ledger, desk.archive.catalog.crawl_no(CRAWL.id))
        frontier.add([Target(url("x" * 2_000 + str(n))) for n in range(1_000)])
        with pytest.raises(StorageError) as caught:
            desk.write(group("b"), frontier.take_changes())
        assert caught.value.what.startswith(f"{desk.archive.folder.db} cannot be written: ")
        assert caught.value.hint.startswith("Make room")
        assert desk.urls() == [url("a")]


def test_a_read_only_folder_is_said_in_one_sentence(desk: Desk) -> None:
    with desk:
        with read_only(desk.archive.folder.warc), pytest.raises(UsageError) as caught:
            desk.write(group("a"))
        name = f"000001-{CRAWL.id}.warc.gz"
        refused = os.strerror(13 if os.geteuid() else 30)
        path = desk.archive.folder.warc / name
        assert caught.value.what == f"{path} cannot be written: {refused}."
        assert caught.value.hint == "Check the path and its rights."
        nothing_is_hidden(desk)


@pytest.mark.parametrize("where", ["first", "last"])
def test_a_group_that_cannot_be_stored_leaves_nothing_behind(
    desk: Desk, tmp_path: Path, where: str
) -> None:
    """Neither records that no row will ever speak of, since others follow them, nor spool files."""
    spool = tmp_path / "spooled"
    broken = unit("broken", noise("broken", 5_000), spool)
    os.truncate(spool, 3_000)
    units = [unit("a", noise("a")), unit("b", noise("b"))]
    units.insert(0 if where == "first" else 2, broken)
    with desk:
        desk.write(group("before"))
        with pytest.raises(StorageError, match="A body of 5000 bytes has 3000 bytes") as caught:
            desk.write(CommitGroup(units, taken=START))  # type: ignore[arg-type]
        assert caught.value.hint
        assert not spool.exists()
        assert desk.urls() == [url("before")]
        with suppress(StorageError):  # a writer may refuse to go on after a failure
            desk.write(group("after"))
        nothing_is_hidden(desk)


def test_a_group_whose_transaction_failed_is_not_hidden_by_the_next(desk: Desk) -> None:
    """Its records are on the disk; a row must speak of them in the end, or they must be gone."""
    bad = Changes(((1, 2),), (), ())  # type: ignore[arg-type]
    with desk:
        desk.write(group("a"))
        with pytest.raises(AsofError) as caught:
            desk.write(group("b"), bad)
        assert "cannot be used" in str(caught.value)
        with suppress(AsofError):
            desk.write(group("c"))
        nothing_is_hidden(desk)


def test_an_error_of_another_kind_comes_back_as_it_is(desk: Desk) -> None:
    plain = unit("a", b"body")
    fields = (*plain[1].fields, ("X-Long", "x" * 70_000))
    with desk:
        with pytest.raises(UsageError, match="longer than 64 KiB") as caught:
            desk.write(CommitGroup([(Record(fields, plain[1].block),)], taken=START))
        assert type(caught.value) is UsageError
        assert caught.value.exit_code == 2
        nothing_is_hidden(desk)


# -- The end --------------------------------------------------------------------------------------


def open_files() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def test_closing_lets_go_of_everything(desk: Desk) -> None:
    """Files and processes: as many are open after it as before."""
    with desk:
        desk.writer.close()
        before = open_files()
        writers = []
        for _ in range(3):
            desk.writer = desk.hire()
            writers.append(desk.writer)
            desk.write(group("a"))
            desk.writer.close()
        names = [process.name for process in multiprocessing.active_children()]
        assert "asof-writer" not in names
        assert open_files() == before


def test_a_writer_that_was_never_asked_can_be_closed(desk: Desk) -> None:
    with desk:
        desk.writer.close()
        assert desk.files() == []


KILLED = """
import asyncio, os, pickle, signal, sys, time
from pathlib import Path
from asof.warc import write as warc_write
from support import writing_desk as suite

kind, root, moment = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
plain = warc_write._datasync

def slow(handle):
    plain(handle)
    time.sleep(0.4)

with suite.Desk(kind, root) as desk:
    desk.write(suite.group("a"))
    if moment == "in the middle of a commit":
        desk.writer.close()
        warc_write._datasync = slow
        desk.writer = desk.hire()  # with a copy of this process, slow as it is now
    if moment != "between two groups":
        message = pickle.dumps((suite.group("b", size=2_000_000), suite.NOTHING))
        head = len(message).to_bytes(4, "big")
        sent = len(message) // 2 if moment == "in the middle of a group" else len(message)
        pipe = desk.writer._pipe
        os.write(pipe.fileno(), head)
        left = memoryview(message)[:sent]
        while left:
            left = left[os.write(pipe.fileno(), left):]
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(kind: str, root: Path, moment: str) -> tuple[float, str]:
    """Seconds from the death of a crawl to that of its writer, and what the two said."""
    words = [sys.executable, "-c", KILLED, kind, str(root), moment]
    crawl = subprocess.Popen(
        words, cwd=TESTS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert crawl.wait(20) == -signal.SIGKILL, crawl.communicate()[0]
    died = time.monotonic()
    said, _ = crawl.communicate(timeout=20)  # the writer holds the other end of this pipe, too
    return time.monotonic() - died, said


@pytest.mark.parametrize("kind", ["own", "process"])
def test_a_crawl_that_is_killed_leaves_whole_records(kind: str, tmp_path: Path) -> None:
    """Nobody is left to write, and the next start finds what was committed, and nothing to mend."""
    took, said = killed(kind, tmp_path / "archive", "between two groups")
    assert said == ""
    assert took < 5
    with OpenArchive.write(tmp_path / "archive", purpose="test") as archive:
        recovery = recover(archive)
        assert (recovery.adopted, recovery.cut, recovery.left) == (0, (), ())
        [path] = archive.folder.segment_files()
        assert kinds_and_urls(path)[1:] == of("a")
        assert is_sound(path)


def test_a_group_that_was_handed_over_whole_is_committed(tmp_path: Path) -> None:
    """The crawl is dead; its writer ends the group at hand, and holds the lock that long."""
    root = tmp_path / "archive"
    took, said = killed("process", root, "in the middle of a commit")
    assert said == ""
    assert took < 5
    with OpenArchive.write(root, purpose="test") as archive:
        assert recover(archive).adopted == 0
        [path] = archive.folder.segment_files()
        assert kinds_and_urls(path)[1:] == of("a", "b")
        assert is_sound(path)


def test_the_next_start_waits_for_the_group_at_hand(tmp_path: Path) -> None:
    """Under half a second here: well inside the two for which the lock is tried."""
    root = tmp_path / "archive"
    words = [sys.executable, "-c", KILLED, "process", str(root)]
    crawl = subprocess.Popen(
        [*words, "in the middle of a commit"], cwd=TESTS, stderr=subprocess.DEVNULL
    )
    assert crawl.wait(20) == -signal.SIGKILL
    with OpenArchive.write(root, purpose="test") as archive:
        found = sorted(capture.url for capture in archive.captures())
    assert found == [url("a"), url("b")]


def test_a_group_that_was_handed_over_in_part_is_dropped_in_silence(tmp_path: Path) -> None:
    """A crawl is killed while it sends some megabytes: its writer ends, without a traceback."""
    root = tmp_path / "archive"
    took, said = killed("process", root, "in the middle of a group")
    assert said == ""
    assert took < 5
    with OpenArchive.write(root, purpose="test") as archive:
        assert recover(archive).adopted == 0
        [path] = archive.folder.segment_files()
        assert kinds_and_urls(path)[1:] == of("a")


# -- The process beside the crawl -----------------------------------------------------------------


@pytest.fixture
def beside(tmp_path: Path) -> Iterator[Desk]:
    with Desk("process", tmp_path / "archive") as desk:
        yield desk


def pid_of(desk: Desk) -> int:
    assert isinstance(desk.writer, ProcessWriter)
    pid = desk.writer._process.pid
    assert pid is not None
    return pid


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_process_leaves_signals_to_the_crawl(beside: Desk, number: signal.Signals) -> None:
    """Ctrl-C reaches both at once; the crawl still has a group to be committed then."""
    beside.write(group("a"))
    os.kill(pid_of(beside), number)
    beside.write(group("b"))
    os.kill(pid_of(beside), number)
    beside.writer.close()
    assert beside.urls() == [url("a"), url("b")]


def test_the_process_has_ended_when_its_writer_is_closed(beside: Desk) -> None:
    pid = pid_of(beside)
    beside.write(group("a"))
    beside.writer.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_process_that_was_killed_is_said_to_be_gone(beside: Desk) -> None:
    """As the out-of-memory killer does it; and close() does not wait for it for ever."""
    beside.write(group("a"))
    os.kill(pid_of(beside), signal.SIGKILL)
    with pytest.raises(StorageError, match="has ended unexpectedly") as caught:
        beside.write(group("b"))
    assert caught.value.hint
    beside.writer.close()
    assert beside.urls() == [url("a")]


def test_the_loop_turns_while_the_process_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is what it is for: the network never waits for the disk."""
    plain = warc_write._datasync

    def slow(handle: int) -> None:
        plain(handle)
        time.sleep(0.2)

    async def turns(writer: Writer) -> int:
        count = 0
        commit = asyncio.ensure_future(writer.write(group("a"), NOTHING))
        while not commit.done():
            await asyncio.sleep(0.01)
            count += 1
        await commit
        return count

    with monkeypatch.context() as patch:
        patch.setattr(warc_write, "_datasync", slow)
        with Desk("process", tmp_path / "archive") as desk:
            assert asyncio.run(turns(desk.writer)) > 5


def test_a_process_is_forked_only_where_that_is_safe(tmp_path: Path) -> None:
    """With a thread running, or with a clock that it could not see, the crawl writes itself."""
    with OpenArchive.write(tmp_path / "real", purpose="test") as archive:
        archive.catalog.put_crawl(CRAWL)
        others = threading.active_count() > 1  # those of pytest-xdist
        _is_chosen(archive, OwnWriter if others else ProcessWriter)
        done = threading.Event()
        thread = threading.Thread(target=done.wait)
        thread.start()
        _is_chosen(archive, OwnWriter)
        done.set()
        thread.join()
    clock = SimulatedClock(virtual=True)
    with OpenArchive.write(tmp_path / "virtual", purpose="test", clock=clock) as archive:
        archive.catalog.put_crawl(CRAWL)
        _is_chosen(archive, OwnWriter)


def _is_chosen(archive: OpenArchive, kind: type[Writer]) -> None:
    writer = open_writer(archive, CRAWL, ROOMY)
    try:
        assert type(writer) is kind
    finally:
        writer.close()
