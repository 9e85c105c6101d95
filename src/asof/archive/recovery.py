"""After a crash: roll forward what reached the disk whole, cut off what did not.

The WARC is the redo log and the database its checkpoint. Records beyond a segment's committed
offset were written but their transaction was lost (kill -9, power cut, a database restored from an
old copy): the whole ones are catalogued now. Only a torn tail is cut: bytes after the last whole
record of a file, not of a link to one, that a crawl of ours was still appending to. What is damaged
anywhere else is left exactly as it is, and what follows it is not taken over unseen: a torn record
may hold, in what it captured, bytes that look like records. `asof reindex` takes those in.
"""

from dataclasses import dataclass, replace

from asof.archive.archive import OpenArchive
from asof.archive.folder import Folder
from asof.archive.scan import Batch, FileRange, entered, read_range
from asof.catalog.asked import set_apart
from asof.catalog.rows import COLUMNS
from asof.errors import ArchiveError
from asof.model import Damage, Segment
from asof.warc.write import WarcFile

_OFFSET = COLUMNS.index("offset")


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was found beyond the committed offsets."""

    adopted: int
    cut: tuple[Damage, ...]
    left: tuple[Damage, ...]


def recover(archive: OpenArchive) -> Recovery:
    """Bring the catalog up to the WARC files; writes nothing when they agree."""
    for path in archive.folder.strays():
        raise ArchiveError(f"{path} is not a file.", hint="Remove it, then run the same again.")
    known = {segment.file: segment for segment in archive.segments()}
    adopted = 0
    cut: list[Damage] = []
    left: list[Damage] = []
    for path in archive.folder.segment_files():
        segment = known.get(path.name, Segment(path.name, 0))
        size = path.stat().st_size
        if segment.sealed or (size <= segment.committed and path.name in known):
            continue
        batch = read_range(FileRange(path, segment.committed, None, size - segment.committed))
        # The damage that reaches to the end of the file, if there is one.
        ours = (segment.crawl or batch.crawls) and not Folder.is_imported(path.name)
        torn = batch.damage[-1] if batch.damage and ours else None
        if torn and (torn.offset + torn.length < size or not archive.folder.is_own(path)):
            torn = None
        if torn is not None:
            WarcFile.reopen(path, torn.offset).close()
            cut.append(torn)
        left.extend(damage for damage in batch.damage if damage is not torn)
        adopted += _adopt(archive, segment, batch, path.stat().st_size)
    return Recovery(adopted, tuple(cut), tuple(left))


def _adopt(archive: OpenArchive, segment: Segment, batch: Batch, size: int) -> int:
    catalog = archive.catalog
    with archive.ledger.transaction():
        segment, number = entered(catalog, replace(segment, committed=size), batch)
        damaged = any(damage.offset < size for damage in batch.damage)
        if damaged or segment.crawl is None or Folder.is_imported(segment.file):
            catalog.put_segment(replace(segment, sealed=True))
        first_damage = min((damage.offset for damage in batch.damage), default=size)
        sound = [row for row in batch.rows if int(row[_OFFSET] or 0) < first_damage]
        added = catalog.add_rows(sound, number)
        asked = [each for each in batch.asked if each.offset < first_damage]
        return added - set_apart(archive.ledger, asked, batch.source.path, number)
