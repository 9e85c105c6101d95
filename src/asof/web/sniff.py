"""What an answer without a Content-Type is, by its first bytes.

We send `nosniff`, so somebody has to look. A short list out of the MIME Sniffing standard (section
7): what servers of the early web left unnamed.
"""

from __future__ import annotations

import re

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"BM", "image/bmp"),
    (b"%PDF-", "application/pdf"),
)
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a"
    rb"|style|title|b|body|br|p|!--)[\t\n\f\r >-]",
    re.IGNORECASE,
)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def sniff(start: bytes) -> str:
    """The media type that the first bytes of a payload suggest."""
    for signature, media_type in _SIGNATURES:
        if start.startswith(signature):
            return media_type
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    if _HTML.match(start):
        return "text/html"
    return "application/octet-stream" if _BINARY.search(start[:1445]) else "text/plain"
