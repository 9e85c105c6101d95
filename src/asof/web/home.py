"""The first page of an archive: its sites, its crawls, its covers, and how much there is."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from asof.catalog.inventory import Holding, Inventory, is_short, month_of
from asof.catalog.listing import Host
from asof.clock import DAY
from asof.cover.kept.saved_covers import saved_covers
from asof.crawl.summary import Summary, summary_of
from asof.model import Crawl, CrawlState
from asof.report.words import day, month
from asof.web.pages import Pages
from asof.web.sparkline import Sparkline, sparkline

HOSTS_A_PAGE = 50
CRAWLS_SHOWN = 12
COVERS_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Site:
    """A host, what is held of it, its picture, and when most was captured; nothing but the first
    while a count is under way.
    """

    host: Host | Holding
    held: Holding | None = None
    picture: Sparkline | None = None
    fullest: str = ""


class Home:
    """Of one archive. Its public method is an endpoint; it runs in a thread."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def page(self, request: Request) -> Response:
        pages, after = self._pages, request.query_params.get("after", "")
        inventory = pages.stock.inventory(after, HOSTS_A_PAGE + 1)
        sites = self._sites(inventory, after)
        crawls = pages.archive.crawls()
        covers = saved_covers(pages.archive.folder)
        return pages.live(
            "home.html", covers=covers[:COVERS_SHOWN], cover_count=len(covers),
            facts=pages.facts(inventory), after=after, sites=sites[:HOSTS_A_PAGE],
            crawls=[(each, _outcome(each)) for each in crawls[: -CRAWLS_SHOWN - 1 : -1]],
            more=sites[HOSTS_A_PAGE - 1].host.key if len(sites) > HOSTS_A_PAGE else "",
        )  # fmt: skip

    def _sites(self, inventory: Inventory | None, after: str) -> list[Site]:
        if inventory is None:
            return [*map(Site, self._pages.listing.hosts(after, HOSTS_A_PAGE + 1))]
        first, last = inventory.totals.first, inventory.totals.last
        by_day = is_short(first, last)
        ends = (first // DAY, last // DAY) if by_day else (month_of(first), month_of(last))
        return [_pictured(each, ends, by_day=by_day) for each in inventory.holdings]


def _pictured(held: Holding, ends: tuple[int, int], *, by_day: bool) -> Site:
    picture = sparkline(held.days if by_day else held.months, *ends)
    fullest = f"on {day(picture.place * DAY)}" if by_day else f"in {month(picture.place)}"
    return Site(held, held, picture, fullest)


def _outcome(crawl: Crawl) -> Summary | None:
    """What was kept with a crawl that has ended; of another one, only counting its queue tells."""
    return summary_of(crawl) if crawl.state is CrawlState.FINISHED and crawl.note else None
