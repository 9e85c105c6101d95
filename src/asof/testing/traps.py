"""Crawler traps of the synthetic web: pages without end, linked from real ones.

| kind | where | what goes on for ever |
|---|---|---|
| calendar | /calendar/2025/03/ | the month before, the month after, nothing in any |
| path | /guide/sub/sub/page | a relative link that the server answers at any depth |
| session | any page, ?sid=... | all links carry an id that is new in every answer |
| parameters | /classifieds/?price=low&... | each page offers one more filter on the same list |
| nonsense | /library/<16 digits> | texts by chance, each with three further ones |

Every page of a trap is a function of the site's seed and its own address.
"""

import re
import zlib
from calendar import month_name
from dataclasses import dataclass
from html import escape

from asof.clock import to_datetime
from asof.testing.chance import Purpose, mix
from asof.testing.layout import Kind, Layout
from asof.testing.pages import Press
from asof.testing.spec import SiteSpec
from asof.testing.words import FILTERS, sentence, title

_SHAPES = {
    "calendar": re.compile(r"/calendar/([0-9]{4})/(0[1-9]|1[0-2])/"),
    "path": re.compile(r"/guide/(?:sub/)*page"),
    "session": re.compile(r"(/[^?]*)\?sid=([0-9a-f]{32})"),
    "parameters": re.compile(r"/classifieds/(?:\?(.*))?"),
    "nonsense": re.compile(r"/library/([0-9a-f]{16})"),
}
_ADVERTISEMENTS = 30
_TRAP = 101  # beside the numbers of Purpose
_ANCHOR = re.compile(rb'(<a href=")(/[^"?#]*)"')


@dataclass(frozen=True, slots=True)
class Traps:
    """The traps of one host."""

    _spec: SiteSpec
    _layout: Layout
    _press: Press

    def owns(self, path: str) -> bool:
        """Whether a path, with its query, belongs to a trap."""
        return self._match(path) is not None or self.session(path) is not None

    def page(self, path: str) -> bytes | None:
        """The HTML of a trap's page; None if the path belongs to none, or to a session."""
        found = self._match(path)
        if found is None:
            return None
        kind, match = found
        if kind == "calendar":
            return self._month(int(match[1]), int(match[2]))
        if kind == "path":
            return self._print("A Guide for Visitors", ["Begin at the ferry steps, then turn."],
                               [("sub/page", "The next turn")])  # fmt: skip
        if kind == "parameters":
            return self._list(match[1] or "")
        return self._nonsense(int(match[1], 16))

    def session(self, path: str) -> tuple[str, str] | None:
        """The real page and the id of a path that carries one, or None."""
        match = _SHAPES["session"].fullmatch(path)
        if match is None or "session" not in self._spec.traps or not self._is_page(match[1]):
            return None
        return match[1], match[2]

    def in_session(self, body: bytes, path: str, sid: str) -> bytes:
        """A page with an id, new for this address, in all its links to pages."""
        fresh = _sid(mix(int(sid, 16) & (1 << 64) - 1, zlib.crc32(path.encode())))

        def add(match: re.Match[bytes]) -> bytes:
            if not self._is_page(match[2].decode()):
                return match[0]
            return b'%b%b?sid=%b"' % (match[1], match[2], fresh.encode())

        return _ANCHOR.sub(add, body)

    def _is_page(self, path: str) -> bool:
        resource = self._layout.resources.get(path)
        return resource is not None and resource.kind is Kind.PAGE

    def _match(self, path: str) -> tuple[str, re.Match[str]] | None:
        for kind in self._spec.traps:
            match = _SHAPES[kind].fullmatch(path) if kind != "session" else None
            if match is not None:
                return kind, match
        return None

    def _month(self, year: int, month: int) -> bytes:
        links = []
        for step, text in ((1, "Next month"), (-1, "Previous month")):
            there = year * 12 + month - 1 + step
            if 12 <= there < 120_000:
                links.append((f"/calendar/{there // 12:04d}/{there % 12 + 1:02d}/", text))
        days = "".join(f"<td>{day}</td>" for day in range(1, 29))
        table = f"<table><tr>{days}</tr></table>\n"
        said = ["Nothing is planned for this month."]
        return self._print(f"{month_name[month]} {year}", said, links, table)

    def _list(self, query: str) -> bytes:
        chosen = query.split("&") if query else []
        lines = [
            sentence(mix(self._spec.seed, self._layout.host, _TRAP, k))
            for k in range(_ADVERTISEMENTS)
            if all(mix(k, zlib.crc32(choice.encode())) % 3 or choice[:5] == "sort="
                   for choice in chosen)
        ]  # fmt: skip
        more = [
            (f"/classifieds/?{'&'.join((*chosen, choice))}", choice.replace("=", ": "))
            for choice in FILTERS
            if choice not in chosen
        ]
        return self._print("Classified Advertisements", lines, more)

    def _nonsense(self, number: int) -> bytes:
        key = (self._spec.seed, self._layout.host, _TRAP, number)
        lines = [sentence(mix(*key, k)) for k in range(8 + mix(*key) % 16)]
        onward = [mix(*key, Purpose.LINK, k) for k in range(3)]
        return self._print(title(*key), lines, [(_shelf(n), title(*key, n)) for n in onward])

    def _print(
        self, heading: str, lines: list[str], links: list[tuple[str, str]], more: str = ""
    ) -> bytes:
        text = "".join(f"<p>{line}</p>\n" for line in lines)
        items = "".join(f'<li><a href="{escape(href)}">{name}</a></li>' for href, name in links)
        return self._press.leaflet(heading, f"<h1>{heading}</h1>\n{more}{text}<ul>{items}</ul>")


def entrances(spec: SiteSpec, layout: Layout) -> list[tuple[int, str, str]]:
    """(page, link, text) on the front page and two others that stay for ever."""
    always = layout.permanent
    found = []
    for page in dict.fromkeys((always[0], always[len(always) // 3], always[2 * len(always) // 3])):
        number = mix(spec.seed, layout.host, _TRAP, page)
        # Every page links to its sections (or the front page) without an id, too, and before.
        shelf = layout.pages[layout.sections[page % len(layout.sections)] if layout.sections else 0]
        start = to_datetime(spec.start)
        links = {
            "calendar": (f"/calendar/{start:%Y/%m}/", "What is on"),
            "path": ("/guide/page", "A guide for visitors"),
            "session": (f"{shelf.path}?sid={_sid(number)}", "For subscribers"),
            "parameters": ("/classifieds/", "Classified advertisements"),
            "nonsense": (_shelf(number), "From the old library"),
        }
        found += [(page, *links[kind]) for kind in spec.traps]
    return found


def _shelf(number: int) -> str:
    return f"/library/{number:016x}"


def _sid(number: int) -> str:
    return f"{mix(number, 1):016x}{mix(number, 2):016x}"
