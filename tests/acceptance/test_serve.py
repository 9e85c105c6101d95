"""`asof serve`: what is captured, time travel to two versions, raw mementos, a clean end."""

from __future__ import annotations

import re
import select
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from support import forge, rig
from support.rig import crawl, links, ok, page, rows_of, site


class Answer:
    """An answer of the server under test."""

    def __init__(self, status: int, headers: Any, body: bytes, url: str) -> None:
        self.status, self.headers, self.body, self.url = status, headers, body, url


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def ask(url: str, *, follow: bool = True, method: str = "GET") -> Answer:
    request = urllib.request.Request(url, method=method)
    opener = urllib.request.build_opener(*([] if follow else [NoRedirect]))
    try:
        with opener.open(request, timeout=15) as answer:
            return Answer(answer.status, answer.headers, answer.read(), answer.url)
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, error.read(), error.url)


def serving(archive: Path, *words: object) -> tuple[subprocess.Popen[Any], str]:
    """Start `asof serve` and read its address from what it says."""
    child = rig.start("serve", "-a", archive, "--port", rig.closed_port(), *words)
    said = b""
    until = time.monotonic() + 20
    while time.monotonic() < until and child.poll() is None:
        ready, _, _ = select.select([child.stdout, child.stderr], [], [], 0.2)  # type: ignore[type-var]
        for stream in ready:
            said += stream.read1(4096)
        if found := re.search(rb"http://[0-9a-z.:\[\]]+\d", said):
            base = found[0].decode()
            try:
                ask(base + "/")
            except urllib.error.URLError:
                continue
            return child, base
    child.kill()
    child.communicate()
    raise AssertionError(f"asof serve named no address: {said.decode()}")


def stop(child: subprocess.Popen[Any], sig: int = signal.SIGTERM) -> int:
    child.send_signal(sig)
    try:
        _, err = child.communicate(timeout=15)
    except BaseException:
        child.kill()
        child.communicate()
        raise
    assert b"Traceback" not in err, err.decode()
    return child.returncode


def version(number: int) -> dict[str, rig.Answer]:
    css = f"body {{ background: url(/bg{number}.png) }} @import '/more.css';"
    body = (
        f"<!doctype html><html><head><title>News</title><link rel=stylesheet href=/style.css>"
        f"<base href='/'></head><body><h1>edition {number}</h1>"
        f"<img src=/logo.png srcset='/big.png 2x'>"
        f"<a href=/other>other</a><a href='http://elsewhere.example/x'>away</a></body></html>"
    )
    return {
        "/": page(links("/news", "/moved", "/gone")),
        "/news": page(body),
        "/other": page("<p>other</p>"),
        "/style.css": page(css, media="text/css"),
        "/more.css": page("p { color: red }", media="text/css"),
        "/logo.png": page(b"\x89PNG-logo", media="image/png"),
        "/big.png": page(b"\x89PNG-big", media="image/png"),
        "/bg1.png": page(b"\x89PNG-1", media="image/png"),
        "/bg2.png": page(b"\x89PNG-2", media="image/png"),
        "/moved": page("", "302 Found", Location="/news"),
        "/gone": page("<p>gone</p>", "410 Gone"),
    }


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path, str]]:
    root = tmp_path_factory.mktemp("serve")
    archive = root / "archive"
    with site(version(1)) as server:
        crawl(archive, server.url + "/")
        time.sleep(1.2)
        server.pages = version(2)
        crawl(archive, server.url + "/", "--new")
        origin = server.url
    evil = forge.Rec(
        "http://evil.example/<script>alert(1)</script>",
        b"<script>top.location='http://live.example'</script>",
        headers=(("Content-Type", "text/html"), ("Set-Cookie", "session=stolen"),
                 ("Strict-Transport-Security", "max-age=1"), ("X-Injected", "yes")),
    )  # fmt: skip
    (root / "evil.warc.gz").write_bytes(evil.gz())
    ok("import", root / "evil.warc.gz", "-a", archive)
    child, base = serving(archive)
    yield base, archive, origin
    stop(child)


# Pages that lead to many others before they lead to a memento.
NO_MEMENTOS = re.compile("/(quality|site|crawls|covers|search|compare|-)")


def replay_link(base: str, origin: str, archive: Path, path: str, number: int) -> str:
    """The replay address of a capture as the pages for people name it."""
    row = rows_of(archive, "--url", origin + path)[number]
    home = ask(base + "/").body.decode()
    pattern = re.compile(r'(?:href|action)="([^"]+)"')
    seen, queue = set(), [base + "/", *(urljoin(base + "/", h) for h in pattern.findall(home))]  # type: ignore[var-annotated]
    while queue:
        url = queue.pop(0).replace("&amp;", "&")
        if url in seen or not url.startswith(base) or len(seen) > 80:
            continue
        if NO_MEMENTOS.match(url.removeprefix(base)):
            continue
        seen.add(url)
        if re.search(rf"/{row['timestamp']}[a-z_]*/{re.escape(origin + path)}$", url):
            return url
        answer = ask(url)
        if (
            answer.headers.get_content_type() == "text/html"
            and "Memento-Datetime" not in answer.headers
        ):
            queue += [urljoin(url, href) for href in pattern.findall(answer.body.decode())]
    raise AssertionError(
        f"no page leads to {path} as of {row['timestamp']}; seen {sorted(seen)[:30]}"
    )


def test_home_lists_what_is_captured(served: tuple[str, Path, str]) -> None:
    base, _, origin = served
    home = ask(base + "/")
    assert home.status == 200
    assert home.headers.get_content_type() == "text/html"
    assert origin.split("//")[1].encode() in home.body or b"captures" in home.body.lower()
    assert b"<script>alert(1)</script>" not in home.body


def test_two_versions_of_a_changed_page(served: tuple[str, Path, str]) -> None:
    base, archive, origin = served
    rows = rows_of(archive, "--url", origin + "/news")
    assert len(rows) == 2
    for number, row in enumerate(rows):
        url = replay_link(base, origin, archive, "/news", number)
        answer = ask(url)
        assert answer.status == 200
        assert b"edition %d" % (number + 1) in answer.body
        assert b"edition %d" % (2 - number) not in answer.body
        moment = parsedate_to_datetime(answer.headers["Memento-Datetime"])
        assert moment.strftime("%Y%m%d%H%M%S") == row["timestamp"]
        # Links stay in the archive, at that moment.
        assert b'href="/other"' not in answer.body
        assert b"href=/other" not in answer.body
        assert row["timestamp"].encode() in answer.body
        style = re.search(rb'<link[^>]+href="?([^">\s]+)', answer.body)[1].decode()  # type: ignore[index]
        sheet = ask(urljoin(answer.url, style))
        assert sheet.status == 200
        assert sheet.headers.get_content_type() == "text/css"
        # Never from the future: a sheet of the next second is not there as of the page's own.
        sheets = rows_of(archive, "--url", origin + "/style.css")
        known = sum(each["timestamp"] <= row["timestamp"] for each in sheets)
        assert b"bg%d.png" % max(1, known) in sheet.body
        picture = re.search(rb"url\(['\"]?([^'\")]+bg[^'\")]+)", sheet.body)[1].decode()  # type: ignore[index]
        taken = rows_of(archive, "--url", origin + f"/bg{max(1, known)}.png")
        if taken[0]["timestamp"] <= row["timestamp"]:
            assert ask(urljoin(sheet.url, picture)).body == b"\x89PNG-%d" % max(1, known)


def test_a_raw_memento_is_what_get_gives(served: tuple[str, Path, str]) -> None:
    base, archive, origin = served
    for number in (0, 1):
        url = replay_link(base, origin, archive, "/news", number)
        row = rows_of(archive, "--url", origin + "/news")[number]
        raw = re.sub(r"/(\d{14})[a-z_]*/", r"/\1id_/", url)
        answer = ask(raw)
        got = ok("get", origin + "/news", "--at", row["timestamp"], "-a", archive)
        assert answer.body == got.out
        assert "Memento-Datetime" in answer.headers


def test_as_of_a_moment_in_between_and_never_the_future(served: tuple[str, Path, str]) -> None:
    base, archive, origin = served
    url = replay_link(base, origin, archive, "/news", 0)
    first, second = (row["timestamp"] for row in rows_of(archive, "--url", origin + "/news"))
    late = ask(url.replace(first, "20991231235959"))
    assert b"edition 2" in late.body
    assert (
        parsedate_to_datetime(late.headers["Memento-Datetime"]).strftime("%Y%m%d%H%M%S") == second
    )
    early = ask(url.replace(first, "20010101000000"))
    assert early.status == 404 or b"edition 1" in early.body
    if early.status == 404:
        assert "Memento-Datetime" not in early.headers


def test_redirects_and_errors_are_replayed_as_such(served: tuple[str, Path, str]) -> None:
    base, archive, origin = served
    url = replay_link(base, origin, archive, "/news", 0)
    moved = ask(url.replace("/news", "/moved"), follow=False)
    assert moved.status in {301, 302, 307}
    assert origin in moved.headers["Location"]
    assert not moved.headers["Location"].startswith(origin)
    gone = ask(url.replace("/news", "/gone"))
    assert gone.status == 410
    assert b"gone" in gone.body


def test_nothing_from_the_archive_reaches_the_visitor_as_ours(
    served: tuple[str, Path, str],
) -> None:
    base, archive, _ = served
    stamp = next(r["timestamp"] for r in rows_of(archive) if "evil" in r["url"])
    sample = replay_link(base, served[2], archive, "/news", 0)
    first = re.search(r"\d{14}", sample)[0]  # type: ignore[index]
    prefix = sample.split(first)[0]
    answer = ask(f"{prefix}{stamp}/http://evil.example/%3Cscript%3Ealert(1)%3C/script%3E")
    if answer.status == 200:
        assert "Set-Cookie" not in answer.headers
        assert "Strict-Transport-Security" not in answer.headers
        assert "sandbox" in answer.headers.get("Content-Security-Policy", "") or (
            "default-src" in answer.headers.get("Content-Security-Policy", "")
        )


@pytest.mark.parametrize(
    "path",
    ["/%00", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/web/notadate/http://x/",
     "/" + "a" * 9000, "/20210101000000/", "/20210101000000/javascript:alert(1)",
     "/20219999999999/http://example.com/", "/99999999999999id_/http://x/", "/?url=%ff%fe",
     "/search?url=http://[", "/?url=" + "x" * 5000, "/static/../../../../etc/passwd",
     "/%F0%9F%92%A9", "/<script>alert(1)</script>"],
)  # fmt: skip
def test_bad_requests_are_answered_in_the_four_hundreds(
    served: tuple[str, Path, str], path: str
) -> None:
    base, _, _ = served
    host, port = base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        said = b""
        while data := raw.recv(65536):
            said += data
    status = int(said.split(b" ", 2)[1])
    assert status < 500, said[:400]
    assert b"root:" not in said
    assert b"Traceback" not in said
    assert b"<script>alert(1)</script>" not in said


def test_strange_methods(served: tuple[str, Path, str]) -> None:
    base, _, _ = served
    for method in ("POST", "DELETE", "PUT", "OPTIONS"):
        assert ask(base + "/", method=method).status < 500
    head = urllib.request.Request(base + "/", method="HEAD")
    with urllib.request.urlopen(head, timeout=10) as answer:
        assert answer.read() == b""


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_it_is_told_to(served: tuple[str, Path, str], sig: Any) -> None:
    _, archive, _ = served
    child, base = serving(archive)
    with socket.create_connection(tuple(base.removeprefix("http://").split(":")), timeout=5):  # type: ignore[arg-type]
        # An idle visitor must not keep it alive.
        started = time.monotonic()
        code = stop(child, sig)
    assert time.monotonic() - started < 8
    assert code in {0, 128 + sig}, code


def test_it_sees_what_is_captured_while_it_runs(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    (tmp_path / "a.warc.gz").write_bytes(forge.recs(1)[0].gz())
    (tmp_path / "b.warc.gz").write_bytes(forge.recs(1, host="later.example")[0].gz())
    ok("import", tmp_path / "a.warc.gz", "-a", archive)
    child, base = serving(archive)
    try:
        ok("import", tmp_path / "b.warc.gz", "-a", archive)
        assert ask(base + "/").status == 200
        pages = ask(base + "/").body
        assert b"later.example" in pages or b"2 " in pages
    finally:
        stop(child)
