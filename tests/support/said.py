"""Made-up histories of pages that say words, as WARC files, and what they show as of a moment."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from asof.clock import SECOND, Instant, iso, parse_stamp
from support.forge import Rec

WORDS = ("harbour", "lighthouse", "ferry", "pier", "tide", "anchor")
FILLER = "The minutes record that nobody had seen the town piano since the spring."
START: Instant = parse_stamp("20200101000000") or 0
STATUSES = (200, 200, 200, 200, 404, 503, 301)


@dataclass(frozen=True, slots=True)
class Said:
    """What a URL answered at a moment: words, or an error."""

    url: str
    at: Instant
    status: int
    words: tuple[str, ...]


def histories(seed: int, pages: int = 8, answers: int = 6) -> list[Said]:
    """Pages that change, come back, vanish, move and fail; two never answer in the same second."""
    chance = random.Random(seed)
    found = []
    for page in range(pages):
        url, at = f"http://site{page % 3}.example/page/{page}", START
        words = tuple(chance.sample(WORDS, 2))
        for _ in range(chance.randint(1, answers)):
            at += chance.randint(1, 100) * SECOND
            if chance.random() < 0.6:
                words = tuple(chance.sample(WORDS, chance.randint(1, 3)))
            status = chance.choice(STATUSES)
            found.append(Said(url, at, status, words if status == 200 else ()))
    return found


def write(said: Iterable[Said], out: Path) -> Path:
    out.write_bytes(b"".join(_record(each).gz() for each in said))
    return out


def _record(said: Said) -> Rec:
    # What it says leads somewhere, so that there are names as well.
    text = f"{FILLER} <a href='http://site0.example/page/0'>{' '.join(said.words)}</a>."
    headers = [("Content-Type", "text/html; charset=utf-8")]
    if said.status == 301:
        headers.append(("Location", "http://site0.example/elsewhere"))
    return Rec(
        said.url, f"<!doctype html><title>Page</title><p>{text}</p>".encode(), iso(said.at),
        status=f"{said.status} X", headers=headers,
    )  # fmt: skip


def shown(said: Iterable[Said], word: str, at: Instant) -> set[str]:
    """The URLs that say a word as of a moment, one by one: what they said last decides, and an
    error says nothing.
    """
    last: dict[str, Said] = {}
    for each in sorted(said, key=lambda each: each.at):
        if each.at <= at and each.status != 503:
            last[each.url] = each
    return {url for url, each in last.items() if word in each.words}


def moments(said: Iterable[Said], chance: random.Random) -> Iterator[Instant]:
    """Before all, after all, at each answer, just before it, and between."""
    times = sorted(each.at for each in said)
    yield times[0] - 1
    yield times[-1] + 1_000 * SECOND
    for at in chance.sample(times, min(len(times), 6)):
        yield from (at - 1, at, at + chance.randint(1, 60) * SECOND)
