"""The log of a crawl's events: JSON for every string, on time, of bounded size, never an error."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.archive.folder import Folder
from asof.clock import iso
from asof.crawl import events
from asof.crawl.events import EventLog, log_file
from asof.crawl.monitor import Monitor
from asof.model import Body, Exchange, Failure, Target, Timings
from asof.testing import SimulatedClock

# Everything that Python can hold, lone surrogates and control characters included.
texts = st.text(st.characters(exclude_categories=()), max_size=40)


class Folio:
    """A log on a virtual clock, and what is in its file."""

    def __init__(self, path: Path) -> None:
        self.clock = SimulatedClock(virtual=True)
        self.notes: list[str] = []
        self.log = EventLog(path, self.clock, self.notes.append)

    def lines(self) -> list[dict[str, object]]:
        if not self.log.path.exists():
            return []
        data = self.log.path.read_bytes()
        assert data == b"" or data.endswith(b"\n")
        return [json.loads(line) for line in data.splitlines()]


@pytest.fixture
def folio(tmp_path: Path) -> Folio:
    return Folio(tmp_path / "logs" / "c1.jsonl")


class Page:
    """A log that keeps its lines, for laws about them."""

    def __init__(self) -> None:
        self.clock = SimulatedClock(virtual=True)
        self.log = EventLog(Path("never-written"), self.clock)

    def line(self) -> dict[str, object]:
        (line,) = self.log._lines
        assert line.isascii()
        assert "\n" not in line
        found = json.loads(line)
        assert isinstance(found, dict)
        return found


@given(
    url=texts, via=st.none() | texts, hops=texts, truncated=texts, revisit=st.booleans(),
    status=st.integers(0, 999), size=st.integers(0, 1 << 60), took=st.integers(0, 10**12),
    depth=st.integers(0, 1000), micros=st.integers(0, 4_000_000_000_000_000),
)  # fmt: skip
def test_a_fetch_is_json_whatever_its_strings(
    url: str, via: str | None, hops: str, truncated: str, revisit: bool,
    status: int, size: int, took: int, depth: int, micros: int,
) -> None:  # fmt: skip
    """The line that is made by hand says what json.dumps would."""
    page = Page()
    page.clock = page.log._clock = SimulatedClock(micros, virtual=True)
    exchange = Exchange(
        url, b"", b"", Body(size), status, (), 0, Timings(0, 0, took), b"", truncated=truncated
    )
    page.log.fetched(Target(url, depth, via, hops), exchange, revisit=revisit)
    expected = {
        "at": iso(micros), "event": "fetched", "url": url, "status": status, "bytes": size,
        "ms": pytest.approx(took / 1000, abs=0.06), "hops": hops, "depth": depth,
    }  # fmt: skip
    expected |= {"via": via} if via is not None else {}
    expected |= {"revisit": True} if revisit else {}
    expected |= {"truncated": truncated} if truncated else {}
    assert page.line() == expected


@given(url=texts, reason=texts, detail=texts, tries=st.integers(0, 99))
def test_a_failure_is_json_whatever_its_strings(
    url: str, reason: str, detail: str, tries: int
) -> None:
    page = Page()
    failure = Failure(url, reason, detail, 0)
    Monitor(page.log).failed(Target(url, tries=tries - 1), failure)
    assert page.line() == {
        "at": iso(page.clock.now()), "event": "failed", "url": url, "reason": reason,
        "detail": detail, "tries": tries,
    }  # fmt: skip


names = texts.filter(lambda name: name not in ("at", "event", "self"))
plain_values = st.none() | st.booleans() | st.integers() | texts


@given(event=texts, fields=st.dictionaries(names, plain_values))
def test_any_event_is_json(event: str, fields: dict[str, object]) -> None:
    page = Page()
    page.log.write(event, **fields)
    assert page.line() == {"at": iso(page.clock.now()), "event": event, **fields}


def test_what_json_cannot_hold_is_written_as_text() -> None:
    page = Page()
    page.log.write("started", folder=Path("/a"), seeds=("x",))
    assert page.line()["folder"] == "/a"
    assert page.line()["seeds"] == ["x"]


def test_lines_wait_for_a_second_or_256_of_them(folio: Folio) -> None:
    folio.log.write("started")
    folio.log.tick()
    assert folio.lines() == []
    folio.clock.jump(seconds=1)
    folio.log.tick()
    assert [line["event"] for line in folio.lines()] == ["started"]
    for _ in range(255):
        folio.log.write("fetched")
    assert len(folio.lines()) == 1
    folio.log.write("fetched")
    assert len(folio.lines()) == 257


def test_a_late_line_takes_the_waiting_ones_along(folio: Folio) -> None:
    folio.log.write("one")
    folio.clock.jump(seconds=2)
    folio.log.write("two")
    assert len(folio.lines()) == 2


def test_closing_writes_the_rest(folio: Folio) -> None:
    folio.log.write("ended", captured=3)
    folio.log.close()
    assert folio.lines()[0]["captured"] == 3
    folio.log.close()


def test_a_resumed_crawl_goes_on_in_the_same_file(folio: Folio) -> None:
    """Even after a crash that tore the last line: the torn one stands alone."""
    folio.log.write("one")
    folio.log.close()
    with folio.log.path.open("ab") as file:
        file.write(b'{"at": "2026-01-')
    again = EventLog(folio.log.path, folio.clock)
    again.write("two")
    again.close()
    lines = folio.log.path.read_bytes().splitlines()
    assert [json.loads(lines[no])["event"] for no in (0, 2)] == ["one", "two"]


def test_a_large_file_is_moved_aside(folio: Folio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of the limit's size at most: the one that is written and the one before."""
    monkeypatch.setattr(events, "ROTATE_AT", 1000)
    for no in range(100):
        folio.log.write("fetched", no=no)
        folio.log.flush()
    folio.log.close()
    aside = Path(f"{folio.log.path}.1")
    assert sorted(path.name for path in aside.parent.iterdir()) == ["c1.jsonl", "c1.jsonl.1"]
    assert aside.stat().st_size <= 1100
    kept = [json.loads(line)["no"] for line in aside.read_bytes().splitlines()]
    kept += [line["no"] for line in folio.lines()]
    assert kept == list(range(kept[0], 100)), "none is lost or doubled between the two"


def test_a_full_disk_ends_the_log_with_one_note_and_no_torn_line(
    folio: Folio, monkeypatch: pytest.MonkeyPatch
) -> None:
    folio.log.write("one")
    folio.log.flush()
    plain, room = os.write, [10]

    def half(handle: int, data: bytes) -> int:
        """The disk takes ten more bytes."""
        if not room:
            raise OSError(28, "No space left on device")
        return plain(handle, data[: room.pop()])

    monkeypatch.setattr(os, "write", half)
    for _ in range(3):
        folio.log.write("two")
        folio.log.flush()
    folio.log.close()
    assert [line["event"] for line in folio.lines()] == ["one"]
    assert folio.notes == [
        f"The log {folio.log.path} ends here: No space left on device. The crawl goes on."
    ]


@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_no_log_is_written_into_anything_but_a_plain_file(
    folio: Folio, tmp_path: Path, kind: str
) -> None:
    path, other = folio.log.path, tmp_path / "other"
    path.parent.mkdir()
    other.write_text("mine")
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "link":
            path.symlink_to(other)
        case "folder":
            path.mkdir()
    folio.log.write("one")
    folio.log.close()
    assert len(folio.notes) == 1
    assert other.read_text() == "mine"


@pytest.mark.parametrize(
    ("crawl", "name"),
    [
        ("20260101000000-ab12", "20260101000000-ab12.jsonl"),
        ("../../etc/x", "_.._etc_x.jsonl"),
        ("", "crawl.jsonl"),
        ("...", "crawl.jsonl"),
        ("x" * 300, f"{'x' * 100}.jsonl"),
    ],
    ids=["ours", "out of the folder", "empty", "dots", "long"],
)
def test_a_log_lies_in_the_archive_whatever_the_crawl_is_called(
    tmp_path: Path, crawl: str, name: str
) -> None:
    assert log_file(Folder(tmp_path), crawl) == tmp_path / "logs" / name
