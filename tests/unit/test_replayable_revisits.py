"""Revisits in the form that other programs replay: made so, found so, brought into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from asof.catalog.derive import derive
from asof.clock import SECOND, parse_iso
from asof.model import Capture, Location
from asof.warc.digest import digest_text
from asof.warc.record import StoredRecord, WarcHeader
from asof.warc.revisit import (
    NOT_MODIFIED,
    Referent,
    as_response,
    block_of,
    may_revisit,
    replayable,
    replays_elsewhere,
)
from asof.warc.verify import verify

URL, OTHER = "http://a.example/page", "http://b.example/first"
DIGEST = digest_text(bytes(32))
HEAD = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'
THEN = "2026-01-01T00:00:00.250000Z"
AT = parse_iso(THEN) or 0


def revisit(data: bytes, **changed: str) -> StoredRecord:
    """A revisit as asof 0.2 wrote it."""
    fields = {
        "WARC-Type": "revisit",
        "WARC-Record-ID": "<urn:uuid:11111111-1111-4111-8111-111111111111>",
        "WARC-Date": "2026-02-01T00:00:00.500000Z",
        "WARC-Target-URI": URL,
        "WARC-Profile": NOT_MODIFIED,
        "WARC-Refers-To-Target-URI": URL,
        "WARC-Refers-To-Date": THEN,
        "WARC-Payload-Digest": DIGEST,
        "Content-Length": str(len(data)),
    }
    fields |= {f"WARC-{name.replace('_', '-')}": value for name, value in changed.items()}
    header = WarcHeader("1.1", tuple((name, value) for name, value in fields.items() if value))
    return StoredRecord(Path("x.warc.gz"), Location("x.warc.gz", 0, 1), header, len(data), data)


def capture(record: StoredRecord) -> Capture:
    found = derive(record)
    assert found is not None
    return found


def test_a_304_of_before_gets_the_form_and_says_the_same() -> None:
    old = revisit(HEAD)
    assert not replays_elsewhere(old, is_304=True)
    held = Referent(OTHER, AT - 5 * SECOND, "urn:uuid:22222222-2222-4222-8222-222222222222")
    new = replayable(old, held, Referent(URL, AT), DIGEST)
    assert replays_elsewhere(new, is_304=True)
    assert (new.data, new.size, new.header.get("Content-Length")) == (b"", 0, "0")
    assert block_of(new.header) == HEAD
    assert new.header.get("WARC-Refers-To-Target-URI") == OTHER
    assert new.header.get("WARC-Refers-To-Date") == "2025-12-31T23:59:55Z"
    assert new.header.get("WARC-Refers-To") == "<urn:uuid:22222222-2222-4222-8222-222222222222>"
    assert capture(new) == capture(old)
    again = replayable(new, held, Referent(URL, AT), DIGEST)
    assert sorted(again.header.fields) == sorted(new.header.fields)


def test_a_304_that_named_nothing_gets_a_reference_and_a_digest() -> None:
    """As some crawlers write them: what it is about is known by the order of captures."""
    bare = revisit(HEAD, Refers_To_Target_URI="", Refers_To_Date="", Payload_Digest="")
    held = Referent(URL, AT)
    new = replayable(bare, held, held, DIGEST)
    assert (capture(new).refers_to_at, capture(new).digest) == (AT, DIGEST)


@pytest.mark.parametrize("date", ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"])
def test_whole_seconds_are_found_in_any_index(date: str) -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    assert replays_elsewhere(revisit(head, Refers_To_Date=date), is_304=False)
    assert not replays_elsewhere(revisit(head, Refers_To_Date=THEN), is_304=False)
    assert not replays_elsewhere(revisit(head, Refers_To_Date=""), is_304=False)


def test_a_revisit_becomes_the_response_that_it_was() -> None:
    head = b"HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Type: text/html\r\n\r\n"
    new = as_response(revisit(head), b"Go on.")
    found = capture(new)
    assert (found.kind, found.status, found.size) == ("response", 302, 6)
    assert found.redirect == "http://a.example/there"
    assert (found.profile, found.refers_to_url) == (None, None)
    assert new.data == head + b"Go on."


def test_only_a_revisit_has_its_head_in_a_field() -> None:
    """A foreign file may say what it likes."""
    odd = revisit(b"", Type="response", Asof_HTTP_Head="HTTP/1.1 200 OK%0D%0A%0D%0A")
    assert block_of(odd.header) == b""
    assert capture(odd).status is None
    assert verify(revisit(b"", Asof_HTTP_Head="%")) == []


@pytest.mark.parametrize(
    ("status", "media_type", "redirect", "expected"),
    [
        (302, "text/html", OTHER, True),
        (302, "Text/HTML", OTHER, True),
        (302, "text/plain", OTHER, False),
        (301, "text/html", OTHER, False),
        (302, "text/html", URL, False),
        (302, "text/html", None, False),
        (None, None, None, True),
    ],
)
def test_others_show_a_revisit_under_the_head_of_what_it_refers_to(
    status: int | None, media_type: str | None, redirect: str | None, expected: bool
) -> None:
    held = Capture(
        url=URL, surt="", at=AT, kind="response", status=302, media_type="text/html",
        digest=DIGEST, content=DIGEST, size=9, record_id="", where=Location("", 0, 0),
        redirect=OTHER,
    )  # fmt: skip
    assert may_revisit(status, media_type, redirect, held) is expected
