"""What is known of a site as of a moment, in JSON and in words."""

from collections import Counter
from collections.abc import Iterator, Mapping, Set

from asof.clock import SECOND, Instant, iso, maybe_iso
from asof.replay.site import THERE, Standing
from asof.replay.site_moments import Moments
from asof.replay.sites import Site
from asof.report.words import moment, number, readable

# What each is called, and what that means.
LABELS = {
    Standing.PROVEN: ("proven", "there: the same bytes before the moment and after it"),
    Standing.CONFIRMED: ("confirmed", "there: the server says so (304 by a strong validator)"),
    Standing.CLAIMED: ("claimed", "there: the server only says so, by a date or a weak 304"),
    Standing.POSSIBLE: ("possible", "there when it was seen last before the moment"),
    Standing.ELSEWHERE: ("moved", "a redirect"),
    Standing.GONE: ("gone", "the server said that it is gone"),
    Standing.SILENT: ("no proof", "nothing but errors and refusals by then"),
    Standing.NOT_YET: ("not yet", "seen later only"),
}


def counted(site: Site, at: Instant) -> dict[Standing, int]:
    """How many addresses there are of each standing."""
    found = Counter(each.at(at) for each in site.courses)
    return {standing: found[standing] for standing in Standing}


def site_json(site: Site, at: Instant) -> dict[str, object]:
    """The shape of a site in every JSON output."""
    told = []
    for each in site.courses:
        since, until = map(maybe_iso, each.stretch(at))
        told.append({"url": each.url, "standing": each.at(at), "since": since, "until": until})
    return {
        "prefix": site.prefix,
        "at": iso(at),
        "addresses": len(site.courses),
        "counts": {standing.value: count for standing, count in counted(site, at).items()},
        "urls": told,
        "over_time": None if site.moments is None else _over_time_json(site.moments),
        "next": site.next,
    }


def _over_time_json(found: Moments) -> dict[str, object]:
    axis = found.axis
    return {
        "from": iso(axis.start * SECOND),
        "to": iso(axis.moment(axis.steps)),
        "steps": axis.steps,
        "there": found.there,
        "new": [
            {"at": iso(axis.moment(burst.step)), "answers": burst.answers} for burst in found.bursts
        ],
    }


def site_lines(site: Site, at: Instant) -> Iterator[str]:
    """For a terminal: a line for each address."""
    for each in site.courses:
        yield f"{LABELS[each.at(at)][0]:<9}  {readable(each.url)}"


def summary(site: Site, at: Instant) -> str:
    """`12 addresses as of 2 Mar 2026, 12:00:00 (UTC): 8 there (5 proven, 3 possible), 4 gone`."""
    counts = counted(site, at)
    known = ", ".join(_several(counts, THERE))
    there = sum(counts[standing] for standing in THERE)
    told = [
        f"{there:,} there{f' ({known})' if known else ''}",
        *_several(counts, set(Standing) - THERE),
    ]
    named = number(len(site.courses), "address")
    return f"{named} as of {moment(at)} (UTC): {', '.join(told)}"


def _several(counts: Mapping[Standing, int], some: Set[Standing]) -> Iterator[str]:
    for standing, count in counts.items():
        if count and standing in some:
            yield f"{count:,} {LABELS[standing][0]}"
