"""Messages of Outlook (MSG): properties in streams of a compound file ([MS-OXMSG]).

A stream is named after the property and its type: __substg1.0_0037001F is the subject in Unicode.
"""

import re
import struct

from asof.text.convert.found import Found, Refused
from asof.text.convert.ole import Compound, code_page, codec
from asof.text.convert.within import read_within

_SUBJECT, _BODY, _HTML, _RTF = "0037", "1000", "1013", "1009"
_WIDE, _CODE_PAGE, _LOCALE = "utf-16-le", 0x3FFD0003, 0x3FF10003
_HEADERS = (("From", "0c1a"), ("To", "0e04"), ("Cc", "0e03"), ("Subject", _SUBJECT))
_ATTACHED = re.compile(r"(__attach_version1\.0_#[0-9a-f]+)/__substg1\.0_37(?:07|04)00(1f|1e)")


def fill_msg(compound: Compound, found: Found) -> None:
    """The main headers, the text and the names of what is attached."""
    narrow = _narrow(compound.read("__properties_version1.0"))
    for label, number in _HEADERS:
        value = _string(compound, number, narrow)
        if value:
            found.line(f"{label}: {value}")
    found.line()
    found.title = _string(compound, _SUBJECT, narrow) or None
    text = _string(compound, _BODY, narrow)
    html = compound.read(f"__substg1.0_{_HTML}0102")
    if text.strip():
        found.paragraph(text)
    elif not html:
        rtf = unpacked_rtf(compound.read(f"__substg1.0_{_RTF}0102"))
        if rtf:
            found.within(read_within(rtf, "application/rtf"))
    if html:
        page = read_within(html, "text/html")
        found.links(page.links)
        if not text.strip():
            found.paragraph(page.text)
    named = {}
    for match in filter(None, map(_ATTACHED.fullmatch, sorted(compound.names))):
        named[match[1]] = match  # the short name (3704) comes before the long one (3707)
    for match in named.values():
        found.line(compound.read(match[0]).decode(_WIDE if match[2] == "1f" else narrow, "replace"))


def _narrow(properties: bytes) -> str:
    """The encoding of strings that are not in Unicode: as said, or that of the writer's Windows."""
    entries = properties[32 : len(properties) // 16 * 16]  # [MS-OXMSG] 2.4
    values = dict(struct.iter_unpack("<I4xI4x", entries))
    return codec(values.get(_CODE_PAGE) or code_page(values.get(_LOCALE, 0)))


def _string(compound: Compound, number: str, narrow: str) -> str:
    wide = compound.read(f"__substg1.0_{number}001F")
    if wide:
        return wide.decode(_WIDE, "replace").rstrip("\0")
    return compound.read(f"__substg1.0_{number}001E").decode(narrow, "replace").rstrip("\0")


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
    # The window of 4,096 bytes as the end of a line: what it holds from the start comes first.
    out = bytearray(_START.rjust(4096, b"\0"))
    position = 16
    while position < len(data) and len(out) < 4096 + min(size, _MAX_RTF):
        control = data[position]
        position += 1
        for bit in range(8):
            if control >> bit & 1:
                token = int.from_bytes(data[position : position + 2], "big")
                position += 2
                back = (len(out) + len(_START) - (token >> 4)) % 4096
                if not back or not token:
                    return bytes(out[4096:])
                for _ in range((token & 0xF) + 2):  # which may run into what it is writing
                    out.append(out[-back])
            else:
                out += data[position : position + 1]
                position += 1
    return bytes(out[4096:])
