"""`asof scope`: is a URL in or out, by which rule, and what would the others have said."""

import os
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import click

from asof.archive.folder import Folder
from asof.cli.options import archive_option, as_typed, examples, is_given, json_option
from asof.cli.output import open_archive, print_json
from asof.crawl.explain import Case, Explanation, found_by
from asof.crawl.request import address
from asof.scope.presets import PRESETS
from asof.scope.rule_text import shown

_WIDE = 200  # how much of a rule is printed for people
_HELP = """Explain whether a crawl would take URL..., and why.

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


@click.command(
    "scope",
    help=_HELP,
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
@click.option("--rule", "rules", multiple=True, metavar="RULE", help="in|out KIND:VALUE, in order.")
@click.option("--exclude", multiple=True, metavar="RE", help="Leave out URLs that match.")
@click.option("--include", multiple=True, metavar="RE", help="Take URLs that match, on any host.")
@click.option("--depth", type=int, metavar="N", help="Follow at most N links from a seed.")
@click.option("--via", metavar="URL", help="The page on which the URL was found.")
@click.option("--hops", metavar="PATH",
              help="How it was found, from the seed on: L link, E part of a page, R redirect, "
                   "M sitemap, F feed, X guess [as in the last crawl, or L].")  # fmt: skip
@json_option
@as_typed()
def scope_command(
    urls: tuple[str, ...],
    folder: Path,
    seeds: tuple[str, ...],
    via: str | None,
    hops: str | None,
    as_json: bool,
    **settings: object,
) -> int:
    for url in urls:
        address(url)
    wanted = tuple(dict.fromkeys(address(seed) for seed in seeds))
    found = found_by(via, hops)
    flags = {name: value for name, value in settings.items() if value not in (None, ())}
    # A folder that is to become an archive may hold settings already.
    needed = not wanted or (is_given("folder") and not folder.is_dir())
    archive = open_archive(folder) if needed or Folder(folder).exists() else None
    with nullcontext() if archive is None else archive:
        case = Case.of(archive, folder, wanted, flags, os.environ)
        answers = [case.explain(url, found) for url in urls]
    for answer in answers:
        if as_json:
            print_json(_as_json(answer))
        else:
            _print(answer)
    return 0 if all(answer.decision.inside for answer in answers) else 1


def _as_json(answer: Explanation) -> dict[str, object]:
    return {
        "url": answer.url,
        "canonical": answer.canonical,
        **asdict(answer.decision),
        "rules": [asdict(step) for step in answer.steps],
    }


def _print(answer: Explanation) -> None:
    word = "in " if answer.decision.inside else "out"
    click.echo(f"{word}  {answer.canonical}")
    click.echo(f"     {answer.decision.reason}")
    for step in answer.steps:
        mark = "->" if step.decided else "  "
        click.echo(f"  {mark} {step.verdict.value:<10}  {shown(step.rule, _WIDE)}")
    for note in answer.notes:
        click.echo(f"     {note}")
