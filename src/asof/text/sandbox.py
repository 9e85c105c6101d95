"""Reading documents in a child process, where a hostile one can do no harm.

The child lives on from document to document and is replaced when one of them kills it: by taking
too long, by needing too much memory, or by crashing a reader in C. The document then has the reason
in `error`; whoever asked notices nothing else. Requests and answers go over pipes, each with its
length before it, as JSON and bytes: nothing that comes back can be more than text.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, fields
from operator import attrgetter
from queue import SimpleQueue
from threading import Event, Lock
from time import monotonic

from asof.errors import AsofError
from asof.text.document import Document, Method, document_of
from asof.text.sandbox_child import ANSWER, HELLO, OUT_OF_MEMORY_STATUS, REQUEST

_START_SECONDS = 60
# A document that is larger than this share of the memory has no chance to be read in it.
_LARGEST_SHARE = 0.4
_LONGEST_ANSWER = 512 << 20
_PIECE = 1 << 20
# Documents that a child is handed at a time, and bytes of them about.
_HANDFUL = 16
_HANDFUL_SIZE = 1 << 20
_CHILD = "from asof.text.sandbox_child import main; main()"


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What reading one document may cost: seconds of the processor, memory in MB.

    `patience` are the seconds by the clock on the wall, as many if it is not given. A process that
    runs only when nothing else wants to needs more: a busy machine is no fault of a document.
    """

    seconds: float = 10.0
    megabytes: int = 500
    patience: float | None = None

    @property
    def most(self) -> int:
        """The size of a document, in MB, beyond which it is not even begun."""
        return int(self.megabytes * _LARGEST_SHARE)


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """A document to be read, and what is said of it (see `asof.text.read.read`)."""

    data: bytes
    declared: str | None = None
    url: str | None = None
    name: str | None = None
    method: Method = "default"


_FIELDS = attrgetter(*(field.name for field in fields(DocumentSource)))


class SandboxedReader:
    """A child process that reads documents, one at a time, for any thread that asks."""

    def __init__(self, limits: ReadingLimits | None = None) -> None:
        self.limits = limits or ReadingLimits()
        self._lock = Lock()
        self._child: _Child | None = None

    def __enter__(self) -> SandboxedReader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child; the next reading would start another."""
        with self._lock:
            self._drop()

    def read(
        self,
        data: bytes,
        declared: str | None = None,
        url: str | None = None,
        name: str | None = None,
        method: Method = "default",
    ) -> Document:
        """What a document says, or why it cannot be read; raises only if no child can be had."""
        if len(data) > self.limits.most << 20:
            return _unread(f"is larger than {self.limits.most} MB")
        head = json.dumps((declared, url, name, method)).encode("ascii")
        patience = self.limits.seconds if self.limits.patience is None else self.limits.patience
        with self._lock:
            if self._child is None:
                self._child = _Child(self.limits)
            try:
                answer = self._child.ask(head, data, patience)
            except TimeoutError:
                self._drop()
                return _unread(f"took longer than {patience:g} s")
            except (BrokenPipeError, EOFError):
                return _unread(self._drop(dead=True))
            except BaseException:  # a child that was left in mid-answer would answer the next one
                self._drop()
                raise
            try:
                facts, contents, tired = json.loads(answer)
                document = document_of(facts, contents)  # nothing but text can come of it
            except (ValueError, KeyError, TypeError):  # whatever a document made of the child
                self._drop()
                return _unread("the reader gave no answer that makes sense")
            if tired:
                self._drop()
            return document

    def _drop(self, *, dead: bool = False) -> str:
        """End the child, if there is one; why it died, if it is `dead` already."""
        child, self._child = self._child, None
        return child.end(dead=dead, limits=self.limits) if child is not None else ""


class _Child:
    """The process and the pipes to it."""

    def __init__(self, limits: ReadingLimits) -> None:
        # One thread and one pool of memory: others would count against the limit unused.
        environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1"}
        lifeline, self._lifeline = os.pipe()  # closed with this process, however it ends
        limited = [str(limits.megabytes), str(limits.seconds), str(lifeline)]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _CHILD, *limited],
            pass_fds=[lifeline],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            bufsize=0,
            process_group=0,  # Ctrl-C is for the parent, who ends the child
        )
        os.close(lifeline)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        self._room, self._news = select.poll(), select.poll()
        self._room.register(self._to, select.POLLOUT)
        self._news.register(self._from, select.POLLIN)
        try:
            hello = self._receive(monotonic() + _START_SECONDS)
        except (EOFError, TimeoutError):
            hello = b""
        if hello != HELLO:
            raise AsofError(
                f"The process that reads documents does not start: {self._complaint()}",
                hint="Is asof installed for the Python that runs it?",
            )

    def ask(self, head: bytes, data: bytes, seconds: float) -> bytes:
        deadline = monotonic() + seconds
        # What is small goes at once, and comes at once: each crossing costs both sides.
        start = REQUEST.pack(len(head), len(data)) + head + data[:_PIECE]
        self._send(memoryview(start), deadline)
        self._send(memoryview(data)[_PIECE:], deadline)
        first = self._receive(deadline)
        while len(first) < ANSWER.size:
            first += self._receive(deadline)
        (size,) = ANSWER.unpack_from(first)
        if size > _LONGEST_ANSWER:
            raise EOFError
        parts = [first[ANSWER.size :]]
        left = size - len(parts[0])
        while left > 0:
            parts.append(self._receive(deadline))
            left -= len(parts[-1])
        return b"".join(parts)

    def end(self, *, dead: bool, limits: ReadingLimits) -> str:
        """Kill the process, unless it is dead; what ended it, in plain words."""
        if dead:
            try:  # its pipe is closed: it is dying, and the way it does is what we want to know
                self._process.wait(2)
            except subprocess.TimeoutExpired:
                dead = False
        if not dead:
            self._process.kill()
        status = self._process.wait()
        os.close(self._lifeline)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        if status == -signal.SIGXCPU:
            return f"took longer than {limits.seconds:g} s"
        if status == OUT_OF_MEMORY_STATUS:
            return f"needed more than {limits.megabytes} MB"
        if status < 0:
            return f"the reader crashed (signal {-status})"
        return f"the reader ended (status {status})"

    def _send(self, rest: memoryview, deadline: float) -> None:
        while rest:
            if not self._room.poll(_left(deadline)):
                raise TimeoutError
            rest = rest[os.write(self._to, rest[:_PIECE]) :]

    def _receive(self, deadline: float) -> bytes:
        """What has come, as soon as something has."""
        if not self._news.poll(_left(deadline)):
            raise TimeoutError
        part = os.read(self._from, _PIECE)
        if not part:
            raise EOFError
        return part

    def _complaint(self) -> str:
        self._process.kill()
        _, complaint = self._process.communicate()
        os.close(self._lifeline)
        lines = complaint.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it says nothing."


def _left(deadline: float) -> float:
    """Milliseconds until then; none if it is past."""
    return max(0.0, (deadline - monotonic()) * 1000)


def _unread(error: str) -> Document:
    return Document(media_type="application/octet-stream", error=error)


def read_many(
    sources: Iterable[DocumentSource], workers: int = 2, limits: ReadingLimits | None = None
) -> Iterator[Document]:
    """Read documents in several children at once; they come back in the order of `sources`.

    Each child is handed some at a time, so that it need not wait while its parent keeps what came
    back; a document that kills it is the only one of them that is lost. No more sources are taken
    than are being read, and as many again.
    """
    from concurrent.futures import Future, ThreadPoolExecutor

    with ExitStack() as ends:
        free: SimpleQueue[SandboxedReader] = SimpleQueue()
        for _ in range(workers):
            free.put(ends.enter_context(SandboxedReader(limits)))
        over = Event()

        def read(handful: list[DocumentSource]) -> list[Document]:
            apart = free.get()
            try:
                return [apart.read(*_FIELDS(source)) for source in handful if not over.is_set()]
            finally:
                free.put(apart)

        pool = ThreadPoolExecutor(workers)
        ends.callback(pool.shutdown, cancel_futures=True)  # nobody will ask for what waits
        ends.callback(over.set)
        waiting: deque[Future[list[Document]]] = deque()
        for handful in _handfuls(sources, workers):
            waiting.append(pool.submit(read, handful))
            if len(waiting) >= 2 * workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()


def _handfuls(sources: Iterable[DocumentSource], workers: int) -> Iterator[list[DocumentSource]]:
    """Sources, some at a time: single ones at first, so that few are spread over all children."""
    handful: list[DocumentSource] = []
    held, most = 0, 1.0
    for source in sources:
        handful.append(source)
        held += len(source.data)
        if len(handful) >= int(most) or held >= _HANDFUL_SIZE:
            yield handful
            handful, held = [], 0
            most = min(most + 0.5 / workers, _HANDFUL)
    if handful:
        yield handful
