"""The queue of one crawl, in the archive's database, so that it commits together with the records.

What the crawl learns (found, left out, settled) is first only remembered here; `take_changes` hands
it over as one frozen value, `apply` writes that inside the transaction of the records it belongs to
(maybe on another thread), and `applied` says that this has happened. What is read comes through a
connection of its own, so that the crawl never waits for a commit.

A crawl that visits its pages twice (asof.crawl.phases) has a second queue, of revisits, which is
filled at the turning point. `serve` says which of the two is given out; what is found belongs to
the visits either way.

Uniqueness is by canonical URL. A target in flight stays queued in the database (see states.py)
until its settlement is applied; meanwhile `_out` knows it, so it is never given out twice.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from asof.clock import Instant
from asof.frontier.report import tally
from asof.frontier.states import TARGET, TRANSITIONS, Event, TargetState, as_target
from asof.ledger import Ledger, url_key
from asof.model import Target
from asof.scope.patterns import Learnt, Patterns, written
from asof.url import host_of

# Rows read at once for a host: larger saves little, smaller asks too often.
_BATCH = 64
# Targets that are judged anew at a time.
_JUDGED = 2_000
_LEAST = 8
_BUFFERED = 16_384

_INSERT = """INSERT OR IGNORE INTO targets
    (crawl, key, url, host, state, guess, priority, depth, hops, via, reason)
    VALUES (?,?,?,?,?,?,?,?,?,?,?)"""
_SETTLE = (
    "UPDATE targets SET state = ?, reason = ?, not_before = ?, refused = ?, tries = tries + ? "
    "WHERE crawl = ? AND revisit = ? AND key = ?"
)
# What was left out by a rule about where or how deep it was found, and is now found where no rule
# is against it, is queued after all; not what was refused for what it is.
_RECONSIDER = (
    "UPDATE targets SET state = 'queued', reason = NULL, guess = ?, priority = ?, depth = ?, "
    "hops = ?, via = ? "
    "WHERE crawl = ? AND revisit = 0 AND key = ? AND state = 'left_out' AND NOT refused"
)
_REFUSE = "UPDATE targets SET state = 'left_out', reason = ?, not_before = 0, refused = 1"
_QUEUE_REVISIT = """INSERT OR IGNORE INTO targets
    (crawl, revisit, key, url, host, state, priority, depth, hops, via)
    SELECT crawl, 1, key, url, host, 'queued', ?, depth, hops, via FROM targets
    WHERE crawl = ? AND revisit = 0 AND key = ?"""
_REVISITS = f"""SELECT {TARGET} FROM targets
    WHERE crawl = ? AND revisit = 1 AND state = 'queued' ORDER BY no"""
# Written last, read last: the order says what was met longest ago.
_FORGET = "DELETE FROM patterns WHERE crawl = ? AND key = ?"
_LEARN = "INSERT INTO patterns (crawl, key, state, marks) VALUES (?,?,?,?)"
_DONE_REVISIT = "UPDATE targets SET state = 'done' WHERE crawl = ? AND revisit = 1 AND key = ?"
_EMPTY: deque[Target] = deque()

# What is true or false is 0 or 1 here: a bool takes the driver a detour through its adapters.
Row = tuple[int, int, str, str, str, int, float, int, str, str | None, str | None]
Settlement = tuple[str, str | None, Instant, int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of targets since the last commit."""

    found: tuple[Row, ...]
    left_out: tuple[Row, ...]
    settled: tuple[Settlement, ...]
    due: dict[str, Instant] = field(default_factory=dict)
    learnt: tuple[Learnt, ...] = ()
    crawl: int = 0


@dataclass(frozen=True, slots=True)
class Applied:
    """How many targets the changes brought into the queue, out of the left-out, and into those."""

    queued: int
    reconsidered: int
    left_out: int


def apply(ledger: Ledger, changes: Changes) -> Applied:
    """Write changes, inside the caller's transaction."""
    queued = _run(ledger, _INSERT, changes.found)
    reconsidered = 0
    if queued < len(changes.found):
        again = [(*row[5:10], *row[:2]) for row in changes.found]
        reconsidered = _run(ledger, _RECONSIDER, again)
    left_out = _run(ledger, _INSERT, changes.left_out)
    _run(ledger, _SETTLE, changes.settled)
    learnt = [(changes.crawl, key, state) for key, state in changes.learnt]
    _run(ledger, _FORGET, (row[:2] for row in learnt))
    _run(ledger, _LEARN, ((crawl, key, *written(state)) for crawl, key, state in learnt if state))
    return Applied(queued, reconsidered, left_out)


def _run(ledger: Ledger, statement: str, rows: Iterable[tuple[object, ...]]) -> int:
    before = ledger.db.total_changes
    ledger.db.executemany(statement, rows)
    return ledger.db.total_changes - before


def forget_patterns(ledger: Ledger, crawl_no: int) -> None:
    """Of a crawl that is finished."""
    ledger.db.execute("DELETE FROM patterns WHERE crawl = ?", (crawl_no,))


def queue_revisits(ledger: Ledger, crawl_no: int, places: Mapping[str, float]) -> None:
    """Queue visited URLs for another look, each with its place as priority."""
    with ledger.transaction() as db:
        db.executemany(
            _QUEUE_REVISIT, [(place, crawl_no, url_key(url)) for url, place in places.items()]
        )


def queued_revisits(ledger: Ledger, crawl_no: int) -> list[Target]:
    return [as_target(row) for row in ledger.db.execute(_REVISITS, (crawl_no,)).fetchall()]


def settle_revisit(ledger: Ledger, crawl_no: int, url: str) -> None:
    ledger.db.execute(_DONE_REVISIT, (crawl_no, url_key(url)))


class Frontier:
    """The targets of one crawl. Callers hold the transaction; nothing here commits."""

    def __init__(self, ledger: Ledger, crawl_no: int, reader: Ledger | None = None) -> None:
        self._ledger = ledger
        self._db = ledger.db
        self._read_ledger = reader or ledger
        self._reader = self._read_ledger.db
        self.crawl = crawl_no
        self._found: list[Row] = []
        self._left_out: list[Row] = []
        self._settled: list[Settlement] = []
        self._due: dict[str, Instant] = {}
        self.patterns = Patterns()  # of what was found, and what its pages brought
        # Whether what is found takes its place at once, ahead of what was read before it.
        self.exact = False
        self.serve()

    def serve(self, *, revisits: bool = False) -> None:
        """Give out visits, or revisits, from now on. Nothing may be given out or pending."""
        self.revisits = revisits
        self._queue = (self.crawl, int(revisits))
        self._buffers: dict[str, deque[Target]] = {}
        self._out: dict[int, str] = {}  # key of what is given out and not settled yet -> its host
        self._out_of: Counter[str] = Counter()
        # Hosts of which everything that is ready was read: the database need not be asked again
        # before something of theirs is written.
        self._dry: set[str] = set()
        # Hosts with a target that must wait, for all that is known.
        rows = self._reader.execute(
            "SELECT DISTINCT host FROM targets NOT INDEXED "
            "WHERE crawl = ? AND revisit = ? AND state = 'queued' AND not_before > 0",
            self._queue,
        )
        self._waiting = {host for (host,) in rows}
        self.recount()

    # -- learning

    def add(self, targets: Iterable[Target]) -> None:
        for target in targets:
            row = self._row(target, TargetState.QUEUED, None)
            self._found.append(row)
            self._due[row[3]] = 0

    def leave_out(self, found: Iterable[tuple[Target, str]]) -> None:
        """Remember what was found and not queued, with the reason, for the report."""
        self._left_out += [self._row(target, TargetState.LEFT_OUT, why) for target, why in found]

    def settle(
        self, target: Target, event: Event, *, reason: str | None = None, not_before: Instant = 0
    ) -> None:
        """Move a queued target along the table of states; one that is not known is put in."""
        key = url_key(target.url)
        revisit = self.revisits
        if key not in self._out:
            self._found.append(self._row(target, TargetState.QUEUED, None))
            revisit = False
        state = TRANSITIONS[event]
        refused = int(event is Event.REFUSED)
        self._settled.append(
            (state.value, reason, not_before, refused, 1 - refused, self.crawl, int(revisit), key)
        )
        if state is TargetState.QUEUED:
            host = host_of(target.url)
            self._due[host] = min(not_before, self._due.get(host, not_before))
            self._waiting.add(host)
        elif revisit == self.revisits:
            self.tally[TargetState.QUEUED] -= 1
            self.tally[state] += 1

    def _row(self, target: Target, state: TargetState, reason: str | None) -> Row:
        return (
            self.crawl, url_key(target.url), target.url, host_of(target.url), state.value,
            int(target.guess), target.priority, target.depth, target.hops, target.via, reason,
        )  # fmt: skip

    @property
    def pending(self) -> int:
        return len(self._found) + len(self._left_out) + len(self._settled)

    def awaits(self, host: str) -> bool:
        """Whether something of a host was found that is not in the database yet.

        No guess of a host is given out meanwhile, for all others go first.
        """
        return host in self._due

    def take_changes(self) -> Changes:
        news = tuple(self._found), tuple(self._left_out), tuple(self._settled)
        changes = Changes(*news, self._due, self.patterns.take_changes(), self.crawl)
        self._found, self._left_out, self._settled, self._due = [], [], [], {}
        return changes

    def applied(self, changes: Changes, outcome: Applied) -> dict[str, Instant]:
        """What was written counts now; gives the hosts that may have something, and from when."""
        if not self.revisits:
            self.tally[TargetState.QUEUED] += outcome.queued + outcome.reconsidered
            self.tally[TargetState.LEFT_OUT] += outcome.left_out - outcome.reconsidered
        for settlement in changes.settled:
            host = self._out.pop(settlement[-1], None)
            if host is not None:
                self._out_of[host] -= 1
                if not self._out_of[host]:
                    del self._out_of[host]
                if settlement[0] == TargetState.QUEUED:  # to be tried again
                    self._waiting.add(host)
        self._dry.difference_update(changes.due)
        if self.exact and not self.revisits:
            for host in changes.due:
                self._buffers.pop(host, None)
        return changes.due

    def flush(self) -> None:
        """Write what has been learnt so far, now and in the caller's transaction."""
        changes = self.take_changes()
        self.applied(changes, apply(self._ledger, changes))

    def recall(self, most: int) -> list[str]:
        """Go on with what earlier runs learnt; gives the URLs that they queued last, in order."""
        if not any(self.tally.values()):
            return []
        learnt = "SELECT key, state, marks FROM patterns WHERE crawl = ? ORDER BY no"
        self.patterns.restore(self._reader.execute(learnt, (self.crawl,)))
        rows = self._reader.execute(
            "SELECT url FROM targets NOT INDEXED WHERE crawl = ? AND revisit = 0 "
            "AND (state <> 'left_out' OR refused) ORDER BY no DESC LIMIT ?",
            (self.crawl, most),
        )
        return [url for (url,) in rows][::-1]

    # -- giving out

    def hosts(self) -> list[str]:
        """Every host with something queued, be it for later."""
        rows = self._reader.execute(
            "SELECT DISTINCT host FROM targets "
            "WHERE crawl = ? AND revisit = ? AND state = 'queued'",
            self._queue,
        )
        return [host for (host,) in rows]

    def next(self, host: str, now: Instant) -> Target | None:
        """The first target of a host by priority, then by discovery, that may be fetched now."""
        buffer = self._buffers.get(host) or self._refill(host, now)
        if not buffer:
            return None
        target = buffer.popleft()
        self._out[url_key(target.url)] = host
        self._out_of[host] += 1
        return target

    def _refill(self, host: str, now: Instant) -> deque[Target]:
        if host in self._dry:
            return _EMPTY
        # With many hosts the buffers are small: together they hold a bounded number of targets.
        room = max(_LEAST, min(_BATCH, _BUFFERED // (len(self._buffers) + 1)))
        limit = room + self._out_of[host]
        rows = self._reader.execute(
            f"SELECT {TARGET}, key FROM targets WHERE crawl = ? AND revisit = ? AND host = ? "
            "AND state = 'queued' AND not_before <= ? ORDER BY guess, priority, no LIMIT ?",
            (*self._queue, host, now, limit),
        ).fetchall()
        out = self._out
        waiting = [as_target(row) for row in rows if row[-1] not in out]
        near = [target for target in waiting if not target.guess]
        if len(rows) < limit and len(near) == len(waiting):
            self._dry.add(host)
        if not near and waiting:
            # Only guesses are left: one at a time.
            near = [] if self.awaits(host) else waiting[:1]
        buffer = deque(near)
        if buffer:
            self._buffers[host] = buffer
        else:
            self._buffers.pop(host, None)
        return buffer

    def due(self, host: str, now: Instant) -> Instant | None:
        """When the next target of a host may go, or None when it has none that is known."""
        if self._buffers.get(host) or self._refill(host, now):
            return 0
        if host not in self._waiting:
            return None
        guesses = not self.awaits(host)
        rows = self._reader.execute(
            "SELECT key, not_before FROM targets WHERE crawl = ? AND revisit = ? AND host = ? "
            "AND state = 'queued' AND guess <= ? ORDER BY not_before LIMIT ?",
            (*self._queue, host, guesses, self._out_of[host] + 1),
        )
        due = next((int(at) for key, at in rows if key not in self._out), None)
        if due is not None:
            self._dry.discard(host)
        elif guesses:
            self._waiting.discard(host)
        return due

    def exclude(self, matches: Callable[[str], bool], reason: str, also: Callable[[], None]) -> int:
        """Leave out what waits and matches, in a transaction with `also`; gives how many.

        What is in flight is spared. Nothing may be pending.
        """
        out, served, moved = self._out, self.revisits, 0
        self._db.create_function(
            "asof_excluded", 3, lambda r, k, u: (r != served or k not in out) and matches(u)
        )
        with self._ledger.transaction():
            for revisit in (False, True):
                count = self._db.execute(
                    f"{_REFUSE} WHERE crawl = ? AND revisit = ? AND state = 'queued' "
                    "AND asof_excluded(revisit, key, url)",
                    (reason, self.crawl, revisit),
                ).rowcount
                moved += count if revisit == served else 0
            also()
        for buffer in self._buffers.values():
            kept = [target for target in buffer if not matches(target.url)]
            buffer.clear()
            buffer.extend(kept)
        self.tally[TargetState.QUEUED] -= moved
        self.tally[TargetState.LEFT_OUT] += moved
        return moved

    def refuse_waiting(self, refusal: Callable[[Target], str | None]) -> None:
        """Leave out what waits and has a refusal. Nothing may be given out yet."""
        last = 0
        while rows := self._db.execute(
            f"SELECT {TARGET}, no FROM targets NOT INDEXED "
            "WHERE crawl = ? AND revisit = ? AND state = 'queued' AND no > ? ORDER BY no LIMIT ?",
            (*self._queue, last, _JUDGED),
        ).fetchall():
            last = rows[-1][-1]
            judged = [(refusal(as_target(row)), row[-1]) for row in rows]
            refused = [(why, no) for why, no in judged if why is not None]
            self._db.executemany(f"{_REFUSE} WHERE no = ?", refused)

    def take_traps(self) -> None:
        """Queue what was left out as a trap after all."""
        self._db.execute(
            "UPDATE targets SET state = 'queued', reason = NULL, refused = 0 WHERE crawl = ? "
            "AND revisit = 0 AND state = 'left_out' AND reason LIKE 'trap:%'",
            (self.crawl,),
        )

    def put_back(self, target: Target) -> None:
        """Return a target that was taken and not fetched; it is the next of its host again."""
        host = self._out.pop(url_key(target.url), None)
        if host is None:
            return
        self._out_of[host] -= 1
        self._buffers.setdefault(host, deque()).appendleft(target)

    # -- telling

    def recount(self) -> None:
        self.tally = tally(self._read_ledger, self.crawl, revisits=self.revisits)

    def done_by_host(self) -> dict[str, int]:
        """How many targets of each host were captured, robots.txt not counted."""
        rows = self._reader.execute(
            "SELECT host, count(*) FROM targets NOT INDEXED WHERE crawl = ? AND revisit = 0 "
            "AND state = 'done' AND hops NOT LIKE 'P%' GROUP BY host",
            (self.crawl,),
        )
        return dict(rows.fetchall())
