"""The slider of a site in a real browser: what it shows is what the server says of each moment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from support import lived_site, served_archive
from support.lived_site import SITE

pytestmark = pytest.mark.needs("chromium")

# What the page shows: standings by address, counts, shares of folders, the sentence on top.
SHOWN = """(() => {
  const rows = [...document.querySelectorAll("#map li:not(.folder)")];
  const shares = [...document.querySelectorAll("#map li.folder")].map(row => [
    row.querySelector(".name").textContent, row.querySelector(".count").textContent,
    [...row.querySelector(".share").children].map(each =>
      [each.getAttribute("class"), +each.getAttribute("x"), +each.getAttribute("width")])]);
  const counts = [...document.querySelectorAll("[data-standing]")].map(each =>
    [each.dataset.standing, each.querySelector(".n").textContent]);
  const links = [...document.querySelectorAll("#map a")].map(each => each.getAttribute("href"));
  const said = document.querySelector(".summary").textContent.split(" address")[0];
  const told = rows.map(row => row.className + row.textContent);
  return JSON.stringify([told, shares, counts, links, said]);
})()"""
MOVE = """(step => {
  const slider = document.getElementById("moment");
  slider.value = step;
  slider.dispatchEvent(new Event("input", {bubbles: true}));
})"""
# What those hear who do not see it.
SAID = "document.getElementById('said').textContent"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = lived_site.build(tmp_path_factory.mktemp("lived") / "archive")
    with served_archive.serving(folder) as running:
        yield running


@pytest.fixture(scope="module")
def browser(browser: Any) -> Any:
    browser.size(1280)
    return browser


def shown(browser: Any) -> Any:
    return json.loads(browser.evaluate(SHOWN))


def test_the_slider_shows_what_the_server_says_of_each_moment(browser: Any, server: Any) -> None:
    """At moments all over its length; the address in the bar is that of the moment."""
    page = f"{server.url}/site?url={quote(SITE, safe='')}"
    browser.open(f"{page}&at=2026-03")
    last = int(browser.evaluate("document.getElementById('moment').max"))
    moved, addresses = [], []
    for step in (0, 1, *range(13, last, 61), last - 1, last):
        browser.evaluate(f"{MOVE}({step})")
        browser.settle(0.4)
        moved.append(shown(browser))
        addresses.append(browser.evaluate("location.href"))
    assert [sent for sent in browser.sent if "/site" in sent] == [f"{page}&at=2026-03"]
    for address, seen in zip(addresses, moved, strict=True):
        browser.open(address)
        assert shown(browser) == seen, address
    assert len({json.dumps(each) for each in moved}) > 6


def test_its_states_are_those_of_the_json_api(browser: Any, server: Any) -> None:
    browser.open(f"{server.url}/site?url={quote(SITE, safe='')}")
    for step in (0, 100, 200, 300, 400):
        browser.evaluate(f"{MOVE}({step})")
        browser.settle(0.4)
        at = parse_qs(urlsplit(browser.evaluate("location.href")).query)["at"][0]
        told = json.loads(server.ask(f"/-/api/site?url={SITE}&at={at}").body)
        _, _, counts, _, said = shown(browser)
        assert {kind: int(count) for kind, count in counts} == told["counts"]
        assert f"of {told['addresses']}" in said
        assert browser.evaluate(SAID).startswith(said.removeprefix("As of ").split(",")[0])


def test_it_is_moved_by_keys_and_says_so(browser: Any, server: Any) -> None:
    browser.open(f"{server.url}/site?url={quote(SITE, safe='')}&at=2026-03-15")
    browser.evaluate("document.getElementById('moment').focus()")
    assert browser.evaluate(SAID) == ""
    browser.press("End")
    assert browser.evaluate("document.getElementById('moment').value") == "480"
    browser.press("ArrowLeft")
    assert browser.evaluate("document.getElementById('moment').value") == "479"
    browser.press("Home")
    told = browser.evaluate("document.getElementById('moment').getAttribute('aria-valuetext')")
    assert told == "1 Jan 2026, 10:00:00"
    assert browser.evaluate("document.getElementById('when').textContent") == told
    assert browser.evaluate(SAID) == ""  # nobody is told of moments that he passes
    browser.settle(0.5)
    assert browser.evaluate(SAID) == "1 Jan 2026, 10:00:00: 1 proven, 9 not yet"


def test_a_mark_leads_to_its_moment_without_a_new_page(browser: Any, server: Any) -> None:
    browser.open(f"{server.url}/site?url={quote(SITE, safe='')}&at=2026-03-15")
    browser.evaluate("window.same = true")
    href = browser.evaluate("document.querySelectorAll('a[data-step]')[1].getAttribute('href')")
    browser.evaluate("document.querySelectorAll('a[data-step]')[1].focus()")
    browser.press("Enter")
    browser.settle(0.5)
    assert browser.evaluate("window.same") is True
    assert browser.evaluate("location.pathname + location.search") == href


def test_who_wants_less_motion_has_none(browser: Any, server: Any) -> None:
    browser.open(f"{server.url}/site?url={quote(SITE, safe='')}")
    square = "getComputedStyle(document.querySelector('#map li[class^=is-]'), '::before')"
    for value, seconds in (("reduce", "0s"), ("no-preference", "0.15s")):
        feature = {"name": "prefers-reduced-motion", "value": value}
        browser.call("Emulation.setEmulatedMedia", features=[feature])
        assert browser.evaluate(f"{square}.transitionDuration") == seconds


def test_without_scripts_the_form_does_the_same(browser: Any, server: Any) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(f"{server.url}/site?url={quote(SITE, safe='')}&at=2026-03-15")
        assert browser.evaluate("document.getElementById('moment').checkVisibility()") is False
        browser.evaluate("document.getElementById('at').value = '2026-01-20'")
        browser.events.clear()
        browser.evaluate("document.querySelector('form.filter button').click()")
        browser.wait("Page.loadEventFired")
        assert "As of 20 Jan 2026" in shown(browser)[-1]
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
