"""Archives with many captures in the catalog, and no records behind them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from asof.archive import OpenArchive
from asof.clock import SECOND, Instant, parse_iso
from asof.model import Capture, Location, Segment
from asof.url import surt
from support.catalog_entry import enter

START: Instant = parse_iso("2020-01-01T00:00:00Z") or 0


def capture(url: str, number: int, *, step: int = 60 * SECOND, status: int = 200) -> Capture:
    """One of many captures of a URL, a step after the one before."""
    return Capture(
        url=url, surt=surt(url), at=START + number * step, kind="response", status=status,
        media_type="text/html", digest=f"sha1:{number % 7:032d}", content=f"sha256:{number % 7}",
        size=10, record_id=f"urn:uuid:{number:036d}",
        where=Location("000001-many.warc.gz", number * 10, 10),
    )  # fmt: skip


def build(folder: Path, captures: Iterable[Capture]) -> Path:
    """An archive that knows these."""
    with OpenArchive.write(folder, purpose="test") as archive, archive.ledger.transaction():
        number = archive.catalog.put_segment(Segment("000001-many.warc.gz", 1 << 30, sealed=True))
        enter(archive.catalog, captures, number)
    return folder
