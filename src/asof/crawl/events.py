"""The log of a crawl's events: `archive/logs/CRAWL.jsonl`, one JSON object a line.

    {"at": "2026-01-01T00:00:00.000000Z", "event": "fetched", "url": ..., "status": 200, ...}

started   crawl, seeds, settings; resumed says whether the crawl goes on
robots    url, status           a robots.txt has come; cut where it was too long to be read whole
fetched   url, status, bytes, ms, hops, depth; via, revisit and truncated where there is such
failed    url, reason, detail, tries
paused, resumed, excluded (pattern), stopped: an order was obeyed; did says what was done
ignored   reason                an order made no sense
stopping  reason                an interruption, or the limit that was reached
ended     the summary

What is left out is not logged URL by URL: there is too much of it, and `asof status` counts it by
reason. URLs stand as they were fetched, secrets and all, as in the WARC files. The log is for
people and their tools, and never the truth: nothing reads it back, and when it cannot be written
the crawl goes on without it.
"""

import json
import os
import re
from collections.abc import Callable
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path

from asof.archive.folder import Folder
from asof.clock import SECOND, Clock, iso
from asof.files import open_plain
from asof.model import Exchange, Target

# A file is moved aside (`.jsonl.1`, in the place of an older one) when it has grown so large.
ROTATE_AT = 100_000_000
# Lines are kept back for so many of them, or so many seconds.
_MOST_LINES = 256
_LONGEST_WAIT = 1.0


def log_file(folder: Folder, crawl: str) -> Path:
    """Where the events of a crawl are logged. Its id, which a foreign WARC may name, is tamed."""
    name = re.sub(r"[^0-9A-Za-z._-]", "_", crawl)[:100].lstrip(".") or "crawl"
    return folder.root / "logs" / f"{name}.jsonl"


class EventLog:
    """An append-only file of events, written in groups.

    `note` is told once when the log must be given up: a full disk ends the log, not the crawl.
    """

    def __init__(
        self, path: Path, clock: Clock, note: Callable[[str], None] = lambda sentence: None
    ) -> None:
        self.path = path
        self._clock = clock
        self._note = note
        self._lines: list[str] = []
        self._handle: int | None = None
        self._given_up = False
        self._size = 0
        self._flush_at = clock.monotonic() + _LONGEST_WAIT
        self._second = -1
        self._stamp = ""

    def write(self, event: str, **fields: object) -> None:
        """Any event, with fields that JSON can hold; what it cannot is written as its text."""
        self._add(json.dumps({"at": self._now(), "event": event, **fields}, default=str))

    def fetched(self, target: Target, exchange: Exchange, *, revisit: bool) -> None:
        """An answer came. The most frequent event by far, so its JSON is made by hand."""
        tail = f', "via": {quoted(target.via)}' if target.via is not None else ""
        if revisit:
            tail += ', "revisit": true'
        if exchange.truncated:
            tail += f', "truncated": {quoted(exchange.truncated)}'
        self._add(
            f'{{"at": "{self._now()}", "event": "fetched", "url": {quoted(target.url)}, '
            f'"status": {exchange.status:d}, "bytes": {exchange.body.size:d}, '
            f'"ms": {exchange.timings.total / 1000:.1f}, "hops": {quoted(target.hops)}, '
            f'"depth": {target.depth:d}{tail}}}'
        )

    def tick(self) -> None:
        """Write what has waited for a second; to be called now and then while nothing happens."""
        if self._lines and self._clock.monotonic() >= self._flush_at:
            self.flush()

    def flush(self) -> None:
        lines, self._lines = self._lines, []
        self._flush_at = self._clock.monotonic() + _LONGEST_WAIT
        if not lines or self._given_up:
            return
        try:
            self._put(("\n".join(lines) + "\n").encode("ascii"))
        except OSError as error:
            self._given_up = True
            self._let_go()
            self._note(f"The log {self.path} ends here: {error.strerror}. The crawl goes on.")

    def close(self) -> None:
        self.flush()
        self._let_go()

    def _add(self, line: str) -> None:
        if self._given_up:
            return
        self._lines.append(line)
        if len(self._lines) >= _MOST_LINES or self._clock.monotonic() >= self._flush_at:
            self.flush()

    def _now(self) -> str:
        """Like `iso(clock.now())`; the calendar is asked once a second only."""
        second, micros = divmod(self._clock.now(), SECOND)
        if second != self._second:
            self._second, self._stamp = second, iso(second * SECOND)[:20]
        return f"{self._stamp}{micros:06d}Z"

    def _put(self, data: bytes) -> None:
        if self._handle is None:
            self._handle = self._open()
        written = 0
        try:
            while written < len(data):
                written += os.write(self._handle, data[written:])
        except OSError:
            # No torn line stays behind, even on a full disk.
            os.ftruncate(self._handle, self._size)
            raise
        self._size += written
        if self._size >= ROTATE_AT:
            self._let_go()
            os.replace(self.path, f"{self.path}.1")

    def _open(self) -> int:
        """Go on with the file; a torn line that a crash left gets its end."""
        self.path.parent.mkdir(exist_ok=True)
        handle = open_plain(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        self._size = os.fstat(handle).st_size
        if self._size and os.pread(handle, 1, self._size - 1) != b"\n":
            self._size += os.write(handle, b"\n")
        return handle

    def _let_go(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
