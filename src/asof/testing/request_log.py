"""What a server was asked: the other side of the story that an archive tells."""

import json
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

from asof.clock import Instant, iso
from asof.errors import UsageError


class LoggedRequest(NamedTuple):
    """One request and the status of its answer. `conditional`: it carried a validator."""

    at: Instant
    url: str
    host: int
    method: str
    path: str
    status: int
    conditional: bool


class RequestLog:
    """The latest 200,000 requests in memory, and all of them in a file if one is given.

    The file holds one JSON object a line and is written through at once, so that another process
    can read it while the server runs.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._entries: deque[LoggedRequest] = deque(maxlen=200_000)
        self._file: TextIO | None = None
        if file is not None:
            try:
                self._file = file.open("a", encoding="utf-8", buffering=1)
            except OSError as error:
                raise UsageError(
                    f"The request log {str(file)!r} cannot be written: {error.strerror}.",
                    hint="Name a file in a folder that exists and is writable.",
                ) from error
        self.total = 0

    def add(self, entry: LoggedRequest) -> None:
        self.total += 1
        self._entries.append(entry)
        if self._file is not None:
            self._file.write(json.dumps(entry._asdict() | {"at": iso(entry.at)}) + "\n")

    def __iter__(self) -> Iterator[LoggedRequest]:
        """The entries in order, as of now: the server may go on adding to them."""
        return iter(self._entries.copy())

    def __len__(self) -> int:
        return len(self._entries)

    def asked(self) -> Counter[str]:
        """How often each URL was asked for."""
        return Counter(entry.url for entry in self)

    def clear(self) -> None:
        self._entries.clear()

    def close(self) -> None:
        """Close the file; the entries in memory stay."""
        if self._file is not None:
            self._file.close()
            self._file = None
