"""Word documents before DOCX: Word 6 to 2003 in compound files, and Word 1 and 2 without.

[MS-DOC] section 2.4.1: text lies in pieces, of one or two bytes a character, and the piece table in
the table stream says where. Word 6 and 95 have the same table in the document stream, and only if
the file was saved fast; else their text is one run. Deleted text that is still kept under change
tracking is not told from the rest.
"""

import re
import struct

from asof.text.convert.found import Found, Refused, field_links
from asof.text.convert.ole import Compound, code_page, codec, properties
from asof.text.encoding.charset import charset_of

_WORD_8 = 0x00C1  # the first version that has Unicode
_ENCRYPTED, _FAST_SAVED, _TABLE_1, _FAR_EAST = 0x0100, 0x0004, 0x0200, 0x4000
_MAX_PIECES = 1_000_000
# A field is \x13 code \x14 result \x15; codes are for machines, but links stand in them.
_FIELD = re.compile("[\x13\x14\x15]")
_SPECIAL = str.maketrans(
    {
        **dict.fromkeys("\x0b\x0d\x0e", "\n"),
        "\x07": "\t",  # the end of a cell or row
        "\x0c": "\n\n",
        "\x1e": "\u2011",
        # Signs of notes, pictures and the like; places where a word may be broken.
        **dict.fromkeys("\x01\x02\x03\x04\x05\x08\x1f\xad"),
    }
)


def fill_doc(compound: Compound, found: Found) -> None:
    """The text of a document in a compound file, with its notes, headers and boxes."""
    properties(compound, found)
    main = compound.read("WordDocument")
    if len(main) < 68:
        raise Refused("is a damaged Word document")
    fill_old_doc(main, found, compound)


def fill_old_doc(main: bytes, found: Found, compound: Compound | None = None) -> None:
    """The text of a document stream; before Word 6 it is a file of its own."""
    version, language, flags = struct.unpack_from("<2xH2xH2xH", main)
    if flags & _ENCRYPTED:
        raise Refused("is encrypted")
    if version >= _WORD_8 and compound is not None:
        name = "1Table" if flags & _TABLE_1 else "0Table"
        table = compound.read(name) or compound.read("0Table") or compound.read("1Table")
        offset, size = struct.unpack_from("<II", main, 0x01A2) if len(main) > 0x1AA else (0, 0)
        pieces = _pieces(table[offset : offset + size])
        text = _joined(main, pieces, "cp1252", wide=True) or _run(main, "cp1252")
        if not text and len(main) > 0x50 and struct.unpack_from("<I", main, 0x4C)[0] > 1:
            raise Refused("is damaged: its text is not where it should be")
    else:
        used = _codec(main, language)
        text = ""
        if flags & _FAST_SAVED and len(main) > 0x168:
            offset, size = struct.unpack_from("<II", main, 0x0160)
            text = _joined(main, _pieces(main[offset : offset + size]), used, wide=False)
        text = text or _run(main, used)
    _put(text, found)


def _codec(main: bytes, language: int) -> str:
    """The code page of a document without Unicode: by the machine, the language, or its letters."""
    if main[0x12:0x13] == b"\x01":
        return "mac-roman"
    page = code_page(language)
    if page == 1252:  # English Word wrote Russian, too; only its fonts say so
        start, end = struct.unpack_from("<II", main, 0x18)
        sample = main[start : min(end, start + 20_000)]
        high = sum(byte > 0xBF for byte in sample)
        if high > len(sample) // 4:
            return charset_of(sample, markup=False).codec
    return codec(page)


def _run(main: bytes, used: str) -> str:
    """The text of a document without a piece table: from fcMin to fcMac."""
    start, end = struct.unpack_from("<II", main, 0x18)
    return main[start:end].decode(used, "replace") if start < end else ""


def _pieces(clx: bytes) -> list[tuple[int, int, int]]:
    """The pieces as (first character, last, place), in order of the text ([MS-DOC] 2.9.38)."""
    position = 0
    while position + 3 <= len(clx) and clx[position] == 1:  # properties, which are not read
        position += 3 + int(struct.unpack_from("<H", clx, position + 1)[0])
    if position + 5 > len(clx) or clx[position] != 2:
        return []
    size = min(int(struct.unpack_from("<I", clx, position + 1)[0]), len(clx) - position - 5)
    count = min((size - 4) // 12, _MAX_PIECES)
    start = position + 5
    if count <= 0:
        return []
    characters = struct.unpack_from(f"<{count + 1}I", clx, start)
    descriptors = clx[start + 4 * (count + 1) : start + 4 + 12 * count]
    places = [place for (place,) in struct.iter_unpack("<2xI2x", descriptors)]
    return list(zip(characters, characters[1:], places, strict=False))


def _joined(main: bytes, pieces: list[tuple[int, int, int]], used: str, *, wide: bool) -> str:
    """The text of the pieces; `wide`: a bit of the place says whether it is of one or two bytes."""
    parts: list[str] = []
    room = 4 * len(main)  # pieces may overlap; a hostile file has thousands of the same one
    for first, last, place in pieces:
        length = last - first
        if length <= 0 or room < 0:
            continue
        if wide and not place & 0x40000000:
            data = main[place : place + 2 * length]
            parts.append(data.decode("utf-16-le", "replace"))
        else:
            at = (place & 0x3FFFFFFF) // 2 if wide else place
            data = main[at : at + length]
            parts.append(data.decode(used, "replace"))
        room -= len(data)
    return "".join(parts)


def _put(text: str, found: Found) -> None:
    """Text without codes of fields, which give their links."""
    shown: list[str] = []
    # Where text goes, field by field: into a code, or with a result to where the field stands.
    open_fields: list[tuple[list[str], bool]] = []
    target, position = shown, 0
    for mark in _FIELD.finditer(text):
        target.append(text[position : mark.start()])
        position = mark.end()
        if mark[0] == "\x13":
            open_fields.append((target, True))
            target = []
            continue
        if not open_fields:
            continue
        outer, in_code = open_fields.pop()
        if in_code:
            found.links(field_links("".join(target)))
            target = outer
        if mark[0] == "\x14":
            open_fields.append((outer, False))
    target.append(text[position:])
    if target is not shown:  # a code that never ends is no code
        shown.extend(target)
    found.add("".join(shown).replace("\x07\x07", "\x07\n").translate(_SPECIAL))
