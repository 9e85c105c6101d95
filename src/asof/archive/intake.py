"""Taking in files by other tools: WARC, ARC, WACZ and TREC-Web.

What can be read comes in, what is wrong with it is flagged and reported by file and offset, and the
same records twice add nothing. WARC files with one record a member are kept byte for byte; those
that are damaged, or uneven, are written anew record by record; others are converted to WARC 1.1.
"""

from __future__ import annotations

import filecmp
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from asof.archive.archive import OpenArchive
from asof.archive.check import NOTED
from asof.archive.folder import Folder
from asof.archive.recovery import recover
from asof.archive.scan import Batch, Progress, Spread, entered, ranges, read_range
from asof.catalog.asked import Asked, set_apart
from asof.catalog.rows import COLUMNS, Row
from asof.config import DEFAULTS, Config
from asof.errors import InputError
from asof.files import storage_errors, sync_folder
from asof.model import Damage, Segment
from asof.warc.compression import packing
from asof.warc.file_names import IMPORTED, SUFFIXES
from asof.warc.foreign.arc import read_arc
from asof.warc.foreign.detect import Format, sniff
from asof.warc.foreign.mend import mended
from asof.warc.foreign.trec import read_trec
from asof.warc.foreign.wacz import extract_warcs
from asof.warc.info import import_info
from asof.warc.record import Flag, Record
from asof.warc.write import WarcFile, member

# Rows entered at once: sorted by key, so many find their place next to one another (half the time
# of entering each range by itself), and few enough to hold.
_ROWS = 20_000
_OFFSET, _LENGTH = COLUMNS.index("offset"), COLUMNS.index("length")
# What files are called that others made.
_SUFFIXES = (*SUFFIXES, ".arc.gz", ".arc", ".wacz")


@dataclass(frozen=True, slots=True)
class Intake:
    """What became of one file. What is `flagged` is in the archive, and says what is wrong."""

    file: str
    format: str
    records: int = 0
    captures: int = 0
    added: int = 0
    stored: tuple[str, ...] = ()
    damage: tuple[Damage, ...] = ()
    flagged: tuple[Damage, ...] = ()

    def __add__(self, other: Intake) -> Intake:
        return replace(
            self, **{name: getattr(self, name) + getattr(other, name) for name in _ADDED}
        )


_ADDED = ("records", "captures", "added", "stored", "damage", "flagged")


def files_of(named: Sequence[Path]) -> list[Path]:
    """The files that are named, and of folders all WARC, ARC and WACZ files in and below them.

    Links in a folder are not followed: they may lead anywhere, and round and round.
    """
    found: list[Path] = []
    for path in named:
        if not path.is_dir():
            found.append(path)
            continue
        inside = [
            Path(parent, name)
            for parent, _, names in os.walk(path)
            for name in names
            if name.lower().endswith(_SUFFIXES) and not Path(parent, name).is_symlink()
        ]
        if not inside:
            hint = "Name the files one by one if they are called otherwise."
            what = f"{path} is a folder without WARC, ARC or WACZ files."
            raise InputError(what, hint=hint)
        found += sorted(inside)
    return found


def import_files(
    place: Folder, files: Sequence[Path], spread: Spread, progress: Progress, config: Config
) -> tuple[list[Intake], list[InputError]]:
    """Import files into an archive, made new if need be: what became of each, and the refusals.

    One that is made new does not stay if it gets nothing.
    """
    existed = place.exists()
    taken: list[Intake] = []
    refused: list[InputError] = []
    try:
        with OpenArchive.write(place.root, purpose="import") as archive:
            recover(archive)
            take = partial(take_in, archive, spread=spread, progress=progress, config=config)
            for path in files:
                try:
                    taken.append(take(path))
                except InputError as error:
                    refused.append(error)
                except KeyboardInterrupt as error:
                    before = f"; files entered before it: {len(taken):,}" if taken else ""
                    again = "Import again: nothing is stored twice."
                    error.add_note(f"Nothing of {path} was entered{before}. {again}")
                    raise
    finally:
        if not existed and place.exists() and not place.segment_files():
            place.undo()
    return taken, refused


def no_file(path: Path) -> InputError:
    """That what was named is none; an address is fetched by other commands."""
    if path.parts[:1] in (("http:",), ("https:",)):
        url = "//".join((path.parts[0], "/".join(path.parts[1:])))
        return InputError(f"{url} is not a file.", hint="Fetch it first; `asof crawl` takes sites.")
    return InputError(f"{path} is not a file.", hint="Name WARC, ARC, WACZ or TREC-Web files.")


def take_in(
    archive: OpenArchive,
    path: Path,
    *,
    spread: Spread,
    progress: Progress,
    config: Config = DEFAULTS,
) -> Intake:
    """Import one file of any known format: all that can be read of it, or nothing at all."""
    if not path.is_file():
        raise no_file(path)
    kept: list[Path] = []
    try:
        kind = sniff(path)
        taker = _Taker(archive, path, kind.value, spread, progress, config, kept)
        with archive.ledger.transaction():
            if kind is Format.WARC:
                return taker.warc(path, _label(path), str(path))
            if kind is Format.WACZ:
                return taker.wacz()
            reader = read_arc if kind is Format.ARC else read_trec
            return taker.converted(reader(path, archive.folder.spool, config), _label(path))
    except BaseException as error:
        for target in kept:
            target.unlink(missing_ok=True)
        if not isinstance(error, PermissionError):
            raise
        # The user's to mend.
        raise InputError(
            f"{path} cannot be read: {error.strerror}.", hint="Check its rights."
        ) from error


@dataclass(frozen=True, slots=True)
class _Taker:
    """One import under way, in one transaction; `_kept` are the files that it has put in place."""

    _archive: OpenArchive
    _source: Path
    _kind: str
    _spread: Spread
    _progress: Progress
    _config: Config
    _kept: list[Path]

    def warc(self, path: Path, label: str, shown: str) -> Intake:
        """A WARC file, which `path` holds: the source itself, or a member of it, `shown` so."""
        # It is named for what it holds, whatever its name said.
        target = self._archive.folder.new_segment(f"{IMPORTED}{label}", packing(path))
        before = path.stat()

        def keep() -> None:
            self._require_room(before.st_size)
            with _partial(target) as part, storage_errors(target):
                with path.open("rb") as reading, part.open("xb") as writing:
                    _copy(reading.fileno(), writing.fileno(), os.fstat(reading.fileno()).st_size)
                    os.fsync(writing.fileno())
                self._settle(part, target)
            now = path.stat()
            if (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
                raise InputError(f"{path} changed while it was read.", hint="Import it again.")

        try:
            outcome = self._enter(path, target, keep, intact=True)
        except _NotIntact as found:
            outcome = self._rewritten(path, label, found)
        return replace(
            outcome,
            damage=tuple(replace(item, file=shown) for item in outcome.damage),
            flagged=tuple(replace(item, file=shown) for item in outcome.flagged),
        )

    def wacz(self) -> Intake:
        """Every WARC in a WACZ, each under a name of ours."""
        total = Intake(str(self._source), self._kind)
        with TemporaryDirectory(dir=self._archive.folder.spool) as scratch:
            for found in extract_warcs(self._source, Path(scratch), self._config):
                if isinstance(found, Damage):
                    total += Intake("", "", damage=(found,))
                    continue
                name, path = found
                label = f"{_label(self._source)}-{_label(Path(name))}"
                total += self.warc(path, label, f"{self._source}/{name}")
                path.unlink(missing_ok=True)
        return total

    def converted(self, records: Iterator[Record | Damage], label: str) -> Intake:
        """Records of another format, written as a new WARC file."""

        def fill(part: Path) -> Iterator[Damage]:
            with WarcFile.create(part) as file:
                info = import_info(self._source.name, self._kind, self._archive.clock.now())
                file.append([info])
                for record in records:
                    if isinstance(record, Damage):
                        yield record
                        continue
                    self._require_room(0)
                    file.append([record])
                    for piece in record.block:
                        piece.discard()
                file.sync()

        outcome = self._fill(self._archive.folder.new_segment(f"{IMPORTED}{label}"), fill)
        self._progress(self._source.stat().st_size)
        return outcome

    def _rewritten(self, path: Path, label: str, first: _NotIntact) -> Intake:
        """Give every record of a file that cannot stay as it is a gzip member of its own."""
        doubtful: list[int] = []  # where records were found after damage

        def fill(part: Path) -> Iterator[Damage]:
            with storage_errors(part), part.open("xb") as out:
                for found in mended(path, segmented=first.segmented):
                    if isinstance(found, Damage):
                        yield found
                        continue
                    if Flag.AFTER_DAMAGE in (found[0].header.get("WARC-Asof-Anomalies") or ""):
                        doubtful.append(found[0].where.offset)
                    for chunk in member(*found):
                        self._require_room(len(chunk))
                        out.write(chunk)
                out.flush()
                os.fsync(out.fileno())

        outcome = self._fill(self._archive.folder.new_segment(f"{IMPORTED}{label}"), fill)
        # By their places in the file that came, not in ours.
        damage = (*outcome.damage, *first.unusable)
        flagged = first.flagged
        if doubtful:
            reason = f"found after damage: {len(doubtful):,} from here on may be forgeries"
            flagged += (Damage("", doubtful[0], f"{reason} inside of what was damaged"),)
        return replace(outcome, damage=damage, flagged=flagged)

    def _fill(self, target: Path, fill: Callable[[Path], Iterator[Damage]]) -> Intake:
        """Catalogue a new file, which `fill` writes under a temporary name, giving the damage."""
        with _partial(target) as part:
            damage = tuple(fill(part))
            outcome = self._enter(part, target, lambda: self._settle(part, target))
        return replace(outcome, damage=damage)

    def _enter(
        self, path: Path, target: Path, keep: Callable[[], None], *, intact: bool = False
    ) -> Intake:
        """Catalogue what `path` holds as `target`; `keep` puts it there before the commit.

        Nothing is kept of a file that adds nothing; one that must be `intact` and is not, is
        refused by _NotIntact.
        """
        catalog = self._archive.catalog
        rows: list[Row] = []
        twins: list[Row] = []
        seen = _Seen()
        enter = partial(catalog.add_rows, twins=twins, lies={target.name: path})
        with self._archive.ledger.attempt() as undo:
            segment = Segment(target.name, path.stat().st_size, sealed=True)
            number = catalog.put_segment(segment)
            batch: Batch
            for batch in self._spread(read_range, ranges(path)):
                seen.take(batch)
                rows += batch.rows
                if len(rows) >= _ROWS:
                    seen.added += enter(rows, number)
                    rows.clear()
                segment, number = entered(catalog, segment, batch)
                if intact:
                    self._progress(batch.source.size)
            seen.added += enter(rows, number)
            places = ((cast("int", row[at]) for at in (_OFFSET, _LENGTH)) for row in twins)
            seen.doubtful += [Damage("", at, NOTED[Flag.SAME_ID], size) for at, size in places]
            if intact and (seen.damage or seen.uneven):
                raise _NotIntact(tuple(seen.unusable), tuple(seen.doubtful), seen.segmented)
            seen.added -= set_apart(self._archive.ledger, seen.asked, path, number)
            new = seen.added or (seen.records and not seen.captures and not self._has(path))
            if new:
                keep()
            else:
                undo()
        return Intake(
            str(self._source), self._kind, seen.records, seen.captures, seen.added,
            (target.name,) if new else (), tuple(seen.unusable), tuple(seen.doubtful),
        )  # fmt: skip

    def _has(self, path: Path) -> bool:
        """Whether the archive has a file of these very bytes."""
        size = path.stat().st_size
        others = self._archive.folder.segment_files()
        return any(
            other.stat().st_size == size and filecmp.cmp(path, other, shallow=False)
            for other in others
        )

    def _settle(self, part: Path, target: Path) -> None:
        self._kept.append(target)
        with storage_errors(target):
            part.rename(target)
            sync_folder(target.parent)

    def _require_room(self, size: int) -> None:
        self._config.require_room(self._archive.folder.root, size, self._source)


@dataclass(slots=True)
class _Seen:
    """What the batches of one file held."""

    records: int = 0
    captures: int = 0
    added: int = 0
    damage: list[Damage] = field(default_factory=list)
    unusable: list[Damage] = field(default_factory=list)
    doubtful: list[Damage] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    uneven: bool = False
    segmented: bool = False

    def take(self, batch: Batch) -> None:
        self.records += batch.records
        self.captures += len(batch.rows)
        self.damage += batch.damage
        self.unusable += batch.unusable
        self.doubtful += batch.doubtful
        self.asked += batch.asked
        self.uneven = self.uneven or batch.uneven
        self.segmented = self.segmented or batch.segmented


@dataclass(eq=False)
class _NotIntact(Exception):
    """A file cannot be kept as it is: parts are damaged, or it is `uneven` (see Batch)."""

    unusable: tuple[Damage, ...]
    flagged: tuple[Damage, ...]
    segmented: bool


def _copy(source: int, target: int, length: int) -> None:
    while length:
        done = os.sendfile(target, source, None, length)
        if not done:
            return
        length -= done


@contextmanager
def _partial(target: Path) -> Iterator[Path]:
    """A temporary name beside the target that does not outlive the block."""
    part = target.with_name(target.name + ".part")
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def _label(path: Path) -> str:
    name = path.name
    for suffix in (*_SUFFIXES, ".gz", ".zst"):
        name = name.removesuffix(suffix)
    # A file name is hostile: keep letters, digits, dot, dash, underscore, and not too many.
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._-")[:80] or "unnamed"
