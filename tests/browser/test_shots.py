"""`asof shot`: pictures of pages as they are replayed, by a real Chromium that is kept at home."""

from __future__ import annotations

import io
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import pytest
from PIL import Image

from asof.web.pictures.browser import Browser, BrowserGone
from asof.web.pictures.tab import opened
from support import rig, served_archive
from support.pictured import colour, left
from support.serve_command import WABAC
from support.served_archive import Page

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.needs("scripts")]

SITE, AT, LATER = "http://site.example/", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
GREEN, RED, BLUE = (0, 128, 0), (255, 0, 0), (0, 0, 255)
SVG = (
    b"<svg xmlns='http://www.w3.org/2000/svg' width='900' height='900'>"
    b"<rect width='900' height='900' fill='blue'/></svg>"
)
SCRIPTS = {
    "loop": "for (;;);",
    "alerts": "for (;;) alert('stay');",
    "polite": "alert(1); confirm(2); prompt(3); onbeforeunload = e => e.preventDefault(); done()",
    "opens": "for (let n = 0; n < 40; n++) open('http://site.example/text'); done()",
    "saves": "const a = document.createElement('a'); a.download = 'x.bin';"
    " a.href = URL.createObjectURL(new Blob(['x'])); document.body.append(a); a.click(); done()",
    "asks": "setInterval(() => fetch('/never?' + Math.random()), 50); done()",
    "leaves": "top.location = 'http://live.example/'; parent.location = '/nowhere'; done()",
}


def scripted(script: str) -> bytes:
    done = "const done = () => { document.body.style.background = 'green' };"
    return f"<!doctype html><title>Tries</title><body><script>{done}{script}</script>".encode()


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    first = "<!doctype html><meta charset=utf-8><title>Grün 日</title>".encode()
    first += b"<body style='background:red;height:3000px'>"
    then = first.replace(b"background:red", b"background:blue")
    grown = b"<script>document.body.style.background = 'green'</script>"
    huge = b"<!doctype html><title>Huge</title><body style='background:red;height:200000px'>"
    pages = [
        Page(SITE, AT, first + grown), Page(SITE, LATER, then),
        Page(f"{SITE}gone", AT, b"<body bgcolor=blue>gone", status="404 Not Found"),
        Page(f"{SITE}drawing", AT, SVG, "image/svg+xml"),
        Page(f"{SITE}text", AT, b"plain", "text/plain"),
        Page(f"{SITE}file", AT, b"PK\3\4", "application/zip"),
        Page(f"{SITE}circle", AT, b"", status="302 Found", headers=(("Location", "/round"),)),
        Page(f"{SITE}round", AT, b"", status="302 Found", headers=(("Location", "/circle"),)),
        Page(f"{SITE}huge", AT, huge),
        *(Page(SITE + name, AT, scripted(code)) for name, code in SCRIPTS.items()),
    ]  # fmt: skip
    return served_archive.build(tmp_path_factory.mktemp("shots") / "archive", pages)


@pytest.fixture
def home() -> Iterator[Mapping[str, str]]:
    """Where browsers have their folders: of none of them a thing is left."""
    with TemporaryDirectory(prefix="shots-", dir="/tmp") as folder:  # sockets have short names
        env = {"TMPDIR": folder, "ASOF_REPLAY": str(WABAC)}
        yield env
        assert left(env) == []


def shot(archive: Path, url: str, env: Mapping[str, str], *words: object) -> rig.Result:
    return rig.run("shot", SITE + url, "-a", archive, *words, env=env)


def test_a_page_with_its_scripts_as_of_a_moment(
    archive: Path, home: Mapping[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "page.png"
    done = shot(archive, "", home, "--at", "20260115", "-o", out, "--json")
    assert done.code == 0, str(done)
    picture = Image.open(out)
    assert (picture.size, colour(picture)) == ((1280, 800), GREEN)
    assert picture.info["Title"] == "Grün 日"
    assert picture.info["URL"] == SITE
    told = done.json()
    shown = rig.run(
        "show", SITE, "-a", archive, "--composition", "--at", "20260115235959", "--json"
    ).json()
    assert {key: value for key, value in told.items() if key != "picture"} == shown
    assert (picture.info["Asked"], picture.info["Shown"]) == (shown["asked"], shown["shown"])
    assert picture.info["Verdict"] == shown["resources"][0]["verdict"]
    assert told["picture"]["scripts"] is told["picture"]["settled"] is True
    assert told["picture"]["bytes"] == out.stat().st_size
    # The same again takes its place; what is not ours stays.
    assert shot(archive, "", home, "-o", out).code == 0
    assert colour(Image.open(out)) == BLUE
    out.write_bytes(b"mine")
    assert "exists" in shot(archive, "", home, "-o", out).err
    (tmp_path / "link.png").symlink_to(tmp_path / "elsewhere.png")
    assert "symbolic link" in shot(archive, "", home, "-o", tmp_path / "link.png").err
    assert not (tmp_path / "elsewhere.png").exists()


def test_all_of_a_page_and_its_banner(archive: Path, home: Mapping[str, str]) -> None:
    plain = {**home, "ASOF_REPLAY": "/nowhere"}
    for env, base in ((home, BLUE), (plain, BLUE)):
        done = shot(archive, "", env, "--full", "--banner", "--width", 390)
        picture = Image.open(io.BytesIO(done.out))
        assert picture.width == 390
        assert 3000 < picture.height < 3300  # the banner, and margins
        assert colour(picture, 0.5, 0.9) == base
        assert colour(picture, 0.5, 0.001) != base
    assert "Its scripts did not run" in done.err


@pytest.mark.parametrize(
    ("url", "seen", "said"),
    [
        ("gone", BLUE, "answered with an error then: 404"),
        ("drawing", BLUE, ""),
        ("text", (255, 255, 255), ""),
        ("polite", GREEN, ""),
        ("opens", None, ""),
        ("saves", GREEN, ""),
        ("asks", GREEN, "was still at work"),
        ("huge", RED, "at most 16,384 pixels high"),
    ],
)
def test_what_is_pictured(
    archive: Path, home: Mapping[str, str], url: str, seen: tuple[int, ...] | None, said: str
) -> None:
    begun = monotonic()
    done = shot(archive, url, home, "--seconds", 9, *(["--full"] if url == "huge" else []))
    assert done.code == 0, str(done)
    assert said in done.err
    assert monotonic() - begun < 20
    picture = Image.open(io.BytesIO(done.out))
    assert picture.height == (16_384 if url == "huge" else 800)
    assert seen in (None, colour(picture, 0.3, 0.6))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("nowhere", "is not in the archive"),
        ("file", "a file that browsers save"),
        ("circle", "lead in a circle"),
        ("alerts", "one dialog after another"),
    ],
)
def test_what_is_not_pictured(
    archive: Path, home: Mapping[str, str], tmp_path: Path, url: str, said: str
) -> None:
    begun = monotonic()
    done = shot(archive, url, home, "--seconds", 6, "-o", tmp_path / "none.png")
    assert (done.code, said in done.err) == (1, True), str(done)
    assert monotonic() - begun < 16
    assert not (tmp_path / "none.png").exists()


def test_without_chromium_it_is_said_what_to_do(archive: Path, tmp_path: Path) -> None:
    nothing = {"PATH": str(tmp_path)}
    done = shot(archive, "", nothing, "-o", tmp_path / "a.png")
    assert done.code == 2
    assert "Install Chromium, Chrome or Edge" in done.err
    done = shot(archive, "", {"ASOF_CHROMIUM": str(tmp_path / "no")}, "-o", tmp_path / "a.png")
    assert done.code == 2
    assert "ASOF_CHROMIUM names it" in done.err
    done = shot(archive, "", {"ASOF_CHROMIUM": "true"}, "-o", tmp_path / "a.png")
    assert done.code == 2
    assert "does not start as a browser" in done.err
    assert "-o FILE" in shot(archive, "", {}, "--json").err


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_outlives_it(
    archive: Path, home: Mapping[str, str], tmp_path: Path, number: signal.Signals
) -> None:
    words = ("-a", archive, "--seconds", 100, "-o", tmp_path / "a.png")
    process = rig.start("shot", f"{SITE}loop", *words, env=home)
    rig.wait_for(lambda: len(left(home)) > 3, 20, "a browser")
    os.kill(process.pid, number)
    process.communicate(timeout=20)
    rig.wait_for(lambda: left(home) == [], 8, "the end of the browser")
    assert not (tmp_path / "a.png").exists()


@contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """A server that answers everybody with one page, and keeps what was asked."""
    heard: list[bytes] = []
    page = b"<!doctype html><title>Evil</title><script>TRY</script>"
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    heard.append(connection.recv(4096))
                    body = page.replace(b"TRY", tries)
                    connection.sendall(b"HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\n" + body)

        port = listener.getsockname()[1]
        tries = b""
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield port, heard
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


TRIES = """for (const name of ["127.0.0.1", "localhost", "[::1]", "live.example"]) {
  const host = `${name}:PORT`;
  fetch(`http://${host}/fetch`, {mode: "no-cors"}).catch(() => 0);
  new Image().src = `http://${host}/image`;
  new WebSocket(`ws://${host}/socket`);
  const frame = document.createElement("iframe"); frame.src = `http://${host}/frame`;
  const link = document.createElement("link"); link.rel = "preconnect"; link.href = `http://${host}`;
  document.documentElement.append(frame, link);
}"""


def test_the_browser_reaches_the_ports_it_was_told_of_and_nothing_else() -> None:
    """Whatever a page tries, one that no policy of ours is on as well."""
    with listening() as (own, _), listening() as (other, heard):
        for ports, reached in (((own, other), True), ((own,), False)):
            with Browser(ports) as browser, opened(browser, 20, 400, 300) as tab:
                tab.open(f"http://127.0.0.1:{own}/")
                tab.evaluate(TRIES.replace("PORT", str(other)) + "; 0")
                tab.settle(monotonic() + 3)
            assert bool(heard) is reached
            heard.clear()


def test_a_page_that_crashes_is_told_of() -> None:
    with Browser(()) as browser, suppress(BrowserGone), opened(browser, 10, 400, 300) as tab:
        browser.send("Page.navigate", tab.until, tab._session, url="chrome://crash")
        with pytest.raises(BrowserGone, match="has crashed"):
            tab.settle(monotonic() + 8, re.compile("/never"))
