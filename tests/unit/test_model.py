from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof import model
from asof.model import Body, Capture, Evidence, Headers, Hop, Location, Proof, Validity, find_header

VALUES = [kind for kind in vars(model).values() if dataclasses.is_dataclass(kind)]


@pytest.mark.parametrize("kind", VALUES)
def test_values_are_frozen_slotted_and_documented(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]  # set by @dataclass
    assert "__slots__" in vars(kind)
    assert inspect.getdoc(kind)
    assert not (inspect.getdoc(kind) or "").startswith(f"{kind.__name__}(")


@given(st.binary(max_size=5000), st.integers(1, 600))
def test_a_body_gives_the_same_bytes_from_memory_and_from_disk(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int
) -> None:
    spool = tmp_path_factory.mktemp("spool") / "body"
    spool.write_bytes(data)
    spooled = list(Body(len(data), spool=spool).chunks(size))
    assert b"".join(spooled) == data == b"".join(Body(len(data), data).chunks(size))
    assert all(0 < len(chunk) <= size for chunk in spooled)


def test_discarding_a_body_removes_its_spool_once_and_again(tmp_path: Path) -> None:
    spool = tmp_path / "body"
    spool.write_bytes(b"x")
    body = Body(1, spool=spool)
    body.discard()
    body.discard()
    assert not spool.exists()


def test_discarding_a_body_in_memory_keeps_it() -> None:
    body = Body(1, b"x")
    body.discard()
    assert list(body.chunks()) == [b"x"]


@given(st.integers(), st.integers(0), st.integers())
def test_a_validity_holds_between_its_proven_ends_and_nowhere_else(
    since: int, length: int, at: int
) -> None:
    until = since + length
    proofs = (Evidence(Proof.DOWNLOAD, since, "a"), Evidence(Proof.SAME_DIGEST, until, "b"))
    validity = Validity("http://a.test/", "sha256:X", 200, since, until, proofs, since - 1)
    assert validity.holds(since)
    assert validity.holds(until)
    assert not validity.holds(since - 1)  # what the server merely claimed proves nothing
    assert not validity.holds(until + 1)
    assert validity.holds(at) == (since <= at <= until)


HEADERS: Headers = (("Content-Type", "text/html"), ("ETag", '"1"'), ("etag", '"2"'))


@pytest.mark.parametrize("name", ["ETag", "etag", "ETAG"])
def test_a_header_is_found_by_any_case_and_the_first_counts(name: str) -> None:
    assert find_header(HEADERS, name) == '"1"'


def test_a_header_that_is_not_there_is_none() -> None:
    assert find_header(HEADERS, "Content") is None


def test_hop_letters_make_a_path() -> None:
    assert "".join([Hop.SEED, Hop.LINK, Hop.REDIRECT, Hop.REQUISITE]) == "LRE"


def test_a_capture_is_equal_and_hashes_by_value() -> None:
    def capture(at: int) -> Capture:
        where = Location("000001-x.warc.gz", 0, 10)
        return Capture(
            url="http://a.test/",
            surt="test,a)/",
            at=at,
            kind="response",
            status=200,
            media_type="text/html",
            digest=None,
            content=None,
            size=3,
            record_id="urn:uuid:1",
            where=where,
        )

    assert {capture(1), capture(1), capture(2)} == {capture(1), capture(2)}
