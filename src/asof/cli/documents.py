"""`asof text` and `asof diff`: what documents say, and what changed."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click import format_filename

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.cli.options import (
    archive_option,
    examples,
    json_option,
    output_option,
    require_place,
)
from asof.cli.output import cores, open_archive, print_json, say
from asof.cli.screen import data, has_colours, painted
from asof.clock import when
from asof.errors import AsofError, InputError, NotCaptured, UsageError
from asof.files import input_file, output_file
from asof.text.document import Document, Method
from asof.text.sandbox import DocumentSource, ReadingLimits, read_many
from asof.url import typed

if TYPE_CHECKING:
    from asof.change.comparison import Comparison

_FULL = click.option("--full", is_flag=True, help="All of the text, not the main content alone.")


@click.command(
    "text",
    epilog=examples(
        "asof text page.html report.pdf --json           one line of JSON for each file",
        "asof text https://example.org/ --at 2026-03-01  what the archive reads there",
        "asof text page.html --method tags               by the distribution of tags",
    ),
)
@click.argument("inputs", nargs=-1, required=True, metavar="FILE|URL...")
@archive_option
@click.option("--at", "moment", default="now", metavar="T", help="URLs as of this moment [now].")
@click.option("--method", type=click.Choice(["default", "fast", "tags"]), default="default",
              show_default=True, help="How the main content of a page is found.")  # fmt: skip
@_FULL
@json_option
def text_command(
    inputs: tuple[str, ...], folder: Path, moment: str, method: Method, full: bool, as_json: bool
) -> int:
    """What documents say: local files, or captures of URLs.

    A FILE of - is stdin. Each is read in a process of its own that may take 10 s and 500 MB, so
    that no file can do harm.
    Ends with 1 if one of them could not be read, with 2 if one is not there.
    """
    code = 0
    refused: dict[int, AsofError] = {}
    with ExitStack() as held:
        sources = _sources(inputs, folder, moment, method, refused, held)
        documents = read_many(sources, min(cores(), len(inputs)))
        for number, (name, document) in enumerate(zip(inputs, documents, strict=True)):
            if number in refused:
                error = refused[number]
                document = Document(media_type="", error=str(error))
                code = max(code, error.exit_code)
                if not as_json:
                    say(f"asof: {error}")
                    continue
            elif document.error is not None and not document.text:
                code = max(code, 1)
            if as_json:
                told = asdict(document)
                del told["pictures"]  # compared, and no part of what a document says
                del told["anchors"]  # what others are called
                print_json({"input": format_filename(name), **told})
            else:
                _print_text(format_filename(name), document, full=full, several=len(inputs) > 1)
    return code


def _sources(
    inputs: tuple[str, ...],
    folder: Path,
    moment: str,
    method: Method,
    refused: dict[int, AsofError],
    held: ExitStack,
) -> Iterator[DocumentSource]:
    """What is to be read, in order; of what cannot be had the reason goes to `refused`."""
    archive: OpenArchive | None = None
    for number, name in enumerate(inputs):
        try:
            if not _is_url(name, folder):
                source = _file(Path(name))
            else:
                from asof.change.texts import source_of

                archive = archive or held.enter_context(open_archive(folder))
                source = source_of(archive, archive.captured(name, moment))
        except (InputError, NotCaptured) as error:  # the others are read all the same
            if isinstance(error, NotCaptured) and "://" not in name:  # perhaps a file was meant
                error = InputError(
                    f"{format_filename(name)} is no file, and not in the archive.", hint=error.hint
                )
            refused[number], source = error, DocumentSource(b"")
        yield replace(source, method=method)


def _is_url(name: str, folder: Path) -> bool:
    """Whether a URL is meant and not a file; without a scheme only where there is an archive."""
    if Path(name).exists() or typed(name) is None:
        return False
    return name.lower().startswith(("http://", "https://")) or Folder(folder).exists()


def _file(path: Path) -> DocumentSource:
    try:
        with input_file(path) as file:  # more than this the reader refuses
            return DocumentSource(file.read((ReadingLimits().most << 20) + 1), name=path.name)
    except OSError as error:
        raise InputError(
            f"{format_filename(path)} cannot be read: {error.strerror}.",
            hint="Name a file, or a URL that is in the archive (-a DIR).",
        ) from error


def _print_text(name: str, document: Document, *, full: bool, several: bool) -> None:
    if document.error is not None:
        say(f"{name}: {document.error}")
        if not document.text:
            return
    if several:
        click.echo(f"==> {name} <==")
    shown = f"{document.title}\n\n" if document.title else ""
    shown += document.text if full else document.main
    click.echo(shown, file=data())


# -- diff ------------------------------------------------------------------------------------------


@click.command(
    "diff",
    epilog=examples(
        "asof diff https://example.org/ 2026-01 2026-06",
        "asof diff https://example.org/                  the last two versions",
        "asof diff https://example.org/ 2026-01 2026-06 --html -o changes.html",
    ),
)
@click.argument("url")
@click.argument("before", required=False, metavar="[T1]")
@click.argument("after", required=False, metavar="[T2]")
@archive_option
@_FULL
@click.option("--html", "as_html", is_flag=True, help="A page of its own, to be sent around.")
@click.option("--context", type=click.IntRange(min=0), default=3, metavar="N", show_default=True,
              help="Unchanged lines around a change; the rest is folded.")  # fmt: skip
@output_option
@json_option
def diff_command(
    url: str,
    before: str | None,
    after: str | None,
    folder: Path,
    full: bool,
    as_html: bool,
    context: int,
    output: Path | None,
    as_json: bool,
) -> int:
    """What changed at a URL between two moments.

    And what kind of change it is. Without moments: between the last two contents that it had. The
    stage says what decided: equal bytes, equal main text, or how alike the texts are.
    """
    if as_html and as_json:
        raise UsageError("--html and --json exclude each other.", hint="Give one of them.")
    if as_html and before is not None and before.lower().endswith((".html", ".htm")):
        raise UsageError("--html names no file.", hint=f"Write `--html -o {shlex.quote(before)}`.")
    if output is not None:
        require_place(output)
    with open_archive(folder) as archive:
        found = archive.diff(url, before, after, full=full)
    shown = "".join(_shown_diff(found, context, as_html=as_html, as_json=as_json))
    if output is None:
        click.echo(shown, nl=False, file=data() if as_html or as_json else painted(sys.stdout))
    else:
        with output_file(output) as file:
            file.write(shown.encode())
    return 0


def _shown_diff(found: Comparison, context: int, *, as_html: bool, as_json: bool) -> Iterator[str]:
    import json

    from asof.report.difference_terminal import terminal
    from asof.report.difference_words import comparison_json, sentence
    from asof.report.terminal import harmless

    old, new, change = found.old, found.new, found.change
    names = (f"{when(old.at)} UTC", f"{when(new.at)} UTC")
    if as_json:
        yield json.dumps(comparison_json(found), ensure_ascii=False) + "\n"
    elif as_html:
        from asof.report.difference_page import page

        notes = [sentence(change), *change.details]
        yield page(found.difference, title=new.url, names=names, notes=notes, context=context)
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        yield f"{harmless(new.url)}\n{sentence(change)}\n"
        yield from (f"{harmless(detail)}\n" for detail in change.details)
        yield from (f"+ {harmless(link)}\n" for link in change.links_added[:10])
        yield from (f"- {harmless(link)}\n" for link in change.links_removed[:10])
        colour = has_colours(sys.stdout)
        lines = terminal(found.difference, width, colour=colour, context=context, names=names)
        yield from (f"{line}\n" for line in lines)
