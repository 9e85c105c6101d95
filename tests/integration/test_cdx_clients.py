"""Clients that others wrote for CDX servers get from ours what they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import cdx_toolkit
import pytest
import wayback
from cdx_toolkit import myrequests
from wayback import _client

from asof.catalog.cdx_query import BLOCK, Resume
from support import many_captures, served_archive
from support.served_archive import Page

HOME = "http://site.example/"
PAGES = [
    *(Page(HOME, f"2026-0{month}-01T10:00:00Z", b"<p>%d" % month) for month in range(1, 7)),
    Page(HOME, "2026-07-01T10:00:00Z", same_as=(HOME, "2026-06-01T10:00:00Z")),
    Page(HOME + "gone", "2026-02-01T10:00:00Z", b"gone", status="404 Not Found"),
    Page(HOME + "a.png", "2026-02-01T10:00:00Z", b"\x89PNG", "image/png"),
    Page("http://sub.site.example/", "2026-03-01T10:00:00Z", b"<p>sub"),
    Page("https://other.example/", "2026-03-01T10:00:00Z", b"<p>other"),
    Page("https://other.example/2", "2026-07-02T10:00:00Z", same_as=(HOME, "2026-06-01T10:00:00Z")),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = served_archive.build(tmp_path_factory.mktemp("cdx") / "archive", PAGES)
    with served_archive.serving(folder, files=True) as running:
        yield running


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """More lines than a page of an index has."""
    folder = tmp_path_factory.mktemp("many") / "archive"
    rows = (many_captures.capture(HOME, number) for number in range(BLOCK * 10 + 5))
    with served_archive.serving(many_captures.build(folder, rows)) as running:
        yield running


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """cdx-toolkit waits for three seconds between questions to a server that it does not know."""
    monkeypatch.setitem(myrequests.retry_info["default"], "minimum_interval", 0)


def stamps(found: Any) -> list[str]:
    return [each["timestamp"] for each in found]


class TestCdxToolkit:
    def test_captures_of_a_url_between_two_moments(self, server: Any) -> None:
        client = cdx_toolkit.CDXFetcher(source=f"{server.url}/cdx")
        found = client.get(HOME, from_ts="202602", to="202604")
        assert stamps(found) == ["20260201100000", "20260301100000", "20260401100000"]
        assert found[0]["status"] == "200"

    def test_filters_and_limits(self, server: Any) -> None:
        client = cdx_toolkit.CDXFetcher(source=f"{server.url}/cdx")
        found = client.get("site.example/*", filter=["!=statuscode:200", "=mimetype:text/html"])
        assert [each["url"] for each in found] == [HOME + "gone"]
        assert len(client.get(HOME, limit=2)) == 2
        nearest = client.get(HOME, closest="20260310", limit=1)
        assert stamps(nearest) == ["20260301100000"]

    def test_what_is_not_there_is_nothing(self, server: Any) -> None:
        client = cdx_toolkit.CDXFetcher(source=f"{server.url}/cdx")
        assert client.get("http://none.example/") == []
        assert list(client.iter("http://none.example/")) == []
        assert client.get_size_estimate("http://none.example/", as_pages=True) == 0

    def test_a_walk_through_a_domain_ends(self, server: Any) -> None:
        client = cdx_toolkit.CDXFetcher(source=f"{server.url}/cdx")
        found = list(client.iter("*.site.example"))
        assert len(found) == 10
        assert {each["url"] for each in found} >= {"http://sub.site.example/", HOME + "a.png"}

    def test_pages_hold_each_capture_once(self, many: Any) -> None:
        client = cdx_toolkit.CDXFetcher(source=f"{many.url}/cdx")
        found = stamps(client.iter(HOME, fl="timestamp"))
        assert len(found) == len(set(found)) == BLOCK * 10 + 5
        assert found == sorted(found)
        assert client.get_size_estimate(HOME, as_pages=True) == 11  # blocks, for it

    def test_content_comes_from_the_warc_files(self, server: Any) -> None:
        client = cdx_toolkit.CDXFetcher(
            source=f"{server.url}/cdx", warc_download_prefix=f"{server.url}/-/warc"
        )
        assert client.get(HOME, limit=1)[0].content == b"<p>1"

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file of its
    def test_content_comes_from_mementos(self, server: Any) -> None:
        client = cdx_toolkit.CDXFetcher(source=f"{server.url}/cdx", wb=server.url)
        assert client.get(HOME, limit=1)[0].content == b"<p>1"

    def test_the_other_dialect_is_understood_too(self, server: Any) -> None:
        client = cdx_toolkit.CDXFetcher(source=f"{server.url}/cdx/search/cdx")
        assert client.get(HOME + "gone")[0]["status"] == "404"
        assert client.get("http://none.example/") == []
        assert len(list(client.iter("*.site.example"))) == 10


class TestWaybackClient:
    @pytest.fixture
    def search(self, server: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
        monkeypatch.setattr(_client, "CDX_SEARCH_URL", f"{server.url}/cdx/search/cdx")
        with wayback.WaybackClient(wayback.WaybackSession(search_calls_per_second=0)) as client:
            yield client.search

    def test_records_are_parsed(self, search: Any) -> None:
        found = list(search(HOME))
        assert len(found) == 7
        assert found[0].timestamp == datetime(2026, 1, 1, 10, tzinfo=UTC)
        assert (found[0].original, found[0].statuscode, found[0].mimetype) == (
            HOME,
            200,
            "text/html",
        )
        assert found[-1].mimetype == "text/html"  # it asks for what revisits stand for

    def test_resume_keys_lead_to_the_end(self, search: Any) -> None:
        """It asks for as many at a time as `limit` says, and goes on by the key."""
        found = [each.timestamp.month for each in search(HOME, limit=2)]
        assert found == [1, 2, 3, 4, 5, 6, 7]

    def test_filters_are_patterns_of_the_whole_field(self, search: Any) -> None:
        found = list(search("site.example", match_type="prefix", filter_field="statuscode:4.."))
        assert [each.original for each in found] == [HOME + "gone"]
        assert list(search(HOME, filter_field="statuscode:2")) == []
        part = list(search("site.example", match_type="prefix", filter_field="~original:png"))
        assert [each.original for each in part] == [HOME + "a.png"]

    def test_the_last_ones(self, search: Any) -> None:
        found = [each.timestamp.month for each in search(HOME, limit=-2)]
        assert found == [6, 7]

    def test_a_stretch_of_time(self, search: Any) -> None:
        ends = {
            "from_date": datetime(2026, 2, 1, tzinfo=UTC),
            "to_date": datetime(2026, 3, 2, tzinfo=UTC),
        }
        assert [each.timestamp.month for each in search(HOME, **ends)] == [2, 3]


@pytest.mark.parametrize("path", ["/cdx", "/cdx/search/cdx"])
def test_what_a_revisit_stands_for_is_found_under_another_url_too(server: Any, path: str) -> None:
    """pywb knows those of the same question alone. OutbackCDX calls the columns otherwise."""
    fields = "mime,status,originalOffset,originalFilename,originalLength"
    asked = f"{path}?url=other.example/2&output=text&resolveRevisits=true"
    lines = server.ask(f"{asked}&fl={fields}").text.splitlines()
    named = "mime,status,offset,filename,length"
    whole = f"{path}?url={HOME}&from=202606&limit=1&output=text&fl={named}"
    assert lines == server.ask(whole).text.splitlines()
    assert lines[0].startswith("text/html 200 ")
    assert server.ask(asked).text.split()[-3:] == [lines[0].split()[n] for n in (4, 2, 3)]
    first = server.ask(f"{path}?url={HOME}&limit=1&output=text&resolveRevisits=true").text
    assert first.endswith(" - - -\n")


def test_a_resume_key_needs_no_escapes() -> None:
    token = Resume(("example,site)/ä?x=%20", 1, "urn:uuid:1"), ("a/b", None)).token()
    assert token.replace("-", "").replace("_", "").isalnum()
