"""The JSON API: what the pages show, in the shapes of the terminal, as its description says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from asof.archive import OpenArchive, stocktaking
from asof.clock import SystemClock
from asof.cover.question import Question
from asof.web.app import create_app
from support import many_captures, rig, served_archive
from support.served_archive import Page

HOME = "http://site.example/"
STORED = [
    Page(HOME, "2026-01-01T10:00:00Z", b"<p>one"),
    Page(HOME, "2026-02-01T10:00:00Z", b"<p>one"),
    Page(HOME, "2026-03-01T10:00:00.250000Z", b"<p>two", headers=(("ETag", '"2"'),)),
    Page(HOME + "again", "2026-01-02T00:00:00Z", b"<p>kept"),
    Page(HOME + "again", "2026-01-09T00:00:00Z", same_as=(HOME + "again", "2026-01-02")),
    Page(HOME + "moved", "2026-01-02T00:00:00Z", status="302 Found", headers=(("Location", "/"),)),
    Page("https://other.example/%C3%BC", "2026-01-02T00:00:00Z", b"<p>other"),
]
COVER: Any = {
    "format": 2, "name": "small", "relation": "C(d1,d2) >= 0.8", "documents": 2, "kept": 1,
    "size": 9, "size_kept": 5, "edges": 1, "components": 1, "optimal": True, "gap": 0,
    "complete": True, "seconds": 0.1, "numbers": False, "at": None,
    "question": asdict(Question("C(d1,d2) >= 0.8", table="/srv/private/table.csv")),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("api") / "archive"
    served_archive.build(folder, STORED, seeds=(HOME,))
    covers = folder / "derived/covers"
    covers.mkdir(parents=True)
    body = '"names": ["a"],\n"dropped": [["b", "a", 1.0, 0.9, 0.9]]'
    (covers / "small.json").write_text(f"{json.dumps(COVER)[:-1]},\n{body}}}\n")
    (covers / "torn.json").write_text("{")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Any]:
    with served_archive.serving(folder, files=True) as running:
        yield running


@pytest.fixture(scope="module")
def described(server: Any) -> Any:
    return json.loads(server.ask("/-/openapi.json").body)


def asked(server: Any, target: str, status: int = 200) -> Any:
    answer = server.ask(target)
    assert answer.status == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    return json.loads(answer.body)


def check(described: Any, path: str, value: Any, status: str = "200") -> None:
    """Whether an answer has the shape that is described."""
    answer = described["paths"][path]["get"]["responses"][status]
    if "$ref" in answer:
        answer = described["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    schema = answer["content"]["application/json"]["schema"]
    whole = {**schema, "components": described["components"]}
    Draft202012Validator(whole).validate(value)


def test_the_description_is_openapi(described: Any, server: Any) -> None:
    validate(described)
    assert described["servers"] == [{"url": server.url}]


def test_every_address_for_programs_is_described(described: Any, folder: Path) -> None:
    """And nothing is described that is not there."""
    with OpenArchive.open(folder) as archive:
        gate: Any = create_app([archive], SystemClock(), files=True)
        routes = {getattr(route, "path", "") for route in gate.app._app.routes}
    known = {path.replace(":rest}", "}") for path in routes}
    mine = {path for path in known if path.startswith(("/-/api", "/-/warc", "/cdx", "/time"))}
    mine = (mine - {"/cdx/", "/timemap/{kind}/{url}"}) | {
        "/timemap/link/{url}", "/timemap/json/{url}",
    }  # fmt: skip
    assert set(described["paths"]) == mine | {"/-/openapi.json", "/{stamp}/{url}"}


@pytest.mark.parametrize(
    "target",
    [
        "/-/api/archive", "/-/api/hosts", "/-/api/hosts?limit=1", "/-/api/urls", "/-/api/covers",
        "/-/api/urls?prefix=site.example", "/-/api/urls?prefix=none.example",
        "/-/api/crawls", "/-/api/crawls?before=none", "/-/api/crawl",
        f"/-/api/captures?url={HOME}", f"/-/api/captures?url={HOME}again",
        f"/-/api/captures?url={HOME}&from=2026-02&to=2026-02", "/-/api/history?url=site.example",
        f"/-/api/history?url={HOME}moved", f"/-/api/calendar?url={HOME}",
        f"/-/api/calendar?url={HOME}&year=1999", f"/timemap/json/{HOME}",
        f"/-/api/composition?url={HOME}&at=20260215", f"/-/api/composition?url={HOME}again",
        f"/-/api/compare?url={HOME}&from=202601&to=202603", f"/-/api/site?url={HOME}&at=202602",
        "/-/api/site?url=none.example", "/-/api/site?url=other.example",
    ],
)  # fmt: skip
def test_answers_are_as_described(server: Any, described: Any, target: str) -> None:
    path = target.partition("?")[0]
    path = "/timemap/json/{url}" if path.startswith("/timemap") else path
    check(described, path, asked(server, target))
    head = server.ask(target, "HEAD")
    assert (head.status, head.body) == (200, b"")


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/-/api/captures", 400),
        ("/-/api/site", 400),
        (f"/-/api/site?url={HOME}&at=never", 400),
        ("/-/api/captures?url=", 400),
        ("/-/api/captures?url=http://none.example/", 404),
        (f"/-/api/captures?url={HOME}&from=never", 400),
        (f"/-/api/captures?url={HOME}&from=2027&to=2026", 400),
        (f"/-/api/captures?url={HOME}&after=x", 400),
        (f"/-/api/captures?url={HOME}&limit=0", 400),
        (f"/-/api/captures?url={HOME}&limit=-1", 400),
        (f"/-/api/captures?url={HOME}&limit=\N{SUPERSCRIPT TWO}".replace("²", "%C2%B2"), 400),
        ("/-/api/captures?url=%00", 400),
        ("/-/api/captures?url=http://%5B", 400),
        ("/-/api/history?url=http://none.example/", 404),
        ("/-/api/history", 400),
        ("/-/api/crawl?crawl=none", 404),
        ("/-/api/urls?limit=many", 400),
        ("/-/api/hosts?limit=" + "9" * 50, 400),
    ],
)
def test_what_cannot_be_answered_is_told(
    server: Any, described: Any, target: str, status: int
) -> None:
    told = asked(server, target, status)
    check(described, "/-/api/captures", told, str(status))


def test_a_composition_without_its_page_is_described(server: Any, described: Any) -> None:
    told = asked(server, f"/-/api/composition?url={HOME}&at=1999", 404)
    check(described, "/-/api/composition", told, "404")
    check(described, "/-/api/composition", asked(server, "/-/api/composition", 400), "400")


def test_captures_are_those_of_the_terminal(server: Any, folder: Path) -> None:
    for url in (HOME, HOME + "again"):
        printed = json.loads(rig.ok("show", url, "--json", "-a", folder).out)
        told = asked(server, f"/-/api/captures?url={quote(url, safe='')}")
        assert told["captures"] == printed["captures"]
        assert told["next"] is None
        history = asked(server, f"/-/api/history?url={quote(url, safe='')}")
        assert history == {"url": url, "validity": printed["validity"], "next": None}


def test_facts_crawls_and_covers_are_those_of_the_terminal(server: Any, folder: Path) -> None:
    printed = json.loads(rig.ok("status", "--json", "-a", folder).out)
    told = asked(server, "/-/api/archive")
    assert {name: printed[name] for name in told if name != "archive"} == {
        name: told[name] for name in told if name != "archive"
    }
    assert (told["urls"], told["hosts"]) == (4, 2)
    hosts = asked(server, "/-/api/hosts")["hosts"]
    assert sum(host["captures"] for host in hosts) == told["captures"]
    assert sum(host["urls"] for host in hosts) == told["urls"]
    assert hosts[-1]["months"] == {"2026-01": 4, "2026-02": 1, "2026-03": 1}
    covers = json.loads(rig.ok("cover", "--list", "--json", "-a", folder).out)
    # Where a table lies on this machine is no concern of those who read.
    (own,) = [each for each in covers["covers"] if each.get("from")]
    assert own["from"] == COVER["question"]["table"]
    own["from"] = "table.csv"
    assert asked(server, "/-/api/covers")["covers"] == covers["covers"]
    assert {each["name"] for each in covers["covers"]} == {"small", "torn"}


def walked(server: Any, target: str, key: str) -> list[Any]:
    rows: list[Any] = []
    for _ in range(100):
        told = asked(server, target)
        rows += told[key]
        if told["next"] is None:
            return rows
        target = told["next"]
    raise AssertionError("it does not end")


def test_pages_lead_to_the_end(server: Any) -> None:
    assert walked(server, "/-/api/urls?limit=1", "urls") == asked(server, "/-/api/urls")["urls"]
    hosts = asked(server, "/-/api/hosts")["hosts"]
    assert [each["name"] for each in hosts] == ["other.example", "site.example"]
    assert walked(server, "/-/api/hosts?limit=1", "hosts") == hosts
    whole = asked(server, f"/-/api/captures?url={HOME}")["captures"]
    assert walked(server, f"/-/api/captures?url={HOME}&limit=1", "captures") == whole


def test_what_is_not_counted_yet_is_null(
    tmp_path: Path, described: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stocktaking, "SMALL", 1)
    monkeypatch.setattr(stocktaking, "take_stock", lambda root: None)
    folder = served_archive.build(tmp_path / "archive", STORED)
    with served_archive.serving(folder) as server:
        told, hosts = asked(server, "/-/api/archive"), asked(server, "/-/api/hosts")
        home = server.ask("/").text
    check(described, "/-/api/archive", told)
    check(described, "/-/api/hosts", hosts)
    assert (told["captures"], told["urls"], told["first"]) == (7, None, None)
    assert [(host["captures"], host["months"]) for host in hosts["hosts"]] == [(1, None), (6, None)]
    assert "is being counted" in home
    assert "other.example" in home


def test_a_url_with_20000_captures_comes_in_pages(tmp_path: Path) -> None:
    rows = (many_captures.capture(HOME, number) for number in range(20_000))
    with served_archive.serving(many_captures.build(tmp_path / "archive", rows)) as server:
        found = walked(server, f"/-/api/captures?url={HOME}&limit=1000", "captures")
        (known,) = asked(server, "/-/api/urls")["urls"]
    assert len({each["at"] for each in found}) == len(found) == 20_000
    assert (known["captures"], known["more"]) == (1000, True)


def test_a_long_history_comes_in_pages(tmp_path: Path, described: Any) -> None:
    rows = (many_captures.capture(HOME, number) for number in range(3_000))
    folder = many_captures.build(tmp_path / "archive", rows)
    printed = json.loads(rig.ok("show", HOME, "--json", "-a", folder).out)["validity"]
    assert len(printed) == 3_000
    with served_archive.serving(folder) as server:
        first = asked(server, f"/-/api/history?url={HOME}&limit=7")
        found = walked(server, f"/-/api/history?url={HOME}&limit=700", "validity")
    check(described, "/-/api/history", first)
    assert (first["validity"], found) == (printed[:7], printed)


def test_of_much_evidence_the_first_and_the_last_is_told(tmp_path: Path, described: Any) -> None:
    rows = (many_captures.capture(HOME, 7 * number) for number in range(1_000))
    folder = many_captures.build(tmp_path / "archive", rows)
    (printed,) = json.loads(rig.ok("show", HOME, "--json", "-a", folder).out)["validity"]
    with served_archive.serving(folder) as server:
        told = asked(server, f"/-/api/history?url={HOME}")
    check(described, "/-/api/history", told)
    evidence = printed.pop("evidence")
    kept = {"evidence": evidence[:50] + evidence[-50:], "left_out": len(evidence) - 100}
    assert told["validity"] == [{**printed, **kept}]
