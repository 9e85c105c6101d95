"""Documentation that fails the tests when it lies."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")])
ADRS = sorted(ROOT.glob("docs/adr/*.md"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_INLINE = re.compile(r"`([^`\n]+)`")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(text: str, mark: str) -> list[str]:
    return [body for info, body in _FENCE.findall(text) if info.strip() == mark]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


# -- Links and structure ------------------------------------------------------------------------


@every_page
def test_relative_links_lead_somewhere(page: Path) -> None:
    prose = _FENCE.sub("", read(page))
    for link in _LINK.findall(prose):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{name_of(page)} links to {link}"
        if anchor:
            assert anchor in set(_anchors(target)), f"{name_of(page)} links to {link}"


def _anchors(page: Path) -> Iterator[str]:
    """The anchors that GitHub gives to headings."""
    for heading in re.findall(r"^#+ +(.*?) *$", _FENCE.sub("", read(page)), re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_readme_fits_on_a_few_screens() -> None:
    assert len(read(ROOT / "README.md").splitlines()) <= 120


def test_the_changelog_speaks_of_this_version_or_the_next() -> None:
    changelog = read(ROOT / "CHANGELOG.md")
    sections = re.findall(r"^## \[([^\]]+)\]( - \d{4}-\d\d-\d\d)?$", changelog, re.MULTILINE)
    names = [name for name, _ in sections]
    assert "Unreleased" in names or PROJECT["project"]["version"] in names
    assert all(date for name, date in sections if name != "Unreleased")
    kinds = re.findall(r"^### (.*)$", changelog, re.MULTILINE)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_decisions_are_numbered_without_gaps() -> None:
    assert [path.name[:5] for path in ADRS] == [f"{n:04d}-" for n in range(1, len(ADRS) + 1)]


@pytest.mark.parametrize("adr", ADRS, ids=name_of)
def test_a_decision_is_short_and_rests_on_a_number(adr: Path) -> None:
    text = read(adr)
    assert len(text.splitlines()) <= 40
    assert text.startswith(f"# {adr.name[:4]}. ")
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert sections == ["Question", "Decision", "Numbers", "Consequences"]
    numbers = text.split("## Numbers")[1].split("## ")[0]
    assert re.search(r"\d", numbers)


# -- What the pages say about the code ----------------------------------------------------------


def test_the_architecture_has_a_paragraph_for_every_layer_and_no_other() -> None:
    text = read(ROOT / "ARCHITECTURE.md")
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    described = re.findall(r"^\*\*`(\w+)(?:/|\.py)`\*\*", text, re.MULTILINE)
    assert sorted(described) == sorted(set(layers) - {"__main__"})


def test_the_architecture_draws_the_layers_in_the_order_of_the_law() -> None:
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    flow = [name for name in reversed(layers) if name != "__main__"]
    drawn = re.findall(r"\w+", blocks(read(ROOT / "ARCHITECTURE.md"), "text")[0])
    assert drawn == flow


@every_page
def test_commands_of_make_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+)(?: [a-z -]+)?:", read(ROOT / "Makefile"), re.MULTILINE))
    used = [words.split() for words in _commands(page, "make")]
    wrong = [words for words in used if len(words) > 1 and words[1] not in targets]
    assert wrong == []


@every_page
def test_paths_of_the_repository_exist(page: Path) -> None:
    paths = re.findall(r"`((?:src|tests|docs|bench|tools|\.ci)/[\w./-]+)`", read(page))
    assert [path for path in paths if not (ROOT / path).exists()] == []


@every_page
def test_commands_of_asof_exist_with_their_options(page: Path) -> None:
    from asof.cli import group

    context = click.Context(group)
    for words in (line.split() for line in _commands(page, "asof")):
        if len(words) < 2 or not re.fullmatch(r"[a-z-]+", words[1]) or words[1].startswith("-"):
            continue
        command = group.get_command(context, words[1])
        assert command is not None, f"{name_of(page)}: {' '.join(words)}"
        known = {option for parameter in command.params for option in parameter.opts}
        used = {word.split("=")[0] for word in words[2:] if re.match(r"--?[a-z]", word)}
        assert used <= known | {"--help", "-h"}, f"{name_of(page)}: {' '.join(words)}"


def _commands(page: Path, program: str) -> Iterator[str]:
    """Commands in backticks, and those after a prompt in blocks for the terminal."""
    text = read(page)
    for body in blocks(text, "console") + blocks(text, "sh"):
        for line in body.splitlines():
            command = line.removeprefix("$ ").split(" #")[0].removeprefix(".venv/bin/")
            if command.split(maxsplit=1)[:1] == [program]:
                yield command
    for code in _INLINE.findall(_FENCE.sub("", text)):
        if code.split(maxsplit=1)[:1] == [program]:
            yield code


# -- Examples run -------------------------------------------------------------------------------


def test_the_examples_of_the_readme_run(tmp_path: Path) -> None:
    """In order, as one program, beside the archive that `asof demo` makes."""
    examples = blocks(read(ROOT / "README.md"), "python run")
    assert examples
    demo = [sys.executable, "-m", "asof", "demo", "--no-serve", "-a", "archive"]
    _run(demo, tmp_path)
    _run([sys.executable, "-W", "error", "-c", "\n".join(examples)], tmp_path)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
