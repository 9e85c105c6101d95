"""Crawls to be steered: a site that takes a while, crawls of it that end with the test, and orders
as the forms of our pages send them.
"""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode

from support import rig
from support.rig import links, page
from support.served_archive import Answer, Server

TOKEN = "a-token-that-nobody-guesses"
FORM = "application/x-www-form-urlencoded"
PAGES = 400


def long_site() -> rig.Server:
    """Many pages, half of them of a calendar, all linked from the first; and what fails."""
    names = [f"/{kind}/{no}" for no in range(PAGES // 2) for kind in ("page", "calendar")]
    pages: dict[str, rig.Answer] = {name: page(f"<p>{name}</p>") for name in names}
    pages["/robots.txt"] = page("User-agent: *\nDisallow: /private", media="text/plain")
    pages["/"] = page(links("/private/1", "/missing", "http://far.invalid/", *names))
    return rig.site(pages)


@contextmanager
def crawling(archive: Path, *words: object, control: bool = True) -> Iterator[str]:
    """A crawl that was begun on the terminal, and has got somewhere; gives its id."""
    flags = ["--control"] * control
    child = rig.start("crawl", "-a", archive, "--delay", 0.05, "--quiet", *flags, *words)
    try:
        rig.wait_for(lambda: captured(archive) > 3, 20, "the crawl captures")
        yield rig.ok("status", "--json", "-a", archive).json()["crawl"]
    finally:
        if child.poll() is None:
            rig.end(child)
        child.communicate()


def captured(archive: Path) -> int:
    told = rig.run("status", "--json", "-a", archive)
    return int(told.json()["captures"]) if told.code == 0 else 0


@contextmanager
def nothing_runs_on(archive: Path) -> Iterator[None]:
    """What was begun here by a server, and would outlive it, ends with the test."""
    try:
        yield
    finally:
        for _ in range(3):
            if (pid := at_work(archive)) is None:
                break
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            with suppress(AssertionError):
                rig.wait_for(lambda: at_work(archive) is None, 8, "the crawl ends")
        assert at_work(archive) is None


def at_work(archive: Path) -> int | None:
    """The process that holds an archive for writing."""
    free = ["flock", "-n", "-s", str(archive / ".lock"), "true"]
    if subprocess.run(free, check=False).returncode == 0:
        return None
    found = re.search(r"process (\d+)", (archive / ".lock").read_text())
    return int(found[1]) if found else None


def sent(
    server: Server,
    name: str,
    body: bytes,
    *,
    method: str = "POST",
    place: str = "/-/do/",
    **headers: str,
) -> Answer:
    """A request with a body, as it is."""
    named = {"Content-Type": FORM} | {key.replace("_", "-"): v for key, v in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        connection.request(method, f"{place}{name}", body, named)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


def ordered(server: Server, name: str, **fields: str) -> Answer:
    """An order as a form of ours sends it."""
    return sent(server, name, urlencode({"token": TOKEN, **fields}).encode())
