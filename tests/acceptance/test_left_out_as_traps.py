"""What was left out as a likely trap is counted and told, everywhere alike, and can be taken in."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from support import rig, shapes
from support.rig import ok


@dataclass(frozen=True)
class Trapped:
    """A finished crawl of a site with a calendar, as it reported itself; and in words."""

    archive: Path
    url: str
    report: dict[str, Any]
    said: str


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trapped]:
    folder = tmp_path_factory.mktemp("trapped")
    with rig.Server(shapes.calendar(60)) as server:
        url = server.url + "/"
        said = ok("crawl", url, "-a", folder / "other", "--delay", 0).err
        report = rig.crawl(folder / "archive", url).json()
        yield Trapped(folder / "archive", url, report, said)


def test_the_crawl_counts_them_and_names_one(trapped: Trapped) -> None:
    assert trapped.report["state"] == "finished"
    left = [n for why, n in trapped.report["reasons"].items() if why.startswith("trap:")]
    assert trapped.report["traps"] == sum(left) > 1
    assert trapped.report["trap_example"].startswith(f"{trapped.url}calendar/")


def test_completeness_is_not_whole_and_says_so(trapped: Trapped) -> None:
    count, example = trapped.report["traps"], trapped.report["trap_example"]
    status = ok("status", "-a", trapped.archive, "--json").json()["completeness"]
    assert status["traps"] == {"count": count, "example": example}
    vertical = status["vertical"]
    assert vertical["found"] - vertical["taken"] == count
    assert vertical["share"] < 1.0
    assert ok("quality", "-a", trapped.archive, "--json").json()["completeness"] == status


def test_every_command_says_it_in_words(trapped: Trapped) -> None:
    archive, count = trapped.archive, trapped.report["traps"]
    words = (f"{count} addresses were left out as a likely trap, such as", "--no-traps")
    page = trapped.archive / "quality.html"
    ok("quality", "-a", archive, "--html", page)
    for text in (
        trapped.said,
        ok("status", "-a", archive).out.decode(),
        ok("quality", "-a", archive).out.decode(),
        page.read_text(),
    ):
        said = " ".join(text.split())
        assert all(word in said for word in words), text


def test_a_crawl_without_traps_says_nothing_of_them(tmp_path: Path) -> None:
    with rig.site({"/": rig.page(rig.links("/a")), "/a": rig.page("a")}) as server:
        said = ok("crawl", server.url + "/", "-a", tmp_path / "a", "--delay", 0).err
        assert "likely trap" not in said
    for verb in ("status", "quality"):
        assert b"likely trap" not in ok(verb, "-a", tmp_path / "a").out
    assert ok("status", "-a", tmp_path / "a", "--json").json()["completeness"]["traps"] == {
        "count": 0,
        "example": None,
    }


def test_an_interrupted_crawl_that_goes_on_without_defence_takes_them_in(tmp_path: Path) -> None:
    archive, pages = tmp_path / "archive", shapes.calendar(60)
    # The crawl comes to the last page of a chain when it has given up the calendar.
    chain = [f"/event/{no}" for no in range(60, 80)]
    pages["/event/1"] = rig.page(rig.links(chain[0]))
    pages |= {name: rig.page(rig.links(after)) for name, after in pairwise(chain)}
    pages[chain[-1]] = rig.Reply((b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",), "hang")
    with rig.Server(pages) as server:
        life = rig.start("crawl", server.url + "/", "-a", archive, "--delay", 0, "--quiet")
        rig.wait_for(lambda: chain[-1] in server.paths(), 60, "the crawl hangs")
        for _ in range(2):
            life.send_signal(signal.SIGINT)
            time.sleep(0.1)
        life.communicate(timeout=30)
        assert life.returncode == 130
        left = ok("status", "-a", archive, "--json").json()["completeness"]["traps"]
        assert left["count"] > 0
        server.pages[chain[-1]] = rig.page("the end")
        report = rig.crawl(archive, server.url + "/", "--no-traps", "--max-pages", 600).json()
        assert (report["traps"], report["ended_by"]) == (0, "max-pages")
        assert left["example"].removeprefix(server.url) in server.paths()
