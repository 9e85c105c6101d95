"""Bad usage and bad input: one sentence, what to do next, exit code 2, no traceback. Everywhere."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from asof import cli
from asof.archive.intake import Intake, _Taker
from support import forge, rig
from support.forge import recs


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small archive, and things that are not archives."""
    root = tmp_path_factory.mktemp("usage")
    warc = root / "good.warc.gz"
    warc.write_bytes(b"".join(record.gz() for record in recs(5)))
    rig.ok("import", warc, "-a", root / "archive")
    (root / "empty").mkdir()
    (root / "bare").mkdir()
    (root / "other").mkdir()
    (root / "other" / "letter.txt").write_text("not an archive")
    (root / "file").write_text("a file")
    (root / "full").mkdir()
    (root / "full" / "something").write_text("x")
    (root / "text.txt").write_text("hello\n")
    for name, text in {
        "unknown-key": "colour = 'green'\n",
        "unknown-deep": "[crawl]\nspeeed = 3\n",
        "not-toml": "this is = = not toml\n[",
        "bad-type": "[crawl]\ndelay = 'fast'\n",
        "bad-value": "[crawl]\ndelay = -5\n",
    }.items():
        shutil.copytree(root / "archive", root / name)
        (root / name / "asof.toml").write_text(text)
    shutil.copytree(root / "archive", root / "binary-toml")
    (root / "binary-toml" / "asof.toml").write_bytes(b"\xff\xfe\x00\x01")
    return root


URL = "http://127.0.0.1:9/"  # the discard port: nobody answers, and nobody is asked

BAD: dict[str, list[str]] = {
    # the command itself
    "no such verb": ["crawll"],
    "unknown global option": ["--frobnicate"],
    "unknown short option": ["-Z"],
    # crawl
    "crawl: nothing to resume": ["crawl", "-a", "{root}/empty"],
    "crawl: unknown option": ["crawl", URL, "--speed", "9"],
    "crawl: word": ["crawl", "example", "-a", "{root}/new1"],
    "crawl: ftp": ["crawl", "ftp://example.com/", "-a", "{root}/new1"],
    "crawl: file": ["crawl", "file:///etc/passwd", "-a", "{root}/new1"],
    "crawl: javascript": ["crawl", "javascript:alert(1)", "-a", "{root}/new1"],
    "crawl: mailto": ["crawl", "mailto:me@example.com", "-a", "{root}/new1"],
    "crawl: no host": ["crawl", "http://", "-a", "{root}/new1"],
    "crawl: bad port": ["crawl", "http://127.0.0.1:99999/", "-a", "{root}/new1"],
    "crawl: word port": ["crawl", "http://127.0.0.1:http/", "-a", "{root}/new1"],
    "crawl: bad IPv6": ["crawl", "http://[::1/", "-a", "{root}/new1"],
    "crawl: empty URL": ["crawl", "", "-a", "{root}/new1"],
    "crawl: one good, one bad": ["crawl", URL, "nonsense", "-a", "{root}/new1"],
    "crawl: bad scope": ["crawl", URL, "--scope", "planet", "-a", "{root}/new1"],
    "crawl: empty surt": ["crawl", URL, "--scope", "surt:", "-a", "{root}/new1"],
    "crawl: bad regex": ["crawl", URL, "--exclude", "(unclosed", "-a", "{root}/new1"],
    "crawl: bad second regex": ["crawl", URL, "--exclude", "ok", "--exclude", "*"],
    "crawl: negative depth": ["crawl", URL, "--depth", "-1", "-a", "{root}/new1"],
    "crawl: word depth": ["crawl", URL, "--depth", "deep", "-a", "{root}/new1"],
    "crawl: fractional depth": ["crawl", URL, "--depth", "1.5", "-a", "{root}/new1"],
    "crawl: zero pages": ["crawl", URL, "--max-pages", "0", "-a", "{root}/new1"],
    "crawl: negative pages": ["crawl", URL, "--max-pages", "-3", "-a", "{root}/new1"],
    "crawl: huge pages": ["crawl", URL, "--max-pages", "9" * 40, "-a", "{root}/new1"],
    "crawl: negative bytes": ["crawl", URL, "--max-bytes", "-1", "-a", "{root}/new1"],
    "crawl: word bytes": ["crawl", URL, "--max-bytes", "lots", "-a", "{root}/new1"],
    "crawl: negative time": ["crawl", URL, "--time-limit", "-1", "-a", "{root}/new1"],
    "crawl: nan time": ["crawl", URL, "--time-limit", "nan", "-a", "{root}/new1"],
    "crawl: infinite time": ["crawl", URL, "--time-limit", "inf", "-a", "{root}/new1"],
    "crawl: negative delay": ["crawl", URL, "--delay", "-0.5", "-a", "{root}/new1"],
    "crawl: nan delay": ["crawl", URL, "--delay", "nan", "-a", "{root}/new1"],
    "crawl: infinite delay": ["crawl", URL, "--delay", "inf", "-a", "{root}/new1"],
    "crawl: word delay": ["crawl", URL, "--delay", "soon", "-a", "{root}/new1"],
    "crawl: bad robots": ["crawl", URL, "--robots", "maybe", "-a", "{root}/new1"],
    "crawl: bad proxy": ["crawl", URL, "--proxy", "not a proxy", "-a", "{root}/new1"],
    "crawl: socks proxy": ["crawl", URL, "--proxy", "socks5://127.0.0.1:1", "-a", "{root}/new1"],
    "crawl: agent with newline": ["crawl", URL, "--user-agent", "a\r\nX: y", "-a", "{root}/new1"],
    "crawl: empty agent": ["crawl", URL, "--user-agent", "", "-a", "{root}/new1"],
    "crawl: option without value": ["crawl", URL, "--delay"],
    "crawl: into a file": ["crawl", URL, "-a", "{root}/file"],
    "crawl: below a file": ["crawl", URL, "-a", "{root}/file/archive"],
    "crawl: into another folder": ["crawl", URL, "-a", "{root}/other"],
    "crawl: no folder name": ["crawl", URL, "-a", ""],
    # reading
    "status: no archive": ["status", "-a", "{root}/missing"],
    "status: a file": ["status", "-a", "{root}/file"],
    "status: empty folder": ["status", "-a", "{root}/bare"],
    "status: extra argument": ["status", "extra", "-a", "{root}/archive"],
    "list: no archive": ["list", "-a", "{root}/missing"],
    "list: other folder": ["list", "-a", "{root}/other"],
    "list: bad from": ["list", "--from", "yesterday-ish", "-a", "{root}/archive"],
    "list: bad to": ["list", "--to", "2021-99", "-a", "{root}/archive"],
    "list: from after to": ["list", "--from", "2022", "--to", "2021", "-a", "{root}/archive"],
    "list: url and prefix": ["list", "--url", URL, "--prefix", URL, "-a", "{root}/archive"],
    "list: bad url": ["list", "--url", "http://[", "-a", "{root}/archive"],
    "list: negative limit": ["list", "--limit", "-1", "-a", "{root}/archive"],
    "list: word limit": ["list", "--limit", "ten", "-a", "{root}/archive"],
    "list: unknown crawl": ["list", "--crawl", "no-such-crawl", "-a", "{root}/archive"],
    "show: no url": ["show", "-a", "{root}/archive"],
    "show: bad url": ["show", "not a url", "-a", "{root}/archive"],
    "show: no archive": ["show", URL, "-a", "{root}/missing"],
    "get: no url": ["get", "-a", "{root}/archive"],
    "get: two urls": ["get", URL, URL, "-a", "{root}/archive"],
    "get: bad url": ["get", "http://", "-a", "{root}/archive"],
    "get: bad moment": ["get", "http://example.com/page/1", "--at", "noon", "-a", "{root}/archive"],
    "get: month 13": ["get", "http://example.com/page/1", "--at", "202113", "-a", "{root}/archive"],
    "get: 30 February": ["get", "http://example.com/page/1", "--at", "2021-02-30", "-a",
                         "{root}/archive"],
    "get: empty moment": ["get", "http://example.com/page/1", "--at", "", "-a", "{root}/archive"],
    "get: out is a folder": ["get", "http://example.com/page/1", "-o", "{root}/empty", "-a",
                             "{root}/archive"],
    "get: out in no folder": ["get", "http://example.com/page/1", "-o", "{root}/no/where/x", "-a",
                              "{root}/archive"],
    "get: raw and head": ["get", "http://example.com/page/1", "--raw", "--json", "--nonsense", "-a",
                          "{root}/archive"],
    # import
    "import: nothing": ["import", "-a", "{root}/archive"],
    "import: missing file": ["import", "{root}/none.warc.gz", "-a", "{root}/archive"],
    "import: no known format": ["import", "{root}/text.txt", "-a", "{root}/archive"],
    "import: a folder": ["import", "{root}/empty", "-a", "{root}/archive"],
    "import: into a file": ["import", "{root}/good.warc.gz", "-a", "{root}/file"],
    "import: into another folder": ["import", "{root}/good.warc.gz", "-a", "{root}/other"],
    # export
    "export: no format": ["export", "-a", "{root}/archive"],
    "export: unknown format": ["export", "--format", "pdf", "-a", "{root}/archive"],
    "export: no archive": ["export", "--format", "cdxj", "-a", "{root}/missing"],
    "export: onto a folder": ["export", "--format", "wacz", "-o", "{root}/full", "-a",
                              "{root}/archive"],
    "export: onto a folder (parquet)": ["export", "--format", "parquet", "-o", "{root}/full", "-a",
                                        "{root}/archive"],
    "export: into no folder": ["export", "--format", "cdxj", "-o", "{root}/no/where.cdxj", "-a",
                               "{root}/archive"],
    "export: bad moment": ["export", "--format", "cdxj", "--from", "then", "-a", "{root}/archive"],
    "export: bad url": ["export", "--format", "cdxj", "--url", "::", "-a", "{root}/archive"],
    # check, reindex
    "check: no archive": ["check", "-a", "{root}/missing"],
    "check: a file": ["check", "-a", "{root}/file"],
    "check: extra": ["check", "extra", "-a", "{root}/archive"],
    "reindex: no archive": ["reindex", "-a", "{root}/missing"],
    "reindex: other folder": ["reindex", "-a", "{root}/other"],
    # serve, demo
    "serve: no archive": ["serve", "-a", "{root}/missing", "--port", "0"],
    "serve: bad port": ["serve", "-a", "{root}/archive", "--port", "70000"],
    "serve: word port": ["serve", "-a", "{root}/archive", "--port", "http"],
    "serve: negative port": ["serve", "-a", "{root}/archive", "--port", "-1"],
    "serve: unknown host": ["serve", "-a", "{root}/archive", "--host", "no.such.host.invalid",
                            "--port", "0"],
    "serve: foreign address": ["serve", "-a", "{root}/archive", "--host", "192.0.2.1", "--port",
                               "0"],
    "demo: bad port": ["demo", "--no-serve", "--port", "99999", "-a", "{root}/demo1"],
    "demo: into a file": ["demo", "--no-serve", "-a", "{root}/file"],
    "demo: into another folder": ["demo", "--no-serve", "-a", "{root}/other"],
    # settings
    "toml: unknown key": ["crawl", URL, "-a", "{root}/unknown-key"],
    "toml: unknown deep key": ["crawl", URL, "-a", "{root}/unknown-deep"],
    "toml: not TOML": ["crawl", URL, "-a", "{root}/not-toml"],
    "toml: bad type": ["crawl", URL, "-a", "{root}/bad-type"],
    "toml: bad value": ["crawl", URL, "-a", "{root}/bad-value"],
    "toml: binary": ["crawl", URL, "-a", "{root}/binary-toml"],
}  # fmt: skip


def one_short_paragraph(result: rig.Result) -> None:
    """What a person can read: a sentence that says what, and a hint that says what next."""
    said = result.err.strip()
    assert said, f"silence\n{result}"
    assert "\n\n" not in said, f"more than one paragraph\n{result}"
    assert len(said.splitlines()) <= 3, f"more than three lines\n{result}"
    assert len(said) <= 500, f"{len(said)} characters\n{result}"
    assert re.search(r"[.:!?;)'\"]\s+\S", said), f"no hint after the sentence\n{result}"
    for name in ("Exception", "Errno", "sqlite3.", "asof.errors", "object at 0x", "None "):
        assert name not in said, f"{name!r} is for programmers\n{result}"


@pytest.mark.parametrize("case", BAD)
def test_bad_usage(place: Path, tmp_path: Path, case: str) -> None:
    words = [word.replace("{root}", str(place)) for word in BAD[case]]
    before = sorted(str(path) for path in place.rglob("*"))
    result = rig.run(*words, cwd=tmp_path, timeout=10)
    assert result.code == 2, f"expected exit 2\n{result}"
    assert result.out == b"", f"data on stdout although nothing was done\n{result}"
    one_short_paragraph(result)
    after = sorted(str(path) for path in place.rglob("*") if "asof.db-" not in path.name)
    made = set(after) - set(before)
    assert not made, f"a command that failed left these behind: {made}"


@pytest.mark.parametrize("case", ["list: no archive", "get: bad moment", "import: missing file"])
def test_bad_usage_with_json_keeps_stdout_parsable(place: Path, case: str) -> None:
    words = [word.replace("{root}", str(place)) for word in BAD[case]]
    result = rig.run(*words, "--json", cwd=place / "empty")
    assert result.code == 2
    assert result.out == b"" or result.json() is not None
    one_short_paragraph(result)


def test_there_are_enough_of_them() -> None:
    assert len(BAD) >= 60
    verbs = {"crawl", "status", "list", "show", "get", "import", "export", "check", "reindex",
             "serve", "demo"}  # fmt: skip
    assert verbs <= {words[0] for words in BAD.values()}


def test_not_captured_is_an_answer_not_a_mistake(place: Path) -> None:
    for words in (
        ["get", "http://example.com/never"],
        ["show", "http://example.com/never"],
        ["get", "http://example.com/page/1", "--at", "1999"],
    ):
        result = rig.run(*words, "-a", place / "archive")
        assert result.code == 1, str(result)
        assert result.out == b""
        one_short_paragraph(result)


def test_help_of_every_verb(place: Path) -> None:
    top = rig.ok("--help")
    for verb in ("crawl", "status", "list", "show", "get", "import", "export", "check", "reindex",
                 "serve", "demo"):  # fmt: skip
        assert verb in top.out.decode()
        said = rig.ok(verb, "--help").out.decode()
        assert "--archive" in said
        assert len(said.splitlines()) > 5
    assert rig.run("--version").code == 0
    bare = rig.run()
    assert bare.code in {0, 2}
    assert "crawl" in bare.out.decode() + bare.err


def test_port_in_use(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = rig.run("serve", "-a", place / "archive", "--port", port, timeout=20)
    assert result.code == 2, str(result)
    assert str(port) in result.err
    one_short_paragraph(result)


def test_an_archive_that_another_writer_holds(place: Path, tmp_path: Path) -> None:
    hang = rig.Reply((b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n",), "hang")
    archive = tmp_path / "archive"
    with rig.site({"/": rig.page(rig.links("/hang")), "/hang": hang}) as server:
        holder = rig.start("crawl", server.url + "/", "-a", archive, "--delay", "0")
        try:
            rig.wait_for(lambda: "/hang" in server.paths(), 30, "the first crawl is running")
            for words in (
                ["crawl", server.url + "/"],
                ["crawl", server.url + "/", "--new"],
                ["import", str(place / "good.warc.gz")],
                ["reindex"],
            ):
                result = rig.run(*words, "-a", archive, timeout=20)
                assert result.code == 2, str(result)
                one_short_paragraph(result)
            # Readers are welcome while it runs.
            for words in (["list", "--json"], ["status", "--json"], ["check", "--json"]):
                rig.ok(*words, "-a", archive, timeout=20)
        finally:
            with holder.stdout, holder.stderr:
                rig.end(holder, signal.SIGINT)


def test_environment_variables_with_nonsense(place: Path) -> None:
    result = rig.run("list", "-a", place / "archive", env={"ASOF_DELAY": "nonsense"})
    assert result.code in {0, 2}
    if result.code == 2:
        one_short_paragraph(result)


def test_a_closed_pipe_is_not_a_crash(place: Path) -> None:
    """`asof list | head -1` must not end in a traceback."""
    read, write = os.pipe()
    os.close(read)
    child = rig.start("list", "-a", place / "archive", "--json", stdout=write)
    os.close(write)
    _, err = child.communicate(timeout=20)
    assert b"Traceback" not in err
    assert b"BrokenPipe" not in err


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_what_was_closed_before_us_changes_nothing(place: Path, closed: str) -> None:
    """Not the exit code, and nothing is told of it."""
    for words, code in ((["list"], 0), (["get", "http://nobody.example/"], 1)):
        command = ["sh", "-c", f'exec "$@" {closed}', "sh", rig.ASOF, *words]
        done = subprocess.run(
            [*command, "-a", place / "archive"], capture_output=True, check=False, timeout=60
        )
        assert done.returncode == code, done
        assert b"Traceback" not in done.stderr
    rig.ok("check", "-a", place / "archive")


def test_a_moment_by_another_name_is_told_the_right_one(place: Path) -> None:
    said = rig.ok("list", "--at", "2026", "-a", place / "archive", code=2).err
    assert said == "asof: No such option '--at'. Did you mean '--to'? See `asof list --help`.\n"
    said = rig.ok("diff", URL, "--at", "2026", "-a", place / "archive", code=2).err
    assert said == "asof: No such option '--at'. Write `asof diff URL T1 T2`.\n"
    said = rig.ok("get", URL, "--date", "2026", "-a", place / "archive", code=2).err
    assert "Did you mean '--at'?" in said


def test_an_import_that_is_interrupted_says_what_was_entered(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C comes while the second file is read."""
    first, second = place / "good.warc.gz", tmp_path / "second.warc.gz"
    second.write_bytes(b"".join(record.gz() for record in recs(5, host="b.example")))
    told = {first: "", second: "; files entered before it: 1"}

    def interrupted(self: object, path: Path, *rest: object) -> Intake:
        if path == second:
            raise KeyboardInterrupt
        return taken(self, path, *rest)  # type: ignore[arg-type]

    taken = _Taker.warc
    monkeypatch.setattr(_Taker, "warc", interrupted)
    assert cli.run(["import", str(first), str(second), "-a", str(tmp_path / "a")]) == 130
    again = "Import again: nothing is stored twice."
    said = f"asof: Nothing of {second} was entered{told[second]}. {again}"
    assert capsys.readouterr().err.split("\n")[-2] == said
    assert len(rig.rows_of(tmp_path / "a")) == 5
    assert cli.run(["import", str(second), "-a", str(tmp_path / "b")]) == 130
    assert f"Nothing of {second} was entered. {again}" in capsys.readouterr().err


def test_stdout_full(place: Path) -> None:
    """/dev/full: data that cannot be written is an error with a sentence."""
    with open("/dev/full", "wb") as full:
        child = rig.start("list", "-a", place / "archive", "--json", stdout=full)
        _, err = child.communicate(timeout=20)
    assert child.returncode not in {0, 120}, err
    assert b"Traceback" not in err


def test_an_archive_of_a_later_version_is_refused(place: Path, tmp_path: Path) -> None:
    import sqlite3

    archive = tmp_path / "archive"
    shutil.copytree(place / "archive", archive)
    with sqlite3.connect(archive / "asof.db") as db:
        db.execute("PRAGMA user_version = 999")
    db.close()
    result = rig.run("list", "-a", archive)
    assert result.code == 2, str(result)
    one_short_paragraph(result)


def test_names_with_spaces_and_umlauts(place: Path, tmp_path: Path) -> None:
    archive = tmp_path / "mein Archiv ü 日本"
    rig.ok("import", place / "good.warc.gz", "-a", archive)
    assert len(rig.rows_of(archive)) == 5
    assert forge.recs(5)[0].url in {row["url"] for row in rig.rows_of(archive)}
