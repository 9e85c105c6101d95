"""Answers as if they had come over the wire, for tests of what becomes of them."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from asof.clock import SECOND, Instant
from asof.http.head import parse_head
from asof.model import Body, Crawl, CrawlState, Exchange, Failure, Timings
from asof.url import canonical

# 2026-01-01T00:00:00Z, where a SimulatedClock starts.
START: Instant = 1_767_225_600 * SECOND
CRAWL = Crawl("20260101000000-test", ("http://a.example/",), START, CrawlState.RUNNING)


def answer(
    url: str,
    body: bytes = b"",
    *,
    status: int = 200,
    media: str | None = "text/html",
    headers: tuple[tuple[str, str], ...] = (),
    at: Instant = START,
    spool: Path | None = None,
    truncated: str = "",
    anomalies: tuple[str, ...] = (),
) -> Exchange:
    """What a server answers; with `spool`, its body lies in that file."""
    assert canonical(url) == url
    named = () if media is None else (("Content-Type", media),)
    lines = [f"{name}: {value}" for name, value in (*named, *headers)]
    head = "\r\n".join([f"HTTP/1.1 {status} Said", *lines, "", ""]).encode("latin-1")
    if spool is not None:
        spool.write_bytes(body)
    return Exchange(
        url=url,
        request=f"GET {url} HTTP/1.1\r\n\r\n".encode(),
        head=head,
        body=Body(len(body), b"", spool) if spool is not None else Body(len(body), body),
        status=status,
        headers=parse_head(head).headers,
        started=at,
        timings=Timings(1_000, 2_000, 3_000),
        payload_digest=sha256(body).digest(),
        truncated=truncated,
        anomalies=anomalies,
        peer="192.0.2.7",
    )


def failure(url: str, reason: str = "timeout", *, at: Instant = START) -> Failure:
    """A server that does not answer, this time."""
    return Failure(url, reason, f"{reason} in a test", at, transient=True)
