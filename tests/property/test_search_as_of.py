"""What is found as of a moment is what brute force over all that was ever answered finds."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof.api import Archive, import_files
from asof.change.texts import Texts
from asof.clock import SECOND, Instant
from asof.search.index import update
from support import said


def indexed(folder: Path) -> None:
    with Archive.open(folder) as archive, Texts(archive, writable=True) as texts:
        texts.read_documents(1)
        update(archive, texts)


def found(archive: Archive, word: str, at: Instant | None = None, *within: Instant) -> set[str]:
    since, until = within or (None, None)
    answer = archive.search(word, as_of=at, since=since, until=until, fold=False, limit=100)
    return {hit.url for hit in answer.hits}


@pytest.mark.parametrize("parts", [1, 3])
@settings(max_examples=4)
@given(seed=st.integers(0, 10_000))
def test_as_of_answers_are_those_of_brute_force(
    tmp_path_factory: pytest.TempPathFactory, parts: int, seed: int
) -> None:
    """In whatever parts, and in whatever order, the captures came."""
    place, chance = tmp_path_factory.mktemp("said"), random.Random(seed)
    every = said.histories(seed)
    shuffled = chance.sample(every, len(every))
    for part in range(parts):
        own = sorted(shuffled[part::parts], key=lambda each: each.at)
        import_files(place / "archive", said.write(own, place / f"{part}.warc.gz"))
        indexed(place / "archive")
    with Archive.open(place / "archive") as archive:
        for at in said.moments(every, chance):
            for word in said.WORDS:
                assert found(archive, word, at) == said.shown(every, word, at)
        for word in said.WORDS:
            start = said.START + chance.randint(0, 200) * SECOND
            end = start + chance.randint(0, 200) * SECOND
            times = [start, end, *(each.at for each in every if start <= each.at <= end)]
            within = {url for at in times for url in said.shown(every, word, at)}
            assert found(archive, word, None, start, end) == within


def test_hits_tell_their_interval_and_content(tmp_path: Path) -> None:
    """Each content that says a word is found once, from its first capture to the next content."""
    every = said.histories(7, pages=12, answers=8)
    import_files(tmp_path / "archive", said.write(every, tmp_path / "all.warc.gz"))
    indexed(tmp_path / "archive")
    with Archive.open(tmp_path / "archive") as archive:
        for word in said.WORDS:
            hits = archive.search(word, fold=False, limit=1000).hits
            assert len({(hit.url, hit.since) for hit in hits}) == len(hits)
            for hit in hits:
                own = sorted((e for e in every if e.url == hit.url), key=lambda each: each.at)
                first = next(each for each in own if each.at == hit.since)
                assert word in first.words
                run = [
                    e for e in own if hit.since <= e.at < (hit.ended or 1 << 62) and e.status != 503
                ]
                assert {each.words for each in run} == {first.words}
                assert hit.until == run[-1].at
                assert any(piece.marked and piece.text.lower() == word for piece in hit.extract)
