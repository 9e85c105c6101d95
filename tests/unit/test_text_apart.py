"""Reading in a child process: its limits, its deaths, and that nobody else notices."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from asof.errors import AsofError
from asof.text import sandbox as module
from asof.text.read import read
from asof.text.sandbox import DocumentSource, ReadingLimits, SandboxedReader, read_many
from support import office_files as office

# Keeps a reader busy for several seconds: a table of nothing that has to be looked at.
SLOW = (b"<rss><channel>" + b"<x>" * 4_000_000, "application/rss+xml")


@pytest.fixture
def apart() -> Iterator[SandboxedReader]:
    with SandboxedReader() as reader:
        yield reader


def pid_of(apart: SandboxedReader) -> int:
    assert apart._child is not None
    return apart._child._process.pid


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def until(condition: object, seconds: float = 10) -> bool:
    assert callable(condition)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"plain words", "a.txt"),
        ("wörter \U0001f600 \u4e2d".encode(), "a.txt"),
        (office.docx(office.paragraph("Hello")), "a.docx"),
        (office.pdf(["A page"], link="http://a.example/"), "a.pdf"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "a.png"),
        (b"", "a.txt"),
    ],
    ids=["plain", "unicode", "docx", "pdf", "png", "empty"],
)
def test_the_answer_is_that_of_reading_here(apart: SandboxedReader, data: bytes, name: str) -> None:
    assert apart.read(data, name=name) == read(data, name=name)


def test_all_that_is_said_of_a_document_reaches_the_reader(apart: SandboxedReader) -> None:
    markup = b"<title>\xe4</title><a href=next>x</a>"
    document = apart.read(
        markup, "text/html; charset=iso-8859-1", "http://a.example/b/", None, "tags"
    )
    assert document == read(
        markup, "text/html; charset=iso-8859-1", "http://a.example/b/", None, "tags"
    )
    assert document.title == "ä"


def test_one_child_serves_many_documents(apart: SandboxedReader) -> None:
    apart.read(b"one", "text/plain")
    first = pid_of(apart)
    for number in range(20):
        assert apart.read(b"%d" % number, "text/plain").text == str(number)
    assert pid_of(apart) == first


def test_many_documents_that_come_in_pieces(apart: SandboxedReader) -> None:
    """A pipe holds 64 KB: the writer is still busy with it when the reader has all it needs."""
    apart.read(b"x", "text/plain")
    first = pid_of(apart)
    for number in range(300):
        text = b"%d " % number + b"word " * 40_000
        assert apart.read(text, "text/plain").text == text.decode().strip()
    assert pid_of(apart) == first


def test_what_takes_too_long_is_ended() -> None:
    with SandboxedReader(ReadingLimits(seconds=1.5)) as apart:
        apart.read(b"warm", "text/plain")
        first = pid_of(apart)
        start = time.monotonic()
        document = apart.read(*SLOW)
        assert document.error == "took longer than 1.5 s"
        assert time.monotonic() - start < 5
        assert not alive(first)
        assert apart.read(b"next", "text/plain").text == "next"
        assert pid_of(apart) != first


def test_what_needs_too_much_memory_is_refused() -> None:
    with SandboxedReader(ReadingLimits(megabytes=100)) as apart:
        document = apart.read("\u4e2d\U0001f600".encode() * 5_000_000, "text/plain; charset=utf-8")
        assert document.error == "needed more than 100 MB"
        assert apart.read(b"next", "text/plain").text == "next"


def test_what_is_too_large_is_not_even_sent() -> None:
    with SandboxedReader(ReadingLimits(megabytes=10)) as apart:
        assert apart.read(bytes(5 << 20)).error == "is larger than 4 MB"
        assert apart._child is None


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_crash_is_a_reason_and_the_next_document_is_read(
    apart: SandboxedReader, number: signal.Signals
) -> None:
    apart.read(b"warm", "text/plain")
    pid = pid_of(apart)
    threading.Timer(0.3, os.kill, (pid, number)).start()
    assert apart.read(*SLOW).error == f"the reader crashed (signal {number.value})"
    assert apart.read(b"next", "text/plain").text == "next"


def test_a_child_that_died_unseen_costs_one_document(apart: SandboxedReader) -> None:
    apart.read(b"warm", "text/plain")
    os.kill(pid_of(apart), signal.SIGKILL)
    documents = [apart.read(b"%d" % number, "text/plain") for number in range(3)]
    assert [document.text for document in documents[1:]] == ["1", "2"]


def test_closing_ends_the_child_and_reading_starts_another(apart: SandboxedReader) -> None:
    apart.read(b"x", "text/plain")
    pid = pid_of(apart)
    apart.close()
    assert not alive(pid)
    apart.close()
    assert apart.read(b"again", "text/plain").text == "again"


PARENT = """
import sys, threading
from asof.text.sandbox import SandboxedReader, ReadingLimits
apart = SandboxedReader(ReadingLimits(seconds=60))
apart.read(b"warm", "text/plain")
print(apart._child._process.pid, flush=True)
if sys.argv[1] == "busy":
    apart.read(b"<rss><channel>" + b"<x>" * 20_000_000, "application/rss+xml")
sys.stdin.read()
"""


@pytest.mark.parametrize("state", ["idle", "busy"])
def test_the_child_does_not_outlive_its_parent(state: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    assert parent.stdin is not None
    pid = int(parent.stdout.readline())
    time.sleep(1.0 if state == "busy" else 0)
    assert alive(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    parent.stdin.close()
    assert until(lambda: not alive(pid), 5)


def test_the_thread_that_made_the_child_may_end(apart: SandboxedReader) -> None:
    thread = threading.Thread(target=apart.read, args=(b"x", "text/plain"))
    thread.start()
    thread.join()
    pid = pid_of(apart)
    time.sleep(0.2)
    assert apart.read(b"y", "text/plain").text == "y"
    assert pid_of(apart) == pid


def test_threads_take_turns(apart: SandboxedReader) -> None:
    answers: dict[int, str] = {}

    def ask(number: int) -> None:
        for _ in range(5):
            answers[number] = apart.read(b"%d" % number, "text/plain").text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: str(number) for number in range(8)}


def test_the_child_has_its_own_group_and_few_rights(apart: SandboxedReader) -> None:
    apart.read(b"x", "text/plain")
    pid = pid_of(apart)
    assert os.getpgid(pid) == pid
    limits = Path(f"/proc/{pid}/limits").read_text(encoding="ascii")
    rows = {line[:26].strip(): line[26:].split()[0] for line in limits.splitlines()}
    assert rows["Max core file size"] == "0"
    assert rows["Max file size"] == "0"
    assert rows["Max open files"] == "64"
    assert 500 << 20 < int(rows["Max address space"]) < 2_000 << 20


def test_a_child_that_keeps_memory_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    always = "import asof.text.sandbox_child as child; child._TIRED_SHARE = -1; child.main()"
    monkeypatch.setattr(module, "_CHILD", always)
    with SandboxedReader() as apart:
        assert apart.read(b"x", "text/plain").text == "x"
        assert apart._child is None
        assert apart.read(b"y", "text/plain").text == "y"


def test_many_come_back_in_order() -> None:
    sources = [DocumentSource(b"%d" % number, "text/plain") for number in range(30)]
    assert [each.text for each in read_many(sources)] == [str(number) for number in range(30)]


def test_of_many_only_the_bad_ones_fail() -> None:
    sources = [
        DocumentSource(b"a", "text/plain"),
        DocumentSource(*SLOW),
        DocumentSource(b"b", "text/plain"),
    ]
    found = list(read_many(sources, workers=2, limits=ReadingLimits(seconds=1.5)))
    assert [each.text for each in (found[0], found[2])] == ["a", "b"]
    assert found[1].error == "took longer than 1.5 s"


def test_no_more_sources_are_taken_than_needed() -> None:
    taken: list[int] = []

    def sources() -> Iterator[DocumentSource]:
        for number in range(100):
            taken.append(number)
            yield DocumentSource(b"x", "text/plain")

    many = read_many(sources(), workers=2)
    next(many)
    assert len(taken) <= 5
    many.close()  # type: ignore[attr-defined]


def test_a_child_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHILD", "raise SystemExit('no such module')")
    with (
        SandboxedReader() as apart,
        pytest.raises(AsofError, match="does not start: no such module"),
    ):
        apart.read(b"x", "text/plain")


def test_a_reader_may_neither_connect_nor_run_programs_nor_write(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv[1:] = ['500', '10', sys.argv[1]]\n"
        "from asof.text import sandbox_child as apart_child\n"
        "apart_child._limit(500)\n"
        "import socket, subprocess\n"
        "for act in (lambda: socket.create_connection(('127.0.0.1', 9)),\n"
        "            lambda: subprocess.run(['true'])):\n"
        "    try: act()\n"
        "    except PermissionError as error: print(error)\n"
        "try:\n"
        "    with open(sys.argv[3], 'w') as file: file.write('x' * 10)\n"
        "except OSError as error: print(error.strerror)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "never")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.count("may not do this") == 2
    assert "File too large" in done.stdout
