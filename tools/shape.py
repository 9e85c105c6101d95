"""The shape of the source: how long files and functions are, and what they are called.

python tools/shape.py [FOLDER]      (default: src/asof)

Ends with 1 and names every offender. Short files and functions are what made the pleasant projects
of this field pleasant: a median of 80 to 250 lines a file, hardly a function over 60.
"""

# ruff: noqa: T201 (a command prints)
from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 70
# Rooms without a subject, where everything ends up sooner or later.
VAGUE_NAMES = {"util", "helper", "common", "manager", "handler", "base"}


def main(folder: str = "src/asof") -> int:
    """Measure all Python files of a folder, print one line or the offenders."""
    root = Path(folder)
    files = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    if not files:
        print(f"{root} holds no Python files.", file=sys.stderr)
        return 1
    lengths = {path: len(text.splitlines()) for path, text in files.items()}
    functions = [each for path, text in files.items() for each in _functions(path, text)]
    problems = [
        *(f"{path}: {n} lines, at most {FILE_LINES}" for path, n in lengths.items()
          if n > FILE_LINES),
        *(f"{place}: {n} lines, at most {FUNCTION_LINES}" for n, place in functions
          if n > FUNCTION_LINES),
        *(f"{path}: name it after its subject" for path in files if _is_vague(path, root)),
    ]  # fmt: skip
    print("\n".join([*problems, _summary(lengths, functions)]))
    return 1 if problems else 0


def _functions(path: Path, text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            last = node.end_lineno or node.lineno
            yield last - node.lineno + 1, f"{path}:{node.lineno} {node.name}()"


def _is_vague(path: Path, root: Path) -> bool:
    names = path.relative_to(root).with_suffix("").parts
    return any(name.removesuffix("s") in VAGUE_NAMES for name in names)


def _summary(lengths: dict[Path, int], functions: list[tuple[int, str]]) -> str:
    median = statistics.median(n for n in lengths.values() if n)
    longest = max(lengths, key=lambda path: lengths[path])
    text = (
        f"{len(lengths)} files, median {median:.0f} lines, longest {lengths[longest]} ({longest})"
    )
    return f"{text}; {len(functions)} functions, longest {max(functions, default=(0, ''))[0]}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
