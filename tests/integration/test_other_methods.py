"""What answers POST, HEAD and the like is set apart: no question about its URL ever sees it."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha1
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof.archive import OpenArchive
from asof.archive import scan as scanning
from asof.archive.check import check
from asof.archive.folder import Folder
from asof.archive.intake import import_files
from asof.archive.reindex import reindex
from asof.catalog.asked import address
from asof.catalog.validity import validities
from asof.clock import parse_stamp
from asof.coherence.certificate import Choice
from asof.config import DEFAULTS
from asof.replay.choose import Chooser, Policy, Verdict
from asof.replay.posted import posted
from asof.url import surt
from asof.warc.digest import base32
from support import rig
from support.certified import checked, made
from support.laws import examples

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

SITE = "http://p.example/"
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
INDEXER = Path(sys.executable).with_name("cdxj-indexer")
HEADS = {"response": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"}


@dataclass(frozen=True)
class Asked:
    """One exchange; `naming` are the records that name the other as concurrent."""

    method: str
    answer: bytes
    day: int = 1
    path: str = "api"
    sent: bytes = b""
    media: str = JSON
    naming: str = "request"
    repeats: int = 0  # the day of which this is a revisit

    @property
    def at(self) -> str:
        return f"2026-01-{self.day:02}T00:00:00Z"


def _record(kind: str, own: str, other: str, each: Asked, block: bytes, more: str = "") -> bytes:
    part = "request" if kind == "request" else "response"
    beside = f"WARC-Concurrent-To: <urn:uuid:{other}>\r\n" if part in each.naming else ""
    fields = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{own}>\r\n"
        f"WARC-Date: {each.at}\r\nWARC-Target-URI: {SITE}{each.path}\r\n{beside}{more}"
        f"Content-Type: application/http; msgtype={part}\r\nContent-Length: {len(block)}"
    )
    return gzip.compress(fields.encode() + b"\r\n\r\n" + block + b"\r\n\r\n", 0)


def written(number: int, each: Asked) -> tuple[bytes, bytes]:
    """An answer and its request."""
    own, other = f"00000000-0000-4000-8000-{number:012}", f"00000000-0000-4000-9000-{number:012}"
    more = f"WARC-Payload-Digest: sha1:{base32(sha1(each.answer).digest())}\r\n"
    kind, said = "response", HEADS["response"] + each.answer
    if each.repeats:
        kind, said = "revisit", HEADS["response"]
        profile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
        more += (
            f"WARC-Profile: {profile}\r\nWARC-Refers-To-Target-URI: {SITE}{each.path}\r\n"
            f"WARC-Refers-To-Date: 2026-01-{each.repeats:02}T00:00:00Z\r\n"
        )
    line = f"{each.method} /{each.path} HTTP/1.1\r\nContent-Type: {each.media}\r\n\r\n"
    return (
        _record(kind, own, other, each, said, more),
        _record("request", other, own, each, line.encode() + each.sent),
    )


def in_order(exchanges: Iterable[Asked], order: str = "after") -> bytes:
    pairs = [written(number, each) for number, each in zip(count(1), exchanges, strict=False)]
    if order == "last":
        return b"".join([answer for answer, _ in pairs] + [request for _, request in pairs])
    return b"".join(b"".join(pair if order == "after" else pair[::-1]) for pair in pairs)


def taken(root: Path, *files: bytes, packed: bool = True) -> Path:
    """An archive of such files."""
    paths = []
    for number, data in enumerate(files):
        paths.append(root / f"{number}.warc{'.gz' if packed else ''}")
        paths[-1].write_bytes(data if packed else gzip.decompress(data))
    import_files(Folder(root / "a"), paths, map, lambda size: None, DEFAULTS)
    return root / "a"


def kept(root: Path) -> tuple[list[str], list[str]]:
    """Ids of records that GET got, and of those that are set apart; the same after reindex."""

    def read() -> tuple[list[object], list[str], list[str]]:
        with OpenArchive.open(root) as archive:
            rows = [*archive.ledger.db.execute("SELECT * FROM captures ORDER BY 1, 2, 3")]
            plain, apart = ([*archive.catalog.captures(apart=each)] for each in (False, True))
            whole = check(archive, spread=map, progress=lambda size: None)
            assert whole.ok, whole.problems
        return (
            rows,
            sorted(c.record_id[-2:] for c in plain),
            sorted(c.record_id[-2:] for c in apart),
        )

    before = read()
    reindex(Folder(root), spread=map, progress=lambda size: None)
    assert read() == before
    return before[1:]


@pytest.mark.parametrize("packed", [True, False], ids=["gzip", "plain"])
@pytest.mark.parametrize("naming", ["request", "response", "request response", ""])
@pytest.mark.parametrize("order", ["after", "before", "last"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "HEAD", "OPTIONS", "DELETE"])
def test_an_answer_to_another_method_is_set_apart(
    tmp_path: Path, method: str, order: str, naming: str, *, packed: bool
) -> None:
    exchanges = [
        Asked("GET", b"a", 1, naming=naming),
        Asked(method, b"b", 2, naming=naming),
        Asked("GET", b"a", 3, naming=naming),
    ]
    archive = taken(tmp_path, in_order(exchanges, order), packed=packed)
    assert kept(archive) == (["01", "03"], ["02"])


@given(
    st.lists(
        st.builds(
            Asked,
            method=st.sampled_from(["GET", "GET", "POST", "HEAD"]),
            answer=st.sampled_from([b"a", b"b"]),
            day=st.sampled_from([1, 2]),
            path=st.sampled_from(["x", "y?q=1"]),
            sent=st.sampled_from([b"", b'{"q": 1}', b"{"]),
        ),
        max_size=8,
    ),
    st.sampled_from(["request", "response", "request response", ""]),
    st.sampled_from(["after", "before", "last"]),
    st.sampled_from([400, 1 << 20]),
)
@settings(max_examples=examples(40))
def test_the_law_of_requests(found: list[Asked], naming: str, order: str, size: int) -> None:
    """Of the same URL and second, too; in one piece, and in ranges of a record or two."""
    exchanges = [replace(each, naming=naming) for each in found]
    wanted: tuple[list[str], list[str]] = ([], [])
    for number, each in enumerate(exchanges, 1):
        wanted[each.method != "GET"].append(f"{number:02}")
    if not exchanges:
        return
    with TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch:
        if naming:  # what names nothing is told apart by its turn within one range
            patch.setattr(scanning, "RANGE_BYTES", size)
        assert kept(taken(Path(root), in_order(exchanges, order))) == wanted


def test_a_request_whose_answer_is_not_there_is_nobody_elses(tmp_path: Path) -> None:
    get, post = written(1, Asked("GET", b"a")), written(2, Asked("POST", b"b"))
    assert kept(taken(tmp_path, b"".join(get) + post[1])) == (["01"], [])


def test_the_same_records_again_add_nothing(tmp_path: Path) -> None:
    data = in_order([Asked("GET", b"a"), Asked("POST", b"b")])
    archive = taken(tmp_path, data, data, data + in_order([Asked("GET", b"a")]))
    assert kept(archive) == (["01"], ["02"])
    assert len(Folder(archive).segment_files()) == 1


def test_a_copy_beside_something_new_is_known(tmp_path: Path) -> None:
    post = Asked("POST", b"b")
    archive = taken(tmp_path, in_order([post]), in_order([post, Asked("GET", b"a")]))
    assert kept(archive) == (["02"], ["01"])
    assert len(Folder(archive).segment_files()) == 2


def mixed() -> list[Asked]:
    return [
        Asked("GET", b"<title>one</title>", 1),
        Asked("POST", b"<title>two</title>", 10, sent=b"a=1", media=FORM),
        Asked("HEAD", b"", 11),
        Asked("GET", b"<title>one</title>", 20),
    ]


def test_no_question_about_the_url_sees_it(tmp_path: Path) -> None:
    root = taken(tmp_path, in_order(mixed()))
    at = parse_stamp("20260111000000") or 0
    with OpenArchive.open(root) as archive:
        for policy in Policy:
            choice = Chooser(archive).choose(SITE + "api", at, policy)
            assert choice.verdict is Verdict.PROVEN, policy
        seen = archive.catalog.as_of(SITE + "api", at)
        assert seen is not None
        assert seen.record_id.endswith("01")
        for found in (archive.captures(url=SITE + "api"), archive.captures(prefix="p.example")):
            assert [capture.record_id[-1] for capture in found] == ["1", "4"]
        assert len(validities(archive.captures())) == 1
        assert archive.catalog.last_answers()[SITE + "api"][0] == 200
    document = made(root, Choice(prefix="p.example"))
    assert checked(root, document) == ()


def test_files_for_others_list_it_under_a_key_of_its_own(tmp_path: Path) -> None:
    root = taken(tmp_path, in_order(mixed()))
    rig.ok("export", "--format", "cdxj", "-o", tmp_path / "o.cdxj", "-a", root)
    rig.ok("export", "--format", "wacz", "-o", tmp_path / "o.wacz", "-a", root)
    warc = tmp_path / "o.warc.gz"
    rig.ok("export", "--format", "warc", "--prefix", "p.example", "-o", warc, "-a", root)
    wanted = [
        "p)/api 20260101000000", "p)/api 20260120000000",
        "p)/api?__wb_method=head 20260111000000", "p)/api?__wb_method=post&a=1 20260110000000",
    ]  # fmt: skip
    with zipfile.ZipFile(tmp_path / "o.wacz") as package:
        index = gzip.decompress(package.read("indexes/index.cdx.gz")).decode()
        pages = package.read("pages/pages.jsonl").decode().splitlines()[1:]
    for lines in ((tmp_path / "o.cdxj").read_text(), index):
        keys = [line.partition(" {")[0].removeprefix("example,") for line in lines.splitlines()]
        assert keys == wanted
        told = [json.loads(line[line.index("{") :]) for line in lines.splitlines()]
        assert [each.get("method") for each in told] == [None, None, "HEAD", "POST"]
        assert {each["url"] for each in told} == {SITE + "api"}
    assert [json.loads(page)["title"] for page in pages] == ["one"]
    assert b"4 captures in 8 records, nothing new" in rig.ok("import", warc, "-a", root).out


PART = b'Content-Disposition: form-data; name="a b"\r\n\r\n1 2'
BODIES = [
    (FORM, b"b=2&a=x+y%26z&a=1"), (FORM + "; charset=utf-8", b"a=\xff"),
    (JSON, b'{"b": {"a": [1, null]}, "a": true}'), (JSON, b"{"),
    (JSON, b'{"a": 1}\n{"a": 2, "c": "\xc3\xa4 b"}'), ("text/plain", b'{"q": "A"}'),
    ("text/plain", b"words"), ("application/octet-stream", bytes(range(256)) * 30), ("", b""),
    ("multipart/form-data", b"x"),
    ("multipart/form-data; boundary=xyz", b"--xyz\r\n" + PART + b"\r\n--xyz--\r\n"),
]  # fmt: skip


@pytest.mark.parametrize("url", [SITE + "api", SITE + "api?z=1&B=2", SITE + "%7Ea/?"])
def test_keys_are_those_of_cdxj_indexer(tmp_path: Path, url: str) -> None:
    path = tmp_path / "w.warc.gz"
    bodies = [(method, *body) for method in ("POST", "PUT") for body in BODIES]
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number, (method, media, sent) in enumerate(bodies):
            write_pair(writer, url, method, media, sent, number)
    said = subprocess.run([INDEXER, "-p", path], capture_output=True, check=True, timeout=60)
    theirs = {line[: line.index(" {")] for line in said.stdout.decode().splitlines()}
    root = taken(tmp_path, path.read_bytes())
    rig.ok("export", "--format", "cdxj", "-o", tmp_path / "o.cdxj", "-a", root)
    ours = {line[: line.index(" {")] for line in (tmp_path / "o.cdxj").read_text().splitlines()}
    assert len(theirs) == len(bodies)
    assert ours == theirs


def write_pair(
    writer: WARCWriter, url: str, method: str, media: str, sent: bytes, number: int
) -> None:
    dated = {"WARC-Date": f"2026-01-01T00:00:{number:02}Z"}
    heads = [("Content-Length", str(len(sent))), *([("Content-Type", media)] if media else [])]
    line = f"{method} /api HTTP/1.1"
    request, answer = (
        writer.create_warc_record(
            url, kind, payload=io.BytesIO(data), length=len(data), warc_headers_dict=dict(dated),
            http_headers=StatusAndHeaders(first, fields, "HTTP/1.1", is_http_request=asked),
        )
        for kind, data, first, fields, asked in (
            ("request", sent, line, heads, True),
            ("response", b"{}", "200 OK", [("Content-Type", JSON)], False),
        )
    )  # fmt: skip
    writer.write_request_response_pair(request, answer)


# -- the choice among answers to one question ------------------------------------------------------


def shown(root: Path, at: str, policy: Policy = Policy.COHERENT) -> tuple[str, bytes]:
    with OpenArchive.open(root) as archive:
        question = ("POST", JSON, b'{"q":1}')
        choice = posted(Chooser(archive), question, SITE + "api", parse_stamp(at) or 0, policy)
        if choice.capture is None:
            return choice.verdict.value, b""
        return choice.verdict.value, b"".join(archive.read(choice.capture).payload())


def posts(*days: tuple[int, bytes, int]) -> list[Asked]:
    return [Asked("POST", body, day, sent=b'{"q": 1}', repeats=of) for day, body, of in days]


@pytest.mark.parametrize(
    ("days", "at", "policy", "wanted"),
    [
        ([(1, b"past", 0), (12, b"future", 0)], 11, "coherent", ("doubtful", b"past")),
        ([(1, b"past", 0), (12, b"future", 0)], 11, "nearest", ("doubtful", b"future")),
        ([(1, b"past", 0), (12, b"future", 0)], 11, "strict", ("missing", b"")),
        ([(1, b"same", 0), (12, b"same", 0)], 11, "strict", ("proven", b"same")),
        ([(1, b"past", 0)], 11, "strict", ("possible", b"past")),
        ([(12, b"future", 0)], 11, "coherent", ("doubtful", b"future")),
        ([(12, b"future", 0)], 11, "strict", ("missing", b"")),
        ([(1, b"A", 0), (5, b"B", 0), (9, b"A", 1)], 9, "coherent", ("proven", b"A")),
        ([(1, b"A", 0), (5, b"B", 0), (9, b"A", 1)], 10, "strict", ("possible", b"A")),
    ],
)
def test_answers_are_chosen_as_those_to_get(
    tmp_path: Path, days: Sequence[tuple[int, bytes, int]], at: int, policy: str,
    wanted: tuple[str, bytes],
) -> None:  # fmt: skip
    root = taken(tmp_path, in_order([Asked("GET", b"got", 10), *posts(*days)]))
    assert shown(root, f"202601{at:02}000000", Policy(policy)) == wanted


def test_an_answer_that_names_nothing_is_found(tmp_path: Path) -> None:
    lone = Asked("POST", b"lone", sent=b'{"q": 1}', naming="")
    other = Asked("POST", b"other", sent=b'{"q": 2}', naming="")
    assert shown(taken(tmp_path, in_order([other, lone], "before")), "20260102000000") == (
        "possible",
        b"lone",
    )


def test_keys_tell_what_was_sent() -> None:
    key = surt(address(SITE + "api", "POST", FORM, b"q=1"))
    assert re.fullmatch(r"example,p\)/api\?__wb_method=post&q=1", key)
    assert surt(address(SITE + "api?a", "HEAD", "", b"")) == "example,p)/api?__wb_method=head&a"
