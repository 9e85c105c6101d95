"""What a crawl tells: snapshots while it runs, and a summary at its end."""

from __future__ import annotations

import json
import math
from collections import deque
from dataclasses import asdict, dataclass

from asof.clock import iso
from asof.model import CoherencePlan, Crawl

# A rate "now" is over so many seconds: long enough to be calm, short enough to show a stall.
_WINDOW = 10.0
# So many of the last URLs are shown.
_RECENT = 6
# There are URLs of megabytes; a status is for reading.
_LONGEST_TEXT = 2000
# A list in a status file that is longer was not written by us.
_MOST_ROWS = 100


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How things stand at a moment of the crawl.

    `hosts` have something queued, `active` of them are being asked now. `recent` are the last
    answers (status, URL), newest last; status 0 is a failure. `busiest` are the hosts with most
    queued: name, how many, seconds until the host may be asked again (below 0: not known).
    `reasons` are those of failures, most frequent first. `state` is running, revisiting,
    paused or stopping.
    """

    elapsed: float
    captured: int
    failed: int
    left_out: int
    queued: int
    bytes: int
    hosts: int
    current: str
    recent: tuple[tuple[int, str], ...] = ()
    busiest: tuple[tuple[str, int, float], ...] = ()
    reasons: tuple[tuple[str, int], ...] = ()
    state: str = "running"
    rate_now: float = 0.0
    active: int = 0

    @property
    def rate(self) -> float:
        """Captures a second since the start of this run."""
        return self.captured / self.elapsed if self.elapsed > 0 else 0.0

    @property
    def remaining(self) -> float | None:
        """Seconds until the queue is empty if nothing more is found; None when nobody can tell."""
        rate = self.rate_now or self.rate
        return self.queued / rate if self.captured and rate > 0 else None


class Meter:
    """Counts what comes in, for the figures of a snapshot that are about the last moments."""

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()
        self._recent: deque[tuple[int, str]] = deque(maxlen=_RECENT)

    def came(self, status: int, url: str) -> None:
        """An answer, or a failure as status 0."""
        self._recent.append((status, url))

    @property
    def recent(self) -> tuple[tuple[int, str], ...]:
        """The last answers, newest last."""
        return tuple(self._recent)

    def rate(self, now: float, captured: int) -> float:
        """Captures a second over the last ten seconds; to be asked about once a second or more."""
        if self._marks and captured < self._marks[-1][1]:
            self._marks.clear()  # another phase of the crawl, which counts anew
        while len(self._marks) > 1 and self._marks[1][0] <= now - _WINDOW:
            self._marks.popleft()
        # A mark a tenth of a second is enough, however often we are asked.
        if not self._marks or now - self._marks[-1][0] >= _WINDOW / 100:
            self._marks.append((now, captured))
        since, before = self._marks[0]
        return (captured - before) / (now - since) if now > since else 0.0


def snapshot_json(snapshot: Snapshot) -> dict[str, object]:
    """The shape of a snapshot in status.json and in `status --follow --json`."""
    plain = asdict(snapshot)
    remaining = snapshot.remaining
    return {
        **plain,
        "current": snapshot.current[:_LONGEST_TEXT],
        "elapsed": round(snapshot.elapsed, 3),
        "rate": round(snapshot.rate, 3),
        "rate_now": round(snapshot.rate_now, 3),
        "remaining": None if remaining is None else round(remaining, 1),
        "recent": [
            {"status": status, "url": url[:_LONGEST_TEXT]} for status, url in snapshot.recent
        ],
        "busiest": [
            {"host": host[:_LONGEST_TEXT], "queued": queued, "wait": round(wait, 3)}
            for host, queued, wait in snapshot.busiest
        ],
        "reasons": [
            {"reason": reason[:_LONGEST_TEXT], "count": count} for reason, count in snapshot.reasons
        ],
    }


def snapshot_of(value: object) -> Snapshot:
    """The snapshot of that shape; ValueError when it is something else (a foreign file)."""
    if not isinstance(value, dict):
        raise ValueError("no snapshot")
    return Snapshot(
        elapsed=_number(value.get("elapsed")),
        captured=_count(value.get("captured")),
        failed=_count(value.get("failed")),
        left_out=_count(value.get("left_out")),
        queued=_count(value.get("queued")),
        bytes=_count(value.get("bytes")),
        hosts=_count(value.get("hosts")),
        current=_text(value.get("current", "")),
        recent=tuple(
            (_count(row["status"]), _text(row["url"]))
            for row in _rows(value, "recent", "status", "url")
        ),
        busiest=tuple(
            (_text(row["host"]), _count(row["queued"]), _number(row["wait"]))
            for row in _rows(value, "busiest", "host", "queued", "wait")
        ),
        reasons=tuple(
            (_text(row["reason"]), _count(row["count"]))
            for row in _rows(value, "reasons", "reason", "count")
        ),
        state=_text(value.get("state", "running")),
        rate_now=_number(value.get("rate_now", 0)),
        active=_count(value.get("active", 0)),
    )


def _rows(value: dict[str, object], name: str, *keys: str) -> list[dict[str, object]]:
    """The objects of a list, each with all of the keys."""
    rows = value.get(name, [])
    if not isinstance(rows, list) or len(rows) > _MOST_ROWS:
        raise ValueError(f"{name} is no short list")
    if not all(isinstance(row, dict) and row.keys() >= set(keys) for row in rows):
        raise ValueError(f"{name} holds something else")
    return rows


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 63:
        raise ValueError("no count")
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("no number")
    if abs(value) >= 1 << 63 or not math.isfinite(value):
        raise ValueError("no finite number")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")
    return value


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
    revisited: int = 0
    to_revisit: int = 0

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
        "course": _coherence_plan_json(crawl.coherence_plan),
    }


def _coherence_plan_json(coherence_plan: CoherencePlan | None) -> dict[str, object] | None:
    """How the crawl seeks coherence; None if it does not."""
    if coherence_plan is None:
        return None
    return {
        "mode": coherence_plan.mode,
        "plan": coherence_plan.plan,
        "eta": coherence_plan.eta,
        "pages": coherence_plan.pages,
        "expected": coherence_plan.expected,
        "turn": None if coherence_plan.turn is None else iso(coherence_plan.turn),
    }
