"""Reading documents beside a crawl, and indexing their words, in a process that runs when nothing
else wants the processor.

A polite crawl mostly waits for its hosts; that time is enough for what it has taken. A crawl
without delays has none to give, and leaves its documents to `asof reindex --search`. The process
ends when its standard input does: with the crawl, however that ends. What it has read is kept.
"""

import os
import select
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from time import monotonic

from asof.clock import nap
from asof.errors import AsofError

# A crawl that is over sooner is not worth the start; and seconds between two looks for more.
_BEGIN_AFTER = 3.0
_LOOK_EVERY = 5.0
# How many times as long as a look that found nothing the process then rests, at least.
_REST = 20
# Seconds by the clock for one document: beside other work, little of them is this process's.
_PATIENCE = 600.0
# Seconds that the process gets to let go of its files.
_GRACE = 5.0
_COMMAND = "from asof.crawl.background import main; main()"


class BackgroundReader:
    """The process, from the side of the crawl."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _COMMAND, str(folder.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C is for the crawl
        )

    def close(self) -> None:
        """End it; what it is reading is read again some day."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def main() -> None:
    """The process: read what is there, wait for more, until nobody is there any more."""
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)
    Thread(target=_end_with_crawl, daemon=True).start()
    patience = _BEGIN_AFTER
    while not _ended(patience):
        found, began = False, monotonic()
        with suppress(AsofError):  # busy, damaged or full: only a service, and the crawl goes on
            found = _read(Path(sys.argv[1]))
        # A look goes through all captures: of a large archive it takes its time, and is rarer.
        took = 0.0 if found else monotonic() - began
        patience = max(_LOOK_EVERY, _REST * took)


def _read(folder: Path) -> bool:
    """Read and index what there is; whether there was anything new."""
    from asof.archive.archive import OpenArchive
    from asof.change.texts import Texts
    from asof.search.index import update
    from asof.text.sandbox import ReadingLimits

    limits, stop = ReadingLimits(patience=_PATIENCE), partial(_ended, 0.0)
    with OpenArchive.open(folder) as archive, Texts(archive, writable=True, limits=limits) as texts:
        found = texts.read_all(1, stop=stop).judged > 0
        if found:
            update(archive, texts, stop=stop)
        return found


def _end_with_crawl() -> None:
    """Even in the middle of a document that takes long; its child has a lifeline of its own."""
    select.select([sys.stdin], [], [])
    nap(_GRACE)
    os._exit(0)


def _ended(patience: float) -> bool:
    """Whether the crawl is over, looked at for so many seconds."""
    readable, _, _ = select.select([sys.stdin], [], [], patience)
    return bool(readable)
