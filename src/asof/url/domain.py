"""Registered domains: what a registry has given to somebody, by the Public Suffix List.

Only the part of the list that is kept by registries counts: github.io is registered, and
a.github.io is a host of it, as in the index of the Common Crawl.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from publicsuffixlist import PublicSuffixList

_ADDRESS = re.compile(r"\[.*\]|[0-9.]*")


@lru_cache(maxsize=4096)
def registered_domain(host: str) -> str:
    """The domain of a host; itself if there is none (an address, localhost, co.uk)."""
    if _ADDRESS.fullmatch(host):
        return host
    return _registries().privatesuffix(host) or host


@cache
def _registries() -> PublicSuffixList:
    return PublicSuffixList(only_icann=True)  # 33 ms
