"""Archived pages that are hostile, replayed with their scripts: nothing is reached, nothing leaks.

The pages of tests/data/replay/hostile.test try every way out of a page. They are opened live first:
the sink sees them all, so that its silence says something. Then asof replays them, and all that
leaves the browser is watched: by the sink, to which every name leads, by the log of the browser's
own network, by the access log of our main origin, by the windows and workers that there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from support import replay_pages, rig
from support.replay_pages import SITES, STAMP
from support.serve_command import serving
from support.sink import Sink, sink
from support.watched_browser import Watched

pytestmark = pytest.mark.needs("chromium", "scripts")

SITE = "http://hostile.test/"
WAYS = re.findall(
    r"^  \"?([\w-]+)\"?: `", (SITES / "hostile.test/navigates.html").read_text(), re.M
)
STILL = (
    "markup.html",
    "script.html",
    "script.html?fresh",
    "handlers.html",
    "title.html",
    "paper.pdf",
    "refresh.html",
)
PAGES = [*STILL, *(f"navigates.html?{way}" for way in WAYS), "messages.html", "sabotage.html"]
# In their addresses, which our pages show.
ODD = (
    '"><script>console.log("ran")</script>',
    "'-console.log('ran')-'",
    "</script><script>console.log('ran')</script>",
    "?x=<img src=x onerror=console.log('ran')>",
    "%22%3E%3Cscript%3Econsole.log('ran')%3C/script%3E",
    "{{constructor.constructor('console.log(1)')()}}",
    "javascript:console.log('ran')",
)
SECRET = "a-secret-of-our-own-pages"
PLANT = f"""(() => {{ document.cookie = "secret={SECRET}; path=/";
localStorage.setItem("secret", "{SECRET}"); sessionStorage.setItem("secret", "{SECRET}");
window.name = "{SECRET}"; }})()"""
KEPT = """(() => [document.cookie, JSON.stringify(localStorage), window.name])()"""
# What the browser asks for by itself, whatever is open; and how it finds out whether it has IPv6.
OWN = re.compile(r"(^|\.)(google|googleapis|gstatic|gvt1|duckduckgo)\.com$")
IPV6 = "[2001:4860:4860::8888]:443"
# What attacks must have asked the replay origin for, or their silence would say nothing.
ATTACKED = (
    "http://img.leak.test/",
    "http://fetch-page.leak.test/",
    "http://fetch-natives.leak.test/",
)
# What the shell asks our main origin for, and what belongs to the replay origin in the same log.
SHELL = re.compile(rf"GET /({STAMP}(mp_)?/http|-/static/|-/banner|-/boot|favicon|$)")
REPLAY = re.compile(r"\w+ /(w/|sw\.js|wabac\.js|-/boot)")
# Ways out that a live page has in this browser: the sink must see each of them there.
LIVE = """img srcset schemeless odd backslash image source video poster object embed iframe srcdoc
srcdoc-fetch data-frame data-fetch sandboxed js-frame inner inner-fetch svg-image svg-style
drawing-fetch input table td shadow-root handler ping preload modulepreload stylesheet alternate tls
script module import css-import css-font css-url css-set css-attribute css-escaped css-variable
css-mask css-inline prefetch fetch-page post-page xhr-page beacon-page socket-page events-page
image-page script-page style-page prefetch-page iframe-page object-page embed-page video-page
ping-page form-page css-page font-page html-page fetch-blank fetch-srcdoc2 fetch-blob
fetch-data fetch-sandbox worker-fetch worker-import worker-ws worker-xhr worker-events worker-file
worker-dynamic toggle style-onload focus go-link go-form go-self go-refresh go-top go-location
go-meta go-svg go-formaction own-worker attribute-a-href past-import past-css past-escaped
past-script past-moved past-drawn""".split()  # noqa: SIM905


@dataclass
class Seen:
    """All that was noticed while pages were open."""

    names: set[str] = field(default_factory=set)
    datagrams: int = 0
    urls: set[str] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)
    """Addresses and ports that the browser connected to, and names that it looked up."""
    connected_for: set[str] = field(default_factory=set)
    """The origins that connections were meant for, also where nothing was said on them."""
    main: list[str] = field(default_factory=list)
    """What was asked of our main origin."""
    problems: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    """What a harmless page says after all of them."""


@dataclass(frozen=True)
class Stage:
    """A running asof with the hostile pages, whose address they know; and the live ones."""

    main: str
    live: int
    log: Path
    by_live: Sink
    by_replay: Sink
    """Each browser has a sink of its own: what the first leaves behind is not the second's."""

    def noted(self, browser: Watched, caught: Sink, seen: Seen) -> Seen:
        """With what was noticed outside of the browser."""
        seen.names, seen.datagrams = set(caught.names), caught.datagrams
        kinds = {"url": seen.urls, "for": seen.connected_for}
        for kind, what in browser.connections():
            kinds.get(kind, seen.reached).add(what)
        seen.main += re.findall(r'"(\w+ [^"]*) HTTP', self.log.read_text())
        self.log.write_text("")
        return seen


def rules(caught: Sink, *first: str) -> str:
    """Lead every name to the sink."""
    aside = [
        f"MAP preconnect*.leak.test 127.0.0.1:{caught.silent}",
        "MAP dns*.leak.test 127.0.0.77",
        f"MAP * 127.0.0.1:{caught.tcp}",
        "EXCLUDE 127.0.0.1",
        "EXCLUDE localhost",
    ]
    return "--host-resolver-rules=" + ", ".join([*first, *aside])


def words(main: str, caught: Sink) -> dict[bytes, bytes]:
    """What the pages know of this machine."""
    udp = f"127.0.0.1:{caught.udp}"
    return {b"http://main.test": main.encode(), b"127.0.0.1:3478": udp.encode()}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    root = tmp_path_factory.mktemp("hostile")
    port, log = rig.closed_port(), root / "access.log"
    main = f"http://127.0.0.1:{port}"
    log.touch()
    with sink() as by_live, sink() as by_replay, replay_pages.live() as sites:
        sites.words = words(main, by_replay)
        for path in sorted((SITES / "hostile.test").iterdir()):
            queries = (
                [f"?{way}" for way in WAYS] if path.name == "navigates.html" else ["", "?fresh"]
            )
            for query in queries:
                sites.keep(f"{SITE}{path.name}{query}", "hostile.test", f"/{path.name}")
        for odd in ODD:
            sites.keep(SITE + odd, "hostile.test", "/title.html")
        sites.write(root / "all.warc.gz")
        rig.ok("import", root / "all.warc.gz", "-a", root / "archive")
        sites.words = words(main, by_live)
        with serving(root / "archive", words=("--access-log", log), port=port):
            yield Stage(main, sites.port, log, by_live, by_replay)


@pytest.fixture(scope="module")
def live(stage: Stage) -> Seen:
    """The control: the same pages outside of any archive."""
    safe = "--unsafely-treat-insecure-origin-as-secure=http://hostile.test"
    here = rules(stage.by_live, f"MAP hostile.test 127.0.0.1:{stage.live}")
    seen, left = Seen(), list(PAGES)
    for _ in range(8):
        # A page may bring its browser to a halt: the next one goes on behind that page.
        with Watched.fresh(here, safe) as browser, suppress(TimeoutError):
            try:
                while left:
                    opened(browser, SITE + left.pop(0))
                    shut(browser)
            finally:
                stage.noted(browser, stage.by_live, seen)
        if not left and not unheard(seen.names):
            break
        left = left or list(PAGES)  # one is left after a while, and on a busy machine too soon
    return seen


@pytest.fixture(scope="module")
def replayed(stage: Stage, live: Seen) -> Seen:
    seen = Seen()
    for _ in range(3):  # one that a page brings to a halt is followed by another; all is noted
        with Watched.fresh(rules(stage.by_replay)) as browser, suppress(TimeoutError):
            try:
                _replay(browser, stage, seen)
                break
            finally:
                stage.noted(browser, stage.by_replay, seen)
    return seen


def _replay(browser: Watched, stage: Stage, seen: Seen) -> None:
    browser.open(f"{stage.main}/")
    browser.evaluate(PLANT)
    kept = browser.evaluate(KEPT)
    stage.log.write_text("")
    for page in [*PAGES, *map(_quoted, ODD)]:
        opened(browser, f"{stage.main}/{STAMP}/{SITE}{page}")
        seen.problems += [f"{page}: {problem}" for problem in _problems(browser, stage, page)]
    stage.noted(browser, stage.by_replay, seen)
    opened(browser, f"{stage.main}/{STAMP}/{SITE}quiet.html")
    browser.settle(2)
    seen.after = browser.in_frames("document.querySelector('#quiet')?.dataset.fetched")
    browser.open(f"{stage.main}/")
    if (now := browser.evaluate(KEPT)) != kept:
        seen.problems.append(f"our own pages keep {now}, not {kept}")


def _quoted(odd: str) -> str:
    return quote(odd, safe="%?=/:'()")


def _problems(browser: Watched, stage: Stage, page: str) -> Iterator[str]:
    """What is wrong with the browser after that page."""
    events = [each for each in browser.events if each.get("method") == "Runtime.consoleAPICalled"]
    said = [each["params"]["args"][0].get("value") for each in events if each["params"]["args"]]
    if "ran" in said:  # what runs in the frame is told to another session
        yield "a script ran in our own page"
    where = browser.evaluate("location.href")
    if not where.startswith(f"{stage.main}/{STAMP}/"):
        yield f"led the window to {where}"
    if others := shut(browser):
        yield f"opened {others}"
    told = browser.in_frames("document.querySelector('#seen')?.textContent")
    text = " ".join(each for each in told if each)
    if SECRET in text:
        yield "saw what our own pages keep"
    if marks := re.findall(r"main read \d+|registered [^;]*", text):
        yield f"got {marks}"
    workers = [
        t for t in browser.call("Target.getTargets")["targetInfos"] if t["type"] == "service_worker"
    ]
    if strange := [t["url"] for t in workers if urlsplit(t["url"]).path != "/sw.js"]:
        yield f"has a service worker {strange}"


def opened(browser: Watched, url: str) -> None:
    """Load a page, click at it, and let it go on."""
    seconds = (
        3.0 if re.search(r"(markup|script|handlers|messages|sabotage|refresh)\.html", url) else 1.2
    )
    browser.events.clear()
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=url)
    browser.settle(seconds)
    browser.click(300, 300)
    browser.settle(0.4)


def tabs(browser: Watched) -> list[dict[str, str]]:
    found = browser.call("Target.getTargets")["targetInfos"]
    return [t for t in found if t["type"] == "page" and not t["url"].startswith("chrome:")]


def shut(browser: Watched) -> list[str]:
    """Close the tabs that pages have opened; their addresses."""
    others = [each for each in tabs(browser) if each["targetId"] != browser.target]
    for each in others:
        browser.call("Target.closeTarget", targetId=each["targetId"])
    return [each["url"] for each in others]


def unheard(names: set[str]) -> list[str]:
    return [name for name in LIVE if f"{name}.leak.test" not in names and name not in names]


def meant(seen: Seen) -> set[str]:
    """The hosts that connections were for, but for those the browser has for itself."""
    hosts = {host for each in seen.connected_for for host in re.findall(r"//([^/:\s]+)", each)}
    return {host for host in hosts if not OWN.search(host)}


def test_the_live_pages_leak_in_every_way(live: Seen) -> None:
    """The control: what keeps silent in replay is heard here."""
    assert unheard(live.names) == []
    assert "(silent)" in live.names  # preconnect
    assert {"preconnect.leak.test", "img.leak.test"} <= meant(live)
    assert any("127.0.0.77" in each for each in live.reached)  # a name that is only looked up
    assert live.datagrams
    marked = [each for each in live.main if "hostile=" in each]
    assert len(marked) >= 10


def test_nothing_of_a_replayed_page_leaves_the_browser(replayed: Seen) -> None:
    # Without a word: whom those connections were for is told by the browser alone, below.
    named = replayed.names - {repr(b"")}
    assert {name for name in named if not OWN.search(name)} == set()
    assert replayed.datagrams == 0
    asked = "\n".join(replayed.main)
    assert [attack for attack in ATTACKED if attack not in asked] == []


def test_the_browser_itself_knows_of_no_request_elsewhere(stage: Stage, replayed: Seen) -> None:
    """By its own log: of every process, also what no listener could see."""
    asked = {urlsplit(url).hostname or "" for url in replayed.urls}
    assert "localhost" in asked
    assert {name for name in asked if not OWN.search(name)} <= {"", "127.0.0.1", "localhost"}
    assert meant(replayed) == {"127.0.0.1", "localhost"}
    odd = {
        each
        for each in replayed.reached - {IPV6}
        if not re.search(r"(^|//)(127\.0\.0\.1|localhost|\[::1\])(:|$)", each)
        or each.endswith(f":{stage.by_replay.silent}")
    }
    assert odd == set()


def test_our_main_origin_is_asked_by_the_shell_alone(replayed: Seen) -> None:
    own = [each for each in replayed.main if not REPLAY.match(each)]
    assert own
    assert [each for each in own if not SHELL.match(each)] == []


def test_no_window_is_led_opened_or_read(replayed: Seen) -> None:
    assert replayed.problems == []


def test_a_harmless_page_replays_after_all_of_them(replayed: Seen) -> None:
    assert "quiet words" in replayed.after
