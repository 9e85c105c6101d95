"""One style, one template engine, one way to tell a number: on every page, file and terminal."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "asof"
SHEET = SOURCE / "report" / "static" / "asof.css"
PAGES = [path for room in ("report", "web") for path in sorted((SOURCE / room).rglob("*.py"))]
TEMPLATES = sorted(SOURCE.rglob("templates/**/*.html"))
# Made for a drawing by matplotlib, which knows no style sheet; its axes have round shares only.
DRAWING = SOURCE / "report" / "figure9.py"
TAG = re.compile(r"</?[a-z][a-z0-9]*(?:[ />]|$)")
COLOUR = re.compile(r"(?<!&)#[0-9a-fA-F]{3,8}\b|\brgb\(|\bhsl\(")


def strings(path: Path) -> Iterator[str]:
    """What is written between quotes, docstrings left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def test_there_is_one_style_sheet() -> None:
    # The made-up newspaper that tests crawl has one of its own.
    made_up = SOURCE / "testing" / "gazette.css"
    assert set(SOURCE.rglob("*.css")) - {made_up} == {SHEET}
    inside = {path.name for path in TEMPLATES if "<style" in path.read_text(encoding="utf-8")}
    # A file that is sent around carries the sheet.
    assert inside == {"file.html"}


def test_markup_is_written_in_templates_only() -> None:
    found = [(path.name, text) for path in PAGES for text in strings(path) if TAG.search(text)]
    assert found == []


def test_every_page_has_the_same_frame() -> None:
    parts = {
        "quality_pictures.html",
        "cover_parts.html",
        "crawl_parts.html",
        "difference_parts.html",
        "moment_parts.html",
        "thumbnail_parts.html",
        "paging.html",
        "token_field.html",
        "boot.html",
        "sentence.html",
        "calendar.html",
    }
    for path in TEMPLATES:
        text = path.read_text(encoding="utf-8")
        assert (path.name in parts) != ("{% extends" in text or path.name == "frame.html")
        assert "|safe" not in text.replace(" ", "")


def test_colours_are_named_once_and_in_both_schemes() -> None:
    sheet = SHEET.read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"(--[a-z-]+): ([^;]+);", part)) for part in roots(sheet))
    coloured = {name for name, value in light.items() if COLOUR.search(value)}
    assert coloured == dark.keys()
    assert set(re.findall(r"var\((--[a-z-]+)\)", sheet)) == light.keys()
    rest = re.sub(r":root \{.*?\}", "", sheet, flags=re.DOTALL).replace("rgb(0 0 0 / .04)", "")
    assert COLOUR.search(rest) is None


def roots(sheet: str) -> list[str]:
    found = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)
    return [part for part in found if "--paper" in part]


def test_every_rule_ends_where_it_should() -> None:
    """A brace that is missing takes all that follows into a width or a medium."""
    depth = 0
    for line in SHEET.read_text(encoding="utf-8").splitlines():
        assert depth == 0 or not re.match(r"[/@.a-z\[:]", line), line
        depth += line.count("{") - line.count("}")
    assert depth == 0


def test_no_page_has_colours_of_its_own() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in TEMPLATES}
    texts |= {path: "\n".join(strings(path)) for path in PAGES if path != DRAWING}
    assert [path.name for path, text in texts.items() if COLOUR.search(text)] == []


def test_what_the_style_names_is_on_some_page() -> None:
    """Names of grades and of states are written into templates from values."""
    values = {
        "confirmed", "claimed", "equivalent", "unknown", "running", "interrupted", "finished",
        "violated", "missing",
        "visit", "again", "s3", "s4", "s5", "shade1", "shade2", "shade3", "shade4",
    }  # fmt: skip
    sheet = re.sub(r"/\*.*?\*/", "", SHEET.read_text(encoding="utf-8"), flags=re.DOTALL)
    selectors = " ".join(re.findall(r"([^{};]+)\{", sheet))
    named = set(re.findall(r"\.([a-z][a-z0-9]*)", selectors))
    written = "\n".join(path.read_text(encoding="utf-8") for path in TEMPLATES)
    assert {name for name in named - values if not re.search(rf"\b{name}\b", written)} == set()


def test_a_share_is_told_by_one_function() -> None:
    """A format such as `.1%` rounds up: of 9,996 in 10,000 it says that nothing is missing."""
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path != DRAWING
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FormattedValue)
        and node.format_spec is not None
        and ast.unparse(node.format_spec).rstrip("'\"").endswith("%")
    ]
    assert found == []


def test_what_prints_no_page_loads_no_templates() -> None:
    modules = (
        "asof.cli.quality", "asof.cli.documents", "asof.cli.cover", "asof.cli.serve",
        "asof.report.quality_text", "asof.report.quality_json", "asof.report.difference_terminal",
        "asof.report.cover_words", "asof.report.words",
    )  # fmt: skip
    code = f"import sys, {', '.join(modules)}; print('jinja2' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
