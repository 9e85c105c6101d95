"""The shape of source and tests: how long files and functions are, and what they are called.

python tools/shape.py [FOLDER ...]      (default: src/asof and tests)

Ends with 1 and names every offender. Short files and functions are what made the pleasant projects
of this field pleasant: a median of 80 to 250 lines a file, hardly a function over 60.
"""

# ruff: noqa: T201 (a command prints)
from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Rooms without a subject, where everything ends up sooner or later.
VAGUE_NAMES = {"util", "helper", "common", "manager", "handler", "base"}
LONG = 40  # lines of a function that needs a reason


@dataclass(frozen=True)
class Law:
    """The most of everything, in lines where nothing else is said."""

    file: int
    function: int
    long_functions: int | None = None  # how many functions may be longer than LONG
    protocols: int | None = None  # how many there may be: one for each two implementations
    python: int | None = None
    c: int | None = None


SOURCE = Law(400, 70, long_functions=10, protocols=6, python=75_000, c=3_000)
TESTS = Law(1_000, 70)


@dataclass(frozen=True)
class Shape:
    """What a folder comes to; functions and protocols with their places."""

    root: Path
    files: dict[Path, int]
    functions: list[tuple[int, str]]
    protocols: list[str]
    c: int

    @property
    def python(self) -> int:
        return sum(self.files.values())

    @property
    def long_functions(self) -> list[str]:
        return [f"{place}: {n} lines" for n, place in sorted(self.functions)[::-1] if n > LONG]


def main(*folders: str) -> int:
    """Measure all Python files of some folders; print the offenders, and a line for each folder."""
    found = [_judged(Path(folder)) for folder in folders or ("tests", "src/asof")]
    return 0 if all(found) else 1


def _judged(root: Path) -> bool:
    shape = _measured(root)
    if not shape.files:
        print(f"{root} holds no Python files.", file=sys.stderr)
        return False
    problems = list(_problems(shape, TESTS if root.name == "tests" else SOURCE))
    print("\n".join([*problems, _summary(shape)]))
    return not problems


def _measured(root: Path) -> Shape:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    code = [path for kind in ("*.c", "*.h") for path in root.rglob(kind)]
    return Shape(
        root,
        {path: len(text.splitlines()) for path, text in texts.items()},
        [each for path, tree in trees.items() for each in _functions(path, tree)],
        [each for path, tree in trees.items() for each in _protocols(path, tree)],
        sum(len(path.read_text(encoding="utf-8").splitlines()) for path in code),
    )


def _functions(path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            last = node.end_lineno or node.lineno
            yield last - node.lineno + 1, f"{path}:{node.lineno} {node.name}()"


def _protocols(path: Path, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            # asyncio.Protocol is another thing.
            bases = {ast.unparse(base).split("[")[0] for base in node.bases}
            if bases & {"Protocol", "typing.Protocol"}:
                yield f"{path}:{node.lineno} {node.name}"


def _problems(shape: Shape, law: Law) -> Iterator[str]:
    for path, n in shape.files.items():
        if n > law.file:
            yield f"{path}: {n} lines, at most {law.file}"
        names = path.relative_to(shape.root).with_suffix("").parts
        if any(name.removesuffix("s") in VAGUE_NAMES for name in names):
            yield f"{path}: name it after its subject"
    for n, place in shape.functions:
        if n > law.function:
            yield f"{place}: {n} lines, at most {law.function}"
    long = shape.long_functions
    if law.long_functions is not None and len(long) > law.long_functions:
        yield from (
            f"{len(long)} functions over {LONG} lines, at most {law.long_functions}:",
            *long,
        )
    if law.protocols is not None and len(shape.protocols) > law.protocols:
        count = len(shape.protocols)
        yield from (f"{count} protocols, at most {law.protocols}:", *shape.protocols)
    if law.python is not None and shape.python > law.python:
        yield f"{shape.root}: {shape.python} lines of Python, at most {law.python}"
    if law.c is not None and shape.c > law.c:
        yield f"{shape.root}: {shape.c} lines of C, at most {law.c}"


def _summary(shape: Shape) -> str:
    median = statistics.median(n for n in shape.files.values() if n)
    longest = max(shape.files, key=lambda path: shape.files[path])
    return "; ".join(
        [
            f"{shape.root}: {len(shape.files)} files, {shape.python} lines of Python"
            + (f", {shape.c} of C" if shape.c else ""),
            f"median {median:.0f}, longest {shape.files[longest]} ({longest.name})",
            f"{len(shape.functions)} functions, longest {max(shape.functions, default=(0, ''))[0]}"
            f", {len(shape.long_functions)} over {LONG}",
            f"{len(shape.protocols)} protocols",
        ]
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
