"""What the replay origin answers to the worker that runs archived scripts."""

from __future__ import annotations

import gzip
import http.client
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from asof.archive import OpenArchive
from asof.clock import parse_stamp
from asof.replay.choose import Chooser, Policy
from asof.replay.posted import posted
from support import rig, served_archive
from support.serve_command import serving
from support.served_archive import Page

pytestmark = pytest.mark.needs("scripts")

SITE, AT = "http://site.example/", "2026-02-01T00:00:00Z"
STAMP = "20260201000000"
HEADERS = (
    ("Content-Encoding", "identity"), ("X-Total", "7"), ("X-Orig-Location", "http://evil/"),
    ("Set-Cookie", "a=b"), ("Content-Security-Policy", "script-src *"), ("Link", "<x>; rel=next"),
    ("Strict-Transport-Security", "max-age=1"), ("X-Frame-Options", "DENY"),
    ("Content-Language", "de"),
)  # fmt: skip


COOKIES = (
    ("Set-Cookie", "a=b; Expires=Wed, 09 Jun 2027 10:18:14 GMT"),
    ("Set-Cookie", "secret=1; HttpOnly"),
    ("Set-Cookie", "c=d"),
)


@dataclass(frozen=True)
class Replay:
    """The ports of a running server."""

    main: int
    port: int

    def ask(
        self,
        target: str,
        method: str = "GET",
        *,
        port: int = 0,
        body: bytes | None = None,
        **headers: str,
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=10)
        try:
            connection.request(method, target, body, headers=named)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


def pages() -> list[Page]:
    return [
        Page(SITE, AT, "grüß".encode("latin-1"), "text/html; charset=iso-8859-1", headers=HEADERS),
        Page(SITE + "gone", AT, b"gone", status="410 Gone"),
        Page(SITE + "marked", AT, "\ufeffgrüß".encode(), headers=COOKIES),
        Page(SITE + "wide", AT, "\ufeffgrüß".encode("utf-16-le")),
        Page(
            SITE + "torn",
            AT,
            "<meta charset=utf-8>grüß".encode("latin-1"),
            "text/html; charset=iso-8859-1",
        ),
        Page(SITE + "nothing", AT, b"", None, "204 No Content"),
        Page(SITE + "moved", AT, b"body", None, "301 Moved", (("Location", "/new?a=b#c"),)),
        Page(SITE + "film", AT, bytes(range(100)), "video/webm"),
        Page(SITE + "q?a=1&b=%2F", AT, b"{}", "application/json"),
        Page(SITE + "sheet", AT, b"p { background: url(http://far.example/x.png) }", "text/css"),
    ]


def replay_port(main: int, about: str = "/-/about") -> int:
    said = Replay(main, main).ask(about)[2].decode()
    found = re.search(r"http://localhost:(\d+)", said)
    assert found, said
    return int(found[1])


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    """Two archives; the second one has another page."""
    base = tmp_path_factory.mktemp("origin")
    served_archive.build(base / "a", pages())
    served_archive.build(base / "b", [Page(SITE, AT, b"another")])
    with serving(base / "a", base / "b") as running:
        main = urlsplit(running).port or 0
        yield Replay(main, replay_port(main, "/a/-/about"))


def raw(url: str, *, plan: str = "coherent.a", form: str = "id_", stamp: str = STAMP) -> str:
    return f"/w/{plan}/{stamp}{form}/{url}"


def test_a_payload_comes_with_what_scripts_may_know_of_it(replay: Replay) -> None:
    status, headers, body = replay.ask(raw(SITE))
    assert (status, body) == (200, "grüß".encode("latin-1"))
    assert headers["Content-Type"] == "text/html; charset=windows-1252"
    assert headers["Memento-Datetime"] == "Sun, 01 Feb 2026 00:00:00 GMT"
    assert headers["Asof-Verdict"].startswith("proven")
    assert (headers["X-Total"], headers["Content-Language"]) == ("7", "de")
    for name in ("Set-Cookie", "Link", "Strict-Transport-Security", "Content-Encoding",
                 "X-Orig-Location", "X-Frame-Options", "X-Redirect-Status"):  # fmt: skip
        assert headers[name] is None, name
    assert "script-src" not in headers["Content-Security-Policy"]


FORM = "application/x-www-form-urlencoded"
MULTI = "multipart/form-data; boundary="


def exchange(number: int, at: str, media: str, sent: bytes, body: bytes) -> bytes:
    """Answer and request, in the order in which browsers' recorders write them."""
    return b"".join(records(number, at, media, sent, body))


def records(
    number: int, at: str, media: str, sent: bytes, body: bytes, telling: str = "response request"
) -> tuple[bytes, bytes]:
    """An answer and its request; `telling` are those that name the other."""

    def record(kind: str, own: str, other: str, block: bytes) -> bytes:
        beside = f"WARC-Concurrent-To: <urn:uuid:{other}>\r\n" if kind in telling else ""
        fields = (
            f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{own}>\r\n"
            f"WARC-Date: {at}\r\nWARC-Target-URI: {SITE}api\r\n{beside}"
            f"Content-Type: application/http; msgtype={kind}\r\nContent-Length: {len(block)}"
        )
        return gzip.compress(fields.encode() + b"\r\n\r\n" + block + b"\r\n\r\n", 0)

    answer, request = (
        f"00000000-0000-4000-8000-{number:012}",
        f"00000000-0000-4000-9000-{number:012}",
    )
    said = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + body
    asked = (
        f"POST /api HTTP/1.1\r\nHost: site.example\r\nContent-Type: {media}\r\n\r\n".encode() + sent
    )
    return record("response", answer, request, said), record("request", request, answer, asked)


def part(boundary: str, value: str) -> bytes:
    field = f'Content-Disposition: form-data; name="a"\r\n\r\n{value}'
    return f"--{boundary}\r\n{field}\r\n--{boundary}--\r\n".encode()


@pytest.mark.parametrize("packed", [True, False], ids=["gzip", "plain"])
@pytest.mark.parametrize("telling", ["request", "response"])
@pytest.mark.parametrize("order", ["after", "before", "all first", "all last", "far"])
def test_a_request_is_found_wherever_it_lies(
    tmp_path: Path, order: str, telling: str, *, packed: bool
) -> None:
    """warcio, warcprox and browsertrix write it after the answer, wget before it, others as they
    come; what says so is in the one or in the other. A new index knows them, too.
    """
    pairs = [
        records(number, AT, FORM, b"a=%d" % number, b"said %d" % number, telling)
        for number in range(1, 6)
    ]
    answers, requests = zip(*pairs, strict=True)
    filling = exchange(9, AT, FORM, b"", bytes(range(256)) * 6000)  # more than half of a stretch
    written = {
        "after": [each for pair in pairs for each in pair],
        "before": [each for pair in pairs for each in reversed(pair)],
        "all first": [*requests, *answers],
        "all last": [*answers, *reversed(requests)],
        "far": [*requests[:3], *answers[3:], filling, filling, *answers[:3], *requests[3:]],
    }[order]
    path = tmp_path / ("posts.warc.gz" if packed else "posts.warc")
    path.write_bytes(b"".join(written if packed else map(gzip.decompress, written)))
    rig.ok("import", path, "-a", tmp_path / "a")
    asked = [("POST", FORM, b"a=%d" % number) for number in range(1, 6)]
    for _ in range(2):
        with OpenArchive.open(tmp_path / "a") as archive:
            at = parse_stamp("2027") or 0
            found = [
                posted(Chooser(archive), each, SITE + "api", at, Policy.COHERENT) for each in asked
            ]
            shown = [archive.read(each.capture).payload() for each in found if each.capture]
            assert [b"".join(each) for each in shown] == [b"said %d" % n for n in range(1, 6)]
        rig.remove_database(tmp_path / "a")
        rig.ok("reindex", "-a", tmp_path / "a")


def test_what_was_posted_is_answered_by_method_and_body(tmp_path: Path) -> None:
    late = "2026-03-01T00:00:00Z"
    (tmp_path / "posts.warc.gz").write_bytes(
        exchange(1, AT, FORM, b"a=1&b=", b"one")
        + exchange(2, AT, "application/json", b'{"a": [1, 2]}', b"two")
        + exchange(3, AT, MULTI + "xyz", part("xyz", "three"), b"three")
        + exchange(4, late, FORM, b"a=1&b=", b"four")
    )
    rig.ok("import", tmp_path / "posts.warc.gz", "-a", tmp_path / "a")
    with serving(tmp_path / "a") as running:
        main = urlsplit(running).port or 0
        replay = Replay(main, replay_port(main))
        post = partial(replay.ask, method="POST")
        april = raw(SITE + "api", plan="coherent", stamp="20260401000000")
        first = raw(SITE + "api", plan="coherent")
        assert post(first, body=b"a=1&b=", Content_Type=FORM)[2] == b"one"
        assert post(april, body=b"a=1&b=", Content_Type=FORM)[2] == b"four"
        assert post(first, body=b'{"a":[1,2]}', Content_Type="application/json")[2] == b"two"
        assert post(first, body=part("q", "three"), Content_Type=MULTI + "q")[2] == b"three"
        status, _, body = post(first, body=b"a=2", Content_Type=FORM)
        assert (status, b"no answer to this POST" in body) == (404, True)
        assert replay.ask(first, "PUT", body=b"a=1&b=", Content_Type=FORM)[0] == 404


def test_each_archive_has_its_own(replay: Replay) -> None:
    assert replay.ask(raw(SITE, plan="coherent.b"))[2] == b"another"
    assert replay.ask(raw(SITE + "gone", plan="coherent.b"))[0] == 404
    assert replay.ask(raw(SITE, plan="coherent.c"))[0] == 404
    assert replay.ask(raw(SITE, plan="coherent"))[0] == 404


def test_errors_and_redirects_are_told_apart_from_what_is_not_there(replay: Replay) -> None:
    status, headers, body = replay.ask(raw(SITE + "gone"))
    assert (status, headers["X-Redirect-Status"], body) == (200, "410", b"gone")
    status, headers, body = replay.ask(raw(SITE + "moved"))
    assert (status, headers["X-Redirect-Status"], body) == (200, "301", b"")
    assert headers["X-Orig-Location"].startswith(SITE + "new?a=b")
    status, headers, body = replay.ask(raw(SITE + "none"))
    assert (status, headers["X-Redirect-Status"]) == (404, None)
    assert b"no answer to this GET" in body
    assert replay.ask(raw(SITE + "q?a=1&b=%2F"))[2] == b"{}"
    assert replay.ask(raw(SITE + "nothing"))[1]["X-Redirect-Status"] == "204"


def test_a_page_that_is_gone_to_leads_to_when_it_is_shown(replay: Replay) -> None:
    status, headers, _ = replay.ask(raw(SITE, form="mp_", stamp="20261231235959"))
    told = headers["X-Redirect-Status"], headers["X-Orig-Location"], headers["X-Orig-Ts"]
    assert (status, told) == (200, ("302", SITE, STAMP))
    status, headers, _ = replay.ask(raw(SITE, form="mp_"))
    assert (status, headers["X-Redirect-Status"]) == (200, None)
    # What is no page is shown by our own.
    assert replay.ask(raw(SITE + "film", form="mp_"))[0] == 404


def test_parts_of_films_and_heads(replay: Replay) -> None:
    status, headers, body = replay.ask(raw(SITE + "film"), Range="bytes=10-19")
    assert (status, headers["Content-Range"], body) == (
        206,
        "bytes 10-19/100",
        bytes(range(10, 20)),
    )
    assert replay.ask(raw(SITE + "film"), Range="bytes=200-")[0] == 416
    status, headers, body = replay.ask(raw(SITE + "film"), "HEAD")
    assert (status, headers["Content-Length"], body) == (200, "100", b"")


def test_a_page_whose_encoding_would_be_mistaken_comes_in_utf_8(replay: Replay) -> None:
    for name in ("marked", "torn", "wide"):
        _, headers, body = replay.ask(raw(SITE + name))
        assert headers["Content-Type"] == "text/html; charset=utf-8", name
        assert body.decode().endswith("grüß"), name


def test_cookies_are_told_to_the_worker_alone(replay: Replay) -> None:
    _, headers, _ = replay.ask(raw(SITE + "marked"))
    assert (headers["Set-Cookie"], headers["X-Proxy-Set-Cookie"]) == (None, "a=b,c=d")


def test_what_did_not_come_by_the_worker_is_no_page(replay: Replay) -> None:
    status, headers, body = replay.ask(raw(SITE), Sec_Fetch_Dest="document")
    assert (status, "grü".encode("latin-1") in body) == (403, False)
    # In the frame of our page, it starts the worker again.
    status, headers, body = replay.ask(raw(SITE), Sec_Fetch_Dest="iframe")
    assert (status, b"/-/boot.js" in body) == (200, True)
    assert f"http://127.0.0.1:{replay.main}" in headers["Content-Security-Policy"]
    assert replay.ask(raw(SITE), Sec_Fetch_Dest="image")[0] == 403


PAST = f"/w/coherent.a/:20260301000000/{STAMP}"


def past(replay: Replay, name: str, kind: str, **headers: str) -> tuple[int, str, bytes]:
    """What a document of the replay origin gets that no worker controls."""
    told: dict[str, Any] = {"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Dest": kind, **headers}
    status, said, body = replay.ask(f"{PAST}{name}", **told)
    assert "default-src 'none'" in said["Content-Security-Policy"]
    told_to_workers = {"X-Orig-Location", "X-Redirect-Status", "Refresh", "X-Proxy-Set-Cookie"}
    assert told_to_workers.isdisjoint(said.keys())
    return status, said["Location"] or said["Content-Type"], body


def test_a_document_without_a_worker_gets_its_parts(replay: Replay) -> None:
    film = past(replay, f"oe_/{SITE}film", "video", Range="bytes=1-2")
    assert film == (206, "video/webm", b"\1\2")
    assert past(replay, f"mp_/{SITE}q?a=1&b=%2F", "empty")[::2] == (200, b"{}")
    assert past(replay, f"im_/{SITE}gone", "image")[::2] == (410, b"gone")
    assert past(replay, f"im_/{SITE}moved", "image")[:2] == (301, f"{PAST}im_/{SITE}new?a=b")
    assert past(replay, f"im_/{SITE}none", "image")[0] == 404
    status, kind, body = past(replay, f"cs_/{SITE}sheet", "style")
    assert (status, kind) == (200, "text/css; charset=utf-8")
    assert body.decode() == f"p {{ background: url({PAST}cs_/http://far.example/x.png) }}"
    status, kind, body = past(replay, f"js_/{SITE}q?a=1&b=%2F", "script")
    assert (status, kind) == (200, "text/javascript; charset=utf-8")
    assert f'"{PAST}js_/{SITE}q?a=1&b=%2F"'.encode() in body


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", ""])
def test_nobody_else_gets_parts(replay: Replay, site: str) -> None:
    for kind in ("image", "empty", "script", "style"):
        assert past(replay, f"im_/{SITE}film", kind, Sec_Fetch_Site=site)[0] == 403


def test_a_part_is_neither_a_page_nor_a_worker(replay: Replay) -> None:
    for kind in ("document", "object", "embed", "worker", "sharedworker", "serviceworker",
                 "manifest", "audioworklet", "fencedframe", "xslt", "report"):  # fmt: skip
        assert past(replay, f"mp_/{SITE}", kind)[0] == 403, kind
    assert b"/-/boot.js" in past(replay, f"mp_/{SITE}", "iframe")[2]


def test_without_both_addresses_of_an_operator_it_does_not_start(tmp_path: Path) -> None:
    folder = served_archive.build(tmp_path / "a", pages())
    with (
        pytest.raises(AssertionError, match="go together"),
        serving(folder, words=["--replay-origin", "https://replay.example.org"]),
    ):
        pass


def test_an_operator_s_addresses_are_framed_and_answered_to(tmp_path: Path) -> None:
    folder = served_archive.build(tmp_path / "a", pages())
    words = ["--replay-origin", "https://replay.example", "--origin", "https://archive.example/"]
    with serving(folder, words=words) as running:
        main = urlsplit(running).port or 0
        asked = f"/2026/{SITE}"
        status, headers, body = Replay(main, main).ask(
            asked, Host="archive.example", Accept="text/html"
        )
        assert (status, b'data-boot="https://replay.example/-/boot"' in body) == (200, True)
        assert "frame-src https://replay.example;" in headers["Content-Security-Policy"]


def test_at_another_address_of_the_machine_no_script_can_run(replay: Replay) -> None:
    page = f"/a/2026/{SITE}"
    framed = replay.ask(page, port=replay.main, Accept="text/html")[2].decode()
    assert f'data-boot="http://localhost:{replay.port}/-/boot" data-plan="coherent.a"' in framed
    asked = replay.ask(page, port=replay.main, Host="192.168.0.7", Accept="text/html")
    assert b"without scripts" in asked[2]
    assert b"data-boot" not in asked[2]
    about = replay.ask("/a/-/about", port=replay.main)[2]
    assert b"AGPL" in about
    assert b"https://github.com/webrecorder/wabac.js" in about
