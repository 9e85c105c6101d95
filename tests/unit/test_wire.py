"""The pure framer: every odd response has the right head, end, flags, and every byte."""

from __future__ import annotations

import time
from typing import Any

import pytest

from asof.http.chunked import Dechunker
from asof.http.head import Head, find_head_end, parse_head
from asof.http.wire import Data, End, Framer, Surplus, delimit
from support import odd_responses
from support.anomalies import ANOMALIES
from support.odd_responses import BODY, CHUNKED, CHUNKS, ODD, OK, Odd

each = pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)


def frame(
    pieces: list[bytes] | tuple[bytes, bytes],
    *,
    method: str = "GET",
    close: bool = True,
    **limits: Any,
) -> list[Any]:
    """All the events of a stream that comes in these pieces, then perhaps closes."""
    framer = Framer(method, **limits)
    events = [event for piece in pieces for event in framer.feed(piece)]
    return events + (framer.eof() if close else [])


def joined(events: list[Any], kind: type[Data] | type[Surplus]) -> bytes:
    return b"".join(event.raw for event in events if isinstance(event, kind))


def only(events: list[Any], kind: type[Head] | type[End]) -> Head | End:
    (event,) = [event for event in events if isinstance(event, kind)]
    return event


def summary(events: list[Any]) -> tuple[Any, bytes, Any, bytes]:
    """What must not depend on the split."""
    return (
        only(events, Head), joined(events, Data), only(events, End), joined(events, Surplus)
    )  # fmt: skip


def pairs_of(stream: bytes) -> list[tuple[bytes, bytes]]:
    """All the ways to cut a stream in two; of long ones, those near the ends and some between."""
    size = len(stream)
    cuts = range(size + 1) if size < 2000 else [*range(200), *range(200, size, 997), size - 1]
    return [(stream[:cut], stream[cut:]) for cut in cuts]


@each
def test_a_whole_stream_is_framed(odd: Odd) -> None:
    head, body, end, surplus = summary(frame([odd.stream], method=odd.method))
    assert head.raw == odd.head
    assert head.start == odd.start
    assert head.status == odd.status
    assert body == odd.body
    assert surplus == odd.surplus
    assert end.truncated == odd.truncated
    assert end.anomalies == odd.anomalies
    if odd.headers is not None:
        assert head.headers == odd.headers


@each
def test_the_end_is_found_without_a_close_where_there_is_one(odd: Odd) -> None:
    events = frame([odd.stream], method=odd.method, close=False)
    ended = any(isinstance(event, End) for event in events)
    assert ended == (odd.ends in ("length", "chunked"))
    if ended:
        assert only(events, End).reusable == odd.reusable


@each
def test_no_split_changes_anything(odd: Odd) -> None:
    expected = summary(frame([odd.stream], method=odd.method))
    one_by_one = [odd.stream[i : i + 1] for i in range(len(odd.stream))]
    assert summary(frame(one_by_one, method=odd.method)) == expected
    for pair in pairs_of(odd.stream):
        assert summary(frame(pair, method=odd.method)) == expected


@each
def test_a_stored_block_reads_as_the_wire_did(odd: Odd) -> None:
    head = only(frame([odd.stream], method=odd.method), Head)
    assert find_head_end(odd.message) == len(odd.head)
    assert parse_head(odd.message) == head
    assert parse_head(odd.head) == head


def test_every_anomaly_is_shown_by_a_response_and_explained() -> None:
    shown = {name for odd in ODD for name in odd.anomalies}
    by_the_client = {"surplus-bytes", "too-slow"}
    by_tests_below = {"head-too-long", "empty"}
    assert shown | by_the_client | by_tests_below == set(ANOMALIES)
    assert all(name == name.lower() and " " not in name for name in ANOMALIES)


def test_the_seventeen_odd_responses_of_the_design_are_in_the_table() -> None:
    named = {
        "obs-fold", "no-colon", "non-ascii", "long-header", "many-headers", "lf-only",
        "status-spacing", "missing-reason", "continue-first", "204", "304", "head",
        "length-twice", "length-differs", "te-and-length", "chunk-extensions-and-trailers",
        "1.0-close", "0.9", "short-body", "cut-in-header",
    }  # fmt: skip
    assert named <= {odd.name for odd in ODD}
    assert len({odd.name for odd in ODD}) == len(ODD)


def test_a_close_without_a_byte_is_empty() -> None:
    assert Framer().eof() == [End("disconnect", False, ("empty",))]


def test_a_finished_framer_has_no_more_to_say_at_eof() -> None:
    framer = Framer()
    framer.feed(odd_responses.PLAIN)
    assert framer.eof() == []
    assert framer.feed(b"") == []
    assert framer.feed(b"x") == [Surplus(b"x")]


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_a_head_beyond_its_limit_is_cut_there_and_says_so(step: int) -> None:
    stream = OK + b"X-Long: " + b"a" * 300 + b"\r\n\r\n" + BODY
    pieces = [stream[i : i + step] for i in range(0, len(stream), step)]
    head, body, end, _ = summary(frame(pieces, head_limit=100))
    assert head.raw == stream[:100]
    assert (head.status, body) == (200, b"")
    assert end == End("length", False, ("unfinished-head", "head-too-long"))


def test_a_head_that_just_fits_its_limit_is_whole() -> None:
    head = OK + odd_responses.LENGTH + b"\r\n"
    end = only(frame([head + BODY], head_limit=len(head)), End)
    assert end == End("", True, ())


def test_interim_blocks_without_end_meet_the_head_limit() -> None:
    head, _, end, _ = summary(frame([odd_responses.CONTINUE * 100], head_limit=500))
    assert len(head.raw) == 500
    assert end.truncated == "length"


@pytest.mark.parametrize("step", [1, 5, 1000])
@pytest.mark.parametrize(
    "head", [OK + b"\r\n", OK + b"Content-Length: 16\r\n\r\n", OK + CHUNKED + b"\r\n"]
)
def test_a_body_beyond_its_limit_is_cut_there_and_says_so(head: bytes, step: int) -> None:
    stream = head + (CHUNKS if b"chunked" in head else BODY)
    pieces = [stream[i : i + step] for i in range(0, len(stream), step)]
    _, body, end, surplus = summary(frame(pieces, body_limit=9, close=False))
    assert body == stream[len(head) :][:9]
    assert end == End("length", False, ())
    assert surplus in (b"", *[stream[i:] for i in range(len(stream))])


def test_a_body_that_just_fits_its_limit_is_whole() -> None:
    for head, body in [
        (OK + b"Content-Length: 16\r\n\r\n", BODY),
        (OK + CHUNKED + b"\r\n", CHUNKS),
    ]:
        end = only(frame([head + body], body_limit=len(body)), End)
        assert end == End("", True, ())
    assert only(frame([OK + b"\r\n" + BODY], body_limit=16), End).truncated == ""


def test_what_lies_beyond_the_limit_does_not_sway_the_answer() -> None:
    stream = OK + CHUNKED + b"\r\n5\r\nhello\r\nbad size\r\n"
    whole = only(frame([stream], body_limit=10), End)
    bytewise = only(frame([stream[i : i + 1] for i in range(len(stream))], body_limit=10), End)
    assert whole == bytewise == End("length", False, ())


def test_a_cut_by_time_keeps_what_came() -> None:
    framer = Framer()
    events = framer.feed(OK + b"\r\n" + BODY) + framer.cut("time")
    _, body, end, _ = summary(events)
    assert body == BODY
    assert end == End("time", False, ())
    assert framer.cut("time") == []


def test_a_cut_in_the_head_keeps_what_came() -> None:
    framer = Framer()
    events = framer.feed(OK + b"Content-") + framer.cut("time")
    head, _, end, _ = summary(events)
    assert head.raw == OK + b"Content-"
    assert end == End("time", False, ("unfinished-head",))


def test_header_values_never_hold_what_could_end_a_line() -> None:
    head = parse_head(OK + b"ETag: a\rb\0c\r\n d\n\te\r\n\r\n")
    assert head.headers == (("ETag", "a b c d e"),)


def test_parts_of_the_head_are_read() -> None:
    head = parse_head(b"HTTP/1.0 404 Not  Found \r\nServer:x\r\nA:\r\nB:  c \t\r\n\r\nbody")
    assert (head.version, head.status, head.reason) == ("1.0", 404, "Not  Found")
    assert head.headers == (("Server", "x"), ("A", ""), ("B", "c"))
    assert parse_head(b"") == Head(b"", 0, "0.9", 0, "", (), ("http-0.9",))


def test_an_anomaly_is_noted_once() -> None:
    head = parse_head(b"\n" + b"HTTP/1.1 100 C\r\n\r\n\r\n" * 3 + OK + b"x\r\ny\r\n\r\n")
    assert head.anomalies == ("leading-blank-lines", "header-without-colon")


def test_hostile_heads_take_linear_time() -> None:
    size = 1 << 19
    hostile = [
        OK + b"X: a" + b"\r\n b" * (size // 4) + b"\r\n\r\n",
        OK + b"X: " + b" " * size + b"\rx\r\n\r\n",
        b"HTTP/" + b" " * size + b"\r\n\r\n",
        b"HTTP/1.1" + b" " * size + b"x\r\n\r\n",
        b"\r\n" * (size // 2) + OK + b"\r\n",
        OK + b"no colon\r\n" * (size // 10) + b"\r\n",
        OK + b"a" * size + b" :\r\n\r\n",
        b"HTTP/1.1 100 C\r\n\r\n" * (size // 18) + OK + b"\r\n",
    ]
    began = time.process_time()
    for stream in hostile:
        parse_head(stream)
        frame([stream[i : i + 64] for i in range(0, len(stream), 64)])
    assert time.process_time() - began < 10  # quadratic would be hours; measured 1 s


def test_a_head_in_single_bytes_takes_linear_time() -> None:
    stream = OK + b"X-Long: " + b"a" * 300_000
    began = time.process_time()
    frame([stream[i : i + 1] for i in range(len(stream))])
    assert time.process_time() - began < 4


def test_delimit_tells_what_ends_a_body() -> None:
    assert delimit(parse_head(OK + b"\r\n")).state.name == "CLOSE"
    assert delimit(parse_head(OK + b"\r\n"), "HEAD").length == 0
    assert delimit(parse_head(b"HTTP/1.1 407 Auth\r\n\r\n"), "CONNECT").state.name == "CLOSE"


def test_the_dechunker_gives_the_spans_of_the_payload() -> None:
    data = CHUNKS + b"tail"
    used, spans = Dechunker().feed(data)
    assert used == len(CHUNKS)
    assert b"".join(data[a:b] for a, b in spans) == BODY
