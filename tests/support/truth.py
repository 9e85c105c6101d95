"""Every verdict against the truth: a history served by a kind of server, crawled, and judged.

Put `tests` on the path and import it. A verdict is false if the copy that it speaks of was not
what stood at the moment of reference, by the bytes that the archive gives for it and those of the
history; *equivalent* is false if both differ in their words. Nothing of asof's own rules is used
but where it says that a copy lies.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit
from zlib import crc32

from asof.archive import OpenArchive
from asof.catalog.observe import observe
from asof.clock import SECOND, Instant
from asof.coherence.history import graded
from asof.coherence.quality import categorised
from asof.coherence.verdict import Measurement, Mode, PageVerdict
from asof.errors import NotCaptured
from asof.model import Capture, Evidence, Grade, State, Validity
from support.changing_web import DELAY, ChangingWeb, Crawled, by_record, copy_of
from support.history_site import HistorySite
from support.page_history import History, fitted, load_of
from support.server_kinds import Kind, Scene

# Grades that say something of a copy.
SAYING = (Grade.PROVEN, Grade.CONFIRMED, Grade.CLAIMED, Grade.EQUIVALENT)
# Laps between two crawls of the training.
PAUSE = 0.5
_MARKUP = re.compile(rb"(?is)<!--.*?-->|<(script|style)\b.*?</\1|<[^>]*>")
_WORD = re.compile(rb"\b[^\W\d_]{2,}\b")


@dataclass(frozen=True, slots=True)
class Sayings:
    """How many verdicts of a grade there are, how many are false, and how many of these the
    archive itself speaks against."""

    all: int = 0
    false: int = 0
    contradicted: int = 0

    def __add__(self, other: Sayings) -> Sayings:
        return Sayings(
            self.all + other.all,
            self.false + other.false,
            self.contradicted + other.contradicted,
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one crawl of one site came to.

    `twice`: each page was to be visited a second time (inducible), else once (measurable).

    `coherent` pages count in C, `alike` ones also if what differs is only noise. `standing` ones
    have a copy that stood at the reference; `staying` ones were that at the visit before and at the
    one after it, which is the most that bytes can show. `expected` is what the plan promised of C.
    `unchanged` are the intervals between captures that are called so. `load` is how often a page
    changed in a lap. `lied` counts false 304s, of the crawl and of those before it.
    """

    pages: int
    grades: Mapping[Grade, Sayings]
    coherent: int
    alike: int
    standing: int
    staying: int
    expected: float | None
    caught: bool
    lied: int
    requests: int
    sent: int
    unchanged: Sayings
    load: float
    twice: bool = True
    wrong: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Trial:
    """What is to be tried: how often it is trained, how the time goes, which mode."""

    load: float = 1.0
    training: int = 4
    mode: str = "inducible"
    even: bool = False
    run: int = 1

    @property
    def laps(self) -> float:
        """How long all of it takes, with some audits and failures."""
        return self.training * (1 + PAUSE) + 3


def tried(kind: Kind, history: History, trial: Trial, folder: Path) -> Outcome:
    """Train on the history as that kind of server tells it, crawl once more, and judge."""
    # asof waits as long as an answer took, and at least the delay.
    pace = kind.takes + max(DELAY, kind.takes)
    lap = (len(history.pages) + 2) * pace
    told = fitted(history, load=trial.load, lap=lap, laps=trial.laps, even=trial.even)
    site = HistorySite(told, kind.build(Scene(lap, trial.run)))
    web = ChangingWeb(
        site, folder, secret=f"{trial.run} {crc32(repr(sorted(told.pages)).encode())}"
    )
    web.train(trial.training, lap * PAUSE)
    before = site.sent
    crawled = web.crawl(coherence=trial.mode)
    with OpenArchive.open(folder, clock=web.clock) as archive:
        gathered = crawled.gathered
        measurement = categorised(archive, gathered, crawled.measurement, lambda _: None)
        judge = Judge(site, archive, crawled)
        return judge.outcome(
            measurement, site.sent - before, load_of(history, trial.load, trial.laps)
        )


class Judge:
    """Knows what stood where when, and what the archive has."""

    def __init__(self, site: HistorySite, archive: OpenArchive, crawled: Crawled) -> None:
        self.site = site
        self.history = site.history
        self._archive = archive
        self._crawled = crawled
        self._records = by_record(crawled.gathered)
        self._copies: dict[str, bytes | None] = {}
        self._of_url: dict[str, list[Capture]] = defaultdict(list)
        for capture in sorted(crawled.gathered.everything, key=lambda each: each.at):
            self._of_url[capture.url].append(capture)

    def copy(self, capture: Capture) -> bytes | None:
        """The content that the archive gives for a capture; None if that is none or an error."""
        if capture.record_id not in self._copies:
            self._copies[capture.record_id] = self._read(capture)
        return self._copies[capture.record_id]

    def _read(self, capture: Capture) -> bytes | None:
        try:
            memento = self._archive.read(capture)
        except NotCaptured:
            return None
        if memento.status != 200:
            return None
        return self.site.server.plain(b"".join(memento.payload()))

    def stood(self, capture: Capture, at: Instant) -> bool:
        """Whether the copy of a capture is what stood at a moment."""
        return self.copy(capture) == self.history.stands(path_of(capture.url), at)

    # -- verdicts

    def is_true(self, page: PageVerdict, reference: Instant) -> bool:
        """Whether the copy that a verdict speaks of stood at the moment."""
        capture = self._capture(copy_of(page))
        if page.grade is not Grade.EQUIVALENT or self.stood(capture, reference):
            return self.stood(capture, reference)
        copy, stood = self.copy(capture), self.history.stands(path_of(page.url), reference)
        return copy is not None and stood is not None and words(copy) == words(stood)

    def is_contradicted(self, page: PageVerdict) -> bool:
        """Whether the archive shows that something else was there between both sides.

        Another content was taken there; or what came later is dated to after what came before. A
        claim has one side, and says itself that something else was there before.
        """
        if page.before is None or page.after is None or page.grade is Grade.CLAIMED:
            return False
        old, new = self._capture(page.before), self._capture(page.after)
        between = [c for c in self._of_url[page.url] if old.at < c.at < new.at]
        if any(self.copy(c) not in (None, self.copy(old)) for c in between):
            return True
        dates = [c.last_modified for c in (*between, new) if c.last_modified is not None]
        return any(date > old.at + SECOND for date in dates)

    def _capture(self, evidence: Evidence) -> Capture:
        return self._records[evidence.record_id]

    def sayings(self, pages: Iterable[PageVerdict], reference: Instant) -> Sayings:
        found = Sayings()
        for page in pages:
            false = not self.is_true(page, reference)
            found += Sayings(1, false, false and self.is_contradicted(page))
        return found

    # -- the truth about C

    def is_standing(self, url: str, reference: Instant) -> bool:
        """Whether one of the crawl's copies of a page stood at the reference."""
        return any(self.stood(capture, reference) for capture in self._own(url))

    def is_staying(self, url: str, reference: Instant) -> bool:
        """Whether the nearest copies before and after the reference both did.

        This is what Spaniol 2009 (definition 3.6) asks for, and what bytes can prove.
        """
        own = self._own(url)
        before = [c for c in own if c.at <= reference][-1:]
        after = [c for c in own if c.at >= reference][:1]
        near = [*before, *after]
        return bool(before and after) and all(self.stood(c, reference) for c in near)

    def _own(self, url: str) -> list[Capture]:
        own = [c for c in self._of_url[url] if c.crawl == self._crawled.crawl.id]
        return [c for c in own if self.copy(c) is not None or c.status in (404, 410)]

    # -- intervals

    def unchanged(self) -> Sayings:
        """The intervals that `asof show` calls proven or confirmed, false if one moment of them
        was not."""
        found = Sayings()
        for seen in observe(self._crawled.gathered.everything).values():
            for each in graded(seen, self._crawled.trust):
                is_page = each.state is State.PRESENT and is_site(each.url)
                if each.since < each.confirmed_until and is_page:
                    found += Sayings(1, not self._held(each))
        return found

    def _held(self, interval: Validity) -> bool:
        copy = self.copy(self._capture(interval.evidence[0]))
        until = interval.confirmed_until
        stood = self.history.between(path_of(interval.url), interval.since, until)
        return all(content == copy for content in stood)

    def outcome(self, measurement: Measurement, sent: int, load: float) -> Outcome:
        pages, reference = measurement.pages, measurement.reference
        by_grade = {g: [page for page in pages if page.grade is g] for g in SAYING}
        plan = self._crawled.crawl.coherence_plan
        return Outcome(
            pages=len(pages),
            grades={g: self.sayings(own, reference) for g, own in by_grade.items()},
            coherent=sum(page.is_coherent for page in pages),
            alike=sum(page.is_coherent or page.grade is Grade.EQUIVALENT for page in pages),
            standing=sum(self.is_standing(page.url, reference) for page in pages),
            staying=sum(self.is_staying(page.url, reference) for page in pages),
            expected=None if plan is None else plan.expected,
            caught=not self._crawled.trust.trusts_validators,
            lied=self.site.lied,
            requests=len(self._crawled.log),
            sent=sent,
            unchanged=self.unchanged(),
            load=load,
            twice=measurement.mode is Mode.INDUCIBLE,
            wrong=tuple(self._words(page, reference) for page in self._wrong(by_grade, reference)),
        )

    def _wrong(
        self, by_grade: Mapping[Grade, Sequence[PageVerdict]], reference: Instant
    ) -> list[PageVerdict]:
        return [p for own in by_grade.values() for p in own if not self.is_true(p, reference)]

    def _words(self, page: PageVerdict, reference: Instant) -> str:
        """Of a false verdict: what was seen, and when it truly changed, in seconds."""

        def seconds(at: Instant) -> str:
            return f"{(at - reference) / SECOND:+.1f}"

        path = path_of(page.url)
        sides = [page.before, page.after]
        seen = " ".join(f"{each.proof.value}@{seconds(each.at)}" for each in sides if each)
        first = min(each.at for each in sides if each)
        changed = [seconds(v.at) for v in self.history.pages[path] if first < v.at]
        return f"{page.grade.value} {path}: seen {seen}; changed {' '.join(changed[:4])}"


def words(content: bytes) -> list[bytes]:
    """What a page says to a reader, without numbers: a rough measure, and not asof's own."""
    return _WORD.findall(_MARKUP.sub(b" ", content))


def is_site(url: str) -> bool:
    return path_of(url) != "/robots.txt"


def path_of(url: str) -> str:
    return unquote(urlsplit(url).path)
