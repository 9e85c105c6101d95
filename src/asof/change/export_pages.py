"""A WACZ whose list of pages has their titles, and the texts by which a reader finds them."""

from pathlib import Path

from asof.archive.archive import OpenArchive
from asof.archive.export import Selection, export_wacz
from asof.change.texts import Texts
from asof.model import Capture
from asof.warc.foreign.wacz_write import Sign

# Characters of a page: replayweb.page holds the texts of all pages in the memory of a browser.
_MOST = 100_000


def export_with_texts(
    archive: OpenArchive, selection: Selection, out: Path, sign: Sign | None = None
) -> int:
    """How many captures went out. Texts that nobody has read yet are read."""
    with Texts(archive) as texts:

        def describe(page: Capture) -> tuple[str, str]:
            said = texts.document(page)
            return (page.url, "") if said is None else (said.title or page.url, said.text[:_MOST])

        return export_wacz(archive, selection, out, describe, sign)
