"""From captures to validity intervals: how long a URL is known to have had one content.

Captures of one URL that follow each other with the same answer (status, content and, for a
redirect, where it leads: bodies of redirects are often equal when their targets are not) merge
into one interval. A revisit confirms the content of the capture it refers to.

What a server says about the past is evidence of another kind and stays apart, as `claimed_since`.
Of several Last-Modified values for one content the latest is taken. Each says "unchanged since
then", so the latest follows from every one of them: it is true if any of them is. Dropped are
claims that the archive contradicts: one after the first download of that content, and one before
the last sight of another content (seed 000 calls Last-Modified a claim to rely on with care).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from asof.clock import SECOND, Instant
from asof.model import Capture, Evidence, Proof, Validity

# Kinds of captures that are what a server answered. Metadata speaks about an answer.
ANSWERS = ("response", "revisit", "resource")
NOT_MODIFIED = "server-not-modified"


class _Answer(NamedTuple):
    """What makes two captures the same."""

    status: int | None
    content: str
    redirect: str | None


class _Sight(NamedTuple):
    capture: Capture
    answer: _Answer


def validities(captures: Iterable[Capture]) -> list[Validity]:
    """The intervals that the captures prove, ordered by URL and time.

    Captures may come in any order and of several URLs. Two captures of one instant with different
    contents (dates of whole seconds allow that) make two intervals that share that instant.
    """
    by_url: dict[str, list[Capture]] = defaultdict(list)
    for capture in captures:
        if capture.kind in ANSWERS:
            by_url[capture.url].append(capture)
    known = _Referred(capture for group in by_url.values() for capture in group)
    found: list[Validity] = []
    for url in sorted(by_url):
        ordered = sorted(by_url[url], key=attrgetter("at", "record_id"))
        found.extend(_intervals(url, _sights(ordered, known)))
    return found


class _Referred:
    """The captures that revisits can refer to, by URL and time and by digest."""

    def __init__(self, captures: Iterable[Capture]) -> None:
        self._in_second: dict[tuple[str, Instant], list[Capture]] = defaultdict(list)
        self._with_digest: dict[tuple[str, str], Capture] = {}
        # Where the ways end that were gone before: chains of others may be long.
        self._followed: dict[tuple[str, Instant, str], Capture | None] = {}
        # Captures that hold a content before those that only refer to one.
        for capture in sorted(captures, key=lambda c: (c.content is None, c.at, c.record_id)):
            self._in_second[capture.url, capture.at // SECOND].append(capture)
            if capture.digest is not None and capture.content is not None:
                self._with_digest.setdefault((capture.url, capture.digest), capture)

    def by(self, revisit: Capture) -> Capture | None:
        """The capture whose content a revisit confirms. Revisits of revisits are followed."""
        met: dict[tuple[str, Instant, str], None] = {}
        found: Capture | None = revisit
        while found is not None and found.content is None:
            key = found.url, found.at, found.record_id
            if key in met or key in self._followed:  # round in a circle, or a way that is known
                found = self._followed.get(key)
                break
            met[key] = None
            found = self._step(found)
        self._followed |= dict.fromkeys(met, found)
        return found

    def _step(self, revisit: Capture) -> Capture | None:
        url, at = revisit.refers_to_url or revisit.url, revisit.refers_to_at
        if at is not None:
            # WARC-Refers-To-Date is often cut to seconds where WARC-Date is not.
            near = [
                capture
                for capture in self._in_second.get((url, at // SECOND), ())
                if capture.at == at or at % SECOND == 0
            ]
            if near:
                return min(near, key=lambda c: (c.at != at, c.digest != revisit.digest))
        if revisit.digest is None:
            return None
        return self._with_digest.get((url, revisit.digest))


def _sights(ordered: Sequence[Capture], known: _Referred) -> list[_Sight]:
    """Each capture with the answer it is a sight of. `ordered` is one URL's, by time."""
    sights: list[_Sight] = []
    for capture in ordered:
        referred = known.by(capture) if capture.kind == "revisit" else None
        if capture.profile == NOT_MODIFIED and referred is None and sights:
            # A 304 that names nothing confirms what was seen last (RFC 9111 section 4.3.4).
            answer = sights[-1].answer
        else:
            answer = _answer(capture, referred)
        sights.append(_Sight(capture, answer))
    return sights


def _answer(capture: Capture, referred: Capture | None) -> _Answer:
    status, redirect = capture.status, capture.redirect
    if referred is None or referred.content is None:
        # Nothing is known to be equal to it, unless that declares the same digest.
        content = capture.content or capture.digest or f"unknown:{capture.record_id}"
        return _Answer(status, content, redirect)
    if capture.profile == NOT_MODIFIED or status is None:
        status, redirect = referred.status, referred.redirect
    return _Answer(status, referred.content, redirect)


def _intervals(url: str, sights: Sequence[_Sight]) -> list[Validity]:
    runs: list[list[_Sight]] = []
    for _, together in groupby(sights, key=lambda sight: sight.capture.at):
        current = runs[-1][0].answer if runs else None
        # Sights of one instant: those that go on with the current answer first, so that the
        # outcome does not depend on record ids.
        for sight in sorted(together, key=lambda sight: _rank(sight, current)):
            if runs and runs[-1][0].answer == sight.answer:
                runs[-1].append(sight)
            else:
                runs.append([sight])
    before: Instant | None = None
    found = []
    for run in runs:
        found.append(_interval(url, run, before))
        before = found[-1].until
    return found


def _rank(sight: _Sight, current: _Answer | None) -> tuple[bool, str, str, str, str]:
    answer = sight.answer
    return (
        answer != current,
        str(answer.status),
        answer.content,
        answer.redirect or "",
        sight.capture.record_id,
    )


def _interval(url: str, run: Sequence[_Sight], before: Instant | None) -> Validity:
    first, last = run[0].capture, run[-1].capture
    evidence = tuple(
        Evidence(_proof(sight.capture, first=index == 0), sight.capture.at, sight.capture.record_id)
        for index, sight in enumerate(run)
    )
    return Validity(
        url=url,
        content=run[0].answer.content,
        status=run[0].answer.status,
        since=first.at,
        until=last.at,
        evidence=evidence,
        claimed_since=_claim(run, before),
    )


def _proof(capture: Capture, *, first: bool) -> Proof:
    if capture.profile == NOT_MODIFIED:
        return Proof.NOT_MODIFIED
    if first and capture.kind != "revisit":
        return Proof.DOWNLOAD
    return Proof.SAME_DIGEST


def _claim(run: Sequence[_Sight], before: Instant | None) -> Instant | None:
    """The latest Last-Modified that nothing in the archive contradicts.

    HTTP dates are cut to the second: a claim is contradicted by another content seen at `before`
    only if that is past the claimed second, and is moved up to `before` within it.
    """
    since = run[0].capture.at
    claims = [
        claimed if before is None else max(claimed, before)
        for claimed in (sight.capture.last_modified for sight in run)
        if claimed is not None
        and claimed <= since
        and (before is None or claimed + SECOND > before)
    ]
    return max(claims, default=None)
