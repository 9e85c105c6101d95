"""Crawls written into files by hand, certificates of them, and what a check says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.archive.reindex import reindex
from asof.catalog.derive import derive
from asof.clock import SECOND, http_date
from asof.coherence.certificate import Choice, certificate_text, read_certificate
from asof.coherence.certify import certify
from asof.coherence.recheck import recheck
from asof.model import Capture, CoherencePlan, Crawl, CrawlState, Target
from asof.warc.build import exchange_records
from asof.warc.info import crawl_record, warcinfo
from asof.warc.reader import read_record
from asof.warc.write import WarcFile
from support.exchanges import START, answer

CRAWL = Choice(("20260101000000-aaaa",))
HOST = "http://a.example"
FILL = b"Words enough to make a page that is worth a record of its own. " * 8


class Maker:
    """WARC files of crawls, written as asof writes them, with visits at chosen moments."""

    def __init__(self, root: Path) -> None:
        self.folder = Folder(root)
        self.folder.create()
        self._files: dict[str, WarcFile] = {}

    def crawl(
        self, name: str, *, coherence_plan: CoherencePlan | None = None, started: int = START
    ) -> Crawl:
        crawl = Crawl(
            name, (f"{HOST}/",), started, CrawlState.RUNNING, coherence_plan=coherence_plan
        )
        self.segment(crawl)
        return crawl

    def segment(self, crawl: Crawl, previous: str | None = None) -> None:
        """Go on in a new file, which may name the one before it."""
        path = self.folder.new_segment(crawl.id)
        self._files[crawl.id] = WarcFile.create(path)
        self._files[crawl.id].append([warcinfo(crawl, path.name, crawl.started, previous)])

    def visit(
        self,
        crawl: Crawl,
        url: str,
        body: bytes,
        at: int,
        *,
        status: int = 200,
        headers: tuple[tuple[str, str], ...] = (),
        refers_to: Capture | None = None,
    ) -> Capture:
        dated = (("Date", http_date(at)), *headers)
        found = answer(url, body, status=status, headers=dated, at=at)
        records = exchange_records(found, target=Target(url), refers_to=refers_to)
        file = self._files[crawl.id]
        where = file.append(records)[1]
        capture = derive(read_record(file.path, where.offset))
        assert capture is not None
        return capture

    def turn(self, crawl: Crawl, at: int) -> Crawl:
        assert crawl.coherence_plan is not None
        crawl = replace(crawl, coherence_plan=replace(crawl.coherence_plan, turn=at))
        self._files[crawl.id].append([crawl_record(crawl, at)])
        return crawl

    def end(self, crawl: Crawl, at: int) -> None:
        done = replace(crawl, state=CrawlState.FINISHED, ended=at)
        self._files[crawl.id].append([crawl_record(done, at)])
        self._files[crawl.id].close()

    def index(self) -> Path:
        reindex(self.folder, spread=map, progress=nothing)
        return self.folder.root


def nothing(done: int) -> None:
    pass


def inducible(maker: Maker, name: str, start: int = START) -> Crawl:
    """Six pages, visited and then visited again in reverse order, each with a fate of its own."""
    crawl = maker.crawl(
        name, coherence_plan=CoherencePlan("inducible", "optimal", 0.7, 6), started=start
    )
    etag = (("ETag", '"v1"'),)
    moments = iter(range(start, start + 1000 * SECOND, 10 * SECOND))
    maker.visit(crawl, f"{HOST}/robots.txt", b"User-agent: *\nAllow: /\n", next(moments))
    first = {
        page: maker.visit(
            crawl, f"{HOST}/{page}", page.encode() + FILL, next(moments), headers=etag
        )
        for page in ("gone", "fails", "changes", "never", "confirmed", "same", "joker")
    }
    crawl = maker.turn(crawl, first["joker"].at)
    maker.visit(
        crawl, f"{HOST}/same", b"same" + FILL, next(moments), headers=etag, refers_to=first["same"]
    )
    maker.visit(
        crawl, f"{HOST}/confirmed", b"", next(moments),
        status=304, headers=etag, refers_to=first["confirmed"],
    )  # fmt: skip
    maker.visit(crawl, f"{HOST}/changes", b"else" + FILL, next(moments))
    maker.visit(crawl, f"{HOST}/fails", b"sorry", next(moments), status=503)
    maker.visit(crawl, f"{HOST}/gone", b"no", next(moments), status=404)
    maker.end(crawl, next(moments))
    return crawl


def made(root: Path, choice: Choice = CRAWL) -> dict[str, Any]:
    with OpenArchive.open(root) as archive:
        return certify(archive, choice, spread=map, progress=nothing)


def checked(root: Path, document: dict[str, Any]) -> tuple[str, ...]:
    text = "".join(certificate_text(document)).encode()
    claim = read_certificate(text, "c.json")
    return recheck(Folder(root), claim, spread=map, progress=nothing).differences
