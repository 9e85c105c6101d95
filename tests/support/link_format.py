"""A strict reader of Link values (RFC 8288, section 3) as Memento uses them (RFC 7089)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

_VALUE = re.compile(
    r'<(?P<uri>[!#-;=?-\[\]_a-z~%]+)>(?P<params>(?:; [a-z]+="[^"\\]*")+)(?P<end>,\s*|\s*\Z)'
)
_PARAM = re.compile(r'; ([a-z]+)="([^"\\]*)"')
_DATES = ("datetime", "from", "until")


@lru_cache(1 << 15)
def _date(text: str) -> datetime:
    return datetime.strptime(text, "%a, %d %b %Y %H:%M:%S %Z").replace(tzinfo=UTC)


@dataclass(frozen=True)
class Link:
    """A URI in its relations to another; `at` is the datetime of a memento."""

    uri: str
    relations: frozenset[str]
    params: dict[str, str]

    def date(self, name: str) -> datetime:
        return _date(self.params[name])

    @property
    def at(self) -> datetime:
        return self.date("datetime")


def parse(text: str) -> list[Link]:
    """All values; a ValueError for anything else, and for what RFC 7089 does not allow."""
    links, place = [], 0
    while place < len(text):
        match = _VALUE.match(text, place)
        if match is None:
            raise ValueError(f"no link value at {text[place : place + 80]!r}")
        pairs = _PARAM.findall(match["params"])
        params = dict(pairs)
        if len(params) != len(pairs) or "rel" not in params:
            raise ValueError(f"parameters {pairs}")
        link = Link(match["uri"], frozenset(params["rel"].split()), params)
        for name in _DATES:
            if name in params:
                link.date(name)
        if ("memento" in link.relations) != ("datetime" in params):
            raise ValueError(f"a memento has a datetime, and nothing else: {pairs}")
        links.append(link)
        place = match.end()
        if bool(match["end"].strip()) != (place < len(text)):
            raise ValueError("a comma between values, and none at the end")
    return links


def related(links: list[Link], relation: str) -> list[Link]:
    return [link for link in links if relation in link.relations]
