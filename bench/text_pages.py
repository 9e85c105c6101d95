"""A WARC of many different HTML pages of 20 to 60 KB, made from some hundred real ones.

    python bench/text_pages.py FOLDER OUT.warc.gz [--pages 5000]

FOLDER holds rendered HTML of any site, in any depth (a checkout of a project's web site, say). A
page keeps the head of a real one; lines of its body are left out here and there, words are
replaced by others of the folder, and lines of the next page follow until it is long enough.
"""

from __future__ import annotations

import argparse
import io
import random
import re
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

LEAST, MOST = 20_000, 60_000
_WORD = re.compile(r"(?<=[ >])[a-z]{4,12}(?=[ ,.<])")


def bodies(folder: Path) -> list[tuple[str, list[str]]]:
    """The head and the lines of the body of each page that has some."""
    found = []
    for path in sorted(folder.rglob("*.html")):
        text = path.read_text("utf-8", "replace")
        head, mark, body = text.partition("<body")
        if mark and len(body) > 4_000:
            found.append((head + mark, body.partition("</body>")[0].splitlines()))
    return found


def made(pages: list[tuple[str, list[str]]], words: list[str], chance: random.Random) -> str:
    """One page more, unlike all others."""
    size = chance.randint(LEAST, MOST)
    head = chance.choice(pages)[0]
    parts, held = [head], len(head)
    while held < size:
        for line in chance.choice(pages)[1]:
            if chance.random() < 0.1:
                continue
            other = line
            if chance.random() < 0.3:
                other = _WORD.sub(lambda _: chance.choice(words), line, count=1)
            parts.append(other)
            held += len(other) + 1
            if held >= size:
                break
    return "\n".join([*parts, "</body></html>"])


def write_pages(folder: Path, out: Path, count: int) -> None:
    pages = bodies(folder)
    words = sorted({word for _, lines in pages for line in lines for word in _WORD.findall(line)})
    chance = random.Random(7)
    with out.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number in range(count):
            body = made(pages, words, chance).encode()
            head = StatusAndHeaders(
                "200 OK",
                [("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(body)))],
                protocol="HTTP/1.1",
            )
            url = f"http://www.site{number % 50}.example/part{number % 7}/page{number}.html"
            writer.write_record(
                writer.create_warc_record(
                    url, "response", payload=io.BytesIO(body), http_headers=head
                )
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pages", type=int, default=5_000)
    asked = parser.parse_args()
    write_pages(asked.folder, asked.out, asked.pages)


if __name__ == "__main__":
    main()
