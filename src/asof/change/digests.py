"""Exact digests of a document at three levels: its bytes, its decoded entity, its main text.

    payload   the bytes as stored, transfer and content coding and all     `Capture.digest`
    entity    what they decode to                                           `Capture.content`
    main      title and main text under the policy of `asof.change.noise`   here

The first two are in the catalog. Equal digests of a level mean that nothing changed at that level
and at those below; the third is what lets advertisements, counters and clocks fall away.
"""

import json
from hashlib import sha256

from asof.change.noise import settled
from asof.text.document import Document
from asof.text.markup import names
from asof.warc.digest import digest_text

# Types whose text is data or code: a figure in them is not a clock, and no part is furniture.
DATA = names(
    "application/json application/ld+json application/geo+json text/json application/manifest+json"
    " application/x-ndjson application/yaml text/yaml application/javascript"
    " application/x-javascript application/ecmascript text/javascript text/css text/csv"
    " text/tab-separated-values"
)


def bytes_digest(data: bytes) -> str:
    """SHA-256 as everywhere in the archive (ADR 4)."""
    return digest_text(sha256(data).digest())


def checksum(data: bytes) -> int:
    """The sum of the bytes: equal for equal documents, and for the same bytes in another order.

    Naumann 2011 (slide 79) and CS6200 2019 ("Detecting Exact Duplicates") show it for its fault.
    Whoever wants to know whether bytes are equal takes a digest.
    """
    return sum(data)


def main_digest(document: Document) -> str | None:
    """Of the title and the main text as they are compared; None where there is nothing to read."""
    compared = compared_text(document)
    return bytes_digest(compared.encode("utf-8", "surrogatepass")) if compared else None


def compared_text(document: Document) -> str:
    """What of a document is compared: title and main text, settled; of data, its own form.

    Where no main content was found everything that can be seen counts.
    """
    if document.media_type in DATA:
        return data_form(document.media_type, document.text or document.main)
    main = settled(document.main or document.text)
    title = settled(document.title or "")
    return f"{title}\n{main}" if title or main else ""


def data_form(media_type: str, text: str) -> str:
    """Data and code in one form: JSON by value, the rest with single blanks. Case counts."""
    if "json" in media_type and media_type != "application/x-ndjson":
        try:
            return json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False)
        except (ValueError, RecursionError):
            pass  # not JSON after all, or nested beyond reason: as text, then
    return " ".join(text.split())
