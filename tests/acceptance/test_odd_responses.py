"""Odd but real responses are kept byte for byte, with the right end and the right flags."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.rig import (
    Reply,
    by_fastwarc,
    by_warcio,
    crawl,
    links,
    ok,
    page,
    referees_agree,
    rows_of,
    site,
    warcs,
)
from support.rig import split as cut

BODY = b"<html><body>odd but real</body></html>"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
TYPE = b"Content-Type: text/html\r\n"


def chunked(*chunks: bytes, extension: bytes = b"", trailer: bytes = b"") -> bytes:
    framed = b"".join(b"%x%s\r\n%s\r\n" % (len(c), extension, c) for c in chunks)
    return framed + b"0" + extension + b"\r\n" + trailer + b"\r\n"


OK = b"HTTP/1.1 200 OK\r\n"
TE = b"Transfer-Encoding: chunked\r\n"
END = TYPE + LENGTH + b"\r\n" + BODY
INTERIM = (
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x.css>; rel=preload\r\n\r\n"
)


@dataclass(frozen=True)
class Odd:
    """The bytes sent, what the server does afterwards, and what asof must say of them."""

    data: bytes
    after: str = "keep"
    status: int | None = 200
    truncated: str | None = None


def unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


EXTRAS = chunked(BODY, b"x" * 300, extension=b';a=b;c="d e"', trailer=b"X-Sum: 1\r\nX-Two: 2\r\n")

ODD: dict[str, Odd] = {
    "obs-fold": Odd(OK + b"X-Folded: one\r\n two\r\n\tthree\r\n" + END),
    "no-colon": Odd(OK + b"this line has none\r\n" + END),
    "space-before-colon": Odd(
        OK + TYPE + b"Content-Length : %d\r\n\r\n" % len(BODY) + BODY, "close"
    ),
    "non-ascii": Odd(OK + b"X-Name: caf\xe9 \xff\xfe\r\nX-Utf: \xe2\x82\xac\r\n" + END),
    "long-header": Odd(OK + b"X-Long: " + b"a" * 60_000 + b"\r\n" + END),
    "many-headers": Odd(OK + b"".join(b"X-%d: %d\r\n" % (i, i) for i in range(250)) + END),
    "lf-only": Odd(unix(OK + TYPE + LENGTH + b"\r\n") + BODY),
    "lf-chunked": Odd(unix(OK + TYPE + TE + b"\r\n" + chunked(b"abc", b"defg"))),
    "status-spacing": Odd(b"HTTP/1.1   200   Fine  by me \r\n" + END),
    "no-reason": Odd(b"HTTP/1.1 200\r\n" + END),
    "continue-first": Odd(INTERIM + OK + END),
    "no-content": Odd(b"HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n", status=204),
    "no-content-length": Odd(b"HTTP/1.1 204 Nothing\r\nContent-Length: 0\r\n\r\n", status=204),
    "not-modified": Odd(
        b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 500\r\n\r\n', status=304
    ),
    "length-twice": Odd(OK + TYPE + LENGTH + LENGTH + b"\r\n" + BODY),
    "length-differs": Odd(
        OK + TYPE + LENGTH + b"Content-Length: %d\r\n\r\n" % (len(BODY) - 7) + BODY, "close"
    ),
    "te-and-length": Odd(OK + TYPE + TE + b"Content-Length: 3\r\n\r\n" + chunked(BODY, BODY)),
    "chunk-extras": Odd(OK + TYPE + TE + b"Trailer: X-Sum\r\n\r\n" + EXTRAS),
    "chunk-case": Odd(
        OK + TYPE + b"transfer-encoding:  Chunked \r\n\r\n00A\r\n0123456789\r\n000\r\n\r\n"
    ),
    "http10-close": Odd(b"HTTP/1.0 200 OK\r\n" + TYPE + b"\r\n" + BODY, "close"),
    "http11-close": Odd(OK + TYPE + b"Connection: close\r\n\r\n" + BODY, "close"),
    "http09": Odd(b"<html><body>no head at all</body></html>\n", "close", None),
    "short-body": Odd(
        OK + TYPE + b"Content-Length: 5000\r\n\r\n" + BODY, "close", truncated="disconnect"
    ),
    "short-chunk": Odd(OK + TYPE + TE + b"\r\n400\r\n" + BODY, "close", truncated="disconnect"),
    "no-last-chunk": Odd(
        OK + TYPE + TE + b"\r\n" + chunked(BODY)[:-5], "close", truncated="disconnect"
    ),
    "empty-body": Odd(OK + TYPE + b"Content-Length: 0\r\n\r\n"),
    "gone": Odd(b"HTTP/1.1 410 Gone\r\n" + END, status=410),
    "broken-gzip": Odd(OK + b"Content-Encoding: gzip\r\n" + END),
    "odd-status": Odd(b"HTTP/1.1 299 Yes\r\n" + END, status=299),
    "server-bug": Odd(b"HTTP/1.1 500 Oops\r\n" + END, status=500),
}

SMALL = [name for name, odd in ODD.items() if len(odd.data) < 1500]


def replies() -> dict[str, Reply]:
    """Every response whole, cut at random places, and (small ones) byte by byte."""
    chance = random.Random(17)
    out = {}
    for name, odd in ODD.items():
        data, after = odd.data, odd.after
        out[f"/whole/{name}"] = Reply((data,), after)
        for no in range(2):
            pieces = cut(data, chance.sample(range(len(data)), min(6, len(data))))
            out[f"/split{no}/{name}"] = Reply(pieces, after, pause=0.001)
        if name in SMALL:
            out[f"/bytes/{name}"] = Reply(cut(data, range(len(data))), after, pause=0.00005)
    return out


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, ...]]:
    """One crawl over all of them, found by links from a front page."""
    odd = replies()
    with site(odd | {"/": page(links(*odd))}) as server:
        archive = tmp_path_factory.mktemp("odd") / "archive"
        # A response of status 500 may be tried again: that is good manners, not part of this test.
        result = crawl(archive, server.url + "/", timeout=120)
        rows: dict[str, list[dict]] = {}
        for row in rows_of(archive):
            rows.setdefault(row["url"].removeprefix(server.url), []).append(row)
        yield server, archive, odd, result.json(), rows


def test_every_odd_response_was_asked_for_and_listed(captured: tuple[Any, ...]) -> None:
    server, _, odd, summary, rows = captured
    assert set(odd) <= set(server.paths())
    assert summary["state"] == "finished"
    assert not set(odd) - set(rows)


@pytest.mark.parametrize("name", ODD)
def test_bytes_status_and_flags(captured: tuple[Any, ...], name: str) -> None:
    server, archive, odd, _, listed = captured
    data, status, truncated = ODD[name].data, ODD[name].status, ODD[name].truncated
    wrong = []
    for kind in ("whole", "split0", "split1", "bytes"):
        if f"/{kind}/{name}" not in odd:
            continue
        rows = listed.get(f"/{kind}/{name}", [])
        if not rows:
            wrong.append(f"{kind}: not listed")
            continue
        if rows[-1]["status"] != status:
            wrong.append(f"{kind}: status {rows[-1]['status']} instead of {status}")
        if rows[-1]["truncated"] != truncated:
            wrong.append(f"{kind}: truncated {rows[-1]['truncated']!r} instead of {truncated!r}")
    raw = ok("get", f"{server.url}/whole/{name}", "--raw", "-a", archive)
    if raw.out != data:
        wrong.append(
            f"get --raw gave {raw.out[:300]!r} ({len(raw.out)}) for {data[:300]!r} ({len(data)})"
        )
    assert not wrong, wrong


def test_referees_read_exactly_the_bytes_sent(captured: tuple[Any, ...]) -> None:
    """In a response, or in a revisit's own head before the payload of the response it names."""
    server, archive, odd, _, listed = captured
    again = {path for path, rows in listed.items() if rows[-1]["kind"] == "revisit"}
    assert again <= {path for path, reply in odd.items() if len(reply.sent) > 256}
    for path in again:
        raw = ok("get", f"{server.url}{path}", "--raw", "-a", archive)
        assert raw.out == odd[path].sent
    for reader in (by_warcio, by_fastwarc):
        blocks: dict[str, list[bytes]] = {}
        for path in warcs(archive):
            for seen in reader(path):
                if seen.kind == "response":
                    blocks.setdefault(seen.url.removeprefix(server.url), []).append(seen.block)
        wrong = {
            path: (blocks.get(path), reply.sent)
            for path, reply in odd.items()
            if path not in again
            if set(blocks.get(path, [])) != {reply.sent}
        }
        assert not wrong, (reader.__name__, sorted(wrong), next(iter(wrong.values())))


def test_everything_written_passes_the_referees(captured: tuple[Any, ...]) -> None:
    archive = captured[1]
    referees_agree(archive)


def test_payload_is_the_decoded_entity(captured: tuple[Any, ...]) -> None:
    server, archive, _, _, _ = captured

    def payload(name: str) -> bytes:
        return ok("get", f"{server.url}/whole/{name}", "-a", archive).out

    assert payload("te-and-length") == BODY + BODY
    assert payload("chunk-extras") == BODY + b"x" * 300
    assert payload("chunk-case") == b"0123456789"
    assert payload("lf-chunked") == b"abcdefg"
    assert payload("continue-first") == BODY
    assert payload("short-body") == BODY
    assert payload("short-chunk") == BODY
    assert payload("http09") == ODD["http09"].data
    assert payload("empty-body") == b""
    assert payload("no-content") == b""
    assert payload("lf-only") == BODY


def test_show_names_the_flag_and_anomalies_of_an_odd_response(captured: tuple[Any, ...]) -> None:
    server, archive, _, _, rows = captured
    shown = ok("show", f"{server.url}/whole/short-body", "-a", archive, "--json").json()
    assert [row["truncated"] for row in shown["captures"]] == ["disconnect"]
    for name in ("obs-fold", "no-colon", "lf-only", "length-differs", "te-and-length"):
        row = rows[f"/whole/{name}"][-1]
        assert row["anomalies"], f"{name} is odd, and its row says nothing about it"


def test_equal_payloads_get_equal_content_digests_whatever_the_framing(
    captured: tuple[Any, ...],
) -> None:
    rows = {path: found[-1] for path, found in captured[4].items()}
    plain = rows["/whole/no-reason"]["content"]
    assert plain
    assert plain.startswith("sha256:")
    for name in ("http10-close", "lf-only", "continue-first", "length-twice", "many-headers"):
        assert rows[f"/whole/{name}"]["content"] == plain, name
    assert rows["/whole/te-and-length"]["content"] != plain


def test_early_closes_without_a_whole_head_do_not_hurt(tmp_path: Path) -> None:
    """A connection that ends inside the head, at once, or by reset: the crawl goes on."""
    torn = {
        "/in-head": Reply((b"HTTP/1.1 200 OK\r\nContent-Ty",)),
        "/in-status": Reply((b"HTTP/1.",)),
        "/nothing": Reply((b"",)),
        "/reset": Reply((OK + b"Content-Length: 500\r\n\r\nabc",), after="reset"),
    }
    with site(torn | {"/": page(links(*torn, "/fine")), "/fine": page("fine")}) as server:
        archive = tmp_path / "archive"
        done = crawl(archive, server.url + "/", timeout=60).json()
        assert done["state"] == "finished"
        assert done["failed"] >= 1
        assert done["reasons"]
        fine = rows_of(archive, "--url", server.url + "/fine")
        assert [row["status"] for row in fine] == [200]
        # What did come over the wire before the close is evidence, too: no byte may be lost.
        blocks = b"\n".join(seen.block for path in warcs(archive) for seen in by_warcio(path))
        assert b"HTTP/1.1 200 OK\r\nContent-Ty" in blocks
        assert b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nabc" in blocks
        referees_agree(archive)


def test_keep_alive_is_not_confused_by_what_follows_a_response(tmp_path: Path) -> None:
    """Bytes after a complete message belong to nobody; they must not become the next page's."""
    smuggled = page("one").sent + b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nSMUGGLED"
    pages = {"/one": Reply((smuggled,), "keep"), "/two": page("two"), "/three": page("three")}
    with site(pages | {"/": page(links("/one", "/two", "/three"))}) as server:
        archive = tmp_path / "archive"
        crawl(archive, server.url + "/")
        for name in ("two", "three"):
            assert ok("get", f"{server.url}/{name}", "-a", archive).out == name.encode()


def test_large_and_slow_bodies(tmp_path: Path) -> None:
    """A body of 30 MB is spooled, not held; `--max-bytes` and slow drips have an end."""
    big = random.Random(3).randbytes(1 << 20) * 30
    pages = {"/big": page(big, media="application/octet-stream"), "/": page(links("/big"))}
    with site(pages) as server:
        archive = tmp_path / "archive"
        result = crawl(archive, server.url + "/", timeout=60, fresh=True)
        assert result.peak_rss < 200 << 20, f"{result.peak_rss >> 20} MB at the peak"
        got = ok("get", server.url + "/big", "-a", archive, fresh=True)
        assert got.out == big
        assert got.peak_rss < 200 << 20
        assert rows_of(archive, "--url", server.url + "/big")[0]["truncated"] is None
        referees_agree(archive)
        leftovers = [p for p in archive.rglob("*") if p.is_file() and "spool" in str(p).lower()]
        assert not leftovers
