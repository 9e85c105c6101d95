"""Exporting a cover: the kept documents as they are stored, nothing else, and nothing deleted."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

import pytest

from asof.archive import OpenArchive
from asof.archive.export import EXPORTERS
from asof.archive.folder import Folder
from asof.cli import run as cli
from asof.clock import SECOND
from asof.cover.join.join import JoinLimits
from asof.cover.kept.export_cover import chosen_by_name
from asof.cover.question import Question
from asof.cover.run import thin_out
from asof.errors import UsageError
from asof.model import Target
from asof.warc.build import exchange_records
from asof.warc.reader import scan
from asof.warc.record import Record, StoredRecord
from asof.warc.write import WarcFile
from support.boats import collected
from support.exchanges import START, answer

BOATS = " ".join(f"The harbour master wrote sentence {n} about boats and tides." for n in range(30))
FOOD = " ".join(f"Cooks of the valley praise recipe {n} with onions and rye." for n in range(30))
ONE, TWO = "http://a.example/one", "http://b.example/two?q=a/b"
RELATION = "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2)"


def html(text: str) -> bytes:
    return f"<!doctype html><title>T</title><body><main><p>{text}</p></main></body>".encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Versions of one page in days and within a second, another page, and what is no document."""
    found = tmp_path_factory.mktemp("export-cover") / "archive"
    shown = [
        answer(ONE, html(BOATS), at=START),
        answer(ONE, b"<html><body> </body></html>", at=START + 1),  # no text, no document
        answer(ONE, html(BOATS + " An expense."), at=START + 2),
        answer(ONE, html(FOOD + " On the same second."), at=START + 3),
        answer(ONE, html(BOATS + " An expense, and another one."), at=START + 90 * SECOND),
        answer(TWO, html(FOOD), at=START),
        answer("http://a.example/p.png", b"\x89PNG\r\n\x1a\n" + bytes(50), media="image/png"),
    ]
    made: list[Record] = []
    for exchange in shown:
        made += exchange_records(exchange, target=Target(exchange.url))
    place = Folder(found)
    place.warc.mkdir(parents=True)
    with WarcFile.create(place.new_segment("t")) as file:
        file.append(made)
    assert cli(["reindex", "-a", str(found)]) == 0
    assert cli(["cover", RELATION, "-a", str(found), "--json"]) == 0  # reads the texts
    return found


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "warc").iterdir()}


def records(path: Path) -> list[tuple[str, str]]:
    """Type and address of each record, all of which can be read."""
    found = []
    for record in scan(path):
        assert isinstance(record, StoredRecord)
        header = record.header
        found.append((header.get("WARC-Type") or "", header.get("WARC-Target-URI") or ""))
    return found


def export_cover(archive: OpenArchive, kept: Iterable[str], out: Path, kind: str = "warc") -> int:
    return EXPORTERS[kind](archive, chosen_by_name(archive, kept), out)


def test_only_kept_documents_go_out_and_all_stay_in(folder: Path, tmp_path: Path) -> None:
    before, out = files(folder), tmp_path / "kept.warc.gz"
    with OpenArchive.open(folder) as archive:
        outcome = thin_out(collected(archive), Question(RELATION), JoinLimits())
        assert outcome.kept == [
            "20260101000000.000003/http://a.example/one",
            "20260101000130/http://a.example/one",
        ]
        exported = export_cover(archive, outcome.kept, out)
    assert exported == 2
    assert out.is_file()
    written = records(out)
    assert {url for _, url in written} == {ONE}
    assert [kind for kind, _ in written].count("response") == 2
    assert [kind for kind, _ in written].count("request") == 2
    told = gzip.decompress(out.read_bytes())
    assert b"On the same second." in told
    assert b"and another one." in told
    assert b"An expense." not in told
    assert files(folder) == before


def test_a_name_means_the_document_that_was_named(folder: Path) -> None:
    """Also of those that share a second, of which a capture without a text is none."""
    with OpenArchive.open(folder) as archive:
        found = collected(archive)
        named = {}
        for name in found.names:
            (capture,) = chosen_by_name(archive, [name]).captures(archive)
            named[name] = capture.at - START
        assert len(found.names) == 5
        assert named == {
            "20260101000000/http://a.example/one": 0,
            "20260101000000.000002/http://a.example/one": 2,
            "20260101000000.000003/http://a.example/one": 3,
            "20260101000130/http://a.example/one": 90 * SECOND,
            "20260101000000/http://b.example/two?q=a/b": 0,
        }


@pytest.mark.parametrize("kind", list(EXPORTERS))
def test_every_format_has_the_kept_ones(folder: Path, tmp_path: Path, kind: str) -> None:
    with OpenArchive.open(folder) as archive:
        names = collected(archive).names[2:]
        exported = export_cover(archive, iter(names), tmp_path / "kept.out.gz", kind)
    assert exported == 3


def test_nothing_kept_is_nothing_written(folder: Path, tmp_path: Path) -> None:
    with OpenArchive.open(folder) as archive:
        assert export_cover(archive, [], tmp_path / "kept.warc.gz") == 0
    assert records(tmp_path / "kept.warc.gz") == []


@pytest.mark.parametrize(
    "name", ["doc-7", "", "20260101000000/", "20270101000000/http://a.example/one",
             "20260101000000.000001/http://a.example/one", "20260101000000/http://a.example/p.png\n"]
)  # fmt: skip
def test_a_name_of_no_document_is_refused_before_anything_is_written(
    folder: Path, tmp_path: Path, name: str
) -> None:
    with OpenArchive.open(folder) as archive:
        kept = [*collected(archive).names, name]
        with pytest.raises(UsageError, match="The archive lacks 1 of the 6 documents"):
            export_cover(archive, kept, tmp_path / "kept.warc.gz")
    assert list(tmp_path.iterdir()) == []
