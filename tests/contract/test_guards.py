"""The rules of tests/conftest.py, proven by small test runs of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]

NEEDS = """
import pytest

@pytest.mark.needs("no-such-program")
def test_program():
    pass

@pytest.mark.needs("module:no_such_module")
def test_module():
    pass

@pytest.mark.needs("module:json")
def test_module_that_is_there():
    pass
"""

REACHING_OUT = """
import asyncio, socket
import pytest

def test_plain_socket():
    with socket.socket() as sock, pytest.raises(AssertionError):
        sock.connect(("192.0.2.1", 80))

def test_hidden_in_a_broad_except():
    with socket.socket() as sock:
        try:
            sock.connect_ex(("example.com", 80))
        except Exception:
            pass

def test_asyncio():
    with pytest.raises(AssertionError):
        asyncio.run(connect("192.0.2.1"))

def test_uvloop():
    uvloop = pytest.importorskip("uvloop")
    with pytest.raises(AssertionError):
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(connect("192.0.2.1"))

async def connect(host):
    await asyncio.open_connection(host, 80)
"""

STAYING_HOME = """
import asyncio, socket
import pytest

@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "::1"])
def test_loopback(host):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as sock:
        assert sock.connect_ex((host, 1)) != 0

def test_unix_socket(tmp_path):
    with socket.socket(socket.AF_UNIX) as sock, pytest.raises(FileNotFoundError):
        sock.connect(str(tmp_path / "none"))

def test_uvloop():
    uvloop = pytest.importorskip("uvloop")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        with pytest.raises(OSError):
            runner.run(asyncio.open_connection("127.0.0.1", 1))
"""


def run(folder: Path, code: str, *options: str, ci: bool = False) -> str:
    shutil.copy(TESTS / "conftest.py", folder)
    listed = (TESTS / "needs.txt").read_text(encoding="utf-8")
    (folder / "needs.txt").write_text(f"{listed}no-such-program its-package\n", encoding="utf-8")
    (folder / "test_it.py").write_text(code, encoding="utf-8")
    marker = ["-o", "markers=needs(name): x", "-p", "no:cacheprovider", "-ra", "-q"]
    environment = os.environ | {"CI": "true" if ci else ""}
    # A worker of pytest-xdist hands its own state down by environment.
    environment = {key: value for key, value in environment.items() if "PYTEST" not in key}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *marker, *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    ).stdout


def test_a_user_without_a_part_gets_a_notice(tmp_path: Path) -> None:
    told = run(tmp_path, NEEDS)
    assert "needs no-such-program: apt-get install its-package" in told
    assert "needs the Python module no_such_module" in told
    assert "1 passed, 2 skipped" in told


def test_in_ci_nothing_may_be_missing(tmp_path: Path) -> None:
    told = run(tmp_path, NEEDS, ci=True)
    assert "needs no-such-program: apt-get install its-package" in told
    assert "1 passed, 2 errors" in told


def test_a_program_that_nobody_listed_is_a_mistake(tmp_path: Path) -> None:
    told = run(tmp_path, NEEDS.replace("no-such-program", "unlisted"))
    assert "add the program to tests/needs.txt" in told


def test_a_connection_to_another_machine_fails_the_test(tmp_path: Path) -> None:
    told = run(tmp_path, REACHING_OUT)
    assert told.count("reached out to ('192.0.2.1', 80)") >= 3
    assert "reached out to ('example.com', 80)" in told
    assert "4 errors" in told


def test_loopback_and_unix_sockets_are_free(tmp_path: Path) -> None:
    assert "6 passed" in run(tmp_path, STAYING_HOME)


def test_long_tests_start_first(tmp_path: Path) -> None:
    for folder in ("contract", "integration", "unit"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"test_{folder}.py").write_text("def test_it(): pass\n")
    told = run(tmp_path, "def test_it(): pass", "-vv")
    order = [line.split("::")[0] for line in told.splitlines() if "PASSED" in line]
    assert order[0] == "integration/test_integration.py"
    assert len(order) == 4
