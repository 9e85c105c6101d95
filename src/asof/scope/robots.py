"""robots.txt: what an origin allows, by RFC 9309, read as Google's matcher reads it (ADR 16).

An origin is unknown, open (with rules), or shut (nothing there can be fetched, and why).
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from asof.url import host_of, origin

# RFC 9309 section 2.3.1.2: at least five consecutive redirects should be followed.
MAX_REDIRECTS = 5
# RFC 9309 section 2.5: a crawler may stop parsing, but not before 500 kibibytes.
MAX_BYTES = 512 * 1024

# Whatever comes after it, and in the slips that the files of thousands of sites have.
_NAME = re.compile(
    r"(?P<agent>user[ -]?agent)|(?P<allow>allow)|(?P<disallow>diss?all?ow|diasllow|disallaw)"
    r"|(?P<delay>crawl-?delay)|(?P<sitemap>site-?map)",
    re.IGNORECASE,
)
_COMMENT = re.compile("[#\0]")
# A mark may stand twice at the start of a file, and at that of each file that was pasted into one.
_BLANK = " \t\v\f\0\ufeff"
_TOKEN = re.compile(r"[A-Za-z_-]*")
# What calls itself a browser says in its comment who it is.
_DISGUISED = re.compile(r"Mozilla/\S+ \(compatible; *(?=[A-Za-z_-])", re.IGNORECASE)
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}|[^\x21-\x7e]+")
# RFC 3986 section 2.3, and what RFC 9309 section 2.2.3 has written so where it means itself.
_DECODED = re.compile(rb"[A-Za-z0-9._~*$-]")
_TARGET = re.compile(r"[^/?#]*+([^#]*)")
_SECONDS = re.compile(r"\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the parts of its pattern between the stars, whether it ends there, how long it is."""

    parts: tuple[str, ...]
    ends: bool
    length: int
    allows: bool

    def matches(self, path: str) -> bool:
        first, *others = self.parts
        if self.ends and not others:
            return path == first
        last = others.pop() if self.ends else ""
        at = len(first) if path.startswith(first) else -1
        for part in others:
            # The first place is as good as any later one, so nothing is tried twice.
            found = path.find(part, at) if at >= 0 else -1
            at = found + len(part) if found >= 0 else -1
        return 0 <= at <= len(path) - len(last) and path.endswith(last)


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of one host for us. `hold_off` means: do not crawl for now, at all.

    `cut` says that the file was longer than what was read of it.
    """

    rules: tuple[Rule, ...] = ()  # the longest first, of equal ones what allows
    crawl_delay: float | None = None
    cut: bool = False
    hold_off: bool = False

    def allows(self, url: str) -> bool:
        target = _TARGET.match(url.partition("://")[2])
        path = _comparable(target[1] if target else "")
        path = path if path.startswith("/") else f"/{path}"
        if path == "/robots.txt":  # RFC 9309 section 2.2.2
            return True
        rule = next((rule for rule in self.rules if rule.matches(path)), None)
        return not self.hold_off and (rule is None or rule.allows)


def robots_from(status: int, body: bytes, user_agent: str, truncated: str | None = None) -> Robots:
    """Successful: the file's rules. Unavailable (4xx): all allowed. Otherwise: hold off.

    Half a file may lack the very line that forbids, so it counts as unreachable (2.3.1.4); one
    that was cut at a limit of ours is longer than anybody must read (section 2.5).
    """
    if 200 <= status < 300:
        if truncated in ("disconnect", "time"):
            return Robots(hold_off=True)
        return _rules_for(product_token(user_agent), body, cut=bool(truncated))
    if 300 <= status < 500:
        # A redirect chain that did not end counts as unavailable (section 2.3.1.2).
        return Robots()
    return Robots(hold_off=True)


def product_token(user_agent: str) -> str:
    """The one word that groups name us by (section 2.2.1), in lower case; may be empty."""
    disguise = _DISGUISED.match(user_agent)
    return _token(user_agent[disguise.end() :] if disguise else user_agent)


def records(body: bytes, *, cut: bool = False) -> Iterator[tuple[str, str]]:
    """The lines of a robots.txt that mean something: agent, allow, disallow, delay, sitemap.

    `cut` says that the last line may not be whole; then it means nothing.
    """
    lines = _decoded(body[:MAX_BYTES]).replace("\r", "\n").split("\n")
    for line in lines[:-1] if cut or len(body) > MAX_BYTES else lines:
        said = _COMMENT.split(line.strip(_BLANK), maxsplit=1)[0]
        name, colon, value = said.partition(":")
        if not colon:  # some forget it
            name, value = words if len(words := said.split()) == 2 else ("", "")
        kind = _NAME.match(name.strip())
        if kind is not None:
            yield str(kind.lastgroup), value.strip()


def _decoded(body: bytes) -> str:
    """UTF-8, bytes that are not kept as they are; UTF-16 by its mark or by its NULs."""
    head = body[:1024]
    if head.startswith(b"\xff\xfe") or head[1::2].count(0) > 0.4 * len(head):
        return body.decode("utf-16-le", "replace")
    if head.startswith(b"\xfe\xff") or head[::2].count(0) > 0.4 * len(head):
        return body.decode("utf-16-be", "replace")
    return body.decode("utf-8", "surrogateescape")


def _rules_for(ours: str, body: bytes, *, cut: bool) -> Robots:
    """The rules of all groups that name us, else of all for everybody (section 2.2.1)."""
    rules: dict[str, list[Rule]] = {}
    delays: dict[str, float] = {}
    group, undelayed, ruled = set[str](), set[str](), False
    for kind, value in records(body, cut=cut):
        if kind == "agent":
            if ruled:  # nothing but a rule ends the agents that a group is for
                group, undelayed, ruled = set(), set(), False
            agent = "*" if value.split()[:1] == ["*"] else _token(value)
            if agent in (ours, "*") and agent:
                group.add(agent)
                undelayed.add(agent)
                rules.setdefault(agent, [])
        elif kind in ("allow", "disallow"):
            ruled = True
            for agent in group if value else ():
                rules[agent].append(_rule(value, allows=kind == "allow"))
        elif kind == "delay" and _SECONDS.fullmatch(value):
            delays |= {agent: max(float(value), delays.get(agent, 0.0)) for agent in undelayed}
            undelayed = set()
    agent = ours if ours in rules else "*"
    ranked = sorted(rules.get(agent, ()), key=lambda rule: (-rule.length, not rule.allows))
    return Robots(tuple(ranked), delays.get(agent), cut=cut or len(body) > MAX_BYTES)


def _rule(pattern: str, *, allows: bool) -> Rule:
    ends = pattern.endswith("$")
    parts = tuple(map(_comparable, pattern.removesuffix("$").split("*")))
    return Rule(parts, ends, sum(map(len, parts)) + len(parts) - 1 + ends, allows)


def _token(text: str) -> str:
    match = _TOKEN.match(text)
    return match[0].lower() if match else ""


def _comparable(path: str) -> str:
    """Percent-encoded where it must be, in capitals, and nowhere else (section 2.2.2)."""
    return _PERCENT.sub(_percent, path)


def _percent(match: re.Match[str]) -> str:
    if match[0].startswith("%"):
        octet = unquote_to_bytes(match[0])
        return octet.decode("ascii") if _DECODED.fullmatch(octet) else match[0].upper()
    return quote(match[0], errors="surrogateescape")


@dataclass(frozen=True, slots=True)
class Shut:
    """Nothing of an origin can be had; the reason goes to each of its targets."""

    reason: str


class Gates:
    """What is known of each origin during a run."""

    def __init__(self) -> None:
        self._known: dict[str, Robots | Shut] = {}
        self._tries: Counter[str] = Counter()
        self._delays: dict[str, float] = {}

    def known(self, url: str) -> bool:
        return _origin(url) in self._known

    def open(self, url: str, robots: Robots) -> None:
        self._known[_origin(url)] = robots
        if robots.crawl_delay is not None:
            # http and https of a name are one host to be polite to.
            host = host_of(url)
            self._delays[host] = max(robots.crawl_delay, self._delays.get(host, 0.0))

    def shut(self, url: str, reason: str) -> None:
        """The origin did not answer, after all tries."""
        self._known[_origin(url)] = Shut(reason)

    def stumbled(self, url: str) -> int:
        """Count a failed try; gives how many there have been."""
        self._tries[_origin(url)] += 1
        return self._tries[_origin(url)]

    def verdict(self, url: str) -> Shut | str | None:
        """None: go. A text: robots.txt refuses, for that reason. Shut: nothing can be had."""
        gate = self._known.get(_origin(url))
        if gate is None or isinstance(gate, Shut):
            return gate
        if gate.hold_off:
            return "robots.txt unavailable"
        return None if gate.allows(url) else "robots.txt"

    def crawl_delay(self, host: str) -> float | None:
        return self._delays.get(host)


def robots_url(url: str) -> str:
    return _origin(url) + "/robots.txt"


def _origin(url: str) -> str:
    """The origin of a target's URL, which is canonical and so has one."""
    return origin(url) or url
