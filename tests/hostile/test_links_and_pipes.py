"""Archives come from anywhere, and so do links, pipes and sockets in them.

Nothing is written through a link: what lies behind it is as it was, and the command says so in a
sentence. What is no file is not waited for.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import rig
from support.rig import Server, page

PRECIOUS = b"what must not be touched\n"
FOLDERS = ("control", "derived", "logs", "spool")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with rig.site({"/": page("a page of text that goes on for some words"), "/x": page("x")}) as up:
        yield up


@pytest.fixture(scope="module")
def original(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    archive = tmp_path_factory.mktemp("original") / "archive"
    rig.crawl(archive, f"{server.url}/")
    rig.ok("reindex", "--text", "-a", archive)
    return archive


@pytest.fixture
def archive(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "archive")
    return tmp_path / "archive"


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "precious"
    path.write_bytes(PRECIOUS)
    return path


def link(path: Path, to: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(to)


def refuses(*words: object, named: str, code: int = 2) -> None:
    result = rig.run(*words, timeout=30)
    assert result.code == code, str(result)
    assert named in result.err, str(result)
    assert "ymbolic link" in result.err, str(result)
    assert len(result.err.strip().splitlines()) == 1, str(result)


def test_the_lock_is_no_link(archive: Path, precious: Path, server: Server) -> None:
    link(archive / ".lock", precious)
    refuses("crawl", f"{server.url}/", "-a", archive, named=".lock")
    refuses("reindex", "-a", archive, named=".lock")
    assert precious.read_bytes() == PRECIOUS


def test_the_database_is_no_link(archive: Path, server: Server, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    link(archive / "asof.db", elsewhere)
    refuses("crawl", f"{server.url}/", "-a", archive, named="asof.db")
    assert not elsewhere.exists()
    rig.ok("reindex", "-a", archive)  # puts a database in the place of the link
    assert not elsewhere.exists()
    assert not (archive / "asof.db").is_symlink()


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_is_written_to_is_no_link(
    archive: Path, server: Server, tmp_path: Path, name: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious").write_bytes(PRECIOUS)
    link(archive / name, other)
    for words in (["crawl", f"{server.url}/"], ["reindex", "--text"], ["quality"]):
        refuses(*words, "-a", archive, named=f"archive/{name}")
    assert [path.name for path in other.iterdir()] == ["precious"]
    assert (other / "precious").read_bytes() == PRECIOUS


def test_a_folder_deep_inside_is_no_link(archive: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    link(archive / "derived" / "covers", other)
    refuses("cover", "J(d1,d2) >= 0.5", "--save", "a", "-a", archive, named="derived/covers")
    assert list(other.iterdir()) == []


def test_the_log_of_a_crawl_is_no_link(archive: Path, precious: Path, server: Server) -> None:
    """The crawl goes on without it: nothing reads it back."""
    (log,) = (archive / "logs").iterdir()
    link(log, precious)
    rig.ok("crawl", f"{server.url}/", "--new", "-a", archive, "--delay", "0")
    assert precious.read_bytes() == PRECIOUS


def test_texts_are_not_written_through_a_link(archive: Path, tmp_path: Path) -> None:
    for name in ("text.db", ".text.db.lock"):
        elsewhere = tmp_path / "elsewhere"
        kept = (archive / "derived" / name).read_bytes()
        link(archive / "derived" / name, elsewhere)
        refuses("reindex", "--text", "-a", archive, named=name)
        assert not elsewhere.exists()
        (archive / "derived" / name).unlink()
        (archive / "derived" / name).write_bytes(kept)


def test_a_file_behind_a_link_is_not_cut(archive: Path, tmp_path: Path, server: Server) -> None:
    """A torn tail is cut off a file of ours; what a link leads to is read, and left as it is."""
    (segment,) = rig.warcs(archive)
    elsewhere = tmp_path / "elsewhere.warc.gz"
    data = segment.read_bytes() + segment.read_bytes()[:100]
    elsewhere.write_bytes(data)
    link(segment, elsewhere)
    rig.remove_database(archive)
    rig.ok("crawl", f"{server.url}/x", "--new", "-a", archive, "--delay", "0")
    assert elsewhere.read_bytes() == data
    assert f"{server.url}/" in {row["url"] for row in rig.rows_of(archive)}


def test_the_archive_and_its_warc_folder_may_be_links(
    archive: Path, server: Server, tmp_path: Path
) -> None:
    """People keep files on larger disks. What is not ours stays there."""
    (archive / "warc").rename(tmp_path / "disk")
    (tmp_path / "disk" / "download.part").write_bytes(PRECIOUS)
    link(archive / "warc", tmp_path / "disk")
    (tmp_path / "link").symlink_to(archive)
    rig.ok("crawl", f"{server.url}/x", "-a", tmp_path / "link", "--delay", "0")
    assert f"{server.url}/x" in {row["url"] for row in rig.rows_of(archive)}
    assert (tmp_path / "disk" / "download.part").read_bytes() == PRECIOUS


@pytest.mark.parametrize(
    "words",
    [
        ("export", "--format", "cdxj", "-o"),
        ("export", "--format", "wacz", "-o"),
        ("quality", "--html"),
        ("get", "{url}", "-o"),
        ("diff", "{url}", "-o"),
    ],
)
def test_what_comes_out_does_not_follow_a_link(
    archive: Path, precious: Path, server: Server, tmp_path: Path, words: tuple[str, ...]
) -> None:
    rig.crawl(archive, f"{server.url}/", "--new")
    link(tmp_path / "out", precious)
    said = [word.format(url=f"{server.url}/") for word in words]
    result = rig.run(*said, tmp_path / "out", "-a", archive)
    assert result.code == 2, str(result)
    assert "out" in result.err
    assert precious.read_bytes() == PRECIOUS
    dangling = tmp_path / "nowhere"
    link(tmp_path / "out", dangling)
    refuses(*said, tmp_path / "out", "-a", archive, named="out")
    assert not dangling.exists()


def test_what_is_open_already_may_be_named(archive: Path, tmp_path: Path) -> None:
    """/dev/stdout is a link, too, whatever it leads to."""
    for words in (["quality", "--html", "/dev/stdout"], ["quality", "--html", os.devnull]):
        rig.ok(*words, "-a", archive)


def odd_thing(path: Path, kind: str) -> None:
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder"])
def test_what_is_no_file_in_the_warc_folder_is_named(
    archive: Path, server: Server, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No command waits for it, and those that need no look at it go on."""
    monkeypatch.chdir(archive / "warc")  # the address of a socket is short
    odd_thing(Path("000009-odd.warc.gz"), kind)
    for words in (["reindex"], ["check"], ["crawl", f"{server.url}/"]):
        result = rig.run(*words, "-a", archive, timeout=30)
        assert result.code in (1, 2), str(result)
        assert "000009-odd.warc.gz" in result.err + result.out.decode(), str(result)
    rig.ok("list", "-a", archive)
    rig.ok("get", f"{server.url}/", "-a", archive)


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_what_is_no_file_is_not_imported(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    odd_thing(Path("odd.warc.gz"), kind)
    result = rig.run("import", "odd.warc.gz", "-a", tmp_path / "new", timeout=30)
    assert result.code == 2, str(result)
    assert "odd.warc.gz" in result.err
    assert not (tmp_path / "new").exists()


def test_a_pipe_for_a_lock_holds_nobody_up(archive: Path, server: Server) -> None:
    (archive / ".lock").unlink()
    os.mkfifo(archive / ".lock")
    result = rig.run("crawl", f"{server.url}/", "-a", archive, timeout=30)
    assert result.code == 2, str(result)
    assert ".lock" in result.err
    rig.ok("list", "-a", archive, timeout=30)
    rig.ok("status", "-a", archive, timeout=30)


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
@pytest.mark.parametrize("name", ["asof.db", "asof.db-journal"])
def test_what_is_no_database_holds_nobody_up(
    archive: Path, server: Server, name: str, kind: str
) -> None:
    (archive / name).unlink(missing_ok=True)
    if kind == "device":
        (archive / name).symlink_to("/dev/zero")
    else:
        odd_thing(archive / name, kind)
    for words in (["reindex"], ["crawl", f"{server.url}/"], ["list"], ["status"]):
        result = rig.run(*words, "-a", archive, timeout=30)
        assert result.code == 2, str(result)
        assert "asof.db" in result.err, str(result)
        assert len(result.err.strip().splitlines()) == 1, str(result)


@pytest.mark.parametrize("name", ["text.db", "inventory.db", "covers/a.json", "cover/*", "trust/*"])
def test_a_pipe_for_what_is_derived_holds_nobody_up(archive: Path, name: str) -> None:
    commands = (
        ["cover", "J(d1,d2) >= 0.5", "--save", "a"], ["cover", "--list"], ["cover", "--again", "a"],
        ["list", "--json"],
        ["quality"], ["reindex", "--text"], ["status"],
    )  # fmt: skip
    for words in commands:
        rig.run(*words, "-a", archive, timeout=30)
    found = [path for path in (archive / "derived").glob(name) if path.is_file()]
    for path in found or [archive / "derived" / name]:
        if "*" not in path.name:
            path.unlink(missing_ok=True)
            path.parent.mkdir(exist_ok=True)
            os.mkfifo(path)
    for words in commands:
        result = rig.run(*words, "-a", archive, timeout=30)
        assert result.code in (0, 1, 2), str(result)
        assert "Traceback" not in result.err, str(result)
