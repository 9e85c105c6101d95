"""A catalog may come from strangers, as the archive does: no name in it is believed as a path."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import asof
from asof.archive.folder import Folder
from asof.errors import ArchiveError
from support import rig
from support.forge import Rec, recs
from support.rig import Server, page

PRECIOUS = b"what must not be touched\n"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with rig.site({"/": page("a page of text that goes on for some words"), "/x": page("x")}) as up:
        yield up


@pytest.fixture(scope="module")
def original(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    archive = tmp_path_factory.mktemp("original") / "archive"
    rig.crawl(archive, f"{server.url}/")
    return archive


@pytest.fixture
def archive(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "archive")
    return tmp_path / "archive"


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "precious.warc.gz"
    path.write_bytes(PRECIOUS)
    return path


def packed(path: Path, *records: Rec) -> Path:
    path.write_bytes(b"".join(each.gz() for each in records))
    return path


def change(archive: Path, *statements: tuple[str, *tuple[object, ...]]) -> None:
    with sqlite3.connect(archive / "asof.db") as db:
        for sql, *values in statements:
            db.execute(sql, values)
    db.close()


INTERRUPTED = ("UPDATE crawls SET state = 'interrupted', ended = NULL",)
OPEN = (
    "INSERT INTO segments (no, file, crawl, committed, sealed) SELECT 77, ?, no, 0, 0 FROM crawls"
)


def refused(*words: object) -> None:
    result = rig.run(*words, timeout=30)
    assert result.code == 2, str(result)
    assert "asof reindex" in result.err, str(result)
    assert len(result.err.strip().splitlines()) == 1, str(result)


@pytest.mark.parametrize("form", ["{}", "../../{.name}", "../{.name}", "a\0{.name}", ""])
def test_no_crawl_goes_on_with_a_file_elsewhere(archive: Path, precious: Path, form: str) -> None:
    change(archive, INTERRUPTED, (OPEN, form.format(precious)))
    shutil.copy(precious, archive / "precious.warc.gz")
    refused("crawl", "-a", archive, "--delay", "0")
    assert precious.read_bytes() == (archive / "precious.warc.gz").read_bytes() == PRECIOUS
    rig.ok("reindex", "-a", archive)
    rig.ok("check", "-a", archive)


@pytest.mark.parametrize("name", ["000009-{}.warc.gz", "000009-import-a.warc.gz"])
def test_a_crawl_goes_on_with_none_but_its_own(archive: Path, precious: Path, name: str) -> None:
    """What a catalog says of a file does not make it one of the crawl, nor shorter than it is."""
    (segment,) = rig.warcs(archive)
    file = archive / "warc" / name.format(segment.name.partition("-")[2].partition(".")[0])
    packed(precious, *recs(2)).rename(file)
    before = file.read_bytes()
    forget = (
        "CREATE TRIGGER forget AFTER UPDATE ON segments WHEN new.no = 77 AND new.committed "
        "BEGIN UPDATE segments SET committed = 0, sealed = 0 WHERE no = 77; END",
    )
    change(archive, INTERRUPTED, (OPEN, file.name), forget)
    rig.ok("crawl", "-a", archive, "--delay", "0")
    assert file.read_bytes() == before


@pytest.mark.parametrize("behind", ["file", "folder"])
def test_what_lies_behind_a_link_is_not_gone_on_with(
    archive: Path, tmp_path: Path, behind: str
) -> None:
    (segment,) = rig.warcs(archive)
    linked = segment if behind == "file" else segment.parent
    there = linked.rename(tmp_path / "there")
    linked.symlink_to(there)
    before = segment.read_bytes()
    change(archive, INTERRUPTED, ("UPDATE segments SET sealed = 0",))
    rig.ok("crawl", "-a", archive, "--delay", "0")
    assert segment.read_bytes() == before
    assert len(rig.warcs(archive)) == 2
    torn = segment.write_bytes(before + before[:100]) and segment.read_bytes()
    rig.remove_database(archive)
    rig.run("crawl", "-a", archive, "--delay", "0")
    assert segment.read_bytes() == torn


def test_the_id_of_a_crawl_leads_nowhere(archive: Path, tmp_path: Path) -> None:
    (archive / "warc" / "000002-x").mkdir()
    change(archive, INTERRUPTED, ("UPDATE crawls SET id = 'x/../../../made'",))
    refused("crawl", "-a", archive, "--delay", "0")
    rig.ok("status", "-a", archive)
    assert not list(tmp_path.glob("made*"))
    with pytest.raises(ArchiveError):
        Folder(archive).new_segment("x/../../../made")


@pytest.mark.parametrize("elsewhere", ["../../other/warc/", "{}/other/warc/"])
def test_nothing_of_another_archive_is_shown_or_packed(
    archive: Path, server: Server, tmp_path: Path, elsewhere: str
) -> None:
    other = tmp_path / "other"
    rig.ok("import", packed(tmp_path / "s.warc.gz", *recs(1)), "-a", other)
    (file,) = rig.warcs(other)
    (url,) = (row["url"] for row in rig.rows_of(other))
    name = elsewhere.format(tmp_path) + file.name
    shutil.copy(other / "asof.db", archive / "asof.db")
    change(archive, ("UPDATE segments SET file = ?", name))
    for words in (
        ["get", url], ["check"], ["export", "--format", "wacz", "-o", tmp_path / "o.wacz"],
        ["export", "--format", "warc", "-o", tmp_path / "o.warc.gz"],
        ["crawl", f"{server.url}/"], ["import", file], ["cover", "J(d1,d2) >= 0.5"],
    ):  # fmt: skip
        refused(*words, "-a", archive)
    assert not list(tmp_path.glob("o.*"))


def test_names_become_paths_in_one_place() -> None:
    """A second way would have to be as careful, and is not."""
    root = Path(asof.__file__).parent
    ways = re.compile(r"\bwarc(?:_dir)? / |joinpath\(.*\.file\b")
    found = [path.name for path in root.rglob("*.py") if ways.search(path.read_text("utf-8"))]
    assert found == ["file_names.py"]
