"""WarcFile: one gzip member a record, appended all or not at all."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from asof.errors import StorageError, UsageError
from asof.model import Body
from asof.warc.reader import block_chunks, scan
from asof.warc.record import Record, StoredRecord
from asof.warc.write import WarcFile
from support.no_room import no_room_beyond


def record(number: int, *parts: bytes | Body) -> Record:
    block = [Body(len(part), part) if isinstance(part, bytes) else part for part in parts]
    fields = (
        ("WARC-Type", "resource"),
        ("WARC-Record-ID", f"<urn:uuid:00000000-0000-4000-8000-{number:012d}>"),
        ("WARC-Date", "2026-11-15T19:05:12.123456Z"),
        ("WARC-Target-URI", f"http://a.example/{number}"),
        ("Content-Type", "text/plain"),
    )
    return Record(fields, tuple(block))


def spooled(path: Path, data: bytes) -> Body:
    path.write_bytes(data)
    return Body(len(data), spool=path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "000001-test.warc.gz"


def test_each_record_is_a_gzip_member_at_its_location(path: Path) -> None:
    with WarcFile.create(path) as file:
        places = file.append([record(1, b"one"), record(2, b"two", b"2")])
        places += file.append([record(3, b"")])
        assert file.size == path.stat().st_size
    data = path.read_bytes()
    assert [place.file for place in places] == [path.name] * 3
    members = [data[place.offset : place.offset + place.length] for place in places]
    assert b"".join(members) == data
    assert gzip.decompress(members[1]) == (
        b"WARC/1.1\r\nWARC-Type: resource\r\n"
        b"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000002>\r\n"
        b"WARC-Date: 2026-11-15T19:05:12.123456Z\r\nWARC-Target-URI: http://a.example/2\r\n"
        b"Content-Type: text/plain\r\nContent-Length: 4\r\n\r\ntwo2\r\n\r\n"
    )


def test_a_spooled_block_is_stored_like_one_in_memory(path: Path, tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(3_000_000)
    body = spooled(tmp_path / "spool", noise)
    with WarcFile.create(path) as file:
        file.append([record(1, b"before"), record(2, b"head", body), record(3, b"after")])
    found = [item for item in scan(path) if isinstance(item, StoredRecord)]
    assert [b"".join(block_chunks(item)) for item in found] == [
        b"before",
        b"head" + noise,
        b"after",
    ]
    with path.open("rb") as stream:
        lengths = [len(item.raw_stream.read()) for item in ArchiveIterator(stream)]
    assert lengths == [6, 3_000_004, 5]


def test_a_file_that_exists_is_never_created_over(path: Path) -> None:
    path.write_bytes(b"precious")
    with pytest.raises(UsageError, match="File exists"):
        WarcFile.create(path)
    assert path.read_bytes() == b"precious"


@pytest.mark.parametrize("spool", [False, True])
def test_when_the_disk_is_full_nothing_is_added(path: Path, tmp_path: Path, spool: bool) -> None:
    noise = random.Random(2).randbytes(2_000_000)
    big: bytes | Body = spooled(tmp_path / "spool", noise) if spool else noise
    with WarcFile.create(path) as file:
        file.append([record(1, b"one")])
        before = path.read_bytes()
        with no_room_beyond(1_000_000):
            with pytest.raises(StorageError, match="File too large") as caught:
                file.append([record(2, b"two"), record(3, big)])
            assert path.read_bytes() == before
            file.append([record(4, b"small enough")])
        assert caught.value.hint
        file.append([record(3, big)])
    found = list(scan(path))
    assert [item.size for item in found if isinstance(item, StoredRecord)] == [3, 12, 2_000_000]
    assert len(found) == 3


def test_no_space_left_is_one_clear_sentence() -> None:
    full = Path("/dev/full")
    file = WarcFile(full, os.open(full, os.O_WRONLY), 0, new=False)
    with file, pytest.raises(StorageError) as caught:
        file.append([record(1, b"one")])
    assert caught.value.what == "/dev/full cannot be written: No space left on device."
    assert file.size == 0


def test_a_spool_file_that_is_gone_or_changed_leaves_the_file_as_it_was(
    path: Path, tmp_path: Path
) -> None:
    body = spooled(tmp_path / "spool", b"x" * 3_000_000)
    with WarcFile.create(path) as file:
        file.append([record(1, b"one")])
        before = path.read_bytes()
        os.truncate(tmp_path / "spool", 2_000_000)
        with pytest.raises(StorageError, match="3000000 bytes has 2000000"):
            file.append([record(2, body)])
        body.discard()
        with pytest.raises(UsageError, match="No such file"):
            file.append([record(2, body)])
        with pytest.raises(StorageError, match="5 bytes has 3"):
            file.append([record(2, Body(5, b"abc"))])
        assert path.read_bytes() == before
        assert file.size == len(before)


def test_reopening_cuts_what_was_not_committed_and_goes_on(path: Path) -> None:
    with WarcFile.create(path) as file:
        file.append([record(1, b"one")])
        committed = file.size
        file.append([record(2, b"two")])
    with WarcFile.reopen(path, committed) as file:
        assert path.stat().st_size == committed
        file.append([record(3, b"three")])
        file.sync()
    assert [item.size for item in scan(path) if isinstance(item, StoredRecord)] == [3, 5]


def test_a_file_that_lost_committed_bytes_is_not_written_to(path: Path) -> None:
    with WarcFile.create(path) as file:
        file.append([record(1, b"one")])
        size = file.size
    with pytest.raises(StorageError, match=f"{size} bytes but {size + 1} were committed"):
        WarcFile.reopen(path, size + 1)
    assert path.stat().st_size == size


def test_closing_twice_is_harmless(path: Path) -> None:
    file = WarcFile.create(path)
    file.close()
    file.close()


@pytest.mark.parametrize(
    "evil",
    [
        "a\r\nWARC-Type: forged",
        "a\nb",
        "a\rb",
        "a\x00b",
        "a\x85b",
        "a\u2028b",
        "a\ud800b",
        "\r\n\r\n",
    ],
)
def test_no_value_can_add_a_line(path: Path, evil: str) -> None:
    plain = record(1, b"block")
    fields = (*plain.fields[:3], ("WARC-Target-URI", f"http://a/{evil}"), ("X-Text", f"t{evil}t"))
    with WarcFile.create(path) as file:
        file.append([Record(fields, plain.block)])
    text = gzip.decompress(path.read_bytes())
    assert text.count(b"\n") == 10
    assert b"WARC-Type: forged" not in text.split(b"\r\n")
    [found] = scan(path)
    assert isinstance(found, StoredRecord)
    assert [name for name, _ in found.header.fields] == [
        *(name for name, _ in fields),
        "Content-Length",
    ]
    assert found.header.get_all("WARC-Type") == ["resource"]
    assert "%" in (found.header.get("WARC-Target-URI") or "")
    assert found.data == b"block"


def test_a_header_that_no_reader_would_take_is_refused(path: Path) -> None:
    huge = Record((*record(1, b"").fields, ("X-Long", "x" * 65_536)), (Body(0),))
    with WarcFile.create(path) as file:
        with pytest.raises(UsageError, match="longer than 64 KiB"):
            file.append([record(1, b"one"), huge])
        assert file.size == path.stat().st_size == 0
