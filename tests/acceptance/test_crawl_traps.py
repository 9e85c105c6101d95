"""The synthetic site with every kind of trap, over real HTTP and by the command line.

Issue 3, "Traps": a crawl of it ends by itself having taken all real pages and at most 5 % trap
pages. What counts is the server's own log.
"""

from __future__ import annotations

import contextlib
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from asof.testing import START, Kind, SiteSpec, SyntheticServer, serve_in_thread
from asof.testing.spec import TRAPS
from support import rig
from support.rig import crawl, links, ok, page, rows_of, site

SPEC = SiteSpec(pages=1_000, words=60, errors=(404, 410), traps=TRAPS)


@dataclass(frozen=True)
class Trapped:
    """A crawl of the site that has ended: its report, and what the server was asked for."""

    archive: Path
    server: SyntheticServer
    report: dict[str, Any]
    asked: Counter[str]

    def of_kind(self, kind: Kind) -> list[str]:
        """The paths of that kind that were asked for."""
        return [url for url in self.asked if self.server.site.kind(path_of(url)) is kind]


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trapped]:
    archive = tmp_path_factory.mktemp("traps") / "archive"
    with serve_in_thread(SPEC) as server:
        # The limit is there for the test's sake: whoever needs it has failed.
        report = crawl(archive, server.url, "--max-pages", 6_000, timeout=120).json()
        yield Trapped(archive, server, report, server.log.asked())


def test_the_crawl_ends_by_itself(trapped: Trapped) -> None:
    assert trapped.report["ended_by"] == "done"
    assert trapped.report["queued"] == 0


def test_all_real_pages_are_taken(trapped: Trapped) -> None:
    """Every page, picture, redirect and dead link that a complete crawl asks for."""
    missing = trapped.server.site.urls(START) - set(trapped.asked)
    assert not missing, sorted(missing)[:5]
    kept = {row["url"] for row in rows_of(trapped.archive)}
    assert trapped.server.site.urls(START) <= kept


def test_trap_pages_are_at_most_one_in_twenty(trapped: Trapped) -> None:
    """Of all captures, and of pages alone, which is stricter."""
    traps = len(trapped.of_kind(Kind.TRAP))
    pages = len(trapped.of_kind(Kind.PAGE))
    assert pages == 1_000
    assert 0 < traps <= 0.05 * (traps + pages)
    assert traps <= 0.05 * trapped.report["captured"]


def test_nothing_is_asked_for_twice(trapped: Trapped) -> None:
    assert {url: n for url, n in trapped.asked.items() if n > 1} == {}


def test_the_report_says_what_was_left_out_and_why(trapped: Trapped) -> None:
    """Each kind of trap under a reason of its own, with examples that were not asked for."""
    told = ok("status", "-a", trapped.archive, "--json").json()
    rows = [row for row in told["left_out"] if row["reason"] != "robots.txt"]
    assert all(row["count"] > 0 and row["examples"] for row in rows)
    examples = {path_of(url) for row in rows for url in row["examples"]}
    for start in ("/calendar/", "/guide/", "/classifieds/", "/library/"):
        assert [path for path in examples if path.startswith(start)], start
    assert [path for path in examples if "?sid=" in path]
    assert not examples & {path_of(url) for url in trapped.asked}
    assert sum(row["count"] for row in told["left_out"]) == trapped.report["left_out"]


def test_the_archive_is_sound(trapped: Trapped) -> None:
    rig.warcio_check(rig.warcs(trapped.archive))
    assert ok("check", "-a", trapped.archive, "--json").json()["problems"] == []


def test_asof_scope_knows_traps(trapped: Trapped) -> None:
    """The crawl left them out: `asof scope` explains the decision for any URL."""
    told = ok("status", "-a", trapped.archive, "--json").json()
    urls = [row["examples"][0] for row in told["left_out"]]
    said = rig.run("scope", *urls, "-a", trapped.archive, "--json")
    assert [row["canonical"] for row in said.rows() if row["inside"]] == []


# -- In several runs -----------------------------------------------------------------------------


def share(server: SyntheticServer) -> float:
    """The share of trap pages in all that was asked for."""
    asked = server.log.asked()
    traps = [url for url in asked if server.site.kind(path_of(url)) is Kind.TRAP]
    return len(traps) / len(asked)


def run_until(archive: Path, server: SyntheticServer, requests: int, how: str) -> None:
    """Crawl until so many requests have come, then end it: once, twice (Ctrl-C) or killed."""
    process = rig.start("crawl", server.url, "-a", archive, "--delay", 0, "--quiet")
    try:
        rig.wait_for(lambda: server.log.total >= requests, 60, "the crawl gets on")
        process.send_signal(signal.SIGKILL if how == "killed" else signal.SIGINT)
        if how == "twice":
            time.sleep(0.002)  # or the two become one
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.communicate()
    assert process.returncode == (-signal.SIGKILL if how == "killed" else 130)


def test_an_interrupted_crawl_does_not_forget_what_it_learnt(tmp_path: Path) -> None:
    """Two interruptions before most of the traps are met: still at most 5 %, and all real pages."""
    archive = tmp_path / "archive"
    with serve_in_thread(SPEC) as server:
        for stop_at in (300, 600):
            run_until(archive, server, stop_at, "once")
        report = crawl(archive, server.url, "--max-pages", 6_000, timeout=120).json()
        assert report["ended_by"] == "done"
        assert server.site.urls(START) <= set(server.log.asked())
        assert share(server) <= 0.05


@pytest.mark.parametrize("how", ["twice", "killed"])
def test_a_crawl_that_was_ended_the_hard_way_is_still_on_its_guard(
    tmp_path: Path, how: str
) -> None:
    """Near the end, when hardly anything but traps is left: what it learnt may be lost in part."""
    archive = tmp_path / "archive"
    with serve_in_thread(SPEC) as server:
        run_until(archive, server, 1_030, how)
        report = crawl(archive, server.url, "--max-pages", 6_000, timeout=120).json()
        assert report["ended_by"] == "done"
        assert server.site.urls(START) <= set(server.log.asked())
        assert share(server) <= 0.08, report["reasons"]


def test_a_second_crawl_is_as_careful_as_the_first(tmp_path: Path) -> None:
    """The real pages are confirmed by 304 then, the traps come anew: no more of them for that."""
    archive = tmp_path / "archive"
    with serve_in_thread(SPEC) as server:
        crawl(archive, server.url, timeout=60)
        server.log.clear()
        report = crawl(archive, server.url, "--max-pages", 6_000, timeout=60).json()
        assert Counter(entry.status for entry in server.log)[304] > 1_000
        assert server.site.urls(START) <= set(server.log.asked())
        assert share(server) <= 0.05, report["reasons"]


def test_without_the_defence_traps_are_followed(tmp_path: Path) -> None:
    """--no-traps: endless calendars and the like, too, until a limit is reached."""
    spec = SiteSpec(pages=20, words=20, images=2, traps=("calendar", "path"))
    with serve_in_thread(spec) as server:
        report = crawl(tmp_path / "a", server.url, "--no-traps", "--max-pages", 300).json()
        asked = [path_of(url) for url in server.log.asked()]
    assert report["ended_by"] == "max-pages"
    assert len([path for path in asked if path.startswith("/calendar/")]) > 60
    assert len([path for path in asked if path.startswith("/guide/sub/sub/sub/sub/sub/")]) > 10


# -- What is no trap -----------------------------------------------------------------------------


def test_a_site_that_only_looks_like_a_trap_is_taken_whole(tmp_path: Path) -> None:
    """Ten years of a diary by month, numbered articles in a chain, parameters with a meaning."""
    months = [f"/diary/{year}/{month:02}/" for year in range(2016, 2026) for month in range(1, 13)]
    articles = [f"/article/{no}" for no in range(300)]
    shops = [f"/shop?category={c}&page={n}" for c in "abcde" for n in range(1, 11)]
    pages: dict[str, rig.Answer] = {
        "/": page(links(months[0], articles[0], shops[0], *shops[::10]))
    }
    for names in (months, articles, shops):
        for no, name in enumerate(names):
            chance = random.Random(name)
            text = " ".join("".join(chance.choices("abcdefghimnoprst", k=6)) for _ in range(30))
            pages[name] = page(f"<h1>{name}</h1><p>{text}.</p>{links(*names[no + 1 : no + 2])}")
    with site(pages) as server:
        report = crawl(tmp_path / "a", server.url + "/", timeout=60).json()
        missing = set(pages) - set(server.paths())
        assert not missing, (len(missing), sorted(missing)[:5], report["reasons"])
