"""Databases that earlier versions of asof wrote: they open, are upgraded, and lose nothing.

Each of tests/data/ledgers was written by a commit of its time, by a crawl of the synthetic web that
was interrupted; README.md there says how.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.archive.reindex import reindex
from asof.clock import DAY, SystemClock
from asof.crawl import CrawlRequest, run_crawl
from asof.errors import ArchiveError
from asof.frontier.completeness import completeness
from asof.frontier.queue import Frontier
from asof.frontier.report import tally
from asof.frontier.states import Event, TargetState
from asof.ledger import SCHEMA_VERSION, Ledger, is_outdated
from asof.model import CrawlState
from asof.testing import SiteSpec, SyntheticServer, serve_in_thread

DATA = Path(__file__).parent.parent / "data" / "ledgers"
DUMPS = sorted(path.stem for path in DATA.glob("*.sql"))
Rows = list[tuple[object, ...]]


def restore(name: str, path: Path) -> Path:
    """The database of a dump, at `path`."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript((DATA / f"{name}.sql").read_text("utf-8"))
    return path


def old_rows(name: str, statement: str) -> Rows:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript((DATA / f"{name}.sql").read_text("utf-8"))
        return db.execute(statement).fetchall()


def revisit(name: str) -> str:
    """How the version of a dump says that a target is one of the revisits."""
    return "crawl < 0" if int(str(old_rows(name, "PRAGMA user_version")[0][0])) < 4 else "revisit"


def new_rows(path: Path, statement: str) -> Rows:
    with closing(Ledger(path, writable=False)) as ledger:
        return ledger.db.execute(statement).fetchall()


@pytest.fixture(params=DUMPS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def upgraded(name: str, tmp_path: Path) -> Path:
    path = restore(name, tmp_path / "asof.db")
    Ledger(path, writable=True).close()
    return path


def test_every_version_before_this_one_is_here() -> None:
    versions = {old_rows(name, "PRAGMA user_version")[0][0] for name in DUMPS}
    assert versions == set(range(1, SCHEMA_VERSION))


def test_an_upgraded_database_has_the_tables_of_a_new_one(upgraded: Path, tmp_path: Path) -> None:
    Ledger(tmp_path / "new.db", writable=True).close()
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    statements = [tables, "PRAGMA user_version", "PRAGMA index_xinfo(targets_queue)"]
    for (table,) in new_rows(tmp_path / "new.db", tables):
        columns = f"pragma_table_info('{table}')"
        statements.append(f"SELECT name, type, [notnull], dflt_value FROM {columns} ORDER BY 1")
    statements.append("SELECT sql FROM sqlite_master WHERE name IN ('targets', 'targets_queue')")
    for statement in statements:
        assert new_rows(upgraded, statement) == new_rows(tmp_path / "new.db", statement), statement


def test_targets_keep_their_crawl_state_and_way(name: str, upgraded: Path) -> None:
    kept = "url, host, state, depth, hops, via, tries, reason"
    said = f"SELECT no, abs(crawl), {revisit(name)}, {kept} FROM targets ORDER BY no"
    before = old_rows(name, said)
    assert before
    assert new_rows(upgraded, f"SELECT no, crawl, revisit, {kept} FROM targets") == before


def test_captures_segments_and_crawls_are_untouched(name: str, upgraded: Path) -> None:
    columns = [row[0] for row in old_rows(name, "SELECT name FROM pragma_table_info('captures')")]
    for statement in (
        f"SELECT {', '.join(map(str, columns))} FROM captures",
        "SELECT * FROM segments",
        "SELECT no, id, seeds, started, ended, state, settings, note FROM crawls",
    ):
        assert new_rows(upgraded, statement) == old_rows(name, statement)


def test_payloads_need_not_be_stored_again(name: str, upgraded: Path) -> None:
    stored = "SELECT count(DISTINCT digest) FROM captures WHERE kind = 'response' AND size > 0"
    assert new_rows(upgraded, "SELECT count(*) FROM payloads") == old_rows(name, stored)


def test_each_queue_goes_on_in_its_order(name: str, upgraded: Path) -> None:
    before: dict[tuple[object, ...], list[object]] = defaultdict(list)
    number = f"iif({revisit(name)}, -abs(crawl), crawl)"
    order = "guess, priority, no" if revisit(name) == "revisit" else "priority, no"
    queued = f"SELECT {number}, host, url FROM targets WHERE state = 'queued' ORDER BY {order}"
    for crawl, host, url in old_rows(name, queued):
        before[crawl, host].append(url)
    after: dict[tuple[object, ...], list[object]] = defaultdict(list)
    with closing(Ledger(upgraded, writable=True)) as ledger, ledger.transaction():
        for sign in (1, -1):
            for (number,) in ledger.db.execute("SELECT no FROM crawls").fetchall():
                frontier = Frontier(ledger, number)
                frontier.serve(revisits=sign < 0)
                for host in frontier.hosts():
                    # Far in the future, when nothing has to wait any more.
                    while (target := frontier.next(host, SystemClock().now() + DAY)) is not None:
                        after[sign * number, host].append(target.url)
                        frontier.settle(target, Event.CAPTURED)
                        frontier.flush()
    assert after == before


def test_guesses_refusals_and_places_are_columns(tmp_path: Path) -> None:
    path = restore("v3", tmp_path / "asof.db")
    Ledger(path, writable=True).close()
    guesses = new_rows(path, "SELECT DISTINCT hops, priority FROM targets WHERE guess")
    assert guesses == [("EX", 1.0)]
    reasons = new_rows(path, "SELECT DISTINCT reason FROM targets WHERE refused ORDER BY 1")
    assert reasons == [("excluded by permalink",), ("robots.txt",)]
    assert new_rows(path, "SELECT 1 FROM targets WHERE not_before BETWEEN 1 AND 1000") == []
    path = restore("v3-revisits", tmp_path / "planned.db")
    Ledger(path, writable=True).close()
    planned = "SELECT max(priority) FROM targets WHERE crawl = 2 AND revisit ="
    assert new_rows(path, f"{planned} 1") == [(1.0,)]
    assert 0.8 < float(str(new_rows(path, f"{planned} 0")[0][0])) < 1.0


def test_what_robots_txt_refused_in_the_first_version_stays_refused(tmp_path: Path) -> None:
    path = restore("v1", tmp_path / "asof.db")
    Ledger(path, writable=True).close()
    rows = "SELECT DISTINCT refused, reason FROM targets WHERE state = 'left_out'"
    assert new_rows(path, rows) == [(1, "robots.txt")]


# -- readers, other processes, kills


def archive_of(name: str, tmp_path: Path) -> Path:
    """An archive with an old database, and with its files where they are kept."""
    root = tmp_path / "archive"
    (root / "warc").mkdir(parents=True)
    restore(name, root / "asof.db")
    for (file,) in old_rows(name, "SELECT file FROM segments"):
        if (DATA / "warc" / str(file)).exists():
            shutil.copy(DATA / "warc" / str(file), root / "warc")
    return root


def test_whoever_only_reads_gets_an_upgraded_archive(name: str, tmp_path: Path) -> None:
    root = archive_of(name, tmp_path)
    with OpenArchive.open(root) as archive:
        assert len(list(archive.captures())) == len(old_rows(name, "SELECT 1 FROM captures"))
        number = archive.catalog.crawl_no(archive.crawls()[-1].id)
        assert completeness(archive.ledger, number).hosts
    assert not is_outdated(root / "asof.db")


def test_an_archive_that_an_earlier_asof_is_writing_is_not_upgraded(tmp_path: Path) -> None:
    root = archive_of("v3", tmp_path)
    with (
        Folder(root).lock("crawl"),
        pytest.raises(ArchiveError, match="is in use by `asof crawl`"),
    ):
        OpenArchive.open(root)
    assert is_outdated(root / "asof.db")


def test_a_reader_of_what_cannot_be_written_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = archive_of("v3", tmp_path)
    opened = os.open

    def refused(path: object, *args: int) -> int:
        if str(path).endswith(".lock"):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(ArchiveError, match="earlier asof, and its folder cannot be") as caught:
        OpenArchive.open(root)
    assert "Copy the archive" in caught.value.hint


_KILLED = """
import os, signal, sys
from pathlib import Path
from asof.ledger import Ledger, connection

class Killer:
    def __init__(self, db):
        self.db = db
    def execute(self, statement, *values):
        if sys.argv[2] in statement:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.db.execute(statement, *values)
    def __getattr__(self, name):
        return getattr(self.db, name)

connect = connection._connect
connection._connect = lambda path: Killer(connect(path))
Ledger(Path(sys.argv[1]), writable=True)
"""


@pytest.mark.parametrize(
    ("before", "version"),
    [
        ("CREATE TABLE payloads", 1),
        ("ADD COLUMN course", 1),
        ("RENAME TO old_targets", 1),
        ("DROP TABLE old_targets", 1),
        ("COMMIT", 1),
        ("PRAGMA journal_mode", SCHEMA_VERSION),
    ],
)
def test_a_kill_in_the_middle_leaves_the_old_database_or_the_new(
    before: str, version: int, tmp_path: Path
) -> None:
    path = restore("v1", tmp_path / "asof.db")
    command = [sys.executable, "-c", _KILLED, str(path), before]
    assert subprocess.run(command, timeout=30, check=False).returncode == -signal.SIGKILL
    queue = "SELECT url FROM targets WHERE state = 'queued' ORDER BY no"
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (version,)
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute(queue).fetchall() == old_rows("v1", queue)
    Ledger(path, writable=True).close()
    assert new_rows(path, queue) == old_rows("v1", queue)


_OPENER = """
import sys
from pathlib import Path
from asof.ledger import Ledger
Ledger(Path(sys.argv[1]), writable=True).close()
"""


def test_several_processes_may_upgrade_it_at_once(tmp_path: Path) -> None:
    path = restore("v2", tmp_path / "asof.db")
    command = [sys.executable, "-c", _OPENER, str(path)]
    openers = [subprocess.Popen(command) for _ in range(3)]
    assert [opener.wait(30) for opener in openers] == [0] * 3
    assert not is_outdated(path)


@pytest.mark.parametrize("writable", [True, False])
def test_a_later_schema_is_refused_and_left_alone(writable: bool, tmp_path: Path) -> None:
    path = restore("v3", tmp_path / "asof.db")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(ArchiveError, match="later asof: it has schema version 99") as caught:
        Ledger(path, writable=writable)
    assert "asof reindex" in caught.value.hint
    assert path.read_bytes() == before


# -- going on


@pytest.fixture(scope="module")
def web() -> Iterator[SyntheticServer]:
    """The two hosts that all of them were crawling."""
    spec = SiteSpec(pages=5, hosts=2, images=1, words=30, links=4, redirects=2, errors=(404, 503))
    with serve_in_thread(spec, by_name=True, clock=SystemClock()) as server:
        yield server


def resume(root: Path, web: SyntheticServer) -> set[str]:
    """Go on with the interrupted crawl to its end; gives the URLs that were asked for."""
    before = len(web.log)
    settings = {"proxy": web.proxy, "delay": 0.0, "retry_delay": 0.0}
    outcome = run_crawl(CrawlRequest(root, settings=settings))
    assert outcome.crawl.state is CrawlState.FINISHED
    assert outcome.resumed
    return {web.urls[each.host][:-1] + each.path for each in list(web.log)[before:]}


@pytest.mark.parametrize("name", ["v1-first", "v2-first", "v3"])
def test_an_interrupted_crawl_goes_on_where_it_stood(
    name: str, tmp_path: Path, web: SyntheticServer
) -> None:
    root = archive_of(name, tmp_path)
    queued = {url for (url,) in old_rows(name, "SELECT url FROM targets WHERE state = 'queued'")}
    done = {url for (url,) in old_rows(name, "SELECT url FROM targets WHERE state = 'done'")}
    refused = {url for (url,) in old_rows(name, "SELECT url FROM targets WHERE reason LIKE 'r%'")}
    asked = resume(root, web)
    assert not refused & asked
    drafts = {url for url in queued if "/desk/" in str(url)}
    assert queued - drafts <= asked
    assert all(url.endswith("/robots.txt") for url in asked & done)
    with OpenArchive.open(root) as archive:
        number = archive.catalog.crawl_no(archive.crawls()[-1].id)
        assert tally(archive.ledger, number)[TargetState.QUEUED] == 0


@pytest.mark.parametrize("name", ["v3-revisits"])
def test_revisits_go_on_where_they_stood(name: str, tmp_path: Path, web: SyntheticServer) -> None:
    root = archive_of(name, tmp_path)
    revisits = "SELECT url FROM targets WHERE crawl < 0 AND state ="
    queued = {url for (url,) in old_rows(name, f"{revisits} 'queued'")}
    done = {url for (url,) in old_rows(name, f"{revisits} 'done'")}
    asked = resume(root, web)
    assert queued <= asked
    assert not done & asked
    with OpenArchive.open(root) as archive:
        number = archive.catalog.crawl_no(archive.crawls()[-1].id)
        again = tally(archive.ledger, number, revisits=True)
        assert (again[TargetState.QUEUED], again[TargetState.DONE]) == (0, len(queued | done))


@pytest.mark.parametrize("version", [1, 99])
def test_a_reindex_rebuilds_whatever_the_version(version: int, tmp_path: Path) -> None:
    root = archive_of("v1-first", tmp_path)
    with closing(sqlite3.connect(root / "asof.db")) as db:
        db.execute(f"PRAGMA user_version = {version}")
    found = reindex(Folder(root), spread=map, progress=lambda size: None)
    captures = old_rows("v1-first", "SELECT url, at, digest FROM captures ORDER BY url, at")
    assert found.captures == len(captures)
    rebuilt = new_rows(root / "asof.db", "SELECT url, at, digest FROM captures ORDER BY url, at")
    assert rebuilt == captures
