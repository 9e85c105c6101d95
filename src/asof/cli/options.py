"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from asof.scope.rule_text import parse_size

Command = TypeVar("Command", bound=Callable[..., Any])


def _require_name(ctx: click.Context, option: click.Parameter, value: Path) -> Path:
    # Path("") is the current folder, which an empty shell variable does not mean; `.` would be.
    if value == Path():
        raise click.BadParameter("the name of the folder is empty.", ctx=ctx, param=option)
    return value


def size(value: str) -> int:
    """The type of an option that is a number of bytes: 500kB, 10MB, 2GB or plain digits."""
    found = parse_size(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no number of bytes; write 500000, 500kB or 10MB.")
    return found


def archive_option(function: Command) -> Command:
    return click.option(
        "-a",
        "--archive",
        "folder",
        type=click.Path(path_type=Path),
        callback=_require_name,
        default=Path("archive"),
        show_default=True,
        metavar="DIR",
        help="The archive's folder.",
    )(function)


def json_option(function: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def selection_options(function: Command) -> Command:
    for option in (
        click.option("--to", "until", metavar="T", help="Captured at or before this moment."),
        click.option("--from", "since", metavar="T", help="Captured at or after this moment."),
        click.option("--prefix", metavar="P", help="Only URLs that start with this."),
        click.option("--url", metavar="URL", help="Only this URL."),
    ):
        function = option(function)
    return function


def file_option(*names: str, help: str, **more: bool) -> Callable[[Command], Command]:
    """An option that names a file."""
    return click.option(*names, type=click.Path(path_type=Path, **more), metavar="FILE", help=help)


def output_option(function: Command) -> Command:
    return file_option("-o", "--output", help="Write there, not to stdout.")(function)


def moment_option(function: Command) -> Command:
    return click.option(
        "--at", "moment", default="now", metavar="T", help="As of this moment [now]."
    )(function)


def port_option(verb: str) -> Callable[[Command], Command]:
    told = f"Port to {verb} on; 0 takes any free one."
    ports = click.IntRange(0, 65535)
    return click.option("--port", default=8080, show_default=True, type=ports, help=told)


def examples(*lines: str) -> str:
    """An epilog with examples, one a line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
