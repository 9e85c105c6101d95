"""Resolving and canonicalising URLs exactly as the WHATWG URL standard says.

ada does the work; the shortcuts in front of it take only references whose serialisation the
standard leaves untouched, so that both give the same string (a property test compares them).
Measured: ada through its Python wrapper costs about 3 us a URL, the shortcuts under 1 us.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import TypeVar

import ada_url

from asof.native import compiled

_Item = TypeVar("_Item", bound=tuple[str, object, object, object])

# Servers refuse far shorter ones; a reference of megabytes (data:, junk) is no target.
MAX_LENGTH = 1 << 16

# What the URL parser copies unchanged, by the percent-encode sets of the standard, section 1.3.
# Left out on purpose: `\` (becomes `/`), `^` (its set changed in 2024), and everything not ASCII.
_PATH = r"[A-Za-z0-9\-._~!$&'()*+,;=:@/|%\[\]]"
_QUERY = r"[A-Za-z0-9\-._~!$&()*+,;=:@/|%\[\]?^`{}\\]"
_FRAGMENT = r"[\x21-\x7e]"
_TAIL = rf"(?:\?{_QUERY}*)?)(?:#{_FRAGMENT}*)?"
# Hosts that the host parser copies: labels of letters, digits and hyphens whose last one starts
# with a letter, or four decimal numbers. `xn--` (IDNA) and other numbers are left to ada.
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_HOST = rf"(?:(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*|{_BYTE}(?:\.{_BYTE}){{3}})"
_AUTHORITY = rf"(https?)://({_HOST}(?::([1-9][0-9]{{0,3}}|[1-5][0-9]{{4}}))?)"
_ABSOLUTE = re.compile(rf"({_AUTHORITY}/{_PATH}*{_TAIL}", re.ASCII)
_SERVER = re.compile(rf"{_AUTHORITY}(?=[/?#]|\Z)", re.ASCII)
_ROOTED = re.compile(rf"(/(?!/){_PATH}*{_TAIL}", re.ASCII)
# A relative path whose first segment cannot be taken for a scheme.
_RELATIVE = re.compile(rf"([A-Za-z0-9_~](?:(?!:){_PATH})*{_TAIL}", re.ASCII)
_QUERY_ONLY = re.compile(rf"(\?{_QUERY}*)(?:#{_FRAGMENT}*)?", re.ASCII)
_DOT_SEGMENT = re.compile(r"/\.|%2e", re.IGNORECASE)
# Names have 253 characters at most; what is longer is not remembered.
_LONGEST_SERVER = 300
_LAST_PORT = 65535
_DEFAULT_PORT = {"http": "80", "https": "443"}
# A host as people write it, without a scheme: a name with a dot, this machine, or an address.
_BARE = re.compile(
    r"(?://)?((?:[^\s/?#@:\[\]]+\.)+[^\s/?#@:\[\]]+|localhost|\[[0-9a-f:.]+\])(:[0-9]+)?(?=[/?#]|\Z)",
    re.IGNORECASE,
)
_SAME_SERVER = re.compile(r"https?://(?:www\.)?")
_OWN = re.compile(r"localhost|\[.*\]|[0-9.]+", re.IGNORECASE)


def canonical(url: str) -> str | None:
    """The WHATWG serialisation without its fragment; None when it is no valid http(s) URL."""
    if len(url) > MAX_LENGTH:
        return None
    plain = _plain_absolute(url)
    return plain if plain is not None else _parsed(url, None)


def one_address(one: str, other: str) -> bool:
    """Whether two URLs differ at most in what no server tells apart: scheme, `www.`, its port."""
    return one == other or _bare(one) == _bare(other)


def _bare(url: str) -> str:
    return _SAME_SERVER.sub("", canonical(url) or url, count=1)


def typed(text: str) -> str | None:
    """The URL that somebody means who may leave the scheme out, as in a browser's address bar.

    That is https, but http for this machine, for bare addresses and for ports of one's own.
    """
    text = text.strip()
    bare = None if canonical(text) is not None else _BARE.match(text)
    if bare is None:
        return canonical(text)
    is_own = _OWN.fullmatch(bare[1]) or bare[2] not in (None, ":443", ":8443")
    return canonical(f"{'http' if is_own else 'https'}://{text.removeprefix('//')}")


def fault(text: str) -> str:
    """Why a text is no URL for `typed`, as what is to be said of it."""
    scheme, colon, rest = text.strip().partition("://")
    named = re.match(r"(https?)/+|([a-z][a-z0-9+-]*):(?![0-9])", text.strip(), re.IGNORECASE)
    if named is not None and named[1]:
        return f"lacks the colon after {named[1]}"
    if named is not None and named[2].lower() not in _DEFAULT_PORT:
        return f"has the scheme {named[2]}, not http or https"
    host = re.split(r"[/?#]", rest if colon else scheme, maxsplit=1)[0].rpartition("@")[2]
    port = re.search(r":([^\]]*)\Z", host)
    if not host:
        return "names no host"
    if len(text) > MAX_LENGTH:
        return "is too long"
    if re.search(r"\s", host):
        return "has a space in the name of its host"
    if host.startswith("[") and "]" not in host:
        return "lacks the ] after the address of its host"
    if port is not None and not (port[1].isdecimal() and int(port[1]) <= _LAST_PORT):
        return f"has the port {port[1]!r}, which must be a number up to {_LAST_PORT}"
    return "names a host that cannot be" if colon or "." in host else "is a word, not an address"


def resolve(base: str, reference: str) -> str | None:
    """What `reference` means in a document at `base`: canonical, without fragment, or None.

    None for other schemes than http and https, and for what no browser could load.
    """
    if len(reference) > MAX_LENGTH:
        return None
    written, first = reference, reference[:1]
    if first == "h":
        plain = _plain_absolute(reference)
        if plain is not None:
            return plain
    parts = _base_parts(base)
    if parts is None:  # nothing to be relative to
        return _parsed(reference, None)
    root, folder, page = parts
    if first == "/":
        plain = plain_rooted(root, reference)
    elif first == "?":
        plain = _queried(page, reference)
    elif first == "#":
        plain = None
    else:
        if first == ".":
            folder, reference = _climbed(root, folder, reference)
        plain = plain_relative(folder, reference)
    return plain if plain is not None else _parsed(written, base)


def unknown(
    base: str, items: tuple[_Item, ...], known: dict[str, None]
) -> Iterator[tuple[str, _Item]]:
    """Of tuples that begin with a reference, those that mean a URL which is not known, with it.

    Most links of a page were on the page before; compiled, those cost a tenth.
    """
    parts = None if compiled is None else _base_parts(base)
    if compiled is None or parts is None:
        pairs: Iterable[tuple[str | None, _Item]] = ((None, item) for item in items)
    else:
        pairs = compiled.unknown(items, parts[0], parts[1], known)
    for found, item in pairs:
        url = resolve(base, item[0]) if found is None else found
        if url is not None and url not in known:
            yield url, item


def _plainly_joined(pattern: re.Pattern[str], stem: str, reference: str) -> str | None:
    match = pattern.fullmatch(reference)
    if match is None or _DOT_SEGMENT.search(match[1]) is not None:
        return None
    return _limited(stem + match[1])


plain_rooted = partial(_plainly_joined, _ROOTED)
plain_relative = partial(_plainly_joined, _RELATIVE)
_queried = partial(_plainly_joined, _QUERY_ONLY)


def _climbed(root: str, folder: str, reference: str) -> tuple[str, str]:
    """The folder that leading `./` and `../` of a reference lead to, and the rest of it."""
    while reference[:1] == ".":
        if reference.startswith("../"):
            reference = reference[3:]
            if len(folder) > len(root) + 1:  # the topmost folder is its own parent
                folder = folder[: folder.rindex("/", 0, -1) + 1]
        elif reference.startswith("./"):
            reference = reference[2:]
        else:
            break
    return folder, reference


def _server_of(url: str) -> tuple[str, str] | None:
    """Origin and host of a URL, if its first part is written plainly."""
    end = url.find("/", 8)
    server = url if end < 0 else url[:end]
    return _plain_server(server) if len(server) <= _LONGEST_SERVER else None


@lru_cache(maxsize=4096)
def _plain_server(server: str) -> tuple[str, str] | None:
    match = _SERVER.match(server)
    if match is None or match[3] == _DEFAULT_PORT[match[1]] or "xn--" in match[2]:
        return None
    return match[0], match[2]


def origin(url: str) -> str | None:
    """Scheme, host and port (`https://example.org`, `http://example.org:8080`), or None."""
    server = _server_of(url)
    if server is not None:
        return server[0]
    parsed = _http_url(url, None)
    return None if parsed is None else parsed.origin


def host_of(url: str) -> str:
    """The authority that politeness counts by: host, and the port where it is not the default.

    http and https of one host share it, for they are one server to be polite to. An empty string
    when the URL has none.
    """
    server = _server_of(url)
    if server is not None:
        return server[1]
    parsed = _http_url(url, None)
    return "" if parsed is None else parsed.host


def _plain_absolute(url: str) -> str | None:
    """The URL without fragment if the parser would copy it as it stands, else None."""
    match = _ABSOLUTE.fullmatch(url)
    if match is None or _DOT_SEGMENT.search(url) is not None or "xn--" in url:
        return None
    plain, scheme, _, port = match.groups()
    return None if port == _DEFAULT_PORT[scheme] else plain


@lru_cache(maxsize=1024)
def _base_parts(base: str) -> tuple[str, str, str] | None:
    """Of a base URL, in canonical form: up to the path, up to the last slash, up to the query."""
    href = canonical(base)
    if href is None:
        return None
    page = href.partition("?")[0]
    # The third slash starts the path: userinfo and host hold none once serialised.
    return href[: href.index("/", 8)], page[: page.rindex("/") + 1], page


def is_web(url: str) -> bool:
    """Whether its scheme is http or https; others write it in capitals, too."""
    return url[:6].lower().startswith(("http:", "https:"))


def _parsed(url: str, base: str | None) -> str | None:
    parsed = _http_url(url, base)
    return None if parsed is None else _limited(parsed.href.partition("#")[0])


def _http_url(url: str, base: str | None) -> ada_url.URL | None:
    try:
        parsed = ada_url.URL(url, base)
    except ValueError:  # not a URL, or a lone surrogate (UnicodeEncodeError)
        return None
    return parsed if parsed.protocol in ("http:", "https:") else None


def _limited(url: str) -> str | None:
    return url if len(url) <= MAX_LENGTH else None
