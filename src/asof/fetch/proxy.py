"""An HTTP proxy: where it is, who we are to it, and how to ask it for a tunnel. Pure."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from asof.errors import ConfigError
from asof.fetch.request import Place

_PROXY = re.compile(
    r"(?:http://)?(?:([^/?#@:]*)(?::([^/?#@]*))?@)?(\[[0-9A-Fa-f:.]+\]|[^/?#@:\[\]\s]+)"
    r"(?::([0-9]{1,5}))?/?"
)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy. `line` is its Proxy-Authorization header line, or nothing."""

    place: Place
    line: str = ""

    def tunnel_request(self, to: Place) -> bytes:
        """Asks for a tunnel (RFC 9110 section 9.3.6); the port is always said."""
        name = f"[{to.host}]" if ":" in to.host else to.host
        target = f"{name}:{to.port}"
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
