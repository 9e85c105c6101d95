"""SIGKILL at 60 random moments of a crawl; test_sigkill_more.py makes them 200."""

from __future__ import annotations

import random
import time
from pathlib import Path

from support import kills, rig
from support.rig import ok, referees_agree


def test_60_kills(tmp_path: Path) -> None:
    kills.survives(60, tmp_path, seed=2_000_200)


def test_what_was_spooled_is_removed_by_the_next_life(tmp_path: Path) -> None:
    """A large body lies in a file of its own until it is whole; a kill must not leave it there."""
    big = random.Random(1).randbytes(1 << 20) * 40
    pieces = rig.split(rig.page(big, media="video/mp4").sent, range(0, len(big), 1 << 20))
    slow = rig.Reply(pieces, "keep", pause=0.05)
    with rig.site({"/": rig.page(rig.links("/big")), "/big": slow}) as server:
        archive = tmp_path / "archive"
        life = rig.start("crawl", server.url + "/", "-a", archive, "--delay", "0", "--quiet")
        rig.wait_for(lambda: "/big" in server.paths(), 20, "the crawl gets to the large file")
        time.sleep(1.0)
        life.kill()
        life.communicate()
        server.pages["/big"] = rig.Reply((slow.sent,), "keep")
        rig.crawl(archive, server.url + "/")
        used = sum(path.stat().st_size for path in archive.rglob("*") if path.is_file())
        assert used < 42 << 20, f"{used >> 20} MB for 40 MB of content"
        assert ok("get", server.url + "/big", "--raw", "-a", archive).out == slow.sent
        referees_agree(archive)
