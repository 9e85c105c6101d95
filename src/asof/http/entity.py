"""From the bytes of a stored body to the entity it stands for: codings undone, one after another.

Readers wrapped around readers, each a generator that pulls from the one inside it:

    stored chunks -> transfer codings (chunked, mostly) -> content codings -> limit -> entity

Foreign bytes never raise. A body that is not what its headers say goes through as it is stored
(other tools store bodies with their codings undone, under the old headers); a body that breaks in
the middle ends there, with all that could be read. `Decoding.problems` tells what went wrong.

Memory stays small whatever comes: the decoders (see `inflate`) take small bites and give small
steps, and no coding may give more than the limit, so that a bomb inside a bomb is stopped as well.
"""

from collections.abc import Iterable, Iterator

from asof.http.chunked import ChunkState, Dechunker
from asof.http.inflate import BROKEN, DECODERS, MAGIC, Cut
from asof.model import Headers

# More codings than this are an attack (curl stops at five as well).
_MOST_CODINGS = 5
# What is held in case nothing at all can be decoded and the stored bytes must go through.
_HELD = 1 << 20


class Decoding(Iterator[bytes]):
    """The entity of a stored body, at most `limit` bytes of it: iterate, then ask for `problems`.

    A problem is one of: unknown-coding, too-many-codings, over-limit, and, with the name of a
    coding in front, -broken (all up to the break was given), -cut (all there is was given) and
    -undone (the bytes are not so coded and went through as stored).
    """

    def __init__(self, headers: Headers, chunks: Iterable[bytes], *, limit: int) -> None:
        self.problems: list[str] = []
        self._pieces = _decoded(headers, chunks, limit, self.problems)

    def __next__(self) -> bytes:
        return next(self._pieces)

    @property
    def is_torn(self) -> bool:
        """Whether something is known to be missing of what was given so far."""
        return any(problem.endswith(("-broken", "-cut")) for problem in self.problems)


decode = Decoding


def _decoded(
    headers: Headers, chunks: Iterable[bytes], limit: int, problems: list[str]
) -> Iterator[bytes]:
    codings = _codings(headers)
    if len(codings) > _MOST_CODINGS:
        problems.append("too-many-codings")
        codings = []
    for coding in codings:
        if coding == "chunked":
            chunks = _dechunked(chunks, problems)
        elif coding in DECODERS:
            chunks = _limited(_undone(coding, chunks, problems), limit, problems)
        else:
            # What lies below a coding that we do not know cannot be reached.
            problems.append("unknown-coding")
            break
    yield from _limited(chunks, limit, problems)


def _codings(headers: Headers) -> list[str]:
    """What was done to the entity, last thing first (RFC 9110 section 8.4, 9112 section 6.1)."""
    codings = [
        coding.partition(";")[0].strip(" \t")
        for field in ("content-encoding", "transfer-encoding")
        for name, value in headers
        if len(name) == len(field) and name.lower() == field
        for coding in value.lower().split(",")
    ]
    return [coding for coding in reversed(codings) if coding not in ("", "identity")]


def is_coded(headers: Headers) -> bool:
    """Whether anything was done to the entity: it may be longer or shorter than it is stored."""
    return bool(_codings(headers))


def _limited(chunks: Iterable[bytes], limit: int, problems: list[str]) -> Iterator[bytes]:
    room = limit
    for chunk in chunks:
        if len(chunk) > room:
            if "over-limit" not in problems:
                problems.append("over-limit")
            if room:
                yield chunk[:room]
            return
        room -= len(chunk)
        yield chunk


def _dechunked(chunks: Iterable[bytes], problems: list[str]) -> Iterator[bytes]:
    dechunker, tape = Dechunker(), Tape(chunks)
    for chunk in tape:
        _, spans = dechunker.feed(chunk)
        if dechunker.begun:
            tape.forget()
        yield from (chunk[start:stop] for start, stop in spans)
        if dechunker.state is ChunkState.END:
            return
        if dechunker.state is ChunkState.BROKEN:
            break
    if dechunker.begun:
        if not dechunker.eof():
            broken = dechunker.state is ChunkState.BROKEN
            problems.append("chunked-broken" if broken else "chunked-cut")
    elif tape.holds:
        problems.append("chunked-undone")
        yield from tape


def _undone(coding: str, chunks: Iterable[bytes], problems: list[str]) -> Iterator[bytes]:
    """The bytes before this coding was applied. Several decoders may be tried for one name."""
    tape = Tape(chunks)
    for decoder in DECODERS[coding]:
        given = False
        try:
            for piece in decoder(tape):
                if piece:
                    given = True
                    tape.forget()
                    yield piece
        except BROKEN as error:
            problem = f"{coding}-cut" if isinstance(error, Cut) else f"{coding}-broken"
        else:
            return
        if given:
            break
    if tape.holds and not tape.begins(MAGIC.get(coding)):
        problem = f"{coding}-undone"
        yield from tape
    if tape.size:
        problems.append(problem)


class Tape:
    """Chunks that can be read again from the first one on, until they are told to be forgotten."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._source = iter(chunks)
        self._held: list[bytes] = []
        self.size = 0
        self._keeps = True

    @property
    def holds(self) -> bool:
        """Whether reading again gives all the bytes, and there are any."""
        return self._keeps and bool(self._held)

    def begins(self, magic: bytes | None) -> bool:
        return magic is not None and b"".join(self._held[: len(magic)]).startswith(magic)

    def forget(self) -> None:
        self._keeps = False
        self._held.clear()

    def __iter__(self) -> Iterator[bytes]:
        yield from tuple(self._held)
        for chunk in self._source:
            self.size += len(chunk)
            if self._keeps and chunk:
                self._held.append(chunk)
                if self.size > _HELD + len(chunk):
                    self.forget()
            yield chunk
