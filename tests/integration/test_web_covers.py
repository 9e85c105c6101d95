"""Saved covers on the pages of a real server: what is shown, linked, found, and refused."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from asof.archive.folder import Folder
from asof.clock import parse_iso
from asof.cover.documents.tables import Table
from asof.cover.join.join import JoinLimits
from asof.cover.kept.saved_covers import SavedCover, load_cover, save_cover
from asof.cover.question import Question
from asof.cover.run import CoverOutcome, thin_out
from asof.web import covers as web_covers
from asof.web.covers import COVERED_A_PAGE, COVERED_SHOWN, DOCUMENTS_A_PAGE
from support import served_archive
from support.served_archive import Page

TESTS = Path(__file__).parents[1]

SITE = "http://site.example/"
EVIL = "http://evil.example/<script>alert(1)</script>"
RELATION = 'C(d1,d2) >= 0.5 and title(d1) != "<b>&\u202e"'
WORDS = [f"word{number}" for number in range(40)]


def outcome(documents: dict[str, str], relation: str = "C(d1,d2) >= 0.5") -> CoverOutcome:
    rows = Table(tuple(documents), tuple(documents.values()), {}).collection()
    return thin_out(rows, Question(relation), JoinLimits())


def told(start: int, end: int) -> str:
    return " ".join(WORDS[start:end])


def versions() -> dict[str, str]:
    """Names as an archive gives them: an address of three versions, others, and odd ones."""
    return {
        f"20260101100000/{SITE}": told(0, 10),
        f"20260201100000/{SITE}": told(0, 20),
        f"20260301100000.250000/{SITE}": told(0, 20) + " more",
        f"20260101100001/{SITE}?a=1&b=%20": told(0, 15),
        f"20260101100000/{EVIL}": "nothing of that is said in here",
        "20260101100000/http://half.example/\udc80": "half of a pair is no letter at all",
        "99999999999999/http://no.example/": "that is no time of any clock here",
        "no document of an archive \u202e\n": "a name that somebody else has made up",
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = [
        Page(SITE, f"2026-0{month}-01T10:00:00Z", f"<p>{told(0, 10 * month)}".encode())
        for month in (1, 2)
    ]
    found: Path = served_archive.build(tmp_path_factory.mktemp("covers") / "archive", pages)
    place = Folder(found)
    asked = Question(RELATION, where='hostname(d) = "<i>"', at_least=(1, "<u>"), prefer="<s>")
    saved = replace(outcome(versions()), relation=RELATION)
    save_cover(place, "versions", saved, asked, parse_iso("2026-05-01T12:00:00Z"))
    many = {
        f"20260101100000/{SITE}{number // 3}/{number}": told(0, 1) + f" {number // 3} of many more"
        for number in range(3 * DOCUMENTS_A_PAGE * 2 + 3)
    }
    save_cover(place, "many", outcome(many))
    copies = {f"20260101100000/{SITE}{number}": told(0, 9) for number in range(COVERED_A_PAGE + 9)}
    save_cover(place, "one", outcome(copies))
    table = Question("J(d1,d2) = 1", table="/home/someone/secret/docs.jsonl")
    rows = {"7": told(0, 9), f"20260101100000/{SITE}": told(0, 9)}
    save_cover(place, "table", outcome(rows, "J(d1,d2) = 1"), table)
    save_cover(place, "none", outcome({}))
    (found / "derived" / "covers" / "bad.json").write_text("{")
    return found


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Any]:
    with served_archive.serving(folder) as found:
        yield found


def hrefs(text: str) -> list[str]:
    return [unescape(found) for found in re.findall(r'href="([^"]*)"', text)]


def test_home_leads_to_covers(server: Any) -> None:
    text = server.ask("/").text
    assert {"/covers", "/covers/versions", "/covers/bad"} <= set(hrefs(text))
    assert "cannot be read" in text


def test_an_archive_without_covers_leads_to_rules(tmp_path: Path) -> None:
    folder = served_archive.build(
        tmp_path / "archive", [Page(SITE, "2026-01-01T10:00:00Z", b"<p>x")]
    )
    with served_archive.serving(folder) as server:
        assert {"/covers", "/-/rule"} <= set(hrefs(server.ask("/").text))
        assert "No cover was saved yet" in server.ask("/covers").text
        assert server.ask("/covers/x").status == 404


def test_all_covers_are_listed_with_what_they_come_to(server: Any) -> None:
    answer = server.ask("/covers")
    assert answer.status == 200
    text = answer.text
    assert "<b>5</b> of 8 documents stay: 37.5 % fewer" in text
    written = escape(RELATION.replace("\u202e", "\ufffd"))
    assert f"<code>{written}</code>" in text
    assert "1 May 2026, 12:00:00" in text
    assert "of docs.jsonl" in text
    assert "someone" not in text
    assert text.index("/covers/versions") < text.index("/covers/many")  # the latest first
    assert "Its file cannot be read" in text


def test_a_cover_shows_what_stays_and_what_it_covers(server: Any) -> None:
    answer = server.ask("/covers/versions")
    assert answer.status == 200
    text = answer.text
    links = hrefs(text)
    # The capture that stays, and one that it covers, as they are replayed.
    assert f"/20260201100000/{SITE}" in links
    assert f"/20260101100000/{SITE}" in links
    assert f"/20260101100001/{SITE}?a=1&b=%20" in links
    assert "same address" in text
    assert re.search(r"C 100\.0 %</span>\s*<span>J 37\.5 %</span>", text)
    assert "No smaller set does: proven." in text
    for piece in ("hostname(d) = &#34;&lt;i&gt;&#34;", "&lt;u&gt;", "&lt;s&gt;"):
        assert piece in text
    assert server.ask(f"/20260201100000/{SITE}").status == 200


def test_strangers_names_do_not_act(server: Any) -> None:
    answer = server.ask("/covers/versions")
    text = answer.text
    for mark in ("<script", "<i>", "<u>", "<s>", "\u202e", "<b>&"):
        assert mark not in text
    # Nothing that is no capture is a link.
    assert not any("half.example" in link or "no.example" in link for link in hrefs(text))
    assert "no document of an archive" in text
    assert all(link.startswith("/") for link in hrefs(text) if link != "#main")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "style=" not in text


def test_pages_of_a_large_cover(server: Any) -> None:
    first = server.ask("/covers/many")
    assert first.text.count('<ul class="gone">') == DOCUMENTS_A_PAGE
    assert "page 1 of 3" in first.text
    assert "/covers/many?page=2" in hrefs(first.text)
    last = server.ask("/covers/many?page=3").text
    assert last.count('<ul class="gone">') == 1
    assert f'start="{2 * DOCUMENTS_A_PAGE + 1}"' in last
    for odd in ("0", "-1", "x", "4", "9" * 30, ""):
        assert server.ask(f"/covers/many?page={odd}").status == 200
    shown = {
        link
        for page in (1, 2, 3)
        for link in hrefs(server.ask(f"/covers/many?page={page}").text)
        if link.startswith("/2026")
    }
    assert len(shown) == 3 * (2 * DOCUMENTS_A_PAGE + 1)


def test_documents_are_found_by_their_names(server: Any) -> None:
    one = server.ask(f"/covers/many?find=%20{SITE.upper()}7/22")
    links = [link for link in hrefs(one.text) if link.startswith("/2026")]
    # 22 is covered: it is shown below the one that stays, and no other one is.
    assert sorted(links) == [f"/20260101100000/{SITE}7/21", f"/20260101100000/{SITE}7/22"]
    none = server.ask("/covers/many?find=<b>")
    assert none.status == 200
    assert "No document has that in its name" in none.text
    assert "<b>" not in none.text
    some = server.ask("/covers/many?find=site.example&page=2").text
    assert "/covers/many?find=site.example&page=3" in hrefs(some)


def test_all_that_one_document_covers(server: Any) -> None:
    text = server.ask("/covers/one").text
    assert text.count('<p class="measures">') == COVERED_SHOWN
    (link,) = (link for link in hrefs(text) if "of=" in link)
    first = server.ask(link).text
    assert first.count('<p class="measures">') == COVERED_A_PAGE
    assert f"covers {COVERED_A_PAGE + 8} documents" in first
    second = server.ask(f"{link}&page=2").text
    assert second.count('<p class="measures">') == 8
    assert server.ask("/covers/one?of=nothing").status == 404


def test_documents_of_a_table_are_no_captures(server: Any) -> None:
    text = server.ask("/covers/table").text
    assert not [link for link in hrefs(text) if link.startswith("/2026")]
    assert "Documents of docs.jsonl" in text
    assert "asof export" not in text


def test_a_cover_of_nothing(server: Any) -> None:
    assert "It is a cover of no documents." in server.ask("/covers/none").text


@pytest.mark.parametrize(
    ("target", "status", "says"),
    [
        ("/covers/version", 404, "Did you mean versions?"),
        ("/covers/..%2F..%2Fasof.toml", 404, ""),
        ("/covers/%3Cscript%3E", 404, "No such cover"),
        ("/covers/%00", 404, "No such cover"),
        ("/covers/bad", 500, "is damaged"),
        ("/covers/", 404, ""),
    ],
)
def test_what_cannot_be_shown(server: Any, target: str, status: int, says: str) -> None:
    answer = server.ask(target)
    if target == "/covers/" and answer.status == 307:
        assert answer.headers["location"].endswith("/covers")
        return
    assert answer.status == status
    assert says in answer.text
    assert "<script" not in answer.text


def test_a_cover_that_is_saved_again_is_shown_anew(folder: Path, server: Any) -> None:
    place = Folder(folder)
    save_cover(place, "fresh", outcome({"a": told(0, 9)}))
    assert "<dd>1<small> of 1<" in server.ask("/covers/fresh").text
    save_cover(place, "fresh", outcome({"a": told(0, 9), "b": told(10, 19)}))
    assert "<dd>2<small> of 2<" in server.ask("/covers/fresh").text
    path = folder / "derived" / "covers" / "fresh.json"
    given = json.loads(path.read_text())
    path.write_text(json.dumps({**given, "names": []}))
    assert server.ask("/covers/fresh").status == 500
    path.unlink()
    assert server.ask("/covers/fresh").status == 404


def test_more_names_than_are_held_in_memory(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_covers, "LARGEST", 100)
    answer = server.ask("/covers/versions")
    assert answer.status == 413
    assert "asof export --format cdxj --cover versions" in answer.text


def test_a_cover_is_read_once_for_all_who_ask_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    all_ask = threading.Barrier(4, timeout=10)

    def load(place: Folder, name: str) -> SavedCover:
        read.append(name)
        return load_cover(place, name)

    monkeypatch.setattr(web_covers, "load_cover", load)
    with served_archive.serving(folder) as server, ThreadPoolExecutor(4) as pool:

        def ask(number: int) -> int:
            all_ask.wait()
            status: int = server.ask(f"/covers/many?find={number}").status
            return status

        assert list(pool.map(ask, range(4))) == [200] * 4
    assert read == ["many"]


def test_proofs_in_words(folder: Path, server: Any) -> None:
    place = Folder(folder)
    path = save_cover(place, "proof", outcome(versions()))
    given = json.loads(path.read_text())
    for facts, says in (
        ({"optimal": False, "gap": 2}, "up to 2 documents fewer; not proven"),
        ({"optimal": False, "gap": 0}, "that none of its size is better is not proven"),
        ({"optimal": False, "gap": 5, "complete": False}, "not all pairs were compared"),
    ):
        path.write_text(json.dumps({**given, **facts}))
        assert says in server.ask("/covers/proof").text
    path.unlink()
