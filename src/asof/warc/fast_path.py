"""Judging records that are written as most tools write them, straight from their unpacked bytes.

`verify.judge` understands every record; this understands plain responses and requests whose two
digests hold, agrees with it on them (a property test compares the two), and leaves everything else
to it. Measured on pages of 23 KB: 46 us a record by `judge`, 33 by `plain_kind`, 29 by
`compiled_kind` where a C compiler was found when asof was installed (ADR 7); 26 are the digests.
"""

from __future__ import annotations

import re
from hashlib import sha1, sha256

from asof.native import compiled

_LONGEST_HEADER = 1 << 16
_END = b"\r\n\r\n"
# One look finds all that counts, in whatever order, since each stands at the start of a line.
_FIELD = re.compile(
    rb"\r\n(WARC-Type|WARC-Block-Digest|WARC-Payload-Digest|WARC-Target-URI|WARC-Date"
    rb"|Content-Length): ([!-~]+)(?=\r\n)"
)
_BLANK = re.compile(rb"[\s\x1c-\x1f]")
_BLANK_LINE = re.compile(rb"\n[\s\x1c-\x1f]")
_FIELDS = 6
_VERSIONS = (b"WARC/1.1\r\n", b"WARC/1.0\r\n")
_ODD = (b"WARC-Segment-Number", b"\n ", b"\t")
_DATE = re.compile(rb"[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):"
                   rb"[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?Z")  # fmt: skip
_SHA1_SIZE = 20
_SHA1_LENGTH, _SHA256_LENGTH = len("sha1:") + 32, len("sha256:") + 56
# A-Z2-7 to 0-9a-v; what is no letter of base32 becomes what is no digit either.
_DIGITS = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" + b"abcdefghijklmnopqrstuvwxyz0189",
    b"0123456789abcdefghijklmnopqrstuv" + b"~" * 30,
)


def compiled_kind(content: bytes | bytearray) -> bytes | None:
    """As `plain_kind`, by the compiled reader."""
    found = compiled.digests(content)
    if found is None:
        return None
    kind, block, payload, block_digest, payload_digest = found
    view = memoryview(content)
    by_block = sha1 if len(block_digest) == _SHA1_SIZE else sha256
    by_payload = sha1 if len(payload_digest) == _SHA1_SIZE else sha256
    if by_block(view[block:-4]).digest() != block_digest:
        return None
    return kind if by_payload(view[payload:-4]).digest() == payload_digest else None


def plain_kind(content: bytes | bytearray) -> bytes | None:
    """`response` or `request` if the content of a member is one such record, whole and sound.

    Sound: it has a block and a payload digest, and both hold. None says only: judge it with care.
    """
    end = content.find(_END, 0, _LONGEST_HEADER)
    if not content.startswith(_VERSIONS):
        return None
    header = content[: end + 2]
    found = _FIELD.findall(header)
    fields = dict(found)
    if len(found) != _FIELDS or len(fields) != _FIELDS or any(odd in header for odd in _ODD):
        return None
    kind = fields[b"WARC-Type"]
    if kind not in (b"response", b"request") or _DATE.fullmatch(fields[b"WARC-Date"]) is None:
        return None
    if not fields[b"WARC-Target-URI"].startswith((b"http://", b"https://")):
        return None
    if fields[b"Content-Length"] != b"%d" % (len(content) - end - 8) or content[-4:] != _END:
        return None
    payload = content.find(_END, end + 4) + 4
    view = memoryview(content)[:-4]
    if payload < 4 or payload > len(view):
        return None
    if _BLANK.match(content, end + 4) or _BLANK_LINE.search(content, end + 4, payload - 2):
        return None  # where the head ends is then a matter of opinion
    if not _holds(fields[b"WARC-Block-Digest"], view[end + 4 :]):
        return None
    return kind if _holds(fields[b"WARC-Payload-Digest"], view[payload:]) else None


def _holds(declared: bytes, data: memoryview) -> bool:
    """Whether a digest in base32 is that of some bytes; numbers compare faster than texts."""
    if len(declared) == _SHA1_LENGTH and declared[:5] == b"sha1:":
        return _number(declared[5:]) == int.from_bytes(sha1(data).digest())
    if len(declared) == _SHA256_LENGTH and declared[:7] == b"sha256:" and declared[-4:] == b"====":
        return _number(declared[7:-4]) == int.from_bytes(sha256(data).digest()) << 4
    return False


def _number(base32: bytes) -> int:
    """The number that RFC 4648 base32 writes, by Python's own digits of base 32; -1 if none."""
    if not base32.isalnum():
        return -1
    try:
        return int(base32.translate(_DIGITS), 32)
    except ValueError:
        return -1


sound_kind = plain_kind if compiled is None else compiled_kind
