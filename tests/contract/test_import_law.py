"""The law of the tree: a module imports only what stands to its left, and time comes from a Clock.

The order is that of `tool.importlinter` in pyproject.toml; ARCHITECTURE.md explains it.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "asof"
LINTER = Path(sys.executable).with_name("lint-imports")

# Packages that belong to the rim. The rest of asof can be used without a terminal or a server; keys
# are handled in one room.
RIM = {
    "click": {"cli"},
    "cryptography": {"signing"},
    "rich": {"cli"},
    "jinja2": {"report", "web"},
    "starlette": {"web"},
    "uvicorn": {"web", "cli"},
}
WALL_CLOCKS = {
    "time.time",
    "time.time_ns",
    "time.sleep",
    "datetime.now",
    "datetime.today",
    "datetime.utcnow",
    "date.today",
}


def layers() -> Iterator[str]:
    """The modules that the law names, those of sub-rooms after their rooms."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in project["tool"]["importlinter"]["contracts"]:
        (container,) = contract["containers"]
        for layer in contract["layers"]:
            yield from (f"{container}.{name}" for name in layer.split(" : "))


def lint(folder: Path, source: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LINTER, "--no-cache", "--no-logo"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_every_import_points_to_the_left() -> None:
    done = lint(ROOT, SOURCE.parent)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with the same law whose modules are empty."""
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    for name in ("asof", *layers()):
        package = tmp_path / "src" / name.replace(".", "/")
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text("", encoding="utf-8")
    return tmp_path


def test_the_law_lets_a_lawful_tree_pass(tree: Path) -> None:
    (tree / "src" / "asof" / "cli" / "a.py").write_text("import asof.archive\n", encoding="utf-8")
    done = lint(tree, tree / "src")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("warc", "catalog"),
        ("model", "cli"),
        ("archive", "crawl"),
        ("text.kinds", "text.html"),
        ("cover.language", "cover.join"),
    ],
)
def test_the_law_forbids_an_import_to_the_right(tree: Path, module: str, imported: str) -> None:
    path = tree / "src" / "asof" / module.replace(".", "/") / "__init__.py"
    path.write_text(f"def late():\n    import asof.{imported}\n", encoding="utf-8")
    done = lint(tree, tree / "src")
    assert done.returncode == 1
    assert f"asof.{module} is not allowed to import asof.{imported}" in done.stdout


def test_the_law_forbids_a_module_without_a_place(tree: Path) -> None:
    (tree / "src" / "asof" / "attic.py").write_text("", encoding="utf-8")
    assert lint(tree, tree / "src").returncode == 1


@pytest.mark.parametrize("package", sorted(RIM))
def test_the_rim_stays_at_the_rim(package: str) -> None:
    users = {
        path.relative_to(SOURCE).with_suffix("").parts[0]
        for path in SOURCE.rglob("*.py")
        if package in set(_imports(path))
    }
    assert users <= RIM[package]


def test_only_the_clock_reads_the_time() -> None:
    readers = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path != SOURCE / "clock.py"
        for line, name in _names(path)
        if ".".join(name.split(".")[-2:]) in WALL_CLOCKS
    ]
    assert readers == []


def test_the_check_for_clocks_sees_them(tmp_path: Path) -> None:
    code = "import time, datetime\ntime.time()\ndatetime.datetime.now()\nself.clock.now()\n"
    (tmp_path / "a.py").write_text(code, encoding="utf-8")
    seen = {".".join(name.split(".")[-2:]) for _, name in _names(tmp_path / "a.py")}
    assert seen & WALL_CLOCKS == {"time.time", "datetime.now"}


def test_importing_asof_is_light() -> None:
    """Heavy extras are imported where they are used; a terminal and a server never."""
    heavy = ["pyarrow", *RIM]
    code = f"import asof, sys; print([name for name in {heavy} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def _names(path: Path) -> Iterator[tuple[int, str]]:
    """Dotted names such as `time.time`; for names of `from time import ...` as well."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
