"""The header of a stored record: `WARC/1.1`, named fields, an empty line. Tolerant and bounded."""

import re

from asof.warc.record import WarcHeader

HEADER_LIMIT = 64 << 10
"""A header that does not end within so many bytes is damage."""

_NO_HEADER = "no WARC record starts here"

_VERSIONS = {f"WARC/{version}": version for version in ("1.1", "1.0", "0.18", "0.17")}
_VERSION = re.compile(r"WARC/(\d{1,3}\.\d{1,3})", re.ASCII | re.IGNORECASE)
# A file that went through a text mode twice has CR CR LF.
_EMPTY_LINE = re.compile(rb"\r{0,2}\n\r{0,2}\n")
_LINE_END = re.compile(r"\r{0,2}\n")
# More digits than any file has bytes; int() would take minutes over a megabyte of them.
_MAX_DIGITS = 18

Parsed = tuple[WarcHeader, int, int]
"""The header, its length up to and with the empty line, and its Content-Length."""


def parse_header(data: bytes) -> Parsed | str:
    """Read the header that `data` starts with, or say why that cannot be done."""
    read = read_header(data)
    if isinstance(read, str):
        return read
    header, end = read
    size = _content_length(header)
    return size if isinstance(size, str) else (header, end, size)


def read_header(data: bytes) -> tuple[WarcHeader, int] | str:
    """The same of a header that may tell no length."""
    end = data.find(b"\r\n\r\n", 0, HEADER_LIMIT)
    header = _read_regular(data[:end]) if end >= 0 else None
    if header is not None:
        return header, end + 4
    if data[:5].upper() != b"WARC/":
        return _NO_HEADER
    found = _EMPTY_LINE.search(data, 0, HEADER_LIMIT)
    if found is None:
        if len(data) < HEADER_LIMIT:
            return "the record's header is cut short"
        return f"the record's header does not end within {HEADER_LIMIT >> 10} KiB"
    header = _read_irregular(data[: found.start()])
    return _NO_HEADER if header is None else (header, found.end())


def _read_regular(head: bytes) -> WarcHeader | None:
    """A header as nearly every tool writes it, in a few operations on all of it; None if it is odd.

    Measured on 10 fields: 4 us, against 12 us for the careful reading below.
    """
    try:
        text = head.decode()
    except UnicodeDecodeError:
        return None
    lines = text.split("\r\n")
    if text.count("\n") >= len(lines):  # a line that ends in LF alone
        return None
    version = _VERSIONS.get(lines[0])
    if version is None:
        return None
    del lines[0]
    header = WarcHeader.from_lines(version, lines)
    if header.known or not ("\n " in text or "\n\t" in text):  # no line is folded
        return header
    return None


def _read_irregular(head: bytes) -> WarcHeader | None:
    """The same for lines that end in LF, folded lines, and text that is not UTF-8."""
    try:
        text = head.decode()
    except UnicodeDecodeError:
        text = head.decode("latin-1")
    first, *lines = _LINE_END.split(text)
    version = _VERSION.fullmatch(first.rstrip(" \t"))
    if version is None:
        return None
    unfolded: list[str] = []
    for line in lines:
        if line.startswith((" ", "\t")) and unfolded:
            unfolded[-1] = f"{unfolded[-1].rstrip()} {line.strip()}"
        else:
            unfolded.append(line)
    return WarcHeader.from_lines(version[1], unfolded)


def _content_length(header: WarcHeader) -> int | str:
    values = header.get_all("Content-Length")
    if not values:
        return "Content-Length is missing"
    text = values[0]
    if len(values) > 1 and any(value != text for value in values):
        return "Content-Length is there twice and differs"
    if not (text.isascii() and text.isdigit()):
        return "Content-Length is not a number"
    if len(text) > _MAX_DIGITS:
        return "Content-Length is impossibly large"
    return int(text)
