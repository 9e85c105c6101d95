"""Rewriting HTML: references lead into the archive, every other byte stays."""

from __future__ import annotations

import pytest

from asof.replay.links import ReplayPlace
from asof.replay.rewrite import RewriteKind, kind_of, rewrite
from asof.replay.rewrite_html import About, about, rewrite_html
from asof.text.links.attribute_values import replaced, srcset

BASE = "http://h.example/d/p.html"


def place(base: str = BASE) -> ReplayPlace:
    return ReplayPlace(base, lambda url: f"/T/{url}")


def html(markup: str | bytes, *, charset: str | None = "utf-8", xml: bool = False) -> str:
    data = markup.encode() if isinstance(markup, str) else markup
    return rewrite_html(data, charset, place(), xml=xml)[0].decode()


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<a href=x>", '<a href="/T/http://h.example/d/x">'),
        ("<a href='x'>", "<a href='/T/http://h.example/d/x'>"),
        ('<A HREF = "x" >', '<A HREF="/T/http://h.example/d/x" >'),
        ('<a href="/r">', '<a href="/T/http://h.example/r">'),
        ('<a href="//o/x">', '<a href="/T/http://o/x">'),
        ('<a href="https://o/x">', '<a href="/T/https://o/x">'),
        ('<a href="?q=1">', '<a href="/T/http://h.example/d/p.html?q=1">'),
        ('<a href="../../../x">', '<a href="/T/http://h.example/x">'),
        ('<a href="x#part">', '<a href="/T/http://h.example/d/x#part">'),
        ('<a href=" x\n">', '<a href="/T/http://h.example/d/x">'),
        ('<a href="a b">', '<a href="/T/http://h.example/d/a%20b">'),
        ('<a href="x?a=1&amp;b=2">', '<a href="/T/http://h.example/d/x?a=1&amp;b=2">'),
        ('<a href="x?a=1&b=2">', '<a href="/T/http://h.example/d/x?a=1&amp;b=2">'),
        ('<a href="x?a=1&copy=2">', '<a href="/T/http://h.example/d/x?a=1&amp;copy=2">'),
        ("<a href='it&#39;s'>", "<a href='/T/http://h.example/d/it&#39;s'>"),
        ('<a href="&#x2F;r">', '<a href="/T/http://h.example/r">'),
        ('<a/href="x"/title=y>', '<a/href="/T/http://h.example/d/x"/title=y>'),
        ('<a title=">" href="x">', '<a title=">" href="/T/http://h.example/d/x">'),
        (
            "<a title='<a href=y>' href=x>",
            "<a title='<a href=y>' href=\"/T/http://h.example/d/x\">",
        ),
        ('<img src=i.png alt="">', '<img src="/T/http://h.example/d/i.png" alt="">'),
        ("<body background=b.png>", '<body background="/T/http://h.example/d/b.png">'),
        ("<video poster=p.jpg>", '<video poster="/T/http://h.example/d/p.jpg">'),
        ("<form action=s>", '<form action="/T/http://h.example/d/s">'),
        ("<button formaction=s>", '<button formaction="/T/http://h.example/d/s">'),
        ("<blockquote cite=s>", '<blockquote cite="/T/http://h.example/d/s">'),
        ("<object data=f.swf>", '<object data="/T/http://h.example/d/f.swf">'),
        ("<frame src=f.html>", '<frame src="/T/http://h.example/d/f.html">'),
        ("<img data-src=l.png>", '<img data-src="/T/http://h.example/d/l.png">'),
        ("<image xlink:href=v.svg />", '<image xlink:href="/T/http://h.example/d/v.svg" />'),
        ("<track src=t.vtt>", '<track src="/T/http://h.example/d/t.vtt">'),
        ("<link rel=preconnect href=//o>", '<link rel=preconnect href="/T/http://o/">'),
    ],
)
def test_a_reference_leads_into_the_archive(markup: str, expected: str) -> None:
    assert html(markup) == expected


@pytest.mark.parametrize(
    "markup",
    [
        '<a href="#part">',
        '<a href="">',
        "<a href>",
        "<a href=>x",
        '<a href="javascript:void(0)">',
        '<a href=" JavaScript:go()">',
        '<a href="mailto:a@b.example">',
        '<img src="data:image/png;base64,AAAA">',
        '<a href="tel:123">',
        '<a href="http://[bad">',
        '<link rel=canonical href="http://h.example/">',
        "<!-- <a href=x> -->",
        "<!--[if IE]><link href=ie.css><![endif]-->",
        "<!--><!-- a --!><!-- never closed <a href=x>",
        "<script>document.write('<a href=x>')</script>",
        "<script><!-- <script> <a href=x></script> <a href=y> --></script>",
        "<textarea><a href=x></textarea>",
        "<title><a href=x></title>",
        "<xmp><a href=x></xmp>",
        "<iframe><a href=x></iframe>",
        "<plaintext><a href=x>",
        "<?php <a href=x?>",
        "</ a href=x>",
        "1 < 2 && href=x",
        '<a href="never closed>',
        "<a href=x",
        "<div data=x action=y cite=z>",
        "<div onclick=\"go('x.html')\">",
        '<svg><use href="#icon"/></svg>',
    ],
)
def test_what_is_no_reference_stays_byte_for_byte(markup: str) -> None:
    assert html(markup) == markup


def test_text_attributes_and_bad_nesting_around_a_link_are_kept() -> None:
    markup = "<P CLASS=a><B>x<I>y</B>\r\n<a\thref='x' CLASS=\"b\" >&nbsp;&bogus;</P></I>\x0c\x00"
    assert html(markup) == markup.replace("'x'", "'/T/http://h.example/d/x'")


class TestBase:
    def test_the_first_base_counts_for_what_follows(self) -> None:
        markup = '<link href=a><base href="/other/"><a href=x><base href="/no/"><a href=y>'
        assert html(markup) == (
            '<link href="/T/http://h.example/d/a"><base href="/T/http://h.example/other/">'
            '<a href="/T/http://h.example/other/x"><base href="/T/http://h.example/no/">'
            '<a href="/T/http://h.example/other/y">'
        )

    def test_a_base_that_only_names_a_target_is_none(self) -> None:
        markup = "<base target=_top><base href=/o/><a href=x>"
        assert html(markup).endswith('<a href="/T/http://h.example/o/x">')

    def test_a_base_in_a_comment_is_none(self) -> None:
        assert html("<!--<base href=/o/>--><a href=x>").endswith('"/T/http://h.example/d/x">')


class TestMeta:
    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("0; url=n.html", "0; url=/T/http://h.example/d/n.html"),
            ("5;URL='n.html'", "5;URL='/T/http://h.example/d/n.html'"),
            ("3 n.html", "3 /T/http://h.example/d/n.html"),
            ("0, http://o/", "0, /T/http://o/"),
            ("30", "30"),
            ("30; url=", "30; url="),
            ("0; url=javascript:x()", "0; url=javascript:x()"),
        ],
    )
    def test_refresh(self, content: str, expected: str) -> None:
        markup = f'<meta http-equiv=Refresh content="{content}">'
        assert html(markup) == f'<meta http-equiv=Refresh content="{expected}">'

    def test_a_page_tells_its_title_and_where_it_leads_on(self) -> None:
        said = about(
            b"<title> A &amp;\n b </title><meta http-equiv=refresh content='0;url=n'><p>",
            None,
            place(),
        )
        assert said == About("A &\n b", "http://h.example/d/n")
        assert about(b"<p>", None, place()) == About()
        drawn = b"<base href=/e/><svg><title>icon</title></svg><title>page</title>"
        sent_on = b"<p>" * 99 + b"<META HTTP-EQUIV = 'refresh' CONTENT='1;n'>"
        assert about(drawn + sent_on, None, place()) == About("page", "http://h.example/e/n")

    def test_a_policy_of_the_live_site_is_taken_out_of_force(self) -> None:
        policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
        assert "http-equiv" not in html(policy)
        assert "default-src 'none'" in html(policy)

    def test_other_metas_stay(self) -> None:
        markup = '<meta name=og:image content="http://o/i.png"><meta charset=utf-8>'
        assert html(markup) == markup


class TestStyles:
    def test_style_elements_and_attributes(self) -> None:
        assert html('<style>a{b:url(x)}</style><p style="b:url(y)">') == (
            "<style>a{b:url(/T/http://h.example/d/x)}</style>"
            '<p style="b:url(/T/http://h.example/d/y)">'
        )

    def test_quotes_in_a_style_attribute(self) -> None:
        assert html("<p style='b:url(&quot;y&quot;)'>") == (
            "<p style='b:url(\"/T/http://h.example/d/y\")'>"
        )

    def test_a_parenthesis_may_be_a_reference(self) -> None:
        assert "/T/http://h.example/d/y" in html('<p style="b:url&#40;y&rpar;">')

    def test_svg_paint(self) -> None:
        markup = '<svg><path fill="url(g.svg#a)" stroke="url(#b)"/></svg>'
        assert html(markup) == markup.replace("g.svg", "/T/http://h.example/d/g.svg")

    def test_a_style_element_cannot_be_ended_by_its_own_url(self) -> None:
        markup = r'<style>a{b:url("x#\3c/style>\3cimg src=y>")}</style>'
        assert html(markup).count("</style>") == 1


class TestSrcset:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("a 1x, b 2x", "[a] 1x, [b] 2x"),
            ("a", "[a]"),
            ("a, b", "[a], [b]"),
            ("a,b 2x", "[a,b] 2x"),
            (" a  100w ,\n b 200w ", " [a]  100w ,\n [b] 200w "),
            ("data:image/png;base64,AA== 1x, b 2x", "data:image/png;base64,AA== 1x, [b] 2x"),
            ("a (1,2), b", "[a] (1,2), [b]"),
            (",,", ",,"),
            ("", ""),
        ],
    )
    def test_candidates(self, value: str, expected: str) -> None:
        def mark(url: str) -> str | None:
            return None if url.startswith("data:") or not url else f"[{url}]"

        assert replaced(value, srcset(value), mark) == expected

    def test_in_markup(self) -> None:
        assert html('<img srcset="a.png 2x"><link imagesrcset="b.png 1x">') == (
            '<img srcset="/T/http://h.example/d/a.png 2x">'
            '<link imagesrcset="/T/http://h.example/d/b.png 1x">'
        )


def test_integrity_and_requests_of_their_own_are_removed() -> None:
    out = html(
        '<script src=a integrity="sha256-x"></script><a href=b ping=http://o/ attributionsrc>'
    )
    assert "integrity" not in out
    assert "ping" not in out
    assert "attributionsrc" not in out


def test_a_document_inside_an_attribute_is_rewritten_too() -> None:
    assert html('<iframe srcdoc="<a href=x>&amp;amp;</a>">') == (
        '<iframe srcdoc="&lt;a href=&quot;/T/http://h.example/d/x&quot;>&amp;amp;&lt;/a>">'
    )


def test_endless_nesting_of_documents_ends() -> None:
    markup = "<p>"
    for _ in range(12):
        markup = f'<iframe srcdoc="{markup.replace("&", "&amp;").replace(chr(34), "&quot;")}">'
    assert html(markup)


class TestForeignContent:
    def test_self_closing_title_of_svg_hides_nothing(self) -> None:
        assert html("<svg><title/><a href=x></a></svg>") == (
            '<svg><title/><a href="/T/http://h.example/d/x"></a></svg>'
        )

    def test_self_closing_title_of_html_hides_the_rest(self) -> None:
        assert html("<title/><a href=x>") == "<title/><a href=x>"

    def test_cdata_is_text_in_svg_and_a_comment_in_html(self) -> None:
        assert html("<svg><![CDATA[<a href=x>]]></svg>") == "<svg><![CDATA[<a href=x>]]></svg>"
        assert html("<![CDATA[>]]><a href=x>").endswith('"/T/http://h.example/d/x">')

    def test_style_of_svg(self) -> None:
        markup = "<svg><style><![CDATA[a{b:url(x)}]]></style></svg>"
        assert "url(/T/http://h.example/d/x)" in html(markup)

    def test_an_xml_document(self) -> None:
        markup = (
            '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><title/>'
            '<image xlink:href="i.png"/><script/><a xlink:href="x"/></svg>'
        )
        out = html(markup, xml=True)
        assert 'xmlns="http://www.w3.org/2000/svg"' in out
        assert 'xlink:href="/T/http://h.example/d/i.png"/>' in out
        assert 'xlink:href="/T/http://h.example/d/x"/>' in out

    def test_a_link_that_svg_animates(self) -> None:
        assert html('<set attributeName="href" to="x"/>').endswith('to="/T/http://h.example/d/x"/>')
        animated = html('<animate attributeName="href" values="http://live.example/"/>')
        assert animated.endswith('values="/T/http://live.example/"/>')
        assert html('<set attributeName="x" to="9"/>') == '<set attributeName="x" to="9"/>'


class TestEncodings:
    def test_bytes_that_are_no_text_survive(self) -> None:
        data = b"<p>\xff\xfe\x00\x81</p><a href=x>" + bytes(range(128, 256))
        out, encoding = rewrite_html(data, "utf-8", place())
        assert out == data.replace(b"href=x", b'href="/T/http://h.example/d/x"')
        assert encoding == "windows-1252"

    @pytest.mark.parametrize("charset", ["shift_jis", "gb2312", "big5", "euc-jp", "windows-1251"])
    def test_legacy_text_survives(self, charset: str) -> None:
        text = "表示ソ能" if charset in ("shift_jis", "euc-jp") else "表示"
        text = "привет" if charset == "windows-1251" else text
        data = f"<p title='{text}'>{text}</p><a href=x>{text}</a>".encode(charset)
        out = rewrite_html(data, charset, place())[0]
        assert out == data.replace(b"href=x", b'href="/T/http://h.example/d/x"')

    def test_a_query_is_sent_in_the_encoding_of_the_document(self) -> None:
        data = '<a href="é?q=é">'.encode("windows-1252")
        out = rewrite_html(data, "iso-8859-1", place())[0]
        assert b"/d/%C3%A9?q=%E9" in out

    def test_what_the_encoding_lacks_is_written_as_a_reference(self) -> None:
        out = rewrite_html(b'<a href="?q=&#8364;">', "koi8-r", place())[0]
        assert b"?q=%26%238364%3B" in out

    @pytest.mark.parametrize(
        ("markup", "query"),
        [
            (b"<meta charset=windows-1252><a href='?\xe9'>", b"?%E9"),
            (
                b"<meta http-equiv=x content='text/html; charset=utf-8'><a href='?\xc3\xa9'>",
                b"?%C3%A9",
            ),
            (b"<a href='?\xc3\xa9'>", b"?%C3%A9"),
            (b"<a href='?\xe9'>", b"?%E9"),
            (b"<!--<meta charset=utf-8>--><a href='?\xe9'>", b"?%E9"),
        ],
    )
    def test_what_a_document_says_of_itself(self, markup: bytes, query: bytes) -> None:
        assert query in rewrite_html(markup, None, place())[0]

    @pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
    def test_utf_16_becomes_utf_8(self, codec: str) -> None:
        data = "\ufeff<p>ü</p><a href=x>".encode(codec)
        out, encoding = rewrite_html(data, None, place())
        assert out.decode("utf-8") == '<p>ü</p><a href="/T/http://h.example/d/x">'
        assert encoding == "utf-8"

    def test_iso_2022_jp_becomes_utf_8(self) -> None:
        out, encoding = rewrite_html("<p>表示</p>".encode("iso-2022-jp"), "ISO-2022-JP", place())
        assert (out.decode("utf-8"), encoding) == ("<p>表示</p>", "utf-8")

    @pytest.mark.parametrize("label", ["no-such", "rot13", "idna", "\0", "utf-7", "ü"])
    def test_a_label_that_means_nothing(self, label: str) -> None:
        assert rewrite_html(b"<a href='?\xc3\xa9'>", label, place())[0] == (
            b"<a href='/T/http://h.example/d/p.html?%C3%A9'>"
        )


class TestBanner:
    @staticmethod
    def put(markup: str, *, xml: bool = False) -> str:
        done = rewrite_html(markup.encode(), "utf-8", place(), below=True, xml=xml)[0].decode()
        return done.replace('<base target="_top"/>', "[B]")

    @pytest.mark.parametrize(
        ("markup", "target"),
        [
            ("<a href=#x>", ' target="_self" href=#x'),
            ("<a href=' #x' target=_blank>", " href=' #x' target=\"_self\""),
            ("<a HREF=n TARGET=_Self>", ' HREF="/T/http://h.example/d/n" target="_top"'),
            ("<area target='' href=n>", ' target="_top" href="/T/http://h.example/d/n"'),
            ("<a href=n target=_parent>", ' href="/T/http://h.example/d/n" target="_top"'),
            ("<a href=n target=other>", ' href="/T/http://h.example/d/n" target=other'),
            ("<form target=_self action=n>", ' target="_top" action="/T/http://h.example/d/n"'),
            ("<base target=_self>", ' target="_top"'),
            ("<p target=_self>", " target=_self"),
        ],
    )
    def test_links_lead_all_of_the_page_and_stay_within_it(self, markup: str, target: str) -> None:
        assert f"{target}>" in self.put(markup)
        assert "_top" not in html(markup)

    def test_a_fragment_below_a_base_leads_elsewhere(self) -> None:
        assert "_self" not in self.put("<base href=/other><a href=#x>")

    @pytest.mark.parametrize(
        ("markup", "expected"),
        [
            ("<!doctype html><body class=x>hi", "<!doctype html><body class=x>[B]hi"),
            (
                "<html><head><title>t</title></head><p>x",
                "<html><head><title>t</title></head>[B]<p>x",
            ),
            ("<!doctype html><p>x", "<!doctype html>[B]<p>x"),
            ("\ufeff<!doctype html><p>x", "\ufeff<!doctype html>[B]<p>x"),
            ("<!-- c --> text <p>", "<!-- c -->[B] text <p>"),
            ("text", "[B]text"),
            ("", "[B]"),
            ("<template><p>x</p></template><h1>y", "<template><p>x</p></template>[B]<h1>y"),
            ("<script>'<body>'</script><body>x", "<script>'<body>'</script><body>[B]x"),
            ("<frameset><frame name=x></frameset>", "<frameset><frame name=x></frameset>"),
        ],
    )
    def test_stands_first_in_the_body(self, markup: str, expected: str) -> None:
        assert self.put(markup) == expected

    def test_stands_once_and_after_a_rewritten_body_tag(self) -> None:
        out = self.put("<body background=b.png>x<body>")
        assert out == '<body background="/T/http://h.example/d/b.png">[B]x<body>'

    def test_xhtml_with_a_body_and_svg_without(self) -> None:
        assert self.put("<html><body><p/></body></html>", xml=True) == (
            "<html><body>[B]<p/></body></html>"
        )
        assert self.put("<svg><g/></svg>", xml=True) == "<svg><g/></svg>"


class TestDispatch:
    def test_kinds(self) -> None:
        assert kind_of("text/html") is RewriteKind.HTML
        assert kind_of("TEXT/CSS") is RewriteKind.CSS
        assert kind_of("image/svg+xml") is RewriteKind.XML
        assert kind_of("application/javascript") is None
        assert kind_of(None) is None

    def test_each_kind_is_rewritten(self) -> None:
        for kind, data in ((RewriteKind.HTML, b"<a href=x>"), (RewriteKind.CSS, b"a{b:url(x)}")):
            done = rewrite(data, kind, None, place())
            assert b"/T/http://h.example/d/x" in done.data
            assert done.charset is None

    def test_a_transcoded_document_needs_another_charset(self) -> None:
        data = "\ufeff<p>".encode("utf-16-le")
        assert rewrite(data, RewriteKind.HTML, "utf-16", place()).charset == "utf-8"


@pytest.mark.parametrize("base", ["urn:uuid:1", "dns:example.org", "", "http://[bad"])
def test_a_document_without_a_web_address_keeps_relative_references(base: str) -> None:
    out = rewrite_html(b"<a href=x><a href=http://o/y>", None, place(base))[0]
    assert out == b'<a href=x><a href="/T/http://o/y">'
