"""Commands of our own as children: one at a time, known by their lock, and with an end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from asof.errors import AsofError
from asof.web.children import Child
from support.rig import wait_for

LONG = ("serve", "--port", "0")  # until it is told to end


@contextmanager
def begun(child: Child, archive: Path, seconds: float = 60) -> Iterator[list[int]]:
    """A child that lives until the block ends, and what it ended with."""
    ended: list[int] = []
    assert child.begin(
        [*LONG, "-a", str(archive)], {"name": "x"}, ended=ended.append, seconds=seconds
    )
    try:
        yield ended
    finally:
        child.stop(signal.SIGKILL)
        wait_for(lambda: not child.is_alive and bool(ended), 10, "it ended")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    from support import served_archive

    return served_archive.build(tmp_path / "archive", ())


def test_there_is_one_at_a_time_whoever_asks(tmp_path: Path, archive: Path) -> None:
    child = Child(tmp_path / "new" / "place", "it")
    assert not child.is_alive
    assert (child.told(), child.said()) == ({}, "")
    with begun(child, archive) as ended:
        assert child.is_alive
        same = Child(tmp_path / "new" / "place", "it")
        assert same.is_alive
        assert not same.begin(LONG, {"name": "y"})
        assert same.told()["name"] == "x"
        assert not Child(tmp_path / "new" / "place", "other").is_alive
    assert ended == [-signal.SIGKILL]
    assert not child.stop(signal.SIGKILL)
    assert child.begin(["--version"], {})
    wait_for(lambda: not child.is_alive, 10, "it ended")


def test_it_has_no_more_time_than_it_was_given(tmp_path: Path, archive: Path) -> None:
    child = Child(tmp_path, "it")
    with begun(child, archive, seconds=0.3) as ended:
        wait_for(lambda: bool(ended), 10, "it is over")
    assert ended == [-signal.SIGKILL]


def test_what_it_prints_and_what_it_says_are_two_things(tmp_path: Path) -> None:
    child, out, ended = Child(tmp_path, "it"), tmp_path / "out", list[int]()
    assert child.begin(["cover", "C(d1,d2) >= 2"], {}, out=out, cwd=tmp_path, ended=ended.append)
    wait_for(lambda: bool(ended), 10, "it is over")
    assert ended == [2]
    assert out.read_bytes() == b""
    assert child.said().startswith("Column 13: ")
    assert "\n" in child.said()


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (b"", ""),
        (b"asof: reading: 1 of 2\nasof: reading: 2 of 2\n", "reading: 2 of 2"),
        (b"Traceback\n  asof: no\nKeyboardInterrupt", "Traceback\n  asof: no\nKeyboardInterrupt"),
        (b"asof: Column 1: no.\n  x\n  ^\n\xff\n", "Column 1: no.\n  x\n  ^\n\ufffd"),
        (b"x" * 100_000 + b"\nasof: the end", "the end"),
    ],
)  # fmt: skip
def test_the_last_that_it_said_is_told(tmp_path: Path, log: bytes, said: str) -> None:
    (tmp_path / "it.log").write_bytes(log)
    assert Child(tmp_path, "it").said() == said


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("as it was")
    for kind in ("lock", "log", "json"):
        place = tmp_path / kind
        place.mkdir()
        (place / f"it.{kind}").symlink_to(kept)
        with pytest.raises(AsofError, match="link"):
            Child(place, "it").begin(["--version"], {})
    assert kept.read_text() == "as it was"
