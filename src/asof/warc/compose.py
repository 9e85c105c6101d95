"""The parts that all new records have: an identity, a digest of their block, and in many of them
named fields as the block, the format application/warc-fields (WARC 1.1 annex C).
"""

import os
from collections.abc import Iterable
from hashlib import sha256
from random import Random

from asof.model import Body, Headers
from asof.warc.digest import digest_text
from asof.warc.record import UNSAFE, Record

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


def format_fields(fields: Iterable[tuple[str, object]]) -> bytes:
    """A block of fields; those without a value are left out. No value can add a line."""
    lines = [
        f"{name}: {UNSAFE.sub(' ', str(value)).strip()}\r\n"
        for name, value in fields
        if value is not None and value != ""
    ]
    return "".join(lines).encode()


def parse_fields(block: bytes) -> Headers:
    """The fields of a block by any tool; lines that are none are left out."""
    pairs: list[tuple[str, str]] = []
    for line in block.decode("utf-8", "replace").split("\n"):
        if line.startswith((" ", "\t")) and pairs:
            name, value = pairs[-1]
            pairs[-1] = (name, f"{value} {line.strip()}")
            continue
        name, colon, value = line.partition(":")
        if colon:
            pairs.append((name.strip(), value.strip()))
    return tuple(pairs)
