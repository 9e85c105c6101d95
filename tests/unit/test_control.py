"""Orders to a running crawl and its status, through two files; whatever else lies in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.archive.folder import Folder
from asof.crawl import control
from asof.crawl.control import Act, Control, Order, parse_order, running, send_order, writer
from asof.crawl.summary import Snapshot, snapshot_json, snapshot_of
from asof.errors import UsageError
from asof.testing import SimulatedClock

SNAPSHOT = Snapshot(
    12.5, 10, 1, 2, 30, 4567, 3, "https://example.org/",
    recent=((200, "https://example.org/a"), (0, "https://dead.example/")),
    busiest=(("example.org", 29, 0.5), ("a.example", 1, -1.0)),
    reasons=(("timeout", 1),), state="running", rate_now=1.5, active=1,
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path / "archive")
    folder.create()
    return folder


class Ear:
    """A crawl's control whose clock is a second on at each look, and what it noted."""

    def __init__(self, home: Folder, clock: SimulatedClock) -> None:
        self.notes: list[str] = []
        self.clock = clock
        self.control = Control(home, clock, "c1", self.notes.append)

    def hear(self) -> list[Order]:
        self.clock.jump(seconds=1)
        return self.control.orders()


@pytest.fixture
def ear(home: Folder, clock: SimulatedClock) -> Ear:
    return Ear(home, clock)


def append(home: Folder, data: bytes) -> None:
    with control.orders_file(home).open("ab") as file:
        file.write(data)


# -- Orders -------------------------------------------------------------------------------------


def test_orders_arrive_once_and_in_order(home: Folder, clock: SimulatedClock, ear: Ear) -> None:
    sent = [
        send_order(home, clock, Act.PAUSE),
        send_order(home, clock, Act.EXCLUDE, r"/cal/\d+ \N{SNOWMAN}" + "\n☃"),
        send_order(home, clock, Act.RESUME),
        send_order(home, clock, Act.STOP),
    ]
    assert ear.hear() == sent
    assert ear.hear() == []
    assert ear.notes == []


def test_orders_from_before_the_start_are_not_for_this_crawl(
    home: Folder, clock: SimulatedClock
) -> None:
    Control(home, clock, "c0").close()
    send_order(home, clock, Act.STOP)
    assert Ear(home, clock).hear() == []


def test_looking_for_orders_costs_one_stat_at_most(
    ear: Ear, monkeypatch: pytest.MonkeyPatch, clock: SimulatedClock
) -> None:
    """Nothing new: a stat. Five times a second at most: not even that."""
    asked: list[object] = []
    plain = os.stat

    def counted(*args: Any, **options: Any) -> os.stat_result:
        asked.append(args)
        return plain(*args, **options)

    monkeypatch.setattr(os, "stat", counted)
    monkeypatch.setattr(os, "open", lambda *a, **k: pytest.fail("the file was opened"))
    ear.hear()
    assert len(asked) == 1
    for _ in range(100):
        ear.control.orders()
    assert len(asked) == 1


def test_an_order_that_is_not_written_whole_yet_is_waited_for(
    home: Folder, clock: SimulatedClock, ear: Ear
) -> None:
    line = Order("a1", clock.now(), Act.PAUSE).line()
    append(home, line[:20])
    assert ear.hear() == []
    append(home, line[20:])
    assert [order.id for order in ear.hear()] == ["a1"]


def test_a_torn_line_does_not_swallow_the_next_order(
    home: Folder, clock: SimulatedClock, ear: Ear
) -> None:
    append(home, b'{"id": "torn", "ord')
    sent = send_order(home, clock, Act.PAUSE)
    assert ear.hear() == [sent]
    assert ear.notes == ["1 line ignored: not JSON."]


BAD_LINES = {
    "not JSON": b"pause please",
    "not UTF-8": b'{"id": "\xff\xfe"}',
    "a list": b"[1, 2]",
    "deep": b"[" * 10_000,
    "a huge number": b'{"id": ' + b"9" * 10_000 + b"}",
    "no id": b'{"at": "2026-01-01T00:00:00Z", "order": "pause"}',
    "an odd id": b'{"id": "../x", "at": "2026-01-01T00:00:00Z", "order": "pause"}',
    "no date": b'{"id": "1", "at": "soon", "order": "pause"}',
    "unknown order": b'{"id": "1", "at": "2026-01-01T00:00:00Z", "order": "delete"}',
    "order is a list": b'{"id": "1", "at": "2026-01-01T00:00:00Z", "order": ["pause"]}',
    "no pattern": b'{"id": "1", "at": "2026-01-01T00:00:00Z", "order": "exclude"}',
    "a bad pattern": b'{"id": "1", "at": "2026-01-01", "order": "exclude", "pattern": "("}',
    "no text": b'{"id": "1", "at": "2026-01-01", "order": "exclude", "pattern": "\\ud800"}',
    "too long": b'{"id": "1", "x": "' + b"y" * 40_000 + b'"}',
    "endless": b"z" * 3_000_000,
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES)
def test_what_is_no_order_is_passed_over_with_a_note(
    home: Folder, clock: SimulatedClock, ear: Ear, line: bytes
) -> None:
    """The crawl goes on, hears the next order, and holds no more than a look's bytes."""
    append(home, line + b"\n")
    sent = send_order(home, clock, Act.PAUSE)
    heard = [order for _ in range(6) for order in ear.hear()]
    assert heard == [sent]
    assert len(ear.notes) == 1
    assert ear.notes[0].startswith("1 line ignored: ")


def test_a_flood_of_nonsense_is_one_note_a_look(home: Folder, ear: Ear) -> None:
    append(home, b"x\n" * 100_000)
    ear.hear()
    assert ear.notes == ["100000 lines ignored: not JSON."]


@given(line=st.binary(max_size=200))
def test_no_line_is_an_error(line: bytes) -> None:
    assert isinstance(parse_order(line), Order | str)


@given(
    act=st.sampled_from(Act),
    pattern=st.text(min_size=1, max_size=50).filter(control._compiles),
    at=st.integers(0, 4_000_000_000_000_000),
)
def test_an_order_survives_its_line(act: Act, pattern: str, at: int) -> None:
    order = Order("0a1b", at, act, pattern if act is Act.EXCLUDE else "")
    line = order.line()
    assert line.count(b"\n") == 1
    assert parse_order(line) == order


def test_another_file_in_its_place_is_read_but_old_orders_are_not_obeyed(
    home: Folder, clock: SimulatedClock
) -> None:
    """An editor that saves, or `: > orders.jsonl`, must not bring back last week's stop."""
    old = Order("old", clock.now(), Act.STOP).line()
    clock.jump(days=7)
    ear = Ear(home, clock)
    sent = send_order(home, clock, Act.PAUSE)
    assert ear.hear() == [sent]
    other = home.root / "edited"
    new = Order("new", clock.now(), Act.RESUME)
    other.write_bytes(old + sent.line() + new.line())
    other.replace(control.orders_file(home))
    assert ear.hear() == [new]
    control.orders_file(home).write_bytes(b"")
    assert ear.hear() == []
    again = send_order(home, clock, Act.PAUSE)
    assert ear.hear() == [again]


@pytest.mark.parametrize("kind", ["missing", "pipe", "link", "folder"])
def test_an_odd_file_is_a_note_and_no_hang(
    home: Folder, clock: SimulatedClock, ear: Ear, tmp_path: Path, kind: str
) -> None:
    path = control.orders_file(home)
    path.unlink()
    secret = tmp_path / "secret"
    secret.write_bytes(Order("a", clock.now(), Act.STOP).line())
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "link":
            path.symlink_to(secret)
        case "folder":
            path.mkdir()
    assert ear.hear() == []
    assert ear.hear() == []
    assert len(ear.notes) == 1
    assert ear.notes[0].startswith("Orders cannot be read: ")
    before = secret.read_bytes()
    with pytest.raises(UsageError):
        send_order(home, clock, Act.PAUSE)
    assert secret.read_bytes() == before


@pytest.mark.parametrize("pattern", ["(", "", "a" * 20_000], ids=["bad", "empty", "long"])
def test_a_pattern_that_cannot_be_obeyed_is_not_sent(
    home: Folder, clock: SimulatedClock, ear: Ear, pattern: str
) -> None:
    with pytest.raises(UsageError):
        send_order(home, clock, Act.EXCLUDE, pattern)
    assert ear.hear() == []


# -- Status -------------------------------------------------------------------------------------


def test_the_status_comes_back_whole(home: Folder, clock: SimulatedClock, ear: Ear) -> None:
    order = Order("a1", clock.now(), Act.EXCLUDE, "x")
    ear.control.obeyed(order, "7 URLs left out")
    ear.control.publish(SNAPSHOT)
    with home.lock("crawl"):
        status = running(home)
    assert status is not None
    assert (status.crawl, status.pid, status.snapshot.state) == ("c1", os.getpid(), "running")
    assert status.at == clock.now()
    assert status.snapshot == SNAPSHOT
    assert status.did(order) == "7 URLs left out"
    assert status.did(Order("a2", 0, Act.STOP)) is None


def test_the_status_is_written_once_a_second_unless_there_is_news(
    home: Folder, clock: SimulatedClock, ear: Ear
) -> None:
    path = control.status_file(home)
    ear.control.publish(SNAPSHOT)
    first = path.stat().st_ino, path.stat().st_mtime_ns
    clock.jump(seconds=0.9)
    ear.control.publish(SNAPSHOT)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == first
    ear.control.obeyed(Order("a1", 0, Act.PAUSE), "paused")
    ear.control.publish(SNAPSHOT)
    assert json.loads(path.read_bytes())["obeyed"] == [{"id": "a1", "did": "paused"}]
    clock.jump(seconds=1)
    path.unlink()
    ear.control.publish(SNAPSHOT)
    assert path.exists()
    assert not list(path.parent.glob("*.part"))


def test_urls_of_megabytes_do_not_make_the_status_unreadable(home: Folder, ear: Ear) -> None:
    url = "https://example.org/" + "x" * 2_000_000
    shot = replace(SNAPSHOT, current=url, recent=((200, url),) * 6, reasons=((url, 1),) * 8)
    ear.control.publish(shot)
    with home.lock("crawl"):
        status = running(home)
    assert status is not None
    assert url.startswith(status.snapshot.current)


def test_an_ended_crawl_leaves_no_status(home: Folder, ear: Ear) -> None:
    ear.control.publish(SNAPSHOT)
    ear.control.close()
    assert not control.status_file(home).exists()
    ear.control.close()


def test_a_status_without_a_lock_is_a_dead_crawls(home: Folder, ear: Ear) -> None:
    ear.control.publish(SNAPSHOT)
    assert running(home) is None
    assert writer(home) == ("", 0)


def test_the_lock_of_somebody_else_does_not_revive_a_dead_crawl(home: Folder, ear: Ear) -> None:
    """After a kill, an import may hold the archive: the status of then says another process."""
    ear.control.publish(SNAPSHOT)
    hold = "import sys, fcntl, os; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
    hold += (
        "f.write(f'`asof import` (process {os.getpid()})'); f.flush(); print('ready', flush=True); "
    )
    hold += "sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(home.root / ".lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert writer(home) == ("import", other.pid)
        assert running(home) is None
        value = json.loads(control.status_file(home).read_bytes())
        control.status_file(home).write_text(json.dumps(value | {"host": "far.away.invalid"}))
        assert running(home) is not None, "of another machine only the lock can be asked"
        other.communicate()


def test_a_full_disk_is_one_note_and_no_error(
    ear: Ear, home: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(control, "replace_file", full)
        for _ in range(3):
            ear.hear()
            ear.control.publish(SNAPSHOT)
    assert ear.notes == ["The status cannot be written: No space left on device."]
    ear.hear()
    ear.control.publish(SNAPSHOT)
    assert control.status_file(home).exists()


def statuses() -> dict[str, bytes]:
    good = {
        "crawl": "c", "pid": os.getpid(), "host": os.uname().nodename, "at": "2026-01-01T00:00:00Z",
        "state": "running", "obeyed": [], "snapshot": snapshot_json(SNAPSHOT),
    }  # fmt: skip
    shot = snapshot_json(SNAPSHOT)
    changed = {
        "no pid": good | {"pid": "1"},
        "no crawl": good | {"crawl": None},
        "no date": good | {"at": 3},
        "no orders": good | {"obeyed": 3},
        "no snapshot": good | {"snapshot": []},
        "no count": good | {"snapshot": shot | {"captured": -1}},
        "a count that is true": good | {"snapshot": shot | {"captured": True}},
        "not finite": good | {"snapshot": shot | {"elapsed": float("inf")}},
        "a huge number": good | {"snapshot": shot | {"elapsed": 10**400}},
        "no list": good | {"snapshot": shot | {"recent": "x"}},
        "a list of lists": good | {"snapshot": shot | {"busiest": [[1, 2, 3]]}},
        "a long list": good | {"snapshot": shot | {"recent": [{"status": 1, "url": ""}] * 1000}},
        "an odd state": good | {"snapshot": shot | {"state": "\x1b[2J"}},
    }
    plain = {"empty": b"", "not JSON": b"{", "deep": b"[" * 100_000, "a list": b"[]"}
    return plain | {name: json.dumps(value).encode() for name, value in changed.items()}


@pytest.mark.parametrize("name", statuses())
def test_a_status_that_makes_no_sense_is_none(home: Folder, ear: Ear, name: str) -> None:
    control.status_file(home).write_bytes(statuses()[name])
    with home.lock("crawl"):
        assert running(home) is None


def test_orders_without_ids_in_a_status_are_none_of_ours(home: Folder, ear: Ear) -> None:
    ear.control.publish(SNAPSHOT)
    value = json.loads(control.status_file(home).read_bytes()) | {"obeyed": [{}, 3, {"id": 1}]}
    control.status_file(home).write_text(json.dumps(value))
    with home.lock("crawl"):
        status = running(home)
    assert status is not None
    assert status.did(Order("a", 0, Act.STOP)) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(field=st.sampled_from(sorted(snapshot_json(SNAPSHOT))), value=json_values)
def test_a_foreign_snapshot_is_read_or_refused(field: str, value: object) -> None:
    """A value of any shape in any field gives a snapshot or ValueError, nothing else."""
    try:
        found = snapshot_of(snapshot_json(SNAPSHOT) | {field: value})
    except ValueError:
        return
    again = snapshot_of(snapshot_json(found))
    assert snapshot_of(snapshot_json(again)) == again
