"""asof crawl against `wget --warc` and Scrapy with a WARC writer, in one interleaved run.

    python bench/crawl.py [--pages 1000] [--rounds 3] [--peers wget,scrapy] [--one-core]

All crawl the site of bench/crawl_site.py from nginx on loopback, without delay, robots.txt obeyed,
and leave compressed WARC files with digests. asof also commits in groups with fdatasync and fills
its catalog. Scrapy comes from PyPI into an environment of its own (--scrapy-env, kept).

Wall time is that of the whole command; CPU is the crawler's and its children's, not nginx's. After
every run the URLs in the WARC files, in asof's catalog and in nginx's log are compared with each
other and with what the site has: a difference ends the benchmark with 1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from fastwarc.warc import ArchiveIterator, WarcRecordType

from asof.archive import OpenArchive
from crawl_site import HOSTS, Site, free_port, serving, write_site
from measure import Cost, interleave, median, one_core, run, spread

BIN = Path(sys.executable).parent
SPIDER = Path(__file__).with_name("scrapy_spider.py")
ANSWERS = WarcRecordType.response | WarcRecordType.revisit


@dataclass(frozen=True)
class Tool:
    """A crawler: its command, and the folder that it fills."""

    name: str
    command: list[str]
    folder: Path
    okay: tuple[int, ...] = (0,)


@dataclass
class Tally:
    """What one tool's runs brought, beside what they cost."""

    requests: int = 0
    stored_mb: float = 0.0
    asked: frozenset[str] = frozenset()
    complaints: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default="wget,scrapy", help="some of wget,scrapy, or nothing")
    parser.add_argument("--scrapy-env", type=Path, help="where Scrapy is or will be installed")
    parser.add_argument("--one-core", action="store_true", help="crawlers on one core, nginx free")
    options = parser.parse_args()
    # The site is on loopback, which crawlers refuse to be led to.
    os.environ["ASOF_ALLOW_PRIVATE"] = "1"
    with tempfile.TemporaryDirectory(prefix="asof-bench-") as scratch:
        place = Path(scratch)
        site = write_site(place / "site", options.pages, free_port())
        tools = list(choose(options, place, site))
        print(f"{site}; rounds: {options.rounds}; load before: {os.getloadavg()[0]:.1f}")
        with serving(site) as nginx:
            race = Race(site, nginx, tools)
            jobs: dict[str, Callable[[], Cost]] = {
                tool.name: partial(race.once, tool) for tool in tools
            }
            if options.one_core:
                with one_core():
                    costs = interleave(options.rounds, jobs)
            else:
                costs = interleave(options.rounds, jobs)
        table(costs, race.tallies, options.pages)
        complaints = [*race.differences(), *check_warc(tools[0])]
        complaints += [text for tally in race.tallies.values() for text in tally.complaints]
    if complaints:
        sys.exit("\n".join(["NOT WHAT IT SHOULD BE:", *complaints]))


def choose(options: argparse.Namespace, place: Path, site: Site) -> Iterator[Tool]:
    """asof first, then the peers that were asked for."""
    peers = [name for name in options.peers.split(",") if name]
    if unknown := set(peers) - {"wget", "scrapy"}:
        sys.exit(f"There is no peer {unknown.pop()!r}: use wget, scrapy or both.")
    ours = place / "asof"
    switches = ["--delay", "0", "-q", "-a", str(ours)]
    yield Tool("asof crawl", [str(BIN / "asof"), "crawl", *site.seeds, *switches], ours)
    if "wget" in peers:
        if shutil.which("wget") is None:
            sys.exit(
                "wget is not installed (apt-get install wget), or leave it out: --peers scrapy"
            )
        yield wget(place / "wget", site)
    if "scrapy" in peers:
        python = scrapy_python(options.scrapy_env)
        out = place / "scrapy"
        command = [str(python), str(SPIDER), str(out / "scrapy.warc.gz"), *site.seeds]
        yield Tool("Scrapy + warcio", command, out)


def wget(folder: Path, site: Site) -> Tool:
    """One seed for all hosts: wget would crawl everything again for each further one.

    It ends with 8 when a server answered with an error, as ours does to dead links.
    """
    walk = ["-q", "-r", "-l", "inf", "-p", "-H", "-D", ",".join(HOSTS), "--delete-after"]
    warc = [f"--warc-file={folder / 'wget'}", f"--warc-tempdir={folder}", "-P", str(folder)]
    return Tool("wget --warc", ["wget", *walk, *warc, site.seeds[0]], folder, okay=(0, 8))


def scrapy_python(folder: Path | None) -> Path:
    """The interpreter of the environment with Scrapy, made when it is not there yet."""
    folder = folder or Path(tempfile.gettempdir()) / "asof-bench-scrapy"
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"Installing Scrapy into {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "scrapy", "warcio"]
        subprocess.run(install, check=True)
    return python


class Race:
    """Runs tools against one server and checks after each run what it brought."""

    def __init__(self, site: Site, nginx: int, tools: Iterable[Tool]) -> None:
        self._site = site
        self._nginx = nginx
        self.tallies = {tool.name: Tally() for tool in tools}

    def once(self, tool: Tool) -> Cost:
        """One run on an empty folder and an empty log; checking is not timed."""
        shutil.rmtree(tool.folder, ignore_errors=True)
        tool.folder.mkdir()
        os.truncate(self._site.log, 0)
        os.sync()  # what others left to be written must not wait for our fdatasync
        with watched_memory(ignoring=self._nginx) as seen:
            cost = run(tool.command, okay=tool.okay)
        self._check(tool)
        # A process starts as a copy of ours and inherits our peak; what is above that is its own.
        own = getrusage(RUSAGE_SELF).ru_maxrss / 1024
        return replace(cost, peak_mb=max(*seen, cost.peak_mb if cost.peak_mb > own else 0.0))

    def _check(self, tool: Tool) -> None:
        tally = self.tallies[tool.name]
        asked = Counter(line.split()[1] for line in self._site.log.read_text().splitlines())
        files = sorted(tool.folder.rglob("*.warc.gz"))
        held = Counter(url for file in files for url in answered(file))
        tally.asked = frozenset(asked)
        tally.requests = asked.total()
        tally.stored_mb = sum(file.stat().st_size for file in files) / 1e6
        print(
            f"  {tool.name}: {len(asked):,} URLs asked for in {asked.total():,} requests, "
            f"{len(held):,} captured in {held.total():,} records", flush=True
        )  # fmt: skip
        found = {
            "asked for, not captured": asked - held,
            "captured, not asked for": held - asked,
            "on the site, not asked for": self._site.wanted - set(asked),
            "asked for though robots.txt forbids it": set(asked).intersection(self._site.forbidden),
        }
        if (tool.folder / "asof.db").exists():
            with OpenArchive.open(tool.folder) as archive:
                listed = Counter(capture.url for capture in archive.captures())
            found["captured, not in the catalog"] = held - listed
        for what, urls in found.items():
            tally.complaints.extend(f"{tool.name}: {text}" for text in differ(what, urls))

    def differences(self) -> list[str]:
        """What not every tool asked for: said always, and a complaint if it is of the site."""
        known = self._site.wanted
        for name, tally in self.tallies.items():
            for text in differ("asked for beyond the site", tally.asked - known):
                print(f"  {name}: {text}")
        pages = {
            name: tally.asked & frozenset(self._site.pages) for name, tally in self.tallies.items()
        }
        if len(set(pages.values())) > 1:
            counts = ", ".join(f"{name} {len(urls):,}" for name, urls in pages.items())
            return [f"the tools did not fetch the same pages: {counts}"]
        print(f"  all fetched the same {len(next(iter(pages.values()))):,} pages")
        return []


def answered(path: Path) -> Iterator[str]:
    """The URLs of the responses and revisits of a WARC file, read by FastWARC."""
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=ANSWERS, parse_http=False):
            yield record.headers["WARC-Target-URI"].strip("<>")  # wget 1.21 writes the brackets


def differ(what: str, urls: Iterable[str]) -> Iterator[str]:
    """One sentence with an example, or nothing when there is no difference."""
    found = sorted(urls)
    if found:
        yield f"{len(found):,} {what}, such as {found[0]}"


def check_warc(tool: Tool) -> Iterator[str]:
    """What `warcio check` has to say against the files of a tool's last run."""
    files = [str(file) for file in sorted(tool.folder.rglob("*.warc.gz"))]
    outcome = subprocess.run(
        [str(BIN / "warcio"), "check", *files], capture_output=True, text=True, check=False
    )
    if outcome.returncode or not files:
        yield f"warcio check: {outcome.stdout[-500:]} {outcome.stderr[-500:]}"
    else:
        print(f"  warcio check passes on {len(files)} file(s) of {tool.name}")


@contextmanager
def watched_memory(ignoring: int = 0) -> Iterator[list[float]]:
    """The memory that all processes below this one hold together, in MB, looked up at times.

    wait4 tells the peak of the largest process only. Pages that several share are shared out.
    """
    seen = [0.0]
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            processes = [pid for pid in below(os.getpid()) if pid != ignoring]
            if len(processes) == 1:
                seen.append(megabytes(processes[0], "status", "VmHWM:"))
            else:
                seen.append(sum(megabytes(pid, "smaps_rollup", "Pss:") for pid in processes))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield seen
    finally:
        ended.set()
        watcher.join()


def below(pid: int) -> Iterator[int]:
    """The children of a process, and theirs."""
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = file.read_text().split()
        except OSError:  # it has ended
            continue
        for child in children:
            yield int(child)
            yield from below(int(child))


def megabytes(pid: int, file: str, field: str) -> float:
    """A figure that the kernel tells of a process in KB."""
    try:
        lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
    except OSError:  # it has ended
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def table(costs: dict[str, list[Cost]], tallies: dict[str, Tally], pages: int) -> None:
    """Medians of the rounds, the spread of time, and ratios of asof to each peer."""
    print(f"\n  {'':17}{'pages/s':>9}{'requests/s':>12}{'CPU s/1,000 pages':>19}"
          f"{'wall s':>16}{'CPU s':>16}{'peak MB':>9}{'WARC MB':>9}")  # fmt: skip
    for name, runs in costs.items():
        wall, cpu, tally = median(runs, "wall"), median(runs, "cpu"), tallies[name]
        print(
            f"  {name:17}{pages / wall:>9,.0f}{tally.requests / wall:>12,.0f}"
            f"{cpu / pages * 1000:>19.2f}{spread(runs, 'wall'):>16}{spread(runs, 'cpu'):>16}"
            f"{median(runs, 'peak_mb'):>9.0f}{tally.stored_mb:>9.1f}"
        )
    ours, *peers = costs
    for peer in peers:
        faster = median(costs[peer], "wall") / median(costs[ours], "wall")
        share = median(costs[ours], "cpu") / median(costs[peer], "cpu")
        print(
            f"  {ours} against {peer}: {faster:.2f}x its pages/s, {share:.2f} of its CPU per page"
        )


if __name__ == "__main__":
    main()
