"""The collection of an archive's documents, kept between runs in `derived/cover/`.

To change a rule is not to read 75,000 texts again: names, columns and shingles of all documents lie
in one file (array_file.py; the shingles are mapped into memory), one for each choice of text and
length of shingles. Its name tells what it was made of (`fingerprint`); when captures or texts are
added, or are read otherwise, the name is another one, and a file is made from the older one: only
texts of documents that are not in it are read (document_ids.py). The older one is removed after
that, so one of them is always there, whole.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asof.archive.archive import OpenArchive
from asof.change.texts import Texts, documents_of
from asof.cover.documents.collection import Collection, chosen
from asof.cover.documents.document_ids import (
    DOCUMENT_ID,
    DocumentIdentifier,
    Shingling,
    texts_kept,
    texts_read,
)
from asof.cover.documents.of_archive import (
    ARCHIVE_COLUMNS,
    GatheredDocuments,
    compared_text,
    gathered,
    with_text,
)
from asof.cover.documents.sets import Sets
from asof.cover.kept.array_file import DAMAGE, read_arrays, write_arrays
from asof.cover.language.columns import Column
from asof.warc.file_names import path_of

_NAME = re.compile(r"((?:main|full)-[0-9]+c?)-[0-9a-f]{32}(\.npy)?")
# Choices of text and shingles whose collections are kept, the last used ones. Each takes 12 bytes
# for a shingle, with its ranks: 1.1 GB for scenario C.
CHOICES = 4


def collected_or_kept(
    archive: OpenArchive,
    shingling: Shingling,
    where: str | None = None,
    progress: Callable[[int], None] = lambda count: None,
    grown: Callable[[int, int], None] = lambda known, new: None,
) -> Collection:
    """What `of_archive.gathered` gives, from the last run as far as that goes.

    `where` is a filter in the language of relations, over one document. Texts are opened only of
    documents that are new, or where that asks what a text contains. `grown` is told how many were
    known and how many are new, if anything has changed.
    """
    path = _path(archive, shingling)
    made = kept(path)
    if made is None:
        # Of the state before, whatever that was: ids tell what is still true.
        older = next(filter(None, map(kept, _others(path))), None)
        made = gathered(archive, shingling, older, progress)
        grown(made.known, len(made.collection) - made.known)
        # What a crawl added in between may be in the collection in part.
        if _path(archive, shingling) == path:
            keep(path, made)
    found = made.collection
    if where is None:
        return found
    texts = _text_of_all(archive, shingling, found)
    return found.only(chosen(where, found.columns, texts, len(found)))


def is_kept(archive: OpenArchive, shingling: Shingling) -> bool:
    """Whether the documents have been gathered since the archive last changed."""
    return _path(archive, shingling).is_file()


def fingerprint(archive: OpenArchive, shingling: Shingling) -> str:
    """What a collection is made of, in 32 letters: WARC files, texts, and how they are read."""
    files = []
    for segment in archive.segments():
        try:
            size = path_of(archive.folder.warc, segment.file).stat().st_size
        except OSError:
            size = -1  # its documents cannot be read now
        whole = size >= segment.committed
        files.append((segment.file, segment.committed, segment.crawl, whole))
    made_of = (*shingling.ways, archive.catalog.count(), texts_read(archive), files)
    return blake2b(json.dumps(made_of).encode(), digest_size=16).hexdigest()


def kept(path: Path) -> GatheredDocuments | None:
    """The collection in a file, if it is there and whole."""
    with suppress(*DAMAGE):
        found = _loaded(read_arrays(path, path.name, mapped=True))
        with suppress(OSError):
            os.utime(path)  # used now
        return found
    return None


def keep(path: Path, made: GatheredDocuments) -> None:
    """Keep a collection for the next run, in the place of older ones of its kind.

    Where that cannot be written (no room, no right), nothing is kept: the run goes on without.
    """
    if not write_arrays(path, path.name, _arrays(made)):
        return
    with suppress(OSError):
        # Whoever has mapped an older one keeps it until it ends.
        for other in [*_others(path), *_unused(path.parent)]:
            if other.is_dir():  # as they were kept before version 0.2
                shutil.rmtree(other, ignore_errors=True)
            else:
                other.unlink(missing_ok=True)
            kind = other.name.rpartition("-")[0]
            if not any(path.parent.glob(f"{kind}-*")):
                other.with_name(f"ranks-{kind}.npy").unlink(missing_ok=True)


def _others(path: Path) -> list[Path]:
    """Collections of the same choice of text and shingles, of other states of the archive."""
    kind = path.name.rpartition("-")[0]
    return sorted(other for other in path.parent.glob(f"{kind}-*") if other != path)


def _unused(parent: Path) -> list[Path]:
    """Collections of all but the choices that were used last."""
    found = [path for path in parent.iterdir() if _NAME.fullmatch(path.name)]
    return sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True)[CHOICES:]


def _path(archive: OpenArchive, shingling: Shingling) -> Path:
    name = f"{shingling}-{fingerprint(archive, shingling)}.npy"
    return archive.folder.root / "derived" / "cover" / name


def _arrays(made: GatheredDocuments) -> dict[str, NDArray[Any]]:
    found = made.collection
    assert found.document_ids is not None
    strings = {name: column.strings for name, column in found.columns.items()}
    # In ASCII, so that half a surrogate pair in a URL comes back as it was.
    facts = json.dumps({"names": found.names, "records": found.records, "strings": strings})
    return {
        "items": found.sets.items,
        "facts": np.frombuffer(facts.encode("ascii"), np.uint8),
        "ids": found.document_ids,
        "blanks": made.blanks,
        "offsets": found.sets.offsets,
        "weights": found.weights,
        **{f"column {name}": column.values for name, column in found.columns.items()},
    }


def _loaded(arrays: dict[str, NDArray[Any]]) -> GatheredDocuments:
    facts = json.loads(arrays["facts"].tobytes())
    names, records = _strings(facts["names"]), _strings(facts["records"])
    columns = {
        name: Column(like.kind, arrays[f"column {name}"], _strings(facts["strings"][name]))
        for name, like in ARCHIVE_COLUMNS.items()
    }
    ids, blanks, weights = arrays["ids"], arrays["blanks"], arrays["weights"]
    sets = Sets(arrays["offsets"], arrays["items"])
    fits = ids.dtype == blanks.dtype == DOCUMENT_ID and weights.dtype == np.int64
    each = (ids, weights, *(column.values for column in columns.values()))
    fits = fits and all(array.shape == (len(names),) for array in each) and blanks.ndim == 1
    if not fits or len(sets) != len(names) or len(records) != len(names):
        raise ValueError("names and arrays do not fit together")
    return GatheredDocuments(
        Collection(names, columns, sets, weights, False, ids, records), blanks, len(names)
    )


def _strings(given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(type(one) is str for one in given):
        raise TypeError("no strings")
    return tuple(given)


def _text_of_all(archive: OpenArchive, shingling: Shingling, found: Collection) -> Iterator[str]:
    """The texts that documents are compared by, in the order of the collection.

    A crawl may have added others since, or have kept what was not kept.
    """
    assert found.document_ids is not None
    known = frozenset(found.document_ids.tolist())
    with Texts(archive) as texts, texts_kept(archive) as database:
        identifier = DocumentIdentifier(database, shingling)
        for capture, document in with_text(texts, documents_of(archive, archive.captures())):
            if (
                identifier.id_of(capture) in known
                or identifier.id_as_read(capture, document) in known
            ):
                yield compared_text(document, shingling.which)
