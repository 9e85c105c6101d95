"""How good each document of an archive is, for `--prefer`: what takes long, and only if asked.

    inlinks     how many other addresses of the archive have a document that links to its address
    coherence   how well it is known to be what its page was at the moment that its crawl is of:
                5 proven, 4 confirmed, 3 claimed, 2 equivalent, 1 changed, 0 unknown
                (asof.coherence.verdict); 0, too, if the page is known to have been another one

Both are about addresses as they were captured: a link to an address that only redirects counts for
that one. What was found is kept in `derived/qualities/` until the archive changes; nothing there is
needed (array_file.py).
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from asof.archive.archive import OpenArchive
from asof.change.texts import Texts, documents_of
from asof.coherence.certificate import Choice
from asof.coherence.gather import Catalogued, gather, measured
from asof.cover.documents.collection import Collection
from asof.cover.documents.document_ids import texts_kept, texts_read
from asof.cover.documents.sets import Counts
from asof.cover.kept.array_file import DAMAGE, read_arrays, write_arrays
from asof.cover.language.columns import Column, number_column
from asof.errors import NotCaptured
from asof.ledger import SCHEMA_VERSION
from asof.model import Grade
from asof.text.database import VERSION as TEXT_VERSION
from asof.text.links.targets import address, targets
from asof.text.store import TextStore, key_of

QUALITIES = ("inlinks", "coherence")

# One up whenever the same archive is rated otherwise.
_FORMAT = 3
_RANKS = {grade: rank for rank, grade in enumerate(reversed(Grade))}
# Pairs of addresses in memory before those that came twice are taken out.
_AT_ONCE = 1 << 22

Progress = Callable[[int], None]


def with_quality(
    archive: OpenArchive, collection: Collection, name: str, progress: Progress = lambda count: None
) -> Collection:
    """The documents of an archive with a quality as one more column; as they are, if it is none."""
    if name not in QUALITIES:
        return collection
    column = quality_column(archive, collection, name, progress)
    return replace(collection, columns={**collection.columns, name: column})


def quality_column(
    archive: OpenArchive, collection: Collection, name: str, progress: Progress = lambda count: None
) -> Column:
    """One quality of all documents of a collection that is of this archive, or of some of them."""
    path = _path(archive, name)
    rated: Any = None
    with suppress(*DAMAGE):
        rated = json.loads(read_arrays(path, path.name)["rated"].tobytes())
    if rated is None:
        rated = (_inlinks if name == "inlinks" else _coherence)(archive, progress)
        if _path(archive, name) == path:  # what a crawl added in between may be in it in part
            _keep(path, rated)
    return _linked(collection, rated) if name == "inlinks" else _held(collection, rated)


# -- links -----------------------------------------------------------------------------------------


def _linked(collection: Collection, counts: dict[str, int]) -> Column:
    url = collection.columns["url"]
    return number_column([counts.get(url.text(at) or "", 0) for at in range(len(collection))])


def _inlinks(archive: OpenArchive, progress: Progress) -> dict[str, int]:
    """How many other addresses link to each address that has a document, where any does."""
    captures: dict[int, str] = {}
    places: dict[str, int] = {}
    for capture in documents_of(archive, archive.captures()):
        if (key := key_of(capture)) is not None:
            captures[key] = capture.url
            places.setdefault(address(capture.url), len(places))

    def found() -> Iterator[tuple[int, Iterable[int]]]:
        for url, links in _links(archive, captures):
            led = (places.get(target, -1) for _, target in targets(url, links))
            yield places[address(url)], led
            progress(1)

    counts = _counts(found(), len(places))
    urls = {url: int(counts[places[address(url)]]) for url in captures.values()}
    return {url: count for url, count in urls.items() if count}


def _counts(links: Iterable[tuple[int, Iterable[int]]], count: int) -> Counts:
    """How many of so many addresses link to each, however many versions of a page there are.

    Links are from one address to others; -1 is none of them, and itself does not count.
    """
    pairs = (
        source * count + target
        for source, targets in links
        for target in targets
        if target not in (-1, source)
    )
    known = np.empty(0, np.uint64)
    while (new := np.fromiter(islice(pairs, _AT_ONCE), np.uint64)).size:
        known = np.unique(np.concatenate([known, new]))
    targets = (known % np.uint64(max(count, 1))).astype(np.int64)
    return np.bincount(targets, minlength=count)


def _links(archive: OpenArchive, urls: dict[int, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The links of every document, by its address; in the order of the text database.

    A block of it holds dozens of documents, and is unpacked once in this order.
    """
    left = dict(urls)
    with texts_kept(archive) as database:
        if database is not None:
            store = TextStore(database)
            keys = database.db.execute("SELECT key FROM documents ORDER BY block, start")
            for (key,) in keys.fetchall():
                if key in left and (document := store.get(key)) is not None:
                    yield left.pop(key), document.links
    if not left:
        return
    with Texts(archive) as texts:
        for capture in documents_of(archive, archive.captures()):
            key = key_of(capture)
            if key is not None and left.pop(key, None) is not None:
                document = texts.document(capture)
                yield capture.url, document.links if document is not None else ()


# -- coherence -------------------------------------------------------------------------------------


def _held(collection: Collection, crawls: dict[str, dict[str, list[int]]]) -> Column:
    columns = collection.columns
    values: list[int | None] = []
    for place, at in enumerate(columns["timestamp"].values.tolist()):
        pages = crawls.get(columns["crawl"].text(place) or "", {})
        known = pages.get(columns["url"].text(place) or "")
        if known is None:  # of no crawl, or none that has a moment
            values.append(None)
            continue
        rank, since, until = known
        values.append(rank if since <= at <= until else 0)
    return number_column(values)


def _coherence(archive: OpenArchive, progress: Progress) -> dict[str, dict[str, list[int]]]:
    """Of every crawl and page: how well it is known at the moment of the crawl, from when to when.

    What was captured outside that time was another content.
    """
    found: dict[str, dict[str, list[int]]] = defaultdict(dict)
    for crawl in archive.crawls():
        try:
            gathered = gather(Catalogued(archive), Choice(crawls=(crawl.id,)))
        except NotCaptured:
            continue
        progress(len(gathered.counted))
        for page in measured(gathered).pages:
            found[crawl.id][page.url] = [_RANKS[page.grade], page.since, page.until]
    return dict(found)


# -- kept until the archive changes ----------------------------------------------------------------


def _path(archive: OpenArchive, name: str) -> Path:
    made_of: list[Any] = [_FORMAT, SCHEMA_VERSION, name, archive.catalog.count()]
    made_of += [[segment.file, segment.committed] for segment in archive.segments()]
    made_of += [[crawl.id, crawl.state, crawl.ended] for crawl in archive.crawls()]
    if name == "inlinks":
        made_of += [TEXT_VERSION, texts_read(archive)]
    digest = blake2b(json.dumps(made_of).encode(), digest_size=12).hexdigest()
    return archive.folder.root / "derived" / "qualities" / f"{name}-{digest}.npy"


def _keep(path: Path, rated: object) -> None:
    told = np.frombuffer(json.dumps(rated).encode("ascii"), np.uint8)
    if write_arrays(path, path.name, {"rated": told}):
        for other in path.parent.glob(f"{path.name.rpartition('-')[0]}-*"):
            if other != path:
                other.unlink(missing_ok=True)
