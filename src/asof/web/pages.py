"""The pages for people: home, captures of a URL, URLs under a prefix, mementos below a banner."""

import bisect
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from asof.archive import OpenArchive
from asof.catalog.listing import Listing
from asof.catalog.referents import ANSWERS
from asof.clock import SECOND, Clock, Instant, parse_moment, parse_stamp
from asof.coherence.history import GradedHistories
from asof.cover.kept.saved_covers import saved_covers
from asof.errors import AsofError, NotCaptured, UsageError
from asof.model import Capture, Proof, Validity
from asof.replay.rewrite_html import About
from asof.report.cover_words import proof
from asof.report.quality_words import PROOFS
from asof.report.render import environment
from asof.report.validity_words import held
from asof.report.words import moment as as_moment
from asof.url import canonical
from asof.web import address
from asof.web.address import Wanted
from asof.web.security import SANDBOX, banner_policy
from asof.web.timeline import timeline

HOSTS_A_PAGE = 50
URLS_A_PAGE = 100
CAPTURES_A_PAGE = 200
CRAWLS_SHOWN = 12
COVERS_SHOWN = 6
HISTORIES_KEPT = 32
END_OF_TIME: Instant = parse_stamp("99991231235959") or 0


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The captures around one: None where there is no other second with a capture."""

    first: Capture
    last: Capture
    previous: Capture | None
    next: Capture | None


@dataclass(frozen=True, slots=True)
class Facts:
    """How much an archive holds; `stored` are bytes."""

    captures: int
    files: int
    stored: int
    crawls: int


class Pages:
    """Renders pages. Methods that take a request are endpoints; they run in a thread."""

    def __init__(self, archive: OpenArchive, clock: Clock, era: Instant | None = None) -> None:
        self.archive = archive
        self.clock = clock
        self.era = clock.now() if era is None else era
        self.listing = Listing(archive.ledger, clock)
        self._graded = GradedHistories(archive)
        self._history = lru_cache(HISTORIES_KEPT)(self._history_at)
        self._env = environment(
            "asof.web",
            root=address.prefix.get,
            replay=address.replay,
            exact=address.exact,
            listing=address.listing,
            below=address.below,
            cover_page=address.cover_page,
            proof=proof,
            told_proof=PROOFS,
            held=partial(held, when=as_moment),
        )

    def home(self, request: Request) -> Response:
        after = request.query_params.get("after", "")
        hosts = self.listing.hosts(after, HOSTS_A_PAGE + 1)
        crawls = self.archive.crawls()
        covers = saved_covers(self.archive.folder)
        return self.render(
            "home.html",
            covers=covers[:COVERS_SHOWN],
            cover_count=len(covers),
            facts=self.facts(),
            crawls=crawls[: -CRAWLS_SHOWN - 1 : -1],
            hosts=hosts[:HOSTS_A_PAGE],
            after=after,
            more=hosts[HOSTS_A_PAGE - 1].key if len(hosts) > HOSTS_A_PAGE else "",
        )

    def facts(self) -> Facts:
        """How much there is."""
        segments = self.archive.segments()
        stored = sum(segment.committed for segment in segments)
        return Facts(self.listing.captures(), len(segments), stored, len(self.archive.crawls()))

    def captures(self, request: Request) -> Response:
        url = request.query_params.get("url", "").strip()
        if url:
            return self._captures_of(address.typed(url), request.query_params)
        return self._urls_under(request.query_params)

    def go(self, request: Request) -> Response:
        """From the form to the page: a URL and a moment become an address."""
        url = request.query_params.get("url", "").strip()
        if not url:
            return leading(f"{address.prefix.get()}/", 303)
        text = request.query_params.get("at", "").strip() or "now"
        stamp = address.stamp_of(text, self.clock.now())
        return leading(address.replay(stamp, address.typed(url)), 303)

    def framed(self, wanted: Wanted, capture: Capture, about: About, *, boxed: bool) -> Response:
        """A memento in a frame, and above it when it is from, and the way to other times."""
        script = self.text("framed.js")
        now = self.clock.now()
        return self.render(
            "framed.html",
            policy=banner_policy(script),
            script=Markup(script),  # a file of ours
            wanted=wanted,
            asked=min(parse_moment(wanted.stamp, now), now),
            capture=capture,
            validity=_validity_of(capture, self.history(wanted.url)),
            around=self.neighbours(wanted.url, capture),
            title=about.title,
            refresh=about.refresh if about.refresh != capture.url else "",
            sandbox=SANDBOX if boxed else None,
        )

    def neighbours(self, url: str, capture: Capture) -> Neighbours:
        """The captures before and after, by whole seconds: a stamp cannot name less."""
        second = capture.at - capture.at % SECOND
        return Neighbours(
            first=next(self.answers(url), capture),
            last=self.archive.as_of(url, END_OF_TIME) or capture,
            previous=self.archive.as_of(url, second - 1),
            next=next(self.answers(url, since=second + SECOND), None),
        )

    def history(self, url: str) -> list[Validity]:
        """The contents a URL has had, by time; kept for as long as nothing is captured.

        The list, the banner and the next page's banner ask for the same one, and of a URL with
        20,000 captures it takes 0.4 s.
        """
        return self._history(url, self.listing.committed())

    def _history_at(self, url: str, committed: int) -> list[Validity]:
        return sorted(self._graded.of(url), key=lambda validity: validity.since)

    def answers(
        self, url: str, since: Instant | None = None, until: Instant | None = None
    ) -> Iterator[Capture]:
        """The captures of a URL that are answers of its server, oldest first."""
        found = self.archive.captures(url=url, since=since, until=until)
        return (capture for capture in found if capture.kind in ANSWERS)

    def error(self, request: Request, error: Exception) -> Response:
        if not isinstance(error, AsofError):
            raise error
        status, heading = 500, "That cannot be shown"
        if isinstance(error, UsageError):
            status, heading = 400, "That cannot be asked"
        elif isinstance(error, NotCaptured):
            status, heading = 404, "Not in this archive"
        told = {"heading": heading, "says": error.what, "hint": error.hint}
        return self.render("message.html", status, **told)

    def broken(self, request: Request, error: Exception) -> Response:
        """What nobody foresaw; the server's log has the rest."""
        told = {"heading": "That went wrong", "says": "The server's log says more.", "hint": ""}
        return self.render("message.html", 500, **told)

    def not_found(self, request: Request, error: Exception) -> Response:
        return self.render("message/nothing_here.html", 404)

    def not_captured(self, url: str) -> Response:
        command = f"asof crawl {shlex.quote(url)}" if canonical(url) is not None else ""
        site = "/".join(url.split("/")[:3]) + "/" if "://" in url else url
        return self.render("message/not_captured.html", 404, url=url, command=command, site=site)

    def render(
        self, template: str, status: int = 200, *, policy: str = "", **values: object
    ) -> HTMLResponse:
        headers = {"cache-control": "no-cache"}
        if policy:
            headers["content-security-policy"] = policy
        return HTMLResponse(self.text(template, status=status, **values), status, headers)

    def text(self, template: str, **values: object) -> str:
        return self._env.get_template(template).render(values)

    def _captures_of(self, url: str, query: Mapping[str, str]) -> Response:
        history = self.history(url)
        if not history:
            return self.not_captured(url)
        at = query.get("at", "").strip()
        asked = parse_moment(at, self.clock.now()) if at else None
        shown = self.archive.as_of(url, asked) if asked is not None else None
        times = sorted(evidence.at for v in history for evidence in v.evidence)
        end = bisect.bisect_left(times, number_in(query, "before", END_OF_TIME))
        window = times[max(end - CAPTURES_A_PAGE, 0) : end]
        rows = list(self.answers(url, window[0], window[-1])) if window else []
        return self.render(
            "captures.html",
            url=url,
            at=at,
            asked=asked,
            shown=shown,
            history=history,
            count=len(times),
            first=times[0],
            last=times[-1],
            groups=_grouped(rows, history),
            picture=timeline(history, asked),
            older=window[0] if end > CAPTURES_A_PAGE else 0,
        )

    def _urls_under(self, query: Mapping[str, str]) -> Response:
        prefix, after = query.get("prefix", "").strip(), query.get("after", "")
        urls = self.listing.urls(prefix, after, URLS_A_PAGE + 1)
        shown = urls[:URLS_A_PAGE]
        # URLs that share a key stay together: the next page begins after a whole key.
        while shown and len(urls) > URLS_A_PAGE and shown[-1].key == urls[len(shown)].key:
            shown.pop()
        shown = shown or urls
        more = shown[-1].key if len(urls) > len(shown) else ""
        return self.render("urls.html", prefix=prefix, after=after, urls=shown, more=more)


def _validity_of(capture: Capture, history: list[Validity]) -> Validity | None:
    """The stretch of time that a capture is part of the proof for."""
    for validity in history:
        proofs = validity.evidence if validity.holds(capture.at) else ()
        if any(evidence.record_id == capture.record_id for evidence in proofs):
            return validity
    return None


def _grouped(
    rows: list[Capture], history: list[Validity]
) -> list[tuple[Validity, int, list[tuple[Capture, Proof]]]]:
    """Captures under the content they prove, newest first; the number counts contents."""
    by_record = {capture.record_id: capture for capture in rows}
    groups = []
    for number, validity in enumerate(history):
        proofs = [
            (by_record[evidence.record_id], evidence.proof)
            for evidence in reversed(validity.evidence)
            if evidence.record_id in by_record
        ]
        if proofs:
            groups.append((validity, number, proofs))
    return list(reversed(groups))


def leading(where: str, status: int = 302) -> Response:
    """A redirect to an address as it is written: another escape in it would be another URL."""
    return Response(status_code=status, headers={"location": where, "cache-control": "no-store"})


def number_in(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else default
