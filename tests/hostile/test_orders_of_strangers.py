"""Orders by those who may give none, and forms that are none: told so, and nothing has changed."""

from __future__ import annotations

import fcntl
import json
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from asof.web import orders
from support import rig, steered
from support.rig import ok
from support.serve_command import served
from support.served_archive import Server, serving
from support.steered import FORM, TOKEN, crawling, nothing_runs_on, sent

NAMES = ("pause", "resume", "exclude", "stop", "crawl", "continue")
ASKED = {"crawl": "ID", "pattern": "/page/", "seeds": "http://127.0.0.1:9/"}
RIGHT = {"token": TOKEN, **ASKED}
# Signs that look like others, or are nothing: what they are in UTF-8 is compared, all of it.
WRONG = (
    "", " ", "x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), TOKEN.replace("a", "а"),  # noqa: RUF001
    "\0", "%", "0", "null", "\ud800",
)  # fmt: skip


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One in which a crawl is at work that takes orders."""
    folder = tmp_path_factory.mktemp("ordered") / "archive"
    with steered.long_site() as site, crawling(folder, site.url + "/", "--delay", 0.5):
        yield folder


@pytest.fixture(scope="module")
def server(archive: Path) -> Iterator[Server]:
    with serving(archive, token=TOKEN) as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_changes(archive: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """No order has reached the crawl, none has begun, and nobody has to be told of an accident."""
    before = steered.at_work(archive)
    yield
    assert (archive / "control/orders.jsonl").read_bytes() == b""
    assert [*(archive / "logs").glob("begun-*")] == []
    assert steered.at_work(archive) == before
    assert "Traceback" not in capfd.readouterr().err


def body(**fields: str) -> bytes:
    return urlencode(fields, errors="surrogatepass").encode()


@pytest.mark.parametrize("name", NAMES)
def test_without_the_token_nothing_is_done(server: Server, name: str) -> None:
    for wrong in WRONG:
        refused = sent(server, name, body(token=wrong, **ASKED))
        assert refused.status == 401, wrong
        assert "needs the token" in refused.text
        assert TOKEN not in refused.text
    assert sent(server, name, body(**ASKED)).status == 401
    assert sent(server, name, b"").status == 401


@pytest.mark.parametrize("name", NAMES)
def test_the_token_counts_in_the_form_alone(server: Server, name: str) -> None:
    """Not where a browser, a log or a link would carry it."""
    carried = {"Cookie": f"token={TOKEN}", "Authorization": f"Bearer {TOKEN}", "X_Token": TOKEN}
    assert sent(server, f"{name}?token={TOKEN}", body(**ASKED), **carried).status == 401
    assert sent(server, f"{name}?{urlencode(RIGHT)}", b"").status == 401
    for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"):
        refused = sent(server, f"{name}?{urlencode(RIGHT)}", body(**RIGHT), method=method)
        assert refused.status == 405, method


@pytest.mark.parametrize("media", [
    "text/plain", "application/json", "multipart/form-data; boundary=x", "", "application/x-www",
    f"text/plain; {FORM}",
])  # fmt: skip
def test_what_is_no_form_is_refused(server: Server, media: str) -> None:
    """Most of these another site's page could send without asking first."""
    for name in NAMES:
        assert sent(server, name, body(**RIGHT), Content_Type=media).status == 415


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"}, {"Origin": "https://127.0.0.1"},
    {"Origin": "http://127.0.0.1:1"}, {"Sec_Fetch_Site": "cross-site"},
    {"Sec_Fetch_Site": "same-site"}, {"Sec_Fetch_Site": "odd"},
])  # fmt: skip
def test_another_sites_pages_order_nothing(server: Server, headers: dict[str, str]) -> None:
    """Not even with the token."""
    for name in NAMES:
        assert sent(server, name, body(**RIGHT), **headers).status == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "[", ""]
)
def test_another_name_that_leads_here_orders_nothing(server: Server, host: str) -> None:
    for name in NAMES:
        assert sent(server, name, body(**RIGHT), Host=host).status == 400


def test_forms_that_are_too_much_are_refused(server: Server) -> None:
    for name in NAMES:
        assert sent(server, name, body(**RIGHT, x="x" * (64 << 10))).status == 413
        assert sent(server, name, body(**RIGHT) + b"&a=" * 200).status == 400
        assert sent(server, name, body(**RIGHT) + b"&x=\xff\xfe").status == 400


def test_other_places_take_nothing(server: Server) -> None:
    for place in ("../do/stop", "..%2fdo%2fstop", "stop/", "stop/x", "", "none", "%00", "STOP"):
        assert sent(server, place, body(**RIGHT)).status in (404, 405), place


def connected(server: Server, length: int | None) -> socket.socket:
    """One who has sent the head of an order, and its body will be so long."""
    client = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    how = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    head = f"POST /-/do/stop HTTP/1.1\r\nHost: localhost\r\nContent-Type: {FORM}\r\n{how}\r\n\r\n"
    client.sendall(head.encode())
    return client


def test_a_body_without_end_is_not_waited_for(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orders, "_SECONDS", 0.5)
    with connected(server, 1000) as client:
        client.sendall(b"token=")
        assert client.recv(100).startswith(b"HTTP/1.1 408 ")
    with connected(server, None) as client:
        client.sendall(b"ffffffff\r\n" + b"x" * (70 << 10))
        assert client.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_body_that_breaks_off_is_no_accident(server: Server) -> None:
    for part in (b"", body(**RIGHT)):
        with connected(server, 1000) as client:
            client.sendall(part)
    with connected(server, None) as client:
        client.sendall(b"no length\r\n")
        assert client.recv(100) == b""  # nobody could tell what is an answer to what
    rig.wait_for(lambda: server.connections() == 0, 5, "the connections end")


def test_many_who_guess_hold_nobody_up(server: Server) -> None:
    """Nor those who begin a form and do not end it."""
    held = [connected(server, 1000) for _ in range(40)]
    seen: list[int] = []

    def guess() -> None:
        seen.extend(sent(server, "stop", body(token=f"{n}")).status for n in range(10))

    guessing = [threading.Thread(target=guess) for _ in range(10)]
    began = time.monotonic()
    for each in guessing:
        each.start()
    assert server.ask("/crawls").status == 200
    for each in guessing:
        each.join()
    assert time.monotonic() - began < 20
    assert set(seen) == {401}
    for client in held:
        client.close()


@pytest.mark.parametrize("words", [(), ("--public",)])
def test_a_server_without_a_token_takes_and_offers_nothing(
    archive: Path, words: tuple[str, ...]
) -> None:
    with served("-a", archive, *words) as (base, _):
        server = Server(int(base.rpartition(":")[2]))
        for name in NAMES:
            for token in ("", TOKEN):
                assert sent(server, name, body(**{**RIGHT, "token": token})).status == 405
            assert server.ask(f"/-/do/{name}").status == 404
        crawl = ok("status", "--json", "-a", archive).json()["crawl"]
        for page in ("/", "/crawls", f"/crawls/{crawl}"):
            text = server.ask(page).text
            assert 'method="post"' not in text
            assert "token" not in text


def test_a_hostile_folder_is_shown_and_leads_nowhere(tmp_path: Path) -> None:
    """An archive may come from anywhere: with seeds and reasons that are scripts, and a status."""
    folder, evil = tmp_path / "archive", "<script>odd</script>"
    with rig.site({"/": rig.page("<p>x")}) as site:
        rig.crawl(folder, site.url + "/")
    with closing(sqlite3.connect(folder / "asof.db")) as db, db:
        db.execute("UPDATE crawls SET seeds = ?", (f'["--help", "javascript:{evil}"]',))
        db.execute("UPDATE crawls SET id = ?", (f"{evil}/../..",))
        db.execute("UPDATE targets SET state = 'failed', reason = ?, url = ?", (evil, evil))
    (folder / "control").mkdir(exist_ok=True)
    (folder / "control/status.json").symlink_to("/etc/passwd")
    with nothing_runs_on(folder), serving(folder, token=TOKEN) as server:
        listed = server.ask("/crawls").text
        assert evil not in listed
        place = listed.partition('href="/crawls/')[2].partition('"')[0]
        assert "/" not in place
        page = server.ask(f"/crawls/{place}")
        assert hostile_status(folder, server, f"{evil}/../..", evil)
        assert (page.status, evil in page.text) == (200, False)
        assert 'href="javascript:' not in page.text


def hostile_status(folder: Path, server: Server, crawl: str, evil: str) -> bool:
    """What a status says that nobody of ours wrote is shown as text, or not at all."""
    numbers = dict.fromkeys(("captured", "failed", "left_out", "queued", "bytes", "hosts"), 1 << 60)
    snapshot: dict[str, Any] = {
        "elapsed": -1.5, "state": "paused", "rate_now": 1e17, "active": 1 << 60, "current": evil,
        "waiting": f"{evil}\u202e\n\x1b[31m", "recent": [{"status": 1 << 60, "url": evil}],
        "busiest": [{"host": evil, "queued": 1, "wait": 1e17}],
        "reasons": [{"reason": evil, "count": 1}], **numbers,
    }  # fmt: skip
    status = {"crawl": crawl, "pid": 1, "host": "elsewhere", "at": "2026-01-01T00:00:00Z"}
    place = folder / "control/status.json"
    place.unlink()
    place.write_text(json.dumps({**status, "snapshot": snapshot}))
    with closing(sqlite3.connect(folder / "asof.db")) as db, db:
        db.execute("UPDATE crawls SET state = 'running'")
    with (folder / ".lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        page = server.ask(f"/crawls/{quote(crawl, safe='')}")
        told = server.ask(f"/-/api/crawl?crawl={quote(crawl, safe='')}")
    assert (page.status, told.status) == (200, 200)
    assert json.loads(told.body)["now"]["current"] == evil
    assert "data-watch=" in page.text
    return not {evil, "\u202e", "\x1b"} & {*page.text} and evil not in page.text
