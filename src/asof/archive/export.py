"""Writing captures out: WARC, CDXJ, Parquet, TREC-Web, WACZ. The archive is only read.

Files appear under their name when they are whole: written beside it, flushed to the disk, renamed.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from heapq import merge
from http import HTTPStatus
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from asof.archive.archive import OpenArchive
from asof.catalog.cdxj import cdxj_lines
from asof.catalog.derive import derive, own_id, record_uri
from asof.catalog.memento import stored_head
from asof.catalog.observe import Observation
from asof.catalog.parquet import write_parquet
from asof.catalog.referents import is_304
from asof.files import output_file, scratch_folder
from asof.model import Capture, Damage
from asof.url import surt
from asof.warc.file_names import path_of
from asof.warc.foreign.trec import TrecDocument, write_trec
from asof.warc.foreign.wacz_write import Sign, WaczPage, write_wacz
from asof.warc.reader import read_record, scan
from asof.warc.record import StoredRecord
from asof.warc.revisit import Referent, as_response, may_revisit, replayable, replays_elsewhere
from asof.warc.write import member

# TREC-Web holds documents in memory; larger payloads are cut there (the WARC keeps them whole).
MAX_TREC_PAYLOAD = 64 << 20
_HTML = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which captures go out; with nothing said, all of them."""

    url: str | None = None
    prefix: str | None = None
    since: str | None = None
    until: str | None = None

    @property
    def everything(self) -> bool:
        return self == Selection()

    def captures(self, archive: OpenArchive) -> Iterator[Capture]:
        return archive.captures(**asdict(self))

    def apart(self, archive: OpenArchive) -> Iterator[Capture]:
        """Those of them that no GET got (asof.catalog.asked)."""
        if self.url is not None:
            return iter(())
        start = None if self.since is None else archive.moment(self.since, start=True)
        end = None if self.until is None else archive.moment(self.until)
        return archive.catalog.captures(prefix=self.prefix, since=start, until=end, apart=True)


def export_cdxj(archive: OpenArchive, selection: Selection, out: Path) -> int:
    """A sorted CDXJ index, line for line what cdxj-indexer writes for the same files."""
    count = 0
    both = cdxj_lines(selection.captures(archive)), cdxj_lines(selection.apart(archive))
    with output_file(out) as file:
        for line in merge(*both):
            file.write(line.encode())
            count += 1
    return count


def export_warc(archive: OpenArchive, selection: Selection, out: Path) -> int:
    """One .warc.gz of the selected captures, with their requests and metadata, as stored.

    A revisit takes the record along that holds its payload, so the file can stand alone, and gets
    the form that other programs replay (asof.warc.revisit).
    """
    wanted = None if selection.everything else _with_sources(archive, selection)
    count = 0
    with output_file(out) as file:
        for segment in archive.segments():
            path = path_of(archive.folder.warc, segment.file)
            for record in scan(path, end=segment.committed):
                if isinstance(record, Damage) or not (wanted is None or _belongs(record, wanted)):
                    continue
                capture = derive(record)
                better = None if capture is None else _replayable(archive, record, capture)
                if better is None:
                    _copy_record(record, path, file)
                else:
                    file.writelines(member(better))
                count += capture is not None
    return count


def _replayable(
    archive: OpenArchive, record: StoredRecord, capture: Capture
) -> StoredRecord | None:
    """A revisit in the form that other programs replay; None for one that has it, or never can."""
    if capture.kind != "revisit":
        return None
    seen = archive.catalog.observation(capture)
    source, held = seen.source, _shown_by(seen)
    if source is None or held is None:
        return None
    if held is capture:
        return _as_response(archive, record, source)
    confirms = is_304(capture)
    if held is source and replays_elsewhere(record, is_304=confirms):
        return None
    named = Referent(held.url, held.at, record_uri(held.record_id))
    at = capture.refers_to_at
    meant = named if at is None else Referent(capture.refers_to_url or capture.url, at)
    return replayable(record, named, meant, source.digest or "" if confirms else "")


def _shown_by(seen: Observation) -> Capture | None:
    """Whose head and payload stand for a revisit: the record that has the payload or, where that
    is of another kind, what the URL itself said, which then gets the payload where it goes.
    """
    source, answer = seen.source, seen.answer
    if source is None or answer is None:
        return source
    said = answer.status, answer.media_type, answer.redirect
    return source if may_revisit(*said, source) else answer


def _as_response(
    archive: OpenArchive, revisit: StoredRecord, source: Capture
) -> StoredRecord | None:
    """A revisit with the payload of another record, if that is not too large to hold."""
    held = read_record(path_of(archive.folder.warc, source.where.file), source.where.offset)
    if held.data is None:
        return None
    return as_response(revisit, held.data[len(stored_head(held, source).raw) :])


def _with_sources(archive: OpenArchive, selection: Selection) -> set[str]:
    wanted: set[str] = set()
    for capture in chain(selection.captures(archive), selection.apart(archive)):
        seen = archive.catalog.observation(capture)
        shown = (capture, seen.source, _shown_by(seen))
        wanted.update(own_id(each.record_id) for each in shown if each is not None)
    return wanted


def _belongs(record: StoredRecord, wanted: set[str]) -> bool:
    """A selected record, or one made in the same exchange (WARC 1.1 section 5.11)."""
    capture = derive(record)
    if capture is not None:
        return capture.record_id in wanted
    # Record ids as the catalog has them: without brackets and `urn:uuid:`.
    partners = record.header.get_all("WARC-Concurrent-To")
    return any(id_.strip().strip("<>").removeprefix("urn:uuid:") in wanted for id_ in partners)


def _copy_record(record: StoredRecord, path: Path, out: BinaryIO) -> None:
    """Byte for byte where the record is a gzip member already, packed anew elsewhere."""
    if not path.name.endswith(".gz"):
        out.writelines(member(record))
        return
    length = record.where.length
    with path.open("rb") as source:
        source.seek(record.where.offset)
        while length > 0 and (chunk := source.read(min(length, 1 << 20))):
            out.write(chunk)
            length -= len(chunk)


def export_parquet(archive: OpenArchive, selection: Selection, out: Path) -> int:
    return write_parquet(selection.captures(archive), out)


def export_trec(archive: OpenArchive, selection: Selection, out: Path) -> int:
    """TREC-Web documents (Naumann 2011, slide 69), one for each capture with a payload."""
    return write_trec(out, _trec_documents(archive, selection.captures(archive)))


def _trec_documents(archive: OpenArchive, captures: Iterable[Capture]) -> Iterator[TrecDocument]:
    for capture in captures:
        if capture.kind not in ("response", "revisit", "resource"):
            continue
        memento = archive.read(capture)
        yield TrecDocument(
            docno=capture.record_id,
            url=capture.url,
            ip=memento.ip,
            at=capture.at,
            media_type=memento.media_type or "",
            head=memento.head,
            payload=b"".join(memento.payload(MAX_TREC_PAYLOAD)),
        )


def _by_address(capture: Capture) -> tuple[str, str]:
    return capture.url, ""


def export_wacz(
    archive: OpenArchive,
    selection: Selection,
    out: Path,
    describe: Callable[[Capture], tuple[str, str]] = _by_address,
    sign: Sign | None = None,
) -> int:
    """A WACZ that opens in replayweb.page: the WARC files, an index, and the list of pages.

    `describe` gives the title and the text of a page; `sign` makes it a signed one.
    """
    with scratch_folder(out) as scratch:
        warcs, count = _wacz_files(archive, selection, scratch)
        write_wacz(
            out,
            warcs,
            cdxj_lines(_keyed(archive, (each for warc in warcs for _, each in _captured(warc)))),
            (
                WaczPage(page.url, title, page.at, text, is_seed)
                for page, is_seed in _pages(archive, selection)
                for title, text in [describe(page)]
            ),
            title=archive.folder.root.name,
            software=f"asof {version('asof')}",
            created=archive.clock.now(),
            sign=sign,
        )
    return count


def _pages(archive: OpenArchive, selection: Selection) -> Iterator[tuple[Capture, bool]]:
    """The HTML pages that were there, seeds first: each content that a crawl found, once."""
    seeds = {surt(seed) for crawl in archive.crawls() for seed in crawl.seeds}
    for wanted in (True, False):
        found: tuple[str, set[object]] = "", set()
        for capture in selection.captures(archive):
            if (capture.surt in seeds) is not wanted or not _may_be_page(capture):
                continue
            seen = archive.catalog.observation(capture)
            shown = seen.answer or capture
            if seen.status != HTTPStatus.OK or shown.media_type not in _HTML:
                continue
            if found[0] != capture.surt:
                found = capture.surt, set()
            version = capture.url, capture.crawl, seen.identity
            if version not in found[1]:
                found[1].add(version)
                yield capture, wanted


def _may_be_page(capture: Capture) -> bool:
    """Without asking what it refers to."""
    return capture.media_type in _HTML or (capture.kind == "revisit" and is_304(capture))


def _wacz_files(
    archive: OpenArchive, selection: Selection, scratch: Path
) -> tuple[list[Path], int]:
    """The archive's own files when all is wanted and fits; else one file of what is wanted."""
    segments = archive.segments()
    paths = [path_of(archive.folder.warc, segment.file) for segment in segments]
    whole = all(
        path.name.endswith(".warc.gz") and path.stat().st_size == segment.committed
        for path, segment in zip(paths, segments, strict=True)
    )
    if selection.everything and whole and _all_replayable(archive, paths):
        return paths, archive.catalog.count()
    packed = scratch / "selection.warc.gz"
    return [packed], export_warc(archive, selection, packed)


def _all_replayable(archive: OpenArchive, warcs: list[Path]) -> bool:
    every = (found for path in warcs for found in _captured(path))
    return all(_replayable(archive, record, capture) is None for record, capture in every)


def _keyed(archive: OpenArchive, captures: Iterable[Capture]) -> Iterator[Capture]:
    """Captures as their records say, those that are set apart under their keys."""
    apart = {(c.at, c.record_id): c.surt for c in archive.catalog.captures(apart=True)}
    for capture in captures:
        key = apart.get((capture.at, capture.record_id))
        yield capture if key is None else replace(capture, surt=key)


def _captured(path: Path) -> Iterator[tuple[StoredRecord, Capture]]:
    for found in scan(path):
        capture = derive(found) if isinstance(found, StoredRecord) else None
        if capture is not None and isinstance(found, StoredRecord):
            yield found, capture


# Each writes a file, and gives how many captures went out.
EXPORTERS: dict[str, Callable[[OpenArchive, Selection, Path], int]] = {
    "warc": export_warc,
    "cdxj": export_cdxj,
    "parquet": export_parquet,
    "trec": export_trec,
    "wacz": export_wacz,
}
