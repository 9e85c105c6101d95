"""What a run leaves behind: seeds that brought no page, and what waits on, for nobody answered."""

from collections.abc import Iterator
from dataclasses import replace

from asof.archive import OpenArchive
from asof.crawl.summary import Summary, counted
from asof.frontier.report import look_up
from asof.frontier.states import TargetState
from asof.frontier.unsettled import queue_again
from asof.model import SILENCE, Crawl
from asof.url import canonical

UNANSWERED = "unanswered"  # how a run ended
_MOST_REDIRECTS = 5  # from a seed to its page


def barren(archive: OpenArchive, crawl: Crawl) -> Iterator[tuple[str, str]]:
    """The seeds that brought nothing, or an error, and why."""
    number = archive.catalog.crawl_no(crawl.id)
    for seed in crawl.seeds:
        found = look_up(archive.ledger, number, seed)
        if found is not None and found[1] is not TargetState.QUEUED:
            reason = found[2] or _led_away(archive, crawl, seed)
            if reason is not None:
                yield seed, reason


def _led_away(archive: OpenArchive, crawl: Crawl, seed: str) -> str | None:
    """That a seed only redirects, in this crawl, to what does not belong to it."""
    number = archive.catalog.crawl_no(crawl.id)
    for _ in range(_MOST_REDIRECTS):
        captures = list(archive.catalog.captures(url=seed, crawl=crawl.id))
        target = canonical(captures[-1].redirect or "") if captures else None
        if target is None:
            return None
        found = look_up(archive.ledger, number, target)
        if found is not None and found[1] is TargetState.LEFT_OUT:
            return f"it leads to {target}, which is no part of this crawl ({found[2]}): crawl that"
        seed = target
    return None


def waiting_on(archive: OpenArchive, crawl: Crawl, ended: Summary) -> Summary:
    """How a resumed run ended in which nobody answered: what it gave up is queued again.

    The network was down, or the one server: no reason to give up what an earlier run had found.
    """
    if ended.ended_by != "done":
        return ended
    number = archive.catalog.crawl_no(crawl.id)
    with archive.ledger.transaction():
        queue_again(archive.ledger, number, SILENCE)
    now = replace(counted(archive.ledger, number), seconds=ended.seconds)
    return replace(now, ended_by=UNANSWERED) if now.queued else ended
