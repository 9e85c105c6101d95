"""`asof similar` on an archive of many short documents: first answer, all pairs, memory.

    python bench/similar_scale.py [--documents 100000] [--words 120] [--read] [--keep FOLDER]

A WARC of pages of about 120 words, a third of them made from others with words changed, is
imported. Their texts are put into `derived/text.db` as `asof reindex --text` would leave them, or
with --read are read by it (a page takes a millisecond or two of the processor). Then `asof similar`
is asked for one URL and for all pairs, each in a process of its own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from asof.archive import OpenArchive
from asof.change import texts as reading
from asof.change.texts import Texts
from asof.text.document import Document
from asof.text.store import key_of
from measure import Cost, run

ASOF = str(Path(sys.executable).parent / "asof")
WORDS = 30_000


def documents(count: int, words: int) -> Iterator[str]:
    """Texts one by one; about a third is another with up to a tenth of its words changed."""
    rng = np.random.default_rng(4)
    names = np.array([f"w{number:x}" for number in range(WORDS)], dtype=object)
    kept: list[np.ndarray] = []
    for _ in range(count):
        if kept and rng.random() < 1 / 3:
            picked = kept[int(rng.integers(len(kept)))].copy()
            places = rng.integers(0, len(picked), int(rng.integers(0, len(picked) // 10)))
            picked[places] = rng.integers(0, WORDS, len(places))
        else:
            picked = rng.integers(0, WORDS, int(rng.integers(words // 2, words * 3 // 2)))
            if len(kept) < 100_000:
                kept.append(picked)
        yield " ".join(names[picked])


def write_warc(path: Path, texts: Iterator[str]) -> None:
    import io

    with path.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        for number, text in enumerate(texts):
            body = f"<title>{number}</title><p>{text}</p>".encode()
            headers = [("Content-Type", "text/html"), ("Content-Length", str(len(body)))]
            head = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
            writer.write_record(
                writer.create_warc_record(
                    url_of(number), "response", payload=io.BytesIO(body), http_headers=head
                )
            )


def url_of(number: int) -> str:
    return f"http://site{number % 50}.example/{number}"


def put_directly(folder: Path, count: int, words: int) -> None:
    """What reading would have kept, in the order in which it reads."""
    made = list(documents(count, words))
    with OpenArchive.open(folder) as archive, Texts(archive, writable=True) as texts:
        captures = archive.captures()
        while batch := list(islice(captures, 64)):
            pages = [made[int(capture.url.rpartition("/")[2])] for capture in batch]
            texts._keep(
                [
                    (key_of(capture), capture.url, Document("text/html", main=page, text=page))
                    for capture, page in zip(batch, pages, strict=True)
                ]
            )
        texts._database.completed(reading._READ, reading._state(archive))


def told(what: str, cost: Cost) -> None:
    print(
        f"  {what:34}{cost.wall:>8.1f} s{cost.cpu:>8.1f} CPU s{cost.peak_mb:>8.0f} MB", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=120)
    parser.add_argument("--read", action="store_true")
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        place = asked.keep or Path(scratch)
        folder, warc = place / "archive", place / "made.warc.gz"
        print(f"{asked.documents:,} documents of about {asked.words} words")
        if not folder.exists():
            write_warc(warc, documents(asked.documents, asked.words))
            told("import", run([ASOF, "import", str(warc), "-a", str(folder)]))
        if not (folder / "derived/text.db").exists():
            start = time.process_time()
            if not asked.read:
                put_directly(folder, asked.documents, asked.words)
                print(f"  {'texts and sketches kept':34}{time.process_time() - start:>18.1f} CPU s")
            else:
                told("reindex --text", run([ASOF, "reindex", "--text", "-a", str(folder)]))
        size = (folder / "derived/text.db").stat().st_size / 1e6
        print(f"  text.db has {size:,.0f} MB")
        for number in (0, asked.documents // 2):
            one = [ASOF, "similar", url_of(number), "--json", "-a", str(folder)]
            told("similar URL", run(one, okay=(0, 1)))
        one = [ASOF, "similar", url_of(1), "--contained", "--json", "-a", str(folder)]
        told("similar URL --contained", run(one, okay=(0, 1)))
        told("similar --all", run([ASOF, "similar", "--all", "--json", "-a", str(folder)]))


if __name__ == "__main__":
    main()
