"""A static web of four hosts, as large as real pages are, and nginx to serve it on loopback.

    python bench/crawl_site.py FOLDER [--pages 1000]      write it, serve it, print its seeds

For N pages there are 1.56 N assets (images, style sheets, scripts, fonts), and N/50 each of
redirects and dead links: the shape of a usual site. A page is some
28 KB of prose and markup with 46 links, and packs to less than a quarter, as pages do; images do
not pack. Everything is a function of the number of pages and of the port.

Hosts are 127.0.0.1 to 127.0.0.4 on one port. Every URL can be reached from every front page; what a
crawler that obeys robots.txt asks for is therefore known, and `Site.wanted` says it.
"""

from __future__ import annotations

import argparse
import gzip
import math
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
SECTIONS = ("harbour", "council", "market", "weather", "arts", "letters", "sports", "science")
ASSETS_PER_PAGE = 1.56
SHARED = ("site.css", "print.css", "app.js", "menu.js", "icon.png", "text.woff2", "bar.png")
# Every so many pages there is one link to a page that has moved, and one to a page that is gone.
ODD_EVERY = 50

_NGINX = """
daemon off; master_process off; worker_processes 1; pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  types {{ text/html html; text/css css; application/javascript js; image/jpeg jpg; image/png png;
           font/woff2 woff2; text/plain txt; }}
  log_format plain '$status http://$http_host$request_uri';
  access_log {folder}/access.log plain;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  gzip off; sendfile on; tcp_nopush on; keepalive_timeout 65; keepalive_requests 100000;
{servers}
}}
"""
_SERVER = """  server {{ listen {host}:{port}; root {folder}/{host};
    location ~ ^/moved/(.*)$ {{ return 301 /$1; }} }}"""


@dataclass(frozen=True)
class Site:
    """What was written, as URLs; `robots` are asked for, `forbidden` must not be."""

    folder: Path
    port: int
    pages: tuple[str, ...]
    assets: tuple[str, ...]
    moved: tuple[str, ...]
    gone: tuple[str, ...]
    robots: tuple[str, ...]
    forbidden: tuple[str, ...]
    size: int

    @property
    def seeds(self) -> tuple[str, ...]:
        """The front page of each host."""
        return self.pages[: len(HOSTS)]

    @cached_property
    def wanted(self) -> frozenset[str]:
        """Exactly what a crawler that obeys robots.txt asks for."""
        return frozenset((*self.pages, *self.assets, *self.moved, *self.gone, *self.robots))

    @property
    def log(self) -> Path:
        """The access log: status and URL of each request."""
        return self.folder / "access.log"

    def __str__(self) -> str:
        return (
            f"{len(self.pages):,} pages + {len(self.assets):,} assets + {len(self.moved):,} "
            f"redirects + {len(self.gone):,} errors over {len(HOSTS)} hosts, "
            f"{self.size / 1e6:.0f} MB"
        )


class Prose:
    """Sentences of made-up words, some frequent and most rare, as in any language (Zipf)."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        starts = [*"bcdfghlmnprstvw", "br", "cl", "dr", "fl", "gr", "pl", "pr", "sh", "st", "th"]
        vowels = [*"aeiou", "ai", "ea", "ee", "ou"]
        ends = ["", "", "", *"nrstlm", "nd", "st", "rt", "ck"]
        words: dict[str, None] = {}
        while len(words) < 2500:
            count = 1 if len(words) < 150 else chance.choice((2, 2, 3, 4))
            letters = (starts, vowels) * (count - 1) + (starts, vowels, ends)
            words["".join(chance.choice(part) for part in letters)] = None
        self._words = list(words)
        self._weights = list(accumulate(1 / (rank + 1) for rank in range(len(words))))
        # Made once and used again and again: gzip packs each page alone and cannot tell.
        self.sentences = [self._sentence() for _ in range(6000)]

    def words(self, count: int) -> list[str]:
        return self._chance.choices(self._words, cum_weights=self._weights, k=count)

    def title(self) -> str:
        # Rare words only: "of the and" are no headline.
        return " ".join(self._chance.choices(self._words[150:], k=4)).capitalize()

    def _sentence(self) -> str:
        words = self.words(self._chance.randint(8, 22))
        words[len(words) // 2] += ","
        return " ".join(words).capitalize() + "."


class Plan:
    """Where each page is and what it links to. Page n is on host n % 4; 0 to 3 are the fronts."""

    def __init__(self, count: int, port: int, chance: random.Random, prose: Prose) -> None:
        self.count, self.port = count, port
        self.titles = [prose.title() for _ in range(count)]
        self.paths = [self._path(number) for number in range(count)]
        images = max(0, round(ASSETS_PER_PAGE * count) - len(SHARED) * len(HOSTS))
        self.images = [
            [f"/images/{n}-{self._slug(n % count)}.jpg" for n in range(number, images, count)]
            for number in range(count)
        ]
        self._chance = chance

    def _slug(self, number: int) -> str:
        return self.titles[number].lower().replace(" ", "-")

    def _path(self, number: int) -> str:
        if number < len(HOSTS):
            return "/"
        return f"/{self.section(number)}/{self._slug(number)}-{number}.html"

    def section(self, number: int) -> str:
        return SECTIONS[number // len(HOSTS) % len(SECTIONS)]

    def url(self, host: int, path: str) -> str:
        return f"http://{HOSTS[host]}:{self.port}{path}"

    def page(self, number: int) -> str:
        return self.url(number % len(HOSTS), self.paths[number])

    def link(self, source: int, target: int) -> str:
        """A reference as authors write them: mostly rooted, some relative, absolute elsewhere."""
        if source % len(HOSTS) != target % len(HOSTS):
            return self.page(target)
        path = self.paths[target]
        return f"..{path}" if self._chance.random() < 0.2 else path

    def nearby(self, number: int) -> list[int]:
        """Up to 8 pages below this one in the host's tree (so none is unreachable), and others."""
        hosts = len(HOSTS)
        host, place = number % hosts, number // hosts
        local = len(range(host, self.count, hosts))
        below = range(8 * place + 1, min(8 * place + 9, local))
        others = [self._chance.randrange(local) for _ in range(self._chance.randint(8, 30))]
        return [other * hosts + host for other in (*below, *others)]

    def elsewhere(self) -> list[int]:
        return [self._chance.randrange(self.count) for _ in range(6)]

    def odd_links(self, number: int) -> list[str]:
        """Links to a page that moved, one that is gone and one that robots.txt forbids."""
        if number % ODD_EVERY != ODD_EVERY // 2:
            return []
        moved, gone = f"/moved{self.paths[number]}", f"/gone/{self._slug(number)}.html"
        return [moved, gone, f"/private/{number}.html"]


def write_site(folder: Path, pages: int, port: int) -> Site:
    """Write pages, assets, robots.txt and nginx.conf below the folder."""
    chance = random.Random(pages)
    prose = Prose(chance)
    plan = Plan(pages, port, chance, prose)
    for name in HOSTS:
        for place in (*SECTIONS, "images", "assets"):
            (folder / name / place).mkdir(parents=True)
    odd: dict[str, list[str]] = {"moved": [], "gone": [], "private": []}
    size = 0
    for number in range(pages):
        host = number % len(HOSTS)
        root = folder / HOSTS[host]
        links = plan.odd_links(number)
        for link in links:
            odd[link.split("/")[1]].append(plan.url(host, link))
        name = plan.paths[number][1:] or "index.html"
        size += (root / name).write_bytes(_page(plan, number, links, prose, chance).encode())
        for image in plan.images[number]:
            size += (root / image[1:]).write_bytes(_image(chance))
    size += sum(_write_shared(folder / name, prose, chance) for name in HOSTS)
    servers = "\n".join(_SERVER.format(host=name, port=port, folder=folder) for name in HOSTS)
    (folder / "nginx.conf").write_text(_NGINX.format(folder=folder, servers=servers))
    hosts = range(len(HOSTS))
    images = [plan.url(n % len(HOSTS), i) for n in range(pages) for i in plan.images[n]]
    shared = [plan.url(host, f"/assets/{name}") for host in hosts for name in SHARED]
    return Site(
        folder=folder,
        port=port,
        pages=tuple(plan.page(number) for number in range(pages)),
        assets=(*images, *shared),
        moved=tuple(odd["moved"]),
        gone=tuple(odd["gone"]),
        robots=tuple(plan.url(host, "/robots.txt") for host in hosts),
        forbidden=tuple(odd["private"]),
        size=size,
    )


_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title} | The Daily {section}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{summary}">
<meta property="og:title" content="{title}">
<meta property="og:type" content="article">
<link rel="stylesheet" href="/assets/site.css">
<link rel="stylesheet" href="/assets/print.css" media="print">
<link rel="icon" href="/assets/icon.png">
<script src="/assets/app.js" defer></script>
<script src="/assets/menu.js" defer></script>
</head>
<body class="page page-article" data-page="{number}">
<header class="site-header"><nav class="site-nav" aria-label="Sections"><ul class="nav-list">
{nav}
</ul></nav></header>
<main id="content" class="layout layout-two-columns">
<article class="article"><h1 class="article-title">{title}</h1>
<p class="article-meta">By <span class="author">{author}</span> <time>{date}</time></p>
"""
_NAV = '<li class="nav-item"><a class="nav-link" href="{href}">{text}</a></li>'
_TEASER = """<div class="card card-teaser card-shadow" data-kind="{kind}" data-track="sidebar">
  <svg class="card-icon" width="24" height="24" viewBox="0 0 24 24"><path d="M4 6h16v2H4z"/></svg>
  <h3 class="card-title card-title-small"><a class="card-link" href="{href}">{title}</a></h3>
  <p class="card-text">{text}</p>
  <p class="card-meta"><time class="card-time" datetime="{date}T06:00:00Z">{date}</time>
  <span class="card-comments" aria-label="Number of comments">{comments} comments</span></p>
</div>
"""


def _page(plan: Plan, number: int, odd: list[str], prose: Prose, chance: random.Random) -> str:
    host = number % len(HOSTS)
    near, far = plan.nearby(number), plan.elsewhere()
    sections = [n * len(HOSTS) + host for n in range(1, 9) if n * len(HOSTS) + host < plan.count]
    nav = [
        (plan.link(number, n), plan.titles[n].split()[0]) for n in (*range(len(HOSTS)), *sections)
    ]
    title, section = plan.titles[number], plan.section(number).capitalize()
    parts = [
        _HEAD.format(
            title=title, section=section, number=number, author=plan.titles[-number][:16],
            summary=chance.choice(prose.sentences), date=_date(chance),
            nav="\n".join(_NAV.format(href=href, text=text) for href, text in nav),
        )
    ]  # fmt: skip
    for image in plan.images[number]:
        caption = chance.choice(prose.sentences)
        parts.append(
            f'<figure class="figure"><img class="figure-image" src="{image}" alt="{caption}" '
            f'width="640" height="420"><figcaption>{caption}</figcaption></figure>\n'
        )
    # Of all lengths: the median is 40 sentences, the mean of whole pages 28 KB.
    wanted = min(600, max(10, int(chance.lognormvariate(math.log(40), 0.8))))
    inline = [*far, *near[:8]]
    while wanted > 0:
        sentences = chance.choices(prose.sentences, k=min(wanted, chance.randint(3, 8)))
        wanted -= len(sentences)
        if inline:
            target = inline.pop()
            href, text = plan.link(number, target), plan.titles[target].lower()
            sentences.insert(2, f'See <a class="inline-link" href="{href}">{text}</a>.')
        parts.append(f'<p class="article-text">{" ".join(sentences)}</p>\n')
    parts.append('</article>\n<aside class="sidebar" aria-label="Related articles">\n')
    parts.extend(
        _TEASER.format(
            kind=plan.section(target), href=plan.link(number, target),
            title=plan.titles[target], text=chance.choice(prose.sentences), date=_date(chance),
            comments=chance.randrange(200),
        )
        for target in (*near, *inline)
    )  # fmt: skip
    parts.append('</aside>\n</main>\n<footer class="site-footer">\n')
    parts.extend(f'<a class="footer-link" href="{href}">{href}</a>\n' for href in odd)
    parts.append(f'<p class="footer-text">{section} daily.</p></footer>\n</body>\n</html>\n')
    return "".join(parts)


def _date(chance: random.Random) -> str:
    return f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"


def _image(chance: random.Random) -> bytes:
    """As large as images are (mean 24 KB), and as hard to pack."""
    size = min(400_000, max(1500, int(chance.lognormvariate(math.log(17_000), 0.8))))
    return b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + chance.randbytes(size)


def _write_shared(root: Path, prose: Prose, chance: random.Random) -> int:
    """The style sheets, scripts, font and pictures that all pages of a host use; robots.txt."""
    sheet = ["@font-face { font-family: Text; src: url(/assets/text.woff2); }\n"]
    sheet += ["body { background: url('bar.png') repeat-x; }\n"]
    sheet += [
        f".{'-'.join(prose.words(2))} {{ margin: {chance.randrange(40)}px; "
        f"color: #{chance.getrandbits(24):06x}; }}\n"
        for _ in range(400)
    ]
    script = [
        f"function {'_'.join(prose.words(2))}(x) {{ return x * {chance.randrange(9999)}; }}\n"
        for _ in range(500)
    ]
    files = {
        "site.css": "".join(sheet).encode(),
        "print.css": "".join(sheet[2:80]).encode(),
        "app.js": "".join(script).encode(),
        "menu.js": "".join(script[:100]).encode(),
        "icon.png": b"\x89PNG\r\n" + chance.randbytes(1200),
        "text.woff2": b"wOF2" + chance.randbytes(28_000),
        "bar.png": b"\x89PNG\r\n" + chance.randbytes(4000),
    }
    (root / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n")
    return sum((root / "assets" / name).write_bytes(data) for name, data in files.items())


def free_port() -> int:
    """A port that is free on all four hosts."""
    while True:
        sockets = [socket.socket() for _ in HOSTS]
        try:
            sockets[0].bind((HOSTS[0], 0))
            port = int(sockets[0].getsockname()[1])
            for host, other in zip(HOSTS[1:], sockets[1:], strict=True):
                other.bind((host, port))
            return port
        except OSError:
            continue
        finally:
            for each in sockets:
                each.close()


@contextmanager
def serving(site: Site) -> Iterator[int]:
    """The site on nginx until the end of the block; gives the process id."""
    # Debian keeps servers out of a user's PATH.
    nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if nginx is None:
        raise SystemExit("nginx is not installed (apt-get install nginx-light)")
    files = ["-e", f"{site.folder}/error.log", "-c", f"{site.folder}/nginx.conf"]
    server = subprocess.Popen([nginx, "-p", str(site.folder), *files])
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection((HOSTS[-1], site.port)).close()
                break
            except OSError as error:
                if server.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit("nginx did not start: see what it said above") from error
                time.sleep(0.02)
        yield server.pid
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write it; must not exist")
    parser.add_argument("--pages", type=int, default=1_000)
    options = parser.parse_args()
    site = write_site(options.folder.resolve(), options.pages, free_port())
    pages = [path.read_bytes() for path in site.folder.glob("127.*/*/*.html")]
    total, packed = sum(map(len, pages)), sum(len(gzip.compress(page, 6)) for page in pages)
    print(f"{site}; {total / len(pages):,.0f} bytes a page, packed {total / packed:.1f} times")
    with serving(site):
        print("\n".join(site.seeds), flush=True)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
