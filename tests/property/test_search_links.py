"""What others call a page, and how many lead to it: as of any moment what brute force finds."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof.api import Archive, import_files, index
from asof.clock import SECOND, Instant
from asof.cover.kept.preferences import quality_column
from asof.search import pointers
from asof.text.links import targets as leading
from support import linked, said
from support.boats import collected
from support.linked import FOREVER, Shown

# A question, and what a name has in it then.
WORDS = {
    'anchor:"annual report"': "annual report", "anchor:report": "report", "anchor:hafen": "häfen",
    "anchor:pie*": "pie", "anchor:repart~": "report", "anchor:灯台": "灯台",
}  # fmt: skip


def hits(archive: Archive, words: str, *within: Instant, at: Instant | None = None) -> dict:
    since, until = within or (None, None)
    found = archive.search(words, as_of=at, since=since, until=until, fold=False, limit=1000)
    assert found.found == len(found.hits)
    return {(hit.url, hit.since): hit.inlinks for hit in found.hits}


def expected(every: list[Shown], word: str, first: Instant, last: Instant) -> dict:
    """Those that were called so, each with how many led to it at the last moment asked for."""
    found = {}
    for target in every:
        if max(target.since, first) >= min(target.ended, last + 1):
            continue
        if linked.leading(every, target, word, first, last):
            moment = min(last, target.ended - 1)
            found[target.url, target.since] = len(linked.leading(every, target, "", moment, moment))
    return found


@pytest.mark.parametrize("parts", [1, 3])
@settings(max_examples=4)
@given(seed=st.integers(0, 10_000))
def test_names_count_while_both_were_shown(
    tmp_path_factory: pytest.TempPathFactory, parts: int, seed: int
) -> None:
    """In whatever parts, and in whatever order, the captures came."""
    place, chance = tmp_path_factory.mktemp("linked"), random.Random(seed)
    answers = linked.histories(seed)
    shuffled = chance.sample(answers, len(answers))
    for part in range(parts):
        own = sorted(shuffled[part::parts], key=lambda each: each.at)
        import_files(place / "archive", linked.write(own, place / f"{part}.warc.gz"))
        index(place / "archive")
    every = linked.contents(answers)
    start = said.START + chance.randint(0, 200) * SECOND
    end = start + chance.randint(0, 200) * SECOND
    with Archive.open(place / "archive") as archive:
        for asked, word in WORDS.items():
            assert hits(archive, asked) == expected(every, word, 0, FOREVER)
            assert hits(archive, asked, start, end) == expected(every, word, start, end)
            for at in {each.at + by for each in answers[:6] for by in (-1, 0, 7 * SECOND)}:
                assert hits(archive, asked, at=at) == expected(every, word, at, at)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("linked")
    answers = linked.histories(5, pages=12)
    import_files(place / "archive", linked.write(answers, place / "all.warc.gz"))
    index(place / "archive")
    return place / "archive"


def test_as_many_lead_to_a_hit_as_are_found_to_lead_there(archive: Path) -> None:
    every = linked.contents(linked.histories(5, pages=12))
    with Archive.open(archive) as opened:
        for at in (said.START + 50 * SECOND, said.START + 200 * SECOND, FOREVER - 1):
            for (url, _), inlinks in hits(opened, "minutes", at=at).items():
                found = hits(opened, f"link:{url}", at=at)
                assert len(found) == inlinks
                target = next(e for e in every if e.url == url and e.since <= at < e.ended)
                assert {own for own, _ in found} == linked.leading(every, target, "", at, at)


def test_what_leads_on_is_shown_by_the_words_that_do(archive: Path) -> None:
    every = linked.contents(linked.histories(5, pages=12))
    url = every[0].url
    with Archive.open(archive) as opened:
        found = opened.search(f"link:{url}", fold=False, limit=1000).hits
        assert found
        for hit in found:
            (source,) = (e for e in every if (e.url, e.since) == (hit.url, hit.since))
            names = {text for target, text in source.links if target == url}
            marked = {piece.text for piece in hit.extract if piece.marked}
            assert marked <= names
            assert marked


def test_links_are_those_by_which_covers_prefer(archive: Path) -> None:
    """One answer to who links to a page: of all times, in both rooms."""
    with Archive.open(archive) as opened:
        collection = collected(opened)
        column = quality_column(opened, collection, "inlinks")
        urls = collection.columns["url"]
        for place in range(len(collection)):
            url = urls.text(place)
            found = {own for own, _ in hits(opened, f"link:{url}")}
            assert column.values[place] == len(found)


def test_names_are_made_again_with_the_index(tmp_path: Path, archive: Path) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy)
    with Archive.open(copy) as opened:
        whole = {words: hits(opened, words) for words in WORDS}
    assert any(whole.values())
    shutil.rmtree(copy / "derived" / "search" / "names")
    done = index(copy)
    assert done.entered == done.indexed > 0
    with Archive.open(copy) as opened:
        assert {words: hits(opened, words) for words in WORDS} == whole
        assert opened.committed()


def test_a_farm_of_links_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of one address, and links of one document; what is beyond does not count."""
    target, beyond = "http://a.example/", "http://a.example/last"
    links = [(target, f"name number{n}") for n in range(8)]
    farm = [
        linked.Answer(f"http://farm.example/{page}", said.START + page * SECOND, 200,
                      (*links[page : page + 3], ("http://b.example/", "on"), (beyond, "end")))
        for page in range(6)
    ]  # fmt: skip
    pages = [linked.Answer(url, said.START, 200, ()) for url in (target, beyond)]
    import_files(tmp_path / "archive", linked.write([*farm, *pages], tmp_path / "a.warc.gz"))
    monkeypatch.setattr(pointers, "MOST_NAMES", 5)
    monkeypatch.setattr(leading, "MOST_TARGETS", 2)
    index(tmp_path / "archive")
    with Archive.open(tmp_path / "archive") as archive:
        assert list(hits(archive, "anchor:name").values()) == [6]
        known = [word for word in range(8) if hits(archive, f"anchor:number{word}")]
        assert len(known) == 5
        assert hits(archive, "anchor:end") == {}
        assert hits(archive, f"link:{beyond}") == {}
