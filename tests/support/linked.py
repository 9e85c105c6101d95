"""Made-up histories of pages that lead to each other by names, and what was called what, when."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from asof.clock import SECOND, Instant, iso
from support.forge import Rec
from support.said import START, STATUSES

NAMES = (
    "Annual report",
    "The report",
    "Häfen",
    "Old pier",
    "report of the annual pier",
    "港の灯台",
)
FOREVER: Instant = 1 << 62


@dataclass(frozen=True, slots=True)
class Answer:
    """What a URL answered at a moment: links with their names, or an error."""

    url: str
    at: Instant
    status: int
    links: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A content over its interval."""

    url: str
    since: Instant
    ended: Instant
    links: tuple[tuple[str, str], ...]


def histories(seed: int, pages: int = 7, answers: int = 5) -> list[Answer]:
    """Pages that change their links, come back, vanish, move and fail; some lead to themselves."""
    chance = random.Random(seed)
    urls = [f"http://site{page % 3}.example/page/{page}" for page in range(pages)]
    found = []
    for url in urls:
        at, links = START, _links(urls, chance)
        for _ in range(chance.randint(1, answers)):
            at += chance.randint(1, 100) * SECOND
            if chance.random() < 0.6:
                links = _links(urls, chance)
            status = chance.choice(STATUSES)
            found.append(Answer(url, at, status, links if status == 200 else ()))
    return found


def _links(urls: list[str], chance: random.Random) -> tuple[tuple[str, str], ...]:
    return tuple((chance.choice(urls), chance.choice(NAMES)) for _ in range(chance.randint(0, 4)))


def write(answers: Iterable[Answer], out: Path) -> Path:
    out.write_bytes(b"".join(_record(each).gz() for each in answers))
    return out


def _record(answer: Answer) -> Rec:
    links = "".join(f'<li><a href="{url}">{name}</a>' for url, name in answer.links)
    headers = [("Content-Type", "text/html; charset=utf-8")]
    if answer.status == 301:
        headers.append(("Location", "http://site0.example/elsewhere"))
    body = f"<!doctype html><title>Page</title><p>The minutes.</p><ul>{links}</ul>"
    return Rec(
        answer.url, body.encode(), iso(answer.at), status=f"{answer.status} X", headers=headers
    )


def contents(answers: Iterable[Answer]) -> list[Shown]:
    """One by one: what a URL showed last stands until it shows something else; a 503 is nothing."""
    found: list[Shown] = []
    by_url: dict[str, list[Answer]] = {}
    for each in sorted(answers, key=lambda each: each.at):
        if each.status != 503:
            by_url.setdefault(each.url, []).append(each)
    for url, own in by_url.items():
        starts = [
            each for before, each in zip([None, *own], own, strict=False)
            if before is None or (before.status, before.links) != (each.status, each.links)
        ]  # fmt: skip
        ends = [each.at for each in starts[1:]] + [FOREVER]
        found += [
            Shown(url, each.at, end, each.links)
            for each, end in zip(starts, ends, strict=True)
            if each.status == 200
        ]
    return found


def leading(
    shown: Iterable[Shown], target: Shown, name: str, first: Instant, last: Instant
) -> set[str]:
    """Who led to a content by a name that has these words, while it was shown between moments."""
    return {
        source.url
        for source in shown
        if source.url != target.url
        and max(source.since, target.since, first) < min(source.ended, target.ended, last + 1)
        and any(url == target.url and name in text.casefold() for url, text in source.links)
    }
