"""Whether a crawl would take a URL, by which rule, and what the others would have said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from asof.archive import OpenArchive
from asof.clock import to_datetime
from asof.config import COMMAND_LINE, Config
from asof.crawl.request import address
from asof.errors import UsageError
from asof.frontier.report import look_up
from asof.frontier.states import TargetState
from asof.model import Capture, Crawl, Hop, Target
from asof.scope.presets import load_config
from asof.scope.robots import MAX_BYTES, MAX_REDIRECTS, robots_from, robots_url
from asof.scope.rules import Decision, RuleStep, Scope, Verdict
from asof.scope.traps import shape_trap
from asof.url import canonical, origin

_LINKS = (Hop.LINK, Hop.SITEMAP, Hop.FEED, Hop.GUESS)
# Reasons that only the crawl could find: by evidence, by answers, by counting.
_MET = ("trap:", "rule: out media:", "rule: out size:", "more than ")


def found_by(via: str | None, hops: str | None) -> Target | None:
    """A target without its URL, found as options say; None when they say nothing."""
    if via is None and hops is None:
        return None
    path = Hop.LINK.value if hops is None else hops
    odd = path.strip("".join(Hop))
    if odd:
        raise UsageError(
            f"--hops has the letter {odd[0]!r}.",
            hint="Letters are L link, E part of a page, R redirect, M sitemap, F feed, X guess.",
        )
    return Target("", _depth(path), None if via is None else address(via), path)


def _depth(hops: str) -> int:
    """Only links lead deeper: what a page needs and where it redirects count as the page."""
    return sum(letter in _LINKS for letter in hops)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is said about one URL. `notes` are for people."""

    url: str
    canonical: str
    decision: Decision
    steps: tuple[RuleStep, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """All that decisions rest on."""

    scope: Scope
    seeds: tuple[str, ...]
    config: Config
    archive: OpenArchive | None
    crawl: Crawl | None

    @classmethod
    def of(
        cls,
        archive: OpenArchive | None,
        folder: Path,
        seeds: tuple[str, ...],
        flags: Mapping[str, object],
        environ: Mapping[str, str],
    ) -> Case:
        """Seeds and settings: those given, over those of the newest crawl, if there is one."""
        ours = [] if archive is None else [c for c in archive.crawls() if not c.imported]
        crawl = ours[-1] if ours else None
        seeds = seeds or (crawl.seeds if crawl is not None else ())
        if not seeds:
            raise UsageError(
                f"{folder} holds no crawl whose seeds could be taken.",
                hint="Name a seed with --seed.",
            )
        # A preset makes the settings anew: it cannot lie under those that a crawl was given.
        if crawl is None or "preset" in flags:
            config = load_config(folder, environ, seeds, **flags)
        else:
            config = Config().updated(crawl.settings, source=f"crawl {crawl.id}")
            config = config.updated(flags, source=COMMAND_LINE)
        return cls(Scope(seeds, config), seeds, config, archive, crawl)

    def explain(self, url: str, told: Target | None) -> Explanation:
        """Explain one URL, found as told, or as in the newest crawl, or as a link on a seed."""
        asked = address(url)
        target, notes, met = self._target(asked)
        if told is not None:
            target, met = replace(told, url=asked), None
        decision, steps = self.scope.decide(target), self.scope.explain(target)
        if decision.inside and target.hops:
            trap = met or (shape_trap(asked) if self.config.traps else None)
            if trap is not None:
                decision = Decision(False, trap)
                last = RuleStep(f"what the crawl met: {trap}", Verdict.OUT, decided=True)
                steps = (*_undecided(steps), last)
        via = f", found on {target.via}" if target.via else ""
        way = f"with the hops {target.hops}" if target.hops else "as a seed"
        notes = (f"judged {way}, at depth {target.depth}{via}", *notes)
        refusal = self._robots(asked, decision.inside) if self.config.robots == "obey" else None
        if refusal is None:
            unasked = self.config.robots != "obey"
            note = f"robots.txt is {'ignored' if unasked else 'asked at crawl time'}"
            return Explanation(url, asked, decision, steps, (*notes, note))
        if refusal.decided:
            decision, steps = Decision(False, "robots.txt"), _undecided(steps)
        return Explanation(url, asked, decision, (*steps, refusal), notes)

    def _target(self, asked: str) -> tuple[Target, tuple[str, ...], str | None]:
        """The URL as the newest crawl found it, what became of it, and why it was left out."""
        if self.archive is not None and self.crawl is not None:
            number = self.archive.catalog.crawl_no(self.crawl.id)
            known = look_up(self.archive.ledger, number, asked)
            if known is not None:
                target, state, reason = known
                met = state is TargetState.LEFT_OUT and str(reason).startswith(_MET)
                became = state.replace("_", " ") + (f": {reason}" if reason else "")
                note = f"in crawl {self.crawl.id}: {became}"
                return target, (note,), reason if met else None
        hops = "" if asked in self.seeds else Hop.LINK.value
        return Target(asked, _depth(hops), None, hops), (), None

    def _robots(self, asked: str, inside: bool) -> RuleStep | None:
        """What the stored robots.txt of the URL's origin says, as a last step; None without one."""
        capture = None if self.archive is None else _stored_robots(self.archive, asked)
        if capture is None or self.archive is None:
            return None
        memento = self.archive.read(capture)
        body = b"".join(memento.payload(MAX_BYTES + 1))
        agent = self.config.user_agent
        robots = robots_from(memento.status or 200, body, agent, capture.truncated)
        allowed = robots.allows(asked)
        stored = f"{to_datetime(capture.at):%Y-%m-%d %H:%M:%S}"
        cut = ", cut at its limit" if robots.cut else ""
        text = f"robots.txt of {origin(asked)}, stored {stored}{cut}"
        verdict = Verdict.NONE if allowed else Verdict.OUT
        return RuleStep(text, verdict, decided=inside and not allowed)


def _undecided(steps: tuple[RuleStep, ...]) -> tuple[RuleStep, ...]:
    return tuple(replace(step, decided=False) for step in steps)


def _stored_robots(archive: OpenArchive, asked: str) -> Capture | None:
    """The newest stored answer to the question for robots.txt, at the end of its redirects."""
    url: str | None = robots_url(asked)
    for _ in range(MAX_REDIRECTS + 1):
        capture = None if url is None else archive.as_of(url)
        # The catalog also answers with URLs of the same key, such as http for https; other
        # origins have rules of their own.
        if capture is None or canonical(capture.url) != url:
            return None
        if capture.redirect is None:
            return capture
        url = canonical(capture.redirect)
    return None
