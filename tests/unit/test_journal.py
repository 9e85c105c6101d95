"""The open group of a crawl: when it is due, and what is in it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.archive.journal import GROUP_BYTES, CommitGroup, Draft, Journal
from asof.config import Config
from asof.model import Body, Target
from asof.testing import SimulatedClock
from asof.warc.build import exchange_records
from asof.warc.compose import new_record_id
from asof.warc.record import Record
from support.exchanges import answer

URL = "http://a.example/"


def record(size: int = 10, spool: Path | None = None) -> Record:
    data = b"" if spool is not None else bytes(size)
    return Record((("WARC-Type", "resource"),), (Body(size, data, spool),))


@pytest.fixture
def journal(clock: SimulatedClock) -> Journal:
    return Journal(clock, Config(group_records=4, group_seconds=2.0))


def test_an_empty_group_is_never_due(journal: Journal, clock: SimulatedClock) -> None:
    clock.jump(days=1)
    assert (journal.pending, journal.full, journal.due()) == (0, False, False)
    journal.put(record())
    assert not journal.due(), "its age counts from its first record"


def test_a_group_is_due_when_it_has_enough_records(journal: Journal) -> None:
    journal.put(record(), record(), record())
    assert (journal.pending, journal.due()) == (3, False)
    journal.put(record(), record(), record())
    assert (journal.pending, journal.due()) == (6, True)


def test_a_group_is_due_when_it_is_old(journal: Journal, clock: SimulatedClock) -> None:
    journal.put(record())
    clock.jump(seconds=1)
    journal.put(record())
    assert not journal.due()
    clock.jump(seconds=1)
    assert journal.due()


def test_a_group_is_due_when_it_is_large(clock: SimulatedClock) -> None:
    """Memory is what it costs, so nothing should be added to it then."""
    journal = Journal(clock, Config())
    journal.put(record(GROUP_BYTES - 1))
    assert (journal.full, journal.due()) == (False, False)
    journal.put(record(1))
    assert (journal.full, journal.due()) == (True, True)
    journal.take()
    assert (journal.full, journal.due()) == (False, False)


def test_what_is_spooled_takes_no_memory(clock: SimulatedClock, tmp_path: Path) -> None:
    journal = Journal(clock, Config())
    journal.put(record(3 * GROUP_BYTES, tmp_path / "spool"))
    assert not journal.full
    assert journal.take().size == 0


def test_taking_opens_a_new_group(journal: Journal, clock: SimulatedClock) -> None:
    """The moment of taking is the date of a file that begins with it."""
    first = (record(1), record(2))
    journal.put(*first)
    clock.jump(seconds=5)
    journal.put(record(3))
    taken = journal.take()
    assert taken.units == [first, (record(3),)]
    assert (taken.records, taken.size, taken.taken) == (3, 6, clock.now())
    assert (journal.pending, journal.due()) == (0, False)
    journal.put(record())
    assert not journal.due(), "the age of the group before does not count"
    assert journal.take().units == [(record(),)]
    assert taken.records == 3


def test_a_discarded_group_leaves_no_files(tmp_path: Path) -> None:
    """Spooled bodies are removed, also of those whose file is gone already."""
    paths = [tmp_path / name for name in ("one", "two", "gone")]
    bodies = [random.Random(n).randbytes(100) for n in range(3)]
    exchanges = [answer(URL, body, spool=p) for body, p in zip(bodies, paths, strict=True)]
    paths[2].unlink()
    first, *others = exchanges
    group = CommitGroup([exchange_records(first, target=Target(URL)), (record(),)])
    group.units += [Draft(each, Target(URL), new_record_id()) for each in others]
    group.discard()
    assert list(tmp_path.iterdir()) == []
    group.discard()


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), max_size=9), st.data())
def test_nothing_is_lost_between_groups(units: list[list[int]], data: st.DataObject) -> None:
    """However the units fall into groups, together they are all of them, in order and untorn."""
    journal = Journal(SimulatedClock(virtual=True), Config())
    groups = []
    for unit in units:
        journal.put(*(record(size) for size in unit))
        if data.draw(st.booleans()):
            groups.append(journal.take())
    groups.append(journal.take())
    sizes = [[r.size for r in unit] for group in groups for unit in group.units]
    assert sizes == units
    assert [group.records for group in groups] == [
        sum(len(unit) for unit in group.units) for group in groups
    ]
    assert sum(group.size for group in groups) == sum(sum(unit) for unit in units)
