"""The queue of revisits of a crawl: filled at the turning point, settled after a crash."""

from __future__ import annotations

from collections.abc import Mapping

from asof.frontier.rows import TARGET, as_target
from asof.ledger import Ledger, url_key
from asof.model import Target

_QUEUE = """INSERT OR IGNORE INTO targets
    (crawl, revisit, key, url, host, state, priority, depth, hops, via)
    SELECT crawl, 1, key, url, host, 'queued', ?, depth, hops, via FROM targets
    WHERE crawl = ? AND revisit = 0 AND key = ?"""
_QUEUED = f"""SELECT {TARGET} FROM targets
    WHERE crawl = ? AND revisit = 1 AND state = 'queued' ORDER BY no"""
_DONE = "UPDATE targets SET state = 'done' WHERE crawl = ? AND revisit = 1 AND key = ?"


def queue_revisits(ledger: Ledger, crawl_no: int, places: Mapping[str, float]) -> None:
    """Queue visited URLs for another look, each with its place as priority."""
    with ledger.transaction() as db:
        db.executemany(_QUEUE, [(place, crawl_no, url_key(url)) for url, place in places.items()])


def queued_revisits(ledger: Ledger, crawl_no: int) -> list[Target]:
    """What is still to be looked at again."""
    return [as_target(row) for row in ledger.db.execute(_QUEUED, (crawl_no,)).fetchall()]


def settle_revisit(ledger: Ledger, crawl_no: int, url: str) -> None:
    """A second look is in the archive already."""
    ledger.db.execute(_DONE, (crawl_no, url_key(url)))
