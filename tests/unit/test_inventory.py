"""What is held of each host: counted as brute force counts, kept, and counted anew by itself."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.archive import OpenArchive, stocktaking
from asof.archive.folder import Folder
from asof.archive.reindex import reindex
from asof.archive.stocktaking import Stocktaking, take_stock
from asof.catalog.inventory import Holding, KeptInventory, Totals, count, totals_of
from asof.catalog.listing import Listing
from asof.clock import DAY, SystemClock, to_datetime
from asof.ledger import Ledger
from asof.model import Capture, Segment
from asof.url import surt
from support import many_captures, rig
from support.catalog_entry import enter
from support.serve_command import serving

HOSTS = ("http://a.example/", "https://www.a.example/", "http://a.example:8080/", "http://b.a/",
         "http://[::1]/", "http://a.exampl/")  # fmt: skip
URLS = [f"{host}{page}" for host in HOSTS for page in ("", "x", "x?y=)/")] + ["dns:a.example"]
FIRST, LAST = -719_162 * DAY, 2_932_896 * DAY  # of the years 1 to 9999


def capture(url: str, at: int, number: int = 0) -> Capture:
    return replace(many_captures.capture(url, number), at=at, surt=surt(url))


@given(
    st.lists(
        st.tuples(st.sampled_from(URLS), st.integers(FIRST, LAST) | st.integers(-50 * DAY, 2)),
        min_size=1, max_size=40,
    )
)  # fmt: skip
def test_a_count_is_what_brute_force_counts(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int]]
) -> None:
    captures = [capture(url, at, number) for number, (url, at) in enumerate(rows)]
    folder = tmp_path_factory.mktemp("count") / "archive"
    many_captures.build(folder, captures)
    ledger = Ledger(folder / "asof.db", writable=False)
    found, listed = list(count(ledger)), Listing(ledger, SystemClock()).hosts()
    assert [(each.key, each.name, each.captures) for each in found] == [
        (each.key, each.name, each.captures) for each in listed
    ]
    for each in found:
        assert each == _brute(each, captures)
    assert totals_of(found) == Totals(
        len(captures), len({url for url, _ in rows}), sum("://" in each.prefix for each in found),
        min(at for _, at in rows), max(at for _, at in rows),
    )  # fmt: skip
    ledger.db.close()


def _brute(held: Holding, captures: Iterable[Capture]) -> Holding:
    own = [each for each in captures if each.surt.startswith(held.key)]
    dates = (to_datetime(each.at) for each in own)
    months = Counter(date.year * 12 + date.month - 1 for date in dates)
    days = Counter(each.at // DAY for each in own)
    is_short = max(days) - min(days) < 62
    return replace(
        held, captures=len(own), urls=len({each.url for each in own}),
        first=min(each.at for each in own), last=max(each.at for each in own),
        months=tuple(sorted(months.items())), days=tuple(sorted(days.items()) if is_short else ()),
    )  # fmt: skip


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a few captures were many."""
    monkeypatch.setattr(stocktaking, "SMALL", 2)


def put(folder: Path, count: int, committed: int) -> Path:
    with OpenArchive.write(folder, purpose="test") as archive, archive.ledger.transaction():
        number = archive.catalog.put_segment(Segment("000001-many.warc.gz", committed))
        rows = [many_captures.capture(f"http://h{n % 3}.example/{n}", n) for n in range(count)]
        enter(archive.catalog, rows, number)
    return folder


def test_a_small_archive_is_counted_whenever_something_came(tmp_path: Path) -> None:
    with OpenArchive.open(put(tmp_path, 5, 10)) as archive:
        stock = Stocktaking(archive)
        first = stock.inventory("", 2)
        assert first is not None
        assert (first.totals.captures, len(first.holdings)) == (5, 2)
        put(tmp_path, 6, 10)
        again = stock.inventory(first.holdings[-1].key, 2)
        assert again is not None
        assert (again.totals.captures, [each.name for each in again.holdings]) == (
            6,
            ["h2.example"],
        )
    assert not (tmp_path / "derived").exists()


@pytest.mark.usefixtures("large")
def test_a_large_one_is_counted_beside_and_kept(tmp_path: Path) -> None:
    put(tmp_path, 9, 10)
    with OpenArchive.open(tmp_path) as archive:
        stock = Stocktaking(archive)
        assert stock.inventory() is None
        rig.wait_for(lambda: stock.inventory() is not None, 10, "nothing is counted")
        found = stock.inventory("", 9)
        assert found is not None
        assert found.holdings == stock.exact() == tuple(count(archive.ledger))
        assert found.totals == totals_of(stock.exact())
        put(tmp_path, 12, 20)
        # A minute has not passed: what is kept is told, but to those who want to know exactly.
        late = stock.inventory()
        assert late is not None
        assert late.totals.captures == 9
        assert totals_of(stock.exact()).captures == 12
        take_stock(tmp_path)
        now = stock.inventory()
        assert now is not None
        assert now.totals.captures == 12


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("damage", [b"", b"no database" * 99, None])
def test_what_is_kept_may_be_lost_or_broken(tmp_path: Path, damage: bytes | None) -> None:
    put(tmp_path, 9, 10)
    kept = Folder(tmp_path).inventory
    kept.parent.mkdir()
    if damage is not None:
        kept.write_bytes(damage)
    with OpenArchive.open(tmp_path) as archive:
        stock = Stocktaking(archive)
        assert totals_of(stock.exact()).captures == 9
        assert stock.inventory() is None
        rig.wait_for(lambda: stock.inventory() is not None, 10, "it is not counted anew")
        found = stock.inventory()
        assert found is not None
        assert found.totals.captures == 9


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    ("column", "value"),
    [("months", "[[1, 2]]"), ("months", "{}}"), ("months", "[3]"), ("days", "[[0, -1]]"),
     ("first", "x"), ("last", 1 << 62), ("captures", b"\xff"), ("urls", "many")],
)  # fmt: skip
def test_what_others_wrote_into_it_is_not_believed(
    tmp_path: Path, column: str, value: object
) -> None:
    put(tmp_path, 9, 10)
    take_stock(tmp_path)
    with sqlite3.connect(Folder(tmp_path).inventory) as db:
        db.execute(f"UPDATE hosts SET {column} = ?", (value,))
    db.close()
    with OpenArchive.open(tmp_path) as archive:
        stock = Stocktaking(archive)
        assert totals_of(stock.exact()).captures == 9
        assert stock.inventory() is None
        rig.wait_for(lambda: stock.inventory() is not None, 10, "it is not counted anew")


@pytest.mark.usefixtures("large")
def test_a_catalog_made_anew_is_counted_anew(tmp_path: Path) -> None:
    """Though its files are the same."""
    put(tmp_path, 9, 10)
    take_stock(tmp_path)
    reindex(Folder(tmp_path), spread=lambda *work: iter(()), progress=lambda done: None)
    with OpenArchive.open(tmp_path) as archive:
        assert Stocktaking(archive).exact() == ()


def test_a_server_counts_a_large_archive_before_somebody_asks(tmp_path: Path) -> None:
    rows = (many_captures.capture(f"http://h.example/{n}", n) for n in range(stocktaking.SMALL + 1))
    many_captures.build(tmp_path, rows)
    with serving(tmp_path):
        rig.wait_for(lambda: _is_kept(tmp_path), 20, "nothing is counted")


def _is_kept(folder: Path) -> bool:
    path = Folder(folder).inventory
    return path.exists() and KeptInventory(path, writable=False).state() is not None
