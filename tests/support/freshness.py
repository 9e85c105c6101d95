"""What was seen of pages, one page at a time."""

from __future__ import annotations

from asof.freshness.history import Gap, Observed


def gaps_of(observed: Observed, page: int) -> tuple[Gap, ...]:
    part = slice(observed.offsets[page], observed.offsets[page + 1])
    found = zip(observed.lengths[part].tolist(), observed.changed[part].tolist(), strict=True)
    return tuple(Gap(length, changed) for length, changed in found)
