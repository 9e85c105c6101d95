"""Parts of mementos by their bytes, as players and downloads that go on ask for them."""

from __future__ import annotations

import gzip
import os
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import served_archive
from support.served_archive import Page

SITE = "http://site.example/"
AT = "2026-01-01T00:00:00Z"
BODY = random.Random(1).randbytes(300_000)
CHUNKED = b"".join(
    b"%x\r\n%s\r\n" % (len(piece), piece)
    for piece in (BODY[at : at + 7000] for at in range(0, len(BODY), 7000))
)
STORED = {
    "plain": (BODY, ()),
    "zip": (gzip.compress(BODY), (("Content-Encoding", "gzip"),)),
    "chunks": (CHUNKED + b"0\r\n\r\n", (("Transfer-Encoding", "chunked"),)),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pages = [
        *(Page(SITE + name, AT, body, "video/mp4", headers=headers)
          for name, (body, headers) in STORED.items()),
        Page(SITE + "empty", AT, b"", "video/mp4"),
        Page(SITE + "page", AT, b"<p>some words and a <a href=x>link</a>"),
        Page(SITE + "gone", AT, BODY, "video/mp4", "404 Not Found"),
    ]  # fmt: skip
    folder = served_archive.build(tmp_path_factory.mktemp("ranges") / "archive", pages)
    with served_archive.serving(folder) as running:
        yield running


@pytest.mark.parametrize("form", ["", "id_", "oe_"])
@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-", 0, 300_000),
        ("bytes=65530-65545", 65530, 65546),
        ("bytes=299990-400000", 299_990, 300_000),
        ("bytes=299999-", 299_999, 300_000),
        ("bytes=-5", 299_995, 300_000),
        ("bytes=-999999", 0, 300_000),
        ("BYTES = 7-9 ", 7, 10),
    ],
)
def test_the_bytes_that_are_asked_for(
    server: Any, form: str, name: str, asked: str, start: int, stop: int
) -> None:
    answer = server.ask(f"/2026{form}/{SITE}{name}", Range=asked)
    assert answer.status == 206
    assert answer.headers["Content-Range"] == f"bytes {start}-{stop - 1}/300000"
    assert answer.headers["Content-Length"] == str(stop - start)
    assert answer.headers["Content-Type"] == "video/mp4"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox")
    assert answer.body == BODY[start:stop]


@pytest.mark.parametrize("asked", ["bytes=300000-", "bytes=400000-500000", "bytes=-0"])
def test_bytes_that_there_are_not(server: Any, asked: str) -> None:
    answer = server.ask(f"/2026/{SITE}plain", Range=asked)
    assert (answer.status, answer.body) == (416, b"")
    assert answer.headers["Content-Range"] == "bytes */300000"
    assert server.ask(f"/2026/{SITE}empty", Range="bytes=0-").status == 416


@pytest.mark.parametrize(
    "asked",
    ["bytes=5-1", "bytes=", "bytes=-", "bytes=a-b", "lines=1-2", "1-2", "bytes=1-2,4-5",
     "bytes=1 -2", "bytes=" + "9" * 5000 + "-", "bytes=\xb2-3"],
)  # fmt: skip
def test_what_need_not_be_understood_gets_all_of_it(server: Any, asked: str) -> None:
    answer = server.ask(f"/2026/{SITE}plain", Range=asked)
    assert (answer.status, answer.body) == (200, BODY)
    assert "Content-Range" not in answer.headers


def test_a_part_is_only_of_what_it_was_part_of(server: Any) -> None:
    target = f"/2026/{SITE}plain"
    whole = server.ask(target)
    assert (whole.status, whole.headers["Accept-Ranges"]) == (200, "bytes")
    tag = whole.headers["ETag"]
    assert server.ask(target, Range="bytes=1-2", If_Range=tag).status == 206
    for other in ('"other"', f"W/{tag}", "Thu, 01 Jan 2026 00:00:00 GMT"):
        assert server.ask(target, Range="bytes=1-2", If_Range=other).status == 200
    assert server.ask(target, Range="bytes=1-2", If_None_Match=tag).status == 304


def test_of_a_rewritten_page(server: Any) -> None:
    whole = server.ask(f"/2026/{SITE}page").body
    assert b"/2026/http://site.example/x" in whole
    answer = server.ask(f"/2026/{SITE}page", Range="bytes=3-20")
    assert (answer.status, answer.body) == (206, whole[3:21])
    assert answer.headers["Content-Range"] == f"bytes 3-20/{len(whole)}"


def test_head_says_how_long_it_is_and_no_more(server: Any) -> None:
    answer = server.ask(f"/2026/{SITE}plain", "HEAD", Range="bytes=0-5")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["Content-Length"] == "300000"
    assert answer.headers["Accept-Ranges"] == "bytes"


def test_an_error_has_no_parts(server: Any) -> None:
    answer = server.ask(f"/2026/{SITE}gone", Range="bytes=0-5")
    assert (answer.status, answer.body) == (404, BODY)


@pytest.mark.parametrize("coded", [False, True])
def test_a_large_body_is_not_held_in_memory(tmp_path: Path, coded: bool) -> None:
    piece = os.urandom(1 << 10)
    size = 48 << 20
    body = piece * (48 << 10)
    page = Page(SITE, AT, body, "video/mp4")
    if coded:
        page = Page(SITE, AT, gzip.compress(body, 0), "video/mp4",
                    headers=(("Content-Encoding", "gzip"),))  # fmt: skip
    folder = served_archive.build(tmp_path / "archive", [page])
    del body, page
    with served_archive.serving(folder) as server:
        server.ask("/")
        tracemalloc.start()
        try:
            tail = server.ask(f"/2026/{SITE}", Range="bytes=-1000")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert tail.body == piece[-1000:]
    assert tail.headers["Content-Range"].endswith(f"/{size}")
    assert peak < 12 << 20
