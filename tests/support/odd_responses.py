"""Odd responses, each with its exact bytes and what must be said of it. A table, not a test.

Read by the unit, property and integration tests, so that the same bytes go
through the pure framer in every split and through the client over a real socket.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BODY = b"<html>odd</html>"  # 16 bytes
OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: 16\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
PLAIN = OK + LENGTH + b"\r\n" + BODY
CHUNKS = b"6\r\n<html>\r\na\r\nodd</html>\r\n0\r\n\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(frozen=True)
class Odd:
    """`head + body` is the message, `surplus` what follows it, then the server closes.

    `ends` names what ends the message: length, chunked, close, or cut (the close came early, or a
    limit). `reusable` is what the framer says when the message ends before any close.
    """

    name: str
    head: bytes
    body: bytes = b""
    surplus: bytes = b""
    status: int = 200
    ends: str = "length"
    truncated: str = ""
    anomalies: tuple[str, ...] = ()
    reusable: bool = False
    start: int = 0
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] | None = None
    payload: bytes | None = None
    """The decoded entity, where it differs from the body."""

    @property
    def message(self) -> bytes:
        return self.head + self.body

    @property
    def stream(self) -> bytes:
        return self.message + self.surplus


def _plain(name: str, lines: bytes, *anomalies: str, **more: Any) -> Odd:
    """A response of a known length with `lines` of head before that length."""
    more.setdefault("reusable", True)
    return Odd(name, lines + LENGTH + b"\r\n", BODY, anomalies=anomalies, **more)


def _chunks(name: str, body: bytes, *anomalies: str, **more: Any) -> Odd:
    more.setdefault("ends", "chunked")
    more.setdefault("payload", BODY)
    return Odd(name, OK + CHUNKED + b"\r\n", body, anomalies=anomalies, **more)


def _closed(name: str, lines: bytes, *anomalies: str, **more: Any) -> Odd:
    return Odd(name, OK + lines + b"\r\n", BODY, ends="close", anomalies=anomalies, **more)


HEADS = [
    _plain("regular", OK + b"Content-Type: text/html\r\n"),
    _plain(
        "obs-fold", OK + b"X-Long: one\r\n two\r\n\t three\r\n", "obs-fold",
        headers=(("X-Long", "one two three"), ("Content-Length", "16")),
    ),
    _plain(
        "blank-looking-fold", OK + b"X-A: one\r\n \t\r\n", "obs-fold",
        headers=(("X-A", "one"), ("Content-Length", "16")),
    ),
    _plain(
        "fold-first", OK + b" lost\r\n  lost too\r\n", "obs-fold", "fold-without-header",
        headers=(("Content-Length", "16"),),
    ),
    _plain(
        "no-colon", OK + b"no colon here\r\n", "header-without-colon",
        headers=(("Content-Length", "16"),),
    ),
    _plain(
        "no-name", OK + b": nameless\r\n", "header-without-name",
        headers=(("Content-Length", "16"),),
    ),
    Odd(
        "space-before-colon", OK + b"Content-Length : 16\r\n\r\n", BODY, reusable=True,
        anomalies=("space-before-colon",), headers=(("Content-Length", "16"),),
    ),
    _plain(
        "odd-name", OK + b"My Header: x\r\n", "odd-header-name",
        headers=(("My Header", "x"), ("Content-Length", "16")),
    ),
    _plain(
        "non-ascii", OK + b"X-Name: caf\xe9 \xe2\x82\xac\r\n", "non-ascii-head",
        headers=(("X-Name", "caf\xe9 \xe2\x82\xac"), ("Content-Length", "16")),
    ),
    _plain("long-header", OK + b"X-Long: " + b"a" * 70_000 + b"\r\n"),
    _plain("many-headers", OK + b"".join(b"X-%d: %d\r\n" % (i, i) for i in range(150))),
    Odd(
        "lf-only", b"HTTP/1.1 200 OK\nContent-Length: 16\n\n", BODY, anomalies=("lf-line-ends",),
        reusable=True, headers=(("Content-Length", "16"),),
    ),
    Odd(
        "mixed-line-ends", b"HTTP/1.1 200 OK\r\nContent-Length: 16\n\r\n", BODY,
        anomalies=("lf-line-ends",), reusable=True,
    ),
    _plain("bare-cr", OK + b"X-A: a\rb\r\n", "bare-cr", headers=(
        ("X-A", "a b"), ("Content-Length", "16"))),
    _plain("cr-cr-lf", OK + b"X-A: a\r\r\n", "bare-cr", headers=(
        ("X-A", "a"), ("Content-Length", "16"))),
    _plain("nul", OK + b"X-A: a\0b\r\n", "nul-byte", headers=(
        ("X-A", "a b"), ("Content-Length", "16"))),
    _plain("status-spacing", b"HTTP/1.1   200  Fine  by me \r\n", "status-line-spacing"),
    _plain("status-tabs", b"HTTP/1.1\t200\tOK\r\n", "status-line-spacing"),
    _plain("status-glued", b"HTTP/1.1 200OK\r\n", "status-line-spacing"),
    _plain("space-before-status", b"  HTTP/1.1 200 OK\r\n", "leading-blank-lines", start=2),
    _plain("blank-lines-first", b"\r\n\n\r\nHTTP/1.1 200 OK\r\n", "leading-blank-lines", start=5),
    _plain("missing-reason", b"HTTP/1.1 200\r\n", "missing-reason"),
    _plain("empty-reason", b"HTTP/1.1 200 \r\n"),
    _plain("status-000", b"HTTP/1.1 000 Null\r\n", "odd-status", status=0),
    _plain("status-999", b"HTTP/1.1 999 Request denied\r\n", "odd-status", status=999),
    _plain("status-words", b"HTTP/1.1 two hundred\r\n", "bad-status-line", status=0,
           reusable=False),
    _plain("status-four-digits", b"HTTP/1.1 2000 OK\r\n", "bad-status-line", status=0,
           reusable=False),
    _plain("lower-case", b"http/1.1 200 ok\r\n", "odd-version"),
    _plain("http-2", b"HTTP/2 200 OK\r\n", "odd-version", reusable=False),
    Odd("icy", b"ICY 200 OK\r\nicy-name: radio\r\n\r\n", BODY, ends="close",
        anomalies=("odd-version",)),
    Odd("continue-first", CONTINUE + OK + LENGTH + b"\r\n", BODY, reusable=True,
        start=len(CONTINUE), headers=(("Content-Length", "16"),)),
    Odd("many-interims", CONTINUE + HINTS + HINTS + OK + LENGTH + b"\r\n", BODY, reusable=True,
        start=len(CONTINUE + HINTS + HINTS)),
    Odd("interim-lf-blank", b"HTTP/1.1 102 Processing\n\n\r\n" + OK + LENGTH + b"\r\n", BODY,
        reusable=True, anomalies=("leading-blank-lines",), start=27),
    Odd("interim-then-text", CONTINUE, BODY, status=100, ends="close",
        anomalies=("interim-only",)),
    Odd("interim-then-close", CONTINUE, status=100, ends="close", anomalies=("interim-only",)),
    Odd("upgrade", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", status=101,
        surplus=b"\x81\x05hello", anomalies=("upgrade",)),
]  # fmt: skip

BODIES = [
    Odd("204", b"HTTP/1.1 204 No Content\r\n\r\n", status=204, reusable=True),
    Odd("204-zero", b"HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n", status=204, reusable=True),
    Odd("204-with-body", b"HTTP/1.1 204 No\r\n" + LENGTH + b"\r\n", surplus=BODY, status=204,
        anomalies=("length-without-body",)),
    Odd("304", b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 16\r\n\r\n', status=304,
        reusable=True),
    Odd("head", OK + LENGTH + b"\r\n", method="HEAD", reusable=True),
    Odd("head-chunked", OK + CHUNKED + b"\r\n", method="HEAD", reusable=True),
    Odd("tunnel", OK + b"\r\n", method="CONNECT", reusable=True),
    Odd("empty-body", OK + b"Content-Length: 0\r\n\r\n", reusable=True),
    _plain("length-twice", OK + LENGTH, "duplicate-length", reusable=False),
    Odd("length-listed", OK + b"Content-Length: 16, 016\r\n\r\n", BODY,
        anomalies=("duplicate-length",)),
    _closed("length-differs", LENGTH + b"Content-Length: 9\r\n", "conflicting-length"),
    _closed("length-word", b"Content-Length: many\r\n", "bad-length"),
    _closed("length-negative", b"Content-Length: -5\r\n", "bad-length"),
    _closed("length-signed", b"Content-Length: +16\r\n", "bad-length"),
    _closed("length-blank", b"Content-Length:\r\n", "bad-length"),
    _closed("length-superscript", b"Content-Length: 1\xb2\r\n", "non-ascii-head", "bad-length"),
    _closed("length-endless", b"Content-Length: " + b"9" * 5000 + b"\r\n", "bad-length"),
    _closed("no-length", b"Content-Type: text/html\r\n"),
    _closed("connection-close", b"Connection: close\r\n"),
    _plain("close-with-length", OK + b"Connection: Close\r\n", reusable=False),
    _plain("keep-alive", OK + b"Connection: keep-alive\r\n"),
    _plain("1.0-with-length", b"HTTP/1.0 200 OK\r\n", reusable=False),
    _plain("1.0-keep-alive", b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n"),
    Odd("1.0-close", b"HTTP/1.0 200 OK\r\n\r\n", BODY, ends="close"),
    Odd("0.9", b"", BODY, status=0, ends="close", anomalies=("http-0.9",)),
    Odd("0.9-blank-first", b"", b"\r\n\r\n" + BODY, status=0, ends="close",
        anomalies=("http-0.9",)),
    Odd("0.9-blank-only", b"", b"\r\n", status=0, ends="close", anomalies=("http-0.9",)),
    Odd("0.9-almost-a-head", b"", b"HTTPS is not HTTP", status=0, ends="close",
        anomalies=("http-0.9",)),
    _chunks("chunked", CHUNKS, reusable=True),
    _chunks("chunk-case", b"00A\r\n<html>odd<\r\n6\r\n/html>\r\n000\r\n\r\n", reusable=True),
    _chunks("chunk-padding", b"  10  \r\n" + BODY + b"\r\n0 \r\n\r\n", reusable=True),
    _chunks(
        "chunk-extensions-and-trailers",
        b'10;a=b;c="d e"\r\n' + BODY + b"\r\n0;last\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n",
        reusable=True,
    ),
    _chunks("chunk-lf", b"10\n" + BODY + b"\n0\n\n", "lf-line-ends"),
    _chunks("chunk-no-final-crlf", b"10\r\n" + BODY + b"\r\n0\r\n", "missing-final-crlf",
            ends="close"),
    _chunks("chunk-trailer-cut", b"10\r\n" + BODY + b"\r\n0\r\nX-Su", "missing-final-crlf",
            ends="close"),
    _chunks("chunk-not-hex", BODY, "bad-chunk-size", ends="close"),
    _chunks("chunk-later-not-hex", b"10\r\n" + BODY + b"\r\nxyz\r\nmore\r\n0\r\n\r\n",
            "bad-chunk-size", ends="close"),
    _chunks("chunk-negative", b"-5\r\nhello\r\n0\r\n\r\n", "bad-chunk-size", ends="close",
            payload=None),
    _chunks("chunk-hex-prefix", b"0x5\r\nhello\r\n0\r\n\r\n", "bad-chunk-size", ends="close",
            payload=None),
    _chunks("chunk-overflow", b"1" + b"0" * 16 + b"\r\nhello", "bad-chunk-size", ends="close",
            payload=None),
    _chunks("chunk-huge", b"7fffffffffffffff\r\nhello", ends="cut", truncated="disconnect",
            payload=b"hello"),
    _chunks("chunk-no-size", b"\r\nhello\r\n0\r\n\r\n", "bad-chunk-size", ends="close",
            payload=None),
    _chunks("chunk-longer-than-said", b"5\r\n<html>odd</html>\r\n0\r\n\r\n", "bad-chunk-end",
            ends="close", payload=b"<html"),
    _chunks("chunk-cr-only", b"10\r\n" + BODY + b"\rx", "bad-chunk-end", ends="close"),
    _chunks("chunk-endless-extension", b"10;" + b"x" * 20_000 + b"\r\n" + BODY, "long-chunk-line",
            ends="close", payload=None),
    _chunks("chunk-size-cut", b"10\r\n" + BODY + b"\r\n1", ends="cut", truncated="disconnect"),
    _chunks("chunk-cut", b"400\r\n" + BODY, ends="cut", truncated="disconnect"),
    _chunks("chunk-crlf-cut", b"10\r\n" + BODY + b"\r", ends="cut", truncated="disconnect"),
    _chunks("chunk-last-missing", b"10\r\n" + BODY + b"\r\n", ends="cut", truncated="disconnect"),
    _chunks("chunk-none", b"", ends="cut", truncated="disconnect", payload=b""),
    Odd("te-and-length", OK + CHUNKED + b"Content-Length: 3\r\n\r\n", CHUNKS, ends="chunked",
        anomalies=("length-and-coding",), payload=BODY),
    Odd("te-in-1.0", b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + CHUNKED + b"\r\n", CHUNKS,
        ends="chunked", anomalies=("chunked-in-http-1.0",), payload=BODY),
    Odd("te-case-and-space", OK + b"transfer-encoding:  Chunked \r\n\r\n", CHUNKS, ends="chunked",
        reusable=True, payload=BODY),
    Odd("te-twice", OK + CHUNKED + CHUNKED + b"\r\n", CHUNKS, ends="chunked",
        anomalies=("chunked-twice",), payload=BODY),
    _closed("te-gzip", b"Transfer-Encoding: gzip\r\n", "coding-without-chunked"),
    _closed("te-chunked-not-last", b"Transfer-Encoding: chunked, gzip\r\n",
            "coding-without-chunked"),
    _plain("te-identity", OK + b"Transfer-Encoding: identity\r\n", "identity-coding",
           reusable=False),
    _closed("te-blank", b"Transfer-Encoding:\r\n"),
]  # fmt: skip

ENDS = [
    Odd("short-body", OK + b"Content-Length: 99\r\n\r\n", BODY, ends="cut",
        truncated="disconnect"),
    Odd("no-body-came", OK + LENGTH + b"\r\n", ends="cut", truncated="disconnect"),
    Odd("surplus", OK + LENGTH + b"\r\n", BODY, surplus=b"tail", reusable=True),
    Odd("surplus-response", OK + LENGTH + b"\r\n", BODY, surplus=PLAIN, reusable=True),
    _chunks("surplus-after-chunks", CHUNKS, surplus=b"\r\n", reusable=True),
    Odd("cut-in-header", OK + b"Content-Length: 1", ends="cut", truncated="disconnect",
        anomalies=("unfinished-head",), headers=()),
    Odd("cut-in-fold", OK + b"X-A: a\r\nX-B: b\r\n c", ends="cut", truncated="disconnect",
        anomalies=("unfinished-head", "obs-fold"), headers=(("X-A", "a"),)),
    Odd("cut-before-blank", OK + LENGTH, ends="cut", truncated="disconnect",
        anomalies=("unfinished-head",), headers=(("Content-Length", "16"),)),
    Odd("cut-in-crlf", OK + LENGTH + b"\r", ends="cut", truncated="disconnect",
        anomalies=("unfinished-head",)),
    Odd("cut-in-status", b"HTTP/1.1 20", status=0, ends="cut", truncated="disconnect",
        anomalies=("unfinished-head",)),
    Odd("cut-in-version", b"HTT", status=0, ends="cut", truncated="disconnect",
        anomalies=("unfinished-head",)),
    Odd("cut-after-blanks", b"\r\nHTTP/1.1 200 OK\r\n", ends="cut", truncated="disconnect",
        anomalies=("leading-blank-lines", "unfinished-head"), start=2),
    Odd("cut-after-interim", HINTS + b"HTTP/1.1 2", status=0, ends="cut", truncated="disconnect",
        anomalies=("unfinished-head",), start=len(HINTS)),
]  # fmt: skip

ODD = [*HEADS, *BODIES, *ENDS]
