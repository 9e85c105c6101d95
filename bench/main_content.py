"""Main content on labelled pages: asof's three methods beside their peers, quality and speed.

    .venv/bin/python bench/main_content.py FOLDER... [--methods default,fast,...] [--pages 200]

A FOLDER is a public collection in the layout of its makers; each is scored by its own metric:

- ground-truth.json and html/*.html.gz (article-extraction-benchmark of scrapinghub): shingles of
  four words; precision and recall are means over the pages, F1 is made of the two.
- ground-truth/*.json and html/*.html.gz (WCXB, its `dev` or `test`): words; the mean F1 of pages.
- evaldata.json and cache/ and eval/ (`tests` of trafilatura): phrases that must and must not occur.

Speed is pages per CPU second of this one process, from characters to main content; `fast read` is
all of `read_html`: title, day, language, links and the whole text too. Peers that are not installed
are left out (trafilatura is always there).
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import logging
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from asof.text.document import Method
from asof.text.html.blocks import joined, layout
from asof.text.html.facts import Facts
from asof.text.html.fast_content import fast_content
from asof.text.html.main_content import main_content
from asof.text.html.page import read_html
from asof.text.html.tag_distribution import tag_content
from asof.text.html.tag_row import tag_row

WORDS = re.compile(r"\w+")
Extract = Callable[[str], str]


class Scores(NamedTuple):
    f1: float
    precision: float
    recall: float


class Labelled(NamedTuple):
    markup: bytes  # UTF-8
    label: Any


class Collection(NamedTuple):
    pages: list[Labelled]
    score: Callable[[list[tuple[Any, str]]], Scores]


# --- collections


def collection(folder: Path, most: int | None) -> Collection:
    if (folder / "ground-truth.json").is_file():
        return Collection(list(_articles(folder))[:most], by_shingles)
    if (folder / "ground-truth").is_dir():
        return Collection(list(_kinds(folder))[:most], by_words)
    if (folder / "evaldata.json").is_file():
        return Collection(list(_phrases(folder))[:most], by_phrases)
    sys.exit(f"{folder} is none of the collections that this script knows; see its first lines.")


def _articles(folder: Path) -> Iterator[Labelled]:
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    for name, page in truth.items():
        path = folder / "html" / f"{name}.html.gz"
        yield Labelled(gzip.decompress(path.read_bytes()), page.get("articleBody", ""))


def _kinds(folder: Path) -> Iterator[Labelled]:
    for path in sorted((folder / "ground-truth").glob("*.json")):
        label = json.loads(path.read_text(encoding="utf-8"))["ground_truth"].get("main_content")
        markup = folder / "html" / f"{path.stem}.html.gz"
        yield Labelled(gzip.decompress(markup.read_bytes()), label or "")


def _phrases(folder: Path) -> Iterator[Labelled]:
    from trafilatura.utils import decode_file

    truth = json.loads((folder / "evaldata.json").read_text(encoding="utf-8"))
    for page in truth.values():
        path = next(p for s in ("cache", "eval") if (p := folder / s / page["file"]).is_file())
        yield Labelled(decode_file(path.read_bytes()).encode("utf-8", "replace"), page)


# --- metrics


def by_shingles(results: list[tuple[Any, str]]) -> Scores:
    precisions, recalls = [], []
    for true, found in results:
        wanted, given = _shingles(true), _shingles(found)
        common = (wanted & given).total()
        if given:
            precisions.append(common / given.total())
        if wanted:
            recalls.append(common / wanted.total())
    precision, recall = statistics.mean(precisions or [0]), statistics.mean(recalls or [0])
    return Scores(_f1(precision, recall), precision, recall)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = WORDS.findall(text)
    rows = (tuple(words[i : i + 4]) for i in range(max(1, len(words) - 3)))
    return Counter(row for row in rows if row)


def by_words(results: list[tuple[Any, str]]) -> Scores:
    pages = []
    for true, found in results:
        wanted, given = (Counter(WORDS.findall(text.lower())) for text in (true, found))
        if not wanted:
            pages.append(Scores(*[float(not given)] * 3))
            continue
        common = (wanted & given).total()
        precision = common / given.total() if given else 0.0
        recall = common / wanted.total()
        pages.append(Scores(_f1(precision, recall), precision, recall))
    return Scores(*(statistics.mean(column) for column in zip(*pages, strict=True)))


def by_phrases(results: list[tuple[Any, str]]) -> Scores:
    right = wrong = missed = 0
    for page, found in results:
        text = " ".join(found.split())
        hits = sum(" ".join(phrase.split()) in text for phrase in page["with"])
        right += hits
        missed += len(page["with"]) - hits
        wrong += sum(" ".join(phrase.split()) in text for phrase in page["without"])
    precision, recall = right / ((right + wrong) or 1), right / ((right + missed) or 1)
    return Scores(_f1(precision, recall), precision, recall)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


# --- methods


def _ours(method: Method) -> Extract:
    def extract(markup: str) -> str:
        page = layout(markup)
        return main_content(markup, page, Facts(page.marks), method).text

    return extract


def _trafilatura() -> Extract:
    from trafilatura import extract

    return lambda markup: extract(markup, include_comments=False) or ""


def _resiliparse() -> Extract:
    extract = importlib.import_module("resiliparse.extract.html2text").extract_plain_text
    return lambda markup: str(extract(markup, main_content=True, alt_texts=False, comments=False))


def _readability() -> Extract:
    document = importlib.import_module("readability").Document
    return lambda markup: joined(layout(document(markup).summary()).blocks)


def _justext() -> Extract:
    justext = importlib.import_module("justext")
    stop = justext.get_stoplist("English")

    def extract(markup: str) -> str:
        parts = justext.justext(markup.encode("utf-8", "replace"), stop, encoding="utf-8")
        return "\n".join(part.text for part in parts if not part.is_boilerplate)

    return extract


METHODS: dict[str, Callable[[], Extract]] = {
    "default": lambda: _ours("default"),
    "fast": lambda: lambda markup: joined(fast_content(layout(markup).blocks)),
    "fast read": lambda: lambda markup: read_html(markup, "http://a.example/", "fast").main,
    "tags": lambda: lambda markup: tag_content(tag_row(markup)),
    "trafilatura": _trafilatura,
    "resiliparse": _resiliparse,
    "readability": _readability,
    "justext": _justext,
}


def measure(name: str, pages: Collection) -> str:
    try:
        extract = METHODS[name]()
    except ImportError:
        return "not installed"
    results, spent, failed = [], 0.0, 0
    for markup, label in pages.pages:
        text = markup.decode("utf-8", "replace")  # anew, so that no method finds it warmed up
        start = time.process_time()
        try:
            found = extract(text)
        except Exception:  # noqa: BLE001 - a peer's failure is a result, and counted
            found, failed = "", failed + 1
        spent += time.process_time() - start
        results.append((label, found))
    scores = pages.score(results)
    figures = "".join(f"{value:>10.3f}" for value in scores)
    return f"{figures}{len(results) / spent:>12,.0f}" + (f"  {failed} failed" if failed else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--methods", default=",".join(METHODS), help=", ".join(METHODS))
    parser.add_argument("--pages", type=int, help="only the first so many of each")
    options = parser.parse_args()
    logging.disable()
    for folder in options.folders:
        pages = collection(folder, options.pages)
        if not pages.pages:
            sys.exit(f"{folder} has no pages.")
        size = statistics.mean(len(page.markup) for page in pages.pages) / 1000
        print(f"\n{folder.name}: {len(pages.pages):,} pages of {size:.0f} KB on average")
        print(f"  {'':14}{'F1':>10}{'precision':>10}{'recall':>10}{'pages/CPU s':>12}")
        for name in options.methods.split(","):
            print(f"  {name:14}{measure(name, pages)}", flush=True)


if __name__ == "__main__":
    main()
