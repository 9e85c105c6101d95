"""A site that lived: pages that stay, change, move, go and fail, over half a year."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from support import served_archive
from support.served_archive import Page

SITE = "http://site.example/"
MONTHS = ("01", "02", "03", "04", "05", "06")
# What becomes of pages: how many answers there are of each kind, month by month; 0 is not asked.
FATES = {
    "news/stays.html": (200,) * 6,
    "news/changes.html": (200, 201, 201, 202, 202, 203),
    "news/later.html": (0, 0, 200, 200, 0, 200),
    "news/%D0%BD%D0%BE%D0%B2%D0%BE%D0%B5.html": (0, 200, 200, 0, 0, 0),
    "old/goes.html": (200, 200, 404, 404, 404, 404),
    "old/moves.html": (200, 301, 301, 301, 0, 301),
    "old/back.html": (200, 404, 0, 200, 200, 200),
    "old/deep/er/fails.html": (500, 500, 503, 200, 500, 200),
    "old/deep/er/never.html?id=%3Cb%3E": (500, 0, 500, 500, 0, 0),
    "": (200, 201, 202, 203, 204, 205),
}
LINES = {301: "301 Moved Permanently", 404: "404 Not Found", 500: "500 Oops", 503: "503 Busy"}


def pages() -> Iterator[Page]:
    yield Page(f"{SITE}robots.txt", "2026-01-01T09:00:00Z", b"", "text/plain")
    for number, (path, fate) in enumerate(FATES.items()):
        for month, status in zip(MONTHS, fate, strict=True):
            if status:
                at = f"2026-{month}-01T10:{number:02}:00.250000Z"
                line = LINES.get(status, "200 OK")
                headers = (("Location", SITE),) if status == 301 else ()
                yield Page(
                    f"{SITE}{path}", at, f"{path} {status}".encode(), status=line, headers=headers
                )


def build(folder: Path) -> Path:
    return served_archive.build(folder, pages(), seeds=(SITE,))
