"""Crawls in a real browser: begun, watched while they run, and steered by who has the token."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from support import rig, steered
from support.chromium import LeftMeanwhile
from support.judged_pages import axe, complaints, shifted
from support.served_archive import Page, Server, build, serving
from support.steered import TOKEN, crawling, nothing_runs_on

pytestmark = pytest.mark.needs("chromium", "replay")

HIDE = """Object.defineProperty(document, "hidden", {get: () => %s, configurable: true});
document.dispatchEvent(new Event("visibilitychange"))"""


@pytest.fixture(scope="module")
def site() -> Iterator[rig.Server]:
    with steered.long_site() as server:
        yield server


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Path]:
    folder = build(tmp_path / "archive", [Page("http://a.example/", "2026-01-01T00:00:00Z")])
    with nothing_runs_on(folder):
        yield folder


@pytest.fixture
def server(archive: Path) -> Iterator[Server]:
    with serving(archive, token=TOKEN) as running:
        yield running


def fill(browser: Any, **values: str) -> None:
    for name, value in values.items():
        browser.evaluate(f"document.querySelector('#{name}').value = {value!r}")


def press(browser: Any, button: str) -> None:
    """Press a button that leads to a page."""
    browser.events.clear()
    browser.evaluate(f"document.querySelector({button!r}).click()")
    browser.wait("Page.loadEventFired")


def text(browser: Any, element: str) -> str:
    return str(browser.evaluate(f"document.querySelector({element!r}).innerText"))


def figure(browser: Any, name: str) -> int:
    return int(text(browser, f"[data-live={name}]").split()[0].replace(",", ""))


def until(browser: Any, condition: str, seconds: float = 15) -> None:
    for _ in range(int(seconds * 5)):
        with suppress(LeftMeanwhile):
            if browser.evaluate(condition):
                return
        browser.settle(0.2)
    raise AssertionError(f"{condition}: {text(browser, 'main')}")


def keeps_the_rules(browser: Any, server: Server) -> None:
    """What test_every_page asks of all pages, of one that cannot be there for long."""
    wrong: dict[str, object] = {}
    for scheme, width in (("light", 1280), ("dark", 390)):
        browser.size(width)
        browser.scheme(scheme)
        browser.settle(0.1)
        wide = browser.evaluate("document.documentElement.scrollWidth")
        wrong |= {
            f"{scheme}: axe": axe(browser),
            f"{scheme}: legible": browser.illegible(),
            f"{scheme}: width": [wide] if wide > width else [],
        }
    browser.scheme("light")
    browser.size(1280)
    wrong["console"] = complaints(browser)
    wrong["elsewhere"] = [url for url in browser.sent if not url.startswith(server.url)]
    assert {rule: found for rule, found in wrong.items() if found} == {}


def test_begun_watched_and_steered(
    browser: Any, server: Server, archive: Path, site: rig.Server
) -> None:
    browser.open(f"{server.url}/#token={TOKEN}")
    assert "token" not in browser.evaluate("location.href")
    press(browser, "h2 a[href='/crawls']")
    assert not browser.evaluate("document.querySelector('.token').checkVisibility()")
    fill(browser, seeds=site.url + "/", exclude="/ok/\n/a(b", delay="0.2")
    press(browser, ".begin button")
    assert text(browser, "[role=alert] pre").splitlines()[1:3] == ["  /a(b", "    ^"]
    assert browser.evaluate("document.querySelector('#delay').value") == "0.2"
    keeps_the_rules(browser, server)
    fill(browser, exclude="")
    press(browser, ".begin button")
    assert browser.evaluate("document.title").startswith("crawling: ")
    assert shifted(browser) == 0
    before = figure(browser, "captured")
    fill(browser, pattern="/calendar/")  # what is typed stays while the figures move
    until(browser, f"parseInt(document.querySelector('[data-live=captured]').innerText) > {before}")
    assert browser.evaluate("document.querySelector('#pattern').value") == "/calendar/"
    keeps_the_rules(browser, server)
    press(browser, "[formaction$=pause]")
    assert "is paused." in text(browser, ".callout[role=status]")
    assert text(browser, "[data-live=state]").endswith("paused")
    assert "/crawls/" in browser.evaluate("location.pathname")  # loaded anew it orders nothing
    keeps_the_rules(browser, server)
    fill(browser, pattern="/calendar/(")
    press(browser, ".steer .quiet")
    assert "Column 11" in text(browser, "[role=alert]")
    fill(browser, pattern="/calendar/")
    press(browser, ".steer .quiet")
    assert "queued URLs left out" in text(browser, ".callout")
    press(browser, "[formaction$=stop]")
    until(browser, "document.title.startsWith('Interrupted: ')")
    assert "excluded by /calendar/" in text(browser, ".reasons")
    press(browser, "form.steer button")
    assert browser.evaluate("document.title").startswith("crawling: ")
    orders = (archive / "control/orders.jsonl").read_text()
    assert [orders.count(f'"{act}"') for act in ("pause", "exclude", "stop")] == [1, 1, 1]


def test_it_asks_while_it_is_seen_and_the_crawl_runs(
    browser: Any, server: Server, archive: Path, site: rig.Server
) -> None:
    with crawling(archive, site.url + "/", "--delay", 0.3) as crawl:
        browser.open(f"{server.url}/crawls/{crawl}")
        rig.ok("pause", "-a", archive)
        until(browser, "document.querySelector('[data-live=state]').innerText == '‖ paused'")
        rig.ok("resume", "-a", archive)
        until(browser, "document.querySelector('[data-live=state]').innerText == '● crawling'")
        browser.evaluate(
            "told = 0; new MutationObserver(() => { told += 1 }).observe("
            "document.querySelector('[role=status]'), {childList: true, subtree: true})"
        )
        asked = len(browser.sent)
        browser.settle(4.2)
        assert len(browser.sent) - asked in (1, 2)
        assert browser.evaluate("told") == 0, "figures that move are not read out"
        browser.evaluate(HIDE % "true")
        browser.settle(0.5)  # one may have been on its way
        asked = len(browser.sent)
        browser.settle(2.5)
        assert len(browser.sent) == asked
        browser.evaluate(HIDE % "false")
        browser.settle(0.5)
        assert len(browser.sent) == asked + 1
    until(browser, "document.title.startsWith('Interrupted: ')")
    asked = len(browser.sent)
    browser.settle(2.5)
    assert len(browser.sent) == asked


def test_a_server_that_is_gone_is_told_once(browser: Any, archive: Path, site: rig.Server) -> None:
    with crawling(archive, site.url + "/", "--delay", 0.3) as crawl:
        with serving(archive) as server:
            browser.open(f"{server.url}/crawls/{crawl}")
        lost = "The server does not answer. It is asked again."
        until(browser, f"document.querySelector('[role=status]').innerText == {lost!r}")


def test_without_scripts_orders_need_no_more_than_the_token(
    browser: Any, server: Server, archive: Path, site: rig.Server
) -> None:
    with crawling(archive, site.url + "/", "--delay", 0.3) as crawl:
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            browser.open(f"{server.url}/crawls/{crawl}")
            assert browser.evaluate("document.querySelector('.token').checkVisibility()")
            browser.evaluate("document.querySelector('.steer [name=token]').focus()")
            browser.call("Input.insertText", text=TOKEN)
            press(browser, "[formaction$=pause]")
            assert "is paused." in text(browser, ".callout")
            browser.open(f"{server.url}/crawls/{crawl}")
            assert text(browser, "[data-live=state]") == "‖ paused"
        finally:
            browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_a_token_of_yesterday_is_asked_for_again(browser: Any, server: Server) -> None:
    browser.open(f"{server.url}/#token=of-the-server-before")
    browser.open(f"{server.url}/crawls")
    visible = "document.querySelector('.token').checkVisibility()"
    assert not browser.evaluate(visible)
    fill(browser, seeds="http://a.example/")
    press(browser, ".begin button")
    assert "needs the token" in text(browser, "main")
    browser.evaluate("history.back()")
    until(browser, f"document.querySelector('.token') && {visible}")
    assert browser.evaluate("document.querySelector('#seeds').value") == "http://a.example/"


def test_enter_in_the_field_of_the_pattern_leaves_out(
    browser: Any, server: Server, archive: Path, site: rig.Server
) -> None:
    """And neither pauses nor stops, which are beside it."""
    with crawling(archive, site.url + "/", "--delay", 0.3) as crawl:
        browser.open(f"{server.url}/#token={TOKEN}")
        browser.open(f"{server.url}/crawls/{crawl}")
        browser.evaluate("document.querySelector('#pattern').focus()")
        browser.call("Input.insertText", text="/calendar/")
        browser.events.clear()
        browser.press("Enter")
        browser.wait("Page.loadEventFired")
        assert "leaves out what matches /calendar/" in text(browser, ".callout")
        assert text(browser, "[data-live=state]") == "● crawling"
