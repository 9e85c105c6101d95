"""A response while it arrives: framed, digested as it comes, and put in a file when it is large."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

from asof.clock import Clock
from asof.fetch.spool import SpoolFile
from asof.http.wire import Data, End, Event, Framer, Head
from asof.model import Body

# Bytes between two questions whether the rest of a body is wanted.
_JUDGED = 1 << 20


class Reply:
    """Takes bytes from a connection and knows when the response is over.

    A body of more than `spool_over` bytes goes to a file in `spool`, if that is given. `reused`
    tells that the connection has served before. `judge` may say of the head that the rest is not
    wanted.
    `head` is None until it has come, `end` until the response is over. Whoever makes a Reply must
    take its `body()` or `discard()` it: it may own a spool file.
    """

    __slots__ = (
        "_clock", "_file", "_framer", "_judge", "_judge_at", "_parts", "_payload",
        "_reused", "_spool", "_spool_over", "asked", "end", "first_byte", "head", "notes", "size",
        "unwanted",
    )  # fmt: skip

    def __init__(
        self,
        framer: Framer,
        clock: Clock,
        spool: Path | None = None,
        spool_over: int = 0,
        judge: Callable[[Head, int], str | None] | None = None,
        *,
        reused: bool = False,
    ) -> None:
        self.head: Head | None = None
        self.end: End | None = None
        self.asked = clock.monotonic()
        self.first_byte = 0.0
        self.size = 0  # of the body, so far
        self.notes: list[str] = []  # anomalies that only a client can see
        self.unwanted = ""  # why nobody wants the rest
        self._judge = judge
        self._judge_at = _JUDGED
        self._reused = reused
        self._framer = framer
        self._clock = clock
        self._spool = spool
        self._spool_over = spool_over
        self._payload = sha256()
        self._parts: list[bytes] = []
        self._file: SpoolFile | None = None

    def feed(self, data: bytes) -> bool:
        """Take bytes; True when there is no use in more. StorageError when they cannot be kept."""
        if not self.first_byte:
            self.first_byte = self._clock.monotonic()
        self._take(self._framer.feed(data))
        return bool(self.unwanted) or self.end is not None or (self.head is not None and self.stale)

    def eof(self) -> None:
        """The connection has ended."""
        self._take(self._framer.eof())

    def cut(self, truncated: str, note: str = "") -> None:
        """No more will be taken."""
        if note:
            self.notes.append(note)
        self._take(self._framer.cut(truncated))

    @property
    def anomalies(self) -> tuple[str, ...]:
        """Everything odd about the response."""
        return (*(self.end.anomalies if self.end else ()), *self.notes)

    @property
    def stale(self) -> bool:
        """Whether this is no answer, but what an old connection made of the question.

        A server may close an idle connection just when it is used again: nothing comes. Bytes
        without a head are a late rest of the response before: HTTP/0.9 keeps no connections.
        """
        return self._reused and (self.head is None or self.head.version == "0.9")

    @property
    def reusable(self) -> bool:
        """Whether the connection may carry another request."""
        return self.end is not None and self.end.reusable and not self.notes

    def digest(self) -> bytes:
        """SHA-256 of the body."""
        return self._payload.digest()

    def body(self) -> Body:
        """The body, which now belongs to the caller, as does its file."""
        if self._file is None:
            return Body(self.size, b"".join(self._parts))
        file, self._file = self._file, None
        file.close()
        return Body(self.size, spool=file.path)

    def discard(self) -> None:
        """Nobody wants the body."""
        self._parts.clear()
        if self._file is not None:
            file, self._file = self._file, None
            file.discard()

    def _take(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Data):
                self._keep(event.raw)
            elif isinstance(event, Head):
                self.head = event
                self._ask_judge()
            elif isinstance(event, End):
                self.end = event
            elif not (self.end and self.end.truncated) and "surplus-bytes" not in self.notes:
                # After a cut of ours the rest of the body is no surplus.
                self.notes.append("surplus-bytes")

    def _ask_judge(self) -> None:
        if self._judge is not None and self.head is not None:
            self.unwanted = self._judge(self.head, self.size) or ""
            self._judge_at = self.size + _JUDGED

    def _keep(self, raw: bytes) -> None:
        self.size += len(raw)
        if self.size >= self._judge_at:
            self._ask_judge()
        self._payload.update(raw)
        if self._file is not None:
            self._file.write(raw)
            return
        self._parts.append(raw)
        if self._spool is not None and self.size > self._spool_over:
            self._file = SpoolFile(self._spool)
            for part in self._parts:
                self._file.write(part)
            self._parts.clear()
