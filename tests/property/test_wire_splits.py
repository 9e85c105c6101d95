"""Laws of the framer, for streams and splits that nobody thought of."""

from __future__ import annotations

import re
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from asof.http import head
from asof.http.chunked import ChunkState, Dechunker
from asof.http.head import Head, find_head_end, parse_head
from asof.http.wire import Data, End, Framer, Surplus
from support.anomalies import ANOMALIES
from support.odd_responses import ODD

SHORT = [odd for odd in ODD if len(odd.stream) < 5000]

# Pieces of which responses, broken ones above all, are made.
MORSELS = [
    b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 200 OK\n", b"HTTP/1.1 204 None\r\n", b"HTTP/", b"ICY ",
    b"HTTP/1.1 100 Continue\r\n\r\n", b"X: y\r\n", b" folded\r\n", b"no colon\n",
    b"Content-Length: 5\r\n", b"Content-Length: 4\r\n", b"Content-Length: x\n",
    b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip\r\n", b"Connection: close\r\n",
    b"5\r\nhello\r\n", b"0\r\n", b"5;x=y\n", b"zz\r\n", b"hello", b"ffffffffffffffffff\r\n",
    b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\0", b"\xff", b" ", b":", b"-1\r\n",
]  # fmt: skip

streams = st.one_of(
    st.lists(st.sampled_from(MORSELS), max_size=14).map(b"".join),
    st.lists(st.one_of(st.sampled_from(MORSELS), st.binary(max_size=6)), max_size=10).map(b"".join),
    st.sampled_from(SHORT).map(lambda odd: odd.stream),
    st.binary(max_size=60),
)
methods = st.sampled_from(["GET", "HEAD", "CONNECT"])


@st.composite
def split(draw: st.DrawFn, stream: bytes) -> list[bytes]:
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    return [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


split_streams = streams.flatmap(lambda stream: st.tuples(st.just(stream), split(stream)))


def frame(pieces: list[bytes], method: str = "GET", **limits: Any) -> list[Any]:
    framer = Framer(method, **limits)
    return [event for piece in pieces for event in framer.feed(piece)] + framer.eof()


def joined(events: list[Any], kind: Any) -> bytes:
    return b"".join(event.raw for event in events if isinstance(event, kind))


def summary(events: list[Any]) -> tuple[Any, ...]:
    return (
        [event for event in events if isinstance(event, Head | End)],
        joined(events, Data),
        joined(events, Surplus),
    )


@given(split_streams, methods)
def test_no_byte_is_lost_or_made_up(given_split: tuple[bytes, list[bytes]], method: str) -> None:
    stream, pieces = given_split
    events = frame(pieces, method)
    assert joined(events, Head) + joined(events, Data) + joined(events, Surplus) == stream


@given(split_streams, methods)
def test_the_split_does_not_matter(given_split: tuple[bytes, list[bytes]], method: str) -> None:
    stream, pieces = given_split
    assert summary(frame(pieces, method)) == summary(frame([stream], method))


@given(split_streams, st.integers(1, 80), st.integers(0, 20))
def test_the_split_does_not_matter_at_limits_either(
    given_split: tuple[bytes, list[bytes]], head_limit: int, body_limit: int
) -> None:
    stream, pieces = given_split
    limits = {"head_limit": head_limit, "body_limit": body_limit}
    events, whole = frame(pieces, **limits), frame([stream], **limits)  # type: ignore[arg-type]
    assert summary(events)[:2] == summary(whole)[:2]
    kept = joined(events, Head) + joined(events, Data)
    assert stream.startswith(kept)
    assert len(joined(events, Head)) <= head_limit
    assert len(joined(events, Data)) <= body_limit


@given(split_streams, methods)
def test_events_come_in_order_and_the_end_once(
    given_split: tuple[bytes, list[bytes]], method: str
) -> None:
    stream, pieces = given_split
    kinds = [type(event) for event in frame(pieces, method)]
    assert kinds.count(End) == 1
    if not stream:
        assert kinds == [End]
        return
    assert kinds[0] is Head
    end = kinds.index(End)
    assert set(kinds[1:end]) <= {Data}
    assert set(kinds[end + 1 :]) <= {Surplus}


@given(streams, methods)
def test_what_is_stored_reads_as_the_wire_did(stream: bytes, method: str) -> None:
    events = frame([stream], method)
    heads = [event for event in events if isinstance(event, Head)]
    block = joined(events, Head) + joined(events, Data)
    for found in heads:
        assert parse_head(block) == found
        assert find_head_end(block) == len(found.raw)


@given(streams)
def test_only_named_anomalies_each_once_and_no_reuse_after_doubt(stream: bytes) -> None:
    (end,) = [event for event in frame([stream]) if isinstance(event, End)]
    assert set(end.anomalies) <= set(ANOMALIES)
    assert len(set(end.anomalies)) == len(end.anomalies)
    assert end.truncated in ("", "disconnect")
    if end.reusable:
        assert not end.truncated


@given(streams)
def test_a_clean_head_reads_the_same_the_careful_way(stream: bytes) -> None:
    usual = parse_head(stream)
    with mock.patch.object(head, "_CLEAN", re.compile(rb"(?!)")):
        assert parse_head(stream) == usual


@given(streams)
def test_header_values_cannot_break_a_line(stream: bytes) -> None:
    for name, value in parse_head(stream).headers:
        assert not set("\r\n\0") & set(name + value)


@given(st.lists(st.binary(min_size=1, max_size=40)), st.data())
def test_what_is_chunked_comes_out_whole(parts: list[bytes], data: st.DataObject) -> None:
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    dechunker, payload, total = Dechunker(), b"", 0
    for piece in data.draw(split(body + b"surplus")):
        used, spans = dechunker.feed(piece)
        total += used
        payload += b"".join(piece[a:b] for a, b in spans)
    assert payload == b"".join(parts)
    assert total == len(body)
    assert dechunker.state is ChunkState.END
    assert dechunker.anomalies == []
