"""Bodies as stored become entities: every coding, every kind of breakage, and never an error."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from asof.http.entity import decode
from support.odd_responses import ODD, Odd

TEXT = b"".join(b"line %d of a page that is somewhat long\n" % n for n in range(3000))
NOISE = b"".join(b"%08x\n" % zlib.crc32(b"%d" % n) for n in range(40_000))
MANY = 1 << 30


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def chunked(data: bytes, size: int = 1000) -> bytes:
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "raw deflate": raw_deflate,
    "br": lambda data: brotli.compress(data, quality=3),
    "zstd": zstandard.ZstdCompressor(write_content_size=False).compress,
}
each_coding = pytest.mark.parametrize("packer", PACKERS)


def coded(*codings: Any, transfer: list[str] | tuple[Any, ...] = ()) -> tuple[tuple[str, str], ...]:
    named = [("content-encoding", coding.removeprefix("raw ")) for coding in codings]
    return (*named, *[("Transfer-Encoding", coding) for coding in transfer])


def read(
    headers: tuple[tuple[str, str], ...], body: bytes, *, limit: int = MANY, step: int | None = None
) -> tuple[bytes, list[str]]:
    step = step or max(1, len(body))
    decoding = decode(
        headers, (body[at : at + step] for at in range(0, len(body), step)), limit=limit
    )
    return b"".join(decoding), decoding.problems


def test_a_body_without_codings_goes_through_as_it_is() -> None:
    chunks = [b"one", b"two"]
    assert list(decode((("Content-Type", "text/html"),), chunks, limit=MANY)) == chunks
    assert read(coded("identity", ""), TEXT) == (TEXT, [])


@each_coding
@pytest.mark.parametrize("step", [1, 10, 5000, None])
def test_a_coded_body_is_decoded(packer: str, step: int | None) -> None:
    body = PACKERS[packer](TEXT)
    assert read(coded(packer), body, step=step) == (TEXT, [])


@each_coding
def test_an_empty_entity_is_empty(packer: str) -> None:
    assert read(coded(packer), PACKERS[packer](b"")) == (b"", [])


@each_coding
def test_an_empty_body_is_empty_and_no_problem(packer: str) -> None:
    assert read(coded(packer), b"") == (b"", [])


@each_coding
def test_chunked_and_coded(packer: str) -> None:
    body = chunked(PACKERS[packer](TEXT))
    for step in (1, 77, None):
        assert read(coded(packer, transfer=["chunked"]), body, step=step) == (TEXT, [])


def test_codings_are_undone_in_reverse_order() -> None:
    body = gzip.compress(brotli.compress(TEXT))
    assert read((("Content-Encoding", "br, GZIP"),), body) == (TEXT, [])
    assert read(coded("br", "gzip"), body) == (TEXT, [])
    transfer = (("Transfer-Encoding", "gzip, chunked"),)
    assert read(transfer, chunked(gzip.compress(TEXT))) == (TEXT, [])


def test_a_gzip_stream_may_have_several_members() -> None:
    body = gzip.compress(TEXT) + gzip.compress(b"more") + gzip.compress(b"")
    for step in (1, 50, None):
        assert read(coded("gzip"), body, step=step) == (TEXT + b"more", [])


@pytest.mark.parametrize("tail", [b"\0" * 500, b"garbage after the end"])
def test_padding_after_a_gzip_stream_is_ignored(tail: bytes) -> None:
    assert read(coded("gzip"), gzip.compress(TEXT) + tail) == (TEXT, [])


def test_several_zstd_frames_are_one_entity() -> None:
    pack = PACKERS["zstd"]
    assert read(coded("zstd"), pack(b"one") + pack(b"two")) == (b"onetwo", [])


@each_coding
@pytest.mark.parametrize(
    "body", [b"<html>plain</html>", TEXT, b'{"a": 1, "b": [1, 2, 3]}' * 20, b"x", b"\0" * 50]
)
def test_a_body_that_is_not_coded_as_said_goes_through_as_stored(packer: str, body: bytes) -> None:
    out, problems = read(coded(packer), body, step=7)
    assert out == body
    assert problems == [f"{packer.removeprefix('raw ')}-undone"]


def test_a_body_that_is_not_chunked_as_said_goes_through_as_stored() -> None:
    for step in (1, 10, None):
        out, problems = read(coded(transfer=["chunked"]), TEXT, step=step)
        assert out == TEXT
        assert problems == ["chunked-undone"]


def test_a_dechunked_gzip_body_under_its_old_headers_is_still_decoded() -> None:
    headers = coded("gzip", transfer=["chunked"])
    assert read(headers, gzip.compress(TEXT)) == (TEXT, ["chunked-undone"])


@pytest.mark.parametrize(
    "odd", [odd for odd in ODD if b"chunked" in odd.head.lower()], ids=lambda odd: odd.name
)
def test_odd_chunked_bodies_give_what_they_hold(odd: Odd) -> None:
    if odd.method == "GET":
        headers = coded(transfer=["chunked"]) if "gzip" not in str(odd.head) else ()
        out, _ = read(headers, odd.body)
        assert out == (odd.body if odd.payload is None else odd.payload)


@each_coding
def test_a_cut_body_gives_all_that_came(packer: str) -> None:
    whole = PACKERS[packer](NOISE)
    out, problems = read(coded(packer), whole[: len(whole) // 2])
    assert NOISE.startswith(out)
    assert len(out) > len(NOISE) // 3
    assert problems == [f"{packer.removeprefix('raw ')}-cut"]


def test_a_coded_body_that_gives_nothing_is_empty_rather_than_garbage() -> None:
    for packer in ("gzip", "zstd"):
        out, problems = read(coded(packer), PACKERS[packer](b"0123456789" * 10)[:8])
        assert out == b""
        assert problems == [f"{packer}-cut"]


def test_a_break_in_a_small_body_costs_a_few_bytes_only() -> None:
    noise = NOISE[:2000]
    for packer in ("gzip", "deflate"):
        body = bytearray(PACKERS[packer](noise))
        body[600:620] = b"\xff" * 20
        out, problems = read(coded(packer), bytes(body))
        assert out[:800] == noise[:800]
        assert problems in ([f"{packer}-broken"], [f"{packer}-cut"])


def test_a_cut_chunked_body_gives_all_that_came() -> None:
    out, problems = read(coded(transfer=["chunked"]), chunked(TEXT)[:5000])
    assert TEXT.startswith(out)
    assert len(out) > 4900
    assert problems == ["chunked-cut"]


def test_a_wrong_checksum_costs_no_data() -> None:
    body = bytearray(gzip.compress(TEXT))
    body[-6] ^= 1
    assert read(coded("gzip"), bytes(body)) == (TEXT, ["gzip-broken"])
    body = bytearray(zlib.compress(TEXT))
    body[-2] ^= 1
    assert read(coded("deflate"), bytes(body)) == (TEXT, ["deflate-broken"])


def test_a_break_in_the_middle_ends_the_entity_there() -> None:
    body = bytearray(gzip.compress(NOISE))
    middle = len(body) // 2
    body[middle : middle + 200] = b"\xff" * 200
    out, problems = read(coded("gzip"), bytes(body))
    assert out[: len(NOISE) // 3] == NOISE[: len(NOISE) // 3]
    assert problems == ["gzip-broken"]


def test_an_unknown_coding_leaves_the_bytes_as_they_are() -> None:
    assert read(coded("compress"), TEXT) == (TEXT, ["unknown-coding"])
    assert read((("Content-Encoding", "gzip, utf-8"),), TEXT) == (TEXT, ["unknown-coding"])
    assert read(coded("utf-8", "gzip"), gzip.compress(TEXT)) == (TEXT, ["unknown-coding"])


def test_too_many_codings_are_not_even_tried() -> None:
    body = TEXT
    for _ in range(20):
        body = gzip.compress(body)
    assert read(coded(*["gzip"] * 20), body) == (body, ["too-many-codings"])


@each_coding
@pytest.mark.parametrize("limit", [0, 1, 100, len(TEXT) - 1])
def test_the_limit_is_kept_to_the_byte(packer: str, limit: int) -> None:
    assert read(coded(packer), PACKERS[packer](TEXT), limit=limit) == (TEXT[:limit], ["over-limit"])


def test_a_body_of_just_the_limit_is_whole() -> None:
    assert read((), TEXT, limit=len(TEXT)) == (TEXT, [])
    assert read(coded("gzip"), gzip.compress(TEXT), limit=len(TEXT)) == (TEXT, [])


BOMB = b"\0" * (1 << 26)


@pytest.mark.parametrize("packer", ["gzip", "deflate", "raw deflate", "br", "zstd"])
def test_a_bomb_takes_little_memory(packer: str) -> None:
    body = PACKERS[packer](BOMB)
    tracemalloc.start()
    total = sum(map(len, decode(coded(packer), [body], limit=1 << 25)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == 1 << 25
    assert peak < 16 << 20


def test_a_bomb_inside_a_bomb_is_stopped_at_every_layer() -> None:
    layers = gzip.compress(gzip.compress(gzip.compress(BOMB)))
    decoding = decode(coded("gzip", "gzip", "gzip"), [layers], limit=1 << 20)
    assert sum(map(len, decoding)) == 1 << 20
    # Empty members without end: nothing comes out, yet the inner layer must be stopped.
    members = gzip.compress(gzip.compress(b"") * 100_000)
    decoding = decode(coded("gzip", "gzip"), [members], limit=1 << 16)
    assert list(filter(None, decoding)) == []
    assert "over-limit" in decoding.problems


def test_errors_of_the_source_are_not_swallowed() -> None:
    def failing() -> Iterator[bytes]:
        yield gzip.compress(TEXT)[:2000]
        raise OSError("the disk failed")

    with pytest.raises(OSError, match="the disk failed"):
        list(decode(coded("gzip"), failing(), limit=MANY))


names = st.sampled_from(["gzip", "x-gzip", "deflate", "br", "zstd", "identity", "nonsense", ""])


@given(
    st.lists(names, max_size=4),
    st.booleans(),
    st.lists(st.binary(max_size=200), max_size=5),
    st.integers(0, 500),
)
def test_no_bytes_raise_and_no_limit_is_passed(
    codings: list[str], is_chunked: bool, chunks: list[bytes], limit: int
) -> None:
    headers = coded(*codings, transfer=["chunked"] if is_chunked else [])
    out = b"".join(decode(headers, chunks, limit=limit))
    assert len(out) <= limit


@given(st.sampled_from(sorted(PACKERS)), st.binary(max_size=2000), st.data())
def test_damage_anywhere_never_raises(packer: str, content: bytes, data: st.DataObject) -> None:
    body = bytearray(PACKERS[packer](content))
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    assert len(b"".join(decode(coded(packer), [bytes(body)], limit=10_000))) <= 10_000


@given(st.sampled_from(sorted(PACKERS)), st.binary(max_size=300), st.integers(1, 40))
def test_the_split_into_chunks_does_not_matter(coding: str, body: bytes, step: int) -> None:
    headers = coded(coding, transfer=["chunked"])
    assert read(headers, body, step=step) == read(headers, body)


@given(st.sampled_from(sorted(PACKERS)), st.binary(max_size=5000), st.integers(1, 600))
def test_what_is_packed_comes_out_the_same(packer: str, content: bytes, step: int) -> None:
    assert read(coded(packer), PACKERS[packer](content), step=step) == (content, [])
