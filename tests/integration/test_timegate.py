"""Memento (RFC 7089): TimeGates, TimeMaps, and the links between them and mementos."""

from __future__ import annotations

import http.client
import json
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from memento_client import MementoClient
from memento_client.memento_client import MementoClientException

from asof.web.timegate import PAGE
from support import many_captures, served_archive
from support.link_format import Link, parse, related
from support.served_archive import Page

HOME = "http://site.example/"
ODD = HOME + "a%2Fb//c?x=%20&y=[1]"
MONTHS = [f"2026-0{month}-01T10:00:00Z" for month in range(1, 6)]
STORED = [
    *(Page(HOME, at, b"<p>" + at.encode()) for at in MONTHS),
    Page(HOME, "2026-03-01T10:00:00.400000Z", b"<p>again in that second"),
    Page(ODD, MONTHS[0], b"<p>odd"),
    Page("http://[2001:db8::1]:8080/v6", MONTHS[0], b"<p>six"),
    Page(HOME + "same", MONTHS[0], b"<p>same"),
    Page(HOME + "same", MONTHS[1], same_as=(HOME + "same", MONTHS[0])),
]
COUNT = 20_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = served_archive.build(tmp_path_factory.mktemp("gate") / "archive", STORED)
    with served_archive.serving(folder) as running:
        yield running


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A URL with 20,000 captures, among others."""
    folder = tmp_path_factory.mktemp("many") / "archive"
    rows = [many_captures.capture(HOME, number) for number in range(COUNT)]
    rows += [many_captures.capture(HOME + "z", number) for number in range(3)]
    with served_archive.serving(many_captures.build(folder, rows)) as running:
        yield running


def gate(server: Any, url: str, moment: str | None = None, method: str = "GET") -> Any:
    headers = {} if moment is None else {"Accept_Datetime": moment}
    return server.ask(f"/timegate/{url}", method, **headers)


def stamp_in(location: str) -> str:
    return location.split("/")[3]


class TestTimeGate:
    @pytest.mark.parametrize(
        ("moment", "stamp"),
        [
            (None, "20260501100000"),
            ("Sun, 01 Mar 2026 09:59:59 GMT", "20260201100000"),
            ("Sun, 01 Mar 2026 10:00:00 GMT", "20260301100000"),
            ("Tue, 17 Mar 2026 00:00:00 GMT", "20260301100000"),
            ("Fri, 01 Jan 1999 00:00:00 GMT", "20260101100000"),
            ("Fri, 01 Jan 2100 00:00:00 GMT", "20260501100000"),
        ],
    )
    def test_leads_to_the_memento_as_of_a_moment(
        self, server: Any, moment: str | None, stamp: str
    ) -> None:
        """The latest at or before it, as everywhere; before the first, the first."""
        for method in ("GET", "HEAD"):
            answer = gate(server, HOME, moment, method)
            assert answer.status == 302
            assert answer.headers["Vary"] == "accept-datetime"
            assert "Memento-Datetime" not in answer.headers
            assert answer.headers["Location"] == f"{server.url}/{stamp}/{HOME}"
            links = parse(answer.headers["Link"])
            assert [each.uri for each in related(links, "original")] == [HOME]
            assert [each.uri for each in related(links, "timemap")] == [
                f"{server.url}/timemap/link/{HOME}"
            ]
            assert answer.headers["Location"] in {e.uri for e in related(links, "memento")}

    @pytest.mark.parametrize(
        "moment",
        [
            "2026", "now", "", "Sun, 01 Mar 2026 10:00:00", "Sun, 1 Mar 2026 10:00:00 GMT",
            "Sun, 30 Feb 2026 10:00:00 GMT", "Sun, 01 Mar 2026 25:00:00 GMT",
            "Sun, 01 Mar 2026 10:00:00 +0100", "Sunday, 01-Mar-26 10:00:00 GMT",
            "Sun, 01 Mar 0000 10:00:00 GMT", "Sun, \xb2\xb2 Mar 2026 10:00:00 GMT", "x" * 5000,
        ],
    )  # fmt: skip
    def test_a_bad_datetime_is_told(self, server: Any, moment: str) -> None:
        answer = gate(server, HOME, moment)
        assert answer.status == 400
        assert answer.headers["Vary"] == "accept-datetime"
        assert "RFC 1123" in json.loads(answer.body)["message"]

    def test_a_url_without_mementos(self, server: Any) -> None:
        answer = gate(server, "http://none.example/")
        assert answer.status == 404
        assert answer.headers["Vary"] == "accept-datetime"
        assert "none.example" in json.loads(answer.body)["message"]

    @pytest.mark.parametrize("url", ["", "http://", "%00", "http://a b/", "//", "%ff%fe"])
    def test_what_is_no_url_is_told(self, server: Any, url: str) -> None:
        answer = gate(server, url.replace(" ", "%20"))
        assert answer.status in (400, 404)
        assert answer.headers["Vary"] == "accept-datetime"
        assert "Traceback" not in answer.text

    @pytest.mark.parametrize("url", [ODD, "http://[2001:db8::1]:8080/v6", "site.example/"])
    def test_a_url_is_taken_byte_for_byte(self, server: Any, url: str) -> None:
        answer = gate(server, url)
        assert answer.status == 302
        shown = server.ask(answer.headers["Location"].removeprefix(server.url))
        assert shown.status == 200
        assert shown.headers["Memento-Datetime"]

    def test_posts_are_refused(self, server: Any) -> None:
        assert server.ask(f"/timegate/{HOME}", "POST").status == 405


class TestMemento:
    def test_has_all_relations(self, server: Any) -> None:
        answer = server.ask(f"/20260310/{HOME}")
        links = parse(answer.headers["Link"])
        named = {frozenset(each.relations): each.uri for each in links}
        place = server.url
        assert named == {
            frozenset({"original"}): HOME,
            frozenset({"timegate"}): f"{place}/timegate/{HOME}",
            frozenset({"timemap"}): f"{place}/timemap/link/{HOME}",
            frozenset({"first", "memento"}): f"{place}/20260101100000/{HOME}",
            frozenset({"prev", "memento"}): f"{place}/20260201100000/{HOME}",
            frozenset({"memento"}): f"{place}/20260301100000/{HOME}",
            frozenset({"next", "memento"}): f"{place}/20260401100000/{HOME}",
            frozenset({"last", "memento"}): f"{place}/20260501100000/{HOME}",
        }

    def test_a_walk_by_next_meets_every_memento(self, server: Any) -> None:
        where, seen = f"/20260101100000id_/{HOME}", []
        for _ in range(20):
            answer = server.ask(where)
            seen.append(answer.headers["Memento-Datetime"])
            following = related(parse(answer.headers["Link"]), "next")
            if not following:
                break
            where = following[0].uri.removeprefix(server.url)
        assert len(seen) == 5

    def test_a_long_url_does_not_make_a_header_that_nobody_reads(
        self, server: Any, tmp_path: Any
    ) -> None:
        long = HOME + "x" * 20_000
        folder = served_archive.build(tmp_path / "archive", [Page(long, MONTHS[0], b"<p>long")])
        with served_archive.serving(folder) as running:
            answer = running.ask(f"/2026/{long}")
        assert answer.status == 200
        assert related(parse(answer.headers["Link"]), "original")[0].uri == long


class TestTimeMap:
    def test_lists_each_memento_once(self, server: Any) -> None:
        answer = server.ask(f"/timemap/link/{HOME}")
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "application/link-format"
        links = parse(answer.text)
        assert [each.uri for each in related(links, "original")] == [HOME]
        assert [each.uri for each in related(links, "timegate")] == [
            f"{server.url}/timegate/{HOME}"
        ]
        (own,) = related(links, "self")
        mementos = related(links, "memento")
        assert [stamp_in(each.uri) for each in mementos] == [
            at.translate(str.maketrans("", "", "-:TZ")) for at in MONTHS
        ]
        assert (own.date("from"), own.date("until")) == (mementos[0].at, mementos[-1].at)
        assert mementos[0].relations == {"first", "memento"}
        assert mementos[-1].relations == {"last", "memento"}
        assert not related(links, "timemap")

    def test_revisits_are_mementos(self, server: Any) -> None:
        links = parse(server.ask(f"/timemap/link/{HOME}same").text)
        for each in (found := related(links, "memento")):
            assert server.ask(each.uri.removeprefix(server.url)).body == b"<p>same"
        assert len(found) == 2

    def test_as_json(self, server: Any) -> None:
        told = json.loads(server.ask(f"/timemap/json/{HOME}").body)
        assert told["original_uri"] == HOME
        assert told["self"] == f"{server.url}/timemap/json/{HOME}"
        assert told["timegate_uri"] == f"{server.url}/timegate/{HOME}"
        assert [each["datetime"] for each in told["mementos"]["list"]] == MONTHS
        assert told["mementos"]["first"] == told["mementos"]["list"][0]
        assert told["mementos"]["last"] == told["mementos"]["list"][-1]
        assert told["timemap_index"] == []

    def test_head_has_no_body(self, server: Any) -> None:
        answer = server.ask(f"/timemap/link/{HOME}", "HEAD")
        assert (answer.status, answer.body) == (200, b"")
        assert answer.headers["Content-Type"] == "application/link-format"

    @pytest.mark.parametrize(
        ("target", "status"),
        [
            ("/timemap/link/http://none.example/", 404),
            (f"/timemap/link/20990101/{HOME}", 404),
            (f"/timemap/link/20269901/{HOME}", 400),
            (f"/timemap/link/20261/{HOME}", 400),
            (f"/timemap/rdf/{HOME}", 404),
            ("/timemap/link/", 400),
            ("/timemap/json/http://", 400),
        ],
    )
    def test_what_there_is_not(self, server: Any, target: str, status: int) -> None:
        answer = server.ask(target)
        assert answer.status == status
        assert json.loads(answer.body)["message"].endswith(".")


def walk(server: Any, url: str) -> list[list[Link]]:
    """The pages of a TimeMap, as a client follows them: each `timemap` link once."""
    start = f"{server.url}/timemap/link/{url}"
    waiting, seen, pages = [start], {start}, []
    while waiting:
        links = parse(server.ask(waiting.pop(0).removeprefix(server.url)).text)
        pages.append(links)
        for each in related(links, "timemap"):
            if each.uri not in seen:
                seen.add(each.uri)
                waiting.append(each.uri)
    return pages


@pytest.fixture(scope="module")
def pages(many: Any) -> list[list[Link]]:
    return walk(many, HOME)


class TestManyCaptures:
    def test_pages_hold_each_of_20000_mementos_once(self, pages: list[list[Link]]) -> None:
        by_start = {related(page, "memento")[0].at: page for page in pages}
        starts = sorted(by_start)
        assert len(starts) == COUNT // PAGE
        times = [each.at for start in starts for each in related(by_start[start], "memento")]
        assert len(times) == COUNT
        assert all(earlier < later for earlier, later in pairwise(times))

    def test_pages_say_what_they_and_those_beside_them_hold(self, pages: list[list[Link]]) -> None:
        told = {}
        for page in pages:
            (own,), mementos = related(page, "self"), related(page, "memento")
            assert (own.date("from"), own.date("until")) == (mementos[0].at, mementos[-1].at)
            told[own.date("from")] = own.date("until")
            for other in related(page, "timemap"):
                assert told.setdefault(other.date("from"), other.date("until")) == other.date(
                    "until"
                )
        firsts = [p for p in pages if any("first" in e.relations for e in p)]
        assert len(firsts) == 1

    def test_pages_as_json(self, many: Any) -> None:
        where, count, at = f"/timemap/json/{HOME}", 0, ""
        for _ in range(COUNT // PAGE):
            told = json.loads(many.ask(where).body)
            count += len(told["mementos"]["list"])
            at = told["mementos"]["list"][-1]["datetime"]
            later = [each for each in told["timemap_index"] if each["from"] > at]
            where = later[0]["uri"].removeprefix(many.url) if later else ""
        assert (count, where) == (COUNT, "")

    def test_a_gate_and_a_memento_are_not_slowed_by_them(self, many: Any) -> None:
        answer = gate(many, HOME, "Sun, 05 Jan 2020 00:00:30 GMT")
        assert stamp_in(answer.headers["Location"]) == "20200105000000"
        links = parse(answer.headers["Link"])
        assert [stamp_in(each.uri) for each in related(links, "prev")] == ["20200104235900"]
        assert [stamp_in(each.uri) for each in related(links, "next")] == ["20200105000100"]

    @pytest.mark.parametrize("target", [f"/cdx?url={HOME}&limit=9999", f"/timemap/link/{HOME}"])
    def test_an_answer_is_never_whole_in_memory(self, many: Any, target: str) -> None:
        """What is held are a batch of rows and a few lines, of the TimeMap also its moments."""
        connection = http.client.HTTPConnection("127.0.0.1", many.port, timeout=30)
        tracemalloc.start()
        try:
            connection.request("GET", target)
            answer = connection.getresponse()
            size = sum(map(len, iter(lambda: answer.read(16 << 10), b"")))
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            connection.close()
        assert size > 500_000

        assert most < 4_000_000


class TestClient:
    """The client of those who wrote the RFC."""

    @pytest.fixture
    def client(self, server: Any) -> Iterator[MementoClient]:
        with MementoClient(f"{server.url}/timegate/", check_native_timegate=False) as client:
            yield client

    def test_finds_the_memento_and_those_around_it(
        self, client: MementoClient, server: Any
    ) -> None:
        """It is given a memento, and asks it for its original."""
        asked = f"{server.url}/2026/{HOME}"
        told = client.get_memento_info(asked, datetime(2026, 3, 17, tzinfo=UTC))
        assert told["original_uri"] == HOME
        assert told["timegate_uri"] == f"{server.url}/timegate/{HOME}"
        found = told["mementos"]
        assert found["closest"]["uri"] == [f"{server.url}/20260301100000/{HOME}"]
        assert found["closest"]["datetime"] == datetime(2026, 3, 1, 10, tzinfo=UTC).replace(
            tzinfo=None
        )
        assert found["first"]["uri"] == [f"{server.url}/20260101100000/{HOME}"]
        assert found["last"]["datetime"] == datetime(2026, 5, 1, 10, tzinfo=UTC).replace(
            tzinfo=None
        )
        assert found["prev"]["datetime"] == datetime(2026, 2, 1, 10, tzinfo=UTC).replace(
            tzinfo=None
        )
        assert found["next"]["datetime"] == datetime(2026, 4, 1, 10, tzinfo=UTC).replace(
            tzinfo=None
        )

    def test_tells_gates_and_mementos_apart(self, client: MementoClient, server: Any) -> None:
        assert client.is_timegate(f"{server.url}/timegate/{HOME}", session=client.session)
        assert client.is_memento(f"{server.url}/20260101100000/{HOME}", session=client.session)
        assert not client.is_memento(f"{server.url}/timegate/{HOME}", session=client.session)

    def test_a_gate_without_mementos_is_none(self, client: MementoClient, server: Any) -> None:
        with pytest.raises(MementoClientException):
            client.is_timegate(f"{server.url}/timegate/http://none.example/")
