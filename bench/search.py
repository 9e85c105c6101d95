"""`asof search` over many documents of real text: indexing, the size of the index, and answers.

    python bench/search.py FOLDER [--documents 100000] [--keep PLACE]

FOLDER holds rendered HTML of any site. A document is a passage of one of its pages of 1 to 8 KB, an
URL in four has two to four of them one after the other, a tenth are near another; each leads to 16
others, 12 of them those of the menu of its site. What is measured is the index (`asof reindex
--search`, the texts having been read) and questions of one to three words that occur in documents:
plain, as of a moment, with a filter, phrases, beginnings, names; once in one process, and once as
whole pages of `asof serve`, as a browser asks for them.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from asof.archive import OpenArchive
from asof.change import texts as reading
from asof.change.texts import Texts
from asof.clock import SECOND, iso, parse_stamp
from asof.search.find import Finder
from asof.search.question import Order, Question, When
from asof.text.document import Document
from asof.text.html.page import read_html
from asof.text.store import key_of
from measure import run

ASOF = str(Path(sys.executable).parent / "asof")
BEGAN = parse_stamp("20160101") or 0
DAY = 86_400 * SECOND
_WORD = re.compile(r"\b[^\W\d_]{3,}\b")
# As on openbsd.org, where a page of 14 KB has 43 links, and 15 names that no other one has.
_MENU, _OWN = 12, 4


def passages(folder: Path, count: int) -> Iterator[str]:
    """Texts of 1 to 8 KB as they stand in pages; a tenth with some lines left out."""
    chance = random.Random(5)
    pages = []
    for path in sorted(folder.rglob("*.html")):
        lines = read_html(path.read_text("utf-8", "replace"), method="fast").text.splitlines()
        if sum(map(len, lines)) > 2_000:
            pages.append(lines)
    last: list[str] = []
    for _ in range(count):
        if last and chance.random() < 0.1:
            yield "\n".join(line for line in last if chance.random() < 0.95)
            continue
        size, lines = chance.choice((1_000, 2_000, 3_000, 5_000, 8_000)), chance.choice(pages)
        start, last = chance.randrange(len(lines)), []
        while size > 0:
            last.append(lines[start % len(lines)])
            size -= len(last[-1]) + 1
            start += 1
        yield "\n".join(last)


def places(count: int) -> Iterator[tuple[str, int]]:
    """Addresses and moments, those of one address in a row."""
    chance, number, page = random.Random(6), 0, 0
    while number < count:
        at = BEGAN + chance.randrange(3_000) * DAY
        for _ in range(1 if chance.random() < 0.75 else chance.randint(2, 4)):
            yield f"http://site{page % 50}.example/part{page % 7}/{page}.html", at
            at += chance.randint(1, 300) * DAY
            number += 1
        page += 1


def write_warc(path: Path, texts: Iterator[str], count: int) -> dict[tuple[str, int], str]:
    made = {}
    with path.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        for text, (url, at) in zip(texts, islice(places(count), count), strict=True):
            made[url, at] = text
            body = f"<title>{url[-12:]}</title><pre>{text}</pre>".encode()
            headers = [("Content-Type", "text/html"), ("Content-Length", str(len(body)))]
            head = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
            writer.write_record(
                writer.create_warc_record(
                    url, "response", payload=io.BytesIO(body), http_headers=head,
                    warc_headers_dict={"WARC-Date": iso(at)},
                )
            )  # fmt: skip
    return made


def links_of(
    url: str, text: str, urls: list[str], chance: random.Random
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The menu of a site, and links to pages anywhere by some words of the text."""
    words = _WORD.findall(text) or ["page"]
    own = {
        f"{url.partition('/part')[0]}/part{n % 7}/menu{n}.html": f"Menu {n}" for n in range(_MENU)
    }
    for _ in range(_OWN):
        start = chance.randrange(len(words))
        own[chance.choice(urls)] = " ".join(words[start : start + chance.randint(1, 4)])
    return tuple(own), tuple(own.values())


def put_directly(folder: Path, made: dict[tuple[str, int], str]) -> int:
    """What reading would have kept, in the order in which it reads; how many bytes of text."""
    size, chance, urls = 0, random.Random(7), sorted({url for url, _ in made})
    with OpenArchive.open(folder) as archive, Texts(archive, writable=True) as texts:
        captures = archive.captures()
        while batch := list(islice(captures, 64)):
            rows = []
            for each in batch:
                text = made[each.url, each.at]
                size += len(text.encode())
                title = each.url[-12:]
                links, names = links_of(each.url, text, urls, chance)
                page = Document(
                    "text/html", title=title, language="en", main=text, text=text, links=links,
                    anchors=names,
                )  # fmt: skip
                rows.append((key_of(each), each.url, page))
            texts._keep(rows)
        texts._database.completed(reading._READ, reading._state(archive))
    return size


def questions(folder: Path, count: int) -> dict[str, list[Question]]:
    """Of each kind, words that stand in documents: most are common, as in real questions."""
    chance = random.Random(8)
    words: list[tuple[str, ...]] = []
    with OpenArchive.open(folder) as archive, Texts(archive) as texts:
        captures = list(archive.captures())
        led = [capture.url for capture in chance.sample(captures, count)]
        for capture in chance.sample(captures, count):
            document = texts.document(capture)
            found = _WORD.findall("" if document is None else document.text)
            if len(found) > 4:
                start = chance.randrange(len(found) - 3)
                words.append(tuple(found[start : start + chance.randint(1, 3)]))
    at = BEGAN + 1_800 * DAY
    return {
        "words": [Question(" ".join(each)) for each in words],
        "as of a moment": [Question(" ".join(each), When(at)) for each in words],
        "a host, unfolded": [
            Question(" ".join(e), prefix="site7.example", fold=False) for e in words
        ],
        "phrases": [Question(f'"{" ".join(each)}"') for each in words],
        "beginnings": [Question(f"{each[0][:4]}*") for each in words],
        "newest": [Question(" ".join(each), order=Order.NEWEST) for each in words],
        "names": [Question(f"anchor:{each[0]}") for each in words],
        "names then": [Question(f"anchor:{each[0]}", When(at)) for each in words],
        "what leads there": [Question(f'link:"{url}"', fold=False) for url in led],
    }


def timed(
    answers: Mapping[str, Callable[[Question], object]], asked: list[Question]
) -> dict[str, list[float]]:
    """Milliseconds of each question, asked in each way by turns."""
    took: dict[str, list[float]] = {name: [] for name in answers}
    for question in asked:
        for name, answer in answers.items():
            start = time.perf_counter()
            answer(question)
            took[name].append((time.perf_counter() - start) * 1000)
    return {name: sorted(own) for name, own in took.items()}


@contextmanager
def served(folder: Path) -> Iterator[Callable[[Question], object]]:
    """Asks `asof serve` for the page of a question."""
    command = [ASOF, "serve", "-a", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        connection = HTTPConnection(urlsplit(child.stderr.readline().split()[-1]).netloc)

        def page(asked: Question) -> None:
            at = "" if asked.when.at is None else iso(asked.when.at)
            parts = {"q": asked.words, "at": at, "prefix": asked.prefix or ""}
            parts |= {"fold": "" if asked.fold else "no", "sort": asked.order.value}
            connection.request("GET", f"/search?{urlencode(parts)}")
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200, asked
            assert b'<p class="summary">' in body or b'<p class="empty">' in body, asked

        try:
            yield page
        finally:
            connection.close()
            child.send_signal(signal.SIGINT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        place = asked.keep or Path(scratch)
        folder, note = place / "archive", place / "size"
        if not folder.exists():
            made = write_warc(
                place / "made.warc.gz", passages(asked.folder, asked.documents), asked.documents
            )
            run([ASOF, "import", str(place / "made.warc.gz"), "-a", str(folder)])
            note.write_text(str(put_directly(folder, made)))
        text = int(note.read_text())
        index = folder / "derived/search"
        if not index.exists():
            cost = run([ASOF, "reindex", "--search", "-a", str(folder)])
            print(
                f"indexed {asked.documents:,} documents, {text / 1e6:.0f} MB of text: "
                f"{cost.cpu:.1f} CPU s ({asked.documents / cost.cpu:,.0f} a CPU s), "
                f"{cost.wall:.1f} s, {cost.peak_mb:.0f} MB"
            )
            again = run([ASOF, "reindex", "--search", "-a", str(folder)])
            print(f"again, with nothing new: {again.cpu:.2f} CPU s")
        size = sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
        print(f"index {size / 1e6:.0f} MB, {size / text:.0%} of the text")
        with OpenArchive.open(folder) as archive, served(folder) as page:
            finder = Finder(archive)
            for kind, own in questions(folder, asked.questions).items():
                told, began = f"  {kind:20}", time.process_time()
                for name, took in timed({"answer": finder.find, "page": page}, own).items():
                    p50, p99 = statistics.median(took), took[int(len(took) * 0.99)]
                    told += f"  {name} p50 {p50:6.1f} ms  p99 {p99:6.1f} ms"
                cpu = (time.process_time() - began) * 1000 / len(own)  # nearly all for the answer
                print(f"{told}  {cpu:6.1f} CPU ms an answer")


if __name__ == "__main__":
    main()
