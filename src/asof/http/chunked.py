"""Chunked transfer coding (RFC 9112 section 7.1): where the payload lies, and where it all ends.

    SIZE ──size line──> DATA ──all of it──> AFTER ──line end──> SIZE
      └──size zero──> TRAILER ──empty line──> END
    SIZE, AFTER, TRAILER ──anything else──> BROKEN

A broken body cannot be put in step again: BROKEN keeps whatever comes, and so ends only when the
connection does. The framer in `wire` asks for the end, `entity` asks for the payload.
"""

import re
from dataclasses import dataclass, field
from enum import Enum, auto

# Chunk extensions and trailers in use are a few dozen bytes. The limit bounds what is held.
_LINE_LIMIT = 1 << 14
# What 64-bit software can count; no file is as large.
_SIZE_LIMIT = 1 << 63
# Old servers pad the size with spaces. Extensions stay on the wire and mean nothing to us.
_SIZE = re.compile(rb"[ \t]*+([0-9A-Fa-f]++)[ \t]*+(?:;[^\n]*+)?\r?\n")
_PLAIN = re.compile(rb"([0-9A-Fa-f]{1,8})\r\n")
_SIZE_SO_FAR = re.compile(rb"[ \t]*+(?:[0-9A-Fa-f]++[ \t]*+(?:;[^\n]*+|\r)?)?")


class ChunkState(Enum):
    """What the next byte of a chunked body belongs to."""

    SIZE = auto()
    DATA = auto()
    AFTER = auto()
    TRAILER = auto()
    END = auto()
    BROKEN = auto()


@dataclass(slots=True, eq=False)
class Dechunker:
    """Walks through a chunked body, in whatever pieces it comes; holds at most one line of it."""

    state: ChunkState = ChunkState.SIZE
    begun: bool = False  # whether at least the first size line was one
    anomalies: list[str] = field(default_factory=list)
    _left: int = 0
    _line: bytes = b""

    def feed(self, data: bytes) -> tuple[int, list[tuple[int, int]]]:
        """How many of the bytes belong to the body, and the spans of payload among them."""
        spans: list[tuple[int, int]] = []
        at, size = 0, len(data)
        while at < size and self.state is not ChunkState.END:
            if self.state is ChunkState.SIZE and not self._line:
                # Whole chunks at once: a server that sends one byte in each is no burden then.
                at = self._take_whole(data, at, spans)
                if at == size:
                    break
            if self.state is ChunkState.DATA:
                stop = min(size, at + self._left)
                spans.append((at, stop))
                self._left -= stop - at
                if not self._left:
                    self.state = ChunkState.AFTER
            elif self.state is ChunkState.BROKEN:
                stop = size
            else:
                stop = data.find(b"\n", at) + 1 or size
                self._line += data[at:stop]
                self._read_line()
            at = stop
        return at, spans

    def _take_whole(self, data: bytes, at: int, spans: list[tuple[int, int]]) -> int:
        """Pass over the plain chunks that lie here with both their ends; gives where they stop."""
        while (found := _PLAIN.match(data, at)) is not None:
            start = found.end()
            end = start + int(found[1], 16)
            if end == start or data[end : end + 2] != b"\r\n":
                break
            spans.append((start, end))
            self.begun = True
            at = end + 2
        return at

    def eof(self) -> bool:
        """The bytes are over: whether the payload is whole, even if the final line is not."""
        if self.state is ChunkState.TRAILER:
            self.state = ChunkState.END
            self._note("missing-final-crlf")
        return self.state is ChunkState.END

    def _read_line(self) -> None:
        """Take the line as far as it has come; what can no longer become right is broken."""
        line = self._line[:_LINE_LIMIT]
        whole = line.endswith(b"\n")
        if self.state is ChunkState.SIZE:
            self._read_size(line, whole)
        elif self.state is ChunkState.AFTER:
            if line in (b"\r\n", b"\n"):
                self.state = ChunkState.SIZE
            elif line != b"\r":
                self._break("bad-chunk-end")
        elif line in (b"\r\n", b"\n"):
            self.state = ChunkState.END
        if len(self._line) > _LINE_LIMIT:
            self._break("long-chunk-line")
        if whole and self.state is not ChunkState.BROKEN and not line.endswith(b"\r\n"):
            self._note("lf-line-ends")
        if whole or self.state is ChunkState.BROKEN:
            self._line = b""

    def _read_size(self, line: bytes, whole: bool) -> None:
        if not whole:
            if not _SIZE_SO_FAR.fullmatch(line):
                self._break("bad-chunk-size")
            return
        match = _SIZE.fullmatch(line)
        size = _SIZE_LIMIT if match is None else int(match[1], 16)
        if size >= _SIZE_LIMIT:
            self._break("bad-chunk-size")
            return
        self.begun = True
        self._left = size
        self.state = ChunkState.DATA if size else ChunkState.TRAILER

    def _break(self, anomaly: str) -> None:
        if self.state is not ChunkState.BROKEN:
            self.state = ChunkState.BROKEN
            self._note(anomaly)

    def _note(self, anomaly: str) -> None:
        if anomaly not in self.anomalies:
            self.anomalies.append(anomaly)
