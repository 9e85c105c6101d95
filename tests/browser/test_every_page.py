"""Every page of `asof serve`, of the demo, of a long history and of nothing, by the same rules.

axe finds nothing in light and dark, nothing needs scrolling to the side, moves while it loads, ends
on the console or weighs more than 150 KB, and no word stands out too little from what is behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from asof.api import Archive
from asof.clock import DAY, stamp
from support import many_captures, rig, served_archive
from support.judged_pages import axe, complaints, shifted, transferred

pytestmark = pytest.mark.needs("chromium", "replay")

PAPER = "http://harbour-gazette.example/"
RULE = "C(d1,d2) >= 0.9"
NAMES = {
    "home": "/",
    "hosts after one": "/?after=zz",
    "captures": f"/captures?url={PAPER}",
    "captures at": f"/captures?url={PAPER}&at=NEW",
    "captures of a day": f"/captures?url={PAPER}&on=DAY",
    "captures of another year": f"/captures?url={PAPER}&on=1999",
    "prefix": f"/captures?prefix={PAPER}",
    "prefix of nothing": "/captures?prefix=http://nowhere.example/",
    "search": "/search",
    "found": "/search?q=lighthouse",
    "found of a time": "/search?q=lighthouse&at=OLD&sort=newest&fold=no",
    "not found": "/search?q=zeppelin",
    "wrong": "/search?q=" + quote("(lighthouse"),
    "site": f"/site?url={PAPER}",
    "site at": f"/site?url={PAPER}&at=OLD",
    "site of nothing": "/site?url=http://nowhere.example/",
    "which site": "/site",
    "compare": f"/compare/OLD/NEW/{PAPER}",
    "compare texts": f"/compare/text/OLD/NEW/{PAPER}",
    "compare sources": f"/compare/source/OLD/NEW/{PAPER}",
    "composition": f"/-/composition/NEW/{PAPER}",
    "quality": "/quality",
    "quality of a part": f"/quality?prefix={PAPER}&at=NEW",
    "quality of nothing": "/quality?crawl=none",
    "crawls": "/crawls",
    "crawl": "/crawls/CRAWL",
    "no crawl": "/crawls/none",
    "covers": "/covers",
    "cover": "/covers/news",
    "rule": "/-/rule",
    "rule that is wrong": "/-/rule?relation=" + quote("C(d1,d2) >= 0.9 and host(d1) = 1"),
    "rule that is right": f"/-/rule?estimate=yes&relation={quote(RULE)}",
    "about": "/-/about",
    "nothing here": "/-/nowhere",
    "not captured": f"/2026/{PAPER}nowhere",
    "not yet": f"/2001/{PAPER}",
    "no moment": f"/captures?url={PAPER}&at=someday",
    "memento": f"/NEW/{PAPER}",
}
EMPTY = (
    "/",
    "/search?q=x",
    "/quality",
    "/crawls",
    "/covers",
    "/captures?prefix=http://a.example/",
    "/captures?url=a",
    "/site",
    "/site?url=a.example",
)
OFTEN = "http://often.example/"
MANY = ("/", f"/captures?url={OFTEN}", f"/captures?url={OFTEN}&on=2031-05", f"/site?url={OFTEN}")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The address of each page by its name."""
    place = tmp_path_factory.mktemp("pages")
    rig.ok("demo", "--no-serve", "-a", place / "newspaper")
    rig.ok("cover", RULE, "-a", place / "newspaper", "--save", "news")
    with Archive.open(place / "newspaper") as archive:
        crawl = archive.crawls()[-1].id
        times = sorted(capture.at for capture in archive.captures(url=PAPER))
    served_archive.build(place / "empty", ())
    step = 25 * 365 * DAY // 20_000
    rows = (many_captures.capture(OFTEN, number, step=step) for number in range(20_000))
    many_captures.build(place / "many", rows)
    with (
        served_archive.serving(place / "newspaper") as paper,
        served_archive.serving(place / "empty") as empty,
        served_archive.serving(place / "many") as many,
    ):
        named = {
            name: paper.url
            + page.replace("OLD", stamp(times[0]))
            .replace("NEW", stamp(times[-1]))
            .replace("CRAWL", crawl)
            .replace("DAY", stamp(times[-1])[:8])
            for name, page in NAMES.items()
        }
        named |= {f"many {page}": many.url + page for page in MANY}
        yield named | {f"empty {page}": empty.url + page for page in EMPTY}


@pytest.mark.parametrize(
    "name", [*NAMES, *(f"many {page}" for page in MANY), *(f"empty {page}" for page in EMPTY)]
)
def test_it_keeps_the_rules(browser: Any, pages: dict[str, str], name: str) -> None:
    wrong: dict[str, object] = {}
    for scheme, width in (("light", 1280), ("dark", 390)):
        browser.size(width)
        browser.scheme(scheme)
        browser.open(pages[name])
        wrong |= {
            f"{scheme}: axe": axe(browser),
            f"{scheme}: legible": browser.illegible(),
            f"{scheme}: shift": [moved] if (moved := shifted(browser)) > 0 else [],
            f"{scheme}: console": complaints(browser),
            f"{scheme}: weight": [size] if (size := transferred(browser)) > 150_000 else [],
            f"{scheme}: width": [wide] if (wide := _width(browser)) > width else [],
        }
    assert {rule: found for rule, found in wrong.items() if found} == {}


@pytest.mark.parametrize("width", [700, 2560])
def test_no_width_needs_scrolling_to_the_side(
    browser: Any, pages: dict[str, str], width: int
) -> None:
    browser.size(width)
    for name, page in pages.items():
        browser.open(page)
        assert _width(browser) <= width, name


def _width(browser: Any) -> int:
    return int(browser.evaluate("document.documentElement.scrollWidth"))


def test_the_rules_can_be_broken(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text(
        "<html><body><img src='data:,'><p style='color:#888;background:#999'>faint<script>"
        "console.error('no'); setTimeout(() => document.body.prepend('x'.repeat(20000)), 50)"
        "</script>"
    )
    browser.open(f"file://{tmp_path}/bad.html")
    browser.settle(0.5)
    found = {each.partition(":")[0] for each in axe(browser)}
    assert {"image-alt", "html-has-lang", "color-contrast"} <= found
    assert complaints(browser)
    assert browser.illegible()
    assert shifted(browser) > 0
