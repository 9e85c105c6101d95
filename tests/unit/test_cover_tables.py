"""Documents of a table: kinds of columns, and files that are not what they should be."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asof.clock import iso, parse_iso
from asof.cover.documents import tables
from asof.cover.documents.tables import Table, column_of, read_table
from asof.cover.language.columns import Column
from asof.errors import InputError

NEW_YEAR = parse_iso("2010-01-01")


def written(folder: Path, *rows: object) -> Path:
    """A file of JSON lines; bytes go there as they are."""
    file = folder / "docs.jsonl"
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    file.write_bytes(b"\n".join(lines) + b"\n")
    return file


def read(folder: Path, *rows: object) -> Table:
    return read_table(written(folder, *rows))


def stored(folder: Path, columns: dict[str, object]) -> Table:
    pq.write_table(pa.table(columns), folder / "docs.parquet")
    return read_table(folder / "docs.parquet")


def shown(column: Column) -> tuple[str, list[object]]:
    """A column's kind and values as they were, None where missing."""
    known = column.known.tolist()
    values = column.values.tolist()
    say = {"text": (*column.strings, None).__getitem__, "time": _second, "number": float}[
        column.kind
    ]
    return column.kind, [say(v) if here else None for v, here in zip(values, known, strict=True)]  # type: ignore[operator]


def _second(instant: int) -> str:
    return iso(instant)[:19]


def test_a_line_is_a_document(tmp_path: Path) -> None:
    found = read(tmp_path, {"id": "b", "text": "One two.", "host": "x"}, b"", {"id": "a"}, b"  ")
    assert found.names == ("b", "a")
    assert found.texts == ("One two.", "")
    assert shown(found.columns["host"]) == ("text", ["x", None])
    assert shown(found.columns["length"]) == ("number", [8.0, 0.0])
    documents = found.collection(2)
    assert documents.sets.sizes.tolist() == [1, 0]
    assert documents.weights.tolist() == [8, 0]
    assert not documents.numbers


def test_ids_that_are_whole_numbers_are_known_as_such(tmp_path: Path) -> None:
    found = read(tmp_path, {"id": 7, "text": "x"}, {"id": -1, "text": "y"})
    assert found.names == ("7", "-1")
    assert found.collection().numbers
    assert found.collection().only(np.array([True, False])).numbers
    mixed = read(tmp_path, {"id": 7, "text": "x"}, {"id": "a", "text": "y"})
    assert not mixed.collection().numbers
    assert not read(tmp_path, {"id": True, "text": "x"}).collection().numbers


def test_columns_that_begin_late_or_end_early_are_as_long_as_all(tmp_path: Path) -> None:
    found = read(tmp_path, {"id": 1, "text": "x", "a": 1}, {"id": 2}, {"id": 3, "b": 2}, {"id": 4})
    assert shown(found.columns["a"]) == ("number", [1.0, None, None, None])
    assert shown(found.columns["b"]) == ("number", [None, None, 2.0, None])


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 2.5, None], "number", [1.0, 2.5, None]),
        ([True, False], "number", [1.0, 0.0]),
        ([math.nan, 1], "number", [None, 1.0]),
        ([math.inf, -math.inf, 0], "number", [None, None, 0.0]),
        ([2**53 + 1, 1.5], "text", ["9007199254740993", "1.5"]),
        ([2**53, -(2**53), 1e308], "number", [2.0**53, -(2.0**53), 1e308]),
        (["2010-01-01", None], "time", ["2010-01-01T00:00:00", None]),
        (["2010-01", "2010-01-01T12:00:00+01:00"], "time",
         ["2010-01-01T00:00:00", "2010-01-01T11:00:00"]),
        (["2010", "2011"], "text", ["2010", "2011"]),
        (["2010-01-01", "soon"], "text", ["2010-01-01", "soon"]),
        (["2010-13-45"], "text", ["2010-13-45"]),
        (["1", 2], "text", ["1", "2"]),
        (["", None], "text", ["", None]),
        ([None, None], "text", [None, None]),
        ([], "text", []),
        ([{"a": [1, None]}, ["é"]], "text", ['{"a": [1, null]}', '["é"]']),
    ],
)  # fmt: skip
def test_a_column_is_of_the_kind_of_all_of_its_values(
    values: list[object], kind: str, expected: list[object]
) -> None:
    assert shown(column_of(values)) == (kind, expected)


def test_a_length_of_the_tables_own_is_kept(tmp_path: Path) -> None:
    found = read(tmp_path, {"id": 1, "text": "four", "length": 7})
    assert shown(found.columns["length"]) == ("number", [7.0])


def test_half_a_pair_of_surrogates_is_no_character(tmp_path: Path) -> None:
    """It can be written in JSON, but neither hashed nor printed."""
    line = rb'{"id": "a\ud800", "text": "x \uDFFF y \ud83d\ude00", "\udc00k": ["\ud800"]}'
    found = read(tmp_path, line)
    assert found.names == ("a?",)
    assert found.texts == ("x ? y \U0001f600",)
    assert shown(found.columns["?k"]) == ("text", ['["?"]'])
    assert found.collection().sets.sizes.tolist() == [1]


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    assert read(tmp_path, b'\xef\xbb\xbf{"id": 1, "text": "x"}\r').names == ("1",)


def test_no_documents_are_no_error_here(tmp_path: Path) -> None:
    found = read(tmp_path, b"")
    assert found.names == ()
    assert len(found.collection()) == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"no json", "line 2: not JSON"),
        (b"\x00\x01\xff\xfe\x80", "line 2: not JSON"),
        (b'{"id": 2, "text": "\xff"}', "line 2: not JSON"),
        (b'{"id": 2, "text": "cut', "line 2: not JSON"),
        (b"[" * 100_000, "line 2: not JSON"),
        (b'{"id": 2, "n": 1' + b"0" * 5000 + b"}", "line 2: not JSON"),
        (b"[1, 2]", "line 2: no object"),
        (b'"text"', "line 2: no object"),
        (b"null", "line 2: no object"),
        (b'{"text": "x"}', "document 2: no id"),
        (b'{"id": null, "text": "x"}', "document 2: no id"),
        (b'{"id": ["x"], "text": "x"}', "document 2: no id"),
        (b'{"id": {}, "text": "x"}', "document 2: no id"),
        (b'{"id": 2, "text": 5}', "document 2: its text is no text"),
        (b'{"id": 2, "text": ["x"]}', "document 2: its text is no text"),
        (b'{"id": 1, "text": "x"}', "the id '1' stands there twice"),
        (b'{"id": "1", "text": "x"}', "the id '1' stands there twice"),
    ],
    ids=range(17),
)
def test_a_bad_line_is_named(tmp_path: Path, line: bytes, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, {"id": 1, "text": "fine"}, line)
    assert said in str(caught.value)
    assert "docs.jsonl" in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_line_without_end_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_LONGEST_LINE", 1000)
    fits = json.dumps({"id": 1, "text": "x" * 970}).encode()
    assert len(read(tmp_path, fits).texts[0]) == 970
    with pytest.raises(InputError, match="line of more than 1,000 bytes"):
        read(tmp_path, fits, b'{"id": 2, "text": "' + b"x" * 5000)


@pytest.mark.parametrize("name", ["none.jsonl", "none.parquet", "folder.jsonl", "folder.parquet"])
def test_no_file_and_a_folder_are_told(tmp_path: Path, name: str) -> None:
    if name.startswith("folder"):
        (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=name):
        read_table(tmp_path / name)


def test_parquet_has_values_as_json_would_have_them(tmp_path: Path) -> None:
    moment = datetime(2010, 1, 1, tzinfo=UTC)
    found = stored(
        tmp_path,
        {
            "id": [3, 4],
            "text": ["a b", None],
            "moment": [moment, None],
            "local": [datetime(2010, 1, 1), None],  # noqa: DTZ001, as many files have it
            "fine": pa.array([NEW_YEAR * 1000 + 1, None], pa.timestamp("ns")),  # type: ignore[operator]
            "day": [date(2010, 1, 1), None],
            "day64": pa.array([date(2010, 1, 1), None], pa.date64()),
            "hour": [time(3), None],
            "price": [Decimal("1.50"), None],
            "span": [timedelta(minutes=1), None],
            "raw": [b"caf\xc3\xa9", b"\xff"],
            "nan": [math.nan, 1.0],
            "tags": [["a"], None],
            "nested": [{"x": b"1"}, None],
            "coded": pa.array(["x", "y"]).dictionary_encode(),
            "nothing": pa.nulls(2),
        },
    )
    assert found.names == ("3", "4")
    assert found.texts == ("a b", "")
    assert found.collection().numbers
    first = ["2010-01-01T00:00:00", None]
    for name in ("moment", "local", "fine", "day", "day64"):
        assert shown(found.columns[name]) == ("time", first), name
    assert shown(found.columns["hour"]) == ("text", ["03:00:00", None])
    assert shown(found.columns["price"]) == ("number", [1.5, None])
    assert shown(found.columns["span"]) == ("number", [60.0, None])
    assert shown(found.columns["raw"]) == ("text", ["café", "\ufffd"])
    assert shown(found.columns["nan"]) == ("number", [None, 1.0])
    assert shown(found.columns["tags"]) == ("text", ['["a"]', None])
    assert found.columns["nested"].kind == "text"
    assert shown(found.columns["coded"]) == ("text", ["x", "y"])
    assert shown(found.columns["nothing"]) == ("text", [None, None])


def test_dates_beyond_all_calendars_are_not_known(tmp_path: Path) -> None:
    far = {
        "moment": pa.array([2**62, NEW_YEAR], pa.timestamp("us")),
        "day": pa.array([2**31 - 1, 14610], pa.date32()),
    }
    found = stored(tmp_path, {"id": [1, 2], "text": ["a", "b"], **far})
    for name in far:
        assert shown(found.columns[name]) == ("time", [None, "2010-01-01T00:00:00"])


def test_both_formats_give_the_same_collection(tmp_path: Path) -> None:
    rows = [{"id": n, "text": f"word {n} " * n, "n": n / 3, "host": "ab"[n % 2]} for n in range(50)]
    lines = read(tmp_path, *rows).collection(3)
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    parquet = stored(tmp_path, columns).collection(3)  # type: ignore[arg-type]
    assert lines.names == parquet.names
    assert lines.sets.items.tolist() == parquet.sets.items.tolist()
    assert lines.sets.offsets.tolist() == parquet.sets.offsets.tolist()
    assert lines.weights.tolist() == parquet.weights.tolist()
    for name, column in lines.columns.items():
        assert shown(column) == shown(parquet.columns[name])


def test_parquet_without_documents_or_without_ids(tmp_path: Path) -> None:
    none = pa.array([], pa.string())
    assert stored(tmp_path, {"id": none, "text": none}).names == ()
    with pytest.raises(InputError, match="document 1: no id"):
        stored(tmp_path, {"text": ["x"]})


def test_damaged_parquet_is_an_error_in_words(tmp_path: Path) -> None:
    """Every cut, and many flipped bytes: told or read, never anything else."""
    stored(tmp_path, {"id": [1, 2], "text": ["a b c", "d"], "t": [date(2010, 1, 1)] * 2})
    file = tmp_path / "docs.parquet"
    whole = file.read_bytes()
    damaged = [whole[:length] for length in range(0, len(whole), 101)]
    damaged += [b"PAR1" + bytes(20) + b"PAR1", b'{"id": 1, "text": "x"}\n']
    for content in damaged:
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"docs\.parquet"):
            read_table(file)
    refused = 0
    for at in range(0, len(whole), 13):
        changed = bytearray(whole)
        changed[at] ^= 0xFF
        file.write_bytes(changed)
        try:
            read_table(file)
        except InputError:
            refused += 1
    assert refused > 0


def test_whole_numbers_that_floats_cannot_tell_apart_are_text(tmp_path: Path) -> None:
    large = 1_234_567_890_123_456_789
    found = read(
        tmp_path, {"id": 1, "text": "x", "n": large}, {"id": 2, "text": "x", "n": large - 1}
    )
    assert shown(found.columns["n"]) == ("text", [str(large), str(large - 1)])


def test_a_table_without_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no document has a text"):
        read(tmp_path, {"id": 1, "content": "x"}, {"id": 2, "content": "y"})
