"""Thumbnails of `asof serve`: made beside it by a real Chromium, shown by its pages."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from PIL import Image

from support import rig, served_archive
from support.chromium import Chromium
from support.judged_pages import axe, complaints, shifted, transferred
from support.pictured import colour as colour_of
from support.pictured import left
from support.serve_command import WABAC, served
from support.served_archive import Page

pytestmark = pytest.mark.needs("chromium", "scripts", "replay")

SITE = "http://site.example/"
STAMP, LATER = "20260101000000", "20260201000000"
COLOURS = {STAMP: (0, 128, 0), LATER: (0, 0, 255)}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    green = b"<!doctype html><title>P</title><body><script>document.body.style.background='green'"
    pages = [
        Page(SITE, "2026-01-01T00:00:00Z", green + b"</script>"),
        Page(SITE, "2026-02-01T00:00:00Z", b"<!doctype html><body style='background:blue'>"),
        Page(f"{SITE}loop", "2026-01-01T00:00:00Z", b"<script>for (;;) alert(1)</script>"),
    ]
    return served_archive.build(tmp_path / "archive", pages)


@pytest.fixture
def home() -> Iterator[Mapping[str, str]]:
    with TemporaryDirectory(prefix="thumbs-", dir="/tmp") as folder:
        env = {"TMPDIR": folder, "ASOF_REPLAY": str(WABAC)}
        yield env
        rig.wait_for(lambda: left(env) == [], 8, "the end of the browser")


def thumbnail(base: str, stamp: str, url: str = SITE) -> tuple[int, str, bytes]:
    try:
        with urllib.request.urlopen(f"{base}/-/thumb/{stamp}/{url}", timeout=10) as answer:
            return answer.status, answer.headers["cache-control"], answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["cache-control"], b""


def made(base: str, stamp: str) -> Image.Image:
    rig.wait_for(lambda: thumbnail(base, stamp)[0] == 200, 40, "a thumbnail")
    return Image.open(io.BytesIO(thumbnail(base, stamp)[2]))


@contextmanager
def serving(
    archive: Path, env: Mapping[str, str], *words: object
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with served("-a", archive, *(words or ["--pictures"]), env=env) as (base, process):
        yield base, process


def judged(browser: Chromium, page: str) -> None:
    for scheme, width in (("light", 1280), ("dark", 390)):
        browser.size(width)
        browser.scheme(scheme)
        browser.open(page)
        browser.settle(0.3)
        assert (axe(browser), complaints(browser), shifted(browser)) == ([], [], 0), page
        assert transferred(browser) < 150_000
        assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_they_are_made_beside_the_server_and_shown(archive: Path, home: Mapping[str, str]) -> None:
    with serving(archive, home) as (base, _), Chromium.fresh() as browser:
        listed = f"{base}/captures?url={SITE}"
        judged(browser, listed)  # the room is there before the picture
        for stamp, colour in COLOURS.items():
            picture = made(base, stamp)
            assert picture.size == (160, 100)
            found = colour_of(picture)
            assert all(abs(a - b) < 8 for a, b in zip(found, colour, strict=True)), found
        assert "immutable" in thumbnail(base, STAMP)[1]
        for page in (listed, f"{base}/"):
            judged(browser, page)
            shown = "[...document.querySelectorAll('.thumb img')].map(i => i.naturalWidth)"
            assert set(browser.evaluate(shown)) == {160}
        # One that cannot be pictured is not tried again and again.
        assert thumbnail(base, STAMP, f"{SITE}loop")[:2] == (204, "private, max-age=5")
        late = (204, "private, max-age=3600")
        rig.wait_for(lambda: thumbnail(base, STAMP, f"{SITE}loop")[:2] == late, 30, "a no")
        assert 'class="thumb"' not in page_of(base, f"{SITE}loop")
    whole = [path for path in (archive / "derived/pictures").iterdir() if path.stat().st_size]
    for words, count in ((["--no-pictures"], 2), (["--public"], 1)):
        with serving(archive, home, *words) as (base, _):
            assert page_of(base, SITE).count('class="thumb"') == count
            assert [thumbnail(base, stamp)[0] for stamp in COLOURS].count(200) == count
            whole.pop().write_bytes(b"RIFF")
            assert [thumbnail(base, stamp)[0] for stamp in COLOURS].count(200) == count - 1
    with serving(archive, home) as (base, _):  # what was damaged is made again
        made(base, STAMP)
        made(base, LATER)


@pytest.mark.skipif(os.geteuid() != 0, reason="others' browsers have a sandbox")
def test_root_starts_no_browser_unless_told_to(archive: Path, home: Mapping[str, str]) -> None:
    with serving(archive, home, "--verbose") as (base, _):
        assert 'class="thumb"' not in page_of(base, SITE)
        assert thumbnail(base, STAMP)[0] == 204
        time.sleep(1)
        assert (left(home), thumbnail(base, STAMP)[0]) == ([], 204)


def page_of(base: str, url: str) -> str:
    with urllib.request.urlopen(f"{base}/captures?url={url}", timeout=10) as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_the_server(
    archive: Path, home: Mapping[str, str], number: signal.Signals
) -> None:
    with serving(archive, home) as (base, process):
        thumbnail(base, STAMP, f"{SITE}loop")
        thumbnail(base, STAMP)
        rig.wait_for(lambda: len(left(home)) > 3, 20, "a browser")
        os.kill(process.pid, number)
        rig.wait_for(lambda: left(home) == [], 10, "the end of the browser")
        if number is not signal.SIGKILL or len(os.sched_getaffinity(0)) > 1:  # one of them is left
            rig.wait_for(lambda: not [*Path(home["TMPDIR"]).glob("asof-*")], 10, "an empty folder")
