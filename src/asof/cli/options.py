"""Options that several verbs share."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from asof.errors import UsageError
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


def selection_options(function: Command) -> Command:
    for option in (
        click.option("--to", "until", metavar="T", help="Captured at or before this moment."),
        click.option("--from", "since", metavar="T", help="Captured at or after this moment."),
        click.option("--prefix", metavar="P", help="Only URLs that start with this."),
        click.option("--url", metavar="URL", help="Only this URL."),
    ):
        function = option(function)
    return function


def file_option(
    *names: str, help: str, dir_okay: bool = True, multiple: bool = False
) -> Callable[[Command], Command]:
    kind = click.Path(path_type=Path, dir_okay=dir_okay)
    return click.option(*names, type=kind, metavar="FILE", help=help, multiple=multiple)


PORT = 8080
SERVED = f"http://127.0.0.1:{PORT}"


def port_option(verb: str) -> Callable[[Command], Command]:
    told = f"Port to {verb} on; 0 takes any free one."
    ports = click.IntRange(0, 65535)
    return click.option("--port", default=PORT, show_default=True, type=ports, help=told)


archive_option = click.option(
    "-a", "--archive", "folder", type=click.Path(path_type=Path), callback=_require_name,
    default=Path("archive"), show_default=True, metavar="DIR", help="The archive's folder.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
moment_option = click.option(
    "--at", "moment", default="now", metavar="T", help="As of this moment [now]."
)
output_option = file_option("-o", "--output", help="Write there, not to stdout.")


def is_given(name: str) -> bool:
    """Whether an option of the command that runs was written, not left at its default."""
    context = click.get_current_context()
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse_given(names: Iterable[str], why: str) -> None:
    """An error if one of these options was given; `why` has a place for it as it is written."""
    written = {each.name: each.opts[0] for each in click.get_current_context().command.params}
    for option in (written[name] for name in names if is_given(name)):
        raise UsageError(why.format(option), hint=f"Leave {option} out.")


def require_folder(out: Path) -> None:
    """Where a file is to be written there is a folder: asked before the work, not after it."""
    if not out.parent.is_dir():
        told = f"{click.format_filename(out.parent)} is not a folder."
        raise UsageError(told, hint="Make it first.")
    if out.is_dir():
        raise UsageError(f"{click.format_filename(out)} is a folder.", hint="Name a file in it.")


def examples(*lines: str) -> str:
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
