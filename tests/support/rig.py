"""What the acceptance tests stand on: the command line as a child process, a server that sends
exactly the bytes it was told to, and the referees (warcio, FastWARC) that read what asof wrote.

Nothing in here imports asof: the tests see what a user sees.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from support import warm_start

with warnings.catch_warnings():
    # FastWARC warns about its own old names while it is imported.
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator as FastIterator

BIN = Path(sys.executable).parent
ASOF = str(BIN / "asof")
WARCIO = str(BIN / "warcio")


def clean_environment() -> dict[str, str]:
    """The user's surroundings without anything that could steer asof or reach a network."""
    keep = {k: v for k, v in os.environ.items() if not re.match(r"(?i)asof|.*_proxy$", k)}
    return keep | {"NO_COLOR": "1", "COLUMNS": "200"}


@dataclass
class Result:
    """One finished run of the command line."""

    args: tuple[str, ...]
    code: int
    out: bytes
    err: str
    peak_rss: int = 0
    seconds: float = 0.0

    def json(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    def rows(self) -> list[dict[str, Any]]:
        """The JSON lines on stdout."""
        return [json.loads(line) for line in self.out.splitlines() if line.strip()]

    def __str__(self) -> str:
        said = self.out[:1500].decode("utf-8", "replace")
        words = " ".join(self.args)
        return f"asof {words} -> {self.code}\n--- stdout\n{said}\n--- stderr\n{self.err[:3000]}"


def high_water(pid: int) -> int:
    """The peak memory of a living process, in bytes.

    Not ru_maxrss: that counts what the parent had before the exec as the child's.
    """
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", text)
    return int(found[1]) * 1024 if found else 0


def family(pid: int) -> list[int]:
    """A process and its children."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return [pid]
    return [pid, *map(int, text.split())]


def run(
    *args: object,
    timeout: float = 60,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    limits: Mapping[str, int] | None = None,
    fresh: bool = False,
) -> Result:
    """Run asof to its end; never a traceback. The peak memory is that of its largest process.

    `limits` are of resources, by name: {"AS": 1 << 30}. `fresh` starts an interpreter for it.
    """
    words = tuple(str(arg) for arg in args)
    surroundings = clean_environment() | dict(env or {})
    fresh = fresh or any(len(word) > 10_000 for word in words)
    peak = 0

    def look(pid: int) -> None:
        nonlocal peak
        peak = max(peak, *(high_water(each) for each in family(pid)))

    started = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        if fresh:
            process = subprocess.Popen(
                [ASOF, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                cwd=cwd, env=surroundings,
                preexec_fn=partial(warm_start.limit, limits) if limits else None,
            )  # fmt: skip
            code = watched(process, started + timeout, look)
        else:
            command = warm_start.Command(words, cwd, surroundings, limits or {}, out, err)
            code = command.wait(timeout, look)
        out.seek(0)
        err.seek(0)
        said, complaint = out.read(), err.read().decode("utf-8", "replace")
    took = time.monotonic() - started
    result = Result(words, -9 if code is None else code, said, complaint, peak, took)
    assert code is not None, f"did not end within {timeout} s\n{result}"
    assert "Traceback (most recent call last)" not in result.err, str(result)
    return result


def watched(
    process: subprocess.Popen[bytes], until: float, look: Callable[[int], None]
) -> int | None:
    """Its exit code, nothing when it had to be killed; looked at while it runs."""
    polls = 0
    while process.poll() is None:
        if time.monotonic() > until:
            process.kill()
            process.wait()
            return None
        if polls % 8 == 0:
            look(process.pid)
        polls += 1
        time.sleep(0.004)
    return process.returncode


def ok(*args: object, code: int = 0, **kw: Any) -> Result:
    """Run asof and insist on its exit code."""
    result = run(*args, **kw)
    assert result.code == code, f"expected exit {code}\n{result}"
    return result


def start(
    *args: object,
    stdout: int | IO[Any] = subprocess.PIPE,
    stderr: int | IO[Any] = subprocess.PIPE,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start asof and leave it running; the caller must end it."""
    return subprocess.Popen(
        [ASOF, *(str(arg) for arg in args)],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        cwd=cwd,
        env=clean_environment() | {"PYTHONUNBUFFERED": "1"} | dict(env or {}),
    )


def end(process: subprocess.Popen[bytes], sig: int = signal.SIGTERM, timeout: float = 15) -> int:
    """Signal a child of ours, a second time if it is in no hurry, and wait for it."""
    until = time.monotonic() + timeout
    try:
        while process.poll() is None and time.monotonic() < until:
            process.send_signal(sig)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1.5)
        assert process.poll() is not None, f"did not end within {timeout} s of signal {sig}"
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return process.returncode


def crawl(archive: Path, *args: object, code: int = 0, delay: float = 0, **kw: Any) -> Result:
    """A crawl without politeness delay (loopback), insisting on the exit code."""
    words = ("crawl", *args, "-a", archive, "--delay", delay, "--json")
    return ok(*words, code=code, **kw)


def rows_of(archive: Path, *args: object) -> list[dict[str, Any]]:
    """What `asof list --json` says, row by row."""
    return ok("list", *args, "-a", archive, "--json").rows()


def warcs(archive: Path) -> list[Path]:
    """The archive's WARC files in the order of their names."""
    return sorted(path for path in (archive / "warc").iterdir() if path.is_file())


def remove_database(archive: Path) -> None:
    """Delete asof.db with its WAL: the WARC files must be enough."""
    assert (archive / "asof.db").exists()
    for path in archive.glob("asof.db*"):
        path.unlink()


# --- referees ------------------------------------------------------------------------------------


def warcio_check(paths: Iterable[Path]) -> None:
    """`warcio check` must be silent and content with every file."""
    files = [str(path) for path in paths]
    assert files
    done = subprocess.run(
        [WARCIO, "check", "-v", *files], capture_output=True, text=True, timeout=120, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    assert "fail" not in said.lower(), said[-3000:]


@dataclass(frozen=True)
class Seen:
    """A record as a referee sees it."""

    kind: str
    url: str
    record_id: str
    block: bytes


def by_warcio(path: Path) -> list[Seen]:
    """All records of a file as warcio reads them, blocks untouched."""
    seen = []
    with path.open("rb") as stream:
        for record in WarcioIterator(stream, no_record_parse=True):
            head = record.rec_headers
            seen.append(
                Seen(
                    record.rec_type,
                    head.get_header("WARC-Target-URI") or "",
                    head.get_header("WARC-Record-ID"),
                    record.raw_stream.read(),
                )
            )
    return seen


def by_fastwarc(path: Path) -> list[Seen]:
    """All records of a file as FastWARC reads them, blocks untouched."""
    return [
        Seen(
            record.headers.get("WARC-Type") or "",
            record.headers.get("WARC-Target-URI") or "",
            record.headers.get("WARC-Record-ID") or "",
            record.reader.read(),
        )
        for record in FastIterator(str(path), parse_http=False)
    ]


def failures_of(archive: Path) -> dict[str, set[str]]:
    """The reasons that the archive has written down for each URL that brought no answer."""
    found: dict[str, set[str]] = {}
    for path in warcs(archive):
        for seen in by_fastwarc(path):
            if seen.kind == "metadata" and b"fetchFailure:" in seen.block:
                reason = seen.block.split(b"fetchFailure:", 1)[1].split(b"\r\n", 1)[0]
                found.setdefault(seen.url, set()).add(reason.strip().decode())
    return found


def bare_id(record_id: str) -> str:
    """A record id without the brackets and the scheme that tools may or may not show."""
    return record_id.strip("<>").removeprefix("urn:uuid:")


def referees_agree(archive: Path) -> list[Seen]:
    """Everything asof wrote passes the referees, and they count what asof counts."""
    files = warcs(archive)
    warcio_check(files)
    ours: list[Seen] = []
    for path in files:
        first, second = by_warcio(path), by_fastwarc(path)
        assert first == second, f"warcio and FastWARC read {path.name} differently"
        ours += first
    check = ok("check", "-a", archive, "--json").json()
    assert check["ok"] is True
    assert check["problems"] == []
    assert check["records"] == len(ours)
    assert check["files"] == len(files)
    listed = rows_of(archive)
    assert check["captures"] == len(listed)
    # Requests, warcinfo and metadata accompany a capture and are none themselves.
    answers = [seen for seen in ours if seen.kind in {"response", "revisit", "resource"}]
    kinds = {"response", "revisit", "resource"}
    assert sorted(bare_id(seen.record_id) for seen in answers) == sorted(
        bare_id(row["record_id"]) for row in listed if row["kind"] in kinds
    )
    return ours


# --- a server that sends what it is told -------------------------------------------------------


@dataclass(frozen=True)
class Reply:
    """Bytes to send in these pieces, and what to do with the connection afterwards."""

    pieces: tuple[bytes, ...]
    after: str = "close"  # close | keep | hang | reset
    pause: float = 0.0
    before: float = 0.0

    @property
    def sent(self) -> bytes:
        return b"".join(self.pieces)


@dataclass
class Hit:
    """One request as the server saw it: `start` when its head was read, `end` when answered."""

    path: str
    start: float
    end: float
    head: bytes
    peer: tuple[str, int]


def page(
    body: bytes | str, status: str = "200 OK", media: str = "text/html", **extra: str
) -> Reply:
    """An ordinary keep-alive answer."""
    data = body.encode() if isinstance(body, str) else body
    head = [f"HTTP/1.1 {status}", f"Content-Type: {media}", f"Content-Length: {len(data)}"]
    head += [f"{name.replace('_', '-')}: {value}" for name, value in extra.items()]
    return Reply((("\r\n".join(head) + "\r\n\r\n").encode() + data,), after="keep")


def links(*urls: str, title: str = "links") -> str:
    """A page of links."""
    anchors = "".join(f'<p><a href="{url}">{url}</a></p>' for url in urls)
    return f"<!doctype html><html><head><title>{title}</title></head><body>{anchors}</body></html>"


Answer = Reply | Callable[[bytes], Reply]


@dataclass
class Server:
    """A threaded HTTP/1 server on 127.0.0.1 whose answers are raw bytes by path."""

    pages: dict[str, Answer] = field(default_factory=dict)
    hits: list[Hit] = field(default_factory=list)
    wanted: int = 0  # the port; 0 is any

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._open: set[socket.socket] = set()
        self._socket = socket.create_server(("127.0.0.1", self.wanted), backlog=64)
        self._socket.settimeout(0.2)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop accepting and let go of every connection; who waits for one is woken."""
        self._stop.set()
        for waiting in (self._socket, *self._open):
            with contextlib.suppress(OSError):
                waiting.shutdown(socket.SHUT_RDWR)
        self.thread.join(5)
        self._socket.close()
        for thread in self._threads:
            thread.join(5)

    def paths(self) -> list[str]:
        """Every path asked for, in order."""
        return [hit.path for hit in self.hits]

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                connection, peer = self._socket.accept()
            except TimeoutError:
                continue
            except OSError:
                return  # closed
            thread = threading.Thread(target=self._serve, args=(connection, peer), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket, peer: tuple[str, int]) -> None:
        connection.settimeout(0.2)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open.add(connection)
        with contextlib.ExitStack() as held:
            held.enter_context(connection)
            held.callback(self._open.discard, connection)
            buffer = b""
            while not self._stop.is_set():
                while b"\r\n\r\n" not in buffer and not self._stop.is_set():
                    try:
                        data = connection.recv(65536)
                    except TimeoutError:
                        continue
                    except OSError:
                        return
                    if not data:
                        return
                    buffer += data
                head, _, buffer = buffer.partition(b"\r\n\r\n")
                if not head or not self._answer(connection, head, peer):
                    return

    def _answer(self, connection: socket.socket, head: bytes, peer: tuple[str, int]) -> bool:
        path = head.split(b" ", 2)[1].decode("latin-1")
        hit = Hit(path, time.monotonic(), 0.0, head, peer)
        self.hits.append(hit)
        answer = self.pages.get(path) or page("<p>nothing here</p>", "404 Not Found")
        reply = answer if isinstance(answer, Reply) else answer(head)
        if reply.before:
            self._stop.wait(reply.before)
        try:
            connection.settimeout(10)
            for piece in reply.pieces:
                connection.sendall(piece)
                if reply.pause:
                    time.sleep(reply.pause)
            hit.end = time.monotonic()
            if reply.after == "hang":
                self._stop.wait(30)
                return False
            if reply.after == "reset":
                linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                return False
            if reply.after == "close":
                # Say that no more comes, then wait for the client: no RST may eat sent bytes.
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(2)
                while connection.recv(65536):
                    pass
                return False
        except OSError:
            return False
        connection.settimeout(0.2)
        return True


def closed_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def site(pages: Mapping[str, Answer]) -> Server:
    """A server of these pages."""
    return Server(dict(pages))


def split(data: bytes, cuts: Sequence[int]) -> tuple[bytes, ...]:
    """The data in pieces, cut at these places."""
    places = [0, *sorted({cut for cut in cuts if 0 < cut < len(data)}), len(data)]
    return tuple(data[a:b] for a, b in itertools.pairwise(places))


def wait_for(condition: Callable[[], bool], timeout: float, what: str) -> None:
    """Poll until the condition holds, or fail saying what did not happen."""
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {timeout} s")


@contextlib.contextmanager
def tmpfs(path: Path, size: str) -> Iterator[Path]:
    """A small file system of its own; unmounted whatever happens."""
    path.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        if os.environ.get("CI") == "true":
            pytest.fail(f"a tmpfs cannot be mounted: {done.stderr}")
        pytest.skip(f"a tmpfs cannot be mounted here: {done.stderr.strip()}")
    try:
        yield path
    finally:
        for _ in range(20):
            if not subprocess.run(
                ["umount", str(path)], capture_output=True, check=False
            ).returncode:
                break
            time.sleep(0.1)
        else:
            subprocess.run(["umount", "-l", str(path)], check=True)
