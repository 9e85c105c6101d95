"""The captures of a URL by content, in a timeline, in a calendar; and the URLs under a prefix."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from asof.change.arrivals import Arrival, arrivals
from asof.clock import SECOND, Instant, iso, parse_moment, to_datetime
from asof.errors import NotCaptured, UsageError
from asof.model import Capture, Proof, Validity
from asof.report.change_kinds import TOLD, Kind, kind_of
from asof.report.words import MONTHS
from asof.web import address
from asof.web.calendars import Year, calendar, days, years
from asof.web.machine import asked_url, json_answer
from asof.web.pages import END_OF_TIME, HISTORIES_KEPT, Pages, number_in, whole
from asof.web.timeline import Timeline, timeline

URLS_A_PAGE = 100
CAPTURES_A_PAGE = 50
BEYOND = END_OF_TIME + SECOND


@dataclass(frozen=True, slots=True)
class History:
    """The contents of a URL, the moments of its captures in their order, and its years."""

    validities: Sequence[Validity]
    times: Sequence[Instant]
    years: tuple[Year, ...]


@dataclass(frozen=True, slots=True)
class Came:
    """How the contents of a URL came, and the picture of that."""

    arrivals: Sequence[Arrival]
    picture: Timeline | None


@dataclass(frozen=True, slots=True)
class Group:
    """Captures of one content, the latest first; the number counts the contents of a URL."""

    number: int
    arrival: Arrival
    proofs: Sequence[tuple[Capture, Proof]]

    @property
    def kind(self) -> Kind:
        """Of the change to this content."""
        return kind_of(self.arrival.change)

    @property
    def is_redundant(self) -> bool:
        """Whether it says nothing new: it had been there before, or noise alone is new."""
        return self.arrival.before is not None or self.kind is Kind.NOISE


class Captures:
    """Of one archive. Its public methods are endpoints; they run in a thread."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._known = lru_cache(HISTORIES_KEPT)(self._history_at)
        self._came = lru_cache(HISTORIES_KEPT)(self._arrivals_at)

    def page(self, request: Request) -> Response:
        """The captures of a URL; without one the URLs under a prefix."""
        query = request.query_params
        url = query.get("url", "").strip()
        return self._of(address.typed(url), query) if url else self._urls_under(query)

    def calendar(self, request: Request) -> Response:
        """The same as JSON: captures by month and, of a year, by day."""
        url = asked_url(request)
        known = self._history(url)
        if not known.times:
            raise NotCaptured(f"{url} is not in this archive.")
        text = request.query_params.get("year") or str(known.years[-1].year)
        if not (text.isascii() and text.isdigit() and len(text) <= 4 and int(text)):
            raise UsageError(f"year={text[:80]} is no year.", hint="Write it as 2026.")
        came = self._arrivals(url).arrivals
        found = days(known.times, came, int(text)).values()
        return json_answer({
            "url": url, "captures": len(known.times), "year": int(text),
            "first": iso(known.times[0]), "last": iso(known.times[-1]),
            "years": [{"year": each.year, "captures": each.captures, "months": each.months}
                      for each in known.years],
            "days": [{"day": f"{each.day}", "captures": each.captures, "contents": each.contents,
                      "change": each.change} for each in found],
        })  # fmt: skip

    def _history(self, url: str) -> History:
        return self._known(url, self._pages.listing.committed())

    def _history_at(self, url: str, committed: int) -> History:
        found = self._pages.history(url)
        times = sorted(evidence.at for validity in found for evidence in validity.evidence)
        return History(found, times, years(times))

    def _arrivals(self, url: str) -> Came:
        """How the contents of a URL came, as far as that is known by now."""
        texts = self._pages.archive.folder.texts
        return self._came(url, self._pages.listing.committed(), modified(texts))

    def _arrivals_at(self, url: str, committed: int, read: object) -> Came:
        found = arrivals(self._pages.archive.folder.texts, self._history(url).validities)
        return Came(found, timeline(found, None))

    def _of(self, url: str, query: Mapping[str, str]) -> Response:
        pages, known = self._pages, self._history(url)
        if not known.validities:
            return pages.not_captured(url)
        at, on = (query.get(name, "").strip() for name in ("at", "on"))
        now = pages.clock.now()
        asked = parse_moment(at, now) if at else None
        since = parse_moment(on, now, start=True) if on else -BEYOND
        until = parse_moment(on, now) if on else BEYOND
        shown = pages.chooser.page(url, asked).capture if asked is not None else None
        begin = bisect_left(known.times, since)
        before = number_in(query, "before", BEYOND)
        end = min(bisect_right(known.times, until), bisect_left(known.times, before))
        window = known.times[max(end - CAPTURES_A_PAGE, begin) : end]
        rows = list(pages.answers(url, window[0], window[-1])) if window else []
        kept = self._arrivals(url)
        came = kept.arrivals
        around = window[-1] if window else known.times[-1] if not on else until
        older = f"{address.listing(url, at, on)}&before={window[0]}" if window else ""
        return pages.render(
            "captures.html", at=at, on=on, asked=asked, shown=shown, history=known.validities,
            count=len(known.times), within=bisect_right(known.times, until) - begin,
            url=known.validities[-1].url,  # under another scheme, perhaps
            folds=_folded(list(_grouped(rows, came))),
            picture=kept.picture if asked is None else timeline(came, asked),
            calendar=calendar(known.years, known.times, came, to_datetime(around).year),
            unlooked=sum(each.change is None for each in came[1:]), kinds=TOLD, months=MONTHS,
            older=older if end - begin > CAPTURES_A_PAGE else "", stretch=(since, until),
        )  # fmt: skip

    def _urls_under(self, query: Mapping[str, str]) -> Response:
        prefix, after = query.get("prefix", "").strip(), query.get("after", "")
        urls = self._pages.listing.urls(prefix, after, URLS_A_PAGE + 1)
        shown = whole(urls, URLS_A_PAGE, lambda known: known.key)
        more = shown[-1].key if len(urls) > len(shown) else ""
        return self._pages.render("urls.html", prefix=prefix, after=after, urls=shown, more=more)


def modified(database: Path) -> tuple[int, ...]:
    """Another value whenever something was written into a database, or it was made anew."""
    found = []
    for path in (database, database.with_name(f"{database.name}-wal")):
        with suppress(OSError):
            state = path.stat()
            found += [state.st_ino, state.st_mtime_ns, state.st_size]
    return tuple(found)


def _grouped(rows: list[Capture], history: Sequence[Arrival]) -> Iterator[Group]:
    """Captures under the content they prove, newest first."""
    by_record = {capture.record_id: capture for capture in rows}
    for number in reversed(range(len(history))):
        proofs = [
            (by_record[evidence.record_id], evidence.proof)
            for evidence in reversed(history[number].validity.evidence)
            if evidence.record_id in by_record
        ]
        if proofs:
            yield Group(number, history[number], proofs)


def _folded(groups: Sequence[Group]) -> list[list[Group]]:
    """The same in runs: those in a row that say nothing new are one, but for the first of all."""
    runs: list[list[Group]] = []
    for place, group in enumerate(groups):
        if place > 1 and group.is_redundant and runs[-1][-1].is_redundant:
            runs[-1].append(group)
        else:
            runs.append([group])
    return runs
