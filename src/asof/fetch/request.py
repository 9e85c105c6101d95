"""The request: from a canonical URL to the bytes on the wire, maybe through a proxy. Pure.

Nothing that could end a line gets in: the URL must be printable ASCII without spaces, and header
names and values are checked. Userinfo and fragment stay at home.
"""

import re
from base64 import b64encode
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from asof.errors import ConfigError, UsageError
from asof.fetch.unfetched import Unfetched
from asof.model import Headers

_URL = re.compile(
    r"(https?)://(?:[^/?#]*@)?(\[[0-9A-Fa-f:.]+\]|[^/?#@:\[\]]+)(?::([0-9]{1,5}))?"
    r"(/[^?#]*)?(\?[^#]*)?(?:#.*)?"
)
_PROXY = re.compile(
    r"(?:http://)?(?:([^/?#@:]*)(?::([^/?#@]*))?@)?(\[[0-9A-Fa-f:.]+\]|[^/?#@:\[\]\s]+)"
    r"(?::([0-9]{1,5}))?/?"
)
_PRINTABLE = re.compile(r"[!-~]+")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PORTS = {"http": 80, "https": 443}
# What the client itself says, so that framing and identity cannot be changed from outside.
_OURS = frozenset(
    ("host", "user-agent", "accept", "accept-encoding", "connection", "content-length",
     "transfer-encoding", "cookie", "proxy-authorization")
)  # fmt: skip


class Place(NamedTuple):
    """Where to connect to: an origin, or a proxy. `host` is without the brackets of IPv6.

    A tuple, for it is the key of the pool, and hashed and compared for every request.
    """

    scheme: str
    host: str
    port: int

    @property
    def name(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def authority(self) -> str:
        """As the Host header has it: without the scheme's own port."""
        return self.name if self.port == _PORTS[self.scheme] else f"{self.name}:{self.port}"


def split_url(url: str) -> tuple[Place, str]:
    """The place a URL names, and the target to ask it for; Unfetched when there is none."""
    match = _URL.fullmatch(url) if _PRINTABLE.fullmatch(url) else None
    if match is None:
        raise Unfetched("bad-url", f"{url!r} is not a canonical http or https URL")
    scheme, host, digits, path, query = match.groups()
    port = int(digits) if digits else _PORTS[scheme]
    if not 0 < port < 65536:
        raise Unfetched("bad-url", f"there is no port {port}")
    return Place(scheme, host.strip("[]"), port), (path or "/") + (query or "")


def is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def standing_lines(user_agent: str, accept: str) -> str:
    standing = (
        ("User-Agent", user_agent),
        ("Accept", accept),
        ("Accept-Encoding", "gzip"),
        ("Connection", "keep-alive"),
    )
    return "".join(_line(name, value) for name, value in standing)


def added_lines(headers: Headers) -> str:
    """The header lines that a caller adds to one request, such as If-None-Match."""
    for name, _ in headers:
        if name.lower() in _OURS:
            raise UsageError(
                f"The header {name} is the client's own.", hint="Change it in the settings."
            )
    return "".join(_line(name, value) for name, value in headers)


def request_bytes(target: str, place: Place, lines: str) -> bytes:
    """A whole GET request. `lines` come from the functions above."""
    return f"GET {target} HTTP/1.1\r\nHost: {place.authority}\r\n{lines}\r\n".encode("latin-1")


def _line(name: str, value: str) -> str:
    sendable = _NAME.fullmatch(name) and not any(end in value for end in "\r\n\0")
    if not sendable or max(value, default="") > "\xff":
        raise UsageError(
            f"The header {name!r}: {value!r} cannot be sent.",
            hint="Use a plain name, and a value of one line in Latin-1.",
        )
    return f"{name}: {value}\r\n"


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy. `line` is its Proxy-Authorization header line, or nothing."""

    place: Place
    line: str = ""

    def tunnel_request(self, to: Place) -> bytes:
        """Asks for a tunnel (RFC 9110 section 9.3.6); the port is always said."""
        target = f"{to.name}:{to.port}"
        return f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{self.line}\r\n".encode("latin-1")


def parse_proxy(url: str) -> Proxy:
    """A proxy from http://[user:password@]host[:port], percent-encoded where need be."""
    match = _PROXY.fullmatch(url)
    port = int(match[4] or 3128) if match else 0
    if match is None or not 0 < port < 65536:
        raise ConfigError(
            "The proxy is not a URL that asof can use.",
            hint="Write it as http://host:port or http://user:password@host:port.",
        )
    place = Place("http", match[3].strip("[]"), port)
    if match[1] is None:
        return Proxy(place)
    secret = unquote_to_bytes(match[1]) + b":" + unquote_to_bytes(match[2] or "")
    return Proxy(place, f"Proxy-Authorization: Basic {b64encode(secret).decode()}\r\n")


class Request(NamedTuple):
    """A request ready to be sent. `via` is where it goes: its own place, or a proxy.

    `kept` is `wire` without the line that holds the proxy's password: archives are given away.
    """

    place: Place
    target: str
    via: Place
    wire: bytes
    kept: bytes


def prepare(place: Place, target: str, lines: str, proxy: Proxy | None) -> Request:
    if proxy is None or place.scheme == "https":
        wire = request_bytes(target, place, lines)
        return Request(place, target, place, wire, wire)
    full = f"http://{place.authority}{target}"  # RFC 9112 section 3.2.2
    wire = request_bytes(full, place, lines + proxy.line)
    return Request(place, target, proxy.place, wire, request_bytes(full, place, lines))
