"""Small crawls without sockets, breadth first, with every defence against traps.

First the synthetic site with all its traps; then webs that look like traps and are none, which
must be taken whole, and some more traps, which must end.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from asof.clock import parse_iso
from asof.model import Hop, Target
from asof.scope.patterns import Patterns
from asof.scope.traps import SESSION, calendar_trap, session_key, shape_trap
from asof.testing import START, Kind, SiteSpec, SyntheticSite
from asof.testing.spec import TRAPS
from asof.text.html.fingerprint import text_fingerprint, visible_blocks
from asof.text.links.html_links import html_links
from asof.url import resolve

A = "http://a.example"
NOW = parse_iso("2026-03-01") or 0
Answer = tuple[int, bytes, str | None]  # status, HTML (or nothing), Location
Page = Callable[[str], bytes | None]


@dataclass
class Crawl:
    """What a crawl took, in order, and what it left out, by reason."""

    taken: list[str] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    looked: int = 0


def crawl(ask: Callable[[str], Answer], *, limit: int = 100_000, defended: bool = True) -> Crawl:
    """From `/`, as the crawl loop does it: before queueing, before fetching, after keeping."""
    done, patterns = Crawl(), Patterns()
    queue = deque([Target(A + "/")])
    met, keys = {A + "/"}, {A + "/"}
    while queue and len(done.taken) < limit:
        target = queue.popleft()
        refusal = patterns.allows(target) if defended else None
        if refusal is not None:
            done.left[refusal] += 1
            continue
        status, html, location = ask(target.url.removeprefix(A))
        found = list(onward(target, html, location))
        new = []
        for each in found:
            if each.url in met:
                continue
            met.add(each.url)
            key = session_key(each.url) or each.url
            reason = shape_trap(each.url) or calendar_trap(each.url, NOW)
            reason = reason or (SESSION if key in keys else None)
            if reason is not None and defended:
                done.left[reason] += 1
                continue
            keys.add(key)
            new.append(each)
        queue.extend(new)
        if status == 200 and html:
            done.taken.append(target.url.removeprefix(A))
            text = None
            if patterns.wants_text(target.url, new):
                text = text_fingerprint(visible_blocks(html))
                done.looked += 1
            patterns.learn(target, text, found, new)
    return done


def onward(target: Target, html: bytes, location: str | None) -> Iterable[Target]:
    found = [(link.reference, link.hop) for link in html_links(html).found] if html else []
    for reference, hop in [*found, *([(location, Hop.REDIRECT)] if location else [])]:
        url = resolve(target.url, reference)
        if url is not None and url.startswith(A + "/"):
            depth = target.depth + (hop is Hop.LINK)
            yield Target(url, depth, target.url, target.hops + hop.value)


def answering(page: Page) -> Callable[[str], Answer]:
    return lambda path: (200, page(path) or b"", None)


# --- the synthetic site ------------------------------------------------------------------------


def asker(site: SyntheticSite) -> Callable[[str], Answer]:
    def ask(path: str) -> Answer:
        response = site.respond("GET", path, (), START)
        html = (response.header("Content-Type") or "").startswith("text/html")
        forbidden = path in site.forbidden()
        body = response.content if html and not forbidden else b""
        return response.status, body, response.header("Location")

    return ask


def synthetic(**spec: Any) -> tuple[SyntheticSite, Crawl]:
    site = SyntheticSite(SiteSpec(words=60, **spec)).at([A])
    return site, crawl(asker(site))


@pytest.mark.parametrize(("pages", "most"), [(200, 0.17), (1_000, 0.05), (2_000, 0.035)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_crawl_of_the_synthetic_site_ends_with_all_real_pages_and_few_others(
    seed: int, pages: int, most: float
) -> None:
    """At most 5 % trap pages from 1,000 pages on, all five traps at once; 17 % of 200 pages."""
    site, done = synthetic(seed=seed, pages=pages, traps=TRAPS)
    trapped = [path for path in done.taken if site.kind(path) is Kind.TRAP]
    assert set(site.paths(START)) <= set(done.taken)
    assert len(trapped) <= most * len(done.taken)
    assert done.looked < 0.3 * len(done.taken)


@pytest.mark.parametrize("kind", TRAPS)
def test_one_trap_alone_takes_at_most_twenty_pages(kind: str) -> None:
    """Whichever it is; and the report says what was left out."""
    site, done = synthetic(seed=7, pages=1_000, traps=(kind,))
    assert set(site.paths(START)) <= set(done.taken)
    assert len(done.taken) - 1_000 <= 20
    assert done.left
    assert all(reason.startswith("trap: ") for reason in done.left)


@pytest.mark.parametrize("kind", TRAPS)
def test_without_defence_the_traps_do_not_end(kind: str) -> None:
    """They are traps."""
    site = SyntheticSite(SiteSpec(pages=20, words=10, traps=(kind,))).at([A])
    assert len(crawl(asker(site), limit=700, defended=False).taken) == 700


def test_a_site_without_traps_is_taken_whole_and_nothing_is_left_out() -> None:
    """No false alarm over 3,000 pages of few words."""
    site, done = synthetic(seed=5, pages=3_000)
    assert set(site.paths(START)) == set(done.taken)
    assert not done.left


# --- webs that are no traps --------------------------------------------------------------------

WORDS = """amber basil cedar delta ember fjord grove haven inlet jetty knoll larch marsh north ochre
pearl quartz ridge slate thyme umber vetch willow yarrow zephyr anchor beacon candle dagger engine
falcon garden hammer island jacket kettle ladder magnet needle orchid pepper quiver rocket saddle
temple urchin velvet walnut yellow zenith""".replace("\n", " ").split(" ")
Links = list[tuple[str, str]]


def prose(key: object, count: int = 40) -> str:
    return " ".join(random.Random(str(key)).choices(WORDS, k=count))


def html(title: str, text: str = "", links: Links | None = None, images: str = "") -> bytes:
    picture = f'<img src="{images}">' if images else ""
    anchors = "".join(f'<a href="{href}">{name}</a> ' for href, name in links or [])
    return (
        f"<html><title>{title}</title><nav><a href='/'>home</a></nav>"
        f"<h1>{title}</h1><p>{text}</p>{picture}{anchors}</html>"
    ).encode()


def beside_a_shop(page: Page) -> Page:
    """With 300 products on the same host, which differ by their names only."""
    other = shop(300)
    return lambda path: (page("/") or b"") + (other("/") or b"") if path == "/" else (
        page(path) or other(path)
    )  # fmt: skip


def numbered(
    pattern: str, count: int, make: Callable[[int], bytes], start: int = 1
) -> tuple[Page, set[str]]:
    """Pages /x/1 ... /x/count by their number, entered at the first one."""
    shape = re.compile(re.escape(pattern).replace(r"\{\}", "([0-9]+)"))

    def page(path: str) -> bytes | None:
        if path == "/":
            return html("home", "welcome", [(pattern.format(start), "enter")])
        match = shape.fullmatch(path)
        return make(int(match[1])) if match and start <= int(match[1]) < start + count else None

    return page, {pattern.format(k) for k in range(start, start + count)}


BOILERPLATE = "".join(f"<p>{prose(('terms', k), 12)}</p>" for k in range(30))


def shop(count: int) -> Page:
    """Product pages that differ by a name of four words in a page of 400."""

    def page(path: str) -> bytes | None:
        if path == "/":
            return html("home", "", [(f"/c/{c}", f"category {WORDS[c]}") for c in range(20)])
        if match := re.fullmatch(r"/c/([0-9]+)", path):
            here = range(int(match[1]), count, 20)
            return html(f"category {match[1]}", BOILERPLATE, [(f"/p/{k}", "more") for k in here])
        if match := re.fullmatch(r"/p/([0-9]+)", path):
            return html(prose(match[1], 4), BOILERPLATE)
        return None

    return page


def diary() -> tuple[Page, set[str]]:
    """Next and previous only, no index, no pictures."""
    return numbered("/diary/{}", 800, lambda k: html(
        f"Day {k}", prose(k), [(f"/diary/{k + 1}", "next"), (f"/diary/{k - 1}", "previous")],
    ))  # fmt: skip


def newspaper() -> tuple[Page, set[str]]:
    """Day after day since 1987, each with a page."""
    first = dt.date(1987, 1, 1)

    def page(path: str) -> bytes | None:
        if path == "/":
            return html("home", "", [("/1987/01/01/", "archive")])
        match = re.fullmatch(r"/([0-9]{4})/([0-9]{2})/([0-9]{2})/", path)
        if match is None:
            return None
        day = dt.date(*map(int, match.groups()))
        if not 0 <= (day - first).days < 900:
            return None
        near = (day + dt.timedelta(step) for step in (-1, 1))
        return html(f"{day:%A}", prose(day), [(f"/{other:%Y/%m/%d}/", "x") for other in near])

    return page, {f"/{first + dt.timedelta(k):%Y/%m/%d}/" for k in range(900)}


def gallery() -> tuple[Page, set[str]]:
    """The same words under every photograph."""
    return numbered("/photo/{}", 400, lambda k: html(
        f"Photo {k}", "", [(f"/photo/{k + 1}", "next")], f"/img/{k}.jpg",
    ))  # fmt: skip


def pagination() -> tuple[Page, set[str]]:
    """A list page by page whose articles are all known already, from an index."""

    def page(path: str) -> bytes | None:
        if path == "/":
            index = [(f"/a/{k}", prose(k, 4)) for k in range(1_500)]
            return html("home", "", [*index, ("/list?page=1", "list")])
        if match := re.fullmatch(r"/a/([0-9]+)", path):
            return html(prose(match[1], 4), prose(("text", match[1])))
        if (match := re.fullmatch(r"/list\?page=([0-9]+)", path)) and int(match[1]) <= 150:
            k = int(match[1])
            shown = [(f"/a/{n}", prose(n, 4)) for n in range(10 * k - 10, 10 * k)]
            return html("list", "", [*shown, (f"/list?page={k + 1}", "next")])
        return None

    return page, {f"/list?page={k}" for k in range(1, 151)} | {f"/a/{k}" for k in range(1_500)}


def stations() -> tuple[Page, set[str]]:
    """Tables that differ by their figures only."""

    def make(k: int) -> bytes:
        chance = random.Random(k)
        cells = "".join(f"<td>{chance.uniform(900, 1_100):.1f}</td>" for _ in range(8))
        return html("Station", f"<table>{cells}</table>", [(f"/station/{k + 1}", "next")])

    return numbered("/station/{}", 300, make)


def family() -> tuple[Page, set[str]]:
    """Persons who link to parents, brothers and sisters, and children."""

    def make(k: int) -> bytes:
        others = [2 * k, 2 * k + 1, k // 2, k ^ 1]
        return html(prose(k, 3), "", [(f"/person/{n}", "x") for n in others])

    return numbered("/person/{}", 600, make)


def script_pages() -> tuple[Page, set[str]]:
    """Two hundred pages that all say nothing without scripts, linked from lists."""

    def page(path: str) -> bytes | None:
        if path == "/":
            return html("home", "", [(f"/l/{k}", "list") for k in range(10)])
        if match := re.fullmatch(r"/l/([0-9]+)", path):
            here = range(20 * int(match[1]), 20 * int(match[1]) + 20)
            return html(prose(match[1], 4), "", [(f"/item/{k}", prose(k, 3)) for k in here])
        return html("App") if re.fullmatch(r"/item/[0-9]+", path) else None

    return page, {f"/item/{k}" for k in range(200)}


def forum() -> tuple[Page, set[str]]:
    """Topics of several pages; and a form for each that wants a login."""

    def page(path: str) -> bytes | None:
        if path == "/":
            return html("home", "", [(f"/forum.php?f={k}", "forum") for k in range(5)])
        if match := re.fullmatch(r"/forum\.php\?f=([0-9]+)", path):
            here = range(20 * int(match[1]), 20 * int(match[1]) + 20)
            return html("Forum", "", [(f"/topic.php?f=1&t={t}", prose(t, 4)) for t in here])
        if match := re.fullmatch(r"/topic\.php\?f=1&t=([0-9]+)(?:&start=([0-9]+))?", path):
            t, start = int(match[1]), int(match[2] or 0)
            posts = "".join(f"<p>{prose((t, start, k), 20)}</p>" for k in range(5))
            following = [(f"/topic.php?f=1&t={t}&start={start + 5}", "next")] if start < 15 else []
            return html(prose(t, 4), posts, [*following, (f"/post.php?reply={t}&f=1", "reply")])
        return html("Login", "You must log in.") if path.startswith("/post.php") else None

    topics = {f"/topic.php?f=1&t={t}" for t in range(100)}
    return page, topics | {f"{t}&start={s}" for t in topics for s in (5, 10, 15)}


NO_TRAPS = (diary, newspaper, gallery, pagination, stations, family, script_pages, forum)


@pytest.mark.parametrize("web", NO_TRAPS)
def test_what_looks_like_a_trap_and_is_none_is_taken_whole(
    web: Callable[[], tuple[Page, set[str]]],
) -> None:
    """Alone, and beside other things on its host."""
    page, wanted = web()
    for alone_or_not in (page, beside_a_shop(page)):
        done = crawl(answering(alone_or_not))
        assert wanted <= set(done.taken), done.left


# --- and more that are -------------------------------------------------------------------------


def months(path: str, text: Callable[[int], str] = lambda k: "Nothing.") -> bytes | None:
    """Months without end that also offer their days, a file, and a login that leads back."""
    if path == "/":
        return html("home", "", [("/month/2025/03", "what is on")])
    if match := re.fullmatch(r"/month/([0-9]+)/([0-9]+)", path):
        here = int(match[1]) * 12 + int(match[2]) - 1
        near = [f"/month/{k // 12}/{k % 12 + 1:02d}" for k in (here + 1, here - 1)]
        days = [f"/day{path.removeprefix('/month')}/{day:02d}" for day in range(1, 31)]
        more = [*near, *days, f"/login?return={path}"]
        return html("Month", text(here - 2025 * 12), [(href, "x") for href in more])
    if match := re.fullmatch(r"/day/([0-9]+)/([0-9]+)/([0-9]+)", path):
        return html("Day", "Nothing.", [(f"/month/{match[1]}/{match[2]}", "up")])
    return html("Login", "Who are you?") if path.startswith("/login") else None


def table(path: str) -> bytes | None:
    """The same rows in another order, under a number that is always new."""
    if not path.startswith("/table"):
        return html("home", "", [("/table", "table")]) if path == "/" else None
    chance = random.Random(path)
    rows = chance.sample([prose(k, 6) for k in range(30)], 30)
    links = [(f"/table?c={c}&o={o}&n={chance.getrandbits(30)}", c) for c in "abc" for o in "ad"]
    return html("table", "</p><p>".join(rows), links)


def maze(path: str) -> bytes | None:
    """Nonsense with three links to more of it, and one back to where it begins."""
    if not path.startswith("/maze/"):
        return html("home", "", [("/maze/1", "maze")]) if path == "/" else None
    chance = random.Random(path)
    links = [(f"/maze/{chance.getrandbits(60)}", "on") for _ in range(3)]
    return html(prose(path, 4), prose((path, 1), 80), [*links, ("/maze/1", "back")])


def broken_link(path: str) -> bytes | None:
    """github.com/webrecorder/browsertrix-crawler/issues/931: every path is a page with the link."""
    if not path.startswith("/imprint/"):
        return html("home", "", [("/imprint/", "imprint")]) if path == "/" else None
    found = "The imprint." if path == "/imprint/" else "Not found."
    return html("imprint", found, [("www.example.com/privacy/", "privacy")])


@pytest.mark.parametrize(
    ("page", "most"), [(months, 250), (table, 15), (maze, 15), (broken_link, 15)]
)
def test_other_traps_end_as_well(page: Page, most: float) -> None:
    """Beside a shop of 300 products, of which none is missed."""
    done = crawl(answering(beside_a_shop(page)), limit=5_000)
    products = {path for path in done.taken if path.startswith("/p/")}
    assert len(products) == 300
    assert len([path for path in done.taken if re.match(r"/(p|c)/|/$", path) is None]) <= most


def test_a_calendar_is_taken_as_far_as_there_is_something_in_it() -> None:
    """An event every third month for five years; then a few empty months, and an end."""
    events = {f"/month/{2025 + k // 12}/{k % 12 + 1:02d}" for k in range(0, 60, 3)}

    def page(path: str) -> bytes | None:
        return months(path, lambda k: prose(k) if 0 <= k < 60 and k % 3 == 0 else "Nothing.")

    done = crawl(answering(beside_a_shop(page)), limit=5_000)
    assert events <= set(done.taken)
    assert len(done.taken) < 2_000
