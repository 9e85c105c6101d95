"""Rows of the table of targets, as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from asof.model import Target

# To be selected first; what else a query wants comes after it.
TARGET = "url, depth, via, hops, priority, tries, guess"


def as_target(row: Sequence[Any]) -> Target:
    """The target whose columns a row begins with."""
    return Target(row[0], row[1], row[2], row[3], row[4], row[5], row[6] != 0)
