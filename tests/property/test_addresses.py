"""Laws of private addresses, with Python's `ipaddress` as the referee where it knows a range."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.fetch.addresses import is_private, policy
from asof.fetch.request import Place

# Any address, and more often one at the edges of the ranges that matter.
EDGES = [
    int(IPv4Address(first)) + step
    for first in (
        "0.0.0.0", "1.0.0.0", "10.0.0.0", "11.0.0.0", "100.64.0.0", "100.128.0.0", "127.0.0.0",
        "128.0.0.0", "169.254.0.0", "169.255.0.0", "172.16.0.0", "172.32.0.0", "192.168.0.0",
        "192.169.0.0", "198.18.0.0", "198.20.0.0", "224.0.0.0", "240.0.0.0", "255.255.255.255",
    )
    for step in (-1, 0, 1)
]  # fmt: skip
V4 = st.builds(
    IPv4Address, st.sampled_from([n for n in EDGES if 0 <= n < 1 << 32]) | st.integers(0, 2**32 - 1)
)
V6_PREFIXES = ("::", "64:ff9b::", "100::", "2000::", "2001::", "2001:db8::", "2002::", "3ffe::",
               "3fff::", "4000::", "fc00::", "fe80::", "fec0::", "ff00::")  # fmt: skip
V6 = st.integers(0, 2**128 - 1).map(IPv6Address) | st.builds(
    lambda prefix, low: IPv6Address(int(IPv6Address(prefix)) | low),
    st.sampled_from(V6_PREFIXES),
    st.integers(0, 2**100 - 1),
)
HOSTS = st.sampled_from(["localhost", "127.0.0.1", "10.0.0.1", "a.example", "b.example"])
PORTS = st.sampled_from([80, 443, 8000, 6379])
ADDRESSES = st.lists((V4 | V6).map(str), min_size=1, max_size=4, unique=True)


@given(V4)
def test_what_python_calls_not_global_is_hidden(ip: IPv4Address) -> None:
    """The table holds all that the library holds."""
    if not ip.is_global or ip.is_multicast or ip.is_reserved:
        assert is_private(str(ip)) is not None


@given(V6)
def test_what_python_calls_not_global_is_hidden_in_ipv6(ip: IPv6Address) -> None:
    """The same; addresses that stand for one of IPv4 have a law of their own."""
    if ip.sixtofour or ip.teredo or ip.ipv4_mapped:
        return
    if not ip.is_global or ip.is_multicast or ip.is_site_local:
        assert is_private(str(ip)) is not None


@given(V4)
def test_no_way_of_writing_an_ipv4_address_hides_it(ip: IPv4Address) -> None:
    """Mapped, translated, by NAT64 and 6to4: the verdict is that of the address inside."""
    verdict = is_private(str(ip))
    for form in (f"::ffff:{ip}", f"::ffff:0:{ip}", f"64:ff9b::{ip}"):
        assert is_private(form) == verdict
    assert is_private(str(IPv6Address(0x2002 << 112 | int(ip) << 80 | 1))) == verdict


@given(V4, V4)
def test_teredo_is_as_hidden_as_its_ends(server: IPv4Address, client: IPv4Address) -> None:
    """RFC 4380 section 4: the server's address, and the client's with every bit inverted."""
    number = 0x20010000 << 96 | int(server) << 64 | (int(client) ^ 0xFFFFFFFF)
    assert is_private(str(IPv6Address(number))) == (
        is_private(str(server)) or is_private(str(client))
    )


@given(V6, st.sampled_from(["1", "eth0", "en-0.5"]))
def test_a_zone_never_matters(ip: IPv6Address, zone: str) -> None:
    """A zone says by which interface, not to whom."""
    assert is_private(f"{ip}%{zone}") == is_private(str(ip))


@given(st.text(max_size=40))
def test_no_text_raises(text: str) -> None:
    """Whatever a name server or a page says, there is a verdict."""
    assert is_private(text) is None or is_private(text)


@given(HOSTS, PORTS, st.lists(st.tuples(HOSTS, PORTS), max_size=3), st.lists(ADDRESSES, max_size=4))
def test_only_a_place_that_a_seed_names_is_private(
    host: str, port: int, seeds: list[tuple[str, int]], answers: list[list[str]]
) -> None:
    """Whatever was answered before: without a seed of that host and port all of it is refused."""
    judge = policy(tuple(f"http://{name}:{number}/" for name, number in seeds), False)
    named = any(
        name == host and (number == port or {number, port} <= {80, 443}) for name, number in seeds
    )
    for answer in answers:
        refused = judge(Place("http", host, port), answer)
        left = [address for address in answer if address not in refused]
        assert all(is_private(address) is None for address in left) or named
        # What is public is refused only beside something that is not.
        assert any(is_private(address) for address in refused) or not refused


@given(st.lists(ADDRESSES, min_size=1, max_size=5))
def test_the_first_answer_of_a_seed_decides(answers: list[list[str]]) -> None:
    """A seed with a private address at first may have others later, one without may have none;
    neither opens this machine."""
    judge = policy(("http://a.example/",), False)
    public = False
    opened = False
    for answer in answers:
        refused = judge(Place("https", "a.example", 443), answer)
        reasons = {is_private(address) for address in answer} - {None}
        closed = public or not reasons.isdisjoint({"loopback", "link-local", "unspecified"})
        assert set(refused) == (set(answer) if reasons and closed else set())
        opened = opened or bool(reasons and not closed)
        public = public or bool(answer and not reasons and not opened)


@pytest.mark.parametrize("allowed", [True, False])
@given(answer=ADDRESSES)
def test_allow_private_is_all_or_nothing(allowed: bool, answer: list[str]) -> None:
    """With it nothing is refused; without it, for strangers, all of what is private in part."""
    refused = policy((), allowed)(Place("http", "b.example", 80), answer)
    private = any(is_private(address) for address in answer)
    assert set(refused) == (set(answer) if private and not allowed else set())
