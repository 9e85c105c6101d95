"""Two moments of a page compared in `asof serve`: one answer in all views, nothing hostile acts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import asof
from asof.web import compare
from support import served_archive
from support.served_archive import Page

SITE = "http://site.example/"
WORDS = " ".join(f"word{number}" for number in range(120))
OLD = f"<title>Old</title><main><h1>Boats</h1><p>{WORDS}. The ferry sails at nine.</main>".encode()
NEW = f"<title>New</title><main><h1>Boats</h1><p>{WORDS}. The ferry sails at ten.</main>".encode()
HOSTILE = b"""<title>"><script>alert(1)</script></title><main>
<p>&lt;script&gt;alert(2)&lt;/script&gt; &lt;/del&gt;&lt;img src=x onerror=alert(3)&gt;
\xe2\x80\xae turned</main><script>alert(4)</script>"""
PIXEL = bytes.fromhex("89504e470d0a1a0a0000000d49484452")


def page(path: str, month: int, body: bytes, media: str = "text/html", **more: Any) -> Page:
    return Page(SITE + path, f"2026-{month:02}-01T00:00:00Z", body, media, **more)


STORED = [
    page("", 1, OLD), page("", 2, OLD), page("", 3, NEW), page("", 5, b"<p>quite another page"),
    page("h?a=b%2F&c", 1, OLD), page("h?a=b%2F&c", 2, HOSTILE),
    page("picture.png", 1, PIXEL, "image/png"), page("picture.png", 2, PIXEL + b"x", "image/png"),
    page("large", 1, b"<p>line\n" * 60_000), page("large", 2, b"<p>line\n" * 50_000),
    page("rows", 1, b""), page("rows", 2, b"<p>all new\n" * 9_000),
    page("gone", 1, OLD), page("gone", 2, b"lost", status="404 Not Found"),
    page("once", 1, OLD), page("twice", 1, OLD), page("twice", 2, b"<p>at last"),
    page("again", 1, OLD, headers=(("Last-Modified", "Wed, 31 Dec 2025 00:00:00 GMT"),)),
    page("again", 2, OLD, headers=(("Last-Modified", "Tue, 20 Jan 2026 00:00:00 GMT"),)),
    Page(f"{SITE}twice", "2026-01-01T09:30:00Z", NEW, "text/html"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return served_archive.build(tmp_path_factory.mktemp("compare") / "a", STORED)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Any]:
    with served_archive.serving(folder) as running:
        yield running


def shown(server: Any, view: str, path: str = "", moments: str = "202601/202603") -> str:
    answer = server.ask(f"/compare/{view}{'/' if view else ''}{moments}/{SITE}{path}")
    assert answer.status == 200, answer.text
    found: str = answer.text
    return found


def summary(text: str) -> str:
    found = re.search(r'<p class="summary">(.*?)</p>', text, re.DOTALL)
    assert found is not None
    return " ".join(re.sub("<[^>]*>", "", found[1]).split())


@pytest.mark.parametrize("view", ["", "text", "full", "source"])
def test_every_view_says_what_was_compared_and_what_it_is(
    server: Any, folder: Path, view: str
) -> None:
    told = summary(shown(server, view))
    with asof.Archive.open(folder) as archive:
        change = archive.diff(SITE, "202601", "202603").change
    assert f"The change is {change.category} (by {change.stage}" in told
    assert "1 Jan 2026, 00:00:00 and 1 Mar 2026, 00:00:00" in told


def test_changes_of_one_day_are_told_apart_by_the_time(server: Any) -> None:
    text = shown(server, "text", "twice", "2026010100/202602")
    [onward] = re.findall(r"next change,</span>\s*([\w: ]+)", text)
    assert onward.strip() == "09:30:00"


def test_equal_bytes_are_one_content_also_where_they_prove_nothing_between(server: Any) -> None:
    """The server dates them to after the first download: they are two stretches of time."""
    text = " ".join(server.ask(f"/captures?url={SITE}again").text.split())
    assert "2 captures, 1 content, in 2 stretches of time." in text
    assert "the same bytes as before, and what was between them is not known" in text
    assert "what changed" not in text


def test_changed_words_are_marked(server: Any) -> None:
    text = shown(server, "text")
    assert "<del>nine</del>" in text
    assert "<ins>ten</ins>" in text
    source = shown(server, "source")
    assert "&lt;title&gt;" in source
    assert "<del>nine</del>" in source


def test_the_json_is_that_of_the_command(server: Any, folder: Path) -> None:
    answer = server.ask(f"/-/api/compare?url={SITE}&from=202601&to=202603")
    told = json.loads(answer.body)
    described = json.loads(server.ask("/-/openapi.json").body)
    schema = {"$ref": "#/components/schemas/Comparison", "components": described["components"]}
    Draft202012Validator(schema).validate(told)
    with asof.Archive.open(folder) as archive:
        found = archive.diff(SITE, "202601", "202603")
    assert (told["from"], told["to"]) == ("20260101000000", "20260301000000")
    assert {key: told[key] for key in found.change.as_json()} == found.change.as_json()
    assert told["difference"]["counts"] == found.difference.counts()


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 400), (f"url={SITE}", 400), (f"url={SITE}&from=2026&to=never", 400),
        (f"url={SITE}&from=2026&to=2026&text=some", 400),
        (f"url={SITE}none&from=2026&to=2026", 404), (f"url={SITE}&from=2020&to=2026", 404),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_told_to_programs(server: Any, query: str, status: int) -> None:
    answer = server.ask(f"/-/api/compare?{query}")
    assert answer.status == status
    assert list(json.loads(answer.body)) == ["message"]


@pytest.mark.parametrize("view", ["", "text", "full", "source"])
def test_nothing_of_a_hostile_page_acts(server: Any, view: str) -> None:
    answer = server.ask(f"/compare/{view}{'/' if view else ''}202601/202602/{SITE}h?a=b%2F&c")
    text = answer.text
    assert ("alert(4)" in text) is (view == "source")
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "\u202e" not in text
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    other = "" if view else "/text"
    assert f"/compare{other}/202601/202602/{SITE}h?a=b%2F&amp;c" in text


def test_other_moments_can_be_picked(server: Any) -> None:
    text = shown(server, "text", moments="20260101/20260301")
    here = f"/{SITE}"
    assert f'href="/compare/text/20260101/20260501000000{here}"' in text  # the next after the later
    assert f'href="/compare/text/20260101/20260101000000{here}"' not in text
    text = shown(server, "", moments="20260301/20260501")
    assert f'href="/compare/20260101000000/20260501{here}"' in text
    assert f'href="/compare/20260301/20260301000000{here}"' not in text


def test_a_form_leads_there_in_the_order_of_time(server: Any) -> None:
    listed = server.ask(f"/captures?url={SITE}").text
    assert 'action="/compare"' in listed
    assert f'href="/compare/20260201000000/20260301000000/{SITE}"' in listed
    answer = server.ask(f"/compare?url={SITE}&from=2026-03&to=2026-01-01T00:00:00Z")
    assert answer.status == 303
    assert answer.headers["Location"] == f"/compare/20260101000000/202603/{SITE}"
    assert server.ask("/compare?from=2026&to=2026").status == 400
    assert "/compare" not in server.ask(f"/captures?url={SITE}once").text


def test_the_banner_compares_with_the_content_before(server: Any) -> None:
    def banner(moment: str, path: str = "") -> str:
        found: str = server.ask(f"/{moment}/{SITE}{path}", Sec_Fetch_Dest="document").text
        return found

    assert f'href="/compare/20260101000000/20260301000000/{SITE}"' in banner("20260315")
    assert f'href="/compare/20260201000000/20260301000000/{SITE}"' in banner("20260215")
    assert "/compare/" not in banner("2026", "once")


def test_what_is_large_is_cut_and_says_so(server: Any) -> None:
    text = shown(server, "source", "large", "202601/202602")
    assert "left: only the first 262.1 kB are compared" in text
    assert "right: only the first 262.1 kB are compared" in text
    assert len(text) < 4 << 20
    text = shown(server, "text", "large", "202601/202602")
    assert len(text) < 4 << 20
    text = shown(server, "source", "rows", "202601/202602")
    assert "more lines, not shown" in text
    assert text.count("class=row") <= compare.MOST_ROWS


def test_pictures_and_errors_are_told(server: Any) -> None:
    text = shown(server, "source", "picture.png", "202601/202602")
    assert "left: image/png, which has no lines" in text
    assert "major" in summary(text)
    assert "removed (by status)" in summary(shown(server, "", "gone", "202601/202602"))


@pytest.mark.parametrize("view", ["", "text/"])
def test_what_was_not_there_is_told(server: Any, view: str) -> None:
    assert server.ask(f"/compare/{view}2020/2026/{SITE}").status == 404
    assert server.ask(f"/compare/{view}2026/2026/{SITE}none").status == 404
    assert server.ask("/compare/x/y").status == 404
    assert server.ask(f"/compare/2026/{SITE}").status == 404


def test_the_same_capture_twice_is_told(server: Any) -> None:
    assert "the same capture" in summary(shown(server, "", moments="202601/202601"))


def test_what_cannot_be_read_is_not_compared(tmp_path: Path) -> None:
    """A lost record says nothing of how much changed."""
    folder = served_archive.build(tmp_path / "a", STORED)
    for file in (folder / "warc").iterdir():
        file.unlink()
    with served_archive.serving(folder) as server:
        told = server.ask(f"/-/api/compare?url={SITE}&from=202601&to=202603")
        assert told.status == 500
        assert "cannot be read" in told.text
        assert server.ask(f"/compare/text/202601/202603/{SITE}").status == 500
        assert server.ask(f"/-/api/composition?url={SITE}&at=202601").status == 500
    with asof.Archive.open(folder) as archive, pytest.raises(asof.errors.DamageError):
        archive.diff(SITE, "202601", "202603")
