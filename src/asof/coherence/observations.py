"""Observations of one URL that follow each other with the same answer: intervals, to judge by.

What a capture shows is read in asof.catalog.observe; here it is compared with others of its URL,
with more care than a history needs: what cannot be compared is neither the same nor another.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from operator import attrgetter
from typing import Protocol
from urllib.parse import urlsplit

from asof.catalog.observe import Observation, is_strong
from asof.clock import SECOND, Instant
from asof.model import Capture, Evidence, Proof, State
from asof.warc.digest import same


class Sights(Protocol):
    """What there is of each URL, by time: held, or read whenever it is asked for."""

    def items(self) -> Iterable[tuple[str, Sequence[Observation]]]: ...


_PAGES = ("http:", "https:", "ftp:")


def is_page(url: str) -> bool:
    """Whether a URL is something for readers: no robots.txt, no `dns:` or `urn:` of a crawler."""
    if not url.lower().startswith(_PAGES):
        return False
    return "/robots.txt" not in url or urlsplit(url).path != "/robots.txt"


def alike(one: Observation, other: Observation, *, by_tag: bool = True) -> bool | None:
    """Whether two observations of a URL are of the same answer; None where that cannot be known.

    Pages that are gone are alike, whatever the notice says. Redirects are alike if they lead to the
    same place. Digests of different kinds say nothing about each other, but an equal strong ETag
    does, if it counts (`by_tag`).
    """
    if one.state is not other.state:
        return False
    if one.state is State.GONE:
        return True
    if one.state is State.ELSEWHERE and (one.redirect or other.redirect):
        return one.redirect == other.redirect and one.status == other.status
    known, tag = same_bytes(one, other), one.capture.etag
    if known is None and one.name is not None and one.name == other.name:
        return True
    if known is None and by_tag and is_strong(tag) and tag == other.capture.etag:
        return True
    return known


def rewritten(one: Observation, other: Observation, skew: int | None) -> bool:
    """Whether the server dates what it sent later to after the earlier look, equal as it may be.

    Then something else may have been there in between (A-B-A). `skew` is how far its clock is
    ahead; where that is not known a later date than the one before will do. Pages that are dated
    to the moment of each answer say nothing.
    """
    before, after = _modified(one), _modified(other)
    if after is None or (before is not None and after <= before):
        return False
    if before is not None and all(_is_now(each, skew) for each in (one, other)):
        return False
    if skew is None:
        return before is not None
    return after - skew + SECOND > one.at


def asked_by(sight: Observation) -> Capture:
    """Whose validators a 304 was given by: those of what it is about, else it repeats its own."""
    return sight.capture if sight.confirmed is None else sight.confirmed


def _modified(sight: Observation) -> Instant | None:
    said = sight.capture.last_modified
    return asked_by(sight).last_modified if said is None else said


def _is_now(sight: Observation, skew: int | None) -> bool:
    modified = _modified(sight)
    return modified is not None and modified - (skew or 0) > sight.at - SECOND


def same_bytes(one: Observation, other: Observation) -> bool | None:
    """Whether two are of the same content by digest; None where they cannot be compared."""
    if one.content is not None and other.content is not None:
        return same(one.content, other.content)
    return True if one.digest is not None and same(one.digest, other.digest) else None


@dataclass(frozen=True, slots=True)
class SameAnswers:
    """Observations that follow each other with the same answer: one interval of validity.

    A `mixed` one has different answers of one instant, whose order nobody knows: it is like no
    other, and nothing is proven by it.
    """

    seen: tuple[Observation, ...]
    mixed: bool = False

    @property
    def since(self) -> Instant:
        return self.seen[0].at

    @property
    def until(self) -> Instant:
        return self.seen[-1].at

    @property
    def state(self) -> State:
        return self.seen[0].state

    def evidence(self, sight: Observation) -> Evidence:
        """What one of them is evidence of: of bytes seen before, or for the first time."""
        proof = Proof.SAME_DIGEST if sight.is_bytes else Proof.NOT_MODIFIED
        if sight.is_bytes and sight.capture.kind != "revisit":
            earlier = takewhile(lambda each: each is not sight, self.seen)
            if not any(each.is_bytes and same_bytes(each, sight) for each in earlier):
                proof = Proof.DOWNLOAD
        at = sight.capture.at
        return Evidence(proof, at, sight.capture.record_id, age=at - sight.at)


def runs(
    seen: Iterable[Observation], *, by_tag: bool = True, skew: int | None = None
) -> list[SameAnswers]:
    """Observations of one URL, by time and none of them silent, as intervals.

    `by_tag` is whether equal strong ETags count where digests cannot be compared. A sight that
    cannot be compared at all does not part two that are the same; one that was `rewritten` does.
    """
    found: list[list[Observation]] = []
    mixed: list[bool] = []

    def is_like(place: int, new: Observation) -> bool | None:
        """Whether the interval at a place, from the end, goes on with a sight."""
        if len(found) < -place or mixed[place]:
            return False
        last = found[place][-1]
        return alike(last, new, by_tag=by_tag) if not rewritten(last, new, skew) else False

    for _, group in groupby(seen, key=attrgetter("at")):
        together = list(group)
        new, is_mixed = together[0], False
        if len(together) > 1:
            likeness = [each is new or alike(new, each, by_tag=by_tag) for each in together]
            is_mixed = False in likeness
        if not is_mixed:
            if len(together) > 1:  # what cannot be compared with another of its instant is not new
                together = [each for each, like in zip(together, likeness, strict=True) if like]
            if len(found) > 1 and is_like(-2, new) and is_like(-2, found[-1][0]) is None:
                found.pop()  # nothing is known of what lies between two that are the same
                mixed.pop()
        if not is_mixed and is_like(-1, new):
            found[-1].extend(together)
        else:
            found.append(together)
            mixed.append(is_mixed)
    return list(map(SameAnswers, map(tuple, found), mixed))
