"""A response while it arrives: framed, digested as it comes, and put in a file when it is large."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from asof.clock import Clock
from asof.fetch.spool import Spool
from asof.http.head import Head
from asof.http.wire import Data, End, Event, Framer

if TYPE_CHECKING:
    from hashlib import _Hash

# Bytes between two questions whether the rest of a body is wanted.
_JUDGED = 1 << 20


Judge = Callable[[Head, int], str | None]
"""Asked when the head of an answer has come, and at each megabyte: why the rest is not wanted."""


@dataclass(slots=True, eq=False)
class Reply:
    """Takes bytes from a connection and knows when the response is over.

    `body` takes the body, and is to be finished or discarded by whoever made it. `reused` tells
    that the connection has served before. `judge` may say of the head that the rest is not wanted.
    `head` is None until it has come, `end` until the response is over.
    """

    _framer: Framer
    _clock: Clock
    body: Spool
    _judge: Judge | None = None
    _reused: bool = False
    head: Head | None = None
    end: End | None = None
    asked: float = field(init=False)
    first_byte: float = 0.0
    notes: list[str] = field(default_factory=list)  # anomalies that only a client can see
    unwanted: str = ""  # why nobody wants the rest
    _judge_at: int = _JUDGED
    _payload: _Hash = field(default_factory=sha256)

    def __post_init__(self) -> None:
        self.asked = self._clock.monotonic()

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
                self._payload.update(event.raw)
                self.body.write(event.raw)
                if self.body.size >= self._judge_at:
                    self._ask_judge()
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
