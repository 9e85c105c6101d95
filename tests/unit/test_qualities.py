"""Qualities of an archive's documents: who links to them, and how well their moment is known."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.archive import OpenArchive
from asof.change.texts import Texts
from asof.clock import parse_iso
from asof.cover.documents.collection import Collection
from asof.cover.documents.of_archive import ARCHIVE_COLUMNS
from asof.cover.join.join import JoinLimits
from asof.cover.kept import preferences as qualities
from asof.cover.kept.preferences import QUALITIES, quality_column, with_quality
from asof.cover.language.columns import Column
from asof.cover.question import Question
from asof.cover.run import thin_out
from asof.model import CoherencePlan
from support import served_archive
from support.boats import collected
from support.served_archive import Page

SITE = "http://site.example/"
TEXT = " ".join(f"Sentence {n} tells of boats and tides." for n in range(20))


def html(text: str, *links: str) -> bytes:
    anchors = "".join(f'<a href="{link}">more</a>' for link in links)
    return f"<!doctype html><title>t</title><body><p>{text}</p>{anchors}</body>".encode()


def stored() -> list[Any]:
    """Pages that link to each other, seen before noon and after it."""
    return [
        # Seen twice and the same; its links count once, the one to itself does not.
        Page(SITE + "a", "2026-01-01T10:00:00Z", html(TEXT, "/b", "b#x", "/a", "//site.example/c")),
        Page(SITE + "a", "2026-01-01T14:00:00Z", html(TEXT, "/b", "b#x", "/a", "//site.example/c")),
        # Another text after noon, with another link.
        Page(SITE + "b", "2026-01-01T10:00:01Z", html(TEXT + " One.", "/a")),
        Page(SITE + "b", "2026-01-01T13:00:00Z", html(TEXT + " Two.", "/c", "/nowhere")),
        # Seen once.
        Page(SITE + "c", "2026-01-01T10:00:02Z", html(TEXT + " Three.", "/old", "mailto:x@y")),
        # Only leads on: what links to it does not link to where it leads.
        Page(SITE + "old", "2026-01-01T10:00:03Z", b"", status="301 Moved",
             headers=(("Location", "/a"),)),
        # The same before and after noon, and another one in the evening.
        Page(SITE + "d", "2026-01-01T10:00:04Z", html(TEXT + " Four.", "/c")),
        Page(SITE + "d", "2026-01-01T13:30:00Z", html(TEXT + " Four.", "/c")),
        Page(SITE + "d", "2026-01-01T20:00:00Z", html(TEXT + " Five.")),
    ]  # fmt: skip


INLINKS = {"a": 1, "b": 1, "c": 3, "d": 0}
COHERENCE = [5, 5, 0, 1, 0, 5, 5, 0]  # of b the text of one o'clock is the nearer one


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive, all of its documents read."""
    folder: Path = served_archive.build(tmp_path_factory.mktemp("qualities") / "archive", stored())
    with OpenArchive.write(folder, purpose="test") as found:
        (crawl,) = found.crawls()
        coherence_plan = CoherencePlan(
            "inducible", "optimal", turn=parse_iso("2026-01-01T12:00:00Z")
        )
        with found.ledger.transaction():
            found.catalog.put_crawl(replace(crawl, coherence_plan=coherence_plan))
    with OpenArchive.open(folder) as found, Texts(found, writable=True) as texts:
        texts.read_all(1)
    return folder


@pytest.fixture
def archive(whole: Path, tmp_path: Path) -> Iterator[OpenArchive]:
    shutil.copytree(whole, tmp_path / "archive")
    with OpenArchive.open(tmp_path / "archive") as found:
        yield found


def names(collection: Collection) -> list[str]:
    return [name.rpartition("/")[2] for name in collection.names]


def values(column: Column) -> list[float]:
    assert column.kind == "number"
    return list(column.values.tolist())


@pytest.mark.parametrize("is_read", [False, True], ids=["not read yet", "read"])
def test_links_from_other_addresses_count_once_each(archive: OpenArchive, is_read: bool) -> None:
    found = collected(archive)
    if not is_read:
        for file in archive.folder.texts.parent.glob("text.db*"):
            file.unlink()
    column = quality_column(archive, found, "inlinks")
    assert values(column) == [INLINKS[name] for name in names(found)]


def test_coherence_is_that_of_the_capture_at_the_moment_of_its_crawl(archive: OpenArchive) -> None:
    """Of d the evening's text was not there at noon; of c nothing is known at noon."""
    found = collected(archive)
    assert names(found) == list("aabbcddd")
    assert values(quality_column(archive, found, "coherence")) == COHERENCE


def test_documents_of_no_crawl_have_no_coherence(archive: OpenArchive) -> None:
    found = collected(archive)
    column = found.columns["crawl"]
    other = replace(column, values=np.full_like(column.values, -1))
    found = replace(found, columns={**found.columns, "crawl": other})
    assert not quality_column(archive, found, "coherence").known.any()


@pytest.mark.parametrize("name", QUALITIES)
def test_some_documents_have_the_values_that_they_have_among_all(
    archive: OpenArchive, name: str
) -> None:
    found = collected(archive)
    every = with_quality(archive, found, name).columns[name]
    odd = np.arange(len(found)) % 2 == 1
    some = with_quality(archive, found.only(odd), name).columns[name]
    assert values(some) == [value for place, value in enumerate(values(every)) if odd[place]]


def test_other_attributes_take_no_work(archive: OpenArchive) -> None:
    found = collected(archive)
    assert with_quality(archive, found, "length") is found


@pytest.mark.parametrize("name", QUALITIES)
def test_what_was_found_is_kept_until_something_changes(
    archive: OpenArchive, monkeypatch: pytest.MonkeyPatch, name: Any
) -> None:
    found = collected(archive)
    first = values(quality_column(archive, found, name))
    folder = archive.folder.root / "derived" / "qualities"
    (file,) = folder.iterdir()

    def never(*args: object) -> object:
        raise AssertionError("made again")

    with monkeypatch.context() as patched:
        patched.setattr(qualities, "_inlinks", never)
        patched.setattr(qualities, "_coherence", never)
        assert values(quality_column(archive, found, name)) == first
    huge = "9" * 400
    for damage in (
        "", "[", "[]", '{"x": "y"}', '{"x": {"y": [1, 2]}}', '{"x": [1]}', '{"x": -1}',
        f'{{"http://a.example/": {huge}}}', f'{{"x": {{"y": [{huge}, 1, 1]}}}}',
    ):  # fmt: skip
        file.write_text(damage)
        assert values(quality_column(archive, found, name)) == first
    content = file.read_bytes()
    for at in (len(content) // 2, content.rindex(b"}") - 1, len(content) - 1):
        file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        assert values(quality_column(archive, found, name)) == first
        assert file.read_bytes() == content, "made again"
    stale = file.with_name(f"{name}-0.json")
    file.rename(stale)
    assert values(quality_column(archive, found, name)) == first
    assert list(folder.iterdir()) == [file]


@pytest.mark.parametrize("name", QUALITIES)
def test_where_nothing_can_be_kept_the_run_goes_on(archive: OpenArchive, name: Any) -> None:
    found = collected(archive)
    (archive.folder.root / "derived").mkdir(exist_ok=True)
    (archive.folder.root / "derived" / "qualities").write_text("in the way")
    assert len(values(quality_column(archive, found, name))) == len(found)


def test_of_the_smallest_covers_that_of_the_best_quality_is_taken(archive: OpenArchive) -> None:
    """By Jaccard all pages are alike, so that any one of them would do."""
    found = collected(archive)
    for name, best in (("inlinks", {"c"}), ("coherence", {"a", "d"})):
        rated = with_quality(archive, found, name)
        outcome = thin_out(rated, Question("J(d1,d2) >= 0.5", prefer=name), JoinLimits())
        (kept,) = outcome.kept
        assert kept.rpartition("/")[2] in best


def test_the_columns_of_an_archive_are_those_of_its_collection(archive: OpenArchive) -> None:
    """Rules are checked against them before any document is read."""
    found = collected(archive).columns
    assert {name: column.kind for name, column in found.items()} == {
        name: column.kind for name, column in ARCHIVE_COLUMNS.items()
    }
    assert all(len(column.values) == 0 for column in ARCHIVE_COLUMNS.values())


@given(
    links=st.lists(st.tuples(st.integers(0, 5), st.lists(st.integers(-1, 5)))),
    at_once=st.integers(1, 9),
)
def test_links_are_counted_as_pairs(links: list[tuple[int, list[int]]], at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(qualities, "_AT_ONCE", at_once)
        counts = qualities._counts(links, 6).tolist()
    known = {(source, one) for source, targets in links for one in targets if one != source}
    assert counts == [sum(target == place for _, target in known) for place in range(6)]
