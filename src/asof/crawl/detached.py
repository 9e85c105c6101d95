"""A crawl as a process of its own, begun by a program that does not wait for its end.

It is the command that people type, with all of its rules, and takes orders (`--control`). What is
given are settings by their names and seeds, never words of a command line: no value is taken for an
option. The crawl goes on when whoever began it ends; its log is `logs/begun-*.log` in the archive.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from threading import Thread

from asof.archive.folder import Folder
from asof.clock import Clock, nap, stamp
from asof.crawl.control import running
from asof.crawl.request import CrawlRequest, checked_seeds
from asof.files import new_file, refuse_link, storage_errors

# Seconds in which it has begun, or ended; it loads for half of one where nothing else is at work.
PATIENCE = 10.0
_LOOK_EVERY = 0.05
# Of what a crawl said that has ended at once, the end.
_SAID = 4096


@dataclass(frozen=True, slots=True)
class Begun:
    """What a crawl has come to within a few seconds: its id once it runs, and if it has ended
    meanwhile how, and what it said. With neither it is still beginning.
    """

    crawl: str = ""
    code: int | None = None
    said: str = ""


def begin(
    home: Folder,
    clock: Clock,
    seeds: Sequence[str],
    settings: Mapping[str, str | Sequence[str]],
    *,
    new: bool = False,
) -> Begun:
    """Begin a crawl, or go on with the interrupted one that these seeds, or none, mean."""
    request = CrawlRequest(home.root, tuple(seeds), settings, os.environ, new)
    words = [f"--archive={home.root.absolute()}", "--control", *["--new"] * new]
    words += [*_options(settings), "--", *checked_seeds(request)]
    log = home.root / "logs" / f"begun-{stamp(clock.now())}-{token_hex(2)}.log"
    refuse_link(log.parent)
    with storage_errors(log), new_file(log) as file:
        child = subprocess.Popen(
            # -P: a module in the folder that we happen to be in is none of ours.
            [sys.executable, "-P", "-m", "asof", "crawl", *words],
            stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            start_new_session=True,  # Ctrl-C is for whoever began it
        )  # fmt: skip
    deadline = clock.monotonic() + PATIENCE
    while clock.monotonic() < deadline:
        status = running(home)
        if status is not None and status.pid == child.pid:
            break
        if (code := child.poll()) is not None:
            return Begun(code=code, said=_last_words(log))
        nap(_LOOK_EVERY)
    Thread(target=child.wait, daemon=True).start()  # nobody else would bury it
    status = running(home)
    return Begun(status.crawl if status is not None and status.pid == child.pid else "")


def _options(settings: Mapping[str, str | Sequence[str]]) -> Iterator[str]:
    for name, value in settings.items():
        option = f"--{name.replace('_', '-')}"
        yield from (f"{option}={one}" for one in ([value] if isinstance(value, str) else value))


def _last_words(log: Path) -> str:
    said = log.read_bytes()
    text = said[-_SAID:].decode("utf-8", "replace")
    return text if len(said) <= _SAID else text.partition("\n")[2]
