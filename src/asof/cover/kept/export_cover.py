"""Writing out the documents of a cover, and only these: the archive is read, never thinned out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from asof.archive.archive import OpenArchive
from asof.archive.export import Selection
from asof.change.texts import Texts, documents_of
from asof.clock import stamp
from asof.cover.documents.of_archive import document_names, with_text
from asof.cover.kept.saved_covers import DOCUMENT_NAME
from asof.errors import UsageError
from asof.model import Capture

_SHOWN = 200  # characters of a name, in an error


@dataclass(frozen=True, slots=True)
class Chosen(Selection):
    """Captures by the ids of their records, for every format that `asof export` writes."""

    records: frozenset[str] = frozenset()

    @property
    def everything(self) -> bool:
        """Never: even if all documents were kept, there are captures that are no documents."""
        return False

    def captures(self, archive: OpenArchive) -> Iterator[Capture]:
        found = archive.captures()
        return (capture for capture in found if capture.record_id in self.records)

    def apart(self, archive: OpenArchive) -> Iterator[Capture]:
        return iter(())


def chosen_by_name(archive: OpenArchive, names: Iterable[str]) -> Chosen:
    """The captures of documents with these names; a name that no document has is an error."""
    wanted = set(names)
    total = len(wanted)
    shared: dict[tuple[str, str], list[Capture]] = {}
    for name in wanted:
        if found := DOCUMENT_NAME.fullmatch(name):
            shared[found[1], found[2]] = []
    for capture in documents_of(archive, archive.captures()):
        same = shared.get((stamp(capture.at), capture.url))
        if same is not None:
            same.append(capture)
    records: set[str] = set()
    with Texts(archive) as texts:
        for captures in shared.values():
            for name, capture in _documents(texts, captures):
                if name in wanted:
                    records.add(capture.record_id)
                    wanted.remove(name)
    if wanted:
        raise UsageError(
            f"The archive lacks {len(wanted):,} of the {total:,} documents,"
            f" such as {min(wanted)[:_SHOWN]!r}.",
            hint="Give the archive that the cover is of, or run `asof cover` again.",
        )
    return Chosen(records=frozenset(records))


def _documents(texts: Texts, captures: list[Capture]) -> Iterator[tuple[str, Capture]]:
    """The documents of one URL and second, by name."""
    if len(captures) > 1:  # one without a text is no document, and takes no name from the others
        captures = [capture for capture, _ in with_text(texts, captures)]
    return zip(document_names(captures), captures, strict=True)
