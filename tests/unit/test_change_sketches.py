"""Sketches on disk leave out nothing that is near, and answers stand on what has been read."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.change.measures import Overlap, overlap
from asof.change.near import Measure
from asof.change.shingles import shingles
from asof.change.similar import near_duplicates
from asof.change.sketches import SketchStore
from asof.change.texts import Texts
from asof.cli import run as cli
from asof.cli import similar as command
from asof.model import Target
from asof.text.database import TextDatabase
from asof.text.document import Document
from asof.text.sandbox import DocumentSource, ReadingLimits, SandboxedReader, read_many
from asof.warc.build import exchange_records
from asof.warc.write import WarcFile
from support.exchanges import START, answer

WORDS = [f"word{number}" for number in range(3_000)]


def made(rng: random.Random, size: int) -> list[str]:
    """Texts of all lengths; most are others with some words changed, or parts of others."""
    found: list[list[str]] = []
    for _ in range(size):
        chance = rng.random()
        if chance < 0.3 or not found:
            found.append(rng.choices(WORDS, k=rng.randint(20, 400)))
            continue
        words = list(rng.choice(found))
        if chance < 0.5:
            start = rng.randrange(len(words))
            words = words[start : start + rng.randint(5, len(words) + 5)]
        for _ in range(rng.randint(0, len(words) // 10)):
            words[rng.randrange(len(words))] = rng.choice(WORDS)
        found.append(words)
    return [" ".join(words) for words in found]


def reached(of: Overlap, threshold: float, measure: Measure) -> bool:
    nearness = of.jaccard if measure == "jaccard" else max(of.a_in_b, of.b_in_a)
    return nearness >= threshold


@pytest.fixture
def texts() -> list[str]:
    return made(random.Random(3), 300)


@pytest.fixture
def sketches(tmp_path: Path, texts: list[str]) -> Iterator[SketchStore]:
    database = TextDatabase(tmp_path / "text.db", writable=True)
    store = SketchStore(database)
    rows = [
        (-number, f"http://a.example/{number}", Document(text=t)) for number, t in enumerate(texts)
    ]
    for start in range(0, len(rows), 70):
        store.put([*rows[start : start + 70], (1, "http://a.example/none", Document(text="..."))])
    yield store
    database.close()


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8, 1.0])
def test_whatever_is_near_may_be_near_by_its_sketch(
    sketches: SketchStore, texts: list[str], threshold: float, measure: Measure
) -> None:
    sets = [shingles(text) for text in texts]
    offered = 0
    for asked in sets[::30]:
        near = dict(sketches.near(asked, threshold, measure))
        true = {n for n, s in enumerate(sets) if reached(overlap(asked, s), threshold, measure)}
        assert {-number: f"http://a.example/{number}" for number in true}.items() <= near.items()
        offered += len(near)
    if (threshold, measure) == (0.8, "jaccard"):
        assert offered < 0.2 * len(sets) * len(sets[::30])  # else nothing were gained


@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.8])
def test_whatever_has_a_near_one_has_a_mate(
    sketches: SketchStore, texts: list[str], threshold: float
) -> None:
    sets = [shingles(text) for text in texts]
    wanted = list(range(0, 300, 2))
    true = {
        -a
        for a in wanted
        for b in wanted
        if a != b and overlap(sets[a], sets[b]).jaccard >= threshold
    }
    found = set(sketches.with_mates(np.array([-n for n in wanted], np.int64), threshold).tolist())
    assert len(true - found) <= 0.01 * len(true)  # .995 a pair is what banding promises
    assert found <= {-n for n in wanted}


# -- an archive ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, texts: list[str]) -> Path:
    place = Folder(tmp_path / "archive")
    place.warc.mkdir(parents=True)
    with WarcFile.create(place.new_segment("t")) as file:
        for number, text in enumerate(texts[:60]):
            url = f"http://a.example/{number:02}"
            page = answer(url, text.encode(), media="text/plain", at=START)
            file.append(exchange_records(page, target=Target(url)))
    assert cli(["reindex", "-a", str(place.root)]) == 0
    return place.root


def read_some(folder: Path, most: int) -> int:
    """Read until so many captures were looked at; how many documents are read then."""
    looked = count()
    with OpenArchive.open(folder) as archive, Texts(archive, writable=True) as texts:
        texts.read_documents(2, stop=lambda: next(looked) >= most)
        assert not texts.is_complete
        return len(texts)


def test_what_was_read_before_the_end_is_not_read_again(folder: Path) -> None:
    assert read_some(folder, 25) == 25
    with OpenArchive.open(folder) as archive, Texts(archive, writable=True) as texts:
        assert len(list(texts.unread())) == 35
        texts.read_documents(2)
        assert texts.is_complete
        assert len(texts) == 60


def test_an_archive_that_is_read_is_not_looked_through_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenArchive.open(folder) as archive, Texts(archive, writable=True) as texts:
        texts.read_all(2)
        monkeypatch.setattr(archive, "captures", None)
        assert texts.read_all(2).judged == 0


def test_near_ones_are_told_before_all_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["similar", "http://a.example/59", "--threshold", "0.01", "--json", "-a", str(folder)]
    read_some(folder, 40)
    with monkeypatch.context() as hurried:
        hurried.setattr(command, "PATIENCE", -1.0)
        cli(asked)
    partial = capsys.readouterr()
    assert "40 documents are read" in partial.err
    assert "`asof reindex -a " in partial.err
    cli(asked)
    whole = capsys.readouterr()
    assert not whole.err
    first, all_of_them = (
        {json.loads(line)["url"] for line in said.out.splitlines()} for said in (partial, whole)
    )
    assert first == {url for url in all_of_them if url < "http://a.example/40"}


@pytest.mark.parametrize("threshold", [0.3, 0.8])
def test_all_pairs_are_those_of_all_texts(folder: Path, threshold: float) -> None:
    """Without sketches every text is compared; with them those that have a mate."""
    with OpenArchive.open(folder) as archive:
        with Texts(archive) as texts:
            plain = near_duplicates(archive, texts, "now", threshold, versions=False)
        with Texts(archive, writable=True) as texts:
            texts.read_documents(2)
            found = near_duplicates(archive, texts, "now", threshold, versions=False)
    assert plain.pairs
    assert found == plain


def test_a_document_that_kills_its_reader_takes_no_other_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the middle of a handful that one child was given."""
    ask = SandboxedReader.read

    def read(self: SandboxedReader, data: bytes, *said: object) -> Document:
        if data == b"killer" and self._child is not None:
            os.kill(self._child._process.pid, signal.SIGKILL)
        return ask(self, data, *said)  # type: ignore[arg-type]

    monkeypatch.setattr(SandboxedReader, "read", read)
    bodies = [b"killer" if n % 40 == 39 else b"%d" % n for n in range(200)]
    found = read_many((DocumentSource(data, "text/plain") for data in bodies), workers=1)
    for data, document in zip(bodies, found, strict=True):
        if data == b"killer":
            assert document.error == "the reader crashed (signal 9)"
        else:
            assert document.text == data.decode()


def test_sketches_of_another_length_are_damage(tmp_path: Path) -> None:
    with closing(TextDatabase(tmp_path / "text.db", writable=True)) as database:
        store = SketchStore(database)
        store.put([(1, "http://a.example/", Document(text="some words"))])
        database.db.execute("UPDATE sketches SET slots = x'00'")
        with pytest.raises(Exception, match=r"text\.db is damaged"):
            store.near(shingles("some words"), 0.8, "jaccard")


def test_a_busy_machine_is_no_fault_of_a_document(folder: Path) -> None:
    with OpenArchive.open(folder) as archive, Texts(archive) as texts:
        assert texts._limits.patience is not None
        assert texts._limits.patience > texts._limits.seconds == ReadingLimits().seconds
