"""The kinds of servers by which verdicts are judged, in five groups: what each says of its pages.

Put `tests` on the path and import it. Each is a small pure function of what was asked, the honest
answer and the history, over spans that are shares of a `lap`: the time that one visit to each page
takes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from zlib import crc32

from asof.clock import SECOND, Instant
from asof.testing import Response
from support.history_site import ORIGIN, Ask, Server, Validators, View, at_once
from support.lying_web import (
    Lie,
    Question,
    date_off,
    not_modified,
    not_modified_where,
    with_header,
)
from support.page_history import (
    at_rest,
    built_before,
    chance,
    coming_back,
    rolled_back,
    same_size_and_date,
)

HOUR = 3600 * SECOND
BOTH = Validators()
DATES = Validators("none")
TAGS = Validators("strong", dates=False)
NOTHING = Validators("none", dates=False)
NGINX = Validators("file", gzip=True, exact=True)


class Group(StrEnum):
    """The rows of the table of bars."""

    HONEST = "honest"
    FALSE = "false 304 or ETag"
    DATES = "dates that lag or roll back"
    CACHES = "caches, replicas"
    RETURNS = "A-B-A"


@dataclass(frozen=True, slots=True)
class Scene:
    """What a kind may depend on: seconds of a lap, and which run it is."""

    lap: float
    run: int = 1

    @property
    def ticks(self) -> Instant:
        return int(self.lap * SECOND)


@dataclass(frozen=True)
class Kind:
    """A kind of server. `takes` are the seconds that its answers take on average.

    `family`: it needs a synthetic history with such rates. `substance`: bytes always differ, so
    that its C is that with pages that differ in noise alone.
    """

    name: str
    group: Group
    build: Callable[[Scene], Server]
    takes: float = 0.0
    family: str = ""
    substance: bool = False


def _of(validators: Validators, *lies: Lie) -> Callable[[Scene], Server]:
    return lambda scene: Server(validators, lies=lies)


# -- honest ----------------------------------------------------------------------------------------


def skewed(scene: Scene) -> Server:
    """A clock that is off by hours, ahead or behind by run."""
    off = (3 if scene.run % 2 else -5) * HOUR
    return Server(BOTH, lies=(date_off(lambda _: off, "Date", "Last-Modified"),))


def cookies(question: Question, response: Response) -> Response:
    response = with_header(response, "Set-Cookie", f"session={question.number}; Path=/")
    return with_header(response, "Vary", "Cookie")


def in_languages(question: Question, response: Response) -> Response:
    """English unless another language is asked for."""
    wish = question.asked.get("accept-language", "en")[:2]
    if wish not in ("en", "*"):
        tag = f'"{wish}-{crc32(question.whole.body):x}"'
        if question.asked.get("if-none-match") == tag:
            response = replace(response, status=304, body=b"")
        else:
            body = f"<p lang={wish}>".encode() + question.whole.body
            response = replace(question.whole, body=body)
        response = with_header(response, "ETag", tag)
    return with_header(response, "Vary", "Accept-Language")


def failing(ask: Ask) -> View:
    """One answer in twenty is an error, or ends in its middle."""
    lot = chance("failing", ask.path, ask.number)
    if lot >= 0.05:
        return at_once(ask)
    return View(ask.at, ask.at, cut=lot < 0.02, status=None if lot < 0.02 else 503)


def _seconds(ask: Ask) -> float:
    return 3.0 + 17.0 * chance("slow", ask.path, ask.number)


def slow_start(ask: Ask) -> View:
    """Takes 3 to 20 seconds to say what was there when it was asked."""
    return View(ask.at, ask.at, late=_seconds(ask))


def slow_end(ask: Ask) -> View:
    """Takes 3 to 20 seconds, and says what is there then."""
    seconds = _seconds(ask)
    end = ask.at + int(seconds * SECOND)
    return View(end, end, late=seconds)


_NOISE = re.compile(rb'<p class="now">[^<]*</p><!-- [0-9a-f]+ --><i data-ad="[0-9a-f]+"></i>')


def noisy(question: Question, response: Response) -> Response:
    """A clock, a counter and the token of an advertisement in each page."""
    if response.status != 200:
        return response
    token = f"{crc32(f'{question.path} {question.number}'.encode()):08x}"
    hours, seconds = divmod(question.at // SECOND % 86_400, 3600)
    clock = f"{hours:02}:{seconds // 60:02}:{seconds % 60:02}"
    said = f'<p class="now">It is {clock}. You are visitor number {question.number}.</p>'
    noise = f'{said}<!-- {token} --><i data-ad="{token}"></i>'.encode()
    head, end, rest = response.body.rpartition(b"</body>")
    return replace(response, body=head + noise + end + rest if end else rest + noise)


def without_noise(content: bytes) -> bytes:
    return _NOISE.sub(b"", content)


# -- false -----------------------------------------------------------------------------------------


def is_unwatched(question: Question) -> bool:
    """Where no audit looked that went by a hash of the URL and by the second half of places."""
    by_lot = crc32(f"{ORIGIN}{question.path}".encode()) % 10 == 0
    return not by_lot and question.place < 0.5


# -- caches and replicas ---------------------------------------------------------------------------


def cached(scene: Scene, share: float) -> Server:
    """Others ask as well: each page is taken from its origin anew whenever its time is over."""
    ttl = max(SECOND, int(scene.ticks * share))

    def view(ask: Ask) -> View:
        phase = int(chance("phase", ask.path) * ttl)
        stored = (ask.at - phase) // ttl * ttl + phase
        return View(stored, stored, age=(ask.at - stored) // SECOND)

    return Server(BOTH, view)


def replicated(scene: Scene, number: int) -> Server:
    """Machines behind one name, which take turns; each is behind the one before."""
    behind = scene.ticks // 20

    def view(ask: Ask) -> View:
        return View(ask.at - ask.number % number * behind, ask.at)

    return Server(BOTH, view)


# -- dates, and contents that come back ------------------------------------------------------------


def lagging(validators: Validators, shortest: float, longest: float) -> Callable[[Scene], Server]:
    """Built so many laps before it appears: rsync -t, or a build that waits."""

    def build(scene: Scene) -> Server:
        span = shortest * scene.lap, longest * scene.lap
        return Server(validators, remake=lambda history: built_before(history, *span))

    return build


def _rolled_back(validators: Validators) -> Callable[[Scene], Server]:
    return lambda scene: Server(validators, remake=lambda h: rolled_back(h, scene.lap))


def _coming_back(validators: Validators) -> Callable[[Scene], Server]:
    return lambda scene: Server(validators, remake=lambda h: coming_back(h, scene.lap))


_LISTED = (
    Kind("strong", Group.HONEST, _of(TAGS)),
    Kind("weak", Group.HONEST, _of(Validators("weak", dates=False))),
    Kind("dates", Group.HONEST, _of(DATES)),
    Kind("both", Group.HONEST, _of(BOTH)),
    Kind("none", Group.HONEST, _of(NOTHING)),
    Kind("gzip", Group.HONEST, _of(NGINX)),
    Kind("gzip-at-rest", Group.HONEST, lambda scene: Server(NGINX, remake=at_rest)),
    Kind("skew", Group.HONEST, skewed),
    Kind("cookies", Group.HONEST, _of(BOTH, cookies)),
    Kind("language", Group.HONEST, _of(BOTH, in_languages)),
    Kind("failing", Group.HONEST, lambda scene: Server(BOTH, failing)),
    Kind("slow-start", Group.HONEST, lambda scene: Server(BOTH, slow_start), takes=11.5),
    Kind("slow-end", Group.HONEST, lambda scene: Server(BOTH, slow_end), takes=11.5),
    Kind(
        "noise", Group.HONEST, lambda scene: Server(NOTHING, lies=(noisy,), plain=without_noise),
        substance=True,
    ),
    Kind("lognormal", Group.HONEST, _of(BOTH), family="lognormal"),
    Kind("two-speed", Group.HONEST, _of(BOTH), family="two-speed"),
    Kind("304-always", Group.FALSE, _of(BOTH, not_modified(1.0))),
    Kind("304-tenth", Group.FALSE, _of(BOTH, not_modified(0.1))),
    Kind("periodic", Group.FALSE, _of(BOTH, not_modified_where(lambda q: q.number % 7 == 0))),
    Kind(
        "mtime-size", Group.FALSE,
        lambda scene: Server(Validators("file"), remake=same_size_and_date),
    ),
    Kind("sly", Group.FALSE, _of(TAGS, not_modified_where(is_unwatched))),
    Kind("sly-dated", Group.FALSE, _of(BOTH, not_modified_where(is_unwatched))),
    Kind("lag", Group.DATES, lagging(BOTH, 2.0, 100.0)),
    Kind("lag-no-tag", Group.DATES, lagging(DATES, 2.0, 100.0)),
    Kind("lag-short", Group.DATES, lagging(BOTH, 0.05, 1.0)),
    Kind("lag-short-no-tag", Group.DATES, lagging(DATES, 0.05, 1.0)),
    Kind("rollback", Group.DATES, _rolled_back(BOTH)),
    Kind("rollback-no-tag", Group.DATES, _rolled_back(DATES)),
    Kind("cache", Group.CACHES, lambda scene: cached(scene, 0.25)),
    Kind("cache-long", Group.CACHES, lambda scene: cached(scene, 1.5)),
    Kind("replicas-2", Group.CACHES, lambda scene: replicated(scene, 2)),
    Kind("replicas-3", Group.CACHES, lambda scene: replicated(scene, 3)),
    Kind("aba", Group.RETURNS, _coming_back(BOTH)),
    Kind("aba-dates", Group.RETURNS, _coming_back(DATES)),
    Kind("aba-undated", Group.RETURNS, _coming_back(TAGS)),
    Kind("aba-bare", Group.RETURNS, _coming_back(NOTHING)),
)  # fmt: skip

KINDS = {kind.name: kind for kind in _LISTED}
