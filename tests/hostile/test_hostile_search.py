"""Questions that nobody means well: each has an answer or a sentence, and soon."""

from __future__ import annotations

import json
import os
import string
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlencode

import pytest
from tantivy import Query

from asof import index
from asof.api import Archive
from asof.errors import UsageError
from asof.search.asked import Term
from asof.search.match import Forms
from asof.search.question import When
from asof.search.snippet import Piece
from support import rig, said_pages, served_archive


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = said_pages.build(tmp_path_factory.mktemp("said") / "archive")
    index(folder)
    return folder


@pytest.mark.parametrize("offset", [10**12, 2**64 - 1, 10**30])
def test_beyond_all_there_is_nothing(archive: Path, offset: int) -> None:
    answer = rig.ok("search", "anchor", "-a", archive, "--offset", offset, "--json").json()
    assert (answer["found"], answer["hits"], answer["next"]) == (2, [], None)


@pytest.mark.parametrize(("limit", "offset"), [(0, 0), (-1, 0), (10, -1)])
def test_numbers_that_make_no_sense_are_told(archive: Path, limit: int, offset: int) -> None:
    with Archive.open(archive) as opened, pytest.raises(UsageError, match="cannot be asked"):
        opened.search("anchor", limit=limit, offset=offset)


@pytest.mark.parametrize("option", ["--prefix", "--language", "--type"])
@pytest.mark.parametrize(
    "value",
    [b"http://x/(*[", b"[a-", b"\xff", b"\xed\xa0\x80", b"'\"<\\", b"\x01\x1b[31m",
     b"x" * 9000],
    ids=range(7),
)  # fmt: skip
def test_values_of_filters_are_no_patterns(archive: Path, option: str, value: bytes) -> None:
    done = rig.run("search", "anchor", option, os.fsdecode(value), "-a", archive, "--json")
    assert done.code == 1, done
    assert json.loads(done.out.decode())["hits"] == []


@pytest.mark.parametrize("option", ["--prefix", "--language", "--type"])
def test_a_filter_of_nothing_is_none(archive: Path, option: str) -> None:
    asked = ("search", "anchor", "-a", archive, "--json")
    assert rig.ok(*asked, option, "").json() == rig.ok(*asked).json()


def test_what_is_no_text_comes_back_as_json(archive: Path) -> None:
    done = rig.run("search", os.fsdecode(b"anchor \xff"), "-a", archive, "--json")
    assert json.loads(done.out.decode())["query"] == "anchor ?"


def test_all_that_is_nearly_so_is_not_asked_for(archive: Path) -> None:
    done = rig.run("search", "an*~2", "-a", archive)
    assert done.code == 2
    assert "either * or ~" in done.err


def test_the_vocabulary_is_looked_through_once_for_all_languages(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large index it took three seconds for the words here, and would take ever more."""
    from asof.search import compile as compiling

    looked: list[tuple[str, str, int]] = []
    real = compiling.Compiler._vocabulary

    def counted(self: compiling.Compiler, most: int, field: str, start: str) -> list[str]:
        looked.append((field, start, most))
        return real(self, most, field, start)

    monkeypatch.setattr(compiling.Compiler, "_vocabulary", counted)
    words = [f"an{letter}" for letter in string.ascii_lowercase]
    with Archive.open(archive) as opened:
        opened.search(" OR ".join(words))
    assert len(looked) <= 2 * 3 * len(words)
    assert sum(most for field, _, most in looked if field == "main") <= 2 * 60_000


def test_extracts_of_many_long_documents_share_what_is_read(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred texts of 200,000 characters, and 64 words spelt nearly so, took forty seconds."""
    from asof.search import find, snippet

    read: list[int] = []
    real = snippet.extract

    def counted(text: str, asked: Sequence[Term], own: Forms) -> tuple[Piece, ...]:
        read.append(len(text))
        return real(text, asked, own)

    monkeypatch.setattr(find, "extract", counted)
    monkeypatch.setattr(find, "_MOST_READ", 100)
    with Archive.open(archive) as opened:
        assert len(opened.search("the OR die OR anchor").hits) > 2
    assert sum(read) <= 2 * 100


HOSTILE = {
    "10 KB of letters": "a" * 10_000,
    "10 KB of words": "word " * 2_000,
    "deep parentheses": "(" * 400 + "a" + ")" * 400,
    "open parentheses": "(" * 900,
    "operators alone": "OR " * 300,
    "no address": 'link:nowhere link:"http://[::"',
    "quotes without an end": '"' * 999,
    "stars": "a* " * 300,
}
LONG = {
    "names of all that begin so": " OR ".join(f"anchor:{letter}e*" for letter in "abcdefghijklmn"),
    "names in each other": "anchor:(" * 19 + "a b" + ")" * 19,
    "no names": "the " + " ".join(f"-anchor:{letter}{letter}~" for letter in "abcdefghijkl"),
    "patterns that go back": '(a+)+$ OR (.*.*.*)*x "((((a*)*)*)*)*"',
    "patterns": '"a (b+)+ .* [^x]{9999}" | ".*"* | \\d{1,99999}',
}


@pytest.fixture(scope="module")
def server(archive: Path) -> Iterator[served_archive.Server]:
    with served_archive.serving(archive) as running:
        yield running


@pytest.mark.parametrize("name", HOSTILE)
def test_what_nobody_can_mean_is_told_soon(server: served_archive.Server, name: str) -> None:
    started = time.perf_counter()
    for place in ("/search", "/-/api/search"):
        answer = server.ask(f"{place}?{urlencode({'q': HOSTILE[name]})}")
        assert (answer.status, len(answer.text) < 50_000) == (400, True)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("name", LONG)
def test_what_costs_most_is_answered_soon(server: served_archive.Server, name: str) -> None:
    started = time.perf_counter()
    assert server.ask(f"/search?{urlencode({'q': LONG[name]})}").status == 200
    assert time.perf_counter() - started < 5


def test_a_question_that_cannot_be_read_is_pointed_into(server: served_archive.Server) -> None:
    text = server.ask(f"/search?{urlencode({'q': 'harbour link:nowhere//:'})}").text
    pointed = text.partition('<pre class="pointed" tabindex="0">')[2].partition("</pre>")[0]
    question, marks = pointed.splitlines()
    assert marks.index("^") == question.index("link:")
    assert "link:&#34;http://example.org/page&#34;" in text


def test_names_that_are_looked_at_are_shared_by_the_words(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from asof.search import called

    most: list[int] = []
    real = called.Called.contents

    def counted(self: called.Called, term: Term, when: When, names: int) -> Query:
        most.append(names)
        return real(self, term, when, names)

    monkeypatch.setattr(called.Called, "contents", counted)
    with Archive.open(archive) as opened:
        opened.search(" OR ".join(f"anchor:a{letter}" for letter in string.ascii_lowercase))
    assert len(most) == 26
    assert sum(most) <= 1_000
