"""Addresses as other archives have them lead to the same things here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from asof.url import typed
from support import served_archive
from support.served_archive import Page

HOME = "http://site.example/"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pages = [
        Page(HOME, "2025-06-15T12:00:00Z", b"<title>old</title><a href=x>"),
        Page(HOME, "2026-01-01T10:00:00Z", b"<title>new</title><a href=x>"),
        Page(HOME, "2026-01-01T10:30:00Z", b"<title>newer</title><a href=x>"),
        Page(HOME + "odd|^`{}?|^`{}\\", "2025-01-01T00:00:00Z", b"<title>odd</title>"),
        Page(HOME + "day", "2025-05-05T08:00:00Z", b"<title>one</title>"),
        Page(HOME + "day", "2025-05-05T09:30:00Z", b"<title>two</title>"),
        Page(HOME + "q?a=b", "2025-01-01T00:00:00Z", b"<title>query</title>"),
        Page(HOME + "both", "2025-01-01T00:00:00Z", b"<title>plain</title>"),
        Page(f"https{HOME[4:]}both", "2025-01-01T00:00:00Z", b"<title>secure</title>"),
        Page(HOME + "on", "2025-01-01T00:00:00Z", b"", status="302 Found",
             headers=(("Location", "/"),)),
    ]  # fmt: skip
    folder = served_archive.build(tmp_path_factory.mktemp("addresses") / "archive", pages)
    with served_archive.serving(folder) as running:
        yield running


@pytest.mark.parametrize(
    ("target", "form", "url"),
    [
        (f"/now/{HOME}", "", HOME),
        ("/now/site.example", "", f"https{HOME[4:]}"),
        ("/now/site.example:80/", "", HOME),
        (f"/nowid_/{HOME}", "id_", HOME),
        (f"/{HOME}", "", HOME),
        ("/http:/site.example/", "", HOME),
        ("/site.example", "", f"https{HOME[4:]}"),
        ("/site.example/q?a=b", "", f"https{HOME[4:]}q?a=b"),
        (f"/{HOME}q?a=b", "", f"{HOME}q?a=b"),
        (f"/now/{HOME}odd|^`{{}}?|^`{{}}\\", "", f"{HOME}odd|%5E%60%7B%7D?|^`{{}}\\"),
        (f"/-/go?url={quote(HOME)}odd|^`{{}}?|^`{{}}\\", "", f"{HOME}odd|%5E%60%7B%7D?|^`{{}}\\"),
        ("/https://nowhere.example/", "", "https://nowhere.example/"),
    ],
)
def test_without_a_moment_now_is_meant(server: Any, target: str, form: str, url: str) -> None:
    answer = server.ask(target)
    assert answer.status in (302, 303)
    assert re.fullmatch(rf"/\d{{14}}{form}/{re.escape(url)}", answer.headers["Location"])
    assert answer.headers["Cache-Control"] == "no-store"
    assert server.ask(answer.headers["Location"]).status == (404 if "nowhere" in url else 200)


@pytest.mark.parametrize(
    ("written", "title", "url"),
    [
        ("site.example", "newer", HOME),
        ("site.example/both", "secure", f"https{HOME[4:]}both"),
        (f"https{HOME[4:]}both", "secure", f"https{HOME[4:]}both"),
        (f"{HOME}both", "plain", f"{HOME}both"),
        (f"https{HOME[4:]}day", "two", f"{HOME}day"),
    ],
)
def test_without_a_scheme_https_is_meant_and_http_found(
    server: Any, written: str, title: str, url: str
) -> None:
    """As the commands read it; what was captured under the other scheme is found all the same."""
    assert typed(written) is not None
    led = server.ask(f"/-/go?url={quote(written)}&at=2026").headers["Location"]
    assert led == f"/2026/{typed(written)}"
    assert f"<title>{title}</title>" in server.ask(led).text
    listed = server.ask(f"/captures?url={quote(written)}")
    assert f'<h1 class="url">{url}</h1>' in listed.text


@pytest.mark.parametrize("written", ["nohost", "http://[", "two words", "a@b.example"])
def test_what_is_no_address_is_told_so(server: Any, written: str) -> None:
    for target in (f"/captures?url={quote(written)}", f"/2026/{quote(written)}"):
        answer = server.ask(target)
        assert answer.status == 400
        assert "is not a URL" in answer.text


@pytest.mark.parametrize("target", ["/favicon.ico", "/robots.txt", "/nowhere.example/", "/x/a.b"])
def test_what_may_be_no_address_is_nothing(server: Any, target: str) -> None:
    answer = server.ask(target)
    assert answer.status == 404
    assert "Nothing here" in answer.text


@pytest.mark.parametrize(
    ("digits", "title"),
    [("2", "newer"), ("20", "newer"), ("202", "newer"), ("2025", "old"), ("20251", "old"),
     ("2026", "newer"), ("20260", "newer"), ("2026010", "newer"), ("202601011", "newer"),
     ("2026010110", "newer"), ("20260101100", "new"), ("2026010110000", "new"),
     ("20260101102959", "new"), ("20260101103", "newer")],
)  # fmt: skip
def test_any_number_of_digits_names_a_moment(server: Any, digits: str, title: str) -> None:
    answer = server.ask(f"/{digits}/{HOME}")
    assert answer.status == 200
    assert f"<title>{title}</title>" in answer.text


@pytest.mark.parametrize("form", ["im_", "js_", "cs_", "if_", "mp_", "oe_", "fw_", "wkrf_"])
def test_a_form_gives_the_page_itself(server: Any, form: str) -> None:
    answer = server.ask(f"/2026{form}/{HOME}")
    assert (answer.status, answer.headers["Memento-Datetime"][:16]) == (200, "Thu, 01 Jan 2026")
    assert f'href="/2026/{HOME}x"' in answer.text
    assert answer.headers["Content-Location"] == f"/20260101103000{form}/{HOME}"
    seen = server.ask(f"/2026{form}/{HOME}", Sec_Fetch_Dest="document")
    assert "<iframe" not in seen.text
    assert (seen.status, seen.headers["Location"]) == (
        (302, f"/2026/{HOME}") if form == "mp_" else (200, None)
    )


def test_raw_is_raw(server: Any) -> None:
    assert server.ask(f"/2026id_/{HOME}").body == b"<title>newer</title><a href=x>"
    assert server.ask(f"/2026id_/{HOME}on").headers["Location"] == f"/2026id_/{HOME}"
    assert server.ask(f"/2026im_/{HOME}on").headers["Location"] == f"/2026oe_/{HOME}"


@pytest.mark.parametrize("target", [f"/*/{HOME}", f"/2026*/{HOME}"])
def test_a_star_asks_for_the_list(server: Any, target: str) -> None:
    answer = server.ask(target)
    assert answer.headers["Location"] == "/captures?url=http%3A%2F%2Fsite.example%2F"
    assert "3 captures" in server.ask(answer.headers["Location"]).text


def test_captures_of_one_day_are_told_apart_by_the_time(server: Any) -> None:
    banner = server.ask(f"/20260101100000/{HOME}", Sec_Fetch_Dest="document").text
    assert re.search(r'rel="next"[^>]*>.*?10:30:00 ', banner)
    assert re.search(r'rel="prev"[^>]*>.*?15 Jun 2025<span class="wide">, 12:00:00', banner)
    listed = server.ask(f"/captures?url={HOME}day").text
    # Where the timeline begins and ends.
    assert re.search(r">5 May 2025, 08:00:00</time><time[^>]*>5 May 2025, 09:30:00</time>", listed)
    under = server.ask(f"/captures?prefix={HOME}").text
    assert re.search(r">5 May 2025, 08:00:00</time> . <a[^>]*><time[^>]*>09:30:00</time>", under)
    assert re.search(r">15 Jun 2025</time> . <a[^>]*><time[^>]*>1 Jan 2026</time>", under)
