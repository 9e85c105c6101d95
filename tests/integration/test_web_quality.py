"""The live page of quality and its JSON: what the terminal says, at whatever pace it says it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator

from asof.clock import SystemClock
from asof.errors import UsageError
from asof.web.children import Child
from asof.web.questions import Answered, Questions, Waiting, leave
from support import many_captures, rig, served_archive
from support.rig import wait_for
from support.serve_command import served
from support.served_archive import CRAWL, Page, Server

HOME = "http://site.example/"
STORED = [
    Page(HOME, "2026-01-01T10:00:00Z", b"<p>one"),
    Page(HOME, "2026-02-01T10:00:00Z", b"<p>one"),
    Page(HOME + "news/", "2026-01-02T00:00:00Z", b"<p>old words"),
    Page(HOME + "news/", "2026-02-02T00:00:00Z", b"<p>quite other ones"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Called as the terminal calls it by itself: the commands that are proposed are the same.
    return served_archive.build(
        tmp_path_factory.mktemp("quality") / "archive", STORED, seeds=(HOME,)
    )


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Any]:
    with served_archive.serving(folder) as running:
        yield running


def asked(server: Any, target: str, status: int = 200) -> Any:
    """The answer, once it is there."""
    until = time.monotonic() + 30
    while (answer := server.ask(target)).status == 503 or answer.headers["Refresh"]:
        assert time.monotonic() < until
    assert answer.status == status, answer.text
    return answer


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", ()),
        (f"?crawl={CRAWL}", (CRAWL,)),
        ("?at=2026-01-15", ("--at", "2026-01-15")),
        (f"?prefix={HOME}news/", ("--url", f"{HOME}news/")),
        (f"?prefix={HOME}&crawl={CRAWL}", ("--url", HOME, CRAWL)),
    ],
)
def test_the_json_is_that_of_the_terminal(
    server: Any, folder: Path, query: str, words: tuple[str, ...]
) -> None:
    printed = rig.ok("quality", *words, "--json", cwd=folder.parent).out
    answer = asked(server, f"/-/api/quality{query}")
    assert json.loads(answer.body) == json.loads(printed)
    assert answer.headers["Content-Type"] == "application/json"
    described = json.loads(server.ask("/-/openapi.json").body)
    schema = {"$ref": "#/components/schemas/Quality", "components": described["components"]}
    Draft202012Validator(schema).validate(json.loads(answer.body))


def test_the_page_is_that_of_the_file(server: Any, folder: Path, tmp_path: Path) -> None:
    rig.ok("quality", "--html", tmp_path / "file.html", cwd=folder.parent)
    written = (tmp_path / "file.html").read_text().partition('<main id="main">')[2]
    report = written.rpartition("</main>")[0].strip()
    assert "coherence C" in report
    shown = asked(server, "/quality")
    assert report in shown.text
    assert shown.text.count("<main") == shown.text.count("<svg") - report.count("<svg") + 1 == 1
    assert 'class="masthead"' in shown.text
    assert str(folder) not in shown.text
    assert "script-src" not in shown.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        ("?at=someday", 400, "is not a moment"),
        ("?crawl=none", 400, "none"),
        ("?prefix=http://nowhere.example/", 404, "Nothing was captured"),
        ("?prefix=" + quote("<b>\x00"), 400, "cannot be asked"),
        ("?" + "crawl=a&" * 21, 400, "cannot be asked"),
        (f"?crawl={quote('--html=/etc/passwd')}", 400, "--html=/etc/passwd"),
    ],
)
def test_what_cannot_be_measured_is_told(server: Any, query: str, status: int, says: str) -> None:
    for path in ("/quality", "/-/api/quality"):
        answer = server.ask(path + query)
        assert answer.status == status
        assert says in answer.text
        assert "<b>" not in answer.text


def test_an_archive_without_a_crawl_has_nothing_to_say(tmp_path: Path) -> None:
    with served_archive.serving(many_captures.build(tmp_path / "archive", ())) as server:
        page = server.ask("/quality")
        assert page.status == 200
        assert "holds no crawl" in page.text
        assert str(tmp_path) not in page.text
        assert server.ask("/-/api/quality").status == 404


def test_now_becomes_a_moment_that_stays(server: Any) -> None:
    answer = server.ask(f"/quality?at=now&prefix={quote(HOME)}")
    assert answer.status == 303
    assert "at=20" in answer.headers["Location"]


@pytest.fixture
def questions(folder: Path, tmp_path: Path) -> Iterator[Questions]:
    yield Questions(tmp_path, folder, SystemClock())
    leave(tmp_path)
    assert not tmp_path.exists()


def test_who_does_not_wait_is_told_how_far_it_is_and_asked_once(
    questions: Questions, folder: Path
) -> None:
    first = questions.ask(["quality", "--json"], 1, patience=0)
    assert isinstance(first, Waiting)
    other = questions.ask(["quality", "--json", f"--url={HOME}"], 1, patience=0)
    assert isinstance(other, Waiting)
    assert other.said.startswith("Another question")
    assert other.refusal().status == 503
    found = questions.ask(["quality", "--json"], 1, patience=30)
    assert isinstance(found, Answered)
    text = found.text()
    assert json.loads(text)["crawl"] == CRAWL
    # Whatever was captured: within a minute it is the same answer.
    again = questions.ask(["quality", "--json"], 2, patience=0)
    assert isinstance(again, Answered)
    assert (again.text(), again.at) == (text, found.at)


def test_only_the_last_few_answers_are_kept(questions: Questions, tmp_path: Path) -> None:
    for verb in ("quality", "cover", "list", "show", "get", "text"):
        found = questions.ask([verb, "--help"], 1, patience=30)
        assert isinstance(found, Answered)
        assert f"asof {verb}" in found.text()
    ends = {end.stem for end in tmp_path.glob("*/*.end")}
    assert len(ends) == 4
    assert {each.name for each in tmp_path.glob("*/*") if not each.suffix} == ends | {"archive"}


def test_what_a_command_cannot_do_is_the_error_that_it_ends_with(questions: Questions) -> None:
    with pytest.raises(UsageError, match="someday"):
        questions.ask(["quality", "--at=someday"], 1, patience=30)
    with pytest.raises(UsageError, match="nothing"):
        questions.ask(["quality", "--", "nothing"], 1, patience=30)


def test_a_server_leaves_nothing_behind(folder: Path, tmp_path: Path) -> None:
    with served("-a", folder, env={"TMPDIR": str(tmp_path)}) as (base, _):
        server = Server(int(base.rpartition(":")[2]))
        pages = {asked(server, "/quality").text for _ in range(4)}  # whichever process answers
        assert len(pages) == 1
        (place,) = tmp_path.glob("asof-*")
        assert place.stat().st_mode & 0o77 == 0
        (end,) = place.glob("*/*.end")
        # A question that is still being answered ends with the server.
        Child(end.parent, "asking").begin(["serve", "-a", str(folder), "--port", "0"], {})
        pid = Child(end.parent, "asking").told()["pid"]
        assert Path(f"/proc/{pid}").exists()
    assert not list(tmp_path.glob("asof-*"))
    wait_for(lambda: not Path(f"/proc/{pid}/root").exists(), 5, "it ended")
