"""SURT: the Sort-friendly URI Reordering Transform, which sorts an index by domain, then path.

`surt` gives the keys of CDX indexes: the same string, for any input, as the tools that most web
archives index with (the `surt` package behind cdxj-indexer and pywb). It folds scheme, `www.`,
case, userinfo, default ports, session ids and the order of parameters, so one key stands for
several URLs. The rules were established from the behaviour of that package, and a property test
referees them. Where the package would ask the DNS about an odd number in place of a host, this
module reads it as inet_aton does and stays offline; where the package fails, the URL is its own
key, as in cdxj-indexer.
"""

import re
from contextlib import suppress
from functools import lru_cache
from socket import inet_aton, inet_ntoa
from urllib.parse import unquote_to_bytes

from asof.url.whatwg import canonical

# The ordinary URL: plain host, maybe a port, printable ASCII behind it; see _ordinary().
_ORDINARY = re.compile(
    r"(https?://[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*(?::[0-9]{1,5})?)"
    r"(/[!\"$->@-~]*)?(?:\?([!\"$-~]*))?(?:#[\x20-\x7e]*)?",
    re.ASCII,
)
# What has to be undone or resolved in a path.
_UNEVEN = re.compile(r"%|//|/\.|\(")

_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
_REPEATED_SCHEME = re.compile(rb"(?:https?://)*(?=https?://)")
_SERVER = re.compile(r"https?://(?:www\.)?")
_LINE_BREAKS = b"\t\n\r"
_DEFAULT_PORT = {b"http": 80, b"https": 443}
_WWW = re.compile(r"www[0-9]*\.", re.ASCII)

_NUMBERS = re.compile(rb"[0-9]+(?:\.[0-9]+){1,3}")
# Printable ASCII but space, # and % stands for itself; letters fold to lower case.
_ESCAPES = {
    code: chr(code).lower() if 0x20 < code < 0x7F and chr(code) not in "#%" else f"%{code:02x}"
    for code in range(256)
}

_PATH_SESSIONS = (
    # ASP.NET: /(S(24 characters))/page.aspx, and the older /(24 characters)/page.aspx
    re.compile(r"(?<=/)\((?:[a-z]\([0-9a-z]{24}\))+\)/"),
    re.compile(r"(?<=/)\([0-9a-z]{24}\)/"),
)
_QUERY_SESSIONS = (
    re.compile(r"jsessionid=[0-9a-z]{32}\Z"),
    re.compile(r"phpsessid=[0-9a-z]{32}\Z"),
    re.compile(r"sid=[0-9a-z]{32}\Z"),
    re.compile(r"aspsessionid[a-z]{8}=[a-z]{24}\Z"),
)
_CFTOKEN = "cftoken="


def surt(url: str) -> str:
    """The key of a URL in CDX indexes, e.g. `org,example)/page?a=1`; never fails."""
    key = _ordinary(url)
    return key if key is not None else _general(url)


def one_address(one: str, other: str) -> bool:
    """Whether two URLs differ at most in what no server tells apart: scheme, `www.`, its port."""
    if one == other:
        return True
    bare = {_SERVER.sub("", canonical(url) or url, count=1) for url in (one, other)}
    return len(bare) == 1


def _ordinary(url: str) -> str | None:
    """The key of a URL in which all but path and query is plain, else None."""
    match = _ORDINARY.fullmatch(url)
    if match is None:
        return None
    server, path, query = match.groups()
    head = _server(server)
    if head is None:
        return None
    if path is None:
        path = "/"
    elif _UNEVEN.search(path) is None:
        path = path.lower()
        if len(path) > 1 and path[-1] == "/":
            path = path[:-1]
    else:
        path = _path(_without_dots(_unescaped(path.encode())))
    if not query:
        return head + path
    query = _query(query.encode()) if "%" in query else _settled(query.lower())
    return f"{head}{path}?{query}" if query else head + path


@lru_cache(maxsize=4096)
def _server(url: str) -> str | None:
    """`https://WWW2.Example.org:8443` -> `org,example:8443)`; None when the port is none."""
    scheme, _, rest = url.encode().partition(b"://")
    host, _, digits = rest.partition(b":")
    try:
        return _turned(_without_www(_host(host)), _port(digits), scheme)
    except ValueError:
        return None


def _general(url: str) -> str:
    if not url:
        return "-"
    if url.startswith("filedesc"):
        return url
    try:
        raw = url.encode().strip().translate(None, _LINE_BREAKS)
        return _key(raw) if raw else url
    except ValueError:  # a lone surrogate, a port that is none, a number too long to read
        return url


def _key(raw: bytes) -> str:
    if _SCHEME.match(raw) is None:
        raw = b"http://" + raw
    repeated = _REPEATED_SCHEME.match(raw)
    scheme, _, rest = raw[repeated.end() if repeated else 0 :].partition(b":")
    rest = rest.partition(b"#")[0]
    rest, _, raw_query = rest.partition(b"?")
    raw_host, port, raw_path = _authority(rest) if rest[:2] == b"//" else (b"", None, rest)
    if not raw_host and raw_path and scheme.startswith(b"http"):
        # http:/host/path and http:////host/path: the slashes are taken for a slip.
        raw_host, _, raw_path = raw_path.lstrip(b"/").partition(b"/")
        raw_path = b"/" + raw_path

    host = _host(raw_host) if raw_host else ""
    path = _unescaped(raw_path)
    if host:
        host = host if scheme == b"dns" else _without_www(host)
        head, tail = _turned(host, port, scheme), _path(_without_dots(path))
    else:
        head, tail = f"{scheme.decode('ascii')}:", _path(path)
    query = _query(raw_query)
    return f"{head}{tail or '/'}?{query}" if query else head + tail


def _turned(host: str, port: int | None, scheme: bytes) -> str:
    shown = "" if port in (None, _DEFAULT_PORT.get(scheme.lower())) else f":{port}"
    return f"{','.join(reversed(host.split('.')))}{shown})"


def _path(path: bytes) -> str:
    text = _escaped(path)
    if "(" in text:
        text = _without_path_session(text)
    return text.removesuffix("/") if len(text) > 1 else text


def _query(raw: bytes) -> str:
    return _settled(_escaped(_unescaped(raw)))


def _settled(query: str) -> str:
    """The query of a key from one that is escaped and in lower case."""
    if "sid=" in query or "sessionid" in query or "cfid=" in query:
        query = _without_query_session(query)
    # Parameters sorted by name, then value; `a` before `a=`.
    if "&" not in query or len(query) == 1:
        return query
    return "&".join(sorted(query.split("&"), key=lambda parameter: parameter.partition("=")))


def _authority(rest: bytes) -> tuple[bytes, int | None, bytes]:
    """Host, port and path of what follows `scheme:`. A port that is no number is a ValueError."""
    netloc, slash, path = rest[2:].partition(b"/")
    netloc = netloc.rstrip(b":").rpartition(b"@")[2]
    _, bracket, inside = netloc.partition(b"[")
    if bracket:
        host, _, after = inside.partition(b"]")
        port = after.partition(b":")[2]
    else:
        host, _, port = netloc.partition(b":")
    return host, _port(port), slash + path


def _port(digits: bytes) -> int | None:
    if digits and (not digits.isdigit() or int(digits) > 0xFFFF):
        raise ValueError("not a port")
    return int(digits or b"0") or None


def _host(raw: bytes) -> str:
    """The host in lower case: unescaped, in IDNA form if it can be, numbers as four of them."""
    host = _unescaped(raw.lower())
    if not host.isascii():
        with suppress(UnicodeError):  # not a name: its bytes are escaped below
            host = host.decode("utf-8", "ignore").encode("idna")
    # One pass, so that `a...b` keeps two dots: what the indexes of others hold.
    host = host.replace(b"..", b".").strip(b".")
    return _ipv4(host) or _escaped(host)


def _ipv4(host: bytes) -> str | None:
    """A host of numbers, as inet_aton(3) reads it: 127.1, 010.0.0.1, 2130706433."""
    if host.isdigit():
        return inet_ntoa((int(host) & 0xFFFFFFFF).to_bytes(4))
    if _NUMBERS.fullmatch(host) is not None:
        with suppress(OSError):  # 256.1, or 08 and 09, which are no octal numbers
            return inet_ntoa(inet_aton(host.decode()))
    return None


def _without_www(host: str) -> str:
    match = _WWW.match(host) if host[:3] == "www" else None
    return host if match is None else host[match.end() :]


def _unescaped(data: bytes) -> bytes:
    """Percent-escapes undone until none is left: %252541 -> %2541 -> %41 -> A.

    Three rounds do for honest URLs. A hostile one (%252525...) would need as many as it has bytes,
    so the rest is undone in one pass with a stack; escapes cannot overlap, hence any order of
    undoing ends in the same bytes.
    """
    for _ in range(3):
        if b"%" not in data:
            return data
        undone = unquote_to_bytes(data)
        if undone == data:
            return data
        data = undone
    stack = bytearray()
    for byte in data:
        stack.append(byte)
        while len(stack) > 2 and stack[-3] == 0x25:
            undone = unquote_to_bytes(bytes(stack[-3:]))
            if len(undone) > 1:
                break
            stack[-3:] = undone
    return bytes(stack)


def _escaped(data: bytes) -> str:
    return data.decode("latin-1").translate(_ESCAPES) if data else ""


def _without_dots(path: bytes) -> bytes:
    """`.` and `..` resolved and empty segments dropped; a `..` too many is kept."""
    kept: list[bytes] = []
    for segment in path.split(b"/")[1:]:
        if segment == b"..":
            if kept:
                kept.pop()
            else:
                kept.append(segment)
        elif segment != b".":
            kept.append(segment)
    if not kept:
        return b"/"
    last = kept.pop()
    return b"/" + b"".join(segment + b"/" for segment in kept if segment) + last


def _without_path_session(path: str) -> str:
    """Without the last session id of each kind that an .aspx page follows before any `?`."""
    for pattern in _PATH_SESSIONS:
        page = mark = -1  # the nearest .aspx and the nearest ? behind the place looked at
        known = len(path)
        for match in reversed(list(pattern.finditer(path))):
            end = match.end()
            # Only what has not been looked through yet, or a long path would cost its square.
            nearer = path.find(".aspx", end + 1, known + 5)
            page = nearer if nearer >= 0 else page
            nearer = path.find("?", end, known)
            mark = nearer if nearer >= 0 else mark
            known = end
            if page >= 0 and not 0 <= mark < page:
                path = path[: match.start()] + path[end:]
                break
    return path


def _without_query_session(query: str) -> str:
    """Without the last parameter of each known kind; what stands before it, an `&` too, stays."""
    for pattern in _QUERY_SESSIONS:
        parameters = query.split("&")
        for index in reversed(range(len(parameters))):
            match = pattern.search(parameters[index])
            if match is not None:
                query = _cut(parameters, index, parameters[index][: match.start()], index + 1)
                break
    parameters = query.split("&")
    for index in reversed(range(len(parameters) - 1)):
        token, value = parameters[index + 1], parameters[index]
        if token.startswith(_CFTOKEN) and len(token) > len(_CFTOKEN):
            start = value.rfind("cfid=", 0, -1)
            if start >= 0:
                return _cut(parameters, index, value[:start], index + 2)
    return query


def _cut(parameters: list[str], index: int, kept: str, following: int) -> str:
    return "&".join([*parameters[:index], kept + "&".join(parameters[following:])])
