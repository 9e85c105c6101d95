"""Two moments of a URL beside each other: as pages, as texts, as source, and as JSON."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from asof.change.comparison import Comparison, compare_captures
from asof.change.difference import Difference, difference
from asof.change.texts import Texts
from asof.clock import Instant, parse_moment, stamp
from asof.errors import AsofError, NotCaptured, UsageError
from asof.model import Capture, find_header
from asof.replay.choose import Policy
from asof.report.difference_page import shown
from asof.report.difference_words import comparison_json, sentence
from asof.report.words import human_bytes
from asof.text.encoding.charset import charset_of, decoded
from asof.text.kinds.media import media_of
from asof.text.sandbox import ReadingLimits
from asof.web import address
from asof.web.address import Wanted
from asof.web.machine import asked_url, json_answer
from asof.web.pages import Changes, Pages, leading
from asof.web.replay_site import SCRIPTED_TYPES, Scripted, scripted
from asof.web.security import SANDBOX, SCRIPTED, banner_policy

# Characters of each text, and bytes of each source, in which changes are marked; rows that a page
# has. Two sources of that size without a line in common take about two seconds.
MOST_MARKED = 300_000
MOST_SOURCE = 256 << 10
MOST_ROWS = 4_000
_KEPT = 8
# A reader waits for it.
_LIMITS = ReadingLimits(seconds=10.0, patience=20.0)
_SOURCES = re.compile(r"text/.*|.*[+/](?:xml|json)|.*(?:java|ecma)script|application/(?:sql|x-sh)")


@dataclass(frozen=True, slots=True)
class Side:
    """What one of the two moments shows, and the other contents around it that can be picked."""

    stamp: str
    at: Instant
    capture: Capture | None
    changes: Changes


class Compare:
    """Comparisons in one archive; the last ones are kept, for each has several views."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._turn = Lock()  # documents are read by one child process, and not by many at once
        self._kept = lru_cache(_KEPT)(self._compare)

    def form(self, request: Request) -> Response:
        """From the form to the page: two moments become an address."""
        query, now = request.query_params, self._pages.clock.now()
        moments = [query.get(name, "").strip() or "now" for name in ("from", "to")]
        # Stamps mean the end of what they name, however short they are.
        stamps = (address.stamp_of(each, now) for each in moments)
        old, new = sorted(stamps, key=lambda digits: digits.ljust(14, "9"))
        return leading(address.compare(old, new, asked_url(request)), 303)

    def page(self, request: Request) -> Response:
        """The endpoint of `/compare/{stamp}/{stamp}/{url}` and its other views."""
        asked, pages = address.compared(request.scope), self._pages
        if asked is None:
            return pages.not_found(request, LookupError(request.url.path))
        sides = [self._side(moment, asked.url) for moment in (asked.old, asked.new)]
        old, new = (side.capture for side in sides)
        if old is None or new is None:
            lost = sides[old is not None]
            return pages.missing(Wanted(lost.stamp, "", asked.url), lost.at)
        told = self._told(old, new, full=asked.view == "full")
        values: dict[str, Any] = {"asked": asked, "sides": sides, "sentence": sentence(told.change)}
        values["details"] = told.change.details
        if not asked.view:
            return self._rendered(request, (old, new), values)
        marked, notes = told.difference, list[str]()
        if asked.view == "source":
            marked, notes = self._source(old, new)
        if len(marked.rows) > MOST_ROWS:
            notes.append(f"there are {len(marked.rows) - MOST_ROWS:,} more lines, not shown")
        items = shown(marked.rows[:MOST_ROWS], room=MOST_ROWS)
        changed = marked.is_change
        return pages.render("compare.html", notes=notes, changed=changed, items=items, **values)

    def json(self, request: Request) -> Response:
        """The endpoint of `/-/api/compare?url=&from=&to=&text=`."""
        query, url = request.query_params, asked_url(request)
        if not (query.get("from") and query.get("to")):
            raise UsageError("Two moments are compared.", hint="Give them as from= and to=.")
        if (text := query.get("text") or "main") not in ("main", "all"):
            raise UsageError(f"{text[:80]!r} is no text.", hint="There are main and all.")
        old, new = (self._side(query[name], url).capture for name in ("from", "to"))
        if old is None or new is None:
            raise NotCaptured(f"{url} is not known as of both moments.")
        return json_answer(comparison_json(self._told(old, new, full=text == "all")))

    def _side(self, moment: str, url: str) -> Side:
        """By the chooser of replay, so that what is compared is what is shown."""
        at = parse_moment(moment, self._pages.clock.now())
        capture = self._pages.chooser.page(url, at).capture
        around = Changes(None, None) if capture is None else self._pages.around(url, capture)[1]
        return Side(stamp(at), at, capture, around)

    def _told(self, old: Capture, new: Capture, *, full: bool) -> Comparison:
        with self._turn:
            return self._kept(old, new, full)

    def _compare(self, old: Capture, new: Capture, full: bool) -> Comparison:
        with Texts(self._pages.archive, limits=_LIMITS) as texts:
            return compare_captures(texts, old, new, full=full, most=MOST_MARKED)

    def _rendered(
        self, request: Request, captures: Iterable[Capture], values: dict[str, Any]
    ) -> Response:
        host, run = request.headers.get("host", ""), Scripted()
        if all(each.media_type in SCRIPTED_TYPES for each in captures):
            run = scripted(self._pages.scripts, host, address.shelf(), Policy.COHERENT)
        script = self._pages.text("compare.js")
        # Where scripts cannot run after all, the frames are our own.
        policy = banner_policy(script, f"{run.origin} 'self'".strip())
        values |= {"sandbox": SCRIPTED if run.origin else SANDBOX, "scripted": run}
        return self._pages.render("compare.html", policy=policy, script=Markup(script), **values)

    def _source(self, *captures: Capture) -> tuple[Difference, list[str]]:
        """The lines of two payloads, and what there is to say of them."""
        texts, said = zip(*map(self._lines, captures), strict=True)
        named = zip(("left", "right"), said, strict=True)
        return difference(*texts), [f"{side}: {note}" for side, note in named if note]

    def _lines(self, capture: Capture) -> tuple[str, str]:
        try:
            memento = self._pages.archive.read(capture)
            data = b"".join(memento.payload(MOST_SOURCE + 1))
        except AsofError as error:  # lost or damaged
            return "", self._pages.inside(error.what)
        declared = find_header(memento.headers, "Content-Type")
        media = media_of(data, declared, capture.url)
        if data and not _SOURCES.fullmatch(media):
            return "", f"{media}, which has no lines"
        text = decoded(data[:MOST_SOURCE], charset_of(data, declared)).replace("\r\n", "\n")
        is_cut = len(data) > MOST_SOURCE
        note = f"only the first {human_bytes(MOST_SOURCE)} are compared" if is_cut else ""
        return text.removesuffix("\n"), note
