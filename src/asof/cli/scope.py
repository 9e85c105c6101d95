"""`asof scope`: is a URL in or out, by which rule, and what would the others have said."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import click
from click.core import ParameterSource

from asof.archive import Archive
from asof.archive.folder import Folder
from asof.cli.options import archive_option, examples, json_option
from asof.cli.output import open_archive, print_json, when
from asof.config import Config
from asof.errors import UsageError
from asof.frontier.report import look_up
from asof.frontier.states import State
from asof.model import Capture, Crawl, Hop, Target
from asof.scope.presets import PRESETS, load_config
from asof.scope.robots import MAX_BYTES, robots_from
from asof.scope.rule_text import shown
from asof.scope.rules import Decision, Scope, Step, Verdict
from asof.scope.traps import shape_trap
from asof.url import canonical, origin

_LINKS = (Hop.LINK, Hop.SITEMAP, Hop.FEED, Hop.GUESS)
# As many redirects of a robots.txt as the crawl follows (RFC 9309 section 2.3.1.2).
_ROBOTS_REDIRECTS = 5
# How much of a rule is printed for people.
_WIDE = 200
# Reasons that only the crawl could find: by evidence, by answers, by counting.
_MET = ("trap:", "rule: out media:", "rule: out size:", "more than ")


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is said about one URL. `notes` are for people."""

    url: str
    canonical: str
    decision: Decision
    steps: tuple[Step, ...]
    notes: tuple[str, ...]


@click.command(
    "scope",
    epilog=examples(
        "asof scope https://example.org/a.pdf            with seeds and settings of the last crawl",
        "asof scope https://example.org/a --seed https://example.org/ --rule 'out path:/a'",
        "asof scope https://cdn.example/x.css --seed https://example.org/ --hops LE",
    ),
)
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@archive_option
@click.option("--seed", "seeds", multiple=True, metavar="URL", help="A seed [the last crawl's].")
@click.option("--preset", metavar="P", help=f"{', '.join(PRESETS)}.")
@click.option("--scope", metavar="S", help="host, domain, path, page or surt:PREFIX.")
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="RULE",
    help="in|out KIND:VALUE, in order.",
)
@click.option("--exclude", multiple=True, metavar="RE", help="Leave out URLs that match.")
@click.option("--include", multiple=True, metavar="RE", help="Take URLs that match, on any host.")
@click.option("--depth", type=int, metavar="N", help="Follow at most N links from a seed.")
@click.option("--via", metavar="URL", help="The page on which the URL was found.")
@click.option(
    "--hops",
    metavar="PATH",
    help="How it was found, from the seed on: L link, E part of a page, R redirect, M sitemap,"
    " F feed, X guess [as in the last crawl, or L].",
)
@json_option
@click.pass_context
def scope_command(
    ctx: click.Context,
    /,
    urls: tuple[str, ...],
    folder: Path,
    seeds: tuple[str, ...],
    via: str | None,
    hops: str | None,
    as_json: bool,
    **settings: object,
) -> int:
    """Explain whether a crawl would take URL..., and why.

    By the rules alone: nothing is fetched, and traps are met only by a crawl. Exit code 0: all are
    in. 1: at least one is out.

    \b
    Rules are written in KIND:VALUE or out KIND:VALUE; the first that decides wins.
      surt:PREFIX   a SURT prefix, a key, or a URL and all below it
      host:NAME     one host, with and without www.
      domain:NAME   a host and its subdomains
      path:/PREFIX  what begins so on a seed's host; path:https://host/prefix
      page:URL      exactly this URL
      regex:RE      a regular expression, searched in the URL
      seeds:        the seeds themselves
      depth:N       out only: more than N links away from a seed
      count:N       out only: more than N pages of one host
      media:TYPE    out only: answers of a type, such as video/*
      size:N        out only: answers of more than N bytes, such as 50MB
    """
    asked = [(url, _address(url)) for url in urls]
    wanted = tuple(dict.fromkeys(_address(seed) for seed in seeds))
    found = _found_as_told(via, hops)
    flags = {name: value for name, value in settings.items() if value not in (None, ())}
    with ExitStack() as held:
        named = ctx.get_parameter_source("folder") is ParameterSource.COMMANDLINE
        missing = named and not folder.is_dir()
        archive = _archive(folder, required=missing or not wanted)
        if archive is not None:
            held.enter_context(archive)
        case = _case(archive, folder, wanted, flags)
        answers = [case.answer(url, address, found) for url, address in asked]
    for answer in answers:
        if as_json:
            print_json(_as_json(answer))
        else:
            _print(answer)
    return 0 if all(answer.decision.inside for answer in answers) else 1


def _address(url: str) -> str:
    found = canonical(url)
    if found is None:
        hint = "Write http or https URLs."
        if "://" not in url and canonical(f"https://{url}"):
            hint = f"Did you mean https://{url} ?"
        raise UsageError(f"{url[:200]!r} cannot be crawled.", hint=hint)
    return found


def _found_as_told(via: str | None, hops: str | None) -> Target | None:
    """A target without its URL, found as the options say; None when they say nothing."""
    if via is None and hops is None:
        return None
    path = Hop.LINK.value if hops is None else hops
    odd = path.strip("".join(Hop))
    if odd:
        raise UsageError(
            f"--hops has the letter {odd[0]!r}.",
            hint="Letters are L link, E part of a page, R redirect, M sitemap, F feed, X guess.",
        )
    return Target("", _depth(path), None if via is None else _address(via), path)


def _depth(hops: str) -> int:
    """Only links lead deeper: what a page needs and where it redirects count as the page."""
    return sum(letter in _LINKS for letter in hops)


def _archive(folder: Path, *, required: bool) -> Archive | None:
    """The archive, if there is one. A folder that is to become one may hold settings already."""
    if not required and not Folder(folder).exists():
        return None
    return open_archive(folder)


def _case(
    archive: Archive | None, folder: Path, seeds: tuple[str, ...], flags: Mapping[str, object]
) -> _Case:
    """Seeds and settings: those given, over those of the newest crawl, if there is one."""
    crawls = archive.crawls() if archive is not None else []
    crawl = crawls[-1] if crawls else None
    seeds = seeds or (crawl.seeds if crawl is not None else ())
    if not seeds:
        raise UsageError(
            f"{folder} holds no crawl whose seeds could be taken.", hint="Name a seed with --seed."
        )
    # A preset makes the settings anew: it cannot lie under those that a crawl was given.
    if crawl is None or "preset" in flags:
        config = load_config(folder, os.environ, seeds, **flags)
    else:
        config = Config().updated(crawl.settings, source=f"crawl {crawl.id}")
        config = config.updated(flags, source="the command line")
    return _Case(Scope(seeds, config), seeds, config, archive, crawl)


@dataclass(frozen=True, slots=True)
class _Case:
    """All that decisions rest on."""

    scope: Scope
    seeds: tuple[str, ...]
    config: Config
    archive: Archive | None
    crawl: Crawl | None

    def answer(self, url: str, address: str, told: Target | None) -> _Answer:
        """Explain one URL, found as told, or as in the newest crawl, or as a link on a seed."""
        target, notes, fate = self._target(address)
        if told is not None:
            target, fate = replace(told, url=address), None
        decision = self.scope.decide(target)
        steps = self.scope.explain(target)
        trap = self._trap(address, fate) if decision.inside and target.hops else None
        if trap is not None:
            decision = Decision(False, trap)
            steps = (
                *(replace(step, decided=False) for step in steps),
                Step(f"what the crawl met: {trap}", Verdict.OUT, decided=True),
            )
        via = f", found on {target.via}" if target.via else ""
        way = f"with the hops {target.hops}" if target.hops else "as a seed"
        notes = (f"judged {way}, at depth {target.depth}{via}", *notes)
        if self.config.robots != "obey":
            return _Answer(url, address, decision, steps, (*notes, "robots.txt is ignored"))
        refusal = self._robots(address, decision.inside)
        if refusal is None:
            note = "robots.txt is asked at crawl time"
            return _Answer(url, address, decision, steps, (*notes, note))
        if refusal.decided:
            decision = Decision(False, "robots.txt")
            steps = tuple(replace(step, decided=False) for step in steps)
        return _Answer(url, address, decision, (*steps, refusal), notes)

    def _trap(self, address: str, fate: str | None) -> str | None:
        """Why the crawl does, or did, not take what the rules let in: traps, unwanted answers."""
        if fate is not None:
            return fate
        return shape_trap(address) if self.config.traps else None

    def _target(self, address: str) -> tuple[Target, tuple[str, ...], str | None]:
        """The URL as the newest crawl found it, what became of it, and why it was left out."""
        if self.archive is not None and self.crawl is not None:
            number = self.archive.catalog.crawl_no(self.crawl.id)
            known = look_up(self.archive.ledger, number, address)
            if known is not None:
                target, state, reason = known
                met = state is State.LEFT_OUT and str(reason).startswith(_MET)
                became = state.replace("_", " ") + (f": {reason}" if reason else "")
                note = f"in crawl {self.crawl.id}: {became}"
                return target, (note,), reason if met else None
        hops = "" if address in self.seeds else Hop.LINK.value
        return Target(address, _depth(hops), None, hops), (), None

    def _robots(self, address: str, inside: bool) -> Step | None:
        """What the stored robots.txt of the URL's origin says, as a last step; None without one."""
        capture = None if self.archive is None else _stored_robots(self.archive, address)
        if capture is None or self.archive is None:
            return None
        memento = self.archive.read(capture)
        robots = robots_from(memento.status or 200, b"".join(memento.payload(MAX_BYTES)))
        allowed = robots.allows(address, self.config.user_agent)
        verdict = Verdict.NONE if allowed else Verdict.OUT
        text = f"robots.txt of {origin(address)}, stored {when(capture.at)}"
        return Step(text, verdict, decided=inside and not allowed)


def _stored_robots(archive: Archive, address: str) -> Capture | None:
    """The newest stored answer to the question for robots.txt, at the end of its redirects."""
    url: str | None = f"{origin(address)}/robots.txt"
    for _ in range(_ROBOTS_REDIRECTS + 1):
        capture = None if url is None else archive.as_of(url)
        # The catalog also answers with URLs of the same key, such as http for https; other
        # origins have rules of their own.
        if capture is None or canonical(capture.url) != url:
            return None
        if capture.redirect is None:
            return capture
        url = canonical(capture.redirect)
    return None


def _as_json(answer: _Answer) -> dict[str, object]:
    return {
        "url": answer.url,
        "canonical": answer.canonical,
        "inside": answer.decision.inside,
        "reason": answer.decision.reason,
        "rules": [
            {"rule": step.rule, "verdict": step.verdict.value, "decided": step.decided}
            for step in answer.steps
        ],
    }


def _print(answer: _Answer) -> None:
    word = "in " if answer.decision.inside else "out"
    click.echo(f"{word}  {answer.canonical}")
    click.echo(f"     {answer.decision.reason}")
    for step in answer.steps:
        mark = "->" if step.decided else "  "
        click.echo(f"  {mark} {step.verdict.value:<10}  {shown(step.rule, _WIDE)}")
    for note in answer.notes:
        click.echo(f"     {note}")
