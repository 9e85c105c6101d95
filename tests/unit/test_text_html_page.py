"""Reading an HTML page: title, day, language, text and links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args
from unittest import mock

import pytest

from asof.text.document import Document, Method
from asof.text.html.blocks import joined, layout
from asof.text.html.page import read_html

BASE = "https://example.org/news/today.html"


def page(markup: str, base: str | None = BASE) -> Document:
    return read_html(markup, base, "fast")


@pytest.fixture(params=["compiled", "python"], autouse=True)
def reader(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every expectation here holds for both readers."""
    if request.param == "compiled":
        yield
    else:
        with mock.patch("asof.text.html.blocks.compiled", None):
            yield


class TestText:
    @pytest.mark.parametrize(
        ("markup", "text"),
        [
            ("<p>One</p><p>Two</p>", "One\nTwo"),
            ("<p>One<p>Two", "One\nTwo"),
            ("  a \n\t b  ", "a b"),
            ("a<br>b<br/>c<BR >d", "a\nb\nc\nd"),
            ("<b>bo</b>ld and <i>it</i>alic", "bold and italic"),
            ("caf&eacute; &amp; &#x2014; &lt;b&gt; &nbsp;x", "caf\u00e9 & \u2014 <b> x"),
            ("a < b and c > d", "a < b and c > d"),
            ("<ul><li>one<li>two<ul><li>in</ul><li>three</ul>", "one\ntwo\nin\nthree"),
            ("<dl><dt>term<dd>meaning<dt>other</dl>", "term\nmeaning\nother"),
            ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", "1\t2\n3\t4"),
            ("<table><tr><th>a</th><td></td><td>c</td></tr></table>", "a\tc"),
            ("<pre>\n  one\n    two\n</pre>", "  one\n    two"),
            ("<pre>a<br>  b</pre>", "a\n  b"),
            ("<h1>Title</h1>text<h2>Part</h2>", "Title\ntext\nPart"),
            ("x<script>var a = '<p>no</p>';</script>y", "xy"),
            ("x<style>p { a: b }</style>y<!-- no <p>no</p> -->z", "xyz"),
            ("x<template><p>no</p></template>y", "xy"),
            ("x<noscript>without scripts</noscript>", "xwithout scripts"),
            ("<title>no</title><p>yes", "yes"),
            ("<textarea>typed &amp; kept</textarea>", "typed & kept"),
            ("<img alt='a picture' src=x>text", "text"),
            ("<select><option>red<option>blue</select>", "red\nblue"),
            ("<details><summary>More</summary>Inside</details>", "More\nInside"),
            ("a\0b", "ab"),
            ("<p title='a > b'>text</p>", "text"),
            ("<iframe>no</iframe><p>yes", "yes"),
            ("\u4e2d\u6587<p>\u6587\u5b57", "\u4e2d\u6587\n\u6587\u5b57"),
            ("", ""),
            ("no markup at all", "no markup at all"),
        ],
    )
    def test_what_a_reader_sees(self, markup: str, text: str) -> None:
        assert page(markup).text == text

    @pytest.mark.parametrize(
        "hiding",
        [
            "hidden",
            "hidden=''",
            "style='color:red; display : none'",
            'style="DISPLAY:NONE"',
        ],
    )
    @pytest.mark.parametrize("element", ["div", "p", "span", "li", "a", "x-custom"])
    def test_what_is_hidden_is_left_out(self, element: str, hiding: str) -> None:
        markup = f"<p>seen before</p><{element} {hiding}>un<b>seen</b></{element}><p>seen after</p>"
        assert page(markup).text == "seen before\nseen after"

    @pytest.mark.parametrize(
        "attribute",
        ["class=hidden-xs", "style='overflow:hidden'", "hidden=until-found", "data-hidden=x"],
    )
    def test_what_only_sounds_hidden_is_not(self, attribute: str) -> None:
        assert page(f"<div {attribute}>seen</div>").text == "seen"

    def test_something_hidden_in_a_sentence_does_not_part_it(self) -> None:
        assert page("<p>one <span hidden>no</span>two</p>").text == "one two"

    def test_a_hidden_paragraph_without_an_end_hides_itself_only(self) -> None:
        assert page("<p hidden>no<p>yes").text == "yes"

    def test_a_page_that_scripts_would_show_is_shown(self) -> None:
        words = "the whole page came in a hidden piece. " * 20
        assert "hidden piece" in page(f"<p>Loading</p><div hidden>{words}</div>").text

    def test_a_tag_that_never_ends_ends_the_page(self) -> None:
        assert page("<p>one</p><p title='two>three").text == "one"


class TestTitle:
    @pytest.mark.parametrize(
        ("head", "body", "title"),
        [
            ("<title>Plain &amp; simple</title>", "", "Plain & simple"),
            ("<title>\n Two \n lines </title>", "", "Two lines"),
            ("<title>Tide tables - 2024</title>", "<h1>Other</h1>", "Tide tables - 2024"),
            ("<title>Tides | The Paper</title>", "<h1>Tides</h1>", "Tides"),
            ("<title>The Paper: Tides</title>", "<h1> Ti<b>des</b></h1>", "Tides"),
            ("<title>Tidesmen</title>", "<h1>Tides</h1>", "Tidesmen"),
            ("", "<h1>Only a heading</h1>", "Only a heading"),
            ("<meta property=og:title content='Shared'><title>T</title>", "", "Shared"),
            (
                '<meta property="og:title" content="Tides - The Paper">'
                '<meta property="og:site_name" content="The Paper">',
                "",
                "Tides",
            ),
            ("", "<svg><title>icon</title></svg>", None),  # that of a drawing
            ("", "", None),
        ],
    )
    def test_it_is_the_documents_own(self, head: str, body: str, title: str | None) -> None:
        assert page(f"<html><head>{head}</head><body>{body}</body></html>").title == title

    def test_it_is_not_endless(self) -> None:
        assert len(page(f"<title>{'x' * 100_000}</title>").title or "") == 1000


class TestDay:
    @pytest.mark.parametrize(
        ("markup", "day"),
        [
            (
                '<meta property="article:published_time" content="2024-03-05T10:00:00Z">',
                "2024-03-05",
            ),
            ("<META NAME=date CONTENT=2021/7/9>", "2021-07-09"),
            ("<meta name='DC.date' content='20190228'>", "2019-02-28"),
            ("<meta itemprop='datePublished' content='2020-01-02'>", "2020-01-02"),
            ("<time datetime='2018-11-30T01:02'>then</time>", "2018-11-30"),
            ("<time datetime=2018-01-01></time><time pubdate datetime=2017-02-03>", "2017-02-03"),
            (
                '<script type="application/ld+json">{"dateModified": "2022-05-05",'
                ' "datePublished" : "2022-04-04T08:00:00+02:00"}</script>',
                "2022-04-04",
            ),
            ("<meta property='article:modified_time' content='2023-09-09'>", "2023-09-09"),
            ("<meta name=date content='2021-02-31'>", None),
            ("<meta name=date content='0212-02-03'>", None),
            ("<meta name=date content=''>", None),
            ("<meta name=keywords content='2021-02-03'>", None),
            ("<p>2021-02-03", None),
        ],
    )
    def test_it_is_what_the_markup_says(self, markup: str, day: str | None) -> None:
        assert page(markup).date == day

    def test_the_default_looks_into_the_text(self) -> None:
        markup = (
            "<html><body><p class='date'>Published on 14 March 2019</p><p>Words.</p></body></html>"
        )
        assert read_html(markup).date == "2019-03-14"


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        ("<html lang=de>", "de"),
        ("<html lang='pt-BR'>", "pt-BR"),
        ("<html xml:lang='fr'>", "fr"),
        ("<meta http-equiv='Content-Language' content='nl, en'>", "nl"),
        ("<meta property='og:locale' content='en_GB'>", "en-GB"),
        ("<html lang=''>", None),
        ("<html lang='{{ lang }}'>", None),
        ("<p>", None),
    ],
)
def test_the_language_is_the_declared_one(markup: str, language: str | None) -> None:
    assert page(markup).language == language


class TestLinks:
    def test_they_are_absolute_distinct_and_in_order(self) -> None:
        markup = (
            "<a href=b.html>b</a><a href='/a?x=1&amp;y=2#part'>a</a><A HREF=\"b.html#again\">b</A>"
            "<area href=//other.example/><a href=' c.html '>c</a>"
        )
        assert page(markup).links == (
            "https://example.org/news/b.html",
            "https://example.org/a?x=1&y=2",
            "https://other.example/",
            "https://example.org/news/c.html",
        )

    @pytest.mark.parametrize(
        "markup",
        [
            "<a name=x>",
            "<a href=''>",
            "<a href=#top>",
            "<a href=mailto:a@example.org>",
            "<a href='javascript:void(0)'>",
            "<a data-href=x>",
            "<a title=' href=\"x\"'>",
            "<!-- <a href=x> -->",
            "<script>'<a href=x>'</script>",
            "<img src=x><link rel=stylesheet href=x>",
        ],
    )
    def test_what_leads_nowhere_is_none(self, markup: str) -> None:
        assert page(markup).links == ()

    @pytest.mark.parametrize(
        ("markup", "anchors"),
        [
            ("<a href=x>the <b>bold</b><br>and&nbsp;the&amp;</a> rest", ("the bold and the&",)),
            ("<a href=x><img src=p alt='A picture &lt;'></a>", ("A picture <",)),
            ("<a href=x>text<img src=p alt=no></a><img src=q alt=out>", ("text",)),
            ("<a href=x><div>one</div><div>two</div></a>", ("one two",)),
            ("<a href=x>one</a><a href=x>two</a><a href=x>one</a>", ("one\ntwo",)),
            ("<a href=x>one<a href=y>two</a>three", ("one", "two")),
            ("<ul><li><a href=x>open<li>item</ul>after <a href=y>y</a>", ("open item", "y")),
            ("<a href=x></a><a href=y> </a>", ("", "")),
            ("<area href=x alt='An area'>", ("An area",)),
            ("<a name=here>no link</a><a href=x>a link</a>", ("a link",)),
            ("<a href=x>unclosed", ("unclosed",)),
            ("<a href=x>" + "灯" * 300 + "</a>", ("灯" * 200,)),
            ("<a href=x>" + "word " * 100 + "</a>", (("word " * 40).strip(),)),
        ],
    )
    def test_what_they_are_called(self, markup: str, anchors: tuple[str, ...]) -> None:
        assert page(markup).anchors == anchors

    def test_the_base_that_a_page_declares_counts(self) -> None:
        markup = "<base href='/other/'><base href='/third/'><a href=x>"
        assert page(markup).links == ("https://example.org/other/x",)

    def test_without_an_address_only_absolute_ones_are_known(self) -> None:
        markup = "<a href=x>x</a><a href='http://example.net/y'>y</a>"
        assert page(markup, None).links == ("http://example.net/y",)


def test_every_field_is_there_for_every_method() -> None:
    words = "A sentence of the article with a good many words in it, said slowly. " * 6
    markup = (
        "<html lang=en><head><title>Tides</title><meta name=date content=2024-01-02></head><body>"
        f"<nav><a href=/>Home</a></nav><article><p>{words}</p><p>{words}</p></article></body>"
    )
    for method, name in zip(get_args(Method), ("trafilatura", "blocks", "tags"), strict=True):
        found = read_html(markup, BASE, method)
        assert (found.title, found.date, found.language) == ("Tides", "2024-01-02", "en")
        assert (found.method, found.links) == (name, ("https://example.org/",))
        assert words.strip() in found.main
        assert "Home" in found.text
        assert "Home" not in found.main


def test_blocks_know_what_is_linked_and_where_they_stand() -> None:
    blocks = layout("<main><p>see <a href=x>here</a></p></main><aside><a>there</a></aside>").blocks
    assert [(block.text, block.linked, block.name) for block in blocks] == [
        ("see here", 4, "p"),
        ("there", 5, "a"),
    ]
    assert joined(blocks) == "see here\nthere"


def test_what_stands_for_pictures() -> None:
    page = read_html('<p>Hi</p><img src=a alt="A  boat &amp; oars"><IMG ALT=mill><img alt=""><img>')
    assert page.pictures == ("A boat & oars", "mill")
    assert page.text == "Hi"


def test_templates_are_read_where_they_are_nearly_all_of_a_page() -> None:
    said = "<p>" + "The mill is open. " * 60 + "</p>"
    template = f'<script id=x type="text/x-handlebars-template">{said}</script>'
    assert read_html(f"<p>Menu</p>{template}").text.startswith("Menu\nThe mill is open.")
    assert read_html(f"{said}{template}").text.count("mill") == 60
    assert "mill" not in read_html(f"<p>Menu</p>{template[:-9]}").text  # torn
    assert "mill" not in read_html(f"<p>Menu</p><script type=text/plain>{said}</script>").text


def test_a_page_that_is_an_address_is_not_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("htmldate.utils.fetch_url", asked.append)
    page = read_html("http://127.0.0.1:9/x<p>2020-01-02")
    assert (asked, page.text) == ([], "http://127.0.0.1:9/x\n2020-01-02")
