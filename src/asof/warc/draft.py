"""An exchange that is to be kept, before its records are made: making them is the writer's work."""

from __future__ import annotations

from typing import NamedTuple

from asof.model import Capture, Exchange, Target
from asof.warc.build import exchange_records
from asof.warc.record import Record


class Draft(NamedTuple):
    """What the records of one exchange are made of; see `exchange_records`."""

    exchange: Exchange
    target: Target
    record_id: str
    refers_to: Capture | None = None

    @property
    def size(self) -> int:
        """Bytes that wait in memory."""
        exchange = self.exchange
        return len(exchange.request) + len(exchange.head) + len(exchange.body.data)

    def records(self) -> tuple[Record, ...]:
        """The request, the response or revisit, and the metadata."""
        return exchange_records(
            self.exchange,
            target=self.target,
            refers_to=self.refers_to,
            record_id=self.record_id,
        )

    def discard(self) -> None:
        """Remove the spool file of the body, if there is one."""
        self.exchange.body.discard()
