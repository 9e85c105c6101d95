"""Documents that are opened as files: their policy, their encoding, and where they lead."""

from __future__ import annotations

import pytest

from asof.replay.links import ReplayPlace
from asof.replay.on_disk import for_disk, is_harmless, marked
from asof.replay.rewrite import RewriteKind, rewrite

POLICY = b'<meta http-equiv="Content-Security-Policy"'


def on_disk(data: bytes, *, kind: RewriteKind = RewriteKind.HTML, scripts: bool = False) -> bytes:
    place = ReplayPlace(
        "http://a.example/x/", lambda url: "page.html", lead_part=lambda url: "part.bin",
        on_disk=True, unscripted=not scripts,
    )  # fmt: skip
    return for_disk(rewrite(data, kind, "text/html", place), kind, "text/html", scripts=scripts)


@pytest.mark.parametrize(
    ("start", "kept"),
    [
        (b"<!doctype html>", b"<!doctype html>"),
        (b"\n <!DOCTYPE html SYSTEM 'about:legacy-compat'>", None),
        (b"\xef\xbb\xbf<!doctype html>", None),
        (b"", b""),
        (b"<!-- x --><!doctype html>", b"<!doctype html>"),
        (b"<?xml version='1.0'?><!doctype html>", b"<!doctype html>"),
        (b"<!--><script>1</script><!-- <!doctype html> -->", b"<!doctype html>"),
    ],
)
def test_the_policy_comes_before_all_that_acts(start: bytes, kept: bytes | None) -> None:
    made = on_disk(start + b"<script>1</script>")
    before = made[: made.index(POLICY)].removesuffix(b'<meta charset="utf-8">')
    assert before == (start if kept is None else kept)
    assert b"script-src" not in made
    assert b"<script>1" in made


def test_scripts_run_behind_a_guard_where_they_are_wanted() -> None:
    made = on_disk(b"<script>1</script><noscript>x</noscript>", scripts=True)
    assert b"script-src file:" in made
    assert made.index(POLICY) < made.index(b"navigation") < made.index(b"<script>1")
    assert b"<noscript>x" in made


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (b'<base href="/other/" target=_top>', b"<base  target=_top>"),
        (b"<script src=a crossorigin></script>", b'<script src="part.bin" ></script>'),
        (b"<link rel=preconnect href=//b.example crossorigin>", b'href="page.html" >'),
        (b"<a href=#x>", b"<a href=#x>"),
        (b"<a href=b#x>", b'<a href="page.html#x">'),
        (b"<img src=file://evil.example/x>", b'<img src="about:blank">'),
        (b"<a href=ftp://a.example/>", b'<a href="about:blank">'),
        (b"<a href=mailto:a@b.example>", b"<a href=mailto:a@b.example>"),
        (b"<img src=data:,x>", b"<img src=data:,x>"),
        (b"<noscript><img src=a></noscript>", b'<img src="part.bin">'),
        (b"<script type=SpeculationRules>{}</script>", b"<script >{}</script>"),
    ],
)
def test_references_lead_to_files_or_nowhere(written: bytes, expected: bytes) -> None:
    assert on_disk(written).endswith(expected)


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (b"<svg><rdf:Description/><path d=''/></svg>", True),
        (b"<!DOCTYPE svg [<!ENTITY ns 'http://www.w3.org/2000/svg'>]><svg xmlns='&ns;'/>", True),
        (b"<svg><a href='x?a&amp;b'/></svg>", True),
        (b"<svg><script>1</script></svg>", False),
        (b"<svg><s:SCRIPT xmlns:s='x'/></svg>", False),
        (b"<svg onload = '1'/>", False),
        ("<svg onload='1'/>".encode("utf-16"), False),
        (b"<!DOCTYPE svg [<!ENTITY x '&#60;script>'>]><svg>&x;</svg>", False),
        (b"<!DOCTYPE svg [<!ENTITY x 'http://b.example/'>]><svg><image href='&x;'/></svg>", False),
        (b"<?xml-stylesheet href='http://b.example/'?><svg/>", False),
        (b"<html><head><script/></head></html>", True),
        (b"<html><head/><script/></html>", False),
        (b"<html><script/><head></head></html>", False),
        (b"<svg><html><head></head></html><script/></svg>", False),
    ],
)
def test_xml_has_place_for_a_policy_or_nothing_that_acts(xml: bytes, expected: bool) -> None:
    assert is_harmless(xml) is expected


def test_text_is_left_alone_where_a_file_says_enough() -> None:
    for media, path in (("text/plain", "x.txt"), ("image/png; charset=koi8-r", "x.png")):
        assert b"".join(marked(iter([b"\xc1", b"\xc2"]), media, path)) == b"\xc1\xc2"
    assert b"".join(marked(iter([b"ab"]), "text/plain; charset=koi8-r", "x.txt")) == b"ab"
