"""Crawls in the browser: the same figures as on the terminal, orders that a real crawl obeys, and
crawls that a form begins and goes on with.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from asof.archive import OpenArchive
from asof.cli.crawl import crawl_command
from asof.clock import SystemClock
from asof.model import Crawl, CrawlState
from asof.web import crawl_orders
from asof.web.app import create_app
from asof.web.crawls import CRAWLS_A_PAGE, SETTINGS
from support import rig, steered
from support.rig import ok
from support.serve_command import served
from support.served_archive import Page, Server, build, running, serving
from support.steered import TOKEN, crawling, nothing_runs_on, ordered


@pytest.fixture(scope="module")
def site() -> Iterator[rig.Server]:
    with steered.long_site() as server:
        yield server


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Path]:
    """An archive of one page, which may be crawled into."""
    page = Page("http://a.example/", "2026-01-01T00:00:00Z", b"<p>a")
    folder = build(tmp_path / "archive", [page], seeds=("http://a.example/",))
    with nothing_runs_on(folder):
        yield folder


@pytest.fixture
def server(archive: Path) -> Iterator[Server]:
    with serving(archive, token=TOKEN) as found:
        yield found


def told(server: Server, crawl: str = "") -> Any:
    answer = server.ask(f"/-/api/crawl?crawl={crawl}")
    assert answer.status == 200, answer.text
    found = json.loads(answer.body)
    described = json.loads(server.ask("/-/openapi.json").body)
    schema = described["paths"]["/-/api/crawl"]["get"]["responses"]["200"]
    whole = {
        **schema["content"]["application/json"]["schema"],
        "components": described["components"],
    }
    Draft202012Validator(whole).validate(found)
    return found


def place_of(answer: Any) -> str:
    """The id of the crawl that an answer leads to."""
    assert answer.status == 303, answer.text
    return str(answer.headers["Location"]).removeprefix("/crawls/")


def events(archive: Path, crawl: str) -> list[str]:
    lines = (archive / "logs" / f"{crawl}.jsonl").read_text().splitlines()
    return [json.loads(line)["event"] for line in lines]


# -- The same figures ----------------------------------------------------------------------------


def same_as_on_the_terminal(server: Server, archive: Path, crawl: str) -> None:
    printed = ok("status", crawl, "--json", "-a", archive).json()
    found = told(server, crawl)
    assert found.pop("now") is None
    assert found.pop("summary") in printed["crawls"]
    assert found == {name: printed[name] for name in found}
    assert found["left_out"]
    listed = json.loads(server.ask("/-/api/crawls").body)
    assert listed == {"crawls": printed["crawls"][::-1], "next": None}


def test_what_became_of_a_crawl_is_that_of_the_terminal(
    server: Server, archive: Path, site: rig.Server
) -> None:
    rig.crawl(archive, site.url + "/", "--max-pages", 7, "--exclude", "/page/1")
    crawl = told(server)["crawl"]
    same_as_on_the_terminal(server, archive, crawl)
    text = server.ask(f"/crawls/{crawl}").text
    for word in ("Finished at the limit of pages", "excluded by /page/1", "forbids it",
                 "/private/1", "http://far.invalid/", "taken of"):  # fmt: skip
        assert word in text, text
    ended = server.ask("/crawls/20260101000000-test").text
    scripts = re.findall("<script>(.*)", ended)
    assert [each.partition(" the token")[0] for each in scripts] == ["// Keeps", "// Fills"]
    # Whether the token is asked for is known before anything is drawn: nothing moves.
    assert ended.index("// Keeps") < ended.index("<link") < ended.index("// Fills")
    assert crawl in server.ask("/crawls").text
    assert f'href="/crawls/{crawl}"' in server.ask("/").text


def test_how_a_crawl_stands_is_what_its_followers_see(
    server: Server, archive: Path, site: rig.Server
) -> None:
    with crawling(archive, site.url + "/") as crawl:
        ok("pause", "-a", archive)
        time.sleep(1.5)  # what was in flight is told of a second later
        follower = rig.start("status", "--follow", "--json", "-a", archive)
        assert follower.stdout is not None
        line = json.loads(follower.stdout.readline())
        rig.end(follower)
        follower.communicate()
        now = told(server, crawl)["now"]
        moving = {"at", "elapsed", "rate", "rate_now", "remaining", "busiest"}
        assert {k: v for k, v in now.items() if k not in moving} == {
            k: v for k, v in line.items() if k not in moving
        }
        assert now["state"] == "paused"
        text = server.ask(f"/crawls/{crawl}").text
        assert f'data-watch="/crawls/{crawl}"' in text
        assert f"{now['captured']:,}</dd>" in re.sub(r"<small>.*?</small>", "", text)
        assert all(each["url"] in text for each in now["recent"])
    same_as_on_the_terminal(server, archive, crawl)


def test_one_without_control_is_seen_and_takes_no_orders(
    server: Server, archive: Path, site: rig.Server
) -> None:
    with crawling(archive, site.url + "/", control=False) as crawl:
        assert told(server, crawl)["now"]["queued"] > 0
        assert "It takes no orders" in server.ask(f"/crawls/{crawl}").text
        refused = ordered(server, "pause", crawl=crawl)
        assert refused.status == 400
        assert "not by a crawl that takes orders" in refused.text
        assert str(archive) not in refused.text


def test_many_crawls_come_in_pages(tmp_path: Path) -> None:
    folder = build(tmp_path / "archive", [], seeds=("http://a.example/",))
    with OpenArchive.write(folder, purpose="test") as archive, archive.ledger.transaction():
        for number in range(2 * CRAWLS_A_PAGE):
            state, seeds = CrawlState.FINISHED, (f"http://{number}.example/",)
            archive.catalog.put_crawl(Crawl(f"c{number:03}", seeds, number, state, number))
    with serving(folder) as server:
        target, seen = "/-/api/crawls", []
        while target:
            found = json.loads(server.ask(target).body)
            seen += [each["id"] for each in found["crawls"]]
            target = found["next"]
        assert len(seen) == len(set(seen)) == 2 * CRAWLS_A_PAGE + 1
        onward = re.search(r'href="(/crawls\?before=[^"]+)"', server.ask("/crawls").text)
        assert onward is not None
        assert f"http://{CRAWLS_A_PAGE - 2}.example/" in server.ask(onward[1]).text
        assert server.ask("/crawls/none").status == server.ask("/-/api/crawl?crawl=x").status == 404


# -- Orders --------------------------------------------------------------------------------------


def test_a_crawl_of_the_terminal_obeys_the_browser(
    server: Server, archive: Path, site: rig.Server
) -> None:
    with crawling(archive, site.url + "/") as crawl:
        assert f"Crawl {crawl} is paused." in ordered(server, "pause", crawl=crawl).text
        assert told(server, crawl)["now"]["state"] == "paused"
        gone = ordered(server, "exclude", crawl=crawl, pattern="/calendar/")
        found = re.search(r"leaves out what matches /calendar/: (\d+) queued URLs", gone.text)
        assert found is not None
        assert int(found[1]) > 150
        assert "goes on." in ordered(server, "resume", crawl=crawl).text
        before = len(site.hits)
        rig.wait_for(lambda: len(site.hits) > before + 3, 10, "the crawl goes on")
        assert not [hit for hit in site.hits[before + 1 :] if "/calendar/" in hit.path]
        assert "is stopping." in ordered(server, "stop", crawl=crawl).text
        rig.wait_for(lambda: steered.at_work(archive) is None, 15, "the crawl ends")
        assert events(archive, crawl)[-1] == "ended"
        for name in ("pause", "stop"):
            late = ordered(server, name, crawl=crawl)
            assert (late.status, "No crawl is running" in late.text) == (400, True)
    orders = (archive / "control" / "orders.jsonl").read_text().splitlines()
    given = [json.loads(line)["order"] for line in orders]
    assert given == ["pause", "exclude", "resume", "stop"]


def test_what_is_no_pattern_is_pointed_at_and_not_sent(
    server: Server, archive: Path, site: rig.Server
) -> None:
    with crawling(archive, site.url + "/") as crawl:
        for pattern in ("", "x" * 20_000, "[z-a]", "a{99999999999}", "/a(b"):
            refused = ordered(server, "exclude", crawl=crawl, pattern=pattern)
            printed = rig.run("exclude", pattern, "-a", archive)
            assert (refused.status, printed.code) == (400, 2)
        assert (archive / "control" / "orders.jsonl").read_bytes() == b""
        lines = printed.err.removeprefix("asof: ").rstrip().splitlines()
        assert lines[1:3] == ["  /a(b", "    ^"]
        assert "\n".join(lines) in refused.text.replace("&#39;", "'")
        assert 'value="/a(b"' in refused.text


def test_of_several_archives_each_has_orders_of_its_own(
    archive: Path, tmp_path: Path, site: rig.Server
) -> None:
    other = build(tmp_path / "other" / "archive", [])
    with (
        crawling(archive, site.url + "/") as crawl,
        OpenArchive.open(archive) as one,
        OpenArchive.open(other) as two,
        running(create_app([one, two], SystemClock(), root="/r", token=TOKEN)) as server,
    ):
        text = server.ask(f"/r/archive/crawls/{crawl}").text
        assert 'formaction="/r/archive/-/do/pause"' in text
        assert f'data-watch="/r/archive/crawls/{crawl}"' in text
        body = f"token={TOKEN}&crawl={crawl}".encode()
        for place, status in (("/-/do/", 405), ("/r/-/do/", 405), ("/r/archive-2/-/do/", 404)):
            refused = steered.sent(server, "pause", body, place=place)
            assert refused.status == status, place
        assert steered.sent(server, "pause", b"", place="/r/archive/-/do/").status == 401
        assert (archive / "control" / "orders.jsonl").read_bytes() == b""
        done = steered.sent(server, "pause", body, place="/r/archive/-/do/")
        assert "is paused." in done.text


def test_an_order_for_another_crawl_reaches_nobody(
    server: Server, archive: Path, site: rig.Server
) -> None:
    with crawling(archive, site.url + "/"):
        refused = ordered(server, "stop", crawl="20260101000000-test")
        assert (refused.status, "another one runs" in refused.text) == (400, True)
        assert ordered(server, "stop", crawl="none").status == 404
        assert ordered(server, "stop").status == 400
        assert (archive / "control" / "orders.jsonl").read_bytes() == b""


def test_more_orders_at_once_than_can_wait_are_refused(server: Server, archive: Path) -> None:
    for _ in range(crawl_orders.AT_ONCE):
        assert crawl_orders._turns.acquire(blocking=False)
    try:
        refused = ordered(server, "stop", crawl="20260101000000-test")
    finally:
        crawl_orders._turns.release(crawl_orders.AT_ONCE)
    assert (refused.status, "Send it again." in refused.text) == (429, True)
    assert ordered(server, "stop", crawl="20260101000000-test").status == 400


# -- To begin, and to go on ----------------------------------------------------------------------


def test_the_form_sets_what_the_command_can_be_told() -> None:
    options = {str(each.name) for each in crawl_command.params}
    assert set(SETTINGS) <= options
    assert not {"proxy", "allow_private", "robots", "verify_tls", "user_agent"} & set(SETTINGS)


def test_a_crawl_is_begun_steered_stopped_and_gone_on_with(
    server: Server, archive: Path, site: rig.Server
) -> None:
    begun = ordered(
        server, "crawl", seeds=f"{site.url}/\n", delay="0.05", max_pages="300",
        exclude="/calendar/1\n/calendar/2", proxy="http://evil.example:1", allow_private="yes",
    )  # fmt: skip
    crawl = place_of(begun)
    log = archive / "logs" / f"{crawl}.jsonl"
    rig.wait_for(log.exists, 10, "the crawl writes its log")
    settings = json.loads(log.read_text().splitlines()[0])["settings"]
    assert (settings["delay"], settings["max_pages"]) == (0.05, 300)
    assert settings["exclude"] == ["/calendar/1", "/calendar/2"]
    assert (settings["proxy"], settings["allow_private"]) == (None, False)
    assert "is paused" in ordered(server, "pause", crawl=crawl).text
    busy = ordered(server, "crawl", seeds="http://b.example/")
    assert (busy.status, "`asof crawl` is at work" in busy.text) == (409, True)
    assert "A crawl runs" in server.ask("/crawls").text
    assert "is stopping" in ordered(server, "stop", crawl=crawl).text
    rig.wait_for(lambda: steered.at_work(archive) is None, 15, "the crawl ends")
    assert told(server, crawl)["summary"]["state"] == "interrupted"
    assert "Go on with it" in server.ask(f"/crawls/{crawl}").text
    assert place_of(ordered(server, "continue", crawl=crawl)) == crawl
    for page in ("/", "/crawls"):
        assert re.search('<p class="state running">running(</p>| · <a)', server.ask(page).text)
    assert ", ended" not in server.ask(f"/crawls/{crawl}").text
    assert "is stopping" in ordered(server, "stop", crawl=crawl).text
    rig.wait_for(lambda: steered.at_work(archive) is None, 15, "the crawl ends")
    assert events(archive, crawl).count("started") == 2
    assert ordered(server, "continue", crawl="20260101000000-test").status == 409
    assert len([*(archive / "logs").glob("begun-*.log")]) == 2


def test_of_two_that_are_begun_at_once_one_is(
    server: Server, archive: Path, site: rig.Server
) -> None:
    seen: list[int] = []

    def begin() -> None:
        seen.append(ordered(server, "crawl", seeds=site.url + "/", delay="0.5").status)

    both = [threading.Thread(target=begin) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert sorted(seen) == [303, 409]
    assert len(ok("status", "--json", "-a", archive).json()["crawls"]) == 2


def test_one_that_ends_at_once_says_why(server: Server, archive: Path) -> None:
    """What is wrong is said in the form before anything begins, and what the crawl itself says."""
    wrong = {
        "no url": ({"seeds": "not a url"}, 400, "is not a URL|no web address|has a space"),
        "an option": ({"seeds": "--help"}, 400, "&#39;--help&#39;"),
        "a file": ({"seeds": "/etc/passwd"}, 400, "not a URL"),
        "a number": ({"seeds": "a.example", "max_pages": "--new"}, 400, "The form sets max_pages"),
        "none": ({"seeds": "a.example", "max_pages": "0"}, 400, "must be more than 0"),
        "a scope": ({"seeds": "a.example", "scope": "-a"}, 400, "scope is"),
        "a pattern": ({"seeds": "a.example", "exclude": "ok\n(a"}, 400, r"\n  \(a\n  \^"),
        "nothing": ({"seeds": " \n"}, 400, "seeds is empty"),
    }
    for name, (fields, status, says) in wrong.items():
        refused = ordered(server, "crawl", **fields)
        assert (refused.status, bool(re.search(says, refused.text))) == (status, True), (
            name, refused.text,
        )  # fmt: skip
        assert not [*(archive / "logs").glob("*")] if (archive / "logs").exists() else True
    assert "--help" in ordered(server, "crawl", seeds="--help").text, "it stays in the form"
    with (archive / ".lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        beside = ordered(server, "crawl", seeds="http://a.example/")
    assert (beside.status, "The crawl has ended at once." in beside.text) == (409, True)
    assert "is in use by" in beside.text
    assert str(archive.parent) not in beside.text


def test_one_that_nobody_answers_says_so(
    server: Server, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASOF_RETRIES", "0")
    begun = ordered(server, "crawl", seeds="http://127.0.0.1:9/")
    if begun.status == 409:  # it may have ended by now
        assert "No page came from http://127.0.0.1:9/" in begun.text
    crawl = told(server)["crawl"]
    rig.wait_for(lambda: steered.at_work(archive) is None, 20, "the crawl ends")
    text = server.ask(f"/crawls/{crawl}").text
    assert "no server accepts connections there" in text
    assert "http://127.0.0.1:9/" in text


def test_a_seed_in_a_private_network_opens_no_other(
    server: Server, archive: Path, tmp_path: Path
) -> None:
    """Pages lead nowhere into them, as on the terminal."""
    with rig.site({"/": rig.page("<p>secret")}) as inner:
        lead = rig.links(f"http://localhost:{inner.port}/")
        with rig.site({"/": rig.page(lead)}) as outer:
            crawl = place_of(
                ordered(server, "crawl", seeds=outer.url, scope="domain", delay="0.01")
            )
            rig.wait_for(lambda: steered.at_work(archive) is None, 20, "the crawl ends")
        assert told(server, crawl)["summary"]["state"] == "finished"
        assert inner.hits == []


def test_it_goes_on_when_the_server_ends(archive: Path, site: rig.Server) -> None:
    with served("-a", archive, "--control") as (base, child):
        assert child.stderr is not None
        link = child.stderr.readline().decode()
        token = link.partition("#token=")[2].strip()
        server = Server(int(base.rpartition(":")[2]))
        body = f"token={token}&seeds={site.url}/&delay=0.05".encode()
        crawl = place_of(steered.sent(server, "crawl", body))
    pid = steered.at_work(archive)
    assert pid is not None
    assert os.getsid(pid) == pid, "Ctrl-C in the server's terminal is not for it"
    socket.create_server(("127.0.0.1", server.port)).close()  # of which it holds nothing
    assert ok("stop", "-a", archive, "--json").json()["crawl"] == crawl


def test_a_module_of_the_folder_that_we_are_in_is_not_run(
    server: Server, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "asof").mkdir()
    (tmp_path / "asof" / "__init__.py").write_text("")
    (tmp_path / "asof" / "__main__.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    assert place_of(ordered(server, "crawl", seeds="http://127.0.0.1:9/", time_limit="1"))
    assert not (tmp_path / "ran").exists()


def test_the_folder_of_logs_is_no_way_out(server: Server, archive: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (archive / "logs").symlink_to(tmp_path / "elsewhere")
    refused = ordered(server, "crawl", seeds="http://127.0.0.1:9/")
    assert (refused.status, "symbolic link" in refused.text) == (400, True)
    assert [*(tmp_path / "elsewhere").iterdir()] == []
