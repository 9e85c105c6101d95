"""Small documents of many formats, made by hand: the least that a reader has to understand."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType

Parts = Mapping[str, str | bytes]
_NONE: Parts = MappingProxyType({})

_TRANSITIONAL = "http://schemas.openxmlformats.org"
_STRICT = "http://purl.oclc.org/ooxml"
_TYPES = {
    "docx": "wordprocessingml.document.main+xml",
    "pptx": "presentationml.presentation.main+xml",
    "xlsx": "spreadsheetml.sheet.main+xml",
}


def zipped(parts: Parts, *, stored: Sequence[str] = ()) -> bytes:
    """A ZIP archive of these parts, in order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            kind = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(name, data, kind)
    return out.getvalue()


def rels(*relations: tuple[str, str, str], outside: Sequence[str] = ()) -> str:
    """The relations of a part as (id, kind, target); `outside` are the ids of web addresses."""
    mode = ' TargetMode="External"'
    rows = "".join(
        f'<Relationship Id="{key}" Type="{_TRANSITIONAL}/officeDocument/2006/relationships/{kind}"'
        f' Target="{target}"{mode if key in outside else ""}/>'
        for key, kind, target in relations
    )
    return (
        f'<Relationships xmlns="{_TRANSITIONAL}/package/2006/relationships">{rows}</Relationships>'
    )


def package(kind: str, main: str, parts: Parts, core: str = "") -> bytes:
    """A package of Office Open XML with its main part at `main`."""
    content = (
        f'<Types xmlns="{_TRANSITIONAL}/package/2006/content-types">'
        f'<Override PartName="/{main}" ContentType="application/vnd.openxmlformats-officedocument.'
        f'{_TYPES[kind]}"/></Types>'
    )
    properties = (
        f'<cp:coreProperties xmlns:cp="{_TRANSITIONAL}/package/2006/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
        f"{core}</cp:coreProperties>"
    )
    root = rels(("r1", "officeDocument", main), ("r2", "core-properties", "docProps/core.xml"))
    base = {"[Content_Types].xml": content, "_rels/.rels": root, "docProps/core.xml": properties}
    return zipped({**base, **parts})


def docx(body: str, *, relations: str = "", parts: Parts = _NONE, strict: bool = False) -> bytes:
    """A text document; `body` is WordprocessingML with the prefixes w, r, a, m and mc."""
    names = _STRICT if strict else _TRANSITIONAL
    word = f"{names}/{'' if strict else 'wordprocessingml/2006/'}main"
    if strict:
        word = f"{names}/wordprocessingml/main"
    document = (
        f'<?xml version="1.0"?><w:document xmlns:w="{word}" '
        f'xmlns:r="{names}/officeDocument/{"" if strict else "2006/"}relationships" '
        f'xmlns:a="{names}/drawingml/{"" if strict else "2006/"}main" '
        f'xmlns:m="{names}/officeDocument/{"" if strict else "2006/"}math" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<w:body>{body}</w:body></w:document>"
    )
    core = (
        "<dc:title>A report</dc:title><dc:language>en-GB</dc:language>"
        "<dcterms:created>2019-01-02T03:04:05Z</dcterms:created>"
        "<dcterms:modified>2020-05-06T07:08:09Z</dcterms:modified>"
    )
    own: dict[str, str | bytes] = {"word/document.xml": document, **parts}
    if relations:
        own["word/_rels/document.xml.rels"] = relations
    return package("docx", "word/document.xml", own, core)


def paragraph(*texts: str) -> str:
    """A paragraph of WordprocessingML, each text in a run of its own."""
    return "<w:p>" + "".join(f"<w:r><w:t>{text}</w:t></w:r>" for text in texts) + "</w:p>"


def slide(body: str) -> str:
    """A slide; `body` is DrawingML and PresentationML with the prefixes a, p and r."""
    return (
        f'<p:sld xmlns:p="{_TRANSITIONAL}/presentationml/2006/main" '
        f'xmlns:a="{_TRANSITIONAL}/drawingml/2006/main" '
        f'xmlns:r="{_TRANSITIONAL}/officeDocument/2006/relationships">{body}</p:sld>'
    )


def shape(text: str, placeholder: str = "") -> str:
    """A shape of a slide with one paragraph."""
    kind = f'<p:nvPr><p:ph type="{placeholder}"/></p:nvPr>' if placeholder else "<p:nvPr/>"
    return (
        f"<p:sp><p:nvSpPr>{kind}</p:nvSpPr><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p>"
        "</p:txBody></p:sp>"
    )


def pptx(slides: Sequence[str], *, order: Sequence[int] = (), parts: Parts = _NONE) -> bytes:
    """A presentation; `order` numbers the slides from 1 as they are shown."""
    shown = order or range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="s{n}"/>' for n in shown)
    main = (
        f'<p:presentation xmlns:p="{_TRANSITIONAL}/presentationml/2006/main" '
        f'xmlns:r="{_TRANSITIONAL}/officeDocument/2006/relationships">'
        f"<p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
    )
    relations = rels(
        *((f"s{n}", "slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1))
    )
    own: dict[str, str | bytes] = {
        "ppt/presentation.xml": main,
        "ppt/_rels/presentation.xml.rels": relations,
        **{f"ppt/slides/slide{n}.xml": body for n, body in enumerate(slides, 1)},
        **parts,
    }
    return package("pptx", "ppt/presentation.xml", own)


def xlsx(
    sheets: Mapping[str, str],
    *,
    strings: Sequence[str] = (),
    styles: str = "",
    since_1904: bool = False,
    parts: Parts = _NONE,
) -> bytes:
    """A workbook; each sheet is what stands inside `worksheet`, `strings` are the shared ones."""
    main = f"{_TRANSITIONAL}/spreadsheetml/2006/main"
    listed = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="s{n}"/>' for n, name in enumerate(sheets, 1)
    )
    workbook = (
        f'<workbook xmlns="{main}" xmlns:r="{_TRANSITIONAL}/officeDocument/2006/relationships">'
        f'<workbookPr date1904="{int(since_1904)}"/><sheets>{listed}</sheets></workbook>'
    )
    numbers = range(1, len(sheets) + 1)
    relations = rels(
        *((f"s{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in numbers),
        ("x1", "sharedStrings", "sharedStrings.xml"),
        ("x2", "styles", "/xl/styles.xml"),
    )
    own: dict[str, str | bytes] = {
        "xl/workbook.xml": workbook,
        "xl/_rels/workbook.xml.rels": relations,
        "xl/sharedStrings.xml": f'<sst xmlns="{main}">{"".join(strings)}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{main}">{styles}</styleSheet>',
        **{
            f"xl/worksheets/sheet{n}.xml": (
                f'<worksheet xmlns="{main}" '
                f'xmlns:r="{_TRANSITIONAL}/officeDocument/2006/relationships">{body}</worksheet>'
            )
            for n, body in zip(numbers, sheets.values(), strict=True)
        },
        **parts,
    }
    return package("xlsx", "xl/workbook.xml", own)


_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_ODF_NAMES = (
    f'xmlns:office="{_ODF}:office:1.0" xmlns:text="{_ODF}:text:1.0" xmlns:table="{_ODF}:table:1.0" '
    f'xmlns:draw="{_ODF}:drawing:1.0" xmlns:style="{_ODF}:style:1.0" xmlns:meta="{_ODF}:meta:1.0" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
_ODF_META = (
    "<office:meta><dc:title>A letter</dc:title><dc:language>de-DE</dc:language>"
    "<dc:date>2021-03-04T05:06:07</dc:date></office:meta>"
)


def odf(body: str, *, kind: str = "text", styles: str = "", parts: Parts = _NONE) -> bytes:
    """A packed OpenDocument; `body` is what stands inside `office:body`."""
    own = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": (
            f"<office:document-content {_ODF_NAMES}><office:body>{body}</office:body>"
            "</office:document-content>"
        ),
        "meta.xml": f"<office:document-meta {_ODF_NAMES}>{_ODF_META}</office:document-meta>",
        "styles.xml": f"<office:document-styles {_ODF_NAMES}>{styles}</office:document-styles>",
        "META-INF/manifest.xml": "<manifest/>",
        **parts,
    }
    return zipped(own, stored=["mimetype"])


def flat_odf(body: str) -> bytes:
    """An OpenDocument in one XML file."""
    return (
        f'<?xml version="1.0"?><office:document {_ODF_NAMES}>{_ODF_META}'
        f"<office:body>{body}</office:body></office:document>"
    ).encode()


def epub(chapters: Mapping[str, str], *, spine: Sequence[str] = (), parts: Parts = _NONE) -> bytes:
    """A book; chapters are the bodies of XHTML pages by their names."""
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters
    )
    order = "".join(f'<itemref idref="{name}"/>' for name in spine or chapters)
    package_document = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<metadata><dc:title>A book</dc:title><dc:language>fr</dc:language>"
        "<dc:date>1999-12-31</dc:date></metadata>"
        f"<manifest>{items}</manifest><spine>{order}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/content.opf"/></rootfiles></container>'
    )
    page = (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head>'
        "<title>{}</title></head><body>{}</body></html>"
    )
    own: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "OEBPS/content.opf": package_document,
        **{f"OEBPS/{name}": page.format(name, body) for name, body in chapters.items()},
        **parts,
    }
    return zipped(own, stored=["mimetype"])


# -- Compound files ---------------------------------------------------------------------------

_SECTOR, _MINI, _CUTOFF = 512, 64, 4096
_END, _FREE, _TABLE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def compound(streams: Mapping[str, bytes]) -> bytes:
    """A compound file with these streams in its root; small ones lie in the mini stream."""
    sectors: list[bytes] = []
    table: list[int] = []

    def put(data: bytes) -> int:
        if not data:
            return _END
        first = len(sectors)
        pieces = [
            data[at : at + _SECTOR].ljust(_SECTOR, b"\0") for at in range(0, len(data), _SECTOR)
        ]
        sectors.extend(pieces)
        table.extend([*range(first + 1, first + len(pieces)), _END])
        return first

    mini = b""
    mini_table: list[int] = []
    entries: list[tuple[str, int, int]] = []
    for name, data in streams.items():
        if len(data) >= _CUTOFF:
            entries.append((name, put(data), len(data)))
            continue
        first, count = len(mini_table), -(-len(data) // _MINI)
        mini += data.ljust(count * _MINI, b"\0")
        mini_table += [*range(first + 1, first + count), _END] if count else []
        entries.append((name, first if count else _END, len(data)))
    directory = _entry("Root Entry", 5, _FREE, 1 if entries else _FREE, put(mini), len(mini))
    for number, (name, first, size) in enumerate(entries, 1):
        following = number + 1 if number < len(entries) else _FREE
        directory += _entry(name, 2, following, _FREE, first, size)
    mini_start = put(struct.pack(f"<{len(mini_table)}I", *mini_table))
    directory_start = put(directory)
    table_start = len(sectors)
    count = 1
    while (len(table) + count) * 4 > count * _SECTOR:
        count += 1
    table += [_TABLE] * count
    data = struct.pack(f"<{len(table)}I", *table).ljust(count * _SECTOR, b"\xff")
    listed = [*range(table_start, table_start + count)]
    header = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII",
        *(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6),
        *(0, count, directory_start, 0, _CUTOFF, mini_start, len(mini_table), _END, 0),
    )
    header += struct.pack("<109I", *(listed + [_FREE] * (109 - count)))
    return header + b"".join(sectors) + data


def _entry(name: str, kind: int, right: int, child: int, start: int, size: int) -> bytes:
    spelled = name.encode("utf-16-le") + b"\0\0"
    return struct.pack(
        "<64sHBBIII16xI8x8xIQ",
        *(spelled, len(spelled), kind, 1, _FREE, right, child, 0, start, size),
    )


def summary(title: str) -> bytes:
    """A stream of summary information with a title and a day, 2001-02-03."""
    text = title.encode("cp1252") + b"\0"
    saved = 116_444_736_000_000_000 + 981_158_400 * 10_000_000
    values = [
        (1, struct.pack("<IHH", 2, 1252, 0)),
        (2, struct.pack("<II", 30, len(text)) + text + b"\0" * (-len(text) % 4)),
        (13, struct.pack("<IQ", 64, saved)),
    ]
    place, index, data = 8 + 8 * len(values), b"", b""
    for number, value in values:
        index += struct.pack("<II", number, place + len(data))
        data += value
    section = struct.pack("<II", place + len(data), len(values)) + index + data
    return struct.pack("<HHI16xI16xI", 0xFFFE, 0, 0, 1, 48) + section


def doc(pieces: Sequence[tuple[str, bool]], *, flags: int = 0, title: str = "Old") -> bytes:
    """A Word 97 document of pieces of text, each in one byte a character or (True) in two."""
    text, places, ends = b"", [], [0]
    base = 0x400
    for piece, wide in pieces:
        data = piece.encode("utf-16-le" if wide else "cp1252")
        at = base + len(text)
        places.append(at if wide else at * 2 | 0x40000000)
        ends.append(ends[-1] + len(piece))
        text += data
    table = struct.pack(f"<{len(ends)}I", *ends)
    table += b"".join(struct.pack("<HIH", 0, place, 0) for place in places)
    clx = b"\x01\x02\x00ab" + b"\x02" + struct.pack("<I", len(table)) + table
    head = bytearray(base)
    struct.pack_into("<HH2xH2xH", head, 0, 0xA5EC, 0xC1, 0x409, 0x200 | flags)
    struct.pack_into("<I", head, 0x4C, ends[-1])
    struct.pack_into("<II", head, 0x1A2, 16, len(clx))
    return compound(
        {
            "WordDocument": bytes(head) + text,
            "1Table": b"\0" * 16 + clx,
            "\x05SummaryInformation": summary(title),
        }
    )


def biff(kind: int, data: bytes = b"") -> bytes:
    """A record of an Excel workbook."""
    return struct.pack("<HH", kind, len(data)) + data


def xls(sheets: Mapping[str, bytes], *, shared: bytes = b"", more: bytes = b"") -> bytes:
    """A workbook of BIFF8; sheets are records, `shared` those of the strings."""
    names = {name: name.encode("utf-16-le") for name in sheets}
    sizes = sum(4 + 8 + len(data) for data in names.values())
    start = 20 + len(more) + sizes + len(shared) + 4
    listed, bodies = b"", b""
    for name, records in sheets.items():
        spelled = struct.pack("<IBBBB", start + len(bodies), 0, 0, len(name), 1) + names[name]
        listed += biff(0x85, spelled)
        bodies += _bof(0x10) + records + biff(0x0A)
    stream = _bof(5) + more + listed + shared + biff(0x0A) + bodies
    return compound({"Workbook": stream, "\x05SummaryInformation": summary("Figures")})


def _bof(kind: int) -> bytes:
    return biff(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0, 0, 0, 0))


def label(row: int, column: int, text: str) -> bytes:
    """A cell with a string of its own."""
    return biff(0x204, struct.pack("<HHHHB", row, column, 0, len(text), 0) + text.encode("latin-1"))


def atom(kind: int, data: bytes, *, instance: int = 0, container: bool = False) -> bytes:
    """A record of a PowerPoint presentation."""
    return struct.pack("<HHI", instance << 4 | (0xF if container else 0), kind, len(data)) + data


def ppt(slides: Sequence[str], *, notes: str = "", stale: str = "", link: str = "") -> bytes:
    """A presentation whose directory leads to its slides; `stale` is text of an older edit."""
    stream = atom(1006, atom(4000, stale.encode("utf-16-le")), container=True) if stale else b""
    places: list[int] = []
    lists = b""
    for number, text in enumerate([*slides, notes] if notes else slides):
        is_notes = bool(notes) and number == len(slides)
        places.append(len(stream))
        body = atom(0xF00D, atom(4008, text.encode("latin-1")), container=True)
        stream += atom(1008 if is_notes else 1006, body, container=True)
        entry = atom(1011, struct.pack("<IIIII", number + 2, 0, 0, 256 + number, 0))
        lists += atom(4080, entry, instance=2 if is_notes else 0, container=True)
    target = atom(4026, link.encode("utf-16-le"), instance=1)
    links = atom(1033, atom(4055, target, container=True), container=True) if link else b""
    document = len(stream)
    stream += atom(1000, links + lists, container=True)
    directory = len(stream)
    numbers = [document, *places]
    stream += atom(6002, struct.pack(f"<{len(numbers) + 1}I", len(numbers) << 20 | 1, *numbers))
    edit = len(stream)
    stream += atom(4085, struct.pack("<IIIIIIHH", 0, 0, 0, directory, 1, 9, 0, 0))
    current = atom(4086, struct.pack("<III", 20, 0xE391C05F, edit))
    return compound({"PowerPoint Document": stream, "Current User": current})


# -- PDF --------------------------------------------------------------------------------------


def pdf(
    pages: Sequence[str],
    *,
    title: str = "",
    link: str = "",
    packed: bool = True,
    damaged: bool = False,
) -> bytes:
    """A PDF; each page has the lines of its text. `damaged`: where objects lie is lost."""
    objects: list[bytes] = [b"", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids: list[int] = []
    for text in pages:
        lines = b" T* ".join(b"(" + _escaped(line) + b") Tj" for line in text.splitlines())
        content = b"BT /F1 12 Tf 14 TL 72 720 Td " + lines + b" ET"
        data = zlib.compress(content) if packed else content
        method = b"/Filter /FlateDecode " if packed else b""
        objects.append(b"<< %s/Length %d >>\nstream\n%s\nendstream" % (method, len(data), data))
        annotation = b""
        if link:
            objects.append(
                b"<< /Type /Annot /Subtype /Link /Rect [0 0 99 99] /A << /S /URI /URI (%s) >> >>"
                % link.encode()
            )
            annotation = b"/Annots [%d 0 R] " % len(objects)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] %s/Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (annotation, len(objects) - bool(link))
        )
        kids.append(len(objects))
    listed = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R /Lang (en-US) >>"
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (listed, len(kids))
    objects.append(b"<< /Title (%s) /ModDate (D:20220304050607Z) >>" % _escaped(title))
    out = b"%PDF-1.5\n"
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = 7 if damaged else len(out)
    rows = b"".join(b"%010d 00000 n \n" % (0 if damaged else offset) for offset in offsets)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, rows)
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (len(objects) + 1, len(objects))
    return out + b"startxref\n%d\n%%%%EOF" % start


def _escaped(text: str) -> bytes:
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
