"""pywb shows what asof shows: of every capture the same status, type and bytes."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from support import crawled_thrice, rig
from support.crawled_thrice import Shown
from support.pywb import Pywb, collection, run

pytestmark = pytest.mark.needs("replay")

NOT_MODIFIED = "server-not-modified"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crawled_thrice.build(tmp_path_factory.mktemp("thrice"))


@pytest.fixture(scope="module")
def wanted(archive: Path) -> list[Shown]:
    return crawled_thrice.shown(archive)


@pytest.fixture(scope="module")
def pywb(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pywb]:
    root = tmp_path_factory.mktemp("pywb")
    files = rig.warcs(archive)
    collection(root, "own", files)
    indexer = Path(sys.executable).with_name("cdxj-indexer")
    collection(root, "indexer", files, run(indexer, "--sort", *files))
    exported = root / "all.cdxj"
    rig.ok("export", "--format", "cdxj", "-o", exported, "-a", archive)
    collection(root, "exported", files, exported.read_text())
    old = crawled_thrice.as_before(archive, root / "old")
    packed = root / "all.warc.gz"
    rig.ok("export", "--format", "warc", "-o", packed, "-a", old)
    rig.warcio_check([packed])
    collection(root, "before", [packed])
    server = Pywb(root)
    yield server
    server.close()


def test_the_archive_has_revisits_of_all_kinds(archive: Path, wanted: list[Shown]) -> None:
    rig.warcio_check(rig.warcs(archive))
    kinds = Counter((each.kind, each.profile, each.status) for each in wanted)
    assert kinds["revisit", NOT_MODIFIED, 200] >= 9
    for status in (200, 301, 302, 404, 500):
        assert kinds["response", None, status]
        assert kinds["revisit", "identical-payload-digest", status]


@pytest.mark.parametrize("name", ["own", "indexer", "exported", "before"])
def test_every_capture_is_shown_as_in_asof(pywb: Pywb, wanted: list[Shown], name: str) -> None:
    """By pywb's index, by that of cdxj-indexer, by ours; and what an earlier asof wrote, exported.

    pywb decodes what is chunked and asof what is packed, too: entities are compared.
    """
    different = [(theirs, ours) for ours in wanted if (theirs := pywb.shows(name, ours)) != ours]
    assert different == []


def test_an_archive_of_before_reads_the_same(
    archive: Path, wanted: list[Shown], tmp_path: Path
) -> None:
    old = crawled_thrice.shown(crawled_thrice.as_before(archive, tmp_path / "old"))
    assert [replace(each, kind="", profile="") for each in old] == [
        replace(each, kind="", profile="") for each in wanted
    ]
    assert Counter(each.kind for each in old) != Counter(each.kind for each in wanted)
