"""An archive's folder, opened: what it holds, by URL and time. `asof.Archive` builds on it."""

import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Self

from asof.archive.folder import Folder
from asof.catalog.captures import Catalog
from asof.catalog.listing import Listing
from asof.catalog.memento import Memento, memento
from asof.clock import Clock, Instant, SystemClock, from_datetime, iso, parse_moment, stamp, when
from asof.errors import ArchiveError, NotCaptured, UsageError
from asof.ledger import Ledger, is_outdated
from asof.model import Capture, Crawl, CrawlState, Segment
from asof.url import fault, host_of, origin, typed

# Of so many neighbours the one is named that was perhaps meant: a slip or two, not another page.
_LOOKED_AT, _ALIKE = 200, 0.85
Moment = Instant | datetime | date | str


def _upgrade(folder: Folder) -> None:
    """Bring the database of an earlier asof up to date, for those who only want to read."""
    try:
        with folder.lock("upgrade"):
            Ledger(folder.db, writable=True).close()
    except UsageError as error:
        raise ArchiveError(
            f"{folder.db} was written by an earlier asof, and its folder cannot be written.",
            hint="Copy the archive to where it can be written: it is upgraded when it is opened.",
        ) from error


def no_crawl(name: str) -> UsageError:
    """That none has this id; of an address something else is asked."""
    hint = "`asof status` lists them."
    if "://" in name:
        hint += " Of an address, `asof show` and `asof quality --url` tell."
    return UsageError(f"There is no crawl {name!r}.", hint=hint)


class OpenArchive:
    """An archive folder, opened for reading or (one at a time) for writing.

    Use it as a context manager. Iterators fetch as they go: none loads the archive.
    """

    def __init__(self, folder: Folder, *, writable: bool, purpose: str, clock: Clock) -> None:
        self.folder = folder
        self.clock = clock
        self._held = ExitStack()
        if writable:
            self._held.enter_context(folder.lock(purpose))
        elif is_outdated(folder.db):
            _upgrade(folder)
        try:
            self.ledger = Ledger(folder.db, writable=writable)
        except BaseException:
            self._held.close()
            raise
        self._held.callback(self.ledger.close)
        self.catalog = Catalog(self.ledger, self.folder.warc)

    @classmethod
    def open(cls, path: str | Path, *, clock: Clock | None = None) -> Self:
        """Open an archive for reading; writers do not disturb it."""
        folder = Folder(Path(path))
        folder.require()
        # One that was ended in its first moment has no tables.
        if not folder.db.exists() or not folder.db.stat().st_size:
            if folder.segment_files():
                raise ArchiveError(
                    f"{folder.db} is missing.",
                    hint="Run `asof reindex` to rebuild it from the WARC files.",
                )
            raise ArchiveError(f"The archive in {path} is empty.", hint="Crawl or import first.")
        return cls(folder, writable=False, purpose="", clock=clock or SystemClock())

    @classmethod
    def write(cls, path: str | Path, *, purpose: str, clock: Clock | None = None) -> Self:
        """Open an archive for writing, made new if need be; `purpose` is shown to others."""
        folder = Folder(Path(path))
        folder.create()
        archive = cls(folder, writable=True, purpose=purpose, clock=clock or SystemClock())
        folder.tidy()
        return archive

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database and the lock."""
        self._held.close()

    def captures(
        self,
        *,
        url: str | None = None,
        prefix: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        crawl: str | None = None,
    ) -> Iterator[Capture]:
        """Captures in the order of SURT key and time, as they match."""
        start = None if since is None else self.moment(since, start=True)
        end = None if until is None else self.moment(until)
        if start is not None and end is not None and start > end:
            raise UsageError("The stretch of time ends before it begins.", hint="Swap the two.")
        if url is not None and prefix is not None:
            raise UsageError("A URL and a prefix exclude each other.", hint="Give one of them.")
        if crawl is not None:
            self.crawl(crawl)
        url = None if url is None else self.address(url)
        return self.catalog.captures(url=url, prefix=prefix, since=start, until=end, crawl=crawl)

    def committed(self) -> dict[str, int]:
        """The files, and how much of each is in the catalog."""
        return {segment.file: segment.committed for segment in self.segments()}

    def is_behind(self) -> bool:
        """Whether files hold more than the catalog knows, though nobody is writing."""
        committed, paths = self.committed(), self.folder.segment_files()
        more = any(path.stat().st_size > committed.get(path.name, 0) for path in paths)
        return more and not self.folder.is_locked()

    def as_of(self, url: str, moment: Moment = "now") -> Capture | None:
        """The capture that shows a URL as of a moment: the latest at or before it."""
        return self.catalog.as_of(self.address(url), self.moment(moment))

    def captured(self, url: str, moment: Moment = "now", *, use: str = "--at") -> Capture:
        """The same, for those who cannot go on without one; `use` is how they name a moment."""
        found = self.as_of(url, moment)
        if found is None:
            raise self.not_captured(url, moment, use=use)
        return found

    def not_captured(self, url: str, moment: Moment, *, use: str = "--at") -> NotCaptured:
        """That there is no capture of a URL as of a moment, and when there is one."""
        first = next(self.captures(url=url), None)
        if first is None:
            return NotCaptured(f"{url} is not in the archive.", hint=self._near(self.address(url)))
        asked = moment if isinstance(moment, str) else iso(self.moment(moment))
        return NotCaptured(
            f"{url} was not captured as of {asked}.",
            hint=f"Its first capture is of {when(first.at)} UTC: "
            f"use {use} {stamp(first.at)} or later.",
        )

    def _near(self, url: str) -> str:
        """What may have been meant instead of a URL that was never captured, or how to find it."""
        start = origin(url)
        listing = Listing(self.ledger, self.clock)
        for below in [] if start is None else [url[: url.rfind("/") + 1], f"{start}/"]:
            known = [each.url for each in listing.urls(below, limit=_LOOKED_AT)]
            if near := get_close_matches(url, known, 1, _ALIKE):
                return f"Did you mean {near[0]}?"
            if known and below == f"{start}/":
                return f"`asof list {shlex.quote(host_of(url))}` shows what is there of its host."
        return "Capture it with `asof crawl`; `asof list` shows what there is."

    def read(self, capture: Capture) -> Memento:
        """The stored bytes and metadata of a capture; a revisit is followed to its payload."""
        return memento(self.catalog, self.folder.warc, capture)

    def crawls(self) -> list[Crawl]:
        """All crawls, oldest first. One that nobody runs any more was interrupted."""
        crawls = self.catalog.crawls()
        if self.ledger.writable or not self.folder.is_locked():
            over = CrawlState.INTERRUPTED
            return [replace(c, state=over) if c.state is CrawlState.RUNNING else c for c in crawls]
        return crawls

    def crawl(self, name: str | None = None) -> Crawl | None:
        """The crawl of that id; without one the newest, or None when there is none."""
        crawls = self.crawls()
        if name is None:
            return crawls[-1] if crawls else None
        found = next((crawl for crawl in crawls if crawl.id == name), None)
        if found is None:
            raise no_crawl(name)
        return found

    def segments(self) -> list[Segment]:
        return self.catalog.segments()

    def moment(self, moment: Moment, *, start: bool = False) -> Instant:
        if isinstance(moment, date) and not isinstance(moment, datetime):
            moment = moment.isoformat()
        if isinstance(moment, str):
            return parse_moment(moment, self.clock.now(), start=start)
        if isinstance(moment, int):
            return moment
        if moment.tzinfo is None:
            hint = "Say which: datetime(2026, 3, 1, tzinfo=UTC)."
            raise UsageError(f"{moment!r} has no time zone.", hint=hint)
        return from_datetime(moment)

    @staticmethod
    def address(url: str) -> str:
        """The URL as the catalog knows it; what is no web address stays as written."""
        found = typed(url)
        if found is not None:
            return found
        # Records of other schemes (dns:, urn:, metadata:) are looked up as they are written.
        if re.match(r"(?!https?:)[a-zA-Z][a-zA-Z0-9+.-]*:[^\s]", url):
            return url
        hint = "Write it as https://example.org/page."
        raise UsageError(f"{url!r} is not a URL: it {fault(url)}.", hint=hint)
