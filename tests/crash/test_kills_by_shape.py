"""SIGKILL, a full disk, a dead writer, a lost database: a resumed crawl knows what it had learnt.

What pages tell of traps is evidence of a whole crawl. A site whose pages all look alike by their
addresses was left out as a trap for the most part when a crawl went on without it.
"""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from support import rig, shapes


@pytest.mark.parametrize("shape", shapes.SHAPES)
def test_3_kills(tmp_path: Path, shape: str) -> None:
    shapes.survives(shape, 3, tmp_path, seed=3)


@pytest.mark.long
@pytest.mark.parametrize("shape", shapes.SHAPES)
def test_50_kills(tmp_path: Path, shape: str) -> None:
    shapes.survives(shape, 50, tmp_path, seed=50)


def test_a_database_that_is_lost_between_two_lives(tmp_path: Path) -> None:
    """All that was learnt is learnt again, from the records alone."""
    with shapes.disturbed("one_pattern", 300, tmp_path) as crawl:
        assert not crawl.live(60, 0.0)
        rig.remove_database(crawl.archive)
        rig.ok("reindex", "-a", crawl.archive)
        assert not crawl.live(30, 0.0)
        crawl.finish()


def test_a_writer_that_is_killed(tmp_path: Path) -> None:
    with shapes.disturbed("one_pattern", 300, tmp_path) as crawl:
        for requests in (100, 200):
            life = crawl.start()
            rig.wait_for(lambda n=requests: len(crawl.server.hits) >= 301 + n, 30, "it gets on")  # type: ignore[misc]
            (writer,) = set(rig.family(life.pid)) - {life.pid}
            subprocess.run(["kill", f"-{signal.SIGKILL.value}", str(writer)], check=True)
            _, said = life.communicate(timeout=30)
            assert life.returncode == 1
            assert b"writes the archive has ended unexpectedly" in said
        crawl.finish()


def test_a_disk_that_is_full_again_and_again(tmp_path: Path) -> None:
    with (
        rig.tmpfs(tmp_path / "small", "300k") as small,
        shapes.disturbed("one_pattern", 300, tmp_path, small) as crawl,
    ):
        for size in (600, 1_200, 2_400, 4_800, 9_600, 19_200):
            life = crawl.start()
            _, said = life.communicate(timeout=30)
            if life.returncode == 0:
                break
            assert life.returncode == 1, said.decode()
            crawl.ends += 1
            options = f"remount,size={size}k"
            subprocess.run(["mount", "-o", options, str(small)], check=True)
        assert crawl.ends >= 2
        crawl.has_everything()
