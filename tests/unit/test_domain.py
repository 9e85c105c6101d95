"""Registered domains: one answer for hosts below all registries."""

from __future__ import annotations

import warnings

import pytest

from asof.url import is_public_suffix, registered_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.parliament.uk", "parliament.uk"),
        ("news.bbc.co.uk", "bbc.co.uk"),
        ("www.ann.me.uk", "ann.me.uk"),
        ("www.loja.com.br", "loja.com.br"),
        ("a.www.ann.nom.br", "www.ann.nom.br"),
        ("www.city.kobe.jp", "city.kobe.jp"),
        ("www.shop.kobe.kobe.jp", "shop.kobe.kobe.jp"),
        ("www.school.k12.ca.us", "school.k12.ca.us"),
        ("a.b.github.io", "github.io"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("co.uk", "co.uk"),
        ("a.b.example.com", "example.com"),
        ("com.example.org", "example.org"),
        ("www.intern.corp", "intern.corp"),
        ("localhost", "localhost"),
        ("10.0.0.12", "10.0.0.12"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("", ""),
    ],
)
def test_the_domain_of_a_host(host: str, domain: str) -> None:
    assert registered_domain(host) == domain


def test_names_below_which_hosts_belong_to_different_people() -> None:
    suffixes = ("com", "co.uk", "github.io", "kobe.jp", "ann.nom.br", "localhost")
    others = ("example.com", "bbc.co.uk", "a.github.io", "city.kobe.jp", "10.0.0.12", "[::1]")
    assert [name for name in (*suffixes, *others) if is_public_suffix(name)] == list(suffixes)


@pytest.mark.needs("module:tldextract")
def test_another_reader_of_the_list_agrees() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import tldextract
    extract = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=())
    hosts = [f"www.name.{suffix}" for suffix in extract.tlds]
    found = {host: extract(host) for host in hosts}
    differing = [
        host
        for host, theirs in found.items()
        if registered_domain(host) != f"{theirs.domain}.{theirs.suffix}"
    ]
    assert len(hosts) > 5000
    assert len(differing) < len(hosts) // 100, differing  # two editions of one list
