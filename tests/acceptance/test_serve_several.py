"""`asof serve` with several archives, with an access log, in several processes, beside a crawl."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sqlite3
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from email.message import Message
from pathlib import Path
from typing import NamedTuple

import pytest

from asof.clock import parse_iso
from asof.web.access_log import line
from asof.web.app import short_names
from support import rig
from support.rig import links, ok, page, rows_of, site, wait_for
from support.serve_command import answers, served
from support.served_archive import Page, build

AT = "2026-01-01T00:00:00Z"


class Answer(NamedTuple):
    status: int
    headers: Message
    text: str


def ask(url: str) -> Answer:
    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            return None

    try:
        with urllib.request.build_opener(NoRedirect).open(url, timeout=15) as answer:
            return Answer(answer.status, answer.headers, answer.read().decode("utf-8", "replace"))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, error.read().decode("utf-8", "replace"))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("several")
    front = b'<a href="/next">on</a><img src="i.png"><form action=/find></form>'
    pages = [
        Page("http://a.example/", AT, front),
        Page("http://a.example/moved", AT, b"", status="302 Found", headers=(("Location", "/"),)),
    ]
    first = build(root / "one" / "archive", pages, seeds=("http://a.example/",))
    return first, build(root / "two" / "archive", [Page("http://b.example/", AT, b"<p>b</p>")])


@pytest.fixture(scope="module")
def library(two: tuple[Path, Path]) -> Iterator[str]:
    with served(*two) as (base, _):
        yield base


def test_the_home_page_lists_archives_and_each_is_below_its_name(library: str) -> None:
    home = ask(f"{library}/")
    assert home.status == 200
    assert re.findall(r'href="(/[^-/"][^"]*)"', home.text) == ["/archive/", "/archive-2/"]
    assert "a.example" in ask(f"{library}/archive/").text
    assert "b.example" in ask(f"{library}/archive-2/").text
    assert ask(f"{library}/archive").headers["Location"] == "/archive/"
    assert ask(f"{library}/nothing/").status == 404
    # Archives do not mix, and what has no name belongs to none.
    assert ask(f"{library}/archive-2/2026/http://a.example/").status == 404
    assert ask(f"{library}/2026/http://a.example/").status == 404


def test_no_page_above_the_archives_leads_nowhere(library: str) -> None:
    for path, status in (("/", 200), ("/-/about", 200), ("/nothing", 404)):
        found = ask(library + path)
        assert found.status == status
        assert status == 200 or "/{archive}/{moment}/{url}" in found.text
        assert "<form" not in found.text, "an address is looked up in one archive"
        for target in set(re.findall(r'(?:href|action|src)="(/[^"]*)"', found.text)):
            assert ask(library + target).status == 200, target


def test_every_address_of_a_page_stays_in_its_archive(library: str) -> None:
    shown = ask(f"{library}/archive/2026/http://a.example/")
    assert shown.status == 200
    led = re.findall(r'(?:href|src|action)="?(/[^">\s]*)', shown.text)
    assert "/archive/2026/http://a.example/next" in led
    assert all(each.startswith("/archive/") for each in led), led
    assert shown.headers["Content-Location"] == "/archive/20260101000000/http://a.example/"
    assert f"<{library}/archive/20260101000000/http://a.example/>" in shown.headers["Link"]
    moved = ask(f"{library}/archive/2026/http://a.example/moved")
    assert moved.headers["Location"] == "/archive/2026/http://a.example/"
    go = ask(f"{library}/archive/-/go?url=a.example&at=2026")
    assert go.headers["Location"] == "/archive/2026/https://a.example/"
    assert ask(f"{library}/archive/-/go").headers["Location"] == "/archive/"


def test_requests_in_a_row_do_not_pass_on_their_archive(library: str) -> None:
    host, port = library.removeprefix("http://").split(":")
    first = b"GET /archive/ HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=10) as client:
        client.sendall(first + last)
        said = b""
        while data := client.recv(65536):
            said += data
    _, inside, outside = said.split(b"HTTP/1.1 200 OK")
    assert b'href="/archive/" ' in inside or b'href="/archive/">as' in inside
    assert b'class="wordmark" href="/">' in outside
    assert b"All archives" not in outside


@pytest.mark.parametrize(
    "path",
    ["", "captures/", "captures?url=http://a.example/", "captures?prefix=http://a.example/",
     "covers",
     "covers/none", "-/banner?url=http://a.example/&at=2026", "nowhere",
     "2025/http://a.example/", "2026/http://c.example/"],
)  # fmt: skip
def test_pages_about_an_archive_lead_back_into_it(library: str, path: str) -> None:
    found = ask(f"{library}/archive/{path}")
    assert found.status in (200, 404)
    led = set(re.findall(r'(?:href|action)="(/[^"]*)"', found.text))
    outside = {each for each in led if not each.startswith(("/archive/", "/-/static/"))}
    assert outside <= {"/"}, outside
    assert any(each.startswith("/archive/") for each in led)
    for each in led:
        if each.startswith("/-/static/"):
            assert ask(library + each).status == 200


def test_archives_are_shown_by_the_names_of_their_folders(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    first = shutil.copytree(two[0], tmp_path / "an_old paper <b>")
    with served(first, *two) as (base, _):
        home = ask(f"{base}/").text
        shown = re.findall(r'href="/([^"]*)/"><span class="name">(.*?)</span></a>', home)
        named = "an_old paper &lt;b&gt;"
        assert shown == [("an_old-paper-b", named), *([(f"archive{n}",) * 2 for n in ("", "-2")])]
        assert "1 capture," in home
        inside = ask(f"{base}/an_old-paper-b/captures?prefix=a.example").text
        assert re.search(r'class="wordmark" href="/" title="All archives">', inside)
        assert re.search(rf'href="/an_old-paper-b/" title="[^"]*">{named}</a>', inside)


def test_one_archive_has_no_name(two: tuple[Path, Path]) -> None:
    with served(two[0]) as (base, _):
        assert ask(f"{base}/2026/http://a.example/").status == 200
        assert "/archive/" not in ask(f"{base}/").text


def test_names_can_stand_in_an_address() -> None:
    folders = ["a b", "b", "b", "2026", "ü", "b"]
    assert short_names(folders) == ["a-b", "b", "b-2", "2026", "archive", "b-3"]


def test_archives_are_named_once(two: tuple[Path, Path]) -> None:
    refused = rig.run("serve", two[0], "-a", two[1])
    assert refused.code == 2
    assert "exclude each other" in refused.err


def test_the_access_log_has_a_line_for_each_answer(two: tuple[Path, Path], tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text("what was there\n", encoding="ascii")
    attack = b'GET /"\\x/\x7f HTTP/1.1\r\nHost: localhost\r\n\r\n'
    with served(two[0], "--access-log", log) as (base, _):
        host, port = base.removeprefix("http://").split(":")
        sizes = [len(ask(f"{base}/captures?url=a.example/{n}").text.encode()) for n in range(20)]
        for request in (attack, b'GET /a"b\\c?d"e HTTP/1.0\r\nHost: localhost\r\n\r\n'):
            with socket.create_connection((host, int(port)), timeout=10) as client:
                client.sendall(request)
                while client.recv(65536):
                    pass
    kept, *lines = log.read_text(encoding="ascii").splitlines()
    assert kept == "what was there"
    form = re.compile(
        r"127\.0\.0\.1 - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\] "
        r'"([^"]*)" (\d+) (\d+|-)'
    )
    seen = [found.groups() for each in lines if (found := form.fullmatch(each))]
    assert len(seen) == len(lines)
    asked = [
        (f"GET /captures?url=a.example/{n} HTTP/1.1", "404", str(size))
        for n, size in enumerate(sizes)
    ]
    # Each process writes its own, when its answer has gone.
    assert sorted(each for each in seen if "captures" in each[0]) == sorted(asked)
    assert ("-", "400", "-") in seen
    assert any(each[0] == r"GET /a\x22b\x5cc?d\x22e HTTP/1.0" for each in seen)


def test_a_line_is_one_line_of_ascii_whatever_was_asked() -> None:
    at = parse_iso("2026-11-18T00:27:17Z") or 0
    nasty = b'GET /\r\n127.0.0.1 - - "forged" \x1b[2J\xff\\'
    told = line("::1", at, nasty, "200", 5).decode("ascii")
    assert told == (
        r'::1 - - [18/Nov/2026:00:27:17 +0000] "GET /\x0d\x0a127.0.0.1 - - \x22forged\x22 '
        r'\x1b[2J\xff\x5c" 200 5' + "\n"
    )


def test_a_log_that_cannot_be_written_is_told_at_once(two: tuple[Path, Path]) -> None:
    refused = rig.run("serve", two[0], "--access-log", two[0] / "none" / "log")
    assert refused.code == 2
    assert "No such file" in refused.err


def test_a_log_is_not_begun_for_nothing_nor_behind_a_link(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    log, precious = tmp_path / "access.log", tmp_path / "precious"
    assert rig.run("serve", tmp_path / "none", "--access-log", log).code == 2
    assert not log.exists()
    for there in (precious, precious.with_name("nowhere")):
        log.unlink(missing_ok=True)
        log.symlink_to(there)
        precious.write_text("kept", encoding="ascii")
        refused = rig.run("serve", two[0], "--port", "0", "--access-log", log, timeout=30)
        assert (refused.code, "symbolic link" in refused.err) == (2, True), str(refused)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["access.log", "precious"]
    assert precious.read_text(encoding="ascii") == "kept"


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core, one process")
def test_all_processes_end_with_the_first_even_if_it_is_killed(two: tuple[Path, Path]) -> None:
    child = rig.start("serve", two[0], "--port", "0")
    with child.stdout or child, child.stderr or child:
        assert child.stderr is not None
        base = re.search(r"http://[0-9.]+:\d+", child.stderr.readline().decode())
        assert base is not None
        assert len(rig.family(child.pid)) > 1
        others = [pid for pid in rig.family(child.pid) if pid != child.pid]
        assert "in use" in rig.run("serve", two[0], "--port", base[0].rpartition(":")[2]).err
        child.kill()
        child.wait(10)
        wait_for(lambda: not answers(base[0]), 10, "nobody listens")
        wait_for(lambda: not any(Path(f"/proc/{p}").exists() for p in others), 10, "all end")


def test_a_catalog_that_is_rebuilt_beside_it_is_seen_at_once(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    archive = shutil.copytree(two[1], tmp_path / "archive")
    with closing(sqlite3.connect(archive / "asof.db")) as db, db:
        db.execute("DELETE FROM captures")
    with served(archive) as (base, _):
        assert ask(f"{base}/2026/http://b.example/").status == 404
        for _ in range(2):
            ok("reindex", "-a", archive)
            for _ in range(8):  # by all processes
                assert ask(f"{base}/2026/http://b.example/").status == 200


def test_a_page_is_kept_for_its_moment_and_its_reader(library: str) -> None:
    """What was rewritten for one address is not shown at another."""
    for _ in range(3):
        for moment in ("2026", "20260101", "2027"):
            shown = ask(f"{library}/archive/{moment}/http://a.example/").text
            assert f'href="/archive/{moment}/http://a.example/next"' in shown


def test_readers_do_not_hold_up_a_crawl_and_see_what_it_brings(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    pages = {f"/{number}": page(f"<p>{number}</p>") for number in range(40)}
    with site({"/": page(links(*pages)), **pages}) as server:
        ok("crawl", server.url + "/0", "-a", archive, "--delay", "0", "--scope", "page")
        with served(archive) as (base, _):
            over = threading.Event()
            failed: list[int] = []
            seen: list[int] = []

            def read(number: int) -> None:
                while not over.is_set():
                    found = ask(f"{base}/2099/{server.url}/{number % 40}")
                    (seen if found.status == 200 else failed).append(found.status)

            readers = [threading.Thread(target=read, args=(n,)) for n in range(6)]
            for reader in readers:
                reader.start()
            begun = time.monotonic()
            ok("crawl", server.url + "/", "-a", archive, "--delay", "0.01", "--new")
            took = time.monotonic() - begun
            time.sleep(0.2)
            over.set()
            for reader in readers:
                reader.join()
            for number in range(40):
                assert ask(f"{base}/2099/{server.url}/{number}").status == 200
    assert len(rows_of(archive)) > 40
    assert set(failed) <= {404}  # what was not captured yet
    assert seen
    assert took < 20
