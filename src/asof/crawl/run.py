"""Start or resume a crawl, run it, and leave the archive in order whatever happens."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING

from asof.archive import OpenArchive
from asof.archive.commit import Committer
from asof.archive.folder import Folder
from asof.archive.journal import CommitGroup
from asof.archive.recovery import recover
from asof.catalog.public_hosts import PublicHosts
from asof.clock import Clock, SystemClock
from asof.config import Config
from asof.crawl.aftermath import UNANSWERED, barren, waiting_on
from asof.crawl.assignment import write_assignment
from asof.crawl.background import BackgroundReader
from asof.crawl.catchup import catch_up
from asof.crawl.limits import DISK_RESERVE
from asof.crawl.loop import INTERRUPTED, Crawler
from asof.crawl.monitor import Monitor, Watcher, monitoring
from asof.crawl.request import CrawlRequest, checked_seeds, choose_crawl, loosened, read_request
from asof.crawl.summary import Summary
from asof.crawl.writer import Writer, open_writer
from asof.errors import AsofError, StorageError, UsageError
from asof.fetch.addresses import policy
from asof.fetch.http import Fetcher, HttpClient
from asof.fetch.settings import FetchSettings
from asof.frontier.queue import forget_patterns
from asof.frontier.report import tally
from asof.ledger import translate
from asof.model import Crawl, CrawlState, Target
from asof.url import host_of
from asof.warc.info import crawl_record

if TYPE_CHECKING:
    from asof.crawl.plan import Itinerary


@dataclass(frozen=True, slots=True)
class CrawlOutcome:
    """How a run ended."""

    crawl: Crawl
    summary: Summary
    resumed: bool
    files: tuple[str, ...]
    barren: tuple[tuple[str, str], ...] = ()  # seeds that brought nothing or an error, and why

    @property
    def is_barren(self) -> bool:
        """Whether there is nothing to show: no seed brought a page."""
        return len(self.barren) == len(self.crawl.seeds)


def run_crawl(
    request: CrawlRequest,
    *,
    clock: Clock | None = None,
    watch: Watcher | None = None,
    talk: Callable[[str], None] = lambda line: None,
) -> CrawlOutcome:
    """Run a crawl to its end or to an interruption; resumes an interrupted one with the same seeds.

    Ctrl-C or SIGTERM once: finish what is in flight and commit. Twice: stop now, and commit.
    """
    seeds = checked_seeds(request)
    clock = clock or SystemClock()
    with (
        _Interruption(talk) as interruption,
        OpenArchive.write(request.archive, purpose="crawl", clock=clock) as archive,
    ):
        recovery = recover(archive)
        if recovery.adopted or recovery.cut:
            cut = sum(damage.length for damage in recovery.cut)
            torn = f", {cut:,} torn bytes cut off" if cut else ""
            talk(f"Recovered after a crash: captures taken over: {recovery.adopted:,}{torn}.")
        start = _start(archive, request, seeds)
        crawl, config = start.crawl, start.config
        if start.resumed and (loose := loosened(crawl, config, request.settings)):
            talk(loose)
        with monitoring(archive, crawl, watch, talk, request.control, start.resumed) as monitor:
            with (
                closing(open_writer(archive, crawl, config)) as writer,
                _reading(archive, config),
                asyncio.Runner(loop_factory=_new_loop) as runner,
            ):
                summary, crawl = runner.run(_run(archive, start, writer, monitor, interruption))
            monitor.events.write("ended", **asdict(summary))
        crawl = _conclude(archive, crawl, config, summary)
        if config.preset == "assignment":
            write_assignment(archive, crawl)
        if summary.ended_by == DISK_RESERVE:
            raise _disk_is_short(archive)
        files = tuple(s.file for s in archive.segments() if s.crawl == crawl.id)
        bare = tuple(barren(archive, crawl)) if crawl.state is CrawlState.FINISHED else ()
    return CrawlOutcome(crawl, summary, start.resumed, files, bare)


@dataclass(frozen=True, slots=True)
class _Start:
    """The crawl that is about to run, new or resumed, and the plan that was made for it now."""

    crawl: Crawl
    config: Config
    resumed: bool
    itinerary: Itinerary | None


def _start(archive: OpenArchive, request: CrawlRequest, seeds: tuple[str, ...]) -> _Start:
    """Choose the crawl, plan it if it seeks coherence, and enter it as running."""
    crawl, config, resumed = choose_crawl(archive, request, seeds)
    itinerary = None
    if config.coherence != "off" and _lacks_a_plan(archive, crawl):
        from asof.crawl.plan import plan_visits  # numpy, which other crawls do not need

        itinerary = plan_visits(archive, crawl.seeds, config)
        # Whoever goes on with it later need not say again that it seeks coherence.
        settings = crawl.settings | {"coherence": config.coherence}
        planned = replace(itinerary.coherence_plan, secret=token_hex(16))
        crawl = replace(crawl, coherence_plan=crawl.coherence_plan or planned, settings=settings)
    with archive.ledger.transaction():
        archive.catalog.put_crawl(replace(crawl, state=CrawlState.RUNNING))
    return _Start(crawl, config, resumed, itinerary)


def plan_crawl(request: CrawlRequest, *, clock: Clock | None = None) -> Itinerary:
    """What a new crawl would do to be coherent, by what the archive knows; nothing is written.

    A request that does not seek coherence is planned as if it sought the inducible kind.
    """
    from asof.crawl.plan import plan_visits  # numpy, which other crawls do not need

    if not request.seeds:
        raise UsageError("A plan needs seeds.", hint="Name at least one URL.")
    seeds, config = read_request(request)
    if config.coherence == "off":
        config = replace(config, coherence="inducible")
    if not Folder(request.archive).db.exists():
        return plan_visits(None, seeds, config)
    with OpenArchive.open(request.archive, clock=clock) as archive:
        return plan_visits(archive, seeds, config)


@contextmanager
def _reading(archive: OpenArchive, config: Config) -> Iterator[None]:
    """Documents are read in the time that a polite crawl spends waiting."""
    with ExitStack() as held:
        if config.text and config.delay > 0 and isinstance(archive.clock, SystemClock):
            with suppress(OSError):  # no more processes, say: only a service, the crawl goes on
                held.enter_context(closing(BackgroundReader(archive.folder.root)))
        yield


def _disk_is_short(archive: OpenArchive) -> StorageError:
    free = shutil.disk_usage(archive.folder.root).free
    return StorageError(
        f"The crawl was stopped, for the disk has only {free / 1e6:,.0f} MB left.",
        hint="Make room (or lower disk_reserve), then run the same command again; nothing is lost.",
    )


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:  # not on every platform; asyncio's own loop does the same, slower
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def _run(
    archive: OpenArchive,
    start: _Start,
    writer: Writer,
    monitor: Monitor,
    interruption: _Interruption,
) -> tuple[Summary, Crawl]:
    """Run to the end; gives the crawl too, for orders may have changed its settings."""
    crawl, config = start.crawl, start.config
    public = PublicHosts(archive.ledger, archive.folder.warc, crawl.seeds)
    fetcher: Fetcher = HttpClient(
        _fetch_settings(config),
        archive.clock,
        archive.folder.spool,
        policy(crawl.seeds, config.allow_private, public.has, public.add),
    )
    crawler = Crawler(archive, crawl, config, fetcher, writer, monitor)
    try:
        _fill_queue(archive, crawler, start)
        archive.ledger.db.execute("PRAGMA shrink_memory")  # the writer has its own
        work = _follow(archive, crawler, config, start.itinerary)
        summary = await interruption.may_end(crawler, work)
        if start.resumed and crawl.coherence_plan is None and not crawler.equipment.answered:
            summary = waiting_on(archive, crawl, summary)
        return summary, crawler.crawl
    except sqlite3.Error as error:
        raise translate(error, archive.folder.db) from error
    finally:
        await fetcher.close()
        crawler.close()


def _fill_queue(archive: OpenArchive, crawler: Crawler, start: _Start) -> None:
    """What is known at the start: planned, named as seeds, found by records; by today's rules."""
    crawl, frontier, funnel = start.crawl, crawler.frontier, crawler.funnel
    if start.itinerary is not None:
        frontier.add(start.itinerary.targets())
    funnel.put([Target(seed) for seed in crawl.seeds])
    with archive.ledger.transaction():
        frontier.flush()
    if crawl.coherence_plan is not None and crawl.coherence_plan.newcomers is not None:
        funnel.newcomers = crawl.coherence_plan.newcomers
        frontier.exact = True
    catch_up(archive, crawler)
    # Other rules than those by which they were queued.
    if start.config.as_dict() != crawl.settings:
        with archive.ledger.transaction():
            if not start.config.traps:
                frontier.take_traps()
            frontier.refuse_waiting(funnel.scope.refusal)
        frontier.recount()


def _lacks_a_plan(archive: OpenArchive, crawl: Crawl) -> bool:
    """Whether a crawl has none yet, or the queue that held the places of its visits was lost."""
    if crawl.coherence_plan is None:
        return True
    number = archive.catalog.crawl_no(crawl.id)
    return crawl.coherence_plan.turn is None and not any(tally(archive.ledger, number).values())


async def _follow(
    archive: OpenArchive, crawler: Crawler, config: Config, itinerary: Itinerary | None
) -> Summary:
    coherence_plan = crawler.crawl.coherence_plan
    if coherence_plan is None or config.coherence == "off":
        return await crawler.run()
    from asof.coherence.gather import learn_trust_in  # numpy, which other crawls do not need
    from asof.crawl.phases import probe_first, run_phases

    hosts = {host_of(seed) for seed in crawler.crawl.seeds} | set(crawler.frontier.hosts())
    known = {} if itinerary is None else itinerary.host_trust
    crawler.equipment.host_trust.update(known | learn_trust_in(archive, hosts - known.keys()))
    visiting = coherence_plan.mode == "inducible" and coherence_plan.turn is None
    share = 0.5 if visiting else 1.0
    needs: dict[str, tuple[int, float]] = {}
    if itinerary is not None and not crawler.frontier.done_by_host():
        if visiting:
            pages = [target for host in itinerary.hosts for target in host.targets]
            await probe_first(archive, crawler, config, pages)
        needs = itinerary.needs()
    crawler.hold(needs, share)
    return await run_phases(archive, crawler, config)


class _Interruption:
    """Ctrl-C or SIGTERM, whenever they come: once, stop gently; twice, cancel what is under way.

    A crawl that has not begun yet stops as soon as it has; then at the second signal, at once. One
    that is over writes down how it ended, whatever comes meanwhile.
    """

    def __init__(self, talk: Callable[[str], None]) -> None:
        self._talk = talk
        self._signals = 0
        self._is_over = False
        self._obey: Callable[[], object] | None = None

    def __enter__(self) -> _Interruption:
        self._before = {}
        with suppress(ValueError):  # not the main thread: the caller decides
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._came)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _came(self, *_: object) -> None:
        self._signals += 1
        if self._obey is not None:
            self._obey()
        elif self._signals > 1 and not self._is_over:
            raise KeyboardInterrupt

    async def may_end(self, crawler: Crawler, work: Coroutine[None, None, Summary]) -> Summary:
        """Do the work of a crawl, to its end or to an interruption."""
        loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)

        def obey() -> None:
            if not crawler.stopping:
                hint = "Press Ctrl-C again to stop at once."
                self._talk(f"Stopping: finishing what is in flight. {hint}")
                crawler.stop(INTERRUPTED)
            elif not task.cancelling():  # only once: it has to put things in order
                task.cancel()

        if self._signals:
            obey()
        self._obey = partial(loop.call_soon_threadsafe, obey)
        try:
            return await task
        except asyncio.CancelledError:
            crawler.stop(INTERRUPTED)
            await crawler.finish()
            return crawler.summary()
        finally:
            self._is_over, self._obey = True, None


def _fetch_settings(config: Config) -> FetchSettings:
    return FetchSettings(
        user_agent=config.user_agent,
        connect_timeout=config.connect_timeout,
        idle_timeout=config.idle_timeout,
        total_timeout=config.fetch_timeout,
        max_body=config.max_body,
        verify_tls=config.verify_tls,
        proxy=config.proxy,
        cookies=config.cookies,
    )


def _conclude(archive: OpenArchive, crawl: Crawl, config: Config, summary: Summary) -> Crawl:
    """Write down how the crawl ended: in its WARC when it is finished, in the catalog always."""
    unfinished = summary.ended_by in (INTERRUPTED, DISK_RESERVE, UNANSWERED)
    state = CrawlState.INTERRUPTED if unfinished else CrawlState.FINISHED
    now = archive.clock.now()
    crawl = replace(crawl, state=state, ended=now, note=json.dumps(asdict(summary), sort_keys=True))
    try:
        if state is CrawlState.FINISHED:
            committer = Committer(archive.folder, archive.ledger, crawl, config)
            end = CommitGroup([(crawl_record(crawl, now),)], taken=now)
            committer.write(end, lambda: _finish(archive, crawl))
            committer.close()
        else:
            with archive.ledger.transaction():
                archive.catalog.put_crawl(crawl)
    except AsofError:
        archive.ledger.rollback()
        raise
    return crawl


def _finish(archive: OpenArchive, crawl: Crawl) -> None:
    archive.catalog.put_crawl(crawl)
    forget_patterns(archive.ledger, archive.catalog.crawl_no(crawl.id))
