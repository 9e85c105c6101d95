"""The lock of an archive: one writer, and patience with one that is about to let go."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from asof.archive import folder as module
from asof.archive.folder import Folder
from asof.errors import ArchiveError


@pytest.fixture
def home(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "archive")
    made.create()
    return made


class Holder:
    """Another writer, who lets go when so much time has been waited for."""

    def __init__(self, home: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
        self.handle = os.open(home.root / ".lock", os.O_RDWR | os.O_CREAT)
        os.write(self.handle, b"`asof import` (process 7)\n")
        fcntl.flock(self.handle, fcntl.LOCK_EX)
        self.waited = 0.0
        self.lets_go_after = float("inf")
        monkeypatch.setattr(module, "nap", self.nap)

    def nap(self, seconds: float) -> None:
        self.waited += seconds
        if self.waited >= self.lets_go_after:
            fcntl.flock(self.handle, fcntl.LOCK_UN)


@pytest.fixture
def holder(home: Folder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holder]:
    made = Holder(home, monkeypatch)
    yield made
    os.close(made.handle)


def test_a_free_lock_is_taken_at_once(home: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "nap", lambda seconds: pytest.fail("waited"))
    with home.lock("crawl"):
        assert home.is_locked()
        text = (home.root / ".lock").read_text()
        assert text == f"`asof crawl` (process {os.getpid()})\n"
    assert not home.is_locked()


def test_one_that_asks_whether_there_is_a_lock_is_waited_for(home: Folder, holder: Holder) -> None:
    """It holds the lock for a moment: a thousandth of a second is enough."""
    holder.lets_go_after = 0.001
    with home.lock("crawl"):
        assert holder.waited == 0.001


@pytest.mark.parametrize("seconds", [0.01, 0.1, 0.5, 1.0, 1.4, 1.9])
def test_a_writer_that_ends_within_two_seconds_is_waited_for(
    home: Folder, holder: Holder, seconds: float
) -> None:
    """A crawl that was killed may hold the lock while its last group is committed."""
    holder.lets_go_after = seconds
    with home.lock("crawl"):
        assert seconds <= holder.waited <= 2.0
        assert "asof crawl" in (home.root / ".lock").read_text()


def test_a_writer_that_stays_is_named_after_two_seconds(home: Folder, holder: Holder) -> None:
    with pytest.raises(ArchiveError) as caught, home.lock("crawl"):
        pytest.fail("two writers")
    assert caught.value.what == f"{home.root} is in use by `asof import` (process 7)."
    assert "Wait until it has finished" in caught.value.hint
    assert 1.5 <= holder.waited <= 2.0
    assert "asof import" in (home.root / ".lock").read_text(), "the holder's word stays"


def test_a_refused_lock_leaves_no_file_open(home: Folder, holder: Holder) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(ArchiveError), home.lock("crawl"):
            pytest.fail("two writers")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_copy_of_the_process_holds_the_lock_as_well(home: Folder) -> None:
    """The writer beside a crawl: when the crawl is gone, its group is still to be committed."""
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from asof.archive.folder import Folder\n"
        "with Folder(Path(sys.argv[1])).lock('crawl'):\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
        "    sys.stdin.read()\n"
    )
    words = [sys.executable, "-c", script, str(home.root)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE)
    assert process.wait(20) == 0
    assert home.is_locked()
    assert process.stdin is not None
    process.stdin.close()
    with home.lock("crawl"):
        assert home.is_locked()
