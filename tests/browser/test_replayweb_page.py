"""replayweb.page shows what asof shows: every capture of a WACZ, and the list of pages."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from support import crawled_thrice, rig
from support.crawled_thrice import Shown
from support.replayweb import ask, serving, text_of

pytestmark = [pytest.mark.needs("replay"), pytest.mark.needs("chromium")]

WACZ = Path(__file__).parents[2] / ".venv/replay/bin/wacz"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crawled_thrice.build(tmp_path_factory.mktemp("thrice"))


@pytest.fixture(scope="module")
def wanted(archive: Path) -> list[Shown]:
    return crawled_thrice.shown(archive)


@pytest.fixture(scope="module")
def files(archive: Path) -> dict[str, Path]:
    """Of the archive, signed, and of one that an earlier asof wrote."""
    old = crawled_thrice.as_before(archive, archive.parent / "old")
    env = {"XDG_CONFIG_HOME": str(archive.parent / "config")}
    rig.ok("key", "new", "--name", "Harbour", env=env)
    made = {}
    for name, root, more in (("now.wacz", archive, ["--sign"]), ("before.wacz", old, [])):
        made[name] = archive.parent / name
        rig.ok("export", "--format", "wacz", "-o", made[name], "-a", root, *more, env=env)
    return made


@pytest.fixture(scope="module")
def address(files: dict[str, Path]) -> Iterator[str]:
    with serving(files) as running:
        yield running


@pytest.fixture(scope="module")
def browser(browser: Any) -> Any:
    browser.size(1280)
    return browser


@pytest.mark.parametrize("name", ["now.wacz", "before.wacz"])
def test_every_capture_is_shown_as_in_asof(
    browser: Any, address: str, wanted: list[Shown], name: str
) -> None:
    """A redirect is followed, to where it leads at that moment."""
    asked = [(f"{each.timestamp}{'mp_' if each.redirect else 'id_'}", each.url) for each in wanted]
    answers = ask(browser, address, name, asked)
    for ours, (status, url, media_type, body) in zip(wanted, answers, strict=True):
        if ours.redirect:
            assert (status, url.endswith(f"/{ours.redirect}")) == (200, True), ours.url
            continue
        theirs = status, media_type.partition(";")[0], bytes.fromhex(body)
        assert theirs == (ours.status, ours.media_type, ours.body), (ours.url, ours.timestamp)


def test_a_page_is_shown_with_its_parts(browser: Any, address: str, wanted: list[Shown]) -> None:
    """At the second moment, when the server said 304 to all of it."""
    second = sorted(each.timestamp for each in wanted if each.url.endswith("/page"))[1]
    url = next(each.url for each in wanted if each.url.endswith("/page"))
    page = f"{address}/?source={address}/now.wacz#view=replay&ts={second}&url={quote(url)}"
    found = [""]
    while found[-1] != "rgb(1, 2, 3)" and len(found) < 30:
        if len(found) % 10 == 1:  # on a busy machine its worker may miss what is asked for first
            browser.open("about:blank")
            browser.open(page)
            assert "Boats came in" in text_of(browser, "Boats came in")[0]
        browser.settle(0.3)  # its list of pages has these words, too, before the page is there
        found.append(text_of(browser, "Boats")[1])
    assert found[-1] == "rgb(1, 2, 3)", found


def test_the_pages_are_listed_with_titles_and_texts(
    browser: Any, files: dict[str, Path], address: str, wanted: list[Shown]
) -> None:
    with zipfile.ZipFile(files["now.wacz"]) as zipped:
        head, *pages = map(json.loads, zipped.read("pages/pages.jsonl").splitlines())
    assert head["hasText"] is True
    home = next(each.url for each in wanted)
    # Seeds first; each content once for each crawl that found it.
    assert [(page["url"], page.get("seed")) for page in pages[:3]] == [(home, True)] * 3
    assert not any(page.get("seed") for page in pages[3:])
    there = {(each.url, each.timestamp) for each in wanted if each.status == 200}
    there = {each for each in there if not each[0].endswith((".png", ".css"))}
    stamps = [(page["url"], "".join(filter(str.isdigit, page["ts"]))) for page in pages]
    assert sorted(stamps) == sorted(there)
    tides = [page for page in pages if page["url"].endswith("/page")]
    assert [page["title"] for page in tides] == ["Tide"] * 3
    assert ["Ships" in page["text"] for page in tides] == [False, False, True]
    browser.open("about:blank")  # or only the fragment changes, and nothing is loaded
    browser.open(f"{address}/?source={address}/now.wacz#view=pages")
    shown, _ = text_of(browser, "Changes")
    assert all(title in shown for title in ("Harbour", "Tide", "Plain", "Changes")), shown


def test_the_standard_s_own_tool_finds_it_valid(files: dict[str, Path]) -> None:
    done = subprocess.run(
        [WACZ, "validate", "--file", files["now.wacz"]],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "succeeded" in done.stdout
