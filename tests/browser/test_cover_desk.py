"""The desk of covers in a real browser: a caret while one types, a run to its end, one stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof.archive.folder import Folder
from asof.cover.kept.saved_covers import cover_names
from support import cover_desk, rig
from support.chromium import Chromium
from support.cover_desk import RULE, TOKEN, held
from support.judged_pages import axe, complaints
from support.rig import wait_for

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cover_desk.build(tmp_path_factory.mktemp("desk") / "archive")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Any]:
    with cover_desk.serving(folder) as running:
        yield running


@pytest.fixture
def browser() -> Iterator[Any]:
    with Chromium.fresh() as running:
        yield running


def typed(browser: Any, field: str, text: str) -> None:
    browser.evaluate(f"document.getElementById('{field}').select()")
    browser.call("Input.insertText", text=text)


def clicked(browser: Any, selector: str) -> None:
    browser.events.clear()
    browser.evaluate(f"document.querySelector({json.dumps(selector)}).click()")


def pressed(browser: Any, selector: str) -> None:
    """Press a button that leads to another page, and wait for that."""
    clicked(browser, selector)
    browser.wait("Page.loadEventFired")


def shown(browser: Any, expression: str, expected: str) -> None:
    wait_for(lambda: expected in str(browser.evaluate(expression)), 15, f"{expected} is shown")


TOLD = "document.getElementById('told').textContent"


def test_the_caret_is_below_what_is_wrong_while_one_types(browser: Any, server: Any) -> None:
    browser.size(1280)
    browser.open(f"{server.url}/-/rule")
    typed(browser, "relation", "C(d1,d2) >= 0.5 and host(d1) = <b>")
    wrong = "  C(d1,d2) >= 0.5 and host(d1) = <b>\n"
    shown(browser, TOLD, f"{wrong}                                 ^\n")
    typed(browser, "relation", "C(d1,d2) >= 0.5 and host(d1) = url(d2)")
    shown(browser, TOLD, "Column 21: no attribute is called 'host'.")
    assert f"{' ' * 22}^^^^^^^^\nDid you mean hostname?" in browser.evaluate(TOLD)
    field = "document.getElementById('relation').ariaInvalid"
    assert browser.evaluate(field) == "true"
    # The caret stands in the column of what it points to, however narrow the page is.
    for width in (1280, 390):
        browser.size(width)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        heights = "[...document.querySelectorAll('#told .fixed')].map(one => one.clientHeight)"
        rows = browser.evaluate(heights)
        assert len(rows) == 2
        assert rows[0] == rows[1]
    assert axe(browser) == []
    typed(browser, "relation", RULE)
    shown(browser, TOLD, f"d2 covers d1 if {RULE}")
    assert browser.evaluate(field) == "false"
    assert complaints(browser) == []
    assert {sent.partition("?")[0].rpartition("/")[2] for sent in browser.sent} >= {"check"}


def test_a_cover_is_run_to_its_end(browser: Any, server: Any, folder: Path) -> None:
    browser.open(f"{server.url}/#token={TOKEN}")
    browser.open(f"{server.url}/-/rule")
    typed(browser, "relation", RULE)
    pressed(browser, "#rule button")
    assert "d2 covers d1 if" in browser.evaluate(TOLD)
    assert not browser.evaluate("document.querySelector('.token').checkVisibility()")
    typed(browser, "name", "first")
    clicked(browser, "form[method=post] button")
    with held(folder):
        shown(browser, "document.querySelector('#run h2')?.innerText", "first")
    shown(browser, "location.pathname", "/covers/first")
    shown(browser, "document.querySelector('h1')?.innerText", "first")
    shown(browser, "document.readyState", "complete")
    assert cover_names(Folder(folder)) == ["first"]
    pressed(browser, "a[href^='/-/rule']")
    assert browser.evaluate("document.getElementById('relation').value") == RULE
    browser.open(f"{server.url}/covers/first")
    pressed(browser, "form[method=post] button")
    assert cover_names(Folder(folder)) == []


def test_one_is_stopped(browser: Any, server: Any, folder: Path) -> None:
    browser.open(f"{server.url}/#token={TOKEN}")
    browser.open(f"{server.url}/-/rule?relation=C(d1,d2)>0.3")
    typed(browser, "name", "unwanted")
    clicked(browser, "form[method=post] button")
    with held(folder):
        shown(browser, "document.querySelector('#run h2')?.innerText", "unwanted")
        assert axe(browser) == []
        (folder / "derived/cover/run.log").write_text("asof: <b>joining</b>: 3 of 4 (75.0 %)\n")
        shown(browser, "document.querySelector('.said')?.innerText", "<b>joining</b>: 3 of 4")
        assert browser.evaluate("document.querySelector('progress').value") == 0.75
        shown(browser, "document.readyState", "complete")
        pressed(browser, "form[method=post] button")
        shown(browser, "document.querySelector('#run button')?.innerText", "Stop at once")
    shown(browser, "document.querySelector('.callout')?.innerText", "unwanted was stopped before")
    assert cover_names(Folder(folder)) == []


def test_without_a_script_the_button_checks(browser: Any, server: Any) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(f"{server.url}/-/rule?relation=C(d1,d2)>=7")
    assert "^\n" in browser.evaluate(TOLD)
    assert "above 0" in browser.evaluate(TOLD)


def test_no_other_site_orders_a_run_or_frames_the_desk(
    browser: Any, server: Any, folder: Path
) -> None:
    browser.open(f"{server.url}/#token={TOKEN}")
    order = f"{server.url}/-/do/cover/start"
    fields = {"token": TOKEN, "name": "theirs", "relation": RULE}  # even if it knew the token
    inputs = "".join(f"<input name={name} value='{value}'>" for name, value in fields.items())
    foreign = rig.page(
        f"<form method=post action='{order}'>{inputs}</form><iframe src='{server.url}/-/rule'>"
        "</iframe><button onclick='document.forms[0].submit()'>go</button>"
    )
    with rig.site({"/": foreign}) as other:
        browser.open(other.url)  # another port is another site
        assert browser.evaluate("frames.length") == 1
        browser.settle(0.5)
        assert any("frame-ancestors" in json.dumps(event) for event in browser.events)
        pressed(browser, "button")
        assert "order nothing here" in browser.evaluate("document.body.innerText")
    assert not (folder / "derived/covers/theirs.json").exists()
