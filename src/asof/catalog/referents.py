"""Where revisits find what they may refer to: among captures at hand, or in the catalog.

Which of them is meant is decided in one place (asof.catalog.observe).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

from asof.clock import SECOND, Instant
from asof.model import Capture
from asof.url import surt

if TYPE_CHECKING:
    from asof.catalog.captures import Catalog

# Kinds of captures that are what a server answered. Metadata speaks about an answer.
ANSWERS = ("response", "revisit", "resource")
NOT_MODIFIED = "server-not-modified"
# Some tools give a 304 the digest of its own body, which is none.
_OF_NOTHING = (
    "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
    "sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ====",
)


_AT = attrgetter("at")
_ByKey = dict[str, list[Capture]]
_ByDigest = dict[tuple[str, str | None], list[Capture]]


def is_304(capture: Capture) -> bool:
    """A 304, also where it stands in the archive as if it were a page of its own."""
    return capture.profile == NOT_MODIFIED or capture.status == 304


def declared(capture: Capture) -> str | None:
    """The digest of the payload that a record speaks of."""
    is_empty = capture.digest in _OF_NOTHING and is_304(capture)
    return None if is_empty else capture.digest


def key_of(revisit: Capture) -> str:
    """The SURT key of what a revisit refers to."""
    url = revisit.refers_to_url
    return revisit.surt if url is None or url == revisit.url else surt(url)


def names_nothing(revisit: Capture) -> bool:
    """Whether a 304 does not say what it is about."""
    return is_304(revisit) and revisit.refers_to_at is None and declared(revisit) is None


def last_instant(at: Instant) -> Instant:
    """The last that a date may mean: one of a whole second was often cut to that."""
    return at if at % SECOND else at + SECOND - 1


class Held:
    """Answers at hand, all there are under their keys; `others` knows what lies under others.

    The catalog answers the same three questions.
    """

    def __init__(self, captures: Sequence[Capture], others: Catalog | Held | None = None) -> None:
        self._others = others
        self._everything = captures

    @cached_property
    def _ordered(self) -> tuple[_ByKey, _ByDigest, _ByKey]:
        """By key, by key and digest, and the good ones by URL: put in order when somebody asks."""
        by_key: _ByKey = defaultdict(list)
        with_digest: _ByDigest = defaultdict(list)
        good: _ByKey = defaultdict(list)
        for capture in sorted(self._everything, key=attrgetter("at", "record_id")):
            by_key[capture.surt].append(capture)
            if not is_304(capture):
                if capture.kind != "revisit":
                    with_digest[capture.surt, capture.digest].append(capture)
                if capture.status is None or 200 <= capture.status < 400:
                    good[capture.url].append(capture)
        return by_key, with_digest, good

    @cached_property
    def _anywhere(self) -> dict[str | None, Capture]:
        """Payloads of any URL: the first of each that was stored, as the catalog knows them."""
        whole = (c for c in self._everything if c.kind == "response" and c.size and not c.truncated)
        stored = sorted(whole, key=attrgetter("where.file", "where.offset"), reverse=True)
        return {capture.digest: capture for capture in stored if not is_304(capture)}

    def within(self, key: str, at: Instant) -> Sequence[Capture]:
        """Those of an instant; of its second, if it is a whole one: dates are often cut to it."""
        own = self._ordered[0].get(key, [])
        near = own[bisect_left(own, at, key=_AT) : bisect_right(own, last_instant(at), key=_AT)]
        return near if near or self._others is None else self._others.within(key, at)

    def holding(self, digest: str, key: str, at: Instant) -> Capture | None:
        """One with a payload, under the key if there is any: the last by then, or the first."""
        own = self._ordered[1].get((key, digest))
        if own:
            return own[max(bisect_right(own, at, key=_AT) - 1, 0)]
        if self._others is not None:
            return self._others.holding(digest, key, at)
        return self._anywhere.get(digest)

    def before(self, capture: Capture) -> Sequence[Capture]:
        """The last answers below 400 of its very URL, those of one instant, without 304s."""
        good = self._ordered[2].get(capture.url)
        if not good:
            return () if self._others is None else self._others.before(capture)
        last = bisect_right(good, capture.at, key=_AT)
        return good[bisect_left(good, good[last - 1].at, key=_AT) : last]
