"""Records that asof itself never makes, for the tests of what writes and reads them."""

from __future__ import annotations

from hashlib import sha256

from asof.clock import Instant, iso
from asof.model import Body, Headers
from asof.warc.compose import new_record_id
from asof.warc.digest import digest_text
from asof.warc.record import Record


def resource(
    url: str, body: bytes | Body, media_type: str, at: Instant, *, extra: Headers = ()
) -> Record:
    """A document that came without HTTP around it."""
    part = Body(len(body), body) if isinstance(body, bytes) else body
    digest = sha256()
    for chunk in part.chunks():
        digest.update(chunk)
    text = digest_text(digest.digest())
    fields = (
        ("WARC-Type", "resource"),
        ("WARC-Record-ID", new_record_id()),
        ("WARC-Date", iso(at)),
        ("WARC-Target-URI", url),
        ("WARC-Block-Digest", text),
        ("WARC-Payload-Digest", text),
        *extra,
        ("Content-Type", media_type),
    )
    return Record(fields, (part,))
