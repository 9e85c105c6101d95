"""The database of what was read out of documents: `derived/text.db`. Rebuilt from the WARC files.

Texts lie packed in blocks of some dozen documents; a document says which block, and where in it
(Naumann 2011: "large files, each compressed block by block, and an index").
"""

from pathlib import Path

from asof.ledger import DerivedDatabase, Form

# One up whenever readers give other texts for the same bytes, or changes are judged otherwise:
# everything is then read again.
VERSION = 6

_SCHEMA = """
CREATE TABLE blocks (no INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE documents (
  key INTEGER PRIMARY KEY,
  block INTEGER NOT NULL REFERENCES blocks(no),
  start INTEGER NOT NULL,
  size INTEGER NOT NULL,
  media_type TEXT NOT NULL,
  charset TEXT,
  title TEXT,
  language TEXT,
  date TEXT,
  method TEXT NOT NULL,
  error TEXT
);
CREATE TABLE changes (
  key INTEGER PRIMARY KEY,
  before INTEGER,
  category TEXT NOT NULL,
  stage TEXT NOT NULL,
  similarity REAL
);
CREATE TABLE sketches (
  no INTEGER PRIMARY KEY,
  keys BLOB NOT NULL,
  sizes BLOB NOT NULL,
  slots BLOB NOT NULL,
  urls TEXT NOT NULL
);
CREATE TABLE complete (what TEXT PRIMARY KEY, state INTEGER NOT NULL);
"""


_FORM = Form(
    _SCHEMA,
    ("documents", "blocks", "changes", "sketches", "complete"),
    VERSION,
    busy="The texts of {} are being read by another process.",
    anew="Delete it; `asof reindex --text` reads the documents again.",
)


class TextDatabase(DerivedDatabase):
    """The one with the texts."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        super().__init__(path, _FORM, writable=writable)

    def is_complete(self, what: str, state: int) -> bool:
        """Whether all was done of something for this state of the archive, as `completed` says."""
        return self.fetch("SELECT 1 FROM complete WHERE what = ? AND state = ?", what, state) == (
            1,
        )

    def completed(self, what: str, state: int) -> None:
        with self.transaction() as db:
            db.execute("INSERT OR REPLACE INTO complete VALUES (?, ?)", (what, state))
