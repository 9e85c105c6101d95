"""Archives of pages about boats, written without a crawl, and what was gathered from them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.change.texts import Texts, documents_of
from asof.cli import run as cli
from asof.cover.documents.collection import Collection, chosen
from asof.cover.documents.document_ids import Shingling
from asof.cover.documents.of_archive import compared_text, gathered, with_text
from asof.model import Target
from asof.warc.build import exchange_records
from asof.warc.write import WarcFile
from support.exchanges import START, answer

BOATS = " ".join(f"The harbour master wrote sentence {n} about boats and tides." for n in range(9))
URLS = ["http://a.example/one", "http://www.b.example/two", "http://a.example/three"]


def html(title: str, text: str) -> bytes:
    named = f"<title>{title}</title>" if title else ""
    menu = "<nav><a href='/'>Home of the menu</a></nav>"
    return f"<!doctype html>{named}<body>{menu}<main><p>{text}</p></main></body>".encode()


def add(folder: Path, url: str, text: str, *, at: int = START, page: bytes | None = None) -> None:
    place = Folder(folder)
    place.warc.mkdir(parents=True, exist_ok=True)
    shown = answer(url, html(text[:9], text) if page is None else page, at=at)
    records = exchange_records(shown, target=Target(url))
    with WarcFile.create(place.new_segment("t")) as file:
        file.append(list(records))
    assert cli(["reindex", "-a", str(folder)]) == 0


def read_all(folder: Path) -> None:
    with OpenArchive.open(folder) as archive, Texts(archive, writable=True) as texts:
        texts.read_all(1)


def assert_equal(one: Collection, other: Collection) -> None:
    assert one.names == other.names
    assert np.array_equal(one.sets.items, other.sets.items)
    assert np.array_equal(one.sets.offsets, other.sets.offsets)
    assert np.array_equal(one.weights, other.weights)
    assert one.document_ids is not None
    assert other.document_ids is not None
    assert one.document_ids.tolist() == other.document_ids.tolist()
    assert (one.numbers, one.records) == (other.numbers, other.records)
    assert list(one.columns) == list(other.columns)
    for name, column in one.columns.items():
        twin = other.columns[name]
        assert (column.kind, column.strings) == (twin.kind, twin.strings)
        assert column.values.dtype == twin.values.dtype
        assert np.array_equal(column.values, twin.values, equal_nan=column.kind == "number")


def collected(
    archive: OpenArchive,
    shingling: Shingling | None = None,
    where: str | None = None,
    progress: Callable[[int], None] = lambda count: None,
) -> Collection:
    """What commands have from `collected_or_kept`, with nothing taken over from earlier runs."""
    shingling = shingling or Shingling()
    found = gathered(archive, shingling, progress=progress).collection
    if where is None:
        return found
    with Texts(archive) as texts:
        read = with_text(texts, documents_of(archive, archive.captures()))
        said = [compared_text(document, shingling.which) for _, document in read]
    return found.only(chosen(where, found.columns, said))
