"""WARC files as evidence: their sound records up to a size, as captures, and their digests.

A record whose digests do not hold is no evidence of anything, so it is left out as if it were not
there.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from asof.archive.folder import Folder
from asof.archive.scan import FileRange, Spread, ranges, told_of
from asof.catalog.asked import Asked, Requests, pairs
from asof.catalog.derive import fast_row, is_http, row, says_other, twin_id
from asof.catalog.rows import Row, capture_of
from asof.clock import Instant
from asof.coherence.certificate import Choice, FileSum
from asof.coherence.gather import Progress, only_chosen, site_of
from asof.model import Capture, Crawl, Damage
from asof.warc.digest import digest_of, parse_digest
from asof.warc.file_names import path_of
from asof.warc.info import read_crawl, read_previous
from asof.warc.reader import HEAD_REACH, block_chunks, scan_as
from asof.warc.record import Flag, StoredRecord
from asof.warc.verify import judge, sound_kind

_PIECE = 1 << 20


class Scanned:
    """What some files hold, each up to a size; `unsound` records are not among the captures.

    `owners` are the crawls that the files are of, and `missing` names files of these crawls before
    others that are here.
    """

    def __init__(
        self, warc: Path, sizes: Mapping[str, int], captures: Sequence[Capture],
        crawls: Iterable[Crawl], owners: Mapping[str, str | None], missing: Iterable[str],
        unsound: int, asked: Mapping[str, Sequence[Asked]],
    ) -> None:  # fmt: skip
        self.warc, self.sizes, self.owners = warc, sizes, owners
        self.missing, self.unsound = sorted(missing), unsound
        self._captures = captures
        self._got = [*_got(warc, captures, asked)] if asked else captures
        self._crawls = sorted(crawls, key=lambda c: (not c.imported, c.started, c.id))

    @cached_property
    def _known(self) -> frozenset[tuple[str, Instant, str]]:
        return frozenset((c.url, c.at, c.record_id) for c in self._captures)

    def holds(self, capture: Capture) -> bool:
        """Whether the record of a capture is here, wherever a copy of it was found."""
        return (capture.url, capture.at, capture.record_id) in self._known

    def crawls(self) -> Sequence[Crawl]:
        """The crawls that the files speak of, as `Catalog.crawls`."""
        return self._crawls

    def chosen(self, choice: Choice) -> Iterator[Capture]:
        return only_chosen(choice, self._got)

    def of_sites(self, sites: Collection[str]) -> Iterator[Capture]:
        return (capture for capture in self._got if site_of(capture.surt) in sites)

    def with_payloads(self, digests: Collection[str]) -> Iterator[Capture]:
        """Captures that hold these payloads."""
        return (c for c in self._captures if c.digest in digests and c.kind != "revisit")


@dataclass(frozen=True, slots=True)
class SoundPart:
    """What a range holds; where records end that speak of a crawl, and those that are not sound."""

    source: FileRange
    rows: list[Row]
    crawls: list[tuple[int, Crawl]]
    unsound: list[int]
    # The name under which the file was begun, and that of the file of its crawl before it.
    began: list[tuple[str, str]]
    asked: list[Asked]


def scan_files(
    folder: Folder, sizes: dict[str, int], spread: Spread, progress: Progress
) -> Scanned:
    """All captures of the files; a file is of the crawl that it names first."""
    work = [
        part
        for file in sorted(sizes, key=folder.is_imported)  # as `reindex` reads them
        for part in _clipped(path_of(folder.warc, file), sizes[file])
    ]
    captures: list[Capture] = []
    crawls: dict[str, Crawl] = {}
    owners: dict[str, str | None] = {}
    asked: dict[str, list[Asked]] = defaultdict(list)
    unsound = 0
    names, previous = set(sizes), set()
    for part in spread(read_sound, work):
        file = part.source.path.name
        # A record that is cut by the size would be read beyond what was hashed.
        named = [crawl for end, crawl in part.crawls if end <= sizes[file]]
        ours = {crawl.id for crawl in crawls.values() if not crawl.imported}
        first = named[0].id if named else None
        told = told_of(file, named, owners.get(file, first), ours)
        owner = owners.setdefault(file, told[0].id if told else None)
        for crawl in told:
            crawls[crawl.id] = _brought_up(crawls.get(crawl.id), crawl)
        found = [capture_of(each, file, owner) for each in part.rows]
        captures += [c for c in found if c.where.offset + c.where.length <= sizes[file]]
        unsound += sum(end <= sizes[file] for end in part.unsound)
        if part.asked:
            asked[file] += [each for each in part.asked if each.end <= sizes[file]]
        for name, before in part.began:
            names.add(name)
            previous.add(before)
        progress(part.source.size)
    captures = list(_told_apart(captures, folder.warc))
    missing = previous - names - {""}
    return Scanned(folder.warc, sizes, captures, crawls.values(), owners, missing, unsound, asked)


def _got(
    warc: Path, captures: Iterable[Capture], asked: Mapping[str, Sequence[Asked]]
) -> Iterator[Capture]:
    """The captures without those that are answers to other methods than GET."""
    urls = {(file, each.url) for file, own in asked.items() for each in own}
    answers: dict[str, list[Capture]] = defaultdict(list)
    for capture in captures:
        if is_http(capture.kind, capture.url) and (capture.where.file, capture.url) in urls:
            answers[capture.where.file].append(capture)
        else:
            yield capture
    for file, found in answers.items():
        apart = pairs(path_of(warc, file), asked[file], found)
        yield from (capture for capture in found if capture.where.offset not in apart)


def _told_apart(captures: Iterable[Capture], warc: Path) -> Iterator[Capture]:
    """The captures as the catalog calls them: two contents of one id have two names."""
    first: dict[tuple[str, Instant, str], Capture] = {}
    for capture in captures:
        known = first.setdefault((capture.surt, capture.at, capture.record_id), capture)
        if known is not capture and says_other(known, capture, warc, {}):
            noted = (*capture.anomalies, Flag.SAME_ID)
            capture = replace(capture, record_id=twin_id(capture), anomalies=noted)
        yield capture


def _brought_up(known: Crawl | None, later: Crawl) -> Crawl:
    """A later record knows more, as in the catalog (Catalog.put_crawl); but a turning point stays.

    A file that was begun after it may speak of the time before it.
    """
    old, new = None if known is None else known.coherence_plan, later.coherence_plan
    if old is None or old.turn is None or (new is not None and new.turn is not None):
        return later
    return replace(later, coherence_plan=old)


def _clipped(path: Path, size: int) -> list[FileRange]:
    found = []
    for part in ranges(path):
        end = size if part.end is None else min(part.end, size)
        if part.start < end:
            found.append(FileRange(path, part.start, end, end - part.start))
    return found


def read_sound(source: FileRange) -> SoundPart:
    """The sound records of one range; runs in a worker."""
    part, requests = SoundPart(source, [], [], [], [], []), Requests()
    records: Iterator[Row | tuple[()] | StoredRecord | Damage] = scan_as(
        source.path, _sound_row, start=source.start, end=source.end
    )
    for found in records:
        if isinstance(found, tuple):
            if found:
                part.rows.append(found)
        elif isinstance(found, StoredRecord):
            _take(found, part)
            requests.take(found)
    return replace(part, asked=requests.found())


def _take(record: StoredRecord, part: SoundPart) -> None:
    """What a record is, other than a plain response."""
    entry = row(record)
    crawl = read_crawl(record) if entry is None else None
    end = record.where.offset + record.where.length
    if entry is None and crawl is None:
        return
    if not _is_sound(record):
        part.unsound.append(end)
    elif entry is not None:
        part.rows.append(entry)
    elif crawl is not None:
        part.crawls.append((end, crawl))
        if (began := read_previous(record)) is not None:
            part.began.append(began)


def _sound_row(content: bytes | bytearray, offset: int, length: int) -> Row | tuple[()] | None:
    """The row of a plain response whose digests hold; empty for what only goes with one."""
    found = fast_row(content, offset, length)
    return found if not found or sound_kind(content) is not None else None


def _is_sound(record: StoredRecord) -> bool:
    """Whether the digests of a record hold, as far as they can be judged.

    Tools do not agree on what the payload digest of a chunked answer is taken of; where that of the
    block holds, the bytes are those that were written (asof.archive.scan).
    """
    if record.header.kind == "revisit":
        return _block_holds(record)
    verdict = judge(record)
    if not verdict.problems:
        return True
    chunked = b"chunked" in (record.data or b"")[:HEAD_REACH].lower()
    return "payload" in verdict.problems[0] and (verdict.verified > 0 or chunked)


def _block_holds(record: StoredRecord) -> bool:
    """Of a revisit: only its block is its own, the payload digest speaks of another record."""
    declared = record.header.get("WARC-Block-Digest")
    wanted = None if declared is None else parse_digest(declared)
    if wanted is None or isinstance(wanted, str):
        return wanted is None
    new, value = wanted
    return digest_of(new, block_chunks(record)) == value


def file_sums(
    folder: Folder, sizes: dict[str, int], spread: Spread, progress: Progress
) -> list[FileSum]:
    work = [FileRange(path_of(folder.warc, file), 0, size, size) for file, size in sizes.items()]
    found = []
    for item, digest in zip(work, spread(_sum, work), strict=True):
        found.append(FileSum(item.path.name, item.size, digest))
        progress(item.size)
    return found


def _sum(source: FileRange) -> str:
    """The SHA-256 of the first bytes of a file; runs in a worker."""
    digest, left = sha256(), source.size
    with source.path.open("rb") as file:
        while left and (piece := file.read(min(left, _PIECE))):
            digest.update(piece)
            left -= len(piece)
    return digest.hexdigest()
