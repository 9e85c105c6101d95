"""Records on their way into the archive, gathered into groups that are committed as one.

A group is written when it has 64 records or is a second old; what comes in while the disk is busy
makes the next one larger. `asof.archive.commit` writes it.
"""

from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from asof.clock import Clock, Instant
from asof.config import Config
from asof.errors import StorageError
from asof.model import Capture, Exchange, Target
from asof.warc.build import exchange_records
from asof.warc.record import Record

# Bytes that wait in memory for their commit, at most about so many.
GROUP_BYTES = 8 << 20

# The records that a draft makes: request, answer, metadata.
_DRAFTED = 3


class Draft(NamedTuple):
    """An exchange that is to be kept; making its records is the writer's work."""

    exchange: Exchange
    target: Target
    record_id: str
    refers_to: Capture | None = None


Unit = Draft | tuple[Record, ...]


def records_of(unit: Unit) -> tuple[Record, ...]:
    """The records of a unit, made now if they are not yet."""
    if not isinstance(unit, Draft):
        return unit
    exchange, target, record_id, refers_to = unit
    try:
        return exchange_records(exchange, target=target, refers_to=refers_to, record_id=record_id)
    except OSError as error:
        raise StorageError(
            f"A body that was received cannot be read back: {error.strerror}.",
            hint="Look after the disk, then run the same command again; nothing else is lost.",
        ) from error


@dataclass(slots=True)
class CommitGroup:
    """Records that are committed together, in units that are not torn apart by a new file."""

    units: list[Unit] = field(default_factory=list)
    records: int = 0
    size: int = 0
    opened: float = 0.0
    taken: Instant = 0

    def discard(self) -> None:
        for unit in self.units:
            blocks = [(unit.exchange.body,)] if isinstance(unit, Draft) else [r.block for r in unit]
            for part in chain.from_iterable(blocks):
                part.discard()


@dataclass(slots=True)
class Journal:
    """The open group of one crawl."""

    _clock: Clock
    _config: Config
    _group: CommitGroup = field(default_factory=CommitGroup)

    @property
    def pending(self) -> int:
        """Records that have not been taken to be written."""
        return self._group.records

    @property
    def full(self) -> bool:
        """Whether so much waits that nothing should be added before it is written."""
        return self._group.size >= GROUP_BYTES

    def put(self, *records: Record) -> None:
        size = sum([record.size for record in records if record.in_memory])
        self._add(records, len(records), size)

    def draft(self, draft: Draft) -> None:
        exchange = draft.exchange
        size = len(exchange.request) + len(exchange.head) + len(exchange.body.data)
        self._add(draft, _DRAFTED, size)

    def _add(self, unit: Unit, records: int, size: int) -> None:
        group = self._group
        if not group.units:
            group.opened = self._clock.monotonic()
        group.units.append(unit)
        group.records += records
        group.size += size

    def due(self) -> bool:
        group = self._group
        if not group.units:
            return False
        if group.records >= self._config.group_records or self.full:
            return True
        return self._clock.monotonic() - group.opened >= self._config.group_seconds

    def take(self) -> CommitGroup:
        group, self._group = self._group, CommitGroup()
        group.taken = self._clock.now()
        return group
