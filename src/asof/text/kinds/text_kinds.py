"""Which kind of text a text is: markup, a feed, an e-mail, JSON, or plain."""

import json
import re

from asof.text.encoding.charset import BOMS
from asof.text.encoding.detection import markup_start
from asof.text.markup import names

_HEAD = 4096
_LONGEST_JSON = 1 << 20
# WHATWG MIME Sniffing, section 7.1: what an HTML document begins with, and then a space or `>`.
_HTML = re.compile(
    r"\s*<(?:!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BODY|BR|P)[ >]"
    r"|\s*<!--",
    re.IGNORECASE,
)
# Before the first element: declarations, comments, processing instructions.
_PROLOGUE = re.compile(r"\s*(?:<\?[^>]*\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)", re.DOTALL)
_ELEMENT = re.compile(r"\s*<(?:([A-Za-z_][\w.-]*):)?([A-Za-z_][\w.-]*)([^>]*)", re.DOTALL)
_RSS_NAMESPACE = re.compile(r"purl\.org/rss/1\.0|my\.netscape\.com/rdf/simple")
_JSON_FEED = re.compile(r'"version"\s*:\s*"https://jsonfeed\.org/version/')

_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9-]*):[ \t]|[ \t]+\S")
_MAIL_HEADERS = names(
    "from to cc subject date received return-path message-id sender mime-version delivered-to"
    " reply-to content-type content-transfer-encoding x-mailer references in-reply-to"
)
_MBOX = re.compile(
    r"From \S+\s+(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s+[A-Z][a-z]{2}\s+\d+\s+\d+:\d+[^\n]*\n[A-Za-z-]+:"
)
_SAVED_PAGE = re.compile(r"^content-type:\s*multipart/related", re.IGNORECASE | re.MULTILINE)
_STARTS = {
    "BEGIN:VCARD": "text/vcard",
    "BEGIN:VCALENDAR": "text/calendar",
    "#EXTM3U": "application/vnd.apple.mpegurl",
    "WEBVTT": "text/vtt",
}
# WHATWG MIME Sniffing, section 3: bytes that no text has.
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_CONTROLS = bytes(each for each in range(256) if _BINARY.match(bytes([each])))
# Where the NULs stand in letters of ASCII: in units of so many bytes, at this place.
_NULS = (("utf-32-le", 4, 3), ("utf-32-be", 4, 0), ("utf-16-le", 2, 1), ("utf-16-be", 2, 0))
_EAST_ASIAN = re.compile("[\t\n\r -~\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]")


def text_type(data: bytes) -> str:
    """The media type of bytes without a signature: a kind of text, or octets."""
    head = _head(data)
    if head is None:
        return "application/octet-stream"
    marked = _markup_type(head)
    if marked is not None:
        return marked
    start = head.lstrip()
    for word, media_type in _STARTS.items():
        if start.startswith(word):
            return media_type
    return _json_type(data, start) or _mail_type(head) or "text/plain"


def binary_share(data: bytes) -> float:
    """The share of bytes in the head that no text has."""
    head = data[:_HEAD]
    return len(_BINARY.findall(head)) / len(head) if head else 0.0


def _head(data: bytes) -> str | None:
    """The first characters as far as ASCII goes; None if these are no characters."""
    head = data[:_HEAD]
    for bom, codec in BOMS:
        if head.startswith(bom):
            return head[len(bom) :].decode(codec, "replace")
    # ISO-2022-KR and -CN shift in and out with two controls.
    plain = head.translate(None, b"\x0e\x0f") if b"\x1b$)" in head else head
    if len(plain.translate(None, _CONTROLS)) == len(plain):  # tenfold the speed of the pattern
        return plain.decode("latin-1")
    return _wide(head) or _wide_east_asian(head)


def _wide(head: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: NULs in the same places of most units."""
    for codec, width, place in _NULS:
        if head[place::width].count(0) * width <= 0.7 * len(head) and markup_start(head) != codec:
            continue
        try:
            text = head[: len(head) - len(head) % width].decode(codec)
        except UnicodeDecodeError:
            continue
        if text and _BINARY.search(text.encode("latin-1", "replace")) is None:
            return text
    return None


def _wide_east_asian(head: bytes) -> str | None:
    """UTF-16 without a mark whose signs have no NULs; half of all random units are such signs."""
    for codec in ("utf-16-le", "utf-16-be"):
        text = head[: len(head) & ~1].decode(codec, "replace")
        if len(text) >= 20 and len(_EAST_ASIAN.findall(text)) > 0.95 * len(text):
            return text
    return None


def _markup_type(head: str) -> str | None:
    declared = head.lstrip().startswith("<?xml")
    at = 0
    while (found := _PROLOGUE.match(head, at)) is not None:
        at = found.end()
    root = _ELEMENT.match(head, at)
    kind = _root_type(root, head) if root is not None else None
    if kind is not None:
        return "application/xhtml+xml" if declared and kind == "text/html" else kind
    if declared:
        return "application/xml"
    return "text/html" if _HTML.match(head) else None


def _root_type(root: re.Match[str], head: str) -> str | None:
    prefix, name, attributes = root[1] or "", root[2].lower(), root[3]
    if name == "html":
        return "text/html"
    if name == "svg" and ("w3.org/2000/svg" in head or not prefix):
        return "image/svg+xml"
    if name == "rss" or (name == "rdf" and _RSS_NAMESPACE.search(head)):
        return "application/rss+xml"
    if name == "feed" and ("w3.org/2005/Atom" in attributes or "purl.org/atom" in attributes):
        return "application/atom+xml"
    if name == "rdf" and prefix:
        return "application/rdf+xml"
    if name in ("urlset", "sitemapindex", "opml") or "xmlns=" in attributes:
        return "application/xml"
    return None


def _json_type(data: bytes, start: str) -> str | None:
    if not start.startswith(("{", "[")):
        return None
    if start.startswith("{") and _JSON_FEED.search(start):
        return "application/feed+json"
    if len(data) > _LONGEST_JSON:
        return None
    try:
        json.loads(data)
    except (ValueError, RecursionError):  # ValueError covers bytes that are no Unicode
        return None
    return "application/json"


def _mail_type(head: str) -> str | None:
    """Lines of headers that letters have, up to an empty one."""
    if _MBOX.match(head):
        return "application/mbox"
    block = re.split(r"\r?\n\r?\n", head, maxsplit=1)[0]
    names: set[str] = set()
    for line in block.splitlines():
        found = _HEADER.match(line)
        if found is None:
            if not line.endswith(":"):
                return None
            continue
        names.add((found[1] or "").lower())
    known = names & _MAIL_HEADERS
    if len(known) < 3 or not known & {"from", "received", "return-path", "message-id"}:
        return None
    return "multipart/related" if _SAVED_PAGE.search(block) else "message/rfc822"
