"""What an archive has seen of changes: stretches between two sights of a page, changed or not.

A gap says only whether the content was another at its end. How often it changed in between is not
known, which is why rates are not counts over time (asof.freshness.estimate). What compares are
answers below 400: an error page in between says nothing about the page.

A Last-Modified that can be trusted says when the last change of a gap was: nothing changed since,
and one change happened within that second. The likelihood of that, l e^(-l (seen - date)), is the
one of an unchanged gap from the date on and a changed one of the second it names. How often the
page changed before the date stays unknown, so the rest of the gap is not counted. The date of what
was seen first is not counted: no earlier sight could have shown it wrong.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby, pairwise
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from asof.catalog.referents import ANSWERS
from asof.catalog.validity import validities
from asof.clock import SECOND
from asof.model import Capture, State, Validity
from asof.url import host_of

# Dates of whole seconds let two contents share an instant: then the change took less than this. It
# is also how exactly an HTTP date says when something changed (RFC 9110 section 5.6.7).
RESOLUTION = 1.0


class Gap(NamedTuple):
    """A stretch of time between two sights of a page, in seconds."""

    length: float
    changed: bool


class Group(NamedTuple):
    """Pages that may have something in common: of a host, of a directory of it, of a type there."""

    host: str
    directory: str = ""
    media_type: str = ""


def group_of(url: str, media_type: str | None = None) -> Group:
    """The smallest group a page is known to be of. The directory is the first part of the path."""
    start = url.find("/", url.find("//") + 2)
    path = url[start:].partition("?")[0] if start >= 0 else "/"
    return Group(host_of(url), path[: path.find("/", 1) + 1] or "/", (media_type or "").lower())


@dataclass(frozen=True, slots=True)
class Observed:
    """The gaps of many pages, in arrays: page i has those from offsets[i] to offsets[i + 1].

    `group[i]` is the index of its group in `groups`.
    """

    urls: tuple[str, ...]
    offsets: NDArray[np.int64]
    lengths: NDArray[np.float64]
    changed: NDArray[np.bool_]
    group: NDArray[np.int32]
    groups: tuple[Group, ...]

    def __len__(self) -> int:
        return len(self.urls)

    def pages(self, chosen: NDArray[np.intp]) -> Observed:
        count = np.diff(self.offsets)[chosen]
        offsets = np.concatenate(([0], np.cumsum(count))).astype(np.int64)
        where = np.repeat(self.offsets[chosen] - offsets[:-1], count) + np.arange(offsets[-1])
        return Observed(
            tuple(map(self.urls.__getitem__, chosen.tolist())),
            offsets,
            self.lengths[where],
            self.changed[where],
            self.group[chosen],
            self.groups,
        )

    def in_units(self, unit: NDArray[np.float64]) -> Observed:
        """The same with the time of page i counted in units of unit[i] seconds."""
        return replace(self, lengths=self.lengths / unit[self.page()])

    def page(self) -> NDArray[np.intp]:
        """Of which page each gap is."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def still(self) -> NDArray[np.float64]:
        """The time of each page in gaps without a change."""
        same = ~self.changed
        total = np.bincount(self.page()[same], self.lengths[same], len(self))
        return total.astype(np.float64)


def gaps(
    validities: Iterable[Validity],
    *,
    trusted_dates: bool = False,
    known: Collection[str | None] | None = None,
) -> tuple[Gap, ...]:
    """What one URL's intervals, in order of time, say about how often it changes.

    With `known`, a content that is not in it does not compare either.
    """
    found: list[Gap] = []
    before: Validity | None = None
    interrupted = False
    for validity in validities:
        if not _is_good(validity) or (known is not None and validity.content not in known):
            interrupted = True
            continue
        answer = (validity.status, validity.content)
        if interrupted and before is not None and (before.status, before.content) == answer:
            # The same as before what came between. Of redirects that is not known: their bodies
            # are often equal when their targets are not.
            if not 300 <= (validity.status or 0) < 400:
                found.extend(_gap(before.until, validity.since, changed=False))
        elif before is not None and trusted_dates and validity.claimed_since is not None:
            found.append(Gap(RESOLUTION, True))
            found.extend(_gap(validity.claimed_since, validity.since, changed=False))
        elif before is not None:
            found.extend(_gap(before.until, validity.since, changed=True))
        for earlier, later in pairwise(validity.evidence):
            found.extend(_gap(earlier.at, later.at, changed=False))
        before, interrupted = validity, False
    return tuple(found)


def _is_good(validity: Validity) -> bool:
    return validity.state in (State.PRESENT, State.ELSEWHERE)


def _gap(since: int, until: int, *, changed: bool) -> Iterator[Gap]:
    length = (until - since) / SECOND
    if length > 0:
        yield Gap(length, changed)
    elif changed:
        yield Gap(RESOLUTION, True)


def never(host: str) -> bool:
    """Trust in the dates of no host."""
    return False


def gather(captures: Iterable[Capture], *, trusted: Callable[[str], bool] = never) -> Observed:
    """The gaps of all pages among captures in the order of their keys, as the catalog gives them.

    Only the captures of one key are held at a time. `trusted` says of a host whether its
    Last-Modified can be believed. Pages without an answer below 400 are left out.
    """
    urls: list[str] = []
    numbers: dict[Group, int] = {}
    trusting = cache(trusted)
    offsets, lengths, changed, group = array("q", [0]), array("d"), array("b"), array("i")

    for _, together in groupby(captures, key=attrgetter("surt")):
        for url, media_type, found in _pages(list(together), trusting):
            for length, differs in found:
                lengths.append(length)
                changed.append(differs)
            urls.append(url)
            offsets.append(len(lengths))
            kind = group_of(url, media_type or "unknown")
            group.append(numbers.setdefault(kind, len(numbers)))
    return Observed(
        tuple(urls),
        np.array(offsets, np.int64),
        np.array(lengths, np.float64),
        np.array(changed, np.bool_),
        np.array(group, np.int32),
        tuple(numbers),
    )


_Page = tuple[str, str | None, tuple[Gap, ...]]


def _pages(captures: Sequence[Capture], trusting: Callable[[str], bool]) -> Iterator[_Page]:
    """The URLs of one key with their media types and gaps."""
    first = captures[0]
    if _are_plain(captures) and not trusting(host_of(first.url)):
        yield first.url, captures[-1].media_type, _plain_gaps(captures)
        return
    # What a body is that was cut off is not known, and so it is not known to be another.
    whole = [each for each in captures if each.kind in ANSWERS and each.truncated is None]
    # A revisit of a record of another key stands for a content that is not known here.
    known = {each.content for each in whole}
    types = {each.url: each.media_type for each in whole if each.media_type}
    for url, together in groupby(validities(whole), key=attrgetter("url")):
        intervals = list(together)
        if any(_is_good(each) for each in intervals):
            dated = trusting(host_of(url))
            yield url, types.get(url), gaps(intervals, trusted_dates=dated, known=known)


def _are_plain(captures: Sequence[Capture]) -> bool:
    """Whether these are downloads of one URL, one after the other: what most keys have."""
    url, before = captures[0].url, -1
    for each in captures:
        if (
            each.kind != "response"
            or each.status != 200
            or each.content is None
            or each.truncated is not None
            or each.url != url
            or each.at <= before
        ):
            return False
        before = each.at
    return True


def _plain_gaps(captures: Sequence[Capture]) -> tuple[Gap, ...]:
    """Those of plain downloads: as by their intervals, at a fraction of the time."""
    return tuple(
        Gap((later.at - earlier.at) / SECOND, earlier.content != later.content)
        for earlier, later in pairwise(captures)
    )
