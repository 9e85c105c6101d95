"""The texts of an archive: read once, by what each URL itself said, and compared in order."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.catalog.derive import record_uri
from asof.change.texts import Texts
from asof.cli import run as cli
from asof.cli.output import judgements
from asof.clock import SECOND, Instant, iso
from asof.crawl import background
from asof.crawl.background import BackgroundReader
from asof.model import Exchange, Target
from asof.text.database import TextDatabase
from asof.text.sandbox import SandboxedReader
from asof.warc.build import exchange_records
from asof.warc.compose import compose
from asof.warc.record import Record
from asof.warc.write import WarcFile
from support.exchanges import START, answer

URL = "http://a.example/x"
DAY = 86_400 * SECOND
WORDS = " ".join(f"The harbour master wrote sentence {n} about boats and tides." for n in range(40))
OTHER = " ".join(f"Cooks of the valley praise recipe {n} with onions and rye." for n in range(40))


def html(title: str, text: str) -> bytes:
    head = f"<!doctype html><html lang=en><title>{title}</title>"
    return f"{head}<body><main><h1>{title}</h1><p>{text}</p></main></body></html>".encode()


def write(folder: Path, *records: Record) -> None:
    """Records into a file of their own, and the catalog anew."""
    place = Folder(folder)
    place.warc.mkdir(parents=True, exist_ok=True)
    with WarcFile.create(place.new_segment("t")) as file:
        file.append(records)
    assert cli(["reindex", "-a", str(folder)]) == 0


def put(folder: Path, *exchanges: Exchange) -> None:
    for exchange in exchanges:
        write(folder, *exchange_records(exchange, target=Target(exchange.url)))


def put_revisit(folder: Path, exchange: Exchange, url: str, at: Instant) -> None:
    """The exchange as a revisit of what the archive has of a URL as of a moment."""
    with OpenArchive.open(folder) as archive:
        source = archive.as_of(url, at)
        assert source is not None
    named = replace(source, record_id=record_uri(source.record_id))
    write(folder, *exchange_records(exchange, target=Target(exchange.url), refers_to=named))


def categories(folder: Path, url: str = URL) -> list[str | None]:
    with OpenArchive.open(folder) as archive, Texts(archive, writable=True) as texts:
        texts.read_all(1)
    with OpenArchive.open(folder) as archive, judgements(archive) as judged:  # type: ignore[arg-type]
        return [judged(capture) for capture in archive.captures(url=url)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def test_an_older_capture_that_comes_later_changes_the_predecessor(folder: Path) -> None:
    put(folder, answer(URL, html("T", WORDS), at=START + 5 * DAY))
    assert categories(folder) == ["appeared"]
    put(folder, answer(URL, html("T", OTHER), at=START))
    assert categories(folder) == ["appeared", "major"]


def test_an_error_page_of_another_url_is_an_error_page_here(folder: Path) -> None:
    """The payload lies under a URL that was not found; this one said 200, and shows it."""
    page = html("Page not found", "Sorry, the page was not found. " + "&nbsp;" * 400)
    elsewhere = "http://a.example/none"
    put(folder, answer(elsewhere, page, status=404, at=START), answer(URL, html("T", WORDS)))
    put_revisit(folder, answer(URL, page, at=START + DAY), elsewhere, START + DAY)
    assert categories(folder) == ["appeared", "removed"]


def test_a_revisit_is_read_by_its_own_type(folder: Path) -> None:
    page, source = html("T", WORDS), "http://a.example/source"
    put(folder, answer(source, page, media="text/css", at=START))
    put_revisit(folder, answer(URL, page, at=START + DAY), source, START + DAY)
    with OpenArchive.open(folder) as archive, Texts(archive) as texts:
        capture = archive.as_of(URL, START + DAY)
        assert capture is not None
        document = texts.document(capture)
    assert document is not None
    assert document.title == "T"


def test_records_of_other_tools_may_share_an_id(folder: Path) -> None:
    same = "<urn:uuid:12345678-1234-4234-8234-123456789012>"
    bodies = [(URL, WORDS), (URL, OTHER), ("http://a.example/y", OTHER)]
    for number, (url, text) in enumerate(bodies):
        exchange = answer(url, html("T", text), at=START + number * DAY)
        write(folder, *exchange_records(exchange, target=Target(url), record_id=same))
    assert categories(folder) == ["appeared", "major"]
    assert categories(folder, "http://a.example/y") == ["appeared"]


def test_what_was_noted_about_a_url_is_no_version_of_it(folder: Path) -> None:
    page = html("T", WORDS)
    put(folder, answer(URL, page, at=START))
    about = (("WARC-Date", iso(START + DAY)), ("WARC-Target-URI", URL))
    write(folder, compose("metadata", about, "application/json", b'{"title": "T"}'))
    put(folder, answer(URL, page, at=START + 2 * DAY))
    assert [each for each in categories(folder) if each] == ["appeared", "unchanged"]


def test_a_304_is_no_content_to_compare_with(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last two contents are the two before it."""
    put(folder, answer(URL, html("T", WORDS), at=START))
    put(folder, answer(URL, html("T", OTHER), at=START + DAY))
    confirmed = answer(URL, b"", status=304, at=START + 2 * DAY)
    put_revisit(folder, confirmed, URL, START + 2 * DAY)
    capsys.readouterr()
    assert cli(["diff", URL, "-a", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["category"] == "major"


def test_the_last_version_may_be_a_revisit_of_an_older_one(folder: Path) -> None:
    near = "http://b.example/"
    put(folder, answer(URL, html("T", WORDS), at=START), answer(near, html("T2", WORDS), at=START))
    put(folder, answer(URL, html("T", OTHER), at=START + DAY))
    put_revisit(folder, answer(URL, html("T", WORDS), at=START + 2 * DAY), URL, START)
    assert cli(["similar", near, "-a", str(folder), "--json"]) == 0


def test_http_and_https_count_once_each(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urls = ["http://a.example/", "https://a.example/"] * 2
    put(folder, *[answer(u, html("T", WORDS), at=START + n * DAY) for n, u in enumerate(urls)])
    capsys.readouterr()
    assert cli(["similar", "--all", "-a", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["documents"] == 2


# -- When things are broken ------------------------------------------------------------------------


def test_damaged_texts_are_said_and_do_not_stop_the_rest(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(folder, answer(URL, html("T", WORDS), at=START))
    folder.joinpath("derived").mkdir()
    folder.joinpath("derived/text.db").write_bytes(b"not a database, but long enough" * 40)
    capsys.readouterr()
    assert cli(["list", "-a", str(folder)]) == 0
    shown = capsys.readouterr()
    assert URL in shown.out
    assert "text.db" in shown.err


def test_a_damaged_block_is_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(folder, answer(URL, html("T", WORDS)), answer(URL, html("T", OTHER), at=START + DAY))
    categories(folder)
    with sqlite3.connect(folder / "derived/text.db") as db:
        db.execute("UPDATE blocks SET data = x'00112233'")
    db.close()
    capsys.readouterr()
    assert cli(["diff", URL, "-a", str(folder)]) == 2
    assert "text.db" in capsys.readouterr().err


def test_others_may_be_reading(folder: Path) -> None:
    """What they have not read yet is read here."""
    put(folder, answer(URL, html("T", WORDS)), answer("http://b.example/", html("T2", WORDS)))
    other = TextDatabase(folder / "derived/text.db", writable=True)
    try:
        assert cli(["similar", URL, "-a", str(folder), "--json"]) == 0
    finally:
        other.close()


def test_a_child_that_answers_nonsense_costs_one_document() -> None:
    class Odd:
        def ask(self, *request: object) -> bytes:
            return b"\xff{"

        def end(self, **how: Any) -> str:
            return ""

    with SandboxedReader() as apart:
        apart._child = Odd()  # type: ignore[assignment]
        assert apart.read(b"words", "text/plain").error
        assert apart.read(b"words", "text/plain").text == "words"


def test_a_file_larger_than_memory_is_not_taken_into_it(tmp_path: Path) -> None:
    big = tmp_path / "zeros.txt"
    with big.open("wb") as file:
        file.truncate(10 << 30)
    command = f"ulimit -v 3000000; exec {sys.executable} -m asof text {big} --json"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["error"]


def test_a_name_that_is_no_text_is_no_trouble(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    with open(path, "w") as file:
        file.write("Words.")
    words = [sys.executable.encode(), b"-m", b"asof", b"text", path, b"--json"]
    done = subprocess.run(words, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["text"].strip() == "Words."


def test_large_texts_do_not_gather_in_memory(folder: Path) -> None:
    """24 texts of 8 MB each, and never more than a few of them at once."""
    bodies = [f"word{n} boats and tides \u4e2d. ".encode() * 300_000 for n in range(24)]
    media = "text/plain; charset=utf-8"
    records = [
        exchange_records(answer(f"http://a.example/{n}", body, media=media), target=Target(URL))
        for n, body in enumerate(bodies)
    ]
    write(folder, *[record for unit in records for record in unit])
    code = (
        "import sys, resource\nfrom asof.archive import OpenArchive\n"
        "from asof.change.texts import Texts\n"
        "with OpenArchive.open(sys.argv[1]) as a, Texts(a, writable=True) as t: t.read_all(1)\n"
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    words = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 300_000


def test_the_end_of_a_crawl_does_not_wait_for_the_reader(folder: Path) -> None:
    put(folder, *[answer(f"http://a.example/{n}", html("T", f"{WORDS} {n}")) for n in range(3)])
    reader = BackgroundReader(folder)
    time.sleep(0.5)
    began = time.monotonic()
    reader.close()
    # It runs when nothing else does: on a busy machine it does not even hear that it shall end.
    assert time.monotonic() - began < background._GRACE + 2
