"""How a cover is told, in a reading list, on a page and on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from asof.report.words import number, percent

if TYPE_CHECKING:
    from asof.clock import Instant
    from asof.cover.answer import Figures
    from asof.cover.estimate import Estimate
    from asof.cover.kept.saved_covers import CoverFacts, Gone
    from asof.cover.run import Dropped


@dataclass(frozen=True, slots=True)
class Shown:
    """A document as it is written on a page.

    `href` leads to it and `captures` to all of its address, where there are such; `at` is when it
    was captured.
    """

    name: str
    href: str = ""
    at: Instant | None = None
    title: str = ""
    captures: str = ""


@dataclass(frozen=True, slots=True)
class Covered:
    """A document that need not be kept; beside one of the same address, its time tells it."""

    shown: Shown
    same_address: bool
    measures: Dropped | Gone


def beside(by: Shown, shown: Shown, measures: Dropped | Gone) -> Covered:
    """A document below the one that covers it; what both share is said once."""
    if shown.title == by.title:
        shown = replace(shown, title="")
    return Covered(shown, shown.at is not None and shown.name == by.name, measures)


def proof(found: Figures | CoverFacts) -> str:
    """How sure it is that no smaller set would do."""
    if not found.complete:
        return "It was stopped: not all pairs were compared, so fewer might do."
    if found.optimal:
        return "No smaller set does: proven."
    if not found.gap:
        return "No smaller set does; that none of its size is better is not proven."
    return f"A smaller set could have up to {number(found.gap, 'document')} fewer; not proven."


def estimate_json(found: Estimate) -> dict[str, Any]:
    """The shape of an estimate in every JSON output: ranges, as their two ends."""
    seconds, edges, kept = found.seconds, found.edges, found.kept
    return {
        "documents": found.documents,
        "sample": round(found.sample, 6),
        "seconds": [round(seconds.low, 3), round(seconds.high, 3)],
        "edges": [int(edges.low), round(edges.high)],
        "kept": [round(kept.low, 6), round(kept.high, 6)],
    }


def estimate_lines(told: Mapping[str, Any]) -> Iterator[str]:
    """The same in words."""
    share, documents = percent(told["sample"]), number(told["documents"], "document")
    yield f"Expected of {documents}, by {share} of shingles:"
    yield "  {:,.1f} to {:,.1f} s".format(*told["seconds"])
    yield "  {:,} to {:,} pairs".format(*told["edges"])
    yield "  {} to {} of the documents stay".format(*map(percent, told["kept"]))
