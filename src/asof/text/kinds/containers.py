"""What a container holds: ZIP and OLE2 files are told apart by their members, ISO media by brand.

Everything is found by looking at bounded parts of the bytes; nothing is unpacked, and whatever the
bytes say of lengths and places is checked against what is there.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

ZIP = "application/zip"
OLE = "application/x-ole-storage"

_OOXML = "application/vnd.openxmlformats-officedocument."
# The first member of a kind decides. Templates and files with macros are read alike.
_ZIP_KINDS = (
    (b"word/document", _OOXML + "wordprocessingml.document"),
    (b"xl/workbook", _OOXML + "spreadsheetml.sheet"),
    (b"ppt/presentation", _OOXML + "presentationml.presentation"),
    (b"visio/document", "application/vnd.ms-visio.drawing.main+xml"),
    (b"FixedDocSeq.fdseq", "application/oxps"),
    (b"META-INF/container.xml", "application/epub+zip"),
    (b"AndroidManifest.xml", "application/vnd.android.package-archive"),
    (b"Index/Document.iwa", "application/vnd.apple.iwork"),
    (b"doc.kml", "application/vnd.google-earth.kmz"),
    (b"datapackage.json", "application/wacz"),
    (b"META-INF/MANIFEST.MF", "application/java-archive"),
)
_NEXT_HEADER = re.compile(rb"PK(?:\x01\x02|\x03\x04|\x07\x08)")
_MOST_MEMBERS = 4096
_LONGEST_NAME = 1024
_LONGEST_TYPE = 128

_OLE_KINDS = (
    ("worddocument", "application/msword"),
    ("workbook", "application/vnd.ms-excel"),
    ("book", "application/vnd.ms-excel"),
    ("powerpoint document", "application/vnd.ms-powerpoint"),
    ("visiodocument", "application/vnd.visio"),
    ("quill", "application/x-mspublisher"),
    ("__properties_version1.0", "application/vnd.ms-outlook"),
)
_MOST_SECTORS = 4096
_MOST_ENTRIES = 4096

_BRANDS = {
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heif",
    b"M4A ": "audio/mp4",
    b"M4B ": "audio/mp4",
    b"qt  ": "video/quicktime",
    b"crx ": "image/x-canon-cr3",
}


def zip_type(data: bytes) -> str:
    """The media type of a ZIP file: what its member `mimetype` says, or what its names mean."""
    names = set(_directory(data)) or {name for name, _ in _members(data)}
    if b"mimetype" in names:
        said = next(
            (_plain_type(rest) for name, rest in _members(data) if name == b"mimetype"), None
        )
        if said is not None:
            return said
    for start, media_type in _ZIP_KINDS:
        if any(name.startswith(start) for name in names):
            return media_type
    return ZIP


def _directory(data: bytes) -> Iterator[bytes]:
    """The names in the directory at the end, which knows nothing of files inside of members."""
    end = data.rfind(b"PK\x05\x06", max(0, len(data) - 65_557))
    if end < 0 or end + 22 > len(data):
        return
    size = struct.unpack_from("<I", data, end + 12)[0]
    # Counted back from its end: something may stand before the file, and shift all places in it.
    place = end - size
    for _ in range(_MOST_MEMBERS):
        if place < 0 or data[place : place + 4] != b"PK\x01\x02" or place + 46 > len(data):
            return
        length, extra, comment = struct.unpack_from("<HHH", data, place + 28)
        yield data[place + 46 : place + 46 + length]
        place += 46 + length + extra + comment


def _members(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Names of members and the bytes after them, by the signatures of their headers.

    So that a file that was cut off is known as well.
    """
    place = data.find(b"PK\x03\x04")
    for _ in range(_MOST_MEMBERS):
        if place < 0 or place + 30 > len(data):
            return
        length, extra = struct.unpack_from("<HH", data, place + 26)
        start = place + 30
        if 0 < length <= _LONGEST_NAME:
            rest = start + length + extra
            yield data[start : start + length], data[rest : rest + _LONGEST_TYPE]
        place = data.find(b"PK\x03\x04", start)


def _plain_type(content: bytes) -> str | None:
    """A media type that stands uncompressed at the begin of a member (ODF, EPUB)."""
    head = _NEXT_HEADER.split(content, maxsplit=1)[0].strip()
    if not head.startswith(b"application/") or not head.isascii() or len(head) > 100:
        return None
    text = head.decode("ascii").lower()
    return text if all(c.isalnum() or c in "/.+-" for c in text) else None


def ole_type(data: bytes) -> str:
    """The media type of an OLE2 file, by the streams in its root (not those of embedded files)."""
    names = _root_names(data)
    for name, media_type in _OLE_KINDS:
        if name in names:
            return media_type
    return OLE


def _root_names(data: bytes) -> set[str]:
    if len(data) < 512:
        return set()
    shift, first = struct.unpack_from("<H", data, 0x1E)[0], struct.unpack_from("<I", data, 0x30)[0]
    if shift not in (9, 12):
        return set()
    directory = b"".join(_chain(data, 1 << shift, first))
    entries = [directory[at : at + 128] for at in range(0, len(directory) - 127, 128)]
    names: set[str] = set()
    if not entries:
        return names
    waiting, seen = [struct.unpack_from("<I", entries[0], 76)[0]], set[int]()
    while waiting:
        number = waiting.pop()
        if number in seen or number >= min(len(entries), _MOST_ENTRIES):
            continue
        seen.add(number)
        entry = entries[number]
        length = struct.unpack_from("<H", entry, 64)[0]
        names.add(entry[: max(0, min(length, 64) - 2)].decode("utf-16-le", "replace").lower())
        waiting += struct.unpack_from("<II", entry, 68)
    return names


def _chain(data: bytes, size: int, sector: int) -> Iterator[bytes]:
    """The sectors of a chain of the file allocation table (MS-CFB, section 2.3)."""
    tables = struct.unpack_from("<109I", data, 0x4C)
    seen: set[int] = set()
    while sector < 0xFFFFFFFA and sector not in seen and len(seen) < _MOST_SECTORS:
        seen.add(sector)
        yield data[(sector + 1) * size : (sector + 2) * size]
        table, place = divmod(sector, size // 4)
        if table >= len(tables):
            return
        at = (tables[table] + 1) * size + place * 4
        if at + 4 > len(data):
            return
        (sector,) = struct.unpack_from("<I", data, at)


def iso_media_type(data: bytes) -> str:
    """The media type of a file that begins with a box `ftyp`, by its major brand."""
    brand = data[8:12]
    if brand[:2] == b"3g":
        return "video/3gpp"
    if brand in (b"mif1", b"msf1") and b"avif" in data[16:64]:
        return "image/avif"
    return _BRANDS.get(brand, "video/mp4")
