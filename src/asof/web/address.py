"""Addresses of this server, read and written: `/{stamp}/{url}`, with a form behind the stamp.

Forms are those of other archives, so that their links lead to the same things here: `id_` are the
bytes as captured, `if_` a page without the banner, `mp_` the page below the banner; all others
(`im_`, `js_`, `cs_`, `oe_` ...) are parts of pages. Of a stamp any number of digits will do, or
`now`; without one `now` is meant, and `*` asks for the list of captures.

The archived URL, its query included, is everything after the stamp, byte for byte as it was sent:
it is taken from the raw request target, for the decoded path has lost what `%2F` and `//` meant.
"""

import re
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode

from starlette.types import Scope

from asof.clock import Instant, parse_moment, parse_stamp, stamp
from asof.url import canonical

# Without a stamp, what begins with a scheme or with what may be a host is taken for a URL.
_REPLAY = re.compile(
    rb"/(?:(now|\d{1,14}|\d{0,14}\*)([a-z]{2,4}_)?/(.*)|((?:(?i:https?):/|[^/]+\.[^/]).*))",
    re.DOTALL,
)
RAW, ALONE, BELOW_BANNER = "id_", "if_", "mp_"
# What stands before all addresses of a request's archive: empty where one is served alone.
prefix: ContextVar[str] = ContextVar("prefix", default="")
# What a URL may hold as it is in a request target; the rest, quotes and blanks, is percent-encoded.
_TARGET_SAFE = "!$%&'()*+,-./:;=?@[\\]^_`{|}~"
_PATH_SAFE = _TARGET_SAFE.replace("%", "").replace("?", "")
_DIGITS = re.compile(r"[\d:TZ .-]+")
# Some clients encode the brackets of an IPv6 host, which is no host then.
_ENCODED_HOST = re.compile(r"(https?:/*)([^/?]*%5B[^/?]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request for a memento asks for: a stamp, the form after it, and the archived URL.

    The stamp is empty where nothing says for sure that the rest is a URL.
    """

    stamp: str
    form: str
    url: str


def wanted(scope: Scope) -> Wanted | None:
    """The memento that a request is about, or None when it is about something else."""
    target: bytes = scope.get("raw_path") or quote(scope["path"], safe=_PATH_SAFE).encode()
    match = _REPLAY.fullmatch(target)
    if match is None:
        return None
    query: bytes = scope["query_string"]
    moment, form, *urls = (part or b"" for part in match.groups())
    written = (b"".join(urls) + (b"?" + query if query else b"")).decode("utf-8", "replace")
    unsaid = "now" if written[:5].lower() in ("http:", "https") else ""
    return Wanted(_whole(moment.decode() or unsaid), form.decode(), typed(written))


def _whole(digits: str) -> str:
    """A stamp that ends between two digits, or before those of its year, up to the next unit.

    As everywhere, it means the end of what it names: `20261` is December.
    """
    if not digits.isdigit() or (len(digits) >= 4 and len(digits) % 2 == 0):
        return digits
    if len(digits) < 4:
        return digits.ljust(4, "9")
    ends = (digits + last for last in "9876543210")
    return next((end for end in ends if parse_stamp(end) is not None), digits)


def typed(text: str) -> str:
    """The URL that someone means who writes it with or without its scheme."""
    text = _ENCODED_HOST.sub(lambda host: host[1] + unquote(host[2]), text.strip(), count=1)
    return canonical(text) or canonical(f"http://{text}") or text


def replay(moment: str, url: str, *, form: str = "") -> str:
    """Where a URL is shown as of a moment (a stamp of 4 to 14 digits)."""
    return f"{prefix.get()}/{moment}{form}/{written(url)}"


def written(url: str) -> str:
    """A captured URL in the characters of a header or a request target, whatever it held."""
    path, mark, query = url.partition("?")
    # A browser would make a slash of a backslash in a path.
    path = quote(path, safe=_TARGET_SAFE.replace("\\", ""))
    return path + mark + quote(query, safe=_TARGET_SAFE)


def exact(at: Instant, url: str, *, form: str = "") -> str:
    """Where the capture of an instant is shown."""
    return replay(stamp(at), url, form=form)


def listing(url: str, at: str = "") -> str:
    """Where the captures of a URL are listed."""
    moment = f"&at={quote(at, safe='')}" if at else ""
    return f"{prefix.get()}/captures?url={quote(url, safe='')}{moment}"


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
