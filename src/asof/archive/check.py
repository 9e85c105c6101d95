"""Verify every record and digest, and that catalog and files say the same."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace

from asof.archive.archive import OpenArchive
from asof.archive.scan import FileRange, Progress, Spread, is_vouched, ranges
from asof.catalog.derive import derive, is_capture
from asof.model import Capture, Damage
from asof.warc.file_names import path_of
from asof.warc.reader import read_record, scan_as
from asof.warc.record import Flag, StoredRecord
from asof.warc.verify import sound_kind, verify

NOTED = {
    Flag.CUT_SHORT: "cut short",
    Flag.WRONG_CHECKSUM: "its checksum does not hold",
    Flag.AFTER_DAMAGE: "found after damage, may be forged",
    Flag.SAME_ID: "another record of its URL, moment and id says something else",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that does not hold, and where."""

    file: str
    offset: int
    problem: str
    record_id: str | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome over all files. What was wrong in a file as it came is no problem of ours."""

    files: int
    records: int
    captures: int
    problems: tuple[Problem, ...]
    as_it_came: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class _Part:
    source: FileRange
    records: int
    captures: array[int]
    problems: list[Problem]
    wrong: list[tuple[list[Problem], Capture | None]]  # digests where a checksum holds


def check(archive: OpenArchive, *, spread: Spread, progress: Progress) -> Checked:
    """Read every committed byte once, on all cores."""
    problems: list[Problem] = []
    as_it_came: list[Problem] = []
    catalogued = archive.catalog.offsets()
    records = captures = 0
    committed = archive.committed()
    work: list[FileRange] = []
    for file, size in committed.items():
        path = path_of(archive.folder.warc, file)
        if not path.is_file():
            problems.append(Problem(file, 0, "the file is missing"))
        elif path.stat().st_size < size:
            problems.append(Problem(file, path.stat().st_size, "shorter than was committed"))
        if path.is_file():
            # What a crawl under way has not committed yet is not looked at.
            *whole, last = ranges(path)
            work += [*whole, replace(last, end=size, size=max(0, size - last.start))]
    found: dict[str, array[int]] = {file: array("Q") for file in committed}
    part: _Part
    for part in spread(_check_range, work):
        records += part.records
        captures += len(part.captures)
        problems.extend(part.problems)
        listed = set(catalogued.get(part.source.path.name, ())) if part.wrong else set()
        for bad, capture in part.wrong:
            came_so = bad[0].offset not in listed or _came_so(archive, bad, capture)
            (as_it_came if came_so else problems).extend(bad)
        found[part.source.path.name].extend(part.captures)
        progress(part.source.size)
    for file in committed:
        problems.extend(_compare(archive, file, found[file], catalogued.get(file, array("Q"))))
    problems.extend(
        Problem(path.name, 0, "in the folder, not in the catalog: run `asof reindex`")
        for path in archive.folder.segment_files()
        if path.name not in committed
    )
    problems.extend(
        Problem(path.name, 0, "is no file: nothing reads it, and it can be removed")
        for path in archive.folder.strays()
    )
    as_it_came.extend(_flagged(archive))
    return Checked(len(committed), records, captures, tuple(problems), tuple(as_it_came))


def _flagged(archive: OpenArchive) -> Iterator[Problem]:
    """What import noted besides digests, which are verified anew."""
    for capture in archive.catalog.flagged():
        flags = [flag for flag in Flag if flag in capture.anomalies and flag in NOTED]
        if flags:
            told = "; ".join(NOTED[flag] for flag in flags)
            where = capture.where
            yield Problem(where.file, where.offset, f"{told} ({capture.url})", capture.record_id)


def _check_range(source: FileRange) -> _Part:
    """Verify the records of one range; runs in a worker."""
    captures = array("Q")
    problems: list[Problem] = []
    wrong: list[tuple[list[Problem], Capture | None]] = []
    records = 0
    vouched = is_vouched(source.path)
    for found in scan_as(source.path, _sound, start=source.start, end=source.end):
        if isinstance(found, Damage):
            problems.append(Problem(found.file, found.offset, found.reason))
            continue
        records += 1
        if isinstance(found, StoredRecord):
            where, record_id = found.where, found.header.get("WARC-Record-ID")
            offset = where.offset if is_capture(found.header) else -1
            bad = [Problem(where.file, where.offset, why, record_id) for why in verify(found)]
            if vouched and bad:
                wrong.append((bad, derive(found)))
            else:
                problems += bad
        else:
            offset = found
        if offset >= 0:
            captures.append(offset)
    return _Part(source, records, captures, problems, wrong)


def _came_so(archive: OpenArchive, problems: list[Problem], capture: Capture | None) -> bool:
    """Whether the digests of a record were wrong when its file came: import saw it, or did not look
    at them. That is so for block digests: where the payload's holds, import trusts the checksum.
    """
    if capture is None or not any("payload" in each.problem for each in problems):
        return True
    return Flag.WRONG_DIGEST in (archive.catalog.anomalies(capture) or ())


def _sound(content: bytes | bytearray, offset: int, length: int) -> int | None:
    """The offset of a sound capture, -1 for another sound record, None for a closer look."""
    kind = sound_kind(content)
    if kind is None:
        return None
    return offset if kind == "response" else -1


def _compare(
    archive: OpenArchive, file: str, found: array[int], listed: array[int]
) -> list[Problem]:
    """Both ways: rows without a record, and records without a row (copies elsewhere are fine)."""
    stored, rows = set(found), set(listed)
    problems = [Problem(file, at, "in the catalog, not in the file") for at in rows - stored]
    for at in stored - rows:
        capture = derive(read_record(path_of(archive.folder.warc, file), at))
        if capture is not None and archive.catalog.anomalies(capture) is None:
            problems.append(Problem(file, at, "in the file, not in the catalog: run reindex"))
    return sorted(problems, key=lambda problem: problem.offset)
