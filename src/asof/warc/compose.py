"""The parts that all new records have: an identity, and a digest of their block."""

from __future__ import annotations

import os
from hashlib import sha256

from asof.model import Body, Headers
from asof.warc.digest import digest_text
from asof.warc.record import Record

FIELDS_TYPE = "application/warc-fields"


def new_record_id() -> str:
    """A random WARC-Record-ID: UUID version 4 (RFC 9562 section 5.4), without making a UUID.

    Nothing is drawn in advance, so that two processes never share what one has drawn.
    """
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return (
        f"<urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}"
        f"-{digits[20:]}>"
    )


def compose(kind: str, fields: Headers, content_type: str, block: bytes) -> Record:
    """A record with a new identity and a small block."""
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
