"""The command line: parse, call one function, print. Data to stdout, talk to stderr.

Exit codes: 0 done; 1 the answer is no; 2 bad usage or input; 3 to 6 what is wrong with a signature
(`asof check FILE`); 130 interrupted, state kept; 128 more than the number of a signal that ended
it.
"""

import importlib
import io
import os
import re
import shlex
import signal
import sqlite3
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from asof.cli.screen import guard
from asof.errors import AsofError
from asof.files import DISK
from asof.ledger import translate

# Each verb's module is imported when it is asked for, so that `asof --help` starts at once.
_VERBS = {
    "crawl": "crawl", "status": "status",
    "pause": "control", "resume": "control", "exclude": "control", "stop": "control",
    "quality": "quality", "scope": "scope",
    "list": "read", "show": "read", "get": "read", "site": "site", "shot": "shot",
    "text": "documents", "diff": "documents", "similar": "similar",
    "search": "search", "cover": "cover",
    "simulate": "simulate",
    "import": "files", "export": "export", "check": "files", "reindex": "files",
    "key": "key",
    "serve": "serve", "setup": "setup", "demo": "demo", "completion": "completion",
}  # fmt: skip


# How people name a moment, and what commands call it.
_MOMENT, _MOMENTS = ("at", "as-of", "date", "moment", "time", "when"), ("at", "as-of", "to")
# What click says of an option that is no number.
_NO_NUMBER = re.compile(r"is not a valid (?:(float)|integer)(?: range)?")


class _ReaderGone(Exception):
    """Whoever read our output has gone (`asof list | head`): nothing is left to say."""


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _VERBS.get(cmd_name)
        if module is None:
            return None
        home = importlib.import_module(f"asof.cli.{module}")
        found: click.Command = getattr(home, f"{cmd_name}_command")
        return found

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:  # which click would make an exit with 1 of
            raise _ReaderGone from error
        except AsofError as error:
            from asof.cli.output import completed  # here, for it loads more than some verbs need

            error.args = (completed(str(error)),)
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in _VERBS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if name == "help":
            if args[1:2] and args[1] in _VERBS:
                return super().resolve_command(ctx, [args[1], "--help"])
            raise click.exceptions.NoArgsIsHelpError(ctx)
        from asof.url import typed  # here, for `asof --help` needs no URLs

        meant = [f"asof {each}" for each in get_close_matches(name, _VERBS, n=2, cutoff=0.6)]
        meant += [f"asof crawl {shlex.quote(name)}"] if typed(name) else []
        hint = f" Did you mean `{'` or `'.join(meant)}`?" if meant else ""
        raise click.UsageError(f"There is no command {name!r}.{hint}", ctx)


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Try `asof demo` to see the whole story on a small site that it serves itself.",
)
@click.version_option(package_name="asof", message="asof %(version)s")
def group() -> None:
    """A web archive that can say what a site looked like as of a moment."""


def main(arguments: Sequence[str] | None = None) -> None:
    _open_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="backslashreplace")  # rather \u4e2d than no answer
    guard()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores the second
            signal.signal(number, _end)
    code = run(sys.argv[1:] if arguments is None else list(arguments))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: it would only change the code
    sys.exit(code)


def _open_closed() -> None:
    """What was closed before us (`>&-`) leads nowhere now: no file of ours gets its place."""
    while (free := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(free)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8")  # noqa: SIM115 (for good)
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8")  # noqa: SIM115


def _end(number: int, frame: FrameType | None) -> NoReturn:
    """What was begun is cleared away, as after Ctrl-C; a command may have its own way to stop."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def run(arguments: list[str]) -> int:
    """Run a command; every refusal becomes one sentence and an exit code."""
    try:
        # With `color` click lets data be as it is; what a terminal gets is cleaned by its screen.
        result = group.main(arguments, prog_name="asof", standalone_mode=False, color=True)
        return result if isinstance(result, int) else 0
    except (click.exceptions.Abort, KeyboardInterrupt) as error:
        for note in getattr(error.__cause__ or error, "__notes__", ()):
            _refuse(note, 130)
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        return _refuse(_click_message(error, arguments), 2)
    except AsofError as error:
        return _refuse(str(error), error.exit_code)
    except sqlite3.Error as error:
        refusal = translate(error, Path("asof.db"))
        return _refuse(str(refusal), refusal.exit_code)
    except (BrokenPipeError, _ReaderGone):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        name, why = error.filename, error.strerror or error
        what = f"{name}: {why}." if name else f"{why}."
        code = 1 if error.errno in DISK else 2
        return _refuse(f"{what} Check the path, its rights and the free space.", code)


def _click_message(error: click.ClickException, arguments: list[str]) -> str:
    context = getattr(error, "ctx", None)
    meant = None if context is None else _meant(error, context, arguments)
    if isinstance(error, click.NoSuchOption):
        alike = None if context is None or meant else _alike(error, context.command)
        error = click.UsageError(f"{error.message}{f' Did you mean {alike!r}?' if alike else ''}")
    message = " ".join(error.format_message().split())
    message = message if message.endswith((".", "?")) else f"{message}."
    message = _NO_NUMBER.sub(lambda no: f"is not a {'' if no[1] else 'whole '}number", message)
    verb = [each for each in arguments[:1] if each in _VERBS]  # an option without its value
    where = context.command_path if context is not None else " ".join(["asof", *verb])
    return f"{message} {f'Write `{meant}`.' if meant else f'See `{where} --help`.'}"


def _alike(error: click.NoSuchOption, command: click.Command) -> str | None:
    """The option that somebody means, by its name (without the dashes, which all have) or by what
    it is about: `--since` is --from.
    """
    names = {str(each.name): each.opts[0] for each in command.params if each.opts[0][0] == "-"}
    names |= {name[2:]: name for each in command.params for name in each.opts if name[:2] == "--"}
    wrong = error.option_name.lstrip("-")
    if wrong in _MOMENT:
        return next((names[name] for name in _MOMENTS if name in names), None)
    found = get_close_matches(wrong, names, n=1) if len(wrong) > 1 else []
    return names[found[0]] if found else None


def _meant(error: click.ClickException, ctx: click.Context, arguments: list[str]) -> str | None:
    """The command that somebody means who wrote an option, or what it stands for, elsewhere."""
    if isinstance(error, click.NoSuchOption):
        if ctx.command is group:  # options stand after the command
            rest = list(arguments)
            verb = next((each for each in rest if each in _VERBS), None)
            if verb is None:
                return None
            rest.remove(verb)
            return shlex.join(["asof", verb, *rest])
        named = error.option_name.lstrip("-")
        words = [each.make_metavar(ctx).strip("[]") for each in ctx.command.params
                 if isinstance(each, click.Argument)]  # fmt: skip
        if named in _MOMENT and "T1" in words:
            return " ".join([ctx.command_path, *words])
        for each in ctx.command.params:
            if isinstance(each, click.Argument) and named in each.make_metavar(ctx).lower():
                return f"{ctx.command_path} {named.upper()}"
    extra = re.search(r"extra arguments? \((\S+)", str(error))
    if extra is not None:
        word = extra[1].rstrip("),")
        path = Path(word)
        if (path / "warc").is_dir() or path.name == "asof.db":
            return f"{ctx.command_path} -a {shlex.quote(str(path))}"
        if path.is_file() and any(each.name == "certificate" for each in ctx.command.params):
            return f"{ctx.command_path} --certificate {shlex.quote(str(path))}"
        from asof.url import typed

        if typed(word) and any(each.name == "prefix" for each in ctx.command.params):
            at = arguments.index(word)
            return shlex.join(["asof", *arguments[:at], "--prefix", *arguments[at:]])
    return None


def _refuse(sentence: str, code: int) -> int:
    click.echo(f"asof: {sentence}", err=True)
    return code
