"""Rewriting style sheets: what `url()`, `@import` and `image-set()` refer to, and nothing else."""

from __future__ import annotations

import time

import pytest

from asof.replay.links import ReplayPlace
from asof.replay.rewrite import rewrite_css
from asof.text.links.css import unescape

X = "/T/http://h.example/d/x"


def css(sheet: str | bytes, charset: str | None = None) -> str:
    data = sheet.encode() if isinstance(sheet, str) else sheet
    place = ReplayPlace("http://h.example/d/s.css", lambda url: f"/T/{url}")
    return rewrite_css(data, charset, place)[0].decode()


@pytest.mark.parametrize(
    ("sheet", "expected"),
    [
        ("a{b:url(x)}", f"a{{b:url({X})}}"),
        ("a{b:url( x )}", f"a{{b:url( {X} )}}"),
        ("a{b:url('x')}", f"a{{b:url('{X}')}}"),
        ('a{b:URL( "x" )}', f'a{{b:URL( "{X}" )}}'),
        ("a{b:url(x),url(x)}", f"a{{b:url({X}),url({X})}}"),
        ("a{b:url(x#f)}", f"a{{b:url({X}#f)}}"),
        ("a{b:url(\\78)}", f"a{{b:url({X})}}"),
        ("a{b:u\\72l(x)}", f"a{{b:u\\72l({X})}}"),
        ("a{b:\\75 rl(x)}", f"a{{b:\\75 rl({X})}}"),
        ('a{b:url("\\000078")}', f'a{{b:url("{X}")}}'),
        ("a{b:url(x", f"a{{b:url({X}"),
        ("@import 'x';", f"@import '{X}';"),
        ('@IMPORT\n"x" screen;', f'@IMPORT\n"{X}" screen;'),
        ("@import/**/'x';", f"@import/**/'{X}';"),
        ("@import url(x) layer(a);", f"@import url({X}) layer(a);"),
        ("@im\\port 'x';", f"@im\\port '{X}';"),
        ("@font-face{src:url(x) format('woff')}", f"@font-face{{src:url({X}) format('woff')}}"),
        ("a{b:image-set('x' 1x, 'x' 2x)}", f"a{{b:image-set('{X}' 1x, '{X}' 2x)}}"),
        (
            "a{b:-webkit-image-set(url(x) 1x)}c{d:'x'}",
            f"a{{b:-webkit-image-set(url({X}) 1x)}}c{{d:'x'}}",
        ),
        (
            "a{b:image-set('x' type('image/avif'))}",
            f"a{{b:image-set('{X}' type('image/avif'))}}",
        ),
        ("a{b:image-set('x' 1x;c:'x'}", f"a{{b:image-set('{X}' 1x;c:'x'}}"),
        ("a{b:url('it\\'s')}", "a{b:url('/T/http://h.example/d/it\\'s')}"),
        ("a{b:url(it\\'s)}", 'a{b:url("/T/http://h.example/d/it\'s")}'),
        ("a{b:url('x?\\\\')}", f"a{{b:url('{X}?\\\\')}}"),
        ("--v:url(x)", f"--v:url({X})"),
    ],
)
def test_references_lead_into_the_archive(sheet: str, expected: str) -> None:
    assert css(sheet) == expected


@pytest.mark.parametrize(
    "sheet",
    [
        "/* url(x) */",
        "/* url(x)",
        "a{content:'url(x)'}",
        'a{content:"\\"url(x)"}',
        "a{b:url(#f)}",
        "a{b:url()}",
        "a{b:url(data:image/png;base64,AA==)}",
        "a{b:url(x y)}",
        "a{b:url(x'y)}",
        "a{b:myurl(x)}",
        "a{b:-url(x)}",
        "@namespace svg url(http://www.w3.org/2000/svg);",
        "@namespace 'http://www.w3.org/1999/xhtml';",
        "@charset 'utf-8';",
        "a{b:'never closed\nurl:x}",
        "@imported 'x';",
        "a{b:format('x')}",
    ],
)
def test_what_is_no_reference_stays(sheet: str) -> None:
    assert css(sheet) == sheet


def test_a_broken_string_does_not_swallow_the_sheet() -> None:
    assert css("a{b:'oops\n}c{d:url(x)}") == f"a{{b:'oops\n}}c{{d:url({X})}}"


def test_a_namespace_ends_at_its_semicolon() -> None:
    sheet = "@namespace url(http://n/);a{b:url(x)}"
    assert css(sheet) == f"@namespace url(http://n/);a{{b:url({X})}}"


class TestEncodings:
    def test_bytes_survive(self) -> None:
        data = b"/*\xff\xfe*/a{content:'\x81';b:url(x)}"
        place = ReplayPlace("http://h.example/d/s.css", lambda url: f"/T/{url}")
        assert rewrite_css(data, "utf-8", place)[0] == data.replace(b"(x)", f"({X})".encode())

    def test_a_backslash_inside_a_character_is_no_escape(self) -> None:
        # The second byte of this character in Shift_JIS is a backslash.
        data = "a{c:'表';b:url(x)}".encode("shift_jis")
        assert b"\\'" in data
        place = ReplayPlace("http://h.example/d/s.css", lambda url: f"/T/{url}")
        out = rewrite_css(data, "shift_jis", place)[0]
        assert out == data.replace(b"(x)", f"({X})".encode())

    def test_urls_are_read_in_the_encoding_of_the_sheet(self) -> None:
        assert "/d/%C3%A9)" in css(b'@charset "windows-1252";a{b:url(\xe9)}')
        assert "/d/%C3%A9)" in css(b"a{b:url(\xc3\xa9)}")
        assert "/d/%C3%A9%E2%82%AC" in css(b"a{b:url(\xe9\\20ac)}", "windows-1252")

    def test_utf_16_becomes_utf_8(self) -> None:
        place = ReplayPlace("http://h.example/d/s.css", lambda url: f"/T/{url}")
        out, encoding = rewrite_css("\ufeffa{b:url(x)}".encode("utf-16-le"), None, place)
        assert out.decode() == f"a{{b:url({X})}}"
        assert encoding == "utf-8"


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        ("\\41", "A"),
        ("\\000041 b", "Ab"),
        ("\\41\r\nb", "Ab"),
        ("\\g", "g"),
        ("a\\\nb", "ab"),
        ("\\0", "\ufffd"),
        ("\\d800", "\ufffd"),
        ("\\ffffff", "\ufffd"),
        ("a\\", "a"),
    ],
)
def test_escapes(escaped: str, plain: str) -> None:
    assert unescape(escaped) == plain


@pytest.mark.parametrize(
    "piece",
    ["a", "(", "\\", '"', "/*", "url(", "@import ", "url('", "image-set(", "u\\72", "@namespace ",
     "url(\"\n", "/**/", "-", "\\75", "'\\", "@import/*"],
)  # fmt: skip
def test_hostile_sheets_cost_linear_time(piece: str) -> None:
    sheet = piece * (200_000 // len(piece))
    started = time.process_time()
    css(sheet)
    assert time.process_time() - started < 2
