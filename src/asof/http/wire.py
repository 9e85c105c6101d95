"""HTTP/1 responses as they come over the wire. Pure: bytes in, events out, no sockets, no clock.

The theory
----------
A connection gives a stream of bytes and, at some moment, its close. The framer cuts the stream into

    Head     everything up to the empty line that ends the head, interim 1xx blocks included
    Data     the body as it is on the wire, chunk sizes and trailers included, piece by piece
    End      the message is over: whole or cut, and by what; and all that was odd about it
    Surplus  bytes that came after the end and belong to nobody

and three laws hold for every stream, however the network splits it (tests/property):

1. No byte is lost or made up: `Head.raw + Data.raw + ...` is the stream up to the end, and
   `Surplus.raw + ...` the rest of it, save what lies beyond a limit.
2. The split does not matter: the same stream gives the same head, body, end and anomalies.
3. What is stored can be read again: `parse_head(block) == Head` for `block = Head.raw + Data.raw`.

How the body ends is settled by the head alone (`delimit`), and decides the rest:

    state     the message ends                 a close before that   the connection is used again
    -------   ------------------------------   -------------------   ----------------------------
    HEAD      not here: a body always follows  cuts it: disconnect   no
    LENGTH    after so many bytes              cuts it: disconnect   if the server keeps it open
    CHUNKED   after the last chunk's trailer   cuts it: disconnect   if the server keeps it open
    CLOSE     with the connection              is its end            no
    DONE      has ended; the rest is surplus   says nothing          not after surplus

- "No body" (204, 304, an answer to HEAD) is a body of LENGTH 0.
- A CHUNKED body that breaks becomes CLOSE: its end can no longer be told from inside, so every
  byte until the close is kept.
- The framer forgives everything and hides nothing: each oddity has a stable name,
  and a connection is used again only after a message whose end is beyond doubt.
"""

import re
import sys
from dataclasses import dataclass, field
from enum import Enum, auto

from asof.http.chunked import ChunkState, Dechunker
from asof.http.head import Head, HeadFinder
from asof.model import Headers
from asof.native import PlainHead, compiled

HEAD_LIMIT = 1 << 20
# 18 digits count an exabyte; more are noise, not a length.
_LENGTH = re.compile(r"[0-9]{1,18}")
_FRAMING_NAMES = {len(name) for name in ("transfer-encoding", "content-length", "connection")}


@dataclass(frozen=True, slots=True)
class Data:
    """Body bytes, exactly as on the wire."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class End:
    """The message is over. `truncated` is empty or a word of WARC-Truncated: disconnect (closed
    early), length (a limit of ours), time. `reusable`: another request may follow on this
    connection, if no surplus does.
    """

    truncated: str
    reusable: bool
    anomalies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Surplus:
    """Bytes after the end of the message."""

    raw: bytes


Event = Head | Data | End | Surplus


class WireState(Enum):
    """Where in a message the next byte falls; see the table above."""

    HEAD = auto()
    LENGTH = auto()
    CHUNKED = auto()
    CLOSE = auto()
    DONE = auto()


@dataclass(frozen=True, slots=True)
class Extent:
    """How a body is delimited, what is odd about that, and whether the server stays there."""

    state: WireState
    length: int = 0
    anomalies: tuple[str, ...] = ()
    keeps_open: bool = False


@dataclass(slots=True, eq=False)
class Framer:
    """Finds the parts of one response. `feed` it what the socket gives, tell it the `eof`, or `cut`
    it short; each answers with the events that follow. `method` is that of the request.
    """

    method: str = "GET"
    head_limit: int = HEAD_LIMIT
    body_limit: int = sys.maxsize  # counts down as the body comes
    state: WireState = WireState.HEAD
    _buffer: bytearray = field(default_factory=bytearray)  # the head, as far as it has come
    _finder: HeadFinder = field(default_factory=HeadFinder)
    _left: int = 0  # in state LENGTH
    _dechunker: Dechunker | None = None
    _keeps_open: bool = False
    _anomalies: list[str] = field(default_factory=list)

    def feed(self, data: bytes) -> list[Event]:
        if self.state is WireState.HEAD:
            return self._feed_head(data)
        return self._feed_body(data)

    def eof(self) -> list[Event]:
        return self._stop("disconnect", closed=True)

    def cut(self, truncated: str) -> list[Event]:
        """Our own decision that no more bytes will be taken, and the word for it."""
        return self._stop(truncated, closed=False)

    def _feed_head(self, data: bytes) -> list[Event]:
        if compiled is not None and not self._buffer and self.method == "GET":
            plain = compiled.plain_head(data)
            if plain is not None and plain[0] <= self.head_limit:
                return self._feed_plain(data, plain)
        # Mostly the first bytes hold the whole head; only what comes in pieces is put together.
        buffer: bytes | bytearray = data
        if self._buffer:
            self._buffer += data
            buffer = self._buffer
        full = len(buffer) >= self.head_limit
        end = self._finder.find(buffer[: self.head_limit] if full else buffer, whole=full)
        if end is not None:
            return self._close_head(buffer, end, "length")
        if not self._buffer:
            self._buffer += data
        return []

    def _feed_plain(self, data: bytes, plain: PlainHead) -> list[Event]:
        """A head with nothing odd about it, as nearly all are, and what came with it."""
        end, status, reason, headers, self._left, keeps_open = plain
        self._keeps_open = bool(keeps_open)
        self.state = WireState.LENGTH
        head = Head(data[:end], 0, "1.1", status, reason, headers)
        return [head, *self._feed_body(data[end:])]

    def _close_head(self, buffer: bytes | bytearray, end: int, truncated: str) -> list[Event]:
        """The first `end` bytes are the head; `truncated` says why, if it is unfinished."""
        head = self._finder.read(bytes(buffer[:end]))
        rest = bytes(buffer[end:])
        self._buffer.clear()
        self._anomalies += head.anomalies
        endless = truncated == "length" and "interim-only" in head.anomalies
        if "unfinished-head" in head.anomalies or (endless and end == self.head_limit):
            if truncated == "length":
                self._anomalies.append("head-too-long")
            return [head, self._end(truncated)]
        extent = delimit(head, self.method)
        self._anomalies += extent.anomalies
        self._keeps_open = extent.keeps_open
        self._left = extent.length
        if extent.state is WireState.CHUNKED:
            self._dechunker = Dechunker()
        self.state = extent.state
        return [head, *self._feed_body(rest)]

    def _feed_body(self, data: bytes) -> list[Event]:
        if self.state is WireState.DONE:
            return [Surplus(data)] if data else []
        # Only what there is room for is looked at: what lies beyond must not sway the answer.
        within = data if len(data) <= self.body_limit else data[: self.body_limit]
        used, over = self._take(within)
        self.body_limit -= used
        events: list[Event] = [Data(within[:used])] if used else []
        if over:
            events.append(self._end(""))
            if used < len(data):
                events.append(Surplus(data[used:]))
        elif len(within) < len(data):
            events.append(self._end("length"))
        return events

    def _take(self, data: bytes) -> tuple[int, bool]:
        """How many of the bytes belong to the body, and whether it ends with them."""
        if self.state is WireState.LENGTH:
            used = min(len(data), self._left)
            self._left -= used
            return used, not self._left
        if self._dechunker is not None:
            used, _ = self._dechunker.feed(data)
            if self._dechunker.state is ChunkState.BROKEN:
                self.state = WireState.CLOSE
            return used, self._dechunker.state is ChunkState.END
        return len(data), False

    def _stop(self, truncated: str, *, closed: bool) -> list[Event]:
        events: list[Event] = []
        if self.state is WireState.HEAD:
            if not self._buffer:
                self._anomalies.append("empty")
                return [self._end(truncated)]
            end = self._finder.find(self._buffer, whole=True) or 0
            events = self._close_head(self._buffer, end, truncated)
        if self.state is not WireState.DONE:
            whole = closed and (
                self.state is WireState.CLOSE
                or (self._dechunker is not None and self._dechunker.eof())
            )
            events.append(self._end("" if whole else truncated))
        return events

    def _end(self, truncated: str) -> End:
        self.state = WireState.DONE
        if self._dechunker is not None and self._dechunker.anomalies:
            self._keeps_open = False
            self._anomalies += self._dechunker.anomalies
        anomalies = tuple(dict.fromkeys(self._anomalies))
        return End(truncated, self._keeps_open and not truncated, anomalies)


def delimit(head: Head, method: str = "GET") -> Extent:
    """How the body after this head ends: RFC 9112 section 6.3, in its order, but never refusing."""
    if head.version == "0.9" or "interim-only" in head.anomalies:
        return Extent(WireState.CLOSE)
    codings, lengths, options = _framing_fields(head.headers)
    applied = [coding for coding in codings if coding != "identity"]
    tunnels = method == "CONNECT" and 200 <= head.status <= 299
    if head.status in (204, 304, 101) or method == "HEAD" or tunnels:
        state, length, odd = WireState.LENGTH, 0, _announced(head.status, codings, lengths)
    elif applied:
        state, length, odd = _by_coding(applied, lengths, head.version)
    else:
        state, length, odd = _by_length(lengths)
    if applied != codings:
        odd.append("identity-coding")
    asked = "close" not in options if head.version == "1.1" else "keep-alive" in options
    return Extent(state, length, tuple(odd), asked and not odd and state is not WireState.CLOSE)


def _framing_fields(headers: Headers) -> tuple[list[str], list[str], list[str]]:
    """The items of Transfer-Encoding, Content-Length and Connection, in lower case."""
    codings: list[str] = []
    lengths: list[str] = []
    options: list[str] = []
    found = {"transfer-encoding": codings, "content-length": lengths, "connection": options}
    for name, value in headers:
        # The length rules most names out before they are put in lower case.
        if len(name) in _FRAMING_NAMES and (items := found.get(name.lower())) is not None:
            items += [item.strip(" \t") for item in value.lower().split(",")]
    return [coding.partition(";")[0].rstrip() for coding in codings if coding], lengths, options


def _announced(status: int, codings: list[str], lengths: list[str]) -> list[str]:
    """What is odd about a message without a body. A 304 may tell the length it would have had."""
    if status == 101:
        return ["upgrade"]
    if status == 204 and (codings or any(length.strip("0") for length in lengths)):
        return ["length-without-body"]
    return []


def _by_coding(
    codings: list[str], lengths: list[str], version: str
) -> tuple[WireState, int, list[str]]:
    odd = ["length-and-coding"] if lengths else []
    if codings[-1] != "chunked":
        return WireState.CLOSE, 0, [*odd, "coding-without-chunked"]
    if version != "1.1":
        odd.append("chunked-in-http-1.0")
    if codings.count("chunked") > 1:
        odd.append("chunked-twice")
    return WireState.CHUNKED, 0, odd


def _by_length(lengths: list[str]) -> tuple[WireState, int, list[str]]:
    if not lengths:
        return WireState.CLOSE, 0, []
    said = {int(length) if _LENGTH.fullmatch(length) else -1 for length in lengths}
    if -1 in said:
        return WireState.CLOSE, 0, ["bad-length"]
    if len(said) > 1:
        return WireState.CLOSE, 0, ["conflicting-length"]
    return WireState.LENGTH, said.pop(), ["duplicate-length"] if len(lengths) > 1 else []
