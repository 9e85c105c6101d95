"""Collections kept between runs: equal to those gathered anew, and never older than the archive."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace as dataclass_replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.change.texts import Texts
from asof.cli import run as cli
from asof.clock import SECOND
from asof.cover.documents.collection import Collection, chosen
from asof.cover.documents.document_ids import DOCUMENT_ID, Shingling, Which
from asof.cover.documents.of_archive import ARCHIVE_COLUMNS, GatheredDocuments
from asof.cover.documents.tables import Table, column_as
from asof.cover.kept import shingle_cache
from asof.cover.kept.array_file import read_arrays, write_arrays
from asof.cover.kept.shingle_cache import collected_or_kept, fingerprint, is_kept, keep, kept
from asof.errors import UsageError
from asof.model import Capture, Target
from asof.text.database import TextDatabase
from asof.text.document import Document
from asof.text.store import TextStore, key_of
from asof.warc.build import exchange_records
from asof.warc.write import WarcFile
from support.boats import BOATS, URLS, add, assert_equal, collected, html, read_all
from support.exchanges import START, answer


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("kept") / "archive"
    for number, url in enumerate(URLS):
        add(found, url, f"{BOATS} Claim {number} of an expense.")
    read_all(found)
    return found


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / "archive")


def gathered(
    folder: Path, which: Which = "main", k: int = 5, where: str | None = None
) -> Collection:
    with OpenArchive.open(folder) as archive:
        return collected(archive, Shingling(which, k), where)


def again(folder: Path, which: Which = "main", k: int = 5, where: str | None = None) -> Collection:
    with OpenArchive.open(folder) as archive:
        return collected_or_kept(archive, Shingling(which, k), where)


def files(folder: Path) -> list[Path]:
    return sorted((folder / "derived" / "cover").iterdir())


@pytest.fixture
def no_texts(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """From here on, whoever opens texts fails."""

    def fail(*args: object, **options: Any) -> NoReturn:
        raise AssertionError("texts are read")

    monkeypatch.setattr(shingle_cache, "gathered", fail)
    monkeypatch.setattr(shingle_cache, "Texts", fail)
    return monkeypatch


def test_a_second_run_reads_no_text(
    folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    with OpenArchive.open(folder) as archive:
        assert not is_kept(archive, Shingling("main", 5))
    first = again(folder)
    request.getfixturevalue("no_texts")
    with OpenArchive.open(folder) as archive:
        assert is_kept(archive, Shingling("main", 5))
        assert not is_kept(archive, Shingling("main", 4))
        second = collected_or_kept(archive, Shingling())
    assert isinstance(second.sets.items, np.memmap)
    assert_equal(first, second)
    assert_equal(gathered(folder), second)
    some = again(folder, where='hostname(d) = "a.example"')
    assert [name.partition("/")[2] for name in some.names] == [URLS[0], URLS[2]]


def test_texts_need_not_have_been_read_before(tmp_path: Path) -> None:
    archive_folder = tmp_path / "archive"
    add(archive_folder, URLS[0], BOATS)
    with OpenArchive.open(archive_folder) as archive:
        assert len(collected_or_kept(archive, Shingling())) == 1
        assert is_kept(archive, Shingling("main", 5))
        read_all(archive_folder)
        assert not is_kept(archive, Shingling("main", 5)), "made of texts that were not kept"
        assert len(collected_or_kept(archive, Shingling())) == 1


@pytest.mark.parametrize("which", ["main", "full"])
@pytest.mark.parametrize("k", [1, 5, 9])
def test_each_choice_of_text_and_shingles_is_kept_apart(folder: Path, which: Which, k: int) -> None:
    again(folder)
    assert_equal(again(folder, which, k), gathered(folder, which, k))
    assert_equal(again(folder, which, k), gathered(folder, which, k))
    assert len(files(folder)) == (1 if (which, k) == ("main", 5) else 2)


def test_choices_that_were_used_longest_ago_make_way(folder: Path) -> None:
    for k in range(1, shingle_cache.CHOICES + 1):
        again(folder, k=k)
        os.utime(next(folder.glob(f"derived/cover/main-{k}-*")), (k, k))
    ranks = [folder / "derived" / "cover" / f"ranks-main-{k}.npy" for k in (1, 2)]
    for path in ranks:
        path.write_bytes(b"")
    again(folder, k=1)  # used now
    again(folder, "full", 9)
    left = {path.name.rpartition("-")[0] for path in files(folder) if "ranks" not in path.name}
    assert left == {"full-9", "main-1", *(f"main-{k}" for k in range(3, shingle_cache.CHOICES + 1))}
    assert [path.exists() for path in ranks] == [True, False]


@pytest.mark.parametrize(
    "where",
    [
        'text contains "claim 1"',
        'text contains "claim 1" or text contains "claim 2"',
        'not text contains "harbour"',
        'text contains "menu"',
        'hostname(d) = "a.example" and not (text contains "claim 0")',
        "length(d) < 0",
    ],
)
@pytest.mark.parametrize("which", ["main", "full"])
def test_filters_choose_as_on_a_collection_gathered_anew(
    folder: Path, where: str, which: Which
) -> None:
    again(folder, which)
    assert_equal(again(folder, which, where=where), gathered(folder, which, where=where))


@pytest.mark.parametrize("read_before", [True, False])
def test_a_filter_holds_for_what_was_gathered_while_a_crawl_goes_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_before: bool
) -> None:
    more, url = tmp_path / "more.warc", "http://a.example/0"
    shown = answer(url, html("More", f"{BOATS} Claim 1, too."), at=START)
    with WarcFile.create(more) as file:
        file.append(list(exchange_records(shown, target=Target(url))))
    if not read_before:
        (folder / "derived" / "text.db").unlink()
    where, choose = 'text contains "claim 1" or text contains "claim 2"', chosen
    wanted = gathered(folder, where=where)

    def while_others_come(*args: Any) -> Any:
        assert cli(["import", str(more), "-a", str(folder)]) == 0
        read_all(folder)
        return choose(*args)

    monkeypatch.setattr(shingle_cache, "chosen", while_others_come)
    assert_equal(again(folder, where=where), wanted)


def test_a_bad_filter_is_refused(folder: Path) -> None:
    for where in ("hostnam(d) = 'x'", "C(d1,d2) > 0.5", ""):
        with pytest.raises(UsageError):
            again(folder, where=where)


def test_new_captures_are_in_the_next_collection(folder: Path) -> None:
    again(folder)
    add(folder, URLS[0], f"{BOATS} Another day.", at=START + SECOND)
    read_all(folder)
    found = again(folder)
    assert len(found) == 4
    assert_equal(found, gathered(folder))
    assert len(files(folder)) == 1, "the older one is removed"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The URLs of documents whose texts are opened, as they are."""
    opened: list[str] = []
    document = Texts.document

    def noted(self: Texts, capture: Capture) -> Document | None:
        opened.append(capture.url)
        return document(self, capture)

    monkeypatch.setattr(Texts, "document", noted)
    return opened


@pytest.mark.parametrize("which", ["main", "full"])
def test_only_new_documents_are_read(folder: Path, which: Which, read: list[str]) -> None:
    """Before, between and after those that were there; with a name that is taken already."""
    again(folder, which)
    added = ["http://a.example/aaa", "http://a.example/six", "http://z.example/", URLS[0]]
    for at, url in enumerate(added):
        add(folder, url, f"{BOATS} News of day {at}.", at=START + at // 3)
    read_all(folder)
    read.clear()
    told: list[tuple[int, int]] = []
    with OpenArchive.open(folder) as archive:
        found = collected_or_kept(
            archive, Shingling(which), grown=lambda known, new: told.append((known, new))
        )
    assert sorted(read) == sorted(added)
    assert told == [(3, 4)]
    assert_equal(found, gathered(folder, which))
    read.clear()
    assert_equal(again(folder, which), found)
    assert read == []


def test_captures_without_a_text_are_not_read_again(folder: Path, read: list[str]) -> None:
    add(folder, "http://a.example/blank", "", page=b"<html><body> </body></html>")
    read_all(folder)
    assert len(again(folder)) == 3
    assert "http://a.example/blank" in read
    add(folder, "http://a.example/more", BOATS)
    read_all(folder)
    read.clear()
    assert_equal(again(folder), gathered(folder))
    assert read[:1] == ["http://a.example/more"]
    assert read.count("http://a.example/blank") == 1, "by the gathering from scratch"


def test_a_text_that_is_read_anew_is_taken_anew(folder: Path) -> None:
    before = again(folder)
    with OpenArchive.open(folder) as archive:
        capture = next(archive.captures(url=URLS[1]))
        key = key_of(capture)
        assert key is not None
        database = TextDatabase(archive.folder.texts, writable=True)
        document = TextStore(database).get(key)
        assert document is not None
        TextStore(database).put(
            [(key, dataclass_replace(document, main="Other words", text="Yes"))]
        )
        database.close()
    found = again(folder)
    assert_equal(found, gathered(folder))
    assert before.document_ids is not None
    assert found.document_ids is not None
    assert len(set(before.document_ids.tolist()) & set(found.document_ids.tolist())) == 2


def test_documents_that_are_gone_are_gone(folder: Path) -> None:
    again(folder)
    Folder(folder).segment_files()[1].unlink()
    assert cli(["reindex", "-a", str(folder)]) == 0
    found = again(folder)
    assert len(found) == 2
    assert_equal(found, gathered(folder))


def test_documents_that_are_on_no_shelf_are_read_again(folder: Path, read: list[str]) -> None:
    (folder / "derived" / "text.db").unlink()
    first = again(folder)
    add(folder, URLS[0], f"{BOATS} Another day.", at=START + SECOND)
    read.clear()
    found = again(folder)
    assert len(read) == 4
    assert_equal(found, gathered(folder))
    assert first.document_ids is not None
    assert found.document_ids is not None
    assert len(set(first.document_ids.tolist()) & set(found.document_ids.tolist())) == 3, (
        "the same texts"
    )


def test_a_crash_leaves_the_older_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again(folder)
    before = files(folder)
    add(folder, URLS[0], f"{BOATS} Another day.", at=START + SECOND)
    read_all(folder)
    with monkeypatch.context() as broken:
        broken.setattr("asof.files.os.replace", full)
        assert_equal(again(folder), gathered(folder))
    assert files(folder) == before
    leftover = folder / "derived" / "cover" / ".main-5.npy.left"
    leftover.write_bytes(b"half")
    os.utime(leftover, (1, 1))
    former = folder / "derived" / "cover" / f"main-5-{'0' * 32}"  # a folder, as it was in 0.1
    former.mkdir()
    assert_equal(again(folder), gathered(folder))
    assert len(files(folder)) == 1, "what was begun is removed"
    assert files(folder) != before


def test_an_older_one_goes_on_for_those_who_have_it(folder: Path) -> None:
    again(folder)
    mapped = again(folder)
    before = mapped.sets.items.tolist()
    add(folder, URLS[0], f"{BOATS} Another day.", at=START + SECOND)
    again(folder)
    assert mapped.sets.items.tolist() == before


def rewritten(path: Path, **changed: Any) -> None:
    """A file that is whole, with other arrays in the place of some."""
    arrays = {**read_arrays(path, path.name), **changed}
    assert write_arrays(path, path.name, {k: v for k, v in arrays.items() if v is not None})


def as_json(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8)


ODD: dict[str, dict[str, object]] = {
    "nested": {"facts": as_json(b"[" * 100_000)},
    "names": {"facts": as_json(b'{"names": [1, 2, 3], "records": ["a", "b", "c"]}')},
    "few": {"facts": as_json(b'{"names": ["a"], "records": ["a"], "strings": {}}')},
    "no column": {"column url": None},
    "short column": {"column url": np.zeros(2, np.int32)},
    "codes": {"column url": np.full(3, 9, np.int32)},
    "kind": {"weights": np.zeros(3, np.float32)},
    "ids": {"ids": np.zeros(3, np.float32)},
    "blanks": {"blanks": np.zeros((1, 1), DOCUMENT_ID)},
    "offsets": {"offsets": np.zeros(4, np.int64)},
    "items": {"items": np.zeros(3, np.uint64)},
}


@pytest.mark.parametrize("odd", ODD)
def test_what_somebody_else_has_written_is_made_again(folder: Path, odd: str) -> None:
    whole = again(folder)
    (path,) = files(folder)
    rewritten(path, **ODD[odd])
    assert kept(path) is None
    assert_equal(again(folder), whole)


HEADERS = {
    "huge": b"{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }" % (1 << 50),
    "objects": b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
    "nothing": b"{'descr': '|S0', 'fortran_order': False, 'shape': (%d,), }" % 9**18,
    "two": b"{'descr': '<i8', 'shape': (40L,\n",
}
DAMAGES = ["gone", "cut", "empty", "other", "zip", "bit", "more", *HEADERS]


@pytest.mark.parametrize("place", ["facts", "ids", "blanks", "offsets", "weights", "items"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_one_is_made_again(folder: Path, place: str, damage: str) -> None:
    """Wherever in the file it is damaged."""
    whole = again(folder)
    (path,) = files(folder)
    content = path.read_bytes()
    array = read_arrays(path, path.name)[place].tobytes()
    at = content.index(array) if array else content.rindex(b"\x93NUMPY")
    path.unlink()
    if damage in HEADERS:
        header = b"\x93NUMPY\x01\x00" + len(HEADERS[damage]).to_bytes(2, "little")
        start = content.rindex(b"\x93NUMPY", 0, at + 1)
        path.write_bytes(content[:start] + header + HEADERS[damage])
    elif damage == "bit":
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    elif damage == "other":
        with path.open("wb") as out:
            np.save(out, np.zeros(3, np.float32))
    elif damage != "gone":
        path.write_bytes(
            {"cut": content[:at], "empty": b"", "zip": b"PK\x03\x04 and no more"}.get(
                damage, content + b"more"
            )
        )
    assert kept(path) is None
    assert_equal(again(folder), whole)
    assert isinstance(again(folder).sets.items, np.memmap)


def test_objects_are_never_loaded(folder: Path) -> None:
    """A pickle in the place of an array would run what it says."""
    whole = again(folder)
    (path,) = files(folder)
    np.save(path, np.array([{}] * 3, object), allow_pickle=True)
    assert_equal(again(folder), whole)


def test_half_of_one_is_never_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk: the run goes on, and nothing is left behind."""
    monkeypatch.setattr("asof.files.os.fsync", full)
    assert len(again(folder)) == 3
    assert files(folder) == []


def full(*args: object) -> NoReturn:
    raise OSError(28, "No space left on device")


def test_a_folder_that_cannot_be_made_is_done_without(folder: Path) -> None:
    (folder / "derived" / "cover").write_text("a file")
    assert_equal(again(folder), gathered(folder))


def test_what_changed_in_between_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter("abc")
    monkeypatch.setattr(shingle_cache, "fingerprint", lambda *given: next(told))
    assert len(again(folder)) == 3
    assert not (folder / "derived" / "cover").exists()


def test_the_fingerprint_tells_what_matters(folder: Path) -> None:
    with OpenArchive.open(folder) as archive:
        first = fingerprint(archive, Shingling("main", 5))
        assert fingerprint(archive, Shingling("main", 5)) == first
        assert (
            len(
                {
                    first,
                    fingerprint(archive, Shingling("full", 5)),
                    fingerprint(archive, Shingling("main", 4)),
                }
            )
            == 3
        )
        segment = archive.folder.segment_files()[0]
        away = segment.rename(segment.with_suffix(".away"))
        assert fingerprint(archive, Shingling("main", 5)) != first, (
            "documents that cannot be read now"
        )
        away.rename(segment)
        assert fingerprint(archive, Shingling("main", 5)) == first
        archive.folder.texts.unlink()
        assert fingerprint(archive, Shingling("main", 5)) != first, "texts may come out otherwise"


def test_an_empty_archive_has_an_empty_collection(tmp_path: Path) -> None:
    empty = tmp_path / "archive"
    Folder(empty).warc.mkdir(parents=True)
    assert cli(["reindex", "-a", str(empty)]) == 0
    assert_equal(again(empty), again(empty))
    assert len(again(empty, where='text contains "x"')) == 0


def test_names_of_any_kind_come_back(tmp_path: Path) -> None:
    names = ("\udc80", "a\nb", "\0", "ä", "\U0001f600", "")
    columns = {name: column_as(one.kind, [None] * 6) for name, one in ARCHIVE_COLUMNS.items()}
    table = Table(names, ("one two",) * 6, columns)
    ids = np.zeros(6, DOCUMENT_ID)
    found = dataclass_replace(table.collection(), document_ids=ids, records=names)
    place = tmp_path / "cover" / "main-5-x.npy"
    keep(place, GatheredDocuments(found, np.zeros(0, DOCUMENT_ID)))
    back = kept(place)
    assert back is not None
    assert back.collection.names == names
