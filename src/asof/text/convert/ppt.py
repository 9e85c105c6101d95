"""PowerPoint presentations before PPTX: the text of slides and notes, in the order of the show.

[MS-PPT]: a presentation is a tree of records. Edits are appended, so that old copies of slides stay
in the file; the persist directory (2.3.4) says which are alive. Where that is lost, every text of
the stream is taken.
"""

import struct
import zlib
from collections.abc import Iterator

from asof.text.convert.found import Found, Refused, field_links
from asof.text.convert.ole import Compound, properties
from asof.text.convert.within import put_embedded
from asof.text.encoding.charset import charset_of, decoded

_DOCUMENT, _SLIDE, _NOTES, _LIST, _PERSIST = 1000, 1006, 1008, 4080, 1011
_CHARS, _BYTES, _STRING, _OUTLINE_REF = 4000, 4008, 4026, 3998
_EDIT, _DIRECTORY, _LINKS, _LINK, _COMMENT, _EDGES = 4085, 6002, 1033, 4055, 12000, 4057
_SHAPE, _PLACEHOLDER, _OBJECT = 0xF004, 3011, 4113
_CONTAINER = 0x0F
_ENCRYPTED = b"\xdf\xc4\xd1\xf3"  # the token of an encrypted presentation (2.3.2)
_MAX_EMBEDDED = 5_000
_MAX_OBJECT = 16 << 20
_DEEPEST = 64
_MAX_RECORDS = 2_000_000
_MAX_EDITS = 10_000
_UNSEEN = {0x0B: "\n", 0x0D: "\n", 0x2028: "\n"}

Record = tuple[int, int, int, int]  # type, instance, start and end of the data


def fill_ppt(compound: Compound, found: Found) -> None:
    """The text of a presentation, its notes and comments, and its links."""
    properties(compound, found)
    # A file for two versions has the newer one in a folder.
    folder = "PP97_DUALSTORAGE/" if compound.has("PP97_DUALSTORAGE/PowerPoint Document") else ""
    data = compound.read(f"{folder}PowerPoint Document")
    if not data:
        raise Refused("is a damaged presentation")
    current = compound.read(f"{folder}Current User")
    if compound.read("EncryptedSummary") or current[12:16] == _ENCRYPTED:
        raise Refused("is encrypted")
    if not data.startswith(b"\x0f\x00") and compound.has("Text_Content"):
        text = compound.read("Text_Content")  # PowerPoint 95 keeps it apart
        found.add(decoded(text, charset_of(text, markup=False)))
        return
    reading = _Reading(data, found)
    if not reading.by_directory(current):
        reading.everything()


class _Reading:
    """The records of a presentation's stream."""

    def __init__(self, data: bytes, found: Found) -> None:
        self._data = data
        self._found = found
        self._room = _MAX_RECORDS
        self._places: dict[int, int] = {}  # of the living objects, by their numbers
        self._seen: set[int] = set()

    def by_directory(self, current: bytes) -> bool:
        """Read what is alive; False if the way there is broken."""
        document = self._edits(int.from_bytes(current[16:20], "little"))
        record = self._record(self._places.get(document, -1))
        if record is None or record[0] != _DOCUMENT:
            return False
        self._links(record)
        lists = [each for each in self._children(record) if each[0] == _LIST]
        for wanted, read in ((0, self._slides), (2, self._slides), (1, self._masters)):
            for each in lists:  # slides, notes and masters
                if each[1] == wanted:
                    read(each)
        self._edges(record[2], record[3])
        self._embedded()
        return True

    def everything(self) -> None:
        """All texts of the stream, alive or not, each once."""
        seen: set[str] = set()
        for kind, instance, start, end in self._all(0, len(self._data)):
            text = self._text(kind, start, end)
            if text and text not in seen:
                seen.add(text)
                self._found.line(text)
            if kind == _LINK:
                self._link((kind, instance, start, end))

    def _edits(self, offset: int) -> int:
        """Find the living objects, as the newest edit has them (2.3.4); which is the document."""
        document = 1
        for turn in range(_MAX_EDITS):
            record = self._record(offset)
            if record is None or record[0] != _EDIT or record[3] - record[2] < 20:
                break
            previous, directory, edited = struct.unpack_from("<III", self._data, record[2] + 8)
            if turn == 0:
                document = edited
            self._directory(directory)
            if previous >= offset or previous == 0:  # edits are appended: older ones lie before
                break
            offset = previous
        return document

    def _directory(self, offset: int) -> None:
        record = self._record(offset)
        if record is None or record[0] != _DIRECTORY:
            return
        position, end = record[2], record[3]
        while position + 4 <= end:
            head = self._number(position)
            position += 4
            count = min(head >> 20, (end - position) // 4)
            places = struct.unpack_from(f"<{count}I", self._data, position)
            for number, place in enumerate(places, head & 0xFFFFF):
                self._places.setdefault(number, place)
            position += 4 * (head >> 20)

    def _slides(self, record: Record) -> None:
        """A list of slides: each by its number, followed by what the outline has of it (2.4.14)."""
        outline: list[str] = []
        number: int | None = None
        for kind, _, start, end in self._children(record):
            if kind == _PERSIST and end - start >= 4:
                self._slide(number, outline)
                outline = []
                number = self._number(start)
            else:
                text = self._text(kind, start, end)
                if text is not None:
                    outline.append(text)
        self._slide(number, outline)

    def _slide(self, number: int | None, outline: list[str]) -> None:
        if number is None or number in self._seen:
            return
        self._seen.add(number)
        used: set[int] = set()
        record = self._record(self._places.get(number, -1))
        drawn: list[str] = []
        if record is not None and record[0] in (_SLIDE, _NOTES):
            for kind, _, start, end in self._all(record[2], record[3]):
                if kind == _OUTLINE_REF and end - start >= 4:
                    index = self._number(start)
                    if index < len(outline) and index not in used:
                        used.add(index)
                        drawn.append(outline[index])
                else:
                    drawn.append(self._text(kind, start, end, inside_slide=True) or "")
        rest = [text for index, text in enumerate(outline) if index not in used]
        for text in [*rest, *drawn]:
            if text.strip() not in ("", "*"):  # a star stands for the slide's number
                self._found.line(text)
        self._found.line()

    def _text(self, kind: int, start: int, end: int, *, inside_slide: bool = False) -> str | None:
        if kind == _CHARS:
            text = self._data[start:end].decode("utf-16-le", "replace")
        elif kind == _BYTES:
            text = self._data[start:end].decode("latin-1")
        elif kind == _COMMENT and inside_slide:
            text = "\n".join(self._strings(start, end))
        else:
            return None
        return text.translate(_UNSEEN)

    def _strings(self, start: int, end: int) -> Iterator[str]:
        for kind, _, first, last in self._all(start, end):
            if kind == _STRING:
                yield self._data[first:last].decode("utf-16-le", "replace")

    def _masters(self, record: Record) -> None:
        """What stands on all slides; not the placeholders, which say "Click to edit" (2.5.3)."""
        for kind, _, start, end in self._children(record):
            if kind != _PERSIST or end - start < 4:
                continue
            master = self._record(self._places.get(self._number(start), -1))
            for each in self._all(master[2], master[3], also=_SHAPE) if master else ():
                inside = list(self._all(each[2], each[3])) if each[0] == _SHAPE else []
                if any(inner[0] == _PLACEHOLDER for inner in inside):
                    continue
                for inner_kind, _, first, last in inside:
                    text = self._text(inner_kind, first, last) or ""
                    if text.strip() not in ("", "*"):
                        self._found.line(text)

    def _embedded(self) -> None:
        """Workbooks and documents that are shown on slides (2.10.34)."""
        for place in sorted(self._places.values())[:_MAX_EMBEDDED]:
            record = self._record(place)
            if record is None or record[0] != _OBJECT:
                continue
            data = self._data[record[2] : record[3]]
            if record[1] == 1:  # packed, after its size
                try:
                    data = zlib.decompressobj().decompress(data[4:], _MAX_OBJECT)
                except zlib.error:
                    continue
            put_embedded(data, self._found)

    def _edges(self, start: int, end: int) -> None:
        """Headers and footers of slides and notes (2.4.15)."""
        seen: set[str] = set()
        for kind, _, first, last in self._all(start, end):
            if kind == _EDGES:
                seen.update(self._strings(first, last))
        for text in sorted(seen):
            self._found.line(text)

    def _links(self, document: Record) -> None:
        for each in self._children(document):
            for inner in self._children(each) if each[0] == _LINKS else ():
                if inner[0] == _LINK:
                    self._link(inner)

    def _link(self, record: Record) -> None:
        for kind, instance, start, end in self._children(record):
            if kind == _STRING and instance == 1:
                url = self._data[start:end].decode("utf-16-le", "replace")
                self._found.links(field_links(f'HYPERLINK "{url}"'))

    def _number(self, offset: int) -> int:
        return int.from_bytes(self._data[offset : offset + 4], "little")

    def _record(self, offset: int) -> Record | None:
        if offset < 0 or offset + 8 > len(self._data):
            return None
        head, kind, size = struct.unpack_from("<HHI", self._data, offset)
        return kind, head >> 4, offset + 8, min(offset + 8 + size, len(self._data))

    def _children(self, record: Record) -> Iterator[Record]:
        position, end = record[2], record[3]
        while position + 8 <= end and self._room > 0:
            self._room -= 1
            child = self._record(position)
            if child is None:
                return
            yield child
            position = child[3]

    def _all(self, start: int, end: int, also: int = 0) -> Iterator[Record]:
        """All records between two places that hold no others, and containers of the kind `also`."""
        waiting = [(start, end)]
        while waiting and self._room > 0:
            position, end = waiting.pop()
            if position + 8 > end:
                continue
            self._room -= 1
            record = self._record(position)
            if record is None:
                continue
            if record[3] < end:
                waiting.append((record[3], end))
            container = self._data[position] & 0x0F == _CONTAINER
            if not container or record[0] in (_COMMENT, _LINK, _EDGES, also):
                yield record
            if container and record[0] != _COMMENT and len(waiting) < _DEEPEST:
                waiting.append((record[2], min(record[3], end)))
