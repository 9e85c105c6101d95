"""`asof serve`: the archive as a web to walk through."""

import socket
from collections.abc import Callable
from pathlib import Path

import click

from asof.archive import OpenArchive
from asof.cli.options import archive_option, examples, port_option
from asof.cli.output import say
from asof.errors import UsageError


@click.command("serve", epilog=examples("asof serve -a archive --port 8080"))
@archive_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@port_option("listen")
def serve_command(folder: Path, host: str, port: int) -> int:
    """Browse the archive as of any moment, in a browser."""
    with OpenArchive.open(folder) as archive:
        serve(archive, host, port, lambda url: say(f"Serving {folder} at {url}"))
    return 0


def serve(archive: OpenArchive, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` gets the address once it answers."""
    import uvicorn

    from asof.web.app import create_app

    listener = _listen(host, port)
    name = f"[{host}]" if ":" in host else host
    url = f"http://{name}:{listener.getsockname()[1]}/"
    app = create_app(archive, archive.clock, hosts=(host,))
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    )
    ready(url)
    server.run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise UsageError(
            f"Cannot listen on {host} port {port}: {error.strerror or error}.",
            hint="Choose another with --port (0 takes any free one) or --host.",
        ) from error
    listener.listen(128)
    return listener
