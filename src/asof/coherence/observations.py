"""What each capture shows of its URL, and how firmly, for those who judge by it.

A capture is a *sight* of an answer. Bytes that were downloaded show it themselves, also where only
a revisit record was kept of them (identical payload: the crawler had them and digested them). A 304
shows only that the server says so, by a validator:

    bytes    downloaded then, stored then or earlier
    strong   304 by a strong ETag: other bytes, other tag (RFC 9110 section 8.8.1)
    dated    304 by Last-Modified alone: as good as the server's dates, section 8.8.2.2
    weak     304 by a weak ETag, or nobody knows by what: the same in substance

What shows nothing says why: errors of the server, payloads cut short, parts, a 304 about something
that is not known or that its own ETag contradicts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from itertools import groupby, takewhile
from operator import attrgetter
from urllib.parse import urlsplit

from asof.catalog.validity import ANSWERS, NOT_MODIFIED
from asof.change.digests import same
from asof.clock import SECOND, Instant
from asof.coherence.verdict import Reason
from asof.model import Capture, Evidence, Proof

_PAGES = ("http:", "https:", "ftp:")
# 451: taken away by law. It is gone for the reader, whatever the reason.
_GONE = frozenset((404, 410, 451))
_PART, _CONFIRMATION = 206, 304

_Key = tuple[str, Instant, str]


class State(StrEnum):
    """What an answer says is at a URL."""

    PRESENT = "present"
    ELSEWHERE = "elsewhere"  # a redirect
    GONE = "gone"
    SILENT = "silent"  # nothing that could be known of


class Firmness(IntEnum):
    """How an answer is known; more is firmer."""

    WEAK = 1
    DATED = 2
    STRONG = 3
    BYTES = 4


@dataclass(frozen=True, slots=True)
class Sight:
    """One capture, and what it shows. `why` is set where it shows nothing.

    `confirmed` is the capture that a 304 was asked about, where it is known; `name` is what the 304
    calls it by, known or not: two that name the same confirm the same.
    """

    capture: Capture
    state: State
    firmness: Firmness
    content: str | None
    digest: str | None
    redirect: str | None
    why: Reason = Reason.NONE
    confirmed: Capture | None = None
    name: tuple[str, Instant] | None = None

    @property
    def at(self) -> Instant:
        """When the server was asked."""
        return self.capture.at

    @property
    def is_bytes(self) -> bool:
        """Whether the bytes came then."""
        return self.firmness is Firmness.BYTES


def is_page(url: str) -> bool:
    """Whether a URL is something for readers: no robots.txt, no `dns:` or `urn:` of a crawler."""
    if not url.lower().startswith(_PAGES):
        return False
    return "/robots.txt" not in url or urlsplit(url).path != "/robots.txt"


def sights(captures: Iterable[Capture]) -> dict[str, list[Sight]]:
    """The sights of each URL by time, in any order of the captures; each record counts once."""
    by_url: dict[str, dict[tuple[Instant, str], Capture]] = defaultdict(dict)
    for capture in captures:
        if capture.kind in ANSWERS:
            by_url[capture.url].setdefault((capture.at, capture.record_id), capture)
    known = _Referred(list(found.values()) for found in by_url.values())
    found: dict[str, list[Sight]] = {}
    for url, own in by_url.items():
        seen: list[Sight] = []
        # Of one instant downloads come before what may refer to them.
        for capture in sorted(own.values(), key=lambda c: (c.at, _is_304(c), c.record_id)):
            seen.append(_sight(capture, known, seen))
        found[url] = seen
    return found


def alike(one: Sight, other: Sight, *, by_tag: bool = True) -> bool | None:
    """Whether two sights of a URL are of the same answer; None where that cannot be known.

    Pages that are gone are alike, whatever the notice says. Redirects are alike if they lead to the
    same place. Digests of different kinds say nothing about each other, but an equal strong ETag
    does, if it counts (`by_tag`).
    """
    if one.state is not other.state:
        return False
    if one.state is State.GONE:
        return True
    if one.state is State.ELSEWHERE and (one.redirect or other.redirect):
        return one.redirect == other.redirect and one.capture.status == other.capture.status
    known = same_bytes(one, other)
    if known is None and one.name is not None and one.name == other.name:
        return True
    tag = one.capture.etag
    if known is None and by_tag and is_strong(tag) and tag == other.capture.etag:
        return True
    return known


def same_bytes(one: Sight, other: Sight) -> bool | None:
    """Whether two sights are of the same content by digest; None where they cannot be compared."""
    if one.content is not None and other.content is not None:
        return same(one.content, other.content)
    if one.digest is not None and same(one.digest, other.digest):
        return True
    return None


def is_strong(tag: str | None) -> bool:
    """Whether an ETag is a strong validator: quoted, not empty, without W/ (RFC 9110 8.8.3)."""
    return tag is not None and len(tag) > 2 and tag[0] == tag[-1] == '"'


@dataclass(frozen=True, slots=True)
class Run:
    """Sights that follow each other with the same answer: one interval of validity.

    A `mixed` one has different answers of one instant, whose order nobody knows: it is like no
    other, and nothing is proven by it.
    """

    sights: tuple[Sight, ...]
    mixed: bool = False

    @property
    def since(self) -> Instant:
        """The first sight."""
        return self.sights[0].at

    @property
    def until(self) -> Instant:
        """The last."""
        return self.sights[-1].at

    @property
    def state(self) -> State:
        """What is there."""
        return self.sights[0].state

    def evidence(self, sight: Sight) -> Evidence:
        """What one of its sights is evidence of: of bytes seen before, or for the first time."""
        proof = Proof.SAME_DIGEST if sight.is_bytes else Proof.NOT_MODIFIED
        if sight.is_bytes and sight.capture.kind != "revisit":
            earlier = takewhile(lambda each: each is not sight, self.sights)
            if not any(each.is_bytes and same_bytes(each, sight) for each in earlier):
                proof = Proof.DOWNLOAD
        return Evidence(proof, sight.at, sight.capture.record_id)


def runs(seen: Iterable[Sight], *, by_tag: bool = True) -> list[Run]:
    """Sights of one URL, by time and none of them silent, as intervals.

    `by_tag` is whether equal strong ETags count where digests cannot be compared. A sight that
    cannot be compared at all does not part two that are the same.
    """
    found: list[list[Sight]] = []
    mixed: list[bool] = []

    def is_like(place: int, new: Sight) -> bool | None:
        """Whether the interval at a place, from the end, goes on with a sight."""
        if len(found) < -place or mixed[place]:
            return False
        return alike(found[place][-1], new, by_tag=by_tag)

    for _, group in groupby(seen, key=attrgetter("at")):
        together = list(group)
        new = together[0]
        likeness = [each is new or alike(new, each, by_tag=by_tag) for each in together]
        is_mixed = False in likeness
        if not is_mixed:  # what cannot be compared with another of the same instant is nothing new
            together = [each for each, like in zip(together, likeness, strict=True) if like]
            if is_like(-2, new) and is_like(-2, found[-1][0]) is None:
                found.pop()  # nothing is known of what lies between two that are the same
                mixed.pop()
        if not is_mixed and is_like(-1, new):
            found[-1].extend(together)
        else:
            found.append(together)
            mixed.append(is_mixed)
    return [Run(tuple(each), each_mixed) for each, each_mixed in zip(found, mixed, strict=True)]


# -- one sight -------------------------------------------------------------------------------------


def _sight(capture: Capture, known: _Referred, seen: Sequence[Sight]) -> Sight:
    if _is_304(capture):
        return _confirmation(capture, known, seen)
    source = known.content_of(capture)
    content = capture.content if source is None else source.content
    cut = capture.truncated or (source is not None and source.truncated)
    # A revisit record need not hold the head of its answer.
    answered = source if source is not None and capture.status is None else capture
    state = _state(answered.status)
    why = Reason.NONE
    if state is State.SILENT:
        why = Reason.TRUNCATED if answered.status == _PART else Reason.FAILED_AGAIN
    elif cut and state is not State.GONE:
        state, why = State.SILENT, Reason.TRUNCATED
    return Sight(capture, state, Firmness.BYTES, content, capture.digest, answered.redirect, why)


def _state(status: int | None) -> State:
    """What a status says. A refusal or an error says nothing about the content."""
    if status is None or (200 <= status < 300 and status != _PART):
        return State.PRESENT
    if 300 <= status < 400 and status != _CONFIRMATION:
        return State.ELSEWHERE
    return State.GONE if status in _GONE else State.SILENT


def _is_304(capture: Capture) -> bool:
    """A 304, also where it stands in the archive as if it were a page of its own."""
    return capture.profile == NOT_MODIFIED or capture.status == _CONFIRMATION


def _confirmation(capture: Capture, known: _Referred, seen: Sequence[Sight]) -> Sight:
    named, source = known.named(capture), known.content_of(capture)
    is_absurd = any(each is not None and each.at > capture.at for each in (named, source))
    if named is not None and named.url != capture.url:
        named = None  # the server was not asked by another URL's validators
    # Whoever filled in a content here may have guessed it: only what is found counts.
    content = None if source is None else source.content
    before = next((s for s in reversed(seen) if s.state is not State.SILENT), None)
    names_something = capture.refers_to_at is not None or capture.digest is not None
    if not names_something and before is not None:
        # A 304 that names nothing confirms what was seen last (RFC 9111 section 4.3.4).
        named, content = before.capture, before.content
    firmness = _firmness(capture, named, names_something)
    answered = source if capture.status == _CONFIRMATION else capture
    if answered is None and named is not None and not _is_304(named):
        answered = named
    state = State.PRESENT if answered is None else _state(answered.status)
    redirect = None if answered is None else answered.redirect
    why = Reason.NONE
    name = None
    if capture.refers_to_at is not None:
        name = capture.refers_to_url or capture.url, capture.refers_to_at
    is_bare = content is None and capture.digest is None and name is None
    if capture.kind != "revisit" or is_bare or is_absurd:
        why = Reason.NOT_COMPARABLE  # not modified since what?
    elif firmness is None:
        why = Reason.FALSE_VALIDATORS
    elif any(each is not None and each.truncated for each in (source, named)):
        why = Reason.TRUNCATED
    if why is not Reason.NONE:
        state = State.SILENT
    return Sight(
        capture,
        state,
        firmness or Firmness.WEAK,
        content,
        capture.digest,
        redirect,
        why,
        named,
        name,
    )


def _firmness(capture: Capture, named: Capture | None, is_sure: bool) -> Firmness | None:
    """By what a 304 confirms; None if its own validators say that it does not.

    With an ETag at hand the crawler asks by it, and the server must not look at the date then
    (RFC 9110 section 13.1.3). A server that compresses on the way may mark the tag for that.
    """
    asked = capture.etag if named is None else named.etag
    tag = capture.etag
    if asked and tag and _opaque(asked) != _opaque(tag):
        return None
    if asked:
        strong = is_strong(asked) and (tag is None or is_strong(tag)) and (is_sure or tag)
        return Firmness.STRONG if strong else Firmness.WEAK
    dated, said = (capture if named is None else named).last_modified, capture.last_modified
    if dated is not None and said is not None and said > dated:
        return None
    return Firmness.DATED if dated is not None and is_sure else Firmness.WEAK


def _opaque(tag: str) -> str:
    """An ETag without what compressing servers do to it: W/ and the marks of codings."""
    bare = tag.removeprefix("W/").strip('"')
    for mark in ("-gzip", "--gzip", ";gzip", ":gzip", "-br", ";br", ":br", "-df", "-zstd"):
        bare = bare.removesuffix(mark)
    return bare


# -- what revisits refer to ------------------------------------------------------------------------


class _Referred:
    """The captures that revisits name, or whose digest they declare."""

    def __init__(self, groups: Iterable[Sequence[Capture]]) -> None:
        captures = [capture for group in groups for capture in group]
        wanted = {self._name(c) for c in captures if c.refers_to_at is not None}
        digests = {c.digest for c in captures if c.kind == "revisit" and c.content is None}
        self._in_second: dict[tuple[str, Instant], list[Capture]] = defaultdict(list)
        self._with_digest: dict[tuple[str, str], Capture] = {}
        # Where the ways end that were gone before: chains of others may be long.
        self._followed: dict[_Key, Capture | None] = {}
        for capture in sorted(captures, key=attrgetter("at", "record_id")):
            key = capture.url, capture.at // SECOND
            if key in wanted:
                self._in_second[key].append(capture)
            held = capture.content is not None and not _is_304(capture)
            if held and capture.digest is not None and capture.digest in digests:
                self._with_digest.setdefault((capture.url, capture.digest), capture)

    @staticmethod
    def _name(revisit: Capture) -> tuple[str, Instant]:
        return revisit.refers_to_url or revisit.url, (revisit.refers_to_at or 0) // SECOND

    def named(self, revisit: Capture) -> Capture | None:
        """The capture that a revisit names by URL and date, which is often cut to seconds."""
        at = revisit.refers_to_at
        if at is None:
            return None
        near = [
            capture
            for capture in self._in_second.get(self._name(revisit), ())
            if (capture.at == at or at % SECOND == 0) and capture.record_id != revisit.record_id
        ]
        best = min(
            near, key=lambda c: (c.at != at, c.digest != revisit.digest, _is_304(c)), default=None
        )
        if best is None or best.at == at or best.digest == revisit.digest:
            return best
        # Several of one second: unless they are one content, nobody knows which is meant.
        return best if len({capture.content for capture in near}) == 1 else None

    def content_of(self, capture: Capture) -> Capture | None:
        """The capture whose content a revisit has. Revisits of revisits are followed."""
        if capture.kind != "revisit":
            return None
        met: dict[_Key, None] = {}
        found = self._step(capture)
        while found is not None and (found.content is None or _is_304(found)):
            key = found.url, found.at, found.record_id
            if key in met or key in self._followed:  # round in a circle, or a way that is known
                found = self._followed.get(key)
                break
            met[key] = None
            found = self._step(found)
        self._followed |= dict.fromkeys(met, found)
        return found

    def _step(self, revisit: Capture) -> Capture | None:
        step = self.named(revisit)
        if step is None and revisit.digest is not None:
            step = self._with_digest.get((revisit.refers_to_url or revisit.url, revisit.digest))
        return step
