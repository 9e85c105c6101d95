"""What waits to be written bounds what is begun."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from asof.archive.journal import Draft, Journal
from asof.config import Config
from asof.crawl.writer import Backlog
from asof.frontier.queue import Frontier
from asof.ledger import Ledger
from asof.model import Target
from asof.testing import SimulatedClock
from asof.warc.compose import new_record_id
from support.exchanges import answer


class Desk:
    """A backlog with nothing behind it but an empty database."""

    def __init__(self, ledger: Ledger) -> None:
        self.journal = Journal(SimulatedClock(virtual=True), Config())
        self.frontier = Frontier(ledger, 1)
        self.backlog = Backlog(self.journal, self.frontier)

    def page(self, number: int, links: int) -> None:
        """A page came that leads to so many others."""
        url = f"http://a.example/{number}"
        self.journal.draft(Draft(answer(url, b"x"), Target(url), new_record_id()))
        self.frontier.add([Target(f"{url}/{n}") for n in range(links)])


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    ledger = Ledger(tmp_path / "asof.db", writable=True)
    yield Desk(ledger)
    ledger.close()


def test_ordinary_pages_never_crowd(desk: Desk) -> None:
    for number in range(20):
        desk.page(number, 50)
    desk.backlog.take()
    assert not desk.backlog.is_crowded(visits=128)
    assert not desk.backlog.is_due()


def test_many_links_are_written_before_more_is_begun(desk: Desk) -> None:
    for number in range(9):
        desk.page(number, 1000)
    assert not desk.backlog.is_due()
    desk.page(9, 1000)
    assert desk.backlog.is_due()
    assert not desk.backlog.is_crowded(visits=0)
    for number in range(10, 20):
        desk.page(number, 1000)
    assert desk.backlog.is_crowded(visits=0)


def test_what_is_under_way_is_expected_to_bring_as_much(desk: Desk) -> None:
    """Fifty pages of a thousand links each would come in after the limit is reached."""
    desk.page(1, 1000)
    desk.backlog.take()
    assert not desk.backlog
    assert desk.backlog.is_crowded(visits=50)
    assert not desk.backlog.is_crowded(visits=10)


def test_one_visit_may_always_begin(desk: Desk) -> None:
    """Whatever the last page brought: or the crawl would stand still."""
    desk.page(1, 50_000)
    desk.backlog.take()
    assert not desk.backlog.is_crowded(visits=0)


def test_who_is_thirsty_need_not_wait(desk: Desk) -> None:
    desk.page(1, 1)
    assert not desk.backlog.is_due()
    desk.backlog.thirsty = True
    assert desk.backlog.is_due()
    group, changes = desk.backlog.take()
    assert (len(group.units), len(changes.found)) == (1, 1)
    assert not desk.backlog.is_due()
    assert not desk.backlog
