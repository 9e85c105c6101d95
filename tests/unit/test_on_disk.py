"""Documents that are opened as files: their policy, their encoding, and where they lead."""

from __future__ import annotations

import pytest

from asof.replay.links import ReplayPlace
from asof.replay.on_disk import for_disk, is_harmless, marked, xml_for_disk
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


SVG = "<svg xmlns='http://www.w3.org/2000/svg' xmlns:x='http://www.w3.org/1999/xlink'>%s</svg>"
XHTML = "<html xmlns='http://www.w3.org/1999/xhtml'>%s</html>"
FEED = "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:h='http://www.w3.org/1999/xhtml'>%s</feed>"
LIVE = "http://live.example/"
STILL = [
    SVG % "<r:Description xmlns:r='urn:r' about='http://a.example/'/><path d=''/>",
    "<!DOCTYPE svg [<!ENTITY ns 'http://www.w3.org/2000/svg'>]><svg xmlns='&ns;'/>",
    '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/x.dtd">' + SVG % "<g/>",
    SVG % f"<a href='{LIVE}x?a&amp;b'/><use x:href='#a'/><image href='{LIVE}x.png'/>",
    SVG
    % "<style>@import 'x.css'; a { fill: url(#x) }</style><rect fill='url(#x)' style='x:url(y)'/>",
    SVG % "<animate attributeName='x' values='1;2'/><set attributeName='fill' to='url(#a)'/>",
    SVG
    % "<foreignObject><div xmlns='http://www.w3.org/1999/xhtml' class='a'>x</div></foreignObject>",
    SVG
    % "<image href='data:image/png;base64,AA'/><path onlyasname:onload='' xmlns:onlyasname='u'/>",
    FEED
    % f"<link href='{LIVE}'/><title>café</title><content>&lt;script&gt;1&lt;/script></content>",
    FEED % f"<h:p>Hello <h:img src='{LIVE}x.png' alt='x'/><h:a href='{LIVE}'>a</h:a></h:p>",
    "<rss><script>1</script><enclosure onload='1' url='http://live.example/x.mp3'/></rss>",
    XHTML % "<head><script>1</script></head>",
    XHTML
    % f"<head><title>x</title></head><body><iframe srcdoc='&lt;script>'/><a href='{LIVE}'/></body>",
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd">'
    + XHTML % "<head/><p>&nbsp;</p>",
    '<!DOCTYPE html [<!ENTITY nbsp "&#160;">]>' + XHTML % "<head></head><p>&nbsp;</p>",
]
ACTING = [
    "<svg><path></svg>",  # what is broken, each reads in its own way
    SVG % "<script>1</script>",
    SVG % "<s:script xmlns:s='http://www.w3.org/2000/svg'/>",
    SVG % "<g onload = '1'/>",
    SVG % "<a x:href='javascript:1'/>",
    SVG % "<image href='data:text/html,x'/>",
    SVG % "<use href='data:image/svg+xml,x'/>",
    SVG % f"<rect><set attributeName='fill' to='u\\72l({LIVE})'/></rect>",
    SVG % f"<animate attributeName='x:href' values='{LIVE}'/>",
    SVG % f"<animate attributeName='filter' values='url({LIVE}#a)'/>",
    SVG % f"<style>@im&#112;ort '{LIVE}';</style>",
    SVG % f"<s:style xmlns:s='http://www.w3.org/2000/svg'>@import '{LIVE}';</s:style>",
    SVG % f"<style>x<g/>@import '{LIVE}';</style>",
    SVG % "<g xml:base='http://live.example/'><image href='x.png'/></g>",
    *(
        each % f"<x:{element} xmlns:x='http://www.w3.org/1999/xhtml'/>"
        for each in (SVG, FEED)
        for element in (
            "iframe srcdoc='&lt;script>'",
            "iframe src='data:text/html,x'",
            "object data='data:text/html,x'",
            f"img srcset='{LIVE}'",
            f"video poster='{LIVE}'",
            f"link rel='preconnect' href='{LIVE}'",
            f"meta http-equiv='refresh' content='0;url={LIVE}'",
            f"form action='{LIVE}'",
        )
    ),
    "<!DOCTYPE svg [<!ENTITY x '&#60;script>'>]>" + SVG % "&x;",
    "<!DOCTYPE svg [<!ENTITY x '<g/>'>]>" + SVG % "&x;",
    "<!DOCTYPE svg [<!ENTITY % x '<!ENTITY y 1>'>%x;]>" + SVG % "",
    "<!DOCTYPE svg [<!ENTITY x SYSTEM 'http://live.example/'>]>" + SVG % "&x;",
    "<!DOCTYPE svg [<!ATTLIST g onload CDATA '1'>]>" + SVG % "<g/>",
    f"<!DOCTYPE svg [<!ENTITY x '{LIVE}'>]>" + SVG % "<set attributeName='fill' to='url(&x;)'/>",
    f"<?xml-stylesheet href='{LIVE}'?>" + SVG % "",
    f"<?xml-stylesheet href='{LIVE}'?>" + XHTML % "<head></head>",
    XHTML % "<head/><script/>",
    XHTML % "<script/><head></head>",
    "<!DOCTYPE html [<!ENTITY e '<x/>'>]>" + XHTML % "&e;<head></head>",
    "<html xmlns='urn:x'><head></head><script xmlns='http://www.w3.org/1999/xhtml'/></html>",
    XHTML % "<head xmlns='urn:x'></head><script/>",
    XHTML % "<!--> <html><head> --><script/><head></head>",
    XHTML % "<?x > <html><head> ?><script/>",
    XHTML % f'<head></head><!--> <a b=\' --><link rel="preconnect" href="{LIVE}"/><!-- \'> -->',
    SVG % "<html><head></head></html><script/>",
]


def harmless(xml: str | bytes, media: str = "application/xml") -> bool:
    data = xml.encode() if isinstance(xml, str) else xml
    return is_harmless(data, media, "http://a.example/x/", media, scripts=False)


@pytest.mark.parametrize("xml", STILL)
def test_what_only_shows_something_stays_xml(xml: str) -> None:
    assert harmless(xml, "image/svg+xml" if xml.endswith("</svg>") else "application/xml")
    assert harmless(xml.encode("utf-16"))


@pytest.mark.parametrize("xml", ACTING)
@pytest.mark.parametrize(
    "media", ["image/svg+xml", "application/xhtml+xml", "application/atom+xml"]
)
def test_what_has_no_place_for_a_policy_and_may_act_does_not(xml: str, media: str) -> None:
    assert not harmless(xml, media)
    assert not harmless(xml.encode("utf-16"), media)


def test_the_encoding_is_one_that_a_file_can_say() -> None:
    place = ReplayPlace("http://a.example/", lambda url: "x", on_disk=True)
    for declared, written in (("utf-16", "utf-16"), ("iso-2022-jp", "iso-2022-jp")):
        media = f"application/xml; charset={declared}"
        made = xml_for_disk(
            "<a>日本</a>".encode(written), "application/xml", media, place, scripts=False
        )
        assert made == "\ufeff<a>日本</a>".encode()
    assert xml_for_disk(b"<a/>", "application/xml", None, place, scripts=False) == b"<a/>"


def test_text_is_left_alone_where_a_file_says_enough() -> None:
    for media, path in (("text/plain", "x.txt"), ("image/png; charset=koi8-r", "x.png")):
        assert b"".join(marked(iter([b"\xc1", b"\xc2"]), media, path)) == b"\xc1\xc2"
    assert b"".join(marked(iter([b"ab"]), "text/plain; charset=koi8-r", "x.txt")) == b"ab"
