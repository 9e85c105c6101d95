"""The scope of a crawl: ordered rules, the first that decides wins, and each gives its reason.

Seed 000, "Selection": the scope is the extent of the area that will be included, as defined by
criteria applicable to each node.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from asof.config import Config
from asof.model import Target
from asof.url import host_of, key_ranges, surt


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a target belongs to the crawl, and the rule that said so."""

    inside: bool
    reason: str


Rule = Callable[[Target], Decision | None]


class Scope:
    """All rules of one crawl. A target is in when a rule takes it in before any leaves it out."""

    def __init__(self, seeds: tuple[str, ...], config: Config) -> None:
        self._rules: tuple[Rule, ...] = (
            *_excluded(config.exclude),
            *_too_deep(config.depth),
            _is_seed(frozenset(seeds)),
            _area(seeds, config.scope),
        )

    def decide(self, target: Target) -> Decision:
        """The first rule that has an opinion; nothing is in without one."""
        for rule in self._rules:
            decision = rule(target)
            if decision is not None:
                return decision
        return Decision(False, "out of scope")


def _is_seed(seeds: frozenset[str]) -> Rule:
    def rule(target: Target) -> Decision | None:
        return Decision(True, "seed") if target.url in seeds else None

    return rule


def _excluded(patterns: tuple[str, ...]) -> list[Rule]:
    def build(pattern: str) -> Rule:
        search = re.compile(pattern).search

        def rule(target: Target) -> Decision | None:
            return Decision(False, f"excluded by {pattern}") if search(target.url) else None

        return rule

    return [build(pattern) for pattern in patterns]


def _too_deep(depth: int | None) -> list[Rule]:
    if depth is None:
        return []

    def rule(target: Target) -> Decision | None:
        return Decision(False, f"deeper than {depth}") if target.depth > depth else None

    return [rule]


def _area(seeds: tuple[str, ...], scope: str) -> Rule:
    """The preset areas; `inside` tells by URL alone."""
    inside = _area_test(seeds, scope)

    def rule(target: Target) -> Decision:
        return Decision(True, scope) if inside(target.url) else Decision(False, f"other {scope}")

    return rule


def _area_test(seeds: tuple[str, ...], scope: str) -> Callable[[str], bool]:
    if scope.startswith("surt:"):
        ranges = key_ranges(scope.removeprefix("surt:"))
        return lambda url: any(low <= surt(url) < high for low, high in ranges)
    if scope == "page":
        return lambda url: False
    if scope == "path":
        # As a SURT prefix is made (seed 000): all up to the last slash of the seed. By the URL
        # itself, since SURT keys fold case and drop trailing slashes.
        folders = tuple(_folder(seed) for seed in seeds)
        return lambda url: _place(url).startswith(folders)
    hosts = frozenset(site(seed) for seed in seeds)
    if scope == "host":
        return lambda url: site(url) in hosts
    return lambda url: any(_under(site(url), host) for host in hosts)


def site(url: str) -> str:
    """The host and port of a URL with a leading `www.` dropped: seeds often redirect to it."""
    return host_of(url).removeprefix("www.")


def _place(url: str) -> str:
    """Host, port and path of a URL, without scheme, `www.` and query."""
    return url.partition("://")[2].partition("?")[0].removeprefix("www.")


def _folder(url: str) -> str:
    place = _place(url)
    return place[: place.rindex("/") + 1]


def _under(host: str, domain: str) -> bool:
    return host == domain or host.endswith("." + domain)
