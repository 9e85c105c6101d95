"""The index: which fields it has, and how their words are made.

A document is a content over an interval, not a capture: a page that did not change is one. Texts
are folded beforehand (asof.search.words), so that the analyzer only parts them. None is stored:
they are in `derived/text.db`.
"""

import errno
import json
import os
import re
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import tantivy

from asof.errors import ArchiveError, StorageError
from asof.search.words import LONGEST_WORD

# One up whenever documents of the index are made otherwise: it is then made anew.
VERSION = 4
_WORDS, _EXACT = "words", "raw"
# Fields with words, and what one in each is worth beside one in the main content. Titles and
# addresses are short, which counts for them as well (BM25).
TITLE, MAIN, REST, PLACE = "title", "main", "rest", "place"
# Names are those of others, and have an index of their own.
NAME = "name"
WORTH = {TITLE: 2.0, MAIN: 1.0, REST: 0.3, PLACE: 0.5, NAME: 2.0}
_OWN_FILE = re.compile(r"(?:[0-9a-f]{32}|meta)(?:\.[a-z0-9]+)+")
HOST, TYPE, LANGUAGE = "host", "type", "language"


def schema() -> tantivy.Schema:
    made = tantivy.SchemaBuilder()
    made.add_integer_field("id", indexed=True, fast=True)
    made.add_integer_field("key", stored=True)  # of its text
    made.add_integer_field("since", fast=True)
    made.add_integer_field("ended", fast=True)
    made.add_integer_field("page", indexed=True, fast=True)
    made.add_integer_field("points", indexed=True)  # asof.search.pointers
    made.add_text_field("surt", tokenizer_name=_EXACT, index_option="basic")
    made.add_text_field("url", stored=True, tokenizer_name=_EXACT, index_option="basic")
    for facet in (HOST, TYPE, LANGUAGE):
        made.add_text_field(facet, fast=True, tokenizer_name=_EXACT, index_option="basic")
    made.add_bytes_field("sketch", stored=True)
    for name in (TITLE, MAIN, REST, PLACE):
        made.add_text_field(name, tokenizer_name=_WORDS)
    return made.build()


def schema_of_names() -> tantivy.Schema:
    made = tantivy.SchemaBuilder()
    made.add_integer_field("id", indexed=True, fast=True)
    made.add_integer_field("page", indexed=True, fast=True)
    made.add_text_field(NAME, tokenizer_name=_WORDS)
    return made.build()


class IndexErrors:
    """What tantivy says, or panics at, of an index that cannot be used, as an error of ours."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        # A panic is a BaseException whose class cannot be imported.
        if kind is not None and (kind is ValueError or kind.__name__ == "PanicException"):
            said = str(error)
            if f"(os error {errno.ENOSPC})" in said:
                hint = "Make room, then run the same again; nothing is lost."
                raise StorageError(
                    f"{self._folder} cannot be written: {said}", hint=hint
                ) from error
            raise ArchiveError(
                f"The index in {self._folder} cannot be used ({said.strip()}).",
                hint="Delete the folder; `asof reindex --search` makes it again.",
            ) from error


# The folders of what is said, and of what others call it.
PARTS = ("index", "names")


def is_index(folder: Path) -> bool:
    """Whether the folder of an archive's index holds both of its parts, committed."""
    return all((folder / part / "meta.json").is_file() for part in PARTS)


def names_own_files(folder: Path) -> bool:
    """Whether what tantivy takes for its own files, and deletes once it needs them no more, are
    names of files in its folder: an index may have come with the archive of a stranger.
    """
    try:
        listed = json.loads((folder / ".managed.json").read_bytes())
    except FileNotFoundError:
        return True
    except ValueError:
        return False
    return isinstance(listed, list) and all(
        isinstance(each, str) and _OWN_FILE.fullmatch(each) for each in listed
    )


def open_for_reading(folder: Path, own: tantivy.Schema) -> tantivy.Index:
    """The index as it is now. tantivy makes a lock beside what it reads: where nothing can be
    written, it reads through links.
    """
    if os.access(folder, os.W_OK):
        return open_index(folder, own)
    apart = Path(mkdtemp(prefix="asof-search-"))
    try:
        for file in folder.iterdir():
            if file.suffix != ".lock":
                (apart / file.name).symlink_to(file.resolve())
        return open_index(apart, own)
    finally:
        # A thread of tantivy may make its lock there meanwhile, once: then it is not empty.
        rmtree(apart, ignore_errors=True)
        rmtree(apart, ignore_errors=True)


def open_index(folder: Path, own: tantivy.Schema) -> tantivy.Index:
    """The index in a folder, made if it is empty."""
    index = tantivy.Index(own, str(folder))
    parted = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    longest = tantivy.Filter.remove_long(LONGEST_WORD + 1)
    index.register_tokenizer(_WORDS, parted.filter(longest).build())
    return index
