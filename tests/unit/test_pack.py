"""Packing: one gzip member a record, whether it is made smaller or stored as it is."""

from __future__ import annotations

import gzip
import os
import random
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from asof.errors import StorageError
from asof.model import Body, Target
from asof.warc.build import exchange_records
from asof.warc.reader import scan
from asof.warc.record import Record, StoredRecord
from asof.warc.write import WarcFile, pack, raw_record
from support.exchanges import answer
from support.no_room import no_room_beyond

URL = "http://a.example/"
# The head of a gzip member and its end, and five bytes for every 65,535 that are stored.
OVERHEAD = 18


def record(body: bytes, number: int = 1, *, packed: bool = False) -> Record:
    fields = (
        ("WARC-Type", "resource"),
        ("WARC-Record-ID", f"<urn:uuid:00000000-0000-4000-8000-{number:012d}>"),
        ("WARC-Date", "2026-11-15T19:05:12.123456Z"),
        ("WARC-Target-URI", f"http://a.example/{number}"),
        ("Content-Type", "image/png"),
    )
    return Record(fields, (Body(len(body), body),), packed)


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


# -- One member -----------------------------------------------------------------------------------


@given(st.binary(max_size=3_000), st.booleans())
def test_a_member_holds_exactly_the_bytes(raw: bytes, packed: bool) -> None:
    """By zlib, which checks the checksum and the size; and nothing comes behind."""
    inflate = zlib.decompressobj(31)
    assert inflate.decompress(pack(raw, packed=packed)) == raw
    assert inflate.eof
    assert inflate.unused_data == b""


@pytest.mark.parametrize("size", [0, 1, 65_534, 65_535, 65_536, 65_537, 131_070, 3_000_000])
def test_stored_blocks_of_every_size(size: int) -> None:
    """A stored block of deflate has 65,535 bytes at most (RFC 1951 section 3.2.4)."""
    raw = noise(size)
    member = pack(raw, packed=True)
    assert gzip.decompress(member) == raw
    blocks = max(1, -(-size // 65_535))
    assert len(member) <= size + OVERHEAD + 5 * blocks


def test_what_is_packed_already_is_not_made_smaller_and_what_is_not_is() -> None:
    text = b"<p>The same again.</p>" * 1_000
    assert len(pack(text, packed=True)) > len(text)
    assert len(pack(text)) < len(text) // 20


def test_the_same_bytes_give_the_same_member() -> None:
    """No time of day gets in: files that are made twice are equal."""
    raw = noise(1_000)
    for packed in (False, True):
        member = pack(raw, packed=packed)
        assert member == pack(raw, packed=packed)
        assert member[:3] == b"\x1f\x8b\x08"
        assert member[3] == 0, "neither a name nor a comment"
        assert member[4:8] == bytes(4), "no date"


# -- Which records are packed by nature -----------------------------------------------------------


@pytest.mark.parametrize(
    ("media", "headers", "packed"),
    [
        ("image/png", (), True),
        ("IMAGE/JPEG", (), True),
        ("image/svg+xml", (), False),
        ("image/bmp", (), False),
        ("video/mp4", (), True),
        ("audio/wav", (), False),
        ("font/woff2", (), True),
        ("application/zip", (), True),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", (), True),
        ("text/html", (), False),
        ("text/html", (("Content-Encoding", "gzip"),), True),
        (None, (), False),
    ],
    ids=str,
)
def test_a_response_says_whether_it_can_be_made_smaller(
    media: str | None, headers: tuple[tuple[str, str], ...], packed: bool
) -> None:
    exchange = answer(URL, b"x" * 500, media=media, headers=headers)
    request, response, metadata = exchange_records(exchange, target=Target(URL))
    assert (request.packed, response.packed, metadata.packed) == (False, packed, False)
    assert gzip.decompress(pack(raw_record(response), packed=response.packed)).endswith(
        b"x" * 500 + b"\r\n\r\n"
    )


# -- Appending what is packed ---------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "000001-test.warc.gz"


def blocks(path: Path) -> list[bytes | None]:
    found = list(scan(path))
    assert all(isinstance(item, StoredRecord) for item in found)
    return [item.data for item in found if isinstance(item, StoredRecord)]


def test_packed_members_lie_where_they_were_counted_to_lie(path: Path) -> None:
    """Whoever packs knows the places before the file does; the readers of others agree."""
    bodies = [noise(1_000), b"text " * 500, b"", noise(70_000)]
    members = [
        pack(raw_record(record(body, n)), packed=bool(n % 2)) for n, body in enumerate(bodies)
    ]
    with WarcFile.create(path) as file:
        file.append_packed(members[:2])
        file.append_packed([])
        file.append_packed(members[2:])
        assert file.size == path.stat().st_size == sum(map(len, members))
    assert path.read_bytes() == b"".join(members)
    assert blocks(path) == bodies
    offsets = [item.where.offset for item in scan(path) if isinstance(item, StoredRecord)]
    assert offsets == [sum(map(len, members[:n])) for n in range(len(members))]
    with path.open("rb") as stream:
        assert [item.raw_stream.read() for item in ArchiveIterator(stream)] == bodies


@given(st.lists(st.tuples(st.binary(max_size=300), st.booleans(), st.booleans()), max_size=8))
def test_packed_here_or_packed_there_is_the_same_file(
    tmp_path_factory: pytest.TempPathFactory, items: list[tuple[bytes, bool, bool]]
) -> None:
    """`append` packs, `append_packed` was given what is packed; in any mixture of the two."""
    folder = tmp_path_factory.mktemp("law")
    records = [record(body, n, packed=packed) for n, (body, packed, _) in enumerate(items)]
    with WarcFile.create(folder / "one") as one, WarcFile.create(folder / "two") as two:
        places = one.append(records)
        for made, (_, _, here), place in zip(records, items, places, strict=True):
            assert two.size == place.offset
            if here:
                [where] = two.append([made])
                assert where.length == place.length
            else:
                two.append_packed([pack(raw_record(made), packed=made.packed)])
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()


def test_when_the_disk_is_full_no_member_is_added(path: Path) -> None:
    members = [pack(raw_record(record(noise(5_000), n)), packed=True) for n in range(3)]
    with WarcFile.create(path) as file:
        file.append_packed(members[:1])
        size = file.size
        with (
            no_room_beyond(size + len(members[1]) + 100),
            pytest.raises(StorageError, match="File too large") as caught,
        ):
            file.append_packed(members[1:])
        assert caught.value.hint
        assert file.size == path.stat().st_size == size
        file.append_packed(members[1:])
    assert blocks(path) == [noise(5_000)] * 3


def test_what_could_not_be_cut_off_is_cut_off_before_the_next(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fails may refuse even that; then nothing is appended behind torn bytes."""
    members = [pack(raw_record(record(noise(5_000), n)), packed=True) for n in range(2)]

    def refuse(handle: int, size: int) -> None:
        raise OSError(5, "Input/output error")

    with WarcFile.create(path) as file:
        file.append_packed(members[:1])
        size = file.size
        with monkeypatch.context() as patch, no_room_beyond(size + 100):
            patch.setattr(os, "ftruncate", refuse)
            with pytest.raises(StorageError, match="File too large"):
                file.append_packed(members[1:])
            assert path.stat().st_size == size + 100
            with pytest.raises(StorageError, match="Input/output error"):
                file.append_packed(members[1:])
        file.append_packed(members[1:])
        file.sync()
    assert blocks(path) == [noise(5_000)] * 2
