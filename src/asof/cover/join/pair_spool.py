"""Pairs without end: kept by rows, in memory as long as they fit and then in a temporary file.

A lax rule on documents that share much makes thousands of millions of pairs: each of 75,000 texts
with every other one is 5.6e9, and 60 bytes each would fill any memory. Here a pair is 4 bytes: its
place in a table of some hundred rows (a bucket), which is what is gathered and sorted at a time.
Beyond 2 million documents it is 8 bytes. The file has no name and goes with the process.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from asof.cover.documents.sets import Counts, Edges, Flags, begins, starts_of
from asof.errors import StorageError

ROOM = 256 << 20  # bytes
# Pairs that are gathered in memory: some 60 bytes each until the cover is found, so 2 GB.
MOST = 1 << 25

_BUCKETS = 1024  # at most: each is a piece of its own whenever memory is written out
# A table of flags takes a byte for each place, sorted keys about this many for each pair.
_DENSE = 32
SLICE = 1 << 20  # entries looked at together, to bound memory
_PENDING = 1 << 22  # pairs at most that are sorted together
_Keys = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True)
class Rows:
    """Complete rows from `first` on, all entries distinct.

    Rows that fill much of the width are a `table` of flags, others sorted `keys`: the row counted
    from `first`, times the width, plus the column.
    """

    first: int
    height: int
    width: int
    table: Flags | None
    keys: Counts

    def lengths(self) -> Counts:
        if self.table is not None:
            return np.asarray(np.count_nonzero(self.table, axis=1), np.int64)
        return np.bincount(self.keys // self.width, minlength=self.height)

    def row(self, at: int) -> Counts:
        if self.table is not None:
            return np.flatnonzero(self.table[at])
        low, high = np.searchsorted(self.keys, [at * self.width, (at + 1) * self.width])
        return self.keys[low:high] - at * self.width

    def slices(self, chosen: Flags | None = None) -> Iterator[tuple[Counts, Counts]]:
        """The entries of chosen rows in order, some at a time; rows counted from `first`."""
        if self.table is not None:
            places = np.arange(self.height) if chosen is None else np.flatnonzero(chosen)
            step = max(1, SLICE // self.width)
            for at in range(0, places.size, step):
                rows, cols = np.nonzero(self.table[places[at : at + step]])
                yield places[at + rows], cols
            return
        for at in range(0, self.keys.size, SLICE):
            keys = self.keys[at : at + SLICE]
            rows = keys // self.width
            cols = keys - rows * self.width
            mine = slice(None) if chosen is None else chosen[rows]
            yield rows[mine], cols[mine]


class PairSpool:
    """Pairs (row, column) of a table, any number of them in any order, doubled ones too.

    `room` is about how many bytes it takes in memory, whatever is added. It writes 4 or 8 bytes a
    pair to the folder for temporary files, once `room` is full.
    """

    def __init__(self, height: int, width: int | None = None, *, room: int = ROOM) -> None:
        self.height = height
        self.width = height if width is None else width
        self.added = 0
        self.written = 0
        self.room = room
        wide = max(self.width, 1)
        # A bucket's table of flags takes a quarter of the room, if there are not too many then.
        self._rows = max(1, min(room // 4 // wide, (1 << 32) // wide), -(-height // _BUCKETS))
        self._kind = np.dtype(np.uint32 if self._rows * wide <= 1 << 32 else np.uint64)
        count = -(-height // self._rows)
        self._pieces: list[list[_Keys]] = [[] for _ in range(count)]
        self._extents: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        self._pending: list[Counts] = []
        self._waiting = self._held = 0
        self._most = max(1 << 10, min(_PENDING, room // 64))
        self._file: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._pieces, self._extents, self._pending = [], [], []
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, rows: NDArray[Any], cols: NDArray[Any]) -> None:
        """More pairs. Raises StorageError when the disk is full."""
        for at in range(0, rows.size, self._most):
            some = slice(at, at + self._most)
            self._pending.append(rows[some].astype(np.int64) * self.width + cols[some])
            self._waiting += self._pending[-1].size
            if self._waiting >= self._most:
                self._sort_in()
        self.added += rows.size

    def _sort_in(self) -> None:
        keys = np.concatenate([np.empty(0, np.int64), *self._pending])
        self._pending, self._waiting = [], 0
        area = self._rows * self.width
        bounds = np.arange(len(self._pieces) + 1, dtype=np.int64) * area
        buckets = keys // max(area, 1)
        if (buckets[1:] < buckets[:-1]).any():  # a join finds most pairs in the order of rows
            keys.sort()
            cuts = np.searchsorted(keys, bounds)
        else:
            cuts = np.searchsorted(buckets, np.arange(bounds.size))
        for bucket in np.flatnonzero(cuts[1:] > cuts[:-1]).tolist():
            mine = keys[cuts[bucket] : cuts[bucket + 1]]
            piece = (mine - bounds[bucket]).astype(self._kind)
            self._pieces[bucket].append(piece)
            self._held += piece.nbytes
        if self._held > self.room // 2:
            self._write_out()

    def _write_out(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115, closed in close
            for bucket, pieces in enumerate(self._pieces):
                if pieces:
                    self._append(bucket, np.concatenate(pieces))
                    pieces.clear()
        except OSError as error:
            raise StorageError(
                f"The pairs of documents do not fit the disk after {self.written:,} bytes: "
                f"{error.strerror}.",
                hint="Free some space, set TMPDIR to a larger disk, or ask for more in the rule.",
            ) from error
        self._held = 0

    def _append(self, bucket: int, keys: _Keys) -> None:
        left = keys.data.cast("B")
        self._extents[bucket].append((self.written, keys.size))
        while left:
            done = os.pwrite(self._file.fileno(), left, self.written)
            self.written += done
            left = left[done:]

    def raw(self) -> Iterator[tuple[int, _Keys]]:
        """All pairs as they were added: the first row of a bucket, and places in its table.

        Doubled ones may come twice. Places are as the keys of `Rows`, by the whole width.
        """
        self._sort_in()
        for bucket in range(len(self._pieces)):
            for keys in self._read(bucket):
                yield bucket * self._rows, keys

    def _read(self, bucket: int) -> Iterator[_Keys]:
        yield from self._pieces[bucket]
        for start, count in self._extents[bucket]:
            for at in range(0, count, SLICE):
                keys: _Keys = np.empty(min(SLICE, count - at), self._kind)
                view, done = keys.data.cast("B"), 0
                while done < keys.nbytes:
                    place = start + at * self._kind.itemsize + done
                    got = os.preadv(self._file.fileno(), [view[done:]], place)
                    if not got:
                        raise StorageError(
                            "The temporary file of pairs is cut short.", hint="Run it again."
                        )
                    done += got
                yield keys

    def blocks(self, width: int | None = None) -> Iterator[Rows]:
        """All rows in order, each complete, in blocks that take a part of the room.

        `width` is how many of the columns are used, if fewer. Rows without a pair are there too.
        """
        self._sort_in()
        used = self.width if width is None else width
        for bucket in range(len(self._pieces)):
            first = bucket * self._rows
            height = min(self._rows, self.height - first)
            held = sum(piece.size for piece in self._pieces[bucket])
            count = held + sum(size for _, size in self._extents[bucket])
            cuts = [0, height]
            if min(height * used, _DENSE * count) > self.room // 4:
                cuts = self._cuts(bucket, height, used)
            for low, high in pairwise(cuts):
                yield self._block(bucket, low, high, used)

    def _cuts(self, bucket: int, height: int, used: int) -> list[int]:
        """Where to cut a bucket that does not fit: a block is one row at least."""
        lengths = np.zeros(height, np.int64)
        for keys in self._read(bucket):
            lengths += np.bincount((keys // self.width).astype(np.int64), minlength=height)
        before = starts_of(lengths)
        most = self.room // 4
        flat = max(1, most // max(used, 1))  # rows that fit as a table, however long they are
        cuts = [0]
        while cuts[-1] < height:
            fit = int(before[cuts[-1]]) + most // _DENSE
            end = int(np.searchsorted(before, fit, side="right")) - 1
            cuts.append(min(height, max(cuts[-1] + flat, end)))
        return cuts

    def _block(self, bucket: int, low: int, high: int, used: int) -> Rows:
        first = bucket * self._rows + low
        whole = low == 0 and high == min(self._rows, self.height - bucket * self._rows)
        begin, end = low * self.width, high * self.width
        parts: list[Counts] = []
        found = 0
        table: Flags | None = None
        area = (high - low) * used
        for keys in self._read(bucket):
            mine = keys if whole else keys[(keys >= begin) & (keys < end)]
            places = mine.astype(np.int64)
            if not whole:
                places -= begin
            if used != self.width:
                rows = places // self.width
                places -= rows * (self.width - used)
            found += places.size
            parts.append(places)
            if table is None and found * _DENSE >= area:
                table = np.zeros(area, np.bool_)
            if table is not None:
                for part in parts:
                    table[part] = True
                parts.clear()
        joined = np.concatenate([np.empty(0, np.int64), *parts])
        joined.sort()
        flags = None if table is None else table.reshape(high - low, used)
        return Rows(first, high - low, used, flags, joined[begins(joined)])


def gathered(
    count: int, blocks: Iterable[Edges], *, most: int = MOST, room: int = ROOM
) -> list[Edges] | PairSpool:
    """The pairs of so many documents as they come, up to `most`; with more, all in a spool."""
    found: list[Edges] = []
    spool: PairSpool | None = None
    held = 0
    with ExitStack() as unfinished:
        for edges in blocks:
            found.append(edges)
            held += len(edges)
            if spool is None and held > most:
                spool = unfinished.enter_context(PairSpool(count, room=room))
            if spool is not None:
                for each in found:
                    spool.add(each.i, each.j)
                found.clear()
        unfinished.pop_all()
    return found if spool is None else spool
