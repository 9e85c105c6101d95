"""The frozen values that flow between the stages. No behaviour beyond small derived properties.

Target -> fetch -> Exchange | Failure -> warc -> Location -> catalog -> Capture -> Validity
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from asof.clock import Instant, iso, maybe_iso, to_datetime

Headers = tuple[tuple[str, str], ...]
_T = TypeVar("_T")


def travels(cls: type[_T]) -> type[_T]:
    """Pickle a frozen dataclass as its values, in a third of the time: thousands a second go from a
    crawl to the process that writes them.
    """
    values = attrgetter(*[each.name for each in fields(cls)])  # type: ignore[arg-type]
    cls.__reduce__ = lambda self: (cls, values(self))  # type: ignore[method-assign]
    return cls


class Hop(StrEnum):
    """How a target was found; the letters make up a hop path, as in Heritrix logs."""

    SEED = ""
    LINK = "L"
    REQUISITE = "E"
    REDIRECT = "R"
    ROBOTS = "P"
    SITEMAP = "M"
    FEED = "F"
    GUESS = "X"


@travels
@dataclass(frozen=True, slots=True)
class Target:
    """A URL that a crawl wants. `url` is canonical; `hops` is the path of letters from the seed.

    Lower priorities are sooner. A guess, which may be no URL of anything, comes after all others.
    """

    url: str
    depth: int = 0
    via: str | None = None
    hops: str = ""
    priority: float = 0.0
    tries: int = 0
    guess: bool = False


@travels
@dataclass(frozen=True, slots=True)
class Body:
    """Bytes as they came over the wire: in memory, or spooled to a file when they are many."""

    size: int
    data: bytes = b""
    spool: Path | None = None

    def chunks(self, size: int = 1 << 18) -> Iterator[bytes]:
        """The bytes in order, never more than `size` of a spooled body at once."""
        if self.spool is None:
            if self.data:
                yield self.data
            return
        with self.spool.open("rb") as file:
            while chunk := file.read(size):
                yield chunk

    def discard(self) -> None:
        """Remove the spool file, if there is one; the body is not readable afterwards."""
        if self.spool is not None:
            self.spool.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Tls:
    """What the TLS handshake settled. `problem` says why a certificate was not trusted."""

    version: str
    cipher: str
    verified: bool = True
    problem: str = ""


@travels
@dataclass(frozen=True, slots=True)
class Timings:
    """Microseconds from the start of the fetch: connected, first byte, last byte."""

    connect: int
    first_byte: int
    total: int


@travels
@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came back, byte for byte.

    `head + body` are exactly the response's bytes on the wire: interim 1xx blocks, status line
    and headers, then the body with its transfer coding. `head[head_start:]` is the head of the
    final response. `payload_digest` is SHA-256 over the stored body.
    """

    url: str
    request: bytes
    head: bytes
    body: Body
    status: int
    headers: Headers
    started: Instant
    timings: Timings
    payload_digest: bytes
    head_start: int = 0
    truncated: str = ""
    anomalies: tuple[str, ...] = ()
    peer: str = ""
    tls: Tls | None = None

    def header(self, name: str) -> str | None:
        return find_header(self.headers, name)


# The reasons of a `Failure` that mean: no server answered.
SILENCE = ("dns", "refused", "unreachable", "timeout", "tls", "reset", "empty")


@dataclass(frozen=True, slots=True)
class Failure:
    """A fetch that brought no response: an outcome with a reason, not an error.

    `reason` is one of a few stable words (dns, refused, unreachable, timeout, tls, reset, empty,
    proxy, bad-url, refused-address); `detail` is for people. `transient` says whether trying
    again makes sense.
    """

    url: str
    reason: str
    detail: str
    started: Instant
    transient: bool = False
    request: bytes = b""
    peer: str = ""
    tls: Tls | None = None


@dataclass(frozen=True, slots=True)
class Location:
    """Where a stored record lies: a file in `warc/`, the offset and length of its stored bytes."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Damage:
    """A stretch of a file that holds no whole record, and why. `length` is 0 when unknown."""

    file: str
    offset: int
    reason: str
    length: int = 0


PARTIAL, WHOLE_PART = 206, "whole-part"  # a status; what is noted of one that has all bytes


@dataclass(frozen=True, slots=True)
class Capture:
    """One row of the catalog: a stored answer to a URL at a moment.

    `digest` is the record's own WARC-Payload-Digest (or SHA-1 of the payload where the record
    has none, as cdxj-indexer does). `content` is a digest of the decoded entity, the thing that is
    compared for deduplication and change: SHA-256, or the record's own where that says the same.
    `last_modified` and `etag` are what the server claimed.
    """

    url: str
    surt: str
    at: Instant
    kind: str
    status: int | None
    media_type: str | None
    digest: str | None
    content: str | None
    size: int
    record_id: str
    where: Location
    crawl: str | None = None
    etag: str | None = None
    last_modified: Instant | None = None
    redirect: str | None = None
    truncated: str | None = None
    profile: str | None = None
    refers_to_url: str | None = None
    refers_to_at: Instant | None = None
    anomalies: tuple[str, ...] = ()
    age: int | None = None

    @property
    def time(self) -> datetime:
        """When it was captured, in UTC."""
        return to_datetime(self.at)

    @property
    def is_part(self) -> bool:
        """Whether not all is stored of what there was."""
        return bool(self.truncated) or (self.status == PARTIAL and WHOLE_PART not in self.anomalies)


class State(StrEnum):
    """What an answer says is at a URL."""

    PRESENT = "present"
    ELSEWHERE = "elsewhere"  # a redirect
    GONE = "gone"
    SILENT = "silent"  # nothing that could be known of


class Proof(StrEnum):
    """What shows that a URL still had one content at a moment."""

    DOWNLOAD = "download"
    SAME_DIGEST = "same-digest"
    NOT_MODIFIED = "not-modified"


class Grade(StrEnum):
    """What is known of a page at a moment, from the best to the worst."""

    PROVEN = "proven"  # the same bytes before and after it
    CONFIRMED = "confirmed"  # the server says that nothing changed (304 by a strong validator)
    CLAIMED = "claimed"  # it only says so: by a date, by a weak validator, of what came later
    EQUIVALENT = "equivalent"  # other bytes, the same in substance: weak validator, or noise only
    CHANGED = "changed"  # something else before it than after it
    UNKNOWN = "unknown"  # no evidence on one side, or none that can be believed


@dataclass(frozen=True, slots=True)
class Evidence:
    """One confirmation of a content: how, when, the record that holds it, and what it is worth.

    A cache that had it for an `age` already shows what was there before that.
    """

    proof: Proof
    at: Instant
    record_id: str
    grade: Grade = Grade.PROVEN
    age: Instant = 0

    @property
    def time(self) -> datetime:
        """When it came, in UTC."""
        return to_datetime(self.at)

    @property
    def shows(self) -> Instant:
        """The moment that it is evidence of."""
        return self.at - self.age


@dataclass(frozen=True, slots=True)
class Validity:
    """A URL had one content from `since` to `until`: the one idea the rest of asof asks about.

    `since` is the first download, `until` the last evidence of any grade; `until_by` tells how far
    each grade goes: bytes prove, a strong 304 confirms, all else is claimed. What the server says
    of the time before stays apart: `claimed_since` is a Last-Modified at or before `since`, else
    None. Equal digests at both ends are strong evidence, not proof, that nothing else was there in
    between (A-B-A).
    """

    url: str
    content: str
    status: int | None
    since: Instant
    until: Instant
    evidence: tuple[Evidence, ...]
    claimed_since: Instant | None = None
    state: State = State.PRESENT

    @property
    def span(self) -> tuple[datetime, datetime]:
        """From `since` to `until`, in UTC."""
        return to_datetime(self.since), to_datetime(self.until)

    def holds(self, at: Instant) -> bool:
        """Whether there is evidence of this content before a moment and after it."""
        return self.since <= at <= self.until

    def until_by(self, *grades: Grade) -> Instant:
        """The last evidence of these grades, or the first of all."""
        return max((e.shows for e in self.evidence if e.grade in grades), default=self.since)

    @property
    def proven_until(self) -> Instant:
        """When its bytes came the last time."""
        return self.until_by(Grade.PROVEN)

    @property
    def confirmed_until(self) -> Instant:
        """When its bytes came, or a strong 304, the last time."""
        return self.until_by(Grade.PROVEN, Grade.CONFIRMED)


class CrawlState(StrEnum):
    """The life of a crawl."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class CoherencePlan:
    """How a crawl seeks coherence: its mode, its plan, and what the plan expected.

    `expected` is C over the `pages` that were planned, None where nothing was known of any. `turn`
    is the moment of reference: the start (measurable) or the turning point between visits and
    revisits (inducible), None until it is reached. `newcomers` is the place among the visits of
    pages that the plan did not know, 0 to 1; None where discovery decides. By `secret` it was drawn
    which answers to check: nobody but the crawler knew them beforehand, and anybody can see later.
    """

    mode: str
    plan: str
    expected: float | None = None
    pages: int = 0
    eta: float | None = None
    turn: Instant | None = None
    newcomers: float | None = None
    secret: str = ""

    def facts(self) -> dict[str, object]:
        """The plan under the keys that files and answers to programs share."""
        return asdict(self) | {"turn": maybe_iso(self.turn)}


@dataclass(frozen=True, slots=True)
class Crawl:
    """One run over a set of seeds. `id` is a sortable name that its WARC files carry, too."""

    id: str
    seeds: tuple[str, ...]
    started: Instant
    state: CrawlState
    ended: Instant | None = None
    settings: dict[str, object] = field(default_factory=dict)
    note: str = ""
    coherence_plan: CoherencePlan | None = None
    imported: bool = False  # others made it: nobody goes on with it, nor takes its settings

    @property
    def standing(self) -> str:
        return "imported" if self.imported else self.state.value

    @property
    def span(self) -> tuple[datetime, datetime | None]:
        """When it started and, unless it still runs, ended, in UTC."""
        return to_datetime(self.started), None if self.ended is None else to_datetime(self.ended)

    def facts(self) -> dict[str, object]:
        """What all that is written of a crawl says, under the same keys."""
        return {
            "id": self.id,
            "seeds": list(self.seeds),
            "started": iso(self.started),
            "ended": maybe_iso(self.ended),
            "state": self.state.value,
        }


@dataclass(frozen=True, slots=True)
class Segment:
    """A WARC file of the archive and how much of it is committed."""

    file: str
    committed: int
    crawl: str | None = None
    sealed: bool = False


def find_header(headers: Headers, name: str) -> str | None:
    """The first value of a header, by case-insensitive name."""
    wanted, length = name.lower(), len(name)
    for key, value in headers:
        if len(key) == length and key.lower() == wanted:
            return value
    return None
