"""What each capture shows of its URL: which content, in what state, how firmly.

The one reading of captures. Validity, mementos, replay, differences, coherence and its certificates
all ask here, so that no two of them can say different things of one record.

**Content.** A download shows its own. A revisit record shows that of the capture it refers to:

    by name     of the second that WARC-Refers-To-Date names, under the SURT key of the URL it names
                (http and https, with and without www, are one key)
    by digest   a capture that holds the payload declared, under that key, else of any URL
    by order    a 304 that names nothing is about the last answer below 400 (RFC 9111 section 4.3.4)

Of several captures of one second those are meant that have the revisit's digest, its very URL, a
payload, its ETag, its Last-Modified. If what is left shows different things nobody knows which is
meant: then the revisit confirms nothing that is known. A digest counts for more than a name.

**State** is what HTTP says, and no guess. A redirect to the front page or to a login is *elsewhere*
for everybody: two of them are the same redirect, and a certificate must follow from records alone.
That servers often mean "gone" or "not for you" by it is read from the words of a URL; it is at hand
as a `Hint`, by which a difference is named. A part (206) or a payload that was cut short shows a
page that is *present*, of which not all is known (`why`).

**Firmness.** Bytes that were downloaded show a content themselves, also where only a revisit record
was kept of them (identical payload: the crawler had them and digested them). A 304 shows only that
the server says so, by a validator:

    bytes    downloaded then, stored then or earlier
    strong   304 by a strong ETag: other bytes, other tag (RFC 9110 section 8.8.1)
    dated    304 with the Last-Modified of before, and no strong ETag: as good as the server's
             dates, section 8.8.2.2
    weak     304 by a weak ETag, or nobody knows by what: the same in substance
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from asof.catalog.referents import ANSWERS, Held, declared, is_304, key_of, names_nothing
from asof.clock import SECOND, Instant
from asof.model import Capture, State
from asof.warc.digest import same

if TYPE_CHECKING:
    from asof.catalog.captures import Catalog

# 451: taken away by law. It is gone for the reader, whatever the reason.
_GONE = frozenset((404, 410, 451))
_CONFIRMATION = 304
_LOGIN = re.compile(r"(?:^|/)(?:log-?in|sign-?in|sso|oauth2?|cas|shibboleth)(?:$|[/._-])", re.I)
_INDEX = re.compile(r"/(?:(?:index|default|home|start|main)(?:\.\w+)?)?\Z", re.I)

_Key = tuple[str, Instant, str]


class Firmness(IntEnum):
    """How an answer is known; more is firmer."""

    WEAK = 1
    DATED = 2
    STRONG = 3
    BYTES = 4


class Silence(StrEnum):
    """Why a capture does not show what is there, or not all of it."""

    NONE = ""
    FAILED = "failed-again"  # an error or a refusal
    PART = "truncated"
    FALSE = "false-validators"  # a 304 that its own validators contradict
    UNKNOWN = "not-comparable"  # a 304 about nothing, or nobody knows about what


class Hint(StrEnum):
    """What servers often mean by where a redirect leads."""

    NONE = ""
    FRONT_PAGE = "front-page"  # the page is gone: a soft 404
    LOGIN = "login"  # a refusal


@dataclass(frozen=True, slots=True)
class Observation:
    """One capture, and what it shows.

    `source` is the capture whose record holds the payload. `answer` is what the URL itself said:
    the capture, or what a 304 confirms; `status` and `redirect` are of that. `confirmed` is what a
    304 was asked about, where it is known; `name` is what it calls that, known or not: two that
    name the same confirm the same. `unclear`: several are called so, and they differ.
    """

    capture: Capture
    state: State
    firmness: Firmness
    content: str | None
    status: int | None
    redirect: str | None = None
    why: Silence = Silence.NONE
    source: Capture | None = None
    answer: Capture | None = None
    confirmed: Capture | None = None
    name: tuple[str, Instant] | None = None
    unclear: bool = False

    @property
    def at(self) -> Instant:
        """When what it shows was there: when the server was asked, or a cache had been before."""
        return shown_at(self.capture)

    @property
    def digest(self) -> str | None:
        """That of the payload, as the record declares it."""
        return declared(self.capture)

    @property
    def identity(self) -> str:
        """What it is told from others by: the content, as far as that is known."""
        return self.content or self.digest or f"unknown:{self.capture.record_id}"

    @property
    def is_bytes(self) -> bool:
        """Whether the bytes came then."""
        return self.firmness is Firmness.BYTES

    @property
    def confirms(self) -> bool:
        """Whether the server only said that nothing was modified."""
        return is_304(self.capture)


def observe(
    captures: Iterable[Capture],
    urls: Collection[str] | None = None,
    others: Catalog | Held | None = None,
) -> dict[str, list[Observation]]:
    """The observations of each URL, or of these, by time; each record counts once.

    Captures in any order, all there are under their keys; of other keys `others` is asked.
    """
    answers = sorted((c for c in captures if c.kind in ANSWERS), key=attrgetter("surt"))
    # Most revisits are about their own key: all others are put in order only if one is not.
    whole = others or Held(answers)
    found: dict[str, list[Observation]] = {}
    for _, together in groupby(answers, key=attrgetter("surt")):
        once = {(c.url, c.at, c.record_id): c for c in reversed(list(together))}
        # Of one instant downloads come before what may refer to them.
        own = sorted(once.values(), key=lambda c: (shown_at(c), is_304(c), c.record_id))
        reader = Reader(Held(own, whole))
        for capture in own:
            if urls is None or capture.url in urls:
                found.setdefault(capture.url, []).append(reader.read(capture))
    return found


def shown_at(capture: Capture) -> Instant:
    """The moment that a capture is evidence of: a cache may have had it for some time."""
    return capture.at - capture.age * SECOND if capture.age else capture.at


def state_of(status: int | None) -> State:
    """What a status says. A refusal or an error says nothing about the content."""
    if status is None or 200 <= status < 300:
        return State.PRESENT
    if 300 <= status < 400 and status != _CONFIRMATION:
        return State.ELSEWHERE
    return State.GONE if status in _GONE else State.SILENT


def hint_of(url: str, target: str | None) -> Hint:
    """What a redirect from one URL to another may mean."""
    try:
        before, after = urlsplit(url), urlsplit(target or url)
    except ValueError:
        return Hint.NONE
    if _LOGIN.search(after.path) and not _LOGIN.search(before.path):
        return Hint.LOGIN
    # /index.html -> / and old.example/ -> new.example/ are moves; /a/b.html -> / is a goodbye.
    was_front = _INDEX.fullmatch(before.path or "/") is not None
    to_front = after.path in ("", "/") and not after.query
    return Hint.FRONT_PAGE if to_front and not was_front else Hint.NONE


def is_strong(tag: str | None) -> bool:
    """Whether an ETag is a strong validator: quoted, not empty, without W/ (RFC 9110 8.8.3)."""
    return tag is not None and len(tag) > 2 and tag[0] == tag[-1] == '"'


# -- following revisits ----------------------------------------------------------------------------


class _Step(NamedTuple):
    """What a revisit refers to itself, which may be a revisit as well."""

    to: Capture | None = None
    named: bool = False  # by name or order, and not by digest alone
    unclear: bool = False


class _Way(NamedTuple):
    """Where a revisit leads: its first step, what the URL itself answered, and the payload."""

    step: _Step
    answer: Capture | None
    source: Capture | None


class Reader:
    """Reads captures one by one, by what is known of others."""

    def __init__(self, known: Held | Catalog) -> None:
        self._known = known
        # Ways that were gone before: chains of others may be long.
        self._ways: dict[_Key, _Way] = {}

    def read(self, capture: Capture) -> Observation:
        confirms = is_304(capture)
        if capture.kind == "revisit":
            way = self._way(capture)
        elif confirms:
            way = _Way(_Step(), None, capture)
        else:
            return _download(capture, capture)
        return _confirmation(capture, way) if confirms else _download(capture, way.source)

    def _way(self, revisit: Capture) -> _Way:
        """Revisits of revisits are followed; a circle leads to no payload."""
        met: dict[_Key, tuple[Capture, _Step]] = {}
        found: Capture | None = revisit
        answer: Capture | None = None
        source: Capture | None = None
        while found is not None and found.kind == "revisit":
            key = found.url, found.at, found.record_id
            if key in self._ways:
                _, answer, source = self._ways[key]
                break
            if key in met:
                ring = [each for each, _ in met.values()][list(met).index(key) :]
                answer = next((each for each in ring if not is_304(each)), None)
                break
            met[key] = found, (step := self._step(found))
            found = step.to
        else:
            answer = source = None if found is None or is_304(found) else found
        for key, (each, step) in reversed(met.items()):
            answer = answer if is_304(each) else each
            self._ways[key] = _Way(step, answer, source)
        return self._ways[revisit.url, revisit.at, revisit.record_id]

    def _step(self, revisit: Capture) -> _Step:
        digest, at, key = declared(revisit), revisit.refers_to_at, key_of(revisit)
        near: list[Capture] = []
        if at is not None:
            near = [c for c in self._known.within(key, at) if not _is_other(revisit, c)]
        elif names_nothing(revisit):
            near = list(self._known.before(revisit))
        meant = _meant(revisit, near)
        if meant is None and digest is not None:
            held = self._known.holding(digest, key, revisit.at)
            if held is not None:
                return _Step(held)
        return _Step(meant, True, bool(near) and meant is None)


def _is_other(revisit: Capture, capture: Capture) -> bool:
    """Whether a capture cannot be what a revisit refers to: itself, or other bytes than it had."""
    if capture.record_id == revisit.record_id:
        return True
    if is_304(revisit) or same(revisit.digest, capture.digest):
        return False
    return same(revisit.content, capture.content) is False


def _meant(revisit: Capture, near: list[Capture]) -> Capture | None:
    """Which of some captures a revisit means; None if they differ in what they show."""
    if len(near) == 1:
        return near[0]
    url, digest = revisit.refers_to_url or revisit.url, declared(revisit)
    if len(near) > 1 and digest is not None:
        near = [c for c in near if same(c.digest, digest)] or near
    if len(near) > 1:
        near = [c for c in near if c.url == url] or near
        near = [c for c in near if c.kind != "revisit" and not is_304(c)] or near
    if len(near) > 1 and revisit.etag:
        near = [c for c in near if c.etag and _opaque(c.etag) == _opaque(revisit.etag)] or near
    if len(near) > 1 and revisit.last_modified is not None:
        near = [c for c in near if c.last_modified == revisit.last_modified] or near
    shown = {
        (c.status, c.redirect, c.content or (c.digest, c.refers_to_url, c.refers_to_at))
        for c in near
    }
    return min(near, key=attrgetter("at", "record_id")) if len(shown) == 1 else None


# -- one observation -------------------------------------------------------------------------------


def _download(capture: Capture, source: Capture | None) -> Observation:
    # A revisit record need not hold the head of its answer.
    answer = source if source is not None and capture.status is None else capture
    state, why = state_of(answer.status), Silence.NONE
    if state is State.SILENT:
        why = Silence.FAILED
    elif state is not State.GONE and (_is_part(capture) or _is_part(source)):
        why = Silence.PART
    return Observation(
        capture, state, Firmness.BYTES, _content(capture, source), answer.status, answer.redirect,
        why, source, answer,
    )  # fmt: skip


def _confirmation(capture: Capture, way: _Way) -> Observation:
    step, answer, source = way
    content = None if answer is None else _content(answer, source)
    # The server was not asked by another URL's validators.
    is_own = step.named and step.to is not None and step.to.url == capture.url
    confirmed = step.to if is_own else None
    firmness = _firmness(capture, confirmed, is_sure=not names_nothing(capture))
    name = None
    if capture.refers_to_at is not None and not step.unclear:
        name = capture.refers_to_url or capture.url, capture.refers_to_at
    about = source if answer is None or answer.status is None else answer
    state = State.PRESENT if about is None else state_of(about.status)
    why = Silence.FAILED if state is State.SILENT else Silence.NONE
    is_absurd = any(
        each is not None and each.at > capture.at and (step.named or each.url == capture.url)
        for each in (step.to, source)
    )
    is_bare = content is None and name is None and declared(capture) is None
    if capture.kind != "revisit" or is_bare or is_absurd:  # not modified since what?
        why = Silence.UNKNOWN
    elif firmness is None:
        why = Silence.FALSE
    elif any(map(_is_part, (source, answer, confirmed))):
        why = Silence.PART
    if why not in (Silence.NONE, Silence.PART):
        state = State.SILENT
    is_silent = state is State.SILENT
    return Observation(
        capture, state, firmness or Firmness.WEAK, content,
        _CONFIRMATION if is_silent else None if about is None else about.status,
        None if is_silent or about is None else about.redirect,
        why, source, answer, confirmed, name, step.unclear,
    )  # fmt: skip


def _is_part(capture: Capture | None) -> bool:
    return capture is not None and capture.is_part


def _content(answer: Capture, source: Capture | None) -> str | None:
    """The content of an answer whose payload is that of another record.

    Of another URL the same bytes may mean something else: a packed file here, a packed page there;
    what they unpack to is not known then. Of one key they mean the same, though some tools leave
    headers out of a revisit.
    """
    if source is None:
        return answer.content
    if source.surt == answer.surt or answer.status is None:
        return source.content
    # Of a payload without codings the catalog knows the content by the digest alone.
    is_coded, was_coded = answer.content is None, source.content != source.digest
    is_alike = is_coded is was_coded and answer.digest is not None
    return source.content if is_alike else answer.content


def _firmness(capture: Capture, named: Capture | None, *, is_sure: bool) -> Firmness | None:
    """By what a 304 confirms; None if its own validators say that it does not.

    A server that compresses on the way may mark the tag for that. By date it confirms if it repeats
    the very date: servers also say 304 where the file is older now than it was (RFC 9110 section
    13.1.3), as when a copy was put back.
    """
    asked = capture.etag if named is None else named.etag
    tag = capture.etag
    if asked and tag and asked != tag and _opaque(asked) != _opaque(tag):
        return None
    if is_strong(asked) and (tag is None or is_strong(tag)) and (is_sure or tag):
        return Firmness.STRONG
    dated, said = (capture if named is None else named).last_modified, capture.last_modified
    if dated is None or said is None or not is_sure:
        return Firmness.WEAK
    if dated == said:
        return Firmness.DATED
    return Firmness.WEAK if asked else None


def _opaque(tag: str) -> str:
    """An ETag without what compressing servers do to it: W/ and the marks of codings."""
    bare = tag.removeprefix("W/").strip('"')
    for mark in ("-gzip", "--gzip", ";gzip", ":gzip", "-br", ";br", ":br", "-df", "-zstd"):
        bare = bare.removesuffix(mark)
    return bare
