"""Payloads by digest: found where they were stored first, and only what is one."""

from __future__ import annotations

from hashlib import sha1, sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.catalog.captures import Catalog
from asof.catalog.payloads import PayloadFilter, Payloads
from asof.ledger import Ledger, payload_key
from asof.model import Capture, Location, Segment
from asof.warc.digest import base32, digest_text
from support.captures import plain_capture
from support.catalog_entry import enter

FILE = "000001-test.warc.gz"


@pytest.fixture
def catalog(ledger: Ledger) -> Catalog:
    return Catalog(ledger)


def digest(word: str) -> str:
    return digest_text(sha256(word.encode()).digest())


def capture(word: str, offset: int, **changes: Any) -> Capture:
    plain = {
        "media_type": None,
        "digest": digest(word),
        "content": None,
        "size": 10,
        "record_id": f"{offset}",
        "where": Location(FILE, offset, 5),
    }
    return plain_capture(f"http://a.example/{offset}", offset, **(plain | changes))


# -- Keys -----------------------------------------------------------------------------------------


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_the_key_is_the_first_60_bits_of_the_digest(one: bytes, other: bytes) -> None:
    """An integer that SQLite can hold; equal for digests that begin alike, and for no others."""
    keys = [payload_key(digest_text(value)) for value in (one, other)]
    expected = [int.from_bytes(value[:8], "big") >> 4 for value in (one, other)]
    assert keys == expected
    assert all(key is not None and 0 <= key < 1 << 60 for key in keys)


def test_a_digest_of_another_algorithm_has_a_key_as_well() -> None:
    value = sha1(b"payload", usedforsecurity=False).digest()
    assert payload_key(f"sha1:{base32(value)}") == int.from_bytes(value[:8], "big") >> 4


@pytest.mark.parametrize(
    "text",
    ["", "sha256", "sha256:", "sha256:ABC", "sha256:!!!!!!!!!!!!!!!!", "None", ":"],
)
def test_what_is_no_base32_has_no_key(text: str) -> None:
    assert payload_key(text) is None


@given(st.text(max_size=30))
def test_no_text_is_too_odd(text: str) -> None:
    """Digests come out of foreign files."""
    key = payload_key(f"sha256:{text}")
    assert key is None or -(1 << 63) <= key < 1 << 63


# -- Where they are -------------------------------------------------------------------------------


def test_a_payload_is_found_by_its_digest(catalog: Catalog) -> None:
    number = catalog.put_segment(Segment(FILE, 100))
    enter(catalog, [capture("a", 1), capture("b", 2)], number)
    assert catalog.payloads.find(digest("a")) == Location(FILE, 1, 0)
    assert catalog.payloads.find(digest("b")) == Location(FILE, 2, 0)
    assert catalog.payloads.find(digest("c")) is None
    assert catalog.payloads.find("no digest") is None


def test_the_first_place_stays_the_place(catalog: Catalog) -> None:
    """Later copies would only make revisits of revisits likelier."""
    first = catalog.put_segment(Segment(FILE, 100))
    enter(catalog, [capture("a", 1)], first)
    second = catalog.put_segment(Segment("000002-test.warc.gz", 100))
    enter(catalog, [capture("a", 7)], second)
    assert catalog.payloads.find(digest("a")) == Location(FILE, 1, 0)


def test_of_two_at_once_the_first_in_the_file_counts(catalog: Catalog) -> None:
    number = catalog.put_segment(Segment(FILE, 100))
    rows = [capture("a", 9, surt="a"), capture("a", 3, surt="z"), capture("a", 5, surt="b")]
    enter(catalog, rows, number)
    assert catalog.payloads.find(digest("a")) == Location(FILE, 3, 0)


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "revisit"},
        {"kind": "resource"},
        {"size": 0},
        {"truncated": "length"},
        {"digest": None},
        {"digest": "sha256:"},
    ],
    ids=lambda changes: str(next(iter(changes.items()))),
)
def test_what_is_no_whole_payload_is_not_remembered(
    catalog: Catalog, ledger: Ledger, changes: dict[str, object]
) -> None:
    """A revisit has none, a cut one is not it, and nothing is not worth a reference."""
    enter(catalog, [capture("a", 1, **changes)], catalog.put_segment(Segment(FILE, 100)))
    assert ledger.db.execute("SELECT count(*) FROM payloads").fetchone() == (0,)


def test_a_rolled_back_group_has_no_payloads(catalog: Catalog, ledger: Ledger) -> None:
    """They are part of the transaction of their rows."""
    number = catalog.put_segment(Segment(FILE, 100))

    def fail() -> None:
        with ledger.transaction():
            enter(catalog, [capture("a", 1)], number)
            raise KeyError("a test")

    with pytest.raises(KeyError):
        fail()
    assert catalog.payloads.find(digest("a")) is None


def test_a_place_in_a_file_that_is_gone_is_none(catalog: Catalog, ledger: Ledger) -> None:
    enter(catalog, [capture("a", 1)], catalog.put_segment(Segment(FILE, 100)))
    ledger.db.execute("DELETE FROM segments")
    assert catalog.payloads.find(digest("a")) is None


def test_a_reader_of_its_own_sees_what_is_committed(catalog: Catalog, ledger: Ledger) -> None:
    """The crawl asks through one while the writer writes through another."""
    reader = Ledger(ledger.path, writable=False)
    number = catalog.put_segment(Segment(FILE, 100))
    with ledger.transaction():
        enter(catalog, [capture("a", 1)], number)
        assert Payloads(reader).find(digest("a")) is None
    assert Payloads(reader).find(digest("a")) == Location(FILE, 1, 0)
    reader.close()


def test_the_filter_misses_nothing(catalog: Catalog, ledger: Ledger) -> None:
    """Neither what the archive had before nor what has come since; the rest it mostly rules out."""
    held = [f"held {n}" for n in range(500)]
    with ledger.transaction():
        segment = catalog.put_segment(Segment(FILE, 1 << 20))
        enter(catalog, [capture(word, n) for n, word in enumerate(held)], segment)
    found = PayloadFilter(Payloads(ledger))
    came = [f"came {n}" for n in range(500)]
    for word in came:
        found.add(sha256(word.encode()).digest())
    assert all(sha256(word.encode()).digest() in found for word in [*held, *came])
    others = [sha256(f"other {n}".encode()).digest() in found for n in range(2000)]
    assert sum(others) < 20
