"""200 SIGKILLs at random moments of a crawl of 2,000 pages: all records whole, each page once.

The site runs as a process of its own, so that its log outlives every crawler. What it would give
is found out by a spider of the test's own, not by asking asof. ASOF_KILLS sets the number of kills.
"""

from __future__ import annotations

import gzip
import os
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
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import pytest

from support import rig
from support.rig import ok, referees_agree, rows_of

KILLS = int(os.environ.get("ASOF_KILLS", "200"))
PAGES = 2000 if KILLS >= 100 else max(100, KILLS * 10)
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


@pytest.fixture
def synthetic(tmp_path: Path):
    """The synthetic site as a process of its own: its address and its log."""
    log = tmp_path / "requests.log"
    process = subprocess.Popen(
        [sys.executable, "-m", "asof.testing", "--pages", str(PAGES), "--port", "0", "--log", log,
         "--rates", "none", "--errors", "404,410"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        line = process.stdout.readline()
        found = re.search(r"http://[^\s'\"]+", line)
        assert found, line
        yield found[0].rstrip("/") + "/", log
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
            length = int(re.search(rb"(?i)\r\nContent-Length: (\d+)\r\n", record)[1])
            head = record.index(b"\r\n\r\n") + 4
            assert len(record) == head + length + 4, f"{path.name} at {at}"
            at = len(data) - len(inflate.unused_data)
        self.good[path] = at
        return at


def rows_are_whole(archive: Path, rows: list[dict]) -> None:
    """Every listed capture can be read at its place."""
    files: dict[str, bytes] = {}
    for row in rows:
        data = files.setdefault(row["file"], (archive / "warc" / row["file"]).read_bytes())
        record = gzip.decompress(data[row["offset"] : row["offset"] + row["length"]])
        assert rig.bare_id(row["record_id"]).encode() in record


def test_200_kills(synthetic, tmp_path: Path) -> None:
    url, log = synthetic
    expected = spider(url)
    assert len(expected) >= PAGES
    archive = tmp_path / "archive"
    chance = random.Random(2_000_200)
    members, known = Members(), set()
    words = ["crawl", url, "-a", archive, "--delay", DELAY, "--quiet"]
    kills = finished = 0
    while kills < KILLS:
        asked = log.stat().st_size
        life = rig.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if chance.random() < 0.7:
            # Most die at work: the first request of this life, and then some.
            until = time.monotonic() + 20
            while log.stat().st_size == asked and life.poll() is None:
                assert time.monotonic() < until, "a life of 20 s without a single request"
                time.sleep(0.004)
            wait = chance.uniform(0.0, 0.8)
        else:
            # The others die while they start and mend what the last one left.
            wait = chance.uniform(0.02, 0.7)
        try:
            life.wait(wait)
        except subprocess.TimeoutExpired:
            life.send_signal(signal.SIGKILL)
            kills += 1
        _, err = life.communicate()
        assert b"Traceback" not in err, err.decode()
        if life.returncode == 0:
            finished += 1
            break
        assert life.returncode == -signal.SIGKILL, (life.returncode, err.decode())
        for path in rig.warcs(archive) if (archive / "warc").exists() else []:
            members.whole(path)
        if kills % 20 == 0 and (archive / "asof.db").exists():
            rows = rows_of(archive)
            rows_are_whole(archive, rows)
            ids = {row["record_id"] for row in rows}
            assert known <= ids, "captures that were listed before are gone"
            known = ids
    assert kills >= KILLS * 0.9, f"finished after {kills} kills: raise DELAY"
    if not finished:
        last = ok("crawl", url, "-a", archive, "--delay", "0", "--json", timeout=150).json()
        assert last["state"] == "finished"
    rows = rows_of(archive)
    assert known <= {row["record_id"] for row in rows}
    rows_are_whole(archive, rows)
    once = Counter(row["url"] for row in rows if row["kind"] in {"response", "revisit"})
    robots = {urljoin(url, "/robots.txt"), *(u for u in once if "sitemap" in u)}
    assert {u: n for u, n in once.items() if n != 1 and u not in robots} == {}
    assert expected - set(once) == set(), f"lost: {sorted(expected - set(once))[:5]}"
    assert set(once) - expected - robots == set()
    for path in rig.warcs(archive):
        assert members.whole(path) == path.stat().st_size
    assert len({row["crawl"] for row in rows}) == 1, "one crawl, however often it was killed"
    referees_agree(archive)
    before = rows_of(archive)
    rig.remove_database(archive)
    ok("reindex", "-a", archive)
    assert rows_of(archive) == before


def test_what_was_spooled_is_removed_by_the_next_life(tmp_path: Path) -> None:
    """A large body lies in a file of its own until it is whole; a kill must not leave it there."""
    big = random.Random(1).randbytes(1 << 20) * 40
    pieces = rig.split(rig.page(big, media="video/mp4").sent, range(0, len(big), 1 << 20))
    slow = rig.Reply(pieces, "keep", pause=0.05)
    with rig.site({"/": rig.page(rig.links("/big")), "/big": slow}) as server:
        archive = tmp_path / "archive"
        life = rig.start("crawl", server.url + "/", "-a", archive, "--delay", "0", "--quiet")
        rig.wait_for(lambda: "/big" in server.paths(), 20, "the crawl gets to the large file")
        time.sleep(1.0)
        life.kill()
        life.communicate()
        server.pages["/big"] = rig.Reply((slow.sent,), "keep")
        rig.crawl(archive, server.url + "/")
        used = sum(path.stat().st_size for path in archive.rglob("*") if path.is_file())
        assert used < 42 << 20, f"{used >> 20} MB for 40 MB of content"
        assert ok("get", server.url + "/big", "--raw", "-a", archive).out == slow.sent
        referees_agree(archive)
