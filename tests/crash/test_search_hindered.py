"""Search where nothing can be written, and an index that is interrupted by hand or deleted."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from asof import index
from asof.api import Archive, import_files
from asof.change.texts import Texts
from asof.errors import ArchiveError
from asof.search import index as indexing
from asof.search.index import update
from support import rig, said


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("said")
    every = said.histories(3, pages=30)
    import_files(place / "archive", said.write(every, place / "all.warc.gz"))
    index(place / "archive")
    return place / "archive"


def minutes(archive: Path) -> tuple[int, bool]:
    answer = rig.ok("search", "minutes", "-a", archive, "--json").json()
    return answer["found"], answer["complete"]


def test_a_disk_that_is_full_or_read_only_is_searched(tmp_path: Path, archive: Path) -> None:
    whole = minutes(archive)
    with rig.tmpfs(tmp_path / "small", "4m") as small:
        copy = small / "archive"
        shutil.copytree(archive, copy)
        filler = small / "filler"
        with pytest.raises(OSError, match="No space"):
            filler.write_bytes(b"\0" * (5 << 20))
        assert minutes(copy) == whole
        filler.unlink()
        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
        assert minutes(copy) == whole
        done = rig.run("reindex", "--search", "-a", copy)
        assert (done.code, done.err.count("\n")) == (2, 1), done
        assert "cannot be written (Read-only" in done.err


def test_what_was_entered_before_an_interruption_stays(
    tmp_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy)
    shutil.rmtree(copy / "derived" / "search")
    monkeypatch.setattr(indexing, "_BATCH", 10)

    def interrupt(keys: int) -> None:
        raise KeyboardInterrupt

    with Archive.open(copy) as opened, Texts(opened) as texts:
        with pytest.raises(KeyboardInterrupt):
            update(opened, texts, interrupt)
        began = opened.search("minutes").indexed
        assert began >= 10
        rest = update(opened, texts)
        assert rest.entered == rest.indexed - began
    assert minutes(copy) == minutes(archive)


def test_an_index_that_is_deleted_under_a_searcher_is_told(tmp_path: Path, archive: Path) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy)
    with Archive.open(copy) as opened:
        found = opened.search("minutes").found
        shutil.rmtree(copy / "derived" / "search")
        with pytest.raises(ArchiveError, match="reindex --search"):
            opened.search("minutes")
        index(copy)
        assert opened.search("minutes").found == found
