"""The queue of one crawl, in the archive's database, so that it commits together with the records.

Uniqueness is by canonical URL. A target in flight stays queued (see states.py), and a small buffer
per host keeps the database out of the loop; a buffer is filled only when it has run empty and
nothing of that host is in flight, so what it reads is never being fetched.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from asof.clock import Instant
from asof.frontier.states import TRANSITIONS, Event, State
from asof.ledger import Ledger
from asof.model import Target
from asof.url import host_of

# Rows read at once for a host: larger saves little, smaller asks too often.
_BATCH = 64

_INSERT = """INSERT OR IGNORE INTO targets
    (crawl, url, host, state, priority, depth, hops, via, reason) VALUES (?,?,?,?,?,?,?,?,?)"""


class Frontier:
    """The targets of one crawl. Callers hold the transaction; nothing here commits."""

    def __init__(self, ledger: Ledger, crawl_no: int) -> None:
        self._db = ledger.db
        self._crawl = crawl_no
        self._buffers: dict[str, deque[Target]] = {}
        self.tally = self._count()

    def add(self, targets: Iterable[Target]) -> list[str]:
        """Queue what is not known yet; gives the hosts that got something new."""
        rows = [self._row(target, State.QUEUED, None) for target in targets]
        if not rows:
            return []
        if not self._insert(rows, State.QUEUED) + self._reconsider(rows):
            return []
        return list(dict.fromkeys(str(row[2]) for row in rows))

    def _reconsider(self, rows: list[tuple[object, ...]]) -> int:
        """What was left out as too deep and is now found nearer to a seed is queued after all."""
        before = self._db.total_changes
        self._db.executemany(
            "UPDATE targets SET state = 'queued', reason = NULL, priority = ?, depth = ?, "
            "hops = ?, via = ? WHERE crawl = ? AND url = ? AND state = 'left_out' AND depth > ?",
            [(*row[4:8], *row[:2], row[5]) for row in rows],
        )
        moved = self._db.total_changes - before
        self.tally[State.LEFT_OUT] -= moved
        self.tally[State.QUEUED] += moved
        return moved

    def leave_out(self, found: Iterable[tuple[Target, str]]) -> None:
        """Remember what was found and not queued, with the reason, for the report."""
        rows = [self._row(target, State.LEFT_OUT, reason) for target, reason in found]
        self._insert(rows, State.LEFT_OUT)

    def _insert(self, rows: list[tuple[object, ...]], state: State) -> int:
        before = self._db.total_changes
        self._db.executemany(_INSERT, rows)
        new = self._db.total_changes - before
        self.tally[state] += new
        return new

    def _row(self, target: Target, state: State, reason: str | None) -> tuple[object, ...]:
        return (
            self._crawl, target.url, host_of(target.url), state.value, target.priority,
            target.depth, target.hops, target.via, reason,
        )  # fmt: skip

    def hosts(self) -> Iterator[tuple[str, Instant]]:
        """Every host with something queued, and the earliest moment one of its targets may go."""
        yield from self._db.execute(
            "SELECT host, min(not_before) FROM targets WHERE crawl = ? AND state = 'queued' "
            "GROUP BY host",
            (self._crawl,),
        )

    def next(self, host: str, now: Instant) -> Target | None:
        """The first target of a host by priority, then by discovery, that may be fetched now."""
        buffer = self._buffers.get(host)
        if not buffer:
            buffer = self._buffers[host] = deque(self._read(host, now))
        if buffer:
            return buffer.popleft()
        del self._buffers[host]
        return None

    def _read(self, host: str, now: Instant) -> Iterator[Target]:
        rows = self._db.execute(
            "SELECT url, depth, via, hops, priority, tries FROM targets WHERE crawl = ? "
            "AND host = ? AND state = 'queued' AND not_before <= ? ORDER BY priority, no LIMIT ?",
            (self._crawl, host, now, _BATCH),
        )
        return (Target(*row) for row in rows)

    def due(self, host: str) -> Instant | None:
        """When the next target of a host may go, or None when it has none."""
        if self._buffers.get(host):
            return 0
        row = self._db.execute(
            "SELECT min(not_before) FROM targets WHERE crawl = ? AND host = ? AND state = 'queued'",
            (self._crawl, host),
        ).fetchone()
        return None if row[0] is None else int(row[0])

    def settle(
        self, target: Target, event: Event, *, reason: str | None = None, not_before: Instant = 0
    ) -> None:
        """Move a target along the table of states; one that is not known yet is put in first."""
        self._insert([self._row(target, State.QUEUED, None)], State.QUEUED)
        key = (self._crawl, target.url)
        row = self._db.execute("SELECT state FROM targets WHERE crawl = ? AND url = ?", key)
        before = State(row.fetchone()[0])
        state = TRANSITIONS[before, event]
        self.tally[before] -= 1
        self.tally[state] += 1
        self._db.execute(
            "UPDATE targets SET state = ?, reason = ?, not_before = ?, tries = tries + ? "
            "WHERE crawl = ? AND url = ?",
            (state.value, reason, not_before, event is not Event.REFUSED, *key),
        )

    def put_back(self, target: Target) -> None:
        """Return a target that was taken and not fetched; it is the next of its host again."""
        self._buffers.setdefault(host_of(target.url), deque()).appendleft(target)

    def pages_done(self) -> int:
        """How many targets were captured, robots.txt not counted."""
        row = self._db.execute(
            "SELECT count(*) FROM targets WHERE crawl = ? AND state = 'done' "
            "AND hops NOT LIKE 'P%'",
            (self._crawl,),
        )
        return int(row.fetchone()[0])

    def _count(self) -> dict[State, int]:
        rows = self._db.execute(
            "SELECT state, count(*) FROM targets WHERE crawl = ? GROUP BY state", (self._crawl,)
        )
        return dict.fromkeys(State, 0) | {State(state): count for state, count in rows}

    def reasons(self) -> dict[str, int]:
        """Why targets failed or were left out, most frequent first."""
        rows = self._db.execute(
            "SELECT reason, count(*) FROM targets WHERE crawl = ? AND state IN "
            "('failed', 'left_out') GROUP BY reason ORDER BY 2 DESC, 1",
            (self._crawl,),
        )
        return {str(reason): count for reason, count in rows}
