"""Bring the frontier up to the catalog, from the records alone.

After a crash, records may have been adopted whose targets are still queued; after a reindex the
whole frontier is gone. Both are mended alike: a target that this crawl has captured is settled, and
what its stored document leads to is queued, until nothing changes. It is the crawl over again, with
the archive in the place of the web.
"""

from __future__ import annotations

from asof.archive import Archive
from asof.clock import Instant
from asof.crawl.discover import follow, found_in
from asof.crawl.loop import Crawler
from asof.crawl.visit import PATIENCE
from asof.frontier.queue import url_key
from asof.frontier.states import Event
from asof.model import Capture, Crawl, Hop, Target

_UNSETTLED = """
SELECT url_key(c.url), c.url, max(c.at) FROM captures c JOIN segments s ON c.segment = s.no
WHERE s.crawl = :crawl AND c.kind IN ('response', 'revisit') AND NOT EXISTS
  (SELECT 1 FROM targets t WHERE t.crawl = :crawl AND t.key = url_key(c.url) AND t.state = 'done')
GROUP BY c.url
"""
_QUEUED = """
SELECT t.url, t.depth, t.via, t.hops, t.priority, t.tries FROM targets t
JOIN temp.unsettled u ON u.key = t.key WHERE t.crawl = ? AND t.state = 'queued'
ORDER BY t.priority, t.no
"""
_REVISITS = """
SELECT url, depth, via, hops, priority, tries FROM targets WHERE crawl = ? AND state = 'queued'
ORDER BY no
"""


def catch_up(archive: Archive, crawl: Crawl, crawler: Crawler) -> int:
    """Settle every target that is captured already; gives how many there were."""
    number = archive.catalog.crawl_no(crawl.id)
    db = archive.ledger.db
    settled = 0
    with archive.ledger.transaction():
        db.execute("DROP TABLE IF EXISTS temp.unsettled")
        db.create_function("url_key", 1, url_key, deterministic=True)
        db.execute(
            "CREATE TEMP TABLE unsettled (key INTEGER PRIMARY KEY, url TEXT NOT NULL, at INTEGER)"
        )
        db.execute(f"INSERT INTO temp.unsettled {_UNSETTLED}", {"crawl": number})
        while rows := db.execute(_QUEUED, (number,)).fetchall():
            for row in rows:
                _settle(archive, crawler, Target(*row), crawl.id)
            crawler.frontier.flush()
            settled += len(rows)
        # Captured, but not reached by any link we find: robots.txt, or a page that has changed.
        orphans = db.execute("SELECT url FROM temp.unsettled ORDER BY at").fetchall()
        for (url,) in orphans:
            hops = Hop.ROBOTS.value if url.endswith("/robots.txt") else Hop.LINK.value
            _settle(archive, crawler, Target(url, 1, None, hops, 1.0), crawl.id)
        crawler.frontier.flush()
        db.execute("DROP TABLE temp.unsettled")
    crawler.frontier.recount()
    return settled + len(orphans)


def take_again(archive: Archive, crawler: Crawler, turn: Instant) -> int:
    """Settle the revisits that were made and not settled; gives how many there were."""
    db, queue = archive.ledger.db, -crawler.frontier.crawl
    answers = archive.catalog.last_answers(crawler.crawl.id)
    settled = 0
    with archive.ledger.transaction():
        for row in db.execute(_REVISITS, (queue,)).fetchall():
            target = Target(*row)
            status, at = answers.get(target.url, (None, 0))
            if at > turn and status not in PATIENCE:
                key = url_key(target.url)
                db.execute(
                    "UPDATE targets SET state = 'done' WHERE crawl = ? AND key = ?", (queue, key)
                )
                _lead_on(archive, crawler, target, crawler.crawl.id)
                settled += 1
        crawler.frontier.flush()
    return settled


def _settle(archive: Archive, crawler: Crawler, target: Target, crawl: str) -> None:
    _lead_on(archive, crawler, target, crawl)
    crawler.frontier.settle(target, Event.CAPTURED)
    archive.ledger.db.execute("DELETE FROM temp.unsettled WHERE key = ?", (url_key(target.url),))


def _lead_on(archive: Archive, crawler: Crawler, target: Target, crawl: str) -> None:
    """Queue what the last stored answer of a target leads to."""
    capture = _latest(archive, target.url, crawl)
    if capture is not None:
        kept = crawler.keeper.stored(capture, target)
        onward = list(found_in(target, kept.links))
        if kept.redirect is not None:
            hop = follow(target, kept.redirect, Hop.REDIRECT)
            onward.extend([hop] if hop is not None else [])
        if Hop.ROBOTS.value not in target.hops:
            crawler.funnel.put(onward)
        elif capture.status == 200:
            crawler.visitor.list_sitemaps(target.url, target.url, kept.document)


def _latest(archive: Archive, url: str, crawl: str) -> Capture | None:
    last = None
    for capture in archive.catalog.captures(url=url, crawl=crawl):
        last = capture
    return last
