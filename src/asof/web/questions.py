"""Questions that take long, asked of the terminal's own commands: one at a time of an archive.

The answer is what the command prints or writes. It is kept beside the server, not in the archive,
whose files may come from anybody, for as long as nothing is captured, and for a minute in any case.
"""

import json
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from signal import SIGKILL
from tempfile import gettempdir
from threading import Lock
from typing import BinaryIO, Self
from weakref import finalize

from asof.clock import SECOND, Clock, nap
from asof.errors import AsofError, NotCaptured, UsageError
from asof.files import atomic_file, open_plain
from asof.web.children import Child
from asof.web.orders import Refused
from asof.web.pages import Pages

# Seconds that a reader waits at once, and that a command has: of 2 million captures `asof quality`
# takes 270 (bench/RESULTS.md).
PATIENCE, _SECONDS = 3.0, 900.0
_LOOK = 0.05
# How long an answer is good though something was captured, and what went wrong stays wrong.
_GOOD, _WRONG = 60 * SECOND, 5 * SECOND
_KEPT = 4  # answers of an archive; those of a large one have hundreds of megabytes
_ASKING = "asking"
_ERRORS = {1: NotCaptured, 2: UsageError}


@dataclass(frozen=True, slots=True)
class Answered:
    """What a command said, opened; whoever asked closes it."""

    file: BinaryIO
    at: int

    def text(self) -> str:
        with self.file:
            return self.file.read().decode()


@dataclass(frozen=True, slots=True)
class Waiting:
    """That there is no answer yet: how far the command is, or that another one has its turn."""

    said: str

    def refusal(self) -> Refused:
        return Refused(503, f"{self.said.rstrip('.')}.", hint="Ask again in a while.")


class Questions:
    """What is asked of one archive. `place` is a folder of the server's, for all its processes."""

    def __init__(self, place: Path, archive: Path, clock: Clock) -> None:
        self._place = place / sha256(os.fsencode(archive)).hexdigest()[:16]
        self._archive = archive
        self._clock = clock
        self._child = Child(self._place, _ASKING)
        self._turn = Lock()  # one waits: the others' threads are for those who read

    @classmethod
    def of(cls, pages: Pages) -> Self:
        """Those of the archive that pages are of; without a server's folder in one of their own."""
        place = pages.scratch or new_place()
        questions = cls(place, pages.archive.folder.root.absolute(), pages.clock)
        if pages.scratch is None:
            finalize(questions, leave, place)
        return questions

    def ask(
        self, words: Sequence[str], mark: int, *, page: bool = False, patience: float = PATIENCE
    ) -> Answered | Waiting:
        """What `asof` says to these words, or writes as a page; raises the error that it ends with.

        `mark` is another number whenever something was captured.
        """
        key = sha256(json.dumps([words, page]).encode()).hexdigest()[:32]
        is_patient = self._turn.acquire(blocking=False)
        left = patience * is_patient
        try:
            while True:
                # In this order: what a child has said is kept before it is known to be over.
                is_busy = self._child.is_alive
                if (found := self._kept(key, mark)) is not None:
                    return found
                if not is_busy:
                    self._begin(key, words, mark, page=page)
                if left <= 0:
                    return self._waiting(key)
                nap(_LOOK)
                left -= _LOOK
        finally:
            if is_patient:
                self._turn.release()

    def _waiting(self, key: str) -> Waiting:
        if self._child.told().get("key") == key:
            return Waiting(self._child.said() or "working ...")
        return Waiting("Another question about this archive is being answered")

    def _kept(self, key: str, mark: int) -> Answered | None:
        try:
            told = json.loads((self._place / f"{key}.end").read_bytes())
            file = os.fdopen(open_plain(self._place / key, os.O_RDONLY), "rb")
        except FileNotFoundError:
            return None
        age = self._clock.now() - told["at"]
        if told["code"]:
            file.close()
            if 0 <= age < _WRONG:
                raise _ERRORS.get(told["code"], AsofError)(told["said"])
            return None
        if told["mark"] == mark or 0 <= age < _GOOD:
            return Answered(file, told["at"])
        file.close()
        return None

    def _part(self, key: str) -> Path:
        return self._place / f"{key}.part"

    def _begin(self, key: str, words: Sequence[str], mark: int, *, page: bool) -> None:
        place = self._place
        for folder in (place.parent, place):  # each for nobody else: what is said may be private
            folder.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            # Found there without a word: sentences and commands do not tell where it lies.
            (place / "archive").symlink_to(self._archive)
        out = self._part(key)
        by = [f"--html={out}"] if page else []
        self._child.begin(
            [words[0], *by, *words[1:]], {"key": key}, out=None if page else out, cwd=place,
            seconds=_SECONDS, ended=partial(self._ended, key, mark),
        )  # fmt: skip

    def _ended(self, key: str, mark: int, code: int) -> None:
        said = self._child.said() if code else ""
        with suppress(OSError, AsofError):  # the server has ended meanwhile
            self._part(key).touch()
            self._part(key).replace(self._place / key)
            told = {"code": code, "mark": mark, "at": self._clock.now()}
            with atomic_file(self._place / f"{key}.end") as file:
                file.write(json.dumps({**told, "said": said or "It was ended."}).encode())
            ends = sorted(self._place.glob("*.end"), key=lambda end: -end.stat().st_mtime_ns)
            for end in ends[_KEPT:]:
                end.unlink()
                end.with_suffix("").unlink(missing_ok=True)


def new_place() -> Path:
    """Where the answers of one server can lie: a folder that the first question makes."""
    return Path(gettempdir(), f"asof-{token_hex(8)}")


def leave(place: Path) -> None:
    """End what is being asked, and forget all answers."""
    for asking in place.glob(f"*/{_ASKING}.lock"):
        Child(asking.parent, _ASKING).stop(SIGKILL)
    shutil.rmtree(place, ignore_errors=True)
