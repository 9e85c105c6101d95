"""The pages of `asof serve` in a real browser: laid out, legible and complete at any width."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from support import served_archive
from support.served_archive import Page

pytestmark = pytest.mark.needs("chromium")

SITE = "http://site.example/"
LONG = f"{SITE}a_long_path/" + "part-of-it/" * 30 + "?" + "&".join(f"p{n}=v{n}" for n in range(30))
SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
START = datetime(2026, 1, 1, 10, tzinfo=UTC)
DAYS = [f"{START + timedelta(days=n):%Y-%m-%dT%H:%M:%SZ}" for n in range(24)]
LATER = "2026-04-01T00:00:00Z"
TWICE = "2026-02-01T00:00:00Z", "2026-02-01T10:00:00Z"
CONFIRMED = (("ETag", '"a"'), ("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT"))


def stored() -> Iterator[Page]:
    yield from (Page(SITE, at, b"<title>same</title>words") for at in DAYS)
    yield Page(SITE, LATER, b"<title>other</title>words")
    for at in TWICE:
        yield Page(SITE + "gone", at, b"<p>gone</p>", status="404 Not Found")
    yield Page(SITE + "broken", LATER, b"<p>broken</p>", status="503 Service Unavailable")
    yield Page(SITE + "sheet", LATER, b"x", SHEET)
    yield Page(LONG, LATER, b"<p>long</p>")
    yield Page(SITE + "held", DAYS[0], b"<p>held</p>", headers=CONFIRMED)
    led = (("Location", "https://www.site.example/loop"),)
    yield Page(SITE + "loop", LATER, status="301 Moved", headers=led)
    again = SITE + "held", DAYS[0]
    yield Page(again[0], DAYS[9], status="304 Not Modified", headers=CONFIRMED, same_as=again)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = served_archive.build(tmp_path_factory.mktemp("pages") / "a", stored(), seeds=(SITE,))
    with served_archive.serving(folder) as running:
        yield running


def seen(browser: Any, selector: str) -> bool:
    """Whether an element is shown whole, cut off by nothing around it."""
    found: bool = browser.evaluate(
        f"""(() => {{ const one = document.querySelector({selector!r});
        const box = one.getBoundingClientRect();
        let inside = box.width > 0 && box.left >= 0 && box.right <= innerWidth;
        for (let up = one.parentElement; up; up = up.parentElement)
          if (getComputedStyle(up).overflowX === "hidden")
            inside &&= box.right <= up.getBoundingClientRect().right + 0.5;
        return inside; }})()"""
    )
    return found


@pytest.mark.parametrize("width", [1280, 1000, 760, 400, 320])
@pytest.mark.parametrize(
    ("page", "at", "told"),
    [("gone", TWICE[0], "error 404"), ("gone", LATER, "error 404"), ("broken", LATER, "error 503")],
)
def test_the_banner_says_at_any_width_that_an_error_was_captured(
    browser: Any, server: Any, width: int, page: str, at: str, told: str
) -> None:
    stamp = re.sub(r"\D", "", at)
    browser.size(width)
    browser.open(f"{server.url}/{stamp}/{SITE}{page}")
    assert browser.evaluate("document.querySelector('.badge.error').innerText") == told
    assert seen(browser, ".badge.error")


def test_the_banner_of_a_page_says_nothing_of_errors(browser: Any, server: Any) -> None:
    browser.open(f"{server.url}/2026/{SITE}")
    assert browser.evaluate("document.querySelectorAll('.badge.error').length") == 0


ROWS = """[...document.querySelectorAll('.content li:not(.rest) > .when')]
.filter(row => row.checkVisibility()).map(row => row.getBoundingClientRect())
.map(box => [box.x, box.y])"""


@pytest.mark.parametrize("width", [1280, 400])
def test_many_captures_of_one_content_are_folded_and_unfold_in_line(
    browser: Any, server: Any, width: int
) -> None:
    browser.size(width, 3000)
    browser.open(f"{server.url}/captures?url={SITE}")
    folded = browser.evaluate(ROWS)
    assert len(folded) == 1 + 7
    told = "document.querySelector('.rest summary').innerText"
    assert browser.evaluate(told) == "17 more captures of the same content"
    x, y = browser.evaluate(
        "(box => [box.x + 20, box.y + box.height / 2])"
        "(document.querySelector('.rest summary').getBoundingClientRect())"
    )
    assert seen(browser, ".rest summary")
    browser.click(x, y)
    rows = browser.evaluate(ROWS)
    assert len(rows) == 1 + len(DAYS)
    assert len({x for x, _ in rows}) == 1  # one under the other,
    assert [y for _, y in rows] == sorted({y for _, y in rows})  # newest first, each its own line
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_the_capture_that_was_asked_for_is_not_folded_away(browser: Any, server: Any) -> None:
    for day, is_open in ((DAYS[12], True), (DAYS[-1], False), (DAYS[0], False)):
        browser.open(f"{server.url}/captures?url={SITE}&at={day}")
        assert browser.evaluate("document.querySelector('.rest details').open") is is_open
        assert browser.evaluate("document.querySelector('li.shown').checkVisibility()")


def test_few_captures_are_not_folded(browser: Any, server: Any) -> None:
    browser.open(f"{server.url}/captures?url={SITE}gone")
    assert browser.evaluate("document.querySelectorAll('.rest').length") == 0


def test_one_field_for_the_moment_and_one_date_of_it(browser: Any, server: Any) -> None:
    browser.size(1280)
    browser.open(f"{server.url}/captures?url={SITE}&at=2026-02")
    shown = "input[name=%s]:not([type=hidden])"
    fields = f"[...document.querySelectorAll('{shown}')].map(field => field.value)"
    assert browser.evaluate(fields % "at") == ["2026-02"]
    assert browser.evaluate(fields % "url") == [SITE]
    said = browser.evaluate("document.body.innerText")
    assert said.count("28 Feb 2026, 23:59:59") == 1
    # Another moment, and the page itself, are one press away.
    browser.evaluate("document.querySelector('#t').value = '2026-05'")
    for button, path in (("button.quiet", "/captures"), ("button", "/202605/")):
        browser.evaluate(f"document.querySelector('.masthead {button}').click()")
        browser.wait("Page.loadEventFired")
        assert browser.evaluate("location.pathname").startswith(path)


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ("/-/go?url=site.example&at=whenever", ["site.example", "whenever"]),
        (f"/2025/{SITE}", [SITE, "2025"]),
        (f"/20260501000000/{SITE}loop", ["https://www.site.example/loop", "20260501000000"]),
        (f"/captures?url={SITE}&at=20260501000000", [SITE, "20260501000000"]),
        (f"/2026/{SITE}none", [f"{SITE}none", ""]),
    ],
)
def test_what_was_asked_stays_in_the_form(
    browser: Any, server: Any, target: str, kept: list[str]
) -> None:
    for width in (400, 1280):
        browser.size(width)
        browser.open(server.url + target)
        fields = "[...document.querySelectorAll('.masthead input')].map(field => field.%s)"
        assert browser.evaluate(fields % "value") == kept
        room = browser.evaluate(fields % "clientWidth - field.scrollWidth")
        assert min(room) >= 0


PAGES = [
    "/", f"/captures?url={SITE}&at=2026-02", f"/captures?url={quote(LONG, safe='')}",
    f"/captures?prefix={SITE}", "/captures?prefix=none.example", "/covers", "/covers/none",
    f"/2025/{SITE}", f"/2026/{quote(LONG, safe=':/?=&')}x", "/nothing", "/-/go?url=x.example&at=y",
    f"/2026/{SITE}loop",
    f"/2026/{SITE}held", f"/20260105/{SITE}held", f"/2026/{SITE}broken", f"/20260201/{SITE}gone",
]  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_legible_and_fit(browser: Any, server: Any, page: str, scheme: str) -> None:
    browser.scheme(scheme)
    for width in (1280, 400, 320):
        browser.size(width)
        browser.open(server.url + page)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.illegible() == []
    browser.scheme("light")


@pytest.mark.parametrize("page", ["/", f"/captures?prefix={SITE}"])
def test_an_underscore_in_an_address_is_seen(browser: Any, server: Any, page: str) -> None:
    """The line below a link lies lower than the underscores in it."""
    browser.size(1280)
    browser.open(server.url + page)
    low, offset = browser.evaluate(
        """(() => { const style = getComputedStyle(document.querySelector("li a"));
        const canvas = document.createElement("canvas").getContext("2d");
        canvas.font = style.font;
        const low = canvas.measureText("_").actualBoundingBoxDescent;
        return [low, parseFloat(style.textUnderlineOffset)]; })()"""
    )
    assert offset > low


def test_a_long_media_type_keeps_to_its_line(browser: Any, server: Any) -> None:
    for width in (1280, 400):
        browser.size(width)
        browser.open(f"{server.url}/captures?prefix={SITE}sheet")
        high = "document.querySelector('.type').getBoundingClientRect().height"
        assert browser.evaluate(high) < 30
        assert browser.evaluate("document.querySelector('.type').title") == SHEET


@pytest.mark.parametrize("width", [1280, 400])
def test_where_the_keyboard_is_can_be_seen_in_the_banner(
    browser: Any, server: Any, width: int
) -> None:
    browser.size(width)
    browser.open(f"{server.url}/2026/{SITE}")
    for selector in ("a.wordmark", ".bar nav a", "summary"):
        found = browser.evaluate(
            f"""(() => {{ const one = document.querySelector(`.banner ${{{selector!r}}}`);
            one.focus({{ focusVisible: true }}); const style = getComputedStyle(one);
            return [style.outlineStyle, parseFloat(style.outlineOffset)]; }})()"""
        )
        assert found[0] == "solid"
        assert found[1] < 0  # what is around it would cut off an outline outside
