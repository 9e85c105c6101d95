"""The collection of an archive's documents, kept between runs in `derived/cover/`.

To change a rule is not to read 75,000 texts again: names, columns and shingles of all documents lie
in a folder of arrays (.npy, mapped into memory) and one JSON file, a folder for each choice of text
and length of shingles. Its name tells what it was made of (`fingerprint`); when captures or texts
are added, or are read otherwise, the name is another one, and a folder is made from the older one:
only texts of documents that are not in it are read (document_ids.py). It is made under another
name and renamed, and the older one is removed after that, so one of them is always there, whole.
Nothing in it is needed: it may be deleted at any time, and one that is damaged is made again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asof.archive.archive import Archive
from asof.change.shingles import K, Unit
from asof.change.texts import Texts, documents_of
from asof.cover.documents.archive_attributes import ARCHIVE_COLUMNS
from asof.cover.documents.collection import Collection
from asof.cover.documents.document_ids import (
    DOCUMENT_ID,
    DocumentIdentifier,
    Which,
    kind_of,
    texts_read,
    ways,
)
from asof.cover.documents.of_archive import Gathered, compared_text, gathered
from asof.cover.documents.sets import Sets
from asof.cover.kept.array_file import DAMAGE, mapped_array, next_array
from asof.cover.language.columns import Column
from asof.cover.language.evaluate import evaluate_filter
from asof.cover.language.kinds import type_check
from asof.cover.language.parse import parse_filter
from asof.cover.language.syntax import And, Condition, Contains, Not, Or
from asof.cover.language.terms import contains
from asof.errors import AsofError
from asof.warc.atomic_file import sync_folder

_FACTS = "facts.json"
_NAME = re.compile(r"((?:main|full)-[0-9]+c?)-[0-9a-f]{32}")
# Choices of text and shingles whose collections are kept, the last used ones. Each takes 12 bytes
# for a shingle, with its ranks: 1.1 GB for scenario C.
CHOICES = 4

Truth = NDArray[np.bool_]


def collected_or_kept(
    archive: Archive,
    *,
    which: Which = "main",
    k: int = K,
    unit: Unit = "terms",
    where: str | None = None,
    progress: Callable[[int], None] = lambda count: None,
    grown: Callable[[int, int], None] = lambda known, new: None,
) -> Collection:
    """What `of_archive.collected` gives, from the last run as far as that goes.

    Texts are opened only of documents that are new, or where a filter asks what a text contains.
    `grown` is told how many documents were known and how many are new, if anything has changed.
    """
    folder = _folder(archive, which, k, unit)
    made = kept(folder)
    if made is None:
        made = gathered(
            archive, which=which, k=k, unit=unit, before=_older(folder), progress=progress
        )
        grown(made.known, len(made.collection) - made.known)
        # What a crawl added in between may be in the collection in part.
        if _folder(archive, which, k, unit) == folder:
            keep(folder, made)
    found = made.collection
    if where is None:
        return found
    with DocumentIdentifier(archive, which, k, unit) as identifier:
        return found.only(_chosen(archive, which, identifier, found, where))


def is_kept(archive: Archive, which: Which, k: int, unit: Unit = "terms") -> bool:
    """Whether the documents have been gathered since the archive last changed."""
    return _folder(archive, which, k, unit).is_dir()


def fingerprint(archive: Archive, which: Which, k: int, unit: Unit = "terms") -> str:
    """What a collection is made of, in 32 letters: WARC files, texts, and how they are read."""
    files = []
    for segment in archive.segments():
        try:
            size = (archive.folder.warc / segment.file).stat().st_size
        except OSError:
            size = -1  # its documents cannot be read now
        whole = size >= segment.committed
        files.append((segment.file, segment.committed, segment.crawl, whole))
    made_of = (*ways(which, k, unit), archive.catalog.count(), texts_read(archive), files)
    return blake2b(json.dumps(made_of).encode(), digest_size=16).hexdigest()


def kept(folder: Path) -> Gathered | None:
    """The collection in a folder, if it is there and whole."""
    if not folder.is_dir():
        return None
    try:
        found = _load(folder)
        with suppress(OSError):
            os.utime(folder)  # used now
        return found
    except DAMAGE:
        return None  # damaged, or replaced at this moment: it is made again


def keep(folder: Path, made: Gathered) -> None:
    """Keep a collection for the next run, in the place of older ones of its kind.

    Where that cannot be written (no room, no right), nothing is kept: the run goes on without.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(folder.parent)
        mine = f".new-{os.getpid()}-"
        with tempfile.TemporaryDirectory(prefix=mine, dir=folder.parent) as scratch:
            new = Path(scratch) / folder.name
            new.mkdir()
            _save(new, made)
            shutil.rmtree(folder, ignore_errors=True)  # it was damaged, or it would have been used
            new.rename(folder)
            sync_folder(folder.parent)
        for other in _others(folder):
            # Whoever has mapped the files of an older one keeps them until it ends.
            shutil.rmtree(other, ignore_errors=True)
        for other in _unused(folder.parent):
            shutil.rmtree(other, ignore_errors=True)
            ranks = f"ranks-{other.name.rpartition('-')[0]}.npy"
            other.with_name(ranks).unlink(missing_ok=True)
    except OSError:
        return


def _remove_leftovers(parent: Path) -> None:
    """What processes that are no more began to write."""
    for leftover in parent.glob(".new-*-*"):
        try:
            os.kill(int(leftover.name.split("-")[1]), 0)
        except (ProcessLookupError, ValueError):
            shutil.rmtree(leftover, ignore_errors=True)
        except OSError:  # somebody else's, and alive
            continue


def _others(folder: Path) -> list[Path]:
    """Collections of the same choice of text and shingles, of other states of the archive."""
    kind = folder.name.rpartition("-")[0]
    return sorted(other for other in folder.parent.glob(f"{kind}-*") if other != folder)


def _unused(parent: Path) -> list[Path]:
    """Collections of all but the choices that were used last."""
    found = [path for path in parent.iterdir() if _NAME.fullmatch(path.name)]
    return sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True)[CHOICES:]


def _older(folder: Path) -> Gathered | None:
    """The collection of the state before, whatever that was: ids tell what is still true."""
    found = (kept(other) for other in _others(folder))
    return next((older for older in found if older is not None), None)


def _folder(archive: Archive, which: Which, k: int, unit: Unit) -> Path:
    name = f"{kind_of(which, k, unit)}-{fingerprint(archive, which, k, unit)}"
    return archive.folder.root / "derived" / "cover" / name


def _save(folder: Path, made: Gathered) -> None:
    collection = made.collection
    assert collection.document_ids is not None
    arrays: dict[str, NDArray[Any]] = {
        "document_ids": collection.document_ids,
        "blanks": made.blanks,
        "offsets": collection.sets.offsets,
        "items": collection.sets.items,
        "weights": collection.weights,
    }
    columns = []
    for number, (name, column) in enumerate(collection.columns.items()):
        arrays[f"column-{number}"] = column.values
        columns.append({"name": name, "kind": column.kind, "strings": column.strings})
    for name, array in arrays.items():
        with (folder / f"{name}.npy").open("xb") as file:
            np.save(file, array, allow_pickle=False)
            _settle(file.fileno(), file.flush)
    with (folder / _FACTS).open("x", encoding="ascii") as text:
        # In ASCII, so that half a surrogate pair in a URL comes back as it was. At once: written
        # piece by piece, the names of 75,000 documents take a second.
        text.write(json.dumps({"names": collection.names, "columns": columns}))
        _settle(text.fileno(), text.flush)
    sync_folder(folder)


def _settle(descriptor: int, flush: Callable[[], None]) -> None:
    flush()
    os.fsync(descriptor)


def _load(folder: Path) -> Gathered:
    with (folder / _FACTS).open(encoding="ascii") as file:
        facts = json.load(file)
    names = _strings(facts["names"])
    columns = {
        given["name"]: _column(given, _array(folder, f"column-{number}"), len(names))
        for number, given in enumerate(facts["columns"])
    }
    kinds = {name: column.kind for name, column in ARCHIVE_COLUMNS.items()}
    if {name: column.kind for name, column in columns.items()} != kinds:
        raise ValueError("other columns")
    sets = Sets(_array(folder, "offsets"), _array(folder, "items", mapped=True))
    weights = _array(folder, "weights")
    if len(sets) != len(names) or weights.shape != (len(names),) or weights.dtype != np.int64:
        raise ValueError("names and shingles do not fit together")
    document_ids, blanks = _array(folder, "document_ids"), _array(folder, "blanks")
    fits = document_ids.shape == (len(names),) and document_ids.dtype == blanks.dtype == DOCUMENT_ID
    if not fits or blanks.ndim != 1:
        raise ValueError("names and document_ids do not fit together")
    return Gathered(
        Collection(names, columns, sets, weights, document_ids=document_ids), blanks, len(names)
    )


def _array(folder: Path, name: str, *, mapped: bool = False) -> NDArray[Any]:
    with (folder / f"{name}.npy").open("rb") as file:
        return mapped_array(file) if mapped else next_array(file)


def _strings(given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(type(one) is str for one in given):
        raise TypeError("no strings")
    return tuple(given)


def _column(given: dict[str, Any], values: NDArray[Any], count: int) -> Column:
    column = Column(given["kind"], values, _strings(given["strings"]))
    if values.shape != (count,):
        raise ValueError("a column is not of all documents")
    if column.kind == "text" and count:
        low, high = int(values.min()), int(values.max())
        if low < -1 or high >= len(column.strings):
            raise ValueError("a code stands for no string")
    return column


def _chosen(
    archive: Archive, which: Which, identifier: DocumentIdentifier, found: Collection, where: str
) -> Truth:
    """Which documents a filter means; texts are read only if it asks for them, and once."""
    written = type_check(parse_filter(where), found.columns)
    seen: dict[str, Truth] = {}

    def with_phrase(phrase: str) -> Truth:
        if not seen:
            wanted = list(dict.fromkeys(_phrases(written.condition)))
            texts = _text_of_all(archive, which, identifier, found)
            rows = [[contains(text, one) for one in wanted] for text in texts]
            table = np.array(rows, np.bool_).reshape(-1, len(wanted))
            if len(table) != len(found):
                raise AsofError("The archive has changed meanwhile.", hint="Run it again.")
            seen.update(zip(wanted, table.T, strict=True))
        return seen[phrase]

    return evaluate_filter(written, found.columns, len(found), with_phrase)


def _phrases(condition: Condition) -> Iterator[str]:
    match condition:
        case Contains():
            yield condition.phrase
        case Not():
            yield from _phrases(condition.part)
        case And() | Or():
            for part in condition.parts:
                yield from _phrases(part)


def _text_of_all(
    archive: Archive, which: Which, identifier: DocumentIdentifier, found: Collection
) -> Iterator[str]:
    """The texts that documents are compared by, in the order of the collection.

    A crawl may have added others since, or have put on the shelf what was not on it.
    """
    assert found.document_ids is not None
    known = frozenset(found.document_ids.tolist())
    with Texts(archive) as shelf:
        for capture in documents_of(archive, archive.captures()):
            document = shelf.document(capture)
            if document is None or not document.text.strip():
                continue
            if (
                identifier.id_of(capture) in known
                or identifier.id_as_read(capture, document) in known
            ):
                yield compared_text(document, which)
