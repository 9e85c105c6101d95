"""pywb shows what asof shows: of every capture the same status, type and bytes."""

from __future__ import annotations

import gzip
import http.client
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urljoin

import pytest

from support import crawled_thrice, rig
from support.crawled_thrice import Shown

pytestmark = pytest.mark.needs("replay")

REPLAY = Path(__file__).parents[2] / ".venv/replay/bin"
NOT_MODIFIED = "server-not-modified"


def run(*command: object, cwd: Path | None = None) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def collection(root: Path, name: str, files: list[Path], index: str = "") -> None:
    """A collection of pywb: with an index that is given, or by pywb's own."""
    if not index:
        run(REPLAY / "wb-manager", "init", name, cwd=root)
        run(REPLAY / "wb-manager", "add", name, *files, cwd=root)
        return
    folder = root / "collections" / name
    (folder / "archive").mkdir(parents=True)
    (folder / "indexes").mkdir()
    for path in files:
        shutil.copy(path, folder / "archive")
    (folder / "indexes/index.cdxj").write_text(index)


class Pywb:
    """A server of these collections."""

    def __init__(self, root: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        command = [REPLAY / "wayback", "--bind", "127.0.0.1", "--port", str(self._port)]
        self._process = subprocess.Popen(
            [str(REPLAY / "python"), *map(str, command)],
            cwd=root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        rig.wait_for(self._answers, 60, "pywb does not start")

    def _answers(self) -> bool:
        assert self._process.poll() is None, "pywb has ended"
        time.sleep(0.05)
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self._port)) == 0

    def shows(self, collection: str, wanted: Shown) -> Shown:
        """What it shows where asof shows that."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        connection.request("GET", f"/{collection}/{wanted.timestamp}id_/{wanted.url}")
        answer = connection.getresponse()
        body = answer.read()
        if answer.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        connection.close()
        is_redirect = 300 <= answer.status < 400
        location = urljoin(wanted.url, answer.headers.get("Location") or "") if is_redirect else ""
        return Shown(
            wanted.url, wanted.timestamp, answer.status,
            (answer.headers.get("Content-Type") or "").partition(";")[0],
            wanted.body if is_redirect else body,  # of a redirect it shows none, as a browser
            wanted.redirect if location.endswith(wanted.redirect or "?") else location or None,
            wanted.kind, wanted.profile,
        )  # fmt: skip

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(15)


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
