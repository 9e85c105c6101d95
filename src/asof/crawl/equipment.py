"""What one run of a crawl works with, handed on as one value."""

from dataclasses import dataclass, field, replace

from asof.archive import OpenArchive
from asof.archive.journal import Journal
from asof.clock import Clock
from asof.coherence.verdict import HostTrust
from asof.config import Config
from asof.crawl.funnel import Funnel
from asof.crawl.limits import CrawlLimits
from asof.crawl.monitor import Monitor
from asof.crawl.store import CaptureStore, conditions
from asof.fetch.http import Fetcher
from asof.frontier.hosts import Hosts, Pace, retry_after
from asof.frontier.queue import Frontier
from asof.ledger import Ledger
from asof.model import Capture, Crawl, Exchange, Failure, Headers
from asof.scope.robots import Gates
from asof.scope.rules import Scope
from asof.url import host_of


@dataclass(frozen=True, slots=True)
class Equipment:
    """What is read comes through `reader`, what is kept goes to `journal`. By `secret`
    it is drawn which 304 answers are checked; `host_trust` tells what such words are worth.
    `answered` are the hosts that did.
    """

    config: Config
    clock: Clock
    reader: Ledger
    journal: Journal
    fetcher: Fetcher
    frontier: Frontier
    store: CaptureStore
    funnel: Funnel
    limits: CrawlLimits
    monitor: Monitor
    gates: Gates
    pace: Pace
    secret: str
    hosts: Hosts = field(default_factory=Hosts)
    host_trust: dict[str, HostTrust] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)

    def believes(self, host: str) -> bool:
        """Whether no 304 of a host was found to be false."""
        return host not in self.host_trust or self.host_trust[host].trusts_validators

    def disbelieve(self, host: str) -> None:
        """It was caught."""
        known = self.host_trust.get(host, HostTrust(host))
        self.host_trust[host] = replace(known, trusts_validators=False)

    def conditions(self, last: Capture | None) -> Headers:
        """The headers that ask whether the last capture still holds, if the answer is wanted."""
        is_wanted = last is not None and self.believes(host_of(last.url))
        return conditions(last) if is_wanted and self.config.conditional else ()

    def wait_after(self, host: str, start: float, outcome: Exchange | Failure | None) -> float:
        """How long to leave a host alone after what was asked for at `start`."""
        if isinstance(outcome, Exchange):
            self.answered.add(host)
        took = self.clock.monotonic() - start
        return self.pace.wait(took, self.gates.crawl_delay(host), retry_after(outcome))


def equip(
    archive: OpenArchive, crawl: Crawl, config: Config, fetcher: Fetcher, monitor: Monitor
) -> Equipment:
    """For one run of a crawl; its reader has to be closed."""
    clock, scope = archive.clock, Scope(crawl.seeds, config)
    reader, journal = Ledger(archive.folder.db, writable=False), Journal(clock, config)
    frontier = Frontier(archive.ledger, archive.catalog.crawl_no(crawl.id), reader=reader)
    return Equipment(
        config=config,
        clock=clock,
        reader=reader,
        journal=journal,
        fetcher=fetcher,
        frontier=frontier,
        store=CaptureStore(archive, journal, crawl.id, reader, config),
        funnel=Funnel(scope, frontier, config, clock),
        limits=CrawlLimits(config, clock, archive.folder.root, scope.per_host),
        monitor=monitor,
        gates=Gates(),
        pace=Pace(config.delay, config.delay_factor, config.max_crawl_delay),
        secret="" if crawl.coherence_plan is None else crawl.coherence_plan.secret,
    )
