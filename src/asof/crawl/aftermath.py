"""What a run leaves behind: seeds that brought no page, and what waits on, for nobody answered."""

from collections.abc import Iterator
from dataclasses import replace

from asof.archive import OpenArchive
from asof.catalog.observe import Observation, state_of
from asof.crawl.summary import Summary, counted
from asof.frontier.report import look_up
from asof.frontier.states import TargetState
from asof.frontier.unsettled import queue_again
from asof.model import SILENCE, Crawl, State
from asof.url import canonical

UNANSWERED = "unanswered"  # how a run ended
_EMPTY = (204, 205)  # answers without a page


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
    """That a seed leads, in this crawl, to no page; None where it does, or nobody knows."""
    catalog, url, former = archive.catalog, seed, list[str]()
    while True:
        found = look_up(archive.ledger, catalog.crawl_no(crawl.id), url)
        if former and found is not None and found[1] is TargetState.LEFT_OUT:
            return f"it leads to {url}, which is no part of this crawl ({found[2]}): crawl that"
        captures = catalog.captures(url=url, crawl=crawl.id)
        seen = [catalog.observation(each) for each in captures if canonical(each.url) == url]
        if any(map(_shows_page, seen)) or found is None:
            return None
        there = f"it leads to {url}, which " if former else "it "
        if not seen:
            return f"{there}brought nothing ({found[2]})" if found[2] else None
        target = canonical(seen[-1].redirect or "")
        if target is None:
            where = " without saying where to" if seen[-1].state is State.ELSEWHERE else ""
            return f"{there}answered {seen[-1].capture.status}{where}"
        if target in (url, *former):
            circle = "itself" if target == url else "where it came from"
            hint = "" if crawl.settings.get("cookies") else " (try --cookies)"
            return f"{there}only redirects to {circle}{hint}"
        former.append(url)
        url = target


def _shows_page(seen: Observation) -> bool:
    """Whether a page was there: not where a 304 confirms what nobody has."""
    answer = seen.answer
    if answer is None or answer.status in _EMPTY:
        return False
    return state_of(answer.status) is State.PRESENT


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
