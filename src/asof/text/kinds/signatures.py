"""Which formats begin with which bytes (WHATWG MIME Sniffing, section 6, and others' own words)."""

from __future__ import annotations

import re

from asof.text.kinds.containers import iso_media_type, ole_type, zip_type

_STARTS = (
    (b"%PDF", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"{\\rtf", "application/rtf"),
    # Word 2 and before, Excel 2 to 4: no container yet.
    (b"\xdb\xa5\x2d\0", "application/msword"),
    (b"\x31\xbe\0\0", "application/msword"),
    (b"\xfe\x37\0\x23", "application/msword"),
    (b"\x09\0\x04\0", "application/vnd.ms-excel"),
    (b"\x09\x02\x06\0", "application/vnd.ms-excel"),
    (b"\x09\x04\x06\0", "application/vnd.ms-excel"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"BM", "image/bmp"),
    (b"\0\0\1\0", "image/x-icon"),
    (b"\0\0\2\0", "image/x-icon"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\xff\x0a", "image/jxl"),
    (b"\0\0\0\x0cJXL \r\n\x87\n", "image/jxl"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "image/jp2"),
    (b"8BPS", "image/vnd.adobe.photoshop"),
    (b"AT&TFORM", "image/vnd.djvu"),
    (b"ID3", "audio/mpeg"),
    (b"OggS\0", "application/ogg"),
    (b"fLaC", "audio/flac"),
    (b"MThd\0\0\0\6", "audio/midi"),
    (b".snd", "audio/basic"),
    (b"#!AMR", "audio/amr"),
    (b"FLV\1", "video/x-flv"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-asf"),
    (b"\0\0\1\xba", "video/mpeg"),
    (b"\0\0\1\xb3", "video/mpeg"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"OTTO", "font/otf"),
    (b"\0\1\0\0\0", "font/ttf"),
    (b"ttcf", "font/collection"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"\x1f\x9d", "application/x-compress"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"MSCF\0\0\0\0", "application/vnd.ms-cab-compressed"),
    (b"ITSF\3\0\0\0", "application/vnd.ms-htmlhelp"),
    (b"CWS", "application/x-shockwave-flash"),
    (b"FWS", "application/x-shockwave-flash"),
    (b"\0asm\1\0\0\0", "application/wasm"),
    (b"\x7fELF", "application/x-elf"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"WARC/1.", "application/warc"),
    (b"WARC/0.", "application/warc"),
    (b"!<arch>\n", "application/x-archive"),
)
_BY_FIRST: dict[int, list[tuple[bytes, str]]] = {}
for _start, _type in _STARTS:
    _BY_FIRST.setdefault(_start[0], []).append((_start, _type))

_RIFF = {b"WAVE": "audio/wav", b"AVI ": "video/avi", b"WEBP": "image/webp"}
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OLE_START = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Readers of PDF look for its begin in the first 1024 bytes (ISO 32000-1, annex H.3.4.1).
_PDF_WITHIN = 1024
_MP3_FRAME = re.compile(rb"\xff[\xe2-\xe7\xf2-\xf7\xfa\xfb][\x10-\xeb]")


def signature_type(data: bytes) -> str | None:
    """The media type that the first bytes of a binary format prove."""
    if not data:
        return None
    for start, media_type in _BY_FIRST.get(data[0], ()):
        if data.startswith(start) and _really(data, media_type):
            return media_type
    if data.startswith(_ZIP_STARTS):
        return zip_type(data)
    if data.startswith(_OLE_START):
        return ole_type(data)
    return _inner_type(data)


def _really(data: bytes, media_type: str) -> bool:
    """Two or three letters prove little: text may begin with them too."""
    if media_type == "image/bmp":
        return len(data) > 18 and data[6:10] == b"\0\0\0\0" and data[14:18].endswith(b"\0\0\0")
    if media_type == "application/x-bzip2":
        return data[3:4].isdigit() and data[4:10] == b"1AY&SY"
    if media_type == "application/x-shockwave-flash":
        return data[3:4] < b"\x40" and data[7:8] == b"\0"  # version, and length under 16 MiB
    if media_type == "audio/mpeg":
        return len(data) > 10 and data[3] < 8
    if media_type == "application/java-vm":
        return data[4:6] == b"\0\0"
    return True


def _inner_type(data: bytes) -> str | None:
    if data[4:8] == b"ftyp":
        return iso_media_type(data)
    if data.startswith((b"RIFF", b"FORM")):
        if data[8:12] in (b"AIFF", b"AIFC"):
            return "audio/aiff"
        return _RIFF.get(data[8:12])
    if data.startswith(b"\x1a\x45\xdf\xa3"):
        return "video/webm" if b"webm" in data[:64] else "video/x-matroska"
    if data[257:262] == b"ustar":
        return "application/x-tar"
    if data[34:36] == b"LP" and data[8:12] in (b"\0\0\1\0", b"\1\0\2\0", b"\2\0\2\0"):
        return "application/vnd.ms-fontobject"
    if _MP3_FRAME.match(data) and not data.startswith(b"\xff\xfe"):
        return "audio/mpeg"
    if data.startswith(b"MZ") and b"PE\0\0" in data[:1024]:
        return "application/vnd.microsoft.portable-executable"
    if b"%PDF-" in data[: _PDF_WITHIN + 5]:
        return "application/pdf"
    return None
