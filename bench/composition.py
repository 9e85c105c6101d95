"""Composed pages against the truth: did what is shown ever stand together, and at the moment said?

    PYTHONPATH=tests python bench/composition.py [--pages 200] [--crawls 5] [--moments 3]
        [--seeds 3] [--dated .5] [--pywb FOLDER/bin]

Pages with parts that change at various rates, with dates and tags and without, are crawled some
times on virtual time (`support.composed`). Each page is asked for as of some moments, by each
policy of asof, and of pywb on the same WARC files: its page is fetched, and then each part by the
address that the page as rewritten has for it.

Columns: the share of pages of which all that is shown stood *together* at some moment, and at the
moment *said* (that of asof's banner; of pywb, that of the page's capture); the same for pages
without a *hole*; parts that are missing; parts shown that were not there at the moment said. Then
of each verdict how many there are, and how many are false.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin

from asof.api import Archive
from asof.clock import SECOND, parse_http_date, stamp
from asof.replay.choose import Verdict
from support.composed import ComposedSite, Score, Shown, crawled, moments, scores

_PART = re.compile(rb"""(?:src|href)="([^"]+)"|url\(([^)"']+)\)|@import "([^"]+)\"""")
_TARGET = re.compile(r"/c/(\d+)([a-z]+_)?/(http://.*)")


def main() -> int:
    given = _arguments()
    found: dict[str, Score] = {}
    for seed in range(1, given.seeds + 1):
        with tempfile.TemporaryDirectory() as name:
            _run(given, seed, Path(name), found)
        print(f"seed {seed} done", file=sys.stderr)
    print(f"{given.seeds} x {given.pages} pages, {given.crawls} crawls, dated {given.dated}")
    head = f"{'':10} {'pages':>6} {'together':>9} {'said':>7} {'whole, together':>16}"
    print(f"{head} {'whole, said':>12} {'holes':>6} {'false':>7}")
    for name, score in found.items():
        share = [score.together, score.then, score.whole_together, score.whole_then]
        told = [f"{100 * each / score.pages:.1f} %" for each in share]
        print(
            f"{name:10} {score.pages:6} {told[0]:>9} {told[1]:>7} {told[2]:>16} {told[3]:>12} "
            f"{score.holes:6} {100 * score.false / max(1, score.parts):5.1f} %"
        )
    for name, score in found.items():
        told = [f"{v} {score.verdicts[v]}/{score.wrong[v]}" for v in Verdict if score.verdicts[v]]
        print(f"{name:10} {', '.join(told)}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, default in (("pages", 200), ("crawls", 5), ("moments", 3), ("seeds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--dated", type=float, default=0.5)
    parser.add_argument("--pywb", type=Path, metavar="BIN")
    return parser.parse_args()


def _run(given: argparse.Namespace, seed: int, folder: Path, found: dict[str, Score]) -> None:
    site = ComposedSite(seed, given.pages, given.crawls * 1.6 + 1, given.dated)
    web = crawled(site, folder / "archive", given.crawls)
    asked = list(moments(site, seed, given.moments, web.clock.now()))
    with Archive.open(folder / "archive", clock=web.clock) as archive:
        for policy, score in scores(site, archive, asked).items():
            _add(found.setdefault(policy.value, Score()), score)
    if given.pywb is not None:
        files = sorted((folder / "archive/warc").iterdir())
        score = found.setdefault("pywb", Score())
        with _pywb(given.pywb, folder, files) as port:
            for url, at in asked:
                site.score(score, _shown_by(port, url, stamp(at)))


def _add(into: Score, other: Score) -> None:
    for name, value in vars(other).items():
        setattr(into, name, getattr(into, name) + value)


@contextmanager
def _pywb(programs: Path, folder: Path, files: list[Path]) -> Iterator[int]:
    for command in (["init", "c"], ["add", "c", *map(str, files)]):
        subprocess.run(
            [programs.resolve() / "wb-manager", *command], cwd=folder, check=True,
            capture_output=True,
        )  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [programs.resolve() / "wayback", "--bind", "127.0.0.1", "--port", str(port)],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(600):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(15)


def _shown_by(port: int, url: str, at: str) -> Shown:
    """A page of pywb, and its parts by the addresses that it gives them."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    contents: dict[str, bytes | None] = {}
    moment = None
    waiting = [f"/c/{at}mp_/{url}"]
    while waiting:
        match = _TARGET.search(waiting.pop(0))
        if match is None or match[3] in contents:
            continue
        when, form, what = match.groups()
        _, _, raw = _get(connection, f"/c/{when}id_/{what}")
        status, headers, body = _get(connection, f"/c/{when}{form or ''}/{what}")
        contents[what] = raw if status == 200 else None
        if moment is None:
            moment = parse_http_date(headers.get("Memento-Datetime", ""))
        here = f"/c/{when}{form or ''}/{what}"
        if form == "mp_" or what.endswith(".css"):
            parts = (next(filter(None, found)).decode() for found in _PART.findall(body))
            waiting += [urljoin(here, part) for part in parts]
    connection.close()
    return Shown((moment or 0) + SECOND - 1, contents)


def _get(
    connection: http.client.HTTPConnection, target: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    for _ in range(5):
        connection.request("GET", target)
        answer = connection.getresponse()
        body = answer.read()
        if not 300 <= answer.status < 400:
            break
        target = urljoin(target, answer.headers.get("Location") or "")
    if answer.headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    return answer.status, answer.headers, body


if __name__ == "__main__":
    sys.exit(main())
