"""What coherence is measured of: which captures count, what a host's word is worth, as of when.

One way for `asof quality`, which asks the catalog (`Catalogued`), and for certificates, which are
made from the files alone (`Scanned`): what follows from a capture does not depend on where it was
found. The captures that count are those of the chosen crawls or of a part of the web. How far the
word of a server is good is learnt from everything there is of its host, up to the last capture that
counts, so that later crawls do not change what was said of earlier ones.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, islice, pairwise
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from asof.archive.archive import OpenArchive, no_crawl
from asof.catalog.derive import comparable, is_http
from asof.catalog.memento import stored_head
from asof.catalog.observe import Observation, observe
from asof.catalog.referents import ANSWERS, Held, declared
from asof.clock import SECOND, Instant, parse_http_date
from asof.coherence.certificate import Choice
from asof.coherence.credibility import firm_runs
from asof.coherence.host_trust import Policy, RanBack, learn_host_trust, ran_back, skew_of
from asof.coherence.intervals import stab
from asof.coherence.measure import measure
from asof.coherence.observations import Sights, is_page
from asof.coherence.proven_intervals import page_intervals, stretches
from asof.coherence.verdict import HostTrust, Measurement, Mode
from asof.errors import DamageError, InputError, NotCaptured
from asof.model import Capture, Crawl, find_header
from asof.url import host_of, key_ranges, surt
from asof.warc.file_names import path_of
from asof.warc.reader import read_record

if TYPE_CHECKING:
    from asof.coherence.certified_files import Scanned

# Records of a host whose Date is read: enough to see whether a clock is steady, and few reads.
DATES = 50

# Captures of which all that they show is held; of more it is read anew at each step.
_HELD = 400_000
_TOLD = 1000  # captures, until somebody who waits hears of them
Progress = Callable[[int], None]

_ORDER = attrgetter("surt", "at", "record_id")
_PLAIN_SITE = re.compile(r"[^/:\[]+(?::[0-9]+)?")
# Revisits that refer to revisits under other hosts are followed so far.
_CHAIN = 4


@dataclass(frozen=True, slots=True)
class GatheredCaptures:
    """All that a measurement is made of, in the order of SURT key and time.

    `counted` are the captures that count, `everything` those that tell how far
    their hosts are trusted, and `elsewhere` what revisits among these refer to under other hosts.
    `seen` is what all of them show, `back` where clocks of crawls ran back.
    """

    choice: Choice
    crawls: tuple[Crawl, ...]
    counted: tuple[Capture, ...]
    everything: tuple[Capture, ...]
    elsewhere: tuple[Capture, ...]
    host_trust: Mapping[str, HostTrust]
    mode: Mode
    reference: Instant
    seen: Sights = field(compare=False)
    back: RanBack = field(default_factory=dict, compare=False)

    @property
    def until(self) -> Instant:
        """The last capture that counts."""
        return max(capture.at for capture in self.counted)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What many captures show, read key by key whenever it is asked for: it takes much room."""

    captures: Sequence[Capture]

    def items(self) -> Iterator[tuple[str, list[Observation]]]:
        whole, key = Held(self.captures), attrgetter("surt")
        for _, together in groupby(sorted(self.captures, key=key), key=key):
            yield from observe(together, others=whole).items()


class Catalogued:
    """What the catalog of an archive knows. `read` is told how many captures were read."""

    def __init__(self, archive: OpenArchive, read: Progress = lambda count: None) -> None:
        self._archive, self._read = archive, read
        self.warc = archive.folder.warc

    def crawls(self) -> Sequence[Crawl]:
        return self._archive.crawls()

    def chosen(self, choice: Choice) -> Iterator[Capture]:
        for crawl in choice.crawls or (None,):
            yield from self._archive.captures(crawl=crawl, prefix=choice.prefix)

    def of_sites(self, sites: Collection[str]) -> Iterator[Capture]:
        """All captures under these hosts, as `site_of` names them."""
        # Keys without a host in the usual form are not to be had by a prefix.
        if not all(_PLAIN_SITE.fullmatch(site) for site in sites):
            everything = self._archive.captures()
            yield from (capture for capture in everything if site_of(capture.surt) in sites)
            return
        found = (c for site in sorted(sites) for c in self._archive.captures(prefix=f"{site})"))
        while some := list(islice(found, _TOLD)):
            yield from some
            self._read(len(some))

    def with_payloads(self, digests: Collection[str]) -> Iterator[Capture]:
        """Captures of any host that hold these payloads, at least one of each that is here."""
        found = map(self._archive.catalog.with_payload, sorted(digests))
        return (capture for capture in found if capture is not None)


def gather(holdings: Catalogued | Scanned, choice: Choice) -> GatheredCaptures:
    """Find what counts and what is known of its hosts; NotCaptured when nothing counts."""
    known = holdings.crawls()
    if unknown := [name for name in choice.crawls if all(crawl.id != name for crawl in known)]:
        raise no_crawl(unknown[0])
    sites, until = _extent(holdings.chosen(choice))
    if not sites:
        raise NotCaptured(
            "Nothing was captured that coherence could be measured of.",
            hint="Choose another crawl or part of the web; `asof status` lists the crawls.",
        )
    everything, elsewhere = _everything(holdings, sites, until)
    everything = tuple(comparable(everything, holdings.warc))
    elsewhere = tuple(comparable(elsewhere, holdings.warc))
    counted = tuple(only_chosen(choice, everything))
    counted = everything if len(counted) == len(everything) else counted
    names = {capture.crawl for capture in counted}
    crawls = tuple(crawl for crawl in known if crawl.id in (choice.crawls or names))
    whole = everything + elsewhere if elsewhere else everything
    seen: Sights = observe(whole) if len(whole) <= _HELD else _Seen(whole)
    clocks = skews(everything, holdings.warc)
    back = ran_back(whole)
    learnt = learn_host_trust(whole, clocks, policy=_policy(crawls), seen=seen, back=back)
    mode, reference = _reference(choice, crawls, counted, seen, learnt)
    return GatheredCaptures(
        choice, crawls, counted, everything, elsewhere, learnt, mode, reference, seen, back
    )


def _policy(crawls: Sequence[Crawl]) -> Policy:
    """How far the newest crawl wants dates to be believed; what others wrote there is no wish."""
    wish = crawls[-1].settings.get("trust_dates") if crawls and not crawls[-1].imported else None
    return "always" if wish == "always" else "never" if wish == "never" else "auto"


def learn_trust_in(archive: OpenArchive, hosts: Collection[str]) -> dict[str, HostTrust]:
    """What the word of each host is worth, by everything that the archive has of it."""
    sites = {site_of(surt(f"http://{host}/")) for host in hosts}
    captures = list(Catalogued(archive).of_sites(sites))
    learnt = learn_host_trust(captures, skews(captures, archive.folder.warc))
    return {host: learnt.get(host, HostTrust(host)) for host in hosts}


def measured(gathered: GatheredCaptures) -> Measurement:
    """Coherence of what counts: the verdict of every page, and C."""
    return measure(
        gathered.counted, gathered.reference, mode=gathered.mode, host_trust=gathered.host_trust,
        first=min((crawl.started for crawl in gathered.crawls), default=None),
        seen=gathered.seen, back=gathered.back,
    )  # fmt: skip


def site_of(key: str) -> str:
    """The host that a SURT key is of: `org,example` of `org,example)/a`."""
    host, closed, _ = key.partition(")")
    return host if closed else ""


def only_chosen(choice: Choice, captures: Iterable[Capture]) -> Iterator[Capture]:
    stretches = () if choice.prefix is None else key_ranges(choice.prefix)
    for capture in captures:
        if choice.crawls and capture.crawl not in choice.crawls:
            continue
        if choice.prefix is None or any(low <= capture.surt < high for low, high in stretches):
            yield capture


# -- what there is ---------------------------------------------------------------------------------


def _ordered(captures: Iterable[Capture]) -> list[Capture]:
    """Answers of servers by key and time, each record once, however many files hold it."""
    found = [capture for capture in captures if capture.kind in ANSWERS]
    if all(_ORDER(one) < _ORDER(other) for one, other in pairwise(found)):
        return found  # as the catalog gives them; of many, the keys for sorting are large
    return [next(same) for _, same in groupby(sorted(found, key=_ORDER), key=_ORDER)]


def _extent(captures: Iterable[Capture]) -> tuple[set[str], Instant]:
    """The hosts of answers, as `site_of` names them, and the last moment."""
    sites: set[str] = set()
    until = 0
    for capture in captures:
        if capture.kind in ANSWERS:
            sites.add(site_of(capture.surt))
            until = max(until, capture.at)
    return sites, until


def _everything(
    holdings: Catalogued | Scanned, sites: set[str], until: Instant
) -> tuple[Sequence[Capture], Sequence[Capture]]:
    """All of the hosts that count, and what revisits refer to elsewhere."""
    found = _ordered(c for c in holdings.of_sites(sites) if c.at <= until)
    urls = _elsewhere(found, sites)
    others: list[Capture] = []
    for _ in range(_CHAIN if urls else 0):
        places = {site_of(surt(url)) for url in urls}
        others = _ordered(c for c in holdings.of_sites(places) if c.url in urls and c.at <= until)
        more = _elsewhere(others, sites) - urls
        if not more:
            break
        urls |= more
    lost = _lost_payloads([*found, *others])
    held = holdings.with_payloads(lost) if lost else ()
    return found, _ordered([*others, *(c for c in held if c.at <= until and not c.truncated)])


def _lost_payloads(captures: Sequence[Capture]) -> set[str]:
    """Payloads that revisits declare, and that none of the captures holds."""
    wanted = {declared(c) for c in captures if c.kind == "revisit" and c.content is None}
    return {digest for digest in wanted if digest} - {c.digest for c in captures if c.content}


def _elsewhere(captures: Iterable[Capture], sites: Collection[str]) -> set[str]:
    return {
        capture.refers_to_url
        for capture in captures
        if (capture.content is None or capture.status is None)
        and capture.refers_to_url is not None
        and site_of(surt(capture.refers_to_url)) not in sites
    }


# -- clocks ----------------------------------------------------------------------------------------


def skews(captures: Iterable[Capture], warc: Path) -> dict[str, int | None]:
    """How far the clock of each host was ahead, by the Date of some of its answers.

    The first and the last of them and others evenly between, so that it is seen when a clock was
    set meanwhile. Only pages count: robots.txt often comes from another server, or a cache.
    """
    by_host: dict[str, list[Capture]] = defaultdict(list)
    for capture in captures:
        if is_http(capture.kind, capture.url) and is_page(capture.url):
            by_host[host_of(capture.url)].append(capture)
    found = {}
    for host, some in by_host.items():
        some.sort(key=attrgetter("at"))
        if (last := len(some) - 1) >= DATES:
            some = [some[place * last // (DATES - 1)] for place in range(DATES)]
        found[host] = skew_of((c.at, date) for c in some if (date := _date(c, warc)) is not None)
    return found


def _date(capture: Capture, warc: Path) -> Instant | None:
    """The Date of an answer; None if it has none, or its record cannot be read."""
    try:
        record = read_record(path_of(warc, capture.where.file), capture.where.offset)
        head = stored_head(record, capture)
    except (DamageError, InputError):
        return None
    date = parse_http_date(find_header(head.headers, "Date") or "")
    # A cache sends the Date at which it got the answer, and its Age since (RFC 9111 section 5.1).
    age = find_header(head.headers, "Age") or ""
    aged = int(age) * SECOND if age.isascii() and age.isdigit() and len(age) < 10 else 0
    return None if date is None else date + aged


# -- as of when ------------------------------------------------------------------------------------


def _reference(
    choice: Choice, crawls: Sequence[Crawl], counted: Sequence[Capture], seen: Sights,
    learnt: Mapping[str, HostTrust],
) -> tuple[Mode, Instant]:  # fmt: skip
    """The moment that was asked for, the one that the crawl aimed at, or the best there is."""
    if choice.reference is not None:
        return Mode.OFF, choice.reference
    plan = crawls[0].coherence_plan if len(crawls) == 1 and choice.crawls else None
    if plan is not None and plan.turn is not None and plan.mode in tuple(Mode):
        return Mode(plan.mode), plan.turn
    return Mode.OFF, _best_moment(counted, seen, learnt)


def _best_moment(
    counted: Sequence[Capture], seen: Sights, learnt: Mapping[str, HostTrust]
) -> Instant:
    """When most pages are known, between the first and the last capture that counts.

    Where dates are trusted they count. Of the best stretch its end, since what was taken later is
    dated to before a late moment rather than an early one.
    """
    first, last = min(c.at for c in counted), max(c.at for c in counted)
    urls = {capture.url for capture in counted}
    known = (page_intervals(*page) for page in firm_runs(seen, learnt, urls))
    near = stretches(chain.from_iterable(known), first, last)
    return stab(near.since, near.until).until if near else last


def capture_at(captures: Iterable[Capture]) -> Mapping[tuple[str, Instant, str], Capture]:
    """Captures by what evidence names them by: URL, moment and record."""
    return {(c.url, c.at, c.record_id): c for c in captures}
