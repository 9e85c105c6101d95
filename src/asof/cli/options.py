"""Options that several verbs share."""

import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from asof.config import SIZE_HINT, parse_size
from asof.errors import ConfigError, UsageError

ARCHIVE = "asof.archive"  # where the archive that a command is about stands in its context
Command = TypeVar("Command", bound=Callable[..., Any])


def _require_name(ctx: click.Context, option: click.Parameter, value: Path) -> Path:
    # Path("") is the current folder, which an empty shell variable does not mean; `.` would be.
    if value == Path():
        raise click.BadParameter("the name of the folder is empty.", ctx=ctx, param=option)
    ctx.meta[ARCHIVE] = value
    return value


def no_archive(
    ctx: click.Context, argument: click.Parameter, value: str | Path | tuple[str, ...] | None
) -> str | Path | tuple[str, ...] | None:
    """Refuse an archive's folder where a URL, a crawl or a file is to be named."""
    for each in (value,) if isinstance(value, (str, Path)) else value or ():
        if Path(each, "warc").is_dir():
            hint = f"Write `{ctx.command_path} -a {shlex.quote(str(each))}`."
            raise UsageError(f"{each} is the folder of an archive.", hint=hint)
    return value


def size(value: str) -> int:
    """The type of an option that is a number of bytes: 500kB, 10MB, 2GB or plain digits."""
    found = parse_size(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no number of bytes. {SIZE_HINT}")
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
    return click.option(
        "--port", default=PORT, show_default=True, type=ports, metavar="N", help=told
    )


archive_option = click.option(
    "-a", "--archive", "folder", type=click.Path(path_type=Path), callback=_require_name,
    default=Path("archive"), show_default=True, metavar="DIR", help="The archive's folder.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
moment_option = click.option(
    "--at", "moment", default="now", metavar="T", help="As of this moment [now]."
)
# By name, for loading the readers of documents takes longer than most commands.
policy_option = click.option(
    "--policy",
    type=click.Choice(("coherent", "strict", "nearest")),
    default="coherent",
    show_default=True,
    help="By evidence, never without any, or whatever is nearest.",
)
output_option = file_option(
    "-o",
    "--output",
    help="Write there, not to stdout. A file that exists stays, unless it is a report of asof.",
)


def is_given(name: str) -> bool:
    """Whether an option of the command that runs was written, not left at its default."""
    context = click.get_current_context()
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


@contextmanager
def as_typed() -> Iterator[None]:
    """A setting that was given by an option is called by that option if it is refused."""
    try:
        yield
    except ConfigError as error:
        options = {each.name: each.opts[0] for each in click.get_current_context().command.params}
        name = error.setting
        if name not in options or not is_given(name):
            raise
        raise UsageError(error.what.replace(name, options[name], 1), hint=error.hint) from error


def refuse_given(names: Iterable[str], why: str, hint: str = "Leave {} out.") -> None:
    """An error if one of these options was given; the texts have a place for its name."""
    written = {each.name: each.opts[0] for each in click.get_current_context().command.params}
    for option in (written[name] for name in names if is_given(name)):
        raise UsageError(why.format(option), hint=hint.format(option))


# A hint for `refuse_given`, of what goes with another option.
ADD_IT = "Add it, or leave {} out."
# What reports, certificates and pictures of ours begin with, not far from their start.
_OURS = (b'<meta name="generator" content="asof">', b'"format": "asof-', b"tEXtSoftware\0asof ")


def require_place(out: Path) -> None:
    """Where a file is to be written there is a folder, and nothing that is not ours to replace:
    asked before the work, not after it.
    """
    name = click.format_filename(out)
    if not out.absolute().parent.is_dir():
        told = f"{click.format_filename(out.parent)} is not a folder."
        raise UsageError(told, hint="Make it first.")
    if out.is_dir():
        raise UsageError(f"{name} is a folder.", hint="Name a file in it.")
    if out.is_file() and out.stat().st_size and not str(out).startswith("/dev/"):
        with out.open("rb") as file:
            head = file.read(1000)
        if not any(mark in head for mark in _OURS):
            hint = "Name another, or remove it first: only reports of asof are written over."
            raise UsageError(f"{name} exists.", hint=hint)


def require_empty_folder(out: Path) -> None:
    """Where a folder is to be written there is none, or an empty one."""
    name = click.format_filename(out)
    if out == Path("-"):
        raise UsageError("A folder cannot be written to stdout.", hint="Name one with -o.")
    if not out.absolute().parent.is_dir():
        told = f"{click.format_filename(out.parent)} is not a folder."
        raise UsageError(told, hint="Make it first.")
    if out.exists() and not out.is_dir():
        raise UsageError(f"{name} is a file.", hint="Name a new folder.")
    if out.is_dir() and any(out.iterdir()):
        raise UsageError(f"{name} is not empty.", hint="Name a new folder, or remove it first.")


def examples(*lines: str) -> str:
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
