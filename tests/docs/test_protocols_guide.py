"""The examples of docs/protocols.md are asked of a real server, and answered as they say."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import served_archive
from support.served_archive import Page

GUIDE = Path(__file__).parents[2] / "docs/protocols.md"
HOME = "http://harbour.example/"
PAGES = [
    Page(HOME, "2026-01-01T10:00:00Z", b"<p>Boats"),
    Page(HOME, "2026-02-01T10:00:00Z", b"<p>Ships"),
    Page(HOME, "2026-03-01T10:00:00Z", same_as=(HOME, "2026-02-01T10:00:00Z")),
    Page(HOME + "pier", "2026-01-02T10:00:00Z", b"<p>None", status="404 Not Found"),
]


def examples() -> list[tuple[str, str]]:
    """Commands and what they print."""
    found: list[tuple[str, str]] = []
    for block in GUIDE.read_text(encoding="utf-8").split("```console run\n")[1:]:
        for part in block.partition("```")[0].removeprefix("$ ").split("\n$ "):
            command, _, printed = part.partition("\n")
            found.append((command, printed.strip("\n")))
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = served_archive.build(tmp_path_factory.mktemp("guide") / "archive", PAGES)
    with served_archive.serving(folder, files=True) as running:
        yield running


@pytest.mark.needs("curl")
@pytest.mark.parametrize(("command", "printed"), examples(), ids=lambda text: text[:60])
def test_the_guide_to_protocols_is_true(server: Any, command: str, printed: str) -> None:
    asked = command.replace("http://127.0.0.1:8080", server.url)
    done = subprocess.run(
        ["sh", "-c", asked], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace(server.url, "http://127.0.0.1:8080").strip("\n") == printed
