"""The order of a crawl's visits, planned by what earlier crawls learnt (Spaniol 2009, section 4).

Each host has a plan of its own, as it is asked at its own pace; all of them share one turning point
(20-coherence.md), so that hosts with less to visit begin later. Pages that nobody knew when the
plan was made are visited where a page of average rate has its place.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from statistics import fmean, median

import numpy as np

from asof.archive import OpenArchive
from asof.catalog.referents import ANSWERS
from asof.clock import SECOND, Instant
from asof.coherence.gather import learn_trust_in
from asof.coherence.plan import (
    Plan,
    auto,
    bfs_fifo,
    bfs_lifo,
    by_threshold,
    expected_c,
    optimal,
    optimal_hosts,
    slots,
)
from asof.coherence.rates import RECENT, LearntRates, recent_rates
from asof.coherence.survival import Floats, Since, Survival
from asof.coherence.verdict import HostTrust, Mode
from asof.config import Config
from asof.frontier.report import captured_targets
from asof.model import CoherencePlan, Crawl, Hop, Target
from asof.scope.rules import Scope
from asof.url import host_of

# Beside the delay, as long as nothing is known of a host: seconds that an answer takes.
_ANSWER = 0.1
_LEAST_STEP = 1e-6
# A crawl that was interrupted went on later: no step counts for more than so many usual ones.
_PAUSE = 5
_Planner = Callable[[Survival, Floats], Plan]


@dataclass(frozen=True, slots=True)
class HostPlan:
    """What is planned for one host: its pages, how they are believed to change, one each `step`.

    `heard` is how likely a page is not lost to an error of the server: as likely as one answer is
    none (measured; of two looks one is often made up for, by a retry or by a date).
    """

    host: str
    targets: tuple[Target, ...]
    survival: Survival
    step: float
    plan: Plan | None = None
    heard: float = 1.0

    def chances(self) -> Floats:
        """How likely each page of the plan's order stays as it is over its slot."""
        if self.plan is None:
            return np.empty(0)
        seen = np.isfinite(self.plan.lengths)
        found = np.zeros(len(seen))
        found[seen] = self.survival.at(self.plan.order[seen], self.plan.lengths[seen])
        return found

    @property
    def seconds(self) -> float:
        return len(self.targets) * self.step


@dataclass(frozen=True, slots=True)
class Itinerary:
    """The plan of a crawl. `candidates` are the expected C of the strategies, by name.

    `dead` answered with an error last time: asked for first, they are in nobody's way.
    `host_trust` is what it was planned by.
    """

    coherence_plan: CoherencePlan
    hosts: tuple[HostPlan, ...] = ()
    candidates: dict[str, float] = field(default_factory=dict)
    dead: tuple[Target, ...] = ()
    host_trust: dict[str, HostTrust] = field(default_factory=dict)

    def targets(self) -> Iterable[Target]:
        """What is planned, with its place (0 to 1) as priority; nothing if discovery decides."""
        if self.coherence_plan.newcomers is not None:
            yield from (replace(target, priority=0.0, guess=False) for target in self.dead)
        for each in self.hosts:
            if each.plan is not None:
                yield from _placed(each, each.plan, Mode(self.coherence_plan.mode))

    def needs(self) -> dict[str, tuple[int, float]]:
        """Of each of several hosts that are to end together: how many visits, and how long each."""
        if Mode(self.coherence_plan.mode) is not Mode.INDUCIBLE or len(self.hosts) < 2:
            return {}
        # With robots.txt, which each of them is asked for first.
        return {each.host: (len(each.targets) + 1, each.step) for each in self.hosts if each.plan}


def plan_visits(archive: OpenArchive | None, seeds: Sequence[str], config: Config) -> Itinerary:
    """Plan a crawl of these seeds by what the archive holds."""
    mode = Mode(config.coherence)
    name = "lifo" if config.plan == "bfs" else config.plan
    pages, dead = ([], []) if archive is None else _known_pages(archive, seeds, config)
    if archive is None or not pages:
        return Itinerary(CoherencePlan(mode, name))
    trust = learn_trust_in(archive, {host_of(page.url) for page in pages})
    # Of a host that was caught nothing is known: its pages are visited as they are found.
    pages = [page for page in pages if trust[host_of(page.url)].trusts_validators]
    if not pages:
        return Itinerary(CoherencePlan(mode, name), host_trust=trust)
    rates = recent_rates(archive, trust)
    hosts = _by_host(pages, rates, paces(archive, config), config.delay + _ANSWER)
    heard = _heard(archive)
    hosts = tuple(replace(each, heard=heard.get(each.host, 1.0)) for each in hosts)
    promised: tuple[Survival, ...] = tuple(each.survival for each in hosts)
    if mode is Mode.MEASURABLE:
        now, seen = archive.clock.now(), archive.catalog.last_answers()
        ages = {url: now - at for url, (_, at) in seen.items()}
        promised = tuple(_as_measured(each, trust[each.host], ages) for each in hosts)
    lengths = _lengths(hosts, mode, config.revisits)
    candidates = _candidates(hosts, promised, lengths, mode, config)
    if name in ("lifo", "fifo"):
        coherence_plan = CoherencePlan(mode, name, candidates[name], len(pages))
        return Itinerary(coherence_plan, hosts, candidates, host_trust=trust)
    planned = _planned(hosts, promised, lengths, name, config)
    expected = sum(each.plan.expected * len(each.targets) for each in planned if each.plan)
    candidates[name] = expected / len(pages)
    eta, newcomers = config.eta if name == "threshold" else None, _newcomers(planned, rates, mode)
    coherence_plan = CoherencePlan(
        mode, name, candidates[name], len(pages), eta, newcomers=newcomers
    )
    return Itinerary(coherence_plan, planned, candidates, tuple(dead), trust)


def _known_pages(
    archive: OpenArchive, seeds: Sequence[str], config: Config
) -> tuple[list[Target], list[Target]]:
    """What crawls of the seeds' hosts have captured and belongs: seen alive last, and newly dead.

    Pages that died before the last of these crawls are nobody's concern any more.
    """
    scope = Scope(tuple(seeds), config)
    living = alive(archive.catalog.last_answers())
    pages: dict[str, Target] = {}
    dead: dict[str, Target] = {}
    hosts = {host_of(seed) for seed in seeds}
    related = [crawl for crawl in archive.crawls() if hosts & {host_of(s) for s in crawl.seeds}]
    for crawl in reversed(related):
        for target in _targets_of(archive, crawl):
            if target.url in living:
                pages.setdefault(target.url, target)
            elif crawl is related[-1]:
                dead[target.url] = target
    wanted = _belonging(pages.values(), scope)
    wanted.sort(key=lambda target: (target.guess, target.priority, target.url))
    gone = _belonging(dead.values(), scope)
    return wanted[: config.max_pages], gone if config.max_pages is None else []


def _belonging(targets: Iterable[Target], scope: Scope) -> list[Target]:
    """Those that a crawl in this scope would take.

    What is in for how it was found (a requisite, a redirect) must have been found on what is in:
    the crawl that knows it may have had other seeds beside.
    """
    taken: dict[str, Target] = {}
    for target in sorted(targets, key=lambda each: len(each.hops)):
        if scope.refusal(target) is not None:
            continue
        via = target.via or ""
        if _is_in_itself(target.url, scope) or via in taken or _is_in_itself(via, scope):
            taken[target.url] = target
    return list(taken.values())


def _is_in_itself(url: str, scope: Scope) -> bool:
    return bool(url) and scope.refusal(Target(url, 0, None, Hop.LINK)) is None


def alive(answers: Mapping[str, tuple[int | None, Instant]]) -> dict[str, Instant]:
    """The pages among answers, by status, and their moments: an error is no page."""
    return {url: at for url, (status, at) in answers.items() if status is None or status < 400}


def _targets_of(archive: OpenArchive, crawl: Crawl) -> Iterable[Target]:
    """What a crawl has captured; by its captures alone where the queue was lost."""
    known = captured_targets(archive.ledger, archive.catalog.crawl_no(crawl.id))
    if known:
        return known
    urls = dict.fromkeys(capture.url for capture in archive.catalog.captures(crawl=crawl.id))
    return [Target(url, 1, None, "L", 1.0) for url in urls if not url.endswith("/robots.txt")]


def paces(archive: OpenArchive, config: Config) -> dict[str, float]:
    """Seconds from one request to the next, by host, as the last crawl with this delay had them."""
    alike = [
        crawl
        for crawl in archive.crawls()
        if crawl.settings.get("delay") == config.delay and not crawl.imported
    ]
    if not alike:
        return {}
    moments: dict[str, list[int]] = defaultdict(list)
    for capture in archive.catalog.captures(crawl=alike[-1].id):
        moments[host_of(capture.url)].append(capture.at)
    found = {}
    for host, times in moments.items():
        steps = [b - a for a, b in pairwise(sorted(times))]
        if len(steps) > 1:
            usual = _PAUSE * median(steps)
            found[host] = fmean(min(step, usual) for step in steps) / SECOND
    return found


def _heard(archive: OpenArchive) -> dict[str, float]:
    """The share of whole answers among those of each host, as of late."""
    answers, whole = Counter[str](), Counter[str]()
    for each in archive.catalog.captures(since=archive.clock.now() - RECENT):
        if each.kind in ANSWERS:
            answers[host_of(each.url)] += 1
            whole[host_of(each.url)] += each.truncated is None and (each.status or 0) < 500
    return {host: whole[host] / count for host, count in answers.items()}


def _by_host(
    pages: Sequence[Target], rates: LearntRates, paces: dict[str, float], pace: float
) -> tuple[HostPlan, ...]:
    groups: dict[str, list[Target]] = defaultdict(list)
    for page in pages:
        groups[host_of(page.url)].append(page)
    return tuple(
        HostPlan(
            host,
            tuple(targets),
            rates.survival([target.url for target in targets]),
            max(paces.get(host, pace), _LEAST_STEP),
        )
        for host, targets in sorted(groups.items())
    )


def _as_measured(host: HostPlan, trust: HostTrust, ages: Mapping[str, Instant]) -> Survival:
    """What can be known of its pages: as far back as dates are trusted, or since each was seen."""
    lag = trust.lag if trust.trusts_dates and trust.skew is not None else math.inf
    before = [min(lag, ages[target.url]) for target in host.targets]
    known = np.maximum(np.array(before) / SECOND, 0.0)
    return Since(host.survival, known)


def _lengths(hosts: Sequence[HostPlan], mode: Mode, revisits: int | None) -> list[Floats]:
    """How long the pages of each host must stay as they are; endless for lack of a revisit."""
    whole = [slots(len(each.targets), mode, each.step) for each in hosts]
    if revisits is None or mode is not Mode.INDUCIBLE:
        return whole
    pairs = [(each.survival, lengths) for each, lengths in zip(hosts, whole, strict=True)]
    return [plan.lengths for plan in optimal_hosts(pairs, revisits)]


def _candidates(
    hosts: Sequence[HostPlan],
    promised: Sequence[Survival],
    lengths: Sequence[Floats],
    mode: Mode,
    config: Config,
) -> dict[str, float]:
    """The expected C of every strategy, over all hosts."""

    def overall(expected: Callable[[HostPlan, Survival, Floats], float]) -> float:
        all_hosts = zip(hosts, promised, lengths, strict=True)
        each_of_them = ((each, expected(each, own, s)) for each, own, s in all_hosts)
        total = sum(each.heard * of_it * len(each.targets) for each, of_it in each_of_them)
        return total / sum(len(each.targets) for each in hosts)

    def fifo(each: HostPlan, own: Survival, lengths: Floats) -> float:
        seen_again = int((np.isfinite(lengths) & (lengths > 0)).sum())
        return bfs_fifo(own, each.step, seen_again)

    def planned(plan: _Planner) -> float:
        return overall(lambda each, own, s: expected_c(own, plan(each.survival, s).order, s))

    lifo = overall(lambda each, own, lengths: bfs_lifo(own, lengths))
    return {
        "fifo": overall(fifo) if mode is Mode.INDUCIBLE else lifo,
        "lifo": lifo,
        "threshold": planned(partial(by_threshold, eta=config.eta)),
        "optimal": planned(optimal),
    }


def _planned(
    hosts: Sequence[HostPlan],
    promised: Sequence[Survival],
    lengths: Sequence[Floats],
    name: str,
    config: Config,
) -> tuple[HostPlan, ...]:
    """Planned by how pages change; what is expected is what can be known of that."""
    plans: dict[str, _Planner] = {
        "threshold": partial(by_threshold, eta=config.eta),
        "auto": partial(auto, eta=config.eta),
    }
    found = []
    for each, own, slots_of_it in zip(hosts, promised, lengths, strict=True):
        made = plans.get(name, optimal)(each.survival, slots_of_it)
        told = replace(made, expected=each.heard * expected_c(own, made.order, made.lengths))
        found.append(replace(each, survival=own, plan=told))
    return tuple(found)


def _newcomers(hosts: Sequence[HostPlan], rates: LearntRates, mode: Mode) -> float:
    """Where a page of unknown rate goes: as the page of the nearest heat, on the largest host."""
    largest = max(hosts, key=lambda each: len(each.targets))
    if largest.plan is None:
        return 0.0
    order = largest.plan.visits if mode is Mode.INDUCIBLE else largest.plan.order
    heat = largest.survival.heat[order]
    return float(np.abs(heat - rates.anybody.heat[0]).argmin()) / len(order)


def _placed(host: HostPlan, plan: Plan, mode: Mode) -> Iterable[Target]:
    order = plan.visits if mode is Mode.INDUCIBLE else plan.order
    for place, page in enumerate(order.tolist()):
        yield replace(host.targets[page], priority=place / len(order), guess=False)
