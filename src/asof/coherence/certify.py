"""Certificates of coherence: made from the WARC files, and checked against them alone.

Both ways read the same: the first bytes of the files that matter, up to a size that is written
down; every record whose digests hold becomes a capture, and coherence is measured of these
(asof.coherence.gather). The catalog is asked only which files matter, when a certificate is made,
and must agree with them; a check never opens it.

A record whose digests do not hold is no evidence of anything, so it is left out as if it were not
there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from asof.archive.archive import Archive
from asof.archive.folder import Folder
from asof.archive.scan import FileRange, Spread, ranges
from asof.catalog.derive import HEAD_REACH, Row, row
from asof.catalog.fast_path import swift_row
from asof.catalog.rows import capture_of
from asof.coherence.certificate import (
    MOST_BYTES,
    MOST_VALUES,
    Choice,
    Claim,
    FileSum,
    Json,
    certificate,
    certificate_text,
    differences,
    read_certificate,
    too_large,
    weight,
)
from asof.coherence.gather import (
    Catalogued,
    Gathered,
    capture_at,
    gather,
    measured,
    only_chosen,
    site_of,
)
from asof.coherence.verdict import Measurement
from asof.errors import ArchiveError, InputError, NotCaptured, UsageError
from asof.model import Capture, Crawl, Damage, Evidence
from asof.warc.atomic_file import whole_file
from asof.warc.build import read_crawl
from asof.warc.digest import digest_of, parse_digest
from asof.warc.fast_path import sound_kind
from asof.warc.reader import block_chunks, scan_as
from asof.warc.record import StoredRecord
from asof.warc.verify import judge

Progress = Callable[[int], None]

# More of what differs is not said: one wrong file can make every page differ.
MOST_DIFFERENCES = 1000

_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Rechecked:
    """What became of a certificate: what differs from the files, nothing if all holds.

    `document` is the certificate as the files give it now, None if they give none at all.
    """

    claim: Claim
    differences: tuple[str, ...]
    document: Json | None

    @property
    def ok(self) -> bool:
        """Whether the certificate holds."""
        return not self.differences

    @property
    def summary(self) -> str:
        """What the certificate says, in a line; only of use when it holds."""
        said = self.claim.document
        counts = said.get("counts")
        pages = counts.get("pages") if isinstance(counts, dict) else None
        files = len(self.claim.files)
        return f"C = {said.get('c')} as of {said.get('reference')}, {pages} pages, {files} files"


# -- making ----------------------------------------------------------------------------------------


def certify(
    archive: Archive, choice: Choice, *, spread: Spread, progress: Progress
) -> dict[str, object]:
    """The certificate of what was chosen, made from the files.

    An ArchiveError where the catalog says otherwise: then one of the two is damaged.
    """
    known = gather(Catalogued(archive), choice)
    committed = _files(archive, known)
    scanned = _scan(archive.folder, committed, spread, progress)
    sums = _sums(archive.folder, committed, spread, progress)
    try:
        found = gather(scanned, choice)
    except (NotCaptured, UsageError) as error:
        raise _disagreement(archive) from error
    measurement = measured(found)
    # The catalog does not judge digests: where some do not hold, the files know better.
    if not scanned.unsound and not _is_same(found, known) and measurement != measured(known):
        raise _disagreement(archive)
    return _document(found, measurement, sums, scanned.unsound, f"asof/{version('asof')}")


def _is_same(found: Gathered, known: Gathered) -> bool:
    """Whether the same must be measured of both; of how a crawl stands, the catalog knows more."""
    return replace(found, crawls=()) == replace(known, crawls=())


def _disagreement(archive: Archive) -> ArchiveError:
    return ArchiveError(
        f"The files of {archive.folder.root} and its catalog do not say the same.",
        hint="`asof check` shows what is damaged; `asof reindex` rebuilds the catalog.",
    )


def write_certificate(document: Json, out: Path) -> None:
    """Write a certificate, whole or not at all; not one that nobody would read."""
    size = values = 0
    with whole_file(out) as file:
        for text in certificate_text(document):
            data = text.encode()
            size += file.write(data)
            values += weight(data)
            if size > MOST_BYTES or values > MOST_VALUES:
                raise too_large(str(out))


def _files(archive: Archive, known: Gathered) -> dict[str, int]:
    """The files that matter, and how much of each is committed."""
    wanted = {capture.where.file for capture in (*known.everything, *known.elsewhere)}
    crawls = {crawl.id for crawl in known.crawls}
    return {
        segment.file: segment.committed
        for segment in sorted(archive.segments(), key=lambda segment: segment.file)
        if segment.committed and (segment.file in wanted or segment.crawl in crawls)
    }


def _document(
    found: Gathered,
    measurement: Measurement,
    sums: Sequence[FileSum],
    unsound: int,
    software: str,
) -> dict[str, object]:
    by_key = capture_at(found.everything)

    def capture(url: str, evidence: Evidence) -> Capture:
        return by_key[url, evidence.at, evidence.record_id]

    return certificate(
        measurement,
        choice=found.choice,
        crawls=found.crawls,
        until=found.until,
        files=sums,
        unsound=unsound,
        capture_of=capture,
        software=software,
    )


# -- checking --------------------------------------------------------------------------------------


def load_certificate(path: Path) -> Claim:
    """Read a certificate; an InputError where it is none or too large to be one."""
    if not path.is_file():
        raise InputError(f"{path} is not a file.", hint="Name a certificate.")
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", hint="Check it.") from error
    return read_certificate(data, str(path))


def claimed_bytes(claim: Claim) -> int:
    """How many bytes a check reads."""
    return 2 * sum(item.size for item in claim.files)


def recheck(folder: Folder, claim: Claim, *, spread: Spread, progress: Progress) -> Rechecked:
    """Make a certificate anew from the files that it names, and compare the two."""
    said: list[str] = []
    if claim.document.get("digest") != claim.digest:
        said.append(f"digest: the certificate was changed; its seal should be {claim.digest}")
    there: dict[str, int] = {}
    lost: list[FileSum] = []
    for item in sorted(claim.files, key=lambda item: item.file):
        trouble = _trouble(folder.warc / item.file, item.size)
        if trouble:
            said.append(f"files[{item.file}]: {trouble}")
            lost.append(item)
        else:
            there[item.file] = item.size
    sums = _sums(folder, there, spread, progress)
    scanned = _scan(folder, there, spread, progress)
    try:
        found = gather(scanned, claim.choice)
    except (NotCaptured, UsageError) as error:
        return Rechecked(claim, (*said, f"choice: {error.what}"), None)
    listed = sorted((*sums, *lost), key=lambda item: item.file)
    document = _document(found, measured(found), listed, scanned.unsound, claim.software)
    unsealed = {name: value for name, value in document.items() if name != "digest"}
    given = {name: value for name, value in claim.document.items() if name != "digest"}
    said += islice(differences(given, unsealed), MOST_DIFFERENCES)
    return Rechecked(claim, tuple(said), document)


def _trouble(path: Path, size: int) -> str:
    if not path.is_file():
        return "the file is missing"
    actual = path.stat().st_size
    return f"the file has {actual:,} bytes, not {size:,}" if actual < size else ""


# -- reading files ---------------------------------------------------------------------------------


class Scanned:
    """What some files hold, each up to a size; `unsound` records are not among the captures."""

    def __init__(
        self, warc: Path, captures: Sequence[Capture], crawls: Iterable[Crawl], unsound: int
    ) -> None:
        self.unsound = unsound
        self.warc = warc
        self._captures = captures
        self._crawls = sorted(crawls, key=lambda crawl: (crawl.started, crawl.id))

    def crawls(self) -> Sequence[Crawl]:
        """The crawls that the files speak of, oldest first."""
        return self._crawls

    def chosen(self, choice: Choice) -> Iterator[Capture]:
        """The captures that count."""
        return only_chosen(choice, self._captures)

    def of_sites(self, sites: Collection[str]) -> Iterator[Capture]:
        """All captures under these hosts."""
        return (capture for capture in self._captures if site_of(capture.surt) in sites)

    def with_payloads(self, digests: Collection[str]) -> Iterator[Capture]:
        """Captures that hold these payloads."""
        return (c for c in self._captures if c.digest in digests and c.kind != "revisit")


@dataclass(frozen=True, slots=True)
class _Part:
    """What a range holds; where records end that speak of a crawl, and those that are not sound."""

    source: FileRange
    rows: list[Row]
    crawls: list[tuple[int, Crawl]]
    unsound: list[int]


def _scan(folder: Folder, sizes: dict[str, int], spread: Spread, progress: Progress) -> Scanned:
    """All captures of the files; a file is of the crawl that it names first."""
    work = [part for file, size in sizes.items() for part in _clipped(folder.warc / file, size)]
    captures: list[Capture] = []
    crawls: dict[str, Crawl] = {}
    owners: dict[str, str | None] = {}
    unsound = 0
    for part in spread(_read, work):
        file = part.source.path.name
        # A record that is cut by the size would be read beyond what was hashed.
        named = [crawl for end, crawl in part.crawls if end <= sizes[file]]
        for crawl in named:
            crawls[crawl.id] = _brought_up(crawls.get(crawl.id), crawl)
        owner = owners.setdefault(file, named[0].id if named else None)
        found = [capture_of(each, file, owner) for each in part.rows]
        captures += [c for c in found if c.where.offset + c.where.length <= sizes[file]]
        unsound += sum(end <= sizes[file] for end in part.unsound)
        progress(part.source.size)
    return Scanned(folder.warc, captures, crawls.values(), unsound)


def _brought_up(known: Crawl | None, later: Crawl) -> Crawl:
    """A later record knows more, as in the catalog (Runs.put_crawl); but a turning point stays.

    A file that was begun after it may speak of the time before it.
    """
    old, new = None if known is None else known.course, later.course
    if old is None or old.turn is None or (new is not None and new.turn is not None):
        return later
    return replace(later, course=old)


def _clipped(path: Path, size: int) -> list[FileRange]:
    """The first bytes of a file in ranges."""
    found = []
    for part in ranges(path):
        end = size if part.end is None else min(part.end, size)
        if part.start < end:
            found.append(FileRange(path, part.start, end, end - part.start))
    return found


def _read(source: FileRange) -> _Part:
    """The sound records of one range; runs in a worker."""
    part = _Part(source, [], [], [])
    records: Iterator[Row | tuple[()] | StoredRecord | Damage] = scan_as(
        source.path, _sound_row, start=source.start, end=source.end
    )
    for found in records:
        if isinstance(found, tuple):
            if found:
                part.rows.append(found)
        elif isinstance(found, StoredRecord):
            _take(found, part)
    return part


def _take(record: StoredRecord, part: _Part) -> None:
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


def _sound_row(content: bytes | bytearray, offset: int, length: int) -> Row | tuple[()] | None:
    """The row of a plain response whose digests hold; empty for what only goes with one."""
    found = swift_row(content, offset, length)
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
    if wanted is None:
        return True
    if isinstance(wanted, str):
        return False
    new, value = wanted
    return digest_of(new, block_chunks(record)) == value


def _sums(
    folder: Folder, sizes: dict[str, int], spread: Spread, progress: Progress
) -> list[FileSum]:
    work = [FileRange(folder.warc / file, 0, size, size) for file, size in sizes.items()]
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
