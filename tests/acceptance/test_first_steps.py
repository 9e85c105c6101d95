"""What somebody types who has just installed it: bare names, slips, sites that do not answer."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import asof
from asof.errors import UsageError
from asof.url import typed
from support import rig
from support.forge import recs
from support.rig import Server, crawl, links, ok, page, site


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Server]]:
    pages = {"/": page(links("/a", "/lost")), "/a": page("aaa")}
    with site(pages) as server:
        folder = tmp_path_factory.mktemp("first") / "archive"
        crawl(folder, server.url + "/")
        yield folder, server


@pytest.mark.parametrize("words", [[], ["help"], ["simulate"]])
def test_a_bare_command_prints_its_help_as_help(words: list[str]) -> None:
    result = rig.run(*words)
    assert result.code == 0, str(result)
    assert result.out.startswith(b"Usage: asof"), str(result)
    assert len(result.out.splitlines()) > 5, "as it is laid out, not in one line"
    assert not result.err


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("crwal", "`asof crawl`"),
        ("sevre", "`asof serve`"),
        ("https://example.org/a?b=c", "`asof crawl 'https://example.org/a?b=c'`"),
        ("example.org", "`asof crawl example.org`"),
    ],
)
def test_an_unknown_command_suggests_what_was_meant(word: str, hint: str) -> None:
    result = rig.run(word)
    assert result.code == 2
    assert f"Did you mean {hint}?" in result.err, str(result)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("example.org", "https://example.org/"),
        (" example.org/x?y#z ", "https://example.org/x?y"),
        ("//example.org/x", "https://example.org/x"),
        ("localhost:8000/a", "http://localhost:8000/a"),
        ("192.0.2.1", "http://192.0.2.1/"),
        ("[::1]:8080", "http://[::1]:8080/"),
        ("example.org:8080", "http://example.org:8080/"),
        ("example.org:443/x", "https://example.org/x"),
        ("HTTP://Example.org", "http://example.org/"),
        ("word", None),
        ("dns:example.org", None),
        ("mailto:someone@example.org", None),
        ("javascript:alert(1)", None),
        ("ftp://example.org/", None),
    ],
)
def test_an_address_may_be_written_without_its_scheme(text: str, url: str | None) -> None:
    assert typed(text) == url


def test_bare_addresses_work_wherever_a_url_is_asked_for(served: tuple[Path, Server]) -> None:
    folder, server = served
    bare = server.url.removeprefix("http://")
    for words in (
        ("show", bare),
        ("get", f"{bare}/a"),
        ("text", f"{bare}/a"),
        ("scope", f"{bare}/a"),
        ("list", "--url", bare),
        ("quality", "--url", bare),
    ):
        assert ok(*words, "-a", folder).out.strip(), words
    for chosen in (["--prefix", f"{bare}/a"], [f"{bare}/a"]):
        below = ok("list", *chosen, "-a", folder, "--json").rows()
        assert [row["url"] for row in below] == [f"{server.url}/a"]


def test_a_crawl_whose_seeds_bring_nothing_says_which_and_why(tmp_path: Path) -> None:
    with site({"/": page("home")}) as server:
        lost, found = f"{server.url}/lost", f"{server.url}/"
        quick = ("--delay", "0", "-a")
        result = rig.run("crawl", "127.0.0.1:1", lost, *quick, tmp_path / "nothing")
        assert result.code == 1, str(result)
        assert "No page came from http://127.0.0.1:1/: no server accepts" in result.err
        assert f"No page came from {lost}: the server answered with status 404" in result.err
        result = rig.run("crawl", "127.0.0.1:1", found, *quick, tmp_path / "some")
        assert result.code == 0, "one of them brought a page"
        assert "No page came from http://127.0.0.1:1/" in result.err
        assert f"No page came from {found}" not in result.err


def test_a_seed_that_leads_away_brings_nothing(tmp_path: Path) -> None:
    with (
        site({"/": page("home")}) as server,
        site({"/": page("", "302 Found", Location=f"{server.url}/")}) as first,
    ):
        seed = first.url.replace("127.0.0.1", "localhost")
        result = rig.run("crawl", seed, "--delay", "0", "-a", tmp_path / "archive")
        assert result.code == 1, str(result)
        assert f"it leads to {server.url}/, which is no part of this crawl" in result.err


def test_a_seed_that_only_redirects_or_answers_without_a_page_brings_nothing(
    tmp_path: Path,
) -> None:
    """Cookie walls, circles, dead ends, and answers without anything in them."""
    moved = "302 Found"
    pages: dict[str, rig.Answer] = {
        "/wall": page("", moved, Location="/wall"),
        "/round": page("", moved, Location="/round/2"),
        "/round/2": page("", moved, Location="/round"),
        "/dead": page("", moved, Location="/lost"),
        "/nowhere": page("", moved),
        "/empty": rig.Reply((b"HTTP/1.1 204 No Content\r\n\r\n",), "keep"),
        "/same": rig.Reply((b"HTTP/1.1 304 Not Modified\r\n\r\n",), "keep"),
        "/home": page("", moved, Location="/page"),
        "/page": page("<p>a page</p>"),
    }
    with site(pages) as server:
        why = {
            "wall": "it only redirects to itself (try --cookies)",
            "round": f"it leads to {server.url}/round/2, which only redirects to where it came"
            " from (try --cookies)",
            "dead": f"it leads to {server.url}/lost, which answered 404",
            "nowhere": "it answered 302 without saying where to",
            "empty": "it answered 204",
            "same": "it answered 304",
        }
        for name, reason in why.items():
            folder = ("--delay", "0", "-a", tmp_path / name)
            result = rig.run("crawl", f"{server.url}/{name}", *folder)
            assert result.code == 1, str(result)
            assert f"No page came from {server.url}/{name}: {reason}." in result.err
        for _ in range(2):  # again: what a 304 or a revisit confirms is a page
            ok("crawl", f"{server.url}/home", "--delay", "0", "-a", tmp_path / "home")
        result = rig.run(
            "crawl", f"{server.url}/wall", "--cookies", "--delay", "0", "-a", tmp_path / "kept"
        )
        assert "only redirects to itself." in result.err


def test_help_of_a_command_and_a_closed_pipe(served: tuple[Path, Server]) -> None:
    assert rig.run("help", "crawl").out == rig.run("crawl", "--help").out
    read, write = os.pipe()
    os.close(read)
    child = rig.start("list", "-a", served[0], stdout=write)
    os.close(write)
    child.communicate(timeout=30)
    assert child.returncode == 0


def test_a_table_of_documents_is_what_its_name_says(
    served: tuple[Path, Server], tmp_path: Path
) -> None:
    """JSON lines need no package, and a cover over them is that over the archive."""
    kept = []
    for name in ("d.jsonl", "d.parquet"):
        ok("export", "--format", "documents", "-o", tmp_path / name, "-a", served[0])
        told = ok("cover", "C(d1,d2) >= 0.5", "--from", tmp_path / name, "--json").json()
        kept.append(told["kept"])
    assert (tmp_path / "d.jsonl").read_bytes().startswith(b'{"id": ')
    assert kept[0] == kept[1]
    assert ok("cover", "C(d1,d2) >= 0.5", "-a", served[0], "--json").json()["kept"] == kept[0]


def test_captured_errors_are_told_apart(served: tuple[Path, Server], tmp_path: Path) -> None:
    _, server = served
    result = rig.run("crawl", server.url, "--delay", "0", "-a", tmp_path / "archive")
    assert "(1 of them an error: 1 x 404)" in result.err, str(result)
    told = ok("status", "-a", tmp_path / "archive", "--json").json()
    assert told["crawls"][0]["errors"] == {"status 404": 1}


def test_captures_are_listed_under_a_head_by_status_and_type(served: tuple[Path, Server]) -> None:
    folder, server = served
    head, *lines = ok("list", "-a", folder).out.decode().splitlines()
    assert head.split() == ["captured", "(UTC)", "status", "size", "type", "URL"]
    assert len(lines) == len(ok("list", "-a", folder, "--json").rows())

    def urls(*chosen: str) -> set[str]:
        rows = ok("list", "-a", folder, "--json", *chosen).rows()
        return {row["url"].removeprefix(server.url) for row in rows}

    assert urls("--status", "4xx") == {"/lost", "/robots.txt"}
    assert urls("--status", "200") == {"/", "/a"}
    assert urls("--status", "404", "--status", "2xx") == {"/", "/a", "/lost", "/robots.txt"}
    assert urls("--type", "TEXT/html", "--status", "200") == {"/", "/a"}
    assert urls("--type", "image/*") == set()
    assert "No capture matches." in rig.run("list", "-a", folder, "--type", "image/*").err
    assert rig.run("list", "-a", folder, "--status", "ok").code == 2


def test_the_status_of_an_imported_archive_tells_files_hosts_and_span(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"".join(record.gz() for record in recs(3)))
    ok("import", path, "-a", tmp_path / "archive")
    text = ok("status", "-a", tmp_path / "archive").out.decode()
    assert "in 1 WARC file" in text
    assert "1 host, from 20" in text
    assert "3  example.com" in text
    told = ok("status", "-a", tmp_path / "archive", "--json").json()
    assert told["hosts"] == 1
    assert told["first"] <= told["last"]


def test_files_are_written_though_nobody_reads_what_is_printed(
    served: tuple[Path, Server], tmp_path: Path
) -> None:
    folder, _ = served
    for words, files in (
        (("quality", "--html"), ["q.html"]),
        (("cover", "C(d1,d2) >= 0.8", "--csv", tmp_path / "c.csv", "--html"), ["c.html", "c.csv"]),
    ):
        read, write = os.pipe()
        os.close(read)  # whatever is printed meets a closed pipe
        child = rig.start(*words, tmp_path / files[0], "-a", folder, stdout=write)
        os.close(write)
        child.communicate(timeout=60)
        for name in files:
            assert (tmp_path / name).stat().st_size > 100, name


def test_a_reading_list_leads_into_the_archive(served: tuple[Path, Server], tmp_path: Path) -> None:
    folder, server = served
    words = ("cover", "C(d1,d2) >= 0.99", "-a", folder, "--html")
    ok(*words, tmp_path / "in.html")
    assert 'href="http://127.0.0.1:8080/20' in (tmp_path / "in.html").read_text()
    ok(*words, tmp_path / "there.html", "--links", "http://archive.example/")
    assert 'href="http://archive.example/20' in (tmp_path / "there.html").read_text()
    ok(*words, tmp_path / "live.html", "--links", "live")
    assert f'href="{server.url}/a"' in (tmp_path / "live.html").read_text()


# -- from Python ----------------------------------------------------------------------------------


def test_python_can_crawl_and_import(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    with site({"/": page(links("/a")), "/a": page("aaa")}) as server:
        outcome = asof.capture(folder, server.url, delay=0)
        assert outcome.summary.captured == 3, "two pages and robots.txt"
        assert outcome.barren == ()
        with pytest.raises(UsageError):
            asof.capture(folder, "word")
        with pytest.raises(Exception, match="unknown setting 'dely'"):
            asof.capture(folder, server.url, dely=0)
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"".join(record.gz() for record in recs(3)))
    [taken] = asof.import_files(folder, path)
    assert (taken.captures, taken.damage) == (3, ())
    with asof.Archive.open(folder) as archive:
        assert len({capture.url for capture in archive.captures()}) == 6


def test_python_speaks_datetime_beside_instants(served: tuple[Path, Server]) -> None:
    folder, server = served
    with asof.Archive.open(folder) as archive:
        capture = archive.captured(server.url)
        assert capture.time.tzinfo is dt.UTC
        assert capture.time.timestamp() == pytest.approx(capture.at / 1e6)
        assert archive.as_of(server.url, capture.time) == capture
        assert archive.as_of(server.url, capture.time.date()) == capture
        assert archive.as_of(server.url, capture.time - dt.timedelta(days=1)) is None
        [validity] = archive.history(server.url)
        assert validity.span[0] == capture.time == validity.evidence[0].time
        crawl = archive.crawls()[0]
        assert crawl.span[0] <= capture.time <= crawl.span[1]  # type: ignore[operator]
        with pytest.raises(UsageError, match="no time zone"):
            archive.as_of(server.url, dt.datetime(2026, 3, 1))  # noqa: DTZ001


def test_a_crawl_from_python_can_run_beside_a_loop(tmp_path: Path) -> None:
    """As in a notebook, whose thread has a loop already: by a thread of its own."""

    async def work() -> int:
        with site({"/": page("home")}) as server:
            run = asyncio.to_thread(asof.capture, tmp_path / "archive", server.url, delay=0)
            return (await run).summary.captured

    assert asyncio.run(work()) == 2
