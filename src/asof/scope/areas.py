"""Parts of the web, as tests over URLs: hosts, domains, paths, SURT prefixes.

A test is built once and asked millions of times. Where many names are given (a list of 10,000
seeds), it looks them up and does not try them one by one.
"""

import re
from collections.abc import Callable, Iterable

from asof.url import host_of, key_ranges, surt

UrlTest = Callable[[str], bool]

# Userinfo, scheme and www. do not tell sites apart; the query is not part of the path.
_PLACE = re.compile(r"https?://(?:[^/?#]*@)?(?:www\.)?([^/?#]*)([^?#]*)")


def site(url: str) -> str:
    """The host and port of a URL with a leading `www.` dropped: seeds often redirect to it."""
    return host_of(url).removeprefix("www.")


def area_of(seeds: tuple[str, ...], scope: str) -> tuple[str, UrlTest, bool]:
    """The area that a scope other than `page` means for these seeds: its rule for people, the test,
    and whether the answer is the same for all URLs of a host, so that it can be kept.
    """
    if scope.startswith("surt:"):
        return f"in {scope}", under_surt(scope.removeprefix("surt:")), False
    if scope == "path":
        # As a SURT prefix is made (Spaniol 2010): all up to the last slash of the seed. By the URL
        # itself, since SURT keys fold case and drop trailing slashes.
        folders = [(host, path[: path.rindex("/") + 1]) for host, path in map(place, seeds)]
        text = _listed("path", (f"http://{host}{path}" for host, path in folders))
        return text, under_paths(folders), False
    sites = [site(seed) for seed in seeds]
    return _listed(scope, sites), (on_hosts if scope == "host" else in_domains)(sites), True


def place(url: str) -> tuple[str, str]:
    """Host (with port, without `www.`) and path of a URL; two empty texts when it has none."""
    match = _PLACE.match(url)
    return ("", "") if match is None else (match[1], match[2])


def on_hosts(names: Iterable[str]) -> UrlTest:
    """URLs of these hosts, which are given without `www.`."""
    hosts = frozenset(names)
    return lambda url: site(url) in hosts


def in_domains(names: Iterable[str]) -> UrlTest:
    """URLs of these hosts and their subdomains, on the same port."""
    domains = frozenset(names)

    def test(url: str) -> bool:
        host = host_of(url)
        while host not in domains:
            host = host.partition(".")[2]
            if not host:
                return False
        return True

    return test


def under_paths(prefixes: Iterable[tuple[str, str]]) -> UrlTest:
    """URLs whose path begins with what is given for their host."""
    by_host: dict[str, tuple[str, ...]] = {}
    for host, prefix in prefixes:
        by_host[host] = tuple(dict.fromkeys((*by_host.get(host, ()), prefix)))

    def test(url: str) -> bool:
        host, path = place(url)
        wanted = by_host.get(host)
        return wanted is not None and path.startswith(wanted)

    return test


def under_surt(prefix: str) -> UrlTest:
    """URLs whose SURT key lies in what a prefix means; see `asof.url.key_ranges`."""
    ranges = key_ranges(prefix)

    def test(url: str) -> bool:
        key = surt(url)
        return any(low <= key < high for low, high in ranges)

    return test


def _listed(kind: str, values: Iterable[str]) -> str:
    """The area as the rule that a person would write, with the first of its values."""
    names = list(dict.fromkeys(values))
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"in {kind}:{''.join(names[:1])}{more}"
