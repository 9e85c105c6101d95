"""The process beside `asof serve` that makes thumbnails, one at a time, when nothing else is to do.

The server's processes ask for them through one pipe. What does not fit into it is forgotten: who
looks at the page again asks again.
"""

import json
import logging
import os
import select
import signal
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from socket import socket
from threading import Thread

from asof.archive import OpenArchive
from asof.clock import Clock, Instant
from asof.errors import AsofError
from asof.replay.choose import Policy
from asof.web.pictures.shelf import WIDTH, Shelf, looked_at
from asof.web.pictures.studio import Studio, View, studio

# A line of so many bytes is written whole or not at all (POSIX, PIPE_BUF); none is longer.
_LONGEST = 512
# The window that is pictured, and how long that may take: nobody waits, and others go first.
_VIEW = View(width=1280, height=800, seconds=40.0)
# After so many seconds without work the browser ends, and the archive is closed.
_IDLE_SECONDS = 20.0


class Wishes:
    """The pipe: an archive by its place among those that are served, a URL, and a moment."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = [folder.absolute() for folder in folders]
        self._out, self._in = os.pipe()
        os.set_blocking(self._in, False)
        self._read = b""

    def ask(self, folder: Path, url: str, at: Instant) -> None:
        line = json.dumps([self.folders.index(folder), url, at]).encode() + b"\n"
        if len(line) <= _LONGEST:
            with suppress(BlockingIOError, BrokenPipeError):
                os.write(self._in, line)

    def next(self, seconds: float | None) -> tuple[Path, str, Instant] | None:
        """The next one; None if there is none in so many seconds."""
        while (end := self._read.find(b"\n")) < 0:
            if not select.select([self._out], [], [], seconds)[0]:
                return None
            self._read += os.read(self._out, 1 << 16)
        line, self._read = self._read[:end], self._read[end + 1 :]
        number, url, at = json.loads(line)
        return self.folders[number], url, at


class Maker:
    """Makes what is wished for. Of several archives one is open at a time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._folder: Path | None = None
        self._open: ExitStack | None = None
        self._archive: OpenArchive
        self._studio: Studio

    @property
    def is_idle(self) -> bool:
        return self._open is None

    def make(self, folder: Path, url: str, at: Instant) -> None:
        """One thumbnail, or the word that there is none; neither if it is there."""
        self._turn_to(folder)
        shelf = Shelf(self._archive.folder, self._clock)
        seen = looked_at(self._archive, self._archive.as_of(url, at))
        if seen is None or shelf.find(seen) is not None:
            return
        shelf.prepare()
        try:
            taken = self._studio.picture(url, at, Policy.COHERENT, _VIEW, WIDTH / _VIEW.width).data
        except AsofError as error:
            logging.getLogger("uvicorn.error").info("No thumbnail of %s: %s", url, error)
            taken = b""
        shelf.keep(seen, taken)

    def rest(self) -> None:
        """End the browser and close the archive, until there is something to do."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _turn_to(self, folder: Path) -> None:
        if self._open is not None and self._folder == folder:
            return
        self.rest()
        with ExitStack() as held:
            self._archive = held.enter_context(OpenArchive.open(folder, clock=self._clock))
            self._studio = held.enter_context(studio(self._archive, self._clock))
            self._open, self._folder = held.pop_all(), folder


def make_thumbnails(
    wishes: Wishes, clock: Clock, listeners: Sequence[socket], alive: tuple[int, int]
) -> None:
    """What the process does, until the other end of `alive` is closed."""
    os.close(alive[1])
    for listener in listeners:  # of the process that it was forked from
        listener.close()
    os.nice(19)  # who reads goes first

    def watch() -> None:
        os.read(alive[0], 1)
        os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # who serves may ignore it
    Thread(target=watch, daemon=True).start()
    maker = Maker(clock)
    with suppress(KeyboardInterrupt):
        try:
            while True:
                wish = wishes.next(None if maker.is_idle else _IDLE_SECONDS)
                if wish is None:
                    maker.rest()
                    continue
                try:
                    maker.make(*wish)
                except AsofError as error:  # an archive that cannot be read or written to just now
                    logging.getLogger("uvicorn.error").error("No thumbnails: %s", error)
                    maker.rest()
        finally:
            maker.rest()
