"""Reading and checking a WARC file: asof beside FastWARC and warcio, in one interleaved run.

    .venv/bin/python bench/warc_read.py [--records 3000] [--rounds 7] [--profile]

Prints records per CPU second, the best of the rounds, and the ratios. The file has one gzip member
a record, with SHA-256 block and payload digests, made by asof itself (ISA-L level 1).
"""

from __future__ import annotations

import argparse
import cProfile
import hashlib
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from asof.model import Body, Exchange, Target, Timings
from asof.warc.build import exchange_records
from asof.warc.reader import scan
from asof.warc.record import StoredRecord
from asof.warc.verify import verify
from asof.warc.write import WarcFile

CHUNK = 1 << 16


def page(rng: random.Random, words: list[str], size: int) -> bytes:
    """HTML that compresses to about a fifth, as pages do."""
    parts: list[str] = ["<!doctype html><html><head><title>A page</title></head><body>\n"]
    total = 0
    while total < size:
        a, b, c = rng.choices(words, k=3)
        text = " ".join(rng.choices(words, k=9))
        parts.append(
            f'<div class="card teaser"><a class="link-primary" href="/section/{a}/{b}.html">{c}</a>'
            f'\n  <p class="teaser-text">{text}</p>\n</div>\n'
        )
        total += len(parts[-1])
    return "".join(parts)[:size].encode()


def make(path: Path, count: int, size: int, *, whole: bool = False) -> None:
    """A file of responses only, or of the three records that a crawl keeps of each exchange."""
    rng = random.Random(size)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(400)]
    with WarcFile.create(path) as file:
        for number in range(count):
            body = page(rng, words, size)
            head = (
                "HTTP/1.1 200 OK\r\nServer: nginx/1.24.0\r\nDate: Sun, 15 Nov 2026 19:05:12 GMT\r\n"
                f"Content-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
                f'Last-Modified: Sat, 14 Nov 2026 08:00:00 GMT\r\nETag: "{number:x}"\r\n\r\n'
            ).encode()
            exchange = Exchange(
                url=f"https://www.example.org/section/{number % 40}/page-{number}.html",
                request=b"GET / HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: asof/0.1\r\n\r\n",
                head=head,
                body=Body(len(body), body),
                status=200,
                headers=(),
                started=1_790_000_000_000_000 + number * 1_234_567,
                timings=Timings(0, 0, 0),
                payload_digest=hashlib.sha256(body).digest(),
                peer="192.0.2.7",
            )
            records = exchange_records(exchange, target=Target(exchange.url, via=exchange.url))
            file.append(records if whole else records[1:2])


def read_asof(path: Path) -> int:
    return sum(isinstance(found, StoredRecord) for found in scan(path))


def read_fastwarc(path: Path) -> int:
    count = 0
    with path.open("rb") as stream:
        for record in FastIterator(stream, parse_http=False):
            record.reader.read()
            count += 1
    return count


def read_warcio(path: Path) -> int:
    count = 0
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream):
            while record.raw_stream.read(CHUNK):
                pass
            count += 1
    return count


def check_asof(path: Path) -> int:
    count = 0
    for found in scan(path):
        assert isinstance(found, StoredRecord)
        assert not verify(found)
        count += 1
    return count


def check_fastwarc(path: Path) -> int:
    count = 0
    with path.open("rb") as stream:
        for record in FastIterator(stream, parse_http=False):
            assert record.verify_block_digest()
            record.parse_http()
            if "WARC-Payload-Digest" in record.headers:
                assert record.verify_payload_digest()
            count += 1
    return count


def check_warcio(path: Path) -> int:
    """What the command `warcio check` runs; it does not count, so it is given no answer."""
    assert not Checker(SimpleNamespace(inputs=[str(path)], verbose=False)).process_all()
    return 0


TABLE: dict[str, dict[str, Callable[[Path], int]]] = {
    "scan": {"asof": read_asof, "FastWARC": read_fastwarc, "warcio": read_warcio},
    "scan + verify": {
        "asof": check_asof,
        "FastWARC": check_fastwarc,
        "warcio check": check_warcio,
    },
}


def measure(path: Path, count: int, rounds: int) -> None:
    best: dict[tuple[str, str], float] = {}
    for _ in range(rounds):
        for job, readers in TABLE.items():
            for name, reader in readers.items():
                start = time.process_time()
                found = reader(path)
                spent = time.process_time() - start
                assert found in (0, count), (name, found)
                best[job, name] = min(spent, best.get((job, name), spent))
    for job, readers in TABLE.items():
        mine = best[job, "asof"]
        for name in readers:
            spent = best[job, name]
            print(f"  {job:14} {name:13} {count / spent:9,.0f} /s   asof is {spent / mine:4.2f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--profile", action="store_true", help="profile asof's scan + verify")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for size, each in ((25_000, 1), (2_000, 1), (25_000, 3)):
            path = Path(folder) / f"{size}-{each}.warc.gz"
            make(path, options.records // each, size, whole=each > 1)
            count = options.records // each * each
            what = "responses" if each == 1 else "requests, responses and metadata"
            print(f"{what} of {size:,} bytes: {path.stat().st_size / count:,.0f} bytes a record")
            if options.profile:
                cProfile.runctx("check_asof(path)", globals(), {"path": path}, sort="tottime")
            else:
                measure(path, count, options.rounds)


if __name__ == "__main__":
    main()
