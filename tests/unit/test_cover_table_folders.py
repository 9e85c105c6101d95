"""A folder of Parquet files as one table of documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from asof.cover.documents.tables import read_table
from asof.errors import InputError

pytestmark = pytest.mark.needs("module:pyarrow")


def write(path: Path, **columns: list[object]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path)


def test_files_follow_in_the_order_of_their_names(tmp_path: Path) -> None:
    write(tmp_path / "part-10.parquet", id=["c"], text=["z"], size=[1])
    write(tmp_path / "part-01.parquet", id=["a", "b"], text=["x", "y"], site=["s", None])
    for hidden in (".part-00.parquet", "_part-00.parquet"):
        write(tmp_path / hidden, id=["hidden"], text=["x"])
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "notes.txt").write_text("no documents")
    table = read_table(tmp_path)
    assert table.names == ("a", "b", "c")
    assert table.columns["size"].known.tolist() == [False, False, True]
    assert table.columns["site"].strings == ("s",)


def test_a_folder_may_be_called_like_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "docs.parquet"
    folder.mkdir()
    write(folder / "part.parquet", id=[1], text=["x"])
    assert read_table(folder).numbers


def test_ids_are_unique_in_all_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.parquet", id=["twin"], text=[name])
    with pytest.raises(InputError, match="twice"):
        read_table(tmp_path)


def test_an_empty_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no Parquet files"):
        read_table(tmp_path)


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", id=["a"], text=["x"])
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"b\.parquet is no Parquet file"):
        read_table(tmp_path)
