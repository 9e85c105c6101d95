"""`asof cover` where texts cannot be kept: another process reads them, or nothing is writable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asof.cli import run as cli
from asof.text.database import TextDatabase
from support.boats import BOATS, URLS, add

COVER = ["cover", "C(d1,d2) >= 0.5", "--json", "-a"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, url in enumerate(URLS):
        add(tmp_path / "archive", url, f"{BOATS} Claim {number} of an expense.")
    return tmp_path / "archive"


def assert_answered(folder: Path, capsys: pytest.CaptureFixture[str], why: str) -> None:
    capsys.readouterr()
    assert cli([*COVER, str(folder)]) == 0
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert (found["documents"], len(found["kept"]), found["optimal"]) == (3, 1, True)
    assert "No texts are kept: " in told.err
    assert why in told.err


def test_beside_another_process_that_reads(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a crawl's own reader does nearly all the time."""
    database = TextDatabase(folder / "derived" / "text.db", writable=True)
    try:
        assert_answered(folder, capsys, "being read by another process")
    finally:
        database.close()


def test_where_nothing_can_be_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "derived").mkdir(exist_ok=True)
    (folder / "derived" / ".text.db.lock").mkdir()
    assert_answered(folder, capsys, ".text.db.lock")
