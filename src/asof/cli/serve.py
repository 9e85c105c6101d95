"""`asof serve`: archives as a web to walk through."""

import os
import sys
from pathlib import Path

import click

from asof.archive.folder import storage_errors
from asof.cli.options import archive_option, examples, port_option, refuse_given
from asof.cli.output import say


@click.command(
    "serve",
    epilog=examples(
        "asof serve -a archive --port 8080",
        "asof serve gazette harbour       two archives, below /gazette/ and /harbour/",
        "asof serve --access-log access.log",
    ),
)
@click.argument("folders", nargs=-1, metavar="[ARCHIVE]...", type=click.Path(path_type=Path))
@archive_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@port_option("listen")
@click.option("--access-log", "log", metavar="FILE",
              help="Append a line for each request (Common Log Format); - is stdout.")  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Say which requests are refused, and why.")
def serve_command(folders: tuple[Path, ...], folder: Path, host: str, port: int, log: str | None,
                  verbose: bool) -> int:  # fmt: skip
    """Browse an archive as of any moment, in a browser; or several, each below its name."""
    from asof.web.server import Service, serve

    if folders:
        refuse_given(["folder"], "{} and ARCHIVE exclude each other.")
    served = folders or (folder,)
    told = ", ".join(map(click.format_filename, served))
    service = Service(served, host, port, _descriptor(log), verbose)
    serve(service, lambda url: say(f"Serving {told} at {url}"))
    return 0


def _descriptor(log: str | None) -> int | None:
    """Where lines are appended, by all processes alike."""
    if log in (None, "-"):
        return None if log is None else sys.stdout.fileno()
    with storage_errors(Path(log or "")):
        return os.open(log or "", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
