"""Hostile ARC, TREC-Web and WACZ files, below the command line: nothing is raised, nothing escapes,
memory stays flat, time stays in proportion, and what is whole still comes.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import random
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from asof.errors import InputError
from asof.model import Damage
from asof.warc.foreign.arc import read_arc
from asof.warc.foreign.detect import sniff
from asof.warc.foreign.trec import read_trec
from asof.warc.foreign.wacz import extract_warcs, wacz_members
from asof.warc.record import Record

MB = 1 << 20
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>fish</p>\n"
WARC = gzip.compress(
    b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n", mtime=0
)
FILEDESC = b"filedesc://x.arc 0.0.0.0 20050614070159 text/plain 12\n1 0 by-hand\n\n"


def arc(url: bytes, block: bytes = PAGE, length: int | None = None) -> bytes:
    size = len(block) if length is None else length
    return b"%b 192.0.2.7 20050614070144 text/html %d\n%b\n" % (url, size, block)


def trec(number: int, content: bytes = b"<p>fish</p>\n") -> bytes:
    return (
        b"<DOC>\n<DOCNO>D-%d</DOCNO>\n<DOCHDR>\nhttp://a/%d 192.0.2.7 19970101013145 text/html 9\n"
        b"HTTP/1.0 200 OK\n</DOCHDR>\n%b</DOC>\n" % (number, number, content)
    )


def urls(items: Iterable[Record | Damage]) -> list[str]:
    records = [dict(item.fields) for item in items if isinstance(item, Record)]
    return [
        fields["WARC-Target-URI"]
        for fields in records
        if fields["WARC-Type"] != "metadata" and "WARC-Asof-Anomalies" not in fields
    ]


def bomb(head: bytes, unit: bytes, times: int, tail: bytes = b"") -> bytes:
    """A gzip member of head, `unit` many times, and tail, without ever holding what it unpacks to.

    After a full flush a stretch of deflate does not depend on what was before: it can be repeated.
    """
    stretches = []
    for data, flush in (
        (head, zlib.Z_FULL_FLUSH),
        (unit, zlib.Z_FULL_FLUSH),
        (tail, zlib.Z_FINISH),
    ):
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        stretches.append(packer.compress(data) + packer.flush(flush))
    crc = zlib.crc32(head)
    for _ in range(times):
        crc = zlib.crc32(unit, crc)
    crc = zlib.crc32(tail, crc)
    size = (len(head) + times * len(unit) + len(tail)) & 0xFFFFFFFF
    body = stretches[0] + stretches[1] * times + stretches[2]
    return b"\x1f\x8b\x08" + bytes(6) + b"\x03" + body + struct.pack("<II", crc, size)


CHILD = """
import json, resource, sys, tempfile, time
from pathlib import Path
from asof.model import Damage
from asof.warc.foreign.arc import read_arc
from asof.warc.foreign.detect import sniff
from asof.warc.foreign.trec import read_trec
from asof.warc.foreign.wacz import extract_warcs, wacz_members

path, reader, spare = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + spare, used + spare))
urls, damage = [], []
with tempfile.TemporaryDirectory(dir=path.parent) as spool:
    try:
        kind = sniff(path).value
    except Exception as error:
        kind = str(error)
    make = {"arc": read_arc, "trec": read_trec, "wacz": extract_warcs}[reader]
    for item in make(path, Path(spool)):
        if isinstance(item, Damage):
            damage.append([item.offset, item.reason])
        elif isinstance(item, tuple):
            urls.append(item[0])
            item[1].unlink()
        else:
            fields = dict(item.fields)
            if fields["WARC-Type"] != "metadata" and "WARC-Asof-Anomalies" not in fields:
                urls.append(fields["WARC-Target-URI"])
            for part in item.block:
                part.discard()
    left = [str(name) for name in Path(spool).iterdir()]
cpu = time.process_time()
json.dump({"kind": kind, "urls": urls, "damage": damage, "left": left, "cpu": cpu}, sys.stdout)
"""


def under_limit(path: Path, reader: str, *, spare: int = 64 * MB, timeout: float = 120) -> dict:
    """Read a file in a process that may take only `spare` more memory than it starts with."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), reader, str(spare)],
        capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    assert report["left"] == []
    return report


def test_the_limit_itself_is_felt(tmp_path: Path) -> None:
    """What takes as much as these bombs unpack to does not pass."""
    code = CHILD.replace("urls, damage = [], []", "bytes(128 << 20)")
    (tmp_path / "x").write_bytes(b"")
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x"), "arc", str(64 * MB)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "MemoryError" in done.stderr


# -- bombs in gzip and zstd -----------------------------------------------------------------------

ZEROS = bytes(4 * MB)


@pytest.mark.parametrize(
    ("head", "unit"),
    [
        (arc(b"http://bomb/", length=10**12)[:-1], ZEROS),
        (arc(b"http://bomb/", length=100)[:-1], ZEROS),
        (b"http://bomb/", b"A" * 4 * MB),
        (b"http://bomb/", b" 20050614070144" * 200_000),
        (b"", b"http://bomb/ 1.2.3.4 2005\n" * 20_000),
        (FILEDESC.replace(b" 12\n", b" 99999999999\n"), ZEROS),
    ],
    ids=["declared more", "declared less", "long line", "many fields", "many lines", "filedesc"],
)
def test_arc_bombs(tmp_path: Path, head: Any, unit: Any) -> None:
    good = [gzip.compress(part) for part in (FILEDESC, arc(b"http://a/1"), arc(b"http://a/2"))]
    path = tmp_path / "x.arc.gz"
    path.write_bytes(good[0] + good[1] + bomb(head, unit, 32) + good[2])
    report = under_limit(path, "arc")
    assert report["kind"] == "arc"
    assert {"http://a/1", "http://a/2"} <= set(report["urls"])
    if head.startswith(b"http"):
        assert report["damage"][0][0] == len(good[0] + good[1])
    assert len(report["damage"]) <= 3


def test_an_honest_arc_record_of_128_megabytes_comes_in_flat_memory(tmp_path: Path) -> None:
    head = b"http://big/ 192.0.2.7 20050614070144 text/html %d\n" % (len(PAGE) + 32 * len(ZEROS))
    path = tmp_path / "x.arc.gz"
    path.write_bytes(bomb(FILEDESC + head + PAGE, ZEROS, 32, b"\n" + arc(b"http://a/2")))
    report = under_limit(path, "arc", spare=32 * MB)
    assert report["urls"] == ["http://big/", "http://a/2"]
    assert report["damage"] == []


@pytest.mark.parametrize(
    ("head", "unit"),
    [
        (trec(7)[:-8], ZEROS),
        (b"<DOC>\n<DOCNO>", b"A" * 4 * MB),
        (b"<DOC>\n<DOCNO>x</DOCNO>\n<DOCHDR>\n", b"H: v\n" * 800_000),
        (b"<DOC>", b"<" * 4 * MB),
        (b"", b" \n" * 2 * MB),
    ],
    ids=["content", "docno", "dochdr", "tags", "blank"],
)
def test_trec_bombs(tmp_path: Path, head: Any, unit: Any) -> None:
    path = tmp_path / "x.trec.gz"
    path.write_bytes(
        gzip.compress(trec(1)) + bomb(head, unit, 32, b"</DOC>\n") + gzip.compress(trec(2))
    )
    report = under_limit(path, "trec")
    assert {"http://a/1", "http://a/2"} <= set(report["urls"])
    assert len(report["urls"]) + len(report["damage"]) == 3


@pytest.mark.parametrize("reader", ["arc", "trec"])
def test_zstd_bombs(tmp_path: Path, reader: str) -> None:
    packer = zstandard.ZstdCompressor(level=3).compressobj()
    start = FILEDESC + arc(b"http://a/1") + arc(b"http://b/", length=10**11)[:-1]
    data = [packer.compress(start if reader == "arc" else trec(1) + trec(2)[:-8])]
    data += [packer.compress(ZEROS) for _ in range(64)]
    path = tmp_path / "x.zst"
    path.write_bytes(b"".join(data) + packer.flush())
    assert path.stat().st_size < 1 * MB
    report = under_limit(path, reader)
    assert report["urls"] == ["http://a/1"]
    assert len(report["damage"]) == 1


# -- files that cost time -------------------------------------------------------------------------


def in_time(path: Path, data: bytes, reader: str, seconds: float = 10) -> dict:
    """The report, after at most so many seconds of work, however busy the machine is."""
    path.write_bytes(data)
    report = under_limit(path, reader, spare=96 * MB, timeout=300)
    assert report["cpu"] < seconds
    return report


def test_a_hundred_thousand_tiny_members(tmp_path: Path) -> None:
    one = [gzip.compress(bytes([byte]), mtime=0) for byte in b"http://b/ x\n"]
    data = (
        gzip.compress(arc(b"http://a/1")) + b"".join(one) * 8000 + gzip.compress(arc(b"http://a/2"))
    )
    report = in_time(tmp_path / "x", data, "arc")
    assert "http://a/1" in report["urls"]
    assert len(report["damage"]) <= 2


def test_a_hundred_thousand_empty_members(tmp_path: Path) -> None:
    empty = gzip.compress(b"", mtime=0)
    data = gzip.compress(arc(b"http://a/1")) + empty * 100_000 + gzip.compress(arc(b"http://a/2"))
    report = in_time(tmp_path / "x", data, "arc")
    assert report["urls"] == ["http://a/1", "http://a/2"]
    assert report["damage"] == []


def test_magic_numbers_everywhere(tmp_path: Path) -> None:
    fake = b"\x1f\x8b\x08\x00" + bytes(6) + b"\x03\x00" + b"\x01" * 8
    data = gzip.compress(arc(b"http://a/1")) + fake * 100_000
    report = in_time(tmp_path / "x", data, "arc")
    assert report["urls"] == ["http://a/1"]
    assert report["damage"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_lengths_that_all_reach_almost_to_the_end(tmp_path: Path, pack: Any) -> None:
    parts = [arc(b"http://a/%06d" % number) for number in range(20_000)]
    total, each = sum(map(len, parts)), len(parts[0])
    parts = [
        arc(b"http://a/%06d" % number, length=total - (number + 3) * each - 20)
        if number % 2 and number < 19_990 else part
        for number, part in enumerate(parts)
    ]  # fmt: skip
    report = in_time(tmp_path / "x", pack(FILEDESC + b"".join(parts)), "arc", 30)
    assert report["urls"][0] == "http://a/000000"
    assert report["damage"]


def test_lines_and_tags_that_almost_match(tmp_path: Path) -> None:
    lines = b"http://a/ 1.2.3.4 20050614070144 text/html x\n" * 100_000 + b"a:\n" * 300_000
    assert in_time(tmp_path / "x", FILEDESC + lines, "arc")["urls"] == []
    tags = (b"</DOC" + b" " * 9) * 50_000 + b"<DOC>" * 50_000 + b"<DOCHDR>" * 50_000
    report = in_time(tmp_path / "y", trec(1) + b"<DOC>" + tags, "trec")
    assert report["urls"] == ["http://a/1"]
    assert len(report["damage"]) < 60_000


# -- WACZ: names ----------------------------------------------------------------------------------


def wacz(path: Path, members: Iterable[tuple[str, bytes]], kind: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as pack:
        for name, data in members:
            pack.writestr(zipfile.ZipInfo(name), data, kind)
    return path


def taken(path: Path, into: Path) -> tuple[list[tuple[str, bytes]], list[str]]:
    items = list(extract_warcs(path, into))
    files = [(item[0], item[1].read_bytes()) for item in items if isinstance(item, tuple)]
    return files, [item.reason for item in items if isinstance(item, Damage)]


NAMES = [
    "../escape.warc.gz", "../../../../escape.warc.gz", "archive/../../escape.warc.gz",
    "/tmp/asof-foreign-escape.warc.gz", "archive\\..\\..\\escape.warc.gz", "C:\\escape.warc.gz",
    "archive/.warc.gz", "..warc.gz", "archive/a\nb.warc.gz", "archive/\x1b[2Ja.warc.gz",
    "~.warc.gz",
    "archive/" + "x" * 5000 + ".warc.gz", "-rf.warc.gz", "archive/con.warc.gz", "\u202egpj.warc.gz",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_a_member_reaches_the_file_system(tmp_path: Path, name: str) -> None:
    home = tmp_path / "a" / "b" / "c"
    home.mkdir(parents=True)
    path = wacz(home / "x.wacz", [(name, WARC), ("archive/good.warc.gz", WARC)])
    before = set(tmp_path.rglob("*"))
    into = home / "into"
    items = [item for item in extract_warcs(path, into) if isinstance(item, tuple)]
    assert len(items) == 2
    assert set(tmp_path.rglob("*")) - before == {into, *(file for _, file in items)}
    for shown, file in items:
        assert file.parent == into
        assert not file.is_symlink()
        assert file.read_bytes() == WARC
        assert shown.isascii()
        assert shown.isprintable()
        assert "/" not in shown
        assert not shown.startswith(".")
        assert len(shown) <= 120
    assert all(entry.name.isprintable() for _, entry in wacz_members(path))
    assert not Path("/tmp/asof-foreign-escape.warc.gz").exists()


def test_a_name_with_nul_does_not_hide_what_follows_it(tmp_path: Path) -> None:
    path = wacz(tmp_path / "x.wacz", [("archive/abcdef.warc.gz", WARC)])
    path.write_bytes(path.read_bytes().replace(b"abcdef", b"a\0../b"))
    files, _ = taken(path, tmp_path / "into")
    assert [data for _, data in files] == [WARC]


def test_two_members_of_one_name_both_come(tmp_path: Path) -> None:
    other = gzip.compress(b"WARC/1.1\r\nother\r\n\r\n")
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = wacz(tmp_path / "x.wacz", [("a.warc.gz", WARC), ("a.warc.gz", other)])
    files, damage = taken(path, tmp_path / "into")
    assert files == [("a.warc.gz", WARC), ("a.warc.gz", other)]
    assert damage == []


def test_links_and_folders_are_not_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret.warc.gz"
    secret.write_bytes(WARC)
    path = tmp_path / "x.wacz"
    with zipfile.ZipFile(path, "w") as pack:
        link = zipfile.ZipInfo("archive/link.warc.gz")
        link.external_attr = 0o120777 << 16
        pack.writestr(link, str(secret))
        pack.mkdir("archive/folder.warc.gz")
        pack.writestr("archive/good.warc.gz", WARC)
    files, damage = taken(path, tmp_path / "into")
    assert files == [("good.warc.gz", WARC)]
    assert damage == ["archive/link.warc.gz is a symbolic link, not a file"]


# -- WACZ: bombs ----------------------------------------------------------------------------------


def test_a_deflated_member_of_zeros_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("archive/good.warc.gz", WARC)
        with pack.open("archive/bomb.warc", "w", force_zip64=True) as member:
            for _ in range(32):
                member.write(ZEROS)
    report = under_limit(path, "wacz")
    assert report["urls"] == ["good.warc.gz"]
    assert [("100 times" in reason) for _, reason in report["damage"]] == [True]


def patched(path: Path, *changes: tuple[str, int, int, bytes]) -> Path:
    """Change fields of (local or central) header number so-and-so."""
    data = bytearray(path.read_bytes())
    for where, number, field, value in changes:
        magic = b"PK\x03\x04" if where == "local" else b"PK\x01\x02"
        at = -1
        for _ in range(number + 1):
            at = data.index(magic, at + 1)
        data[at + field : at + field + len(value)] = value
    path.write_bytes(data)
    return path


def test_a_member_that_declares_less_than_it_is(tmp_path: Path) -> None:
    members = [("archive/liar.warc", b"x" * 90_000), ("archive/good.warc.gz", WARC)]
    path = wacz(tmp_path / "x.wacz", members, zipfile.ZIP_DEFLATED)
    patched(path, ("central", 0, 24, struct.pack("<I", 1000)))
    files, damage = taken(path, tmp_path / "into")
    assert [name for name, _ in files if name.startswith("good")] == ["good.warc.gz"]
    assert sum(len(data) for _, data in files) < 3000
    assert damage == ["archive/liar.warc unpacks to more than the 1000 bytes it declares"]


def test_a_member_that_declares_more_than_it_is(tmp_path: Path) -> None:
    members = [("archive/liar.warc", b"xyz" * 900), ("archive/good.warc.gz", WARC)]
    path = wacz(tmp_path / "x.wacz", members, zipfile.ZIP_DEFLATED)
    patched(path, ("central", 0, 24, struct.pack("<I", 3000)))
    files, damage = taken(path, tmp_path / "into")
    assert files == [("liar.warc", b"xyz" * 900), ("good.warc.gz", WARC)]
    assert damage == ["archive/liar.warc has 2700 of the 3000 bytes it declares"]


def test_a_member_larger_than_the_disk_is_refused_unseen(tmp_path: Path) -> None:
    path = wacz(tmp_path / "x.wacz", [("a.warc", bytes(4 * MB)), ("b.warc.gz", WARC)], 8)
    extra = struct.pack("<HHQQ", 1, 16, 1 << 60, 1 << 59)
    data = path.read_bytes()
    central = data.index(b"PK\x01\x02")
    name = data[central + 46 : central + 46 + 6]
    head = bytearray(data[central : central + 46])
    struct.pack_into("<IIHH", head, 20, 0xFFFFFFFF, 0xFFFFFFFF, 6, len(extra))
    end = data.index(b"PK\x05\x06")
    rest = data[central + 52 : end]
    tail = bytearray(data[end:])
    struct.pack_into("<I", tail, 12, len(head) + 6 + len(extra) + len(rest))
    path.write_bytes(data[:central] + bytes(head) + name + extra + rest + bytes(tail))
    files, damage = taken(path, tmp_path / "into")
    assert files == [("b.warc.gz", WARC)]
    (reason,) = damage
    assert reason.startswith(f"a.warc unpacks to {1 << 60:,} bytes, more than 100 times its size")


def test_members_that_share_their_bytes_unpack_once(tmp_path: Path) -> None:
    """As in the ZIP of 46 MB that unpacks to 4.5 PB."""
    members = [(f"archive/{number:04d}.warc", b"x" * 50) for number in range(1000)]
    members[0] = ("archive/0000.warc", os.urandom(MB))
    path = wacz(tmp_path / "x.wacz", members)
    data = bytearray(path.read_bytes())
    first = data.index(b"PK\x01\x02")
    at = first
    for _ in range(999):
        at = data.index(b"PK\x01\x02", at + 1)
        data[at + 16 : at + 28] = data[first + 16 : first + 28]
        data[at + 42 : at + 46] = data[first + 42 : first + 46]
    path.write_bytes(data)
    files, damage = taken(path, tmp_path / "into")
    assert [len(data) for _, data in files if len(data) > 50] == [MB]
    assert sum("shares its bytes" in reason for reason in damage) == 999


def test_a_directory_of_too_many_entries(tmp_path: Path) -> None:
    local = struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, 0, 0, 6, 0) + b"a.warc"
    entry = struct.pack(
        "<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0
    )
    size = 250_000 * (len(entry) + 6)
    end64 = struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 250_000, 250_000, size, 36)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, 36 + size, 1)
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0)
    path = tmp_path / "x.wacz"
    path.write_bytes(local + (entry + b"a.warc") * 250_000 + end64 + locator + end)
    report = under_limit(path, "wacz", spare=160 * MB)
    assert report["urls"] == []
    assert ["only the first 200,000" in reason for _, reason in report["damage"]] == [True]


@pytest.mark.parametrize(
    "manifest",
    [
        b"[" * 200_000,
        b"{" * 10,
        b"\xff\xfe",
        b"0" * 100,
        b'{"a": ' + b"9" * 5000 + b"}",
        bytes(8 * MB),
    ],
    ids=["deep", "open", "binary", "number", "long number", "large"],
)
def test_hostile_manifests(tmp_path: Path, manifest: Any) -> None:
    members = [("archive/a.warc.gz", WARC), ("datapackage.json", manifest),
               ("datapackage-digest.json", manifest)]  # fmt: skip
    files, damage = taken(wacz(tmp_path / "x.wacz", members), tmp_path / "into")
    assert files == [("a.warc.gz", WARC)]
    assert len(damage) == 1
    assert "datapackage.json" in damage[0]


# -- WACZ: methods, wounds, torn files ------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        (8, b"\x01\x00", "is encrypted"),
        (10, b"\x0c\x00", "not supported (bzip2)"),
        (10, b"\x63\x00", "not supported (AES)"),
        (10, b"\x39\x05", "not supported (number 1337)"),
        (42, struct.pack("<I", 0x7FFFFFF0), "has no header where the directory says"),
    ],
)
def test_members_that_cannot_be_read_do_not_cost_the_others(
    tmp_path: Path, field: int, value: Any, reason: str
) -> None:
    path = wacz(tmp_path / "x.wacz", [("a.warc.gz", WARC), ("b.warc.gz", WARC)])
    patched(path, ("central", 0, field, value))
    files, damage = taken(path, tmp_path / "into")
    assert ("b.warc.gz", WARC) in files
    assert any(reason in one for one in damage)
    # What the directory has lost is found by its own header.
    assert (("a.warc.gz", WARC) in files) == (field == 42)


def streamed(members: list[tuple[bytes, bytes]], *, wide: bool) -> bytes:
    """A ZIP as written to a pipe: sizes and checksums come after the bytes."""
    out = b""
    for name, data in members:
        out += struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 45, 8, 0, 0, 0, 0, 0, 0, len(name), 0)
        crc = zlib.crc32(data)
        form = "<4sIQQ" if wide else "<4sIII"
        out += name + data + struct.pack(form, b"PK\x07\x08", crc, len(data), len(data))
    return out


@pytest.mark.parametrize("wide", [False, True])
def test_a_streamed_zip_without_its_end(tmp_path: Path, wide: bool) -> None:
    tricky = WARC + b"PK\x07\x08" + bytes(20) + b"PK\x03\x04" + bytes(30) + WARC
    members = [(b"archive/a.warc.gz", tricky), (b"archive/b.warc.gz", WARC)]
    data = streamed(members, wide=wide)
    path = tmp_path / "x.wacz"
    path.write_bytes(data + b"PK\x01\x02")
    files, damage = taken(path, tmp_path / "into")
    assert files == [("a.warc.gz", tricky), ("b.warc.gz", WARC)]
    assert len(damage) == 1
    assert "2 entries" in damage[0]
    path.write_bytes(data[:-30])
    files, damage = taken(path, tmp_path / "torn")
    assert files[0] == ("a.warc.gz", tricky)
    assert WARC.startswith(files[1][1])


def test_a_zip_cut_anywhere_gives_every_whole_member(tmp_path: Path) -> None:
    whole = wacz(tmp_path / "x.wacz", [(f"archive/{n}.warc.gz", WARC) for n in range(3)])
    data = whole.read_bytes()
    ends = [data.index(WARC, 0) + len(WARC)]
    for _ in range(2):
        ends.append(data.index(WARC, ends[-1]) + len(WARC))
    for cut in range(31, len(data)):
        whole.write_bytes(data[:cut])
        into = tmp_path / str(cut)
        try:
            files, damage = taken(whole, into)
        except InputError:
            assert cut < ends[0]
            continue
        got = [content for _, content in files]
        count = sum(end <= cut for end in ends)
        assert got[:count] == [WARC] * count
        assert all(WARC.startswith(rest) for rest in got[count:])
        assert damage


# -- any bytes at all -----------------------------------------------------------------------------


def exhaust(path: Path, spool: Path) -> None:
    """Read a file as everything it might be; only an InputError may come out."""
    for reader in (read_arc, read_trec, extract_warcs):
        try:
            for item in reader(path, spool):
                if isinstance(item, Damage):
                    assert 0 <= item.offset <= path.stat().st_size
                    assert item.reason.isprintable()
                elif isinstance(item, Record):
                    for part in item.block:
                        part.discard()
        except InputError:
            assert reader is extract_warcs
    with contextlib.suppress(InputError):
        sniff(path)


def seeds() -> list[bytes]:
    arcs = [FILEDESC, arc(b"http://a/1"), arc(b"dns:a", b"text"), arc(b"http://a/2", PAGE * 40)]
    trecs = [trec(1), trec(2, b"</DOC>"), trec(3)]
    manifest = json.dumps(
        {
            "resources": [
                {"path": "archive/a.warc.gz", "hash": "sha256:" + hashlib.sha256(WARC).hexdigest()}
            ]
        }
    )
    return [
        b"".join(arcs), b"".join(map(gzip.compress, arcs)), gzip.compress(b"".join(arcs)),
        zstandard.compress(b"".join(arcs)), b"".join(trecs), b"".join(map(gzip.compress, trecs)),
        zipped(zipfile.ZIP_STORED, manifest), zipped(zipfile.ZIP_DEFLATED, manifest),
        streamed([(b"archive/a.warc.gz", WARC), (b"b.warc", b"x" * 99)], wide=True),
    ]  # fmt: skip


def zipped(kind: int, manifest: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as pack:
        pack.writestr("archive/a.warc.gz", WARC)
        pack.writestr("archive/b.warc", gzip.decompress(WARC) * 20)
        pack.writestr("datapackage.json", manifest)
    return out.getvalue()


SEEDS = seeds()


@pytest.mark.parametrize("number", range(len(SEEDS)))
def test_mutated_files_raise_nothing(tmp_path: Path, number: Any) -> None:
    chance = random.Random(number)
    path = tmp_path / "x"
    for _ in range(150):
        data = bytearray(SEEDS[number])
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(data))
            kind = chance.choice(["flip", "cut", "insert", "delete", "number"])
            if kind == "flip":
                data[at] ^= 1 << chance.randrange(8)
            elif kind == "cut" and len(data) > 20:
                del data[max(at, 10) :]
            elif kind == "insert":
                data[at:at] = chance.randbytes(chance.randrange(1, 40))
            elif kind == "delete":
                del data[at : at + chance.randrange(1, 40)]
            else:
                data[at : at + 4] = chance.choice([b"\xff" * 4, bytes(4), b"9999", b"PK\x03\x04"])
            data = data or bytearray(b"x")
        path.write_bytes(data)
        exhaust(path, tmp_path / "spool" if number > 5 else tmp_path)


@given(data=st.binary(max_size=300))
def test_random_bytes_raise_nothing(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    path = tmp_path_factory.mktemp("any") / "x"
    for start in (
        b"",
        b"\x1f\x8b\x08\x00",
        b"PK\x03\x04",
        b"\x28\xb5\x2f\xfd",
        b"filedesc://",
        b"<DOC>",
    ):
        path.write_bytes(start + data)
        exhaust(path, path.parent)
