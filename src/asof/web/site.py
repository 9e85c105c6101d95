"""A site as of a moment: its tree with what is known of each address, by page and as JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from asof.clock import Instant, parse_moment, stamp, whole_second
from asof.errors import UsageError
from asof.replay.site import HELD, Standing
from asof.replay.site_moments import LETTER, Moments
from asof.replay.sites import Site, Sites
from asof.report.site_words import LABELS, counted, site_json
from asof.web import address
from asof.web.home import HOSTS_A_PAGE
from asof.web.machine import json_answer
from asof.web.pages import Pages, number_in
from asof.web.site_rows import Tree


class SiteMap:
    """Of one archive. Its public methods are endpoints; they run in a thread."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._sites = Sites(pages.archive)

    def page(self, request: Request) -> Response:
        query, pages = request.query_params, self._pages
        url, at = (query.get(name, "").strip() for name in ("url", "at"))
        if not url:
            hosts = pages.listing.hosts("", HOSTS_A_PAGE)
            return pages.render("site.html", prefix="", at=at, hosts=hosts, site=None)
        site, moment = self._asked(request)
        standings = [each.at(moment) for each in site.courses]
        rows, last = Tree(site.courses, standings).page(page := number_in(query, "page", 1))
        after, digits, known = query.get("after", ""), stamp(moment), site.moments
        counts = counted(site, moment)
        slider = None if known is None else _slider(known, moment)
        return pages.live(
            "site.html", scripts=["site.js"] if slider else [], prefix=url, at=at, site=site,
            moment=moment, counts=counts, held=sum(counts[each] for each in HELD),
            labels=LABELS, rows=rows, page=min(page, last), last=last, digits=digits,
            slider=slider, after=after, folder=partial(address.site, at=digits),
            as_of=lambda at: address.site(url, after=after, at=stamp(at)),
            paged=lambda number: address.site(url, after=after, page=number, at=digits),
            onward=address.site(url, after=site.next or "", at=digits),
        )  # fmt: skip

    def json(self, request: Request) -> Response:
        if not request.query_params.get("url", "").strip():
            raise UsageError("That question is about a site.", hint="Add url=http://example.org/.")
        site, moment = self._asked(request)
        return json_answer(site_json(site, moment))

    def _asked(self, request: Request) -> tuple[Site, Instant]:
        query = request.query_params
        moment = parse_moment(query.get("at", "").strip() or "now", self._pages.clock.now())
        site = self._sites.of(query["url"].strip(), query.get("after", ""))
        return site, whole_second(moment)


@dataclass(frozen=True, slots=True)
class Slider:
    """The step that it stands at, the picture above it, and what its script colours by."""

    place: int
    outlines: Sequence[tuple[str, str]]
    data: Markup


def _slider(found: Moments, moment: Instant) -> Slider:
    return Slider(found.axis.step_of(moment), [*_outlines(found)], data_of(found))


def data_of(found: Moments) -> Markup:
    """What the script colours by: as JSON, in which nothing ends the element around it."""
    axis = found.axis
    told = {
        "start": axis.start, "end": axis.end, "steps": axis.steps, "patterns": found.patterns,
        "of": found.pattern_of, "held": sorted(HELD),
        "kinds": {LETTER[each]: [each.value, LABELS[each][0]] for each in Standing},
    }  # fmt: skip
    return Markup(json.dumps(told, separators=(",", ":")).replace("<", "\\u003c"))


def _outlines(found: Moments) -> Iterator[tuple[str, str]]:
    """How many addresses were there, and of how many that is known on both sides."""
    whole = len(found.pattern_of)
    held = zip(*(found.counts[each] for each in HELD), strict=True)
    yield "there", _outline(found.there, whole)
    yield "held", _outline([*map(sum, held)], whole)


def _outline(counts: Sequence[int], whole: int) -> str:
    """A picture in percent of all: it only turns where a count is another one."""
    told, before = "M0 100", -1
    for step, count in enumerate(counts):
        if count != before:
            told += f"H{step}V{100 - 100 * count / whole:.1f}"
            before = count
    return f"{told}H{len(counts) - 1}V100Z"
