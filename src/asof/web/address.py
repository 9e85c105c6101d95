"""Addresses of this server, read and written: `/{stamp}/{url}`, with a form behind the stamp.

Forms are those of other archives, so that their links lead to the same things here: `id_` are the
bytes as captured, `if_` a page without the banner, `mp_` the page below the banner, and `st_`,
which is ours alone, the page with its banner and without its scripts; all others
(`im_`, `js_`, `cs_`, `oe_` ...) are parts of pages. Of a stamp any number of digits will do, or
`now`; without one `now` is meant, and `*` asks for the list of captures. Before the stamp may stand
by which policy captures are chosen (`/-/nearest`, `/-/strict`), and that the composition of the
page is asked for (`/-/composition`, `/-/composition/strict`). `/compare` has two stamps.

The archived URL, its query included, is everything after the stamp, byte for byte as it was sent:
it is taken from the raw request target, for the decoded path has lost what `%2F` and `//` meant.
"""

import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode

from starlette.types import Scope

from asof.clock import Instant, parse_moment, parse_stamp, stamp
from asof.replay.choose import Policy
from asof.url import typed as as_typed

# Without a stamp, what begins with a scheme or with what may be a host is taken for a URL.
_REPLAY = re.compile(
    rb"/(?:(now|\d{1,14}|\d{0,14}\*)([a-z]{2,4}_)?/(.*)|((?:(?i:https?):/|[^/]+\.[^/]).*))",
    re.DOTALL,
)
_BEFORE = re.compile(rb"/-(/composition)?(?:/(nearest|strict))?(?=/)")
RAW, ALONE, BELOW_BANNER, PART, STILL = "id_", "if_", "mp_", "oe_", "st_"
# What stands before all addresses of a request's archive: empty where one is served alone. And what
# stands before all addresses of this server, where another one passes on what is asked below it.
prefix: ContextVar[str] = ContextVar("prefix", default="")
root: ContextVar[str] = ContextVar("root", default="")
# What a URL may hold as it is in a request target; the rest, quotes and blanks, is percent-encoded.
_TARGET_SAFE = "!$%&'()*+,-./:;=?@[\\]^_`{|}~"
_PATH_SAFE = _TARGET_SAFE.replace("%", "").replace("?", "")
_PAGED = re.compile(r"(?:(\d{4,14})/)?(.*)", re.DOTALL | re.ASCII)
_COMPARED = re.compile(
    r"(?:(text|full|source)/)?(now|\d{1,14})/(now|\d{1,14})/(.+)", re.DOTALL | re.ASCII
)
_DIGITS = re.compile(r"[\d:TZ .-]+")
# Some clients encode all of a URL, and no URL begins so by itself.
_ENCODED = re.compile(r"\s*https?%3A", re.IGNORECASE)
# Some clients encode the brackets of an IPv6 host, which is no host then.
_ENCODED_HOST = re.compile(r"(https?:/*)([^/?]*%5B[^/?]*)", re.IGNORECASE)


def shelf() -> str:
    """What stands before the addresses of a request's archive alone, among those of this server."""
    return prefix.get().removeprefix(root.get())


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request for a memento asks for: a stamp, the form after it, and the archived URL.

    The stamp is empty where nothing says for sure that the rest is a URL. Of a `composition` it is
    told what the page is made of.
    """

    stamp: str
    form: str
    url: str
    policy: Policy = Policy.COHERENT
    composition: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """Which two moments of a URL are compared; the view is empty for pages side by side."""

    view: str
    old: str
    new: str
    url: str


def compared(scope: Scope) -> Compared | None:
    """What `/compare/...` asks for, or None when it is something else."""
    found = _COMPARED.fullmatch(rest(scope, "/compare/"))
    if found is None:
        return None
    return Compared(found[1] or "", _whole(found[2]), _whole(found[3]), typed(found[4]))


def wanted(scope: Scope) -> Wanted | None:
    """The memento that a request is about, or None when it is about something else."""
    target: bytes = scope.get("raw_path") or quote(scope["path"], safe=_PATH_SAFE).encode()
    before, asked, policy = _BEFORE.match(target), None, None
    if before is not None and any(before.groups()):
        asked, policy = before.groups()
        target = target[before.end() :]
    match = _REPLAY.fullmatch(target)
    if match is None:
        return None
    query: bytes = scope["query_string"]
    moment, form, *urls = (part or b"" for part in match.groups())
    written = (b"".join(urls) + (b"?" + query if query else b"")).decode("utf-8", "replace")
    unsaid = "now" if written[:5].lower() in ("http:", "https") else ""
    return Wanted(
        _whole(moment.decode() or unsaid), form.decode(), typed(written),
        Policy.COHERENT if policy is None else Policy(policy.decode()), asked is not None,
    )  # fmt: skip


def rest(scope: Scope, before: str) -> str:
    """What follows in a request's target, its query included, as it was sent."""
    target: bytes = scope.get("raw_path") or quote(scope["path"], safe=_PATH_SAFE).encode()
    query: bytes = scope["query_string"]
    return (target[len(before) :] + (b"?" + query if query else b"")).decode("utf-8", "replace")


def timemap_of(scope: Scope, kind: str) -> tuple[str | None, str]:
    """The stamp at which a page of a TimeMap starts, if it is not the first, and its URL."""
    found = _PAGED.fullmatch(rest(scope, f"/timemap/{kind}/"))
    return (found[1], found[2]) if found else (None, "")


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
    """The URL that someone means who may leave the scheme out; what is none stays as written."""
    text = unquote(text) if _ENCODED.match(text) else text
    text = _ENCODED_HOST.sub(lambda host: host[1] + unquote(host[2]), text.strip(), count=1)
    return as_typed(text) or text


def are_words(text: str) -> bool:
    """Whether it is words that were typed where an address could be."""
    return " " in text or not (re.search("[.:/]", text) or text == "localhost")


def search(asked: Mapping[str, str]) -> str:
    """Where a question is answered; parts that are empty are left out."""
    return _asked("/search", asked)


def quality(asked: Mapping[str, str]) -> str:
    """Where it is told how good a crawl is, or a part of a site."""
    return _asked("/quality", asked)


def rule(asked: Mapping[str, str]) -> str:
    """Where the rule of a cover is written."""
    return _asked("/-/rule", asked)


def _asked(path: str, asked: Mapping[str, str]) -> str:
    parts = {name: value for name, value in asked.items() if value}
    words = urlencode(parts, errors="replace")
    return f"{prefix.get()}{path}{'?' if words else ''}{words}"


def replay(
    moment: str, url: str, *, form: str = "", policy: str = Policy.COHERENT, before: str = ""
) -> str:
    """Where a URL is shown as of a moment (a stamp of 4 to 14 digits)."""
    before += "" if policy == Policy.COHERENT else f"/{policy}"
    lead = f"/-{before}" if before else ""
    return f"{prefix.get()}{lead}/{moment}{form}/{written(url)}"


def composition(moment: str, url: str, policy: str = Policy.COHERENT) -> str:
    """Where it is told what a page is made of."""
    return replay(moment, url, policy=policy, before="/composition")


def compare(old: str, new: str, url: str, view: str = "") -> str:
    """Where two moments of a URL are compared, each a stamp."""
    return f"{prefix.get()}/compare{view and '/' + view}/{old}/{new}/{written(url)}"


def written(url: str) -> str:
    """A captured URL in the characters of a header or a request target, whatever it held."""
    path, mark, query = url.partition("?")
    # A browser would make a slash of a backslash in a path.
    path = quote(path, safe=_TARGET_SAFE.replace("\\", ""))
    return path + mark + quote(query, safe=_TARGET_SAFE)


def exact(at: Instant, url: str, *, form: str = "", policy: str = Policy.COHERENT) -> str:
    """Where the capture of an instant is shown."""
    return replay(stamp(at), url, form=form, policy=policy)


def timegate(url: str) -> str:
    return f"{prefix.get()}/timegate/{written(url)}"


def timemap(kind: str, url: str, at: Instant | None = None) -> str:
    """Where the mementos of a URL are listed, from a moment on."""
    return f"{prefix.get()}/timemap/{kind}/{'' if at is None else stamp(at) + '/'}{written(url)}"


def listing(url: str, at: str = "", on: str = "") -> str:
    """Where the captures of a URL are listed: all of them, or those of a day, month or year."""
    moment = "".join(
        f"&{name}={quote(text, safe='')}" for name, text in (("at", at), ("on", on)) if text
    )
    return f"{prefix.get()}/captures?url={quote(url, safe='')}{moment}"


def below(beginning: str, after: str = "") -> str:
    """Where the URLs under a prefix are listed."""
    start = f"&after={quote(after, safe='')}" if after else ""
    return f"{prefix.get()}/captures?prefix={quote(beginning, safe='')}{start}"


def site(beginning: str, *, after: str = "", page: int = 1, at: str = "") -> str:
    """Where a site is shown; the moment stands last."""
    query = {"url": beginning, "after": after, "page": str(page) if page > 1 else "", "at": at}
    return _asked("/site", query)


def cover_page(name: str, *, page: int = 1, find: str = "", of: str = "") -> str:
    """Where a saved cover is shown: a page of it, what was found in it, or one of its documents."""
    query = {"find": find, "of": of, "page": str(page) if page > 1 else ""}
    return _asked(f"/covers/{quote(name, safe='')}", query)


def crawl_page(name: str) -> str:
    """Where it is told how a crawl stands."""
    return f"{prefix.get()}/crawls/{quote(name, safe='')}"


def stamp_of(text: str, now: Instant) -> str:
    """The stamp for a moment as a person writes it; raises UsageError when it is none.

    Plain dates keep their precision: `2026-11` becomes `202611`, the end of that month.
    """
    moment = parse_moment(text, now)
    digits = re.sub(r"\D", "", text)
    if _DIGITS.fullmatch(text) and len(digits) in range(4, 15, 2):
        return digits
    return stamp(moment)
