"""Documentation that fails the tests when it lies."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click
import pytest

from asof.cli import group
from asof.coherence.lots import ONE_IN
from asof.config import Config
from asof.crawl import audit

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")])
ADRS = sorted(ROOT.glob("docs/adr/*.md"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_INLINE = re.compile(r"`([^`\n]+)`")
# Options of `asof crawl` that are about this run and set nothing.
_NO_SETTINGS = {"--archive", "--control", "--new", "--plan-only", "--quiet", "--json"}


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
    described = re.findall(r"^- \*\*`(\w+)(?:/|\.py)`\*\*", text, re.MULTILINE)
    assert sorted(described) == sorted(set(layers) - {"__main__"})


def test_the_architecture_is_a_page_to_be_read() -> None:
    lines = read(ROOT / "ARCHITECTURE.md").splitlines()
    assert len(lines) <= 200
    assert [line for line in lines if len(line) > 100] == []


def test_the_architecture_names_files_that_exist() -> None:
    text = read(ROOT / "ARCHITECTURE.md")
    named = set(re.findall(r"`((?:\w+/)*(?:\w+/|\w+\.py))`", text))
    files = [p.relative_to(ROOT) for top in ("src", "tests") for p in (ROOT / top).rglob("*.py")]
    folders = [p.relative_to(ROOT) for p in (ROOT / "src").rglob("*") if p.is_dir()]
    known = {f"/{path}" for path in files} | {f"/{path}/" for path in folders}
    archive = {"spool/", "control/", "derived/", "warc/"}  # of an archive, not of the project
    lost = [name for name in named - archive if not any(k.endswith(f"/{name}") for k in known)]
    assert lost == []


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
    context = click.Context(group)
    for words in (line.split() for line in _commands(page, "asof")):
        if len(words) < 2 or not re.fullmatch(r"[a-z-]+", words[1]) or words[1].startswith("-"):
            continue
        command = group.get_command(context, words[1])
        assert command is not None, f"{name_of(page)}: {' '.join(words)}"
        if isinstance(command, click.Group):  # `asof simulate coherence`
            command = command.get_command(context, words[2])
            assert command is not None, f"{name_of(page)}: {' '.join(words)}"
        known = {option for parameter in command.params for option in parameter.opts}
        used = {word.split("=")[0] for word in words[2:] if re.match(r"--?[a-z]", word)}
        assert used <= known | {"--help", "-h"}, f"{name_of(page)}: {' '.join(words)}"


def _commands(page: Path, program: str) -> Iterator[str]:
    """Commands in backticks, and those after a prompt in blocks for the terminal."""
    text = read(page)
    for body in [body for mark in ("console", "console run", "sh") for body in blocks(text, mark)]:
        for line in body.splitlines():
            command = line.removeprefix("$ ").split(" #")[0].removeprefix(".venv/bin/")
            if command.split(maxsplit=1)[:1] == [program]:
                yield command
    for code in _INLINE.findall(_FENCE.sub("", text)):
        if code.split(maxsplit=1)[:1] == [program]:
            yield code


def test_the_readme_has_a_row_for_every_command() -> None:
    """The table under "Use" names each command, and no other."""
    table = read(ROOT / "README.md").split("\n## Use\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `asof ")]
    named = [code.split()[1] for row in rows for code in _INLINE.findall(row)]
    assert set(named) == set(group.list_commands(click.Context(group)))


# -- Settings -----------------------------------------------------------------------------------


def test_the_page_of_settings_lists_each_with_its_default() -> None:
    """In the order of the code, with defaults as asof.toml would have them."""
    listed = {name: _default(name, default) for name, default, _ in _settings()}
    assert list(listed) == [field.name for field in fields(Config)]
    assert listed == {field.name: field.default for field in fields(Config)}


def test_the_page_of_settings_names_the_option_of_each() -> None:
    """Every option of `asof crawl` that sets something is named, and no other."""
    command = group.get_command(click.Context(group), "crawl")
    assert command is not None
    options = {option: parameter for parameter in command.params for option in parameter.opts}
    long = {option for option in options if option.startswith("--")}
    named = {option: name for name, _, option in _settings() if option}
    assert set(named) == long - _NO_SETTINGS
    # A flag may say no to its setting; any other option has the setting's name.
    assert all(getattr(options[option], "is_flag", False) or options[option].name == name
               for option, name in named.items())  # fmt: skip


def _settings() -> Iterator[tuple[str, str, str]]:
    """Name, default and option, as the tables have them."""
    row = re.compile(r"^\| `(\w+)` \| (unset|`[^`]+`) \| (?:`(--[\w-]+)`)? ?\| \S", re.MULTILINE)
    for name, default, option in row.findall(read(ROOT / "docs/settings.md")):
        yield name, default.strip("`"), option


def _default(name: str, text: str) -> object:
    if text == "unset":
        return None
    return getattr(Config().updated(tomllib.loads(f"{name} = {text}"), source="the page"), name)


def test_the_docs_tell_how_servers_are_checked() -> None:
    """One 304 in how many, up to what size bytes are asked for, how many probes: as in the code."""
    words = {10: "ten", 20: "twenty"}
    told = read(ROOT / "docs/coherence.md")
    assert f"304 answers one in {words[ONE_IN]} is *audited*" in told
    assert f"up to {audit.CHEAP >> 10} KB" in told
    assert f"{audit.PROBES} times in all" in told
    assert f"one in {words[ONE_IN]}" in (audit.__doc__ or "")


@every_page
def test_examples_of_settings_are_good(page: Path, tmp_path: Path) -> None:
    """What a page shows of asof.toml is read without complaint."""
    for example in blocks(read(page), "toml"):
        (tmp_path / "asof.toml").write_text(example, encoding="utf-8")
        Config.load(tmp_path, {})


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


GUIDE = ROOT / "docs/crawling.md"


@pytest.fixture(scope="module")
def guided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str]]]:
    """The commands of the guide, run in order in one folder; with what they say in its place."""
    folder = tmp_path_factory.mktemp("guide")
    serving, *_ = [line for body in blocks(read(GUIDE), "sh") for line in body.splitlines()]
    words = shlex.split(serving.replace("--port 8001", "--port 0"))
    assert words[:3] == ["python", "-m", "asof.testing"]
    site = subprocess.Popen([sys.executable, *words[1:]], stdout=subprocess.PIPE, text=True)
    try:
        assert site.stdout is not None
        surroundings = {k: v for k, v in os.environ.items() if not k.startswith("ASOF_")}
        surroundings |= {"ASOF_PROXY": site.stdout.readline().strip(), "ASOF_DELAY": "0"}
        said = [_say(command, folder, surroundings) for command, _ in _shown()]
        yield folder, said
    finally:
        site.terminate()
        site.communicate(timeout=60)


def _shown() -> list[tuple[str, str]]:
    """The commands of the guide that are to be run, each with the output that is shown."""
    parts = [body.split("$ ")[1:] for body in blocks(read(GUIDE), "console run")]
    pairs = [part.partition("\n") for body in parts for part in body]
    return [(command, output) for command, _, output in pairs]


def _say(command: str, folder: Path, surroundings: dict[str, str]) -> str:
    words = shlex.split(command)
    if words[0] == "asof":
        words[:1] = [sys.executable, "-m", "asof"]
    done = subprocess.run(
        words, cwd=folder, env=surroundings, timeout=120, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    return done.stdout


def test_the_guide_shows_what_its_commands_say(guided: tuple[Path, list[str]]) -> None:
    """Letter by letter, but for numbers and the order of lines where a site is crawled."""
    for (command, shown), said in zip(_shown(), guided[1], strict=True):
        if command.startswith("asof scope"):
            assert said == shown, command
        else:
            assert sorted(_without_numbers(said)) == sorted(_without_numbers(shown)), command


def _without_numbers(text: str) -> Iterator[str]:
    for line in text.splitlines():
        line = re.sub(r"\d{14}-[0-9a-f]{4}", "CRAWL", line)
        yield " ".join(re.sub(r"\d[\d.,: -]*( [kM]?B)?", "N ", line).split())


def test_the_guide_knows_the_events_of_the_log(guided: tuple[Path, list[str]]) -> None:
    """Each event that its crawls logged is in the table, with all of its fields."""
    row = re.compile(r"^\| (`\w+`(?:, `\w+`)*) \| (`[^|]+) \| ", re.MULTILINE)
    table = read(GUIDE).split("\n## The log of events\n")[1].split("\n## ")[0]
    known = {
        event: set(_INLINE.findall(names))
        for events, names in row.findall(table)
        for event in _INLINE.findall(events)
    }
    logs = sorted(guided[0].glob("*/logs/*.jsonl"))
    logged = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    assert {"started", "robots", "fetched", "ended"} <= {event["event"] for event in logged}
    for event in logged:
        assert event.keys() - {"at", "event"} <= known[event["event"]], event
