"""Commands that fail or are ended leave no half file, no temporary one and no process behind."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import DEVNULL, Popen
from uuid import UUID

import pytest

from support import rig

FORMATS = ("warc", "cdxj", "parquet", "trec", "wacz", "files")
RECORDS = 3_000
ENDS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def response(number: int) -> bytes:
    body = os.urandom(4000)
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    head = (
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{UUID(int=number)}>\r\n"
        f"WARC-Target-URI: http://a.example/{number}\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + block + b"\r\n\r\n", 1)


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some 12 MB: enough that reading it takes more than one process, and some time."""
    path = tmp_path_factory.mktemp("foreign") / "many.warc.gz"
    with path.open("wb") as file:
        file.writelines(map(response, range(RECORDS)))
    return path


@pytest.fixture(scope="module")
def archive(foreign: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive") / "archive"
    rig.ok("import", foreign, "-a", folder)
    return folder


def begun(process: Popen[bytes], has_begun: Callable[[], bool]) -> None:
    """Wait until there is something that could be left behind."""
    deadline = time.monotonic() + 30
    while not has_begun() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    assert process.poll() is None, "too fast to be ended"


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("number", [*ENDS, signal.SIGKILL])
def test_an_export_that_is_ended(
    archive: Path, tmp_path: Path, kind: str, number: signal.Signals
) -> None:
    """Of one that was killed, the next removes what is left; not what another is writing."""
    words = ("export", "--format", kind, "-o", tmp_path / f"out.{kind}", "-a", archive)
    process = rig.start(*words, stdout=DEVNULL, stderr=DEVNULL)
    begun(process, lambda: any(tmp_path.iterdir()))
    code = rig.end(process, number)
    if number in ENDS:
        assert code == ENDS[number]
        assert list(tmp_path.iterdir()) == []
    # A mirror of all takes its time, and is looked at elsewhere.
    rig.ok(*words, *(("--url", "http://a.example/1") if kind == "files" else ()))
    assert [path.name for path in tmp_path.iterdir()] == [f"out.{kind}"]


@pytest.mark.parametrize("kind", FORMATS)
def test_an_export_without_room(archive: Path, tmp_path: Path, kind: str) -> None:
    words = ("export", "--format", kind, "-o", tmp_path / "out", "-a", archive)
    result = rig.run(*words, limits={"FSIZE": 100_000})
    assert result.code == 1, str(result)
    assert "cannot be written" in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["quality", "--html"], ["quality", "--certificate"]])
def test_a_report_without_room(archive: Path, tmp_path: Path, words: list[str]) -> None:
    result = rig.run(*words, tmp_path / "out", "-a", archive, limits={"FSIZE": 2_000})
    assert result.code in (1, 2), str(result)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [*ENDS, signal.SIGKILL])
def test_an_import_that_is_ended(foreign: Path, tmp_path: Path, number: signal.Signals) -> None:
    """The file is in the archive as a whole or not at all, and nothing of it lies about."""
    archive = tmp_path / "archive"
    process = rig.start("import", foreign, "-a", archive, stdout=DEVNULL, stderr=DEVNULL)
    begun(process, lambda: (archive / "spool").exists())
    rig.end(process, number)
    if number is signal.SIGKILL:
        rig.ok("import", foreign, "-a", archive)
    elif not archive.exists():  # it was made for this import, and goes with it
        return
    assert [path.name for path in (archive / "warc").iterdir() if path.suffix == ".part"] == []
    assert list((archive / "spool").glob("*")) == []
    assert len(rig.warcs(archive)) * RECORDS == len(rig.rows_of(archive))


def test_another_writer_of_the_same_file_is_left_alone(archive: Path, tmp_path: Path) -> None:
    words = ("export", "--format", "wacz", "-o", tmp_path / "out", "-a", archive)
    first = rig.start(*words, stdout=DEVNULL, stderr=DEVNULL)
    begun(first, lambda: any(tmp_path.iterdir()))
    rig.ok("export", "--format", "cdxj", "-o", tmp_path / "out", "-a", archive)
    assert first.wait(30) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks /proc for processes")
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core, one process")
def test_workers_do_not_outlive_a_killed_command(archive: Path, tmp_path: Path) -> None:
    shutil.copytree(archive, tmp_path / "archive")
    words = ("check", "-a", tmp_path / "archive")
    process = rig.start(*words, stdout=DEVNULL, stderr=DEVNULL)
    begun(process, lambda: len(rig.family(process.pid)) > 2)
    workers = rig.family(process.pid)[1:]
    rig.end(process, signal.SIGKILL)
    try:
        rig.wait_for(lambda: not any(map(alive, workers)), 5, "the end of its workers")
    finally:
        for pid in filter(alive, workers):
            os.kill(pid, signal.SIGKILL)
