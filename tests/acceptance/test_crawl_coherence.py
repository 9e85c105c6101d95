"""`asof crawl --coherence`: pages visited and looked at again, as a user and his servers see it.

Issue 5, "crawl that follows plans": the order of requests in the server's log, the records as the
referees read them, interruption and loss at any time. The many orders of events are tried on
virtual time in tests/unit/test_turn.py; here stands what only a whole command can show.
"""

from __future__ import annotations

import gzip
import re
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from itertools import pairwise
from pathlib import Path

import pytest

from support import rig
from support.rig import Reply, crawl, ok, page, rows_of, run, site

FILL = "<p>" + "Words that make a page longer than two hundred and fifty-six bytes. " * 5 + "</p>"
INDUCIBLE = ("--coherence", "inducible")


class Pages:
    """Pages that link to one another and can be changed, with a strong ETag each."""

    def __init__(self, count: int, fill: str = FILL) -> None:
        names = [f"/{number}" for number in range(1, count + 1)]
        self.bodies = {"/": rig.links(*names) + fill} | {n: f"<p>{n}</p>{fill}" for n in names}
        self.bodies["/robots.txt"] = "User-agent: *\nDisallow: /private\n"
        self.server = site({path: self.answer(path) for path in self.bodies})
        self.url = self.server.url + "/"

    @property
    def names(self) -> list[str]:
        """What is there, in the order of discovery."""
        return [path for path in self.bodies if path != "/robots.txt"]

    def tag(self, path: str) -> str:
        return f'"{zlib.crc32(self.bodies[path].encode()):x}"'

    def answer(self, path: str) -> rig.Answer:
        def reply(head: bytes) -> Reply:
            if path not in self.bodies:
                return page("<p>gone</p>", "404 Not Found")
            if path == "/robots.txt":
                return page(self.bodies[path], media="text/plain")
            if f"If-None-Match: {self.tag(path)}".encode() in head:
                return page("", "304 Not Modified", ETag=self.tag(path))
            return page(self.bodies[path], ETag=self.tag(path))

        return reply

    def paths(self, since: int = 0) -> list[str]:
        """What was asked for, robots.txt not counted."""
        return [path for path in self.server.paths()[since:] if path != "/robots.txt"]

    def conditional(self) -> list[bool]:
        hits = [hit for hit in self.server.hits if hit.path != "/robots.txt"]
        return [b"\r\nIf-None-Match" in hit.head for hit in hits]


@contextmanager
def pages(count: int = 5, fill: str = FILL) -> Iterator[Pages]:
    found = Pages(count, fill)
    with found.server:
        yield found


def moment(archive: Path) -> tuple[str, list[str], list[str]]:
    """The turning point as the end of the last crawl's file tells it; paths before and after it."""
    files = [gzip.decompress(path.read_bytes()) for path in rig.warcs(archive)]
    text = b"".join(files).decode("latin-1")
    turn = re.findall(r'"turn": "([^"]+)"', text)[-1]
    before: list[str] = []
    after: list[str] = []
    for row in sorted(rows_of(archive), key=lambda row: row["at"]):
        path = "/" + row["url"].split("/", 3)[3]
        if path != "/robots.txt":
            (before if row["at"] <= turn else after).append(path)
    return turn, before, after


# -- As the server sees it ------------------------------------------------------------------------


@pytest.mark.parametrize("plan", ["lifo", "fifo", "auto"])
def test_the_order_of_a_first_crawl(tmp_path: Path, plan: str) -> None:
    """Visits as found; revisits backwards (fifo: forwards), conditional; the joker only once."""
    archive = tmp_path / "archive"
    with pages() as web:
        told = crawl(archive, web.url, *INDUCIBLE, "--plan", plan, "--no-audit", delay=0.02).json()
        again = web.names[:-1] if plan == "fifo" else web.names[-2::-1]
        assert web.paths() == [*web.names, *again]
        assert web.conditional() == [False] * 6 + [True] * 5
    assert (told["state"], told["revisited"], told["to_revisit"]) == ("finished", 5, 0)
    assert moment(archive)[1:] == (web.names, again)
    if plan == "lifo":
        seen = rig.referees_agree(archive)
        turns = [s for s in seen if s.kind == "metadata" and b'"turn": "' in s.block]
        assert len(turns) == 2, "at the turning point, and at the end"


def test_a_planned_crawl_goes_as_its_plan_said(tmp_path: Path) -> None:
    """With history: what changed in every crawl is visited last and looked at again first."""
    archive = tmp_path / "archive"
    with pages(7) as web:
        for number in range(4):
            crawl(archive, web.url, delay=0.01)
            for path in ("/2", "/6"):
                web.bodies[path] = f"<p>{number} {path}</p>{FILL}"
        planned = ok("crawl", web.url, "-a", archive, *INDUCIBLE, "--plan-only", "--json",
                     "--delay", 0.01).json()  # fmt: skip
        order = ["/" + row["url"].split("/", 3)[3] for row in planned["hosts"][0]["order"]]
        text = ok("crawl", web.url, "-a", archive, "--plan-only", "--delay", 0.01).out.decode()
        web.server.hits.clear()
        crawl(archive, web.url, *INDUCIBLE, "--no-audit", delay=0.01)
        visits = web.paths()[:8]
        assert set(visits[-2:]) == {"/2", "/6"}
        assert visits == order[::-1]
        assert web.paths()[8] in {"/2", "/6"}
        assert sorted(web.paths()[8:]) == sorted(visits[:-1])
    names = {each["name"] for each in planned["strategies"]}
    assert names == {"fifo", "lifo", "threshold", "optimal", "auto"}
    assert 0 < planned["expected"] <= 1
    assert planned["pages"] == 8
    assert "8 pages are known on 1 host" in text
    assert "-> auto" in text


def test_pages_that_come_and_go(tmp_path: Path) -> None:
    """One vanishes between the phases, one is found by a revisit and taken once, at the end."""
    archive = tmp_path / "archive"
    with pages() as web:
        plain = web.server.pages["/4"]

        def changes(head: bytes) -> Reply:
            if web.paths().count("/4") == 2:
                web.bodies["/3"] = rig.links("/late") + FILL
                web.bodies["/late"] = "<p>late</p>" + FILL
                web.server.pages["/late"] = web.answer("/late")
                del web.bodies["/2"]
            return plain(head)  # type: ignore[operator]

        web.server.pages["/4"] = changes
        told = crawl(archive, web.url, *INDUCIBLE, "--no-audit", delay=0.02).json()
        assert web.paths()[6:] == ["/4", "/3", "/2", "/1", "/", "/late"]
    assert told["state"] == "finished"
    two = [row["status"] for row in rows_of(archive, "--url", web.url + "2")]
    assert two == [200, 404]
    rig.referees_agree(archive)


def test_bytes_are_asked_for_unless_nobody_wants_audits(tmp_path: Path) -> None:
    """Pages are small: whether one has changed is seen by its bytes, and not by a 304."""
    with pages() as web:
        crawl(tmp_path / "a", web.url, *INDUCIBLE, delay=0.02)
        assert len(web.paths()) == 11
        assert not any(b"If-None-Match" in hit.head for hit in web.server.hits)
        web.server.hits.clear()
        crawl(tmp_path / "b", web.url, *INDUCIBLE, "--no-audit", delay=0.02)
        assert len(web.paths()) == 11
        assert all(b"If-None-Match" in hit.head for hit in web.server.hits[7:])
    rig.referees_agree(tmp_path / "a")


def test_of_large_pages_some_304s_are_audited(tmp_path: Path) -> None:
    """Each by asking for the page itself, at once."""
    with pages(12, "x" * (300 << 10)) as web:
        crawl(tmp_path / "a", web.url, *INDUCIBLE, delay=0.02)
        again = web.server.hits[14:]
        assert sum(b"If-None-Match" in hit.head for hit in again) >= 10
        checked = [
            (before.path, after.path)
            for before, after in pairwise(again)
            if b"If-None-Match" not in after.head
        ]
        assert checked
        assert all(before == after for before, after in checked)


def test_politeness_on_real_time(tmp_path: Path) -> None:
    """One request at a time and the delay after each, across the turning point and audits."""
    with pages(4) as web:
        crawl(tmp_path / "archive", web.url, *INDUCIBLE, delay=0.15)
        gaps = [after.start - before.end for before, after in pairwise(web.server.hits)]
        assert len(gaps) >= 9
        assert min(gaps) >= 0.14


# -- Interrupted ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sig", "after", "lost"),
    [
        (signal.SIGINT, 5, False),
        (signal.SIGTERM, 13, False),
        (signal.SIGTERM, 6, True),
        (signal.SIGINT, 15, True),
    ],
    ids=["visits", "revisits", "visits, database lost", "revisits, database lost"],
)
def test_a_signal_and_the_same_command_again(
    tmp_path: Path, sig: int, after: int, lost: bool
) -> None:
    """No page twice in a phase, none left out; robots.txt is not asked for a second time."""
    archive = tmp_path / "archive"
    with pages(9) as web:
        words = ("crawl", web.url, "-a", archive, *INDUCIBLE, "--no-audit", "--delay", 0.06, "-q")
        process = rig.start(*words)
        rig.wait_for(lambda: len(web.server.hits) >= after, 30, "the crawl gets on")
        assert rig.end(process, sig) == 130
        process.communicate()
        assert len(web.paths()) < 19
        if lost:
            rig.remove_database(archive)
            ok("reindex", "-a", archive)
        ok(*words)
        assert web.server.paths().count("/robots.txt") == 1
        assert Counter(web.paths()) == Counter(web.names * 2) - Counter({"/9": 1})
    _, before, again = moment(archive)
    assert before == web.names
    assert sorted(again) == sorted(web.names[:-1])
    (told,) = ok("status", "-a", archive, "--json").json()["crawls"]
    assert told["state"] == "finished"


# -- Figures, options, orders ---------------------------------------------------------------------


def test_completeness_is_that_of_any_crawl(tmp_path: Path) -> None:
    """Revisits are no pages: `asof status` counts the same with them and without."""
    with pages() as web:
        web.bodies["/"] += rig.links("/private/1", "/missing", "http://elsewhere.invalid/")
        crawl(tmp_path / "plain", web.url)
        crawl(tmp_path / "again", web.url, *INDUCIBLE, delay=0.01)
    plain, again = (
        ok("status", "-a", tmp_path / name, "--json").json() for name in ("plain", "again")
    )
    for key in ("completeness", "left_out", "failures", "urls"):
        assert plain[key] == again[key], key
    (one,), (two,) = plain["crawls"], again["crawls"]
    for key in ("captured", "failed", "left_out", "queued", "reasons"):
        assert one[key] == two[key], key
    assert (one["revisited"], two["revisited"]) == (0, 5)


@pytest.mark.parametrize(
    "words",
    [
        ("--coherence", "total"),
        ("--coherence", "inducible", "--plan", "best"),
        ("--coherence", "inducible", "--eta", "1.5"),
        ("--coherence", "inducible", "--eta", "nan"),
        ("--coherence", "inducible", "--revisits", "-1"),
        ("--coherence", "inducible", "--trust-dates", "maybe"),
        ("--plan-only", "--rule", "nonsense"),
        ("--plan-only", "--coherence", "total"),
    ],
    ids=" ".join,
)
def test_bad_values_are_one_sentence(tmp_path: Path, words: tuple[str, ...]) -> None:
    said = run("crawl", "http://127.0.0.1:9/", "-a", tmp_path / "archive", *words)
    assert said.code == 2, str(said)
    assert 1 <= len(said.err.strip().splitlines()) <= 2, said.err
    assert not (tmp_path / "archive").exists()


def test_a_plan_without_an_archive(tmp_path: Path) -> None:
    """Nothing is known, nothing is asked for, nothing is written; without a URL it is an error."""
    with pages() as web:
        words = ("crawl", web.url, "-a", tmp_path / "archive", "--plan-only")
        assert "Nothing is known" in ok(*words).out.decode()
        told = ok(*words, "--json").json()
        assert (told["pages"], told["expected"], told["hosts"]) == (0, None, [])
        assert web.server.hits == []
    assert list(tmp_path.iterdir()) == []
    said = run("crawl", "-a", tmp_path / "archive", "--plan-only")
    assert said.code == 2
    assert "seeds" in said.err


def test_orders_in_the_revisits(tmp_path: Path) -> None:
    """Pause, exclude and stop; then the same command again."""
    archive = tmp_path / "archive"
    with pages(20) as web:
        words = ("crawl", web.url, "-a", archive, *INDUCIBLE, "--no-audit", "--delay", 0.05, "-q")
        process = rig.start(*words, "--control", stdout=subprocess.DEVNULL)
        try:
            rig.wait_for(lambda: len(web.paths()) > 22, 30, "the revisits")
            assert ok("pause", "-a", archive, "--json").json()["obeyed"]
            before = len(web.paths())
            told = ok("status", "-a", archive, "--json").json()["completeness"]["vertical"]
            assert (told["found"], told["taken"]) == (21, 21), "as before the revisits"
            assert ok("exclude", "/[13-8]$", "-a", archive, "--json").json()["obeyed"]
            assert len(web.paths()) <= before + 1
            ok("stop", "-a", archive)
            assert process.wait(20) == 130
        finally:
            if process.poll() is None:
                rig.end(process)
            process.communicate()
        early = set(web.paths()[21 : before + 1])
        ok(*words)
        counts = Counter(web.paths())
        left_out = {path for path in web.names if re.search("/[13-8]$", path)} - early
        assert {path for path in web.names if counts[path] == 1} == left_out | {"/20"}
        assert max(counts.values()) == 2


def test_other_crawls_do_not_pay(tmp_path: Path) -> None:
    """Without coherence neither numpy is loaded nor anything asked for twice."""
    code = (
        "import sys; from asof.cli import main; status = 0\n"
        "try: status = main()\n"
        "except SystemExit as end: status = end.code\n"
        "print([name for name in ('numpy', 'asof.coherence.plan') if name in sys.modules])\n"
    )
    with pages() as web:
        words = ("crawl", web.url, "-a", str(tmp_path / "archive"), "--delay", "0", "-q")
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=60,
            check=False, env=rig.clean_environment(),
        )  # fmt: skip
        assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr
        assert web.paths() == web.names


def test_the_measurable_kind_asks_once(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    with pages() as web:
        told = crawl(archive, web.url, "--coherence", "measurable", delay=0.01).json()
        assert web.paths() == web.names
    assert told["revisited"] == 0
    turn, _, _ = moment(archive)
    assert turn == min(r["at"] for r in rows_of(archive) if "robots" not in r["url"])


def test_limits_of_both_phases(tmp_path: Path) -> None:
    """--max-pages counts visits, --revisits limits the others; --max-bytes ends all."""
    with pages(9) as web:
        told = crawl(tmp_path / "a", web.url, *INDUCIBLE, "--max-pages", 5, "--revisits", 2,
                     "--no-audit", delay=0.01).json()  # fmt: skip
        assert web.paths() == ["/", "/1", "/2", "/3", "/4", "/3", "/2"]
        assert told["ended_by"] == "max-pages"
        web.server.hits.clear()
        told = crawl(tmp_path / "b", web.url, *INDUCIBLE, "--max-bytes", "1kB", delay=0.01).json()
        assert told["ended_by"] == "max-bytes"
        assert len(web.paths()) < 9
        web.server.hits.clear()
        told = crawl(tmp_path / "c", web.url, *INDUCIBLE, "--time-limit", 1.2, "--no-audit",
                     delay=0.1).json()  # fmt: skip
        _, before, again = moment(tmp_path / "c")
        assert 2 <= len(before) <= 6
        assert len(again) >= len(before) - 2  # the last may come too late
        assert again[: len(before) - 1] == before[-2::-1][: len(again)]


def test_a_page_that_has_just_changed_is_asked_for_whole_again(tmp_path: Path) -> None:
    """Its ETag may be that of two contents of one second, as servers of files make them."""

    def answer(age: float) -> rig.Answer:
        def reply(head: bytes) -> rig.Reply:
            date = formatdate(time.time() - age, usegmt=True)
            if b"If-None-Match" in head:
                return page("", "304 Not Modified", ETag='"one"')
            return page(rig.links("/old", "/new", "/last"), ETag='"one"', Last_Modified=date)

        return reply

    pages = {path: answer(0 if path == "/new" else 3600) for path in ("/", "/old", "/new", "/last")}
    with site(pages) as server:
        crawl(tmp_path / "a", server.url + "/", "--coherence", "inducible", "--no-audit")
        again = {hit.path: b"If-None-Match" in hit.head for hit in server.hits[5:]}
    assert again == {"/": True, "/old": True, "/new": False}


def test_options_of_a_plan_without_one_are_refused(tmp_path: Path) -> None:
    for words in (["--plan", "optimal"], ["--eta", "0.5"], ["--revisits", "3"], ["--no-audit"]):
        result = rig.run("crawl", "http://127.0.0.1:9/", "-a", tmp_path / "a", *words)
        assert result.code == 2, str(result)
        assert "--coherence inducible" in result.err
    words = ["--coherence", "measurable", "--revisits", "3"]
    result = rig.run("crawl", "http://127.0.0.1:9/", "-a", tmp_path / "a", *words)
    assert result.code == 2
    assert not (tmp_path / "a").exists()
