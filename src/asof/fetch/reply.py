"""A response while it arrives: framed, digested as it comes, and put in a file when it is large."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256

from asof.clock import Clock
from asof.fetch.spool import Spool
from asof.http.wire import Data, End, Event, Framer, Head

# Bytes between two questions whether the rest of a body is wanted.
_JUDGED = 1 << 20


class Reply:
    """Takes bytes from a connection and knows when the response is over.

    `body` takes the body, and is to be finished or discarded by whoever made it. `reused` tells
    that the connection has served before. `judge` may say of the head that the rest is not wanted.
    `head` is None until it has come, `end` until the response is over.
    """

    __slots__ = (
        "_clock", "_framer", "_judge", "_judge_at", "_payload", "_reused", "asked", "body", "end",
        "first_byte", "head", "notes", "unwanted",
    )  # fmt: skip

    def __init__(
        self,
        framer: Framer,
        clock: Clock,
        body: Spool,
        judge: Callable[[Head, int], str | None] | None = None,
        *,
        reused: bool = False,
    ) -> None:
        self.head: Head | None = None
        self.end: End | None = None
        self.asked = clock.monotonic()
        self.first_byte = 0.0
        self.body = body
        self.notes: list[str] = []  # anomalies that only a client can see
        self.unwanted = ""  # why nobody wants the rest
        self._judge = judge
        self._judge_at = _JUDGED
        self._reused = reused
        self._framer = framer
        self._clock = clock
        self._payload = sha256()

    def feed(self, data: bytes) -> bool:
        """Take bytes; True when there is no use in more. StorageError when they cannot be kept."""
        if not self.first_byte:
            self.first_byte = self._clock.monotonic()
        self._take(self._framer.feed(data))
        return bool(self.unwanted) or self.end is not None or (self.head is not None and self.stale)

    def eof(self) -> None:
        self._take(self._framer.eof())

    def cut(self, truncated: str, note: str = "") -> None:
        if note:
            self.notes.append(note)
        self._take(self._framer.cut(truncated))

    @property
    def stale(self) -> bool:
        """Whether this is no answer, but what an old connection made of the question.

        A server may close an idle connection just when it is used again: nothing comes. Bytes
        without a head are a late rest of the response before: HTTP/0.9 keeps no connections.
        """
        return self._reused and (self.head is None or self.head.version == "0.9")

    @property
    def reusable(self) -> bool:
        return self.end is not None and self.end.reusable and not self.notes

    def digest(self) -> bytes:
        return self._payload.digest()

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
            self.unwanted = self._judge(self.head, self.body.size) or ""
            self._judge_at = self.body.size + _JUDGED

    def _keep(self, raw: bytes) -> None:
        self._payload.update(raw)
        self.body.write(raw)
        if self.body.size >= self._judge_at:
            self._ask_judge()
