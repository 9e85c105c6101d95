"""Made-up versioned archives of the shape of Paudel 2013, Table 2: documents as sets of shingles.

    .venv/bin/python bench/cover_archive.py C --scale 0.1 --folder FOLDER

Documents, shingles, and versions of a URL (mean and deviation) follow the table. What it does not
say is assumed, here and nowhere else, and was not chosen by what comes out:

- A page has text of its own, a header of its host (a twentieth), the template of its section (none
  to 0.7 of the page; a third of it new every year), and phrases that pages anywhere use (a
  twentieth). Sizes are log-normal; sections have 800 URLs on average, hosts a few to very many.
- A new version has the text of the one before (45 of 100), up to 15 % of it edited (30), any share
  of it rewritten (15), or up to 30 % more of it (10). In C 60, 25, 5 and 10: such documents "are
  less likely to undergo many changes once they have been created" (section 4.3).
- One URL of twenty begins as a copy of another one, nine times of ten on the same host: print
  views, session ids, mirrors.
- A document has 6 bytes a shingle and its URL's markup, log-normal with a mean of 15 kB.

A collection is a folder of arrays in the order of (URL, time), shingles in a file to be mapped.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from asof.cover.documents.collection import Collection

Whole = NDArray[np.int64]
Words = NDArray[np.uint64]
Told = Callable[[int, int], None]  # documents written, of how many

BEGIN = 1_230_768_000  # 2009-01-01
YEAR = 365 * 86_400
HOSTS = 2_000  # of A, whose smallest ones have a URL or two
SECTION = 800
TEMPLATE = 0.7
SHARED = 20  # the header and phrases that are found elsewhere, one shingle in so many each
COPIES, NEAR = 0.05, 0.9
PHRASES = 2_000_000
BLOCK = 1 << 22  # shingles made at a time


@dataclass(frozen=True)
class Shape:
    """A row of Table 2, and what is assumed beside it."""

    documents: int
    shingles: int
    versions: float
    deviation: float
    hosts: int
    years: tuple[int, int]  # from the beginning of 2009
    answers: tuple[float, float, float, float]  # the same, edited, rewritten, grown


USUAL = (0.45, 0.30, 0.15, 0.10)
SCENARIOS = {
    "A": Shape(1_667_654, 812_331_426, 2.24, 1.24, HOSTS, (0, 3), USUAL),
    "B": Shape(348_778, 240_464_783, 2.07, 1.24, HOSTS // 2, (1, 2), USUAL),
    "C": Shape(75_299, 94_143_006, 2.32, 0.47, 1, (0, 3), (0.60, 0.25, 0.05, 0.10)),
}


@dataclass(frozen=True)
class Plan:
    """What every document will be: by URL, or by document in the order of (URL, version)."""

    versions: Whole  # of each URL
    host: Whole
    section: Whole
    source: Whole  # the URL whose text it begins with, its own unless it is a copy
    header: Whole  # shingles of each kind
    template: Whole
    text: Whole
    phrases: Whole
    url: Whole  # of each document, as all that follows
    version: Whole
    moment: Whole
    changed: Whole  # of the text, this many shingles from `at` on are new
    at: Whole
    grown: Whole
    before: Whole  # that it has grown by earlier

    @cached_property
    def lengths(self) -> Whole:
        """Shingles of each document, the same phrase counted as often as it is drawn."""
        page = self.header + self.template + self.text + self.phrases
        return page[self.url] + self.before + self.grown


def mixed(x: Words) -> Words:
    """Splitmix64, in place: one to one, and as good as hashes of shingles."""
    x *= np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def named(kind: int, owner: Whole, edition: Whole | int) -> Words:
    """Where the numbers of a part of a page begin: 26 bits of owner, 10 of edition, 24 of place."""
    found = (owner << 34) | (np.asarray(edition) << 24)
    return found.astype(np.uint64) | np.uint64(kind << 60)


def spread(starts: Whole, lengths: Whole) -> Whole:
    """The places start, start + 1, ... of many ranges, one range behind the other."""
    ends = np.cumsum(lengths)
    return np.arange(int(lengths.sum())) + np.repeat(starts - ends + lengths, lengths)


def version_counts(rng: np.random.Generator, shape: Shape, documents: int) -> Whole:
    """Versions of each URL, together `documents`: two, and for some a geometric number more.

    Share and parameter are those that give the mean and the deviation of the table.
    """
    more = shape.versions - 2
    ratio = (shape.deviation**2 + more**2) / more
    stop = 2 / (1 + ratio)
    some = rng.random(documents // 2) < more * stop
    drawn = 2 + some * rng.geometric(stop, some.size)
    total = np.cumsum(drawn)
    counts = drawn[: int(np.searchsorted(total, documents - 1))]
    rest = documents - int(counts.sum())
    return np.append(counts, rest) if rest else counts


def planned(shape: Shape, scale: float, seed: int = 4) -> Plan:
    """An archive of this shape, or a part of it."""
    rng = np.random.default_rng(seed)
    documents = max(20, int(shape.documents * scale))
    versions = version_counts(rng, shape, documents)
    count = versions.size
    host, section = _places(rng, count, max(1, round(shape.hosts * min(scale, 1))))
    source = _sources(rng, host)
    url = np.repeat(np.arange(count), versions)
    starts = np.cumsum(versions) - versions
    version = np.arange(documents) - starts[url]
    first, last = shape.years
    moment = BEGIN + ((first + (last - first) * rng.random(documents)) * YEAR).astype(np.int64)
    moment = moment[np.lexsort((moment, url))]
    size = rng.lognormal(0, 0.8, count)[source]
    part = rng.random(count)[source]
    document, amount, where = rng.random(documents), rng.random(documents), rng.random(documents)
    same, edited, rewritten, _ = np.cumsum(shape.answers)
    new = np.where(document < same, 0, np.where(document < edited, 0.15 * amount, amount))
    new = np.where((document < rewritten) & (version > 0), new, 0)
    more = np.where((document >= rewritten) & (version > 0), 0.3 * amount, 0)

    def of_size(factor: float) -> Plan:
        whole = np.maximum(20, factor * size).astype(np.int64)
        shared = whole // SHARED
        template = (whole * TEMPLATE * part).astype(np.int64)
        text = whole - shared - template
        grown = (more * text[url]).astype(np.int64)
        behind = np.cumsum(grown)
        before = behind - grown - np.repeat((behind - grown)[starts], versions)
        changed = np.ceil(new * text[url]).astype(np.int64)
        at = (where * (text[url] - changed + 1)).astype(np.int64)
        return Plan(
            versions, host, section, source, shared, template, text, shared,
            url, version, moment, changed, at, grown, before,
        )  # fmt: skip

    wanted = shape.shingles / shape.documents * documents
    factor = wanted / documents
    for _ in range(4):  # sizes that add up to the table's shingles
        factor *= wanted / int(of_size(factor).lengths.sum())
    return of_size(factor)


def _places(rng: np.random.Generator, count: int, hosts: int) -> tuple[Whole, Whole]:
    """Host and section of each URL; URLs are in the order of their hosts."""
    weights = 1 / np.arange(1, hosts + 1) ** 1.2
    host = np.sort(rng.choice(hosts, count, p=weights / weights.sum()))
    sections = np.maximum(1, np.bincount(host, minlength=hosts) // SECTION)
    first = np.cumsum(sections) - sections
    return host, first[host] + (sections[host] * rng.random(count) ** 2).astype(np.int64)


def _sources(rng: np.random.Generator, host: Whole) -> Whole:
    """For each URL itself, or the URL that it is a copy of."""
    count = host.size
    begins, ends = np.searchsorted(host, host, "left"), np.searchsorted(host, host, "right")
    near = rng.random(count) < NEAR
    begins, ends = np.where(near, begins, 0), np.where(near, ends, count)
    drawn = begins + ((ends - begins) * rng.random(count)).astype(np.int64)
    copy = rng.random(count) < COPIES
    copy &= ~copy[drawn]  # no copies of copies
    return np.where(copy, drawn, np.arange(count))


def block(plan: Plan, first: int, last: int) -> tuple[Words, Whole]:
    """The shingles of the documents of some URLs, sorted and distinct, and how many each has."""
    urls = slice(first, last)
    start = int(plan.versions[:first].sum())
    documents = slice(start, start + int(plan.versions[urls].sum()))
    lengths = plan.lengths[documents]
    ends = np.cumsum(lengths)
    items = np.empty(int(ends[-1]), np.uint64)
    used = ends - lengths
    url = plan.url[documents]

    def put(which: Whole, base: Words, lengths: Whole) -> None:
        places = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        items[np.repeat(used[which], lengths) + places] = np.repeat(base, lengths) + places.astype(
            np.uint64
        )
        used[which] += lengths

    every = np.arange(url.size)
    stable = plan.template[url] * 2 // 3
    years = (plan.moment[documents] - BEGIN) // YEAR
    put(every, named(1, plan.host[url], 0), plan.header[url])
    put(every, named(2, plan.section[url], 0), stable)
    put(every, named(2, plan.section[url], 1 + years), plan.template[url] - stable)
    phrases = plan.phrases[url]
    drawn = spread(plan.source[url] << 24, phrases)
    share = mixed(drawn.astype(np.uint64)) / 2.0**64
    items[spread(used, phrases)] = (PHRASES * share**4).astype(np.uint64) | np.uint64(4 << 60)
    used += phrases
    _texts(plan, first, last, start, items, used)
    mixed(items)
    edges = [0, *ends.tolist()]
    for a, b in pairwise(edges):
        items[a:b].sort()
    fresh = np.ones(items.size, np.bool_)
    fresh[1:] = items[1:] != items[:-1]
    fresh[np.array(edges[:-1])] = True
    return items[fresh], np.add.reduceat(fresh, edges[:-1], dtype=np.int64)


def _texts(plan: Plan, first: int, last: int, start: int, items: Words, used: Whole) -> None:
    """The own text of all documents of some URLs: one version of all of them after the other."""
    versions = plan.versions[first:last]
    documents = np.cumsum(versions) - versions  # the first of each URL, from `start` on
    final = start + documents + versions - 1
    room = plan.text[first:last] + plan.before[final] + plan.grown[final]
    begins = np.cumsum(room) - room
    edition = np.zeros(int(room.sum()), np.int64)
    for number in range(int(versions.max())):
        alive = np.flatnonzero(versions > number)
        mine = documents[alive] + number
        of = start + mine
        edition[spread(begins[alive] + plan.at[of], plan.changed[of])] = number
        have = plan.text[first + alive] + plan.before[of]
        edition[spread(begins[alive] + have, plan.grown[of])] = number
        have += plan.grown[of]
        now = edition[spread(begins[alive], have)]
        own = np.repeat(first + alive, have)
        owner = np.where(now == 0, np.repeat(plan.source[first + alive], have), own)
        places = spread(np.zeros_like(have), have)
        items[spread(used[mine], have)] = named(3, owner, now) + places.astype(np.uint64)


def make(folder: Path, scenario: str, scale: float, told: Told = lambda done, total: None) -> None:
    """Write a collection: items.raw, and offsets, moments (s), hosts, urls and weights as .npy."""
    plan = planned(SCENARIOS[scenario], scale)
    markup = np.random.default_rng(5).lognormal(np.log(15_000) - 0.18, 0.6, plan.versions.size)
    upto = np.cumsum(np.bincount(plan.url, plan.lengths, plan.versions.size)).astype(np.int64)
    sizes: list[Whole] = []
    first = done = 0
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "items.raw").open("wb") as out:
        while first < upto.size:
            made = int(upto[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(upto, made + BLOCK)))
            items, lengths = block(plan, first, last)
            items.tofile(out)
            sizes.append(lengths)
            first, done = last, done + lengths.size
            told(done, plan.url.size)
    each = np.concatenate(sizes)
    np.save(folder / "moments.npy", plan.moment)
    np.save(folder / "hosts.npy", plan.host[plan.url].astype(np.int32))
    np.save(folder / "urls.npy", plan.url)
    np.save(folder / "weights.npy", 6 * each + markup[plan.url].astype(np.int64))
    np.save(folder / "offsets.npy", np.concatenate([[0], np.cumsum(each)]))  # last: all is there


def made(folder: Path) -> bool:
    """Whether a collection was written to its end."""
    return (folder / "offsets.npy").exists()


def load(folder: Path) -> Collection:
    """The collection with its shingles mapped, and `hostname` and `timestamp` of each document."""
    from asof.cover.documents.collection import Collection
    from asof.cover.documents.sets import Sets
    from asof.cover.language.columns import Column

    offsets, hosts = np.load(folder / "offsets.npy"), np.load(folder / "hosts.npy")
    names = tuple(f"host{code}.example" for code in range(int(hosts.max()) + 1))
    columns = {
        "hostname": Column("text", hosts, names),
        "timestamp": Column("time", np.load(folder / "moments.npy") * 1_000_000),
    }
    sets = Sets(offsets, np.memmap(folder / "items.raw", np.uint64, "r"))
    documents = tuple(map(str, range(offsets.size - 1)))
    return Collection(documents, columns, sets, np.load(folder / "weights.npy"))


@dataclass(frozen=True)
class Statistics:
    """What was made, as Table 2 counts it, and some more."""

    documents: int
    shingles: int
    versions: float
    deviation: float
    hosts: int
    first: str
    last: str
    bytes: int


def statistics(folder: Path) -> Statistics:
    """Count what is in the files, not what was planned."""
    offsets, urls = np.load(folder / "offsets.npy"), np.load(folder / "urls.npy")
    versions = np.bincount(urls)
    moments = np.load(folder / "moments.npy").astype("datetime64[s]")
    return Statistics(
        offsets.size - 1,
        int(offsets[-1]),
        float(versions.mean()),
        float(versions.std()),
        int(np.unique(np.load(folder / "hosts.npy")).size),
        str(moments.min().astype("datetime64[D]")),
        str(moments.max().astype("datetime64[D]")),
        int(np.load(folder / "weights.npy").sum()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scenario", choices=list(SCENARIOS))
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--folder", type=Path, required=True)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    started, cpu = time.perf_counter(), time.process_time()

    def told(done: int, total: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done:,} of {total:,} documents", end="", file=sys.stderr)

    make(asked.folder, asked.scenario, asked.scale, told)
    print(statistics(asked.folder))
    spent = time.perf_counter() - started, time.process_time() - cpu
    print(f"{spent[0]:.1f} s, {spent[1]:.1f} CPU s")


if __name__ == "__main__":
    main()
