"""An archive of a few versions, served with a token; orders about its covers."""

from __future__ import annotations

import http.client
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from asof.archive import OpenArchive
from asof.clock import SystemClock
from asof.web.app import create_app
from support import served_archive
from support.rig import wait_for
from support.served_archive import Answer, Page, Server

TOKEN = "a-token-of-this-test"
SITE = "http://site.example/"
RULE = "C(d1,d2) >= 0.5 and url(d1) = url(d2)"
WORDS = [f"word{number}" for number in range(90)]
STORED = [
    Page(f"{SITE}{name}", f"2026-0{month}-01T10:00:00Z", body.encode())
    for month in (1, 2, 3)
    for name, body in (
        ("", f"<title>Home</title><p>{' '.join(WORDS[: 10 * month])}"),
        ("news", f"<p>{' '.join(WORDS[30:60])} {month}"),
        (f"only{month}", f"<p>{' '.join(WORDS[60 + 9 * month :][:9])}"),
    )
]


def build(folder: Path) -> Path:
    return served_archive.build(folder, STORED, seeds=(SITE,))


@contextmanager
def serving(folder: Path, token: str = TOKEN) -> Iterator[Server]:
    clock = SystemClock()
    with (
        OpenArchive.open(folder, clock=clock) as archive,
        served_archive.running(create_app([archive], clock, token=token)) as server,
    ):
        yield server


def order(
    server: Server, what: str, *, token: str = TOKEN, place: str = "/-/do/cover", **fields: str
) -> Answer:
    """Post a form."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        body = urlencode({"token": token, **fields} if token else fields)
        connection.request("POST", f"{place}/{what}", body, headers)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


def run_of(server: Server) -> Any:
    """What is known of the last run."""
    return json.loads(server.ask("/-/api/cover/run").body)


def ended(server: Server) -> Any:
    """The last run, once it is over."""
    wait_for(lambda: run_of(server)["state"] not in ("running", "stopping"), 30, "the run is over")
    return run_of(server)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """The run that has just begun stands still meanwhile."""
    told, pid = folder / "derived/cover/run.json", 0

    def is_told() -> bool:
        nonlocal pid
        with suppress(OSError, ValueError, KeyError):
            pid = json.loads(told.read_bytes())["pid"]
            caught = Path(f"/proc/{pid}/status").read_text().partition("SigCgt:")[2].split()[0]
            return bool(int(caught, 16) >> signal.SIGINT - 1 & 1)  # it is Python by now
        return False

    wait_for(is_told, 10, "a run has begun")
    os.killpg(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGCONT)
