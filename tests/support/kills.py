"""A crawl that is killed again and again: all its records are whole, each page is there once.

The site runs as a process of its own, so that its log outlives every crawler. What it would give
is found out by a spider of the test's own, not by asking asof.
"""

from __future__ import annotations

import gzip
import random
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

from support import rig
from support.rig import ok, referees_agree, rows_of

PAGES_PER_KILL = 10
DELAY = 0.045


class Links(HTMLParser):
    """Every address a page names, whatever for."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [v for k, v in attrs if k in {"href", "src"} and v]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Redirects are answers of their own."""

    def redirect_request(self, *_: object) -> None:
        return None


def fetch(opener: urllib.request.OpenerDirector, url: str) -> tuple[int, str, str | None, bytes]:
    try:
        with opener.open(url, timeout=10) as answer:
            head = answer.headers
            return answer.status, head.get_content_type(), head.get("Location"), answer.read()
    except urllib.error.HTTPError as error:
        with error:
            head = error.headers
            return error.code, head.get_content_type(), head.get("Location"), error.read()


def spider(start: str) -> set[str]:
    """What can be reached from the front page on its host, robots obeyed, by our own means."""
    opener = urllib.request.build_opener(NoRedirect)
    _, _, _, robots = fetch(opener, urljoin(start, "/robots.txt"))
    forbidden = re.findall(r"(?im)^disallow:\s*(\S+)", robots.decode())
    seen, queue = {start}, [start]
    while queue:
        url = queue.pop()
        _, media, location, body = fetch(opener, url)
        found = [location] if location else []
        if media == "text/html":
            parser = Links()
            parser.feed(body.decode("utf-8", "replace"))
            found += parser.found
        elif media == "text/css":
            found += re.findall(r"url\(['\"]?([^'\")]+)", body.decode("utf-8", "replace"))
        for link in found:
            full = urldefrag(urljoin(url, link)).url
            path = full.removeprefix(start.rstrip("/"))
            if full.startswith(start) and full not in seen:
                if any(path.startswith(rule) for rule in forbidden):
                    continue
                seen.add(full)
                queue.append(full)
    return seen


@contextmanager
def synthetic(pages: int, log: Path) -> Iterator[str]:
    """The address of a synthetic site that is a process of its own, and writes a log."""
    process = subprocess.Popen(
        [sys.executable, "-m", "asof.testing", "--pages", str(pages), "--port", "0", "--log", log,
         "--rates", "none", "--errors", "404,410"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://[^\s'\"]+", line)
        assert found, line
        yield found[0].rstrip("/") + "/"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Members:
    """Walks the gzip members of growing files; a torn one may only be the last of a file."""

    def __init__(self) -> None:
        self.good: dict[Path, int] = {}

    def whole(self, path: Path) -> int:
        """How far the file consists of whole members that are WARC records."""
        at = self.good.get(path, 0)
        data = path.read_bytes()
        assert len(data) >= at, f"{path.name} lost whole records that were on disk before"
        while at < len(data):
            inflate = zlib.decompressobj(31)
            try:
                record = inflate.decompress(data[at:])
            except zlib.error:
                break
            if not inflate.eof:
                break
            assert record.startswith(b"WARC/1.1\r\n"), f"{path.name} at {at}: {record[:60]!r}"
            assert record.endswith(b"\r\n\r\n")
            said = re.search(rb"(?i)\r\nContent-Length: (\d+)\r\n", record)
            assert said
            length = int(said[1])
            head = record.index(b"\r\n\r\n") + 4
            assert len(record) == head + length + 4, f"{path.name} at {at}"
            at = len(data) - len(inflate.unused_data)
        self.good[path] = at
        return at


def rows_are_whole(archive: Path, rows: list[dict[str, Any]]) -> None:
    """Every listed capture can be read at its place."""
    files: dict[str, bytes] = {}
    for row in rows:
        data = files.setdefault(row["file"], (archive / "warc" / row["file"]).read_bytes())
        record = gzip.decompress(data[row["offset"] : row["offset"] + row["length"]])
        assert rig.bare_id(row["record_id"]).encode() in record


@dataclass
class Killed:
    """A crawl of a site, its lives, and what is known of its archive between them."""

    url: str
    log: Path
    archive: Path
    chance: random.Random
    kills: int = 0
    members: Members = field(default_factory=Members)
    known: set[str] = field(default_factory=set)

    def live(self) -> bool:
        """One life, until it is killed; whether it came to the end of the crawl before that."""
        asked = self.log.stat().st_size
        words = ["crawl", self.url, "-a", self.archive, "--delay", DELAY, "--quiet"]
        life = rig.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if self.chance.random() < 0.7:
            # Most die at work: the first request of this life, and then some.
            until = time.monotonic() + 20
            while self.log.stat().st_size == asked and life.poll() is None:
                assert time.monotonic() < until, "a life of 20 s without a single request"
                time.sleep(0.004)
            wait = self.chance.uniform(0.0, 0.8)
        else:
            # The others die while they start and mend what the last one left.
            wait = self.chance.uniform(0.02, 0.7)
        try:
            life.wait(wait)
        except subprocess.TimeoutExpired:
            life.send_signal(signal.SIGKILL)
            self.kills += 1
        _, err = life.communicate()
        assert b"Traceback" not in err, err.decode()
        assert life.returncode in (0, -signal.SIGKILL), (life.returncode, err.decode())
        return life.returncode == 0

    def look(self) -> None:
        """Whole records only, after every death; all that was listed, after every twentieth."""
        for path in rig.warcs(self.archive) if (self.archive / "warc").exists() else []:
            self.members.whole(path)
        if self.kills % 20 == 0 and (self.archive / "asof.db").exists():
            self.listed()

    def listed(self) -> list[dict[str, Any]]:
        rows = rows_of(self.archive)
        rows_are_whole(self.archive, rows)
        ids = {row["record_id"] for row in rows}
        assert self.known <= ids, "captures that were listed before are gone"
        self.known = ids
        return rows


def each_page_once(killed: Killed, expected: set[str]) -> None:
    """All that the site gives, and nothing else, in one crawl; as the files alone say, too."""
    rows = killed.listed()
    once = Counter(row["url"] for row in rows if row["kind"] in {"response", "revisit"})
    robots = {urljoin(killed.url, "/robots.txt"), *(u for u in once if "sitemap" in u)}
    assert {u: n for u, n in once.items() if n != 1 and u not in robots} == {}
    assert expected - set(once) == set(), f"lost: {sorted(expected - set(once))[:5]}"
    assert set(once) - expected - robots == set()
    for path in rig.warcs(killed.archive):
        assert killed.members.whole(path) == path.stat().st_size
    assert len({row["crawl"] for row in rows}) == 1, "one crawl, however often it was killed"
    referees_agree(killed.archive)
    before = rows_of(killed.archive)
    rig.remove_database(killed.archive)
    ok("reindex", "-a", killed.archive)
    assert rows_of(killed.archive) == before


def survives(kills: int, folder: Path, seed: int) -> None:
    """A crawl of ten pages for each kill."""
    log, archive = folder / "requests.log", folder / "archive"
    with synthetic(kills * PAGES_PER_KILL, log) as url:
        expected = spider(url)
        assert len(expected) >= kills * PAGES_PER_KILL
        killed = Killed(url, log, archive, random.Random(seed))
        finished = False
        while killed.kills < kills and not finished:
            finished = killed.live()
            killed.look()
        assert killed.kills >= kills * 0.9, f"finished after {killed.kills} kills: raise DELAY"
        if not finished:
            last = ok("crawl", url, "-a", archive, "--delay", "0", "--json", timeout=150).json()
            assert last["state"] == "finished"
        each_page_once(killed, expected)
