"""SURT keys and the SURT prefixes of Spaniol 2010."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from asof.url import key_ranges, surt
from support.surt_slides import surt_form, surt_prefix


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.example.org/Main/Page.html", "org,example)/main/page.html"),
        ("https://example.org", "org,example)/"),
        ("https://www2.example.org:443/a/?b=2&a=1#x", "org,example)/a?a=1&b=2"),
        ("http://user:secret@example.org:8080/", "org,example:8080)/"),
        ("example.org/a", "org,example)/a"),
        ("http://127.1/", "1,0,0,127)/"),
        ("http://010.0.0.1/", "1,0,0,8)/"),
        ("http://1.2.3.256/", "256,3,2,1)/"),
        ("dns:www.Example.org", "dns:www.example.org"),
        ("urn:uuid:A", "urn:uuid:a"),
        ("mailto:Someone@Example.org", "mailto:someone@example.org"),
        ("filedesc://file.arc", "filedesc://file.arc"),
        ("http://bücher.example/", "example,xn--bcher-kva)/"),
        ("http://x/a/../b/./c/", "x)/b/c"),
        ("http://x/%252541", "x)/a"),
        ("http://x:port/", "http://x:port/"),
        ("", "-"),
    ],
)
def test_key_of(url: str, key: str) -> None:
    assert surt(url) == key


def test_a_session_id_is_left_out_of_the_key() -> None:
    session = "0123456789abcdef" * 2
    assert surt(f"http://x/?a=1&PHPSESSID={session}&b=2") == "x)/?a=1&b=2"
    assert surt("http://x/(S(abcdefghijklmnopqrstuvwx))/p.aspx") == "x)/p.aspx"


def test_a_hostile_url_costs_time_in_proportion_to_its_length() -> None:
    started = time.perf_counter()
    surt("http://x/%" + "25" * 100_000)
    surt("http://x/?" + "cfid=" * 50_000)
    surt("http://x/" + "(abcdefghijklmnopqrstuvwx)/" * 5_000 + "a.asp")
    assert time.perf_counter() - started < 5


def test_no_name_is_looked_up_and_the_surt_package_is_not_imported() -> None:
    code = (
        "import sys, socket\n"
        "from asof.url import surt\n"
        "socket.gethostbyname_ex = socket.getaddrinfo = None\n"
        "surt('http://1.2.3.256/'); surt('http://1.2/')\n"
        "sys.exit('surt' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("form", "prefix"),
    [  # Spaniol 2010, "SURT Prefix": steps 2 and 3
        (
            "http://(org,example,www,)/main/subsection/",
            "http://(org,example,www,)/main/subsection/",
        ),
        ("http://(org,example,www,)/main/subsection", "http://(org,example,www,)/main/"),
        ("http://(org,example,www,)/", "http://(org,example,www,)/"),
        ("http://(org,example,www,)", "http://(org,example,www,"),
    ],
)
def test_the_slides_of_seed_000(form: str, prefix: str) -> None:
    assert surt_prefix(form) == prefix
    labels = form.partition("(")[2].partition(",)")[0].split(",")
    url = "http://" + ".".join(reversed(labels)) + form.partition(")")[2]
    assert surt_form(url) == form
    assert surt_prefix(url) == prefix


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("HTTPS://User@Www.Example.org:8443/A?b#c", "https://(org,example,www,:8443@User)/A?b#c"),
        ("http://192.0.2.7/", "http://(192.0.2.7)/"),
        ("http://[2001:db8::1]:80/", "http://([2001:db8::1]:80)/"),
        ("mailto:a@b", "mailto:a@b"),
    ],
)
def test_surt_form_keeps_all_but_the_order_of_labels(url: str, form: str) -> None:
    assert surt_form(url) == form


def test_a_prefix_without_a_path_covers_the_subdomains_too() -> None:
    assert surt_form("http://a.example.org/x").startswith(surt_prefix("http://example.org"))
    assert not surt_form("http://a.example.org/x").startswith(surt_prefix("http://example.org/"))
    assert not surt_form("http://examples.org/").startswith(surt_prefix("http://example.org"))


PAGES = [
    f"http://{host}/{path}"
    for host in ("www.example.org", "sub.www.example.org", "www.examples.org")
    for path in ("", "main/", "main/subsection/", "main/subsection/x?y", "mainly", "other")
]


@pytest.mark.parametrize("path", ["", "/", "/main/", "/main/subsection", "/main/subsection/"])
def test_a_prefix_of_the_slides_means_the_same_pages_here(path: str) -> None:
    prefix = surt_prefix(f"http://www.example.org{path}")
    ranges = key_ranges(prefix)
    for page in PAGES:
        meant = any(low <= surt(page) < high for low, high in ranges)
        assert meant == surt_form(page).startswith(prefix), page
