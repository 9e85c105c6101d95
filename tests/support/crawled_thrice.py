"""A site that was crawled three times: most of it is in the archive as revisits of all kinds."""

from __future__ import annotations

import gzip
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from asof.archive import OpenArchive
from asof.catalog.derive import derive
from asof.clock import iso, stamp
from asof.model import Capture
from asof.warc.digest import digest_text
from asof.warc.reader import scan
from asof.warc.record import StoredRecord, WarcHeader
from asof.warc.revisit import IDENTICAL_PAYLOAD, block_of
from asof.warc.write import member
from support import rig
from support.rig import Answer, Reply, crawl, links, ok, page, site

WORDS = "<p>Boats came in with the tide, and went out with it.</p>" * 9
PICTURE = bytes(range(256)) * 4


def checked(body: str | bytes, media: str = "text/html", **extra: str) -> Callable[[bytes], Reply]:
    """A page whose server says 304 where it can."""
    data = body.encode() if isinstance(body, str) else body
    tag = f'"{sha256(data).hexdigest()[:9]}"'

    def answer(head: bytes) -> Reply:
        if tag.encode() in head:
            return page("", "304 Not Modified", media, ETag=tag)
        return page(data, media=media, ETag=tag, **extra)

    return answer


def pages(crawl: int) -> dict[str, Answer]:
    """What the site says when it is crawled for the first, second or third time."""
    style = '<link rel=stylesheet href="/style.css">'
    text = f"<!doctype html><title>Tide</title>{style}<img src=/boat.png>{WORDS}"
    lost = f"<!doctype html><title>Lost</title>{WORDS}{WORDS}"
    chunks = f"{len(text):x}\r\n{text}\r\n0\r\n\r\n"
    sent = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    found: dict[str, Answer] = {
        "/page": checked(text if crawl < 3 else text.replace("Boats", "Ships")),
        "/copy": checked(text),
        "/style.css": checked("body { color: rgb(1, 2, 3) }" + "/* */" * 99, "text/css"),
        "/boat.png": checked(PICTURE, "image/png"),
        "/plain": page(f"<title>Plain</title>{WORDS}"),
        "/changes": checked(f"<title>Changes</title><p>Edition {crawl}.</p>{WORDS}"),
        "/packed": checked(gzip.compress(text.encode(), mtime=0), Content_Encoding="gzip"),
        "/chunked": Reply((sent + chunks.encode(),), "keep"),
        # The same bytes under two heads: once gone, once there.
        "/a-lost": page(lost, "404 Not Found"),
        "/lost": checked(lost),
        "/moved": page(f"<p>Go on.</p>{WORDS}", "301 Moved Permanently", Location="/page"),
        "/gone-on": page(f"<p>Go on.</p>{WORDS}", "302 Found", Location="/plain"),
        "/none": page(f"<p>Nothing here.</p>{WORDS}", "404 Not Found"),
        "/broken": page(f"<p>Broken.</p>{WORDS}", "500 Internal Server Error"),
    }
    return {"/": page(links(*found, title="Harbour")), **found}


@dataclass(frozen=True)
class Shown:
    """What a capture shows in asof."""

    url: str
    timestamp: str
    status: int
    media_type: str | None
    body: bytes
    redirect: str | None
    kind: str
    profile: str | None


def build(root: Path) -> Path:
    archive = root / "archive"
    with site(pages(1)) as server:
        crawl(archive, server.url + "/")
        for number in (2, 3):
            time.sleep(1.1)  # of another second, as others count time
            server.pages = pages(number)
            crawl(archive, server.url + "/", "--new")
    return archive


def shown(archive: Path) -> list[Shown]:
    with OpenArchive.open(archive) as opened:
        return [each for each in _shown(opened) if not each.url.endswith("robots.txt")]


def _shown(archive: OpenArchive) -> Iterator[Shown]:
    for capture in archive.captures():
        found = archive.read(capture)
        yield Shown(
            capture.url, stamp(capture.at), found.status or 0, found.media_type,
            b"".join(found.payload()), capture.redirect, capture.kind, capture.profile,
        )  # fmt: skip


def as_before(archive: Path, copy: Path) -> Path:
    """The same archive as asof 0.2 wrote it: the head of a 304 in its block, exact dates, and equal
    payloads stored once whatever their heads.
    """
    shutil.copytree(archive, copy)
    rig.remove_database(copy)
    first: dict[str, Capture] = {}
    for path in rig.warcs(copy):
        records = [found for found in scan(path) if isinstance(found, StoredRecord)]
        changed = [_as_before(each, first) for each in records]
        path.write_bytes(b"".join(b"".join(member(each)) for each in changed))
    ok("reindex", "-a", copy)
    return copy


def _as_before(record: StoredRecord, first: dict[str, Capture]) -> StoredRecord:
    capture = derive(record)
    if capture is None or capture.digest is None or not record.header.get("WARC-Payload-Digest"):
        return record
    block = record.data or block_of(record.header)
    changed = {}
    if capture.kind == "revisit":
        url, at = capture.refers_to_url or "", capture.refers_to_at or 0
    else:
        held = first.setdefault(capture.digest, capture)
        if held is capture or capture.size < 256:
            return record
        url, at, block = held.url, held.at, block[: len(block) - capture.size]
        changed["WARC-Type"] = "revisit"
    changed |= {
        "WARC-Block-Digest": digest_text(sha256(block).digest()),
        "Content-Length": str(len(block)),
    }
    named = {"WARC-Refers-To-Target-URI": url, "WARC-Refers-To-Date": iso(at)}
    if "WARC-Type" in changed:
        named["WARC-Profile"] = IDENTICAL_PAYLOAD
    kept = (f for f in record.header.fields if not f[0].startswith(("WARC-Asof-", *named)))
    fields = tuple((name, changed.get(name, value)) for name, value in kept)
    header = WarcHeader("1.1", (*fields, *named.items()))
    return replace(record, header=header, size=len(block), data=block)
