"""Guesses in scripts and JSON: few, and good ones."""

from __future__ import annotations

import json

import pytest

from asof.model import Hop
from asof.text.links.jsonld import jsonld_links
from asof.text.links.scripts import (
    IMPORTS_REACH,
    MAX_GUESSES,
    is_address,
    module_imports,
    script_links,
)


def guessed(text: str) -> list[str]:
    links = list(script_links(text))
    assert all(link.hop is Hop.GUESS for link in links)
    return [link.reference for link in links]


@pytest.mark.parametrize(
    "text",
    [
        "https://example.test/",
        "https://example.test",
        "http://example.test:8080/a/b?c=d#e",
        "//cdn.example.test/lib.js",
        "/js/app.js",
        "/img/logo@2x.png",
        "/a/b/c.html?x=1&y=2",
        "/news/2024/",
        "/wp-content/uploads/",
        "/index.php",
        "/fonts/a.woff2",
        "/~ann/cv.pdf",
    ],
)
def test_addresses(text: str) -> None:
    """Absolute, without a scheme, or rooted with a known end."""
    assert is_address(text)
    assert guessed(f"x = '{text}';") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "/", "//", "///", "/*", "*/", "/g", "/a/", "/1/2/", "/USD/", "/x/y/", "/api", "/api/users",
        "text/html", "application/json", "image/png", "a/b", "and/or", "MM/DD/YYYY", "/MM/DD/",
        "/^a+$/", "/[a-z]/g", "\\\\/", "</div>", "/>", "//div[@id='x']", "//a", "//*", "/user/:id/",
        "/page/%s.html", "/tpl/${id}.html", "/a/{b}.html", "/a*.js", "/find?q=", "/a/b.html?x=",
        "http://", "https://", "http://localhost", "http://a", "https://*.example.test/",
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml", "https://schema.org/Article",
        "http://ns.adobe.com/xap/1.0/", "https://example.com/a", "https://reactjs.org/docs/x",
        "http://exa mple.test/", "/a b.html", "/a/../b.html", "https://example.test/?id=",
        "/.htaccess", "/a.unknown", "/caf\u00e9.html", "#/route/", "./a.js", "a.js",
    ],
)  # fmt: skip
def test_false_friends(text: str) -> None:
    """Patterns, routes, MIME types, names of languages, pieces to be glued: no guesses."""
    assert guessed(f"x = {json.dumps(text)};") == []


@pytest.mark.parametrize(
    "code",
    [
        "base + '/js/app.js'",
        "'/js/app.js' + version",
        '"/js/" + name + ".js"',
        "`/js/${name}.js`",
        "// see https://example.test/docs for more",
        "/* https://example.test/ */",
        "a = b /c/ d; e = 'f'",
    ],
)
def test_what_is_glued_or_said_in_passing_is_no_guess(code: str) -> None:
    assert guessed(code) == []


def test_slashes_may_be_escaped() -> None:
    """As JSON by PHP has them."""
    assert guessed(r'{"a":"https:\/\/h.test\/b.png","c":"\/d\/e.js"}') == [
        "https://h.test/b.png", "/d/e.js",
    ]  # fmt: skip
    assert guessed(r'"https:\u002F\u002Fh.test\u002Fb"') == []  # not begun by a slash we look for


def test_each_is_given_once_and_no_more_than_so_many() -> None:
    text = "'/a.js','/a.js'," + ",".join(f'"/p/{n}.html"' for n in range(1000))
    found = guessed(text)
    assert found[:2] == ["/a.js", "/p/0.html"]
    assert len(found) == MAX_GUESSES
    assert len(list(script_links(text, 3))) == 3


def test_a_text_of_megabytes_is_no_address() -> None:
    assert guessed("'/" + "a" * (1 << 20) + ".html'") == []
    assert guessed('"/' * (1 << 18)) == []


class TestStructuredData:
    def found(self, data: object) -> list[tuple[str, str]]:
        text = data if isinstance(data, str) else json.dumps(data)
        return [(link.reference, link.hop.value) for link in jsonld_links(text, MAX_GUESSES)]

    def test_pages_are_links_and_things_are_guesses(self) -> None:
        data = {
            "@context": "https://schema.org",
            "@id": "https://h.test/#org",
            "url": "https://h.test/about",
            "mainEntityOfPage": {"@id": "/story"},
            "itemListElement": [{"item": "/a"}, {"item": {"@id": "/b"}}],
            "thumbnailUrl": "/t.jpg",
            "sameAs": ["https://social.test/h"],
        }
        assert set(self.found(data)) == {
            ("https://h.test/#org", "X"), ("https://h.test/about", "L"), ("/story", "X"),
            ("/a", "L"), ("/b", "X"), ("/t.jpg", "X"),
        }  # fmt: skip

    def test_the_url_of_an_image_is_an_image(self) -> None:
        assert self.found({"image": [{"@type": "ImageObject", "url": "/i.png"}]}) == [
            ("/i.png", "X")
        ]

    @pytest.mark.parametrize("value", ["", "word", "urn:x", "a/b", "{x}", "//h/x", "/a b", None, 7])
    def test_what_is_no_address_is_dropped(self, value: object) -> None:
        assert self.found({"url": value}) == []

    def test_broken_data_is_still_worth_a_look(self) -> None:
        """A comma too many is common."""
        assert self.found(r'{"url": "https:\/\/h.test\/a", "image": "/b.png",,}') == [
            ("https://h.test/a", "L"), ("/b.png", "X"),
        ]  # fmt: skip

    def test_comment_marks_around_it_are_taken_off(self) -> None:
        assert self.found('<!-- {"url": "/a"} -->') == [("/a", "L")]

    @pytest.mark.parametrize(
        "text", ["", "null", "7", "[" * 100_000, '{"a":' * 50_000, "9" * 10_000]
    )
    def test_nothing_is_raised(self, text: str) -> None:
        assert self.found(text) == []

    def test_endless_lists_end(self) -> None:
        assert self.found([{"url": f"/{n}"} for n in range(40_000)])[-1] == ("/199", "L")
        assert len(self.found([{"url": f"/page/{n}"} for n in range(100_000)])) == MAX_GUESSES
        assert len(self.found({"x": [[{"url": "/deep"}]] * 40_000})) <= 1


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("import './a.js'", ["./a.js"]),
        ('import{a as b}from"./x.js";import"./y.js";', ["./x.js", "./y.js"]),
        ("/* all */import d, {\n x\n} from '../z.js'\nexport * from '/q.js'", ["../z.js", "/q.js"]),
        ("import {importantThing} from 'http://h.example/x.js'", ["http://h.example/x.js"]),
        ("import t from './t' with {type: 'json'}; export * as n from './n'", ["./t", "./n"]),
        ("import vue from 'vue'; import('./later.js'); x.import './n'; export default './n'", []),
        ("// import './said.js'\nconst s = \"import './quoted.js'\"\n * import x from './n'", []),
        ("x" * IMPORTS_REACH + ";import './late.js'", []),
    ],
)  # fmt: skip
def test_what_modules_import_is_needed(text: str, needed: list[str]) -> None:
    links = list(module_imports(text))
    assert [link.reference for link in links] == needed
    assert all(link.hop is Hop.REQUISITE for link in links)
