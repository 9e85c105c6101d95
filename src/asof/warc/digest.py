"""Digests as WARC headers write them: `sha256:` and base32, or what other tools chose."""

from __future__ import annotations

import hashlib
from binascii import a2b_base64
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from asof.native import compiled

if TYPE_CHECKING:
    from hashlib import _Hash

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
_SHIFTS_160 = range(150, -1, -10)
_SHIFTS_260 = range(250, -1, -10)

# int() reads base 32, but with these digits. A value so read costs 0.7 us, and
# base64.b32decode ten times that.
_BASE32 = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz234567",
    b"0123456789abcdefghijklmnop0123456789abcdefghijklmnopqrstuv",
)


_NewHash = Callable[..., "_Hash"]
Digest = tuple[_NewHash, bytes]
"""A declared digest: how to compute it, and what should come out."""


def plain_base32(digest: bytes) -> str:
    """What base64.b32encode gives for SHA-1 and SHA-256, in half its time: two letters at once."""
    number = int.from_bytes(digest)
    if len(digest) == 20:
        return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS_160])
    number <<= 4
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS_260]) + "===="


base32 = plain_base32 if compiled is None else compiled.base32


def digest_text(digest: bytes) -> str:
    """A SHA-256 as our records carry it.

    With the padding, although it says nothing: `warcio check` takes a value without it for base64.
    """
    return "sha256:" + base32(digest)


_SHORTEST = 22  # characters: MD5 in base64


def parse_digest(declared: str) -> Digest | str | None:
    """What a header declares: None when the algorithm is not known here, a sentence when the value
    cannot be one of its. Hexadecimal, base32 and base64 are told apart by their length.
    """
    name, named, value = declared.partition(":")
    algorithm = _algorithm(name) if len(name) < 20 else None
    if algorithm is None:
        # Some tools leave the name out; what is shorter than any digest is none.
        return None if named or len(name) >= _SHORTEST else f"{declared[:99]!r} cannot be right"
    new, size = algorithm
    value = value.strip(" =")
    try:
        if len(value) == (8 * size + 4) // 5:
            number = int(value.encode().translate(_BASE32), 32)
            return new, (number >> (5 * len(value) - 8 * size)).to_bytes(size, "big")
        if len(value) == 2 * size:
            return new, bytes.fromhex(value)
        if len(value) == (8 * size + 5) // 6:
            raw = a2b_base64(value.replace("-", "+").replace("_", "/") + "===")
            if len(raw) == size:
                return new, raw
    except (ValueError, OverflowError):  # binascii.Error is a ValueError
        pass
    return f"{declared[:99]!r} cannot be right"


def same(one: str | None, other: str | None) -> bool | None:
    """Whether two digests are of the same bytes; None where they cannot be compared.

    A foreign record's SHA-1 and our SHA-256 say nothing about each other. Hexadecimal and base32 of
    one value are the same digest.
    """
    if one is None or other is None:
        return None
    if one == other:
        return True
    first, second = parse_digest(one), parse_digest(other)
    if not isinstance(first, tuple) or not isinstance(second, tuple) or first[0] is not second[0]:
        return None
    return first[1] == second[1]


def holds(declared: str, chunks: Iterable[bytes | memoryview]) -> bool:
    """Whether some bytes have a digest; False also where its algorithm is not known here."""
    wanted = parse_digest(declared)
    return isinstance(wanted, tuple) and digest_of(wanted[0], chunks) == wanted[1]


def digest_of(new: _NewHash, chunks: Iterable[bytes | memoryview]) -> bytes:
    running = new()
    for chunk in chunks:
        running.update(chunk)
    return running.digest()


@lru_cache(maxsize=64)
def _algorithm(name: str) -> tuple[_NewHash, int] | None:
    """How to compute a digest of that name, and its length; `SHA-1` is `sha1`."""
    name = name.strip().lower()
    for spelling in (name, name.replace("-", "")):
        if spelling in hashlib.algorithms_available and not spelling.startswith("shake"):
            new: _NewHash = getattr(hashlib, spelling, None) or partial(hashlib.new, spelling)
            return new, new().digest_size
    return None
