"""The parts that all new records have: an identity, and a digest of their block."""

from __future__ import annotations

import os
from hashlib import sha256
from random import Random

from asof.model import Body, Headers
from asof.warc.digest import digest_text
from asof.warc.record import Record

FIELDS_TYPE = "application/warc-fields"


# Seeded by the system, and anew in every process that is forked: no two of them draw the same. Ids
# need not be secret, and a call to the system for each takes six times as long.
_random = Random()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_random.seed)


def new_record_id() -> str:
    """A random WARC-Record-ID: UUID version 4 (RFC 9562 section 5.4), without making a UUID."""
    digits = f"{_random.getrandbits(128):032x}"
    variant = "89ab"[int(digits[16], 16) & 3]
    return (
        f"<urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}"
        f"-{digits[20:]}>"
    )


def compose(kind: str, fields: Headers, content_type: str, block: bytes) -> Record:
    """A record with a small block and a new identity."""
    return Record(
        (
            ("WARC-Type", kind),
            ("WARC-Record-ID", new_record_id()),
            *fields,
            ("WARC-Block-Digest", digest_text(sha256(block).digest())),
            ("Content-Type", content_type),
        ),
        (Body(len(block), block),),
    )
