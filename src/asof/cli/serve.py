"""`asof serve`: archives as a web to walk through."""

import re
import sys
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING

import click

from asof.cli.options import ARCHIVE, archive_option, examples, port_option, refuse_given
from asof.cli.output import say
from asof.errors import UsageError
from asof.files import append_to
from asof.url import origin as origin_of

if TYPE_CHECKING:
    from asof.web.forwarded import Network

# Who reads asks for a few pages a minute, each with its parts; a burst is of 20 seconds.
_RATE = 20
_ROOT = re.compile(r"(?:/[A-Za-z0-9._~-]*[A-Za-z0-9_~-])*")


@click.command(
    "serve",
    epilog=examples(
        "asof serve -a archive --port 8080",
        "asof serve gazette harbour       two archives, below /gazette/ and /harbour/",
        "asof serve --control             crawls are started and steered in the browser, too",
        "asof serve --access-log access.log",
        "asof serve --public --host 0.0.0.0 --host-name archive.example.org",
        "asof serve --public --root-path /archive --behind-proxy 127.0.0.1",
    ),
)
@click.argument("folders", nargs=-1, metavar="[ARCHIVE]...", type=click.Path(path_type=Path))
@archive_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@port_option("listen")
@click.option(
    "--public",
    is_flag=True,
    help="Others may read all of it: any --host, any name, limits for each client.",
)
@click.option(
    "--rate",
    type=click.IntRange(1, 100_000),
    metavar="N",
    default=_RATE,
    show_default=True,
    help="With --public, requests a second of one client.",
)
@click.option(
    "--host-name",
    "names",
    metavar="NAME",
    multiple=True,
    help="A name to answer to, and with --public to no other; more than once for more.",
)
@click.option(
    "--root-path",
    "root",
    metavar="PATH",
    default="",
    help="What stands before all addresses: /archive behind a proxy.",
)
@click.option(
    "--behind-proxy",
    "proxies",
    metavar="ADDRESS",
    multiple=True,
    help="A proxy, or a network of them, to be believed who asks (X-Forwarded-For).",
)
@click.option("--control", is_flag=True,
              help="Print a link: who has it may steer crawls, and run covers.")  # fmt: skip
@click.option("--access-log", "log", metavar="FILE",
              help="Append a line for each request (Common Log Format); - is stdout.")  # fmt: skip
@click.option("--pictures/--no-pictures", default=None,
              help="Make thumbnails of pages, by your Chromium; as root only when told to, for it"
              " has no sandbox then.")  # fmt: skip
@click.option("--warc-files", is_flag=True,
              help="Serve the WARC files, too, for other replay tools: /-/warc/FILE.")  # fmt: skip
@click.option(
    "--replay-port",
    default=0,
    show_default=True,
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Port that archived scripts run at; 0 takes any free one.",
)
@click.option(
    "--replay-origin",
    metavar="URL",
    default="",
    help="The address that readers have of that port, behind a server of yours.",
)
@click.option(
    "--origin",
    metavar="URL",
    default="",
    help="The address that readers have of these pages; goes with --replay-origin.",
)
@click.option("-v", "--verbose", is_flag=True, help="Say which requests are refused, and why.")
def serve_command(folders: tuple[Path, ...], folder: Path, host: str, port: int, public: bool,
                  rate: int, names: tuple[str, ...], root: str, proxies: tuple[str, ...],
                  control: bool, log: str | None, pictures: bool | None, warc_files: bool,
                  replay_port: int, replay_origin: str, origin: str,
                  verbose: bool) -> int:  # fmt: skip
    """Browse an archive, as of any moment, in a browser.

    Or several: each is below the name of its folder.
    """
    from asof.clock import SystemClock
    from asof.web.orders import new_token
    from asof.web.pictures.browser import is_without_sandbox
    from asof.web.server import Service, serve
    from asof.web.turns import Buckets

    if folders:
        refuse_given(["folder"], "{} and ARCHIVE exclude each other.")
    if not public:
        refuse_given(["rate"], "{} is of a server that others read, with --public.")
    served, clock = folders or (folder,), SystemClock()
    if len(served) == 1:  # which commands that are proposed are about
        click.get_current_context().meta[ARCHIVE] = served[0]
    told = ", ".join(map(click.format_filename, served))
    if bool(origin) != bool(replay_origin):
        hint = "Give both: only pages at --origin may frame what runs at --replay-origin."
        raise UsageError("--origin and --replay-origin go together.", hint=hint)
    makes_pictures = not is_without_sandbox() if pictures is None else pictures
    service = Service(
        served, host, port, partial(_descriptor, log), verbose, warc_files, clock, replay_port,
        _origin(replay_origin), _origin(origin), _root(root), names,
        tuple(map(_network, proxies)), Buckets(clock, rate) if public else None,
        new_token() if control else "", pictures=makes_pictures,
    )  # fmt: skip

    def ready(url: str) -> None:
        say(f"Serving {told} at {url}")
        if service.token:
            say(f"Who has this link may start and steer crawls: {url}#token={service.token}")

    serve(service, ready)
    return 0


def _root(path: str) -> str:
    """A path without the slash at its end."""
    path = path.rstrip("/")
    if _ROOT.fullmatch(path) is None:
        raise UsageError(
            f"{path!r} cannot stand before addresses.",
            hint="Write --root-path /archive: letters, digits and . _ ~ - between slashes.",
        )
    return path


def _network(text: str) -> "Network":
    try:
        return ip_network(text)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no address of a proxy.", hint="Write 127.0.0.1, ::1 or 10.0.0.0/8."
        ) from error


def _origin(url: str) -> str:
    """Scheme, host and port alone, as a policy can hold them."""
    if not url:
        return ""
    if (found := origin_of(url)) is None or not re.fullmatch(r"https?://[a-z0-9.:-]+", found):
        hint = "Write it as https://replay.example.org."
        raise UsageError(f"{url!r} is no address of a server.", hint=hint)
    return found


def _descriptor(log: str | None) -> int | None:
    """Where lines are appended."""
    if log in (None, "-"):
        return None if log is None else sys.stdout.fileno()
    return append_to(Path(log or ""))
