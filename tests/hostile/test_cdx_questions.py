"""The CDX server under odd questions, and its laws: pages, resume keys and orders agree."""

from __future__ import annotations

import gzip
import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from asof.archive import OpenArchive
from asof.catalog import cdx_answer, cdx_query
from asof.catalog.cdx_answer import CdxSearch, written
from asof.catalog.cdx_query import PYWB, WAYBACK
from asof.catalog.listing import Listing
from asof.clock import SECOND, parse_moment
from asof.errors import UsageError
from support import many_captures, served_archive
from support.many_captures import capture

HOME = "http://site.example/"
HOUR = 3_600_000_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("odd") / "archive"
    rows = [capture(HOME, number, step=HOUR) for number in range(500)]
    rows += [capture(HOME + f"p/{number}", number) for number in range(100)]
    rows += [capture("http://a.site.example/", 1), capture("http://site.example:8080/", 1)]
    rows += [capture(HOME + "gone", number, status=404) for number in range(3)]
    with served_archive.serving(many_captures.build(folder, rows)) as running:
        yield running


def ask(server: Any, path: str = "/cdx", **query: Any) -> Any:
    named = {name.rstrip("_"): value for name, value in query.items()}
    return server.ask(f"{path}?{urlencode(named, doseq=True)}")


def stamps(answer: Any) -> list[str]:
    assert answer.status == 200, answer.text
    return [line.split(" ")[1] for line in answer.text.splitlines()]


@pytest.mark.parametrize("path", ["/cdx", "/cdx/", "/cdx/search/cdx"])
@pytest.mark.parametrize(
    "query",
    [
        {}, {"url": ""}, {"url": "*"}, {"url": "*."}, {"url": HOME, "matchType": "near"},
        {"url": HOME, "sort": "up"}, {"url": HOME, "output": "xml"}, {"url": HOME, "limit": "x"},
        {"url": HOME, "limit": "1e3"}, {"url": HOME, "limit": "9" * 30},
        {"url": HOME, "page": "-1"},
        {"url": HOME, "page": "7"}, {"url": HOME, "offset": "-1"}, {"url": HOME, "from": "May"},
        {"url": HOME, "to": "²"}, {"url": HOME, "sort": "closest", "closest": "yesterday"},
        {"url": HOME, "sort": "closest", "closest": "20261301"}, {"url": HOME, "fl": "url,nose"},
        {"url": HOME, "filter": "nose:1"}, {"url": HOME, "collapse": "nose"},
        {"url": HOME, "collapse": "digest:x"}, {"url": HOME, "resumeKey": "x"},
        {"url": HOME, "resumeKey": "W10"}, {"url": HOME, "resumeKey": "bnVsbA"},
        {"url": HOME, "resumeKey": "WyJcdWQ4MDAiLCAxLCAiIl0"}, {"url": HOME, "pageSize": "x"},
        {"url": HOME, "resumeKey": "[" * 9000}, {"url": HOME, "resumeKey": "WyJ6IiwgMSwgIiJd"},
        {"url": HOME, "collapseTime": "x"}, {"url": HOME, "collapseToLast": "digest"},
    ],
    ids=str,
)  # fmt: skip
def test_a_bad_question_is_answered_by_a_sentence(server: Any, path: str, query: Any) -> None:
    answer = ask(server, path, **query)
    assert answer.status == 400
    assert json.loads(answer.body)["message"].endswith(".")


@pytest.mark.parametrize(
    "pattern",
    ["(", "*", "(a{1000}){1000}", "(((a{99}){99}){99}){99}", "x" * 501, "[", "(?P<a", "a{9999999}"],
)
def test_a_bad_pattern_is_answered_at_once(server: Any, pattern: str) -> None:
    assert ask(server, url=HOME, filter=f"~url:{pattern}").status == 400
    assert ask(server, "/cdx/search/cdx", url=HOME, filter=f"original:{pattern}").status == 400


def test_a_pattern_that_never_ends_is_cut_off(tmp_path: Any) -> None:
    rows = [capture(HOME + "a" * 20_000 + "!", 1)]
    with served_archive.serving(many_captures.build(tmp_path / "archive", rows)) as server:
        answer = ask(server, url=HOME + "*", filter=r"~url:.*?(a+)+$")
        assert answer.status == 400
        assert "takes too long" in answer.text


def test_methods_and_heads(server: Any) -> None:
    assert server.ask(f"/cdx?url={HOME}", "POST").status == 405
    head = server.ask(f"/cdx?url={HOME}", "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["Content-Type"].startswith("text/x-cdxj")


def test_gzip_for_those_who_take_it(server: Any) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("GET", f"/cdx?url={HOME}", skip_accept_encoding=True)
    connection.putheader("Accept-Encoding", "gzip")
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.read()) == ask(server, url=HOME).body
    connection.close()


@pytest.mark.parametrize(
    ("url", "match", "count"),
    [
        (HOME, "exact", 500), ("site.example", "exact", 500),
        ("https://www.site.example/", "", 500),
        (HOME + "p/", "prefix", 100), (HOME + "p", "prefix", 100), (HOME + "p/1", "prefix", 11),
        (HOME, "host", 603), (HOME, "domain", 604), ("*.site.example", "", 604),
        (HOME + "p/*", "", 100), ("example", "domain", 605), (HOME + "none", "exact", 0),
        (HOME, "range", 605), (HOME + "p/98", "range", 4), ("http://zoo.example/", "range", 0),
    ],
)  # fmt: skip
def test_what_of_a_url_is_meant(server: Any, url: str, match: str, count: int) -> None:
    assert len(stamps(ask(server, url=url, matchType=match))) == count


def test_a_key_is_taken_as_it_is(server: Any) -> None:
    assert len(stamps(ask(server, urlkey="example,site)/"))) == 500
    assert len(stamps(ask(server, urlkey="example,site)/p/98", matchType="range"))) == 4
    assert stamps(ask(server, urlkey="HTTP://SITE.EXAMPLE/")) == []


def test_orders(server: Any) -> None:
    whole = stamps(ask(server, url=HOME))
    assert whole == sorted(whole)
    assert stamps(ask(server, url=HOME, sort="reverse")) == whole[::-1]
    assert stamps(ask(server, url=HOME, sort="reverse", limit=3)) == whole[:-4:-1]
    assert stamps(ask(server, url=HOME, limit=-3)) == whole[-3:]
    assert stamps(ask(server, url=HOME, limit=3, offset=10)) == whole[10:13]
    assert (
        stamps(ask(server, url=HOME, limit=-3, collapse="timestamp:8"))
        == [day for day in whole if day.endswith("000000")][-3:]
    )


@pytest.mark.parametrize(
    "closest",
    ["20200105120000", "1999", "20991231235959", "20200105123000", "20200105", "202001", "2020"],
)
def test_the_nearest_first(server: Any, closest: str) -> None:
    """Of two as far away, the earlier; whatever is matched and collapsed."""
    for query in ({"url": HOME}, {"url": HOME + "p/", "matchType": "prefix"}):
        whole = stamps(ask(server, **query))
        found = stamps(ask(server, **query, sort="closest", closest=closest, limit=20))
        assert found == sorted(whole, key=lambda stamp: _seconds(stamp, closest))[:20]


def _seconds(stamp: str, closest: str) -> int:
    """A day is its end, as pywb has it."""
    return abs(parse_moment(stamp, now=0) - parse_moment(closest, now=0)) // SECOND


@pytest.mark.parametrize(
    "collapse", [[], ["timestamp:8"], ["digest"], ["urlkey"], ["status", "digest"]]
)
@pytest.mark.parametrize("limit", [1, 7, 50])
def test_resume_keys_tell_the_whole_in_parts(server: Any, collapse: list[str], limit: int) -> None:
    query: Any = {"url": "*.site.example", "collapse": collapse, "filter": "!timestamp:2020010304"}
    whole = ask(server, **query).text.splitlines()
    parts: list[str] = []
    key: dict[str, str] = {}
    for _ in range(len(whole) + 1 if limit > 1 else 40):
        text = ask(server, **query, limit=limit, showResumeKey="true", **key).text
        lines, blank, token = text.partition("\n\n")
        parts += lines.splitlines()
        if not blank:
            break
        key = {"resumeKey": token.strip()}
    assert parts == whole[: len(parts)]
    assert limit == 1 or parts == whole


def test_resume_keys_in_json(server: Any) -> None:
    lines = ask(server, url=HOME, output="json", limit=2, showResumeKey="true").text.splitlines()
    following = ask(server, url=HOME, limit=1, resumeKey=json.loads(lines[-1])["resumeKey"])
    assert stamps(following) == stamps(ask(server, url=HOME, limit=1, offset=2))
    rows = json.loads(
        ask(server, "/cdx/search/cdx", url=HOME, output="json", limit=2, showResumeKey="1").body
    )
    assert rows[0][2] == "original"
    assert (len(rows), rows[3]) == (5, [])
    assert stamps(
        ask(server, "/cdx/search/cdx", url=HOME, resumeKey=rows[4][0], limit=1)
    ) == stamps(following)


def test_pages_tell_the_whole_in_parts(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cdx_answer, "BLOCK", 40)
    query = {"url": "*.site.example", "filter": "=status:200"}
    whole = ask(server, **query).text
    count = json.loads(ask(server, **query, showNumPages="true", pageSize=2).body)
    assert count == {"pages": 8, "pageSize": 2, "blocks": 16}
    parts = [ask(server, **query, page=page, pageSize=2).text for page in range(8)]
    assert "".join(parts) == whole
    assert ask(server, **query, page=8, pageSize=2).status == 400
    backwards = ask(server, **query, page=3, pageSize=2, sort="reverse").text.splitlines()
    assert backwards == parts[3].splitlines()[::-1]


class Slow:
    """A clock on which every look takes a while."""

    def __init__(self, each: float) -> None:
        self._each = each
        self._now = 0.0

    def now(self) -> int:
        return 0

    def monotonic(self) -> float:
        self._now += self._each
        return self._now

    async def sleep(self, seconds: float) -> None:
        self._now += seconds


def test_work_has_an_end_and_goes_on_by_a_key(tmp_path: Any) -> None:
    """More to look through than there is time for: all of it in parts, or an error."""
    rows = [capture(HOME, number) for number in range(300)]
    folder = many_captures.build(tmp_path / "archive", rows)
    with OpenArchive.open(folder) as archive:
        listing = Listing(archive.ledger, Slow(0))

        def answer(**params: str) -> tuple[list[str], cdx_query.Resume | None]:
            query = cdx_query.cdx_query({name: [text] for name, text in params.items()}, PYWB)
            search = CdxSearch(archive.catalog, listing, query, Slow(0.5))
            return list(written(search, query)), search.resume

        asked = {"url": HOME, "filter": "=digest:sha1:" + "0" * 31 + "3", "output": "text"}
        with pytest.raises(UsageError, match="20 seconds"):
            answer(**asked)
        found, resume = answer(**asked, showResumeKey="true")
        rounds = 1
        while resume is not None:
            assert found.pop() == f"\n{resume.token()}\n"
            more, resume = answer(**asked, showResumeKey="true", resumeKey=resume.token())
            found += more
            rounds += 1
        assert len(found) == len(set(found)) == 43
        assert 5 < rounds < 20


def test_dialects_read_filters_differently() -> None:
    def accepts(spec: str, dialect: cdx_query.Dialect, status: str) -> bool:
        query = cdx_query.cdx_query({"url": [HOME], "filter": [spec]}, dialect)
        return all(each.accepts({"status": status}) for each in query.filters)

    for spec, status, pywb, wayback in (
        ("status:20", "200", True, False),
        ("statuscode:2..", "200", False, True),
        ("~status:2", "200", True, True),
        ("~status:0", "200", False, True),
        ("~!status:0", "200", True, False),
        ("!~status:0", "200", True, False),
        ("=status:200", "200", True, True),
        ("!=status:200", "200", False, False),
        ("!status:200", "404", True, True),
        ("404", "404", True, True),
    ):
        assert accepts(spec, PYWB, status) == pywb, spec
        assert accepts(spec, WAYBACK, status) == wayback, spec
