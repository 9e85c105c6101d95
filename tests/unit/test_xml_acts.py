"""What XML that is sent from the archive leads to: nothing out of it, or it is not quiet."""

from __future__ import annotations

import pytest

from asof.replay.links import ReplayPlace
from asof.replay.rewrite import Rewritten, kind_of, rewrite

SVG = "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'>%s</svg>"
FEED = "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:h='http://www.w3.org/1999/xhtml'>%s</feed>"
LIVE = "http://live.example/"


def made(xml: str, media: str = "application/xml") -> Rewritten:
    kind = kind_of(media)
    assert kind is not None
    place = ReplayPlace("http://a.example/", lambda url: f"/T/{url}")
    return rewrite(xml.encode(), kind, media, place)


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (FEED % f"<link href='{LIVE}'/>", f"<link href='{LIVE}'/>"),
        (FEED % f"<h:a href='{LIVE}'/>", f"<h:a href='/T/{LIVE}'/>"),
        (FEED % "<h:link rel='preconnect' href='//live.example'/>", f"href='/T/{LIVE}'"),
        (FEED % f"<h:meta http-equiv='refresh' content='0;url={LIVE}'/>", f"url=/T/{LIVE}"),
        (SVG % f"<a xlink:href='{LIVE}'/>", f"'/T/{LIVE}'"),
        (SVG % f"<animate attributeName='href' values='{LIVE}'/>", f"'/T/{LIVE}'"),
        (SVG % f"<metadata><x xmlns='urn:x' href='{LIVE}'/></metadata>", "<metadata>"),
        ("<r><h:a xmlns:h='http://&#119;ww.w3.org/1999/xhtml' href='/x'/></r>", "/T/http://a."),
    ],
)
def test_what_leads_into_the_archive_is_quiet(xml: str, expected: str) -> None:
    done = made(xml)
    assert done.is_quiet
    assert expected in done.data.decode()


@pytest.mark.parametrize(
    "xml",
    [
        "<feed><p></feed>",
        FEED % f'<!--> <a b=\' --><h:link rel="preconnect" href="{LIVE}"/><!-- \'> -->',
        SVG % f"<animate attributeName='y:href' xmlns:y='urn:y' values='/x;{LIVE}'/>",
        SVG % f"<a y:href='{LIVE}' xmlns:y='http://www.w3.org/1999/xlink'/>",
        f"<!DOCTYPE svg [<!ENTITY e '<a href=\"{LIVE}\"/>'>]>" + SVG % "&e;",
    ],
)
def test_what_is_hidden_or_leads_out_is_not(xml: str) -> None:
    for media in ("application/xml", "image/svg+xml", "application/xhtml+xml", "text/xsl"):
        assert not made(xml, media).is_quiet


def test_what_holds_no_markup_stays_as_it_is() -> None:
    for xml in ("<rss><link>http://live.example/</link></rss>", FEED % f"<icon href='{LIVE}'/>"):
        done = made(xml, "application/rss+xml")
        assert (done.data, done.charset, done.is_quiet) == (xml.encode(), None, True)
