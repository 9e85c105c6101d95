"""Pictures of our own pages for the documentation, of the newspaper that `asof demo` captures.

python tools/screenshots.py              (three for the README, in docs/pictures)
python tools/screenshots.py --docs PAGES (all of them, where the pages in PAGES/docs want them)

They are taken as those of archived pages are (`asof.web.pictures`), and small: one of more than
80 KB is an error. Without a browser the documentation has none.
"""

# ruff: noqa: T201 (a command prints)
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from urllib.parse import urlencode

from asof.api import Archive
from asof.clock import SystemClock, stamp
from asof.files import atomic_file
from asof.web.pictures.browser import Browser, installed
from asof.web.pictures.maker import Maker
from asof.web.pictures.studio import HOST, served
from asof.web.pictures.tab import opened

SITE = "http://harbour-gazette.example/"
RULE = "C(d1,d2) >= 0.7 and url(d1) = url(d2)"
WIDTH, HEIGHT = 1280, 800
LARGEST = 80_000
SECONDS = 60
README = frozenset({"captures", "compare", "site"})
# Where a picture is to be in a page, as <!-- picture: site -->.
WANTED = re.compile(r"<!-- picture: (\w+) -->")


def main(folder: Path, names: frozenset[str] = README) -> int:
    """Take those with these names."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="asof-screenshots-") as place:
        archive = Path(place, "newspaper")
        for command in (["demo", "--no-serve"], ["cover", RULE, "--save", "news"]):
            asof = [sys.executable, "-m", "asof", *command, "-a", archive]
            subprocess.run(asof, check=True, timeout=180, stdout=subprocess.DEVNULL)
        taken = _taken(archive, names)
        sizes = {name: _save(folder / f"{name}.webp", data) for name, data in taken}
    for name, size in sizes.items():
        print(f"{folder / name}.webp: {size / 1000:.0f} KB")
    return int(max(sizes.values()) > LARGEST)


def illustrated(pages: Path) -> int:
    """Take what the pages of the documentation want, and put it there."""
    texts = {path: path.read_text(encoding="utf-8") for path in (pages / "docs").glob("*.md")}
    wanted = frozenset(name for text in texts.values() for name in WANTED.findall(text))
    if not wanted:
        raise SystemExit(f"No page in {pages / 'docs'} wants a picture.")
    if installed() is None:
        print("docs: no browser here, so the documentation has no pictures")
        return 0
    status = main(pages / "docs" / "pictures", wanted)
    for path, text in texts.items():
        path.write_text(WANTED.sub(r"![\1](pictures/\1.webp)", text), encoding="utf-8")
    return status


def _taken(folder: Path, names: frozenset[str]) -> list[tuple[str, bytes]]:
    with Archive.open(folder) as archive, served(archive, SystemClock()) as ports:
        times = sorted(capture.at for capture in archive.captures(url=SITE))
        maker = Maker(SystemClock())
        for at in times:
            maker.make(folder, SITE, at)
        maker.rest()
        moments = (times[0], (times[0] + times[-1]) // 2, times[-1])
        pages = _pages(*map(stamp, moments), archive.crawls()[-1].id)
        if missing := names - pages.keys():
            raise SystemExit(f"There is no page called {', '.join(sorted(missing))}.")
        with Browser(ports) as browser:
            base = f"http://{HOST}:{ports[0]}"
            return [(name, _picture(browser, base + pages[name])) for name in sorted(names)]


def _pages(then: str, between: str, now: str, crawl: str) -> dict[str, str]:
    """Our pages by the names of their pictures."""
    return {
        "home": "/",
        "page": f"/{then}/{SITE}",
        "composition": f"/-/composition/{now}/{SITE}",
        "captures": f"/captures?url={SITE}",
        "compare": f"/compare/{then}/{now}/{SITE}",
        "site": f"/site?url={SITE}&at={between}",
        "search": "/search?q=lighthouse",
        "quality": "/quality",
        "rule": f"/-/rule?{urlencode({'relation': RULE})}",
        "covers": "/covers",
        "cover": "/covers/news",
        "crawl": f"/crawls/{crawl}",
        "prefix": f"/captures?prefix={SITE}",
    }


def _picture(browser: Browser, address: str) -> bytes:
    with opened(browser, SECONDS, WIDTH, HEIGHT) as tab:
        tab.open(address)
        tab.settle(monotonic() + SECONDS / 2)
        return tab.picture(WIDTH, HEIGHT, scale=1.0)


def _save(path: Path, data: bytes) -> int:
    with atomic_file(path) as file:
        file.write(data)
    return len(data)


if __name__ == "__main__":
    for_docs = sys.argv[1:2] == ["--docs"]
    sys.exit(illustrated(Path(sys.argv[2])) if for_docs else main(Path("docs/pictures")))
