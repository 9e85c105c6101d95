"""Fuzz what is written in C: hostile bytes through every compiled reader, beside its Python twin.

python tools/fuzz.py [--seconds 60] [--seed N] [NAME...]

`make fuzz` runs it on extensions built with AddressSanitizer and UndefinedBehaviorSanitizer: a
read past an end, an overflow or a crash ends the process. Where a twin gives another answer, the
input is printed with the seed that leads to it; the same seed begins with the same cases.
"""

# ruff: noqa: T201 (a command prints)
from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from random import Random
from unittest.mock import patch

import numpy as np

from asof.change import fallback as plain_shingles
from asof.change import shingles as shingling
from asof.cover.documents.sets import Sets
from asof.cover.join.join import JoinLimits, join
from asof.cover.language.bounds import Bound, Least
from asof.http import wire
from asof.native import compiled
from asof.text.html import blocks
from asof.text.html.tag_row import row_in_python, tag_row
from asof.text.links.html_links import html_links
from asof.url import whatwg

Case = Callable[[Random], tuple[object, object, object]]

_RECORD = (
    b"WARC/1.1\r\nWARC-Type: response\r\n"
    b"WARC-Record-ID: <urn:uuid:2becb774-9327-4d2c-83d3-b8d831691857>\r\n"
    b"WARC-Date: 2020-02-29T03:04:05.25Z\r\nWARC-Target-URI: http://example.org/\r\n"
    b"WARC-Block-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n"
    b"WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\nContent-Length: 84\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nETag: x\r\nLast-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\n\r\nhello wide"
    b"\r\n\r\n"
)
_HEAD = (
    b"HTTP/1.1 301 Moved Permanently\r\nLocation: /next\r\nContent-Type: text/html\r\n"
    b"Content-Length: 12\r\nConnection: keep-alive\r\nSet-Cookie: a=b\r\n\r\nhello, world"
)
_MARKUP = (
    "<a href=x>", '<a href="/a?b&amp;c">', "<img src='i.png' srcset='a 1x, b 2x'>", "</a>", "<p>",
    "<!--", "-->", "<script>", "</script>", "<style>", "</style>", "<textarea>", "</textarea>",
    "<!doctype html>", "<base href=//x.y/>", "<link rel=stylesheet href=s.css>", "<![CDATA[", "]]>",
    "<svg><use href=#a>", "</svg>", "<math>", "<desc>", "<plaintext>", "<script><!--", "</script",
    "<noframes><a href=n>", "</noframes>", "<path fill='url(p)'/>",
    "<div hidden>", "<nav role=navigation>", "<td>", "<h1>", "&nbsp;",
    "&#xd800;", "\0", "\ufeff", "\U0001f600", "é", " ", "\n", "<", ">", "=", '"', "'", "/", "word ",
    "<a\thref\n=\f'q'>", "<title>", "</title>", "<meta http-equiv=refresh content='0;url=z'>",
)  # fmt: skip
_URLS = (
    "/a",
    "../b",
    "?q=1",
    "#f",
    "//h/x",
    "http://o/",
    "x y",
    "%zz",
    "é",
    "\\",
    "a;b",
    "./",
    "..",
)


def mutated(random: Random, data: bytes) -> bytes:
    """Some bytes of it changed, cut, doubled or put in between."""
    out = bytearray(data)
    for _ in range(random.randrange(1, 6)):
        at = random.randrange(len(out) + 1)
        kind = random.randrange(5)
        if kind == 0 and at < len(out):
            out[at] = random.choice(b"\0\r\n :\xff<>9zW-\t\x80")
        elif kind == 1:
            del out[at : at + random.choice((1, 2, 9, 99))]
        elif kind == 2:
            out[at:at] = out[random.randrange(len(out) + 1) :][: random.choice((1, 7, 80))]
        elif kind == 3:
            out[at:at] = random.randbytes(random.choice((1, 4, 300)))
        else:
            del out[at:]
    return bytes(out)


def soup(random: Random) -> str:
    """Markup as nobody would write it."""
    pieces = [random.choice(_MARKUP) for _ in range(random.choice((1, 3, 9, 60)))]
    if random.random() < 0.05:
        pieces *= random.choice((50, 300))
    return "".join(pieces)[: random.choice((7, 100, 1 << 14))]


def record(random: Random) -> tuple[object, object, object]:
    """Rows and digests straight from records: what they say is checked by tests of laws."""
    assert compiled is not None
    data = mutated(random, _RECORD)
    compiled.response(data)
    compiled.digests(data)
    compiled.find_member(data + b"\x1f\x8b\x08" + data, random.randrange(len(data) + 9))
    return data, None, None


def head(random: Random) -> tuple[object, object, object]:
    """Heads of responses."""
    data = mutated(random, _HEAD)
    with patch.object(wire, "compiled", None):
        careful = wire.Framer().feed(data)
    return data, wire.Framer().feed(data), careful


def urls(random: Random) -> tuple[object, object, object]:
    """Links against what is known already."""
    base = random.choice(("http://h/a/b", "https://h.org/", "http://h/?q", "http://ü/ä/"))
    links = [("".join(random.choices(_URLS, k=random.randrange(4))),) for _ in range(9)]
    known = dict.fromkeys([f"http://h/a{random.choice(_URLS)}" for _ in range(3)])
    given = tuple(links)
    with patch.object(whatwg, "compiled", None):
        careful = list(whatwg.unknown(base, given, dict(known)))
    return (base, given), list(whatwg.unknown(base, given, dict(known))), careful


def markup(random: Random) -> tuple[object, object, object]:
    """The blocks of pages."""
    text = soup(random)
    row = list(row_in_python(text))
    return text, (blocks.layout(text), list(tag_row(text))), (blocks.layout_of(row), row)


def links(random: Random) -> tuple[object, object, object]:
    """The links of pages."""
    from asof.text.links import html_links as module

    text = soup(random).encode("utf-8", "surrogatepass")
    with patch.object(module, "compiled", None):
        careful = html_links(text)
    return text, html_links(text), careful


def shingles(random: Random) -> tuple[object, object, object]:
    """Shingles of texts, their signatures and overlaps."""
    letters, sizes = "ab é\U0001f600\ud800\0\u3000ß ", (0, 1, 9, 99, 999)
    texts = ["".join(random.choices(letters, k=random.choice(sizes))) for _ in range(3)]
    k, kinds = random.randrange(1, 9), (random.random() < 0.5, random.random() < 0.5)
    answers: list[list[object]] = []
    for engine in (shingling.engine, plain_shingles):
        hashes, starts = engine.shingles(texts, k, *kinds)
        sets = np.unique(np.frombuffer(hashes, np.uint64))
        bounds = np.array([0, sets.size // 2, sets.size], np.int64)
        query = sets[: sets.size // 3]
        near = engine.scan(query, sets, bounds, 0, 2, 0.2, k % 3)
        signed = engine.sign(sets, bounds, 64, 7), engine.sign_each(texts, k, 64, 7)
        shared = engine.overlap(query, sets), engine.features(texts)
        answers.append([hashes, starts, near, *signed, *shared])
    return (texts, k, kinds), answers[0], answers[1]


def joined(random: Random) -> tuple[object, object, object]:
    """The exact join of sets."""
    sizes = [random.choice((0, 1, 3, 20, 300)) for _ in range(random.randrange(1, 12))]
    top = random.choice((5, 50, 1 << 63))
    rows = [
        np.unique(np.array([random.randrange(top) for _ in range(n)], np.uint64)) for n in sizes
    ]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    sets = Sets(offsets, np.concatenate(rows) if rows else np.empty(0, np.uint64))
    bound = Bound(Least(Fraction(random.randrange(1, 101), 100)))
    few = partial(random.choice, (0, 1, 1000))
    answers = [
        sorted(
            pair
            for edges in join(sets, bound, JoinLimits(threads=1, plain=plain, few=few()))
            for pair in zip(edges.i.tolist(), edges.j.tolist(), strict=True)
        )
        for plain in (False, True)
    ]
    return (sizes, top, bound), *answers


CASES: dict[str, Case] = {
    each.__name__: each for each in (record, head, urls, markup, links, shingles, joined)
}


@contextmanager
def _told(name: str, seed: int) -> Iterator[None]:
    try:
        yield
    except BaseException:
        print(f"fuzz: {name}, seed {seed}", file=sys.stderr)
        raise


def main() -> int:
    """Cases of all kinds in turn until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*CASES, []], default=[])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if compiled is None or blocks.compiled is None:
        print("fuzz: there is nothing compiled to try.", file=sys.stderr)
        return 1
    counts = dict.fromkeys(given.names or CASES, 0)
    end, seed = time.monotonic() + given.seconds, given.seed
    while time.monotonic() < end:
        for name in counts:
            with _told(name, seed):
                asked, fast, careful = CASES[name](Random(seed))
            if fast != careful:
                print(f"fuzz: {name}, seed {seed}: {asked!r}")
                print(f"  C       {fast!r}\n  Python  {careful!r}")
                return 1
            counts[name] += 1
        seed += 1
    print("fuzz:", ", ".join(f"{count:,} {name}" for name, count in counts.items()), "- all alike")
    return 0


if __name__ == "__main__":
    sys.exit(main())
