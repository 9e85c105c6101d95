"""What is not settled after all: captured before a crash, or given up while nobody answered."""

import json
from collections.abc import Sequence

from asof.frontier.hosts import PATIENCE
from asof.frontier.states import TARGET, as_target
from asof.ledger import Ledger, url_key
from asof.model import Target

_TABLE = "CREATE TEMP TABLE unsettled (key INTEGER PRIMARY KEY, url TEXT NOT NULL, at INTEGER)"
_COLLECT = """INSERT INTO temp.unsettled
SELECT url_key(c.url), c.url, max(c.at) FROM captures c JOIN segments s ON c.segment = s.no
WHERE s.crawl = :crawl AND c.kind IN ('response', 'revisit') AND NOT EXISTS
  (SELECT 1 FROM targets t WHERE t.crawl = :crawl AND t.revisit = 0 AND t.key = url_key(c.url)
   AND t.state = 'done')
  AND NOT EXISTS (SELECT 1 FROM json_each(:patience) WHERE value = c.status)
GROUP BY c.url"""
_QUEUED = f"""SELECT {TARGET} FROM targets WHERE crawl = ? AND revisit = 0 AND state = 'queued'
AND key IN (SELECT key FROM temp.unsettled) ORDER BY guess, priority, no"""


def queue_again(ledger: Ledger, crawl_no: int, reasons: Sequence[str]) -> None:
    """Queue what was given up for one of these reasons, as if never tried; of hosts that have
    answered before.
    """
    ledger.db.execute(
        "UPDATE targets SET state = 'queued', reason = NULL, not_before = 0, tries = 0 "
        "WHERE crawl = ? AND revisit = 0 AND state = 'failed' "
        "AND reason IN (SELECT value FROM json_each(?)) AND host IN "
        "(SELECT host FROM targets WHERE crawl = ? AND revisit = 0 AND state = 'done')",
        (crawl_no, json.dumps(reasons), crawl_no),
    )


class Unsettled:
    """The URLs of captures whose targets are not done, inside one transaction of the caller.

    Answers of a status that asks for patience settle nothing: their targets are to be tried again.
    """

    def __init__(self, ledger: Ledger, crawl_no: int) -> None:
        self._db = ledger.db
        self._crawl = crawl_no
        self._db.create_function("url_key", 1, url_key, deterministic=True)
        self._db.execute("DROP TABLE IF EXISTS temp.unsettled")
        self._db.execute(_TABLE)
        self._db.execute(_COLLECT, {"crawl": crawl_no, "patience": json.dumps(PATIENCE)})

    def queued(self) -> list[Target]:
        """Those that are queued, in the order of the queue."""
        return [as_target(row) for row in self._db.execute(_QUEUED, (self._crawl,)).fetchall()]

    def urls(self) -> list[str]:
        """All of them, in the order of their captures."""
        rows = self._db.execute("SELECT url FROM temp.unsettled ORDER BY at").fetchall()
        return [url for (url,) in rows]

    def settled(self, url: str) -> None:
        self._db.execute("DELETE FROM temp.unsettled WHERE key = ?", (url_key(url),))

    def close(self) -> None:
        self._db.execute("DROP TABLE temp.unsettled")
