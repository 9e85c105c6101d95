"""Ctrl-C, and again, whenever it comes: the crawl ends with 130, and all that was kept is there."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from support import rig
from support.rig import links, page

COUNT = 60
HELD_FROM = 20
# An asof that interrupts itself at given moments: as a function begins, `after` when it has ended.
_WHEN = """
import atexit, importlib, os, signal, sys, time
from functools import wraps
from asof import cli

def interrupts(moment):
    name, _, nth = moment.partition("#")
    after, name = name.startswith("after "), name.removeprefix("after ")
    module, _, path = name.partition(":")
    *owners, last = path.split(".")
    home = importlib.import_module(module)
    for owner in owners:
        home = getattr(home, owner)
    real, calls = getattr(home, last), []

    @wraps(real)
    def seen(*args, **options):
        calls.append(1)
        hit = len(calls) == int(nth or 1)
        if hit and not after:
            os.kill(os.getpid(), number)
        try:
            return real(*args, **options)
        finally:
            if hit and after:
                os.kill(os.getpid(), number)
    setattr(home, last, seen)

number = signal.Signals[sys.argv[1]]
for moment in sys.argv[2].split(","):
    if moment == "exit":
        atexit.register(lambda: os.kill(os.getpid(), number))
    else:
        interrupts(moment)
cli.main(sys.argv[3:])
"""
STARTS = "asof.crawl.run:"
AT_WORK = "asof.crawl.visit:Visitor.serve#20"


def a_site() -> rig.Server:
    names = [f"/p/{no}" for no in range(COUNT)]
    pages = {name: page(f"<p>{name} {random.Random(name).random()}</p>") for name in names}
    return rig.site({"/": page(links(*names)), **pages})


@contextmanager
def held(server: rig.Server) -> Iterator[threading.Event]:
    """From some page on the site answers only when it is let go: no crawl is too fast."""
    ways, begun, let_go = server.pages, len(server.hits), threading.Event()

    def answer(path: str, _: bytes) -> rig.Reply:
        if len(server.hits) - begun > HELD_FROM:
            let_go.wait(60)
        reply = ways[path]
        assert isinstance(reply, rig.Reply)
        return reply

    server.pages = {path: partial(answer, path) for path in ways}
    try:
        yield let_go
    finally:
        let_go.set()
        server.pages = ways


def is_whole(archive: Path, server: rig.Server) -> None:
    """What was interrupted goes on to its end, and has each page once."""
    rig.crawl(archive, server.url + "/", timeout=60)
    rows = rig.rows_of(archive)
    assert len({row["crawl"] for row in rows}) == 1
    once = Counter(row["url"].removeprefix(server.url) for row in rows)
    once.pop("/robots.txt", None)
    assert once == Counter(["/", *(f"/p/{no}" for no in range(COUNT))])


@pytest.mark.parametrize("sig", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(
    "moments",
    [
        f"{STARTS}recover",
        f"{STARTS}open_writer",
        f"{STARTS}catch_up",
        f"{STARTS}recover,{STARTS}catch_up",
        AT_WORK,
        f"{AT_WORK},asof.crawl.loop:Crawler._commit_group",
        f"{AT_WORK},asof.crawl.loop:Crawler.summary",
        f"{AT_WORK},asof.fetch.http:HttpClient.close",
        f"{AT_WORK},asof.crawl.writer:ProcessWriter.close",
        f"{AT_WORK},{STARTS}_conclude,after {STARTS}_conclude",
    ],
)
def test_at_any_moment(tmp_path: Path, moments: str, sig: str) -> None:
    archive = tmp_path / "archive"
    with a_site() as server:
        words = ("crawl", server.url + "/", "-a", archive, "--delay", "0", "--no-text")
        command = [sys.executable, "-c", _WHEN, sig, moments, *map(str, words)]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        assert done.returncode == 130, done.stderr.decode()
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        is_whole(archive, server)


@pytest.mark.parametrize("moment", ["asof.cli.crawl:_print_outcome", "exit"])
def test_when_all_is_said(tmp_path: Path, moment: str) -> None:
    with a_site() as server:
        words = ("crawl", server.url + "/", "-a", tmp_path / "a", "--delay", "0", "--no-text")
        command = [sys.executable, "-c", _WHEN, "SIGINT", f"{AT_WORK},{moment}", *map(str, words)]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        assert done.returncode == 130, done.stderr.decode()
        is_whole(tmp_path / "a", server)


def twice(archive: Path, server: rig.Server, gap: float) -> int:
    """A crawl that is interrupted as its pages come, and again after so many seconds."""
    last = len(server.hits) + HELD_FROM
    with held(server) as let_go:
        life = rig.start("crawl", server.url + "/", "-a", archive, "--delay", "0", "--quiet")
        rig.wait_for(lambda: len(server.hits) > last or life.poll() is not None, 60, "it gets on")
        life.send_signal(signal.SIGINT)
        let_go.set()
        time.sleep(gap)
        life.send_signal(signal.SIGINT)
        _, said = life.communicate(timeout=30)
    assert b"Traceback" not in said, said.decode()
    return life.returncode


@pytest.mark.parametrize("runs", [4, pytest.param(200, marks=pytest.mark.long)])
def test_two_in_a_row(tmp_path: Path, runs: int) -> None:
    chance = random.Random(runs)
    with a_site() as server:
        codes = [twice(tmp_path / str(run), server, chance.uniform(0, 0.3)) for run in range(runs)]
        assert set(codes) == {130}, Counter(codes)
        for run in range(2):
            is_whole(tmp_path / str(run), server)
