"""What became of a crawl's targets, for people: by reason, by host, by state.

Read from the ledger, so it can be asked of a running crawl, too. Each question is one pass over
the table of targets, in its own order: a quarter of a second to two for a million of them.
"""

from dataclasses import dataclass, replace
from functools import partial

from asof.frontier.states import TARGET, TargetState, as_target
from asof.ledger import Ledger, url_key
from asof.model import Target

_NO_REASON = "no reason given"


@dataclass(frozen=True, slots=True)
class LeftOutReason:
    """Why targets were not taken: how many, and the first few that were found."""

    reason: str
    count: int
    examples: tuple[str, ...]


def _by_reason(
    state: TargetState, ledger: Ledger, crawl_no: int, examples: int = 3
) -> list[LeftOutReason]:
    """Most frequent first."""
    counts = reasons(ledger, crawl_no, state)
    found: dict[str, list[str]] = {reason: [] for reason in counts}
    wanted = sum(min(examples, count) for count in counts.values())
    # One pass for the examples of all reasons, which ends as soon as each has enough.
    cursor = ledger.db.execute(
        "SELECT coalesce(reason, ?), url FROM targets NOT INDEXED "
        "WHERE crawl = ? AND revisit = 0 AND state = ? ORDER BY no",
        (_NO_REASON, crawl_no, state.value),
    )
    while wanted and (row := cursor.fetchone()) is not None:
        some = found.get(row[0], [])
        if len(some) < examples:
            some.append(row[1])
            wanted -= 1
    cursor.close()
    return [LeftOutReason(reason, count, tuple(found[reason])) for reason, count in counts.items()]


left_out = partial(_by_reason, TargetState.LEFT_OUT)  # found, and not queued
failed = partial(_by_reason, TargetState.FAILED)  # tried, and given up


def reasons(ledger: Ledger, crawl_no: int, state: TargetState | None = None) -> dict[str, int]:
    """Why targets failed or were left out, or came into one state, most frequent first."""
    states = (TargetState.FAILED, TargetState.LEFT_OUT) if state is None else (state, state)
    rows = ledger.db.execute(
        "SELECT coalesce(reason, ?), count(*) FROM targets NOT INDEXED "
        "WHERE crawl = ? AND revisit = 0 AND state IN (?, ?) GROUP BY 1 ORDER BY 2 DESC, 1",
        (_NO_REASON, crawl_no, *states),
    )
    return dict(rows.fetchall())


def errors(ledger: Ledger, crawl_no: int) -> dict[str, int]:
    """How many targets brought only an error, which was stored, most frequent first."""
    rows = ledger.db.execute(
        "SELECT reason, count(*) FROM targets NOT INDEXED WHERE crawl = ? AND revisit = 0 "
        "AND state = 'done' AND reason IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1",
        (crawl_no,),
    )
    return dict(rows.fetchall())


def untaken(ledger: Ledger) -> int:
    """How many targets of all crawls were left out or failed: what no record tells of."""
    states = (TargetState.LEFT_OUT, TargetState.FAILED)
    sql = "SELECT count(*) FROM targets WHERE revisit = 0 AND state IN (?, ?)"
    return int(ledger.fetch(sql, states)[0][0])


def tally(ledger: Ledger, crawl_no: int, *, revisits: bool = False) -> dict[TargetState, int]:
    """How many targets there are in each state, of the visits or of the revisits."""
    rows = ledger.db.execute(
        "SELECT state, count(*) FROM targets NOT INDEXED WHERE crawl = ? AND revisit = ? "
        "GROUP BY state",
        (crawl_no, revisits),
    )
    return dict.fromkeys(TargetState, 0) | {TargetState(state): count for state, count in rows}


def busiest(ledger: Ledger, crawl_no: int, most: int = 5) -> list[tuple[str, int]]:
    rows = ledger.db.execute(
        "SELECT host, count(*) FROM targets WHERE crawl = ? AND revisit = 0 AND state = 'queued' "
        "GROUP BY host ORDER BY 2 DESC, 1 LIMIT ?",
        (crawl_no, most),
    )
    return rows.fetchall()


def queued_hosts(ledger: Ledger, crawl_no: int) -> int:
    row = ledger.db.execute(
        "SELECT count(DISTINCT host) FROM targets "
        "WHERE crawl = ? AND revisit = 0 AND state = 'queued'",
        (crawl_no,),
    ).fetchone()
    return int(row[0])


# The last step that was not a redirect: P is an errand of ours (robots.txt), E a part of a page, X
# a guess. Everything else is somebody's word that there is a page.
STEP = "substr(rtrim(hops, 'R'), -1)"


def captured_targets(ledger: Ledger, crawl_no: int) -> list[Target]:
    """Every target that was captured, robots.txt itself not counted, in order of discovery."""
    rows = ledger.db.execute(
        f"SELECT {TARGET} FROM targets NOT INDEXED "
        f"WHERE crawl = ? AND revisit = 0 AND state = 'done' AND {STEP} <> 'P' ORDER BY no",
        (crawl_no,),
    )
    return [replace(as_target(row), tries=0) for row in rows]


def look_up(
    ledger: Ledger, crawl_no: int, url: str
) -> tuple[Target, TargetState, str | None] | None:
    """How a crawl came upon a URL, its state and the reason; None when it never heard of it."""
    row = ledger.db.execute(
        f"SELECT {TARGET}, state, reason FROM targets WHERE crawl = ? AND revisit = 0 AND key = ?",
        (crawl_no, url_key(url)),
    ).fetchone()
    return None if row is None else (as_target(row), TargetState(row[-2]), row[-1])
