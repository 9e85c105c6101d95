"""What others try in the browser of one who has the token: pages of another site, frames of ours, a
name that is led here, and archived pages. Each has the token itself, for the sake of the argument.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from support import rig, steered
from support.chromium import Chromium
from support.rig import closed_port, page
from support.scripted import Watched
from support.serve_command import WABAC, served
from support.served_archive import Page, Server, build, serving
from support.steered import TOKEN, crawling

pytestmark = pytest.mark.needs("chromium")

PORT = closed_port()
SITE, AT = "http://hostile.example/", "2026-01-01T00:00:00Z"
# Chromium itself asks before a site reaches into this machine; what is to be seen is what we do.
_UNGUARDED = "--disable-features=LocalNetworkAccessChecks"
# A form that sends itself into a frame, and all that a script can send. PLACE, FIELDS.
SEND = """
const place = PLACE, fields = FIELDS, body = new URLSearchParams(fields), said = [];
for (const options of [
  {mode: "no-cors"}, {mode: "cors"}, {mode: "no-cors", credentials: "include"},
  {mode: "cors", headers: {"X-Token": fields.token}}, {referrerPolicy: "unsafe-url"},
]) said.push(fetch(place, {method: "POST", body, ...options}).then(
  async answer => `${answer.type} ${answer.status} ${(await answer.text()).slice(0, 60)}`,
  error => "failed"));
said.push(Promise.resolve("beacon " + navigator.sendBeacon(place, body)));
const made = (name, values) => Object.assign(document.createElement(name), values);
const form = made("form", {method: "post", action: place});
for (const [name, value] of Object.entries(fields)) {
  const input = made("input", {name});
  input.setAttribute("value", value);
  form.append(input);
}
const submit = "<script>document.forms[0].submit()</scr" + "ipt>";
for (const sandbox of ["", "allow-forms allow-scripts"]) {
  const frame = made("iframe", {srcdoc: form.outerHTML + submit});
  if (sandbox) frame.sandbox = sandbox;
  document.body.append(frame);
}
form.target = "inside";
document.body.append(made("iframe", {name: "inside"}), form);
form.submit();
Promise.all(said).then(all => { document.body.dataset.said = JSON.stringify(all); });
"""
# What an archived page tries that knows the token and PORT: by itself, and with what a frame of its
# own has that nobody has changed.
HOSTILE = """
const fresh = document.body.appendChild(document.createElement("iframe")).contentWindow;
const place = "http://127.0.0.1:PORT/-/do/stop";
const body = new URLSearchParams({token: "TOKEN", crawl: "any"});
for (const who of [window, fresh]) {
  try { who.fetch(place, {method: "POST", mode: "no-cors", body}).catch(() => 0); } catch {}
  try { who.navigator.sendBeacon(place, body); } catch {}
}
let seen = "";
try { seen = fresh.top.sessionStorage.getItem("token"); } catch { seen = "refused"; }
document.body.dataset.seen = seen;
const form = document.createElement("form");
Object.assign(form, {method: "post", action: place});
form.innerHTML = "<input name=token value=TOKEN>";
document.body.append(form);
setTimeout(() => form.submit(), 1500);
"""


def sending(place: str, crawl: str) -> str:
    fields = json.dumps({"token": TOKEN, "crawl": crawl, "seeds": "http://127.0.0.1:9/"})
    return SEND.replace("PLACE", json.dumps(place)).replace("FIELDS", fields)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """An archive in which a crawl is at work, and its id."""
    code = HOSTILE.replace("TOKEN", TOKEN).replace("PORT", str(PORT))
    page = Page(SITE, AT, f"<body><script>{code}</script>".encode())
    folder = build(tmp_path_factory.mktemp("others") / "archive", [page])
    with (
        steered.long_site() as site,
        crawling(folder, site.url + "/", "--delay", 0.5) as crawl,
    ):
        yield folder, crawl


@pytest.fixture(scope="module")
def server(crawled: tuple[Path, str]) -> Iterator[Server]:
    with serving(crawled[0], token=TOKEN) as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_changes(crawled: tuple[Path, str]) -> Iterator[None]:
    archive, crawl = crawled
    yield
    assert (archive / "control/orders.jsonl").read_bytes() == b""
    assert [*(archive / "logs").glob("begun-*")] == []
    status = json.loads((archive / "control/status.json").read_text())
    assert (status["crawl"], status["state"]) == (crawl, "running")


@pytest.fixture(scope="module")
def browser(server: Server, browser: Any) -> Any:
    """One whose reader has the token."""
    browser.open(f"{server.url}/#token={TOKEN}")
    assert browser.evaluate("sessionStorage.getItem('token')") == TOKEN
    return browser


def told(browser: Any) -> list[str]:
    for _ in range(50):
        browser.settle(0.1)
        if said := browser.evaluate("document.body?.dataset.said ?? ''"):
            browser.settle(0.5)  # the frames, too
            found: list[str] = json.loads(said)
            return found
    raise AssertionError("nothing was sent")


def answers(browser: Any, target: str) -> list[int]:
    """The statuses of all answers to what was sent there."""
    return [
        event["params"]["response"]["status"]
        for event in browser.events
        if event.get("method") == "Network.responseReceived"
        and event["params"]["response"]["url"].startswith(target)
    ]


@pytest.mark.parametrize("name", ["stop", "crawl"])
def test_a_page_of_another_site_orders_nothing(
    browser: Any, server: Server, crawled: tuple[Path, str], name: str
) -> None:
    script = sending(f"{server.url}/-/do/{name}", crawled[1])
    with rig.site({"/": page(f"<body><script>{script}</script>")}) as evil:
        browser.open(f"{evil.url}/")
        said = told(browser)
    assert not [each for each in said if "200" in each], said
    seen = answers(browser, f"{server.url}/-/do/{name}")
    assert 403 in seen
    assert set(seen) <= {403, 405}, seen  # 405: whether it may ask at all


def test_our_pages_are_framed_by_nobody(
    browser: Any, server: Server, crawled: tuple[Path, str]
) -> None:
    """So that nobody lays his own page over the buttons; what may be framed is."""
    places = ["/", "/crawls", f"/crawls/{crawled[1]}", "/-/do/stop"]
    frames = "".join(f"<iframe src='{server.url}{place}'></iframe>" for place in places)
    evil_pages = {"/": page(frames + "<iframe src=/own></iframe>"), "/own": page("<p>own")}
    with rig.site(evil_pages) as evil:
        browser.open(f"{evil.url}/")
        browser.settle(0.5)
        tree = browser.call("Page.getFrameTree")["frameTree"]["childFrames"]
        *ours, own = [each["frame"]["url"] for each in tree]
    assert own == f"{evil.url}/own"
    assert ours == ["chrome-error://chromewebdata/"] * len(places)


def led_here(name: str) -> AbstractContextManager[Chromium]:
    """A browser in which a name leads to this machine, as a hostile DNS server would have it."""
    return Chromium.fresh(f"--host-resolver-rules=MAP {name} 127.0.0.1", _UNGUARDED)


def test_a_name_that_is_led_here_orders_and_reads_nothing(
    server: Server, crawled: tuple[Path, str]
) -> None:
    """To the browser the hostile page, and what its name leads to a moment later, are one site."""
    script = sending("/-/do/stop", crawled[1]) + (
        f"\nfetch('/crawls/{crawled[1]}').then(answer => answer.text())"
        ".then(text => { document.title = text });"
    )
    evil = f"http://rebound.test:{server.port}/"
    with led_here("rebound.test") as browser:
        browser.open(f"{evil}crawls")
        assert "does not answer to that host name" in browser.evaluate("document.body.innerText")
        browser.call("Fetch.enable", patterns=[{"urlPattern": f"{evil}evil"}])
        browser.call("Page.navigate", url="about:blank")
        browser.call("Runtime.evaluate", expression=f"location.href = '{evil}evil'")
        paused = browser.wait("Fetch.requestPaused")["params"]
        html = f"<!doctype html><body><script>{script}</script>".encode()
        browser.events.clear()
        browser.call(
            "Fetch.fulfillRequest", requestId=paused["requestId"], responseCode=200,
            responseHeaders=[{"name": "Content-Type", "value": "text/html"}],
            body=base64.b64encode(html).decode(),
        )  # fmt: skip
        said = told(browser)
        assert browser.evaluate("location.origin") == evil.rstrip("/")
        assert [each for each in said if each.startswith("basic 400 ")], said
        assert "does not answer to that host name" in browser.evaluate("document.title")
        assert set(answers(browser, f"{evil}-/do/stop")) == {400}


@pytest.mark.needs("scripts")
def test_an_archived_page_orders_nothing(crawled: tuple[Path, str]) -> None:
    words = ("-a", crawled[0], "--control")
    env = {"ASOF_REPLAY": str(WABAC)}
    with served(*words, port=PORT, env=env) as (base, child), Watched.fresh() as browser:
        assert child.stderr is not None
        token = child.stderr.readline().decode().partition("#token=")[2].strip()
        browser.open(f"{base}/#token={token}")
        browser.open(f"{base}/2026/{SITE}")
        assert browser.until("['null', 'refused'].includes(document.body?.dataset.seen)", True)
        told = "document.body?.innerText.includes('has no answer to this POST')"
        assert browser.until(told, True), "the form was led into the archive"
        assert answers(browser, f"http://127.0.0.1:{PORT}/-/do/") == []
        # The same address is there for those who may: the token of another server is not enough.
        body = urlencode({"token": TOKEN, "crawl": crawled[1]}).encode()
        assert steered.sent(Server(PORT), "stop", body).status == 401
