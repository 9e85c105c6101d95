"""Sites of six shapes, whose pages all have something to say; one has a calendar without an end."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

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
