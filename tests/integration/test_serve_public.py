"""`asof serve` for others: what it takes to be reached, how much each may ask for, below a path,
and whom it believes about who asks.
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from asof.clock import SystemClock
from asof.web.server import Service
from asof.web.turns import Buckets
from support import rig
from support.serve_command import served
from support.served_archive import Answer, Page, Server, build, serving

AT = "2026-01-01T00:00:00Z"
FRONT = b"""<!doctype html><title>Front</title><link rel=stylesheet href=/s.css><img src="i.png">
<a href="/next?a=b//c">on</a><form action=/find></form><a href="http://b.example/">away</a>"""
PAGES = [
    Page("http://a.example/", AT, FRONT),
    Page("http://a.example/", "2026-02-01T00:00:00Z", FRONT + b"<p>later</p>"),
    Page("http://a.example/s.css", AT, b"p { background: url(/i.png) }", "text/css"),
    Page("http://a.example/i.png", AT, b"\x89PNG\r\n\x1a\n" + bytes(2000), "image/png"),
    Page("http://a.example/next?a=b//c", AT, b"<p>next</p>"),
    Page("http://a.example/moved", AT, b"", status="302 Found", headers=(("Location", "/"),)),
    Page("http://a.example/large.bin", AT, bytes(8 << 20), "application/octet-stream"),
]
# What a client may write who wants to pass for another one, at another place.
FORGED = {
    "X_Forwarded_For": "198.51.100.9",
    "X_Forwarded_Proto": "https",
    "X_Forwarded_Host": "evil.example",
    "X_Forwarded_Prefix": "/evil",
    "X_Real_IP": "198.51.100.9",
    "Forwarded": "for=198.51.100.9;proto=https;host=evil.example",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("public") / "whereitlies"
    return build(root / "archive", PAGES, seeds=("http://a.example/",))


def at(base: str) -> Server:
    return Server(int(base.rpartition(":")[2]))


@pytest.fixture(scope="module")
def below(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One archive below a path that another server passes on."""
    with served(folder, "--root-path", "/old/archive/") as (base, _):
        yield at(base)


# -- to be reached -------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_nothing_leaves_the_machine_unless_told(folder: Path, host: str) -> None:
    refused = rig.run("serve", folder, "--host", host, "--port", 0)
    assert refused.code == 2
    assert f"Others could read the archive at {host}. Add --public" in refused.err


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.9.9.9"])
def test_addresses_of_this_machine_need_no_word(folder: Path, host: str) -> None:
    with rig.start("serve", folder, "--host", host, "--port", "0") as child:
        assert child.stderr is not None
        said = child.stderr.readline().decode()
        child.terminate()
        assert f"at http://{host}:" in said, said
        child.communicate(timeout=15)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--root-path", "archive"), "cannot stand before addresses"),
        (("--root-path", "/a/../b"), "cannot stand before addresses"),
        (("--root-path", "/a b"), "cannot stand before addresses"),
        (("--behind-proxy", "proxy.example"), "is no address of a proxy"),
        (("--behind-proxy", "10.0.0.1/8"), "is no address of a proxy"),
        (("--rate", "5"), "with --public"),
    ],
)
def test_what_makes_no_sense_is_told(folder: Path, words: tuple[str, ...], told: str) -> None:
    refused = rig.run("serve", folder, "--port", 0, *words)
    assert (refused.code, told in refused.err) == (2, True), refused.err


@pytest.mark.parametrize(
    ("public", "names", "wanted"),
    [
        (False, (), [200, 200, 400, 400]),
        (False, ("Archive.Example.org",), [200, 200, 200, 400]),
        (True, (), [200, 200, 200, 200]),
        (True, ("archive.example.org",), [200, 200, 200, 400]),
    ],
)
def test_names_that_are_answered_to(
    folder: Path, public: bool, names: tuple[str, ...], wanted: list[int]
) -> None:
    turns = Buckets(SystemClock(), 20) if public else None
    service = Service((folder,), "127.0.0.1", 0, names=names, turns=turns)
    with serving(folder, hosts=service.hosts) as server:
        asked = ("127.0.0.1", "localhost:99", "archive.example.org", "other.example")
        assert [server.ask("/", Host=name).status for name in asked] == wanted


# -- how much ------------------------------------------------------------------------------------


def test_who_asks_for_too_much_is_told_when_to_come_back(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    words = ("--public", "--rate", "2", "--behind-proxy", "127.0.0.1", "--access-log", log)
    with served(folder, *words) as (base, _):
        # Each on a connection of its own: all processes count together.
        seen = [at(base).ask("/covers", X_Forwarded_For="192.0.2.1") for _ in range(60)]
        assert [each.status for each in seen[:40]] == [200] * 40
        # A request takes some time, and one in half a second is right.
        late = [each for each in seen[40:] if each.status == 429]
        assert len(late) >= 15
        assert late[0].headers["Retry-After"] == "1"
        assert late[0].text == "You ask for more than one reader may. Ask again in 1 s.\n"
        # The others are not held up.
        assert at(base).ask("/covers", X_Forwarded_For="192.0.2.2").status == 200
        # Eight megabytes count as eight requests more.
        for _ in range(4):
            large = at(base).ask("/2026id_/http://a.example/large.bin", X_Forwarded_For="::2")
            assert len(large.body) == 8 << 20
        more = [at(base).ask("/covers", X_Forwarded_For="::3").status for _ in range(9)]
        assert 429 in more
    assert "192.0.2.1 - - [" in log.read_text()
    assert " 429 " in log.read_text()


def test_so_many_answers_at_once_for_one_client(folder: Path) -> None:
    target, headers = "/2026id_/http://a.example/large.bin", {"X-Forwarded-For": "192.0.2.1"}
    with served(folder, "--public", "--rate", "1000", "--behind-proxy", "127.0.0.1") as (base, _):
        open_, statuses = [], []
        try:
            for _ in range(64 * 5):  # by up to four processes
                one = http.client.HTTPConnection("127.0.0.1", at(base).port, timeout=10)
                one.request("GET", target, headers=headers)
                open_.append(one)  # and does not read on
            statuses = [one.getresponse().status for one in open_]
            assert set(statuses) == {200, 429}
            assert at(base).ask("/covers", X_Forwarded_For="192.0.2.2").status == 200
        finally:
            for one in open_:
                one.close()


def test_without_the_word_nobody_is_counted(folder: Path) -> None:
    with served(folder) as (base, _):
        statuses: set[int] = set()

        def many() -> None:
            statuses.update(at(base).ask("/-/static/asof.css").status for _ in range(250))

        readers = [threading.Thread(target=many) for _ in range(2)]
        for each in readers:
            each.start()
        for each in readers:
            each.join()
        assert statuses == {200}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "ASOF"])
def test_there_is_nothing_but_reading(below: Server, method: str) -> None:
    for target in ("/old/archive/", "/old/archive/-/go", "/old/archive/2026/http://a.example/"):
        refused = below.ask(target, method)
        assert (refused.status, refused.headers["Allow"]) == (405, "GET, HEAD")
    for target in ("/old/archive/", "/old/archive/2026/http://a.example/"):
        assert below.ask(target, "HEAD").status == 200


# -- what is told --------------------------------------------------------------------------------


def test_nobody_is_told_where_the_archive_lies(folder: Path, tmp_path: Path) -> None:
    archive = shutil.copytree(folder, tmp_path / "whereitlies" / "archive")
    targets = [
        "/", "/captures?url=a.example", "/captures?prefix=a.example", "/covers", "/covers/none",
        "/2026/http://a.example/", "/2026id_/http://a.example/", "/2026/http://c.example/",
        "/2025/http://a.example/", "/nowhere", "/-/go?url=x.example&at=y", "/captures?url=%00",
        "/-/static/../x", "/2026/http://a.example/large.bin", "/-/about", "/-/api/archive",
        "/crawls", "/crawls/20260101000000-test", "/crawls/none", "/-/api/crawl", "/-/api/crawls",
        "/-/api/covers", "/-/api/captures?url=a.example", "/-/api/history?url=a.example",
        "/-/api/composition?url=http://a.example/", "/-/composition/2026/http://a.example/",
        "/cdx?url=a.example/*", "/-/warc/none", "/timemap/json/http://a.example/",
    ]  # fmt: skip
    with served(archive, "--public") as (base, _):
        for damage in (None, b"", b"\0", b"damaged"):
            for path in (archive / "warc").iterdir():
                if damage is None:
                    break
                path.write_bytes((damage * path.stat().st_size)[: path.stat().st_size])
            for target in targets:
                said = at(base).ask(target, Accept="text/html")
                assert said.status < 500 or damage is not None
                told = said.text + str(said.headers.items())
                assert "whereitlies" not in told, (target, damage, told)
                assert str(tmp_path) not in told
                assert "Traceback" not in told


# -- below a path --------------------------------------------------------------------------------


def addresses(answer: Answer) -> list[str]:
    return re.findall(r'(?:href|src|action|formaction)="?([^">\s]*)', answer.text)


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/", 200), ("/captures?url=a.example", 200), ("/captures?prefix=a.example", 200),
        ("/covers", 200), ("/covers/none", 404), ("/nowhere", 404), ("/captures/", 404),
        ("/2026/http://a.example/", 200), ("/2026mp_/http://a.example/", 200),
        ("/2025/http://a.example/", 404), ("/2026/http://c.example/", 404),
        ("/-/nearest/2026/http://a.example/", 200), ("/-/composition/2026/http://a.example/", 200),
    ],
)  # fmt: skip
def test_all_addresses_of_a_page_are_below(below: Server, target: str, status: int) -> None:
    destination = "iframe" if "mp_" in target else "document"
    found = below.ask(f"/old/archive{target}", Sec_Fetch_Dest=destination)
    assert found.status == status
    led = [each for each in addresses(found) if not each.startswith("#")]
    assert led
    for each in led:
        assert each.startswith("/old/archive/"), led
        if "/-/static/" in each:
            assert below.ask(each).status == 200


def test_redirects_and_headers_are_below(below: Server) -> None:
    root = "/old/archive"
    for target, led in (
        (root, f"{root}/"),
        (f"{root}/-/go", f"{root}/"),
        (f"{root}/-/go?url=http://a.example&at=2026", f"{root}/2026/http://a.example/"),
        (f"{root}/2026/http://a.example/moved", f"{root}/2026/http://a.example/"),
        (f"{root}/*/http://a.example/", f"{root}/captures?url=http%3A%2F%2Fa.example%2F"),
    ):
        assert below.ask(target).headers["Location"] == led
    shown = below.ask(f"{root}/2026/http://a.example/next?a=b//c")
    exact = f"{root}/20260101000000/http://a.example/next?a=b//c"
    assert shown.headers["Content-Location"] == exact
    assert f"<http://127.0.0.1:{below.port}{exact}>" in shown.headers["Link"]
    style = below.ask(f"{root}/2026/http://a.example/s.css")
    assert re.search(rf"{root}/2026\w*/http://a.example/i.png", style.text)
    assert "Set-Cookie" not in shown.headers
    gate = below.ask(f"{root}/timegate/http://a.example/next?a=b//c")
    assert gate.headers["Location"] == f"http://127.0.0.1:{below.port}{exact}"
    assert (
        f"{below.url}{exact}" in below.ask(f"{root}/timemap/link/http://a.example/next?a=b//c").text
    )
    described = json.loads(below.ask(f"{root}/-/openapi.json").text)
    assert described["servers"] == [{"url": below.url + root}]
    listed = json.loads(below.ask(f"{root}/-/api/urls?limit=1").text)
    assert below.ask(listed["next"]).status == 200


@pytest.mark.parametrize("target", ["/", "/old", "/old/archives/", "/2026/http://a.example/",
                                    "/-/static/asof.css", "/old/archive/../x", "//old/archive/",
                                    "/old%2Farchive/"])  # fmt: skip
def test_what_is_not_below_is_not_there(below: Server, target: str) -> None:
    assert below.ask(target).status == 404


def test_several_archives_below_a_path(folder: Path, tmp_path: Path) -> None:
    other = shutil.copytree(folder, tmp_path / "other")
    with served(folder, other, "--root-path", "/x") as (base, _):
        home = at(base).ask("/x/")
        assert {"/x/archive/", "/x/other/"} <= set(addresses(home))
        assert at(base).ask("/x/other").headers["Location"] == "/x/other/"
        inside = at(base).ask("/x/other/captures?prefix=a.example")
        assert "/x/" in addresses(inside)
        assert all(each.startswith(("/x/", "#")) for each in addresses(inside))
        shown = at(base).ask("/x/other/2026/http://a.example/")
        assert "/x/other/2026/http://b.example/" in addresses(shown)
        assert all(each.startswith("/x/other/") for each in addresses(shown))


# -- who asks ------------------------------------------------------------------------------------


def test_forged_headers_are_not_heeded(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    words = ("--access-log", log, "--behind-proxy", "192.0.2.77")
    for told in ((), words[2:]):
        with served(folder, *words[:2], *told) as (base, _):
            shown = at(base).ask("/2026/http://a.example/", **FORGED)
            assert shown.status == 200
            assert f"<{base}/20260101000000/http://a.example/>" in shown.headers["Link"]
            said = json.dumps(shown.headers.items()) + shown.text
            assert "evil" not in said
            assert "https:" not in said
    lines = log.read_text().splitlines()
    assert len(lines) == 2
    assert all(each.startswith("127.0.0.1 - - [") for each in lines)


def test_a_proxy_is_believed_who_asks(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    words = ("--public", "--behind-proxy", "127.0.0.0/8", "--access-log", log)
    with served(folder, *words, "--host-name", "archive.example.org") as (base, _):
        told = {
            "X_Forwarded_For": "203.0.113.66, 192.0.2.5", "X_Forwarded_Proto": "https",
            "X_Forwarded_Host": "archive.example.org",
        }  # fmt: skip
        shown = at(base).ask("/2026/http://a.example/", **told)
        origin = "https://archive.example.org"
        assert f"<{origin}/20260101000000/http://a.example/>" in shown.headers["Link"]
        element = "for=192.0.2.6;proto=https;host=archive.example.org"
        shown = at(base).ask("/2026/http://a.example/", Forwarded=element)
        assert f"<{origin}/20260101000000/http://a.example/>" in shown.headers["Link"]
        told["X_Forwarded_Host"] = "evil.example"
        assert at(base).ask("/", **told).status == 400
    seen = [each.split()[0] for each in log.read_text().splitlines()]
    assert seen == ["192.0.2.5", "192.0.2.6", "192.0.2.5"]
