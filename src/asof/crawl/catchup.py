"""Bring the frontier up to the catalog, from the records alone.

After a crash, records may have been adopted whose targets are still queued; after a reindex the
whole frontier is gone. Both are mended alike: a target that this crawl has captured is settled, and
what its stored document leads to is queued, and what it tells of traps is learnt, until nothing
changes. It is the crawl over again, with the archive in the place of the web.
"""

from collections import deque
from contextlib import closing

from asof.archive import OpenArchive
from asof.clock import Instant
from asof.crawl.loop import Crawler
from asof.crawl.settle import is_page
from asof.frontier.hosts import PATIENCE
from asof.frontier.queue import queued_revisits, settle_revisit
from asof.frontier.states import Event, error_of
from asof.frontier.unsettled import Unsettled
from asof.model import Hop, Target


def catch_up(archive: OpenArchive, crawler: Crawler) -> None:
    """Settle every target that is captured already."""
    with (
        archive.ledger.transaction(),
        closing(Unsettled(archive.ledger, crawler.frontier.crawl)) as unsettled,
    ):
        while targets := unsettled.queued():
            for target in targets:
                _settle(archive, crawler, target)
                unsettled.settled(target.url)
            crawler.frontier.flush()
        # Captured, but not reached by any link we find: robots.txt, or a page that has changed.
        for url in unsettled.urls():
            hops = Hop.ROBOTS.value if url.endswith("/robots.txt") else Hop.LINK.value
            _settle(archive, crawler, Target(url, 1, None, hops, 1.0))
        crawler.frontier.flush()
    crawler.frontier.recount()


def take_again(archive: OpenArchive, crawler: Crawler, turn: Instant) -> None:
    """Settle the revisits that were made and not settled."""
    number = crawler.frontier.crawl
    answers = archive.catalog.last_answers(crawler.crawl.id)
    with archive.ledger.transaction():
        for target in queued_revisits(archive.ledger, number):
            status, at = answers.get(target.url, (None, 0))
            if at > turn and status not in PATIENCE:
                settle_revisit(archive.ledger, number, target.url)
                _lead_on(archive, crawler, target, learning=False)
        crawler.frontier.flush()


def _settle(archive: OpenArchive, crawler: Crawler, target: Target) -> None:
    error = error_of(_lead_on(archive, crawler, target, learning=True))
    crawler.frontier.settle(target, Event.CAPTURED, reason=error)


def _lead_on(
    archive: OpenArchive, crawler: Crawler, target: Target, *, learning: bool
) -> int | None:
    """Queue what the last stored answer of a target leads to; the status of a page."""
    for capture in deque(archive.catalog.captures(url=target.url, crawl=crawler.crawl.id), 1):
        kept = crawler.equipment.store.stored(capture, target)
        if Hop.ROBOTS.value not in target.hops:
            learning = learning and is_page(capture.status, kept)
            crawler.visitor.settlements.lead_on(target, kept, learning=learning)
        elif capture.status == 200:
            crawler.visitor.robots.list_sitemaps(target.url, target.url, kept.document)
        return None if Hop.ROBOTS.value in target.hops else capture.status
    return None
