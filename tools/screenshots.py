"""Pictures of our own pages for the documentation, of the newspaper that `asof demo` captures.

python tools/screenshots.py [FOLDER]      (default: docs/pictures)

They are taken as those of archived pages are (`asof.web.pictures`), and small:
one of more than 80 KB is an error.
"""

# ruff: noqa: T201 (a command prints)
from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from asof.api import Archive
from asof.clock import SystemClock, stamp
from asof.files import atomic_file
from asof.web.pictures.browser import Browser
from asof.web.pictures.maker import Maker
from asof.web.pictures.studio import HOST, served
from asof.web.pictures.tab import opened

SITE = "http://harbour-gazette.example/"
WIDTH, HEIGHT = 1280, 800
LARGEST = 80_000
SECONDS = 60


def main(folder: Path) -> int:
    """Take them all."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="asof-screenshots-") as place:
        archive = Path(place, "newspaper")
        demo = [sys.executable, "-m", "asof", "demo", "--no-serve", "-a", archive]
        subprocess.run(demo, check=True, timeout=180, stdout=subprocess.DEVNULL)
        sizes = {name: _save(folder / f"{name}.webp", data) for name, data in _taken(archive)}
    for name, size in sizes.items():
        print(f"{folder / name}.webp: {size / 1000:.0f} KB")
    return int(max(sizes.values()) > LARGEST)


def _taken(folder: Path) -> list[tuple[str, bytes]]:
    with Archive.open(folder) as archive, served(archive, SystemClock()) as ports:
        times = sorted(capture.at for capture in archive.captures(url=SITE))
        maker = Maker(SystemClock())
        for at in times:
            maker.make(folder, SITE, at)
        maker.rest()
        then, now = stamp(times[0]), stamp(times[-1])
        pages = {
            "captures": f"/captures?url={SITE}",
            "compare": f"/compare/{then}/{now}/{SITE}",
            "search": "/search?q=lighthouse",
        }
        with Browser(ports) as browser:
            base = f"http://{HOST}:{ports[0]}"
            return [(name, _picture(browser, base + page)) for name, page in pages.items()]


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
    sys.exit(main(Path(*sys.argv[1:2] or ["docs/pictures"])))
