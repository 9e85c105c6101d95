"""What a crawl tells: snapshots while it runs, and a summary at its end."""

import json
import math
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

from asof.clock import Clock
from asof.frontier.completeness import (
    Completeness,
    completeness,
    completeness_json,
    likely_traps,
)
from asof.frontier.hosts import Hosts
from asof.frontier.report import (
    LeftOutReason,
    busiest,
    errors,
    failed,
    left_out,
    reasons,
    tally,
)
from asof.frontier.states import TargetState
from asof.ledger import Ledger
from asof.model import Crawl

# A rate "now" is over so many seconds: long enough to be calm, short enough to show a stall.
_WINDOW = 10.0
# So many of the last URLs are shown.
_RECENT = 6
# Seconds between two counts of what is queued by host.
_COUNT_EVERY = 2.0
_REASONS = 4
# There are URLs of megabytes; a status is for reading.
_LONGEST_TEXT = 2000
# A list in a status file that is longer was not written by us.
_MOST_ROWS = 100
# What is told of a plan.
_COURSE = ("mode", "plan", "eta", "pages", "expected", "turn")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How things stand at a moment of the crawl.

    `hosts` have something queued, `active` of them are being asked now. `recent` are the last
    answers (status, URL), newest last; status 0 is a failure. `busiest` are the hosts with most
    queued: name, how many, seconds until the host may be asked again (below 0: not known).
    `reasons` are those of failures, most frequent first. `state` is running, revisiting,
    paused or stopping. `waiting` says what is waited for, as a host that is held back.
    """

    elapsed: float
    captured: int
    failed: int
    left_out: int
    queued: int
    bytes: int
    hosts: int
    current: str = ""
    recent: tuple[tuple[int, str], ...] = ()
    busiest: tuple[tuple[str, int, float], ...] = ()
    reasons: tuple[tuple[str, int], ...] = ()
    state: str = "running"
    rate_now: float = 0.0
    active: int = 0
    waiting: str = ""

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
        # The last answers, newest last; a failure has status 0.
        self.recent: deque[tuple[int, str]] = deque(maxlen=_RECENT)

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


class Outlook:
    """The hosts with most queued and the reasons of failures, counted now and then."""

    def __init__(self, reader: Ledger, crawl_no: int) -> None:
        self._reader = reader
        self._crawl_no = crawl_no
        self._count_at = 0.0
        self.busiest: tuple[tuple[str, int, float], ...] = ()
        self.reasons: tuple[tuple[str, int], ...] = ()

    def renew(self, now: float, clock: Clock, hosts: Hosts) -> None:
        if now < self._count_at:
            return
        self.busiest = tuple(
            (host, count, max(0.0, hosts.due(host, now) - now))
            for host, count in busiest(self._reader, self._crawl_no)
        )
        why = reasons(self._reader, self._crawl_no, TargetState.FAILED)
        self.reasons = tuple(why.items())[:_REASONS]
        # Counting a million targets takes a second: never more than a fiftieth of the time.
        self._count_at = now + max(_COUNT_EVERY, 50 * (clock.monotonic() - now))


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


# How the fields of a snapshot are read, by type, and those of the rows in its lists, in order.
_READERS: dict[object, Callable[[object], object]] = {int: _count, float: _number, str: _text}
_ROWS: dict[str, dict[str, Callable[[object], object]]] = {
    "recent": {"status": _count, "url": _text},
    "busiest": {"host": _text, "queued": _count, "wait": _number},
    "reasons": {"reason": _text, "count": _count},
}


def snapshot_json(snapshot: Snapshot) -> dict[str, object]:
    """The shape of a snapshot in status.json and in `status --follow --json`."""
    plain, remaining = asdict(snapshot), snapshot.remaining
    lists = {
        name: [dict(zip(keys, map(_short, row), strict=True)) for row in plain[name]]
        for name, keys in _ROWS.items()
    }
    return {
        **{name: _short(value) for name, value in plain.items()},
        "rate": round(snapshot.rate, 3),
        "remaining": None if remaining is None else round(remaining, 1),
        **lists,
    }


def _short(value: object) -> object:
    if isinstance(value, str):
        return value[:_LONGEST_TEXT]
    return round(value, 3) if isinstance(value, float) else value


def snapshot_of(value: object) -> Snapshot:
    """The snapshot of that shape; ValueError when it is something else (a foreign file)."""
    if not isinstance(value, dict):
        raise ValueError("no snapshot")
    plain = [each for each in fields(Snapshot) if each.name not in _ROWS]
    found: dict[str, Any] = {
        each.name: _READERS[each.type](value.get(each.name, each.default)) for each in plain
    }
    for name, keys in _ROWS.items():
        rows = value.get(name, [])
        if not isinstance(rows, list) or len(rows) > _MOST_ROWS:
            raise ValueError(f"{name} is no short list")
        if not all(isinstance(row, dict) and row.keys() >= keys.keys() for row in rows):
            raise ValueError(f"{name} holds something else")
        found[name] = tuple(tuple(read(row[key]) for key, read in keys.items()) for row in rows)
    return Snapshot(**found)


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
    errors: dict[str, int] | None = None  # of the captured, by status
    probes: int = 0  # requests of the last run that tested whether servers tell the truth
    traps: int = 0
    trap_example: str | None = None


def counted(reader: Ledger, crawl_no: int) -> Summary:
    """What became of the targets of a crawl, of what is committed."""
    visits, revisits = tally(reader, crawl_no), tally(reader, crawl_no, revisits=True)
    traps = likely_traps(reader, crawl_no)
    return Summary(
        captured=visits[TargetState.DONE],
        failed=visits[TargetState.FAILED],
        left_out=visits[TargetState.LEFT_OUT],
        queued=visits[TargetState.QUEUED],
        reasons=reasons(reader, crawl_no),
        revisited=revisits[TargetState.DONE],
        to_revisit=revisits[TargetState.QUEUED],
        errors=errors(reader, crawl_no),
        traps=traps.count,
        trap_example=traps.example,
    )


def summary_of(crawl: Crawl) -> Summary:
    """The summary kept with a crawl; an empty one when it has not ended."""
    try:
        return Summary(**json.loads(crawl.note)) if crawl.note else Summary()
    except (ValueError, TypeError):
        return Summary()


def crawl_json(crawl: Crawl, summary: Summary) -> dict[str, object]:
    """The shape that `crawl --json` and `status --json` print."""
    plan = crawl.coherence_plan
    return {
        "crawl": crawl.id,
        **crawl.facts(),
        "imported": crawl.imported,
        **asdict(summary),
        "reasons": summary.reasons or {},
        "errors": summary.errors or {},
        "course": None if plan is None else {name: plan.facts()[name] for name in _COURSE},
    }


@dataclass(frozen=True, slots=True)
class Report:
    """How complete a crawl is, what it left out, and what failed."""

    completeness: Completeness
    left_out: list[LeftOutReason]
    failed: list[LeftOutReason]


def report_of(reader: Ledger, crawl_no: int) -> Report:
    complete = completeness(reader, crawl_no)
    return Report(complete, left_out(reader, crawl_no), failed(reader, crawl_no))


def report_json(report: Report) -> dict[str, object]:
    """What `status CRAWL --json` prints beside its summary."""
    return {
        "completeness": completeness_json(report.completeness),
        "left_out": [asdict(row) for row in report.left_out],
        "failures": [asdict(row) for row in report.failed],
    }
