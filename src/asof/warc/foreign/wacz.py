"""WACZ in and out: a ZIP of WARC files with an index, a list of pages and a manifest of digests.

Reading trusts nothing: members go to files that we name, sizes are bounded by the disk and by what
deflate can do, and what is wrong is reported next to what could still be had. A member whose
checksum or digest is wrong is handed on all the same: every record in it carries its own checksum,
so that a flipped bit costs one record and not the archive.

Writing follows WACZ 1.1.1: WARC files stored, not deflated, so that readers can seek in them.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from typing import BinaryIO

from asof.config import DEFAULTS, Config
from asof.errors import InputError, StorageError
from asof.model import Damage
from asof.warc.foreign.zip_reader import (
    BadEntry,
    ZipEntry,
    ZipListing,
    list_entries,
    open_zip,
    printable,
    unpack,
)

_WARC = re.compile(r"\.warc(\.gz|\.zst)?$", re.IGNORECASE)
# Deflate can do 1,032 to 1; text of real crawls stays under 100 to 1, and WARC files in a WACZ
# should not be deflated at all. Any member may unpack to so many times 64 KiB.
MAX_RATIO = 100
# Manifests are read into memory; one of this size names some 20,000 files.
_MAX_MANIFEST = 4 << 20
_MULTI = "multi-wacz-package"
_DIGESTS = ("sha256", "sha512", "sha1", "md5")


class WaczKind(Enum):
    """What a member of a WACZ is, by its name."""

    WARC = auto()
    MANIFEST = auto()
    WACZ = auto()
    OTHER = auto()  # an index, a list of pages


Digests = dict[str, tuple[str, str]]
"""What datapackage.json promises: the digest of each path as (algorithm, hex)."""


def wacz_members(path: Path) -> list[tuple[WaczKind, ZipEntry]]:
    """What a WACZ holds, in the order of the file; InputError when it is no ZIP at all."""
    entries = wacz_listing(path).entries
    return [(_kind(entry.name), entry) for entry in entries if not entry.name.endswith("/")]


def extract_warcs(
    path: Path, into: Path, config: Config = DEFAULTS
) -> Iterator[tuple[str, Path] | Damage]:
    """Each WARC file of a WACZ as (its name, a new file in `into`); what is wrong as Damage.

    The files belong to the caller, who may remove each before asking for the next.
    """
    listing = wacz_listing(path)
    into.mkdir(parents=True, exist_ok=True)
    size = path.stat().st_size
    with open_zip(path) as file:
        digests, profile, problems = read_manifest(file, listing)
        for offset, reason in (*listing.problems, *problems):
            yield Damage(str(path), inside(offset, size), reason)
        yield from _Extraction(path, file, into, digests, config).members(listing.entries)
    yield from _unkept_promises(path, listing, digests, profile)


class _Extraction:
    """One pass over the WARC members of a ZIP."""

    def __init__(
        self, path: Path, file: BinaryIO, into: Path, digests: Digests, config: Config
    ) -> None:
        self._config = config
        self._path = path
        self._file = file
        self._into = into
        self._digests = digests
        # What deflated members may unpack to, all together.
        self._budget = config.room(into)
        # Bytes of the ZIP that members may claim. Entries that share their bytes are how a small
        # file unpacks to petabytes; honest ones together cannot claim more than the file.
        self._size = self._unclaimed = path.stat().st_size
        self._seen: set[int] = set()

    def members(self, entries: tuple[ZipEntry, ...]) -> Iterator[tuple[str, Path] | Damage]:
        for entry in entries:
            if _kind(entry.name) is not WaczKind.WARC or entry.size == 0:
                continue
            claim = min(entry.packed, max(0, self._size - entry.offset))
            shared = entry.offset in self._seen or claim > self._unclaimed
            reason = "shares its bytes with another entry" if shared else self._refuse(entry)
            if reason:
                yield self._damage(entry, reason)
                continue
            self._seen.add(entry.offset)
            self._unclaimed -= claim
            if entry.method != 0:
                self._budget -= entry.size
            yield from self._extract(entry)

    def _refuse(self, entry: ZipEntry) -> str:
        if entry.is_symlink:
            return "is a symbolic link, not a file"
        if entry.method == 0:
            self._config.require_room(self._into, min(entry.size, self._size), self._path)
            return ""
        if entry.size > MAX_RATIO * max(entry.packed, 1 << 16):
            more = f"unpacks to {entry.size:,} bytes, more than {MAX_RATIO} times its size"
            return f"{more}: unzip it and import what is inside, if you trust it"
        self._config.require_room(self._into, entry.size, self._path, self._budget)
        return ""

    def _extract(self, entry: ZipEntry) -> Iterator[tuple[str, Path] | Damage]:
        algorithm, wanted = self._digests.get(entry.name, ("sha256", ""))
        digest, problem = hashlib.new(algorithm, usedforsecurity=False), ""
        target: Path | None = None
        try:
            descriptor, name = tempfile.mkstemp(prefix="wacz-", dir=self._into)
            target = Path(name)
            with open(descriptor, "wb") as out:
                try:
                    for piece in unpack(self._file, entry):
                        digest.update(piece)
                        out.write(piece)
                except BadEntry as error:
                    problem = str(error)
        except BaseException as error:
            if target is not None:
                target.unlink(missing_ok=True)
            if not isinstance(error, OSError):
                raise
            raise StorageError(
                f"A WARC file cannot be unpacked into {self._into} ({error.strerror or error}).",
                hint="Make room there and import the file again.",
            ) from error
        if not problem and wanted and digest.hexdigest() != wanted:
            problem = f"does not match its {algorithm} digest in datapackage.json"
        if problem:
            yield self._damage(entry, problem)
        if target.stat().st_size > 0:
            # The last part of its name, with nothing in it that means something to a file system.
            last = re.sub(r"[^A-Za-z0-9._-]+", "_", entry.name.rpartition("/")[2])
            yield last.lstrip(".")[-120:] or "unnamed.warc", target
        else:
            target.unlink()

    def _damage(self, entry: ZipEntry, reason: str) -> Damage:
        offset = inside(entry.offset, self._size)
        return Damage(str(self._path), offset, f"{entry.name} {reason}")


def inside(offset: int, size: int) -> int:
    """An offset for a report: those that a broken directory makes up may lie outside the file."""
    return min(max(offset, 0), size)


def wacz_listing(path: Path) -> ZipListing:
    with open_zip(path) as file:
        listing = list_entries(file)
    if not listing.entries:
        raise InputError(
            f"{path} is not a WACZ: no ZIP entry was found in it.",
            hint="Name a .wacz file, or the WARC files themselves.",
        )
    return listing


def _kind(name: str) -> WaczKind:
    lower = name.lower()
    if _WARC.search(lower):
        return WaczKind.WARC
    if lower.endswith(".wacz"):
        return WaczKind.WACZ
    is_manifest = lower in ("datapackage.json", "datapackage-digest.json", "webarchive.yaml")
    return WaczKind.MANIFEST if is_manifest else WaczKind.OTHER


def read_manifest(
    file: BinaryIO, listing: ZipListing
) -> tuple[Digests, str, list[tuple[int, str]]]:
    """What the package promises, its profile, and what is wrong with the promise itself."""
    found = {entry.name: entry for entry in reversed(listing.entries)}
    entry, seal = found.get("datapackage.json"), found.get("datapackage-digest.json")
    if entry is None:
        return {}, "", []
    text, problems = read_small(file, entry)
    package = parse_json(text)
    if not problems and package is None:
        problems.append((entry.offset, "datapackage.json is not a JSON object"))
    if seal is not None and not problems:
        promised = parse_json(read_small(file, seal)[0])
        algorithm, wanted = _digest_of(promised or {})
        if wanted and hashlib.new(algorithm, text, usedforsecurity=False).hexdigest() != wanted:
            reason = "datapackage.json does not match the digest in datapackage-digest.json"
            problems.append((seal.offset, reason))
    resources = (package or {}).get("resources")
    digests = {}
    for item in resources if isinstance(resources, list) else []:
        if isinstance(item, dict) and isinstance(item.get("path"), str):
            # WACZ 1.0 puts digest and size one level down.
            stats = item.get("stats")
            path = printable(item["path"].encode("utf-8", "replace"))
            digests[path] = _digest_of({**item, **(stats if isinstance(stats, dict) else {})})
    return digests, str((package or {}).get("profile", "")), problems


def read_small(file: BinaryIO, entry: ZipEntry) -> tuple[bytes, list[tuple[int, str]]]:
    if entry.size > _MAX_MANIFEST:
        return b"", [(entry.offset, f"{entry.name} is too large to be read")]
    try:
        return b"".join(unpack(file, entry)), []
    except BadEntry as error:
        return b"", [(entry.offset, f"{entry.name} {error}")]


def parse_json(text: bytes) -> dict[str, object] | None:
    # RecursionError: a manifest of brackets. UnicodeDecodeError is a ValueError.
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        return value if isinstance(value, dict) else None
    return None


def _digest_of(item: dict[str, object]) -> tuple[str, str]:
    """`sha256:hex` as (algorithm, hex); an empty hex where there is nothing we can check."""
    text = item.get("hash")
    if not isinstance(text, str):
        return "sha256", ""
    algorithm, _, digest = text.rpartition(":")
    algorithm = algorithm or str(item.get("hashing", "sha256"))
    return (algorithm, digest.lower()) if algorithm in _DIGESTS else ("sha256", "")


def _unkept_promises(
    path: Path, listing: ZipListing, digests: Digests, profile: str
) -> Iterator[Damage]:
    """WARC files that the manifest names and the ZIP lacks; packages of packages."""
    there = {entry.name: _kind(entry.name) for entry in listing.entries}
    named = there | {name: _kind(name) for name in digests}
    for name in digests:
        if name not in there and named[name] is WaczKind.WARC:
            yield Damage(str(path), 0, f"datapackage.json names {name}, which is not there")
    inner = [name for name, kind in named.items() if kind is WaczKind.WACZ]
    if inner or profile == _MULTI:
        some = ", ".join(inner[:3]) or "none by name"
        reason = f"this is a package of other WACZ files ({some}): import those one by one"
        yield Damage(str(path), 0, reason)
    elif WaczKind.WARC not in named.values():
        yield Damage(str(path), 0, "it holds no WARC file")
