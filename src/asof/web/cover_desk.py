"""All addresses about covers: saved ones, their rules, their runs, and orders about them."""

from collections.abc import Iterator
from functools import partial

from starlette.routing import BaseRoute, Route

from asof.web.cover_files import CoverFiles
from asof.web.cover_runs import CoverRuns
from asof.web.covers import Covers
from asof.web.machine import route
from asof.web.orders import PLACE
from asof.web.pages import Pages
from asof.web.questions import Questions
from asof.web.rules import Rules


def cover_desk(pages: Pages, questions: Questions) -> Iterator[BaseRoute]:
    """The addresses of one archive."""
    answered = partial(route, pages.inside)
    rules, files = Rules(pages, questions), CoverFiles(pages)
    runs = CoverRuns(pages, rules)
    covers = Covers(pages, runs.last)
    yield Route("/covers", covers.all)
    yield Route("/covers/{name}", covers.one)
    yield Route("/covers/{name}/table.csv", files.table)
    yield Route("/covers/{name}/reading-list.html", files.reading_list)
    yield Route("/-/rule", rules.page)
    yield answered("/-/api/cover", files.json)
    yield answered("/-/api/cover/check", rules.check)
    yield answered("/-/api/cover/estimate", rules.estimate)
    yield answered("/-/api/cover/run", runs.json)
    for order in (runs.start, runs.stop, runs.delete):
        place = f"{PLACE}cover/{order.__name__}"
        yield Route(place, pages.orders.endpoint(order), methods=["POST"])
