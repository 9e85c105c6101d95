"""What a capture shows of its URL: `show`, `diff`, `quality`, `get` and replay say the same.

One archive of files as other tools write them, with one host for each odd thing that revisits, 304s
and half answers do. Nothing here imports asof.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import select
import subprocess
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from support import rig
from support.forge import Rec, sha1
from support.rig import ok

ONE = b"<html><title>One</title><p>" + b"the first of two contents " * 20 + b"</p></html>"
TWO = b"<html><title>Two</title><p>" + b"quite another thing is here " * 20 + b"</p></html>"
LONG = " ".join(f"word{number * 7919 % 1009}" for number in range(400))
TOP, MIDDLE, END = "2021-03-04T12:00:00Z", "2021-03-04T13:00:00Z", "2021-03-04T14:00:00Z"
BETWEEN = "2021-03-04T13:30:00Z"
HTML = ("Content-Type", "text/html")
GZIP = ("Content-Encoding", "gzip")
PACKED = gzip.compress(ONE, 9, mtime=0)
# The same entity in another coding: only who knows the entity sees that nothing changed.
DEFLATED, DEFLATE = zlib.compress(ONE), ("Content-Encoding", "deflate")


def sha256(data: bytes) -> str:
    return "sha256:" + base64.b32encode(hashlib.sha256(data).digest()).decode()


def page(url: str, date: str, body: bytes = ONE, *headers: tuple[str, str], **kw: Any) -> Rec:
    """A download."""
    name = hashlib.sha1(f"{url} {date}".encode() + body).hexdigest()
    made = f"{name[:8]}-{name[8:12]}-{name[12:16]}-{name[16:20]}-{name[20:32]}"
    return Rec(url, body, date, headers=(HTML, *headers), record_id=made, **kw)


def revisit(
    url: str,
    date: str,
    profile: str,
    *headers: tuple[str, str],
    status: str = "200 OK",
    to_url: str = "",
    to_date: str = "",
    digest: str = "",
) -> Rec:
    """A record without the payload."""
    says = [
        ("WARC-Profile", f"http://netpreserve.org/warc/1.0/revisit/{profile}"),
        ("WARC-Refers-To-Target-URI", to_url),
        ("WARC-Refers-To-Date", to_date),
        ("WARC-Payload-Digest", digest),
    ]
    extra = [(name, value) for name, value in says if value]
    return Rec(url, b"", date, "revisit", status, headers, extra)


def unmodified(url: str, date: str, *headers: tuple[str, str], **kw: str) -> Rec:
    """A 304 about what was stored at the beginning."""
    kw = {"to_url": url, "to_date": TOP} | kw
    return revisit(url, date, "server-not-modified", *headers, status="304 Not Modified", **kw)


def two_of_a_second(url: str, first: tuple[str, str], second: tuple[str, str]) -> list[Rec]:
    """Two contents of one second, in the fractions that a 304 does not name."""
    return [
        page(url, "2021-03-04T12:00:00.2Z", ONE, first, version="WARC/1.1"),
        page(url, "2021-03-04T12:00:00.7Z", TWO, second, version="WARC/1.1"),
    ]


UNCLEAR = "http://unclear.example/page"
EXACT = "http://exact.example/page"
TWICE = "http://twice.example/page"
TAGGED = "http://tagged.example/page"
DATED = "http://dated.example/page"
NAMED = "https://named.example/page"
SPELLED = "https://spelled.example/page"
ASKED = "https://asked.example/page"
FRONT = "http://front.example/a/page.html"
PART = "http://part.example/page"
COPY = "http://copy.example/page"
DENIED = "http://denied.example/page"

OLD = "Mon, 01 Feb 2021 00:00:00 GMT"
NEWER = "Tue, 02 Feb 2021 00:00:00 GMT"


def http(url: str) -> str:
    return url.replace("https:", "http:")


def records() -> Iterator[Rec]:
    no_tag = ("X-Tag", "none")
    # (a) a 304 that names a second in which two contents were stored
    yield from two_of_a_second(UNCLEAR, no_tag, no_tag)
    yield unmodified(UNCLEAR, MIDDLE)
    yield from (page(EXACT, TOP), page(EXACT, TOP, TWO), unmodified(EXACT, MIDDLE))
    yield from two_of_a_second(TWICE, no_tag, no_tag)
    yield from (unmodified(TWICE, MIDDLE), unmodified(TWICE, END))
    yield from two_of_a_second(TAGGED, ("ETag", '"one"'), ("ETag", '"two"'))
    yield unmodified(TAGGED, MIDDLE, ("ETag", '"two"'))
    yield from two_of_a_second(DATED, ("Last-Modified", OLD), ("Last-Modified", NEWER))
    yield unmodified(DATED, MIDDLE, ("Last-Modified", NEWER))
    # (b) revisits under https of what was captured under http
    for url, names in ((NAMED, {"to_url": NAMED, "to_date": TOP}), (SPELLED, {})):
        yield page(http(url), TOP, PACKED, GZIP)
        yield revisit(
            url, MIDDLE, "identical-payload-digest", HTML, GZIP, digest=sha1(PACKED), **names
        )
        yield page(url, END, DEFLATED, DEFLATE)
    yield page(http(ASKED), TOP, PACKED, GZIP, ("ETag", '"one"'))
    yield unmodified(ASKED, MIDDLE, ("ETag", '"one"'))
    yield page(ASKED, END, DEFLATED, DEFLATE, ("ETag", '"one"'))
    # (c) a redirect to the front page, (d) a part, (e) a revisit by the digest of another URL
    yield page(FRONT, TOP)
    yield page(FRONT, MIDDLE, b"", ("Location", "/"), status="302 Found")
    yield page(PART, TOP, f"<title>Long</title><p>{LONG}</p>".encode())
    half = f"<title>Long</title><p>{LONG[: len(LONG) // 2]}".encode()
    yield page(PART, MIDDLE, half, ("Content-Range", "bytes 0-999/2000"), status="206 Partial")
    yield page("http://original.example/other", TOP, PACKED, GZIP)
    yield revisit(COPY, MIDDLE, "identical-payload-digest", HTML, GZIP, digest=sha1(PACKED))
    yield page(COPY, END, DEFLATED, DEFLATE)
    # A revisit whose digest is not that of what it names.
    yield from (page(DENIED, TOP, TWO), page("http://denied.example/other", TOP, ONE))
    yield revisit(
        DENIED, MIDDLE, "identical-payload-digest", HTML, to_url=DENIED, to_date=TOP,
        digest=sha1(ONE),
    )  # fmt: skip


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    location: str


@cache
def asked(*words: object) -> dict:
    """The JSON of a command; it is asked for once."""
    return ok(*words, "--json").json()


@dataclass(frozen=True)
class Readers:
    """The commands and the server over one archive."""

    archive: Path
    base: str

    def shown(self, url: str, date: str) -> dict:
        """The interval that `show` has a capture in; also who else is in it."""
        history = asked("show", url, "-a", self.archive)
        day = date.removesuffix("Z")
        [found] = [
            validity
            for validity in history["validity"]
            for evidence in validity["evidence"]
            if evidence["at"].startswith(day)
        ]
        return found

    def diff(self, url: str, before: str, after: str) -> dict:
        return asked("diff", url, before, after, "-a", self.archive)

    def quality(self, url: str, at: str) -> tuple[str, str | None]:
        """Grade and reason of the page at a moment."""
        report = asked("quality", "--url", url, "--at", at, "-a", self.archive)
        [found] = [page for page in report["pages"] if page["url"] == url]
        return found["grade"], found["reason"]

    def got(self, url: str, at: str) -> bytes | None:
        """The bytes; None if the archive does not know them."""
        result = rig.run("get", url, "--at", at, "-a", self.archive)
        assert result.code in (0, 1), str(result)
        return result.out if result.code == 0 else None

    def replayed(self, url: str, at: str) -> Answer:
        stamp = "".join(letter for letter in at if letter.isdigit())

        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_: object) -> None:
                return None

        try:
            opener = urllib.request.build_opener(Stay)
            with opener.open(f"{self.base}/{stamp}id_/{url}", timeout=15) as answer:
                return Answer(answer.status, answer.read(), "")
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read(), error.headers.get("location", ""))

    def same_everywhere(self, url: str, at: str, body: bytes) -> None:
        """`get` and replay have these bytes, and `show` the digest of them."""
        assert self.got(url, at) == body
        assert self.replayed(url, at) == Answer(200, body, "")
        assert self.shown(url, at)["content"] in (sha256(body), sha1(body))

    def unknown_everywhere(self, url: str, at: str, told: Sequence[bytes] = (ONE, TWO)) -> None:
        """Nobody claims one of the contents that it may be."""
        found = self.shown(url, at)
        assert (found["content"][:8], found["state"]) == ("unknown:", "silent")
        assert [evidence["proof"] for evidence in found["evidence"]] == ["not-modified"]
        assert self.got(url, at) is None
        answer = self.replayed(url, at)
        assert answer.status == 404
        assert not any(body in answer.body for body in told)


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Readers]:
    folder = tmp_path_factory.mktemp("reading")
    archive, file = folder / "archive", folder / "odd.warc.gz"
    file.write_bytes(b"".join(record.gz() for record in records()))
    ok("import", file, "-a", archive)
    process = rig.start("serve", "-a", archive, "--port", "0")
    try:
        yield Readers(archive, _address(process))
    finally:
        rig.end(process)
        process.communicate()


def _address(process: subprocess.Popen[bytes]) -> str:
    said, until = b"", time.monotonic() + 20
    while time.monotonic() < until and process.poll() is None:
        ready, _, _ = select.select([process.stdout, process.stderr], [], [], 0.2)  # type: ignore[type-var]
        said += b"".join(stream.read1(4096) for stream in ready)
        if found := re.search(rb"http://[0-9.]+:\d+", said):
            return found[0].decode()
    raise AssertionError(f"asof serve named no address: {said.decode()}")


@pytest.mark.parametrize("url", [UNCLEAR, EXACT, TWICE])
def test_a_304_about_a_second_with_two_contents_confirms_neither(
    readers: Readers, url: str
) -> None:
    readers.unknown_everywhere(url, MIDDLE)
    assert b"a 304 that proves none" in ok("show", url, "-a", readers.archive).out
    found = readers.diff(url, TOP, MIDDLE)
    assert (found["category"], found["states"][1]) == ("unavailable", "silent")
    grade, reason = readers.quality(url, "2021-03-04T12:30:00Z")
    assert (grade, reason) == ("unknown", "not-comparable")


def test_two_304_about_such_a_second_do_not_confirm_each_other(readers: Readers) -> None:
    readers.unknown_everywhere(TWICE, END)
    assert readers.quality(TWICE, BETWEEN)[0] == "unknown"


# A host whose dates did not move with its contents is not believed, but it names the same one.
@pytest.mark.parametrize(
    ("url", "grade", "since"),
    [(TAGGED, "confirmed", "2021-03-04T12:00:00.7"), (DATED, "unknown", "2021-03-04T13:00:00")],
)
def test_a_validator_that_only_one_of_them_has_says_which(
    readers: Readers, url: str, grade: str, since: str
) -> None:
    readers.same_everywhere(url, MIDDLE, TWO)
    assert readers.shown(url, MIDDLE)["since"].startswith(since)
    found = readers.diff(url, "2021-03-04T12:00:00.7Z", MIDDLE)
    assert (found["category"], found["states"]) == ("unchanged", ["present", "present"])
    assert readers.diff(url, "2021-03-04T12:00:00.3Z", MIDDLE)["category"] == "major"
    assert readers.quality(url, "2021-03-04T12:30:00Z")[0] == grade


@pytest.mark.parametrize(
    ("url", "grade"), [(NAMED, "proven"), (SPELLED, "proven"), (ASKED, "confirmed")]
)
def test_a_revisit_under_https_of_what_was_captured_under_http(
    readers: Readers, url: str, grade: str
) -> None:
    readers.same_everywhere(url, MIDDLE, ONE)
    found = readers.shown(url, MIDDLE)
    assert (found["until"][:19] + "Z", found["state"]) == (END, "present")
    assert readers.diff(url, MIDDLE, END)["category"] == "unchanged"
    assert readers.quality(url, BETWEEN) == (grade, None)


def test_a_redirect_to_the_front_page_leads_elsewhere(readers: Readers) -> None:
    found = readers.shown(FRONT, MIDDLE)
    assert (found["status"], found["state"]) == (302, "elsewhere")
    change = readers.diff(FRONT, TOP, MIDDLE)
    assert change["states"] == ["present", "elsewhere"]
    assert change["category"] == "removed"  # what most servers mean by it
    assert readers.quality(FRONT, "2021-03-04T12:30:00Z") == ("changed", "other-content")
    answer = readers.replayed(FRONT, MIDDLE)
    assert (answer.status, answer.location[-21:]) == (302, "http://front.example/")


def test_a_part_is_there_and_is_not_the_whole(readers: Readers) -> None:
    found = readers.shown(PART, MIDDLE)
    assert (found["status"], found["state"]) == (206, "present")
    change = readers.diff(PART, TOP, MIDDLE)
    assert change["states"] == ["present", "present"]
    assert change["category"] != "major"  # what is missing of it is not gone
    assert "one of the two was cut short" in change["details"]
    assert readers.quality(PART, "2021-03-04T12:30:00Z") == ("unknown", "truncated")


def test_a_revisit_by_the_digest_of_another_url(readers: Readers) -> None:
    readers.same_everywhere(COPY, MIDDLE, ONE)
    found = readers.shown(COPY, MIDDLE)
    assert (found["until"][:19] + "Z", found["state"]) == (END, "present")
    assert readers.diff(COPY, MIDDLE, END)["category"] == "unchanged"
    assert readers.quality(COPY, BETWEEN) == ("proven", None)


def test_a_digest_counts_for_more_than_a_name(readers: Readers) -> None:
    readers.same_everywhere(DENIED, MIDDLE, ONE)
    assert readers.diff(DENIED, TOP, MIDDLE)["category"] == "major"
    assert readers.quality(DENIED, "2021-03-04T12:30:00Z") == ("changed", "other-content")
