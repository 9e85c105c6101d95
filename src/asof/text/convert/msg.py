"""Messages of Outlook (MSG): properties in streams of a compound file ([MS-OXMSG]).

A stream is named after the property and its type: __substg1.0_0037001F is the subject in Unicode.
"""

from __future__ import annotations

import re

from asof.text.convert.found import Found, Refused
from asof.text.convert.ole import Compound, codec
from asof.text.convert.within import read_within

_SUBJECT, _BODY, _HTML, _RTF = "0037", "1000", "1013", "1009"
_HEADERS = (("From", "0c1a"), ("To", "0e04"), ("Cc", "0e03"), ("Subject", _SUBJECT))
_ATTACHED = re.compile(r"(__attach_version1\.0_#[0-9a-f]+)/__substg1\.0_37(?:07|04)00(1f|1e)")


def fill_msg(compound: Compound, found: Found) -> None:
    """The main headers, the text and the names of what is attached."""
    for label, number in _HEADERS:
        value = _string(compound, number)
        if value:
            found.line(f"{label}: {value}")
    found.line()
    found.title = _string(compound, _SUBJECT) or None
    text = _string(compound, _BODY)
    html = compound.read(f"__substg1.0_{_HTML}0102")
    if text.strip():
        found.paragraph(text)
    if html:
        page = read_within(html, "text/html")
        found.links(page.links)
        if not text.strip():
            found.paragraph(page.text)
    elif not text.strip():
        rtf = unpacked_rtf(compound.read(f"__substg1.0_{_RTF}0102"))
        if rtf:
            page = read_within(rtf, "application/rtf")
            found.paragraph(page.text)
            found.links(page.links)
    seen: set[str] = set()
    for name in sorted(compound.names):
        match = _ATTACHED.fullmatch(name)
        if match is not None and match[1] not in seen:
            seen.add(match[1])
            used = "utf-16-le" if match[2] == "1f" else "cp1252"
            found.line(compound.read(name).decode(used, "replace"))


def _string(compound: Compound, number: str) -> str:
    wide = compound.read(f"__substg1.0_{number}001F")
    if wide:
        return wide.decode("utf-16-le", "replace").rstrip("\0")
    return compound.read(f"__substg1.0_{number}001E").decode(codec(1252), "replace").rstrip("\0")


# What the dictionary of compressed RTF holds at the start ([MS-OXRTFCP] 2.1.2.1).
_START = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern "
    b"\\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0"
    b"\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_MAX_RTF = 32 << 20


def unpacked_rtf(data: bytes) -> bytes:
    """The RTF of a message, which is packed by a method of its own ([MS-OXRTFCP] 2.2)."""
    if len(data) < 16:
        return b""
    size, kind = int.from_bytes(data[4:8], "little"), data[8:12]
    if kind == b"MELA":
        return data[16 : 16 + size]
    if kind != b"LZFu":
        raise Refused("has a body that is packed in an unknown way")
    window = bytearray(_START.ljust(4096, b"\0"))
    out = bytearray()
    write, position = len(_START), 16
    while position < len(data) and len(out) < min(size, _MAX_RTF):
        control = data[position]
        position += 1
        for bit in range(8):
            if not control >> bit & 1:
                piece = data[position : position + 1]
                position += 1
            else:
                token = int.from_bytes(data[position : position + 2], "big")
                position += 2
                start, length = token >> 4, (token & 0xF) + 2
                if start == write % 4096 or not token:
                    return bytes(out)
                piece = bytes(_copied(window, start, length, write))
            for byte in piece:
                window[write % 4096] = byte
                write += 1
            out += piece
            if not piece:
                return bytes(out)
    return bytes(out)


def _copied(window: bytearray, start: int, length: int, write: int) -> bytearray:
    """A stretch of the window, which may run into what it is writing."""
    piece = bytearray()
    for step in range(length):
        at = (start + step) % 4096
        behind = (at - write) % 4096
        piece.append(piece[behind] if behind < len(piece) else window[at])
    return piece
