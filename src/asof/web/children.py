"""Commands of our own as children of the server: for what takes long, and has to be stopped.

A child holds a lock for as long as it lives. By that all processes of a server know of it, and so
does the next server, whatever became of the one that began it.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, Signals
from subprocess import DEVNULL, Popen, TimeoutExpired
from threading import Thread

from asof.archive.folder import take_lock
from asof.files import atomic_file, is_locked, open_plain, storage_errors

# Seconds between tries to take a lock that nobody holds for long.
_WAITS = (0.01, 0.05, 0.1)
# Bytes of a log, from its end, and of what is told: a name and a rule.
_TAIL, _MOST = 8 << 10, 1 << 18
_TALK = "asof: "


class Child:
    """Room for one child: `NAME.lock`, which it holds, `NAME.log`, where it talks, and `NAME.json`,
    what is told of it.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._lock, self._log, self._told = (
            folder / f"{name}.{kind}" for kind in ("lock", "log", "json")
        )

    def begin(
        self,
        words: Sequence[str],
        told: Mapping[str, object],
        *,
        out: Path | None = None,
        cwd: Path | None = None,
        seconds: float | None = None,
        ended: Callable[[int], None] = lambda code: None,
    ) -> bool:
        """Start `asof` with these words, unless another child lives; it has so many seconds.

        `ended` is told its exit code, if this process lives so long.
        """
        with storage_errors(self._lock):
            self._lock.parent.mkdir(parents=True, exist_ok=True)
            lock = open_plain(self._lock, os.O_RDWR | os.O_CREAT)
        try:
            if not take_lock(lock, _WAITS):
                return False
            self._tell(told)  # before there is a child: what is there may be of anybody
            child = self._started(words, lock, out, cwd)
            Thread(target=_reaped, args=(child, lock, seconds, ended), daemon=True).start()
            lock = -1
            self._tell({**told, "pid": child.pid})
        finally:
            if lock >= 0:
                os.close(lock)
        return True

    def _started(
        self, words: Sequence[str], lock: int, out: Path | None, cwd: Path | None
    ) -> Popen[bytes]:
        fresh = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        handles: list[int] = []
        try:
            with storage_errors(self._log):
                handles += [open_plain(path, fresh) for path in filter(None, (self._log, out))]
            # -P: nothing is imported from the folder that it starts in.
            return Popen(
                [sys.executable, "-P", "-m", "asof", *words],
                cwd=cwd, stdin=DEVNULL, stderr=handles[0], stdout=handles[-1] if out else DEVNULL,
                pass_fds=(lock,), start_new_session=True, env={**os.environ, "ASOF_PROGRESS": "1"},
            )  # fmt: skip
        finally:
            for handle in handles:
                os.close(handle)

    @property
    def is_alive(self) -> bool:
        return is_locked(self._lock)

    def told(self) -> dict[str, object]:
        """What was told of the last child; nothing where there was none."""
        try:
            with os.fdopen(open_plain(self._told, os.O_RDONLY), "rb") as file:
                found = json.loads(file.read(_MOST))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def add(self, **more: object) -> None:
        """Tell more of it."""
        self._tell({**self.told(), **more})

    def forget(self) -> None:
        with storage_errors(self._told):
            self._told.unlink(missing_ok=True)

    def said(self) -> str:
        """What it said last: how far it is, or what went wrong."""
        try:
            with os.fdopen(open_plain(self._log, os.O_RDONLY), "rb") as file:
                file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
                text = file.read(_TAIL).decode("utf-8", "replace").strip()
        except OSError:
            return ""
        return f"\n{text}".rpartition(f"\n{_TALK}")[2].strip()

    def stop(self, by: Signals) -> bool:
        """Send the child and its own children a signal; whether there is one.

        A group of processes has its number for as long as one of them lives, and one that holds
        the lock does.
        """
        pid = self.told().get("pid")
        if type(pid) is not int or pid < 2 or not self.is_alive:
            return False
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, by)
        return True

    def _tell(self, told: Mapping[str, object]) -> None:
        with atomic_file(self._told) as file:
            file.write(json.dumps(told).encode())


def _reaped(
    child: Popen[bytes], lock: int, seconds: float | None, ended: Callable[[int], None]
) -> None:
    """Wait for a child; nobody takes its place before it is known what became of it."""
    try:
        try:
            child.wait(seconds)
        except TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, SIGKILL)
            child.wait()
        ended(child.returncode)
    finally:
        os.close(lock)
