"""Cookies: only to where they came from, only as long as they live."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from asof.clock import SECOND, from_datetime
from asof.fetch.cookies import CookieJar
from asof.fetch.request import Place


class StillClock:
    """A clock that stands where a test puts it."""

    def __init__(self) -> None:
        self.time = from_datetime(datetime(2026, 11, 15, tzinfo=UTC))

    def now(self) -> int:
        return self.time

    def monotonic(self) -> float:
        return self.time / SECOND

    async def sleep(self, seconds: float) -> None:
        self.time += int(seconds * SECOND)


def at(url: str) -> tuple[Place, str]:
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return Place(scheme, host, 443 if scheme == "https" else 80), slash + path or "/"


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def jar(clock: StillClock) -> CookieJar:
    return CookieJar(clock)


def keep(jar: CookieJar, url: str, *cookies: str) -> None:
    jar.keep(*at(url), tuple(("Set-Cookie", cookie) for cookie in cookies))


def sent(jar: CookieJar, url: str) -> str:
    line = jar.line_for(*at(url))
    return line.removeprefix("Cookie: ").removesuffix("\r\n")


def test_nothing_is_sent_before_anything_was_set(jar: CookieJar) -> None:
    assert jar.line_for(*at("http://a.example/")) == ""


def test_a_cookie_goes_back_as_one_header_line(jar: CookieJar) -> None:
    keep(jar, "http://a.example/", "a=1", "b=2; HttpOnly; SameSite=Lax")
    assert jar.line_for(*at("http://a.example/x?q")) == "Cookie: a=1; b=2\r\n"


def test_a_cookie_without_domain_is_for_its_host_only(jar: CookieJar) -> None:
    keep(jar, "http://a.example/", "a=1")
    assert sent(jar, "http://b.a.example/") == ""
    assert sent(jar, "http://example/") == ""


@pytest.mark.parametrize(
    ("domain", "reaches_sibling"),
    [
        ("shop.example", True), (".shop.example", True), ("SHOP.example", True),
        ("example", False), ("other.example", False), ("hop.example", False),
        ("www.shop.example.evil", False),
    ],
)  # fmt: skip
def test_a_domain_must_be_above_the_host_and_not_at_the_top(
    jar: CookieJar, domain: str, reaches_sibling: bool
) -> None:
    keep(jar, "http://www.shop.example/", f"a=1; Domain={domain}")
    assert sent(jar, "http://img.shop.example/") == ("a=1" if reaches_sibling else "")
    assert sent(jar, "http://www.shop.example/") == ("a=1" if reaches_sibling else "")


@pytest.mark.parametrize("suffix", ["co.uk", "com.br", "github.io", "kobe.jp"])
def test_a_cookie_is_not_for_all_customers_of_a_registry(jar: CookieJar, suffix: str) -> None:
    keep(jar, f"http://a.{suffix}/", f"a=1; Domain={suffix}")
    keep(jar, f"http://{suffix}/", f"b=1; Domain={suffix}")
    assert sent(jar, f"http://a.{suffix}/") == ""
    assert sent(jar, f"http://b.{suffix}/") == ""
    assert sent(jar, f"http://{suffix}/") == "b=1"


def test_addresses_have_no_domains_above_them(jar: CookieJar) -> None:
    keep(jar, "http://127.0.0.1/", "a=1; Domain=0.0.1", "b=2; Domain=127.0.0.1", "c=3")
    assert sent(jar, "http://127.0.0.1/") == "b=2; c=3"
    assert sent(jar, "http://1.0.0.1/") == ""


@pytest.mark.parametrize(
    ("path", "target", "fits"),
    [
        ("/a", "/a", True), ("/a", "/a/b", True), ("/a", "/ab", False), ("/a/", "/a/b", True),
        ("/a/", "/a", False), ("/", "/x", True), ("bad", "/dir/other", True),
        ("bad", "/elsewhere", False), ("/a", "/a?q=/b", True),
    ],
)  # fmt: skip
def test_paths(jar: CookieJar, path: str, target: str, fits: bool) -> None:
    keep(jar, "http://a.example/dir/page", f"a=1; Path={path}")
    assert sent(jar, "http://a.example" + target) == ("a=1" if fits else "")


def test_longer_paths_come_first_then_older_cookies(jar: CookieJar) -> None:
    keep(jar, "http://a.example/x/", "c=3; Path=/", "a=1; Path=/x", "b=2; Path=/")
    assert sent(jar, "http://a.example/x/") == "a=1; c=3; b=2"


def test_secure_cookies_stay_on_tls(jar: CookieJar) -> None:
    keep(jar, "https://a.example/", "a=1; Secure")
    keep(jar, "http://a.example/", "b=2; Secure")
    assert sent(jar, "http://a.example/") == ""
    assert sent(jar, "https://a.example/") == "a=1"


def test_cookies_expire(jar: CookieJar, clock: StillClock) -> None:
    keep(
        jar, "http://a.example/", "a=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "b=2; Expires=Sun, 15-Nov-2026 00:00:20 GMT", "c=3", "d=4; Expires=whenever",
    )  # fmt: skip
    assert sent(jar, "http://a.example/") == "a=1; b=2; c=3; d=4"
    clock.time += 15 * SECOND
    assert sent(jar, "http://a.example/") == "b=2; c=3; d=4"
    clock.time += 15 * SECOND
    assert sent(jar, "http://a.example/") == "c=3; d=4"


def test_a_cookie_can_be_changed_and_taken_back(jar: CookieJar) -> None:
    keep(jar, "http://a.example/", "a=1", "a=2")
    assert sent(jar, "http://a.example/") == "a=2"
    keep(jar, "http://a.example/", "a=; Max-Age=0")
    assert sent(jar, "http://a.example/") == ""


@pytest.mark.parametrize("text", ["", ";", "=", "a=\x01b", "a=" + "b" * 5000])
def test_what_is_no_cookie_is_ignored(jar: CookieJar, text: str) -> None:
    keep(jar, "http://a.example/", text)
    assert sent(jar, "http://a.example/") == ""


def test_a_cookie_may_have_no_name(jar: CookieJar) -> None:
    keep(jar, "http://a.example/", "just-a-value")
    assert sent(jar, "http://a.example/") == "just-a-value"


def test_a_host_cannot_fill_the_jar(jar: CookieJar) -> None:
    keep(jar, "http://a.example/", *[f"n{n}=1" for n in range(80)])
    assert sent(jar, "http://a.example/").count("=1") == 50
    assert "n79=1" in sent(jar, "http://a.example/")
