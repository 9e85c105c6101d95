"""Whose a host is, by the Public Suffix List.

A registered domain is what a registry has given to somebody: github.io is one, and a.github.io is
a host of it, as in the index of the Common Crawl. Cookies are another matter: for them the names
count, too, that owners of domains give away, such as a.github.io.
"""

import re
from functools import cache, lru_cache

from publicsuffixlist import PublicSuffixList

_ADDRESS = re.compile(r"\[.*\]|[0-9.]*")


@lru_cache(maxsize=4096)
def registered_domain(host: str) -> str:
    """The domain of a host; itself if there is none (an address, localhost, co.uk)."""
    if _ADDRESS.fullmatch(host):
        return host
    return _suffixes(only_icann=True).privatesuffix(host) or host


def is_public_suffix(host: str) -> bool:
    """Whether hosts below this one belong to different people (com, co.uk, github.io)."""
    return not _ADDRESS.fullmatch(host) and _suffixes(only_icann=False).is_public(host)


@cache
def _suffixes(*, only_icann: bool) -> PublicSuffixList:
    return PublicSuffixList(only_icann=only_icann)  # 33 ms
