"""Where everything ends up that leaves a browser: a listener that notes and answers anything."""

from __future__ import annotations

import re
import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nAccess-Control-Allow-Origin: *\r\n"
    b"Connection: close\r\nContent-Length: 5\r\n\r\nleak\n"
)


@dataclass
class Sink:
    """What came: names that were asked for, and connections that said nothing; datagrams."""

    tcp: int
    silent: int
    """A port for what connects without a word."""
    udp: int
    names: set[str] = field(default_factory=set)
    datagrams: int = 0

    @property
    def nothing(self) -> bool:
        return not self.names and not self.datagrams


@contextmanager
def sink() -> Iterator[Sink]:
    """A sink on loopback."""
    loud, quiet = (socket.create_server(("127.0.0.1", 0), backlog=512) for _ in range(2))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    ports = (each.getsockname()[1] for each in (loud, quiet, udp))
    found, over = Sink(*ports), threading.Event()
    thread = threading.Thread(target=_swallow, args=(found, loud, quiet, udp, over))
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()
        for each in (loud, quiet, udp):
            each.close()


def _swallow(
    found: Sink,
    loud: socket.socket,
    quiet: socket.socket,
    udp: socket.socket,
    over: threading.Event,
) -> None:
    open_until: dict[socket.socket, float] = {}
    while not over.is_set():
        ready, _, _ = select.select([loud, quiet, udp, *open_until], [], [], 0.05)
        for each in ready:
            if each is udp:
                udp.recv(65536)
                found.datagrams += 1
            elif each is loud or each is quiet:
                connection, _ = each.accept()
                open_until[connection] = time.monotonic() + 5
                if each is quiet:
                    found.names.add("(silent)")
            else:
                del open_until[each]
                found.names.add(_read(each))
        for each in [one for one, until in open_until.items() if time.monotonic() > until]:
            del open_until[each]
            found.names.add("(connected, and said nothing)")
            each.close()
    for each in open_until:
        each.close()


def _read(connection: socket.socket) -> str:
    """Whom it was for: by the Host of a request or the name in a TLS greeting; or how it began."""
    with connection, suppress(OSError):
        said = connection.recv(65536)
        connection.sendall(_ANSWER)
        named = re.search(rb"(?i)\r\nhost: *([^\r:]+)", said)
        if said.startswith(b"\x16"):  # TLS: the name is in clear (RFC 6066, section 3)
            named = re.search(rb"((?:[a-z0-9-]+\.)+(?:test|com|net|org|arpa))", said)
        return named[1].decode() if named else repr(said[:40])
    return "(gone)"
