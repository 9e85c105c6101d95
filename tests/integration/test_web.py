"""The pages and mementos of a real archive over a real server."""

from __future__ import annotations

import gzip
import re
import threading
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from asof.text.read import read
from support import served_archive
from support.served_archive import Page

TESTS = Path(__file__).parents[1]

HOME = "http://site.example/"
EVIL = "http://evil.example/<script>alert(1)</script>"
FRONT = b"""<!doctype html><html><head><title>t</title><link rel=stylesheet href=/s.css></head>
<body><a href="next.html?a=1&amp;b=2#c">n</a><a href="http://elsewhere.example/">e</a></body>"""
# Answers without a Content-Type, and what they are.
UNNAMED = {
    "drawing": (b'<svg xmlns="http://www.w3.org/2000/svg"><a href="x"/></svg>', "image/svg+xml"),
    "page": (b"<html><a href=x>", "text/html"),
    "words": (b"plain words", "text/plain"),
    "nothing": (b"", "text/plain"),
    "abbr": (b"<abbr>", "text/plain"),
    "feed": (b'<?xml version="1.0"?><rss><channel/></rss>', "application/rss+xml"),
    "icon": (b"\0\0\1\0\1\0\x10\x10", "image/x-icon"),
    "film": (b"\0\0\0\x18ftypmp42\0\0\0\0", "video/mp4"),
    "font": (b"wOF2\0\1\0\0", "font/woff2"),
    "marked.css": (b"p { color: red }", "text/css"),
}


def stored() -> list[Any]:
    """What is in the archive."""
    return [
        Page(HOME, "2026-01-01T10:00:00Z", FRONT.replace(b"t<", b"one<")),
        Page(HOME, "2026-02-01T10:00:00Z", FRONT.replace(b"t<", b"two<")),
        Page(HOME, "2026-03-01T10:00:00.250000Z", FRONT.replace(b"t<", b"two<")),
        Page(HOME + "s.css", "2026-01-01T10:00:01Z", b"a{b:url(i.png)}", "text/css"),
        Page(HOME + "i.png", "2026-01-01T10:00:02Z", b"\x89PNG\r\n\x1a\n...", "image/png"),
        Page(HOME + "q?a=1&b=%20", "2026-01-02T00:00:00Z", b"<p>query"),
        Page(HOME + "a//b", "2026-01-02T00:00:00Z", b"<p>slashes"),
        Page(HOME + "a%2Fb%3Fc", "2026-01-02T00:00:00Z", b"<p>encoded"),
        Page(HOME + "%C3%BC", "2026-01-02T00:00:00Z", b"<p>umlaut"),
        Page("http://[2001:db8::1]:8080/v6", "2026-01-02T00:00:00Z", b"<p>six"),
        Page("https://xn--bcher-kva.example/", "2026-01-02T00:00:00Z", b"<p>idn"),
        Page(HOME + "moved", "2026-01-02T00:00:00Z", b"go", status="302 Found",
             headers=(("Location", "/?x=1"),)),
        Page(HOME + "loop", "2026-01-02T00:00:00Z", b"", status="301 Moved",
             headers=(("Location", "https://www.site.example/loop"),)),
        Page(HOME + "away", "2026-01-02T00:00:00Z", b"", status="301 Moved",
             headers=(("Location", "javascript:alert(1)"),)),
        Page(HOME + "gone", "2026-01-02T00:00:00Z", b"<p>gone", status="410 Gone"),
        Page(HOME + "odd", "2026-01-02T00:00:00Z", b"<p>odd", status="999 Odd"),
        Page(HOME + "empty", "2026-01-02T00:00:00Z", b"<p>empty", status="204 No Content"),
        Page(HOME + "same", "2026-01-02T00:00:00Z", b"<p>same", status="304 Not Modified"),
        Page(HOME + "zip", "2026-01-02T00:00:00Z", gzip.compress(b"<p>zip<a href=x>"),
             headers=(("Content-Encoding", "gzip"),)),
        Page(HOME + "chunks", "2026-01-02T00:00:00Z", b"3\r\n<p>\r\n0\r\n\r\n",
             headers=(("Transfer-Encoding", "chunked"),)),
        Page(HOME + "bare", "2026-01-02T00:00:00Z", b"<html><a href=x>", None),
        *(
            Page(HOME + "unnamed/" + name, "2026-01-02T00:00:00Z", body, None)
            for name, (body, _) in UNNAMED.items()
        ),
        Page(HOME + "text", "2026-01-02T00:00:00Z", b"<a href=x>", "text/plain"),
        Page(HOME + "doc.pdf", "2026-01-02T00:00:00Z", b"%PDF-1.4", "application/pdf"),
        Page(HOME + "sw.js", "2026-01-02T00:00:00Z", b"onfetch=1", "text/javascript"),
        Page(HOME + "wide", "2026-01-02T00:00:00Z", "<p>ü<a href=x>".encode("utf-16"),
             "text/html; charset=utf-16"),
        Page(HOME + "large", "2026-01-02T00:00:00Z", gzip.compress(b"<p>" + b" " * (33 << 20), 1),
             headers=(("Content-Encoding", "gzip"),)),
        Page(HOME + "nasty", "2026-01-02T00:00:00Z", b"<p>nasty", headers=(
            ("Set-Cookie", "a=b"), ("Strict-Transport-Security", "max-age=1"),
            ("Content-Security-Policy", "default-src *"), ("Clear-Site-Data", '"*"'),
            ("Refresh", "0; url=/next"), ("Link", "</x>; rel=preload"), ("X-Odd", "\xff\x01"),
            ("Service-Worker-Allowed", "/"), ("Bad Name", "x"), ("Content-Language", "de"))),
        Page(HOME + "again", "2026-01-02T00:00:00Z", b"<p>kept<a href=x>"),
        Page(HOME + "again", "2026-01-09T00:00:00Z", same_as=(HOME + "again", "2026-01-02")),
        Page(HOME + "lost", "2026-01-09T00:00:00Z", same_as=(HOME + "none", "2020-01-02")),
        Page(EVIL, "2026-01-02T00:00:00Z", b"<p>evil"),
        Page("javascript:alert(1)", "2026-01-02T00:00:00Z", b"<p>scheme"),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("web") / "archive"
    served_archive.build(folder, stored(), seeds=(HOME,))
    with served_archive.serving(folder) as running:
        yield running


class TestAsOf:
    @pytest.mark.parametrize(
        ("stamp", "title", "at"),
        [
            ("20260101100000", "one", "Thu, 01 Jan 2026 10:00:00 GMT"),
            ("20260131", "one", "Thu, 01 Jan 2026 10:00:00 GMT"),
            ("202601", "one", "Thu, 01 Jan 2026 10:00:00 GMT"),
            ("20260201", "two", "Sun, 01 Feb 2026 10:00:00 GMT"),
            ("2026", "two", "Sun, 01 Mar 2026 10:00:00 GMT"),
            ("20260301100000", "two", "Sun, 01 Mar 2026 10:00:00 GMT"),
            ("9999", "two", "Sun, 01 Mar 2026 10:00:00 GMT"),
        ],
    )
    def test_the_latest_capture_at_or_before(
        self, server: Any, stamp: str, title: str, at: str
    ) -> None:
        answer = server.ask(f"/{stamp}/{HOME}")
        assert answer.status == 200
        assert f"<title>{title}</title>" in answer.text
        assert answer.headers["Memento-Datetime"] == at

    def test_never_the_future(self, server: Any) -> None:
        answer = server.ask(f"/20251231235959/{HOME}")
        assert answer.status == 404
        assert "Memento-Datetime" not in answer.headers
        assert "1 Jan 2026, 10:00:00" in answer.text
        assert f'href="/20260101100000/{HOME}"' in answer.text

    def test_what_was_never_captured_says_what_to_do(self, server: Any) -> None:
        answer = server.ask("/2026/http://nowhere.example/;reboot")
        assert answer.status == 404
        assert "asof crawl &#39;http://nowhere.example/;reboot&#39;" in answer.text

    def test_navigation_goes_on_as_of_the_same_moment(self, server: Any) -> None:
        text = server.ask(f"/202601/{HOME}").text
        assert '<a href="/202601/http://site.example/next.html?a=1&amp;b=2#c">' in text
        assert '<a href="/202601/http://elsewhere.example/">' in text
        # What belongs to the page is chosen for the moment at which the page is known.
        assert 'href="/20260101100000oe_/http://site.example/s.css"' in text
        sheet = server.ask(f"/20260101100000oe_/{HOME}s.css")
        assert sheet.text == "a{b:url(/20260101100000oe_/http://site.example/i.png)}"
        picture = server.ask(f"/20260101100000oe_/{HOME}i.png")
        assert picture.body.startswith(b"\x89PNG")
        assert picture.headers["Content-Type"] == "image/png"

    @pytest.mark.parametrize("stamp", ["20264", "20261301", "20260230", "00000000"])
    def test_a_stamp_that_names_no_time(self, server: Any, stamp: str) -> None:
        answer = server.ask(f"/{stamp}/{HOME}")
        assert answer.status == 400
        assert "not a moment" in answer.text


class TestMementoHeaders:
    def test_links_name_original_and_neighbours(self, server: Any) -> None:
        link = server.ask(f"/202602/{HOME}").headers["Link"]
        at = server.url
        assert f'<{HOME}>; rel="original"' in link
        assert f'<{at}/20260101100000/{HOME}>; rel="first prev memento"' in link
        assert f'<{at}/20260201100000/{HOME}>; rel="memento"' in link
        assert f'<{at}/20260301100000/{HOME}>; rel="next last memento"' in link
        assert link.count("datetime=") == 3

    def test_the_exact_capture_is_named(self, server: Any) -> None:
        headers = server.ask(f"/2026/{HOME}").headers
        assert headers["Content-Location"] == f"/20260301100000/{HOME}"

    def test_a_validator_saves_the_body(self, server: Any) -> None:
        tag = server.ask(f"/2026/{HOME}").headers["ETag"]
        again = server.ask(f"/2026/{HOME}", If_None_Match=tag)
        assert (again.status, again.body) == (304, b"")
        # Browsers lay these headers over the stored ones: a policy here would break the page.
        assert "Content-Security-Policy" not in again.headers
        framed = server.ask(f"/2026/{HOME}", If_None_Match=tag, Sec_Fetch_Dest="iframe")
        assert framed.status == 200

    def test_an_archived_error_is_sent_whole_whatever_is_validated(self, server: Any) -> None:
        gone = server.ask(f"/2026id_/{HOME}gone")
        again = server.ask(f"/2026id_/{HOME}gone", If_None_Match=gone.headers["ETag"])
        assert (again.status, again.body) == (gone.status, gone.body) == (410, b"<p>gone")

    def test_head_has_the_headers_and_no_body(self, server: Any) -> None:
        for target in (f"/2026/{HOME}", f"/2026/{HOME}i.png", f"/2026id_/{HOME}", "/"):
            answer = server.ask(target, "HEAD")
            assert (answer.status, answer.body) == (200, b"")


class TestUrls:
    @pytest.mark.parametrize(
        ("target", "text"),
        [
            (f"{HOME}q?a=1&b=%20", "query"),
            (f"{HOME}a//b", "slashes"),
            (f"{HOME}a%2Fb%3Fc", "encoded"),
            (f"{HOME}%C3%BC", "umlaut"),
            (f"{HOME}%c3%bc", "umlaut"),
            ("http://[2001:db8::1]:8080/v6", "six"),
            ("http://%5B2001:db8::1%5D:8080/v6", "six"),
            ("https://xn--bcher-kva.example/", "idn"),
            ("https://b%C3%BCcher.example/", "idn"),
            ("site.example", "two"),
            ("http:/site.example/", "two"),
            ("HTTP://SITE.example:80/", "two"),
            ("javascript:alert(1)", "scheme"),
            ("http://evil.example/%3Cscript%3Ealert(1)%3C/script%3E", "evil"),
        ],
    )
    def test_the_archived_url_is_everything_after_the_stamp(
        self, server: Any, target: str, text: str
    ) -> None:
        answer = server.ask(f"/2026id_/{target}")
        assert answer.status == 200
        assert text in answer.text

    @pytest.mark.parametrize("target", ["", "%", "http://", "%00", "http://[", "a b", "?", "//"])
    def test_what_is_no_url_is_answered_in_the_four_hundreds(
        self, server: Any, target: str
    ) -> None:
        assert 400 <= server.ask(f"/2026/{quote(target, safe='%?/:[')}").status < 500


class TestAnswers:
    def test_redirects_are_redirects(self, server: Any) -> None:
        answer = server.ask(f"/2026/{HOME}moved")
        assert answer.status == 302
        assert answer.headers["Location"] == f"/2026/{HOME}?x=1"
        raw = server.ask(f"/2026id_/{HOME}moved")
        assert (raw.status, raw.body) == (302, b"go")
        assert raw.headers["Location"] == f"/2026id_/{HOME}?x=1"

    def test_a_redirect_to_what_was_not_captured_does_not_go_in_circles(self, server: Any) -> None:
        # http and https share a key: the redirect itself is all there is of its target.
        first = server.ask(f"/2026/{HOME}loop")
        assert first.headers["Location"] == "/2026/https://www.site.example/loop"
        second = server.ask(first.headers["Location"])
        assert second.status == 404
        assert "Only a redirect was captured" in second.text

    def test_a_redirect_out_of_the_web_is_not_followed(self, server: Any) -> None:
        answer = server.ask(f"/2026/{HOME}away")
        assert answer.status == 404
        assert "Location" not in answer.headers

    def test_a_revisit_shows_the_payload_it_refers_to(self, server: Any) -> None:
        answer = server.ask(f"/2026/{HOME}again")
        assert "<p>kept<a href=" in answer.text
        assert answer.headers["Memento-Datetime"] == "Fri, 09 Jan 2026 00:00:00 GMT"
        listed = server.ask(f"/captures?url={HOME}again").text
        assert "unchanged over 7 days" in listed
        assert "same content" in listed

    def test_a_revisit_of_what_is_not_here_says_so(self, server: Any) -> None:
        answer = server.ask(f"/2026/{HOME}lost")
        assert answer.status == 404
        assert "not in the archive" in answer.text

    def test_errors_keep_their_status(self, server: Any) -> None:
        answer = server.ask(f"/2026/{HOME}gone")
        assert answer.status == 410
        assert "<p>gone" in answer.text

    def test_a_status_that_cannot_be_sent_is_shown_as_a_page(self, server: Any) -> None:
        for name, status in (("odd", "999"), ("same", "304"), ("empty", "204")):
            answer = server.ask(f"/2026/{HOME}{name}")
            assert answer.status == 200
            assert answer.headers["X-Archive-Orig-Status"] == status
            assert f"<p>{name}" in answer.text

    def test_codings_are_undone(self, server: Any) -> None:
        shown = server.ask(f"/2026/{HOME}zip")
        assert '<a href="/2026/http://site.example/x">' in shown.text
        raw = server.ask(f"/2026id_/{HOME}zip")
        assert raw.body == b"<p>zip<a href=x>"
        assert "Content-Encoding" not in raw.headers
        assert raw.headers["X-Archive-Orig-Content-Encoding"] == "gzip"
        assert server.ask(f"/2026id_/{HOME}chunks").body == b"<p>"

    def test_a_person_sees_the_source_of_a_raw_page(self, server: Any) -> None:
        program = server.ask(f"/2026id_/{HOME}")
        assert program.headers["Content-Type"] == "text/html"
        person = server.ask(f"/2026id_/{HOME}", Sec_Fetch_Dest="document")
        assert person.headers["Content-Type"] == "text/plain"
        assert person.body == program.body
        picture = server.ask(f"/2026id_/{HOME}i.png", Sec_Fetch_Dest="document")
        assert picture.headers["Content-Type"] == "image/png"

    def test_utf_16_is_served_as_utf_8(self, server: Any) -> None:
        answer = server.ask(f"/2026/{HOME}wide")
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert "<p>ü<a href=" in answer.text

    def test_what_has_no_type_is_looked_at(self, server: Any) -> None:
        answer = server.ask(f"/2026/{HOME}bare")
        assert answer.headers["Content-Type"] == "text/html"
        assert "/2026/http://site.example/x" in answer.text

    @pytest.mark.parametrize("name", UNNAMED)
    def test_replay_and_text_name_one_type_for_what_has_none(self, server: Any, name: str) -> None:
        body, media_type = UNNAMED[name]
        answer = server.ask(f"/2026/{HOME}unnamed/{name}")
        assert answer.headers["Content-Type"] == media_type
        assert read(body, None, HOME + name).media_type == media_type
        if name == "drawing":
            assert 'href="/2026/http://site.example/unnamed/x"' in answer.text

    def test_text_is_not_rewritten(self, server: Any) -> None:
        assert server.ask(f"/2026/{HOME}text").body == b"<a href=x>"

    def test_a_document_too_large_to_rewrite_is_offered_raw(self, server: Any) -> None:
        answer = server.ask(f"/2026/{HOME}large")
        assert answer.status == 413
        assert f'href="/2026id_/{HOME}large"' in answer.text
        assert server.ask(f"/2026/{HOME}large", Sec_Fetch_Dest="document").status == 413
        assert len(server.ask(f"/2026id_/{HOME}large").body) == 3 + (33 << 20)


class TestBanner:
    @staticmethod
    def seen(server: Any, stamp: str, path: str = "") -> str:
        return str(server.ask(f"/{stamp}/{HOME}{path}", Sec_Fetch_Dest="document").text)

    def test_stands_above_a_frame_with_the_page(self, server: Any) -> None:
        frame = f'<iframe src="/2026mp_/{HOME}"'
        assert frame in self.seen(server, "2026")
        # Browsers do not say what it is for to another machine, without TLS.
        assert frame in server.ask(f"/2026/{HOME}", Accept="text/html,*/*;q=0.8").text
        for headers in ({"Sec_Fetch_Dest": "iframe"}, {"Sec_Fetch_Dest": "empty"}, {}):
            answer = server.ask(f"/2026/{HOME}", **headers)
            assert "<iframe" not in answer.text
            assert answer.headers["Vary"] == "Sec-Fetch-Dest, Accept"
        for headers in ({"Sec_Fetch_Dest": "iframe"}, {"Accept": "text/html"}):
            page = server.ask(f"/2026mp_/{HOME}", **headers).text
            assert '<body><base target="_top"/><a href=' in page

    def test_is_a_memento_in_its_headers(self, server: Any) -> None:
        answer = server.ask(f"/2026/{HOME}gone", Sec_Fetch_Dest="document")
        assert answer.status == 410
        assert answer.headers["Memento-Datetime"] == "Fri, 02 Jan 2026 00:00:00 GMT"
        assert f'<{HOME}gone>; rel="original"' in answer.headers["Link"]
        assert "ETag" not in answer.headers  # of what stands in the banner, more is known later

    def test_tells_the_time_and_the_way_to_others(self, server: Any) -> None:
        text = self.seen(server, "20260210")
        assert '10 Feb 2026<span class="mid">, 23:59:59</span>' in text
        assert "proven 1 Feb 2026, 10:00:00 to 1 Mar 2026, 10:00:00" in text
        assert f'href="/20260101100000/{HOME}" rel="prev"' in text
        # The capture of 1 March shows the same: where it goes on is what changed.
        assert f'href="/20260301100000/{HOME}" rel="next"' not in text
        assert 'href="/captures?url=http%3A%2F%2Fsite.example%2F&amp;at=20260210"' in text
        assert "<title>two</title>" in text

    def test_does_not_claim_more_than_was_seen(self, server: Any) -> None:
        text = self.seen(server, "20260110")
        assert "badge proven" not in text
        assert "captured 1 Jan 2026, 10:00:00, 9 days before" in text

    def test_offers_what_a_refresh_would_have_done(self, server: Any) -> None:
        assert 'href="/2026/http://site.example/next"' in self.seen(server, "2026", "nasty")

    def test_what_is_saved_and_not_shown_has_none(self, server: Any) -> None:
        assert "<iframe" in self.seen(server, "2026", "doc.pdf")
        assert "sandbox=" not in self.seen(server, "2026", "doc.pdf")
        assert "sandbox=" in self.seen(server, "2026", "i.png")
        assert "<iframe" not in self.seen(server, "2026", "unnamed/font")

    def test_runs_no_script_but_its_own(self, server: Any) -> None:
        answer = server.ask(f"/2026/{HOME}", Sec_Fetch_Dest="document")
        (script,) = re.findall(r"<script>(.*?)</script>", answer.text, re.DOTALL)
        digest = b64encode(sha256(script.encode()).digest()).decode()
        policy = answer.headers["Content-Security-Policy"]
        assert f"script-src 'sha256-{digest}';" in policy
        assert "unsafe" not in policy


class TestPages:
    def test_home_says_what_is_there(self, server: Any) -> None:
        text = server.ask("/").text
        assert f"<dd>{len(stored())}</dd>" in text
        assert "site.example" in text
        assert "finished" in text
        assert "<script" not in text

    def test_home_shows_what_is_held_of_each_site(self, server: Any) -> None:
        text = " ".join(server.ask("/").text.split())
        assert text.count('<svg class="spark"') == text.count("Captures over time; most ") == 5
        (site,) = re.findall(r'<span class="name">site.example</span>.*?</li>', text)
        captures = [page for page in stored() if page.url.startswith(("http://site.example/",))]
        urls = {page.url for page in captures}
        assert f"{len(captures)} captures of {len(urls)} addresses" in site

    def test_hosts_lead_to_their_addresses(self, server: Any) -> None:
        hosts = re.findall(r'href="(/captures\?prefix=[^"]+)"', server.ask("/").text)
        assert len(hosts) == 5
        listed = [server.ask(host.replace("&amp;", "&")).text for host in hosts]
        assert all("capture" in text and "Nothing is captured" not in text for text in listed)

    def test_what_is_not_captured_leads_to_its_host_only_where_that_is(self, server: Any) -> None:
        known = server.ask("/2026/http://site.example/never-seen")
        assert (known.status, 'href="/captures?prefix=http' in known.text) == (404, True)
        other = server.ask("/2026/http://nowhere.example/")
        assert (other.status, "captures?prefix=" in other.text) == (404, False)
        assert "See which hosts there are" in other.text

    def test_captures_of_a_url(self, server: Any) -> None:
        text = server.ask(f"/captures?url={quote(HOME)}&at=2026-02-10").text
        assert "3 captures" in text
        assert "2 different contents in turn" in text
        assert "Proven 1 Feb 2026, 10:00:00 to 1 Mar 2026, 10:00:00" in text
        assert text.count('<rect class="proven') == 2
        assert '<line class="mark"' in text
        for stamp in ("20260101100000", "20260201100000", "20260301100000"):
            assert f'href="/{stamp}/{HOME}"' in text
            assert f'href="/{stamp}id_/{HOME}"' in text

    def test_captures_of_nothing(self, server: Any) -> None:
        answer = server.ask("/captures?url=http://nowhere.example/")
        assert answer.status == 404
        assert "asof crawl http://nowhere.example/" in answer.text

    def test_addresses_under_a_prefix(self, server: Any) -> None:
        text = server.ask(f"/captures?prefix={HOME}a").text
        assert "a//b" in text
        assert ">http://site.example/q" not in text
        assert "Nothing is captured" in server.ask("/captures?prefix=http://no.example/").text
        assert server.ask("/captures").status == 200

    @pytest.mark.parametrize(
        ("query", "location"),
        [
            ("url=site.example&at=2026-01", f"/202601/https{HOME[4:]}"),
            ("url=http://site.example/%3Fa=b&at=20260101", f"/20260101/{HOME}?a=b"),
            ("url=site.example&at=2026-01-01T10:00:00Z", f"/20260101100000/https{HOME[4:]}"),
            ("url=&at=", "/"),
        ],
    )
    def test_the_form_leads_to_the_page(self, server: Any, query: str, location: str) -> None:
        answer = server.ask(f"/-/go?{query}")
        assert (answer.status, answer.headers["Location"]) == (303, location)

    def test_a_form_without_a_moment_means_now(self, server: Any) -> None:
        location = server.ask("/-/go?url=site.example").headers["Location"]
        assert re.fullmatch(rf"/\d{{14}}/https{HOME[4:]}", location)

    def test_a_moment_that_is_none(self, server: Any) -> None:
        for target in ("/-/go?url=site.example&at=soon", f"/captures?url={HOME}&at=%3Cb%3E"):
            answer = server.ask(target)
            assert answer.status == 400
            assert "is not a moment" in answer.text
            assert "<b>" not in answer.text

    def test_an_address_that_means_nothing(self, server: Any) -> None:
        for target in ("/nothing", "/26/http://x/", "/2026", "/2026x_/http://x/"):
            assert server.ask(target).status == 404


class TestHostileContent:
    @pytest.mark.parametrize(
        "target",
        ["/", "/captures?prefix=http://evil.example/", f"/captures?url={quote(EVIL)}",
         f"/2025/{quote(EVIL)}", "/captures",
         "/captures?url=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "/<script>alert(1)</script>",
         "/captures?url=javascript:alert(1)"],
    )  # fmt: skip
    def test_our_pages_are_only_ours(self, server: Any, target: str) -> None:
        answer = server.ask(target)
        assert answer.status < 500
        assert "<script" not in answer.text
        assert not re.search(r'(?:href|src|action)="\s*javascript:', answer.text)
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
        assert "unsafe" not in policy

    def test_mementos_are_sandboxed(self, server: Any) -> None:
        for name in ("", "gone", "bare", "text", "sw.js", "i.png", "moved"):
            policy = server.ask(f"/2026/{HOME}{name}").headers["Content-Security-Policy"]
            assert policy.startswith("sandbox ")
            assert "allow-scripts" not in policy
            assert "script-src 'none'" in policy
            assert "default-src 'self' data: blob: 'unsafe-inline'" in policy
        raw = server.ask(f"/2026id_/{HOME}").headers["Content-Security-Policy"]
        assert raw.startswith("sandbox; default-src 'none'")

    def test_a_pdf_can_be_shown(self, server: Any) -> None:
        headers = server.ask(f"/2026/{HOME}doc.pdf").headers
        assert "sandbox" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"

    @pytest.mark.parametrize("kind", ["", "id_"])
    def test_archived_headers_have_no_power(self, server: Any, kind: str) -> None:
        headers = server.ask(f"/2026{kind}/{HOME}nasty").headers
        for name in ("Set-Cookie", "Strict-Transport-Security", "Clear-Site-Data",
                     "Service-Worker-Allowed", "X-Odd"):  # fmt: skip
            assert name not in headers
        assert headers["X-Archive-Orig-Set-Cookie"] == "a=b"
        assert headers["X-Archive-Orig-Clear-Site-Data"] == '"*"'
        assert "preload" not in headers["Link"]
        assert headers.get("Refresh") in (None, f"0; url=/2026/{HOME}next")
        assert headers["Content-Language"] == "de"

    @pytest.mark.parametrize(
        "target", ["/", "/captures", f"/2026/{HOME}", f"/2026id_/{HOME}", "/nothing", "/-/static/"]
    )
    def test_every_answer_is_guarded(self, server: Any, target: str) -> None:
        headers = server.ask(target).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Content-Security-Policy"]

    def test_scripts_of_workers_are_refused(self, server: Any) -> None:
        assert server.ask(f"/2026/{HOME}sw.js", Service_Worker="script").status == 403
        assert server.ask(f"/2026/{HOME}sw.js", Sec_Fetch_Dest="sharedworker").status == 403
        assert server.ask(f"/2026/{HOME}sw.js").status == 200


class TestGate:
    @pytest.mark.parametrize(
        ("host", "status"),
        [
            ("localhost", 200),
            ("localhost:8080", 200),
            ("127.0.0.1:1", 200),
            ("[::1]:8080", 200),
            ("LocalHost", 200),
            ("192.0.2.7:8080", 200),
            ("[2001:db8::1]", 200),
            ("rebound.example", 400),
            ("127.0.0.1.rebound.example", 400),
            ("localhost.rebound.example", 400),
            ("localhost@rebound.example", 400),
            ("[::1].rebound.example", 400),
            ("", 400),
        ],
    )
    def test_only_this_machine_is_meant(self, server: Any, host: str, status: int) -> None:
        assert server.ask("/", Host=host).status == status
        assert server.ask(f"/2026/{HOME}", Host=host).status == status

    @pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
    def test_only_reading(self, server: Any, method: str) -> None:
        for target in ("/", f"/2026/{HOME}"):
            answer = server.ask(target, method)
            assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")

    @pytest.mark.parametrize(
        "target",
        ["/-/static/../../app.py", "/-/static/%2e%2e/app.py", "/-/static/..%2fapp.py",
         "/-/static//etc/passwd"],
    )  # fmt: skip
    def test_static_files_are_the_static_files(self, server: Any, target: str) -> None:
        assert server.ask(target).status == 404

    def test_static_files(self, server: Any) -> None:
        assert server.ask("/-/static/asof.css").headers["Content-Type"].startswith("text/css")


def test_many_at_once(server: Any) -> None:
    targets = ["/", f"/captures?url={HOME}", f"/2026/{HOME}", f"/2026/{HOME}zip", "/captures"] * 4
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda t=target: answers.append(server.ask(t).status))
        for target in targets
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert answers == [200] * len(targets)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("many") / "archive"
    pages = [Page(f"http://h{n:03}.example/", "2026-01-01T00:00:00Z") for n in range(120)]
    pages += [Page(f"http://p.example/{n:04}", "2026-01-01T00:00:00Z") for n in range(250)]
    pages += [
        Page("http://t.example/", f"2026-01-{1 + n // 24:02}T{n % 24:02}:00:00Z", b"%d" % n)
        for n in range(450)
    ]
    # Four URLs under one key.
    pages += [
        Page(f"{scheme}://{www}p.example/0099", "2026-01-01T00:00:00Z")
        for scheme in ("http", "https")
        for www in ("www.", "www2.")
    ]
    served_archive.build(folder, pages)
    with served_archive.serving(folder) as running:
        yield running


class TestPaging:
    @staticmethod
    def follow(server: Any, target: str) -> list[str]:
        texts = []
        while target:
            texts.append(server.ask(target).text)
            more = re.search(r'<a href="([^"]+)" rel="next"', texts[-1])
            target = more[1].replace("&amp;", "&") if more else ""
            assert len(texts) < 20
        return texts

    def test_all_hosts_once(self, many: Any) -> None:
        texts = self.follow(many, "/")
        found = re.findall(r'<span class="name">([^<]+)</span>', "".join(texts))
        assert len(texts) == 3
        assert len(found) == len(set(found)) == 122

    def test_all_addresses_once(self, many: Any) -> None:
        texts = self.follow(many, "/captures?prefix=p.example")
        found = re.findall(r'<a class="name" href="[^"]+">([^<]+)</a>', "".join(texts))
        assert len(texts) == 3
        assert len(found) == len(set(found)) == 254

    def test_all_captures_once(self, many: Any) -> None:
        texts = self.follow(many, "/captures?url=http://t.example/")
        found = re.findall(r'<a class="when" href="/(\d{14})/', "".join(texts))
        assert len(texts) == 9
        assert len(found) == len(set(found)) == 450
        assert found == sorted(found, reverse=True)
        # Bars that could not be told apart are one.
        assert 50 < texts[0].count('<rect class="proven') <= 450

    def test_nonsense_in_paging_is_harmless(self, many: Any) -> None:
        for query in ("after=%00", "after=%ff", "after=zzz", "prefix=%ff&after=)"):
            assert many.ask(f"/captures?{query}").status == 200
            assert many.ask(f"/?{query}").status == 200
        for before in ("x", "-1", "9" * 30, "0"):
            assert many.ask(f"/captures?url=http://t.example/&before={before}").status == 200


def test_an_empty_archive_says_how_to_begin(tmp_path: Path) -> None:
    served_archive.build(tmp_path / "archive", [])
    with served_archive.serving(tmp_path / "archive") as server:
        text = server.ask("/").text
        assert escape("asof crawl http://example.org/") in text


def test_a_damaged_record_is_told_and_not_shown(tmp_path: Path) -> None:
    folder = served_archive.build(
        tmp_path / "archive", [Page(HOME, "2026-01-01T00:00:00Z", b"<p>x")]
    )
    (file,) = (folder / "warc").iterdir()
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    with served_archive.serving(folder) as server:
        answer = server.ask(f"/2026/{HOME}")
        assert answer.status == 500
        assert file.name in answer.text
        assert "Traceback" not in answer.text
        assert server.ask(f"/captures?url={HOME}").status == 200


def test_no_address_turns_the_direction_of_a_page(tmp_path: Path) -> None:
    """An archive by others may hold addresses that are no URLs, with signs that act."""
    turned = "urn:turned\u202egnp.txt"
    folder = served_archive.build(
        tmp_path / "archive", [Page(turned, "2026-01-02T00:00:00Z", b"<p>x")]
    )
    with served_archive.serving(folder) as server:
        for target in (
            "/", "/captures", "/captures?prefix=urn:", f"/captures?url={quote(turned)}",
            f"/2025/{quote(turned)}", "/2026/urn:missing%E2%80%AE",
        ):  # fmt: skip
            answer = server.ask(target)
            assert answer.status < 500
            shown = re.sub(r"<input [^>]*>", "", answer.text)  # a form sends back what it was sent
            assert "\u202e" not in shown
