"""`asof pause`, `resume`, `exclude`, `stop`, `status` and `quality`, as a user sees them.

Orders go to a stand-in that holds the archive as a crawl does and obeys at once, so that these
tests are about the commands alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support import rig
from support.rig import crawl, links, ok, page, run, site

# A crawl without a web: three targets, one of them taken. `deaf` hears no orders, `blind` has no
# control at all.
STAND_IN = """
import sys, time
from pathlib import Path
from asof.archive import OpenArchive
from asof.crawl.control import Act, Control
from asof.crawl.summary import Snapshot
from asof.model import Crawl, CrawlState

STATES = {Act.PAUSE: "paused", Act.RESUME: "running", Act.STOP: "stopping"}
folder, kind = Path(sys.argv[1]), sys.argv[2]
with OpenArchive.write(folder, purpose="crawl") as archive:
    seeds = ("http://a.org/",)
    with archive.ledger.transaction():
        archive.catalog.put_crawl(Crawl("c1", seeds, archive.clock.now(), CrawlState.RUNNING))
        number = archive.catalog.crawl_no("c1")
        for no, fate in enumerate(("done", "queued", "queued")):
            archive.ledger.db.execute(
                "INSERT OR IGNORE INTO targets (crawl,key,url,host,state,priority,depth,hops)"
                " VALUES (?, ?, ?, 'a.org', ?, 1, 1, 'L')", (number, no, f"http://a.org/{no}", fate)
            )
    control = None if kind == "blind" else Control(archive.folder, archive.clock, "c1")
    state, until = "running", time.monotonic() + 60
    print("ready", flush=True)
    while state != "stopping" and time.monotonic() < until:
        time.sleep(0.02)
        for order in control.orders() if kind == "obeys" else ():
            state = STATES.get(order.act, state)
            control.obeyed(order, f"did {order.act.value} {order.pattern}".strip())
        if control is not None:
            control.publish(Snapshot(2.0, 1, 0, 0, 2, 99, 1, "", state=state))
    if control is not None:
        control.close()
    with archive.ledger.transaction():
        archive.catalog.put_crawl(Crawl("c1", seeds, 0, CrawlState.FINISHED, 1))
"""


@contextmanager
def stand_in(archive: Path, kind: str = "obeys") -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(
        [sys.executable, "-c", STAND_IN, str(archive), kind],
        stdout=subprocess.PIPE,
        env=rig.clean_environment(),
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        if kind != "blind":
            status = archive / "control" / "status.json"
            rig.wait_for(status.exists, 10, "the stand-in says how it stands")
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.communicate()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "archive"


# -- Orders -------------------------------------------------------------------------------------


def test_orders_are_obeyed_and_the_commands_say_so(archive: Path) -> None:
    with stand_in(archive) as process:
        paused = ok("pause", "-a", archive)
        assert paused.out.decode() == f"Crawl c1 is paused. Go on with: asof resume -a {archive}\n"
        told = ok("resume", "-a", archive, "--json").json()
        assert told == {
            "order": "resume", "id": told["id"], "crawl": "c1", "obeyed": True, "did": "did resume",
            "state": "running",
        }  # fmt: skip
        out = ok("exclude", r"/cal/\d+ ☃", "-a", archive).out.decode()
        assert out == "Crawl c1 leaves out what matches /cal/\\d+ ☃: did exclude /cal/\\d+ ☃.\n"
        told = ok("exclude", "x", "-a", archive, "--json").json()
        assert (told["pattern"], told["obeyed"]) == ("x", True)
        stopped = ok("stop", "-a", archive, "--json").json()
        assert stopped["obeyed"] is True
        process.wait(10)
    lines = (archive / "control" / "orders.jsonl").read_text().splitlines()
    orders = [json.loads(line)["order"] for line in lines]
    assert orders == ["pause", "resume", "exclude", "exclude", "stop"]


def refusals(archive: Path) -> list[str]:
    """What each of the commands says where nobody takes orders: exit 2 and one sentence."""
    said = []
    for words in (("pause",), ("resume",), ("exclude", "x"), ("stop",)):
        refused = run(*words, "-a", archive)
        assert (refused.code, refused.out) == (2, b""), str(refused)
        assert len(refused.err.splitlines()) == 1
        said.append(refused.err)
    return said


def test_where_nobody_takes_orders_the_commands_say_what_to_do(archive: Path) -> None:
    """No archive, a crawl without --control, none, one that was killed."""
    refusals(archive)
    with stand_in(archive, "blind"):
        command = f"go on with `asof crawl -a {archive} --control`"
        assert all(command in said for said in refusals(archive))
    assert all(said.startswith("asof: No crawl is running in") for said in refusals(archive))
    with stand_in(archive) as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)
    assert (archive / "control" / "status.json").exists()
    refusals(archive)
    assert (archive / "control" / "orders.jsonl").read_text() == ""


def test_a_crawl_that_does_not_hear_is_not_waited_for_for_ever(archive: Path) -> None:
    with stand_in(archive, "deaf"):
        unheard = run("pause", "-a", archive, "--json")
    assert unheard.code == 1
    assert unheard.json()["obeyed"] is False
    assert "has not obeyed within 5 seconds" in unheard.err
    assert 4 < unheard.seconds < 12


def test_a_bad_pattern_is_refused_before_it_is_sent(archive: Path) -> None:
    with stand_in(archive):
        for pattern in ("(", "", "x" * 20_000):
            refused = run("exclude", pattern, "-a", archive)
            assert (refused.code, refused.out) == (2, b"")
        assert (archive / "control" / "orders.jsonl").read_text() == ""


def test_a_hostile_control_folder_is_no_trap(archive: Path, tmp_path: Path) -> None:
    """A link out of the archive is not written through, a pipe does not hold the command."""
    with stand_in(archive):
        orders, precious = archive / "control" / "orders.jsonl", tmp_path / "precious"
        precious.write_text("mine\n")
        orders.unlink()
        orders.symlink_to(precious)
        assert run("pause", "-a", archive).code == 2
        assert precious.read_text() == "mine\n"
        orders.unlink()
        os.mkfifo(orders)
        assert run("pause", "-a", archive, timeout=20).code in (1, 2)
        (archive / "control" / "status.json").unlink()
        assert run("status", "-a", archive).code == 0


# -- Following ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["obeys", "blind"], ids=["by its status", "by the database"])
def test_a_crawl_is_followed_until_it_ends(archive: Path, kind: str) -> None:
    with stand_in(archive, kind) as process:
        follower = rig.start("status", "--follow", "--json", "-a", archive)
        assert follower.stdout is not None
        first = json.loads(follower.stdout.readline())
        assert (first["crawl"], first["state"], first["captured"]) == ("c1", "running", 1)
        assert (first["queued"], first["failed"]) == (2, 0)
        if kind == "obeys":
            ok("stop", "-a", archive)
        else:
            process.kill()
        rest = [json.loads(line) for line in follower.stdout]
        assert follower.wait(10) == 0
        follower.communicate()
    assert rest[-1]["crawl"] == "c1"
    assert rest[-1]["state"] == ("finished" if kind == "obeys" else "interrupted")


def test_elsewhere_than_on_a_terminal_it_is_followed_by_lines(archive: Path) -> None:
    with stand_in(archive):
        follower = rig.start("status", "--follow", "-a", archive)
        assert follower.stdout is not None
        assert follower.stdout.readline().startswith(b"1 captured \xc2\xb7 2 queued")
        ok("stop", "-a", archive)
        out, err = follower.communicate(timeout=15)
    assert follower.returncode == 0
    assert out.decode().splitlines()[-1].startswith("Crawl c1 is finished: ")
    assert err == b""


def test_following_ends_at_ctrl_c(archive: Path) -> None:
    with stand_in(archive) as process:
        follower = rig.start("status", "--follow", "-a", archive)
        assert follower.stdout is not None
        follower.stdout.readline()
        time.sleep(0.3)
        follower.send_signal(signal.SIGINT)
        assert follower.wait(10) == 130
        assert follower.communicate()[1].strip() == b""
        assert process.poll() is None, "the crawl itself goes on"


def test_without_a_running_crawl_there_is_nothing_to_follow(archive: Path) -> None:
    with site({"/": page("x")}) as server:
        crawl(archive, server.url + "/")
    told = ok("status", "--follow", "-a", archive)
    assert told.out.decode().startswith("No crawl is running. The last, ")
    assert ok("status", "--follow", "-a", archive, "--json").json()["state"] == "finished"
    assert run("status", "--follow", "-a", archive / "none").code == 2


# -- What was left out, and completeness --------------------------------------------------------


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """An archive of two crawls: one with everything that can happen to a URL, one of a page."""
    folder = tmp_path_factory.mktemp("reported") / "archive"
    far = [f"http://far{no}.invalid/" for no in range(5)]
    pages: dict[str, rig.Answer] = {
        "/": page(links("/a", "/b", "/x/1", "/x/2", "/private", "/broken", *far)),
        "/a": page("<p>a</p>"),
        "/b": page("<p>b</p>"),
        "/broken": rig.Reply((b"",), "reset"),
        "/robots.txt": page("User-agent: *\nDisallow: /private", media="text/plain"),
    }
    with site(pages) as server:
        crawl(folder, server.url + "/", "--exclude", "/x/", env={"ASOF_RETRIES": "0"})
        first = ok("status", "-a", folder, "--json").json()["crawl"]
        crawl(folder, server.url + "/a")
        yield folder, first


def test_what_was_left_out_is_told_by_reason_with_examples(reported: tuple[Path, str]) -> None:
    folder, first = reported
    told = ok("status", first, "-a", folder, "--json").json()
    assert told["crawl"] == first
    rows = {row["reason"]: row for row in told["left_out"]}
    assert rows["excluded by /x/"]["count"] == 2
    assert [url[-4:] for url in rows["excluded by /x/"]["examples"]] == ["/x/1", "/x/2"]
    assert rows["robots.txt"]["count"] == 1
    (other,) = [row for row in told["left_out"] if "far0" in row["examples"][0]]
    assert other["count"] == 5
    assert other["examples"] == [f"http://far{no}.invalid/" for no in range(3)]
    (failure,) = told["failures"]
    assert failure["count"] == 1
    assert failure["examples"][0].endswith("/broken")
    text = ok("status", first, "-a", folder).out.decode()
    assert "excluded by /x/" in text
    assert "http://far2.invalid/" in text


def test_completeness_counts_what_belongs(reported: tuple[Path, str]) -> None:
    """Found: /, a, b, private, broken; taken: /, a, b. Hosts: ours and five that links name."""
    folder, first = reported
    figures = ok("quality", first, "-a", folder, "--json").json()
    assert figures["crawl"] == first
    assert len({page["url"] for page in figures["pages"]}) == len(figures["pages"]) == 3
    value = figures["completeness"]
    assert value["vertical"] == {"share": 0.6, "found": 5, "taken": 3}
    assert value["horizontal"] == {"share": round(1 / 6, 6), "found": 6, "taken": 1}
    assert value["hosts"][0]["found"] == 5
    assert ok("status", first, "-a", folder, "--json").json()["completeness"] == value
    text = ok("quality", first, "-a", folder).out.decode()
    assert "60.0 %, 3 taken of 5 URLs found" in text
    assert "16.6 %, 1 taken of 6 hosts found" in text


def test_the_newest_crawl_is_meant_unless_one_is_named(reported: tuple[Path, str]) -> None:
    folder, first = reported
    newest = ok("quality", "-a", folder, "--json").json()
    assert newest["crawl"] != first
    part = ok("quality", "--url", newest["pages"][0]["url"], "-a", folder, "--json").json()
    assert part["completeness"] == {"vertical": None, "horizontal": None}  # of no single crawl
    assert newest["completeness"]["vertical"] == {"share": 1.0, "found": 1, "taken": 1}
    for verb in ("status", "quality"):
        refused = run(verb, "no-such-crawl", "-a", folder)
        assert refused.code == 2
        assert f"`asof status -a {folder}` lists them" in refused.err


def test_what_an_imported_crawl_found_is_not_known(
    reported: tuple[Path, str], tmp_path: Path
) -> None:
    """Its WARC names the crawl, but nothing that it did not capture."""
    folder, first = reported
    ok("import", rig.warcs(folder)[0], "-a", tmp_path / "other")
    told = ok("status", "-a", tmp_path / "other", "--json").json()
    assert told["crawl"] == first
    assert told["completeness"]["vertical"] == {"share": None, "found": 0, "taken": 0}
    assert "nothing is known" in ok("quality", "-a", tmp_path / "other").out.decode()


def test_an_archive_without_a_crawl_has_no_quality(tmp_path: Path) -> None:
    record = (
        b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.org/\r\n"
        b"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\n"
        b"WARC-Date: 2020-01-01T00:00:00Z\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"
    )
    (tmp_path / "a.warc").write_bytes(record)
    ok("import", tmp_path / "a.warc", "-a", tmp_path / "other")
    told = ok("status", "-a", tmp_path / "other", "--json").json()
    assert (told["crawl"], told["completeness"], told["left_out"]) == (None, None, [])
    assert run("quality", "-a", tmp_path / "other").code == 1
