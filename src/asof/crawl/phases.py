"""The turning point of a crawl: all is visited, from here on everything is looked at again.

Definition 3.5: pages are coherent at the turning point if each is at its revisit what it was at its
visit. The reference is the moment of the last visit (t_n); that page, the joker, need not be
fetched twice. With several hosts, or where that visit took long or brought no firm word, it is the
end of all visits, and there is no joker. The revisits get a queue of their own beside that of the
visits, in the order of the plan (asof.frontier.queue). Before the visits and when all is done
servers are probed (asof.crawl.audit); then what was found meanwhile is taken.

The turning point stands in a record of the crawl's WARC file before anything is revisited, so that
the archive can be measured from its files alone, and an interrupted crawl knows its phase.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from asof.archive import OpenArchive
from asof.clock import SECOND, Clock, Instant
from asof.coherence.lots import draw
from asof.coherence.optimal import revisit_order
from asof.coherence.rates import LearntRates, recent_rates
from asof.coherence.survival import Floats, Pages, Survival
from asof.config import Config
from asof.crawl.audit import PROBED_EARLY, PROBES, outdated
from asof.crawl.catchup import take_again
from asof.crawl.loop import LOOK_EVERY, Crawler
from asof.crawl.plan import alive, paces
from asof.crawl.summary import Summary
from asof.crawl.visit import FULL
from asof.frontier.hosts import PATIENCE
from asof.frontier.queue import queue_revisits
from asof.frontier.report import captured_targets, tally
from asof.model import Capture, CoherencePlan, Target
from asof.url import host_of
from asof.warc.info import crawl_record

# Ends of the visits after which the revisits begin: nothing is left, or nothing more is wanted.
_VISITED = ("done", FULL, "time-limit")
# Of many hosts not all are probed: it is one request after the other.
_MOST_PROBED = 10
# Pages whose past is read for what has changed, before a crawl begins: a second's work.
_LOOKED_UP = 5_000


async def run_phases(archive: OpenArchive, crawler: Crawler, config: Config) -> Summary:
    """Visit, turn, look again, take what was found meanwhile; goes on wherever the crawl stands."""
    coherence_plan = crawler.crawl.coherence_plan
    assert coherence_plan is not None  # whoever plans none need not come here
    if coherence_plan.mode != "inducible":
        await crawler.run()
        if pages := _pages(archive, crawler):
            taken = archive.catalog.captures(crawl=crawler.crawl.id)
            # The first answer, not its audit: section 3.2 of the paper, t_s = t_1.
            first = min(each.at for each in taken if each.url in pages)
            crawler.crawl = replace(
                crawler.crawl, coherence_plan=replace(coherence_plan, turn=first)
            )
            await _probe(archive, crawler, config, _captured(archive, crawler), PROBES)
        return crawler.summary()
    if coherence_plan.turn is None:
        summary = await crawler.run()
        if summary.ended_by not in _VISITED or not await _turn(archive, crawler, coherence_plan):
            return summary
    _queue_revisits(archive, crawler, config)
    crawler.serve_revisits()
    summary = await crawler.run()
    if summary.ended_by == "done":
        await _probe(archive, crawler, config, _captured(archive, crawler), PROBES)
        crawler.frontier.serve()
        summary = await crawler.run()
    return summary


async def _turn(archive: OpenArchive, crawler: Crawler, plan: CoherencePlan) -> bool:
    """Settle the turning point and write it down; False when there is nothing to look at again."""
    pages = _pages(archive, crawler)
    if not pages:
        return False
    now, last = archive.clock.now(), max(pages.values())
    # What an answer brought may be younger than its request. Of several hosts another one may have
    # been on its way when the last visit began: only the end of all visits lies in none of them.
    several = len({host_of(url) for url in pages}) > 1
    is_unsure = any(at == last and url in crawler.visitor.unsure for url, at in pages.items())
    turned = replace(plan, turn=now if several or is_unsure else last)
    crawl = replace(crawler.crawl, coherence_plan=turned)
    crawler.journal.put(crawl_record(crawl, now))
    await crawler.finish()
    with archive.ledger.transaction():
        archive.catalog.put_crawl(crawl)
    crawler.crawl = crawl
    return True


async def probe_first(
    archive: OpenArchive, crawler: Crawler, config: Config, known: Sequence[Target]
) -> None:
    """Probe by what earlier crawls saw to change, half as often as in all."""
    crawler.visitor.unseen.update(target.url for target in known)
    await _probe(archive, crawler, config, known, PROBES // 2)
    crawler.visitor.unseen.clear()


async def _probe(
    archive: OpenArchive, crawler: Crawler, config: Config, targets: Sequence[Target], most: int
) -> None:
    """Ask every host for some of these by validators that are out of date: `most` in all."""
    if not (config.audit and config.conditional) or crawler.stopping:
        return
    hosts, clock = crawler.equipment.hosts, archive.clock
    begin = clock.monotonic() + config.delay  # nobody knows when the run before asked last
    for left, target, old in _probes(archive, crawler, targets, most):
        host = host_of(target.url)
        due = max(begin, hosts.due(host, begin))
        if not await _rest(clock, crawler, due, f"probing {host}, {left:,} to go"):
            break
        wait = await crawler.visitor.probe(target, host, old)
        hosts.release(host, clock.monotonic() + wait)
    await crawler.finish()


async def _rest(clock: Clock, crawler: Crawler, end: float, why: str) -> bool:
    """Leave a host alone, and as long as the crawl is paused; False when it is to end."""
    while True:
        await crawler.look_about(why)
        left = end - clock.monotonic()
        if crawler.stopping or (left <= 0 and not crawler.paused):
            return not crawler.stopping
        await clock.sleep(min(left, LOOK_EVERY) if left > 0 else LOOK_EVERY)


def _probes(
    archive: OpenArchive, crawler: Crawler, targets: Sequence[Target], most: int
) -> Iterator[tuple[int, Target, Capture]]:
    """Pages by lot, each with a capture that its server must not confirm, and how many are left.

    If few have changed, these again and again, until the host is caught or they are gone: a server
    that lies now and then is not caught by one question.
    """
    by_host: dict[str, list[tuple[Target, Capture]]] = defaultdict(list)
    by_lot = sorted(targets, key=lambda each: draw(crawler.equipment.secret, each.url))
    is_early = bool(crawler.visitor.unseen)
    for target in by_lot[: _LOOKED_UP if is_early else None]:
        host = host_of(target.url)
        if len(by_host[host]) < (PROBED_EARLY if is_early else most):
            seen = archive.catalog.observations(target.url)
            old = outdated([each for each in seen if each.capture.url == target.url])
            by_host[host] += [] if old is None else [(target, old)]
    changed = ((host, found) for host, found in by_host.items() if found)
    for host, found in islice(changed, _MOST_PROBED):
        unseen = sum(target.url in crawler.visitor.unseen for target, _ in found)
        for left in range(most - crawler.visitor.probed[host] + unseen, 0, -1):
            there = [each for each in found if each[0].url not in crawler.visitor.gone]
            if not there or not crawler.equipment.believes(host):
                break
            yield left, *there[left % len(there)]


def _pages(archive: OpenArchive, crawler: Crawler) -> dict[str, Instant]:
    """When this crawl saw each of its pages last."""
    pages = alive(archive.catalog.last_answers(crawler.crawl.id))
    taken = _captured(archive, crawler)
    return {target.url: pages[target.url] for target in taken if target.url in pages}


def _captured(archive: OpenArchive, crawler: Crawler) -> list[Target]:
    return captured_targets(archive.ledger, crawler.frontier.crawl)


def _queue_revisits(archive: OpenArchive, crawler: Crawler, config: Config) -> None:
    """Fill the queue of revisits, unless an earlier run did; settle those that were made."""
    number, coherence_plan = crawler.frontier.crawl, crawler.crawl.coherence_plan
    assert coherence_plan is not None
    assert coherence_plan.turn is not None
    if any(tally(archive.ledger, number, revisits=True).values()):
        take_again(archive, crawler, coherence_plan.turn)
        return
    pages, seen = _still_to_see(archive, crawler, coherence_plan.turn)
    if config.revisits is not None:
        config = replace(config, revisits=max(0, config.revisits - seen))
    rates = recent_rates(archive, crawler.equipment.host_trust)
    places = _places(archive, pages, coherence_plan, config, rates)
    queue_revisits(archive.ledger, number, places)


def _still_to_see(
    archive: OpenArchive, crawler: Crawler, turn: Instant
) -> tuple[dict[str, Instant], int]:
    """Pages of the visits, with their moments, and how many were seen again already: none, unless
    the queue was lost amid the revisits. A server that was busy has said nothing about its page.
    """
    visited = {each.url for each in _captured(archive, crawler)}
    before: dict[str, tuple[int | None, Instant]] = {}
    again: set[str] = set()
    for capture in archive.catalog.captures(crawl=crawler.crawl.id):
        if capture.at > turn and capture.status not in PATIENCE:
            again.add(capture.url)
        elif capture.at <= turn and capture.url in visited:
            before[capture.url] = capture.status, capture.at
    pages = alive(before)
    unseen = {url: at for url, at in pages.items() if at < turn and url not in again}
    return unseen, len(pages.keys() & again)


def _places(
    archive: OpenArchive,
    pages: Mapping[str, Instant],
    coherence_plan: CoherencePlan,
    config: Config,
    rates: LearntRates,
) -> dict[str, float]:
    """The order of the revisits of each host, as places for its queue: 0 to 1."""
    assert coherence_plan.turn is not None
    steps = paces(archive, config)
    by_host: dict[str, list[str]] = defaultdict(list)
    for url in sorted(pages, key=lambda url: (pages[url], url)):
        by_host[host_of(url)].append(url)
    visited = [
        _Visited(
            tuple(urls),
            rates.survival(urls),
            np.array([(coherence_plan.turn - pages[url]) / SECOND for url in urls]),
            steps.get(host, config.delay),
        )
        for host, urls in sorted(by_host.items())
    ]
    shares = _shares(visited, coherence_plan.plan, config.revisits)
    places: dict[str, float] = {}
    for host, share in zip(visited, shares, strict=True):
        for rank, page in enumerate(host.order(coherence_plan.plan, share).tolist(), 1):
            places[host.urls[page]] = rank / share
    return places


@dataclass(frozen=True, slots=True)
class _Visited:
    """The pages of a host in the order of their visits, `before` the turning point."""

    urls: tuple[str, ...]
    survival: Survival
    before: Floats
    step: float

    def order(self, plan: str, revisits: int) -> Pages:
        """The pages to look at again, in turn."""
        visits = np.arange(len(self.before), dtype=np.intp)
        if plan == "fifo":
            return visits[:revisits]
        backwards = visits[::-1][:revisits]
        if plan in ("lifo", "threshold"):
            return backwards
        found = revisit_order(self.survival, self.before, self.step, revisits)[:revisits]
        return max((found, backwards), key=lambda order: float(self.chances(order).sum()))

    def chances(self, order: Pages) -> Floats:
        """How likely each page of an order is then as it was at its visit."""
        after = np.arange(1, len(order) + 1) * self.step
        return self.survival.at(order, self.before[order] + after)


def _shares(hosts: Sequence[_Visited], plan: str, revisits: int | None) -> list[int]:
    """How many revisits each host gets: with a budget, those with the best chances.

    The hopeless are not asked again then (20-coherence.md: fewer requests, the same coherence).
    """
    if revisits is None:
        return [len(host.urls) for host in hosts]
    chances = [host.chances(host.order(plan, len(host.urls))) for host in hosts]
    number = np.repeat(np.arange(len(hosts)), [len(each) for each in chances])
    best = np.argsort(-np.concatenate([*chances, np.empty(0)]), kind="stable")[:revisits]
    return [int(count) for count in np.bincount(number[best], minlength=len(hosts))]
