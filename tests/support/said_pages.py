"""An archive of pages in several languages and formats that say known words at known times."""

from __future__ import annotations

from pathlib import Path

from support import served_archive
from support.served_archive import Page

SITE = "http://harbour.example/"
OTHER = "https://www.other.example/"
LONG = SITE + "a-name-that-has-no-end/" * 12
NOTE = " ".join(f"note{number}" for number in range(60))


def page(title: str, text: str, language: str = "en") -> bytes:
    head = f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>{title}</title>'
    return f"{head}<nav>Home About</nav><article><p>{text}</p></article>".encode()


def text_pdf(words: str) -> bytes:
    """A PDF of one line."""
    stream = f"BT /F1 24 Tf 72 700 Td ({words}) Tj ET".encode()
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, part)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % p for p in places)
    return out + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % start


STORED = [
    Page(SITE, "2026-01-01T10:00:00Z", page("Harbour", "The ferry sails to the lighthouse.")),
    Page(SITE, "2026-02-01T10:00:00Z", page("Harbour", "The mergers of both ferries are done.")),
    Page(SITE, "2026-02-05T10:00:00Z", page("Harbour", "The mergers of both ferries are done.")),
    Page(SITE, "2026-03-01T10:00:00Z", b"no", status="503 Busy"),
    Page(SITE + "old", "2026-01-01T10:00:00Z", page("Old", "An anchor was here, by the pier.")),
    Page(SITE + "old", "2026-02-01T10:00:00Z", b"<p>gone", status="404 Not Found"),
    Page(SITE + "a.pdf", "2026-01-02T10:00:00Z", text_pdf("The anchor of the annual report"),
         "application/pdf"),
    Page(SITE + "note", "2026-01-03T10:00:00Z", page("Note", f"{NOTE} first")),
    Page(OTHER + "copy", "2026-01-04T10:00:00Z", page("Copy", f"{NOTE} second")),
    Page(OTHER + "de", "2026-01-05T10:00:00Z",
         page("Häfen", "Die Straße führt zu den alten Häusern am Leuchtturm.", "de")),
    Page(OTHER + "ja", "2026-01-05T10:00:00Z",
         page("港", "灯台は東京都の港にあります。船が出ます。", "ja")),
    Page(OTHER + "ru", "2026-01-05T10:00:00Z",
         page("Порт", "Старый маяк стоит у моря, и корабли идут домой.", "ru")),  # noqa: RUF001
    Page(OTHER + "ar", "2026-01-05T10:00:00Z",
         page("ميناء", "المنارة القديمة تقف عند البحر والسفن تعود إلى الميناء.", "ar")),
    Page(OTHER + "he", "2026-01-05T10:00:00Z",
         page("נמל", "המגדלור הישן עומד ליד הים והספינות חוזרות הביתה.", "he")),
    Page(LONG, "2026-01-06T10:00:00Z",
         page("<script>alert(1)</script>", "An endless name and &lt;b&gt;bold&lt;/b&gt; buoys.")),
    Page(SITE + "pic.png", "2026-01-06T10:00:00Z", b"\x89PNG anchor", "image/png"),
]  # fmt: skip


def build(folder: Path) -> Path:
    return served_archive.build(folder, STORED, seeds=(SITE,))
