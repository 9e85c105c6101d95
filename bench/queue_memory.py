"""How much memory a crawl takes while a million URLs wait in its queue.

    python bench/queue_memory.py [--queued 1000000]

A server on loopback answers every URL with a page of 1,000 links to pages that nobody has linked to
before, on 50 hosts, and slows nobody down. `asof crawl` takes pages until so many URLs wait, with
everything on (traps included) and its writer beside it. What both processes hold together is looked
up all the while; pages of memory that they share are shared out (Pss).
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import sys
import tempfile
import threading
from contextlib import closing
from pathlib import Path

from crawl import BIN, watched_memory
from measure import run

LINKS = 1_000
HOSTS = [f"127.0.1.{n}" for n in range(1, 51)]


class Web:
    """Pages without end: each links to others that are new."""

    def __init__(self) -> None:
        self._made = 0
        self.port = 0

    def page(self) -> bytes:
        """A thousand links, each with a path of its own."""
        links = []
        for number in range(self._made, self._made + LINKS):
            host = HOSTS[number % len(HOSTS)]
            word = f"{number * 2654435761 % 4294967296:08x}"
            links.append(f'<p><a href="http://{host}:{self.port}/{word}/{number}">{word}</a>')
        self._made += LINKS
        return "\n".join(links).encode()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                body = b"" if b"/robots.txt " in request else self.page()
                head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}"
                writer.write(f"{head}\r\n\r\n".encode() + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def serve(web: Web, ready: threading.Event) -> None:
    """Answer on all addresses of loopback until the program ends."""

    async def forever() -> None:
        server = await asyncio.start_server(web.answer, "127.0.0.1", 0)
        web.port = server.sockets[0].getsockname()[1]
        others = [await asyncio.start_server(web.answer, host, web.port) for host in HOSTS]
        ready.set()
        await asyncio.gather(server.serve_forever(), *(each.serve_forever() for each in others))

    asyncio.run(forever())


def main() -> None:
    """Crawl until enough waits, and tell the peak."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queued", type=int, default=1_000_000)
    options = parser.parse_args()
    web, ready = Web(), threading.Event()
    threading.Thread(target=serve, args=(web, ready), daemon=True).start()
    ready.wait(10)
    pages = options.queued // (LINKS - 1) + 1
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        archive = Path(scratch) / "archive"
        with watched_memory() as seen:
            switches = ["--delay", "0", "-q", "--include", ".", "--allow-private"]
            limit = ["--max-pages", str(pages), "-a", str(archive)]
            seed = f"http://127.0.0.1:{web.port}/"
            cost = run([str(BIN / "asof"), "crawl", seed, *switches, *limit])
        with closing(sqlite3.connect(archive / "asof.db")) as db:
            [(queued,)] = db.execute("SELECT count(*) FROM targets WHERE state = 'queued'")
    print(
        f"{queued:,} URLs queued by {pages:,} pages in {cost.wall:.0f} s ({cost.cpu:.0f} s of CPU)"
    )
    print(f"peak of both processes: {max(seen):.0f} MB")
    if queued < options.queued:
        sys.exit("That is fewer than were asked for.")


if __name__ == "__main__":
    main()
