"""Scope, end to end: what a crawl takes, what it leaves out and why, and that `asof scope` agrees.

The web of these tests has several hosts with names of their own; a server on loopback is the proxy
through which all of them are asked. Expectations are written out by hand, from the help texts.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support import rig
from support.rig import ok, page, rows_of, site

A, B, SUB = "http://a.example", "http://b.example", "http://sub.a.example"
CDN, FRAMES = "http://cdn.example", "http://frames.example"


@dataclass(frozen=True)
class Doc:
    """A document: what it links to, what it needs to be shown, or where it has moved."""

    links: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    moved: str = ""

    def answer(self, url: str) -> rig.Reply:
        if self.moved:
            return page("moved", "302 Found", Location=self.moved)
        if url.endswith(".css"):
            return page(
                "".join(f'a {{ src: url("{part}") }}' for part in self.parts), media="text/css"
            )
        if url.endswith((".png", ".woff2", ".pdf")):
            return page("bytes", media="application/octet-stream")
        shown = "".join(
            f'<iframe src="{part}"></iframe>' if part.startswith(FRAMES + "/f") else
            f'<link rel=stylesheet href="{part}">' if part.endswith(".css") else
            f'<img src="{part}">' for part in self.parts
        )  # fmt: skip
        return page(shown + rig.links(*self.links, title=url))


WEB = {
    f"{A}/": Doc(
        (f"{A}/news/", f"{A}/news/1", f"{A}/docs/", f"{SUB}/", f"{B}/", f"{A}/old"),
        (f"{CDN}/style.css", f"{A}/own.png", f"{CDN}/logo.png", f"{FRAMES}/f"),
    ),
    f"{A}/own.png": Doc(),
    f"{A}/news/": Doc((f"{A}/news/1", f"{A}/news/2")),
    f"{A}/news/1": Doc((f"{A}/news/1/more",)),
    f"{A}/news/1/more": Doc((f"{A}/news/1/more/end",)),
    f"{A}/news/1/more/end": Doc((f"{A}/news/1/more/end/last",)),
    f"{A}/news/1/more/end/last": Doc(),
    f"{A}/news/2": Doc((f"{B}/x", f"{CDN}/page")),
    f"{A}/docs/": Doc((f"{A}/docs/a.pdf", f"{A}/docs/b.html")),
    f"{A}/docs/a.pdf": Doc(),
    f"{A}/docs/b.html": Doc(),
    f"{A}/old": Doc(moved=f"{B}/moved"),
    f"{SUB}/": Doc((f"{SUB}/1",)),
    f"{SUB}/1": Doc(),
    f"{B}/": Doc((f"{B}/deeper",)),
    f"{B}/deeper": Doc(),
    f"{B}/x": Doc(),
    f"{B}/moved": Doc(),
    f"{CDN}/style.css": Doc(parts=(f"{CDN}/font.woff2",)),
    f"{CDN}/font.woff2": Doc(),
    f"{CDN}/logo.png": Doc(),
    f"{CDN}/page": Doc(),
    f"{FRAMES}/f": Doc((f"{FRAMES}/next",), (f"{FRAMES}/in.png",)),
    f"{FRAMES}/in.png": Doc(),
    f"{FRAMES}/next": Doc(),
}  # fmt: skip

FRONT = {f"{A}/", f"{A}/own.png"}
NEWS = {url for url in WEB if url.startswith(f"{A}/news/")}
DEEP = {f"{A}/news/1/more", f"{A}/news/1/more/end", f"{A}/news/1/more/end/last"}
DOCS = {url for url in WEB if url.startswith(f"{A}/docs/")}
HOST = FRONT | NEWS | DOCS | {f"{A}/old"}
OTHER_PARTS = {f"{CDN}/style.css", f"{CDN}/font.woff2", f"{CDN}/logo.png", f"{FRAMES}/f",
               f"{FRAMES}/in.png"}  # fmt: skip
ALL_B = {f"{B}/", f"{B}/deeper", f"{B}/x", f"{B}/moved"}
ALL_SUB = {f"{SUB}/", f"{SUB}/1"}

CASES: dict[str, tuple[list[str], set[str]]] = {
    "default": ([], HOST | OTHER_PARTS),
    "intensive": (["--preset", "intensive"], HOST | OTHER_PARTS),
    "extensive": (["--preset", "extensive"],
        HOST - {f"{A}/news/1/more/end/last"} | OTHER_PARTS | ALL_SUB),
    "page": (["--preset", "page"], FRONT | OTHER_PARTS),
    "no requisites": (["--no-requisites"], HOST),
    "domain": (["--scope", "domain"], HOST | OTHER_PARTS | ALL_SUB),
    "page scope": (["--scope", "page"], FRONT | OTHER_PARTS),
    "surt scope": (["--scope", "surt:example,"], set(WEB)),
    "depth": (["--depth", "1"],
        HOST - {f"{A}/news/2"} - DEEP - {f"{A}/docs/a.pdf", f"{A}/docs/b.html"} | OTHER_PARTS),
    "depth 0": (["--depth", "0"], FRONT | OTHER_PARTS),
    "exclude": (["--exclude", "/news/", "--exclude", r"\.pdf$"],
        HOST - NEWS - {f"{A}/docs/a.pdf"} | OTHER_PARTS),
    "exclude a host of parts": (["--exclude", "^http://cdn"],
        HOST | {f"{FRAMES}/f", f"{FRAMES}/in.png"}),
    "include": (["--include", r"b\.example/x$"], HOST | OTHER_PARTS | {f"{B}/x"}),
    "exclude beats include": (["--include", "/x$", "--exclude", "/x$"], HOST | OTHER_PARTS),
    "in host": (["--rule", "in host:b.example"], HOST | OTHER_PARTS | ALL_B),
    "out host of parts": (["--rule", "out host:cdn.example"],
        HOST | {f"{FRAMES}/f", f"{FRAMES}/in.png"}),
    "in domain": (["--rule", "in domain:a.example"], HOST | OTHER_PARTS | ALL_SUB),
    "in before out": (["--rule", f"in page:{A}/news/1", "--rule", "out path:/news/"],
        HOST - NEWS | {f"{A}/news/1"} | OTHER_PARTS),
    "out before in": (["--rule", "out path:/news/", "--rule", f"in page:{A}/news/1"],
        HOST - NEWS | OTHER_PARTS),
    "path of another host": (["--rule", f"in path:{B}/x"], HOST | OTHER_PARTS | {f"{B}/x"}),
    "regex": (["--rule", r"out regex:/(docs|old)"], HOST - DOCS - {f"{A}/old"} | OTHER_PARTS),
    "surt": (["--rule", "out surt:example,a)/docs"], HOST - DOCS | OTHER_PARTS),
    "surt of a URL": (["--rule", f"out surt:{A}/docs/"], HOST - DOCS | OTHER_PARTS),
    "depth rule": (["--rule", "out depth:0"], FRONT | OTHER_PARTS),
    "in goes deeper": (["--rule", "in host:b.example", "--depth", "0"],
        FRONT | OTHER_PARTS | {f"{B}/", f"{B}/deeper"}),
    "seeds, then nothing": (["--rule", "in seeds:", "--rule", "out regex:."], {f"{A}/"}),
    "rules beat excludes": (["--rule", "in path:/docs/", "--exclude", "a.example/."],
        {f"{A}/"} | DOCS | OTHER_PARTS),
}  # fmt: skip


@dataclass
class Done:
    """What a crawl asked for, and the archive it left."""

    archive: Path
    asked: set[str]
    report: dict[str, Any]
    env: dict[str, str]


@pytest.fixture
def take(tmp_path: Path) -> Iterable[Callable[..., Done]]:
    """Crawl the web above through its proxy, without delay."""
    pages: dict[str, rig.Answer] = {url: doc.answer(url) for url, doc in WEB.items()}
    with site(pages) as proxy:

        def crawl(*words: object, seed: str = f"{A}/", code: int = 0) -> Done:
            env = {"ASOF_PROXY": proxy.url}
            proxy.hits.clear()
            archive = tmp_path / f"archive-{len(list(tmp_path.iterdir()))}"
            report = rig.crawl(archive, seed, *words, env=env, code=code).json()
            asked = {path for path in proxy.paths() if not path.endswith("/robots.txt")}
            assert len(proxy.paths()) == len(set(proxy.paths())), "nothing is asked for twice"
            return Done(archive, asked, report, env)

        yield crawl


def found_by(done: Done) -> set[str]:
    """All that the pages name which the crawl took, and its seed."""
    named = {f"{A}/"}
    for url in done.asked:
        doc = WEB[url]
        named |= {*doc.links, *doc.parts} | ({doc.moved} if doc.moved else set())
    return named


@pytest.mark.parametrize("case", CASES)
def test_what_is_taken_and_what_asof_scope_says(take: Callable[..., Done], case: str) -> None:
    """Exactly the expected URLs are asked for and kept, and `asof scope` agrees on all found."""
    words, wanted = CASES[case]
    done = take(*words)
    assert done.asked == wanted
    kept = {row["url"] for row in rows_of(done.archive) if "robots.txt" not in row["url"]}
    assert kept == wanted
    found = sorted(found_by(done))
    said = rig.run("scope", *found, "-a", done.archive, "--json", env=done.env).rows()
    assert {row["canonical"] for row in said if row["inside"]} == wanted & set(found)
    left = set(found) - wanted
    assert done.report["left_out"] == len(left)
    reasons = {row["canonical"]: row["reason"] for row in said}
    counted: dict[str, int] = {}
    for url in left:
        counted[reasons[url]] = counted.get(reasons[url], 0) + 1
    assert done.report["reasons"] == counted, "the reasons of the crawl are those of asof scope"


def test_the_path_scope_is_the_folder_of_the_seed(take: Callable[..., Done]) -> None:
    done = take("--scope", "path", seed=f"{A}/news/")
    assert done.asked == NEWS


def test_left_out_is_reported_with_counts_and_examples(take: Callable[..., Done]) -> None:
    """Every URL that was left out is counted once, under the rule that did it; up to 3 examples."""
    done = take("--rule", "out path:/docs/", "--exclude", "/more$", "--depth", "2")
    told = ok("status", "-a", done.archive, "--json").json()
    rows = {row["reason"]: row for row in told["left_out"]}
    assert {reason: row["count"] for reason, row in rows.items()} == {
        "rule: out path:/docs/": 1,
        "excluded by /more$": 1,
        "deeper than 2": 2,  # the links on /news/2, before anybody asks on which host they are
        "other host": 4,
    }
    assert rows["rule: out path:/docs/"]["examples"] == [f"{A}/docs/"]
    assert rows["excluded by /more$"]["examples"] == [f"{A}/news/1/more"]
    assert len(rows["other host"]["examples"]) == 3
    assert set(rows["other host"]["examples"]) <= {
        f"{SUB}/", f"{B}/", f"{B}/moved", f"{FRAMES}/next",
    }  # fmt: skip
    assert done.report["reasons"] == {reason: row["count"] for reason, row in rows.items()}
    text = ok("status", "-a", done.archive).out.decode()
    assert "excluded by /more$" in text
    assert f"{A}/news/1/more" in text


def test_seeds_that_are_left_out_are_said_to_be(take: Callable[..., Done]) -> None:
    """Nothing is asked for, not even robots.txt, and the reason is told."""
    done = take("--rule", "out seeds:", code=1)
    assert done.asked == set()
    assert done.report["captured"] == 0
    assert done.report["reasons"] == {"rule: out seeds:": 1}


def test_bad_rules_are_refused_before_anything_happens(tmp_path: Path) -> None:
    """Exit 2, one sentence with the place of the mistake, and no folder."""
    for rule in ("out colour:red", "in media:video/*", "drop host:a.example", "out regex:(", "out"):
        refused = rig.run("crawl", f"{A}/", "--rule", rule, "-a", tmp_path / "a")
        assert (refused.code, refused.out) == (2, b""), str(refused)
        assert len(refused.err.strip().splitlines()) == 1
        assert rule in refused.err
        assert not (tmp_path / "a").exists()


# -- Limits per host ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [["--max-pages-per-host", "4"], ["--rule", "out count:4"]], ids=["option", "rule"]
)
def test_so_many_pages_of_each_host(take: Callable[..., Done], words: list[str]) -> None:
    """At most four of each host, and the rest is left out for that reason."""
    done = take("--scope", "surt:example,", *words)
    by_host: dict[str, int] = {}
    for url in done.asked:
        host = url.split("/")[2]
        by_host[host] = by_host.get(host, 0) + 1
    assert max(by_host.values()) == 4
    assert by_host["a.example"] == 4
    told = ok("status", "-a", done.archive, "--json").json()
    (row,) = [row for row in told["left_out"] if "4 pages of one host" in row["reason"]]
    assert row["count"] == done.report["left_out"]
    assert all(url.startswith(A) for url in row["examples"])


# -- Rules about answers --------------------------------------------------------------------------


def unending(kind: str, *lines: str) -> rig.Reply:
    """The head of an answer and a little of its body, which then never goes on."""
    head = "\r\n".join(("HTTP/1.1 200 OK", f"Content-Type: {kind}", *lines))
    return rig.Reply((head.encode() + b"\r\n\r\n" + b"x" * 500,), "hang")


@dataclass(frozen=True)
class Judged:
    """A crawl with rules about answers: how long it took, and what became of what."""

    archive: Path
    url: str
    seconds: float
    reasons: dict[str, int]
    rows: dict[str, dict[str, Any]]
    asked: list[str]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterable[Judged]:
    archive = tmp_path_factory.mktemp("judged") / "archive"
    pages: dict[str, rig.Answer] = {
        "/": page('<img src="/movie">' + rig.links(
            "/video", "/VIDEO", "/long", "/chunked", "/small", "/exact", "/404", "/audio", "/moved",
            "/kept.mp4",
        )),
        "/movie": unending("video/mp4", "Content-Length: 90000000"),
        "/video": unending("video/webm; codecs=vp9", "Content-Length: 600"),
        "/VIDEO": unending("VIDEO/MP4"),
        "/long": unending("text/html", "Content-Length: 20001"),
        "/chunked": rig.Reply(
            (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n",
             *[b"1000\r\n" + b"y" * 0x1000 + b"\r\n"] * 6, b"0\r\n\r\n"), "keep"),
        "/small": page("<a href='/from-small'>s</a>"),
        "/from-small": page("s"),
        "/exact": page("e" * 20_000),
        "/404": page("n" * 30_000, "404 Not Found", media="video/mp4"),
        "/audio": page("audio", media="audio/ogg"),
        "/moved": page("v" * 30_000, "302 Found", media="video/mp4", Location="/from-moved"),
        "/from-moved": page("m"),
        "/kept.mp4": page("k", media="video/mp4"),
    }  # fmt: skip
    with site(pages) as server:
        done = rig.crawl(
            archive, server.url + "/", "--rule", "in regex:kept", "--rule", "out media:video/*",
            "--rule", "out size:20kB", timeout=60,
        )  # fmt: skip
        rows = {row["url"].removeprefix(server.url): row for row in rows_of(archive)}
        reasons = done.json()["reasons"]
        yield Judged(archive, server.url, done.seconds, reasons, rows, server.paths())


@pytest.mark.parametrize("path", ["/movie", "/video", "/VIDEO", "/long", "/chunked"])
def test_an_unwanted_answer_is_not_stored(judged: Judged, path: str) -> None:
    """Asked for, once, and in no record of the archive."""
    assert judged.asked.count(path) == 1
    assert path not in judged.rows
    seen = [seen for file in rig.warcs(judged.archive) for seen in rig.by_fastwarc(file)]
    assert judged.url + path not in {each.url for each in seen}


def test_an_unwanted_answer_is_cut_off_after_its_head(judged: Judged) -> None:
    """Four of them never end: whoever waited for their bodies would wait for half a minute each."""
    assert judged.seconds < 10


@pytest.mark.parametrize(
    "path", ["/small", "/from-small", "/exact", "/404", "/audio", "/moved", "/from-moved",
             "/kept.mp4"],
)  # fmt: skip
def test_a_wanted_answer_is_stored(judged: Judged, path: str) -> None:
    """Up to the size, of other types, errors and redirects, and what an earlier rule took in."""
    assert path in judged.rows


def test_unwanted_answers_are_counted_by_their_rule(judged: Judged) -> None:
    told = ok("status", "-a", judged.archive, "--json").json()
    rows = {row["reason"]: row for row in told["left_out"]}
    assert judged.reasons == {"rule: out media:video/*": 3, "rule: out size:20kB": 2}
    assert rows["rule: out size:20kB"]["count"] == 2
    names = {url.removeprefix(judged.url) for url in rows["rule: out size:20kB"]["examples"]}
    assert names == {"/long", "/chunked"}
    rig.referees_agree(judged.archive)


@pytest.mark.parametrize("path", ["/video", "/long"])
def test_asof_scope_knows_what_became_of_an_answer(judged: Judged, path: str) -> None:
    """The crawl left it out, so `asof scope` must not say that it takes it."""
    said = rig.run("scope", judged.url + path, "-a", judged.archive, "--json")
    assert said.json()["inside"] is False, str(said)
    assert said.code == 1


def test_a_body_without_a_length_is_cut_off_at_the_size(tmp_path: Path) -> None:
    """A size rule is about declared or received bytes: an endless answer ends at the size."""
    sent: list[int] = []

    class Endless(rig.Server):
        def _answer(self, connection: socket.socket, head: bytes, peer: tuple[str, int]) -> bool:
            if b"GET /endless " not in head:
                return super()._answer(connection, head, peer)
            connection.settimeout(10)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
            size = 0
            try:
                while size < 300_000_000:
                    connection.sendall(b"z" * 100_000)
                    size += 100_000
            except OSError:
                pass
            sent.append(size)
            return False

    with Endless({"/": page(rig.links("/endless", "/ok")), "/ok": page("ok")}) as server:
        done = rig.crawl(tmp_path / "a", server.url + "/", "--rule", "out size:1MB", timeout=60)
        assert done.json()["reasons"] == {"rule: out size:1MB": 1}
        rig.wait_for(lambda: bool(sent), 10, "the server notices")
    assert sent[0] < 50_000_000, "it was downloaded in vain"


def test_a_size_rule_leaves_nothing_behind_on_the_disk(tmp_path: Path) -> None:
    """A large body that was received in part or whole and not wanted: spool/ is empty."""
    body = b"".join(b"8000\r\n" + b"w" * 0x8000 + b"\r\n" for _ in range(400)) + b"0\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    with site({"/": page(rig.links("/w")), "/w": rig.Reply((head + body,), "keep")}) as server:
        archive = tmp_path / "a"
        assert (
            rig.crawl(archive, server.url + "/", "--rule", "out size:10MB").json()["left_out"] == 1
        )
        assert [path for path in (archive / "spool").rglob("*") if path.is_file()] == []
        assert sum(path.stat().st_size for path in archive.rglob("*") if path.is_file()) < 5_000_000


# -- Other rules for a crawl that goes on -------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [["--exclude", "/x/"], ["--rule", "out path:/x/"], ["--depth", "0"], ["--preset", "page"]],
    ids=lambda words: words[0],
)
def test_a_rule_given_at_a_resumption_acts_on_what_waits(tmp_path: Path, words: list[str]) -> None:
    """As `asof exclude` does on a running crawl; to be silent about it would be worst."""
    names = [f"/x/{no}" for no in range(30)]
    pages: dict[str, rig.Answer] = {name: page(name) for name in names}
    with site({"/": page(rig.links(*names))} | pages) as server:
        process = rig.start("crawl", server.url + "/", "-a", tmp_path / "a", "--delay", 0.1, "-q")
        try:
            rig.wait_for(lambda: len(server.hits) >= 5, 20, "the crawl gets on")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        before = len(server.hits)
        report = rig.run("crawl", "-a", tmp_path / "a", *words, "--delay", 0, "--json")
        if report.code == 2:  # a crawl that was begun may keep its rules, if it says so
            assert words[0].strip("-") in report.err
            return
        assert server.paths()[before:] == [], str(report)
        assert report.json()["queued"] == 0
        assert report.json()["left_out"] == len(names) + 2 - before
