"""How values are printed: the stable JSON shapes, and tables for people."""

from __future__ import annotations

import gc
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.api import Archive
from asof.cli.options import ARCHIVE
from asof.cli.progress_lines import ProgressLines, spoken
from asof.cli.screen import console, data
from asof.model import Capture
from asof.report.json_shapes import categories
from asof.report.terminal import without_controls
from asof.report.words import human_bytes

if TYPE_CHECKING:
    from rich.table import Table

    from asof.archive.scan import Spread


@contextmanager
def all_kept() -> Iterator[None]:
    """No search for cycles among millions of values that are needed: a tenth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def say(line: str) -> None:
    """A line of talk, to stderr; nothing that is still to be done depends on who listens.

    Beside a bar stderr is rich's, which would obey what is in a line.
    """
    with suppress(OSError):
        click.echo(without_controls(completed(line)), err=True)


def open_archive(folder: Path) -> Archive:
    """An archive for reading, with a word about what its catalog does not show."""
    archive = Archive.open(folder)
    if archive.is_behind():
        say(f"asof: WARC files in {folder} hold more than its catalog. Run `asof reindex`.")
    return archive


def print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False), file=data())


def where(folder: Path) -> str:
    """The option that names an archive in a command we propose."""
    return "" if folder == Path("archive") else f" -a {shlex.quote(str(folder))}"


# Commands that we propose (not one that is running), about an archive that they do not name.
_PROPOSED = re.compile(
    r"((?<!in use by )`asof (?:crawl|status|pause|resume|stop|quality|list|show|get|shot"
    r"|text|similar|search|cover|import|export|check|reindex|serve))\b"
    r"(?![^`]* (?:-a|--help)\b)(?=[^`]*`)"
)


def completed(line: str) -> str:
    """A line whose commands work when they are pasted: with the archive of the one that runs."""
    context = click.get_current_context(silent=True)
    folder = None if context is None else context.meta.get(ARCHIVE)
    return line if folder is None else _PROPOSED.sub(lambda m: m[1] + where(folder), line)


@contextmanager
def stage_progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each stage: call the value with its name, what is done, and of how much."""
    if not sys.stderr.isatty():
        with spoken(ProgressLines()) as lines:
            lines.begin("working", None)
            yield lines.show
        return
    from rich.progress import Progress, TaskID

    with Progress(console=console(err=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield show


@contextmanager
def count_progress(
    what: str, total: int | None, *, column: str = "MofNCompleteColumn"
) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, a line now and then elsewhere; call the value with what is done."""
    if not sys.stderr.isatty():
        in_bytes = column == "DownloadColumn"
        with spoken(ProgressLines(human_bytes) if in_bytes else ProgressLines()) as lines:
            lines.begin(what, total)
            yield lines.advance
        return
    # Here, for loading rich takes longer than most commands.
    from rich import progress

    columns = (
        progress.TextColumn("{task.description}"), progress.BarColumn(),
        getattr(progress, column)(), progress.TimeRemainingColumn(),
    )  # fmt: skip
    with progress.Progress(*columns, console=console(err=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


def judgements(archive: Archive) -> AbstractContextManager[Callable[[Capture], str | None]]:
    """What became of a URL with a capture, as far as documents have been read (a category)."""
    return categories(archive.folder, say)


def table(words: Iterable[str], numbers: Iterable[str]) -> Table:
    """A table without lines: columns of words to the left, of numbers to the right."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in words:
        made.add_column(name, no_wrap=True)
    for name in numbers:
        made.add_column(name, justify="right", no_wrap=True)
    return made


@contextmanager
def heavy_work(what: str, size: int) -> Iterator[tuple[Spread, Callable[[int], None]]]:
    """Processes for work on so many bytes, and the bar that shows it.

    Begin with it: a fork must not inherit an open database.
    """
    from asof.archive.scan import workers

    bar = count_progress(what, size, column="DownloadColumn")
    with workers(cores(), size) as spread, bar as progress:
        yield spread, progress


def cores() -> int:
    """How many processes heavy work may use."""
    return len(os.sched_getaffinity(0))
