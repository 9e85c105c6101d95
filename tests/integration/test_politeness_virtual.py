"""Politeness on a virtual clock: whole crawls of made-up webs, judged by who was asked when.

The law (Naumann 2011): a host is never asked twice at once, and from the end
of one answer to the next request to it pass at least the delay, `delay_factor` times as long as the
answer took, the Crawl-delay that its robots.txt has named, and the Retry-After of a 429 or 503,
the last three up to a cap. `run_crawl` is the real one, records, database and all; only its client
is replaced by one that opens no socket and takes as long as it is told.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.clock import SECOND, http_date
from asof.crawl import CrawlRequest
from asof.crawl import run as crawl_run
from asof.crawl.run import CrawlOutcome
from asof.model import Body, Exchange, Failure, Headers, Timings
from asof.scope.robots import MAX_BYTES
from asof.testing import SimulatedClock

# Microseconds are cut off where instants become seconds and back.
SLACK = 0.000_01
CAP = 60.0


@dataclass(frozen=True)
class Answer:
    """What a URL answers, `takes` seconds after it was asked. Status 0: nothing, for a reason."""

    status: int = 200
    body: str = ""
    takes: float = 0.1
    headers: Headers = ()
    reason: str = "reset"
    retry_after: float | None = None
    as_date: bool = False


@dataclass(frozen=True)
class Asked:
    """One request, as the web saw it."""

    url: str
    start: float
    end: float
    answer: Answer

    @property
    def host(self) -> str:
        """http and https of a name are one host."""
        return urlsplit(self.url).netloc

    @property
    def origin(self) -> str:
        """But each has a robots.txt of its own."""
        return self.url.rpartition("/")[0]

    @property
    def is_robots(self) -> bool:
        """Whether this was the question for the rules."""
        return self.url.endswith("/robots.txt")


@dataclass
class Web:
    """Answers by URL, in turn where there are several; a client that notes every request."""

    answers: dict[str, list[Answer]]
    clock: SimulatedClock = field(default_factory=lambda: SimulatedClock(virtual=True))
    asked: list[Asked] = field(default_factory=list)
    asking: set[str] = field(default_factory=set)
    parallel: list[str] = field(default_factory=list)

    async def fetch(
        self, url: str, headers: Headers = (), judge: object = None
    ) -> Exchange | Failure:
        """Take the time of the next answer of a URL, then give it."""
        here = self.answers.get(url, [Answer(404)])
        answer = here.pop(0) if len(here) > 1 else here[0]
        start, started = self.clock.monotonic(), self.clock.now()
        host = urlsplit(url).netloc
        if host in self.asking:
            self.parallel.append(url)
        self.asking.add(host)
        await self.clock.sleep(answer.takes)
        self.asking.discard(host)
        self.asked.append(Asked(url, start, self.clock.monotonic(), answer))
        if not answer.status:
            return Failure(url, answer.reason, "as told", started, transient=True)
        return self._exchange(url, answer, started)

    async def close(self) -> None:
        """There is nothing to end."""

    def _exchange(self, url: str, answer: Answer, started: int) -> Exchange:
        body = answer.body.encode()
        fields = [("Content-Length", str(len(body))), *answer.headers]
        fields.append(("Content-Type", "text/plain" if "robots.txt" in url else "text/html"))
        if answer.retry_after is not None:
            value = f"{answer.retry_after:.0f}"
            if answer.as_date:
                value = http_date(started + int(answer.retry_after * SECOND))
            fields.append(("Retry-After", value))
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
        head = f"HTTP/1.1 {answer.status} So\r\n{lines}\r\n".encode()
        took = int(answer.takes * SECOND)
        return Exchange(
            url, f"GET {url} HTTP/1.1\r\n\r\n".encode(), head, Body(len(body), body), answer.status,
            tuple(fields), started, Timings(0, took, took),
            hashlib.sha256(body).digest(), peer="192.0.2.7",
        )  # fmt: skip


def crawl(web: Web, seeds: list[str], folder: Path, **options: Any) -> CrawlOutcome:
    """A whole crawl of that web on its clock."""
    request = CrawlRequest(folder / "archive", tuple(seeds), {"time_limit": 10**7, **options})
    with ExitStack() as replaced:
        replaced.enter_context(patch.object(crawl_run, "HttpClient", lambda *given: web))
        loop = partial(web.clock._exact_loop, 0.0)
        replaced.enter_context(patch.object(crawl_run, "_new_loop", loop))
        return crawl_run.run_crawl(request, clock=web.clock)


def breaches(web: Web, delay: float, factor: float = 1.0) -> list[str]:
    """Every request that came too early, by how much and after what."""
    found = [f"{url}: two at once" for url in web.parallel]
    last: dict[str, Asked] = {}
    wishes: dict[str, float] = {}
    for asked in sorted(web.asked, key=lambda each: (each.start, each.end)):
        before = last.get(asked.host)
        if before is not None:
            # Whether somebody has read it is sure when a page was asked for after it.
            wish = 0.0 if before.is_robots else wishes.get(before.origin, 0.0)
            need = needed(before, delay, factor, wish)
            gap = asked.start - before.end
            if gap < need - SLACK:
                found.append(f"{asked.url}: {gap:.3f} s after {before.url}, not {need:.3f} s")
        last[asked.host] = asked
        if asked.is_robots:
            named = asked.answer.body.partition("Crawl-delay:")[2]
            wishes[asked.origin] = float(named or 0)
    return found


def needed(before: Asked, delay: float, factor: float, wish: float) -> float:
    """The seconds that a host is to be left alone after an answer."""
    took = before.end - before.start
    need = max(delay, min(CAP, factor * took) if delay else 0.0, min(CAP, wish))
    patience = before.answer.retry_after
    if before.answer.status in (429, 503) and patience is not None:
        # A date has whole seconds, and says when the answer was begun.
        patience -= (took + 1) * before.answer.as_date
        need = max(need, min(CAP, patience))
    return need


def links(*urls: str) -> str:
    return "".join(f'<a href="{url}">x</a>' for url in urls)


def robots(delay: float | None, **more: Any) -> Answer:
    """Rules that allow all."""
    wish = "" if delay is None else f"Crawl-delay: {delay}\n"
    return Answer(body=f"User-agent: *\nDisallow:\n{wish}", **more)


# -- The law, over any web ------------------------------------------------------------------------

HOSTS = [f"http{s}://{name}.example" for name in ("a", "b", "c") for s in ("", "s")]
PAGES = [f"{host}/{no}" for host in HOSTS for no in range(3)]
SECONDS = [0.0, 0.05, 0.7, 3.0]
PATIENCE = [None, 0.0, 2.0, 30.0, 90.0]


class Maker:
    """Webs by chance; the number says all."""

    def __init__(self, number: int) -> None:
        self._chance = random.Random(number)
        self.one_of = self._chance.choice

    def web(self) -> Web:
        """Six origins of three names, with three pages each; every page may change its mind."""
        answers = {url: [self.page() for _ in range(self.one_of((1, 2)))] for url in PAGES}
        return Web(answers | {f"{host}/robots.txt": self.rules() for host in HOSTS})

    def page(self) -> Answer:
        return Answer(
            self.one_of([200, 200, 200, 404, 429, 500, 503, 0]),
            links(*self._chance.sample(PAGES, self.one_of(range(7)))),
            self.one_of(SECONDS),
            reason=self.one_of(["reset", "timeout", "dns"]),
            retry_after=self.one_of(PATIENCE),
            as_date=self.one_of([True, False]),
        )

    def rules(self) -> list[Answer]:
        """Rules, maybe not at the first time; none at all; or those of somebody else."""
        kind, takes = self.one_of(["rules", "late", "none", "elsewhere"]), self.one_of(SECONDS)
        final = robots(self.one_of([None, 0.2, 5.0, 500.0]), takes=takes)
        if kind == "late":
            status = self.one_of([500, 503, 0])
            return [Answer(status, takes=takes, retry_after=self.one_of(PATIENCE)), final]
        if kind == "none":
            status = self.one_of([404, 500, 503, 429, 0])
            return [Answer(status, takes=takes, retry_after=self.one_of(PATIENCE))]
        place = f"{self.one_of(HOSTS)}/robots.txt"
        moved = Answer(302, takes=takes, headers=(("Location", place),))
        return [final if kind == "rules" else moved]


@given(st.integers(0, 1 << 32))
def test_no_host_is_asked_inside_its_delay_or_twice_at_once(number: int) -> None:
    """Whatever servers, robots.txt and failures do, at any delay, factor and concurrency."""
    maker = Maker(number)
    web, one_of = maker.web(), maker.one_of
    seeds = list(dict.fromkeys(f"{one_of(HOSTS)}/0" for _ in range(4)))
    delay, factor = one_of([0.0, 0.5, 1.0, 10.0]), one_of([0.0, 1.0, 3.0])
    with TemporaryDirectory() as folder:
        outcome = crawl(
            web, seeds, Path(folder), delay=delay, delay_factor=factor, scope="surt:example,",
            concurrency=one_of([1, 2, 128]), retry_delay=one_of([0.0, 2.0]),
        )  # fmt: skip
    assert outcome.summary.queued == 0
    assert breaches(web, delay, factor) == []


# -- Case by case ---------------------------------------------------------------------------------


def gaps(web: Web, host: str) -> list[float]:
    """Seconds between an answer's end and the next request to the same host."""
    mine = sorted((each for each in web.asked if each.host == host), key=lambda each: each.start)
    return [after.start - before.end for before, after in pairwise(mine)]


A, B = "http://a.example", "http://b.example"


def web_of(**answers: list[Answer] | Answer) -> Web:
    """A web of pages `a_robots`, `a_0`, `b_1` ...; `a_0` is linked to what is named after it."""
    found: dict[str, list[Answer]] = {}
    for name, each in answers.items():
        host, _, page = name.partition("_")
        path = "robots.txt" if page == "robots" else page
        found[f"http://{host}.example/{path}"] = each if isinstance(each, list) else [each]
    return Web(found)


def test_a_plain_delay(tmp_path: Path) -> None:
    """Ten seconds from the end of each answer, robots.txt included; not much longer either."""
    web = web_of(a_0=Answer(body=links("/1", "/2", "/3")), a_1=Answer(), a_2=Answer(), a_3=Answer())
    crawl(web, [f"{A}/0"], tmp_path, delay=10.0, delay_factor=0.0)
    assert len(web.asked) == 5
    assert gaps(web, "a.example") == pytest.approx([10.0] * 4, abs=0.01)


def test_a_slow_server_is_asked_less_often(tmp_path: Path) -> None:
    """The adaptive delay: factor times as long as the last answer took, up to a minute."""
    web = web_of(
        a_0=Answer(body=links("/1", "/2", "/3"), takes=4), a_1=Answer(takes=0.1),
        a_2=Answer(takes=500), a_3=Answer(),
    )  # fmt: skip
    crawl(web, [f"{A}/0"], tmp_path, delay=1.0, delay_factor=2.0)
    assert gaps(web, "a.example") == pytest.approx([1.0, 8.0, 1.0, 60.0], abs=0.01)


def test_a_crawl_delay_is_kept_up_to_a_minute(tmp_path: Path) -> None:
    """From the answer on that named it."""
    for wish, kept in ((7, 7.0), (0.1, 1.0), (900, 60.0)):
        web = web_of(a_robots=robots(wish), a_0=Answer(body=links("/1")), a_1=Answer())
        crawl(web, [f"{A}/0"], tmp_path / str(wish), delay=1.0)
        assert gaps(web, "a.example") == pytest.approx([kept] * 2, abs=0.01)


def test_the_log_says_which_robots_txt_was_too_long_to_be_read(tmp_path: Path) -> None:
    long = Answer(body="User-agent: *\nDisallow: /1\n" + "#" * MAX_BYTES)
    web = web_of(a_robots=long, a_0=Answer(body=links("/1", f"{B}/0")), a_1=Answer(), b_0=Answer())
    crawl(web, [f"{A}/0", f"{B}/0"], tmp_path)
    [log] = tmp_path.glob("**/logs/*.jsonl")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    cut = {event["url"]: event.get("cut") for event in events if event["event"] == "robots"}
    assert cut == {f"{A}/robots.txt": True, f"{B}/robots.txt": None}
    assert f"{A}/1" not in [asked.url for asked in web.asked]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("as_date", [True, False], ids=["date", "seconds"])
def test_retry_after_leaves_the_whole_host_alone(
    tmp_path: Path, status: int, as_date: bool
) -> None:
    """Also its other pages; and what was refused is tried again afterwards."""
    busy = Answer(status, retry_after=40, as_date=as_date)
    web = web_of(
        a_0=Answer(body=links("/1", "/2")), a_1=[busy, Answer()], a_2=Answer(), b_0=Answer()
    )
    crawl(web, [f"{A}/0", f"{B}/0"], tmp_path, delay=1.0)
    assert [each.url for each in web.asked if each.url.endswith("/1")] == [f"{A}/1"] * 2
    (gap,) = [gap for gap in gaps(web, "a.example") if gap > 2]
    assert gap >= 38.9
    assert breaches(web, 1.0) == []


@pytest.mark.parametrize("status", [500, 503, 0])
def test_a_robots_txt_that_fails_is_not_asked_for_again_inside_the_delay(
    tmp_path: Path, status: int
) -> None:
    """Its retries are requests to the host like any others."""
    web = web_of(a_robots=[Answer(status), Answer(status), robots(None)], a_0=Answer())
    crawl(web, [f"{A}/0"], tmp_path, delay=30.0)
    assert len(web.asked) >= 3
    assert breaches(web, 30.0) == []


def test_retry_after_of_robots_txt(tmp_path: Path) -> None:
    """A host that asks for patience there gets it."""
    busy = Answer(503, retry_after=45)
    web = web_of(a_robots=[busy, robots(None)], a_0=Answer())
    crawl(web, [f"{A}/0"], tmp_path, delay=1.0)
    assert breaches(web, 1.0) == []
    assert f"{A}/0" in [each.url for each in web.asked]


def test_robots_txt_that_has_moved_on_its_host(tmp_path: Path) -> None:
    """The way to it is two requests, with all that lies between two requests."""
    moved = Answer(302, takes=5, headers=(("Location", f"{A}/rules.txt"),))
    web = web_of(a_robots=moved, a_0=Answer())
    web.answers[f"{A}/rules.txt"] = [robots(None, takes=7)]
    crawl(web, [f"{A}/0"], tmp_path, delay=1.0)
    assert len(web.asked) == 3
    assert breaches(web, 1.0) == []


def test_robots_txt_that_has_moved_to_another_host(tmp_path: Path) -> None:
    """That host is asked in its turn, and left alone afterwards for as long as it wants to be."""
    away = Answer(302, takes=50, headers=(("Location", f"{B}/robots.txt"),))
    web = web_of(
        a_robots=Answer(404), a_0=Answer(body=links(f"{B}/1"), takes=51), b_robots=robots(20),
        b_0=Answer(), b_1=Answer(), c_robots=away, c_0=Answer(),
    )  # fmt: skip
    seeds = [f"{A}/0", f"{B}/0", "http://c.example/0"]
    crawl(web, seeds, tmp_path, delay=1.0)
    assert len([each for each in web.asked if each.url == f"{B}/robots.txt"]) == 2
    assert {f"{B}/1", "http://c.example/0"} <= {each.url for each in web.asked}
    assert breaches(web, 1.0) == []


def test_a_crawl_delay_that_was_learnt_on_an_errand(tmp_path: Path) -> None:
    """It was asked for since another host's robots.txt redirects there; the wish is known then."""
    away = Answer(302, headers=(("Location", f"{B}/robots.txt"),))
    web = web_of(a_robots=away, a_0=Answer(body=links(f"{B}/0")), b_robots=robots(20), b_0=Answer())
    crawl(web, [f"{A}/0"], tmp_path, delay=1.0, scope="surt:example,")
    assert f"{B}/0" in [each.url for each in web.asked]
    assert min(gaps(web, "b.example")) >= 20 - SLACK


def test_http_and_https_of_a_name_are_one_host(tmp_path: Path) -> None:
    """A dead http does not free the way for https at once: it is the same server."""
    dead = [Answer(0, reason="timeout", takes=2)]
    web = Web({f"{A}/robots.txt": dead, f"{A}/0": dead, "https://a.example/0": [Answer()]})
    crawl(web, [f"{A}/0", "https://a.example/0"], tmp_path, delay=15.0, retries=1)
    assert "https://a.example/0" in [each.url for each in web.asked]
    assert breaches(web, 15.0) == []


def test_failures_are_answers_too(tmp_path: Path) -> None:
    """After a reset or a time-out the host is left alone as after a page."""
    dead = Answer(0, reason="timeout", takes=6)
    web = web_of(a_0=Answer(body=links("/1", "/2", "/3")), a_1=dead, a_2=dead, a_3=Answer())
    crawl(web, [f"{A}/0"], tmp_path, delay=2.0, retry_delay=0.0)
    assert len([each for each in web.asked if each.answer.status == 0]) >= 4
    assert breaches(web, 2.0) == []


def test_many_hosts_wait_side_by_side(tmp_path: Path) -> None:
    """300 hosts, one of them very slow: the rest is done after its own delays, not after its."""
    answers: dict[str, list[Answer]] = {}
    seeds = []
    for number in range(300):
        host = f"http://h{number}.example"
        seeds.append(f"{host}/0")
        answers[f"{host}/0"] = [Answer(body=links("/1", "/2", "/3"))]
        answers |= {f"{host}/{n}": [Answer()] for n in (1, 2, 3)}
    answers["http://h7.example/0"] = [Answer(takes=1000)]
    web = Web(answers)
    crawl(web, seeds, tmp_path, delay=5.0, concurrency=300)
    assert breaches(web, 5.0) == []
    ends: dict[str, float] = defaultdict(float)
    for each in web.asked:
        ends[each.host] = max(ends[each.host], each.end)
    slow = ends.pop("h7.example")
    assert len(ends) == 299
    # Five requests of 0.1 s with four delays of 5 s between; commits come once a second.
    assert max(ends.values()) <= 4 * 5 + 5 * 0.1 + 3
    assert slow >= 1000


def test_as_many_at_once_as_allowed(tmp_path: Path) -> None:
    """--concurrency is kept, and used: four hosts at a time."""
    seeds = [f"http://h{number}.example/" for number in range(40)]
    web = Web({seed: [Answer(takes=1)] for seed in seeds})
    crawl(web, seeds, tmp_path, delay=1.0, concurrency=4, robots="ignore")
    busy = [sum(other.start <= each.start < other.end for other in web.asked) for each in web.asked]
    assert max(busy) == 4
    assert max(each.end for each in web.asked) <= 10 + 3


@pytest.mark.parametrize("other", ["https://a.example", "http://www.a.example"])
def test_every_origin_has_rules_of_its_own(tmp_path: Path, other: str) -> None:
    """RFC 9309 section 2.3: robots.txt is asked for at each scheme and authority, and obeyed there.

    The archive sorts them under one key; that must not make the rules of one those of the other.
    """
    forbidden = Answer(body="User-agent: *\nDisallow: /\n")
    web = Web(
        {
            f"{A}/robots.txt": [Answer(404)], f"{A}/0": [Answer(body=links(f"{other}/1"), takes=9)],
            f"{other}/robots.txt": [forbidden], f"{other}/1": [Answer()],
        }
    )  # fmt: skip
    outcome = crawl(web, [f"{A}/0"], tmp_path, delay=1.0)
    asked = [each.url for each in web.asked]
    assert f"{other}/robots.txt" in asked
    assert f"{other}/1" not in asked
    assert outcome.summary.reasons == {"robots.txt": 1}
