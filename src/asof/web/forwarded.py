"""Behind another server: who asked it, by which name and scheme, as its headers say.

Anybody can write these headers, so they count only in requests of servers that one was told to
trust. Each of them adds an address at the end of the list, so that the client is the last one in it
that is none of theirs; what stands before that the client may have written.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

Network = IPv4Network | IPv6Network

_PAIR = re.compile(r'\s*([A-Za-z]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;,"]*)\s*')
_ADDRESS = re.compile(r"\[([^\]]*)\](?::\d+)?|([^:]*)(?::\d+)?|(.*)", re.DOTALL)
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?")


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asked, and how; empty where nothing says so."""

    client: str
    scheme: str = ""
    host: str = ""


def asked(headers: Headers, peer: str, trusted: Sequence[Network]) -> Asked:
    """Who asked the server that a request comes from.

    X-Forwarded-* are read; where there is no X-Forwarded-For, Forwarded (RFC 7239).
    """
    if not _is_trusted(peer, trusted):
        return Asked(peer)
    clients = _listed(headers, "x-forwarded-for")
    if clients:
        hops = list(zip(clients, *(
            _beside(_listed(headers, name), len(clients))
            for name in ("x-forwarded-proto", "x-forwarded-host")
        ), strict=True))  # fmt: skip
    else:
        hops = [(hop.get("for", ""), hop.get("proto", ""), hop.get("host", ""))
                for hop in map(_pairs, _listed(headers, "forwarded"))]  # fmt: skip
    found = Asked(peer)
    for client, scheme, host in reversed(hops):
        address = _address(client)
        if address is None or not _is_trusted(found.client, trusted):
            break
        scheme = scheme.lower() if scheme.lower() in ("http", "https") else found.scheme
        found = Asked(address, scheme, host if _HOST.fullmatch(host) else found.host)
    return found


class BehindProxy:
    """Has a request look as it did to the server that passed it on."""

    def __init__(self, app: ASGIApp, trusted: Sequence[Network]) -> None:
        self._app = app
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["client"] is not None:
            peer, port = scope["client"]
            found = asked(Headers(scope=scope), peer, self._trusted)
            # In its place: the access log around this one reads it afterwards.
            scope["client"] = (found.client, port if found.client == peer else 0)
            scope["scheme"] = found.scheme or scope["scheme"]
            if found.host:
                MutableHeaders(scope=scope)["host"] = found.host
        await self._app(scope, receive, send)


def _is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    try:
        known = ip_address(address)
    except ValueError:
        return False
    if isinstance(known, IPv6Address):
        known = known.ipv4_mapped or known
    return any(known in network for network in trusted)


def _listed(headers: Headers, name: str) -> list[str]:
    """The elements of a field that may stand in several lines."""
    joined = ",".join(headers.getlist(name))
    return [each.strip() for each in joined.split(",")] if joined else []


def _beside(values: list[str], count: int) -> list[str]:
    """A list as long as that of addresses: most servers write one value, whoever wrote before."""
    return values if len(values) == count else [values[-1] if values else ""] * count


def _pairs(element: str) -> dict[str, str]:
    """The pairs of an element of Forwarded; commas in quotes would make it none."""
    found = (_PAIR.fullmatch(each) for each in element.split(";"))
    return {pair[1].lower(): pair[2].strip('"') for pair in found if pair is not None}


def _address(written: str) -> str | None:
    """An address with or without its port; None for a name, as proxies may hide behind."""
    match = _ADDRESS.fullmatch(written.strip().strip('"'))
    bare = next(filter(None, match.groups()), "") if match else ""
    try:
        return None if "%" in bare else str(ip_address(bare))  # a zone may be any text
    except ValueError:
        return None
