"""Covers run, stopped and deleted from a browser: by who has the token, and one at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.clock import SystemClock
from asof.cover.kept.saved_covers import cover_names, load_cover
from asof.web.app import create_app
from support import cover_desk, rig, served_archive
from support.cover_desk import RULE, ended, held, order, run_of
from support.rig import wait_for

ORDERS = ("start", "stop", "delete")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return cover_desk.build(tmp_path / "archive")


@pytest.fixture
def server(folder: Path) -> Iterator[Any]:
    with cover_desk.serving(folder) as running:
        yield running


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_without_the_token_nothing_changes(server: Any, folder: Path) -> None:
    rig.ok("cover", RULE, "--save", "kept", "-a", folder)
    before = files_of(folder)
    for what in ORDERS:
        for token in ("", "wrong", cover_desk.TOKEN[:-1]):
            answer = order(server, what, token=token, name="kept", relation=RULE)
            assert answer.status == 401, what
            assert "--control" in answer.text
        assert server.ask(f"/-/do/cover/{what}").status in (404, 405)
    assert files_of(folder) == before
    assert run_of(server)["state"] == "none"


def test_a_server_without_a_token_takes_no_orders(folder: Path) -> None:
    with cover_desk.serving(folder, token="") as server:
        for what in ORDERS:
            assert order(server, what, token="", name="x", relation=RULE).status == 405
        assert "/-/do/" not in server.ask("/covers").text


def test_a_run_saves_what_the_terminal_would(server: Any, folder: Path) -> None:
    rule = "J(d1,d2) >= 0.2 and hostname(d1) = hostname(d2)"
    asked = {"relation": rule, "where": "length(d) > 20", "at-least": "4 per hostname", "k": "3"}
    answer = order(server, "start", name="mine", **asked, prefer="recency")
    assert (answer.status, answer.headers["Location"]) == (303, "/covers")
    told = ended(server)
    components = json.loads(server.ask("/-/openapi.json").body)["components"]
    schema = {"$ref": "#/components/schemas/CoverRun", "components": components}
    Draft202012Validator(schema).validate(told)
    assert (told["state"], told["name"], told["relation"]) == ("saved", "mine", rule)
    words = ("--where", asked["where"], "--at-least", "4 per hostname", "--prefer", "recency")
    rig.ok("cover", rule, *words, "-k3", "--save", "theirs", "-a", folder)
    mine, theirs = (load_cover(Folder(folder), name) for name in ("mine", "theirs"))
    assert (mine.kept, mine.dropped) == (theirs.kept, theirs.dropped)
    assert mine.facts.question == theirs.facts.question
    assert 'href="/covers/mine"' in server.ask("/covers").text


def test_there_is_one_run_at_a_time_and_it_outlives_the_server(folder: Path) -> None:
    with cover_desk.serving(folder) as server:
        order(server, "start", name="long", relation=RULE)
        with held(folder):
            assert run_of(server)["state"] == "running"
            again = order(server, "start", name="other", relation=RULE)
            assert again.status == 409
            assert "being made already" in again.text
            assert order(server, "delete", name="long").status == 409
            with cover_desk.serving(folder) as after:
                assert run_of(after)["name"] == "long"
                page = after.ask("/covers").text
                assert "long</h2>" in page
                assert 'action="/-/do/cover/stop"' in page
    with cover_desk.serving(folder) as after:
        assert ended(after)["state"] == "saved"
    assert cover_names(Folder(folder)) == ["long"]


def test_a_run_is_stopped(server: Any, folder: Path) -> None:
    order(server, "start", name="unwanted", relation=RULE)
    with held(folder):
        assert order(server, "stop").status == 303
        assert run_of(server)["state"] == "stopping"
    assert ended(server)["state"] == "stopped"
    assert cover_names(Folder(folder)) == []
    assert "was stopped before" in server.ask("/covers").text
    order(server, "start", name="wanted", relation=RULE)
    assert ended(server)["state"] == "saved"
    assert order(server, "stop").status == 303  # nothing is there to be stopped
    assert run_of(server)["state"] == "saved"


def test_what_goes_wrong_is_told(server: Any, folder: Path) -> None:
    nowhere = 'url(d) = "http://nowhere.example/"'
    order(server, "start", name="none", relation=RULE, where=nowhere)
    told = ended(server)
    assert told["state"] == "failed"
    assert "holds no such documents" in told["said"]
    assert str(folder) not in told["said"]
    assert "holds no such documents" in server.ask("/covers").text


@pytest.mark.parametrize(
    "name", ["../out", "a b", "-" * 81, ".hidden", "<b>", "--html=/tmp/x y", "a/b", "x\0"]
)
def test_no_name_leads_elsewhere(server: Any, folder: Path, name: str) -> None:
    before = files_of(folder)
    assert order(server, "start", name=name, relation=RULE).status == 400
    assert order(server, "delete", name=name).status == 400
    assert files_of(folder) == before


def test_a_name_may_look_like_an_option(server: Any, folder: Path) -> None:
    order(server, "start", name="--json", relation=RULE)
    assert ended(server)["state"] == "saved"
    assert cover_names(Folder(folder)) == ["--json"]
    assert order(server, "start", name="--json", relation=RULE).status == 409


@pytest.mark.parametrize("field", ["relation", "where", "at-least", "prefer", "k", "text"])
def test_a_wrong_rule_goes_back_to_the_desk(server: Any, folder: Path, field: str) -> None:
    fields = {"relation": RULE, field: "--table=/etc/passwd"}
    answer = order(server, "start", name="x", **fields)
    assert answer.status == 303
    page = server.ask(answer.headers["Location"])
    assert page.status == 400
    assert "--table=/etc/passwd" in page.text
    assert not (folder / "derived/cover/run.json").exists()


def test_fields_that_no_form_has_mean_nothing(server: Any, folder: Path) -> None:
    fields = {"table": "/etc/passwd", "from": "/etc/passwd", "csv": str(folder / "x"), "again": "x"}
    order(server, "start", name="plain", relation=RULE, **fields)
    assert ended(server)["state"] == "saved"
    question = load_cover(Folder(folder), "plain").facts.question
    assert question is not None
    assert question.table is None
    assert not (folder / "x").exists()


def test_a_cover_is_deleted_by_its_name(server: Any, folder: Path) -> None:
    order(server, "start", name="gone", relation=RULE)
    assert ended(server)["state"] == "saved"
    assert "Delete gone" in server.ask("/covers/gone").text
    answer = order(server, "delete", name="gone")
    assert (answer.status, answer.headers["Location"]) == (303, "/covers")
    assert cover_names(Folder(folder)) == []
    assert run_of(server)["state"] == "none"
    assert order(server, "delete", name="gone").status == 400


def test_an_archive_from_others_has_no_run_to_be_stopped(server: Any, folder: Path) -> None:
    """What lies in it may name any process: only who holds the lock is signalled."""
    place = folder / "derived/cover"
    place.mkdir(parents=True)
    for text in (
        '{"pid": 1, "name": "x"}',
        "[]",
        "{",
        '{"pid": -1, "name": 7, "since": []}',
        "[" * 99,
    ):
        (place / "run.json").write_text(text)
        assert run_of(server)["state"] == "none"
        assert order(server, "stop").status == 303
        assert server.ask("/covers").status == 200
    (place / "run.json").write_text(
        '{"pid": 1, "name": "<b>x", "since": "2026-01-01T00:00:00Z", "relation": "<i>"}'
    )
    page = server.ask("/covers").text
    assert "&lt;b&gt;x" in page
    assert "<b>x" not in page


def test_each_of_several_archives_has_its_own(folder: Path, tmp_path: Path) -> None:
    other, clock = cover_desk.build(tmp_path / "other"), SystemClock()
    with ExitStack() as held_open:
        archives = [held_open.enter_context(OpenArchive.open(each)) for each in (folder, other)]
        app = create_app(archives, clock, root="/web", token=cover_desk.TOKEN)
        server = held_open.enter_context(served_archive.running(app))
        below = "/web/other"
        answer = order(server, "start", place=f"{below}/-/do/cover", name="mine", relation=RULE)
        assert answer.headers["Location"] == f"{below}/covers"
        target = f"{below}/-/api/cover/run"
        wait_for(lambda: '"saved"' in server.ask(target).text, 30, "the run is over")
        assert cover_names(Folder(other)) == ["mine"]
        assert cover_names(Folder(folder)) == []
        page = server.ask(f"{below}/covers/mine").text
        for link in ("covers/mine/table.csv", "-/api/cover?name=mine", "-/do/cover/delete"):
            assert f'"{below}/{link}"' in page
        listed = server.ask(f"{below}/covers/mine/reading-list.html").text
        assert f'<a href="{server.url}{below}/2026' in listed
        assert order(server, "start", name="x", relation=RULE).status in (404, 405)
