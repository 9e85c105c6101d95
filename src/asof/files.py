"""Opening files: plain ones only where something else could hold us up, and for writing never
through a link, which could lead out of the archive. A file that others will read appears whole or
not at all: temporary name, fsync, rename, fsync of the folder.

What a writer was doing when it was killed is removed by the next that writes the same.
"""

import errno
import fcntl
import io
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from asof.errors import StorageError, UsageError

_LINK = "a symbolic link stands there, and nothing is written through one"
# The disk's fault, not the user's.
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_NEW = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# A name that stands for something that is open already, such as /dev/stdout.
_OPEN_ALREADY = ("/dev/", "/proc/")
# Bytes that a file may grow by until the disk is asked whether it keeps its reserve: few enough to
# matter to none, and asking takes a millionth of a second.
_ASK_EVERY = 4 << 20
Room = Callable[[Path], int]
"""Bytes that the disk of a folder takes before it has only its reserve left."""
_room: ContextVar[Room] = ContextVar("room", default=lambda folder: 0)


@contextmanager
def with_reserve(room: Room) -> Iterator[None]:
    """What grows in here, by however little that is unpacked, leaves the disk its reserve."""
    before = _room.set(room)
    try:
        yield
    finally:
        _room.reset(before)


def reserve_reached(out: Path) -> StorageError:
    hint = "Make room, or lower disk_reserve, then run the same again."
    return StorageError(f"The disk of {out} has only its reserve left.", hint=hint)


class _Rationed(io.BufferedWriter):
    """A file that grows as long as there is room for it."""

    def __init__(self, handle: int, out: Path, room: Room) -> None:
        super().__init__(io.FileIO(handle, "wb", closefd=False))
        self._out, self._room, self._since = out, room, 0

    def write(self, data: bytes | memoryview, /) -> int:  # type: ignore[override]  # or the like
        self._since += memoryview(data).nbytes
        if self._since >= _ASK_EVERY:
            self._since = 0
            if self._room(self._out.parent) < 0:
                raise reserve_reached(self._out)
        return super().write(data)


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


def is_locked(path: Path) -> bool:
    """Whether somebody holds the lock that such a file is; without the file nobody does."""
    try:
        handle = open_plain(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def refuse_link(path: Path) -> None:
    """Stop where something would be written through a link."""
    if path.is_symlink():
        hint = "Put the file or folder itself there, or name another place."
        raise UsageError(f"{path} cannot be written: {_LINK}.", hint=hint)


def input_file(path: Path) -> BinaryIO:
    """A file that a user named to be read; - is stdin. What is open already, as /dev/stdin or the
    shell's <(...), may be a pipe: it is meant, and somebody writes to it.
    """
    path = Path("/dev/stdin") if path == Path("-") else path
    if str(path).startswith(_OPEN_ALREADY):
        return path.open("rb")
    return os.fdopen(open_plain(path, os.O_RDONLY, follow=True), "rb")


@contextmanager
def output_file(out: Path) -> Iterator[BinaryIO]:
    """A file that a user named for what comes out. What is no file, such as a pipe or /dev/null, is
    written to and stays.
    """
    if str(out).startswith(_OPEN_ALREADY) or (out.exists() and not out.is_file()):
        with storage_errors(out), out.open("wb") as file:
            yield file
    else:
        with atomic_file(out) as file:
            yield file


def append_to(out: Path) -> int:
    """Open a file that lines are added to, by several processes alike."""
    follows = str(out).startswith(_OPEN_ALREADY)
    if not follows:
        refuse_link(out)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | (0 if follows else os.O_NOFOLLOW)
    with storage_errors(out):
        return os.open(out, flags, 0o644)


@contextmanager
def atomic_file(out: Path, *, mode: int | None = None) -> Iterator[BinaryIO]:
    """A new file that takes the place of `out` when the block ends without an error.

    `mode` are its rights; None is those of any new file.
    """
    refuse_link(out)
    rights = 0o666 if mode is None else 0o600

    def make(path: Path) -> int:
        return os.open(path, os.O_WRONLY | _NEW, rights)

    with storage_errors(out), _beside(out, make) as (part, handle):
        with _Rationed(handle, out, _room.get()) as file:
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

    with storage_errors(out), _beside(out, make) as (folder, _):
        yield folder


@contextmanager
def output_folder(out: Path) -> Iterator[Path]:
    """A new folder, to be filled with `new_file`, that takes the place of `out` (nothing, or an
    empty folder) when the block ends without an error.
    """
    refuse_link(out)

    def make(path: Path) -> int:
        path.mkdir()
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    with storage_errors(out), _beside(out, make) as (part, _):
        yield part
        os.sync()  # one for all of them: there may be a hundred thousand
        part.rename(out)
        sync_folder(out.parent)


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that was not there, in folders that are made for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | _NEW, 0o666), "wb") as file:
        yield file


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
def storage_errors(path: Path, tolerate: int | None = None) -> Iterator[None]:
    """The one place where the file system's refusals become ours."""
    try:
        yield
    except OSError as error:
        if error.errno == tolerate:
            return
        name = str(error.filename or path)
        name = str(path) if name.endswith(".part") else name  # nobody knows our temporary names
        what = f"{name} cannot be written: {error.strerror or error}."
        if error.errno in DISK:
            hint = "Make room or mend the disk, then run the same again; nothing is lost."
            raise StorageError(what, hint=hint) from error
        raise UsageError(what, hint="Check the path and its rights.") from error


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable: a new or renamed file is not, until this returns."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
