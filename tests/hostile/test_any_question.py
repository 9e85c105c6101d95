"""Whatever is asked of a server, by whatever method: one answer, with a status that says whose
fault it is, and nothing of this machine in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asof.archive import OpenArchive
from asof.clock import SystemClock
from asof.web.app import create_app
from support import served_archive
from support.served_archive import Answer, Page, Server

HOME = "http://a.example/"
DAY = "2026-01-01T00:00:00Z"
PAGES = [
    Page(HOME, DAY, b"<!doctype html><title>A</title><img src=i.png><a href=/b>b</a>"),
    Page(HOME, "2026-03-01T00:00:00Z", b"<!doctype html><title>A</title><p>later</p>"),
    Page(HOME + "i.png", DAY, b"\x89PNG\r\n\x1a\n" + bytes(300), "image/png"),
    Page(HOME + "moved", DAY, status="302 Found", headers=(("Location", "/"),)),
    Page(HOME + "gone", DAY, b"gone", status="404 Not Found"),
]

ODD = st.sampled_from([
    "", "%", "%0", "%00", "%0d%0aX-Odd:1", "%ff", "%C3%BC", "%2F", "%2e%2e/", "../", "//", "\\",
    "#", ";", "?", "&&", "=", "*", "+", "..;/", "[", "http://[", "http://a.example:99999/",
    "javascript:1", "data:,x", "file:///etc/passwd", "<script>odd", "%3Cscript%3Eodd", "'\"",
    "9" * 40, "-1", "0x10", "1e9", "now", "2026", "20260231", "99991231235959",
    "00000000000000", "19691231", "id_", "if_", "mp_", "st_", "zz_", "coherent", "strict",
    "nearest", "warcinfo", "0-1", "bytes=", "null", "a" * 3000,
])  # fmt: skip
STEMS = [
    "/", "/captures", "/covers", "/covers/", "/compare", "/compare/", "/cdx", "/cdx/", "/timegate/",
    "/timemap/link/", "/timemap/json/", "/timemap/", "/-/", "/-/go", "/-/about", "/-/warc/",
    "/-/openapi.json", "/-/api/archive", "/-/api/hosts", "/-/api/urls", "/-/api/captures",
    "/crawls", "/crawls/", "/-/api/crawls", "/-/api/crawl", "/-/do/", "/-/do/stop",
    "/-/api/history", "/-/api/compare", "/-/api/composition", "/-/api/covers", "/-/composition/",
    "/-/composition", "/-/strict/", "/-/nearest/", "/-/static/", "/2026/", "/2026id_/", "/2026if_/",
    "/now/", "/compare/2026/2027/",
]  # fmt: skip
NAMES = [
    "url", "at", "from", "to", "after", "limit", "matchType", "filter", "collapse", "sort",
    "closest", "fl", "output", "page", "pageSize", "showNumPages", "resumeKey", "showResumeKey",
    "policy", "asked", "prefix", "text", "find", "of", "resolveRevisits", "collapseTime", "q",
    "crawl", "before",
]  # fmt: skip
SAID = st.one_of(
    st.sampled_from([HOME, HOME + "moved", HOME + "i.png", "a.example", "2026", "1", "json"]),
    ODD, st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12),
)  # fmt: skip
QUERY = st.lists(st.tuples(st.sampled_from(NAMES), SAID), max_size=4).map(
    lambda pairs: "&".join(f"{name}={value}" for name, value in pairs)
)
TARGETS = st.builds(
    lambda stem, rest, query: stem + "".join(rest) + ("?" + query if query else ""),
    st.sampled_from(STEMS), st.lists(SAID, max_size=3), QUERY,
)  # fmt: skip
FIELDS = st.dictionaries(
    st.sampled_from(["Range", "Accept_Datetime", "Accept", "If_None_Match", "If_Modified_Since"]),
    SAID, max_size=2,
)  # fmt: skip
METHODS = st.sampled_from(["GET", "GET", "GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE", "ODD"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return served_archive.build(tmp_path_factory.mktemp("whereitlies") / "archive", PAGES)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with served_archive.serving(folder, files=True) as running:
        yield running


@pytest.fixture(scope="module")
def several(folder: Path) -> Iterator[Server]:
    with (
        OpenArchive.open(folder) as one,
        OpenArchive.open(folder) as two,
        served_archive.running(create_app([one, two], SystemClock(), root="/r")) as running,
    ):
        yield running


def is_sound(answer: Answer, method: str) -> None:
    """It is an answer, ours, and of the right kind."""
    assert answer.status < 500, (answer.status, answer.text[:500])
    assert "Traceback" not in answer.text
    assert "whereitlies" not in f"{answer.headers}{answer.text}"
    assert "X-Odd" not in answer.headers
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    kind = answer.headers.get("Content-Type", "")
    if kind.startswith("text/html"):
        assert "default-src" in answer.headers["Content-Security-Policy"]
        assert b"<script>odd" not in answer.body
    if kind == "application/json" and method == "GET":
        told: Any = json.loads(answer.body)
        assert answer.status < 400 or set(told) == {"message"} or "resources" in told
    if method == "HEAD":
        assert answer.body == b""


@settings(max_examples=600, deadline=None)
@given(TARGETS, FIELDS, METHODS)
@example("/-/api/captures?url=http://[", {}, "GET")
@example("/-/composition/a.example", {}, "GET")
@example("/2026/http://a.example/", {"Range": "bytes=9-1,,"}, "GET")
def test_of_one_archive(server: Server, target: str, fields: dict[str, str], method: str) -> None:
    is_sound(server.ask(target, method, **fields), method)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["", "/r", "/r/archive", "/r/archive-2", "/r/none"]), TARGETS, FIELDS)
def test_of_several_below_a_path(
    several: Server, lead: str, target: str, fields: dict[str, str]
) -> None:
    is_sound(several.ask(lead + target, **fields), "GET")
