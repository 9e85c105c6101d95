"""Pages with parts that change, of which it is known what stood where when; and the truth of them.

Put `tests` on the path and import it. Each page needs a style sheet and pictures, some of its own
and some of others; all change at rates of their own, some are dated and tagged, some are not. A
composed page is true if there was a moment at which all that it shows stood together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from asof.api import Archive
from asof.clock import SECOND, Instant
from asof.replay.choose import Choice, Policy, Verdict
from asof.testing import START, Response
from support.changing_web import DELAY, ChangingWeb
from support.history_site import ORIGIN, HistorySite, Server, Validators
from support.lying_web import Question
from support.page_history import History, Version, age, chance

# Changes in a lap, the time in which all is visited once; each path has one of them.
RATES = (0.0, 0.0, 0.1, 0.1, 0.3, 0.3, 1.0, 3.0)
OWN_PARTS = 4
# Laps between two crawls.
PAUSE = 0.5


@dataclass(frozen=True)
class Shown:
    """One page as somebody composes it: what each URL shows (None: nothing), and as of when."""

    moment: Instant
    contents: dict[str, bytes | None]
    choices: Sequence[Choice] = ()


@dataclass
class Score:
    """How many composed pages were so: `whole` has no hole, `together` is true of some moment,
    `then` of the moment said."""

    pages: int = 0
    together: int = 0
    then: int = 0
    whole_together: int = 0
    whole_then: int = 0
    parts: int = 0
    holes: int = 0
    false: int = 0  # parts that were not there at the moment said
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    wrong: Counter[Verdict] = field(default_factory=Counter)


class ComposedSite(HistorySite):
    """Its history, and what each page needs."""

    def __init__(self, seed: int, roots: int, laps: float, dated: float = 0.5) -> None:
        self.roots = [f"/page/{number:03}.html" for number in range(roots)]
        pool = [f"/part/{number:03}.svg" for number in range(2 * roots)]
        random = Random(seed)
        self.parts = {root: sorted(random.sample(pool, OWN_PARTS)) for root in self.roots}
        paths = ["/", "/site.css", "/more.css", "/logo.svg", *self.roots, *pool]
        self.lap = len(paths) * DELAY
        end = START + int(laps * self.lap * SECOND)
        pages = {path: tuple(self._versions(path, random, end)) for path in paths}
        self.dated = dated

        def silent(question: Question, response: Response) -> Response:
            """Some have neither date nor tag, some a date alone."""
            lot = chance("dated", seed, question.path)
            if lot < dated / 2:
                return response
            gone = ("Last-Modified", "ETag") if lot >= dated else ("ETag",)
            if response.status == 304 and lot >= dated:
                response = question.whole
            kept = tuple(each for each in response.headers if each[0] not in gone)
            return replace(response, headers=kept)

        server = Server(Validators("strong"), lies=(silent,))
        super().__init__(History(pages, START, end), server)

    def _versions(self, path: str, random: Random, end: Instant) -> Iterator[Version]:
        rate = 0.0 if path == "/" else random.choice(RATES)
        at, number = START, 0
        while at < end:
            dated = at if number else START - age(path)
            yield Version(at, self._content(path, number), dated)
            number += 1
            wait = random.expovariate(rate) * self.lap if rate else float("inf")
            if wait == float("inf"):
                return
            at += max(SECOND, int(wait * SECOND))

    def _content(self, path: str, number: int) -> bytes:
        told = f"{path} number {number}"
        if path == "/":
            return "".join(f'<a href="{root}">{root}</a>' for root in self.roots).encode()
        if path == "/site.css":
            return f'@import "/more.css"; b {{ background: url(/logo.svg) }} /* {told} */'.encode()
        if path in self.parts:
            images = "".join(f'<img src="{part}">' for part in self.parts[path])
            return f'<link rel="stylesheet" href="/site.css">{images}<p>{told}'.encode()
        return f"/* {told} */".encode()

    # -- the truth

    def stood(self, path: str, content: bytes) -> tuple[Instant, Instant]:
        """From when to when a content stood at a path; contents never come back."""
        versions = self.history.pages[path]
        place = next(k for k, version in enumerate(versions) if version.content == content)
        later = versions[place + 1].at if place + 1 < len(versions) else self.history.end + 1
        return versions[place].at, later - 1

    def score(self, into: Score, shown: Shown) -> None:
        """Judge one composed page."""
        spans, then, holes = [], [], 0
        for url, content in shown.contents.items():
            if content is None:
                holes += 1
                continue
            since, until = self.stood(urlsplit(url).path, content)
            spans.append((since, until))
            # A moment is said to the second.
            then.append(since <= shown.moment and shown.moment - SECOND < until)
        together = max(since for since, _ in spans) <= min(until for _, until in spans)
        into.pages += 1
        into.together += together
        into.then += all(then)
        into.whole_together += together and not holes
        into.whole_then += all(then) and not holes
        into.parts += len(shown.contents)
        into.holes += holes
        into.false += then.count(False)
        for choice in shown.choices:
            into.verdicts[choice.verdict] += 1
            content = shown.contents[choice.url]
            if content is not None:
                since, until = self.stood(urlsplit(choice.url).path, content)
                stood = since <= shown.moment and shown.moment - SECOND < until
                into.wrong[choice.verdict] += not stood


def crawled(site: ComposedSite, folder: Path, crawls: int) -> ChangingWeb:
    """The site, crawled so many times."""
    web = ChangingWeb(site, folder)
    web.train(crawls, site.lap * PAUSE)
    return web


def moments(
    site: ComposedSite, seed: int, each: int, until: Instant
) -> Iterator[tuple[str, Instant]]:
    """Pages and moments to ask for, from when all was captured once."""
    random, begin = Random(seed), START + int(site.lap * SECOND)
    for root in site.roots:
        for _ in range(each):
            at = random.randrange(begin, until)
            yield ORIGIN + root, at - at % SECOND + SECOND - 1


def composed(archive: Archive, url: str, at: Instant, policy: Policy) -> Shown:
    """As asof composes a page."""
    made = archive.composition(url, at, policy)
    contents = {
        choice.url: None
        if choice.capture is None
        else b"".join(archive.read(choice.capture).payload())
        for choice in made.resources
    }
    return Shown(made.shown, contents, made.resources)


def scores(
    site: ComposedSite, archive: Archive, asked: Iterable[tuple[str, Instant]]
) -> dict[Policy, Score]:
    found: dict[Policy, Score] = defaultdict(Score)
    for url, at in asked:
        for policy in Policy:
            site.score(found[policy], composed(archive, url, at, policy))
    return found
