"""Crawling again: servers are asked whether something changed, and nothing is stored twice.

Issue 3, "Recrawl", as a user and his servers see it: the requests in the server's log, the records
in the WARC files as FastWARC reads them, and what `asof get` gives for either time.
"""

from __future__ import annotations

import gzip
import itertools
import time
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support import rig
from support.rig import Reply, crawl, ok, page, rows_of, site

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator

DATE = "Thu, 01 Jan 2026 00:00:00 GMT"
FILL = "<p>" + "Words that make a page longer than two hundred and fifty-six bytes. " * 5 + "</p>"


@dataclass(frozen=True)
class Record:
    """A response or revisit record."""

    file: str
    kind: str
    url: str
    profile: str
    digest: str
    refers_to: str
    size: int


def records(archive: Path) -> list[Record]:
    """All responses and revisits of an archive, in order."""
    found = []
    for path in rig.warcs(archive):
        for record in ArchiveIterator(str(path), parse_http=True):
            head = record.headers
            kind, profile = head["WARC-Type"], head.get("WARC-Profile") or ""
            if kind in {"response", "revisit"}:
                size = len(record.reader.read())
                digest = head.get("WARC-Payload-Digest") or ""
                source = head.get("WARC-Refers-To-Target-URI") or ""
                profile = profile.rpartition("/")[2]
                url = head["WARC-Target-URI"]
                found.append(Record(path.name, kind, url, profile, digest, source, size))
    return found


def stored_twice(archive: Path, *, robots: bool = False) -> dict[str, list[str]]:
    """Payload digests that occur in several response records, with the URLs of these."""
    urls = defaultdict(list)
    for record in records(archive):
        if record.kind == "response" and record.size and (robots or "robots.txt" not in record.url):
            urls[record.digest].append(record.url)
    return {digest: found for digest, found in urls.items() if len(found) > 1}


def newest(archive: Path) -> list[Record]:
    """The records of the last crawl."""
    last = rig.warcs(archive)[-1].name
    return [record for record in records(archive) if record.file == last]


@dataclass
class Site:
    """Bodies by path, each with the validators it is sent with: etag, date, both or none."""

    bodies: dict[str, str]
    validators: Callable[[str], set[str]] = lambda path: {"etag", "date"}
    media: dict[str, str] = field(default_factory=dict)

    def pages(self) -> dict[str, rig.Answer]:
        return {path: self.answer(path) for path in self.bodies}

    def tag(self, path: str) -> str:
        return f'"{zlib.crc32((path + self.bodies[path]).encode()):x}"'

    def answer(self, path: str) -> Callable[[bytes], Reply]:
        def reply(head: bytes) -> Reply:
            sent = self.validators(path)
            extra = {"ETag": self.tag(path)} if "etag" in sent else {}
            extra |= {"Last_Modified": DATE} if "date" in sent else {}
            known = f"If-None-Match: {self.tag(path)}".encode() in head or (
                "etag" not in sent and f"If-Modified-Since: {DATE}".encode() in head
            )
            if sent and known:
                return page("", "304 Not Modified", **extra)
            return page(self.bodies[path], media=self.media.get(path, "text/html"), **extra)

        return reply


def small_web() -> Site:
    """Pages reached only through others, a style sheet with a picture, equal and empty contents."""
    bodies = {
        "/": rig.links("/a", "/b", "/twin/1", "/twin/2", "/tiny", "/empty") + FILL
        + "<link rel=stylesheet href=/s.css>",
        "/a": rig.links("/a/only-from-here") + FILL,
        "/a/only-from-here": rig.links("/a/and/deeper") + FILL,
        "/a/and/deeper": "<p>the end</p>" + FILL,
        "/b": "<p>b</p>" + FILL,
        "/twin/1": "<p>twins</p>" + FILL,
        "/twin/2": "<p>twins</p>" + FILL,
        "/tiny": "<p>tiny</p>",
        "/empty": "",
        "/s.css": "p { background: url(/only-from-css.png) } /*" + FILL + "*/",
        "/only-from-css.png": "PNG" + FILL,
        "/robots.txt": "User-agent: *\nDisallow: /not\n# " + FILL,
    }  # fmt: skip
    media = {"/s.css": "text/css", "/only-from-css.png": "image/png", "/robots.txt": "text/plain"}
    return Site(bodies, media=media)


def by_kind(path: str) -> set[str]:
    """Some with one validator, some with the other, some with both or none."""
    return [{"etag"}, {"date"}, {"etag", "date"}, set()][sum(path.encode()) % 4]


# -- An unchanged site ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["all", "mixed", "none"])
def test_a_second_crawl_of_an_unchanged_site(tmp_path: Path, kind: str) -> None:
    """Conditional where there are validators, only revisits, every page again, nothing twice."""
    archive = tmp_path / "archive"
    web = small_web()
    if kind != "all":
        web.validators = by_kind if kind == "mixed" else lambda path: set()
    with site(web.pages()) as server:
        crawl(archive, server.url + "/")
        first = set(server.paths())
        assert first >= set(web.bodies)
        assert not [hit for hit in server.hits if b"\r\nIf-" in hit.head]
        server.hits.clear()
        report = crawl(archive, server.url + "/").json()
        assert Counter(server.paths()) == Counter(first), "each once, and all of them"
        heads = {hit.path: hit.head.decode() for hit in server.hits}
    for path in web.bodies.keys() - {"/robots.txt"}:
        sent = web.validators(path)
        assert (f"If-None-Match: {web.tag(path)}\r\n" in heads[path] + "\r\n") is ("etag" in sent)
        assert (f"If-Modified-Since: {DATE}" in heads[path]) is ("date" in sent)
    again = newest(archive)
    answers = [record for record in again if record.size or record.profile]
    assert {record.kind for record in answers} == {"revisit"}, again
    assert stored_twice(archive) == {}
    assert report["captured"] == len(first)
    rig.referees_agree(archive)


def test_profiles_say_what_the_server_said(tmp_path: Path) -> None:
    """304: server-not-modified. The same bytes again: identical-payload-digest, with its source."""
    archive = tmp_path / "archive"
    web = small_web()
    web.validators = lambda path: {"etag"} if path == "/a" else set()
    with site(web.pages()) as server:
        crawl(archive, server.url + "/")
        crawl(archive, server.url + "/")
        found = {record.url.removeprefix(server.url): record for record in newest(archive)}
        assert found["/a"].profile == "server-not-modified"
        assert found["/b"].profile == "identical-payload-digest"
        for path in ("/a", "/b"):
            assert found[path].refers_to == server.url + path
            assert ok("get", server.url + path, "-a", archive).out == web.bodies[path].encode()


def test_equal_content_of_two_urls_is_stored_once(tmp_path: Path) -> None:
    """Already in the first crawl, side by side in one group; and both can be read."""
    archive = tmp_path / "archive"
    web = small_web()
    with site(web.pages()) as server:
        crawl(archive, server.url + "/")
        twins = [r for r in records(archive) if "/twin/" in r.url]
        assert sorted(record.kind for record in twins) == ["response", "revisit"]
        for path in ("/twin/1", "/twin/2"):
            assert ok("get", server.url + path, "-a", archive).out == web.bodies[path].encode()
        rig.remove_database(archive)
        ok("reindex", "-a", archive)
        for path in ("/twin/1", "/twin/2"):
            assert ok("get", server.url + path, "-a", archive).out == web.bodies[path].encode()


def test_errors_and_redirects_are_not_stored_twice_either(tmp_path: Path) -> None:
    """An unchanged site has dead links and moved pages as well."""
    archive = tmp_path / "archive"
    pages: dict[str, rig.Answer] = {
        "/": page(rig.links("/dead", "/moved", "/dead-small", "/moved-small")),
        "/dead": page("<p>not here</p>" + FILL, "404 Not Found"),
        "/moved": page("<p>not here any more</p>" + FILL, "301 Moved", Location="/there"),
        "/dead-small": page("<p>gone</p>", "410 Gone"),
        "/moved-small": page("<p>moved</p>", "302 Found", Location="/there"),
        "/there": page("<p>there</p>"),
    }
    with site(pages) as server:
        crawl(archive, server.url + "/")
        crawl(archive, server.url + "/")
        twice = stored_twice(archive)
        assert twice == {}, sorted({url for urls in twice.values() for url in urls})
        rig.referees_agree(archive)


def test_the_same_page_without_conditions(tmp_path: Path) -> None:
    """--no-conditional: no validator is sent, everything comes again, and is still stored once."""
    archive = tmp_path / "archive"
    web = small_web()
    with site(web.pages()) as server:
        crawl(archive, server.url + "/")
        server.hits.clear()
        crawl(archive, server.url + "/", "--no-conditional")
        assert set(server.paths()) >= set(web.bodies)
        assert not [hit.path for hit in server.hits if b"\r\nIf-" in hit.head]
    assert "server-not-modified" not in {record.profile for record in newest(archive)}
    assert stored_twice(archive) == {}


def test_what_came_and_went_and_came_is_stored_once(tmp_path: Path) -> None:
    """A page that changes to and fro: the third crawl finds the first one's payload."""
    archive = tmp_path / "archive"
    bodies = ["<p>one</p>" + FILL, "<p>two</p>" + FILL, "<p>one</p>" + FILL]
    for body in bodies:
        web = Site({"/": body}, lambda path: set())
        with site({"http://a.example/": web.answer("/")}) as proxy:
            crawl(archive, "http://a.example/", "--proxy", proxy.url)
    kinds = [record.kind for record in records(archive) if record.url == "http://a.example/"]
    assert kinds == ["response", "response", "revisit"]
    assert stored_twice(archive) == {}


# -- A site that changes --------------------------------------------------------------------------


def test_a_changed_page_is_stored_and_both_can_be_had(tmp_path: Path) -> None:
    """`asof get --at` gives what there was at either time; unchanged pages too."""
    archive = tmp_path / "archive"
    web = small_web()
    with site(web.pages()) as server:
        crawl(archive, server.url + "/")
        before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
        time.sleep(2.1)
        old = web.bodies["/b"]
        web.bodies["/b"] = rig.links("/new") + FILL
        web.bodies["/new"] = "<p>new</p>" + FILL
        server.pages["/new"] = web.answer("/new")
        server.hits.clear()
        crawl(archive, server.url + "/")
        assert "/new" in server.paths()
        changed = {r.url.removeprefix(server.url) for r in newest(archive) if r.kind == "response"}
        assert {"/b", "/new"} <= changed <= {"/b", "/new", "/empty", "/robots.txt"}
        assert ok("get", server.url + "/b", "-a", archive).out == web.bodies["/b"].encode()
        told = ok("get", server.url + "/b", "--at", before, "-a", archive)
        assert told.out == old.encode()
        for path in ("/a", "/s.css", "/tiny"):
            for words in ([], ["--at", before]):
                said = ok("get", server.url + path, *words, "-a", archive)
                assert said.out == web.bodies[path].encode()
        missing = rig.run("get", server.url + "/new", "--at", before, "-a", archive)
        assert missing.code != 0, "as-of answers never come from the future"
        assert stored_twice(archive) == {}


def test_the_validators_are_those_of_the_last_capture(tmp_path: Path) -> None:
    """Of the version that was sent last, also behind a 304 and an equal digest."""
    archive = tmp_path / "archive"
    web = Site({"/": "<p>v1</p>"}, lambda path: {"etag"})
    asked = []
    with site(web.pages()) as server:
        for body in ("<p>v1</p>", "<p>v1</p>", "<p>v2</p>", "<p>v2</p>", "<p>v2</p>"):
            web.bodies["/"] = body
            server.hits.clear()
            crawl(archive, server.url + "/")
            (hit,) = [hit for hit in server.hits if hit.path == "/"]
            asked.append(hit.head.decode().partition("If-None-Match: ")[2].partition("\r\n")[0])
    one = Site({"/": "<p>v1</p>"}).tag("/")
    two = Site({"/": "<p>v2</p>"}).tag("/")
    assert asked == ["", one, one, two, two]


# -- Servers that lie -----------------------------------------------------------------------------


def test_a_server_that_says_304_to_everything(tmp_path: Path) -> None:
    """Asked conditionally: a revisit. Never asked before: an odd answer, kept, and on it goes.

    A page whose 304 nobody asked for has no payload, and `asof get` says so in a sentence.
    """
    archive = tmp_path / "archive"
    web = small_web()
    with site(web.pages()) as server:
        crawl(archive, server.url + "/")
        web.bodies["/"] += rig.links("/never-seen")
        del web.bodies["/b"]
        same = page("", "304 Not Modified", ETag='"x"')
        server.pages = dict.fromkeys((*web.bodies, "/b", "/never-seen"), same)
        server.hits.clear()
        report = crawl(archive, server.url + "/").json()
        assert report["state"] == "finished"
        assert set(server.paths()) >= {"/", "/a", "/b", "/a/only-from-here", "/only-from-css.png"}
        assert ok("get", server.url + "/b", "-a", archive).out == ("<p>b</p>" + FILL).encode()
        crawl(tmp_path / "fresh", server.url + "/never-seen", code=1)
        said = rig.run("get", server.url + "/never-seen", "-a", tmp_path / "fresh")
        assert len(said.err.splitlines()) <= 1
        rig.referees_agree(archive)
        rig.referees_agree(tmp_path / "fresh")


def test_an_etag_that_is_new_each_time(tmp_path: Path) -> None:
    """The same bytes under ever new validators are revisits all the same."""
    archive = tmp_path / "archive"
    number = itertools.count()

    def answer(head: bytes) -> Reply:
        return page(rig.links("/small") + FILL, ETag=f'"{next(number)}"', Last_Modified=DATE)

    def small(head: bytes) -> Reply:
        return page("<p>small</p>", ETag=f'W/"{next(number)}"')

    with site({"/": answer, "/small": small}) as server:
        for _ in range(3):
            crawl(archive, server.url + "/")
        for path in ("/", "/small"):
            found = [r for r in records(archive) if r.url == server.url + path]
            assert [record.kind for record in found] == ["response", "revisit", "revisit"]
            assert found[-1].profile == "identical-payload-digest"
        sent = [hit.head for hit in server.hits if hit.path == "/"]
        assert b'If-None-Match: "0"' in sent[1]
        assert b'If-None-Match: "0"' not in sent[2], "the newest one is asked about"
        assert stored_twice(archive) == {}


@pytest.mark.parametrize("coding", ["chunked", "gzip"])
def test_the_same_content_in_another_wrapping_is_kept_and_is_one(
    tmp_path: Path, coding: str
) -> None:
    """Chunks are cut anew, gzip has the time in it: no byte is lost (ADR 5), nothing changed."""
    archive = tmp_path / "archive"
    number = itertools.count(1)
    body = FILL.encode() * 9

    def answer(head: bytes) -> Reply:
        if coding == "gzip":
            return page(gzip.compress(body, mtime=next(number)), Content_Encoding="gzip")
        size = 100 * next(number)
        cuts = [body[at : at + size] for at in range(0, len(body), size)]
        lines = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(cut), cut) for cut in cuts)
        return Reply((lines + chunks + b"0\r\n\r\n",), "keep")

    with site({"/": answer}) as server:
        for _ in range(3):
            crawl(archive, server.url + "/")
        kinds = [record.kind for record in records(archive) if record.url == server.url + "/"]
        assert kinds == ["response", "response", "response"]
        assert ok("get", server.url + "/", "-a", archive).out == body
        shown = ok("show", server.url + "/", "-a", archive, "--json").json()
        assert len(shown["validity"]) == 1
        rig.referees_agree(archive)


def test_validators_that_would_break_a_request_are_not_sent(tmp_path: Path) -> None:
    """An ETag of control characters or without end; a date that is none: the crawl goes on."""
    archive = tmp_path / "archive"
    odd = ['"a\x01b"', '"' + "x" * 20_000 + '"', "unquoted", '"\xff\xfe"', "*", ""]
    pages: dict[str, rig.Answer] = {
        f"/{no}": page(f"<p>{no}</p>" + FILL, ETag=tag, Last_Modified="yesterday")
        for no, tag in enumerate(odd)
    }
    pages["/"] = page(rig.links(*pages))
    with site({path: page_bytes(answer) for path, answer in pages.items()}) as server:
        crawl(archive, server.url + "/")
        server.hits.clear()
        crawl(archive, server.url + "/")
        assert set(pages) <= set(server.paths())
        for hit in server.hits:
            assert b"\x01" not in hit.head
            assert b"yesterday" not in hit.head
            assert len(hit.head) < 40_000
            assert b"If-None-Match: *" not in hit.head, "that would mean: whatever you have"
        assert stored_twice(archive) == {}


def page_bytes(answer: rig.Answer) -> Reply:
    """The reply with its head in Latin-1, as headers are on the wire."""
    assert isinstance(answer, Reply)
    return Reply((answer.sent.decode().encode("latin-1"),), answer.after)


def test_a_truncated_capture_is_not_asked_about(tmp_path: Path) -> None:
    """Half a page is no page: the next crawl asks for the whole one, unconditionally."""
    archive = tmp_path / "archive"
    whole = page("<p>whole</p>" + FILL, ETag='"same"')
    half = Reply((whole.sent[:-100],), "reset")

    def later(head: bytes) -> Reply:
        return page("", "304 Not Modified") if b'"same"' in head else whole

    with site({"/": half}) as server:
        rig.run("crawl", server.url + "/", "-a", archive, "--delay", "0", env={"ASOF_RETRIES": "0"})
        server.pages["/"] = later
        crawl(archive, server.url + "/", "--new")
        assert ok("get", server.url + "/", "-a", archive).out == ("<p>whole</p>" + FILL).encode()


@pytest.mark.parametrize("status", ["200 OK", "404 Not Found"])
def test_a_small_robots_txt_is_not_stored_with_every_crawl(tmp_path: Path, status: str) -> None:
    """Nor is the page that says that there is none: daily crawls would fill with them."""
    archive = tmp_path / "archive"
    robots = page("User-agent: *\nDisallow: /x\n", status, media="text/plain")
    with site({"/": page("<p>x</p>"), "/robots.txt": robots}) as server:
        for _ in range(3):
            crawl(archive, server.url + "/")
    assert stored_twice(archive, robots=True) == {}


def test_robots_txt_is_asked_about_as_well(tmp_path: Path) -> None:
    """It is a document like others; what a 304 confirms is still obeyed, sitemaps included."""
    archive = tmp_path / "archive"
    with site({}) as server:
        listed = f"<urlset><url><loc>{server.url}/listed</loc></url></urlset>"
        robots = f"User-agent: *\nDisallow: /private\nSitemap: {server.url}/map.xml\n# {FILL}"
        web = Site(
            {"/": rig.links("/private"), "/robots.txt": robots, "/map.xml": listed, "/listed": "l",
             "/private": "p"},
            media={"/robots.txt": "text/plain", "/map.xml": "application/xml"},
        )  # fmt: skip
        server.pages.update(web.pages())
        crawl(archive, server.url + "/")
        server.hits.clear()
        crawl(archive, server.url + "/")
        assert set(server.paths()) == {"/", "/robots.txt", "/map.xml", "/listed"}
        (hit,) = [hit for hit in server.hits if hit.path == "/robots.txt"]
        assert f"If-None-Match: {web.tag('/robots.txt')}".encode() in hit.head
        assert {record.kind for record in newest(archive)} == {"revisit"}
        assert rows_of(archive, "--url", server.url + "/robots.txt")[-1]["kind"] == "revisit"


@pytest.mark.parametrize("validators", [{"etag"}, set()], ids=["304", "same bytes"])
@pytest.mark.parametrize("harm", ["deleted", "damaged"])
def test_what_the_archive_has_lost_is_fetched_again(
    tmp_path: Path, harm: str, validators: set[str]
) -> None:
    """The old WARC file is gone or broken: a second crawl must not rely on what it held.

    It may ask conditionally and learn that nothing changed; but then it has to ask again, for the
    payload is nowhere else.
    """
    archive = tmp_path / "archive"
    web = small_web()
    web.validators = lambda path: validators
    with site(web.pages()) as server:
        crawl(archive, server.url + "/")
        (file,) = rig.warcs(archive)
        if harm == "deleted":
            file.unlink()
        else:
            file.write_bytes(b"\0" * file.stat().st_size)
        report = crawl(archive, server.url + "/").json()
        assert report["state"] == "finished"
        for path in ("/", "/a", "/b", "/a/and/deeper"):
            said = rig.run("get", server.url + path, "-a", archive)
            assert said.out == web.bodies[path].encode(), str(said)
