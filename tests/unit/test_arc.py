"""ARC 1.0 and 1.1 in: fields, forms, wrong lengths, damage. warcio's converter is the referee."""

from __future__ import annotations

import gzip
import hashlib
import io
import random
from base64 import b32encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from asof.errors import InputError
from asof.model import Damage
from asof.warc.foreign.arc import parse_heading, read_arc
from asof.warc.record import Record
from support.foreign_records import block, damage, field

DEFINITION = b"URL IP-address Archive-date Content-type Archive-length\n"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11\r\n\r\n<p>fish</p>"


def version_block(name: bytes = b"hand.arc", *, extra: bytes = b"", off: int = 0) -> bytes:
    block = b"1 %d by-hand\n" % bool(extra) + DEFINITION + extra
    line = b"filedesc://%b 0.0.0.0 20050614070159 text/plain %d\n" % (name, len(block) + off)
    return line + block + b"\n"


def arc(
    url: bytes,
    block: bytes = PAGE,
    *,
    ip: bytes = b"192.0.2.7",
    date: bytes = b"20050614070144",
    kind: bytes = b"text/html",
    length: int | None = None,
) -> bytes:
    size = len(block) if length is None else length
    return b"%b %b %b %b %d\n%b\n" % (url, ip, date, kind, size, block)


def found(path: Path, data: bytes = b"") -> list[Record | Damage]:
    if data:
        path.write_bytes(data)
    return list(read_arc(path, path.parent))


def records(items: list[Record | Damage]) -> list[Record]:
    """What is whole, and not the version block."""
    kept = [item for item in items if isinstance(item, Record)]
    kept = [record for record in kept if field(record, "WARC-Type") != "metadata"]
    return [record for record in kept if field(record, "WARC-Asof-Anomalies") is None]


def urls(items: list[Record | Damage]) -> list[str | None]:
    return [field(record, "WARC-Target-URI") for record in records(items)]


def sha256(data: bytes) -> str:
    return "sha256:" + b32encode(hashlib.sha256(data).digest()).decode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hand.arc"


# -- what a record becomes ------------------------------------------------------------------------


def test_a_page_becomes_a_response(path: Path) -> None:
    first, record = found(path, version_block() + arc(b"http://example.com/"))
    assert field(first, "WARC-Type") == "metadata"
    assert field(first, "WARC-Target-URI") is None
    assert field(first, "Content-Type") == "text/plain"
    assert block(first) == version_block()[:-1]
    identity = field(record, "WARC-Record-ID")
    assert identity is not None
    assert record.fields == (
        ("WARC-Type", "response"),
        ("WARC-Record-ID", identity),
        ("WARC-Date", "2005-06-14T07:01:44Z"),
        ("WARC-Target-URI", "http://example.com/"),
        ("WARC-IP-Address", "192.0.2.7"),
        ("WARC-Block-Digest", sha256(PAGE)),
        ("WARC-Payload-Digest", sha256(b"<p>fish</p>")),
        ("Content-Type", "application/http;msgtype=response"),
    )
    assert block(record) == PAGE


def test_a_record_of_version_2_has_ten_fields(path: Path) -> None:
    head = (
        b"filedesc://two.arc 0 20050614070159 text/plain 200 - - 0 two.arc 122\n2 0 by-hand\n"
        b"URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename "
        b"Archive-length\n\n"
    )
    line = b"http://example.com/a 192.0.2.7 20050614070144 text/html 200 abc123 - 1057 two.arc %d\n"
    items = found(path, head + line % len(PAGE) + PAGE + b"\n" + arc(b"http://example.com/b"))
    assert urls(items) == ["http://example.com/a", "http://example.com/b"]
    assert field(records(items)[0], "WARC-IP-Address") == "192.0.2.7"
    assert not damage(items)


def test_what_is_not_http_becomes_a_resource(path: Path) -> None:
    answer = b"20050614070144\nexample.com. 600 IN A 192.0.2.7\n"
    items = found(
        path,
        version_block()
        + arc(b"dns:example.com", answer, kind=b"text/dns")
        + arc(b"ftp://example.com/a.txt", b"hello", kind=b"text/plain")
        + arc(b"http://example.com/0.9", b"<p>no head</p>", kind=b"text/html; charset=x")
        + arc(b"http://example.com/none", b"", kind=b"no-type"),
    )
    assert not damage(items)
    kinds = [(field(r, "WARC-Type"), field(r, "Content-Type")) for r in records(items)]
    assert kinds == [
        ("resource", "text/dns"),
        ("resource", "text/plain"),
        ("resource", "text/html"),
        ("resource", "application/octet-stream"),
    ]
    assert block(records(items)[0]) == answer
    assert field(records(items)[1], "WARC-Payload-Digest") == sha256(b"hello")


def test_a_payload_behind_an_interim_answer_gets_no_digest(path: Path) -> None:
    (record,) = records(found(path, arc(b"http://a/", b"HTTP/1.1 100 Continue\r\n\r\n" + PAGE)))
    assert field(record, "WARC-Type") == "response"
    assert field(record, "WARC-Payload-Digest") is None
    assert field(record, "WARC-Block-Digest") == sha256(b"HTTP/1.1 100 Continue\r\n\r\n" + PAGE)


@pytest.mark.parametrize(
    ("line", "url", "media_type", "length"),
    [
        (b"http://a/ 1.2.3.4 20050614070144 text/html 5\n", "http://a/", "text/html", 5),
        (b"http://a/b c d 1.2.3.4 20050614070144 x/y 5", "http://a/b%20c%20d", "x/y", 5),
        (b"http://a/ 1 20050614 1 20050614070144 x/y 5", "http://a/%201%2020050614", "x/y", 5),
        (b"http://a/ 1.2.3.4 20050614070144 x/y; charset=utf-8 5\n", "http://a/", "x/y", 5),
        (b"http://a/\xfc\xc3\xbc\t 1.2.3.4 200506140701 - 0\r\n", "http://a/%FC%C3%BC%09", "", 0),
        (b"http://a/\xc3\xbc \xc2\xa0 1.2.3.4 200506140701 - 0\n", "http://a/\xfc%20%C2%A0", "", 0),
        (b"http://a/ 1.2.3.4 20050614070144123 t/x 5\n", "http://a/", "t/x", 5),
    ],
)  # fmt: skip
def test_url_records_are_read_from_the_right(
    line: bytes, url: str, media_type: str, length: int
) -> None:
    heading = parse_heading(line)
    assert heading is not None
    assert (heading.url, heading.media_type, heading.length) == (url, media_type, length)
    assert heading.at is not None


@pytest.mark.parametrize(
    "line",
    [
        b"", b"\n", b"no scheme 1.2.3.4 20050614070144 text/html 5\n",
        b"http://a/ 1.2.3.4 20050614070144 text/html -1\n",
        b"http://a/ 1.2.3.4 20050614070144 text/html abc\n",
        b"http://a/ 1.2.3.4 yesterday text/html 5\n", b"http://a/ 20050614070144 5\n",
        b"http://a/ 1.2.3.4 20050614070144 text/html 99999999999999999\n",
        b"http://a/" + b"x" * 70_000 + b" 1.2.3.4 20050614070144 text/html 5\n",
    ],
)  # fmt: skip
def test_lines_that_are_no_url_records(line: bytes) -> None:
    assert parse_heading(line) is None


@pytest.mark.parametrize(
    ("given", "kept"), [(b"192.0.2.7", "192.0.2.7"), (b"2001:DB8::1", "2001:db8::1"),
                        (b"0.0.0.0", None), (b"-", None), (b"0", None), (b"a.b", None)],
)  # fmt: skip
def test_addresses_that_are_none_are_left_out(path: Path, given: bytes, kept: str | None) -> None:
    (record,) = records(found(path, arc(b"http://a/", ip=given)))
    assert field(record, "WARC-IP-Address") == kept


def test_ids_are_the_same_on_every_import_and_differ_between_records(path: Path) -> None:
    data = version_block() + b"".join(
        arc(b"http://a/%d" % (no // 2), PAGE, date=b"2005061407014%d" % (no % 2)) for no in range(8)
    )
    first = [field(record, "WARC-Record-ID") for record in found(path, data)]
    again = [field(record, "WARC-Record-ID") for record in found(path, data)]
    assert first == again
    assert len(set(first)) == 9


def test_a_large_body_goes_to_a_file_that_discard_removes(path: Path, tmp_path: Path) -> None:
    big = PAGE + bytes(range(256)) * 8192
    spool = tmp_path / "spool"
    spool.mkdir()
    path.write_bytes(version_block() + arc(b"http://a/", big) + arc(b"http://b/"))
    large, small = records(list(read_arc(path, spool)))
    assert [part.spool.parent for part in large.block if part.spool] == [spool]
    assert block(large) == big
    assert field(large, "WARC-Block-Digest") == sha256(big)
    assert field(large, "WARC-Payload-Digest") == sha256(big[big.index(b"\r\n\r\n") + 4 :])
    assert all(part.spool is None for part in small.block)
    for part in large.block:
        part.discard()
    assert not list(spool.iterdir())


# -- forms ----------------------------------------------------------------------------------------

PARTS = [
    version_block(extra=b'<?xml version="1.0"?>\n<arcmetadata>\n<a>b</a>\n</arcmetadata>\n'),
    *(arc(b"http://example.com/%d" % no, PAGE + b"%d" % no * 3000) for no in range(5)),
    arc(b"dns:example.com", b"20050614070144\nexample.com. 600 IN A 192.0.2.7\n"),
]


def blocks_of(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


FORMS = {
    "plain": b"".join(PARTS),
    "member a record": b"".join(map(gzip.compress, PARTS)),
    "one member": gzip.compress(b"".join(PARTS)),
    "members cut anywhere": b"".join(map(gzip.compress, blocks_of(b"".join(PARTS), 999))),
    "zstd": zstandard.compress(b"".join(PARTS)),
    "zstd frames": b"".join(map(zstandard.compress, PARTS)),
    "padded with zeros": b"".join(map(gzip.compress, PARTS)) + bytes(5000),
    "twice": b"".join(map(gzip.compress, [*PARTS, *PARTS])),
    "blank lines": b"\n\r\n".join(PARTS) + b"\n\n\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_records(path: Path, form: str) -> None:
    plain = found(path, FORMS["plain"])
    assert not damage(plain)
    items = found(path, FORMS[form])
    assert items == plain * (2 if form == "twice" else 1)


@pytest.mark.parametrize("form", ["plain", "member a record"])
def test_warcio_finds_the_same_records(path: Path, form: str) -> None:
    ours = [
        (field(r, "WARC-Target-URI"), field(r, "WARC-Date"), block(r))
        for r in records(found(path, FORMS[form]))
    ]
    with path.open("rb") as file:
        theirs = [
            (
                record.rec_headers.get_header("WARC-Target-URI"),
                record.rec_headers.get_header("WARC-Date"),
                record.raw_stream.read(),
            )
            for record in ArchiveIterator(file, arc2warc=True, no_record_parse=True)
            if record.rec_type != "warcinfo"
        ]
    assert ours == theirs
    assert len(ours) == 6


def test_warcio_finds_every_digest_right(path: Path) -> None:
    made = io.BytesIO()
    for record in found(path, FORMS["plain"]):
        lines = [f"{name}: {value}\r\n" for name, value in record.fields]
        head = f"WARC/1.1\r\n{''.join(lines)}Content-Length: {record.size}\r\n\r\n"
        made.write(head.encode() + block(record) + b"\r\n\r\n")
    made.seek(0)
    checked = 0
    for record in ArchiveIterator(made, check_digests="raise"):
        record.content_stream().read()
        assert record.digest_checker.passed is True
        checked += 1
    assert checked == 7


# -- wrong lengths --------------------------------------------------------------------------------


@pytest.mark.parametrize("off", [-60, -2, -1, 0, 1, 2, 3, 3000, 10**9])
def test_the_length_of_the_version_block_does_not_matter(path: Path, off: int) -> None:
    items = found(path, version_block(off=off) + b"".join(PARTS[1:]))
    assert urls(items)[:2] == ["http://example.com/0", "http://example.com/1"]
    assert len(records(items)) == 6
    assert not damage(items)
    assert DEFINITION.strip() in block(items[0])
    assert b"http://example.com" not in block(items[0])


def test_a_version_block_of_unknown_length(path: Path) -> None:
    head = b"filedesc://x 127.0.0.1 20140301000000 text/plain -1\n1 0 Bad\n" + DEFINITION + b"\n"
    items = found(path, head + arc(b"http://a/"))
    assert urls(items) == ["http://a/"]
    assert not damage(items)


@pytest.mark.parametrize("short", [1, 5, 2900])
def test_a_length_too_short_marks_the_record_and_reports_the_rest(path: Path, short: int) -> None:
    body = b"HTTP/1.1 200 OK\r\n\r\n" + b"line of text\n" * 300
    first = arc(b"http://a/1", body, length=len(body) - short)
    items = found(path, version_block() + first + arc(b"http://a/2"))
    assert urls(items) == ["http://a/1", "http://a/2"]
    cut = records(items)[0]
    if short == 1:  # the one byte is a line end, which nobody misses
        assert not damage(items)
        return
    assert block(cut) == body[:-short]
    assert field(cut, "WARC-Truncated") == "unspecified"
    (lost,) = damage(items)
    # Where the rest begins or ends with a line end, that is not counted.
    assert lost.offset - (len(version_block() + first) - 1 - short) in (0, 1)
    assert lost.length - short in (-1, 0, 1)
    assert field(records(items)[1], "WARC-Truncated") is None


def test_a_record_that_fills_its_content_length_is_not_called_truncated(path: Path) -> None:
    items = found(path, arc(b"http://a/1") + b"stray bytes\n" + arc(b"http://a/2"))
    assert [field(record, "WARC-Truncated") for record in records(items)] == [None, None]
    assert [(lost.offset, lost.length) for lost in damage(items)] == [(len(arc(b"http://a/1")), 12)]


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "one member"])
@pytest.mark.parametrize("long", [9, 40, 300, 3000, 10**7])
def test_a_length_too_long_costs_only_its_own_record(
    path: Path, long: int, packed: Callable[..., Any] | type[bytes]
) -> None:
    parts = [arc(b"http://a/%d" % no, PAGE + b"x\n" * 500) for no in range(4)]
    parts[1] = arc(b"http://a/1", PAGE + b"x\n" * 500, length=len(PAGE) + 1000 + long)
    items = found(path, packed(version_block() + b"".join(parts)))
    assert urls(items) == ["http://a/0", "http://a/2", "http://a/3"]
    (lost,) = damage(items)
    assert "http://a/1" in lost.reason
    assert lost.offset == (len(version_block() + parts[0]) if packed is bytes else 0)


@pytest.mark.parametrize("long", [9, 3000, 10**12, 10**14])
def test_a_length_too_long_for_its_gzip_member(path: Path, long: int) -> None:
    parts = [version_block(), *(arc(b"http://a/%d" % no) for no in range(4))]
    parts[2] = arc(b"http://a/1", length=len(PAGE) + long)
    packed = list(map(gzip.compress, parts))
    items = found(path, b"".join(packed))
    assert urls(items) == ["http://a/0", "http://a/2", "http://a/3"]
    assert [lost.offset for lost in damage(items)] == [sum(map(len, packed[:2]))]


def test_lengths_that_are_all_wrong_end_in_time(path: Path) -> None:
    """Each of 300 records claims to reach into the middle of another, far away."""
    one = len(arc(b"http://a/100000", length=100000))
    far = 40 * one + 20
    parts = [arc(b"http://a/%d" % no) for no in range(100000, 103000)]
    parts[::10] = [arc(b"http://a/%d" % no, length=far) for no in range(100000, 103000, 10)]
    items = found(path, b"".join(parts))
    assert len(records(items)) == 2700
    assert len(damage(items)) == 300


# -- damage ---------------------------------------------------------------------------------------


def test_a_record_without_a_date_is_reported_and_passed_over(path: Path) -> None:
    bad = arc(b"http://a/1", b"x\n" * 50, date=b"20059999070144")
    old = arc(b"http://a/2", b"x\n" * 50, date=b"00000000000000")
    items = found(path, version_block() + bad + old + arc(b"http://a/3"))
    assert urls(items) == ["http://a/3"]
    places = [len(version_block()), len(version_block() + bad)]
    assert [lost.offset for lost in damage(items)] == places


def test_what_lies_between_records_is_reported_once(path: Path) -> None:
    junk = b"\xff\xfe junk\n" * 5 + b"http://x/ 1.2.3.4\n" + b"more" * 40_000 + b"\n"
    data = version_block() + arc(b"http://a/1")
    items = found(path, data + junk + arc(b"http://a/2"))
    assert urls(items) == ["http://a/1", "http://a/2"]
    assert [(lost.offset, lost.length) for lost in damage(items)] == [(len(data), len(junk))]


def test_a_file_without_its_start_is_read_from_its_first_record(path: Path) -> None:
    data = FORMS["plain"][50:]
    items = found(path, data)
    assert len(records(items)) == 6
    assert [lost.offset for lost in damage(items)] == [0]


SMALL = [version_block(), *(arc(b"http://a/%d" % no) for no in range(3))]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "member a record"])
@pytest.mark.parametrize(
    "junk", [bytes(700), b"junk\n" * 9, b"\x1f\x8b\x08 no gzip", b"\x1f\x8b\x08\x00" * 99]
)
def test_junk_in_front_of_a_file_costs_nothing_else(
    path: Path, junk: bytes, pack: Callable[..., Any] | type[bytes]
) -> None:
    items = found(path, junk + b"\n" + b"".join(map(pack, SMALL)))
    assert urls(items) == ["http://a/0", "http://a/1", "http://a/2"]
    assert [lost.offset for lost in damage(items)] == [0]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "member a record"])
def test_cut_anywhere_the_whole_records_come_and_the_torn_one_is_reported(
    path: Path, pack: Callable[..., Any] | type[bytes]
) -> None:
    parts = [pack(part) for part in SMALL]
    whole = records(found(path, b"".join(parts)))
    ends = [sum(map(len, parts[:count])) for count in range(2, len(parts) + 1)]
    # The line end after a record, and the checksum of a member, say nothing about its bytes.
    spare = 1 if pack is bytes else 12
    for cut in range(len(parts[0]), ends[-1]):
        items = found(path, b"".join(parts)[:cut])
        got = records(items)
        surely, perhaps = (sum(end - late <= cut for end in ends) for late in (0, spare))
        assert got == whole[: len(got)]
        assert surely <= len(got) <= perhaps
        if len(got) == surely and cut not in (len(parts[0]), *ends):
            (lost,) = damage(items)
            assert lost.offset == max(end for end in (len(parts[0]), *ends) if end <= cut)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_cut_anywhere_a_packed_file_gives_its_first_records(
    path: Path, pack: Callable[..., Any]
) -> None:
    data = pack(b"".join(SMALL))
    whole = records(found(path, data))
    for cut in range(5, len(data)):
        items = found(path, data[:cut])
        assert records(items) == whole[: len(records(items))]
        assert damage(items) or pack is zstandard.compress


def test_a_flipped_bit_in_a_member_costs_that_record_only(path: Path) -> None:
    packed = [gzip.compress(part, mtime=0) for part in PARTS[:4]]
    whole = found(path, b"".join(packed))
    start, target = len(packed[0]) + len(packed[1]), bytearray(packed[2])
    for at in range(12, len(target)):
        target[at] ^= 0x10
        items = found(path, b"".join([*packed[:2], bytes(target), packed[3]]))
        target[at] ^= 0x10
        if items == whole:  # a bit that pads the last byte of the deflated data says nothing
            continue
        assert [item for item in items if isinstance(item, Record)] == [*whole[:2], whole[3]], at
        assert damage(items)
        assert all(start <= lost.offset < start + len(target) for lost in damage(items)), at


def test_a_damaged_zstd_frame_costs_that_record_only(path: Path) -> None:
    packed = [zstandard.compress(part) for part in PARTS]
    whole = found(path, b"".join(packed))
    start, length = len(packed[0]) + len(packed[1]), len(packed[2])
    items = found(path, b"".join([*packed[:2], b"\x01" * length, *packed[3:]]))
    assert [item for item in items if isinstance(item, Record)] == [*whole[:2], *whole[3:]]
    assert [lost.offset for lost in damage(items)] == [start]


def test_records_before_a_bad_spot_of_a_one_member_file_come(path: Path) -> None:
    noise = random.Random(7).randbytes
    parts = [version_block(), *(arc(b"http://a/%d" % n, PAGE + noise(9000)) for n in range(20))]
    data = bytearray(gzip.compress(b"".join(parts)))
    data[len(data) // 2] ^= 0xFF
    items = found(path, bytes(data))
    got = urls(items)
    assert got == [f"http://a/{no}" for no in range(len(got))]
    assert len(got) >= 8
    assert damage(items)


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be opened.*Check"):
        list(read_arc(tmp_path / "none.arc", tmp_path))


# -- laws -----------------------------------------------------------------------------------------

bodies = st.binary(max_size=400).map(lambda body: b"HTTP/1.0 200 OK\r\n\r\n" + body)
paths = st.text(st.characters(codec="latin-1", exclude_characters="\n\r"), max_size=30)


@given(
    docs=st.lists(st.tuples(paths, bodies), max_size=6),
    form=st.sampled_from(["plain", "members", "one", "cut"]),
    size=st.integers(20, 500),
)
def test_whatever_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, docs: list[tuple[str, bytes]], form: str, size: int
) -> None:
    path = tmp_path_factory.mktemp("law") / "x.arc"
    parts = [version_block()]
    parts += [arc(b"http://a/" + text.encode("latin-1"), body) for text, body in docs]
    data = b"".join(parts)
    cuts = {"members": parts, "one": [data], "cut": blocks_of(data, size)}
    items = found(path, data if form == "plain" else b"".join(map(gzip.compress, cuts[form])))
    assert not damage(items)
    assert [block(record) for record in records(items)] == [body for _, body in docs]
