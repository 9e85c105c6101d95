"""The documents of an archive as a collection: what counts as one, and what is known of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.catalog.derive import record_uri
from asof.change.shingles import shingles
from asof.change.texts import Texts
from asof.cli import run as cli
from asof.clock import SECOND
from asof.cover.documents import of_archive as gathered
from asof.cover.documents.collection import Collection
from asof.cover.documents.document_ids import Shingling
from asof.errors import UsageError
from asof.model import Target
from asof.warc.build import exchange_records
from asof.warc.record import Record
from asof.warc.write import WarcFile
from support.boats import collected
from support.exchanges import START, answer

DAY = 86_400 * SECOND
BOATS = " ".join(f"The harbour master wrote sentence {n} about boats and tides." for n in range(30))
FOOD = " ".join(f"Cooks of the valley praise recipe {n} with onions and rye." for n in range(30))
ONE, TWO, THREE = "http://a.example/one", "http://www.b.co.uk:8080/two", "http://[::1]:81/three"
PLAIN, PICTURE = "http://127.0.0.1:9000/plain.txt", "http://a.example/p.png"


def html(title: str, text: str, language: str = "en") -> bytes:
    named = f"<title>{title}</title>" if title else ""
    menu = "<nav><a href='/'>Home of the menu</a></nav>"
    head = f"<!doctype html><html lang={language}>{named}"
    return f"{head}<body>{menu}<main><h1>Head</h1><p>{text}</p></main></body></html>".encode()


def answers() -> list[Record]:
    """Two versions of one page, other pages, and much that is no document."""
    shown = [
        answer(ONE, html("Boats", BOATS), at=START),
        answer(ONE, html("Boats and expense", BOATS + " An expense."), at=START + DAY),
        answer(TWO, html("Küche", FOOD, "de"), at=START),
        answer(THREE, html("", FOOD), at=START + 1),
        answer(PLAIN, b"Only a few words here.", media="text/plain", at=START),
        answer(PICTURE, b"\x89PNG\r\n\x1a\n" + bytes(50), media="image/png", at=START),
        answer("http://a.example/none", html("Not found", BOATS), status=404, at=START),
        answer("http://a.example/moved", b"", status=301, headers=(("Location", ONE),), at=START),
        answer("http://a.example/blank", b"<html><body> </body></html>", at=START),
        answer("http://a.example/empty", b"", media="text/plain", at=START),
    ]
    records: list[Record] = []
    for exchange in shown:
        records += exchange_records(exchange, target=Target(exchange.url))
    return records


def write(folder: Path, records: list[Record]) -> None:
    place = Folder(folder)
    place.warc.mkdir(parents=True, exist_ok=True)
    with WarcFile.create(place.new_segment("t")) as file:
        file.append(records)
    assert cli(["reindex", "-a", str(folder)]) == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("collection") / "archive"
    write(found, answers())
    with OpenArchive.open(found) as archive:
        source = archive.as_of(ONE, START)
        assert source is not None
    named = replace(source, record_id=record_uri(source.record_id))
    again = answer(ONE, html("Boats", BOATS), at=START + 2 * DAY)
    write(found, list(exchange_records(again, target=Target(ONE), refers_to=named)))
    with OpenArchive.open(found) as archive, Texts(archive, writable=True) as texts:
        texts.read_all(1)
    return found


def collection(folder: Path, **options: Any) -> Collection:
    with OpenArchive.open(folder) as archive:
        return collected(archive, **options)


def values(found: Collection, name: str) -> list[object]:
    column = found.columns[name]
    numbers = column.values.tolist()
    if column.kind != "text":
        return numbers
    return [None if code < 0 else column.strings[code] for code in numbers]


def test_documents_are_captures_that_brought_a_text(folder: Path) -> None:
    """No revisits, pictures, errors, redirects, and no pages without a word."""
    found = collection(folder)
    first, second = "20260101000000", "20260102000000"
    assert sorted(found.names) == sorted(
        [f"{first}/{ONE}", f"{second}/{ONE}", f"{first}/{TWO}", f"{first}/{THREE}",
         f"{first}/{PLAIN}"]
    )  # fmt: skip
    assert len(found) == 5
    versions = [name for name in found.names if name.endswith(ONE)]
    assert versions == [f"{first}/{ONE}", f"{second}/{ONE}"], "in the order of time"


def test_names_are_told_apart_within_a_second(tmp_path: Path) -> None:
    """A document that were covered by one of its own name could not be told from what stays."""
    records: list[Record] = []
    for after in (0, 7, 7, 7, SECOND):
        exchange = answer(ONE, html("Boats", f"{BOATS} {after}"), at=START + after)
        records += exchange_records(exchange, target=Target(ONE))
    write(tmp_path / "archive", records)
    second = "20260101000000"
    stamps = [second, f"{second}.000007", f"{second}.000007-2", f"{second}.000007-3"]
    found = collection(tmp_path / "archive")
    assert list(found.names) == [f"{each}/{ONE}" for each in [*stamps, "20260101000001"]]


def test_what_is_known_of_them(folder: Path) -> None:
    found = collection(folder)
    at = {name: place for place, name in enumerate(found.names)}
    places = [at[f"20260101000000/{url}"] for url in (ONE, TWO, THREE, PLAIN)]

    def of(name: str) -> list[object]:
        column = values(found, name)
        return [column[place] for place in places]

    assert of("url") == [ONE, TWO, THREE, PLAIN]
    assert of("hostname") == ["a.example", "www.b.co.uk", "[::1]", "127.0.0.1"]
    assert of("domain") == ["a.example", "b.co.uk", "[::1]", "127.0.0.1"]
    assert of("timestamp") == [START, START, START + 1, START]
    assert of("mime-type") == ["text/html"] * 3 + ["text/plain"]
    assert of("title")[:2] == ["Boats", "Küche"]
    assert of("title")[3] is None
    assert of("language")[:3] == ["en"] * 3, "what it is written in, whatever it declares"
    assert of("status") == [200.0] * 4
    assert of("size")[3] == 22.0
    assert of("length")[3] == 22.0
    assert found.weights[places].tolist() == of("size")


def test_main_content_is_compared_unless_all_text_is_asked_for(folder: Path) -> None:
    main, full = collection(folder), collection(folder, shingling=Shingling("full"))
    assert main.names == full.names
    at = main.names.index(f"20260101000000/{ONE}")
    assert (
        shingles("Home of the menu", 4)[0]
        not in collection(folder, shingling=Shingling(k=4)).sets[at]
    )
    assert (
        shingles("Home of the menu", 4)[0]
        in collection(folder, shingling=Shingling("full", 4)).sets[at]
    )
    assert full.sets.sizes[at] > main.sets.sizes[at]
    fine = shingles("Only a few words here.", 3)
    plain = main.names.index(f"20260101000000/{PLAIN}")
    assert collection(folder, shingling=Shingling(k=3)).sets[plain].tolist() == fine.tolist()


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ('text contains "expense"', 1),
        ('text contains "Harbour Master"', 2),
        ('text contains "harbour mast"', 0),
        ('not text contains "harbour"', 3),
        ('text contains "menu"', 0),
        ('hostname(d) = "a.example" and timestamp(d) < 2026-01-02', 1),
        ('timestamp(d) >= "2026-01-02"', 1),
        ('domain(d) = "b.co.uk" or mime-type(d) = "text/plain"', 2),
        ('title(d) != "Boats"', 3),
        ("length(d) < 100", 1),
        ("length(d) < 0", 0),
    ],
)
def test_where_chooses_documents(folder: Path, condition: str, count: int) -> None:
    found, whole = collection(folder, where=condition), collection(folder)
    assert len(found) == count
    for place, name in enumerate(found.names):
        before = whole.names.index(name)
        assert found.sets[place].tolist() == whole.sets[before].tolist()
        assert found.weights[place] == whole.weights[before]
        for column in whole.columns:
            assert values(found, column)[place] == values(whole, column)[before]


@pytest.mark.parametrize(
    "condition", ["hostnam(d) = 'x'", "length(d) = 'x'", "hostname(d1) = 'x'", "C(d1,d2) > 0.5", ""]
)
def test_a_bad_filter_is_refused_in_words(folder: Path, condition: str) -> None:
    with pytest.raises(UsageError):
        collection(folder, where=condition)


def test_batches_do_not_show(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = collection(folder)
    monkeypatch.setattr(gathered, "_AT_ONCE", 1)
    told: list[int] = []
    apart = collection(folder, progress=told.append)
    assert apart.names == whole.names
    assert np.array_equal(apart.sets.items, whole.sets.items)
    assert np.array_equal(apart.sets.offsets, whole.sets.offsets)
    assert sum(told) >= len(whole)


def test_an_archive_without_documents_is_an_empty_collection(tmp_path: Path) -> None:
    empty = tmp_path / "archive"
    Folder(empty).warc.mkdir(parents=True)
    assert cli(["reindex", "-a", str(empty)]) == 0
    found = collection(empty)
    assert len(found) == 0
    assert found.columns["hostname"].kind == "text"
    assert len(collection(empty, where='text contains "x"')) == 0
