"""Pages with scripts, live, in pywb and in asof: what works live works in replay.

The sites of tests/data/replay are opened live in a real browser, and what it asked for becomes a
WARC file, as a recording proxy would have it. The same file is then replayed by pywb and by asof,
while nothing of the live sites can be reached: each probe of each page says whether it works there.
`ASOF_PROBES=FILE` keeps the table of all three.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import replay_pages, rig
from support.pywb import Pywb, collection
from support.replay_pages import PAGES, STAMP
from support.serve_command import serving
from support.watched_browser import Watched

pytestmark = pytest.mark.needs("chromium", "replay", "scripts")

Outcome = dict[str, str]
"""Of each probe why it failed, "" where it passed."""
PLAYS = "--autoplay-policy=no-user-gesture-required"
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
# Where replay falls short of the live page, by the reason. What begins to pass is taken out.
SHORT = {
    # `this.location` in a text is changed as in a script, for the text may become one (`eval`).
    "scripts are rewritten by patterns, in their texts as well": ("text that looks like script",),
}
SHORTFALLS = {name for names in SHORT.values() for name in names}


@dataclass(frozen=True)
class Table:
    live: Outcome
    pywb: Outcome
    asof: Outcome

    def __str__(self) -> str:
        def word(told: Outcome, name: str) -> str:
            return {"": "pass", None: "none"}.get(told.get(name), "FAIL")

        rows = [f"{'live':6}{'pywb':6}{'asof':6}probe"]
        for name in self.live:
            words = "".join(f"{word(t, name):6}" for t in (self.live, self.pywb, self.asof))
            rows.append(f"{words}{name:46} {self.asof.get(name) or self.pywb.get(name) or ''}")
        counts = [sum(not why for why in t.values()) for t in (self.live, self.pywb, self.asof)]
        return "\n".join([*rows, f"{counts} of {len(self.live)}"])


def outcome(prefix: str, *flags: str, pages: list[str] = PAGES) -> Outcome:
    """What the probes of all pages say below an address."""
    found: Outcome = {}
    with Watched.fresh(*flags, PLAYS) as browser:
        for page in pages:
            # One that says nothing is opened once more: a busy browser loses one in thousands.
            found |= browser.probed(prefix + page) or browser.probed(prefix + page)
    return found


def by_pywb(root: Path) -> Outcome:
    collection(root, "web", [root / "all.warc.gz"])
    server = Pywb(root)
    try:
        return outcome(f"http://127.0.0.1:{server.port}/web/{STAMP}/", NOWHERE)
    finally:
        server.close()


def by_asof(root: Path) -> Outcome:
    rig.ok("import", root / "all.warc.gz", "-a", root / "archive", fresh=True)
    with serving(root / "archive") as address:
        return outcome(f"{address}/{STAMP}/", NOWHERE)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    root = tmp_path_factory.mktemp("probes")
    with replay_pages.live() as sites:
        live = outcome("", f"--host-resolver-rules={sites.rules}")
        sites.write(root / "all.warc.gz")
    rig.warcio_check([root / "all.warc.gz"])
    with ThreadPoolExecutor(2) as both:
        theirs, ours = both.submit(by_pywb, root), both.submit(by_asof, root)
    made = Table(live, theirs.result(), ours.result())
    if kept := os.environ.get("ASOF_PROBES"):
        Path(kept).write_text(f"{made}\n")
    return made


def test_every_probe_passes_live(table: Table) -> None:
    """The control."""
    assert {name: why for name, why in table.live.items() if why} == {}
    assert len(table.live) >= 300


def test_what_passes_live_passes_in_asof_but_for_known_shortfalls(table: Table) -> None:
    failed = {
        name: table.asof.get(name, "nothing was said")
        for name, why in table.live.items()
        if not why and table.asof.get(name) != "" and name not in SHORTFALLS
    }
    assert failed == {}, f"\n{table}"


def test_what_passes_in_pywb_passes_in_asof_but_for_known_shortfalls(table: Table) -> None:
    theirs = {name for name, why in table.pywb.items() if not why}
    ours = {name for name, why in table.asof.items() if not why}
    assert sorted(theirs - ours - SHORTFALLS) == []
    assert len(ours) >= len(theirs)


def test_probes_can_fail() -> None:
    """In a replay that rewrites nothing most of them do, for want of their site."""
    pages = [page for page in PAGES if re.search("net|markup|location|storage", page)]
    with replay_pages.live() as sites:
        rules = f"MAP naive.test 127.0.0.1:{sites.port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        naive = outcome("http://naive.test/2026/", f"--host-resolver-rules={rules}", pages=pages)
    failed = [name for name, why in naive.items() if why]
    assert len(failed) > 40, naive
