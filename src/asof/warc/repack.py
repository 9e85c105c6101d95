"""A stored record as one gzip member, whatever form it had: for files without random access."""

from __future__ import annotations

from collections.abc import Iterator

from isal import isal_zlib

from asof.warc.reader import block_chunks
from asof.warc.record import StoredRecord

# wbits for a gzip wrapper (zlib manual: 16 + window bits)
_GZIP = 31


def member(record: StoredRecord) -> Iterator[bytes]:
    """The record's own header and block, compressed; version and fields stay as they were."""
    packer = isal_zlib.compressobj(level=2, wbits=_GZIP)
    lines = [f"WARC/{record.header.version}"]
    lines.extend(f"{name}: {value}" for name, value in record.header.fields)
    head = "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n"
    yield packer.compress(head)
    for chunk in block_chunks(record):
        yield packer.compress(chunk)
    yield packer.compress(b"\r\n\r\n") + packer.flush()
