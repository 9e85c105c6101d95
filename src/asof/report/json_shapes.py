"""The stable shapes of captures, validities and covers in JSON: on the terminal and in the API."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING

from asof.catalog.derive import record_uri
from asof.catalog.inventory import Holding, Totals
from asof.clock import iso, maybe_iso, stamp
from asof.model import Capture

if TYPE_CHECKING:
    from asof.archive.folder import Folder
    from asof.change.arrivals import Arrival
    from asof.cover.kept.saved_covers import CoverFacts

_PLAIN = ("kind", "status", "media_type", "digest", "content", "size", "crawl")
_CLAIMED = ("redirect", "truncated", "profile", "refers_to_url")


def capture_json(capture: Capture) -> dict[str, object]:
    """The shape of a capture in every JSON output."""
    return {
        "url": capture.url,
        "surt": capture.surt,
        "timestamp": stamp(capture.at),
        "at": iso(capture.at),
        **{name: getattr(capture, name) for name in _PLAIN},
        **asdict(capture.where),
        "record_id": record_uri(capture.record_id),
        "etag": capture.etag,
        "last_modified": maybe_iso(capture.last_modified),
        **{name: getattr(capture, name) for name in _CLAIMED},
        "refers_to_at": maybe_iso(capture.refers_to_at),
        "anomalies": list(capture.anomalies),
    }


def validity_json(arrival: Arrival) -> dict[str, object]:
    """The shape of a validity interval, and of how it came about, in every JSON output."""
    validity, before = arrival.validity, arrival.before
    return {
        "since": iso(validity.since),
        "until": iso(validity.until),
        "proven_until": iso(validity.proven_until),
        "confirmed_until": iso(validity.confirmed_until),
        "claimed_since": maybe_iso(validity.claimed_since),
        **{name: getattr(validity, name) for name in ("content", "status", "state")},
        "change": arrival.change,
        "seen_before": None if before is None else iso(before.until),
        "evidence": [
            {
                "proof": item.proof.value,
                "at": iso(item.at),
                "record_id": record_uri(item.record_id),
                "grade": item.grade.value,
            }
            for item in validity.evidence
        ],
    }


def totals_json(totals: Totals | None) -> dict[str, object]:
    """How much an archive holds; None is not counted yet."""
    if totals is None:
        return dict.fromkeys(asdict(Totals()))
    told = asdict(totals)
    span = (totals.first, totals.last) if totals.captures else (None, None)
    return told | dict(zip(("first", "last"), map(maybe_iso, span), strict=True))


def holding_json(holding: Holding) -> dict[str, object]:
    """What is held of a host, by month."""
    told = asdict(holding) | {"first": iso(holding.first), "last": iso(holding.last)}
    months = {f"{month // 12:04}-{month % 12 + 1:02}": count for month, count in holding.months}
    del told["days"]
    return told | {"more": False, "months": months}


def cover_json(name: str, facts: CoverFacts | None) -> dict[str, object]:
    """The shape of a saved cover in every list of them; None is one that cannot be read."""
    if facts is None:
        return {"name": name, "readable": False}
    asked = {} if facts.question is None else asdict(facts.question)
    return {
        "name": name,
        "readable": True,
        "relation": facts.relation,
        "documents": facts.documents,
        "kept": facts.kept,
        "bytes": facts.size,
        "bytes_kept": facts.size_kept,
        "optimal": facts.optimal,
        "gap": facts.gap,
        "at": maybe_iso(facts.at),
        "from": asked.get("table"),
        **{key: asked.get(key) for key in ("where", "k", "terms", "text", "at_least", "prefer")},
    }


def categories(
    folder: Folder, complain: Callable[[str], None]
) -> AbstractContextManager[Callable[[Capture], str | None]]:
    """What became of a URL with a capture, as far as documents have been read (a category)."""
    if not folder.texts.exists():
        return nullcontext(lambda capture: None)
    from asof.change.judgements import stored_categories

    return stored_categories(folder.texts, complain)
