"""Bring the frontier up to the catalog, from the records alone.

After a crash, records may have been adopted whose targets are still queued; after a reindex the
whole frontier is gone. Both are mended alike: a target that this crawl has captured is settled, and
what its stored document leads to is queued, until nothing changes. It is the crawl over again, with
the archive in the place of the web.
"""

from __future__ import annotations

from contextlib import closing

from asof.archive import OpenArchive
from asof.clock import Instant
from asof.crawl.discover import follow, found_in
from asof.crawl.loop import Crawler
from asof.frontier.hosts import PATIENCE
from asof.frontier.queue import queued_revisits, settle_revisit
from asof.frontier.states import Event
from asof.frontier.unsettled import Unsettled
from asof.model import Capture, Crawl, Hop, Target


def catch_up(archive: OpenArchive, crawl: Crawl, crawler: Crawler) -> int:
    """Settle every target that is captured already; gives how many there were."""
    settled = 0
    with (
        archive.ledger.transaction(),
        closing(Unsettled(archive.ledger, crawler.frontier.crawl)) as unsettled,
    ):
        while targets := unsettled.queued():
            for target in targets:
                _settle(archive, crawler, target, crawl.id)
                unsettled.settled(target.url)
            crawler.frontier.flush()
            settled += len(targets)
        # Captured, but not reached by any link we find: robots.txt, or a page that has changed.
        orphans = unsettled.urls()
        for url in orphans:
            hops = Hop.ROBOTS.value if url.endswith("/robots.txt") else Hop.LINK.value
            _settle(archive, crawler, Target(url, 1, None, hops, 1.0), crawl.id)
        crawler.frontier.flush()
    crawler.frontier.recount()
    return settled + len(orphans)


def take_again(archive: OpenArchive, crawler: Crawler, turn: Instant) -> int:
    """Settle the revisits that were made and not settled; gives how many there were."""
    number = crawler.frontier.crawl
    answers = archive.catalog.last_answers(crawler.crawl.id)
    settled = 0
    with archive.ledger.transaction():
        for target in queued_revisits(archive.ledger, number):
            status, at = answers.get(target.url, (None, 0))
            if at > turn and status not in PATIENCE:
                settle_revisit(archive.ledger, number, target.url)
                _lead_on(archive, crawler, target, crawler.crawl.id)
                settled += 1
        crawler.frontier.flush()
    return settled


def _settle(archive: OpenArchive, crawler: Crawler, target: Target, crawl: str) -> None:
    _lead_on(archive, crawler, target, crawl)
    crawler.frontier.settle(target, Event.CAPTURED)


def _lead_on(archive: OpenArchive, crawler: Crawler, target: Target, crawl: str) -> None:
    """Queue what the last stored answer of a target leads to."""
    capture = _latest(archive, target.url, crawl)
    if capture is not None:
        kept = crawler.equipment.store.stored(capture, target)
        onward = list(found_in(target, kept.links))
        if kept.redirect is not None:
            hop = follow(target, kept.redirect, Hop.REDIRECT)
            onward.extend([hop] if hop is not None else [])
        if Hop.ROBOTS.value not in target.hops:
            crawler.funnel.put(onward)
        elif capture.status == 200:
            crawler.visitor.robots.list_sitemaps(target.url, target.url, kept.document)


def _latest(archive: OpenArchive, url: str, crawl: str) -> Capture | None:
    last = None
    for capture in archive.catalog.captures(url=url, crawl=crawl):
        last = capture
    return last
