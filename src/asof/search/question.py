"""What is asked of the texts of an archive, and what is answered."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from asof.archive.archive import Moment, OpenArchive
from asof.clock import Instant
from asof.errors import UsageError
from asof.search.snippet import Piece

HITS = 10  # of one answer, where nobody says how many


class Order(StrEnum):
    """What comes first."""

    RELEVANCE = "relevance"
    NEWEST = "newest"  # the content that came last
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class When:
    """As of a moment, or as of any moment from one to another; without any, of all times."""

    at: Instant | None = None
    since: Instant | None = None
    until: Instant | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """Words, and which contents may have them."""

    words: str
    when: When = When()
    prefix: str | None = None
    media_type: str | None = None
    language: str | None = None
    order: Order = Order.RELEVANCE
    fold: bool = True
    limit: int = HITS
    offset: int = 0


def checked(question: Question) -> Question:
    """The same without halves of surrogate pairs, which no index and no JSON can hold; what is
    empty was not asked.
    """
    if question.limit < 1 or question.offset < 0:
        what = f"Hits {question.offset} and {question.limit} on cannot be asked for."
        raise UsageError(what, hint="Ask for a limit of 1 or more, and an offset of 0 or more.")
    return replace(
        question, words=_whole(question.words) or "", prefix=_whole(question.prefix),
        media_type=_whole(question.media_type), language=_whole(question.language),
    )  # fmt: skip


def _whole(text: str | None) -> str | None:
    return text.encode("utf-8", "replace").decode() if text else None


def when(
    archive: OpenArchive, at: Moment | None, since: Moment | None, until: Moment | None
) -> When:
    """Moments as people write them."""
    if at is not None and (since is not None or until is not None):
        what = "A moment (--as-of) and a stretch of time (--from, --to) exclude each other."
        raise UsageError(what, hint="Give either.")
    first = None if since is None else archive.moment(since, start=True)
    asked, last = (None if each is None else archive.moment(each) for each in (at, until))
    if first is not None and last is not None and first > last:
        raise UsageError("The stretch of time ends before it begins.", hint="Swap the two.")
    return When(asked, first, last)


def order_named(name: str) -> Order:
    if name not in tuple(Order):
        raise UsageError(f"{name!r} is no order.", hint=f"There are {', '.join(Order)}.")
    return Order(name)


class Also(NamedTuple):
    """A content near one that is told in its place."""

    url: str
    since: Instant


@dataclass(frozen=True, slots=True)
class Hit:
    """A content that was found, over its interval.

    It was seen from `since` to `until`, and is shown as of any moment before `ended`, when
    something else was seen at its URL; None while nothing was. `inlinks` other addresses led to it
    as of the last moment that was asked for at which it was shown.
    """

    url: str
    since: Instant
    until: Instant
    ended: Instant | None
    title: str | None
    media_type: str
    language: str | None
    score: float | None  # None where the order is another
    extract: tuple[Piece, ...]
    inlinks: int
    also: tuple[Also, ...] = ()


class Count(NamedTuple):
    """How many of the contents found have some value."""

    value: str
    contents: int


class Stretch(NamedTuple):
    """How many of the contents found, of any time, were shown in a day, a month or a year."""

    name: str  # "2026-03-01", "2026-03", "2026"
    contents: int


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits in their order; `found` counts contents before near ones are folded.

    `next` is the offset at which the next ones begin. `indexed` contents are all that the index
    holds; not `complete`, the archive has more.
    """

    question: Question
    hits: tuple[Hit, ...]
    found: int
    next: int | None
    hosts: tuple[Count, ...]
    media_types: tuple[Count, ...]
    languages: tuple[Count, ...]
    presence: tuple[Stretch, ...]
    indexed: int
    complete: bool
