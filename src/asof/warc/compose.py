"""The parts that all new records have: an identity, and a digest of their block."""

from __future__ import annotations

import os
from hashlib import sha256

from asof.model import Body, Headers
from asof.warc.digest import digest_text
from asof.warc.record import Record

FIELDS_TYPE = "application/warc-fields"


def new_record_id() -> str:
    """A random WARC-Record-ID."""
    return _uuid(os.urandom(16).hex())


def new_record_ids() -> tuple[str, str, str]:
    """Three of them, for the records of one exchange, in one call to the system."""
    digits = os.urandom(48).hex()
    return _uuid(digits[:32]), _uuid(digits[32:64]), _uuid(digits[64:])


def _uuid(digits: str) -> str:
    """UUID version 4 (RFC 9562 section 5.4) of random digits, without making a UUID.

    Nothing is drawn in advance, so that two processes never share what one has drawn.
    """
    variant = "89ab"[int(digits[16], 16) & 3]
    return (
        f"<urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}"
        f"-{digits[20:]}>"
    )


def compose(
    kind: str, fields: Headers, content_type: str, block: bytes, record_id: str = ""
) -> Record:
    """A record with a small block, and with a new identity unless one is given."""
    return Record(
        (
            ("WARC-Type", kind),
            ("WARC-Record-ID", record_id or new_record_id()),
            *fields,
            ("WARC-Block-Digest", digest_text(sha256(block).digest())),
            ("Content-Type", content_type),
        ),
        (Body(len(block), block),),
    )
