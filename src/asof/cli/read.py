"""`asof list`, `asof show` and `asof get`: what is captured, its history, its bytes."""

import os
import re
import shlex
import sys
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import click

from asof.change.arrivals import arrivals
from asof.cli.options import (
    ADD_IT,
    archive_option,
    examples,
    json_option,
    moment_option,
    no_archive,
    output_option,
    policy_option,
    refuse_given,
    require_place,
    selection_options,
)
from asof.cli.output import (
    judgements,
    open_archive,
    print_json,
    say,
)
from asof.clock import stamp, when
from asof.coherence.history import history as graded_history
from asof.config import Config
from asof.errors import UsageError
from asof.files import output_file, with_reserve
from asof.model import Capture, State
from asof.report.json_shapes import capture_json, validity_json
from asof.report.validity_words import held_and_said
from asof.report.words import human_bytes
from asof.text.kinds.media import is_binary, is_of_type
from asof.warc.record import Flag


def _statuses(value: str) -> range:
    """The type of an option that is a status, or a kind of them: 404, 4xx."""
    first, rest = value[:1], value[1:]
    if first.isdigit() and rest.lower() == "xx":
        return range(int(first) * 100, int(first) * 100 + 100)
    if re.fullmatch("[0-9]{3}", value) is None:
        raise click.BadParameter(f"{value!r} is no status; write 404 or 4xx.")
    return range(int(value), int(value) + 1)


# `get` streams what it is asked for; this bounds a decompression bomb.
MAX_PAYLOAD = 1 << 36


@click.command(
    "list",
    epilog=examples(
        "asof list example.org/blog/",
        "asof list --from 2026-01 --to 2026-03 --json",
        "asof list --status 4xx --status 5xx             errors that were captured",
        "asof list --type image/png --type 'video/*'",
    ),
)
@click.argument("below", required=False, metavar="[URL]", callback=no_archive)
@archive_option
@selection_options
@click.option("--status", "statuses", type=_statuses, multiple=True, metavar="S",
              help="Only this status: 404, or 4xx for all of its kind.")  # fmt: skip
@click.option("--type", "types", multiple=True, metavar="TYPE",
              help="Only this media type: text/html, or html; image/*, or image.")  # fmt: skip
@click.option("--crawl", metavar="ID", help="Only captures of this crawl.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N captures.")
@json_option
def list_command(
    below: str | None, folder: Path, statuses: tuple[range, ...], types: tuple[str, ...],
    crawl: str | None, limit: int | None, as_json: bool, **selected: str | None,
) -> int:  # fmt: skip
    """List captures by URL, then by time.

    All of them, or those of URLs that start with URL, in the order of their SURT keys: hosts of one
    domain stand together.
    """
    if below is not None:
        refuse_given(("url", "prefix"), "{} and URL exclude each other.")
        selected["prefix"] = below
    with open_archive(folder) as archive:
        found = archive.captures(crawl=crawl, **selected)
        chosen = (capture for capture in found if _is_wanted(capture, statuses, types))
        count = 0
        with judgements(archive) as judged:
            for count, capture in enumerate(islice(chosen, limit), 1):
                if as_json:
                    print_json({**capture_json(capture), "change": judged(capture)})
                    continue
                if count == 1:
                    click.echo(_HEAD)
                click.echo(_line(capture))
    if not count:
        say("No capture matches. `asof list` without filters shows all, `asof status` the hosts.")
    return 0


_HEAD = f"{'captured (UTC)':14} status {'size':>9} {'type':<24} URL"


def _is_wanted(capture: Capture, statuses: tuple[range, ...], types: tuple[str, ...]) -> bool:
    if statuses and not any(capture.status in each for each in statuses):
        return False
    return not types or any(is_of_type(capture.media_type or "", each) for each in types)


def _line(capture: Capture) -> str:
    status = "-" if capture.status is None else str(capture.status)
    kind = "same content" if capture.kind == "revisit" else capture.media_type or "-"
    size = human_bytes(capture.size)
    flags = [flag.value for flag in Flag if flag in capture.anomalies]
    noted = f"  [{', '.join(flags)}]" if flags else ""
    return f"{stamp(capture.at)} {status:>6} {size:>9} {kind:<24} {capture.url}{noted}"


@click.command(
    "show",
    epilog=examples(
        "asof show https://example.org/ --json",
        "asof show https://example.org/ --composition --at 2026-03-01",
        "asof show https://example.org/ --composition --policy strict --json",
    ),
)
@click.argument("url")
@archive_option
@click.option("--composition", is_flag=True,
              help="Each resource of the page as of a moment, and how sure it is.")  # fmt: skip
@moment_option
@policy_option
@json_option
def show_command(
    url: str, folder: Path, composition: bool, moment: str, policy: str, as_json: bool
) -> int:
    """How long each content of a URL is proven, or else claimed.

    With --composition: what the page is made of as of a moment. Of each resource the capture that
    shows it, what is known of that (proven to missing), how far it is from the moment, and why.
    """
    if composition:
        return _show_composition(url, folder, moment, policy, as_json=as_json)
    refuse_given(("moment", "policy"), "{} needs --composition.", ADD_IT)
    with open_archive(folder) as archive:
        captures = list(archive.captures(url=url))
        if not captures:
            raise archive.not_captured(url, "now")
        history = arrivals(archive.folder.texts, graded_history(archive, url))
        with judgements(archive) as judged:
            changes = {capture.record_id: judged(capture) for capture in captures}
    if as_json:
        rows = [{**capture_json(each), "change": changes[each.record_id]} for each in captures]
        proven = [*map(validity_json, history)]
        print_json({"url": captures[0].url, "captures": rows, "validity": proven})
        return 0
    click.echo(captures[0].url)
    for number, arrival in enumerate(history, 1):
        validity, before = arrival.validity, arrival.before
        if validity.state is State.SILENT and validity.status == 304:
            click.echo(f"no content: a 304 that proves none, {when(validity.since)}")
        else:
            again = "" if before is None else f"; the same as until {when(before.until)}"
            click.echo(f"content {number}: {held_and_said(validity, when)}{again}")
        for item in validity.evidence:
            change = changes.get(item.record_id)
            click.echo(f"    {stamp(item.at)}  {item.proof.value}{f'  {change}' if change else ''}")
    return 0


def _show_composition(url: str, folder: Path, moment: str, policy: str, *, as_json: bool) -> int:
    # Here, for `asof show` needs no readers of documents otherwise.
    from asof.report.composition_words import composition_json, composition_lines

    with open_archive(folder) as archive:
        made = archive.composition(url, moment, policy)
    if as_json:
        print_json(composition_json(made))
    else:
        click.echo("\n".join(composition_lines(made)))
    return 0


@click.command(
    "get",
    epilog=examples(
        "asof get https://example.org/ --at 2026-03-01 > page.html",
        "asof get https://example.org/logo.png -o logo.png",
    ),
)
@click.argument("url")
@archive_option
@moment_option
@click.option("--raw", is_flag=True, help="The bytes as they came over the wire, head and body.")
@click.option("--head", is_flag=True, help="The HTTP head only.")
@output_option
@json_option
def get_command(
    url: str, folder: Path, moment: str, raw: bool, head: bool, output: Path | None, as_json: bool
) -> int:
    """The bytes of a URL as of a moment: decoded, or from the wire."""
    if raw and head:
        raise UsageError("--raw and --head exclude each other.", hint="Give one of them.")
    if output is not None:
        require_place(output)
    with open_archive(folder) as archive:
        memento = archive.read(archive.captured(url, moment))
        if as_json:
            told = {"headers": memento.headers, "source": capture_json(memento.source)}
            print_json({**capture_json(memento.capture), **told})
            return 0
        chunks = memento.raw() if raw else [memento.head] if head else memento.payload(MAX_PAYLOAD)
        if output is None and not head and sys.stdout.isatty() and is_binary(memento.media_type):
            what = f"{url} is {memento.media_type}, which no terminal shows."
            raise UsageError(what, hint="Write it to a file with -o FILE, or pipe it on.")
        out = nullcontext(sys.stdout.buffer) if output is None else output_file(output)
        with with_reserve(Config.load(folder, os.environ).room), out as file:
            file.writelines(chunks)
            file.flush()
    target = memento.capture.redirect or memento.source.redirect
    if target and not (raw or head):
        say(f"{url} is a redirect. What it leads to: `asof get {shlex.quote(target)}`")
    return 0
