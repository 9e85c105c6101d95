"""What a reader of another format found: records, and damage."""

from __future__ import annotations

from asof.model import Damage
from asof.warc.record import Record


def damage(items: list[Record | Damage]) -> list[Damage]:
    return [item for item in items if isinstance(item, Damage)]


def field(record: Record | Damage, name: str) -> str | None:
    assert isinstance(record, Record)
    return dict(record.fields).get(name)


def block(record: Record | Damage) -> bytes:
    assert isinstance(record, Record)
    return b"".join(chunk for part in record.block for chunk in part.chunks())
