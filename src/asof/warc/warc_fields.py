"""The format application/warc-fields: named fields as the block of a record (WARC 1.1 annex C)."""

from __future__ import annotations

from collections.abc import Iterable

from asof.model import Headers
from asof.warc.record import UNSAFE


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
