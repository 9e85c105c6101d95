"""`asof crawl --control`: a running crawl that takes orders through the archive's folder."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support import rig
from support.rig import links, ok, page, run, site

PAGES = 400


@pytest.fixture
def server() -> Iterator[rig.Server]:
    """Many pages, half of them of a calendar, all linked from the first."""
    names = [f"/{kind}/{no}" for no in range(PAGES // 2) for kind in ("page", "calendar")]
    pages: dict[str, rig.Answer] = {name: page(f"<p>{name}</p>") for name in names}
    with site({"/": page(links(*names))} | pages) as found:
        yield found


@contextmanager
def crawling(archive: Path, *args: object) -> Iterator[subprocess.Popen]:
    """A controlled crawl that has begun; it is ended in any case."""
    process = rig.start("crawl", *args, "-a", archive, "--delay", 0.05, "--control", "--quiet")
    try:
        status = archive / "control" / "status.json"
        rig.wait_for(status.exists, 20, "the crawl says how it stands")
        yield process
    finally:
        if process.poll() is None:
            rig.end(process)
        process.communicate()


def events(archive: Path) -> list[dict]:
    (log,) = (archive / "logs").glob("*.jsonl")
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_pause_and_resume(tmp_path: Path, server: rig.Server) -> None:
    archive = tmp_path / "archive"
    with crawling(archive, server.url + "/"):
        rig.wait_for(lambda: len(server.hits) > 5, 20, "a few pages")
        told = ok("pause", "-a", archive, "--json").json()
        assert (told["obeyed"], told["state"]) == (True, "paused")
        before = len(server.hits)
        time.sleep(0.6)
        assert len(server.hits) <= before + 1, "what was in flight, and no more"
        assert "goes on" in ok("resume", "-a", archive).out.decode()
        rig.wait_for(lambda: len(server.hits) > before + 5, 20, "the crawl goes on")
    names = [event["event"] for event in events(archive)]
    assert names.index("started") < names.index("paused") < names.index("resumed")
    assert names[-1] == "ended"


def test_exclude_acts_on_what_waits_and_is_kept(tmp_path: Path, server: rig.Server) -> None:
    archive = tmp_path / "archive"
    with crawling(archive, server.url + "/") as process:
        rig.wait_for(lambda: len(server.hits) > 5, 20, "a few pages")
        told = ok("exclude", "/calendar/", "-a", archive, "--json").json()
        assert told["obeyed"]
        before = len(server.hits)
        rig.wait_for(lambda: len(server.hits) > before + 10, 20, "other pages")
        assert not [h for h in server.hits[before + 1 :] if "/calendar/" in h.path]
        stopped = ok("stop", "-a", archive, "--json").json()
        assert stopped["obeyed"]
        assert process.wait(20) == 130
    ended = ok("crawl", "-a", archive, "--delay", 0, "--json").json()
    assert ended["state"] == "finished"
    assert not [h for h in server.hits[before + 1 :] if "/calendar/" in h.path]
    assert len({h.path for h in server.hits if "/page/" in h.path}) == PAGES // 2
    report = ok("status", "-a", archive, "--json").json()
    (row,) = [row for row in report["left_out"] if row["reason"] == "excluded by /calendar/"]
    taken = len({h.path for h in server.hits if "/calendar/" in h.path})
    assert row["count"] == PAGES // 2 - taken
    assert report["completeness"]["vertical"]["share"] == 1.0


def test_a_crawl_can_be_followed_to_its_end(tmp_path: Path, server: rig.Server) -> None:
    archive = tmp_path / "archive"
    with crawling(archive, server.url + "/", "--max-pages", 60) as process:
        told = ok("status", "--follow", "--json", "-a", archive).rows()
        assert process.wait(10) == 0
    assert told[0]["state"] == "running"
    assert told[-1]["state"] == "finished"
    assert [row["captured"] for row in told] == sorted(row["captured"] for row in told)
    assert not (archive / "control" / "status.json").exists()


def test_a_killed_crawl_takes_no_orders(tmp_path: Path, server: rig.Server) -> None:
    archive = tmp_path / "archive"
    with crawling(archive, server.url + "/") as process:
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        assert (archive / "control" / "status.json").exists()
        refused = run("pause", "-a", archive)
        assert refused.code == 2
        assert "`asof crawl -a " in refused.err
        assert " --control`" in refused.err


def test_nonsense_among_the_orders_is_an_event(tmp_path: Path, server: rig.Server) -> None:
    archive = tmp_path / "archive"
    with crawling(archive, server.url + "/"):
        with (archive / "control" / "orders.jsonl").open("ab") as file:
            file.write(b"[" * 50_000 + b'\n{"order": "rm"}\n\xff\xfe\n')
        ok("stop", "-a", archive)
    assert [event for event in events(archive) if event["event"] == "ignored"]


def test_a_crawl_without_control_takes_no_orders(tmp_path: Path, server: rig.Server) -> None:
    archive = tmp_path / "archive"
    process = rig.start("crawl", server.url + "/", "-a", archive, "--delay", 0.05, "-q")
    try:
        rig.wait_for(lambda: len(server.hits) > 3, 20, "a few pages")
        refused = run("pause", "-a", archive)
        assert refused.code == 2
        assert "--control" in refused.err
        assert len(refused.err.splitlines()) == 1
    finally:
        rig.end(process)
        process.communicate()


def test_every_fetch_is_an_event_as_it_was_on_the_server(
    tmp_path: Path, server: rig.Server
) -> None:
    archive = tmp_path / "archive"
    rig.crawl(archive, server.url + "/", "--max-pages", 20)
    fetched = [event["url"] for event in events(archive) if event["event"] == "fetched"]
    asked = [server.url + path for path in server.paths() if path != "/robots.txt"]
    assert fetched == asked
