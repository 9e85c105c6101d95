"""Which addresses a crawl stays away from: those of private networks, unless a seed names the host.

A page must not steer the crawler into the network it runs in: to a router's pages, a database on
this machine, the credentials that a cloud gives out at 169.254.169.254. What counts is the address
that is connected to, wherever it came from: a link, a redirect, an answer of a name server.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from asof.fetch.request import Place, is_address, split_url
from asof.fetch.unfetched import Unfetched

AddressPolicy = Callable[[Place, Sequence[str]], dict[str, str]]
"""Given a place and all its addresses: those that must not be connected to, and why."""

# From the special-purpose registries of IANA (RFC 6890), which `ipaddress` knows in another state
# with each release of Python. The first reason whose networks hold an address counts.
_V4 = {
    "unspecified": ("0.0.0.0/8",),  # Linux takes 0.0.0.0 for this machine
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    "shared": ("100.64.0.0/10",),  # behind a carrier's NAT (RFC 6598); clouds use it inside
    "loopback": ("127.0.0.0/8",),
    "link-local": ("169.254.0.0/16", "168.63.129.16/32"),  # and Azure's own services
    "multicast": ("224.0.0.0/4",),
    "broadcast": ("255.255.255.255/32",),
    "reserved": (
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24", "240.0.0.0/4",
    ),
}  # fmt: skip
_V6 = {
    "unspecified": ("::/128",),
    "loopback": ("::1/128",),
    # The last one: NAT64 of a network's own (RFC 8215).
    "private": ("fc00::/7", "fec0::/10", "64:ff9b:1::/48"),
    "link-local": ("fe80::/10",),
    "multicast": ("ff00::/8",),
    "reserved": ("2001::/23", "2001:db8::/32", "3fff::/20"),
}
_NETWORKS = {
    version: [(ip_network(each), why) for why, networks in table.items() for each in networks]
    for version, table in ((4, _V4), (6, _V6))
}
_GLOBAL = IPv6Network("2000::/3")  # all that IANA gives out; the rest is reserved (RFC 4291)
# An address of IPv4 in one of IPv6: the network, and how far its last bit is from the right.
_EMBEDDING = (
    (IPv6Network("::ffff:0:0/96"), 0),  # mapped (RFC 4291 section 2.5.5.2): the same socket
    (IPv6Network("::ffff:0:0:0/96"), 0),  # translated (RFC 7915)
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64 (RFC 6052)
    (IPv6Network("2002::/16"), 80),  # 6to4 (RFC 3056)
)
_ALL_ONES = (1 << 32) - 1

# Names that mean something inside one network only (RFC 6761, 6762, 8375; ICANN on .internal).
_LOCAL_NAMES = (".local", ".internal", ".home.arpa")
_WEB_PORTS = (80, 443)
_NEAREST = frozenset(("unspecified", "loopback", "link-local"))


def is_private(address: str) -> str | None:
    """Why an address is none of the public internet: one word, or None when it is. An address of
    IPv6 that stands for one of IPv4 is what that one is; what is no address is refused as well.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return "invalid"
    if isinstance(ip, IPv4Address):
        return _registered(ip)
    for network, shift in _EMBEDDING:
        if ip in network:
            return _registered(IPv4Address(int(ip) >> shift & _ALL_ONES))
    if ip.teredo is not None:  # RFC 4380: a server, and a client whose bits are inverted
        server, client = ip.teredo
        return _registered(server) or _registered(client)
    return _registered(ip) or (None if ip in _GLOBAL else "reserved")


def _registered(ip: IPv4Address | IPv6Address) -> str | None:
    return next((reason for network, reason in _NETWORKS[ip.version] if ip in network), None)


def is_local_name(name: str) -> str | None:
    """Why a host name can only mean a machine nearby, or None; for when a proxy looks it up."""
    name = name.lower().rstrip(".")
    if name.rpartition(".")[2] == "localhost":
        return "loopback"
    return "private" if "." not in name or name.endswith(_LOCAL_NAMES) else None


def policy(
    seeds: tuple[str, ...],
    allow_private: bool,
    was_public: Callable[[str], bool] = lambda host: False,
    remember: Callable[[str], None] = lambda host: None,
) -> AddressPolicy:
    """Refuses private addresses; not those of the places that the seeds themselves name.

    `was_public` says of a seed's host whether it was public before; `remember` is told that it is.
    """
    if allow_private:
        return lambda place, addresses: {}
    return PrivateNetworks(seeds, was_public, remember)


class PrivateNetworks:
    """The policy of one crawl: what a seed names is open, all else in private networks is not.

    A seed opens its host and port, since another port is another service: with the seed
    http://localhost:8000/ a page may not send us to http://localhost:6379/. The ports of http and
    https are one, as sites lead from one to the other.

    Whoever owns a name decides what its addresses are, now and later (DNS rebinding). So a seed
    that had only public addresses when it was first looked up stays public, in later crawls too;
    one public address does not vouch for the others; and a name that anybody can own opens neither
    this machine nor what is reached without a router, such as the keys that a cloud gives out.
    """

    def __init__(
        self,
        seeds: tuple[str, ...],
        was_public: Callable[[str], bool],
        remember: Callable[[str], None],
    ) -> None:
        self._named: set[tuple[str, int]] = set()
        self._was_public = was_public
        self._remember = remember
        self._public_at_first: dict[str, bool] = {}
        for seed in seeds:
            with suppress(Unfetched):  # such as port 0: a fetch will say so
                place = split_url(seed)[0]
                ports = _WEB_PORTS if place.port in _WEB_PORTS else (place.port,)
                self._named.update((host_name(place), port) for port in ports)

    def __call__(self, place: Place, addresses: Sequence[str]) -> dict[str, str]:
        refused = {
            ip: why
            for ip in addresses
            if (why := is_private(ip) if is_address(ip) else is_local_name(ip))
        }
        host = host_name(place)
        named = (host, place.port) in self._named
        if refused:
            if named and self._opens(host, set(refused.values())):
                self._public_at_first[host] = False
                return {}
            return refused | {ip: "beside it" for ip in addresses if ip not in refused}
        # Behind a proxy a name is all that is known.
        if named and host not in self._public_at_first and all(map(is_address, addresses)):
            self._public_at_first[host] = True
            self._remember(host)
        return {}

    def _opens(self, host: str, reasons: set[str]) -> bool:
        if is_address(host) or is_local_name(host):
            return True
        public = self._public_at_first.get(host)
        return _NEAREST.isdisjoint(reasons) and not (
            self._was_public(host) if public is None else public
        )


def host_name(place: Place) -> str:
    """By which hosts are told apart here: whatever the port, the case, or a dot at the end."""
    return place.host.rstrip(".").lower()
