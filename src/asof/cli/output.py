"""How values are printed: the stable JSON shapes, and tables for people."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from asof.clock import Instant, iso, stamp, to_datetime
from asof.model import Capture, Damage, Validity

talk = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: object) -> None:
    """One line of JSON on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False))


def maybe_iso(instant: Instant | None) -> str | None:
    """An instant as ISO 8601, None as None."""
    return None if instant is None else iso(instant)


def when(instant: Instant) -> str:
    """An instant as people read it, to the second, UTC."""
    return to_datetime(instant).strftime("%Y-%m-%d %H:%M:%S")


def capture_json(capture: Capture) -> dict[str, object]:
    """The shape of a capture in every JSON output."""
    return {
        "url": capture.url,
        "surt": capture.surt,
        "timestamp": stamp(capture.at),
        "at": iso(capture.at),
        "kind": capture.kind,
        "status": capture.status,
        "media_type": capture.media_type,
        "digest": capture.digest,
        "content": capture.content,
        "size": capture.size,
        "crawl": capture.crawl,
        "file": capture.where.file,
        "offset": capture.where.offset,
        "length": capture.where.length,
        "record_id": capture.record_id,
        "etag": capture.etag,
        "last_modified": maybe_iso(capture.last_modified),
        "redirect": capture.redirect,
        "truncated": capture.truncated,
        "profile": capture.profile,
        "refers_to_url": capture.refers_to_url,
        "refers_to_at": maybe_iso(capture.refers_to_at),
        "anomalies": list(capture.anomalies),
    }


def validity_json(validity: Validity) -> dict[str, object]:
    """The shape of a validity interval in every JSON output."""
    return {
        "since": iso(validity.since),
        "until": iso(validity.until),
        "claimed_since": maybe_iso(validity.claimed_since),
        "content": validity.content,
        "status": validity.status,
        "evidence": [
            {"proof": item.proof.value, "at": iso(item.at), "record_id": item.record_id}
            for item in validity.evidence
        ],
    }


def damage_json(damage: Damage) -> dict[str, object]:
    """The shape of a damaged stretch in every JSON output."""
    return {
        "file": damage.file,
        "offset": damage.offset,
        "length": damage.length,
        "reason": damage.reason,
    }


def print_damage(damages: Iterable[Damage], most: int = 20) -> None:
    """Damage as lines for people, not more than they can read."""
    damages = list(damages)
    for damage in damages[:most]:
        talk.print(f"  {damage.file} at {damage.offset:,}: {damage.reason}", markup=False)
    if len(damages) > most:
        talk.print(f"  ... and {len(damages) - most:,} more (--json lists all)")


def human_bytes(count: float) -> str:
    """A size as people read it."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def byte_progress() -> Progress:
    """A bar over bytes, for work that reads files; silent when stderr is not a terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=talk,
        transient=True,
        disable=not talk.is_terminal,
    )


def cores() -> int:
    """How many processes heavy work may use."""
    return len(os.sched_getaffinity(0))
