"""The compiled reader of plain heads says what the framer's own reading says, or nothing."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asof.http.wire import Event, Framer
from asof.native import compiled
from support.laws import examples

needs_it = pytest.mark.skipif(compiled is None, reason="no C compiler when asof was installed")

PLAIN = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello"
STATUS = [
    b"HTTP/1.1 200 OK", b"HTTP/1.1 404 Not Found", b"HTTP/1.1 500 ~", b"HTTP/1.1 200 ",
    b"HTTP/1.1 200", b"HTTP/1.1  200 OK", b"HTTP/1.1 200 OK ", b"HTTP/1.1 200 O\tK",
    b"HTTP/1.0 200 OK", b"http/1.1 200 OK", b"HTTP/1.1 204 None", b"HTTP/1.1 304 Same",
    b"HTTP/1.1 100 Continue", b"HTTP/1.1 101 Switch", b"HTTP/1.1 600 Odd", b"HTTP/1.1 999 Odd",
    b"HTTP/1.1 20x OK", b"HTTP/1.1 2000 OK", b"ICY 200 OK", b"",
]  # fmt: skip
FIELDS = [
    b"Content-Length: 5", b"content-length:5", b"CONTENT-LENGTH: \t05 \t", b"Content-Length: 5, 5",
    b"Content-Length: 0", b"Content-Length: +5", b"Content-Length: 1234567890123456789",
    b"Content-Length:", b"Transfer-Encoding: chunked", b"Transfer-encoding: identity",
    b"Connection: close", b"Connection: Close", b"Connection: keep-alive, TE", b"Connection:",
    b"Connection: Keep-Alive", b"X: y", b"X:", b"X : y", b": y", b"no colon", b" folded",
    b"X: \xc3\xa9", b"X\xe9: y", b"X: a\tb", b"X: a\0b", b"X: a\rb", b"X: a\nb", b"X|~^: y",
]  # fmt: skip
ENDS = [b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r"]


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    lines = [draw(st.sampled_from(STATUS)), *draw(st.lists(st.sampled_from(FIELDS), max_size=5))]
    head = b"".join(line + draw(st.sampled_from(ENDS)) for line in [*lines, b""])
    return head + draw(st.sampled_from([b"", b"hello", b"hell", b"hello, you", b"5\r\nhello\r\n"]))


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    at = draw(st.integers(0, len(PLAIN)))
    cut = draw(st.integers(0, 3))
    return PLAIN[:at] + draw(st.binary(max_size=3)) + PLAIN[at + cut :]


def framed(data: bytes, limit: int, room: int) -> tuple[list[Event], list[Event]]:
    framer = Framer(head_limit=limit, body_limit=room)
    return framer.feed(data), framer.eof()


@needs_it
@settings(max_examples=examples(1000))
@given(answers() | damaged(), st.sampled_from([20, 70, 1 << 20]), st.sampled_from([2, 1 << 30]))
@example(PLAIN, 1 << 20, 1 << 30)
def test_both_ways_frame_alike(data: bytes, limit: int, room: int) -> None:
    swiftly = framed(data, limit, room)
    with mock.patch("asof.http.wire.compiled", None):
        assert framed(data, limit, room) == swiftly


@needs_it
def test_a_plain_head_is_read_swiftly() -> None:
    """Or the comparison above would compare the slow way with itself."""
    end = PLAIN.index(b"hello")
    fields = (("Server", "x"), ("Content-Length", "5"), ("Connection", "keep-alive"))
    assert compiled.plain_head(PLAIN) == (end, 200, "OK", fields, 5, 1)
    closing = PLAIN.replace(b"keep-alive", b"close")
    assert compiled.plain_head(closing)[-1] == 0  # type: ignore[index]


@needs_it
def test_a_head_that_has_not_come_whole_is_none() -> None:
    for cut in range(PLAIN.index(b"hello")):
        assert compiled.plain_head(PLAIN[:cut]) is None


@needs_it
@pytest.mark.parametrize("data", ["HTTP/1.1 200 OK", None, 7])
def test_only_bytes_are_taken(data: object) -> None:
    with pytest.raises(TypeError):
        compiled.plain_head(data)  # type: ignore[arg-type]
