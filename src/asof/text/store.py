"""The texts of documents, kept in packed blocks, each found by its document's key."""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

import zstandard

from asof.model import Capture
from asof.text.database import TextDatabase
from asof.text.document import FACTS, Document, document_of

# Bytes of text in a block, about. Larger blocks pack better; one has to be unpacked to read a
# document, though, which takes half a millisecond.
BLOCK = 1 << 18
_LARGEST = 1 << 30
# Of packing. 6 makes blocks that are a tenth smaller in more than three times the time.
_LEVEL = 3
_FACTS = ", ".join(FACTS)


def key_of(capture: Capture) -> int | None:
    """The key of the document that a capture brought; None if it brought nothing.

    The same bytes at another URL have other links.
    """
    content = capture.content or capture.digest
    return hashed(capture.url, content, capture.media_type or "") if content else None


def hashed(*words: str) -> int:
    """Words as an integer that SQLite can hold."""
    text = "\0".join(words)
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class TextStore:
    """Documents by key."""

    def __init__(self, database: TextDatabase) -> None:
        self._database = database
        self._block = (0, _Block(b""))

    def __len__(self) -> int:
        row = self._database.fetch("SELECT count(*) FROM documents")
        return 0 if row is None else int(row[0])

    def __contains__(self, key: int) -> bool:
        return self._database.fetch("SELECT 1 FROM documents WHERE key = ?", key) is not None

    def put(self, documents: Sequence[tuple[int, Document]]) -> None:
        """Keep documents, all or none; one that is there already is replaced."""
        packer = zstandard.ZstdCompressor(level=_LEVEL)
        with self._database.transaction() as db:
            for block in _blocks(documents):
                raw = b"".join(content for _, _, content in block)
                no = db.execute("INSERT INTO blocks (data) VALUES (?)", (packer.compress(raw),))
                start = 0
                for key, document, content in block:
                    facts = (fact and _whole(fact) for fact in document.facts())
                    db.execute(
                        "INSERT OR REPLACE INTO documents (key, block, start, size, "
                        f"{_FACTS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        (key, no.lastrowid, start, len(content), *facts),
                    )
                    start += len(content)

    def get(self, key: int) -> Document | None:
        """A document, or None if it has not been read."""
        return next((document for _, document in self.get_all((key,))), None)

    def get_all(self, keys: Sequence[int]) -> Iterator[tuple[int, Document]]:
        """Those of the documents that have been read, as they lie: each block is unpacked once."""
        rows = self._database.fetch_all(
            f"SELECT key, block, start, size, {_FACTS} FROM documents "
            f"WHERE key IN (SELECT value FROM json_each(?)) ORDER BY block, start",
            json.dumps(keys),
        )
        for key, *place in rows:
            yield key, self._document(*place)

    def _document(self, block: int, start: int, size: int, *facts: str | None) -> Document:
        try:
            return document_of(facts, json.loads(self._opened(block).part(start, size)))
        except (ValueError, TypeError, zstandard.ZstdError) as damage:
            raise self._database.damaged(damage) from damage

    def _opened(self, no: int) -> "_Block":
        if self._block[0] != no:
            row = self._database.fetch("SELECT data FROM blocks WHERE no = ?", no)
            if row is None or zstandard.frame_content_size(row[0]) > _LARGEST:
                raise ValueError(f"block {no}")
            self._block = (no, _Block(row[0]))
        return self._block[1]


class _Block:
    """A block that is unpacked as far as it is read: half of it, on average, for one document."""

    def __init__(self, packed: bytes) -> None:
        self._rest = zstandard.ZstdDecompressor().stream_reader(packed)
        self._unpacked = bytearray()

    def part(self, start: int, size: int) -> bytearray:
        missing = start + size - len(self._unpacked)
        if missing > 0:
            self._unpacked += self._rest.read(missing)
        return self._unpacked[start : start + size]


_Packed = tuple[int, Document, bytes]


def _blocks(documents: Iterable[tuple[int, Document]]) -> Iterator[list[_Packed]]:
    block: list[_Packed] = []
    held = 0
    for key, document in documents:
        text = json.dumps(document.contents(), ensure_ascii=False)
        content = text.encode("utf-8", "replace")
        if block and held + len(content) > BLOCK:
            yield block
            block, held = [], 0
        block.append((key, document, content))
        held += len(content)
    if block:
        yield block


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which SQLite cannot hold."""
    return text.encode("utf-8", "replace").decode()
