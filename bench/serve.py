"""Readers of `asof serve`, one at a time and 200 at once, beside pywb on the same WARC files.

    python bench/serve.py [--pages 300] [--readers 200] [--seconds 10] [--rounds 3]
                          [--pywb FOLDER/bin] [--other CHECKOUT] [--archive FOLDER]

A site (`crawl_site.py`) is crawled once. Each reader keeps a connection and asks for one memento
after the other, drawn from all captures of documents, images, styles and scripts; answers are
read to their end, and their status is compared with the captured one. The servers take turns, each
with the whole machine, which the readers share with them: warm, first for a single reader, which
tells how long a memento takes, then for all of them. `--other` is another checkout of asof.
The last run is of what a browser asks for besides: frames, lists of captures, the home page.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast
from urllib.parse import quote

import uvloop

from asof.archive import OpenArchive
from asof.clock import stamp
from asof.model import Capture
from crawl_site import free_port, serving, write_site

Side = Callable[[int], list[str | Path]]
"""The command that serves on a port."""

HERE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Ask:
    target: bytes
    status: int


@dataclass
class Run:
    """What the readers of one run saw."""

    took: list[float] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)
    received: int = 0
    seconds: float = 0.0
    memory: tuple[float, float] = (0.0, 0.0)
    cpu: float = 0.0

    def fail(self, why: str) -> None:
        self.errors[why] = self.errors.get(why, 0) + 1

    def row(self, name: str) -> str:
        took = sorted(self.took) or [0.0]
        p50, p99 = (took[int(len(took) * share)] * 1000 for share in (0.5, 0.99))
        cost = self.cpu / len(took) * 1000
        rate, size = len(self.took) / self.seconds, self.received / self.seconds / 1e6
        was, now = self.memory
        told = ", ".join(f"{count} {why}" for why, count in self.errors.items()) or "none"
        return (
            f"  {name:16}{rate:>9,.0f}{size:>8.1f}{cost:>8.2f}{p50:>9.1f}{p99:>9.1f}"
            f"{took[-1] * 1000:>9.0f}{was:>8.0f}{now:>6.0f}  {told}"
        )


class Reader(asyncio.Protocol):
    """One connection: asks, reads the answer to its end, asks again."""

    def __init__(self, asks: Sequence[Ask], seed: int, run: Run, until: float) -> None:
        self.asks, self.chance, self.run, self.until = asks, random.Random(seed), run, until
        self.over = asyncio.get_running_loop().create_future()
        self.buffer = bytearray()
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.next()

    def next(self) -> None:
        now = time.perf_counter()
        if now > self.until:
            self.transport.close()
            return
        self.wanted, self.begun = self.chance.choice(self.asks), now
        self.transport.write(
            b"GET " + self.wanted.target + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Sec-Fetch-Dest: document\r\n\r\n"
        )

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        self.run.received += len(data)
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self.buffer[:end]).lower()
        length = re.search(rb"\r\ncontent-length: *(\d+)", head)
        if length is not None:
            if len(self.buffer) < end + 4 + int(length[1]):
                return
        elif b"\ntransfer-encoding: chunked" in head and not self.buffer.endswith(b"0\r\n\r\n"):
            return
        self.run.took.append(time.perf_counter() - self.begun)
        if (status := int(head[9:12])) != self.wanted.status:
            self.run.fail(f"{status} for {self.wanted.status}")
        self.buffer.clear()
        self.next()

    def connection_lost(self, error: Exception | None) -> None:
        if time.perf_counter() < self.until:
            self.run.fail("lost connection")
        self.over.set_result(None)


async def read(port: int, asks: Sequence[Ask], readers: int, seconds: float) -> Run:
    run, loop = Run(), asyncio.get_running_loop()
    begun = time.perf_counter()

    async def one(seed: int) -> None:
        while time.perf_counter() < begun + seconds:
            try:
                _, reader = await loop.create_connection(
                    lambda: Reader(asks, seed, run, begun + seconds), "127.0.0.1", port
                )
            except OSError as error:
                run.fail(type(error).__name__)
                await asyncio.sleep(0.1)
                continue
            await reader.over

    await asyncio.wait_for(asyncio.gather(*map(one, range(readers))), seconds + 60)
    run.seconds = time.perf_counter() - begun
    return run


def spent(pid: int) -> float:
    """CPU seconds of a process and its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(spent(int(child)) for child in children)


def resident(pid: int) -> float:
    """Memory of a process and its children, in MB; what they share counts once."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    own = re.search(r"^Pss: +(\d+)", rollup, re.MULTILINE)
    assert own is not None
    return int(own[1]) / 1024 + sum(resident(int(child)) for child in children)


@contextmanager
def server(command: Sequence[str | Path], port: int, folder: Path) -> Iterator[int]:
    log = (folder / "server.log").open("ab")
    with log, subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as child:
        try:
            deadline = time.monotonic() + 30
            while subprocess.run(
                ["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}"], capture_output=True
            ).returncode:
                if child.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"{command[0]} does not answer: see {folder}/server.log")
                time.sleep(0.1)
            yield child.pid
        finally:
            child.terminate()


def measured(side: Side, folder: Path, asks: Sequence[Ask], readers: int, seconds: float) -> Run:
    port = free_port()
    with server(side(port), port, folder) as pid:
        uvloop.run(read(port, asks, 20, 2))  # warm
        before, cpu = resident(pid), spent(pid)
        run = uvloop.run(read(port, asks, readers, seconds))
        run.memory, run.cpu = (before, resident(pid)), spent(pid) - cpu
        return run


def asof(checkout: Path, archive: Path, port: int) -> list[str | Path]:
    words = [sys.executable, "-m", "asof", "serve", "-a", archive, "--port", str(port)]
    return ["env", f"PYTHONPATH={checkout / 'src'}", *words]


def captured(archive: Path) -> list[Capture]:
    with OpenArchive.open(archive) as opened:
        return [c for c in opened.captures() if c.status in (200, 404) and c.kind == "response"]


def pages_of_ours(captures: Sequence[Capture]) -> list[Ask]:
    asks = [Ask(b"/", 200)]
    for capture in captures:
        url, at = quote(capture.url, safe=""), stamp(capture.at)
        asks.append(Ask(f"/captures?url={url}".encode(), 200))
        asks += [Ask(f"/{at}/{capture.url}".encode(), capture.status or 200)] * 4
    return asks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pywb", type=Path)
    parser.add_argument("--other", type=Path)
    parser.add_argument("--archive", type=Path)
    asked = parser.parse_args()
    os.environ["ASOF_ALLOW_PRIVATE"] = "1"
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        place = Path(scratch)
        archive = (asked.archive or make(place, asked.pages)).resolve()
        captures = captured(archive)
        sides = {"asof": partial(asof, HERE, archive)}
        if asked.other:
            sides["other checkout"] = partial(asof, asked.other.resolve(), archive)
        if asked.pywb:
            sides["pywb"] = pywb(asked.pywb.resolve(), archive, place)
        compare(place, captures, sides, asked)


def make(place: Path, pages: int) -> Path:
    site = write_site(place / "site", pages, free_port())
    with serving(site):
        words = [*site.seeds, "--delay", "0", "-q", "-a", str(place / "archive")]
        subprocess.run([sys.executable, "-m", "asof", "crawl", *words], check=True)
    return place / "archive"


def pywb(tools: Path, archive: Path, place: Path) -> Side:
    files = sorted((archive / "warc").iterdir())
    for words in (["init", "web"], ["add", "web", *files]):
        subprocess.run([tools / "wb-manager", *words], cwd=place, check=True, capture_output=True)
    return lambda port: [tools / "wayback", "-p", str(port), "-b", "127.0.0.1"]


def compare(place: Path, captures: Sequence[Capture], sides: dict[str, Side],
            asked: argparse.Namespace) -> None:  # fmt: skip
    plain = [Ask(f"/{stamp(c.at)}if_/{c.url}".encode(), c.status or 200) for c in captures]
    framed = [Ask(f"/web/{stamp(c.at)}mp_/{c.url}".encode(), c.status or 200) for c in captures]
    print(f"{len(captures):,} captures, {asked.seconds:g} s a run")
    print(f"  {'':16}{'asks/s':>9}{'MB/s':>8}{'CPU ms':>8}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}"
          f"{'MB then':>8}{'now':>6}  errors")  # fmt: skip
    names = list(sides)
    for readers in (1, asked.readers):
        print("one reader" if readers == 1 else f"{readers} readers")
        runs: dict[str, list[Run]] = {}
        for number in range(asked.rounds):
            for name in names[number % len(names) :] + names[: number % len(names)]:
                asks = framed if name == "pywb" else plain
                run = measured(sides[name], place, asks, readers, asked.seconds)
                runs.setdefault(name, []).append(run)
                print(run.row(name), flush=True)
        rates = {
            name: statistics.median(len(run.took) / run.seconds for run in some)
            for name, some in runs.items()
        }
        for name in names[1:]:
            print(f"  asof against {name}: {rates['asof'] / rates[name]:.2f} times the rate")
    print("frames, lists of captures, home")
    for name in names:
        if name != "pywb":
            run = measured(
                sides[name], place, pages_of_ours(captures), asked.readers, asked.seconds
            )
            print(run.row(name), flush=True)


if __name__ == "__main__":
    main()
