"""The life of a target, as one table.

    queued ──captured──▶ done            a response was stored (whatever its status)
       │ ────stumbled──▶ queued          a failure that may pass; waits, while tries remain
       │ ────given_up──▶ failed          a failure that will not pass, or the last try
       └ ────refused───▶ left_out        robots.txt or a rule said no after it was queued
    left_out: also the state of what was found and never queued, kept for the report by reason;
    found again nearer to a seed, it is queued after all.

A target in flight stays `queued` in the database: after a crash it is simply taken again, so
there are no leases to reset. done, failed and left_out are final within one crawl.
"""

from __future__ import annotations

from enum import StrEnum


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


TRANSITIONS: dict[tuple[TargetState, Event], TargetState] = {
    (TargetState.QUEUED, Event.CAPTURED): TargetState.DONE,
    (TargetState.QUEUED, Event.STUMBLED): TargetState.QUEUED,
    (TargetState.QUEUED, Event.GIVEN_UP): TargetState.FAILED,
    (TargetState.QUEUED, Event.REFUSED): TargetState.LEFT_OUT,
    # Adopting a record after a crash may find its target already settled by a later life.
    (TargetState.DONE, Event.CAPTURED): TargetState.DONE,
    (TargetState.FAILED, Event.CAPTURED): TargetState.DONE,
    (TargetState.LEFT_OUT, Event.CAPTURED): TargetState.DONE,
}
