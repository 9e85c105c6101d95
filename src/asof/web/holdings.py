"""What the pages ask of an archive. `asof.archive.Archive` answers it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from asof.archive.folder import Folder
from asof.clock import Instant
from asof.ledger import Ledger
from asof.model import Capture, Crawl, Headers, Segment, Validity


class Memento(Protocol):
    """A capture read back; see `asof.catalog.memento.Memento`."""

    @property
    def capture(self) -> Capture:
        """The row of the catalog."""

    @property
    def status(self) -> int | None:
        """The status of the answer; None for what did not come over HTTP."""

    @property
    def headers(self) -> Headers:
        """The headers of the answer."""

    @property
    def media_type(self) -> str | None:
        """The media type without parameters."""

    def payload(self, limit: int) -> Iterator[bytes]:
        """The decoded entity, at most `limit` bytes of it."""


class Holdings(Protocol):
    """The questions."""

    @property
    def folder(self) -> Folder:
        """Where it lies, for covers that were saved in it."""

    @property
    def ledger(self) -> Ledger:
        """The database, for listings by key."""

    def captures(
        self,
        *,
        url: str | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
    ) -> Iterator[Capture]:
        """Captures in the order of key and time."""

    def as_of(self, url: str, moment: Instant) -> Capture | None:
        """The latest capture at or before a moment."""

    def history(self, url: str) -> list[Validity]:
        """The contents a URL has had."""

    def read(self, capture: Capture) -> Memento:
        """The stored bytes of a capture."""

    def crawls(self) -> list[Crawl]:
        """All crawls, oldest first."""

    def segments(self) -> list[Segment]:
        """All WARC files, oldest first."""
