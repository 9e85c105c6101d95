"""The spine against its peers, as ratios in one interleaved run.

    python bench/spine.py [--records N] [--rounds N]

import+index against cdxj-indexer, check against `warcio check`; the WARC is made by warcio from
pages of the synthetic site, so both sides read a foreign file. bench/crawl.py has the crawl.
"""

from __future__ import annotations

import argparse
import io
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from asof.testing import SiteSpec, SyntheticSite
from measure import Cost, interleave, one_core, report, run

BIN = Path(sys.executable).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        place = Path(scratch)
        for shape in SHAPES:
            warc = make_warc(place / f"{shape}.warc.gz", options.records, shape)
            bench_import(warc, place, options, shape)
            bench_check(warc, place, options, shape)


# What files hold: long pages and nothing else; or, as crawlers write them, a request with each
# answer and answers of all sizes, most of them small.
SHAPES = ("pages of 23 KB", "as crawled")


def make_warc(path: Path, records: int, shape: str) -> Path:
    """Pages of the synthetic site, cut and joined to size, in a file by warcio."""
    site = SyntheticSite(SiteSpec(seed=3, pages=200))
    start = site.spec.start
    pages = [site.respond("GET", path, {}, start).body for path in site.paths(start)]
    chance = random.Random(5)
    crawled = shape == "as crawled"
    with path.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        for number in range(records // 2 if crawled else records):
            longest = (
                int(chance.lognormvariate(8.3, 1.2)) if crawled else chance.randint(2000, 48000)
            )
            body = b"".join(chance.choice(pages) for _ in range(8))[: min(longest, 48000)]
            head = StatusAndHeaders(
                "200 OK",
                [
                    ("Content-Type", "text/html; charset=utf-8"),
                    ("Content-Length", str(len(body))),
                    ("Last-Modified", "Tue, 18 Mar 2025 10:00:23 GMT"),
                    ("ETag", f'"{number:x}"'),
                ],
                protocol="HTTP/1.1",
            )
            url = f"http://www.site{number % 50}.example/section/page{number}.html?b=2&a={number}"
            record = writer.create_warc_record(
                url, "response", payload=io.BytesIO(body), http_headers=head
            )
            if crawled:
                request = StatusAndHeaders(
                    "GET / HTTP/1.1",
                    [("Host", "example"), ("User-Agent", "bench")],
                    is_http_request=True,
                )
                asked = writer.create_warc_record(url, "request", http_headers=request)
                writer.write_request_response_pair(asked, record)
            else:
                writer.write_record(record)
    print(f"\n{shape}: {records:,} records, {path.stat().st_size / 1e6:.0f} MB compressed")
    return path


def bench_import(warc: Path, place: Path, options: argparse.Namespace, shape: str) -> None:
    archive = place / "imported"

    def ours() -> Cost:
        shutil.rmtree(archive, ignore_errors=True)
        return run([str(BIN / "asof"), "import", str(warc), "-a", str(archive)])

    peer = [str(BIN / "cdxj-indexer"), str(warc), "-o", str(place / "index.cdxj")]
    compare(
        f"import + index, {shape}",
        ours,
        lambda: run(peer),
        ("asof import", "cdxj-indexer"),
        options,
    )


def bench_check(warc: Path, place: Path, options: argparse.Namespace, shape: str) -> None:
    archive = place / "imported"
    ours = [str(BIN / "asof"), "check", "-a", str(archive)]
    peer = [str(BIN / "warcio"), "check", str(warc)]
    names = ("asof check", "warcio check")
    compare(f"check every digest, {shape}", lambda: run(ours), lambda: run(peer), names, options)


def compare(
    title: str,
    ours: Callable[[], Cost],
    peer: Callable[[], Cost],
    names: tuple[str, str],
    options: argparse.Namespace,
) -> None:
    """Once with all cores, and once pinned to one.

    Where two "cores" are threads of one, a CPU second is worth less when both are busy. The peers
    use one; so CPU seconds are compared on one, and wall time on all.
    """
    report(f"{title}, all cores", interleave(options.rounds, {names[0]: ours, names[1]: peer}),
           options.records, "records")  # fmt: skip
    with one_core():
        costs = interleave(options.rounds, {names[0]: ours, names[1]: peer})
    report(f"{title}, one core", costs, options.records, "records")


if __name__ == "__main__":
    main()
