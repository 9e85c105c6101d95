"""Which addresses are private, and which of them the seeds of a crawl open."""

from __future__ import annotations

import pytest

from asof.fetch.addresses import is_local_name, is_private, policy
from asof.fetch.request import Place, split_url

HIDDEN = {
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "::1": "loopback",
    "10.0.0.1": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.168.1.1": "private",
    "fc00::1": "private",
    "fdff:ffff::1": "private",
    "fec0::1": "private",
    "169.254.0.1": "link-local",
    "169.254.169.254": "link-local",
    "168.63.129.16": "link-local",
    "fe80::1": "link-local",
    "febf::1": "link-local",
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "::": "unspecified",
    "100.64.0.1": "shared",
    "100.100.100.200": "shared",
    "100.127.255.255": "shared",
    "224.0.0.1": "multicast",
    "239.255.255.255": "multicast",
    "ff02::1": "multicast",
    "255.255.255.255": "broadcast",
    "240.0.0.1": "reserved",
    "192.0.0.192": "reserved",
    "192.0.2.1": "reserved",
    "198.18.0.1": "reserved",
    "198.51.100.7": "reserved",
    "203.0.113.7": "reserved",
    "2001:db8::1": "reserved",
    "2001:2::1": "reserved",
    "3fff::1": "reserved",
    "100::1": "reserved",
    "4000::1": "reserved",
    "5f00::1": "reserved",
}
EMBEDDED = {
    "::ffff:10.0.0.1": "private",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:a9fe:a9fe": "link-local",
    "::ffff:0:10.0.0.1": "private",
    "::127.0.0.1": "reserved",  # the compatible form, which nobody routes (RFC 4291)
    "64:ff9b::127.0.0.1": "loopback",
    "64:ff9b::a9fe:a9fe": "link-local",
    "64:ff9b:1::8.8.8.8": "private",
    "2002:7f00:1::": "loopback",
    "2002:c0a8:101::5": "private",
    "2002:a9fe:a9fe::1": "link-local",
    "2001:0:a00:1::f7f7:f7f7": "private",  # Teredo, the server being 10.0.0.1
    "2001:0:808:808::80ff:fffe": "loopback",  # Teredo, the client being 127.0.0.1
}
ZONED = {
    "fe80::1%eth0": "link-local",
    "fe80::1%2": "link-local",
    "::ffff:10.0.0.1%lo": "private",
}
PUBLIC = (
    "8.8.8.8", "1.1.1.1", "93.184.215.14", "100.63.255.255", "100.128.0.0", "172.15.255.255",
    "172.32.0.0", "11.0.0.0", "9.255.255.255", "128.0.0.0", "126.255.255.255", "169.253.255.255",
    "192.167.255.255", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450:4001:800::200e",
    "2001:4860:4860::8888", "2001:200::1", "2620:fe::fe", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
    "2002:808:808::1", "2001:0:808:808::f7f7:f7f7", "2606:4700::1%eth0",
)  # fmt: skip
PLAIN_SEED = ("http://127.0.0.1:8000/",)


@pytest.mark.parametrize(("address", "reason"), [*HIDDEN.items(), *EMBEDDED.items()])
def test_a_hidden_address_has_its_reason(address: str, reason: str) -> None:
    assert is_private(address) == reason


@pytest.mark.parametrize(("address", "reason"), ZONED.items())
def test_a_zone_changes_nothing(address: str, reason: str) -> None:
    """getaddrinfo names the interface of a link-local address."""
    assert is_private(address) == reason


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_has_none(address: str) -> None:
    assert is_private(address) is None


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f000001", "1.2.3.4.5", "[::1]"])
def test_what_is_no_address_is_refused(text: str) -> None:
    """Better a fetch too few than one of who knows what."""
    assert is_private(text) == "invalid"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("localhost", "loopback"),
        ("LOCALHOST.", "loopback"),
        ("a.b.localhost", "loopback"),
        ("printer.local", "private"),
        ("metadata.google.internal", "private"),
        ("router.home.arpa", "private"),
        ("intranet", "private"),
        ("example.org", None),
        ("local.example.org", None),
        ("notlocalhost.org", None),
        ("fritz.internals", None),
    ],
)
def test_names_that_mean_a_machine_nearby(name: str, reason: str | None) -> None:
    """Behind a proxy nothing but the name is known."""
    assert is_local_name(name) == reason


def refused(url: str, *addresses: str, seeds: tuple[str, ...] = ()) -> dict[str, str]:
    return policy(seeds, False)(split_url(url)[0], addresses)


def test_one_private_address_makes_a_name_private() -> None:
    """The reason stands first; the public ones are not called either."""
    answer = ("8.8.8.8", "10.0.0.1", "::1")
    reasons = {"10.0.0.1": "private", "::1": "loopback", "8.8.8.8": "beside it"}
    found = refused("http://example.org/", *answer)
    assert list(found.items()) == list(reasons.items())


def test_public_addresses_are_nobodys_business() -> None:
    assert refused("http://example.org/", "8.8.8.8", "2606:4700::1", seeds=PLAIN_SEED) == {}


def test_allow_private_refuses_nothing() -> None:
    assert policy((), True)(Place("http", "localhost", 80), ["127.0.0.1", "::1"]) == {}


@pytest.mark.parametrize(
    ("seed", "url", "address"),
    [
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/a?b", "127.0.0.1"),
        ("http://localhost:8000/x/", "http://localhost:8000/", "127.0.0.1"),
        ("http://localhost:8000/x/", "http://localhost.:8000/", "::1"),
        ("http://localhost:8000/", "https://localhost:8000/", "::1"),
        ("http://intranet.corp/", "https://intranet.corp/", "10.1.2.3"),
        ("https://intranet.corp/", "http://intranet.corp/", "10.1.2.3"),
        ("http://intranet.corp:443/", "http://intranet.corp:80/", "10.1.2.3"),
        ("http://user:pw@10.0.0.1/", "http://10.0.0.1/", "10.0.0.1"),
        ("http://[::1]:8000/", "http://[::1]:8000/", "::1"),
    ],
)
def test_a_seed_opens_the_place_it_names(seed: str, url: str, address: str) -> None:
    """Host and port; http and https lead to each other."""
    assert refused(url, address, seeds=(seed,)) == {}


@pytest.mark.parametrize(
    ("seed", "url", "address"),
    [
        ("http://localhost:8000/", "http://localhost:6379/", "127.0.0.1"),
        ("http://localhost:8000/", "http://localhost/", "127.0.0.1"),
        ("http://localhost/", "http://localhost:8000/", "127.0.0.1"),
        ("http://localhost:8000/", "http://127.0.0.1:8000/", "127.0.0.1"),
        ("http://127.0.0.1:8000/", "http://127.0.0.2:8000/", "127.0.0.2"),
        ("http://127.0.0.1:8000/", "http://[::1]:8000/", "::1"),
        ("http://intranet.corp/", "http://www.intranet.corp/", "10.1.2.3"),
        ("http://intranet.corp/", "http://169.254.169.254/", "169.254.169.254"),
        ("http://127.0.0.1:0/", "http://127.0.0.1/", "127.0.0.1"),
    ],
)
def test_a_seed_opens_nothing_else(seed: str, url: str, address: str) -> None:
    """Not another port, nor another name of the same machine, nor its neighbours."""
    assert list(refused(url, address, seeds=(seed,))) == [address]


def test_a_seed_that_was_public_stays_public() -> None:
    """DNS rebinding: a site's owner points its name at our network once the crawl has begun."""
    judge = policy(("http://example.org/",), False)
    here = Place("http", "example.org", 80)
    assert judge(here, ["8.8.8.8"]) == {}
    assert judge(here, ["192.168.0.1"]) == {"192.168.0.1": "private"}
    assert set(judge(here, ["192.168.0.1", "8.8.8.8"])) == {"192.168.0.1", "8.8.8.8"}
    assert judge(here._replace(scheme="https", port=443), ["::1"]) == {"::1": "loopback"}


def test_a_seed_that_was_private_stays_open() -> None:
    """A host of a company's network may have addresses of both kinds, now and then."""
    judge = policy(("http://intranet.corp/",), False)
    here = Place("http", "intranet.corp", 80)
    for answer in (["2606:4700::1", "10.0.0.1"], ["2606:4700::1"], ["10.0.0.2"]):
        assert judge(here, answer) == {}


def test_behind_a_proxy_names_are_judged() -> None:
    """The proxy looks them up, so they are all there is to see."""
    assert refused("http://localhost:631/", "localhost") == {"localhost": "loopback"}
    assert refused("http://example.org/", "example.org") == {}
    assert refused("http://intranet/", "intranet", seeds=("http://intranet/",)) == {}
