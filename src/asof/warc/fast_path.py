"""Judging records that are written as most tools write them, straight from their unpacked bytes.

`verify.judge` understands every record; this understands plain responses and requests whose two
digests hold, agrees with it on them (a property test compares the two), and leaves everything else
to it. Measured on pages of 23 KB: 46 us a record by `judge`, 29 here, where a C compiler was found
when asof was installed (ADR 7); 26 are the digests.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha1, sha256

from asof.native import compiled
from asof.warc.digest import base32

_SHA1 = 32  # letters of base32
_DATE = re.compile(r"[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):"
                   r"[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?Z")  # fmt: skip
_as_date = lru_cache(maxsize=1024)(_DATE.fullmatch)  # records of one second stand side by side


def sound_kind(content: bytes | bytearray) -> str | None:
    """`response` or `request` if the content of a member is one such record, whole and sound.

    Sound: it has a block and a payload digest, and both hold. None says only: judge it with care.
    """
    found = compiled.digests(content) if compiled is not None else None
    if found is None:
        return None
    kind, date, block, payload, block_digest, payload_digest = found
    if not _as_date(date):
        return None
    view = memoryview(content)
    by_block = sha1 if len(block_digest) == _SHA1 else sha256
    by_payload = sha1 if len(payload_digest) == _SHA1 else sha256
    if base32(by_block(view[block:-4]).digest()) != block_digest:
        return None
    return kind if base32(by_payload(view[payload:-4]).digest()) == payload_digest else None
