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


def part(name: str, second: int, body: bytes, first: int, *more: tuple[str, str]) -> Page:
    named = ("Content-Range", f"bytes {first}-{first + len(body) - 1}/300000")
    at = f"2026-01-01T00:00:{second:02}Z"
    return Page(SITE + name, at, body, "video/mp4", "206 Partial Content", (named, *more))


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(b), b) for b in (BODY[:50_000], BODY[50_000:100_000]))
    unknown = (("Content-Range", "bytes 5-9/*"),)
    pages = [
        part("all", 1, BODY, 0),
        part("all", 3, BODY[200_000:], 200_000),
        part("three", 1, chunks + b"0\r\n\r\n", 0),
        part("three", 2, BODY[100_000:200_000], 100_000),
        part("three", 3, BODY[200_000:], 200_000),
        part("tail", 1, BODY[200_000:], 200_000),
        Page(SITE + "any", AT, BODY[5:10], "video/mp4", "206 Partial Content", unknown),
        Page(SITE + "odd", AT, BODY[:5], "video/mp4", "206 Partial Content",
             (("Content-Range", "bytes 9-5/3"),)),
    ]  # fmt: skip
    first = pages[2]
    headers = (("Content-Range", "bytes 0-99999/300000"), ("Transfer-Encoding", "chunked"))
    pages[2] = Page(first.url, first.at, first.body, first.media, first.status, headers)
    folder = served_archive.build(tmp_path_factory.mktemp("parts") / "archive", pages)
    with served_archive.serving(folder) as running:
        yield running


@pytest.mark.parametrize("form", ["", "id_", "oe_"])
@pytest.mark.parametrize(
    ("name", "asked", "start", "stop"),
    [
        ("all", "bytes=8000-", 8000, 300_000),
        ("all", "bytes=-5", 299_995, 300_000),
        ("three", "bytes=0-", 0, 100_000),
        ("three", "bytes=7-9", 7, 10),
        ("three", "bytes=150000-250000", 150_000, 200_000),
        ("three", "bytes=200000-", 200_000, 300_000),
        ("three", "bytes=-5", 299_995, 300_000),
        ("three", "", 0, 100_000),
        ("tail", "bytes=250000-250009", 250_000, 250_010),
        ("tail", "", 200_000, 300_000),
        ("tail", "bytes=1-2,5-6", 200_000, 300_000),
    ],
)
def test_captured_parts_keep_their_numbers(
    parts: Any, form: str, name: str, asked: str, start: int, stop: int
) -> None:
    answer = parts.ask(f"/2026{form}/{SITE}{name}", **({"Range": asked} if asked else {}))
    assert answer.status == 206
    assert answer.headers["Content-Range"] == f"bytes {start}-{stop - 1}/300000"
    assert answer.headers["Content-Length"] == str(stop - start)
    assert answer.body == BODY[start:stop]
    assert ("reason=truncated" in answer.headers["Asof-Verdict"]) == (name != "all")


def test_a_part_from_the_first_to_the_last_byte_is_whole(parts: Any) -> None:
    answer = parts.ask(f"/20260101000001oe_/{SITE}all")
    assert answer.headers["Asof-Verdict"].startswith("proven;")
    assert (answer.status, answer.body) == (200, BODY)
    assert "Content-Range" not in answer.headers


def test_what_no_part_holds_is_not_to_be_had(parts: Any) -> None:
    answer = parts.ask(f"/2026oe_/{SITE}tail", Range="bytes=0-")
    assert (answer.status, answer.body) == (416, b"")
    assert answer.headers["Content-Range"] == "bytes */300000"
    assert parts.ask(f"/2026oe_/{SITE}tail", "HEAD").headers["Content-Length"] == "100000"


def test_of_a_part_of_nobody_knows_how_much(parts: Any) -> None:
    answer = parts.ask(f"/2026oe_/{SITE}any", Range="bytes=7-")
    assert (answer.status, answer.body) == (206, BODY[7:10])
    assert answer.headers["Content-Range"] == "bytes 7-9/*"
    assert parts.ask(f"/2026oe_/{SITE}any", Range="bytes=-2").status == 416
    assert "reason=truncated" in parts.ask(f"/2026oe_/{SITE}odd").headers["Asof-Verdict"]
