"""The life of a target, as one table.

    queued ──captured──▶ done            a response was stored (whatever its status)
       │ ────stumbled──▶ queued          a failure that may pass; waits, while tries remain
       │ ────given_up──▶ failed          a failure that will not pass, or the last try
       └ ────refused───▶ left_out        robots.txt or a rule said no after it was queued
    left_out: also the state of what was found and never queued, kept for the report by reason;
    found again nearer to a seed, it is queued after all.

A target in flight stays `queued` in the database: after a crash it is simply taken again, so
there are no leases to reset. done, failed and left_out are final within one crawl, but for a record
that is adopted after a crash: its target is done, even if a later life has settled it otherwise.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from asof.model import Target

# The columns of a target, to be selected first; what else a query wants comes after them.
TARGET = "url, depth, via, hops, priority, tries, guess"


class TargetState(StrEnum):
    """Where a target stands."""

    QUEUED = "queued"
    DONE = "done"
    FAILED = "failed"
    LEFT_OUT = "left_out"


class Event(StrEnum):
    """What happened to a target."""

    CAPTURED = "captured"
    STUMBLED = "stumbled"
    GIVEN_UP = "given_up"
    REFUSED = "refused"


TRANSITIONS = {
    Event.CAPTURED: TargetState.DONE,
    Event.STUMBLED: TargetState.QUEUED,
    Event.GIVEN_UP: TargetState.FAILED,
    Event.REFUSED: TargetState.LEFT_OUT,
}


def error_of(status: int | None) -> str | None:
    """Why an answer that was stored is only an error, as the reason that its target keeps."""
    return f"status {status}" if status is not None and status >= 400 else None


def as_target(row: Sequence[Any]) -> Target:
    """The target whose columns a row begins with."""
    return Target(row[0], row[1], row[2], row[3], row[4], row[5], row[6] != 0)
