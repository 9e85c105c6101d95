"""The page of a URL: its calendar, its changes by their kinds, and what is folded away."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

from asof.archive import OpenArchive
from asof.change.texts import Texts
from asof.clock import parse_iso
from support import many_captures, rig, served_archive
from support.served_archive import Page

HOME = "http://site.example/"
WORDS = " ".join(f"word{n}" for n in range(150))
OTHER = " ".join(f"other{n}" for n in range(150))


def page(day: str, text: str, status: str = "200 OK") -> Page:
    return Page(HOME, f"{day}T10:00:00Z", f"<title>t</title><p>{text}".encode(), status=status)


STORED = [
    page("2024-01-31", WORDS),
    page("2024-02-29", f"<b>{WORDS}</b>"),  # markup only
    page("2024-02-29", f"<b>{WORDS}</b>"),
    page("2025-03-01", f"{WORDS} and a word"),
    page("2025-03-02", OTHER),
    page("2025-03-03", "not here", "404 Not Found"),
    page("2025-03-04", OTHER),
    page("2025-03-05", WORDS),
    page("2025-03-06", OTHER),
    page("2025-03-07", f"{OTHER} and more"),
]
STORED[2] = Page(HOME, "2024-02-29T20:00:00Z", STORED[2].body)
CHANGES = ["appeared", "insignificant", "minor", "major", "removed", "appeared", "major", "major",
           "minor"]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return served_archive.build(tmp_path_factory.mktemp("captures") / "archive", STORED)


@pytest.fixture(scope="module")
def unread(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return served_archive.build(tmp_path_factory.mktemp("unread") / "archive", STORED)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Any]:
    with served_archive.serving(folder) as running:
        before = running.ask(f"/captures?url={HOME}").text
        assert before.count(">not compared<") == 8  # of nine contents; nothing was before the first
        assert "8 changes were not compared yet" in before
        with OpenArchive.open(folder) as archive, Texts(archive, writable=True) as texts:
            texts.read_all(1)
        yield running


def asked(server: Any, target: str, status: int = 200) -> Any:
    answer = server.ask(target)
    assert answer.status == status, answer.text
    return json.loads(answer.body)


def test_changes_have_the_categories_of_the_terminal(server: Any, folder: Path) -> None:
    printed = json.loads(rig.ok("show", HOME, "--json", "-a", folder).out)
    assert [each["change"] for each in printed["validity"]] == CHANGES
    assert asked(server, f"/-/api/history?url={HOME}")["validity"] == printed["validity"]
    text = server.ask(f"/captures?url={HOME}").text
    badges = re.findall(r'<span class="badge">([^<]+)</span>', text)
    assert badges == CHANGES[:0:-1]
    kinds = re.findall(r'<rect class="proven" data-kind="(\w+)"', text)
    assert kinds == ["content", "noise", "minor", "content", "gone", "content", "content",
                     "content", "minor"]  # fmt: skip
    assert "not compared" not in text


def test_a_content_that_comes_back_says_so(server: Any, folder: Path) -> None:
    told = asked(server, f"/-/api/history?url={HOME}")["validity"]
    back = [each["seen_before"] and each["seen_before"][:10] for each in told]
    assert back == [None] * 5 + ["2025-03-02", "2024-01-31", "2025-03-04", None]
    text = " ".join(server.ask(f"/captures?url={HOME}").text.split())
    assert text.count("there before</a>, until ") == 3
    assert "3 contents that had been there before" in text
    shown = rig.ok("show", HOME, "-a", folder).out.decode()
    assert "; the same as until 2025-03-02 10:00:00" in shown


def test_what_is_asked_for_is_never_folded_away(server: Any) -> None:
    text = server.ask(f"/captures?url={HOME}&at=2025-03-05").text
    assert re.search(r'<li class="redundant"><details open>', text)
    assert '<li class="redundant"><details>' in server.ask(f"/captures?url={HOME}").text


@pytest.mark.parametrize(
    ("on", "said", "captures"),
    [("2024-02-29", "on 29 Feb 2024", 2), ("20240229", "on 29 Feb 2024", 2),
     ("2025", "from 1 Jan 2025 to 31 Dec 2025", 7), ("1999", "from 1 Jan 1999", 0),
     ("2025-03", "from 1 Mar 2025 to 31 Mar 2025", 7), ("9999", "", 0), ("now", "", 0)],
)  # fmt: skip
def test_a_day_month_or_year_is_listed(server: Any, on: str, said: str, captures: int) -> None:
    text = server.ask(f"/captures?url={quote(HOME, safe='')}&on={on}").text
    assert text.count('<a class="when"') == captures
    assert said in text
    assert "10 captures" in text


@pytest.mark.parametrize("on", ["someday", "2024-02-30", "0", "%00", "9" * 40])
def test_what_is_no_time_is_told(server: Any, on: str) -> None:
    assert server.ask(f"/captures?url={HOME}&on={on}").status == 400


def test_the_calendar_counts_days(server: Any) -> None:
    told = asked(server, f"/-/api/calendar?url={HOME}&year=2024")
    assert [(each["year"], each["captures"]) for each in told["years"]] == [(2024, 3), (2025, 7)]
    assert told["years"][0]["months"] == [1, 2, *[0] * 10]
    assert told["days"] == [
        {"day": "2024-01-31", "captures": 1, "contents": 1, "change": "content"},
        {"day": "2024-02-29", "captures": 2, "contents": 1, "change": "noise"},
    ]
    last = asked(server, f"/-/api/calendar?url={HOME}")
    assert (last["year"], len(last["days"]), last["captures"]) == (2025, 7, 10)
    assert asked(server, f"/-/api/calendar?url={HOME}&year=1")["days"] == []
    text = server.ask(f"/captures?url={HOME}&on=2024").text
    assert text.count('aria-current="true"') == 1
    assert 'value="2024-02-29" class="shade2" data-kind="noise"' in text
    assert 'aria-label="29 Feb, 2 captures, only noise changed"' in text
    for wrong in ("0", "x", "10000", "00002024", "-1", "²"):
        asked(server, f"/-/api/calendar?url={HOME}&year={quote(wrong)}", 400)
    asked(server, "/-/api/calendar?url=http://none.example/", 404)


def test_a_long_history_is_a_page_of_its_size(tmp_path: Path) -> None:
    """20,000 captures over 25 years, each of another content."""
    step = 25 * 365 * 86_400 * 1_000_000 // 20_000
    rows = (many_captures.capture(HOME, number, step=step) for number in range(20_000))
    folder = many_captures.build(tmp_path / "archive", rows)
    with served_archive.serving(folder) as server:
        plain = server.ask(f"/captures?url={HOME}")
        asking = Request(f"{server.url}/captures?url={HOME}", headers={"Accept-Encoding": "gzip"})
        with urlopen(asking, timeout=20) as answer:
            packed = answer.read()
        assert len(plain.body) < 150_000
        assert len(packed) < 50_000
        assert gzip.decompress(packed) == plain.body
        assert plain.text.count('<button name="on"') > 365
        assert len(asked(server, f"/-/api/calendar?url={HOME}")["years"]) == 25


def test_captures_of_one_moment_and_of_the_last_year_are_shown(tmp_path: Path) -> None:
    end = parse_iso("9999-12-31T23:59:59Z") or 0
    rows = [many_captures.capture(HOME, number, step=0) for number in range(120)]
    rows += [replace(many_captures.capture(HOME, 200), at=end)]
    with served_archive.serving(many_captures.build(tmp_path / "archive", rows)) as server:
        text = server.ask(f"/captures?url={HOME}").text
        assert 'value="9999-12-31"' in text
        assert server.ask(f"/captures?url={HOME}&on=2020").text.count('<a class="when"') == 120


def test_a_text_database_that_is_broken_costs_the_categories_alone(unread: Path) -> None:
    (unread / "derived").mkdir()
    (unread / "derived/text.db").write_bytes(b"no database" * 500)
    with served_archive.serving(unread) as server:
        text = server.ask(f"/captures?url={HOME}").text
    assert "8 changes were not compared yet" in text
