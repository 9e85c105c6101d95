"""Writing WACZ 1.1.1: archive/, indexes/, pages/, datapackage.json and its digest, in one ZIP."""

import hashlib
import heapq
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from pathlib import Path
from typing import BinaryIO

from isal import isal_zlib

from asof.clock import Instant, iso_second, to_datetime
from asof.errors import UsageError
from asof.files import output_file, scratch_folder

VERSION = "1.1.1"
SIGNATURE_VERSION = "0.1.0"  # of wacz-auth

# Lines a block of the compressed index, as py-wacz does: one block is what a look-up unpacks.
_BLOCK_LINES = 1024
# Lines sorted in memory at a time: some 30 MB of them.
_RUN_LINES = 100_000
_GZIP = 31  # wbits for a gzip wrapper
_COPY = 1 << 20


# The signature of some bytes and the key that made it, both in base64.
Sign = Callable[[bytes], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class WaczPage:
    """An entry of the list of pages that a reader of the WACZ is offered, and searches."""

    url: str
    title: str
    ts: Instant
    text: str = ""
    seed: bool = False


def write_wacz(
    out: Path,
    warcs: Sequence[Path],
    cdxj_lines: Iterable[str],
    pages: Iterable[WaczPage],
    *,
    title: str,
    software: str,
    created: Instant,
    sign: Sign | None = None,
) -> None:
    """Write a WACZ that appears under its name when it is whole and on the disk.

    `cdxj_lines` may come in any order; their `filename` is the name of a file of `warcs`.
    The same arguments give the same bytes. With `sign` it is signed, at the moment `created`.
    """
    _check(out, warcs)
    with output_file(out) as file, zipfile.ZipFile(file, "w") as zipped:
        package = _Package(zipped, created)
        for warc in warcs:
            with warc.open("rb") as source:
                chunks = iter(lambda: source.read(_COPY), b"")
                package.add(f"archive/{warc.name}", chunks, warc.stat().st_size)
        with tempfile.TemporaryFile(dir=out.parent) as blocks:
            idx = _write_index(_sorted_lines(cdxj_lines, out), blocks)
            size = blocks.tell()
            blocks.seek(0)
            chunks = iter(lambda: blocks.read(_COPY), b"")
            package.add("indexes/index.cdx.gz", chunks, size)
        package.add("indexes/index.idx", iter(idx), deflate=True)
        # Of many pages only the first is held: the one that a reader is shown.
        listed = iter(pages)
        main = list(islice(listed, 1))
        package.add("pages/pages.jsonl", _page_lines(chain(main, listed)), deflate=True)
        package.seal(title, software, main, sign)


@dataclass(slots=True)
class _Package:
    """The ZIP under way and the manifest that grows with it."""

    _zipped: zipfile.ZipFile
    _created: Instant
    _resources: list[dict[str, object]] = field(default_factory=list)

    def add(
        self, path: str, chunks: Iterator[bytes], size: int = 0, *, deflate: bool = False
    ) -> None:
        """Write one member and note its digest; `size` tells whether it needs ZIP64."""
        digest, count = hashlib.sha256(), 0
        info = self._info(path, deflate)
        with self._zipped.open(info, "w", force_zip64=size >= 1 << 30) as member:
            for chunk in chunks:
                member.write(chunk)
                digest.update(chunk)
                count += len(chunk)
        # Frictionless Data Resource: lower case, digits and -._/ only, and no name twice.
        name = re.sub(r"[^a-z0-9._-]", "-", path.rpartition("/")[2].lower())
        taken = any(resource["name"] == name for resource in self._resources)
        self._resources.append(
            {
                "name": f"{len(self._resources)}-{name}" if taken else name,
                "path": path,
                "hash": f"sha256:{digest.hexdigest()}",
                "bytes": count,
            }
        )

    def seal(self, title: str, software: str, main: list[WaczPage], sign: Sign | None) -> None:
        """Write the manifest and its digest: the last members, since they name all others."""
        package: dict[str, object] = {
            "profile": "data-package",
            "wacz_version": VERSION,
            "title": title,
            "software": software,
            "created": iso_second(self._created),
        }
        for page in main:
            package |= {"mainPageUrl": page.url, "mainPageDate": iso_second(page.ts)}
        text = json.dumps({**package, "resources": self._resources}, indent=2).encode()
        digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
        sealing: dict[str, object] = {"path": "datapackage.json", "hash": digest}
        if sign is not None:
            signature, key = sign(digest.encode("ascii"))
            sealing["signedData"] = {
                "hash": digest, "created": package["created"], "software": software,
                "version": SIGNATURE_VERSION, "signature": signature, "publicKey": key,
            }  # fmt: skip
        self._zipped.writestr(self._info("datapackage.json", True), text)
        sealed = json.dumps(sealing, indent=2).encode()
        self._zipped.writestr(self._info("datapackage-digest.json", True), sealed)

    def _info(self, path: str, deflate: bool) -> zipfile.ZipInfo:
        moment = to_datetime(self._created)
        # ZIP knows the years 1980 to 2107 only (APPNOTE section 4.4.6).
        year = min(max(moment.year, 1980), 2107)
        date = (year, moment.month, moment.day, moment.hour, moment.minute, moment.second)
        info = zipfile.ZipInfo(path, date)
        info.compress_type = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
        info.external_attr = 0o644 << 16
        return info


def _check(out: Path, warcs: Sequence[Path]) -> None:
    names = [warc.name for warc in warcs]
    if not names:
        raise UsageError(f"{out} would hold no WARC file.", hint="Select at least one capture.")
    for name, warc in zip(names, warcs, strict=True):
        if not warc.is_file():
            raise UsageError(f"{warc} is not a file.", hint="Check the list of WARC files.")
        if not name.endswith((".warc", ".warc.gz")):
            raise UsageError(
                f"{name} cannot go into a WACZ.",
                hint="WACZ 1.1.1 takes .warc and .warc.gz files: export to WARC first.",
            )
    if len(set(names)) < len(names):
        raise UsageError("Two WARC files have one name.", hint="Rename one of them.")


def _page_lines(pages: Iterable[WaczPage]) -> Iterator[bytes]:
    # `hasText` has replayweb.page search the texts.
    yield (b'{"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": true}\n')
    for page in pages:
        moment = iso_second(page.ts)
        name = hashlib.sha256(f"{page.url} {moment}".encode("utf-8", "replace")).hexdigest()[:16]
        line: dict[str, object] = {
            "id": name, "url": page.url, "ts": moment, "title": page.title, "text": page.text
        }  # fmt: skip
        if page.seed:
            line["seed"] = True
        yield json.dumps(line).encode() + b"\n"


def _write_index(lines: Iterator[bytes], blocks: BinaryIO) -> list[bytes]:
    """Compressed blocks of sorted lines, and the lines of the index over these blocks."""
    meta = {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}
    idx = [f"!meta 0 {json.dumps(meta)}\n".encode()]
    while block := list(islice(lines, _BLOCK_LINES)):
        packer = isal_zlib.compressobj(level=2, wbits=_GZIP)
        packed = packer.compress(b"".join(block)) + packer.flush()
        digest = hashlib.sha256(packed).hexdigest()
        place = {"offset": blocks.tell(), "length": len(packed), "digest": f"sha256:{digest}"}
        key = block[0].partition(b"{")[0].strip()
        idx.append(key + b" " + json.dumps(place).encode() + b"\n")
        blocks.write(packed)
    return idx


def _sorted_lines(lines: Iterable[str], out: Path) -> Iterator[bytes]:
    """The lines in byte order, each once, however many there are: sorted runs, then a merge."""
    source = (
        line.rstrip("\n").encode("utf-8", "replace") + b"\n" for line in lines if line.strip()
    )
    runs: list[Iterable[bytes]] = []
    with scratch_folder(out) as scratch, ExitStack() as opened:
        while run := sorted(islice(source, _RUN_LINES)):
            if len(run) < _RUN_LINES and not runs:
                runs.append(run)
                break
            path = scratch / str(len(runs))
            path.write_bytes(b"".join(run))
            runs.append(opened.enter_context(path.open("rb")))
        merged = runs[0] if len(runs) == 1 else heapq.merge(*runs)
        yield from (line for line, _ in groupby(merged))
