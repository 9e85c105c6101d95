"""`asof crawl --plan-only`: the order of visits and what it promises, before they are made."""

from __future__ import annotations

import math
from collections import Counter

import click

from asof.cli.output import print_json
from asof.cli.view import duration, printable
from asof.coherence.verdict import Mode
from asof.crawl import CrawlRequest
from asof.crawl.plan import HostPlan, Itinerary
from asof.crawl.run import plan_crawl
from asof.report.words import percent
from asof.url import host_of

_SHOWN = 5
_MINUTE = 60
_WORDS = {
    "fifo": "visits as found, revisits in the same order",
    "lifo": "visits as found, revisits backwards",
    "threshold": "Spaniol et al. 2009, Figures 7 and 8",
    "optimal": "the best order for the rates that are known",
    "auto": "the best of all for what is known",
}


def show_plan(request: CrawlRequest, *, as_json: bool) -> None:
    """Make the plan and print it."""
    itinerary = plan_crawl(request)
    if as_json:
        print_json(plan_json(itinerary))
    else:
        _print(itinerary)


def plan_json(itinerary: Itinerary) -> dict[str, object]:
    """The shape of a plan in JSON; `slot` is how long a page must stay as it is, in seconds.

    `dead` counts the URLs that answered with an error last time, which are asked again first.
    """
    course = itinerary.course
    return {
        "mode": course.mode,
        "plan": course.plan,
        "eta": course.eta,
        "pages": course.pages,
        "expected": course.expected,
        "strategies": [
            {"name": name, "expected": expected} for name, expected in itinerary.candidates.items()
        ],
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
    chances = host.chances()
    rows = zip(host.plan.order.tolist(), host.plan.lengths.tolist(), chances.tolist(), strict=True)
    return [(host.targets[page].url, slot, round(chance, 6)) for page, slot, chance in rows]


def _print(itinerary: Itinerary) -> None:
    course = itinerary.course
    if not course.pages:
        click.echo("Nothing is known of these pages yet, so there is nothing to plan by.")
        click.echo("The first crawl visits pages as it finds them and learns how they change.")
        return
    hosts = len(itinerary.hosts)
    click.echo(
        f"{course.pages:,} pages are known on {hosts:,} {'host' if hosts == 1 else 'hosts'}. "
        f"Expected C ({course.mode}), the share that is coherent:"
    )
    for name, expected in itinerary.candidates.items():
        mark = "->" if name == course.plan else "  "
        eta = f" (eta {course.eta:g})" if name == "threshold" and course.eta is not None else ""
        click.echo(f"  {mark} {name:<10} {expected:.4f}   {_WORDS[name]}{eta}")
    _print_time(itinerary)
    twice = course.mode == Mode.INDUCIBLE
    since = "around the turning point" if twice else "from the first download on"
    for host in itinerary.hosts[:_SHOWN]:
        _print_host(host, since)
    if hosts > _SHOWN:
        click.echo(f"... and {hosts - _SHOWN:,} more hosts (--json has all of them)")


def _print_time(itinerary: Itinerary) -> None:
    """How long it takes: hosts are asked at the same time, so that the slowest one counts."""
    visits = max(host.seconds for host in itinerary.hosts)
    if dead := len(itinerary.dead):
        urls, are = ("1 URL", "is") if dead == 1 else (f"{dead:,} URLs", "are")
        click.echo(
            f"First {urls} that answered with an error last time {are} asked again:"
            f" about {_length(_first(itinerary))}."
        )
    again = ""
    if itinerary.course.mode == Mode.INDUCIBLE:
        revisits = max(_seen_again(host) * host.step for host in itinerary.hosts)
        is_whole = all(_seen_again(host) >= len(host.targets) - 1 for host in itinerary.hosts)
        again = ", the revisits " + ("as long again" if is_whole else _length(revisits))
    click.echo(f"The visits take about {_length(visits)}{again}.")


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


def _print_host(host: HostPlan, since: str) -> None:
    rows = _order(host)
    if not rows:
        return
    click.echo(f"{printable(host.host)}: {len(rows):,} pages, one each {host.step:.2f} s")
    click.echo(f"  {since}, the shortest slots first")
    for url, slot, chance in rows[:_SHOWN]:
        click.echo(f"    {_length(slot):>10}  {percent(chance):>7}  {printable(url)}")
    if len(rows) > _SHOWN:
        click.echo("  the longest slots, for pages that hardly change or are given up")
    for url, slot, chance in rows[_SHOWN:][-_SHOWN:]:
        click.echo(f"    {_length(slot):>10}  {percent(chance):>7}  {printable(url)}")


def _length(slot: float) -> str:
    if math.isinf(slot):
        return "not again"
    return f"{slot:.1f} s" if slot < _MINUTE else duration(slot)
