"""A body while it arrives: in memory, and in a file once it is too large for that."""

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from asof.errors import StorageError
from asof.model import Body


@dataclass(slots=True, eq=False)
class Spool:
    """Takes the bytes of one body: up to `limit` in memory, more in a new file of `folder`.

    Without a buffer of our own: what was written is written. Writing on the event loop is
    deliberate: it only reaches the page cache, and a server that sends faster than the disk takes
    is slowed down by exactly that. Whoever makes one must `finish` or `discard` it.
    """

    _folder: Path
    _limit: int
    size: int = 0
    _parts: list[bytes] = field(default_factory=list)
    _path: Path | None = None
    _fd: int = -1

    def write(self, data: bytes) -> None:
        self.size += len(data)
        self._parts.append(data)
        if self.size <= self._limit:
            return
        try:
            if self._path is None:
                self._fd, name = tempfile.mkstemp(prefix="body-", suffix=".spool", dir=self._folder)
                self._path = Path(name)
            for part in self._parts:
                left = memoryview(part)
                while left:
                    left = left[os.write(self._fd, left) :]
        except OSError as error:
            raise self._refused(error) from error
        self._parts.clear()

    def finish(self) -> Body:
        """The body, which now belongs to the caller, as does its file."""
        try:
            self._close()
        except OSError as error:
            raise self._refused(error) from error
        return Body(self.size, b"".join(self._parts), self._path)

    def discard(self) -> None:
        self._parts.clear()
        self._close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _close(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def _refused(self, error: OSError) -> StorageError:
        self.discard()
        return StorageError(
            f"{self._path or self._folder} cannot be written: {error.strerror or error}.",
            hint="Make room or mend the disk, then run the same command again; nothing is lost.",
        )
