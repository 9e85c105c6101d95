"""The decoders of compressed bodies: chunks in, steps of decoded bytes out, errors of their own.

Each gives a generator. It raises one of `BROKEN` at the place where the bytes go wrong, or
`Cut` when they end too early; everything decodable before that has been given by then, but for the
output of one bite. No step is larger than a few MiB, whatever the ratio.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import cast

import brotli
import zstandard
from isal import isal_zlib

# A step of output: most pages come out in one.
_STEP = 1 << 18
# A bite of input. A decoder that fails loses what this bite would have given, so it is small.
_BITE = 1 << 12
# What is bitten off when a first try broke inside its first bite.
_CAREFUL_BITE = 16
# zstandard has no limit for the output of a call. A block takes 4 bytes at least and gives 128 KiB
# at most (RFC 8878 section 3.1.1.2), so this bite gives 4 MiB at most.
_ZSTD_BITE = 1 << 7


Decoder = Callable[[Iterable[bytes]], Iterator[bytes]]


class Cut(Exception):
    """The bytes ended before their coding did."""


def undeflate(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """What some servers send under that name: deflate without a wrapper.

    It has no mark to know it by, and text may pass for it for a few bytes. So it is believed only
    when it makes sense for a bite and beyond, or to its very end.
    """
    inflater = zlib.decompressobj(-15)
    pieces = _inflate(lambda: inflater, _BITE, 0, False, chunks)
    believed = list(islice(pieces, 2))
    if inflater.unused_data:
        raise Cut
    yield from believed
    yield from pieces


def unbrotli(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The brotli format (RFC 7932)."""
    decoder = brotli.Decompressor()
    for bite in _bites(chunks, _BITE):
        yield decoder.process(bite, output_buffer_limit=_STEP)
        while not (decoder.is_finished() or decoder.can_accept_more_data()):
            yield decoder.process(b"", output_buffer_limit=_STEP)
        if decoder.is_finished():
            return
    raise Cut


def unzstd(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """All frames of a zstd stream (RFC 8878)."""
    decoder = zstandard.ZstdDecompressor().decompressobj()
    for bite in _bites(chunks, _ZSTD_BITE):
        data = bite
        while data:
            if decoder.eof:
                decoder = zstandard.ZstdDecompressor().decompressobj()
            yield decoder.decompress(data)
            data = decoder.unused_data
    if not decoder.eof:
        raise Cut


# isal's stub says that its error class is an exception, not a class of them.
_IsalError = cast(type[Exception], isal_zlib.IsalError)
BROKEN: tuple[type[Exception], ...] = (
    Cut, zlib.error, _IsalError, brotli.error, zstandard.ZstdError,
)  # fmt: skip


def _inflate(
    new: Callable[[], zlib._Decompress | isal_zlib.Decompress],
    bite: int,
    last: int,
    members: bool,
    chunks: Iterable[bytes],
) -> Iterator[bytes]:
    """What was packed; `last` bytes are a checksum, and with `members` another may follow it."""
    inflater, full = new(), False
    for data in _bites(chunks, bite, last):
        while data or (full and not inflater.eof):
            if inflater.eof:
                # Every member begins with 1f (RFC 1952 section 2.3.1).
                if not members or data[0] != 0x1F:
                    return
                inflater = new()
            piece = inflater.decompress(data, _STEP)
            full = len(piece) == _STEP
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            yield piece
    if not inflater.eof:
        raise Cut


def _bites(chunks: Iterable[bytes], size: int, last: int = 0) -> Iterator[bytes]:
    """The same bytes in bites of `size`, and the `last` few in a bite of their own.

    Those are the checksum of gzip and zlib: a wrong one must not take good output with it.
    """
    held = b""
    for chunk in chunks:
        held += chunk
        whole = max(0, len(held) - last) // size * size
        for at in range(0, whole, size):
            yield held[at : at + size]
        held = held[whole:]
    end = max(0, len(held) - last)
    for bite in (held[:end], held[end:]):
        if bite:
            yield bite


# By name in Content-Encoding, in lower case; tried in this order.
_GUNZIP = (
    # All members of a stream; padding or garbage after a member is nobody's.
    partial(_inflate, lambda: isal_zlib.decompressobj(31), _BITE, 8, True),
    # The same in small bites: slow, but gives nearly all that comes before a break.
    partial(_inflate, lambda: zlib.decompressobj(31), _CAREFUL_BITE, 8, True),
)
DECODERS: dict[str, tuple[Decoder, ...]] = {
    "gzip": _GUNZIP,
    "x-gzip": _GUNZIP,
    # What it means in HTTP (RFC 9110 section 8.4.1.2) is the zlib format.
    "deflate": (
        partial(_inflate, lambda: zlib.decompressobj(15), _BITE, 4, False),
        undeflate,
        partial(_inflate, lambda: zlib.decompressobj(15), _CAREFUL_BITE, 4, False),
    ),
    "br": (unbrotli,),
    "zstd": (unzstd,),
}

# How a body that is coded as said begins, where that can be told.
MAGIC = {"gzip": b"\x1f\x8b", "x-gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
