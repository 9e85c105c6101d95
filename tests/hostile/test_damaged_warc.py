"""Damaged, mis-declared and hostile WARC files: all whole records, the rest by offset, no hang."""

from __future__ import annotations

import gzip
import random
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from isal import isal_zlib

from asof.model import Damage
from asof.warc.reader import read_record, scan
from asof.warc.record import StoredRecord
from asof.warc.split import split
from asof.warc.verify import verify


def raw(name: object, block: bytes = b"block", length: str | None = None) -> bytes:
    said = f"Content-Length: {len(block)}" if length is None else length
    head = f"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <{name}>\r\n{said}\r\n\r\n"
    return head.encode() + block + b"\r\n\r\n"


def member(data: bytes) -> bytes:
    return isal_zlib.compress(data, 1, 31)


def frame(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def plain(data: bytes) -> bytes:
    return data


Pack = Callable[[bytes], bytes]
PACKS = pytest.mark.parametrize("pack", [plain, member, frame])


def put(tmp_path: Path, data: bytes | bytearray) -> Path:
    path = tmp_path / "hurt.warc.gz"
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    return path


def outcome(path: Path) -> list[str | None]:
    """The names of the records, and `!` for damage, in order; damage is never empty."""
    found: list[str | None] = []
    for item in scan(path):
        if isinstance(item, StoredRecord):
            found.append((item.header.get("WARC-Record-ID") or "").strip("<>"))
        else:
            assert item.length > 0
            assert item.reason
            found.append("!")
    return found


def damages(path: Path) -> list[tuple[int, int]]:
    return [(item.offset, item.length) for item in scan(path) if isinstance(item, Damage)]


BAD_LENGTHS = [
    "Content-Length: 20", "Content-Length: 999999999999", "Content-Length: 4", "Content-Length: 0",
    "Content-Length: -5", "Content-Length: five", "Content-Length: 5.0", "Content-Length: 0x5",
    "Content-Length: \u0665", "Content-Length: 5_", "Content-Length: +5", "Content-Length:", "X: 5",
    "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\ncontent-length: 3",
    "Content-Length: " + "9" * 5000,
]  # fmt: skip


@PACKS
@pytest.mark.parametrize("length", BAD_LENGTHS)
def test_a_wrong_length_costs_its_own_record(tmp_path: Path, pack: Pack, length: str) -> None:
    parts = [pack(raw("a")), pack(raw("b", length=length)), pack(raw("c")), pack(raw("d"))]
    path = put(tmp_path, b"".join(parts))
    assert outcome(path) == ["a", "!", "c", "d"]
    assert damages(path) == [(len(parts[0]), len(parts[1]))]
    whole = put(tmp_path, member(raw("a") + raw("b", length=length) + raw("c") + raw("d")))
    assert outcome(whole) == ["a", "!", "c", "d"]


@pytest.mark.parametrize("swallowed", [raw("x"), raw("x") + raw("y")])
def test_a_length_that_swallows_records_gives_them_back(tmp_path: Path, swallowed: bytes) -> None:
    reach = f"Content-Length: {len(swallowed) + 20}"
    path = put(tmp_path, raw("a") + raw("b", length=reach) + swallowed + raw("z"))
    assert outcome(path) == ["a", "!", *(["x", "y"] if b"<y>" in swallowed else ["x"]), "z"]


@PACKS
def test_garbage_between_records_is_reported_by_offset(tmp_path: Path, pack: Pack) -> None:
    one, two = pack(raw("a")), pack(raw("b"))
    for junk in (b"garbage", b"\x00" * 5000, b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"WARC/1.0"):
        path = put(tmp_path, one + junk + two)
        assert outcome(path) == ["a", "!", "b"]
        assert damages(path) == [(len(one), len(junk))]
        path = put(tmp_path, one + two + junk)
        assert outcome(path) == ["a", "b", "!"]
        assert damages(path) == [(len(one + two), len(junk))]
        path = put(tmp_path, junk + one + two)
        assert outcome(path) == ["!", "a", "b"]
        assert damages(path) == [(0, len(junk))]


@PACKS
def test_a_file_without_any_record_is_one_damage(tmp_path: Path, pack: Pack) -> None:
    for content in (b"x", b"not a WARC file\n" * 99, b"<html>" * 9999, b"WARC/", b"WARC/1.0\r\n"):
        data = pack(content)
        assert damages(put(tmp_path, data)) == [(0, len(data))]


@PACKS
def test_headers_that_never_end_are_damage(tmp_path: Path, pack: Pack) -> None:
    endless = b"WARC/1.0\r\n" + b"X-Line: y\r\n" * 7000
    for head in (endless, b"WARC/1.0\r\nX: " + b"x" * 70_000, b"WARC/1.0\r\nX: y\r\n"):
        parts = [pack(raw("a")), pack(head + b"\r\n\r\n" * (pack is plain)), pack(raw("b"))]
        path = put(tmp_path, b"".join(parts))
        assert outcome(path) == ["a", "!", "b"]


@PACKS
def test_versions_that_are_none_are_damage(tmp_path: Path, pack: Pack) -> None:
    for version in (b"WARC/x", b"WARC/1", b"WARC/1.0.0", b"WARC/1.0 x", b"ARC/1.0"):
        parts = [pack(raw("a")), pack(raw("b").replace(b"WARC/1.0", version)), pack(raw("c"))]
        assert outcome(put(tmp_path, b"".join(parts))) == ["a", "!", "c"], version


def test_every_cut_of_a_zstd_or_plain_file_keeps_what_is_whole(tmp_path: Path) -> None:
    for pack in (plain, frame):
        parts = [pack(raw(name, name.encode() * 30)) for name in "abc"]
        data = b"".join(parts)
        for size in range(len(data)):
            got = outcome(put(tmp_path, data[:size]))
            # A plain record is whole without its last empty lines, as some tools leave them out.
            slack = 4 if pack is plain else 0
            whole = [
                name
                for number, name in enumerate("abc")
                if len(b"".join(parts[: number + 1])) - slack <= size
            ]
            assert [name for name in got if name != "!"] == whole
            assert got.count("!") <= 1


def test_flipped_bits_in_every_byte_of_a_zstd_file(tmp_path: Path) -> None:
    data = b"".join(frame(raw(name, name.encode() * 30)) for name in "abc")
    true = {(item.header, item.data) for item in scan(put(tmp_path, data)) if is_record(item)}
    for at in range(len(data)):
        hurt = bytearray(data)
        hurt[at] ^= 1 << at % 8
        got = {(item.header, item.data) for item in scan(put(tmp_path, hurt)) if is_record(item)}
        assert got <= true
        assert len(got) >= 2


def is_record(item: StoredRecord | Damage) -> bool:
    return isinstance(item, StoredRecord)


def test_a_torn_member_does_not_give_away_what_it_captured(tmp_path: Path) -> None:
    """A site that serves a .warc.gz, and a power cut: its records must not become the archive's."""
    rng = random.Random(9)
    forged = b"".join(member(raw(f"forged{no}", rng.randbytes(300))) for no in range(50))
    text = b"".join(raw(f"forged{no}") for no in range(50))
    for payload in (forged, text, b"\r\n\r\n" + text, rng.randbytes(70_000) + forged):
        outer = member(raw("captured", payload + rng.randbytes(5000)))
        for cut in (1, 8, 9, 2000, 4900):
            path = put(tmp_path, member(raw("a")) + outer[:-cut])
            assert outcome(path) == ["a", "!"]
            assert outcome(put(tmp_path, path.read_bytes() + member(raw("b")))) == ["a", "!", "b"]


def test_from_a_cut_file_of_one_member_all_but_the_last_records_come(tmp_path: Path) -> None:
    data = member(
        b"".join(raw(number, random.Random(number).randbytes(999)) for number in range(9))
    )
    path = put(tmp_path, data[: len(data) * 2 // 3])
    got = outcome(path)
    assert got[-1] == "!"
    assert got[:-1] == [str(number) for number in range(len(got) - 1)]
    assert len(got) >= 6
    assert read_record(path, 0).data == random.Random(0).randbytes(999)


def test_a_bad_checksum_leaves_of_one_member_what_digests_vouch_for(tmp_path: Path) -> None:
    def with_digest(name: str, block: bytes, digest: str) -> bytes:
        return raw(name, block, f"WARC-Block-Digest: {digest}\r\nContent-Length: {len(block)}")

    good = "sha1:2TE6PUGX2OQBGJ7W3NAX7WJAJCQBVQUE"  # of "vouched"
    parts = [
        with_digest("good", b"vouched", good),
        raw("none"),
        with_digest("other", b"VOUCHED", good),
        raw("last"),
    ]
    data = bytearray(member(b"".join(parts)))
    assert verify(
        next(item for item in scan(put(tmp_path, data)) if isinstance(item, StoredRecord))
    )
    data[-5] ^= 1
    assert "none" not in outcome(put(tmp_path, data))


def nested() -> bytes:
    """A member in whose broken content every byte pair starts another magic number."""
    return b"\x1f\x8b\x08\x00" * 100_000


def bomb(head: bytes, megabytes: int) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    zeros = bytes(1 << 20)
    pieces = [packer.compress(head), *(packer.compress(zeros) for _ in range(megabytes))]
    return b"".join([*pieces, packer.flush()])


def header(size: int) -> bytes:
    return raw("bomb", b"", f"Content-Length: {size}")[:-4]


HOSTILE = {
    "magic numbers": nested,
    "members of one byte": lambda: gzip.compress(b"y", mtime=0) * 30_000,
    "a bomb that is no record": lambda: bomb(b"", 200),
    "a bomb in a record": lambda: bomb(header(200 << 20), 200) + member(b"\r\n"),
    "a bomb with a wrong length": lambda: bomb(header(199 << 20), 200),
    "a zstd bomb": lambda: zstandard.ZstdCompressor(3).compress(bytes(200 << 20)),
    "a zstd frame with a huge window": lambda: b"\x28\xb5\x2f\xfd\x00\xf8" + b"\x01\x00\x00" * 9,
    "a dictionary of 4 GB": lambda: struct.pack("<II", 0x184D2A5D, 0xFFFFFFFF) + frame(raw("a")),
    "lengths into the next records": lambda: raw("x", b"y", "Content-Length: 4000000") * 40_000,
    "the same in one member": lambda: member(
        raw("x", b"y", "Content-Length: 4000000") * 40_000 + b"z" * 5_000_000
    ),
    "large lengths in one member": lambda: member(
        raw("x", b"y", "Content-Length: 5000000") * 40_000 + b"z" * 6_000_000
    ),
    "empty lines that every record leads to": lambda: (
        raw("x", b"y", "Content-Length: 2000000") * 20_000 + b"\n" * 5_000_000 + b"z"
    ),
    "starts without lengths": lambda: b"\r\n\r\nWARC/1.0\r\n\r\n" * 50_000,
    "version lines and no empty line": lambda: b"WARC/1.0\r\nA: b\r\n" * 200_000,
    "version lines before each empty line": lambda: (b"WARC/1.0\r\nA: b\r\n" * 300 + b"\r\n") * 900,
    "nothing but line ends": lambda: b"\r\n" * 5_000_000,
    "nothing but zeros": lambda: bytes(30_000_000),
}

MEASURE = """
import sys, time
from pathlib import Path
from asof.warc.compression import packing
from asof.warc.reader import scan
from asof.warc.split import split
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
path, before = Path(sys.argv[1]), peak()
count = sum(1 for _ in scan(path))
packing(path)
split(path, 4)
print((peak() - before) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc for peak memory")
@pytest.mark.parametrize("case", HOSTILE)
def test_memory_stays_flat_and_time_bounded(tmp_path: Path, case: str) -> None:
    path = put(tmp_path, HOSTILE[case]())  # type: ignore[no-untyped-call]
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < 60, f"{done.stdout} MB"
    assert time.monotonic() - begin < 30


def test_a_part_never_starts_inside_damage(tmp_path: Path) -> None:
    rng = random.Random(21)
    parts = [member(raw(number, rng.randbytes(2000))) for number in range(60)]
    data = bytearray(b"".join(parts))
    for _ in range(25):
        data[rng.randrange(len(data))] ^= 0xFF
    path = put(tmp_path, data)
    whole = list(scan(path))
    for count in (2, 3, 8, 40):
        starts = split(path, count)
        ends = [*starts[1:], None]
        again = [
            item
            for start, end in zip(starts, ends, strict=True)
            for item in scan(path, start=start, end=end)
        ]
        assert again == whole
