"""`asof list`, `asof show` and `asof get`: what is captured, its history, its bytes."""

import sys
from contextlib import nullcontext
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

import click

from asof.cli.options import (
    archive_option,
    examples,
    json_option,
    moment_option,
    output_option,
    refuse_given,
    require_folder,
    selection_options,
)
from asof.cli.output import (
    capture_json,
    judgements,
    open_archive,
    print_json,
    say,
    validity_json,
    when,
)
from asof.clock import stamp
from asof.coherence.history import history as graded_history
from asof.errors import NotCaptured, UsageError
from asof.files import output_file
from asof.model import Capture, State
from asof.report.validity_words import held
from asof.report.words import human_bytes
from asof.warc.record import Flag


def _statuses(value: str) -> range:
    """The type of an option that is a status, or a kind of them: 404, 4xx."""
    first, rest = value[:1], value[1:]
    if first.isdigit() and rest.lower() == "xx":
        return range(int(first) * 100, int(first) * 100 + 100)
    if not (value.isascii() and value.isdigit()):
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
@click.argument("below", required=False, metavar="[URL]")
@archive_option
@selection_options
@click.option("--status", "statuses", type=_statuses, multiple=True, metavar="S",
              help="Only this status: 404, or 4xx for all of its kind.")  # fmt: skip
@click.option("--type", "types", multiple=True, metavar="TYPE",
              help="Only this media type: text/html, or image/* for all of its kind.")  # fmt: skip
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
        say("No capture matches.")
    return 0


_HEAD = f"{'captured (UTC)':14} status {'size':>9} {'type':<24} URL"


def _is_wanted(capture: Capture, statuses: tuple[range, ...], types: tuple[str, ...]) -> bool:
    if statuses and not any(capture.status in each for each in statuses):
        return False
    kind = capture.media_type or ""
    return not types or any(fnmatchcase(kind, each.lower()) for each in types)


def _line(capture: Capture) -> str:
    status = "-" if capture.status is None else str(capture.status)
    kind = "same content" if capture.kind == "revisit" else capture.media_type or "-"
    size = human_bytes(capture.size)
    flags = [flag.value for flag in Flag if flag in capture.anomalies]
    noted = f"  [{', '.join(flags)}]" if flags else ""
    return f"{stamp(capture.at)} {status:>6} {size:>9} {kind:<24} {capture.url}{noted}"


@click.command("show", epilog=examples("asof show https://example.org/ --json"))
@click.argument("url")
@archive_option
@json_option
def show_command(url: str, folder: Path, as_json: bool) -> int:
    """How long each content of a URL is proven, or else claimed."""
    with open_archive(folder) as archive:
        captures = list(archive.captures(url=url))
        history = graded_history(archive, url)
        with judgements(archive) as judged:
            changes = {capture.record_id: judged(capture) for capture in captures}
    if not captures:
        raise NotCaptured(f"{url} is not in the archive.", hint="Capture it with `asof crawl`.")
    if as_json:
        rows = [{**capture_json(each), "change": changes[each.record_id]} for each in captures]
        proven = [*map(validity_json, history)]
        print_json({"url": captures[0].url, "captures": rows, "validity": proven})
        return 0
    click.echo(captures[0].url)
    for number, validity in enumerate(history, 1):
        since = validity.claimed_since
        claim = "" if since is None else f"; the server says since {when(since)}"
        if validity.state is State.SILENT and validity.status == 304:
            click.echo(f"no content: a 304 that proves none, {when(validity.since)}")
        else:
            click.echo(f"content {number}: {held(validity, when)}{claim}")
        for item in validity.evidence:
            change = changes.get(item.record_id)
            click.echo(f"    {stamp(item.at)}  {item.proof.value}{f'  {change}' if change else ''}")
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
        require_folder(output)
    with open_archive(folder) as archive:
        memento = archive.read(archive.captured(url, moment))
        if as_json:
            told = {"headers": memento.headers, "source": capture_json(memento.source)}
            print_json({**capture_json(memento.capture), **told})
            return 0
        chunks = memento.raw() if raw else [memento.head] if head else memento.payload(MAX_PAYLOAD)
        out = nullcontext(sys.stdout.buffer) if output is None else output_file(output)
        with out as file:
            file.writelines(chunks)
            file.flush()
    return 0
