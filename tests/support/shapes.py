"""Sites of six shapes, whose pages all have something to say; one has a calendar without an end.

And crawls of them that do not come through undisturbed: what they have in the end is compared with
what a crawl has that nobody disturbs.
"""

from __future__ import annotations

import random
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support import rig

_WORDS = re.findall(
    "[a-z]+",
    """
    harbour lantern meadow copper winter violin orchard granite ferry saddle kettle compass marble
    thistle anchor velvet barley chimney falcon ribbon quarry timber walnut beacon cellar drum ember
    fiddle garnet hazel ivory jasper kelp linen maple nettle otter pebble quill raven sable tide
    umber vessel willow yarrow zinc acorn bramble cedar dune easel fjord gorse heron inlet juniper
    """,
)
CALENDAR = re.compile(r"/calendar/([0-9]+)/([0-9]+)/")


def _text(name: str) -> str:
    """So many sentences of its own that no page is taken for another."""
    chance = random.Random(name)
    lines = (" ".join(chance.choices(_WORDS, k=9)) for _ in range(6))
    return "".join(f"<p>{line}.</p>" for line in lines)


def _page(name: str, *urls: str) -> rig.Reply:
    anchors = "".join(f'<li><a href="{url}">{url}</a></li>' for url in urls)
    body = f"{_text(name)}<ul>{anchors}</ul>"
    return rig.page(f"<!doctype html><title>{name}</title><body>{body}</body>")


def _some(name: str, names: list[str], count: int) -> list[str]:
    return random.Random(f"links of {name}").sample(names, min(count, len(names)))


def one_pattern(size: int) -> dict[str, rig.Answer]:
    """/item/1, /item/2 ...: each leads to three more of its kind, and home."""
    names = ["/", *(f"/item/{no}" for no in range(1, size))]
    return {
        name: _page(name, "/", *names[3 * no + 1 : 3 * no + 4]) for no, name in enumerate(names)
    }


def tree(size: int) -> dict[str, rig.Answer]:
    """Folders in folders, four in each; every page leads down, and home."""
    paths = ["/"]
    for parent in paths:
        if len(paths) >= size:
            break
        words = _some(parent, _WORDS, 4)
        paths += [f"{parent}{word}/" for word in words]
    paths = paths[:size]
    below: dict[str, list[str]] = {path: [] for path in paths}
    for path in paths[1:]:
        below[path[: path.rindex("/", 0, -1) + 1]].append(path)
    return {path: _page(path, "/", *below[path]) for path in paths}


def wiki(size: int) -> dict[str, rig.Answer]:
    """Articles by name, each with a dozen links to others of all kinds of names."""
    chance = random.Random("wiki")
    names: list[str] = []
    while len(names) < size - 1:
        name = "/wiki/" + "_".join(chance.choices(_WORDS, k=chance.randint(1, 4))).capitalize()
        if name not in names:
            names.append(name)
    pages: dict[str, rig.Answer] = {"/": _page("/", *names[:10])}
    for no, name in enumerate(names):
        pages[name] = _page(name, "/", *names[no + 1 : no + 3], *_some(name, names, 12))
    return pages


def blog(size: int) -> dict[str, rig.Answer]:
    """Entries by date and title, ten to a list; lists in a row, and by tag."""
    posts = [
        f"/{2008 + no // 120}/{1 + no // 10 % 12:02}/{'-'.join(_some(str(no), _WORDS, 3))}"
        for no in range(size * 5 // 6)
    ]
    lists = [posts[at : at + 10] for at in range(0, len(posts), 10)]
    tags = {f"/tag/{word}": posts[no::20] for no, word in enumerate(_WORDS[:20])}
    pages: dict[str, rig.Answer] = {}
    for no, some in enumerate(lists):
        name = f"/page/{no + 1}" if no else "/"
        older = [f"/page/{no + 2}"] if no + 1 < len(lists) else []
        pages[name] = _page(name, *some, *older, *list(tags)[:5])
    for no, post in enumerate(posts):
        around = [posts[at] for at in (no - 1, no + 1) if 0 <= at < len(posts)]
        pages[post] = _page(post, "/", *around, f"/tag/{_WORDS[no % 20]}")
    pages |= {name: _page(name, "/", *tagged) for name, tagged in tags.items()}
    return pages


def chain(size: int) -> dict[str, rig.Answer]:
    """Leaf after leaf: each leads to the next one only."""
    names = ["/", *(f"/leaf/{no}" for no in range(1, size))]
    return {name: _page(name, *names[no + 1 : no + 2]) for no, name in enumerate(names)}


def calendar(size: int) -> dict[str, rig.Answer]:
    """Events, each leading to its month; months without end, that name nothing."""
    names = [f"/event/{no}" for no in range(1, size)]
    pages: dict[str, rig.Answer] = _Endless({"/": _page("/", *names[:9], "/calendar/2026/01/")})
    for no, name in enumerate(names):
        month = f"/calendar/2026/{1 + no % 3:02}/"
        pages[name] = _page(name, "/", *names[8 * no + 9 : 8 * no + 17], month)
    return pages


class _Endless(dict[str, rig.Answer]):
    """Pages that are there, and a page for whatever month is asked for."""

    def get(self, path: str, default: rig.Answer | None = None) -> rig.Answer | None:  # type: ignore[override]
        found = CALENDAR.fullmatch(path)
        return super().get(path, default) if found is None else _month(*map(int, found.groups()))


def _month(year: int, month: int) -> rig.Reply:
    at = year * 12 + month - 1
    around = (f"/calendar/{to // 12}/{to % 12 + 1:02}/" for to in (at - 1, at + 1, at + 12))
    anchors = "".join(f'<a href="{url}">{url}</a> ' for url in around)
    return rig.page(f"<!doctype html><title>Events</title><p>No events.</p>{anchors}")


SHAPES: dict[str, Callable[[int], dict[str, rig.Answer]]] = {
    shape.__name__: shape for shape in (one_pattern, tree, wiki, blog, chain, calendar)
}


@dataclass
class Disturbed:
    """A crawl of a site, and how often it was ended from outside."""

    server: rig.Server
    archive: Path
    expected: set[str]
    ends: int = 0

    def start(self) -> subprocess.Popen[bytes]:
        words = ("crawl", self.server.url + "/", "-a", self.archive, "--delay", 0.005, "--no-text")
        return rig.start(*words, "--quiet", stdout=subprocess.DEVNULL)

    def live(self, requests: int, seconds: float, sig: int = signal.SIGKILL) -> bool:
        """One life: so many requests, then so many seconds; whether it ended by itself before."""
        until = time.monotonic() + 30
        last, life = len(self.server.hits) + requests, self.start()
        while len(self.server.hits) < last and life.poll() is None:
            assert time.monotonic() < until, "30 s without the requests that were waited for"
            time.sleep(0.001)
        try:
            life.wait(seconds)
        except subprocess.TimeoutExpired:
            life.send_signal(sig)
            self.ends += 1
        _, said = life.communicate(timeout=30)
        assert b"Traceback" not in said, said.decode()
        assert life.returncode in (0, -signal.SIGKILL, 130), (life.returncode, said.decode())
        return life.returncode == 0

    def finish(self) -> None:
        """Go on to the end: all that is there, each page once, in one crawl."""
        report = rig.crawl(self.archive, self.server.url + "/", timeout=120).json()
        assert report["state"] == "finished"
        self.has_everything()

    def has_everything(self) -> None:
        rows = rig.rows_of(self.archive)
        once = Counter(row["url"] for row in rows)
        once.pop(self.server.url + "/robots.txt", None)  # may be asked again
        left = rig.ok("status", "-a", self.archive, "--json").json()["left_out"]
        assert self.expected - set(once) == set(), left
        assert set(once) - self.expected == set(), left
        assert {url: count for url, count in once.items() if count != 1} == {}
        assert len({row["crawl"] for row in rows}) == 1, "one crawl, however often it was ended"
        assert all("/calendar/" in row["reason"] for row in left), left


@contextmanager
def disturbed(
    shape: str, size: int, folder: Path, place: Path | None = None
) -> Iterator[Disturbed]:
    """A site, what an undisturbed crawl has of it, and the archive for one that is disturbed."""
    pages = SHAPES[shape](size)
    with rig.Server(pages) as server:
        rig.crawl(folder / "undisturbed", server.url + "/", timeout=120)
        expected = {row["url"] for row in rig.rows_of(folder / "undisturbed")}
        expected.discard(server.url + "/robots.txt")
        assert {server.url + path for path in pages} <= expected
        assert all(CALENDAR.search(url) for url in expected - {server.url + p for p in pages})
        assert len(expected) <= size + 30, "the calendar ends"
        archive = (place or folder) / "archive"
        archive.mkdir()
        # Small groups: more of a life is committed, and more lives end between two commits.
        (archive / "asof.toml").write_text("group_records = 8\n")
        yield Disturbed(server, archive, expected)


def survives(shape: str, kills: int, folder: Path, seed: int) -> None:
    """A crawl that is killed so many times, most at work, some as it starts and mends."""
    chance = random.Random(f"{shape} {seed}")
    with disturbed(shape, 150 + 20 * kills, folder) as crawl:
        while crawl.ends < kills:
            if chance.random() < 0.8:
                ended = crawl.live(chance.randint(1, 30), chance.uniform(0.0, 0.05))
            else:
                ended = crawl.live(0, chance.uniform(0.02, 0.4))
            if ended:
                break
        assert crawl.ends >= kills * 0.9, f"finished after {crawl.ends} kills"
        if not ended:
            crawl.finish()
        crawl.has_everything()
