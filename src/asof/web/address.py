"""Addresses of this server: `/{stamp}/{url}` and `/{stamp}id_/{url}`, read and written.

The archived URL, its query included, is everything after the stamp, byte for byte as it was sent:
it is taken from the raw request target, for the decoded path has lost what `%2F` and `//` meant.
"""

import re
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode

from starlette.types import Scope

from asof.clock import Instant, parse_moment, stamp
from asof.url import canonical

# What stands before all addresses of a request's archive: empty where one is served alone.
prefix: ContextVar[str] = ContextVar("prefix", default="")
_REPLAY = re.compile(rb"/(\d{4,14})(id_)?/(.*)", re.DOTALL)
# What a URL may hold as it is in a request target; the rest, quotes and blanks, is percent-encoded.
_TARGET_SAFE = "!$%&'()*+,-./:;=?@[\\]^_`{|}~"
_PATH_SAFE = _TARGET_SAFE.replace("%", "").replace("?", "")
_DIGITS = re.compile(r"[\d:TZ .-]+")
# Some clients encode the brackets of an IPv6 host, which is no host then.
_ENCODED_HOST = re.compile(r"(https?:/*)([^/?]*%5B[^/?]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request for a memento asks for: the stamp as written, and the archived URL."""

    stamp: str
    raw: bool
    url: str


def wanted(scope: Scope) -> Wanted | None:
    """The memento that a request is about, or None when it is about something else."""
    target: bytes = scope.get("raw_path") or quote(scope["path"], safe=_PATH_SAFE).encode()
    match = _REPLAY.fullmatch(target)
    if match is None:
        return None
    query: bytes = scope["query_string"]
    written = match[3] + (b"?" + query if query else b"")
    return Wanted(match[1].decode(), bool(match[2]), typed(written.decode("utf-8", "replace")))


def typed(text: str) -> str:
    """The URL that someone means who writes it with or without its scheme."""
    text = _ENCODED_HOST.sub(lambda host: host[1] + unquote(host[2]), text.strip(), count=1)
    return canonical(text) or canonical(f"http://{text}") or text


def replay(moment: str, url: str, *, raw: bool = False) -> str:
    """Where a URL is shown as of a moment (a stamp of 4 to 14 digits)."""
    return f"{prefix.get()}/{moment}{'id_' if raw else ''}/{written(url)}"


def written(url: str) -> str:
    """A captured URL in the characters of a header or a request target, whatever it held."""
    path, mark, query = url.partition("?")
    # A browser would make a slash of a backslash in a path.
    path = quote(path, safe=_TARGET_SAFE.replace("\\", ""))
    return path + mark + quote(query, safe=_TARGET_SAFE)


def exact(at: Instant, url: str, *, raw: bool = False) -> str:
    """Where the capture of an instant is shown."""
    return replay(stamp(at), url, raw=raw)


def listing(url: str, at: str = "") -> str:
    """Where the captures of a URL are listed."""
    moment = f"&at={quote(at, safe='')}" if at else ""
    return f"{prefix.get()}/captures?url={quote(url, safe='')}{moment}"


def banner(wanted: Wanted, refresh: str | None) -> str:
    """Where the banner of a memento is; it offers the way that a refresh would have gone."""
    query = {"url": wanted.url, "at": wanted.stamp} | ({"next": refresh} if refresh else {})
    return f"{prefix.get()}/-/banner?{urlencode(query)}"


def below(beginning: str, after: str = "") -> str:
    """Where the URLs under a prefix are listed."""
    start = f"&after={quote(after, safe='')}" if after else ""
    return f"{prefix.get()}/captures?prefix={quote(beginning, safe='')}{start}"


def cover_page(name: str, *, page: int = 1, find: str = "", of: str = "") -> str:
    """Where a saved cover is shown: a page of it, what was found in it, or one of its documents."""
    query = {"find": find, "of": of, "page": str(page) if page > 1 else ""}
    words = urlencode({key: value for key, value in query.items() if value}, errors="replace")
    return f"{prefix.get()}/covers/{quote(name, safe='')}{'?' if words else ''}{words}"


def stamp_of(text: str, now: Instant) -> str:
    """The stamp for a moment as a person writes it; raises UsageError when it is none.

    Plain dates keep their precision: `2026-11` becomes `202611`, the end of that month.
    """
    moment = parse_moment(text, now)
    digits = re.sub(r"\D", "", text)
    if _DIGITS.fullmatch(text) and len(digits) in range(4, 15, 2):
        return digits
    return stamp(moment)
