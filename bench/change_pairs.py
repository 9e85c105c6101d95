"""Successive versions of real pages, as a repository of a published site keeps them, for looking.

    python bench/change_pairs.py REPOSITORY [--branch gh-pages] [--count 50] [--seed 1] [--diff 8]

REPOSITORY is a git directory that holds rendered HTML with history. Takes versions of pages that
follow each other at random, no page twice as long as there are others, runs the change cascade and
prints category, stage and measures of each, a short difference, and how often each category came.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from asof.change.cascade import compare
from asof.change.categories import Change
from asof.change.difference import Row, difference
from asof.change.digests import bytes_digest
from asof.change.version import Version
from asof.text.document import Document
from asof.text.html.page import read_html

SITE = "https://site.example/"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--branch", default="HEAD")
    parser.add_argument("--under", default="", help="only pages whose path begins with this")
    parser.add_argument(
        "--series", action="store_true", help="each page is a version of the one before, by name"
    )
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--diff", type=int, default=8, help="rows of difference to show")
    parser.add_argument("--method", default="default", choices=["default", "fast", "tags"])
    given = parser.parse_args()
    if not (given.repository / "objects").is_dir():
        sys.exit(f"{given.repository} is no git directory. Give one that holds rendered pages.")
    find = _series if given.series else _histories
    histories = dict(find(given.repository, given.branch, given.under))
    if not histories:
        sys.exit(f"No page of {given.repository} has two versions on {given.branch}.")
    counts: Counter[str] = Counter()
    for number, (path, old, new) in enumerate(_sample(histories, given.count, given.seed), 1):
        before = _version(given.repository, path, old, given.method)
        after = _version(given.repository, path, new, given.method)
        start = time.process_time()
        change = compare(before, after)
        spent = time.process_time() - start
        counts[change.category.value] += 1
        _show(number, f"{path} {_brief(old)}..{_brief(new)}", change, spent)
        if given.diff and before.read and after.read and change.stage.value not in ("payload",):
            _show_difference(before.read(), after.read(), given.diff)
    print(*(f"{name} {count}" for name, count in counts.most_common()), sep=", ")


def _git(repository: Path, *command: str) -> bytes:
    return subprocess.run(
        ["git", f"--git-dir={repository}", *command], capture_output=True, check=True
    ).stdout


def _histories(repository: Path, branch: str, under: str) -> Iterator[tuple[str, list[str]]]:
    """Pages with the commits that changed them, as commit:path, the first one first."""
    log = _git(
        repository, "log", branch, "--reverse", "--first-parent", "--no-renames", "--format=>%H",
        "--name-only", "--diff-filter=AM", "--", f"{under}*.html", f"{under}*.htm",
    )  # fmt: skip
    commits: dict[str, list[str]] = {}
    commit = ""
    for line in log.decode("utf-8", "replace").splitlines():
        if line.startswith(">"):
            commit = line[1:]
        elif line and not line.startswith('"') and "/_" not in f"/{line}":
            commits.setdefault(line, []).append(f"{commit}:{line}")
    yield from ((path, found) for path, found in sorted(commits.items()) if len(found) > 1)


def _series(repository: Path, branch: str, under: str) -> Iterator[tuple[str, list[str]]]:
    """All pages of a folder as versions of one, in the order of their names."""
    names = _git(repository, "ls-tree", "-r", "--name-only", branch).decode("utf-8", "replace")
    found = [f"{branch}:{name}" for name in sorted(names.splitlines())
             if name.startswith(under) and name.endswith((".html", ".htm"))]  # fmt: skip
    if len(found) > 1:
        yield under, found


def _sample(
    histories: dict[str, list[str]], count: int, seed: int
) -> Iterator[tuple[str, str, str]]:
    chance = random.Random(seed)
    paths = sorted(histories)
    chance.shuffle(paths)
    for number in range(count):
        path = paths[number % len(paths)]
        at = chance.randrange(len(histories[path]) - 1)
        yield path, histories[path][at], histories[path][at + 1]


def _version(repository: Path, path: str, name: str, method: str) -> Version:
    data = _git(repository, "show", name)
    digest = bytes_digest(data)
    return Version(
        url=SITE + path,
        payload=digest,
        entity=digest,
        read=_reader(data, SITE + path, method),
    )


def _reader(data: bytes, url: str, method: str) -> Callable[[], Document]:
    def read() -> Document:
        page = read_html(data.decode("utf-8", "replace"), url, method)  # type: ignore[arg-type]
        return Document(
            media_type="text/html",
            title=page.title,
            main=page.main,
            text=page.text,
            links=page.links,
            method=page.method,
            pictures=page.pictures,
        )

    return read


def _brief(name: str) -> str:
    commit, _, path = name.partition(":")
    return commit[:8] if len(commit) == 40 else path[-24:]


def _show(number: int, name: str, change: Change, spent: float) -> None:
    similarity = "" if change.similarity is None else f" {change.similarity:.3f}"
    print(f"\n== {number} {name}: {change.category.value} by {change.stage.value}{similarity}")
    print(
        f"   words +{change.added} -{change.removed}, largest {change.largest}, links"
        f" +{len(change.links_added)} -{len(change.links_removed)}, {spent * 1000:.0f} ms",
        *change.details,
        *(f"\n   link + {link[:90]}" for link in change.links_added[:3]),
        *(f"\n   link - {link[:90]}" for link in change.links_removed[:3]),
    )


def _show_difference(before: Document | None, after: Document | None, rows: int) -> None:
    if before is None or after is None:
        return
    shown = 0
    old, new = before.main or before.text, after.main or after.text
    if old == new:
        print("   (beside the main text)")
        old, new = before.text, after.text
    for row in difference(old, new).rows:
        if row.same:
            continue
        if shown == rows:
            print("   ...")
            break
        shown += 1
        _show_row(row)


def _show_row(row: Row) -> None:
    for mark, line in (("-", row.old), ("+", row.new)):
        if line is not None:
            text = "".join(f"[{s.text}]" if s.marked else s.text for s in line.spans)
            print(f"   {mark} {' '.join(text.split())[:230]}")


if __name__ == "__main__":
    main()
