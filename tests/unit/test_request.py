"""Requests, proxies and reasons: the pure parts of the client."""

from __future__ import annotations

import errno
import socket
import ssl
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.errors import ConfigError, UsageError
from asof.fetch.request import (
    Place,
    added_lines,
    parse_proxy,
    request_bytes,
    split_url,
    standing_lines,
)
from asof.fetch.unfetched import Unfetched, no_connection, no_name


@pytest.mark.parametrize(
    ("url", "place", "target", "authority"),
    [
        ("http://a.example/", Place("http", "a.example", 80), "/", "a.example"),
        ("http://a.example", Place("http", "a.example", 80), "/", "a.example"),
        ("https://a.example:8443/x?y=z", Place("https", "a.example", 8443), "/x?y=z",
         "a.example:8443"),
        ("http://a.example?q", Place("http", "a.example", 80), "/?q", "a.example"),
        ("https://[::1]:443/", Place("https", "::1", 443), "/", "[::1]"),
        ("http://[::1]:81/", Place("http", "::1", 81), "/", "[::1]:81"),
        ("http://u:p@a.example/@b", Place("http", "a.example", 80), "/@b", "a.example"),
        ("http://u@x@a.example/", Place("http", "a.example", 80), "/", "a.example"),
        ("http://a.example/#f?g", Place("http", "a.example", 80), "/", "a.example"),
        ("http://a.example/a?b#c", Place("http", "a.example", 80), "/a?b", "a.example"),
    ],
)  # fmt: skip
def test_urls_are_split(url: str, place: Place, target: str, authority: str) -> None:
    assert split_url(url) == (place, target)
    assert place.authority == authority


@given(st.text(), st.lists(st.tuples(st.text(), st.text()), max_size=2))
def test_no_url_and_no_header_can_add_a_line(tail: str, headers: list[tuple[str, str]]) -> None:
    try:
        place, target = split_url("http://a.example/" + tail)
        lines = standing_lines("agent", "*/*") + added_lines(tuple(headers))
    except (Unfetched, UsageError):
        return
    request = request_bytes(target, place, lines)
    head, end, rest = request.partition(b"\r\n\r\n")
    assert (end, rest) == (b"\r\n\r\n", b"")
    assert head.count(b"\n") == head.count(b"\r") == head.count(b"\r\n") == 5 + len(headers)
    assert head.split(b"\r\n")[0].count(b" ") == 2


@pytest.mark.parametrize(
    ("url", "host", "port", "line"),
    [
        ("http://p.example:8080", "p.example", 8080, ""),
        ("http://p.example", "p.example", 3128, ""),
        ("p.example:1/", "p.example", 1, ""),
        ("http://[::1]:8080/", "::1", 8080, ""),
        ("http://u:p@p.example:1", "p.example", 1, "Proxy-Authorization: Basic dTpw\r\n"),
        ("http://u@p.example:1", "p.example", 1, "Proxy-Authorization: Basic dTo=\r\n"),
        ("http://u:p%40%0d%0a@p.example:1", "p.example", 1,
         "Proxy-Authorization: Basic dTpwQA0K\r\n"),
    ],
)  # fmt: skip
def test_proxies_are_read(url: str, host: str, port: int, line: str) -> None:
    proxy = parse_proxy(url)
    assert (proxy.place.host, proxy.place.port, proxy.line) == (host, port, line)


@pytest.mark.parametrize("url", ["https://p:1", "socks5://p:1", "http://", "http://p:0", "p q"])
def test_what_is_no_proxy(url: str) -> None:
    with pytest.raises(ConfigError):
        parse_proxy(url)


def test_a_tunnel_request_names_host_and_port() -> None:
    proxy = parse_proxy("http://u:p@p.example:1")
    assert proxy.tunnel_request(Place("https", "::1", 443)) == (
        b"CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\nProxy-Authorization: Basic dTpw\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("error", "reason", "transient"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), "refused", True),
        (OSError(errno.EHOSTUNREACH, "no route"), "unreachable", True),
        (OSError(errno.ENETUNREACH, "no network"), "unreachable", True),
        (TimeoutError(), "timeout", True),
        (ConnectionResetError(errno.ECONNRESET, "reset"), "reset", True),
        (ConnectionResetError(), "reset", True),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong"), "tls", False),
        (ssl.SSLCertVerificationError(1, "bad"), "tls", False),
        (UnicodeError("label too long"), "tls", False),
    ],
)
def test_errors_of_the_machine_have_reasons(error: Any, reason: str, transient: bool) -> None:
    if isinstance(error, ssl.SSLCertVerificationError):
        error.verify_message = "certificate has expired"
    why = no_connection(error)
    assert (why.reason, why.transient) == (reason, transient)
    assert why.detail
    assert (why.tls is not None) == (reason == "tls")


def test_only_a_failing_name_server_is_worth_another_try() -> None:
    assert no_name("a.example", socket.gaierror(socket.EAI_AGAIN, "try again")).transient
    missing = no_name("a.example", socket.gaierror(socket.EAI_NONAME, "unknown"))
    assert (missing.reason, missing.detail) == ("dns", "a.example: unknown")
    assert not missing.transient
