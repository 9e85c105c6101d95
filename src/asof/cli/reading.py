"""Documents that are read, and indexed, before a command can answer."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from asof.archive import OpenArchive
from asof.cli.output import all_kept, cores, count_progress, say
from asof.errors import ArchiveError, StorageError
from asof.report.words import ARE, number

if TYPE_CHECKING:
    from asof.change.texts import ReadingProgress
    from asof.search.index import Updated

# Seconds of reading before a question is answered by what has been read so far.
PATIENCE = 10.0


def read_first(archive: OpenArchive, seconds: float) -> Callable[[], bool]:
    """Read what has not been read, for so long; whether that time is over."""
    from asof.change.texts import Texts

    late = after(seconds)
    try:
        with Texts(archive, writable=True) as texts:
            if not texts.is_complete:
                with count_progress("reading", archive.catalog.count()) as progress:
                    texts.read_documents(cores(), progress, late)
            if not texts.is_complete:
                read = number(len(texts), "document", ARE)
                say(
                    f"asof: {read} read, and compared with it; there are "
                    f"more. Read them with `asof reindex --text`."
                )
    except (ArchiveError, StorageError) as error:  # what is not kept is read here
        say(f"asof: {error}")
    return late


def after(seconds: float) -> Callable[[], bool]:
    """Whether so many seconds are over."""
    until = monotonic() + seconds
    return lambda: monotonic() > until


def read_texts(archive: OpenArchive) -> ReadingProgress:
    """Read what has not been read, with a bar for those who watch."""
    from asof.change.texts import Texts

    bar = count_progress("reading", 2 * archive.catalog.count())
    with Texts(archive, writable=True) as texts, bar as progress:
        return texts.read_all(cores(), progress)


def index_texts(archive: OpenArchive, seconds: float = inf) -> Updated:
    """Read what has not been read, and bring the index up to date, for so long."""
    from asof.change.texts import Texts
    from asof.search.index import update

    late = after(seconds)
    with Texts(archive, writable=True) as texts:
        if not texts.is_complete:
            with count_progress("reading", archive.catalog.count()) as progress:
                texts.read_documents(cores(), progress, late)
        with count_progress("indexing", None) as progress, all_kept():
            return update(archive, texts, progress, late)
