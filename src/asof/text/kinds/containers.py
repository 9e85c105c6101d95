"""What a container holds: ZIP and OLE2 files are told apart by their members, ISO media by brand.

Everything is found by looking at bounded parts of the bytes, and whatever they say of lengths and
places is checked against what is there.
"""

import io
import re
import struct
from collections.abc import Iterator
from typing import BinaryIO

from asof.warc.foreign.zip_reader import BadEntry, ZipEntry, contents, list_entries

ZIP = "application/zip"
OLE = "application/x-ole-storage"
OLE_START = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_OOXML = "application/vnd.openxmlformats-officedocument."
# The first member of a kind decides. Templates and files with macros are read alike.
_ZIP_KINDS = (
    ("word/document", _OOXML + "wordprocessingml.document"),
    ("xl/workbook", _OOXML + "spreadsheetml.sheet"),
    ("ppt/presentation", _OOXML + "presentationml.presentation"),
    ("visio/document", "application/vnd.ms-visio.drawing.main+xml"),
    ("FixedDocSeq.fdseq", "application/oxps"),
    ("META-INF/container.xml", "application/epub+zip"),
    ("AndroidManifest.xml", "application/vnd.android.package-archive"),
    ("Index/Document.iwa", "application/vnd.apple.iwork"),
    ("doc.kml", "application/vnd.google-earth.kmz"),
    ("datapackage.json", "application/wacz"),
    ("META-INF/MANIFEST.MF", "application/java-archive"),
)
_WRITTEN = re.compile(rb"application/[A-Za-z0-9/.+-]+")
_LONGEST_TYPE = 100

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
    **dict.fromkeys((b"avif", b"avis"), "image/avif"),
    **dict.fromkeys((b"heic", b"heix"), "image/heic"),
    **dict.fromkeys((b"M4A ", b"M4B "), "audio/mp4"),
    b"mif1": "image/heif",
    b"qt  ": "video/quicktime",
    b"crx ": "image/x-canon-cr3",
}


def zip_type(data: bytes) -> str:
    """The media type of a ZIP file: what its member `mimetype` says, or what its names mean."""
    file = io.BytesIO(data)
    entries = list_entries(file, measure=False).entries
    said = next((entry for entry in entries if entry.name == "mimetype"), None)
    if said is not None and (media_type := _plain_type(file, said)) is not None:
        return media_type
    for start, media_type in _ZIP_KINDS:
        if any(entry.name.startswith(start) for entry in entries):
            return media_type
    return ZIP


def _plain_type(file: BinaryIO, entry: ZipEntry) -> str | None:
    """A media type that stands in a member by itself (ODF, EPUB)."""
    try:
        head = next(contents(file, entry), b"").strip()
    except BadEntry:
        return None
    found = _WRITTEN.fullmatch(head[:_LONGEST_TYPE])
    return found[0].decode().lower() if found else None


def ole_type(data: bytes) -> str:
    """The media type of an OLE2 file, by the streams in its root (not those of embedded files).

    Not by olefile: this is asked outside of the sandbox, and of files that break off.
    """
    names = _root_names(data)
    return next((media_type for name, media_type in _OLE_KINDS if name in names), OLE)


def _root_names(data: bytes) -> set[str]:
    if len(data) < 512:
        return set()
    shift, first = struct.unpack_from("<H", data, 0x1E)[0], struct.unpack_from("<I", data, 0x30)[0]
    if shift not in (9, 12):
        return set()
    directory = b"".join(_chain(data, 1 << shift, first))
    entries = [directory[at : at + 128] for at in range(0, len(directory) - 127, 128)]
    waiting = [struct.unpack_from("<I", root, 76)[0] for root in entries[:1]]
    names, seen = set[str](), set[int]()
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
