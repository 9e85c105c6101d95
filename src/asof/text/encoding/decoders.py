"""Bytes to characters exactly as browsers do it (WHATWG Encoding, sections 8 to 14).

Python's codecs differ from the standard in undefined bytes, in some characters (`decoder_tables`)
and in where they go on after an error. Their answer is taken where it cannot differ, as they are
written in C; else the bytes are cut into the units of the standard, and each is looked up.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from functools import lru_cache

from asof.text.encoding.decoder_tables import GB18030, big5_patches
from asof.text.encoding.labels import CODECS

_BAD = "\ufffd"


def decode_as(data: bytes, name: str) -> str:
    """The text of bytes in an encoding of the standard, by its lower-case name; never fails.

    A byte order mark is a character here: taking it off is the caller's business.
    """
    special = _SPECIAL.get(name)
    if special is not None:
        return special(data)
    if name not in _FAMILIES:
        return codecs.charmap_decode(data, "replace", _single_byte(name))[0]
    odd, units, table = _family(_FAMILIES[name])
    try:
        text = data.decode(CODECS[name], "strict")
    except UnicodeDecodeError:
        pass
    else:
        if odd.search(text) is None:
            return text
    return "".join(map(table.__getitem__, units.findall(data)))


@lru_cache(maxsize=64)
def _single_byte(name: str) -> str:
    """What each of the 256 bytes means; U+FFFD where nothing is meant."""
    if name == "x-user-defined":
        return "".join(chr(byte if byte < 0x80 else byte + 0xF700) for byte in range(256))
    codec = codecs.lookup(CODECS[name])
    table = [codec.decode(bytes((byte,)), "replace")[0] for byte in range(256)]
    if name.startswith("windows-"):
        # Microsoft's tables let the controls of C1 through where they have nothing else.
        table[0x80:0xA0] = [
            chr(byte) if table[byte] == _BAD else table[byte] for byte in range(0x80, 0xA0)
        ]
    if name == "koi8-u":
        table[0xAE], table[0xBE] = "\u045e", "\u040e"
    if name == "windows-1255":
        table[0xCA] = "\u05ba"
    return "".join(table)


class _Units(dict[bytes, str]):
    """What units of bytes mean; runs of ASCII and errors need no entry."""

    def __missing__(self, unit: bytes) -> str:
        if unit.isascii():
            return unit.decode("ascii")
        # A byte of ASCII that cannot end a character was never part of it.
        return _BAD + chr(unit[-1]) if len(unit) > 1 and unit[-1] < 0x80 else _BAD


_Family = tuple[re.Pattern[str], re.Pattern[bytes], _Units]


@lru_cache(maxsize=8)
def _family(make: Callable[[], _Family]) -> _Family:
    return make()


def _pairs(codec: str, leads: range, trails: range) -> _Units:
    units = _Units()
    for lead in leads:
        for trail in trails:
            pair = bytes((lead, trail))
            text = _meaning(pair, codec)
            if text:
                units[pair] = text
    return units


def _meaning(unit: bytes, codec: str) -> str:
    """What a unit of bytes means to a codec of Python; empty if it is none."""
    try:
        return unit.decode(codec, "strict")
    except UnicodeDecodeError:
        return ""


def _big5() -> _Family:
    table = _pairs("big5hkscs", range(0x81, 0xFF), range(0x40, 0xFF))
    patches = big5_patches()
    odd = "".join({table[pair] for pair in patches if pair in table})
    table.update(patches)
    return (
        re.compile(f"[{re.escape(odd)}]"),
        re.compile(rb"[\x00-\x7f]+|[\x81-\xfe].?|.", re.DOTALL),
        table,
    )


def _euc_kr() -> _Family:
    table = _pairs("cp949", range(0x81, 0xFF), range(0x41, 0xFF))
    # Nothing is odd: where Python's codec does not fail it agrees with the standard.
    nothing = re.compile(r"(?!)")
    return nothing, re.compile(rb"[\x00-\x7f]+|[\x81-\xfe].?|.", re.DOTALL), table


def _shift_jis() -> _Family:
    table = _pairs("cp932", range(0x81, 0xFD), range(0x40, 0xFD))
    table[b"\x80"] = "\x80"
    for byte in range(0xA1, 0xE0):
        table[bytes((byte,))] = chr(0xFF61 - 0xA1 + byte)
    return (
        re.compile("[\xa0\uf8f0-\uf8f3]"),  # single bytes that are errors in browsers
        re.compile(rb"[\x00-\x7f]+|[\x81-\x9f\xe0-\xfc].?|.", re.DOTALL),
        table,
    )


def _euc_jp() -> _Family:
    table = _Units()
    for lead in range(0xA1, 0xFF):
        for trail in range(0xA1, 0xFF):
            # JIS X 0208 with the rows of NEC, which only the codec of Shift_JIS has.
            text = _meaning(_shifted(lead - 0xA1, trail - 0xA1), "cp932")
            if text:
                table[bytes((lead, trail))] = text
            triple = bytes((0x8F, lead, trail))
            text = _meaning(triple, "euc_jp")
            if text:
                table[triple] = text
    table[b"\x8f\xa2\xb7"] = "\uff5e"
    for byte in range(0xA1, 0xE0):
        table[bytes((0x8E, byte))] = chr(0xFF61 - 0xA1 + byte)
    return (
        # The tilde of JIS X 0212 is that of ASCII to Python.
        re.compile("[~\u301c\u2016\u2212\xa2\xa3\xac]"),
        re.compile(rb"[\x00-\x7f]+|\x8f[\xa1-\xfe].?|[\x8e\x8f\xa1-\xfe].?|.", re.DOTALL),
        table,
    )


def _shifted(row: int, cell: int) -> bytes:
    """The bytes in Shift_JIS of a place in JIS X 0208."""
    lead, offset = divmod(row * 94 + cell, 188)
    return bytes(
        (lead + (0x81 if lead < 0x1F else 0xC1), offset + (0x40 if offset < 0x3F else 0x41))
    )


class _Gb18030(_Units):
    """Pairs as they are, and four bytes by arithmetic."""

    def __missing__(self, unit: bytes) -> str:
        if len(unit) == 4 and not unit.isascii():
            return unit.decode("gb18030", "replace")
        return super().__missing__(unit)


def _gb18030() -> _Family:
    table = _Gb18030(_pairs("gb18030", range(0x81, 0xFF), range(0x40, 0xFF)))
    odd = "".join(unit.decode("gb18030") for unit in GB18030)
    table.update(GB18030)
    table[b"\x80"] = "\u20ac"
    for lead in range(0x81, 0xFF):  # the begin of four bytes that the end of the text cuts off
        table.update((bytes((lead, digit)), _BAD) for digit in b"0123456789")
    return re.compile(f"[{odd}]"), _GB18030_UNITS, table


# Four bytes only where they mean something; a lead byte before a digit is an error alone.
_GB18030_UNITS = re.compile(
    rb"""[\x00-\x7f]+
    |[\x81-\x83\x90-\xe2][0-9][\x81-\xfe][0-9]
    |\x84(?:0[\x81-\xfe]|1[\x81-\xa4])[0-9]
    |\xe3(?:[01][\x81-\xfe][0-9]|2[\x81-\x99][0-9]|2\x9a[0-5])
    |[\x81-\xfe][0-9][\x81-\xfe]?\Z
    |[\x81-\xfe](?=[0-9])
    |[\x81-\xfe].?
    |.""",
    re.DOTALL | re.VERBOSE,
)
_FAMILIES = {
    "big5": _big5,
    "euc-jp": _euc_jp,
    "euc-kr": _euc_kr,
    "gb18030": _gb18030,
    "gbk": _gb18030,
    "shift_jis": _shift_jis,
}

_ESCAPE = re.compile(rb"\x1b(\([BJI]|\$[@B])")
_KANJI = re.compile(rb"[\x21-\x7e](?!\x1b).?|.", re.DOTALL)
_ASCII = {
    byte: byte if byte < 0x80 and byte not in b"\x0e\x0f\x1b" else 0xFFFD for byte in range(256)
}
_SETS = {
    b"(B": _ASCII,
    b"(J": {**_ASCII, 0x5C: 0xA5, 0x7E: 0x203E},
    b"(I": {byte: byte + 0xFF40 if 0x21 <= byte <= 0x5F else 0xFFFD for byte in range(256)},
}


def _iso_2022_jp(data: bytes) -> str:
    """Between two escapes all bytes are of one set; an escape that nothing follows is an error."""
    table = _family(_euc_jp)[2]
    parts = _ESCAPE.split(data)
    text = [parts[0].decode("latin-1").translate(_ASCII)]
    idle = False  # nothing has come since the last escape
    for escape, part in zip(parts[1::2], parts[2::2], strict=True):
        if idle:
            text.append(_BAD)
        idle = not part
        if escape in _SETS:
            text.append(part.decode("latin-1").translate(_SETS[escape]))
        else:
            for unit in _KANJI.findall(part):
                high = bytes(byte | 0x80 for byte in unit) if unit.isascii() else b""
                text.append(table.get(high, _BAD) if len(unit) == 2 else _BAD)
    return "".join(text)


def _utf_16(codec: str) -> Callable[[bytes], str]:
    def decode(data: bytes) -> str:
        return data.decode(codec, "replace")

    return decode


_SPECIAL: dict[str, Callable[[bytes], str]] = {
    "utf-8": lambda data: data.decode("utf-8", "replace"),
    "utf-16le": _utf_16("utf-16-le"),
    "utf-16be": _utf_16("utf-16-be"),
    "iso-2022-jp": _iso_2022_jp,
    "replacement": lambda data: _BAD if data else "",
}
