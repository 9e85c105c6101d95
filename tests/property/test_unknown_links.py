"""Which links of a page are new: compiled and in Python the same, whatever the links look like."""

from __future__ import annotations

from unittest import mock

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asof.native import compiled
from asof.url import host_of, origin, resolve, unknown
from support.laws import examples

needs_it = pytest.mark.skipif(compiled is None, reason="no C compiler when asof was installed")

BASES = [
    "http://h/", "http://h/dir/page.html", "http://h/a/b/c/?x=/y/", "https://h:8443/a/b", "http://h",
    "http://user@h/a/b", "ftp://h/a", "no base", "http://127.0.0.1:8080/a/b/c.html?q",
]  # fmt: skip
PIECES = [
    *("/", ".", "..", "../", "./", "//", "?", "#", ":", "a", "b.html", "%2e", "é", " ", "&", "h"),
    *("http:", "http://", "https://", "http://h", "https://h:8443", "http://H/", "://", "@", "\\"),
    *("http://a.example", "https://a.example:443/", "http://a.example:8080/x", "http://1.2.3.4/"),
    *(
        "http://a..b/",
        "http://-a-/",
        "http://a.1/",
        "http://a.b1-:65536/",
        "http://XN--a/",
        "/x?y#z",
    ),
    *("/a/b", "http://h/a", "http://h:80/", "mailto:x", "?q=1", "#top", "\t", "\ud800", "xn--a"),
]
references = st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=8)
items = st.lists(references.map(lambda text: (text, 0, 0, 0)), max_size=8).map(tuple)


@needs_it
@settings(max_examples=examples(1000))
@given(st.sampled_from(BASES), items, st.data())
def test_both_ways_find_the_same(base: str, found: tuple, data: st.DataObject) -> None:
    """Some of what they mean is known, some keys are no URLs at all, as hostile pages have them."""
    meant = [url for item in found if (url := resolve(base, item[0])) is not None]
    candidates = [*meant, *(item[0] for item in found), "http://h/a"]
    known = dict.fromkeys(data.draw(st.lists(st.sampled_from(candidates), max_size=6)))
    # Only canonical URLs are ever known.
    known = {url: None for url in known if resolve(url, url) == url}
    swiftly = list(unknown(base, found, known))
    with mock.patch("asof.url.whatwg.compiled", None):
        assert list(unknown(base, found, known)) == swiftly
    assert [url for url, _ in swiftly] == [url for url in meant if url not in known]


@needs_it
@pytest.mark.parametrize(
    "reference",
    ["x", "./x", "/d/x", "../d/x", "../../d/x", "http://h/d/x", "http://h/d/x#y", "x#y"],
)
def test_what_is_known_is_found_out_without_python(reference: str) -> None:
    """The compiled part alone drops it, however it is written."""
    item = (reference, 0, 0, 0)
    assert compiled.unknown((item,), "http://h", "http://h/d/", {"http://h/d/x": None}) == []
    [(url, same)] = compiled.unknown((item,), "http://h", "http://h/d/", {})
    assert same is item
    assert url in ("http://h/d/x", None)


@needs_it
@pytest.mark.parametrize(
    "arguments",
    [
        ([], "http://h", "http://h/", {}), (("x",), "http://h", "http://h/", {}),
        (((),), "http://h", "http://h/", {}), (((7,),), "http://h", "http://h/", {}),
        ((), "http://h", "http://h", {}), ((), "http://h", "http://hx", {}),
        ((), "http://h", "http://h/x", {}), ((), "http://h\xe9", "http://h\xe9/", {}),
        ((), "http://h", "http://h/", []), ((), "http://h", "http://h/"), ((), "", "", {}),
    ],
)  # fmt: skip
def test_only_what_it_can_read_is_taken(arguments: tuple) -> None:
    with pytest.raises(TypeError):
        compiled.unknown(*arguments)


servers = st.sampled_from(
    ["http://h", "https://h", "http://h:80", "https://h:8443", "http://user:word@h", "http:///h",
     "http:////h", "http:\\\\h", "HTTP://H", "http://xn--bcher-kva", "http://h:99999", "http://",
     "http://1.2.3", "http://[::1]:80", "ftp://h", "http://" + "a" * 400]
)  # fmt: skip
paths = st.sampled_from(["", "/", "/a", "?a/b", "#a/b", "\\a/b", "/a@b/", "?@x/", ":80/", "//"])


@given(servers, paths)
@example("http://h", "?x/y")
def test_servers_are_those_that_the_standard_finds(server: str, path: str) -> None:
    try:
        parsed = ada_url.URL(server + path)
    except ValueError:
        parsed = None
    if parsed is None or parsed.protocol not in ("http:", "https:"):
        assert (origin(server + path), host_of(server + path)) == (None, "")
    else:
        assert (origin(server + path), host_of(server + path)) == (parsed.origin, parsed.host)
