"""SIGKILL while the index is made: nothing is lost, and nothing is there twice."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from asof.api import Archive, import_files
from asof.change.texts import Texts
from asof.search.index import update
from asof.search.schema import NAME, open_for_reading, schema_of_names
from support import rig, said

# An asof that kills itself as a function begins, or when it has ended, for the nth time.
_WHEN = """
import importlib, os, signal, sys
from asof import cli
from asof.search import index
after, place, nth = sys.argv[1].partition(" ")[0] == "after", *sys.argv[1].split()[-1].split("#")
module, _, path = place.partition(":")
owner = importlib.import_module(module)
*owners, last = path.split(".")
for name in owners:
    owner = getattr(owner, name)
real, calls = getattr(owner, last), []
def seen(*args, **options):
    calls.append(1)
    hit = len(calls) == int(nth)
    if hit and not after:
        os.kill(os.getpid(), signal.SIGKILL)
    found = real(*args, **options)
    if hit and after:
        os.kill(os.getpid(), signal.SIGKILL)
    return found
setattr(owner, last, seen)
index._COMMIT = index._BATCH = 20
cli.main(sys.argv[2:])
"""
ENTRIES, WORK = "asof.search.entries:Entries", "asof.search.index:_Work"
NAMES = "asof.search.pointers:NameWriter"
MOMENTS = [
    f"{ENTRIES}.begin#1", f"after {ENTRIES}.begin#1", f"{WORK}.enter#2", f"{WORK}._add#3",
    f"{WORK}.commit#1", f"{NAMES}.commit#1", f"after {NAMES}.commit#2",
    f"{ENTRIES}.put#1", f"after {ENTRIES}.put#1", f"{ENTRIES}.put#2",
    f"{ENTRIES}.wait#2", f"{WORK}.commit#3", f"{ENTRIES}.saw#1", f"after {ENTRIES}.saw#1",
    f"{WORK}.ended#1", f"{ENTRIES}.begin#2",
]  # fmt: skip
HISTORIES = [said.histories(seed, pages=30) for seed in (1, 2)]


def made(archive: Path, every: Iterable[said.Said], name: str) -> Path:
    """An archive to which these were added, its documents read."""
    archive.parent.mkdir(exist_ok=True)
    import_files(archive, said.write(every, archive.with_name(name)))
    with Archive.open(archive) as opened, Texts(opened, writable=True) as texts:
        texts.read_documents(1)
    return archive


# Contents, and names by the words of each: how often there are.
Held = Counter[tuple[str, int, int | None] | str]


def held(archive: Path) -> Held:
    """All that the index holds, how often."""
    with Archive.open(archive) as opened:
        found = opened.search("minutes", fold=False, limit=5_000)
        assert found.complete
        assert found.found == found.indexed
        told: Held = Counter((hit.url, hit.since, hit.ended) for hit in found.hits)
    names = open_for_reading(archive / "derived" / "search" / "names", schema_of_names())
    for word in said.WORDS:
        told[word] = names.searcher().doc_freq(NAME, word)
    return told


def finished(archive: Path) -> Held:
    with Archive.open(archive) as opened, Texts(opened) as texts:
        update(opened, texts)
    return held(archive)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Held]:
    """One without an index, one whose index lacks half of it, and what either has to hold."""
    place = tmp_path_factory.mktemp("archives")
    renamed = [
        said.Said(each.url.replace("/page/", "/second/"), each.at, each.status, each.words)
        for each in HISTORIES[1]
    ]
    first = sorted([*HISTORIES[0][::2], *renamed[::2]], key=lambda each: each.at)
    rest = sorted([*HISTORIES[0][1::2], *renamed[1::2]], key=lambda each: each.at)
    half = made(place / "half" / "archive", first, "1.warc.gz")
    finished(half)
    made(half, rest, "2.warc.gz")
    whole = place / "whole" / "archive"
    shutil.copytree(half, whole)
    shutil.rmtree(whole / "derived" / "search")
    undisturbed = place / "undisturbed"
    shutil.copytree(whole, undisturbed)
    return whole, half, finished(undisturbed)


def test_the_index_holds_each_content_once(archives: tuple[Path, Path, Held]) -> None:
    names = [archives[2][word] for word in said.WORDS]
    assert all(names)
    # Ways to call one address by a word of six, and one or two others.
    assert max(names) <= 1 + 2 * 5 + 3 * 5 * 4
    assert {count for what, count in archives[2].items() if what not in said.WORDS} == {1}
    assert len(archives[2]) > 80


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("start", [0, 1], ids=["anew", "half"])
def test_killed_at(
    tmp_path: Path, archives: tuple[Path, Path, Held], start: int, moment: str
) -> None:
    archive = tmp_path / "archive"
    shutil.copytree(archives[:2][start], archive)
    words = ["reindex", "--search", "-a", str(archive)]
    killed = subprocess.run(
        [sys.executable, "-c", _WHEN, moment, *words], capture_output=True, timeout=60, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert finished(archive) == archives[2]


@pytest.mark.parametrize("kills", [6, pytest.param(100, marks=pytest.mark.long)])
def test_killed_again_and_again(
    tmp_path: Path, archives: tuple[Path, Path, Held], kills: int
) -> None:
    """At any time, without an end in between."""
    archive, chance = tmp_path / "archive", random.Random(kills)
    shutil.copytree(archives[0], archive)
    for _ in range(kills):
        life = rig.start("reindex", "--search", "-a", archive)
        time.sleep(chance.uniform(0.3, 1.5))
        life.kill()
        life.communicate()
    assert finished(archive) == archives[2]
