"""Opening files: plain ones only where something else could hold us up, and for writing never
through a link, which could lead out of the archive. A file that others will read appears whole or
not at all: temporary name, fsync, rename, fsync of the folder.

What a writer was doing when it was killed is removed by the next that writes the same.
"""

import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from asof.errors import StorageError, UsageError

_LINK = "Is a symbolic link, through which nothing is written"
_NEW = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# A name that stands for something that is open already, such as /dev/stdout.
_OPEN_ALREADY = ("/dev/", "/proc/")


def open_plain(path: Path, flags: int, *, follow: bool = False) -> int:
    """Open a plain file. A link is followed only to read; a pipe could hold us for ever."""
    ways = 0 if follow else os.O_NOFOLLOW
    try:
        handle = os.open(path, flags | ways | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if path.is_symlink() and not follow:
            raise OSError(error.errno, _LINK, str(path)) from error
        raise
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise OSError(0, "Is a directory" if stat.S_ISDIR(mode) else "Is not a file", str(path))
    return handle


def refuse_link(path: Path) -> None:
    """Stop where something would be written through a link."""
    if path.is_symlink():
        raise UsageError(f"{path}: {_LINK}.", hint="Put the thing itself there, or name another.")


@contextmanager
def output_file(out: Path) -> Iterator[BinaryIO]:
    """A file that a user named for what comes out. What is no file, such as a pipe or /dev/null, is
    written to and stays.
    """
    if str(out).startswith(_OPEN_ALREADY) or (out.exists() and not out.is_file()):
        with _refusals(out), out.open("wb") as file:
            yield file
    else:
        with atomic_file(out) as file:
            yield file


@contextmanager
def atomic_file(out: Path, *, mode: int | None = None) -> Iterator[BinaryIO]:
    """A new file that takes the place of `out` when the block ends without an error.

    `mode` are its rights; None is those of any new file.
    """
    refuse_link(out)
    rights = 0o666 if mode is None else 0o600

    def make(path: Path) -> int:
        return os.open(path, os.O_WRONLY | _NEW, rights)

    with _refusals(out), _beside(out, make) as (part, handle):
        with os.fdopen(handle, "wb", closefd=False) as file:
            yield file
            file.flush()
            os.fsync(handle)
        if mode is not None:
            os.fchmod(handle, mode)
        part.replace(out)
        sync_folder(out.parent)


@contextmanager
def scratch_folder(out: Path) -> Iterator[Path]:
    """A folder beside `out` for what is needed to write it, gone when the block ends."""

    def make(path: Path) -> int:
        path.mkdir(0o700)
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    with _refusals(out), _beside(out, make) as (folder, _):
        yield folder


@contextmanager
def _beside(out: Path, make: Callable[[Path], int]) -> Iterator[tuple[Path, int]]:
    """Something under a temporary name, locked for as long as its process lives."""
    _sweep(out)
    part = out.with_name(f".{out.name}.{secrets.token_hex(4)}.part")
    handle = -1
    try:
        handle = make(part)
        with suppress(OSError):  # some network file systems have no locks, and are not swept
            fcntl.flock(handle, fcntl.LOCK_EX)
        if not os.fstat(handle).st_nlink:  # swept away between the two
            os.close(handle)
            handle = make(part)
        yield part, handle
    finally:
        _remove(part)
        if handle >= 0:
            os.close(handle)


def _sweep(out: Path) -> None:
    """Remove what writers of `out` left that were killed."""
    leftover = re.compile(rf"\.{re.escape(out.name)}\.[0-9a-f]{{8}}\.part")
    for name in filter(leftover.fullmatch, os.listdir(out.parent)):
        part = out.with_name(name)
        with suppress(OSError):  # alive, or not ours
            handle = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(part)
            finally:
                os.close(handle)


def _remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part, ignore_errors=True)
    else:
        part.unlink(missing_ok=True)


@contextmanager
def _refusals(out: Path) -> Iterator[None]:
    try:
        yield
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
