"""The documents of an archive as one table, for `asof cover --from`, Spark, and others.

Each row is a document as `asof cover` compares it: called by its time and URL, with its main
content (where it has none, all of its text) and what the archive knows of it, in the same order.
So the same rule gives the same answer over the table as over the archive.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path

from asof.archive.archive import OpenArchive
from asof.archive.export import Selection
from asof.catalog.parquet import write_rows
from asof.change.texts import Texts, documents_of
from asof.clock import iso
from asof.cover.documents.of_archive import compared_text, document_names, known_of, with_text
from asof.files import output_file
from asof.model import Capture
from asof.text.document import Document

ROW_GROUP = 1_000  # texts may be long

_COLUMNS = {
    "id": "string", "text": "string", "url": "string", "hostname": "string", "domain": "string",
    "timestamp": "timestamp", "mime-type": "string", "title": "string", "language": "string",
    "length": "int64", "size": "int64", "status": "int16", "crawl": "string",
}  # fmt: skip


def export_documents(archive: OpenArchive, selection: Selection, out: Path) -> int:
    """A table of the selected documents; texts that have not been read are read."""
    with Texts(archive) as texts:
        rows = _rows(with_text(texts, documents_of(archive, selection.captures(archive))))
        if is_lines(out):
            return _write_lines(rows, out)
        return write_rows(_COLUMNS, rows, out, ROW_GROUP)


def is_lines(out: Path) -> bool:
    """Whether a table of that name is one of JSON lines, which needs no package."""
    return out.suffix.lower() in (".jsonl", ".ndjson")


def _write_lines(rows: Iterable[tuple[object, ...]], out: Path) -> int:
    count = 0
    with output_file(out) as file:
        for row in rows:
            said = dict(zip(_COLUMNS, row, strict=True))
            at = said["timestamp"]
            said["timestamp"] = iso(at) if isinstance(at, int) else at
            file.write(json.dumps(said, ensure_ascii=False).encode() + b"\n")
            count += 1
    return count


def _rows(documents: Iterable[tuple[Capture, Document]]) -> Iterator[tuple[object, ...]]:
    those, same = tee(documents)
    names = document_names(capture for capture, _ in those)
    for name, (capture, document) in zip(names, same, strict=True):
        text = compared_text(document, "main")
        known = known_of(capture, document.title, document.language, len(text))
        yield tuple(_written(value) for value in (name, text, *known))


def _written(value: object) -> object:
    """Half of a surrogate pair is no character, and cannot be written."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
