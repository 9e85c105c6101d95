"""What a newcomer stumbles over at the command line, and the sentence that spares it."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import asof
from asof.crawl.aftermath import barren
from support import rig, served_archive
from support.forge import Rec, recs
from support.rig import Server, crawl, links, ok, page, site
from support.served_archive import Page


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an archive of one capture in one file, and that file."""
    root = tmp_path_factory.mktemp("newcomer")
    (root / "one.warc.gz").write_bytes(recs(1)[0].gz())
    ok("import", root / "one.warc.gz", "-a", root / "archive")
    return root


def refused(result: rig.Result, *words: str, code: int = 2) -> None:
    assert result.code == code, str(result)
    for word in words:
        assert word in result.err, str(result)
    assert "Errno" not in result.err, str(result)


# -- words -----------------------------------------------------------------------------------------


def test_one_of_a_thing_is_not_told_as_many(one: Path, tmp_path: Path) -> None:
    archive = one / "archive"
    whole = recs(2)
    (tmp_path / "d.warc.gz").write_bytes(whole[0].gz() + b"rubbish" * 9 + whole[1].gz())
    said = [
        ok("import", one / "one.warc.gz", "-a", tmp_path / "a"),
        rig.run("import", tmp_path / "d.warc.gz", "-a", tmp_path / "b"),
        ok("status", "-a", archive),
        ok("check", "-a", archive),
        ok("reindex", "-a", archive),
        ok("reindex", "--text", "-a", archive),
        ok("export", "--format", "cdxj", "-a", archive, "-o", tmp_path / "x.cdxj"),
        rig.run("similar", "--all", "-a", archive),
    ]
    for result in said:
        text = result.out.decode() + result.err
        many = re.search(r"(?<![\d,.])1 (damaged |more )?(?!is\b|was\b)\w+s\b", text)
        assert many is None, str(result)
    assert "1 damaged stretch in" in said[1].err
    assert "1 capture of 1 URL," in said[2].out.decode()


def test_one_left_over_and_one_error_are_told_as_one(tmp_path: Path) -> None:
    with site({"/": page(links("/a", "/b")), "/a": page("a")}) as server:
        said = crawl(tmp_path / "a", server.url, "--max-pages", "2")
        assert "1 address still waits. To take it, lift the limit" in said.err, str(said)
        said = crawl(tmp_path / "a", server.url)
    assert "(1 of them an error: 1 x 404)" in said.err, str(said)


def test_a_site_of_one_page_is_told_as_one(tmp_path: Path) -> None:
    here, certificate = ("-a", tmp_path / "a"), tmp_path / "c.json"
    with site({"/": page("<p>one page alone")}) as server:
        crawl(tmp_path / "a", server.url)
    ok("quality", *here, "--certificate", certificate, "--html", tmp_path / "q.html")
    said = [
        ok("check", certificate, *here).out.decode(),
        ok("export", "--format", "documents", *here, "-o", tmp_path / "d.jsonl").err,
        re.sub("<[^>]*>", " ", (tmp_path / "q.html").read_text()),
    ]
    assert "1 page, 1 file" in said[0]
    assert said[1].startswith("1 document written")
    assert not re.search(r"\b1 (pages|files|documents|captures)\b", " ".join(said)), said


def test_errors_are_not_of_a_number_that_is_not_known(tmp_path: Path) -> None:
    """After `asof reindex` nobody knows how many URLs a crawl had taken."""
    with site({"/": page(links("/a")), "/a": page("a")}) as server:
        crawl(tmp_path / "a", f"{server.url}/", "--depth", "0")
        crawl(tmp_path / "a", f"{server.url}/none", "--depth", "0", code=1)
    ok("reindex", "-a", tmp_path / "a")
    said = ok("quality", "-a", tmp_path / "a").out.decode()
    assert "1 of the taken URLs" in " ".join(said.split()), said


# -- help ------------------------------------------------------------------------------------------


def commands(*path: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every command below another, with its help as a terminal of 80 columns shows it."""
    text = ok(*path, "--help", env={"COLUMNS": "80"}).out.decode()
    yield path, text
    for name in re.findall(r"^  (\w+)  ", text.partition("\nCommands:\n")[2], re.MULTILINE):
        yield from commands(*path, name)


def test_every_help_is_whole_has_an_example_and_words_for_people() -> None:
    found = dict(commands())
    assert {("crawl",), ("key", "trust"), ("simulate", "coherence")} <= found.keys()
    for path, text in found.items():
        _, _, below = text.partition("\nCommands:\n")
        assert not [line for line in below.splitlines() if line.endswith("...")], path
        assert below or "Examples:" in text, path
        assert " RANGE" not in text, path


def test_documents_go_out_without_any_extra(one: Path, tmp_path: Path) -> None:
    said = ok("export", "--format", "documents", "-a", one / "archive", cwd=tmp_path)
    assert (tmp_path / "documents.jsonl").is_file(), str(said)


# -- settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--time-limit", "0"), "--time-limit is 0."),
        (("--max-pages", "-3"), "--max-pages is -3."),
        (("--robots", "maybe"), "--robots is 'maybe'."),
        (("--exclude", "(x"), "--exclude pattern '(x'"),
        (("--coherence", "inducible", "--eta", "7"), "--eta is 7."),
        (("--eta", "0.5"), "--eta has no effect on a crawl that does not seek coherence."),
        (("--no-audit",), "--no-audit has no effect"),
    ],
)
def test_a_bad_option_is_called_as_it_was_typed(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    result = rig.run("crawl", "http://127.0.0.1:9/", *words, "-a", tmp_path / "n")
    refused(result, f"asof: {said}")


def test_a_bad_setting_is_called_by_where_it_stands(tmp_path: Path) -> None:
    words = ("crawl", "http://127.0.0.1:9/", "-a", tmp_path)
    refused(rig.run(*words, env={"ASOF_TIME_LIMIT": "0"}), "environment", "time_limit is 0.")
    (tmp_path / "asof.toml").write_text("time_limit = 0\n")
    refused(rig.run(*words), f"{tmp_path / 'asof.toml'}: time_limit is 0.")


# -- files that cannot be read or written ---------------------------------------------------------


def test_a_pipe_is_refused_where_a_file_is_meant(one: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for words in (
        ("text", pipe),
        ("check", "-a", one / "archive", "--certificate", pipe),
        ("cover", "C(d1,d2) >= 0.8", "--from", pipe),
        ("simulate", "coherence", "--rates", pipe),
    ):
        refused(rig.run(*words, timeout=20), f"{pipe} cannot be ", "Is not a file")
    said = subprocess.run([rig.ASOF, "text", "-"], input=b"<p>by a pipe", capture_output=True)
    assert said.stdout == b"by a pipe\n", said.stderr


@pytest.mark.parametrize("name", ["loop", "below/file", "folder"])
def test_what_cannot_be_read_or_written_is_said_without_numbers(
    one: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "below").write_text("a file")
    (tmp_path / "folder").mkdir()
    path, archive = tmp_path / name, one / "archive"
    for words in (
        ("text", path),
        ("check", "-a", archive, "--certificate", path),
        ("cover", "C(d1,d2) >= 0.8", "--from", path),
        ("get", "http://example.com/page/0", "-a", archive, "-o", path),
        ("quality", "-a", archive, "--url", "http://example.com/", "--html", path),
        ("quality", "-a", archive, "--url", "http://example.com/", "--certificate", path),
        ("export", "--format", "cdxj", "-a", archive, "-o", path),
        ("import", path, "-a", tmp_path / "new"),
    ):
        refused(rig.run(*words))


@pytest.mark.parametrize("text", ["", "{", "[1, 2", "\udcff"])
def test_json_that_is_none_is_told_by_file_and_place(one: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    result = rig.run("check", "-a", one / "archive", "--certificate", path)
    refused(result, f"{path} is not a certificate: not JSON (")
    assert "Expecting" not in result.err
    assert "codec" not in result.err


def test_a_database_that_is_a_link_is_said_so(one: Path, tmp_path: Path) -> None:
    ok("import", one / "one.warc.gz", "-a", tmp_path / "a")
    (tmp_path / "a" / "asof.db").rename(tmp_path / "elsewhere.db")
    (tmp_path / "a" / "asof.db").symlink_to(tmp_path / "elsewhere.db")
    result = rig.run("import", one / "one.warc.gz", "-a", tmp_path / "a")
    refused(result, "asof.db cannot be written: a symbolic link stands there")


# -- words in the wrong place ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "{root}/one.warc.gz"], "one.warc.gz is not a certificate"),
        (["check", "{root}/archive"], "`asof check -a {root}/archive`"),
        (["reindex", "{root}/archive"], "`asof reindex -a {root}/archive`"),
        (["status", "{root}/archive"], "`asof status -a {root}/archive`"),
        (["quality", "{root}/archive"], "`asof quality -a {root}/archive`"),
        (["list", "{root}/archive"], "`asof list -a {root}/archive`"),
        (["-a", "{root}/archive", "list"], "`asof list -a {root}/archive`"),
        (["--json", "show", "example.org"], "`asof show --json example.org`"),
        (["quality", "--crawl", "x"], "`asof quality CRAWL`"),
        (["get", "--url", "x"], "`asof get URL`"),
        (["list", "--since", "2026"], "Did you mean '--from'?"),
        (["list", "--until", "2026"], "Did you mean '--to'?"),
        (["get", "x.example", "--date", "2026"], "Did you mean '--at'?"),
        (["crawl", "x.example", "--max-depth", "3"], "Did you mean '--depth'?"),
        (["diff", "x.example", "--at", "2026"], "'--at'. Write `asof diff URL T1 T2`."),
        (["export", "--format", "warc", "x.example"], "--format warc --prefix x.example`"),
        (["diff", "x.example", "--html", "my diff.html"], "`--html -o 'my diff.html'`"),
        (["show", "x.example", "--at", "2026"], "Add it, or leave --at out."),
        (["export", "--format", "warc", "--at", "2026"], "Add it, or leave --at out."),
        (["list", "--status", "2"], "'2' is no status; write 404 or 4xx."),
        (["crawl", "x.example", "--delay", "1s"], "'1s' is not a number."),
        (["serve", "--port", "http"], "'http' is not a whole number."),
        (["similar", "--all", "--threshold", "80%"], "'80%' is not a number."),
    ],
)
def test_what_was_meant_is_said_as_a_command(one: Path, words: list[str], said: str) -> None:
    result = rig.run(*(word.replace("{root}", str(one)) for word in words))
    refused(result, said.replace("{root}", str(one)))


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ("http://127.0.0.1:99999/", "port '99999'"),
        ("http://localhost:http/", "port 'http'"),
        ("http//example.org", "lacks the colon after http"),
        ("ftp://example.org/", "the scheme ftp"),
        ("mailto:me@example.org", "the scheme mailto"),
        ("http://exam ple.org/", "a space"),
        ("http://[::1/", "lacks the ]"),
        ("https:///", "names no host"),
        ("", "names no host"),
        ("example", "is a word"),
        ("folder", "is a file or folder"),
    ],
)
def test_each_bad_seed_has_a_reason_of_its_own(tmp_path: Path, seed: str, said: str) -> None:
    (tmp_path / "folder").mkdir()
    refused(rig.run("crawl", seed, "-a", "new", cwd=tmp_path), said)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "http://example.com/pagee/0"], "Did you mean http://example.com/page/0?"),
        (["get", "example.com/page/O"], "Did you mean http://example.com/page/0?"),
        (["text", "http://example.com/something/else"], "`asof list -a '{archive}' example.com`"),
        (["get", "http://nowhere.example/"], "`asof crawl -a '{archive}'`"),
    ],
)
def test_what_is_not_captured_leads_to_what_is(
    one: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    archive = tmp_path / "my archive"
    ok("import", one / "one.warc.gz", "-a", archive)
    refused(rig.run(*words, "-a", archive), said.replace("{archive}", str(archive)), code=1)


def test_a_redirect_says_where_what_was_asked_for_is(tmp_path: Path) -> None:
    there = (("Location", "/new page"),)
    moved = Rec(
        "http://example.com/old", b"", "2021-01-01T00:00:00Z", status="302 Found", headers=there
    )
    (tmp_path / "m.warc.gz").write_bytes(moved.gz())
    ok("import", tmp_path / "m.warc.gz", "-a", tmp_path / "a")
    said = ok("get", "http://example.com/old", "-a", tmp_path / "a")
    assert said.out == b""
    assert f"`asof get -a {tmp_path / 'a'} http://example.com/new%20page`" in said.err, str(said)
    assert not ok("get", "http://example.com/old", "--head", "-a", tmp_path / "a").err


def test_a_type_may_be_named_by_half(one: Path) -> None:
    [row] = rig.rows_of(one / "archive")
    kind, half = row["media_type"].split("/")
    for name in (half, kind, half.upper(), f"{kind}/*", row["media_type"]):
        assert rig.rows_of(one / "archive", "--type", name) == [row], name
    assert rig.rows_of(one / "archive", "--type", half[:2]) == []


def test_proposed_commands_name_the_archive(one: Path, tmp_path: Path) -> None:
    archive = tmp_path / "my archive"
    ok("import", one / "one.warc.gz", "-a", archive)
    named = f"-a '{archive}'"
    refused(rig.run("status", "no-such", "-a", archive), f"`asof status {named}` lists them.")
    refused(rig.run("pause", "-a", archive), f"`asof crawl {named} --control`")
    refused(rig.run("similar", "-a", archive), "`asof similar --help`")
    rig.remove_database(archive)
    refused(rig.run("list", "-a", archive), f"`asof reindex {named}`")


def test_what_is_neither_a_file_nor_captured_is_said_to_be_neither(
    one: Path, tmp_path: Path
) -> None:
    here = ("-a", one / "archive")
    refused(rig.run("text", "report.pdf", *here), "report.pdf is no file, and not in the archive.")
    refused(rig.run("text", "example.org", cwd=tmp_path), "a URL that is in the archive (-a DIR)")
    refused(rig.run("check", one / "one.warc.gz", *here), "or name a WACZ; WARC files")
    refused(rig.run("setup", "replay", "--from", tmp_path / "x"), "x cannot be read: No such file")


def test_what_has_no_text_puts_nothing_to_stdout(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    (tmp_path / "b.html").write_text("<p>said")
    alone = ok("text", "a.png", cwd=tmp_path, code=1)
    assert (alone.out, "image/png" in alone.err) == (b"", True), str(alone)
    both = ok("text", "a.png", "b.html", cwd=tmp_path, code=1)
    assert both.out == b"==> b.html <==\nsaid\n", str(both)


def test_a_folder_of_other_things_is_told_from_none(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<p>")
    for verb in (("serve",), ("status", "-a"), ("check", "-a")):
        said = "site holds files but is not an archive. Name the archive's folder with -a."
        refused(rig.run(*verb, "site", cwd=tmp_path), said)
    for verb in (("serve",), ("serve", "-a")):
        refused(rig.run(*verb, "none", cwd=tmp_path), "`asof crawl -a none URL`")


def test_the_demo_tells_of_a_port_that_is_taken_before_its_story(tmp_path: Path) -> None:
    with site({"/": page("")}) as server:
        result = rig.run("demo", "-a", tmp_path / "new", "--port", server.port)
    refused(result, f"port {server.port}: ", "Choose another with --port (0 takes any free one).")
    assert not result.out
    assert not (tmp_path / "new").exists()


def test_a_server_talks_to_a_terminal_without_codes_of_colours(one: Path) -> None:
    main, side = pty.openpty()
    words = [rig.ASOF, "serve", "-a", str(one / "archive"), "--port", "0", "-v"]
    with open(main, "rb", buffering=0) as screen:
        child = subprocess.Popen(words, stdout=side, stderr=side, env=rig.clean_environment())
        os.close(side)
        said = b""
        while b"Started server process" not in said:
            said += screen.read(4096)
        rig.end(child, signal.SIGINT)
    assert "␛" not in said.decode()
    assert b"\x1b" not in said


# -- import and reindex ----------------------------------------------------------------------------


def test_a_folder_is_imported_with_all_that_is_below(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    (folder / "b" / "deep").mkdir(parents=True)
    first, second, third, fourth = recs(4)
    (folder / "z.warc.gz").write_bytes(first.gz())
    (folder / "b" / "deep" / "a.WARC.GZ").write_bytes(second.gz())
    (folder / "notes.txt").write_text("no archive")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.warc.gz").write_bytes(third.gz())
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "l.warc.gz").symlink_to(tmp_path / "elsewhere" / "x.warc.gz")
    (tmp_path / "named.warc.gz").write_bytes(fourth.gz())
    told = ok("import", tmp_path / "named.warc.gz", folder, "-a", tmp_path / "a", "--json").json()
    names = [Path(each["file"]).name for each in told["files"]]
    assert names == ["named.warc.gz", "a.WARC.GZ", "z.warc.gz"]
    urls = {row["url"] for row in rig.rows_of(tmp_path / "a")}
    assert urls == {first.url, second.url, fourth.url}
    refused(rig.run("import", tmp_path / "a" / "spool", "-a", tmp_path / "b"), "without WARC")
    assert not (tmp_path / "b").exists()


def test_reindex_tells_what_it_forgets(tmp_path: Path) -> None:
    with site({"/": page(links("/a", "/b", "/c")), "/a": page("a")}) as server:
        crawl(tmp_path / "a", server.url, "--exclude", "/[bc]$")
    said = ok("reindex", "-a", tmp_path / "a")
    assert "2 URLs are forgotten" in said.err, str(said)
    assert "forgotten" not in ok("reindex", "-a", tmp_path / "a").err


# -- a crawl that goes on -------------------------------------------------------------------------


def test_nothing_is_given_up_for_a_server_that_is_away_at_resumption(tmp_path: Path) -> None:
    """The network is down just then: all that was queued waits on, and comes when it is back."""
    names = [f"/{number}" for number in range(8)]
    pages = {"/": page(links(*names))} | {name: page(name) for name in names}
    archive = tmp_path / "a"
    archive.mkdir()
    (archive / "asof.toml").write_text("retries = 0\n")
    with site(pages) as server:
        child = rig.start("crawl", server.url, "-a", archive, "--delay", "0.3", "--quiet")
        rig.wait_for(lambda: len(server.hits) >= 4, 20, "some pages")
        assert rig.end(child, signal.SIGINT) == 130
        with child.stdout, child.stderr:
            pass
        known = ok("status", "-a", archive, "--json").json()["crawls"][0]
        assert known["queued"]
    again = ("crawl", "-a", archive, "--delay", "0")
    away = rig.run(*again)
    assert away.code == 130, str(away)
    assert "nobody answered" in away.err
    kept = ok("status", "-a", archive, "--json").json()["crawls"][0]
    assert (kept["state"], kept["queued"]) == ("interrupted", known["queued"])
    with Server(dict(pages), wanted=server.port):
        back = rig.run(*again)
    assert back.code == 0, str(back)
    assert {row["url"] for row in rig.rows_of(archive)} >= {f"{server.url}{n}" for n in names}


# -- outputs ---------------------------------------------------------------------------------------


def test_nothing_is_written_over_but_reports_of_ours(one: Path, tmp_path: Path) -> None:
    """One rule for all outputs, asked before the work."""
    archive = ("-a", one / "archive")
    part = ("--url", "http://example.com/")
    mine = tmp_path / "mine"
    mine.write_text("years of work")
    for words in (
        ("get", "http://example.com/page/0", *archive, "-o"),
        ("export", "--format", "cdxj", *archive, "-o"),
        ("quality", *part, *archive, "--html"),
        ("cover", "C(d1,d2) >= 0.8", *archive, "--csv"),
    ):
        refused(rig.run(*words, mine), f"{mine} exists. Name another")
        assert mine.read_text() == "years of work"
    for words in (
        ("quality", *part, *archive, "--html"),
        ("quality", *part, *archive, "--certificate"),
    ):
        report = tmp_path / f"{words[0]}{words[-1]}"
        ok(*words, report)
        report.write_bytes(report.read_bytes() + b" ")
        ok(*words, report)
        assert not report.read_bytes().endswith(b" "), "the report was not renewed"


# -- what is told ----------------------------------------------------------------------------------


def test_a_new_title_is_a_difference(tmp_path: Path) -> None:
    records = [
        Rec("http://example.com/", b"<title>%s</title><p>the same text" % title, date)
        for title, date in ((b"One", "2021-01-01T00:00:00Z"), (b"Two", "2022-01-01T00:00:00Z"))
    ]
    (tmp_path / "x.warc.gz").write_bytes(b"".join(record.gz() for record in records))
    ok("import", tmp_path / "x.warc.gz", "-a", tmp_path / "a")
    said = ok("diff", "http://example.com/", "-a", tmp_path / "a").out.decode()
    assert "title: 'One' became 'Two'" in said
    told = ok("diff", "http://example.com/", "-a", tmp_path / "a", "--json").json()
    assert told["details"] == ["title: 'One' became 'Two'"]


def test_status_fits_a_narrow_terminal(tmp_path: Path) -> None:
    with site({"/": page(links("/a")), "/a": page("a")}) as server:
        crawl(tmp_path / "a", server.url)
    main, side = pty.openpty()
    with open(main, "rb", buffering=0) as screen:
        surroundings = rig.clean_environment() | {"COLUMNS": "40"}
        words = [rig.ASOF, "status", "-a", "a"]
        subprocess.run(words, stdout=side, cwd=tmp_path, env=surroundings, check=True)
        os.close(side)
        said = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while data := screen.read(4096):
                said += data
    lines = said.decode().splitlines()
    assert any(line.endswith("finished") and len(line) <= 40 for line in lines), lines
    assert "  3 captured, 0 failed" in lines


def test_seeds_are_judged_by_the_captures_of_their_own_crawl(tmp_path: Path) -> None:
    """What was imported meanwhile says nothing about whether this crawl brought a page."""
    folder = tmp_path / "a"
    with site({"/": page(links("http://other.invalid/x"))}) as server:
        crawl(folder, server.url)
    time.sleep(1)  # its moment is a whole second, and later than the crawl's
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    there = (("Location", "http://other.invalid/x"),)
    moved = Rec(f"{server.url}/", b"", now, status="302 Found", headers=there)
    (tmp_path / "moved.warc.gz").write_bytes(moved.gz())
    ok("import", tmp_path / "moved.warc.gz", "-a", folder)
    with asof.Archive.open(folder) as archive:
        [done] = archive.crawls()
        assert archive.captured(server.url).status == 302
        assert list(barren(archive, done)) == []


def test_an_address_is_told_from_a_crawl_and_a_file(one: Path) -> None:
    archive = one / "archive"
    crawl = rig.run("quality", "https://example.org/", "-a", archive)
    assert crawl.code == 2
    assert "asof quality --url" in crawl.err.replace(f" -a {archive}", "")
    file = rig.run("import", "https://example.org/a.warc.gz", "-a", archive)
    assert file.code == 2
    assert "https://example.org/a.warc.gz is not a file" in file.err
    assert "Fetch it first" in file.err


def test_a_picture_is_not_poured_onto_a_terminal(tmp_path: Path) -> None:
    url = "http://site.example/i.png"
    stored = [Page(url, "2026-01-01T00:00:00Z", b"\x89PNG\x1b[31m", "image/png")]
    folder = served_archive.build(tmp_path / "archive", stored)
    leader, follower = pty.openpty()
    try:
        child = rig.start("get", url, "-a", folder, stdout=follower)
        _, said = child.communicate(timeout=30)
    finally:
        os.close(leader)
        os.close(follower)
    assert child.returncode == 2
    assert b"-o FILE" in said
    assert rig.ok("get", url, "-a", folder).out == b"\x89PNG\x1b[31m"
