"""Which format a foreign file has, by its content. Names and endings are not looked at."""

import re
from enum import StrEnum
from pathlib import Path
from stat import S_ISREG

from asof.errors import InputError
from asof.warc.foreign.arc import starts_arc
from asof.warc.foreign.source import ForeignFile
from asof.warc.foreign.trec import starts_trec
from asof.warc.foreign.wacz import WaczKind, wacz_members
from asof.warc.foreign.zip_reader import END, LOCAL, has_directory
from asof.warc.members import starts_record
from asof.warc.reader import scan
from asof.warc.record import StoredRecord

_START = 1 << 16
# How far into a file whose start is damaged the first whole record may lie.
_FAR = 1 << 20
# A .warc.zst whose frames share a dictionary begins with it, in a skippable frame of this number.
# Without the dictionary its frames cannot be unpacked, and nothing but WARC is packed so.
_ZSTD_DICTIONARY = b"\x5d\x2a\x4d\x18"

_WARC = re.compile(rb"(?<![A-Za-z0-9/])WARC/\d\.\d{1,2}\r{0,2}\n[A-Za-z-]{1,40}:", re.IGNORECASE)
_ARC = re.compile(rb"(?:^|\n)filedesc://\S+ \S+ \d{12,}")
_TREC = re.compile(rb"(?:^|\n)<DOC\s{0,8}>\s{0,8}<DOC(?:NO|HDR)\s{0,8}>", re.IGNORECASE)


class Format(StrEnum):
    """The formats that can be imported."""

    WARC = "warc"
    ARC = "arc"
    WACZ = "wacz"
    TREC = "trec"


def sniff(path: Path) -> Format:
    """The format of a file, through gzip or zstd around it; InputError when it has none of ours."""
    try:
        # A pipe or a device would make the reader wait for bytes that never come.
        problem = "" if S_ISREG(path.stat().st_mode) else "is not a regular file"
    except OSError as error:
        problem = f"cannot be opened ({error.strerror})"
    if problem:
        raise InputError(f"{path} {problem}.", hint="Name a WARC, ARC, WACZ or TREC-Web file.")
    with ForeignFile(path, lambda data: _by_start(data) is not None) as source:
        if source.magic in (LOCAL, END):
            return _sniff_zip(path)
        if source.magic == _ZSTD_DICTIONARY:
            return Format.WARC
        found = _by_start(source.peek(_START))
        if found is None and has_directory(path):
            return _sniff_zip(path)  # a ZIP that has lost its start
        found = found or _sniff_further(source)
        if found is not None:
            return found
        # The WARC reader goes on past any damage.
        if source.packed and any(isinstance(each, StoredRecord) for each in scan(path, end=_FAR)):
            return Format.WARC
        if source.size == 0:
            raise InputError(f"{path} is empty.", hint="Check how it was copied.")
        inside = " inside its compression" if source.packed else ""
    raise InputError(
        f"{path} is of no known format{inside}.",
        hint="Files that can be read are WARC, ARC, WACZ and TREC-Web, plain, .gz or .zst; "
        "unpack other containers first.",
    )


def _by_start(data: bytes) -> Format | None:
    start = data.lstrip()
    if starts_record(start):
        return Format.WARC
    if starts_arc(start):
        return Format.ARC
    return Format.TREC if starts_trec(start) else None


def _sniff_further(source: ForeignFile) -> Format | None:
    """By the first record that can be found in a file whose start is damaged."""
    while True:
        window = source.peek(_FAR)
        found = [
            (match.start(), name)
            for pattern, name in ((_WARC, Format.WARC), (_ARC, Format.ARC), (_TREC, Format.TREC))
            if (match := pattern.search(window))
        ]
        if found:
            return min(found)[1]
        if len(window) == _FAR or not source.recover():
            return None
        known = _by_start(source.peek(_START))
        if known is not None:
            return known


def _sniff_zip(path: Path) -> Format:
    if any(kind is not WaczKind.OTHER for kind, _ in wacz_members(path)):
        return Format.WACZ
    raise InputError(
        f"{path} is a ZIP file, but not a WACZ: no WARC file is in it.",
        hint="Unpack it and import the files inside.",
    )
