"""Start or resume a crawl, run it, and leave the archive in order whatever happens."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from asof.archive import Archive
from asof.archive.commit import Committer
from asof.archive.folder import Folder
from asof.archive.journal import Group
from asof.archive.recovery import Recovery, recover
from asof.change.background import BackgroundReader
from asof.clock import Clock, SystemClock, stamp
from asof.config import Config
from asof.crawl.assignment import write_assignment
from asof.crawl.catchup import catch_up
from asof.crawl.limits import DISK_RESERVE
from asof.crawl.loop import INTERRUPTED, Crawler
from asof.crawl.monitor import Monitor, Watcher, monitoring
from asof.crawl.summary import Summary
from asof.crawl.writer import Writer, open_writer
from asof.errors import StorageError, UsageError
from asof.fetch.addresses import policy
from asof.fetch.http import Fetcher, HttpClient
from asof.fetch.settings import FetchSettings
from asof.frontier.report import tally
from asof.ledger import translate
from asof.model import Crawl, CrawlState, Target
from asof.scope.presets import load_config, preset_settings
from asof.scope.rules import Scope
from asof.url import canonical, host_of
from asof.warc.build import crawl_end

if TYPE_CHECKING:
    from asof.crawl.plan import Itinerary


@dataclass(frozen=True, slots=True)
class CrawlRequest:
    """What the user asked for. `settings` are the flags that were given, and only those."""

    archive: Path
    seeds: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    new: bool = False
    control: bool = False


@dataclass(frozen=True, slots=True)
class CrawlOutcome:
    """How a run ended."""

    crawl: Crawl
    summary: Summary
    resumed: bool
    recovery: Recovery
    files: tuple[str, ...]


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
    seeds = tuple(dict.fromkeys(_seed(url) for url in request.seeds))
    # Everything the user wrote is checked before a folder is made.
    config = load_config(request.archive, request.environ, seeds, **request.settings)
    Scope(seeds, config)
    if seeds:
        _check_coherence(config, request.settings)
    if not seeds and not Folder(request.archive).exists():
        raise _nothing_to_resume()
    with Archive.write(request.archive, purpose="crawl", clock=clock or SystemClock()) as archive:
        recovery = recover(archive)
        if recovery.adopted or recovery.cut:
            talk(_recovery_line(recovery))
        crawl, config, resumed = _choose(archive, request, seeds)
        itinerary = None
        if config.coherence != "off" and _lacks_a_plan(archive, crawl):
            itinerary = _planned(archive, crawl, config)
            # Whoever goes on with it later need not say again that it seeks coherence.
            settings = crawl.settings | {"coherence": config.coherence}
            crawl = replace(crawl, course=crawl.course or itinerary.course, settings=settings)
        with archive.ledger.transaction():
            archive.catalog.put_crawl(replace(crawl, state=CrawlState.RUNNING))
        with monitoring(
            archive, crawl, watch=watch, talk=talk, controlled=request.control, resumed=resumed
        ) as monitor:
            with closing(open_writer(archive, crawl, config)) as writer, _reading(archive, config):
                summary, crawl = _in_loop(archive, crawl, config, writer, monitor, talk, itinerary)
            monitor.ended(summary)
        crawl = _conclude(archive, crawl, config, summary)
        if config.preset == "assignment":
            write_assignment(archive, crawl)
        if summary.ended_by == DISK_RESERVE:
            raise _disk_is_short(archive)
        files = tuple(s.file for s in archive.segments() if s.crawl == crawl.id)
    return CrawlOutcome(crawl, summary, resumed, recovery, files)


def plan_crawl(request: CrawlRequest, *, clock: Clock | None = None) -> Itinerary:
    """What a new crawl would do to be coherent, by what the archive knows; nothing is written.

    A request that does not seek coherence is planned as if it sought the inducible kind.
    """
    from asof.crawl.plan import plan_course  # numpy, which other crawls do not need

    seeds = tuple(dict.fromkeys(_seed(url) for url in request.seeds))
    if not seeds:
        raise UsageError("A plan needs seeds.", hint="Name at least one URL.")
    config = load_config(request.archive, request.environ, seeds, **request.settings)
    Scope(seeds, config)  # rules that are wrong are an error here, too
    if config.coherence == "off":
        config = replace(config, coherence="inducible")
    if not Folder(request.archive).db.exists():
        return plan_course(None, seeds, config)
    with Archive.open(request.archive, clock=clock) as archive:
        return plan_course(archive, seeds, config)


def _check_coherence(config: Config, given: Mapping[str, object]) -> None:
    """Options of a plan make no sense without one."""
    meant = [name for name in ("plan", "eta", "revisits", "audit") if given.get(name) is not None]
    if meant and config.coherence == "off":
        raise UsageError(
            f"The option for {meant[0]} has no effect on a crawl that does not seek coherence.",
            hint="Add --coherence inducible, or leave it out.",
        )
    if given.get("revisits") is not None and config.coherence == "measurable":
        raise UsageError(
            "A measurable crawl makes no revisits.", hint="Use --coherence inducible for them."
        )


@contextmanager
def _reading(archive: Archive, config: Config) -> Iterator[None]:
    """Documents are read in the time that a polite crawl spends waiting."""
    if not config.text or config.delay <= 0 or not isinstance(archive.clock, SystemClock):
        yield
        return
    try:
        reader = BackgroundReader(archive.folder.root)
    except OSError:  # no more processes, say: only a service, and the crawl goes on
        yield
        return
    with closing(reader):
        yield


def _seed(url: str) -> str:
    found = canonical(url)
    if found is None:
        hint = "Seeds are http or https URLs."
        if canonical(f"https://{url}") and "://" not in url:
            hint = f"Did you mean https://{url} ?"
        raise UsageError(f"{url!r} cannot be crawled.", hint=hint)
    return found


def _recovery_line(recovery: Recovery) -> str:
    cut = sum(damage.length for damage in recovery.cut)
    torn = f", {cut:,} torn bytes cut off" if cut else ""
    return f"Recovered after a crash: {recovery.adopted} captures taken over{torn}."


def _choose(
    archive: Archive, request: CrawlRequest, seeds: tuple[str, ...]
) -> tuple[Crawl, Config, bool]:
    """The interrupted crawl that is meant, with its settings under the new flags; or a new one."""
    open_crawls = [c for c in archive.crawls() if c.state is not CrawlState.FINISHED]
    meant = [c for c in open_crawls if not seeds or c.seeds == seeds]
    if meant and not request.new:
        crawl = meant[-1]
        config = Config().updated(crawl.settings, source=f"crawl {crawl.id}")
        given = {k: v for k, v in request.settings.items() if v is not None}
        if given.get("preset"):
            given = preset_settings(str(given["preset"]), crawl.seeds) | given
        return crawl, config.updated(given, source="the command line"), True
    if not seeds:
        raise _nothing_to_resume()
    config = load_config(request.archive, request.environ, seeds, **request.settings)
    now = archive.clock.now()
    name = f"{stamp(now)}-{secrets.token_hex(2)}"
    return Crawl(name, seeds, now, CrawlState.RUNNING, settings=config.as_dict()), config, False


def _disk_is_short(archive: Archive) -> StorageError:
    free = shutil.disk_usage(archive.folder.root).free
    return StorageError(
        f"The crawl was stopped, for the disk has only {free / 1e6:,.0f} MB left.",
        hint="Make room (or lower disk_reserve), then run the same command again; nothing is lost.",
    )


def _nothing_to_resume() -> UsageError:
    return UsageError(
        "There is no interrupted crawl to resume.", hint="Name at least one URL to crawl."
    )


def _in_loop(
    archive: Archive,
    crawl: Crawl,
    config: Config,
    writer: Writer,
    monitor: Monitor,
    talk: Callable[[str], None],
    itinerary: Itinerary | None,
) -> tuple[Summary, Crawl]:
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        return runner.run(_run(archive, crawl, config, writer, monitor, talk, itinerary))


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:  # not on every platform; asyncio's own loop does the same, slower
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def _run(
    archive: Archive,
    crawl: Crawl,
    config: Config,
    writer: Writer,
    monitor: Monitor,
    talk: Callable[[str], None],
    itinerary: Itinerary | None,
) -> tuple[Summary, Crawl]:
    """Run to the end; gives the crawl too, for orders may have changed its settings."""
    fetcher: Fetcher = HttpClient(
        _fetch_settings(config),
        archive.clock,
        archive.folder.spool,
        policy(crawl.seeds, config.allow_private),
    )
    crawler = Crawler(archive, crawl, config, fetcher, writer, monitor)
    try:
        if itinerary is not None:
            crawler.frontier.add(itinerary.targets())
        crawler.funnel.put([Target(seed) for seed in crawl.seeds])
        with archive.ledger.transaction():
            crawler.frontier.flush()
        if crawl.course is not None and crawl.course.newcomers is not None:
            crawler.funnel.newcomers = crawl.course.newcomers
            crawler.frontier.exact = True
        catch_up(archive, crawl, crawler)
        if config.as_dict() != crawl.settings:  # other rules than those by which they were queued
            with archive.ledger.transaction():
                crawler.frontier.refuse_waiting(crawler.funnel.scope.refusal)
            crawler.frontier.recount()
        crawler.visitor.recall(archive.catalog.memory(crawl.id))
        archive.ledger.db.execute("PRAGMA shrink_memory")  # the writer has its own
        _obey_signals(crawler, talk)
        summary = await _follow(archive, crawler, config, itinerary)
        archive.catalog.put_memory(crawl.id, crawler.visitor.memory)
        return summary, crawler.crawl
    except asyncio.CancelledError:
        crawler.stop(INTERRUPTED)
        await crawler.finish()
        archive.catalog.put_memory(crawl.id, crawler.visitor.memory)
        return crawler.summary(), crawler.crawl
    except sqlite3.Error as error:
        raise translate(error, archive.folder.db) from error
    finally:
        await fetcher.close()
        crawler.close()


def _lacks_a_plan(archive: Archive, crawl: Crawl) -> bool:
    """Whether a crawl has none yet, or the queue that held the places of its visits was lost."""
    if crawl.course is None:
        return True
    number = archive.catalog.crawl_no(crawl.id)
    return crawl.course.turn is None and not any(tally(archive.ledger, number).values())


def _planned(archive: Archive, crawl: Crawl, config: Config) -> Itinerary:
    """The plan of a new crawl that seeks coherence."""
    from asof.crawl.plan import plan_course  # numpy, which other crawls do not need

    return plan_course(archive, crawl.seeds, config)


async def _follow(
    archive: Archive, crawler: Crawler, config: Config, itinerary: Itinerary | None
) -> Summary:
    """Run the crawl, in phases if it seeks coherence."""
    course = crawler.crawl.course
    if course is None or config.coherence == "off":
        return await crawler.run()
    from asof.coherence.gather import caught_hosts  # numpy, which other crawls do not need
    from asof.crawl.phases import run_phases

    hosts = {host_of(seed) for seed in crawler.crawl.seeds} | set(crawler.frontier.hosts())
    crawler.visitor.disbelieved.update(caught_hosts(archive, hosts))
    visiting = course.mode == "inducible" and course.turn is None
    share = 0.5 if visiting else 1.0
    starts: dict[str, float] = {}
    if itinerary is not None and not crawler.frontier.done_by_host():
        limit = float("inf") if config.time_limit is None else config.time_limit
        starts = itinerary.starts(limit * share)
    crawler.hold(starts, share)
    return await run_phases(archive, crawler, config)


def _obey_signals(crawler: Crawler, talk: Callable[[str], None]) -> None:
    """Once: stop gently. Twice: cancel the run."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def interrupt() -> None:
        if crawler.stopping:
            if task is not None:
                task.cancel()
            return
        talk("Stopping: finishing what is in flight. Press Ctrl-C again to stop at once.")
        crawler.stop(INTERRUPTED)

    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, interrupt)
        except (RuntimeError, ValueError):  # not the main thread: the caller decides
            return


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


def _conclude(archive: Archive, crawl: Crawl, config: Config, summary: Summary) -> Crawl:
    """Write down how the crawl ended: in its WARC when it is finished, in the catalog always."""
    unfinished = summary.ended_by in (INTERRUPTED, DISK_RESERVE)
    state = CrawlState.INTERRUPTED if unfinished else CrawlState.FINISHED
    now = archive.clock.now()
    crawl = replace(crawl, state=state, ended=now, note=summary.to_json())
    try:
        if state is CrawlState.FINISHED:
            committer = Committer(archive.folder, archive.ledger, crawl, config)
            end = Group([(crawl_end(crawl),)], taken=now)
            committer.write(end, lambda: archive.catalog.put_crawl(crawl))
            committer.close()
        else:
            with archive.ledger.transaction():
                archive.catalog.put_crawl(crawl)
    except StorageError:
        archive.ledger.rollback()
        raise
    return crawl
