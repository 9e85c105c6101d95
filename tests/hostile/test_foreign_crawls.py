"""What is imported tells of crawls, and decides nothing: not what we ask, nor how, nor through
whom."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import forge
from support.forge import Rec, recs
from support.rig import Server, crawl, links, ok, page, remove_database, site


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    pages = {"/": page(links("/a")), "/a": page("<p>a</p>"), "/admin": page("<p>secret</p>")}
    refusal = page("User-agent: *\nDisallow: /admin\n", media="text/plain")
    with site({**pages, "/robots.txt": refusal}) as running:
        yield running


def said(name: str, seed: str, *, started: str = "2026-01-01T00:00:00Z", **more: Any) -> Rec:
    """A record in which somebody tells of a crawl."""
    told = {"id": name, "seeds": [seed], "started": started, "ended": None, "note": ""}
    told |= {"state": "interrupted", "settings": {"robots": "ignore"}, "course": None} | more
    info = forge.warcinfo(f"{name}.warc.gz")
    info.block = f"software: asof\r\nasof-crawl: {json.dumps(told)}\r\n".encode()
    info.extra = (("WARC-Asof-Crawl", name),)
    return info


def written(path: Path, *records: Rec) -> Path:
    path.write_bytes(b"".join(record.gz() for record in records))
    return path


def crawls(archive: Path) -> dict[str, dict[str, Any]]:
    """The crawls as the archive tells of them, by id."""
    return {each["id"]: each for each in ok("status", "--json", "-a", archive).json()["crawls"]}


@pytest.mark.parametrize("rebuilt", [False, True])
def test_an_imported_crawl_is_told_of_and_never_gone_on_with(
    server: Server, tmp_path: Path, rebuilt: bool
) -> None:
    """Not as the one that waits, nor by its seeds, nor after a rebuild; asked by its id it is."""
    seed, archive = f"{server.url}/admin", tmp_path / "archive"
    path = written(tmp_path / "theirs.warc.gz", said("theirs", seed), *recs(2))
    ok("import", path, "-a", archive)
    if rebuilt:
        remove_database(archive)
        ok("reindex", "-a", archive)
    refused = ok("crawl", "-a", archive, code=2)
    assert "There is no interrupted crawl to resume." in refused.err
    assert crawls(archive)["theirs"]["imported"] is True
    assert b"theirs  imported" in b"  ".join(ok("status", "-a", archive).out.split())
    quality = ok("quality", "theirs", "-a", archive).out
    assert b"00:00:00 UTC, imported\n" in quality
    assert b"interrupted" not in quality
    assert b"Let it go on" not in quality
    server.hits.clear()
    crawl(archive, seed, code=1)
    assert server.paths() == ["/robots.txt"]  # obeyed


def test_a_crawl_of_ours_is_not_changed_by_what_others_say_of_it(
    server: Server, tmp_path: Path
) -> None:
    """Nor are their captures counted to it; in the catalog, a rebuilt one, and a certificate."""
    archive, certificate = tmp_path / "archive", tmp_path / "certificate.json"
    name = crawl(archive, f"{server.url}/").json()["crawl"]
    before = crawls(archive)
    found = ok("list", "--crawl", name, "--json", "-a", archive).rows()
    theirs = said(name, "http://evil.example/", settings={"proxy": "http://127.0.0.1:9"})
    path = written(tmp_path / "theirs.warc.gz", theirs, *recs(2))
    ok("import", path, "-a", archive)
    for _ in range(2):
        assert crawls(archive) == before
        assert ok("list", "--crawl", name, "--json", "-a", archive).rows() == found
        ok("crawl", "-a", archive, code=2)
        # As if theirs had come first.
        (first,) = (archive / "warc").glob("*-import-*")
        first.rename(first.with_name(first.name.replace("000002", "000000")))
        remove_database(archive)
        ok("reindex", "-a", archive)
    ok("quality", name, "--certificate", certificate, "-a", archive)
    assert "example.com" not in certificate.read_text()
    ok("check", certificate, "-a", archive)


def test_the_newest_crawl_is_the_newest_of_ours(server: Server, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    name = crawl(archive, f"{server.url}/").json()["crawl"]
    theirs = said("later", "http://evil.example/", started="9998-01-01T00:00:00Z")
    ok("import", written(tmp_path / "theirs.warc.gz", theirs, *recs(2)), "-a", archive)
    assert ok("status", "--json", "-a", archive).json()["crawl"] == name
    assert name.encode() in ok("quality", "-a", archive).out
    explained = ok("scope", f"{server.url}/admin", "-a", archive, code=1)
    assert b"robots.txt" in explained.out


def test_other_crawls_in_a_file_by_others_are_none(tmp_path: Path) -> None:
    """A file is of the crawl that it names first: those that it names later have no captures."""
    archive = tmp_path / "archive"
    records = [said("one", "http://a.example/"), *recs(2), said("two", "http://b.example/")]
    ok("import", written(tmp_path / "both.warc.gz", *records), "-a", archive)
    assert list(crawls(archive)) == ["one"]
    ok("reindex", "-a", archive)
    assert list(crawls(archive)) == ["one"]


def test_a_file_by_others_that_is_taken_over_after_a_crash_stays_theirs(
    server: Server, tmp_path: Path
) -> None:
    """Its import was killed between the file and the database."""
    archive = tmp_path / "archive"
    crawl(archive, f"{server.url}/")
    theirs = said("theirs", f"{server.url}/admin")
    path = written(archive / "warc" / "000002-import-theirs.warc.gz", theirs, *recs(2))
    path.write_bytes(path.read_bytes() + b"torn")
    ok("crawl", "-a", archive, code=2)
    assert crawls(archive)["theirs"]["imported"] is True
    assert path.read_bytes().endswith(b"torn")  # only files that we append to are cut


def test_an_archive_that_was_copied_whole_goes_on_and_says_what_loosens_safety(
    server: Server, tmp_path: Path
) -> None:
    """Its files are its own; who goes on with it hears once how it was begun."""
    archive, copy = tmp_path / "archive", tmp_path / "copy"
    name = crawl(archive, f"{server.url}/", "--robots", "ignore").json()["crawl"]
    with sqlite3.connect(archive / "asof.db") as db:
        db.execute("UPDATE crawls SET state = 'interrupted'")
    shutil.copytree(archive, copy)
    db.close()
    going = ok("crawl", "-a", copy)
    told = [line for line in going.err.splitlines() if "as it was begun" in line]
    assert told == [
        f"Going on with crawl {name} as it was begun, with --robots ignore. To begin anew: --new"
    ]


def test_what_is_asked_for_now_is_not_told_of(server: Server, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    crawl(archive, f"{server.url}/", "--robots", "ignore")
    with sqlite3.connect(archive / "asof.db") as db:
        db.execute("UPDATE crawls SET state = 'interrupted'")
    db.close()
    assert "as it was begun" not in ok("crawl", "-a", archive, "--robots", "ignore").err
