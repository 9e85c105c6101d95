"""The history of a site that lies in a Git repository of rendered HTML, commit by commit.

Put `tests` on the path and import it. Of a window of commits along first parents it takes a sample
of pages: those that change in it and those that do not, in their true proportion. Links that lead
out of the sample are disarmed, so that a crawl has the sample's pages to ask for and no others.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from urllib.parse import unquote, urljoin, urlsplit

from asof.clock import SECOND
from support.page_history import History, Version, changing, reckoned

_SUFFIXES = (".html", ".htm")
_FEWEST_COMMITS = 200
# Of a page that changes with every build, some: more than that nobody can tell apart.
_MOST_VERSIONS = 400
# Attributes that lead somewhere, with quotes or without; what has no quotes ends at a space.
_REFERENCE = re.compile(
    rb"""(?i)(\s)(href|src|srcset|action|background|data|content)(\s*=\s*)("[^"]*"|'[^']*'|[^\s>"']+)"""
)
_ELSEWHERE = re.compile(rb"(?i)<base\b|url\(|@import")
_NOBODY = "http://sample.example"

Change = tuple[int, str, str | None]  # seconds, file, its blob


@dataclass(frozen=True)
class Repository:
    """A bare Git directory, one branch of it, and the folder that is the root of the site."""

    folder: Path
    branch: str = "HEAD"
    under: str = ""

    def git(self, *command: str, given: bytes = b"") -> bytes:
        whole = ["git", "-c", "core.quotepath=off", "-C", str(self.folder), *command]
        return subprocess.run(whole, input=given, stdout=subprocess.PIPE, check=True).stdout

    def commits(self) -> list[str]:
        """All along first parents, oldest first."""
        return self.git("rev-list", "--first-parent", "--reverse", self.branch).decode().split()

    def files(self, commit: str) -> dict[str, str]:
        """The blob of each page that a commit has."""
        lines = self.git("ls-tree", "-r", "--full-tree", commit).decode().splitlines()
        parted = [line.partition("\t") for line in lines]
        return {name: about.split()[2] for about, _, name in parted if self._is_page(name)}

    def changes(self, first: str, last: str) -> list[Change]:
        """What the commits after one and up to another did, in order; no blob: it was removed."""
        found: list[Change] = []
        at = 0
        for line in self.git(
            "log", "--first-parent", "--reverse", "--raw", "--no-renames", "--no-abbrev",
            "--format=at %ct", f"{first}..{last}",
        ).decode().splitlines():  # fmt: skip
            if line.startswith("at "):
                at = max(at, int(line[3:]))  # clocks of committers run back now and then
            elif line.startswith(":"):
                about, _, name = line.partition("\t")
                blob = about.split()[3]
                if self._is_page(name):
                    found.append((at, name, None if set(blob) == {"0"} else blob))
        return found

    def contents(self, blobs: Iterable[str]) -> dict[str, bytes]:
        names = sorted(set(blobs))
        answer = self.git("cat-file", "--batch", given="".join(f"{n}\n" for n in names).encode())
        found, place = {}, 0
        for name in names:
            line, _, _ = answer[place : place + 200].partition(b"\n")
            size = int(line.split()[2])
            begin = place + len(line) + 1
            found[name] = answer[begin : begin + size]
            place = begin + size + 1
        return found

    def path(self, name: str) -> str:
        """Where a file is on the site."""
        return "/" + name.removeprefix(f"{self.under}/" if self.under else "")

    def _is_page(self, name: str) -> bool:
        inside = not self.under or name.startswith(f"{self.under}/")
        return inside and name.lower().endswith(_SUFFIXES) and name.isascii() and " " not in name


def git_history(
    repository: Repository,
    *,
    pages: int,
    load: float,
    laps: float,
    seed: str,
    still: float | None = None,
) -> History:
    """A sample of pages over a window of commits in which they change often enough.

    Seed by seed another window and other pages. The window is as short as will do for a page to
    change `load` times a lap for so many laps, but at most half of all commits: at the beginning
    hardly a page was there. `still` is the share of pages that never change, if not the true one.
    """
    random = Random(seed)
    commits = repository.commits()
    place, length = random.random(), _FEWEST_COMMITS
    while True:
        first = int(place * max(0, len(commits) - 1 - length))
        last = min(first + length, len(commits) - 1)
        window = repository.changes(commits[first], commits[last])
        base = repository.files(commits[first])
        chosen = _sample(base, window, pages, still, Random(seed))
        inside = [change for change in window if change[1] in chosen]
        often = Counter(name for _, name, _ in inside)
        enough = reckoned(often.values(), laps) >= load * laps * len(chosen)
        if enough or 2 * length >= len(commits):
            known = {name: blob for name, blob in base.items() if name in chosen}
            return _history(repository, known, _thinned(inside, often))
        length = min(2 * length, -(-len(commits) // 2))


def _sample(
    base: Collection[str], window: Sequence[Change], pages: int, still: float | None, random: Random
) -> set[str]:
    moving = sorted({name for _, name, _ in window})
    resting = sorted(set(base) - set(moving))
    share = len(resting) / max(1, len(moving) + len(resting)) if still is None else still
    quiet = min(len(resting), round(pages * share))
    busy = min(len(moving), pages - quiet)
    return {*random.sample(moving, busy), *random.sample(resting, quiet)}


def _thinned(window: Sequence[Change], often: Counter[str]) -> list[Change]:
    """At most so many changes of each page, evenly among its own."""
    seen: Counter[str] = Counter()
    found = []
    for change in window:
        step = -(-often[change[1]] // _MOST_VERSIONS)
        seen[change[1]] += 1
        if seen[change[1]] % step == 0:
            found.append(change)
    return found


def _history(repository: Repository, base: dict[str, str], window: Sequence[Change]) -> History:
    held = repository.contents([*base.values(), *(blob for _, _, blob in window if blob)])
    begin = (window[0][0] if window else 0) * SECOND - SECOND
    versions = {name: [Version(begin, held[blob], begin)] for name, blob in base.items()}
    for at, name, blob in window:
        moment = at * SECOND
        content = None if blob is None else held[blob]
        versions.setdefault(name, []).append(Version(moment, content, moment))
    paths = {repository.path(name) for name in versions}
    pages = {}
    for name, own in sorted(versions.items()):
        path = repository.path(name)
        kept = [replace(v, content=v.content and within(v.content, path, paths)) for v in own]
        pages[path] = changing(kept)
    return History(pages, begin, (window[-1][0] if window else 0) * SECOND + SECOND)


def within(content: bytes, path: str, paths: Collection[str]) -> bytes:
    """A page whose links lead to these paths only: others are there to be read, not to follow."""

    def disarmed(found: re.Match[bytes]) -> bytes:
        space, name, equals, value = found.groups()
        is_meta = name.lower() == b"content" and b"url=" not in value.lower()
        inside = _target(path, value.strip(b"\"'").decode("latin-1")) in paths
        return found.group() if is_meta or inside else space + b"x-" + name + equals + value

    calm = _ELSEWHERE.sub(lambda found: b"<x-base" if found.group()[0] == 60 else b"x(", content)
    return _REFERENCE.sub(disarmed, calm)


@lru_cache(maxsize=100_000)
def _target(path: str, reference: str) -> str | None:
    """The path on the same site that a reference leads to."""
    try:
        target = urlsplit(urljoin(f"{_NOBODY}{path}", reference.strip()))
    except ValueError:
        return None
    return unquote(target.path) if f"{target.scheme}://{target.netloc}" == _NOBODY else None
