"""Who asked a proxy: what its headers say counts, what others wrote before does not."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from asof.web.forwarded import Asked, asked

PROXY, INNER, CLIENT, FORGED = "10.0.0.1", "10.0.0.2", "192.0.2.7", "198.51.100.9"
TRUSTED = [ip_network("10.0.0.0/8"), ip_network("2001:db8:1::/48")]


def heard(peer: str = PROXY, **fields: str) -> Asked:
    named = [(name.replace("_", "-"), value) for name, value in fields.items()]
    return asked(Headers(raw=[(n.encode(), v.encode("latin-1")) for n, v in named]), peer, TRUSTED)


def test_who_is_no_proxy_says_nothing() -> None:
    told = {"x_forwarded_for": FORGED, "x_forwarded_proto": "https", "forwarded": f"for={FORGED}"}
    assert heard(CLIENT, **told, x_forwarded_host="evil.example") == Asked(CLIENT)
    assert heard("", **told) == Asked("")


def test_a_proxy_is_believed() -> None:
    told = {"x_forwarded_proto": "HTTPS", "x_forwarded_host": "archive.example:8443"}
    wanted = Asked(CLIENT, "https", "archive.example:8443")
    assert heard(x_forwarded_for=CLIENT, **told) == wanted
    assert heard(f"::ffff:{PROXY}", x_forwarded_for=CLIENT, **told) == wanted
    assert heard() == Asked(PROXY)


@pytest.mark.parametrize(
    ("listed", "client"),
    [
        (f"{FORGED}, {CLIENT}", CLIENT),
        (f"{FORGED}, {CLIENT}, {INNER}", CLIENT),
        (f"{INNER}, {CLIENT}", CLIENT),
        (f"{CLIENT}:4711", CLIENT),
        ("[2001:db8::5]:4711", "2001:db8::5"),
        ("2001:db8::5", "2001:db8::5"),
        (f"{FORGED}, unknown", PROXY),
        (f"{FORGED}, _hidden, {INNER}", INNER),
        (f"{FORGED}, ", PROXY),
        (f"{FORGED}, {CLIENT}, 2001:db8:1::9", CLIENT),
        ('fe80::1%" 200', PROXY),
        ("\x00", PROXY),
        (INNER, INNER),
    ],
)
def test_the_last_that_is_none_of_the_proxies_is_the_client(listed: str, client: str) -> None:
    assert heard(x_forwarded_for=listed).client == client


def test_forwarded_is_read_where_there_is_nothing_else() -> None:
    element = f'For="{CLIENT}:99";proto=https; host="archive.example"'
    wanted = Asked(CLIENT, "https", "archive.example")
    assert heard(forwarded=element) == wanted
    assert heard(forwarded=f"for={FORGED};host=evil.example, {element}") == wanted
    assert heard(forwarded=f'{element}, for="{INNER}";proto=http') == wanted
    assert heard(forwarded='for="[2001:db8::5]"').client == "2001:db8::5"
    assert heard(x_forwarded_for=CLIENT, forwarded=f"for={FORGED};proto=https") == Asked(CLIENT)
    assert heard(forwarded="nonsense, ;;=,").client == PROXY


@pytest.mark.parametrize("host", ["", "a b", "evil.example/path", "a\r\nb", "x:y", "user@host"])
def test_what_is_no_host_is_none(host: str) -> None:
    assert heard(x_forwarded_for=CLIENT, x_forwarded_host=host) == Asked(CLIENT)


def test_a_scheme_is_one_of_two() -> None:
    assert heard(x_forwarded_for=CLIENT, x_forwarded_proto="javascript").scheme == ""


TEXT = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=60)


@given(TEXT, TEXT, TEXT, TEXT)
def test_no_text_is_taken_for_more_than_an_address(one: str, two: str, tri: str, four: str) -> None:
    found = heard(
        x_forwarded_for=f"{one}, {CLIENT}", x_forwarded_proto=two, x_forwarded_host=tri,
        forwarded=four,
    )  # fmt: skip
    assert found.client == CLIENT
    heard(forwarded=four)
    assert heard(CLIENT, x_forwarded_for=one, forwarded=four) == Asked(CLIENT)
