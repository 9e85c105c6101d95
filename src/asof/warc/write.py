"""Writing a WARC file: one gzip member a record, only ever appended to, all or nothing.

A file is either as it was before an `append` or has all of its records. What a failed write left is
cut off again, and what a crash left is found at the next start (asof.archive.recovery).
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import deflate
from isal import isal_zlib

from asof.errors import StorageError, UsageError
from asof.files import open_plain, storage_errors, sync_folder
from asof.model import Headers, Location
from asof.warc.header import HEADER_LIMIT
from asof.warc.reader import block_chunks
from asof.warc.record import Record, StoredRecord, field_lines

# Measured on pages of 25 KB, microseconds and bytes each: level 1 39 and 5,069, level 2 45 and
# 5,031, level 3 63 and 4,999 (zlib 6: 335 and 4,974). Level 0 is no faster than 1: 37 and 6,032.
_LEVEL = 1
_GZIP = 31  # zlib's number for a gzip wrapper and the largest window
_WRITE = 1 << 20
_END = b"\r\n\r\n"


class WarcFile:
    """A WARC file that is being written. `size` counts what was appended."""

    def __init__(self, path: Path, handle: int, size: int, *, new: bool) -> None:
        self.path = path
        self.size = size
        self._handle = handle
        self._torn = False  # bytes of a failed append may lie beyond `size`
        self._unlisted = new  # the folder does not durably know of the file yet

    @classmethod
    def create(cls, path: Path) -> Self:
        """Start a new file; one that is there already is never touched."""
        with storage_errors(path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            handle = os.open(path, flags, 0o644)
        return cls(path, handle, 0, new=True)

    @classmethod
    def reopen(cls, path: Path, committed: int) -> Self:
        """Go on with a file after its first `committed` bytes; what lies beyond them is cut off."""
        with storage_errors(path):
            handle = open_plain(path, os.O_WRONLY)
            try:
                size = os.fstat(handle).st_size
                if size > committed:
                    os.ftruncate(handle, committed)
                    os.fsync(handle)
            except OSError:
                os.close(handle)
                raise
        if size < committed:
            os.close(handle)
            raise StorageError(
                f"{path} has {size} bytes but {committed} were committed.",
                hint="Restore it from a copy, or run `asof reindex` to go on with what is there.",
            )
        return cls(path, handle, committed, new=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def append(self, records: Sequence[Record]) -> list[Location]:
        """Add records and say where they lie; when that fails, none of them is in the file."""
        places = []
        with self._all_or_none():
            for record in records:
                begin = self.size
                if record.in_memory:
                    self._write(pack(raw_record(record), packed=record.packed))
                else:
                    for piece in _pack_spooled(record):
                        self._write(piece)
                places.append(Location(self.path.name, begin, self.size - begin))
        return places

    def append_packed(self, members: Sequence[bytes]) -> None:
        """Add records that `pack` has packed, all or none."""
        with self._all_or_none():
            self._write(b"".join(members))

    @contextmanager
    def _all_or_none(self) -> Iterator[None]:
        start = self.size
        with storage_errors(self.path):
            if self._torn:
                self._truncate(start)
            try:
                yield
            except BaseException:
                with suppress(OSError):  # then the next append tries again; this error is told
                    self._truncate(start)
                raise

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            done = os.pwrite(self._handle, left, self.size)
            self.size += done
            left = left[done:]

    def _truncate(self, size: int) -> None:
        self._torn = True
        self.size = size
        os.ftruncate(self._handle, size)
        self._torn = False

    def sync(self) -> None:
        """Return only when everything appended is on the disk."""
        with storage_errors(self.path):
            if self._torn:
                self._truncate(self.size)
            _datasync(self._handle)
            if self._unlisted:
                sync_folder(self.path.parent)
                self._unlisted = False

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def header_bytes(fields: Headers, size: int) -> bytes:
    """A record's header, Content-Length last."""
    header = f"WARC/1.1\r\n{field_lines(fields)}Content-Length: {size}\r\n\r\n".encode()
    if len(header) > HEADER_LIMIT:
        raise UsageError(
            f"The header of a record is longer than {HEADER_LIMIT >> 10} KiB.",
            hint="No reader would take it; leave out the URL or the text that is so long.",
        )
    return header


def raw_record(record: Record) -> bytes:
    parts = [header_bytes(record.fields, record.size)]
    for part in record.block:
        _require_size(part.size, len(part.data))
        parts.append(part.data)
    parts.append(_END)
    return b"".join(parts)


def pack(raw: bytes, *, packed: bool = False) -> bytes:
    """A record as the gzip member that holds it. Lets other threads run meanwhile.

    What is packed already is stored as it is: an image of 24 KB in 9 us instead of 49, and no
    larger (deflate level 0 has the fastest checksum, too).
    """
    if packed:
        return bytes(deflate.gzip_compress(raw, 0))
    return isal_zlib.compress(raw, _LEVEL, _GZIP)


def _pack_spooled(record: Record) -> Iterator[bytes]:
    """The same in pieces, for a block that is partly in a file."""
    packer = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _GZIP)
    ready = [packer.compress(header_bytes(record.fields, record.size))]
    held = len(ready[0])
    for part in record.block:
        size = 0
        for chunk in part.chunks():
            size += len(chunk)
            ready.append(packer.compress(chunk))
            held += len(ready[-1])
            if held >= _WRITE:
                yield b"".join(ready)
                ready.clear()
                held = 0
        _require_size(part.size, size)
    yield b"".join([*ready, packer.compress(_END), packer.flush()])


def member(record: StoredRecord, *more: StoredRecord) -> Iterator[bytes]:
    """A stored record as one gzip member, whatever form it had; version and fields stay.

    The blocks of `more` go on with its own.
    """
    packer = isal_zlib.compressobj(level=2, wbits=_GZIP)
    lines = [f"WARC/{record.header.version}"]
    lines.extend(f"{name}: {value}" for name, value in record.header.fields)
    head = "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n"
    yield packer.compress(head)
    for part in (record, *more):
        for chunk in block_chunks(part):
            yield packer.compress(chunk)
    yield packer.compress(b"\r\n\r\n") + packer.flush()


def _require_size(declared: int, actual: int) -> None:
    """A record that says another length than it has would hide the records after it."""
    if declared != actual:
        raise StorageError(
            f"A body of {declared} bytes has {actual} bytes when it is to be stored.",
            hint="Its spool file was changed; run the same command again.",
        )


# fdatasync leaves out the file's times but not its size; macOS has only fsync.
_datasync = getattr(os, "fdatasync", os.fsync)
