"""Questions that nobody means well: each has an answer or a sentence, and soon."""

from __future__ import annotations

import json
import os
import string
from collections.abc import Sequence
from pathlib import Path

import pytest

from asof import index
from asof.api import Archive
from asof.errors import UsageError
from asof.search.asked import Term
from asof.search.match import Stems
from asof.search.snippet import Piece
from support import rig, said_pages


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
    [b"http://x/(*[", b"[a-", b"\xff", b"\xed\xa0\x80", b"", b"'\"<\\", b"\x01\x1b[31m",
     b"x" * 9000],
    ids=range(8),
)  # fmt: skip
def test_values_of_filters_are_no_patterns(archive: Path, option: str, value: bytes) -> None:
    done = rig.run("search", "anchor", option, os.fsdecode(value), "-a", archive, "--json")
    assert done.code == 1, done
    assert json.loads(done.out.decode())["hits"] == []


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

    def counted(text: str, asked: Sequence[Term], own: Stems) -> tuple[Piece, ...]:
        read.append(len(text))
        return real(text, asked, own)

    monkeypatch.setattr(find, "extract", counted)
    monkeypatch.setattr(find, "_MOST_READ", 100)
    with Archive.open(archive) as opened:
        assert len(opened.search("the OR die OR anchor").hits) > 2
    assert sum(read) <= 2 * 100
