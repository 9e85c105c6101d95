"""The child process of `sandbox`: takes documents from its input, gives back what they say.

It limits itself before it takes the first one: memory, processor time, no files written, none but a
few open, no connections, no programs. Readers are loaded when they are needed, so that it starts
quickly.
"""

import contextlib
import fcntl
import json
import math
import os
import resource
import signal
import struct
import sys
from dataclasses import replace
from functools import cache
from typing import BinaryIO

# How the two talk: a request is the lengths of its JSON and of the document, then both.
REQUEST = struct.Struct("<IQ")
ANSWER = struct.Struct("<Q")
HELLO = b"asof"
# What this process ends with when there is not even memory to say so.
OUT_OF_MEMORY_STATUS = 77
_MAX_OPEN = 64
# A child that has kept as much of its memory as this is replaced after its answer.
_TIRED_SHARE = 0.25
# What no reader of documents has any business with (audit events of Python).
_FORBIDDEN = (
    *("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"),
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork"),
)


def main() -> None:
    megabytes, seconds = int(sys.argv[1]), float(sys.argv[2])
    incoming, target = _own_pipes()
    source = open(incoming, "rb")  # noqa: SIM115 (until this process ends)
    os.write(target, HELLO)
    _limit(megabytes)
    _end_with_parent(int(sys.argv[3]))
    base = _address_space()
    while (request := _request(source)) is not None:
        head, data = request
        _allow(seconds)
        try:
            answer = _read(head, data, megabytes, base)
        except MemoryError:
            os._exit(OUT_OF_MEMORY_STATUS)
        del data, request
        _write(target, ANSWER.pack(len(answer)) + answer)


def _own_pipes() -> tuple[int, int]:
    """The pipes to the parent, kept from libraries that print."""
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.close(nothing)
    return source, target


def _limit(megabytes: int) -> None:
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, _MAX_OPEN),
        (resource.RLIMIT_AS, _address_space() + (megabytes << 20)),
    ):
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        resource.setrlimit(kind, (most, most))
    sys.dont_write_bytecode = True
    sys.addaudithook(_forbid)


def _forbid(event: str, arguments: tuple[object, ...]) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"a reader of documents may not do this: {event}")


@cache
def _statm() -> int:
    """Opened once: it is asked after every document."""
    return os.open("/proc/self/statm", os.O_RDONLY)


def _address_space() -> int:
    """The memory that this process has mapped; 0 where the system does not say."""
    try:
        pages = int(os.pread(_statm(), 100, 0).split()[0])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * resource.getpagesize()


def _end_with_parent(lifeline: int) -> None:
    """Let the end of the parent end this process, even in the middle of a long reading.

    The parent holds the other end of this pipe and never writes, so that all that can happen to it
    is that it is closed. A pipe that is told to be asynchronous then sends SIGIO, which kills.
    (Not the pipe of the requests: its writer signals after the reader has gone on. Nor
    PR_SET_PDEATHSIG: it means the thread that made the child.)
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        os.read(lifeline, 1)  # nothing to read is a sign of life
        os._exit(0)  # the parent was gone before the signal was asked for


def _allow(seconds: float) -> None:
    """Processor time for one document; the parent looks at the clock on the wall."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = math.ceil(used.ru_utime + used.ru_stime + seconds) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard == resource.RLIM_INFINITY or soft < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _request(source: BinaryIO) -> tuple[bytes, bytes] | None:
    start = _take(source, REQUEST.size)
    if start is None:
        return None
    head_size, data_size = REQUEST.unpack(start)
    try:
        head, data = _take(source, head_size), _take(source, data_size)
    except MemoryError:
        os._exit(OUT_OF_MEMORY_STATUS)
    return None if head is None or data is None else (head, data)


def _take(source: BinaryIO, size: int) -> bytes | None:
    """So many bytes; None if the parent is gone."""
    data = source.read(size)
    return data if len(data) == size else None


def _read(head: bytes, data: bytes, megabytes: int, base: int) -> bytes:
    from asof.text.read import OUT_OF_MEMORY, read

    document = read(data, *json.loads(head))
    spent = OUT_OF_MEMORY in (document.error or "")
    if spent:
        document = replace(document, error=f"needed more than {megabytes} MB")
    tired = spent or _address_space() - base > (megabytes << 20) * _TIRED_SHARE
    answer = document.facts(), document.contents(), tired
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


def _write(target: int, data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(target, view[: 1 << 20]) :]
    except BrokenPipeError:
        os._exit(0)
