"""What mementos are sent as, under which policy: by what they are, never in strangers' words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support import served_archive
from support.served_archive import Page

SITE = "http://site.example/"
OTHER = "http://other.example/"
AT = "2026-01-01T00:00:00Z"
LATER = "2026-02-01T00:00:00Z"
HTML, PDF, PNG = b"<html><p>text", b"%PDF-1.4\n", b"\x89PNG\r\n\x1a\n..."

# The Content-Type fields of an answer, its body, and what it is sent as.
TYPES = [
    (("application/pdf; x=y, text/html",), PDF, "text/html"),
    (("text/html, application/pdf",), PDF, "application/pdf"),
    (("application/pdf", "text/html"), PDF, "text/html"),
    (("text/html; charset=gbk", "text/html"), HTML, "text/html; charset=gbk"),
    (("text/html; charset=gbk", "text/html; charset=big5"), HTML, "text/html; charset=big5"),
    (("text/plain; charset=gbk, text/html",), HTML, "text/html"),
    (('image/png; x="a, text/html"',), PNG, "image/png"),
    (('image/png; x="\\", text/html', "y"), PNG, "image/png"),
    (('image/png; x="", text/html',), HTML, "text/html"),
    (("\t IMAGE/PNG \t;;; a = b",), PNG, "image/png"),
    (("text/html;charset=utf-7",), HTML, "text/html"),
    (('text/html; charset="UTF8"',), HTML, "text/html; charset=utf-8"),
    (("text/plain; charset=x-evil\x01, text/html",), HTML, "text/html"),
    (("text/plain; charset='latin1'; x=1",), HTML, "text/plain; charset=windows-1252"),
    (("video/mp4; codecs=avc1",), b"\0\0\0\x18ftypmp42", "video/mp4"),
    (("multipart/x-mixed-replace; boundary=b",), b"--b", "multipart/x-mixed-replace"),
    (("html",), HTML, "text/html"),
    (("text /html",), HTML, "text/html"),
    (("*/*",), PNG, "image/png"),
    (("unknown/unknown",), PNG, "image/png"),
    (("text/html*",), PNG, "text/html*"),
    (("text/h\xe4ml",), PNG, "image/png"),
    (("",), HTML, "text/html"),
    ((), HTML, "text/html"),
    ((), PNG, "image/png"),
    (("text/plain",), HTML, "text/plain"),
    (("application/x-odd",), HTML, "application/x-odd"),
]  # fmt: skip
NAMED = "attachment; filename*=UTF-8''"
HEADERS = {
    "attached": ('Attachment; filename="../a\\b/c d.html"; x', f"{NAMED}c%20d.html"),
    "starred": (f"{NAMED}%C3%BC%2Fx.pdf", f"{NAMED}x.pdf"),
    "inline": ("inline", "inline"),
    "odd": ("evil, attachment", None),
    "empty": ("", None),
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pages = [
        Page(f"{SITE}{n}", AT, body, None, headers=tuple(("Content-Type", v) for v in values))
        for n, (values, body, _) in enumerate(TYPES)
    ]
    pages += [
        Page(f"{SITE}{name}", AT, HTML, headers=(("Content-Disposition", value),))
        for name, (value, _) in HEADERS.items()
    ]
    pages += [
        Page(SITE + "claims", AT, HTML, "application/pdf"),
        Page(SITE + "is", AT, PDF, "application/pdf"),
        Page(SITE + "sheet", AT, b"a{}", None),
        Page(OTHER, AT, PNG, "text/html", headers=(("Content-Disposition", "attachment"),)),
        Page(SITE + "again", LATER, b"", None, same_as=(OTHER, AT)),
        Page(SITE + "again-mute", LATER, b"", None, "", same_as=(OTHER, AT)),
        Page(SITE + "language", AT, HTML, headers=(("Content-Language", "de, en-GB"),)),
        Page(SITE + "tongue", AT, HTML, headers=(("Content-Language", "de\x01; x=<>"),)),
        Page(SITE + "powers", AT, PDF, "application/pdf", headers=(
            ("Refresh", "0; url=http://live.example/"), ("Set-Cookie", "a=b"), ("NEL", "{}"),
            ("Content-Security-Policy", "script-src *"), ("SourceMap", "x"), ("Alt-Svc", "h3=x"),
            ("Access-Control-Allow-Origin", "*"), ("X-Content-Type-Options", "none"),
            ("Content-Range", "bytes 0-1/2"), ("Clear-Site-Data", '"*"'), ("Link", "<x>;rel=y"),
            ("Cross-Origin-Resource-Policy", "cross-origin"), ("Report-To", "{}"))),
    ]  # fmt: skip
    folder = served_archive.build(tmp_path_factory.mktemp("types") / "archive", pages)
    with served_archive.serving(folder) as running:
        yield running


@pytest.mark.parametrize("number", range(len(TYPES)))
def test_only_what_was_understood_is_sent_on(server: Any, number: int) -> None:
    _, body, expected = TYPES[number]
    answer = server.ask(f"/2026/{SITE}{number}")
    assert answer.headers.get_all("Content-Type") == [expected]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    boxed = answer.headers["Content-Security-Policy"].startswith("sandbox")
    assert boxed == (expected != "application/pdf")
    raw = server.ask(f"/2026id_/{SITE}{number}")
    assert raw.body == body
    assert raw.headers.get_all("Content-Type") in ([expected], ["application/octet-stream"])


def test_only_what_is_a_pdf_and_sent_as_one_has_its_policy(server: Any) -> None:
    for form in ("", "id_", "if_", "mp_"):
        claims = server.ask(f"/2026{form}/{SITE}claims").headers["Content-Security-Policy"]
        assert claims.startswith("sandbox")
        policy = server.ask(f"/2026{form}/{SITE}is").headers["Content-Security-Policy"]
        assert "sandbox" not in policy
        assert "script-src 'none'" in policy


@pytest.mark.parametrize("name", ["again", "again-mute"])
def test_what_another_url_said_is_not_said_of_this_one(server: Any, name: str) -> None:
    answer = server.ask(f"/2026/{SITE}{name}")
    assert answer.body == PNG
    assert answer.headers["Content-Type"] == "image/png"
    assert "Content-Disposition" not in answer.headers


def test_a_sheet_without_a_type_is_one_where_one_is_wanted(server: Any) -> None:
    sheet = f"/2026/{SITE}sheet"
    assert server.ask(sheet, Sec_Fetch_Dest="style").headers["Content-Type"] == "text/css"
    assert server.ask(sheet).headers["Content-Type"] == "text/plain"


@pytest.mark.parametrize("name", HEADERS)
def test_the_name_of_a_file_is_written_anew(server: Any, name: str) -> None:
    assert server.ask(f"/2026/{SITE}{name}").headers["Content-Disposition"] == HEADERS[name][1]


def test_languages_are_kept_where_they_are_some(server: Any) -> None:
    assert server.ask(f"/2026/{SITE}language").headers["Content-Language"] == "de, en-GB"
    assert "Content-Language" not in server.ask(f"/2026/{SITE}tongue").headers


@pytest.mark.parametrize("form", ["", "id_", "if_"])
def test_no_archived_header_has_power(server: Any, form: str) -> None:
    headers = server.ask(f"/2026{form}/{SITE}powers").headers
    for name in ("Refresh", "Set-Cookie", "SourceMap", "Alt-Svc", "Access-Control-Allow-Origin",
                 "Content-Range", "Clear-Site-Data", "NEL", "Report-To"):  # fmt: skip
        assert name not in headers
        assert f"X-Archive-Orig-{name}" in headers
    assert headers.get_all("X-Content-Type-Options") == ["nosniff"]
    assert headers.get_all("Cross-Origin-Resource-Policy") == ["same-origin"]
    assert "script-src *" not in headers["Content-Security-Policy"]
    assert "rel=y" not in headers["Link"]
