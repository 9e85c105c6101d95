"""The banner in a real browser, over pages laid out in every way: it covers nothing, and folds."""

from __future__ import annotations

import io
import os
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import served_archive
from support.served_archive import Page

pytestmark = pytest.mark.needs("chromium")

SITE = "http://site.example/"
AT = "2026-01-01T00:00:00Z"
LONG = "<p>words " * 200
# Each has its own first line at the very top of the window.
LAYOUTS = {
    "flow": "<!doctype html><style>body{margin:0}</style><div id=top>top</div>" + LONG,
    "quirks": "<body topmargin=0><div id=top>top</div>" + LONG,
    "absolute": "<!doctype html><style>body{position:absolute;top:0;margin:0}</style>"
    "<div id=top>top</div>" + LONG,
    "lifted": "<!doctype html><style>html,body{position:absolute;top:0;margin:0}body{top:-9px}"
    "#top{padding:9px}</style><div id=top>top</div>",
    "fixed": "<!doctype html><style>#top{position:fixed;top:0;left:0;z-index:2147483647}</style>"
    "<div id=top>top</div>" + LONG,
    "sticky": "<!doctype html><style>body{margin:0}#top{position:sticky;top:0}</style>"
    "<div id=top>top</div>" + LONG,
    "whole": "<!doctype html><style>html{overflow:hidden}body{margin:0;height:100vh;display:flex;"
    "flex-direction:column}main{flex:1;overflow:auto}</style><div id=top>top</div><main>" + LONG
    + "</main><footer id=end>end</footer>",
    "hostile": "<!doctype html><style>iframe,body *,details{display:none!important}"
    "html{margin:-99px}#top{display:block!important;position:fixed;top:0;left:0}</style>"
    "<div id=top>top</div>",
    "transformed": "<!doctype html><style>html{transform:translateY(0)}body{margin:0}</style>"
    "<div id=top>top</div>" + LONG,
}  # fmt: skip
# Of the page in its frame: where its first line is, what is seen there, and where its window ends.
SEEN = """(() => { const frame = document.querySelector('iframe'), page = frame.contentDocument;
const around = frame.getBoundingClientRect(), top = page.querySelector('#top');
const box = top.getBoundingClientRect(), x = box.x + 3, y = box.y + Math.max(4, -box.y + 1);
const bar = document.querySelector('details').getBoundingClientRect();
return { bar: [bar.x, bar.y, bar.right, bar.bottom],
 frame: [around.top, around.right, around.bottom],
 window: [innerWidth, innerHeight], scrolls: document.documentElement.scrollHeight > innerHeight,
 first: page.elementFromPoint(x, y) === top,
 outside: document.elementFromPoint(around.x + x, around.top + y) === frame,
 end: (page.querySelector('#end')?.getBoundingClientRect() ?? {}).bottom ?? null }; })()"""


def tone(seconds: int) -> bytes:
    """A sound that says nothing."""
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(44100)
        sound.writeframes(bytes(2 * 44100 * seconds))
    return out.getvalue()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    aimed = (
        "<title>aimed</title><a id=self target=_self href=flow>x</a> <a id=parent target=_parent "
        "href=flow>x</a> <a id=plain href=flow>x</a> <a id=down href=#here>down</a>"
        f"{LONG}<p id=here>here"
    )
    pages = [Page(SITE + name, AT, body.encode()) for name, body in LAYOUTS.items()]
    pages += [
        Page(SITE + "aimed", AT, aimed.encode()),
        Page(SITE + "sound", AT, tone(60), "audio/wav"),
        Page(SITE + "player", AT, b"<title>player</title><audio src=sound controls></audio>"),
    ]
    folder = served_archive.build(tmp_path_factory.mktemp("layouts") / "a", pages)
    with served_archive.serving(folder) as running:
        yield running


def until(browser: Any, expression: str) -> bool:
    """Whether it becomes true, in good time."""
    for _ in range(100):
        if browser.evaluate(expression):
            return True
        browser.settle(0.05)
    return False


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_covered(browser: Any, server: Any, width: int, tmp_path: Path) -> None:
    folder = Path(os.environ.get("ASOF_SCREENSHOTS") or tmp_path)
    browser.size(width)
    for name in LAYOUTS:
        browser.open(f"{server.url}/2026/{SITE}{name}")
        browser.screenshot(folder / f"banner-{name}-{width}.png")
        seen = browser.evaluate(SEEN)
        top, right, bottom = seen["frame"]
        assert seen["bar"] == [0, 0, width, top], name
        assert [right, bottom] == seen["window"], name
        assert (seen["first"], seen["outside"], seen["scrolls"]) == (True, True, False), name
        assert 40 <= top <= 100
        # A window of 708.6 pixels is one of 709 to what is in it.
        assert seen["end"] is None or abs(seen["end"] - (bottom - top)) < 1, name


def test_it_folds_without_a_script_and_stays_so_with_one(browser: Any, server: Any) -> None:
    browser.size(1280)
    address, top = f"{server.url}/2026/{SITE}flow", "document.querySelector('iframe').offsetTop"
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(address)
    browser.click(1256, 22)
    assert until(browser, f"{top} < 32")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    browser.open(address)
    assert browser.evaluate(top) == 45
    browser.click(1256, 22)
    assert until(browser, f"{top} < 32")
    browser.open(f"{server.url}/2026/{SITE}fixed")
    assert browser.evaluate(top) < 32
    browser.click(1256, 12)
    assert until(browser, f"{top} === 45")


def test_links_lead_banner_and_page_and_fragments_the_page(browser: Any, server: Any) -> None:
    browser.size(1280)
    for link in ("self", "parent", "plain"):
        browser.open(f"{server.url}/2026/{SITE}aimed")
        assert until(browser, "frames[0]?.document.querySelector('#here') != null")
        x, y = browser.evaluate(
            f"(() => {{ const b = frames[0].document.querySelector('#{link}')"
            ".getBoundingClientRect(); return [b.x + 2, b.y + 5 + 45] })()"
        )
        browser.click(x, y)
        assert until(browser, f"location.pathname === '/2026/{SITE}flow'"), link
    browser.open(f"{server.url}/2026/{SITE}aimed")
    assert until(browser, "frames[0]?.document.querySelector('#here') != null")
    down = "frames[0].document.querySelector('#down')"
    x, y = browser.evaluate(f"[{down}.offsetLeft + 2, {down}.offsetTop + 5 + 45]")
    browser.click(x, y)
    assert until(browser, "frames[0].scrollY > 1000")
    assert browser.evaluate("location.pathname") == f"/2026/{SITE}aimed"


def test_an_address_leads_to_a_part_of_the_page(browser: Any, server: Any) -> None:
    browser.open("about:blank")  # else it would only move within the page
    browser.open(f"{server.url}/2026/{SITE}aimed#here")
    assert until(browser, "frames[0].scrollY > 1000")
    assert browser.evaluate("document.title") == "aimed"
    browser.evaluate("location.hash = '#plain'")
    assert until(browser, "frames[0].scrollY < 100")


@pytest.mark.parametrize("name", ["player", "sound"])
def test_sound_can_be_sought_in(browser: Any, server: Any, name: str) -> None:
    browser.open(f"{server.url}/2026/{SITE}{name}")
    player = "frames[0].document.querySelector('audio, video')"
    assert until(browser, f"{player}?.readyState >= 1")
    assert round(browser.evaluate(f"{player}.duration")) == 60
    assert browser.evaluate(f"{player}.seekable.end(0)") == pytest.approx(60)
    browser.evaluate(f"{player}.currentTime = 55")
    assert until(browser, f"!{player}.seeking && {player}.readyState >= 2")
    assert browser.evaluate(f"{player}.currentTime") == 55
