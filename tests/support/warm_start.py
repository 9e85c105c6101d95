"""A process that has imported asof already, and forks for every command that is asked of it.

Most of the time of a short command is its imports, and the acceptance tests run some thousands.
What runs is still a process of its own with its own output, environment, folder and exit code.
Where the start itself is tested, or little memory, `rig.run(..., fresh=True)` starts anew.

Run as a program it is that process: requests come on the socket of the given number, each with
the files it is to use. It ends when the other end is closed.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, NoReturn

# Every module of a command, and what they import when they are first asked for something.
VERBS = "crawl control status quality scope read documents similar cover files export serve demo"
LARGEST = 100_000  # bytes of a request: words and environment


@cache
def _server(owner: int) -> socket.socket:
    """Our end of the socket; a process that was forked from this one gets its own."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
        )  # fmt: skip
    atexit.register(_end, ours, process)
    return ours


def _end(ours: socket.socket, process: subprocess.Popen[bytes]) -> None:
    ours.close()
    process.wait(10)


class Command:
    """One command at work."""

    def __init__(
        self,
        words: Sequence[str],
        cwd: Path | None,
        env: Mapping[str, str],
        limits: Mapping[str, int],
        *files: IO[bytes],
    ) -> None:
        asked = [list(words), str(cwd or Path.cwd()), dict(env), dict(limits)]
        request = json.dumps(asked).encode()
        if len(request) > LARGEST:
            raise ValueError(f"{len(request)} bytes of words and environment")
        self._answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, open(os.devnull, "rb") as nothing:
            fds = [theirs.fileno(), nothing.fileno(), *(file.fileno() for file in files)]
            socket.send_fds(_server(os.getpid()), [request], fds)
        self.pid = self._number()

    def _number(self) -> int:
        data = self._answers.recv(4)
        assert len(data) == 4, "the process that forks commands has died"
        return int(struct.unpack("i", data)[0])

    def wait(self, timeout: float, look: Callable[[int], None]) -> int | None:
        """The exit code, negative for a signal; nothing when it did not end and was killed.

        It is looked at thirty times a second as long as it runs.
        """
        until = time.monotonic() + timeout
        with self._answers:
            self._answers.settimeout(1 / 30)
            while time.monotonic() < until:
                look(self.pid)
                try:
                    return os.waitstatus_to_exitcode(self._number())
                except TimeoutError:
                    continue
            os.kill(self.pid, signal.SIGKILL)
            self._answers.settimeout(None)
            self._number()
            return None


def limit(resources: Mapping[str, int]) -> None:
    """Set limits of this process by their names."""
    for name, value in resources.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))


# -- The process that forks -----------------------------------------------------------------------


def _serve(requests: socket.socket) -> None:
    """Fork for every request; only a child that is to run a command comes back from here."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
    while True:
        request, fds, _, _ = socket.recv_fds(requests, LARGEST, 4)
        if not request:
            os._exit(0)
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return _command(request, fds)
        for fd in fds:
            os.close(fd)


def _command(request: bytes, fds: list[int]) -> None:
    """Become the command in a child, and tell its number and its end."""
    answers = socket.socket(fileno=fds[0])
    pid = os.fork()
    if pid:
        answers.send(struct.pack("i", pid))
        answers.send(struct.pack("i", os.waitpid(pid, 0)[1]))
        os._exit(0)
    answers.close()
    for number, fd in enumerate(fds[1:]):
        os.dup2(fd, number)
        os.close(fd)
    words, cwd, env, limits = json.loads(request)
    limit(limits)
    os.chdir(cwd)
    for name in set(os.environ) - set(env):
        del os.environ[name]
    os.environ.update(env)
    sys.argv = ["asof", *words]


def _main(number: int) -> NoReturn:
    import gc
    import importlib

    from asof.cli import main

    for verb in VERBS.split():
        importlib.import_module(f"asof.cli.{verb}")
    gc.collect()
    gc.freeze()  # what is shared stays shared: collecting garbage would copy it
    _serve(socket.socket(fileno=number))
    try:
        main()
    except SystemExit as end:
        # As multiprocessing ends a fork: taking the interpreter apart would copy all of it.
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else 1)
    raise AssertionError("main leaves with an exit code")


if __name__ == "__main__":
    _main(int(sys.argv[1]))
