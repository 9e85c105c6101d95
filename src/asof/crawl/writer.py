"""What waits to be written, and who commits it: a process beside the crawl, or the crawl itself.

Packing, making rows and SQLite take a third of a capture's time, most of it in Python: a thread
would only share the interpreter with the loop (measured: no gain at all), a process has a core of
its own. It is forked before the loop starts, holds the archive's lock together with the crawl, and
ends with it: when the crawl is killed, it finishes the group at hand, so the next start finds a
commit or none, and waits for the lock that long.
"""

import asyncio
import mmap
import multiprocessing
import os
import pickle
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Protocol

from asof.archive import OpenArchive
from asof.archive.commit import Committer
from asof.archive.folder import Folder
from asof.archive.journal import CommitGroup, Journal
from asof.clock import SystemClock
from asof.config import Config
from asof.errors import StorageError
from asof.frontier.queue import Applied, Changes, Frontier, apply
from asof.ledger import Ledger
from asof.model import Crawl

# Memory that both processes see, by which groups are handed over; larger ones go through the pipe,
# whose buffer holds a part of a group only: both sides would wait for one another again and again.
_DESK = 4 << 20
# A message of so many bytes tells how much lies on the desk; a group takes more.
_SIZE = 4
# Changes to the queue that wait in memory, at most about so many: pages with thousands of links
# bring them faster than the database takes them.
_MOST_CHANGES = 20_000


@dataclass(slots=True, eq=False)
class Backlog:
    """The open group of records and the changes to the queue that belong to them.

    `thirsty` says that a host waits for targets that are known, but not in the database yet.
    """

    _journal: Journal
    _frontier: Frontier
    _apiece: float = 0.0  # changes that a record brought, lately
    thirsty: bool = False

    def __bool__(self) -> bool:
        return bool(self._journal.pending or self._frontier.pending)

    def is_due(self) -> bool:
        if self.thirsty or self._journal.due():
            return True
        return self._frontier.pending >= _MOST_CHANGES // 2

    def is_crowded(self, visits: int) -> bool:
        """Whether nothing should be begun before something is written; `visits` are under way."""
        expected = self._frontier.pending + visits * self._apiece
        return expected >= _MOST_CHANGES or self._journal.full

    def take(self) -> tuple[CommitGroup, Changes]:
        self.thirsty = False
        group, changes = self._journal.take(), self._frontier.take_changes()
        if group.units:
            self._apiece = (len(changes.found) + len(changes.left_out)) / len(group.units)
        return group, changes


class Writer(Protocol):
    """Whatever commits groups, one at a time."""

    async def write(self, group: CommitGroup, changes: Changes) -> Applied:
        """Commit records and what was learnt with them; durable when this returns."""
        ...

    def close(self) -> None:
        """Let go of files and helpers; nothing may be under way."""
        ...


def open_writer(archive: OpenArchive, crawl: Crawl, config: Config) -> Writer:
    """A process where one can be forked safely, else the crawl's own: with threads running, a fork
    could find a lock taken for ever, and a simulated clock cannot see what another process does.
    """
    alone = threading.active_count() == 1 and hasattr(os, "fork")
    if alone and isinstance(archive.clock, SystemClock):
        return ProcessWriter(archive.folder, crawl, config)
    return OwnWriter(archive.folder, archive.ledger, crawl, config)


class OwnWriter(Writer):
    """Commits here and now."""

    def __init__(self, folder: Folder, ledger: Ledger, crawl: Crawl, config: Config) -> None:
        self._ledger = ledger
        self._committer = Committer(folder, ledger, crawl, config)

    async def write(self, group: CommitGroup, changes: Changes) -> Applied:
        return self.commit(group, changes)

    def commit(self, group: CommitGroup, changes: Changes) -> Applied:
        """The same, for those who do not await."""
        outcome: list[Applied] = []
        self._committer.write(group, lambda: outcome.append(apply(self._ledger, changes)))
        return outcome[0]

    def close(self) -> None:
        self._committer.close()


class ProcessWriter(Writer):
    """Has a process of its own commit, and waits for it on a thread that only waits."""

    def __init__(self, folder: Folder, crawl: Crawl, config: Config) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, theirs = context.Pipe()
        self._desk = mmap.mmap(-1, _DESK)
        work = partial(_serve, theirs, self._pipe, self._desk, folder, crawl, config)
        self._process = context.Process(target=work, name="asof-writer", daemon=True)
        # The crawl decides when to stop: no signal reaches the writer, not even as it is born.
        kept = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
        self._process.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, kept)
        theirs.close()
        self._thread = ThreadPoolExecutor(1, "asof-writer")

    async def write(self, group: CommitGroup, changes: Changes) -> Applied:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._ask, group, changes)

    def _ask(self, group: CommitGroup, changes: Changes) -> Applied:
        try:
            letter = pickle.dumps((group, changes), pickle.HIGHEST_PROTOCOL)
            if len(letter) <= _DESK:
                self._desk[: len(letter)] = letter
                self._pipe.send_bytes(len(letter).to_bytes(_SIZE, "big"))
            else:
                self._pipe.send_bytes(letter)
            answer = pickle.loads(self._pipe.recv_bytes())
        except (EOFError, OSError) as error:
            raise StorageError(
                "The process that writes the archive has ended unexpectedly.",
                hint="Look whether memory is short, then run the same command again.",
            ) from error
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, Applied)
        return answer

    def close(self) -> None:
        self._thread.shutdown()
        self._pipe.close()
        self._process.join()
        self._process.close()
        self._desk.close()


def _serve(
    pipe: Connection,
    crawls: Connection,
    desk: mmap.mmap,
    folder: Folder,
    crawl: Crawl,
    config: Config,
) -> None:
    """The process: commit what comes, until nobody is there any more."""
    crawls.close()  # or the end of the crawl would not be seen
    ledger = Ledger(folder.db, writable=True)
    writer = OwnWriter(folder, ledger, crawl, config)
    try:
        while True:
            letter = pipe.recv_bytes()
            if len(letter) == _SIZE:
                letter = desk[: int.from_bytes(letter, "big")]
            group, changes = pickle.loads(letter)
            try:
                answer: Applied | Exception = writer.commit(group, changes)
            except Exception as error:  # noqa: BLE001 - all of them are the crawl's to judge
                answer = error
            pipe.send_bytes(pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))
    except (EOFError, OSError):  # the crawl is gone, maybe in the middle of a message
        pass
    finally:
        writer.close()
        ledger.close()
