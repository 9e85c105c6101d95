"""A body too large for memory: a file that grows while the body arrives."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from asof.errors import StorageError


class SpoolFile:
    """A new file in `folder`, written without a buffer of our own: what was written is written.

    Writing on the event loop is deliberate: it only reaches the page cache, and a server that
    sends faster than the disk takes is slowed down by exactly that.
    """

    __slots__ = ("_fd", "path")

    def __init__(self, folder: Path) -> None:
        try:
            self._fd, name = tempfile.mkstemp(prefix="body-", suffix=".spool", dir=folder)
        except OSError as error:
            raise _no_room(folder, error) from error
        self.path = Path(name)

    def write(self, data: bytes) -> None:
        """Append all of it, or StorageError."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._fd, left) :]
        except OSError as error:
            raise _no_room(self.path, error) from error

    def close(self) -> None:
        """Close the file and keep it."""
        try:
            os.close(self._fd)
        except OSError as error:
            self.path.unlink(missing_ok=True)
            raise _no_room(self.path, error) from error

    def discard(self) -> None:
        """Close the file and remove it."""
        self.path.unlink(missing_ok=True)
        self.close()


def _no_room(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{path} cannot be written: {error.strerror or error}.",
        hint="Make room or mend the disk, then run the same command again; nothing is lost.",
    )
