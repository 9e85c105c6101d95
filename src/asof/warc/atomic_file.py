"""A file written whole or not at all: temporary name, fsync, rename, fsync of the folder."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from asof.errors import StorageError


@contextmanager
def atomic_file(out: Path, *, mode: int | None = None) -> Iterator[BinaryIO]:
    """A new file that takes the place of `out` when the block ends without an error.

    A link is followed. What is no file, such as a pipe or /dev/null, is written to and stays.
    `mode` are its rights; None is those of any new file.
    """
    try:
        if out.exists() and not out.is_file():
            with out.open("wb") as file:
                yield file
            return
        out = out.resolve()
        descriptor, name = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if mode is None:
                # mkstemp makes private files; an export is an ordinary one. There is no way to ask
                # for the mask but to set it.
                os.umask(mask := os.umask(0o077))
                mode = 0o666 & ~mask
            temporary.chmod(mode)
            temporary.replace(out)
            sync_folder(out.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            f"{out} cannot be written ({error.strerror or error}).",
            hint="Check that the folder exists and that its disk has room, then try again.",
        ) from error


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable: a new or renamed file is not, until this returns."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
