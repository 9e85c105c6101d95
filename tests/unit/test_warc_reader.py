"""Reading every form of WARC file that tools have written, and judging its digests."""

from __future__ import annotations

import gzip
import hashlib
import random
import struct
import subprocess
import sys
from base64 import b32encode, b64encode, urlsafe_b64encode
from pathlib import Path

import pytest
import zstandard

from asof.errors import DamageError, InputError
from asof.model import Damage, Location
from asof.warc.compression import Packing, packing
from asof.warc.reader import block_chunks, read_record, scan
from asof.warc.record import StoredRecord, WarcHeader
from asof.warc.split import split
from asof.warc.verify import Soundness, judge, verify


def raw(
    number: int, block: bytes = b"block", *, version: str = "1.0", end: bytes = b"\r\n\r\n",
    newline: bytes = b"\r\n", extra: tuple[bytes, ...] = (), length: bytes | None = None,
) -> bytes:  # fmt: skip
    lines = [
        f"WARC/{version}".encode(),
        b"WARC-Type: resource",
        b"WARC-Record-ID: <urn:x:%d>" % number,
        *extra,
        b"Content-Length: %d" % len(block) if length is None else length,
    ]
    return newline.join([*lines, b"", b""]) + block + end


def member(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def frame(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def put(tmp_path: Path, data: bytes, name: str = "file.warc.gz") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def records(path: Path) -> list[StoredRecord]:
    found = list(scan(path))
    assert [item for item in found if isinstance(item, Damage)] == []
    return [item for item in found if isinstance(item, StoredRecord)]


def names(found: list[StoredRecord]) -> list[str | None]:
    return [item.header.get("WARC-Record-ID") for item in found]


ODD = [raw(1), raw(2, b""), raw(3, b"x" * 70_000), raw(4, b"\r\n\r\n"), raw(5, b"\x00\xff")]
BLOCKS = [b"block", b"", b"x" * 70_000, b"\r\n\r\n", b"\x00\xff"]
FORMS = {
    "plain": b"".join(ODD),
    "a member each": b"".join(map(member, ODD)),
    "one member": member(b"".join(ODD)),
    "two and three": member(ODD[0] + ODD[1]) + member(ODD[2] + ODD[3] + ODD[4]),
    "blocks": b"".join(
        member(b"".join(ODD)[at : at + 997]) for at in range(0, len(b"".join(ODD)), 997)
    ),
    "empty members between": b"".join(member(each) + member(b"") for each in ODD),
    "a frame each": b"".join(map(frame, ODD)),
    "one frame": frame(b"".join(ODD)),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_give_the_same_records(tmp_path: Path, form: str) -> None:
    found = records(put(tmp_path, FORMS[form]))
    assert names(found) == [f"<urn:x:{number}>" for number in range(1, 6)]
    assert [item.data for item in found] == BLOCKS
    assert [item.size for item in found] == [len(block) for block in BLOCKS]
    for item in found:
        held_back = StoredRecord(item.path, item.where, item.header, item.size, None, item.skip)
        assert b"".join(block_chunks(held_back)) == item.data


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("plain", Packing.PLAIN),
        ("a member each", Packing.GZIP),
        ("one member", Packing.GZIP),
        ("two and three", Packing.GZIP),
        ("blocks", Packing.GZIP),
        ("a frame each", Packing.ZSTD),
    ],
)
def test_what_a_file_is_packed_by(tmp_path: Path, form: str, expected: Packing) -> None:
    assert packing(put(tmp_path, FORMS[form])) is expected


@pytest.mark.parametrize("form", ["plain", "a member each", "a frame each"])
def test_a_record_is_read_again_by_its_offset(tmp_path: Path, form: str) -> None:
    path = put(tmp_path, FORMS[form])
    found = records(path)
    assert [read_record(path, item.where.offset) for item in found] == found
    for said in (0, 1, found[0].where.length, 1 << 30):  # whatever a catalog says of their length
        assert [read_record(path, item.where.offset, said) for item in found] == found
    assert [item.where.offset for item in found][1:] == [
        item.where.offset + item.where.length for item in found
    ][:-1]


@pytest.mark.parametrize("name", ["a.warc", "a.warc.zst", "a.txt", "a"])
def test_a_name_may_lie(tmp_path: Path, name: str) -> None:
    for data in (FORMS["plain"], FORMS["a member each"], FORMS["a frame each"]):
        assert len(records(put(tmp_path, data, name))) == 5


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, b"")
    assert list(scan(path)) == []
    assert split(path, 4) == [0]
    assert packing(path) is Packing.PLAIN


def test_a_file_that_cannot_be_opened_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        list(scan(tmp_path / "nowhere.warc.gz"))
    with pytest.raises(InputError, match="Is a directory"):
        list(scan(tmp_path))


@pytest.mark.parametrize("packed", [False, True])
def test_a_dictionary_in_front_of_zstd_frames_is_used(tmp_path: Path, packed: bool) -> None:
    rng = random.Random(5)
    samples = [raw(no, rng.randbytes(30) + b"<html><body>" * 9) for no in range(300)]
    trained = zstandard.train_dictionary(4096, samples)  # type: ignore[arg-type]
    packer = zstandard.ZstdCompressor(dict_data=trained, write_checksum=True)
    dictionary = frame(trained.as_bytes()) if packed else trained.as_bytes()
    head = struct.pack("<II", 0x184D2A5D, len(dictionary)) + dictionary
    path = put(tmp_path, head + b"".join(map(packer.compress, samples)), "a.warc.zst")
    found = records(path)
    assert len(found) == 300
    assert packing(path) is Packing.ZSTD
    starts = split(path, 3)
    assert len(starts) == 3
    assert read_record(path, starts[1]).header.version == "1.0"
    broken = put(tmp_path, head[:100] + b"\x00" * 50 + head[150:] + path.read_bytes()[len(head) :])
    assert all(isinstance(item, Damage) for item in scan(broken))


@pytest.mark.parametrize("version", ["0.17", "0.18", "1.0", "1.1"])
def test_versions(tmp_path: Path, version: str) -> None:
    [found] = records(put(tmp_path, raw(1, version=version)))
    assert found.header.version == version


def test_headers_of_other_tools(tmp_path: Path) -> None:
    cases = {
        "line feeds only": raw(1, newline=b"\n", end=b"\n\n"),
        "line feeds, CRLF at the end": raw(1, newline=b"\n"),
        "a folded value": raw(1, extra=(b"X-Folded: a\r\n\tb\r\n  c",)),
        "no space after colons": raw(1).replace(b": ", b":"),
        "much space": raw(1).replace(b": ", b" :   "),
        "lower case": raw(1).replace(b"Content-L", b"content-l").replace(b"WARC-R", b"warc-r"),
        "a line without colon": raw(1, extra=(b"nonsense",)),
        "Latin-1": raw(1, extra=(b"WARC-Target-URI: http://\xfc/",)),
        "UTF-8": raw(1, extra=("WARC-Target-URI: http://ü/".encode(),)),
        "the length twice": raw(1, extra=(b"Content-Length: 5",)),
        "an unknown name that starts alike": raw(1, extra=(b"Content-Length-Hint: 7",)),
    }
    for case, data in cases.items():
        for form in (data, member(data), data + data, member(data) * 2):
            found = records(put(tmp_path, form))
            assert {item.header.get("warc-record-id") for item in found} == {"<urn:x:1>"}, case
            assert {item.data for item in found} == {b"block"}, case
    assert records(put(tmp_path, cases["a folded value"]))[0].header.get("X-Folded") == "a b c"
    for case in ("Latin-1", "UTF-8"):
        [found] = records(put(tmp_path, cases[case]))  # type: ignore[assignment]
        assert found.header.get("WARC-Target-URI") == "http://ü/", case  # type: ignore[attr-defined]
    assert ("WARC-Type", "resource") in records(put(tmp_path, cases["much space"]))[0].header.fields


@pytest.mark.parametrize("end", [b"", b"\r\n", b"\n", b"\n\n", b"\r\n" * 9, b"\n" * 50_000])
def test_ends_of_records_of_other_tools(tmp_path: Path, end: bytes) -> None:
    data = [raw(1, end=end), raw(2, b"", end=end), raw(3, end=end)]
    for form in (b"".join(data), b"".join(map(member, data)), member(b"".join(data))):
        assert names(records(put(tmp_path, form))) == ["<urn:x:1>", "<urn:x:2>", "<urn:x:3>"]


def test_gzip_headers_with_names_and_extra_fields(tmp_path: Path) -> None:
    plain = member(raw(1))
    for flags, more in ((4, b"\x05\x00extra"), (8, b"name.warc\x00"), (16, b"comment\x00")):
        data = plain[:3] + bytes([flags]) + plain[4:10] + more + plain[10:]
        path = put(tmp_path, data + member(raw(2)) + data)
        assert names(records(path)) == ["<urn:x:1>", "<urn:x:2>", "<urn:x:1>"]
        assert records(path)[0].where.length == len(data)


def test_a_large_block_is_not_held_but_can_be_read(tmp_path: Path) -> None:
    big = random.Random(3).randbytes(1000) * 5000
    digest = b"WARC-Block-Digest: md5:" + hashlib.md5(big).hexdigest().encode()
    data = [raw(1), raw(2, big, extra=(digest,)), raw(3)]
    forms = (
        b"".join(data), b"".join(map(member, data)), member(b"".join(data)),
        b"".join(map(frame, data)), member(data[0] + data[1]) + member(data[2]),
        b"".join(member(b"".join(data)[at : at + 65_000]) for at in range(0, 5_100_000, 65_000)),
    )  # fmt: skip
    for form in forms:
        found = records(put(tmp_path, form))
        assert [item.data for item in found] == [b"block", None, b"block"]
        assert b"".join(block_chunks(found[1])) == big
        assert max(map(len, block_chunks(found[1]))) <= 1 << 20
        assert judge(found[1]) == Soundness([], 1)
    exactly = put(tmp_path, member(raw(1, bytes(4 << 20))) + member(raw(2, bytes((4 << 20) + 1))))
    assert [item.data is None for item in records(exactly)] == [False, True]


def test_reading_what_is_no_longer_there_says_where(tmp_path: Path) -> None:
    path = put(tmp_path, member(raw(1)) + member(raw(2, bytes(5 << 20))))
    _, big = records(path)
    with pytest.raises(DamageError, match=f"{path} at offset 7") as caught:
        read_record(path, 7)
    assert (caught.value.file, caught.value.offset) == (str(path), 7)
    with pytest.raises(DamageError, match="no record starts here"):
        read_record(path, path.stat().st_size)
    put(tmp_path, path.read_bytes()[:-100])
    with pytest.raises(DamageError, match="cut short"):
        b"".join(block_chunks(big))


def test_a_scan_may_start_and_stop_at_records(tmp_path: Path) -> None:
    for form in ("plain", "a member each", "a frame each"):
        path = put(tmp_path, FORMS[form])
        found = records(path)
        second, fourth = found[1].where.offset, found[3].where.offset
        assert list(scan(path, start=second, end=fourth)) == found[1:3]
        assert list(scan(path, start=second, end=fourth - 1)) == found[1:3]
        assert list(scan(path, start=path.stat().st_size)) == []


def test_a_warc_inside_a_record_is_no_place_to_split(tmp_path: Path) -> None:
    """A captured .warc.gz is stored verbatim: members in it look like those of the file."""
    rng = random.Random(11)
    inner = b"".join(member(raw(no, rng.randbytes(900))) for no in range(900, 1200))
    assert inner in member(raw(1, inner)) or len(inner) > 60_000
    outer = b"".join(member(raw(no, inner)) for no in range(8))
    path = put(tmp_path, outer + b"".join(member(raw(no)) for no in range(8, 50)))
    whole = list(scan(path))
    assert names(records(path)) == [f"<urn:x:{number}>" for number in range(50)]
    for parts in (2, 5, 17):
        starts = split(path, parts)
        ends = [*starts[1:], None]
        halves = [
            item
            for start, end in zip(starts, ends, strict=True)
            for item in scan(path, start=start, end=end)
        ]
        assert halves == whole
    plain = put(tmp_path, b"".join(raw(no, raw(99) + raw(98)) for no in range(50)), "a.warc")
    assert set(split(plain, 7)) <= {item.where.offset for item in records(plain)}


def test_a_header_made_from_fields_answers_like_one_that_was_read() -> None:
    fields = (("WARC-Type", "Response"), ("X-A", "1"), ("x-a", "2"), ("WARC-Date", ""))
    header = WarcHeader("1.1", fields)
    assert header.fields == fields
    assert header.kind == "response"
    assert (header.get("x-A"), header.get_all("X-a")) == ("1", ["1", "2"])
    assert header.get("WARC-Date") == ""
    assert header.get("WARC-Truncated") is None
    assert header.get("X-B") is None
    assert header == WarcHeader("1.1", fields)
    assert hash(header) == hash(WarcHeader("1.1", fields))
    assert header != WarcHeader("1.0", fields)
    assert "X-A" in repr(header)
    assert WarcHeader("1.1", ()).kind == ""


# -- Digests ------------------------------------------------------------------------------------

BODY = b"hello"
HTTP = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n" + BODY


def stored(block: bytes, *fields: tuple[str, str], kind: str = "response") -> StoredRecord:
    header = WarcHeader(
        "1.0", (("WARC-Type", kind), ("WARC-Target-URI", "http://a.example/"), *fields)
    )
    return StoredRecord(Path("x"), Location("x", 0, 1), header, len(block), block)


@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "sha512", "md5", "SHA-1", "blake2b"])
def test_digests_of_all_kinds_and_spellings(algorithm: str) -> None:
    name = algorithm.lower().replace("-", "")
    right, wrong = hashlib.new(name, BODY).digest(), hashlib.new(name, b"jello").digest()
    for digest, problems in ((right, 0), (wrong, 1)):
        base32 = b32encode(digest).decode()
        for text in (
            digest.hex(), digest.hex().upper(), base32, base32.lower(), base32.rstrip("="),
            b64encode(digest).decode(), urlsafe_b64encode(digest).decode().rstrip("="),
        ):  # fmt: skip
            record = stored(BODY, ("WARC-Block-Digest", f"{algorithm}:{text}"), kind="resource")
            assert len(verify(record)) == problems, text


@pytest.mark.parametrize("declared", ["xxh3:abc", "A" * 32, "shake_128:00", "x" * 999 + ":1"])
def test_a_digest_of_an_unknown_algorithm_cannot_be_judged(declared: str) -> None:
    assert judge(stored(HTTP, ("WARC-Payload-Digest", declared))) == Soundness([], 0)


@pytest.mark.parametrize(
    "declared", ["sha1:", "sha1:zz", "sha256:" + "0" * 63, "md5:" + "é" * 32, "bogus"]
)
def test_a_value_that_cannot_be_a_digest_is_a_problem(declared: str) -> None:
    [problem] = verify(stored(HTTP, ("WARC-Block-Digest", declared)))
    assert "cannot be right" in problem


def sha1(data: bytes) -> str:
    return "sha1:" + b32encode(hashlib.sha1(data).digest()).decode()


def test_what_the_payload_is() -> None:
    digest = ("WARC-Payload-Digest", sha1(BODY))
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    assert verify(stored(HTTP, digest)) == []
    assert verify(stored(b"POST / HTTP/1.1\r\nA: b\r\n\r\nhello", digest, kind="request")) == []
    assert verify(stored(b"HTTP/1.1 103 Early Hints\r\n\r\n" + HTTP, digest)) == []
    assert verify(stored(BODY, digest, kind="resource")) == []
    assert verify(stored(HTTP, digest, kind="resource")) != []
    assert verify(stored(chunked, digest)) != []
    assert verify(stored(HTTP, ("WARC-Payload-Digest", sha1(HTTP)), kind="revisit")) == []
    assert (
        verify(stored(BODY, ("WARC-Segment-Number", "2"), ("WARC-Payload-Digest", "sha1:x"))) == []
    )
    assert verify(stored(b"", ("WARC-Payload-Digest", sha1(b"")))) == []
    assert verify(stored(b"", ("WARC-Block-Digest", sha1(b"x")))) != []


def test_a_large_payload_is_judged_in_pieces(tmp_path: Path) -> None:
    body = random.Random(4).randbytes(5 << 20)
    http = b"HTTP/1.1 200 OK\r\n\r\n" + body
    for payload, problems in ((sha1(body), 0), (sha1(b""), 1)):
        data = (
            b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\n"
            b"WARC-Payload-Digest: %b\r\nWARC-Block-Digest: %b\r\nContent-Length: %d\r\n\r\n"
        ) % (payload.encode(), sha1(http).encode(), len(http))
        [found] = records(put(tmp_path, member(data + http + b"\r\n\r\n")))
        assert found.data is None
        assert len(verify(found)) == problems
        assert judge(found).verified == 2 - problems


HEADS = [
    b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", b"HTTP/1.1 200 OK\nA: b\n\n", b"HTTP/1.1 200 OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nA: b\r\n \r\n\r\n", b"\r\n", b"HTTP/1.1 200 OK\r\nA: b", b"no head\n\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.0 200\n\r\n", b"",
]  # fmt: skip


def test_warcio_check_says_the_same(tmp_path: Path) -> None:
    """Over odd heads and every place a payload may start; the one difference is documented."""
    kinds = ("response", "request", "resource", "revisit", "metadata")
    cases = [
        (kind, head + BODY, start)
        for head in HEADS
        for start in range(len(head + BODY) + 1)
        for kind in kinds
    ]
    data = []
    for number, (kind, block, start) in enumerate(cases):
        lines = (
            "WARC/1.0", f"WARC-Type: {kind}", f"WARC-Record-ID: <urn:x:{number}>",
            "WARC-Target-URI: http://a.example/", f"WARC-Payload-Digest: {sha1(block[start:])}",
            f"WARC-Block-Digest: {sha1(block)}", f"Content-Length: {len(block)}", "", "",
        )  # fmt: skip
        data.append("\r\n".join(lines).encode() + block + b"\r\n\r\n")
    path = put(tmp_path, b"".join(map(member, data)))
    done = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()  # type: ignore[assignment]
    theirs = {int(line.split("<urn:x:")[1].split(">")[0]) for line in lines if "<urn:x:" in line}
    ours = {number for number, found in enumerate(records(path)) if verify(found)}
    assert ours <= theirs
    for number in theirs - ours:
        kind, block, start = cases[number]
        assert kind in ("response", "request")
        interim = block.startswith(b"HTTP/1.1 100") and start == block.rindex(b"\n") + 1
        no_head = not block.startswith(b"HTTP/") and start == 0
        space_line = b"\r\n \r\n" in block
        assert interim or no_head or space_line, (block, start)
