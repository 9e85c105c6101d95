"""`asof crawl --plan-only`: the order of visits and what it promises, before they are made."""

import math
from collections import Counter
from collections.abc import Iterator

from asof.coherence.verdict import Mode
from asof.crawl.plan import HostPlan, Itinerary
from asof.report.words import ARE, length, number, percent, printable
from asof.url import host_of

_SHOWN = 5
_WORDS = {
    "fifo": "visits as found, revisits in the same order",
    "lifo": "visits as found, revisits backwards",
    "threshold": "Spaniol et al. 2009, Figures 7 and 8",
    "optimal": "the best order for the rates that are known",
    "auto": "the best of all for what is known",
}


def plan_json(itinerary: Itinerary) -> dict[str, object]:
    """The shape of a plan in JSON; `slot` is how long a page must stay as it is, in seconds.

    `dead` counts the URLs that answered with an error last time, which are asked again first.
    """
    names, candidates = ("mode", "plan", "eta", "pages", "expected"), itinerary.candidates.items()
    return {
        **{name: getattr(itinerary.coherence_plan, name) for name in names},
        "strategies": [{"name": name, "expected": expected} for name, expected in candidates],
        "dead": len(itinerary.dead),
        "hosts": [_host_json(host) for host in itinerary.hosts],
    }


def _host_json(host: HostPlan) -> dict[str, object]:
    return {
        "host": host.host,
        "pages": len(host.targets),
        "step": round(host.step, 6),
        "order": [
            {"url": url, "slot": None if math.isinf(slot) else round(slot, 6), "survival": chance}
            for url, slot, chance in _order(host)
        ],
    }


def _order(host: HostPlan) -> list[tuple[str, float, float]]:
    """URL, slot and chance of each page, the shortest slot first; nothing without a plan."""
    if host.plan is None:
        return []
    columns = host.plan.order, host.plan.lengths, host.chances()
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [(host.targets[page].url, slot, round(chance, 6)) for page, slot, chance in rows]


def plan_lines(itinerary: Itinerary) -> Iterator[str]:
    plan = itinerary.coherence_plan
    if not plan.pages:
        yield "Nothing is known of these pages yet, so there is nothing to plan by."
        yield "The first crawl visits pages as it finds them and learns how they change."
        return
    hosts = len(itinerary.hosts)
    yield (
        f"{number(plan.pages, 'page', ARE)} known on {number(hosts, 'host')}. "
        f"Expected C ({plan.mode}), the share that is coherent:"
    )
    for name, expected in itinerary.candidates.items():
        mark = "->" if name == plan.plan else "  "
        has_eta = name == "threshold" and plan.eta is not None
        eta = f" (eta {plan.eta:g})" if has_eta else ""
        yield f"  {mark} {name:<10} {expected:.4f}   {_WORDS[name]}{eta}"
    yield from _time_lines(itinerary)
    twice = plan.mode == Mode.INDUCIBLE
    since = "around the turning point" if twice else "from the first download on"
    for host in itinerary.hosts[:_SHOWN]:
        yield from _host_lines(host, since)
    if hosts > _SHOWN:
        yield f"... and {number(hosts - _SHOWN, 'more host')} (--json has all of them)"


def _time_lines(itinerary: Itinerary) -> Iterator[str]:
    """How long it takes: hosts are asked at the same time, so that the slowest one counts."""
    visits = max(host.seconds for host in itinerary.hosts)
    if dead := len(itinerary.dead):
        yield (
            f"First {number(dead, 'URL')} that answered with an error last time"
            f" {ARE[dead != 1]} asked again:"
            f" about {_length(_first(itinerary))}."
        )
    again = ""
    if itinerary.coherence_plan.mode == Mode.INDUCIBLE:
        revisits = max(_seen_again(host) * host.step for host in itinerary.hosts)
        is_whole = all(_seen_again(host) >= len(host.targets) - 1 for host in itinerary.hosts)
        again = ", the revisits " + ("as long again" if is_whole else _length(revisits))
    yield f"The visits take about {_length(visits)}{again}."


def _first(itinerary: Itinerary) -> float:
    """Seconds that dead URLs take; on a host of which no page is known as long as elsewhere."""
    steps = {host.host: host.step for host in itinerary.hosts}
    usual = max(steps.values())
    counts = Counter(host_of(target.url) for target in itinerary.dead)
    return max(count * steps.get(host, usual) for host, count in counts.items())


def _seen_again(host: HostPlan) -> int:
    """How many pages are looked at again: all without a plan, else all that have a slot."""
    if host.plan is None:
        return len(host.targets)
    return sum(math.isfinite(slot) and slot > 0 for slot in host.plan.lengths.tolist())


def _host_lines(host: HostPlan, since: str) -> Iterator[str]:
    rows = _order(host)
    if not rows:
        return
    yield f"{printable(host.host)}: {number(len(rows), 'page')}, one each {host.step:.2f} s"
    yield f"  {since}, the shortest slots first"
    for place, (url, slot, chance) in enumerate(rows[:_SHOWN] + rows[_SHOWN:][-_SHOWN:]):
        if place == _SHOWN:
            yield "  the longest slots, for pages that hardly change or are given up"
        yield f"    {_length(slot):>10}  {percent(chance):>7}  {printable(url)}"


def _length(slot: float) -> str:
    return "not again" if math.isinf(slot) else length(slot)
