"""Rules in the browser: checked and estimated as on the terminal, whatever is written."""

from __future__ import annotations

import csv
import json
import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from support import cover_desk, rig
from support.cover_desk import RULE
from support.laws import examples

WRONG = [
    "C(d1,d2) >= 0.8 and host(d1) = url(d2)",
    "C(d1,d2) >= 7",
    "C(d1,d2) >= 0.7 and\n  title(d1) = <b>x</b>",
    "C(d1,d2) >= 0.7 and (url(d1) = url(d2)",
    "copies",
    "C(d1,d2) ≥ 0.7 and t\u0456tle(d1) = title(d2)",
    "\x07C(d1,d2)",
    "(" * 5_000,
    "length(d1) < 7",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cover_desk.build(tmp_path_factory.mktemp("rules") / "archive")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Any]:
    rig.ok("cover", RULE, "--save", "versions", "-a", folder)
    with cover_desk.serving(folder) as running:
        yield running


def asked(server: Any, path: str, **fields: str) -> Any:
    fields = {name.replace("_", "-"): value for name, value in fields.items()}
    return server.ask(f"{path}?{urlencode(fields)}")


def described(server: Any, name: str, value: Any) -> None:
    components = json.loads(server.ask("/-/openapi.json").body)["components"]
    schema = {"$ref": f"#/components/schemas/{name}", "components": components}
    Draft202012Validator(schema).validate(value)


@pytest.mark.parametrize("rule", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_said_as_on_the_terminal(server: Any, folder: Path, rule: str) -> None:
    printed = rig.ok("cover", rule, "--explain", code=2, cwd=folder.parent)
    told = json.loads(asked(server, "/-/api/cover/check", relation=rule).body)
    described(server, "CheckedRule", told)
    where = "archive/"  # of this machine: not told to others
    assert f"asof: {told['problem']}" == printed.err.rstrip("\n").replace(where, "")
    page = asked(server, "/-/rule", relation=rule)
    assert page.status == 400
    shown = re.search(r'<pre id="told".*?</pre>', page.text, re.DOTALL)
    assert shown is not None
    text = unescape(re.sub(r"<[^>]*>", "", shown[0]))
    assert text == told["problem"] + "\n"
    assert "<b>" not in page.text
    assert "/-/do/" not in page.text


@settings(max_examples=examples(12))
@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_checked_and_written_back(server: Any, text: str) -> None:
    rule = f"C(d1,d2) >= 0.5 and title(d1) = {text}"
    answer = asked(server, "/-/api/cover/check", relation=rule)
    assert answer.status == 200
    told = json.loads(answer.body)
    assert (told["problem"] is None) is (told["explained"] is not None)
    page = asked(server, "/-/rule", relation=rule).text
    field = re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert field is not None
    assert unescape(field[1]) == rule.replace("\r\n", "\n").strip()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"relation": RULE}, (RULE,)),
        (
            {"relation": "J(d1,d2) >= 0.9 or url(d1) = url(d2)", "where": "length(d) > 3"},
            ("J(d1,d2) >= 0.9 or url(d1) = url(d2)", "--where", "length(d) > 3"),
        ),
        ({"relation": RULE, "k": "9", "terms": "characters", "text": "full", "prefer": "recency",
          "at_least": "1 per hostname"}, (RULE,)),
    ],
)  # fmt: skip
def test_a_good_rule_is_explained_as_on_the_terminal(
    server: Any, folder: Path, fields: dict[str, str], words: tuple[str, ...]
) -> None:
    printed = rig.ok("cover", *words, "--explain", "--json", "-a", folder).json()
    told = json.loads(asked(server, "/-/api/cover/check", **fields).body)
    described(server, "CheckedRule", told)
    assert told == {**printed, "problem": None}
    page = asked(server, "/-/rule", **fields)
    assert page.status == 200
    assert 'action="/-/do/cover/start"' in page.text
    for value in fields.values():
        assert value in unescape(page.text)


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("k", "0", "-k '0' is no number"),
        ("k", "٣", "is no number"),
        ("terms", "letters", "There are words and characters"),
        ("text", "<i>", "There are main and full"),
        ("at_least", "many", "is not understood"),
        ("at_least", "2 per --json", "no attribute"),
        ("prefer", "--csv=/tmp/x", "no attribute"),
        ("where", "--from=/etc/passwd", "Column 7"),
        ("relation", "--from=/etc/passwd", "Column 7"),
        ("where", "x" * 10_001, "at most 10,000"),
    ],
)
def test_other_options_are_checked_as_well(server: Any, field: str, value: str, says: str) -> None:
    fields = {"relation": RULE} | {field: value}
    told = json.loads(asked(server, "/-/api/cover/check", **fields).body)
    assert says in told["problem"]
    assert asked(server, "/-/api/cover/estimate", **fields).status == 400
    assert "<i>" not in asked(server, "/-/rule", **fields).text


def test_what_is_huge_or_deep_is_refused_at_once(server: Any) -> None:
    started = time.monotonic()
    assert server.ask(f"/-/rule?relation={'x' * 1_000_000}").status == 414
    deep = quote("(" * 8_000 + "C(d1,d2) >= 0.5" + ")" * 1_900)
    assert "deep" in json.loads(server.ask(f"/-/api/cover/check?relation={deep}").body)["problem"]
    wide = quote(" and ".join(["(C(d1,d2) >= 0.7 or url(d1)=url(d2))"] * 200))
    assert server.ask(f"/-/api/cover/check?relation={wide}").status == 200
    assert time.monotonic() - started < 5


def test_the_estimate_is_that_of_the_terminal(server: Any, folder: Path) -> None:
    printed = rig.ok("cover", RULE, "--estimate", "--json", "-a", folder).json()
    answer = _waited(server, "/-/api/cover/estimate", relation=RULE)
    told = json.loads(answer.body)
    described(server, "CoverEstimate", told)
    assert told | {"seconds": 0} == printed | {"seconds": 0}
    page = _waited(server, "/-/rule", relation=RULE, estimate="yes").text
    assert "Expected of 9 documents" in page
    assert "{:,} to {:,} pairs".format(*told["edges"]) in page


def test_what_cannot_be_estimated_is_told(server: Any) -> None:
    fields = {"relation": RULE, "where": 'url(d) = "http://nowhere.example/"'}
    assert _waited(server, "/-/api/cover/estimate", **fields).status == 400
    assert "holds no such documents" in asked(server, "/-/rule", estimate="yes", **fields).text


def _waited(server: Any, path: str, **fields: str) -> Any:
    until = time.monotonic() + 30
    while (answer := asked(server, path, **fields)).status == 503 or answer.headers["Refresh"]:
        assert time.monotonic() < until
    return answer


def test_who_may_not_run_it_gets_the_command(folder: Path) -> None:
    with cover_desk.serving(folder, token="") as server:
        page = asked(server, "/-/rule", relation=RULE, where='title(d) = "it\'s"', k="7").text
    assert "/-/do/" not in page
    command = re.search(r"<code>(asof cover '.*?)</code></pre>", unescape(page))
    assert command is not None
    quoted = """'--where=title(d) = "it'"'"'s"'"""
    assert command[1] == f"asof cover '{RULE}' -k7 {quoted} --save NAME"


def test_a_saved_cover_is_taken_along_as_the_terminal_writes_it(
    server: Any, folder: Path, tmp_path: Path
) -> None:
    files = {"csv": tmp_path / "a.csv", "html": tmp_path / "a.html"}
    words = [word for kind, path in files.items() for word in (f"--{kind}", path)]
    links = ("--links", server.url)
    printed = rig.ok("cover", RULE, *words, *links, "--json", "-a", folder).json()
    told = json.loads(asked(server, "/-/api/cover", name="versions").body)
    described(server, "CoverAnswer", told)
    assert told | {"seconds": 0} == printed | {"seconds": 0}
    table = server.ask("/covers/versions/table.csv")
    assert table.headers["Content-Disposition"] == 'attachment; filename="versions.csv"'
    ours, theirs = (
        list(csv.reader(text.splitlines())) for text in (table.text, files["csv"].read_text())
    )
    assert ours[0] == theirs[0]
    assert sorted(ours) == sorted(theirs)
    assert len(ours) == 1 + 9
    listed = server.ask("/covers/versions/reading-list.html")
    assert listed.headers["Content-Disposition"] == 'attachment; filename="versions.html"'
    both = [_links(text) for text in (listed.text, files["html"].read_text())]
    assert both[0] == both[1]
    assert len(both[0]) == 9
    page = server.ask("/covers/versions").text
    for lead in ("/covers/versions/table.csv", "/covers/versions/reading-list.html"):
        assert f'href="{lead}"' in page


def _links(page: str) -> list[str]:
    return re.findall(r'<a href="([^"]*)"', page)


@pytest.mark.parametrize(
    "path", ["/-/api/cover?name=none", "/covers/none/table.csv", "/covers/%2E%2E/table.csv",
             "/-/api/cover?name=" + quote("../../asof"), "/-/api/cover"]
)  # fmt: skip
def test_only_saved_covers_can_be_taken_along(server: Any, path: str) -> None:
    assert server.ask(path).status == 404
