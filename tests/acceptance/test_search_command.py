"""`asof search`: what is found, how it is told, and how mistakes are answered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support import rig, said_pages, served_archive
from support.said_pages import OTHER, SITE
from support.served_archive import Page


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = said_pages.build(tmp_path_factory.mktemp("said") / "archive")
    rig.ok("reindex", "--search", "-a", folder)
    return folder


def search(archive: Path, *words: object) -> dict[str, Any]:
    return rig.run("search", *words, "-a", archive, "--json").json()


def urls(archive: Path, *words: object) -> set[str]:
    return {hit["url"] for hit in search(archive, *words, "--no-fold")["hits"]}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("ferry", {SITE}),  # also in other forms
        ("merger", {SITE}),
        ("mergers", {SITE}),
        ('"merger"', set()),  # but not where the form is meant
        ('"the mergers"', {SITE}),
        ('"mergers the"', set()),
        ("anchor", {SITE + "old", SITE + "a.pdf"}),
        ("anchor -pier", {SITE + "a.pdf"}),
        ("anchor NOT (pier OR x)", {SITE + "a.pdf"}),
        ("pier OR report", {SITE + "old", SITE + "a.pdf"}),
        ("ancho*", {SITE + "old", SITE + "a.pdf"}),
        ("anchar~", {SITE + "old", SITE + "a.pdf"}),
        ("title:harbour", {SITE}),
        ("title:ferry", set()),
        ("url:note", {SITE + "note"}),
        ("strasse", {OTHER + "de"}),
        ("straße", {OTHER + "de"}),
        ("haus", {OTHER + "de"}),
        ("hafen", {OTHER + "de"}),
        ("東京", {OTHER + "ja"}),
        ("京都", {OTHER + "ja"}),
        ("港", {OTHER + "ja"}),
        ("маяк корабль", {OTHER + "ru"}),
        ("المنارة", {OTHER + "ar"}),
        ("המגדלור", {OTHER + "he"}),
        ("bold buoys", {said_pages.LONG}),
    ],
)
def test_words_find_documents(archive: Path, words: str, found: set[str]) -> None:
    assert urls(archive, words) == found


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["anchor", "--as-of", "2026-01"], {SITE + "old", SITE + "a.pdf"}),
        (["anchor", "--as-of", "2026-02"], {SITE + "a.pdf"}),
        (["anchor", "--at", "2025"], set()),
        (["anchor", "--from", "2026-02-02"], {SITE + "a.pdf"}),
        (["anchor", "--to", "2026-01-01"], {SITE + "old"}),
        (["anchor", "--type", "pdf"], {SITE + "a.pdf"}),
        (["anchor", "--type", "text/*"], {SITE + "old"}),
        (["anchor", "--host", "other.example"], set()),
        (["note1", "--host", "other.example"], {OTHER + "copy"}),
        (["anchor", "--prefix", SITE + "o"], {SITE + "old"}),
        (["anchor", "--language", "de"], set()),
        (["leuchtturm", "--language", "de-CH"], {OTHER + "de"}),
        (["mergers", "--as-of", "2026-04"], {SITE}),  # an error ends nothing
    ],
)
def test_filters_leave_out_the_rest(archive: Path, options: list[str], found: set[str]) -> None:
    assert urls(archive, *options) == found


def test_a_hit_is_a_content_over_its_interval(archive: Path) -> None:
    answer = search(archive, "mergers")
    (hit,) = answer["hits"]
    assert hit["since"] == "2026-02-01T10:00:00.000000Z"
    assert hit["until"] == "2026-02-05T10:00:00.000000Z"
    assert hit["ended"] is None
    assert (hit["title"], hit["media_type"], hit["language"]) == ("Harbour", "text/html", "en")
    assert [p["text"] for p in hit["extract"] if p["marked"]] == ["mergers"]
    (gone,) = search(archive, "pier")["hits"]
    assert gone["ended"] == "2026-02-01T10:00:00.000000Z"
    assert answer["complete"]
    assert answer["found"] == 1
    assert {each["name"]: each["contents"] for each in answer["presence"]}["2026-03"] == 1


def test_near_duplicates_are_folded_unless_they_are_wanted(archive: Path) -> None:
    folded = search(archive, "note1 note2")
    assert folded["found"] == 2
    (hit,) = folded["hits"]
    assert len(hit["also"]) == 1
    assert {hit["url"], hit["also"][0]["url"]} == {SITE + "note", OTHER + "copy"}
    assert len(search(archive, "note1 note2", "--no-fold")["hits"]) == 2


def test_all_is_reached_page_by_page(archive: Path) -> None:
    every, offset = [], 0
    while offset is not None:
        answer = search(archive, "2026 OR the OR note1 OR die", "--limit", 2, "--offset", offset)
        assert len(answer["hits"]) <= 2
        every += [hit["url"] for hit in answer["hits"]]
        offset = answer["next"]
    assert len(every) == len(set(every)) + every.count(SITE) - 1
    assert {SITE, SITE + "old", SITE + "note"} <= set(every)


def test_orders(archive: Path) -> None:
    newest = search(archive, "the", "--sort", "newest", "--no-fold")["hits"]
    since = [hit["since"] for hit in newest]
    assert since == sorted(since, reverse=True)
    oldest = search(archive, "the", "--sort", "oldest", "--no-fold")["hits"]
    assert [hit["since"] for hit in oldest] == sorted(since)
    assert newest[0]["score"] is None


def test_people_read_titles_addresses_and_times(archive: Path) -> None:
    done = rig.ok("search", "anchor", "-a", archive)
    text = done.out.decode()
    assert f"  1 Old\n    {SITE}old\n" in text or f"  2 Old\n    {SITE}old\n" in text
    assert "seen 1 Jan 2026, 10:00:00; something else since 1 Feb 2026, 10:00:00" in text
    assert done.err.startswith("2 contents")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["(anchor"], "^"),
        (["-anchor -pier"], "^"),
        (['"anchor'], "^"),
        (["titel:anchor"], "title"),
        (["anchor", "--as-of", "2026", "--from", "2025"], "exclude each other"),
        (["anchor", "--from", "2026", "--to", "2025"], "ends before it begins"),
        (["anchor", "--as-of", "whenever"], "whenever"),
        (["x" * 2000], "1,000"),
    ],
)
def test_mistakes_are_told(archive: Path, words: list[str], told: str) -> None:
    done = rig.run("search", "-a", archive, *words[1:], "--", words[0])
    assert done.code == 2, done
    assert told in done.err, done


def test_nothing_found_is_a_no(archive: Path) -> None:
    done = rig.run("search", "zeppelin", "-a", archive)
    assert done.code == 1
    assert "Nothing says that" in done.err


def test_what_comes_later_is_found_without_being_told(tmp_path: Path) -> None:
    """Captures that an import adds are read and indexed by the next search."""
    first, later = tmp_path / "archive", tmp_path / "later"
    served_archive.build(first, said_pages.STORED[:1])
    assert rig.run("search", "mergers", "-a", first).code == 1
    served_archive.build(later, said_pages.STORED[1:5])
    rig.ok("import", later / "warc", "-a", first)
    (hit,) = search(first, "mergers")["hits"]
    assert hit["url"] == SITE
    (before,) = search(first, "lighthouse")["hits"]
    assert before["ended"] == "2026-02-01T10:00:00.000000Z"


def test_the_index_may_be_deleted(tmp_path: Path, archive: Path) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy)
    shutil.rmtree(copy / "derived" / "search" / "index")
    assert urls(copy, "anchor") == {SITE + "old", SITE + "a.pdf"}
    shutil.rmtree(copy / "derived")
    assert urls(copy, "anchor") == {SITE + "old", SITE + "a.pdf"}


@pytest.mark.parametrize("lost", ["all", "one"])
def test_a_damaged_index_is_made_again(tmp_path: Path, archive: Path, lost: str) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy)
    files = [*(copy / "derived" / "search" / "index").iterdir()]
    if lost == "one":
        next(file for file in files if file.suffix == ".idx").unlink()
    else:
        for file in files:
            file.write_bytes(b"\0" * max(file.stat().st_size, 10))
    assert urls(copy, "anchor") == {SITE + "old", SITE + "a.pdf"}


def test_nothing_is_written_through_a_link(tmp_path: Path, archive: Path) -> None:
    copy, victim = tmp_path / "archive", tmp_path / "victim"
    shutil.copytree(archive, copy)
    victim.write_text("precious")
    lock = copy / "derived" / "search" / "index" / ".tantivy-writer.lock"
    lock.unlink(missing_ok=True)
    lock.symlink_to(victim)
    done = rig.run("reindex", "--search", "-a", copy)
    assert done.code == 2, done
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("part", ["index", "names"])
@pytest.mark.parametrize("is_near", [False, True])
def test_an_index_deletes_nothing_but_its_own_files(
    tmp_path: Path, archive: Path, part: str, is_near: bool
) -> None:
    """Its list of own files may be a stranger's, as all of an archive may be."""
    copy, victim = tmp_path / "archive", tmp_path / "victim"
    shutil.copytree(archive, copy)
    victim.write_text("precious")
    own = copy / "derived" / "search" / part
    listed = own / ".managed.json"
    name = "../../../../victim" if is_near else str(victim)
    listed.write_text(json.dumps([*json.loads(listed.read_text()), name]))
    more = said_pages.page("New", "The anchor of another day.")
    other = served_archive.build(
        tmp_path / "other", [Page(SITE + "new", "2026-04-01T10:00:00Z", more)]
    )
    rig.ok("import", *(other / "warc").iterdir(), "-a", copy)
    assert SITE + "new" in urls(copy, "anchor")
    assert victim.read_text() == "precious"
