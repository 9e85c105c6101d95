"""The archive's folder: what lies where (ARCHITECTURE.md, On disk), and the lock that keeps it to
one writer at a time.
"""

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from asof.clock import nap
from asof.config import FILE as CONFIG_FILE
from asof.errors import ArchiveError
from asof.files import is_locked, open_plain, refuse_link, storage_errors
from asof.warc.file_names import IMPORTED, SUFFIXES, path_of

# The folders that we write to at all times.
_WRITTEN = ("control", "derived", "logs", "spool")
_NUMBER = re.compile(r"(\d{6,})-")
# Seconds between tries to take the lock: two in all, a thousandth at first. A crawl that was killed
# may hold it while its last group is committed.
_LOCK_WAITS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.4, 0.5)


@dataclass(frozen=True, slots=True)
class Folder:
    """Paths of one archive."""

    root: Path

    @property
    def warc(self) -> Path:
        return self.root / "warc"

    @property
    def db(self) -> Path:
        return self.root / "asof.db"

    @property
    def texts(self) -> Path:
        return self.root / "derived" / "text.db"

    @property
    def inventory(self) -> Path:
        return self.root / "derived" / "inventory.db"

    @property
    def search(self) -> Path:
        return self.root / "derived" / "search"

    @property
    def spool(self) -> Path:
        return self.root / "spool"

    def exists(self) -> bool:
        return self.warc.is_dir()

    def require(self) -> None:
        if self.exists():
            self._refuse_links()
            return
        if self.root.exists() and not self.root.is_dir():
            raise ArchiveError(f"{self.root} is a file.", hint="Name the archive's folder with -a.")
        self._refuse_others()
        raise ArchiveError(
            f"There is no archive in {self.root}.",
            hint="Make one with `asof crawl URL` or `asof import FILE`, or name another with -a.",
        )

    def create(self) -> None:
        """Make the folder an archive, unless it holds something else."""
        if self.exists():
            self._refuse_links()
            return
        if self.root.exists() and not self.root.is_dir():
            raise ArchiveError(f"{self.root} is a file.", hint="Name another folder with -a.")
        self._refuse_others("an empty or a new folder")
        with storage_errors(self.root):
            self.warc.mkdir(parents=True)

    def _refuse_others(self, instead: str = "the archive's folder") -> None:
        """A folder that holds something else is no archive, and none is made of it."""
        if self.root.is_dir() and any(entry.name != CONFIG_FILE for entry in self.root.iterdir()):
            told = f"{self.root} holds files but is not an archive."
            raise ArchiveError(told, hint=f"Name {instead} with -a.")

    def _refuse_links(self) -> None:
        """An archive may come from anywhere: nothing in it leads our writing out of it.

        Its own folder may be a link, and `warc/`, for people keep files on larger disks; there only
        new files are made.
        """
        for name in _WRITTEN:
            refuse_link(self.root / name)
        for parent, folders, _ in os.walk(self.root / "derived"):
            for name in folders:
                refuse_link(Path(parent, name))

    def segment_files(self) -> list[Path]:
        """The WARC files in the order in which they were made."""
        return sorted(path for path in self._named_so() if path.is_file())

    def strays(self) -> list[Path]:
        """What is called like a WARC file and is none: a pipe, a device, a folder, a dead link."""
        return sorted(path for path in self._named_so() if not path.is_file())

    def _named_so(self) -> Iterator[Path]:
        return (path for path in self.warc.iterdir() if path.name.endswith(SUFFIXES))

    def is_own(self, path: Path) -> bool:
        """Whether a WARC file can be cut or go on: what lies behind a link may be another's."""
        return not (path.is_symlink() or self.warc.is_symlink())

    def new_segment(self, label: str, suffix: str = ".warc.gz") -> Path:
        """A path for the next WARC file: `NNNNNN-label.warc.gz`, one number up."""
        numbers = [int(m[1]) for p in self.warc.iterdir() if (m := _NUMBER.match(p.name))]
        return path_of(self.warc, f"{max(numbers, default=0) + 1:06d}-{label}{suffix}")

    @staticmethod
    def is_imported(file: str) -> bool:
        """Whether a WARC file of the archive came from others."""
        return file.partition("-")[2].startswith(IMPORTED)

    def undo(self) -> None:
        """Remove what was made for an archive that got nothing."""
        for folder in (self.warc, self.spool):
            shutil.rmtree(folder, ignore_errors=True)
        for name in (".lock", *(f"{self.db.name}{end}" for end in ("", "-wal", "-shm"))):
            (self.root / name).unlink(missing_ok=True)
        with suppress(OSError):  # asof.toml was there before
            self.root.rmdir()

    @contextmanager
    def lock(self, purpose: str) -> Iterator[None]:
        """Hold the archive for writing; a second writer is told who has it."""
        with storage_errors(self.root):
            handle = open_plain(self.root / ".lock", os.O_RDWR | os.O_CREAT)
        try:
            if not take_lock(handle, _LOCK_WAITS):
                holder = os.pread(handle, 200, 0).decode("utf-8", "replace").strip()
                raise ArchiveError(
                    f"{self.root} is in use by {holder or 'another process'}.",
                    hint="Wait until it has finished, or stop it first.",
                )
            with storage_errors(self.root, tolerate=errno.ENOSPC):
                os.ftruncate(handle, 0)
                os.pwrite(handle, f"`asof {purpose}` (process {os.getpid()})\n".encode(), 0)
            yield
        finally:
            os.close(handle)

    def is_locked(self) -> bool:
        return is_locked(self.root / ".lock")

    def tidy(self) -> None:
        """Remove what a crash left of bodies and files on their way; none of it was committed."""
        with storage_errors(self.root):
            if self.spool.is_dir():
                shutil.rmtree(self.spool)
            self.spool.mkdir()
            for leftover in self.warc.glob("*.part"):
                if _NUMBER.match(leftover.name):
                    leftover.unlink(missing_ok=True)


def take_lock(handle: int, waits: Iterable[float]) -> bool:
    """Take a lock, after so many waits at most: who only asks whether there is one holds it for a
    moment.
    """
    for wait in (*waits, None):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if wait is not None:
                nap(wait)
    return False
