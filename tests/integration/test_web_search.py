"""Search in `asof serve`: the page, its JSON, and what cannot be asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from asof import index
from asof.api import import_files
from support import linked, rig, said_pages, served_archive
from support.said_pages import OTHER, SITE
from support.served_archive import Server


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = said_pages.build(tmp_path_factory.mktemp("said") / "archive")
    index(folder)
    return folder


@pytest.fixture(scope="module")
def server(archive: Path) -> Iterator[Server]:
    with served_archive.serving(archive) as running:
        yield running


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if tag == "a" and name == "href"]


QUESTIONS = [
    ({"q": "anchor"}, ["anchor"]),
    ({"q": "anchor -pier"}, ["anchor -pier"]),
    ({"q": "anchor", "at": "2026-01"}, ["anchor", "--as-of", "2026-01"]),
    ({"q": "note1", "fold": "no"}, ["note1", "--no-fold"]),
    ({"q": "the", "from": "2026-01-02", "to": "2026-02"},
     ["the", "--from", "2026-01-02", "--to", "2026-02"]),
    ({"q": "the OR die", "sort": "newest", "limit": "2", "offset": "1"},
     ["the OR die", "--sort", "newest", "--limit", "2", "--offset", "1"]),
    ({"q": "灯台 OR маяк", "prefix": "other.example", "type": "html", "language": "ja"},
     ["灯台 OR маяк", "--host", "other.example", "--type", "html", "--language", "ja"]),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "words"), QUESTIONS)
def test_json_is_what_the_terminal_prints(
    archive: Path, server: Server, asked: dict[str, str], words: list[str]
) -> None:
    answer = server.ask(f"/-/api/search?{urlencode(asked)}")
    assert answer.status == 200
    assert json.loads(answer.body) == rig.ok("search", *words, "-a", archive, "--json").json()


def test_the_page_leads_to_what_was_found(server: Server) -> None:
    page = server.ask("/search?q=mergers")
    assert page.status == 200
    assert "<mark>mergers</mark>" in page.text
    leads = [link for link in Links(page.text).found if link.startswith("/2026")]
    assert leads == [f"/20260205100000/{SITE}"]
    assert server.ask(leads[0], Accept="text/html").status == 200
    asof = server.ask("/search?q=mergers&at=2026-02-03")
    assert f"/20260203235959/{SITE}" in Links(asof.text).found


def test_facets_and_times_narrow_down(server: Server) -> None:
    page = server.ask("/search?q=anchor")
    links = Links(page.text).found
    assert "/search?q=anchor&type=application%2Fpdf" in links
    narrowed = server.ask("/search?q=anchor&type=application%2Fpdf")
    assert "1 content" in narrowed.text
    assert f"{SITE}old" not in narrowed.text
    bars = re.findall(r'href="([^"]+from=[^"]+)"><title>[^:]+: ([0-9]+) content', page.text)
    assert bars  # each leads to as many as it stands for
    for link, count in bars:
        assert f"{count} content" in server.ask(unescape(link)).text


@pytest.mark.parametrize("title", ["<script>alert(1)</script>", "<b>bold</b>"])
def test_what_documents_say_stays_text(server: Server, title: str) -> None:
    page = server.ask("/search?q=endless+buoys")
    assert title not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("q=(anchor", "not closed"),
        ("q=" + quote('"anchor'), "does not end"),
        ("q=anchor&at=whenever", "whenever"),
        ("q=anchor&at=2026&from=2025", "exclude"),
        ("q=anchor&sort=best", "best"),
        ("q=anchor&limit=0", "limit"),
        ("q=anchor&offset=-1", "offset"),
        ("q=" + "x+" * 600, "1,000"),
    ],
)
def test_what_cannot_be_asked_is_told(server: Server, query: str, told: str) -> None:
    page = server.ask(f"/search?{query}")
    assert page.status == 400
    assert told in page.text
    answer = server.ask(f"/-/api/search?{query}")
    assert answer.status == 400
    assert told in json.loads(answer.body)["message"]


def test_nothing_asked_and_nothing_found(server: Server) -> None:
    assert "All words must occur" in server.ask("/search").text
    assert server.ask("/-/api/search").status == 400
    none = server.ask("/search?q=zeppelin&at=2026-02")
    assert none.status == 200
    assert "Nothing says that as of" in none.text


def test_without_an_index_it_is_said_how_to_make_one(tmp_path: Path) -> None:
    folder = served_archive.build(tmp_path / "archive", said_pages.STORED[:2])
    with served_archive.serving(folder) as server:
        page = server.ask("/search?q=ferry")
        assert page.status == 404
        assert "asof reindex --search" in page.text
        assert server.ask("/-/api/search?q=ferry").status == 404
        index(folder)  # and then it is there, without a new start
        assert json.loads(server.ask("/-/api/search?q=ferry").body)["found"] == 2


def test_what_is_indexed_while_it_serves_is_found(tmp_path: Path) -> None:
    first, later = tmp_path / "archive", tmp_path / "later"
    served_archive.build(first, said_pages.STORED[:1])
    index(first)
    with served_archive.serving(first) as server:
        assert json.loads(server.ask("/-/api/search?q=mergers").body)["found"] == 0
        served_archive.build(later, said_pages.STORED[1:6])
        rig.ok("import", later / "warc", "-a", first)
        stale = json.loads(server.ask("/-/api/search?q=mergers").body)
        assert not stale["complete"]
        assert "not in the index yet" in server.ask("/search?q=mergers").text
        index(first)
        answer = json.loads(server.ask("/-/api/search?q=mergers").body)
        assert (answer["found"], answer["complete"]) == (1, True)


def test_words_typed_for_an_address_are_searched(server: Server) -> None:
    """There is one box on the first page."""
    asked = server.ask(f"/-/go?{urlencode({'url': 'anchor pier', 'at': '2026-01'})}")
    assert asked.status == 303
    assert asked.headers["location"] == "/search?q=anchor+pier&at=2026-01"
    address = server.ask(f"/-/go?{urlencode({'url': OTHER, 'at': '2026'})}")
    assert address.headers["location"] == f"/2026/{OTHER}"


@pytest.fixture(scope="module")
def linked_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Server]]:
    place = tmp_path_factory.mktemp("linked")
    import_files(
        place / "archive", linked.write(linked.histories(5, pages=12), place / "a.warc.gz")
    )
    index(place / "archive")
    with served_archive.serving(place / "archive") as running:
        yield place / "archive", running


def test_pages_lead_to_what_led_to_a_hit(linked_server: tuple[Path, Server]) -> None:
    archive, server = linked_server
    at = "2020-01-01T00:02:00Z"
    for asked in ({"q": "minutes", "at": at}, {"q": "minutes"}, {"q": "minutes", "to": at}):
        query = urlencode(asked | {"fold": "no", "limit": "100"})
        told = json.loads(server.ask(f"/-/api/search?{query}").body)
        inlinks = [hit["inlinks"] for hit in told["hits"] if hit["inlinks"]]
        page = server.ask(f"/search?{query}").text
        there = [link for link in Links(page).found if "link%3A" in link]
        assert len(there) == len(inlinks) > 3
        for link, count in zip(there, inlinks, strict=True):
            found = json.loads(server.ask(f"/-/api{link}").body)
            assert found["found"] == count
            words = ["search", found["query"], "--as-of", found["as_of"], "--no-fold", "--json"]
            assert rig.ok(*words, "-a", archive).json()["found"] == count
