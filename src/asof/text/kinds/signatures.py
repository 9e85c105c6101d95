"""Which formats begin with which bytes (WHATWG MIME Sniffing, section 6, and others' own words)."""

import re

from asof.text.kinds.containers import OLE_START, iso_media_type, ole_type, zip_type

# Media types, each with what its files begin with.
_STARTS: tuple[tuple[str, *tuple[bytes, ...]], ...] = (
    ("application/pdf", b"%PDF"),
    ("application/postscript", b"%!PS-Adobe-"),
    ("application/rtf", b"{\\rtf"),
    # Word 2 and before, Excel 2 to 4: no container yet.
    ("application/msword", b"\xdb\xa5\x2d\0", b"\x31\xbe\0\0", b"\xfe\x37\0\x23"),
    ("application/vnd.ms-excel", b"\x09\0\x04\0", b"\x09\x02\x06\0", b"\x09\x04\x06\0"),
    ("image/gif", b"GIF87a", b"GIF89a"),
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/bmp", b"BM"),
    ("image/x-icon", b"\0\0\1\0", b"\0\0\2\0"),
    ("image/tiff", b"II*\0", b"MM\0*"),
    ("image/jxl", b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"),
    ("image/jp2", b"\0\0\0\x0cjP  \r\n\x87\n"),
    ("image/vnd.adobe.photoshop", b"8BPS"),
    ("image/vnd.djvu", b"AT&TFORM"),
    ("audio/mpeg", b"ID3"),
    ("application/ogg", b"OggS\0"),
    ("audio/flac", b"fLaC"),
    ("audio/midi", b"MThd\0\0\0\6"),
    ("audio/basic", b".snd"),
    ("audio/amr", b"#!AMR"),
    ("video/x-flv", b"FLV\1"),
    ("video/x-ms-asf", b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"),
    ("video/mpeg", b"\0\0\1\xba", b"\0\0\1\xb3"),
    ("font/woff", b"wOFF"),
    ("font/woff2", b"wOF2"),
    ("font/otf", b"OTTO"),
    ("font/ttf", b"\0\1\0\0\0"),
    ("font/collection", b"ttcf"),
    ("application/gzip", b"\x1f\x8b\x08"),
    ("application/x-compress", b"\x1f\x9d"),
    ("application/x-bzip2", b"BZh"),
    ("application/x-xz", b"\xfd7zXZ\0"),
    ("application/zstd", b"\x28\xb5\x2f\xfd"),
    ("application/x-7z-compressed", b"7z\xbc\xaf\x27\x1c"),
    ("application/vnd.rar", b"Rar!\x1a\x07"),
    ("application/vnd.ms-cab-compressed", b"MSCF\0\0\0\0"),
    ("application/vnd.ms-htmlhelp", b"ITSF\3\0\0\0"),
    ("application/x-shockwave-flash", b"CWS", b"FWS"),
    ("application/wasm", b"\0asm\1\0\0\0"),
    ("application/x-elf", b"\x7fELF"),
    ("application/java-vm", b"\xca\xfe\xba\xbe"),
    ("application/vnd.sqlite3", b"SQLite format 3\0"),
    ("application/warc", b"WARC/1.", b"WARC/0."),
    ("application/x-archive", b"!<arch>\n"),
)
_BY_FIRST: dict[bytes, list[tuple[bytes, str]]] = {}
for _type, *_starts in _STARTS:
    for _start in _starts:
        _BY_FIRST.setdefault(_start[:1], []).append((_start, _type))

_RIFF = {b"WAVE": "audio/wav", b"AVI ": "video/avi", b"WEBP": "image/webp"}
_RIFF |= {b"AIFF": "audio/aiff", b"AIFC": "audio/aiff"}
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
# Readers of PDF look for its begin in the first 1024 bytes (ISO 32000-1, annex H.3.4.1).
_PDF_WITHIN = 1024
_MP3_FRAME = re.compile(rb"\xff[\xe2-\xe7\xf2-\xf7\xfa\xfb][\x10-\xeb]")


def signature_type(data: bytes) -> str | None:
    for start, media_type in _BY_FIRST.get(data[:1], ()):
        if data.startswith(start) and _really(data, media_type):
            return media_type
    if data.startswith(_ZIP_STARTS):
        return zip_type(data)
    if data.startswith(OLE_START):
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
