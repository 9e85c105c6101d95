"""`asof quality` of a large archive: seconds and memory, and those of the history of one URL.

    python bench/quality_scale.py [--captures 240000] [--crawls 2] [--keep FOLDER]

The archive holds crawls of one host that visited every page twice. Between the crawls one page
in ten changed, between visit and revisit one in a hundred; half of the other revisits are equal
bytes, half are 304 answers by a strong ETag. The records are real ones, of pages of some sentences.
Its making is not timed; `--keep` leaves it (and takes it from there the next time).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import zlib
from base64 import b32encode
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from asof.archive import OpenArchive
from asof.catalog.rows import Row
from asof.clock import DAY, SECOND, http_date, iso
from asof.model import CoherencePlan, Crawl, CrawlState, Segment
from asof.url import surt
from measure import run

BIN = Path(sys.executable).parent
START = 1_750_000_000 * SECOND
PROFILE = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
PACE = SECOND // 10
BATCH = 5_000
WORDS = ("the", "gate", "keeper", "writes", "down", "who", "came", "and", "what", "was", "in")


class Writer:
    """Records and their rows, as a crawl makes them."""

    def __init__(self, archive: OpenArchive, crawl: Crawl, number: int) -> None:
        self._archive, self._crawl = archive, crawl
        self._file = f"{number:06}-{crawl.id}.warc.gz"
        self._out = (archive.folder.warc / self._file).open("wb")
        self._rows: list[Row] = []
        with archive.ledger.transaction():
            archive.catalog.put_crawl(crawl)
        self._no = self._segment(0)
        self._count = number * 10**9

    def close(self) -> None:
        self._flush()
        self._segment(self._out.tell())
        self._out.close()

    def _segment(self, committed: int) -> int:
        with self._archive.ledger.transaction():
            return self._archive.catalog.put_segment(
                Segment(self._file, committed, self._crawl.id, committed > 0)
            )

    def page(self, page: int, version: int, at: int, seen: int | None = None) -> None:
        """A download; with `seen`, a 304 about the download of that moment."""
        url = f"http://example.org/section-{page % 40}/page-{page}.html"
        words = " ".join(WORDS[(page + k * k) % 11] for k in range(40))
        news = " ".join(f"{word}{version}" for word in WORDS) if version else ""
        body = f"<title>{page}</title><h1>Page {page}</h1><p>{words}.<p>{news}".encode()
        digest = "sha256:" + b32encode(sha256(body).digest()).decode()
        tag, changed = f'"{page:x}-{version}"', START - DAY + version * DAY // 2
        answer = "304 Not Modified" if seen else "200 OK"
        head = (
            f"HTTP/1.1 {answer}\r\nDate: {http_date(at)}\r\nETag: {tag}\r\n"
            f"Last-Modified: {http_date(changed)}\r\nContent-Type: text/html\r\n\r\n"
        ).encode()
        self._count += 1
        name = str(UUID(int=self._count))
        fields = [
            "WARC/1.1", f"WARC-Type: {'revisit' if seen else 'response'}",
            f"WARC-Target-URI: {url}", f"WARC-Date: {iso(at)}",
            f"WARC-Record-ID: <urn:uuid:{name}>", f"WARC-Payload-Digest: {digest}",
            "Content-Type: application/http; msgtype=response",
        ]  # fmt: skip
        if seen:
            fields += [
                f"WARC-Profile: {PROFILE}", f"WARC-Refers-To-Date: {iso(seen)}",
                f"WARC-Refers-To-Target-URI: {url}",
            ]  # fmt: skip
        block = head if seen else head + body
        fields.append(f"Content-Length: {len(block)}\r\n\r\n")
        record = "\r\n".join(fields).encode() + block + b"\r\n\r\n"
        pack = zlib.compressobj(1, zlib.DEFLATED, 31)
        member = pack.compress(record) + pack.flush()
        plain = (
            surt(url), at, name, url, "revisit" if seen else "response", 304 if seen else 200,
            "text/html", digest, None if seen else digest, 0 if seen else len(body),
            self._out.tell(), len(member), tag, changed // SECOND * SECOND,
        )  # fmt: skip
        profile = "server-not-modified" if seen else None
        self._rows.append((*plain, None, None, profile, url if seen else None, seen, None, None))
        self._out.write(member)
        if len(self._rows) == BATCH:
            self._flush()

    def _flush(self) -> None:
        self._archive.catalog.add_rows(self._rows, self._no)
        self._rows.clear()


def make(folder: Path, captures: int, crawls: int) -> None:
    """Crawls, forth and back."""
    pages = captures // (2 * crawls)
    with OpenArchive.write(folder, purpose="bench") as archive:
        for number in range(crawls):
            began = START + number * DAY
            turn = began + pages * PACE + PACE // 2
            plan = CoherencePlan("inducible", "lifo", 0.9, pages, turn=turn)
            crawl = Crawl(
                f"crawl-{number}", ("http://example.org/",), began, CrawlState.FINISHED,
                turn + pages * PACE, coherence_plan=plan,
            )  # fmt: skip
            writer = Writer(archive, crawl, number + 1)
            for page in range(pages):
                writer.page(page, version_of(page, number, 0), began + page * PACE)
            for back, page in enumerate(reversed(range(pages))):
                old, new = (version_of(page, number, look) for look in range(2))
                seen = began + page * PACE if old == new and page % 2 else None
                writer.page(page, new, turn + back * PACE, seen)
            writer.close()


def version_of(page: int, crawl: int, look: int) -> int:
    """How often a page has changed until one look of a crawl."""
    between = page % 10 == 3
    inside = page % 100 == 7
    return crawl * (between + inside) + look * inside


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--captures", type=int, default=240_000)
    parser.add_argument("--crawls", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        folder = options.keep or Path(scratch) / "archive"
        if not folder.exists():
            make(folder, options.captures, options.crawls)
        where = ("-a", str(folder))
        url = "http://example.org/section-1/page-1.html"
        for words in (("quality",), ("quality", "--json"), ("show", url), ("show", url)):
            cost = run([str(BIN / "asof"), *words, *where])
            sys.stdout.write(
                f"asof {words[0]:8} {' '.join(words[1:])[:8]:8} {cost.wall:6.1f} s, "
                f"{cost.cpu:6.1f} s of CPU, {cost.peak_mb:5.0f} MB\n"
            )


if __name__ == "__main__":
    main()
