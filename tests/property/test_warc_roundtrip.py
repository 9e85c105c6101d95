"""Laws of the WARC stage: what is written is read, what is cut or flipped is never misread."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
import warnings
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from asof.model import Body, Damage
from asof.warc.reader import block_chunks, read_record, scan
from asof.warc.record import Record, StoredRecord
from asof.warc.split import split
from asof.warc.verify import verify
from asof.warc.write import WarcFile
from support.laws import examples
from support.resources import resource

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # fastwarc 1.1 warns of its own old names
    from fastwarc.warc import ArchiveIterator as FastIterator

names = st.from_regex(r"X-[A-Za-z0-9]{1,12}", fullmatch=True)
values = st.text(st.characters(exclude_categories=("C", "Z")), max_size=40)
urls = st.from_regex(r"https?://[a-z]{1,9}\.example/[a-z0-9/?=&%.-]{0,40}", fullmatch=True)
ODD_BLOCKS = [
    b"", b"\r\n", b"\r\n\r\n", b"WARC/1.1\r\n", b"\r\n\r\nWARC/1.0\r\n\r\n", b"\x1f\x8b\x08\x00",
]  # fmt: skip
blocks = st.one_of(
    st.binary(max_size=400),
    st.builds(bytes.__mul__, st.binary(min_size=1, max_size=9), st.integers(0, 999)),
    st.builds(lambda data: gzip.compress(data, mtime=0), st.binary(max_size=200)),
    st.sampled_from(ODD_BLOCKS),
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    extra = draw(st.lists(st.tuples(names, values), max_size=3))
    kind = draw(st.sampled_from(["resource", "response", "metadata", "conversion"]))
    fields = (
        ("WARC-Type", kind),
        ("WARC-Record-ID", f"<urn:uuid:{draw(st.uuids())}>"),
        ("WARC-Date", "2026-11-15T19:05:12.123456Z"),
        ("WARC-Target-URI", draw(urls)),
        *extra,
        ("Content-Type", "application/octet-stream"),
    )
    parts = draw(st.lists(blocks, min_size=1, max_size=2))
    return Record(fields, tuple(Body(len(part), part) for part in parts))


def block_of(record: Record) -> bytes:
    return b"".join(part.data for part in record.block)


def put(path: Path, data: bytes | bytearray) -> Path:
    """Write a new file: to overwrite one makes some file systems flush it, which takes ages."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    return path


def written(path: Path, items: list[Record]) -> list[StoredRecord]:
    path.unlink(missing_ok=True)
    with WarcFile.create(path) as file:
        file.append(items)
    found = list(scan(path))
    assert all(isinstance(item, StoredRecord) for item in found)
    return [item for item in found if isinstance(item, StoredRecord)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warc") / "000001-law.warc.gz"


@given(st.lists(records(), max_size=6))
def test_what_is_written_is_read_back(path: Path, items: list[Record]) -> None:
    found = written(path, items)
    assert [item.header.fields[:-1] for item in found] == [item.fields for item in items]
    assert [item.header.fields[-1] for item in found] == [
        ("Content-Length", str(item.size)) for item in items
    ]
    assert [item.data for item in found] == [block_of(item) for item in items]
    assert [b"".join(block_chunks(item)) for item in found] == [block_of(item) for item in items]
    assert [item.header.version for item in found] == ["1.1"] * len(items)
    # The locations tile the file, and each is enough to read its record again.
    offsets = [item.where.offset for item in found]
    ends = [item.where.offset + item.where.length for item in found]
    assert [0, *ends] == [*offsets, path.stat().st_size]
    assert [read_record(path, offset) for offset in offsets] == found


@given(st.lists(records(), max_size=5))
def test_the_referees_read_the_same_records(path: Path, items: list[Record]) -> None:
    written(path, items)
    ours = [(item.fields[1][1], block_of(item)) for item in items]
    with path.open("rb") as stream:
        theirs = [
            (record.rec_headers.get_header("WARC-Record-ID"), record.raw_stream.read())
            for record in ArchiveIterator(stream, no_record_parse=True)
        ]
    assert theirs == ours
    with path.open("rb") as stream:
        fast = [
            (record.headers["WARC-Record-ID"], record.reader.read())
            for record in FastIterator(stream, parse_http=False)
        ]
    assert fast == ours


@settings(max_examples=examples(10))
@given(st.lists(records(), min_size=1, max_size=4))
def test_a_file_cut_anywhere_gives_what_is_whole_and_one_damage(
    path: Path, items: list[Record]
) -> None:
    found = written(path, items)
    data = path.read_bytes()
    ends = [item.where.offset + item.where.length for item in found]
    cut = put(path.with_name("cut.warc.gz"), data)
    for size in reversed(range(len(data))):
        os.truncate(cut, size)
        whole = [item for item, end in zip(found, ends, strict=True) if end <= size]
        start = max((end for end in ends if end <= size), default=0)
        got = list(scan(cut))
        assert [(item.header, item.data) for item in got if isinstance(item, StoredRecord)] == [
            (item.header, item.data) for item in whole
        ]
        damage = [item for item in got if isinstance(item, Damage)]
        assert [(item.offset, item.length) for item in damage] == (
            [] if start == size else [(start, size - start)]
        ), size


@settings(max_examples=examples(40))
@given(st.lists(records(), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_flipped_bits_never_give_wrong_bytes(
    path: Path, items: list[Record], rng: random.Random
) -> None:
    found = written(path, items)
    true = {(item.where.offset, item.header, item.data) for item in found}
    data = path.read_bytes()
    for _ in range(30):
        hurt = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 8])):
            hurt[rng.randrange(len(hurt))] ^= 1 << rng.randrange(8)
        got = list(scan(put(path.with_name("flipped.warc.gz"), hurt)))
        # gzip does not protect its own header's time, flags and names: those flips may be harmless.
        assert {
            (item.where.offset, item.header, item.data)
            for item in got
            if isinstance(item, StoredRecord)
        } <= true
        # A line end is nobody's: a file that begins with one now is a plain one that is damaged.
        assert is_tiled(got, len(hurt)) or hurt.startswith((b"\r", b"\n"))


def is_tiled(found: list[StoredRecord | Damage], size: int) -> bool:
    """Every byte of the file is in one record or one damage, in order."""
    at = 0
    for item in found:
        offset, length = (
            (item.where.offset, item.where.length)
            if isinstance(item, StoredRecord)
            else (item.offset, item.length)
        )
        if offset != at or length <= 0:
            return False
        at = offset + length
    return at == size


@settings(max_examples=examples(40))
@given(
    st.lists(records(), min_size=1, max_size=12),
    st.integers(1, 9),
    st.sampled_from(["gzip", "plain", "flipped", "cut", "garbage"]),
    st.randoms(use_true_random=False),
)
def test_the_scans_of_the_parts_are_the_scan_of_the_file(
    path: Path, items: list[Record], parts: int, form: str, rng: random.Random
) -> None:
    written(path, items)
    data = bytearray(path.read_bytes())
    if form == "plain":
        data = bytearray(gzip.decompress(bytes(data)))
    if form in ("flipped", "plain") and rng.random() < 0.8:
        for _ in range(3):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    if form == "cut":
        del data[rng.randrange(len(data)) :]
    if form == "garbage":
        at = rng.randrange(len(data))
        data[at:at] = rng.randbytes(rng.randrange(1, 300))
    other = put(path.with_name("parts.warc.gz"), data)
    starts = split(other, parts)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert len(starts) <= parts
    ends = [*starts[1:], None]
    pieces = [
        item
        for start, end in zip(starts, ends, strict=True)
        for item in scan(other, start=start, end=end)
    ]
    assert pieces == list(scan(other))


@settings(max_examples=examples(20))
@given(st.lists(st.tuples(urls, blocks), min_size=1, max_size=5))
def test_warcio_check_passes_what_is_written(path: Path, items: list[tuple[str, bytes]]) -> None:
    made = [resource(url, block, "application/octet-stream", 0) for url, block in items]
    found = written(path, made)
    assert [verify(item) for item in found] == [[]] * len(found)
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            BytesIO(record.raw_stream.read())


def test_the_command_warcio_check_passes_a_large_file(path: Path) -> None:
    rng = random.Random(7)
    made = [
        resource(f"http://a.example/{no}", rng.randbytes(rng.randrange(5000)), "x/y", no)
        for no in range(500)
    ]
    written(path, made)
    done = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", "-v", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]
    assert done.stdout.count("digest pass") == len(made)
    parts = split(path, 2)
    assert len(parts) == 2
