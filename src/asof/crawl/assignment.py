"""The two files that the assignment of CS6200 2019 asks for, beside the archive.

CS6200 2019, "Assignment 1", items 2c, 2d, 4 and 10: URLsCrawled.txt lists the URLs that were
crawled, exactly one a line, and is kept up to date as each is crawled; stats.txt is written at the
end, in this format:

    Maximum size: nnnnnnn bytes
    Minimum size: mmmm bytes
    Average size: aaaaaa bytes
    Maximum depth reach: d

Where the text leaves a choice:

- A page is an answer of status 200 that is HTML, so neither redirects nor dead links nor images
  are listed. Pages are unique by URL and stand in the order in which they were captured. A page
  that a later crawl found unchanged (304) was crawled by it all the same.
- Its size is that of the document as a file: the body without transfer and content coding, which
  is what the standard library that the assignment has in mind would have counted.
- The average is rounded to whole bytes, half up: the format shows no fraction.
- The seed has depth 1 (item 3), so one more than a target's depth. Without any page all is 0.

While a crawl runs its URLs are appended one by one. At the end both files are made anew from the
archive, so they are true after crashes and resumptions, too.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from asof.archive import OpenArchive
from asof.crawl.control import replace_file
from asof.errors import DamageError, NotCaptured
from asof.files import open_plain, storage_errors
from asof.frontier.report import captured_targets
from asof.model import Capture, Crawl
from asof.text.kinds.media import PAGES

URLS = "URLsCrawled.txt"
STATS = "stats.txt"

_NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True)
class AssignmentPage:
    """A page that was crawled; `depth` is 1 for a seed."""

    url: str
    size: int
    depth: int


class AssignmentFiles:
    """The two files in a folder, while a crawl runs. `already` was crawled before a resumption."""

    def __init__(self, folder: Path, already: Iterable[str] = ()) -> None:
        self._folder = folder
        self._listed = dict.fromkeys(already)
        self._file: IO[str] | None = None

    def crawled(self, url: str) -> None:
        """A page was crawled; its line is in the file when this returns."""
        path = self._folder / URLS
        with storage_errors(path):
            if self._file is None:
                handle = open_plain(path, os.O_WRONLY | os.O_CREAT)
                self._file = os.fdopen(handle, "w", encoding="utf-8")
                self._file.truncate()
                self._file.writelines(f"{known}\n" for known in self._listed)
            if url not in self._listed:
                self._listed[url] = None
                self._file.write(f"{url}\n")
            self._file.flush()

    def finish(self, pages: Sequence[AssignmentPage]) -> None:
        """Write both files anew, from what is known at the end."""
        self.close()
        texts = {URLS: "".join(f"{page.url}\n" for page in pages), STATS: stats(pages)}
        for name, text in texts.items():
            # In one move, so that a full disk leaves the old file rather than half a new one.
            with storage_errors(self._folder / name):
                replace_file(self._folder / name, text.encode())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def beside(archive: OpenArchive) -> Path:
    """The folder in which the archive's folder lies."""
    return archive.folder.root.resolve().parent


def write_assignment(archive: OpenArchive, crawl: Crawl) -> None:
    """Both files for a crawl, from what the archive holds."""
    AssignmentFiles(beside(archive)).finish(crawled_pages(archive, crawl))


def is_page(capture: Capture) -> bool:
    """Whether a capture is a page by its own head (a 304 has none that says so)."""
    return capture.status == 200 and (capture.media_type or "").lower() in PAGES


def crawled_pages(archive: OpenArchive, crawl: Crawl) -> list[AssignmentPage]:
    """The pages of a crawl, unique, in the order of their capture."""
    targets = captured_targets(archive.ledger, archive.catalog.crawl_no(crawl.id))
    depths = {target.url: target.depth for target in targets}
    captures = [
        capture
        for capture in archive.captures(crawl=crawl.id)
        if capture.url in depths and (is_page(capture) or capture.status == _NOT_MODIFIED)
    ]
    captures.sort(key=lambda capture: (capture.at, capture.where.file, capture.where.offset))
    pages: dict[str, AssignmentPage] = {}
    for capture in captures:
        if capture.url not in pages and (size := _page_size(archive, capture)) is not None:
            pages[capture.url] = AssignmentPage(capture.url, size, depths[capture.url] + 1)
    return list(pages.values())


def stats(pages: Sequence[AssignmentPage]) -> str:
    sizes = [page.size for page in pages] or [0]
    average = (2 * sum(sizes) + len(sizes)) // (2 * len(sizes))
    depth = max((page.depth for page in pages), default=0)
    return (
        f"Maximum size: {max(sizes)} bytes\n"
        f"Minimum size: {min(sizes)} bytes\n"
        f"Average size: {average} bytes\n"
        f"Maximum depth reach: {depth}\n"
    )


def _page_size(archive: OpenArchive, capture: Capture) -> int | None:
    """The size of a page's document; None when a 304 turns out to confirm something else."""
    try:
        memento = archive.read(capture)
        if capture.status == _NOT_MODIFIED and (
            memento.status != 200 or (memento.media_type or "") not in PAGES
        ):
            return None
        return sum(len(piece) for piece in memento.payload())
    except (DamageError, NotCaptured):
        return capture.size if is_page(capture) else None
