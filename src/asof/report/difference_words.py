"""How a comparison of two captures is told: in a sentence, and as JSON."""

from asof.change.categories import Change
from asof.change.comparison import Comparison
from asof.change.difference import as_json
from asof.clock import stamp
from asof.report.words import percent


def sentence(change: Change) -> str:
    """`minor (by shingles, 98.0 % alike); links: 1 added, 0 removed`."""
    alike = "" if change.similarity is None else f", {percent(change.similarity)} alike"
    links = len(change.links_added), len(change.links_removed)
    changed = f"; links: {links[0]} added, {links[1]} removed" if any(links) else ""
    return f"{change.category.value} (by {change.stage.value}{alike}){changed}"


def comparison_json(found: Comparison) -> dict[str, object]:
    """The shape of a comparison in every JSON output."""
    return {
        "url": found.new.url,
        "from": stamp(found.old.at),
        "to": stamp(found.new.at),
        "states": list(found.states),
        **found.change.as_json(),
        "difference": as_json(found.difference),
    }
