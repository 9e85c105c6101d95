"""What the pages for people share, and mementos below a banner."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from asof.archive import OpenArchive
from asof.archive.stocktaking import Stocktaking
from asof.catalog.inventory import Inventory, Totals
from asof.catalog.listing import Listing
from asof.catalog.referents import ANSWERS
from asof.clock import SECOND, Clock, Instant, parse_moment, parse_stamp
from asof.clock import stamp as as_stamp
from asof.coherence.history import GradedHistories
from asof.errors import AsofError, NotCaptured, UsageError
from asof.model import Capture, State, Validity
from asof.replay.choose import HOLDING, Choice, Chooser
from asof.replay.composition import Composition
from asof.replay.rewrite_html import About
from asof.report.composition_words import POLICIES, counted
from asof.report.cover_words import proof
from asof.report.quality_words import PROOFS
from asof.report.render import environment
from asof.report.validity_words import held
from asof.report.words import moment as as_moment
from asof.url import canonical
from asof.web import address, wabac
from asof.web.address import Wanted
from asof.web.orders import Orders, Refused
from asof.web.pictures.thumbnails import Ask, Thumbnails
from asof.web.replay_site import WHY_STILL, ReplaySite, Scripted
from asof.web.security import SANDBOX, SCRIPTED, banner_policy, live_policy

HISTORIES_KEPT = 32
_HEADINGS = {
    400: "That cannot be asked", 404: "Not in this archive", 500: "That cannot be shown",
}  # fmt: skip
_Item = TypeVar("_Item")
END_OF_TIME: Instant = parse_stamp("99991231235959") or 0


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The captures around one: None where there is no other second with a capture."""

    first: Capture
    last: Capture
    previous: Capture | None
    next: Capture | None


@dataclass(frozen=True, slots=True)
class Changes:
    """When the content before, and the one after, was captured first."""

    before: Instant | None
    after: Instant | None


@dataclass(frozen=True, slots=True)
class Facts:
    """How much an archive holds; `stored` are bytes, `totals` None while they are counted."""

    captures: int
    files: int
    stored: int
    crawls: int
    totals: Totals | None


@dataclass(frozen=True, slots=True)
class Framed:
    """A memento that is shown below a banner; `boxed` unless browsers would not show it then."""

    wanted: Wanted
    capture: Capture
    choice: Choice
    made: Composition
    about: About
    scripted: Scripted
    boxed: bool


class Pages:
    """Renders pages. Methods that take a request are endpoints; they run in a thread."""

    def __init__(
        self,
        archive: OpenArchive,
        clock: Clock,
        era: Instant | None = None,
        name: str = "",
        scripts: ReplaySite | None = None,
        token: str = "",
        scratch: Path | None = None,
        ask: Ask | None = None,
    ) -> None:
        self.archive = archive
        self.scratch = scratch
        self.thumbnails = Thumbnails(archive, clock, ask)
        self.orders = Orders(token)
        self.scripts = scripts
        self.clock = clock
        self.name = name  # among several archives
        self.era = clock.now() if era is None else era
        self.listing = Listing(archive.ledger, clock)
        self.stock = Stocktaking(archive)
        self.chooser = Chooser(archive)
        self._graded = GradedHistories(archive)
        self._history = lru_cache(HISTORIES_KEPT)(self._history_at)
        self._env = environment(
            "asof.web", root=address.prefix.get, top=address.root.get, shelf=name,
            replay=address.replay, written=address.written, why_still=WHY_STILL,
            exact=address.exact, composition=address.composition, listing=address.listing,
            below=address.below, cover_page=address.cover_page, proof=proof, told_proof=PROOFS,
            compare=address.compare, quality=address.quality, rule=address.rule,
            crawl_page=address.crawl_page, stamp=as_stamp, orders=self.orders,
            site_of=address.site,
            held=partial(held, when=as_moment, briefly=True), thumbnail=self.thumbnails.of,
            latest_thumbnail=partial(self.thumbnails.of_latest, until=END_OF_TIME),
        )  # fmt: skip

    def facts(self, inventory: Inventory | None) -> Facts:
        """How much there is, by what was counted if that is known."""
        totals = None if inventory is None else inventory.totals
        captures = self.listing.captures() if totals is None else totals.captures
        segments = self.archive.segments()
        stored = sum(segment.committed for segment in segments)
        return Facts(captures, len(segments), stored, len(self.archive.crawls()), totals)

    def go(self, request: Request) -> Response:
        """From the form to the page: a URL and a moment become an address, words are searched."""
        url, at = (request.query_params.get(name, "").strip() for name in ("url", "at"))
        if not url:
            return leading(f"{address.prefix.get()}/", 303)
        if address.are_words(url):
            return leading(address.search({"q": url, "at": at}), 303)
        stamp = address.stamp_of(at or "now", self.clock.now())
        return leading(address.replay(stamp, address.typed(url)), 303)

    def framed(self, page: Framed) -> Response:
        """A memento in a frame, and above it when it is from, and the way to other times."""
        wanted, capture, scripted = page.wanted, page.capture, page.scripted
        script = self.text("banner.js")
        script += self.text("scripted.js" if scripted.origin else "framed.js")
        now = self.clock.now()
        moment = parse_moment(wanted.stamp, now)
        validity, changes = self.around(wanted.url, capture)
        return self.render(
            "framed.html",
            policy=banner_policy(script, scripted.origin or "'self'"),
            script=Markup(script),  # a file of ours
            wanted=wanted, asked=min(moment, now), asked_stamp=as_stamp(moment),
            shown_stamp=as_stamp(page.choice.at), scripted=scripted, capture=capture,
            choice=page.choice,
            holds=page.choice.verdict in HOLDING and page.choice.at == moment,
            counted=counted(page.made),
            validity=validity,
            changes=changes,
            parts=len(page.made.resources),
            known=sum(each.verdict in HOLDING for each in page.made.resources),
            policies=POLICIES, title=page.about.title,
            refresh=page.about.refresh if page.about.refresh != capture.url else "",
            sandbox=SCRIPTED if scripted.origin else SANDBOX if page.boxed else None,
        )  # fmt: skip

    def around(self, url: str, capture: Capture) -> tuple[Validity | None, Changes]:
        """The stretch of time that a capture is part of the proof for, and what lies beside it."""
        history = self.history(url)
        validity = _validity_of(capture, history)
        if validity is None:
            near = self.neighbours(capture.url, capture)
            sides = (None if each is None else each.at for each in (near.previous, near.next))
            return None, Changes(*sides)
        told = [each for each in history if each.state is not State.SILENT or each is validity]
        place = told.index(validity)
        beside = told[:place][-1:], told[place + 1 :][:1]
        return validity, Changes(*(side[0].evidence[0].at if side else None for side in beside))

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

    def about(self, request: Request) -> Response:
        """What this is, and what runs archived scripts."""
        site, host = self.scripts, request.headers.get("host", "")
        origin = "" if site is None else site.origin(host)
        return self.render(
            "about.html", origin=origin, version=version("asof"), program=wabac,
            works=site is not None,
        )  # fmt: skip

    def error(self, request: Request, error: Exception) -> Response:
        if not isinstance(error, AsofError):
            raise error
        status = status_of(error)
        says, hint = (self.inside(text) for text in (error.what, error.hint))
        told = {"heading": _HEADINGS.get(status, "Nothing was changed"), "says": says, "hint": hint}
        # What was asked stays in the form, to be mended.
        told |= {name: request.query_params.get(name, "") for name in ("url", "at")}
        return self.live("message.html", status, **told)

    def inside(self, text: str) -> str:
        """A sentence that does not tell where on this machine the archive is."""
        root = rf"(?<![\w./-]){re.escape(str(self.archive.folder.root.absolute()))}(?![\w.-]*\w)"
        text = re.sub(rf"{root}/", "", text)
        return re.sub(root, "this archive", re.sub(rf"\A{root}", "This archive", text))

    def broken(self, request: Request, error: Exception) -> Response:
        """What nobody foresaw; the server's log has the rest."""
        told = {"heading": "That went wrong", "says": "The server's log says more.", "hint": ""}
        return self.render("message.html", 500, **told)

    def not_found(self, request: Request, error: Exception) -> Response:
        return self.render("message/nothing_here.html", 404)

    def missing(self, wanted: Wanted, moment: Instant) -> Response:
        """Not captured, or not yet."""
        url, at = wanted.url, wanted.stamp
        later = next(self.answers(url, since=moment), None)
        if later is None:
            return self.not_captured(url)
        return self.render("message/not_yet.html", 404, url=url, at=at, asked=moment, first=later)

    def not_captured(self, url: str) -> Response:
        command = f"asof crawl {shlex.quote(url)}" if canonical(url) is not None else ""
        site = "/".join((canonical(url) or "").split("/")[:3])
        site = f"{site}/" if site and self.listing.urls(f"{site}/", "", 1) else ""
        return self.render("message/not_captured.html", 404, url=url, command=command, site=site)

    def render(
        self, template: str, status: int = 200, *, policy: str = "", **values: object
    ) -> HTMLResponse:
        headers = {"cache-control": "no-cache"}
        if policy:
            headers["content-security-policy"] = policy
        return HTMLResponse(self.text(template, status=status, **values), status, headers)

    def live(
        self, template: str, status: int = 200, *, scripts: Sequence[str] = (), **values: object
    ) -> HTMLResponse:
        """A page with scripts of ours, and where something can be ordered with the token's."""
        taken = self.orders.are_taken
        script = "".join(map(self.text, (*scripts, *(["token.js"] * taken))))
        early = self.text("token_kept.js") if taken else ""
        policy = live_policy(script, early) if script else ""
        own = {"live": Markup(script), "early": Markup(early)}  # files of ours
        return self.render(template, status, policy=policy, **own, **values)

    def text(self, template: str, **values: object) -> str:
        return self._env.get_template(template).render(values)


def whole(rows: list[_Item], limit: int, key: Callable[[_Item], object]) -> list[_Item]:
    """As many rows as fit, those of one key together: the next page begins after a whole key."""
    shown = rows[:limit]
    while shown and len(rows) > limit and key(shown[-1]) == key(rows[len(shown)]):
        shown.pop()
    return shown or rows


def status_of(error: AsofError) -> int:
    """The status of an answer that is an error."""
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, UsageError):
        return 400
    return 404 if isinstance(error, NotCaptured) else 500


def _validity_of(capture: Capture, history: list[Validity]) -> Validity | None:
    """The stretch of time that a capture is part of the proof for."""
    for validity in history:
        proofs = validity.evidence if validity.holds(capture.at) else ()
        if any(evidence.record_id == capture.record_id for evidence in proofs):
            return validity
    return None


def leading(where: str, status: int = 302) -> Response:
    """A redirect to an address as it is written: another escape in it would be another URL."""
    return Response(status_code=status, headers={"location": where, "cache-control": "no-store"})


def number_in(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else default
