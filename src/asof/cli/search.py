"""`asof search`: which documents say some words, and when."""

import sys
from pathlib import Path
from shutil import get_terminal_size

import click

from asof.archive import OpenArchive
from asof.cli.options import archive_option, examples, json_option
from asof.cli.output import open_archive, print_json, say
from asof.cli.reading import PATIENCE, index_texts
from asof.cli.screen import has_colours, painted
from asof.errors import ArchiveError, StorageError

_ORDERS = ("relevance", "newest", "oldest")


@click.command(
    "search",
    epilog=examples(
        "asof search merger                                in all that there ever was",
        "asof search 'merger' --as-of 2026-03 --json       as of the end of March",
        "asof search '\"new harbour\" -ferry' --from 2025    words in a row, and none",
        "asof search 'title:report OR budget*' --host example.org --sort newest",
        "asof search 'anchor:\"annual report\"' --as-of 2026   what others called so then",
    ),
)
@click.argument("words", nargs=-1, required=True)
@archive_option
@click.option("--as-of", "--at", "at", metavar="T", help="Only what was shown as of a moment.")
@click.option("--from", "since", metavar="T", help="Only what was shown at or after this moment.")
@click.option("--to", "until", metavar="T", help="Only what was shown at or before this moment.")
@click.option("--host", "--prefix", "prefix", metavar="P",
              help="Only this host and its subdomains, or URLs that start with this.")  # fmt: skip
@click.option("--type", "media_type", metavar="TYPE", help="Only html, pdf, docx, text/*, ...")
@click.option("--language", metavar="L", help="Only in this language: en, de, ...")
@click.option("--sort", "order", type=click.Choice(_ORDERS), default="relevance",
              show_default=True, help="What comes first.")  # fmt: skip
@click.option("--fold/--no-fold", default=True, show_default=True,
              help="Near-duplicates in the place of the first of them.")  # fmt: skip
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, metavar="N",
              help="So many at most.")  # fmt: skip
@click.option("--offset", type=click.IntRange(min=0), default=0, metavar="N",
              help="Leave out so many before.")  # fmt: skip
@json_option
def search_command(
    words: tuple[str, ...],
    folder: Path,
    at: str | None,
    since: str | None,
    until: str | None,
    prefix: str | None,
    media_type: str | None,
    language: str | None,
    order: str,
    fold: bool,
    limit: int,
    offset: int,
    as_json: bool,
) -> int:
    """Which documents say some words, and from when to when.

    A hit is a content over its interval, not a capture: a page that did not change is one. All
    words must occur; OR, -word, "words in a row", begin*, fuzzy~, title:word and url:word say it
    otherwise. anchor:word finds what others called so, link:URL what led to an address. What was
    not read or indexed yet is so first, for ten seconds at most.
    """
    from asof.report.search_words import search_json, summary, terminal

    with open_archive(folder) as archive:
        _index_first(archive)
        answer = archive.search(
            " ".join(words), as_of=at, since=since, until=until, prefix=prefix,
            media_type=media_type, language=language, order=order, fold=fold, limit=limit,
            offset=offset,
        )  # fmt: skip
    if as_json:
        print_json(search_json(answer))
        return 0 if answer.found else 1
    colour, width = has_colours(sys.stdout), min(get_terminal_size().columns, 100)
    lines = terminal(answer, width, colour=colour)
    click.echo("\n".join(lines), nl=False, file=painted(sys.stdout))
    say(summary(answer))
    return 0 if answer.found else 1


def _index_first(archive: OpenArchive) -> None:
    try:
        index_texts(archive, PATIENCE)
    except (ArchiveError, StorageError) as error:  # another has it, or nothing can be written
        say(f"asof: {error.what} The index is searched as it is.")
