"""The crawl loop: take the next polite host, let its next target be visited, commit, go on.

One visit a host at a time (Naumann 2011: no parallel requests to a server). This thread fetches,
reads documents and decides; a writer beside it packs, makes rows and commits group after group, so
the network never waits for the disk. All that decides happens on this thread, between awaits.
"""

import asyncio
import re
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from asof.archive import OpenArchive
from asof.clock import SECOND
from asof.config import Config
from asof.crawl.control import Act, Order
from asof.crawl.equipment import equip
from asof.crawl.monitor import Monitor
from asof.crawl.starts import Starts
from asof.crawl.summary import Outlook, Snapshot, Summary, counted
from asof.crawl.visit import FULL, Visitor
from asof.crawl.writer import Backlog, Writer
from asof.errors import AsofError
from asof.fetch.http import Fetcher
from asof.frontier.states import TargetState
from asof.model import Crawl
from asof.scope.rules import Scope

INTERRUPTED = "interrupted"

# Seconds that fetches in flight get to end after a stop; a target that is then cut off stays
# queued, and a server that hangs keeps nobody waiting.
_GRACE = 5.0
# Seconds between two looks at the clock when many hosts become due one after the other.
_TICK = 0.001
# Seconds between two looks for orders.
LOOK_EVERY = 0.25
# Seconds between two looks at when hosts that wait for others begin.
_CORRECT_EVERY = 1.0


class Crawler:
    """One run of a crawl, from where it stands to its end or a stop."""

    def __init__(
        self,
        archive: OpenArchive,
        crawl: Crawl,
        config: Config,
        fetcher: Fetcher,
        writer: Writer,
        monitor: Monitor,
    ) -> None:
        self.crawl = crawl
        self._clock = archive.clock
        self._config = config
        self._monitor = monitor
        self._catalog = archive.catalog
        self._writer = writer
        self.equipment = equip(archive, crawl, config, fetcher, monitor)
        self._reader, self.journal = self.equipment.reader, self.equipment.journal
        self.frontier, self.funnel = self.equipment.frontier, self.equipment.funnel
        self._hosts, self._limits = self.equipment.hosts, self.equipment.limits
        self._backlog = Backlog(self.journal, self.frontier)
        self.visitor = Visitor(self.equipment)
        self._begun = False
        self._visits: set[asyncio.Task[None]] = set()
        self._commit: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._alarm_at = 0.0  # when the loop looks by itself
        self._trouble: BaseException | None = None
        self.paused = False
        self._unwritten = False  # a commit has failed: there will be no other
        self._ended_by = ""
        self._deadline = float("inf")
        self._before = 0
        self._starts = Starts()
        self._corrected = 0.0
        self._outlook = Outlook(self._reader, self.frontier.crawl)

    def stop(self, reason: str) -> None:
        """Begin no more fetches; those in flight are finished and kept, if they end in time."""
        if not self._ended_by:
            self._monitor.events.write("stopping", reason=reason)
        plan = self.crawl.coherence_plan
        looks_again = plan is not None and plan.mode == "inducible" and plan.turn is None
        # What ends the visits is not the end of a crawl that looks again; an interruption is.
        if not self._ended_by or (looks_again and reason == INTERRUPTED):
            self._ended_by = reason
        self._deadline = min(self._deadline, self._clock.monotonic() + _GRACE)
        self._wake.set()

    def serve_revisits(self) -> None:
        """The next run takes the queue of revisits (asof.crawl.phases)."""
        self.frontier.serve(revisits=True)
        self._starts = Starts()
        self.equipment.store.has_history = True
        self._limits.share = 1.0
        if self._ended_by != INTERRUPTED:  # a wish that came while the crawl turned
            self._ended_by, self._deadline = "", float("inf")

    def hold(self, needs: Mapping[str, tuple[int, float]], share: float) -> None:
        """Let hosts end together (asof.crawl.starts), within this share of the time at most."""
        self._limits.share = share
        now = self._clock.monotonic()
        self._starts = Starts.planned(needs, now + self._limits.time_left)
        self._correct_starts(now)

    def _correct_starts(self, now: float) -> None:
        """Hosts that wait for others begin when that is due by the paces seen so far."""
        self._corrected = now
        idle = not self._visits and not self.frontier.pending
        waits = self._starts.waits(now, self._hosts.waiting if idle else None)
        for host, seconds in waits.items():
            known = self._hosts.due(host, now) - now
            if abs(known - seconds) > _CORRECT_EVERY / 2 or seconds == 0 < known:
                self._hosts.postpone(host, now + seconds)

    @property
    def stopping(self) -> bool:
        return bool(self._ended_by)

    async def run(self) -> Summary:
        """Crawl until the queue is empty, a limit is reached, or somebody calls stop()."""
        self._before = self.frontier.tally[TargetState.DONE]
        done = self.frontier.done_by_host()
        if not self._begun:
            sizes = self.equipment.store.bytes_by_host() if self._limits.counts_bytes else {}
            self._limits.resume(done, sizes)
            self._begun = True
        # Nobody knows when the run before asked last: a delay ago at the least.
        begin = self._clock.monotonic() + (self._config.delay if done else 0.0)
        for host in self.frontier.hosts():
            self._hosts.want(host, begin)
        try:
            await self.look_about()
            while self._go_on():
                await self._pause()
                await self.look_about()
                if self._clock.monotonic() >= self._deadline:
                    await self._abandon()
            await self.finish()
        except BaseException:
            await self._abandon()
            if not self._unwritten:  # what was kept before something went wrong
                self._trouble = None
                with suppress(AsofError):  # the trouble that is already known is told
                    await self.finish()
            raise
        return self.summary()

    async def finish(self) -> None:
        """Commit all that was kept."""
        self._raise_trouble()
        while self._commit is not None or self._backlog:
            self._begin_commit()
            if self._commit is None:
                return
            await asyncio.wait((self._commit,))
            self._raise_trouble()

    def close(self) -> None:
        """Let go of the database; what was kept and not committed is dropped."""
        self.journal.take().discard()
        self._reader.close()

    # -- turning

    def _go_on(self) -> bool:
        """Start what may start now; False when there is nothing to wait for any more."""
        self._launch()
        if self._ended_by:
            return bool(self._visits)
        if self.paused or self._visits or self._commit is not None:
            return True
        return self._hosts.next_due() is not None or bool(self.frontier.pending)

    def _launch(self) -> None:
        """Begin visits to hosts whose time has come, and a commit when one is due."""
        now = self._clock.monotonic()
        if not self._starts.is_over and (
            not self._visits or now >= self._corrected + _CORRECT_EVERY
        ):
            self._correct_starts(now)
        while not self._is_halted() and len(self._visits) < self._config.concurrency:
            if (host := self._hosts.take(now)) is None:
                break
            self._spawn(self._visit(host), self._visits)
        idle = not self._visits and self._hosts.next_due() is None
        if self._backlog.is_due() or (idle and self.frontier.pending):
            self._begin_commit()

    def _spawn(
        self, work: Coroutine[None, None, None], crowd: set[asyncio.Task[None]]
    ) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        crowd.add(task)
        task.add_done_callback(partial(self._ended, crowd))
        return task

    def _ended(self, crowd: set[asyncio.Task[None]], task: asyncio.Task[None]) -> None:
        """A visit or a commit is over: go on from here, without waking the loop for it."""
        crowd.discard(task)
        if task.cancelled():
            return
        if task.exception() is not None:
            self._trouble = self._trouble or task.exception()
        if self._trouble is None and not self._ended_by:
            self._check_limits()
            self._launch()
        due = self._hosts.next_due()
        sooner = due is not None and due < self._alarm_at
        if sooner or not self._visits or self._trouble is not None or self._ended_by:
            self._wake.set()

    def _is_halted(self) -> bool:
        """Whether no more fetches may begin for now."""
        return bool(self._ended_by) or self.paused or self._backlog.is_crowded(len(self._visits))

    def _raise_trouble(self) -> None:
        if self._trouble is not None:
            raise self._trouble

    async def _pause(self) -> None:
        """Until a host becomes due, the group must be committed, or something ends."""
        self._wake.clear()
        patience = self._patience()
        self._alarm_at = self._clock.monotonic() + patience
        alarm = asyncio.ensure_future(self._clock.sleep(patience))
        called = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait((alarm, called), return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
            called.cancel()

    def _patience(self) -> float:
        now = self._clock.monotonic()
        waits = [self._config.group_seconds if self.journal.pending else 1.0]
        if self._monitor.controlled:
            waits.append(LOOK_EVERY)
        if not self._ended_by:
            waits.append(self._limits.time_left)
        due = self._hosts.next_due()
        room = len(self._visits) < self._config.concurrency and not self._is_halted()
        if due is not None and room:
            waits.append(max(_TICK, due - now))
        return max(0.0, min(*waits, self._deadline - now))

    async def _abandon(self) -> None:
        """Cancel visits and wait until they have let go of their sockets."""
        visits = list(self._visits)
        for visit in visits:
            visit.cancel()
        await asyncio.gather(*visits, return_exceptions=True)
        if self._commit is not None:
            await asyncio.gather(self._commit, return_exceptions=True)

    def _check_limits(self) -> None:
        if reached := self._limits.reached():
            self.stop(reached)

    async def _visit(self, host: str) -> None:
        """Serve a host's targets, one after the other as long as it need not be left alone."""
        while await self._step(host):
            if self._backlog.is_due():
                self._begin_commit()
            self._check_limits()
            # Another host that is due goes first when there is no room for both.
            full = len(self._visits) >= self._config.concurrency
            if self._is_halted() or full or not self._hosts.claim(host, self._clock.monotonic()):
                return

    async def _step(self, host: str) -> bool:
        """One step for a host's next target, then let go of the host; whether it may go on."""
        wait: float | None = 0.0
        target = self.frontier.next(host, self._clock.now())
        try:
            if target is not None:
                wait = await self.visitor.serve(target, host)
                if wait is None:
                    self.stop(FULL)
        finally:
            now = self._clock.monotonic()
            if target is not None:
                self._starts.visited(host, now)
            self._hosts.release(host, now + (wait or 0.0))
            due = self.frontier.due(host, self._clock.now())
            if due is not None:
                self._hosts.want(host, self._in_seconds(due) if due else now)
            elif self.frontier.awaits(host):
                self._backlog.thirsty = True
        return due == 0 and wait == 0.0

    # -- committing

    def _begin_commit(self) -> None:
        if self._commit is None and not self._unwritten:
            self._commit = self._spawn(self._commit_group(), set())

    async def _commit_group(self) -> None:
        """Write the open group and what was learnt with it; then the hosts may have more."""
        group, changes = self._backlog.take()
        try:
            outcome = await self._writer.write(group, changes)
            for host, not_before in self.frontier.applied(changes, outcome).items():
                self._hosts.want(host, self._in_seconds(not_before))
        except BaseException:
            self._unwritten = True
            raise
        finally:
            self._commit = None

    # -- obeying

    async def look_about(self, waiting: str = "") -> None:
        """Obey, mind the limits, commit, and tell how things stand, and what is waited for."""
        await self._obey()
        self._raise_trouble()
        self._check_limits()
        if self._backlog.is_due():
            self._begin_commit()
        self._report(waiting)

    async def _obey(self) -> None:
        """Do what was ordered from outside, and say so."""
        for order in self._monitor.orders():
            match order.act:
                case Act.PAUSE:
                    self.paused, did = True, "paused"
                case Act.RESUME:
                    self.paused, did = False, "running"
                case Act.EXCLUDE:
                    did = await self._exclude(order)
                case Act.STOP:
                    did = "stopping"
                    self.stop(INTERRUPTED)
            self._monitor.obeyed(order, did)

    async def _exclude(self, order: Order) -> str:
        """Add a rule to the scope, apply it to what waits, and keep it for a resumption."""
        await self.finish()
        self._config = replace(self._config, exclude=(*self._config.exclude, order.pattern))
        self.funnel.scope = Scope(self.crawl.seeds, self._config)
        self.funnel.forget()
        self.crawl = replace(self.crawl, settings=self._config.as_dict())
        matches = re.compile(order.pattern).search
        moved = self.frontier.exclude(
            lambda url: matches(url) is not None,
            f"excluded by {order.pattern}",
            also=lambda: self._catalog.put_crawl(self.crawl),
        )
        return f"{moved:,} queued {'URL' if moved == 1 else 'URLs'} left out"

    # -- telling

    def _in_seconds(self, instant: int) -> float:
        """A wall-clock instant as a time of the monotonic clock."""
        return self._clock.monotonic() + max(0.0, (instant - self._clock.now()) / SECOND)

    def _report(self, waiting: str = "") -> None:
        now = self._clock.monotonic()
        if not self._monitor.due(now):
            return
        if self._monitor.watched:
            self._outlook.renew(now, self._clock, self._hosts)
        counts = self.frontier.tally
        phase = "revisiting" if self.frontier.revisits else "running"
        state = "stopping" if self._ended_by else "paused" if self.paused else phase
        self._monitor.report(
            Snapshot(
                elapsed=self._limits.elapsed,
                captured=counts[TargetState.DONE] - self._before,
                failed=counts[TargetState.FAILED],
                left_out=counts[TargetState.LEFT_OUT],
                queued=counts[TargetState.QUEUED],
                bytes=self._limits.bytes,
                hosts=len(self._hosts),
                current=self.visitor.current,
                busiest=self._outlook.busiest,
                reasons=self._outlook.reasons,
                state=state,
                active=len(self._visits),
                waiting=waiting or self._starts.awaited(now),
            ),
            now,
        )

    def summary(self) -> Summary:
        """How things stand, in full, of what is committed."""
        return replace(
            counted(self._reader, self.frontier.crawl),
            bytes=self._limits.bytes,
            seconds=round(self._limits.elapsed, 3),
            ended_by=self._ended_by or "done",
            probes=self.visitor.probed.total(),
        )
