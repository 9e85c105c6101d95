"""An archive with a writer of either kind at work in it, and groups of records to write."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from asof.archive import OpenArchive
from asof.archive.journal import CommitGroup
from asof.config import Config
from asof.crawl.writer import OwnWriter, ProcessWriter, Writer
from asof.frontier.queue import Applied, Changes
from asof.model import Target
from asof.warc.build import exchange_records
from asof.warc.record import Record
from support.exchanges import CRAWL, START, answer

NOTHING = Changes((), (), ())
ROOMY = Config()


@dataclass
class Desk:
    """An archive with a writer at work in it."""

    kind: str
    root: Path
    config: Config = ROOMY
    archive: OpenArchive = field(init=False)
    writer: Writer = field(init=False)
    _held: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Desk:
        self.archive = self._held.enter_context(OpenArchive.write(self.root, purpose="test"))
        self.archive.catalog.put_crawl(CRAWL)
        self.writer = self.hire()
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def hire(self) -> Writer:
        """A writer of the kind that is tested, closed at the end if nobody does it before."""
        folder = self.archive.folder
        if self.kind == "process":
            writer: Writer = ProcessWriter(folder, CRAWL, self.config)
        else:
            writer = OwnWriter(folder, self.archive.ledger, CRAWL, self.config)
        self._held.callback(_close_once(writer))
        return writer

    def write(self, group: CommitGroup, changes: Changes = NOTHING) -> Applied:
        return asyncio.run(self.writer.write(group, changes))

    def files(self) -> list[Path]:
        return self.archive.folder.segment_files()

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """Asked through a connection that knows of nothing but the file."""
        with sqlite3.connect(f"file:{self.archive.folder.db}?mode=ro", uri=True) as db:
            rows = db.execute(sql).fetchall()
        db.close()
        return rows

    def urls(self) -> list[object]:
        return [url for (url,) in self.rows("SELECT url FROM captures ORDER BY url")]


def _close_once(writer: Writer) -> Callable[[], None]:
    def close() -> None:
        if isinstance(writer, ProcessWriter) and writer._pipe.closed:
            return
        writer.close()

    return close


def url(name: object) -> str:
    return f"http://a.example/{name}"


def noise(name: object, size: int = 1_000) -> bytes:
    """Bytes that do not compress, so that the size of a file is known."""
    return random.Random(str(name)).randbytes(size)


def unit(name: object, body: bytes, spool: Path | None = None) -> tuple[Record, ...]:
    exchange = answer(url(name), body, media="image/png", spool=spool)
    return exchange_records(exchange, target=Target(exchange.url))


def group(*names: object, size: int = 1_000) -> CommitGroup:
    return CommitGroup([unit(name, noise(name, size)) for name in names], taken=START)
