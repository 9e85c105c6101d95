"""The shape of the tree: short files and functions, honest names, pinned versions."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def shape(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "shape.py", folder],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("folder", ["src/asof", "tests"])
def test_source_and_tests_keep_their_shape(folder: str) -> None:
    done = shape(ROOT / folder)
    assert done.returncode == 0, done.stdout
    assert "median" in done.stdout


@pytest.mark.parametrize(
    ("name", "code", "complaint"),
    [
        ("long.py", "x = 1\n" * 401, "long.py: 401 lines, at most 400"),
        ("deep.py", "def f():\n" + "    x = 1\n" * 70, "deep.py:1 f(): 71 lines, at most 70"),
        ("a.py", "class A:\n  async def f(self):\n" + "    x = 1\n" * 70, "a.py:2 f(): 71 lines"),
        (
            "some.py",
            "".join(f"def f{n}():\n" + "    x = 1\n" * 40 for n in range(30)),
            "30 functions over 40 lines, at most",
        ),
        (
            "kinds.py",
            "".join(f"class P{n}(Protocol[T]):\n    x: int\n" for n in range(30)),
            "30 protocols, at most",
        ),
        ("all.py", "x = 1\n" * 100_000, ": 100000 lines of Python, at most"),
        ("utils.py", "x = 1\n", "utils.py: name it after its subject"),
        ("common/url.py", "x = 1\n", "url.py: name it after its subject"),
    ],
)
def test_what_is_out_of_shape_is_named(
    tmp_path: Path, name: str, code: str, complaint: str
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(code, encoding="utf-8")
    done = shape(tmp_path)
    assert done.returncode == 1
    assert complaint in done.stdout


def test_the_limits_themselves_are_allowed(tmp_path: Path) -> None:
    body = "def f():\n" + "    x = 1\n" * 69
    (tmp_path / "fine.py").write_text(body + "x = 1\n" * 330, encoding="utf-8")
    assert shape(tmp_path).returncode == 0


def test_c_is_counted(tmp_path: Path) -> None:
    (tmp_path / "fine.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "_fast.c").write_text("int x;\n" * 4_000, encoding="utf-8")
    done = shape(tmp_path)
    assert done.returncode == 1
    assert ": 4000 lines of C, at most" in done.stdout


def test_tests_may_be_longer(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_much.py").write_text("x = 1\n" * 1_000, encoding="utf-8")
    assert shape(folder).returncode == 0
    (folder / "test_more.py").write_text("x = 1\n" * 1_001, encoding="utf-8")
    done = shape(folder)
    assert done.returncode == 1
    assert "test_more.py: 1001 lines, at most 1000" in done.stdout


def test_an_empty_folder_does_not_pass_for_a_good_one(tmp_path: Path) -> None:
    assert shape(tmp_path).returncode == 1


class TestConstraints:
    @pytest.fixture
    def pins(self) -> list[str]:
        lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line and not line.startswith("#")]

    def test_every_line_pins_one_version_and_holds_no_address(self, pins: list[str]) -> None:
        for line in pins:
            assert re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*( ; [\w .'!=<>]+)?", line), line

    def test_every_dependency_is_pinned(self, pins: list[str]) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = project["optional-dependencies"].values()
        wanted = [*project["dependencies"], *(need for extra in extras for need in extra)]
        names = {re.split(r"[\[><=; ]", need)[0] for need in wanted} - {project["name"]}
        assert names <= {line.split("==")[0] for line in pins}
