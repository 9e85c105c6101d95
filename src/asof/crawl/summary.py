"""What a crawl tells: snapshots while it runs, and a summary at its end."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from asof.clock import iso
from asof.model import Crawl


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How things stand at a moment of the crawl."""

    elapsed: float
    captured: int
    failed: int
    left_out: int
    queued: int
    bytes: int
    hosts: int
    current: str

    @property
    def rate(self) -> float:
        """Captures a second since the start of this run."""
        return self.captured / self.elapsed if self.elapsed > 0 else 0.0

    @property
    def remaining(self) -> float | None:
        """Seconds until the queue is empty if nothing more is found; None before the first."""
        return self.queued / self.rate if self.captured else None


@dataclass(frozen=True, slots=True)
class Summary:
    """The outcome of a crawl, also kept in its last WARC record."""

    captured: int = 0
    failed: int = 0
    left_out: int = 0
    queued: int = 0
    bytes: int = 0
    seconds: float = 0.0
    ended_by: str = ""
    reasons: dict[str, int] | None = None

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)


def summary_of(crawl: Crawl) -> Summary:
    """The summary kept with a crawl; an empty one when it has not ended."""
    try:
        return Summary(**json.loads(crawl.note)) if crawl.note else Summary()
    except (ValueError, TypeError):
        return Summary()


def crawl_json(crawl: Crawl, summary: Summary) -> dict[str, object]:
    """The shape that `crawl --json` and `status --json` print."""
    return {
        "crawl": crawl.id,
        "id": crawl.id,
        "state": crawl.state.value,
        "seeds": list(crawl.seeds),
        "started": iso(crawl.started),
        "ended": None if crawl.ended is None else iso(crawl.ended),
        **{k: v for k, v in asdict(summary).items() if k != "reasons"},
        "reasons": summary.reasons or {},
    }
