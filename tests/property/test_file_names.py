"""Names of files for URLs: each its own, inside the folder, safe on every file system."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PureWindowsPath
from posixpath import join, normpath
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asof.replay.file_names import FileNames, ending_of, reference

SAFE = re.compile(r"[A-Za-z0-9._~-]+")
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\..*)?", re.IGNORECASE)
OURS = ("index.html", "index-2.html", "manifest.json", "missing.html", "missing-2.html")
PARTS = st.one_of(
    st.sampled_from([
        "", "a", "A", "a.html", "a.htm", "A.HTML", "index", "index.html", "..", ".", "...",
        "%2e%2e", "con", "AUX.txt", "com1", "nul.", "a.", "a ", "%20", "a%00b", "a%2Fb",
        "a\\b", "a:b", "~", "é", "e\u0301", "%C3%A9", "\u212a", "k", "x" * 300, "\u017f", "-",
        "_", "manifest.json",
    ]),
    st.text(max_size=20).filter(lambda text: "/" not in text and "?" not in text),
)  # fmt: skip
HOSTS = st.sampled_from(["a.example", "A.example", "b.example:81", "[::1]", "con", "index.html",
                         "missing.html", "manifest.json", "..", "_a.example", ""])  # fmt: skip
URLS = st.builds(
    lambda scheme, host, parts, query: f"{scheme}://{host}/{'/'.join(parts)}{query}",
    st.sampled_from(["http", "https"]),
    HOSTS,
    st.lists(PARTS, max_size=6),
    st.one_of(st.just(""), st.text(max_size=400).map(lambda text: f"?{text}")),
)
ENDINGS = st.sampled_from([".html", ".css", ".png", ".txt", ".bin"])


@given(st.lists(st.tuples(URLS, ENDINGS, st.sampled_from(["", "v1", "v2"])), max_size=40))
@example([("http://a.example/a", ".html", ""), ("http://a.example/a.html/b", ".html", "")])
@example([("http://a.example/a.html/b", ".html", ""), ("http://a.example/a", ".html", "")])
@example([("http://a.example/a", ".html", "")] * 30)
def test_names_are_safe_and_each_its_own(wishes: list[tuple[str, str, str]]) -> None:
    names = FileNames()
    given_names = [names.give(*wish) for wish in wishes]
    folded = [unicodedata.normalize("NFKC", name).casefold() for name in given_names]
    assert len(set(folded)) == len(folded)
    folders = {"/".join(name.split("/")[:end]) for name in folded for end in range(1, 99)
               if end < len(name.split("/"))}  # fmt: skip
    assert folders.isdisjoint(folded)
    assert folders.isdisjoint(OURS)
    for name, (_, ending, _) in zip(given_names, wishes, strict=True):
        assert name.endswith(ending)
        assert len(name) <= 160
        assert normpath(name) == name
        assert "/" in name
        for part in name.split("/"):
            assert SAFE.fullmatch(part), name
            assert not DEVICES.fullmatch(part), name
            assert not part.endswith("."), name
            assert not part.startswith("."), name
            assert PureWindowsPath(part).name == part


@given(URLS, URLS)
def test_a_reference_leads_from_one_to_the_other(first: str, second: str) -> None:
    names = FileNames()
    source, target = names.give(first, ".html"), names.give(second, ".css")
    led = reference(target, source)
    assert normpath(join("root", source, "..", unquote(led))) == f"root/{target}"
    assert ":" not in led


@pytest.mark.parametrize(
    ("url", "ending", "name"),
    [
        ("https://example.org/", ".html", "example.org/index.html"),
        ("https://example.org/a/b.htm", ".html", "example.org/a/b.html"),
        ("https://example.org/a.php?x=1&y=2", ".html", "example.org/a.php-x-1-y-2.html"),
        ("https://example.org/logo.PNG", ".png", "example.org/logo.png"),
        ("https://example.org:8080/aux", ".html", "example.org-8080/_aux.html"),
        ("http://a.example/con%20.html", ".html", "a.example/_con.html"),
    ],
)
def test_names_are_readable(url: str, ending: str, name: str) -> None:
    assert FileNames().give(url, ending) == name


def test_endings_are_what_browsers_go_by() -> None:
    assert ending_of("text/html") == ".html"
    assert ending_of("text/x-anything") == ".txt"
    assert ending_of("application/x-anything") == ".bin"
    assert ending_of("application/x-anything+xml") == ".xml"
