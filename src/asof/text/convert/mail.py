"""Mail: one message, web pages saved as one (MHTML), and boxes of messages (mbox).

RFC 5322, 2045 to 2049, 2557, 4155. Of parts that say the same in different ways the HTML is
read, which has the links. Attachments are named; those that are messages are read too.
"""

import re
from email import policy
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from itertools import islice

from asof.text.convert.found import Found, Refused, day_of
from asof.text.convert.within import put_embedded
from asof.text.encoding.charset import charset_of, decoded

MAX_PARTS = 2_000
MAX_MESSAGES = 10_000
_DEEPEST = 20
_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_FROM = re.compile(rb"^From [^\n]*\n", re.MULTILINE)
_BOUNDARIES = re.compile(rb"^--[^\s-]", re.MULTILINE)
# What the parser needs for one part, in lines that look like boundaries.
_MAX_BOUNDARIES = 20_000
_TEXTS = ("text/html", "application/xhtml+xml", "text/plain", "text/enriched", "text/markdown")


def fill_mail(data: bytes, found: Found) -> None:
    """The main headers and the text of a message; its title is its subject."""
    message = _parsed(data)
    _put_headers(message, found)
    _put_body(message, found)


def fill_mbox(data: bytes, found: Found) -> None:
    """The messages of a box, one after another."""
    starts = list(islice(_FROM.finditer(data), MAX_MESSAGES + 1))
    ends = [*(start.start() for start in starts[1:]), len(data)]
    for start, end in islice(zip(starts, ends, strict=False), MAX_MESSAGES):
        fill_mail(re.sub(rb"(?m)^>(>*From )", rb"\1", data[start.end() : end]), found)
        found.line()
    if len(starts) > MAX_MESSAGES:
        raise Refused(f"has more than {MAX_MESSAGES:,} messages, the rest is left out")


def fill_mhtml(data: bytes, found: Found) -> None:
    """A saved page: its HTML, without the headers that a browser made up."""
    _put_body(_parsed(data), found)


def _parsed(data: bytes) -> Message:
    if len(_BOUNDARIES.findall(data)) > _MAX_BOUNDARIES:
        raise Refused(f"has more than {_MAX_BOUNDARIES:,} parts")
    # The old policy: the new one parses every header by a grammar, at a hundred times the price.
    return BytesParser(policy=policy.compat32).parsebytes(data.lstrip(b"\r\n\xef\xbb\xbf"))


def _put_headers(message: Message, found: Found) -> None:
    for name in _SHOWN:
        value = _header(message, name)
        if value:
            found.line(f"{name}: {value}")
    found.line()


def _put_body(message: Message, found: Found) -> None:
    found.title = found.title or _header(message, "Subject") or None
    found.date = found.date or _date(message)
    _Body(found).read(message)


def _header(message: Message, name: str) -> str:
    """A header with its encoded words undone (RFC 2047)."""
    written = str(message.get(name, ""))
    try:
        text = "".join(
            decoded(part, charset_of(part, charset, markup=False))
            if isinstance(part, bytes)
            else part
            for part, charset in decode_header(written[:10_000])
        )
    except (HeaderParseError, ValueError):
        text = written
    return " ".join(text.split())


def _date(message: Message) -> str | None:
    try:
        return day_of(parsedate_to_datetime(str(message.get("Date"))).isoformat())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


class _Body:
    """The parts of a message, in order."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._parts = 0

    def read(self, message: Message, depth: int = 0) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise Refused(f"has more than {MAX_PARTS:,} parts, the rest is left out")
        if depth > _DEEPEST:
            raise Refused("is nested too deeply")
        kind = message.get_content_type()
        if message.is_multipart():
            self._several(message, kind, depth)
            return
        name = message.get_filename()
        if name:
            self._found.line(" ".join(str(name).split()))
        if kind in _TEXTS and message.get_content_disposition() != "attachment":
            self._text(message)

    def _several(self, message: Message, kind: str, depth: int) -> None:
        parts = [part for part in message.get_payload() if isinstance(part, Message)]
        if kind == "multipart/alternative":
            parts = _best(parts)
        for part in parts:
            if kind == "message/rfc822":
                _put_headers(part, self._found)
            self.read(part, depth + 1)

    def _text(self, part: Message) -> None:
        data = part.get_payload(decode=True)
        if isinstance(data, bytes) and data.strip():
            charset = part.get_content_charset() or ""
            put_embedded(data, self._found, f"{part.get_content_type()}; charset={charset}")


def _best(parts: list[Message]) -> list[Message]:
    """Of several ways to say the same one: HTML, or what holds it together with its pictures."""
    pages = [part for part in parts if part.get_content_type() == "text/html"]
    nested = [part for part in parts if part.is_multipart()]
    return (pages or nested or parts)[:1]
