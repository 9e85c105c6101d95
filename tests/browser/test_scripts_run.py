"""Archived pages with their scripts, in `asof serve` as a user starts it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import served_archive
from support.scripted import Watched
from support.serve_command import serving
from support.served_archive import Page

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.needs("scripts")]

SITE = "http://site.example/"
OLD, AT, LATER = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-02-01T00:05:00Z"
HOME = b"""<!doctype html><html><head><title>Home</title><meta charset=utf-8></head><body>
<p id=said>still</p><a id=two href="/two">two</a> <a id=tab target=_blank href="/two">tab</a>
<a id=moved href="/moved">moved</a> <a id=gone href="/gone">gone</a> <a id=no href="/no">no</a>
<a id=pdf href="/text">text</a> <form id=form action="/found"><input name=q value=boats></form>
<script>
const told = document.body.dataset;
document.getElementById("said").textContent = "ran at " + location.href;
fetch("/data.json").then(r => r.json()).then(data => { told.fetch = data.word; });
const asked = new XMLHttpRequest();
asked.open("GET", "//site.example/data.json");
asked.onload = () => { told.xhr = JSON.parse(asked.responseText).word; };
asked.send();
new Worker("/worker.js").onmessage = event => { told.worker = event.data; };
fetch("/lost.json").then(answer => { told.lost = answer.status; });
fetch("/broken").then(answer => { told.broken = answer.status; });
fetch("/from").then(answer => answer.text()).then(text => { told.redirected = text; });
fetch("/data.json", {method: "POST", body: "a=b"}).then(answer => { told.post = answer.status; });
</script>
<script type=module>import {word} from "./part.js"; document.body.dataset.module = word;</script>
</body></html>"""
RAN = {
    "fetch": "yes", "xhr": "yes", "worker": "works: yes", "module": "a part", "lost": "404",
    "broken": "503", "redirected": "arrived", "post": "404",
}  # fmt: skip


def pages() -> list[Page]:
    def script(name: str, text: bytes) -> Page:
        return Page(SITE + name, AT, text, "text/javascript")

    work = b"fetch('/data.json').then(r => r.json()).then(d => postMessage('works: ' + d.word))"
    return [
        Page(SITE, AT, HOME),
        Page(SITE + "data.json", AT, b'{"word": "yes"}', "application/json"),
        script("part.js", b"export const word = 'a part';"),
        script("worker.js", work),
        Page(SITE + "broken", AT, b"no", "text/plain", "503 Broken"),
        Page(SITE + "from", AT, b"", None, "302 Found", (("Location", "/to"),)),
        Page(SITE + "to", AT, b"arrived", "text/plain"),
        # A crawl takes its time: this one was captured after the page that links to it.
        Page(SITE + "two", OLD, b"<!doctype html><title>Before</title>old"),
        Page(SITE + "two", LATER, b"<!doctype html><title>Two</title><p id=p>second"),
        Page(SITE + "moved", LATER, b"", None, "301 Moved", (("Location", "/two"),)),
        Page(SITE + "gone", LATER, b"<!doctype html><title>Gone</title>lost", status="404 No"),
        Page(SITE + "text", LATER, b"plain text", "text/plain"),
        Page(SITE + "found?q=boats", LATER, b"<!doctype html><title>Found</title>boats"),
        Page(SITE + "film", AT, b"<!doctype html><title>Film</title><video src=/film.webm>"),
        Page(SITE + "film.webm", AT, bytes(range(250)) * 40, "video/webm"),
    ]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return served_archive.build(tmp_path_factory.mktemp("scripts") / "a", pages())


@pytest.fixture(scope="module")
def address(archive: Path) -> Iterator[str]:
    with serving(archive) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Watched]:
    with Watched.fresh() as running:
        yield running


def shown(browser: Watched) -> str:
    found: str = browser.evaluate("location.pathname + location.search + ' ' + document.title")
    return found


def tabs(browser: Watched) -> set[str]:
    found = browser.call("Target.getTargets")["targetInfos"]
    return {target["targetId"] for target in found if target["type"] == "page"}


@pytest.fixture
def home(browser: Watched, address: str) -> Watched:
    browser.targets.clear()
    browser.open(f"{address}/2026/{SITE}")
    assert browser.until("document.getElementById('said')?.textContent", f"ran at {SITE}")
    return browser


def test_scripts_fetches_modules_and_workers_work(home: Watched) -> None:
    told = "JSON.stringify(document.body.dataset)"
    home.until(f"{told}.length > {len(json.dumps(RAN))} - 20", True)
    home.settle(0.5)
    assert json.loads(home.inside(told)) == RAN
    assert "without scripts" not in home.evaluate("document.querySelector('.bar').innerText")


@pytest.mark.parametrize(
    ("link", "title"),
    [("two", "Two"), ("tab", "Two"), ("moved", "Two"), ("gone", "Gone"), ("form", "Found")],
)
def test_where_a_link_leads_gets_its_address_and_banner(
    home: Watched, link: str, title: str
) -> None:
    """As of the moment asked for, though it was captured after the page it is on."""
    before = tabs(home)
    act = "submit" if link == "form" else "click"
    home.inside(f"document.getElementById('{link}').{act}()")
    where = {"Two": "two", "Gone": "gone", "Found": "found?q=boats"}[title]
    wanted = f"/2026/{SITE}{where} {title}"
    assert home.until("location.pathname + location.search + ' ' + document.title", wanted,
                      inside=False) == wanted  # fmt: skip
    banner = home.evaluate("document.querySelector('.bar').innerText")
    assert "2026" in banner
    assert tabs(home) == before
    home.evaluate("history.back()")
    assert home.until("document.title", "Home", inside=False) == "Home"
    assert shown(home) == f"/2026/{SITE} Home"
    home.evaluate("history.forward()")
    assert home.until("document.title", title, inside=False) == title


@pytest.mark.parametrize(("link", "told"), [("no", "Not in this archive"), ("pdf", "")])
def test_what_is_not_there_or_no_page_has_a_page_of_ours(
    home: Watched, link: str, told: str
) -> None:
    home.inside(f"document.getElementById('{link}').click()")
    where = f"/2026/{SITE}{'no' if link == 'no' else 'text'}"
    assert home.until("location.pathname", where, inside=False) == where
    home.until("document.readyState", "complete", inside=False)
    home.until("!document.querySelector('iframe[data-boot]')", True, inside=False)
    assert not home.evaluate("document.querySelector('iframe[data-boot]') !== null")


def test_a_worker_that_was_lost_comes_back(home: Watched) -> None:
    """Archived scripts can end it; browsers go past it when a page is loaded anew by force."""
    end = "navigator.serviceWorker.getRegistrations().then(all => all.forEach(w => w.unregister()))"
    home.inside(end)
    home.inside("document.body.dataset.old = 1; location.reload()")
    said = "document.body?.dataset.old + ' ' + document.getElementById('said')?.textContent"
    assert home.until(said, f"undefined ran at {SITE}") == f"undefined ran at {SITE}"
    assert shown(home) == f"/2026/{SITE} Home"
    home.call("Page.reload", ignoreCache=True)
    home.targets.clear()
    assert home.until(said, f"undefined ran at {SITE}") == f"undefined ran at {SITE}"


def test_parts_of_a_film_are_asked_for(browser: Watched, address: str) -> None:
    browser.targets.clear()
    browser.open(f"{address}/2026/{SITE}film")
    asked = """(async () => {
      const answer = await fetch("/film.webm", {headers: {Range: "bytes=%s"}});
      const bytes = new Uint8Array(await answer.arrayBuffer());
      const part = answer.headers.get("content-range");
      return [answer.status, part, bytes.length, bytes[0]].join(" ");
    })()"""
    assert browser.until("document.title", "Film") == "Film"
    assert browser.inside(asked % "0-1") == "206 bytes 0-1/10000 2 0"
    assert browser.inside(asked % "5003-5010") == "206 bytes 5003-5010/10000 8 3"
    assert browser.inside(asked % "-5") == "206 bytes 9995-9999/10000 5 245"


class TestWithout:
    """Where scripts cannot run, pages are shown as before, and the banner says why."""

    def test_the_program(self, browser: Watched, archive: Path) -> None:
        with serving(archive, scripts=False) as running:
            browser.open(f"{running}/2026/{SITE}")
            banner = "document.querySelector('.still a')"
            assert browser.evaluate(f"{banner}.innerText") == "without scripts"
            assert "asof setup replay" in browser.evaluate(f"{banner}.title")
            inner = "document.querySelector('iframe').contentDocument.body.innerText"
            assert "still" in browser.evaluate(inner)

    def test_a_worker(self, home: Watched, address: str) -> None:
        """What the page that starts it says where that fails."""
        home.inside("parent.postMessage({asof: 'failed'}, '*')")
        where = f"/2026st_/{SITE}"
        assert home.until("location.pathname", where, inside=False) == where
        inner = (
            "document.querySelector('iframe').contentDocument?.body?.innerText.includes('still')"
        )
        assert home.until(inner, True, inside=False)
        assert home.evaluate("document.querySelector('.still a').innerText") == "without scripts"
        # Links go on without scripts.
        click = "document.querySelector('iframe').contentDocument.links[0].click()"
        home.call("Runtime.evaluate", expression=click, userGesture=True)
        where = f"/2026st_/{SITE}two"
        assert home.until("location.pathname", where, inside=False) == where
