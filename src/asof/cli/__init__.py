"""The command line: parse, call one function, print. Data to stdout, talk to stderr.

Exit codes: 0 done; 1 the answer is no; 2 bad usage or input; 130 interrupted, state kept; 128 more
than the number of a signal that ended it.
"""

import importlib
import io
import os
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
from asof.ledger import translate

# Each verb's module is imported when it is asked for, so that `asof --help` starts at once.
_VERBS = {
    "crawl": "crawl", "status": "status",
    "pause": "control", "resume": "control", "exclude": "control", "stop": "control",
    "quality": "quality", "scope": "scope",
    "list": "read", "show": "read", "get": "read",
    "text": "documents", "diff": "documents", "similar": "similar", "cover": "cover",
    "simulate": "simulate",
    "import": "files", "export": "export", "check": "files", "reindex": "files",
    "serve": "serve", "demo": "demo", "completion": "completion",
}  # fmt: skip


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
    except (click.exceptions.Abort, KeyboardInterrupt):
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        return _refuse(_click_message(error), 2)
    except AsofError as error:
        return _refuse(str(error), error.exit_code)
    except sqlite3.Error as error:
        refusal = translate(error, Path("asof.db"))
        return _refuse(str(refusal), refusal.exit_code)
    except (BrokenPipeError, _ReaderGone):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        what = f"{error.filename}: {error.strerror}." if error.filename else f"{error}."
        return _refuse(f"{what} Check the path, its rights and the free space.", 2)


def _click_message(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    message = message if message.endswith((".", "?", ")")) else f"{message}."
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "asof"
    return f"{message} See `{where} --help`."


def _refuse(sentence: str, code: int) -> int:
    click.echo(f"asof: {sentence}", err=True)
    return code
