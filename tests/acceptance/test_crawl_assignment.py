"""`--preset assignment`: CS6200 2019, "Assignment 1", by the letter, on a small encyclopaedia.

Two files beside the archive: URLsCrawled.txt (exactly one URL a line) and stats.txt in the stated
format; depth 5 at most where the seed is 1; only links under /wiki/, none to the Main Page and none
with a colon; at least a second between requests, one at a time.
"""

from __future__ import annotations

import contextlib
import gzip
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from support import rig
from support.rig import Reply, crawl, links, ok, page, rows_of, site, wait_for

STATS = re.compile(
    r"Maximum size: (\d+) bytes\n"
    r"Minimum size: (\d+) bytes\n"
    r"Average size: (\d+) bytes\n"
    r"Maximum depth reach: (\d)\n"
)


def article(name: str, *urls: str) -> bytes:
    """A page of its own size that links to these."""
    return (f"<h1>{name}</h1>" + links(*urls)).encode() + b"." * len(name) * 7


# Depth 1 to 5 by its distance from the seed; what is below 5 or against a rule is not to be asked.
TREE = {
    "/wiki/Seed": article(
        "Seed", "/wiki/Two", "/wiki/Two#part", "Also_two", "/wiki/Help:Authority_control",
        "/wiki/Talk%3ASeed", "/wiki/Main_Page", "/wiki/Main_Page?x=1", "/w/index.php", "/", "/wiki",
        "/wiki/Two?at=12:30", "http://elsewhere.invalid/wiki/Two", "/wiki/Old", "/wiki/Dead",
    ),
    "/wiki/Two": article("Two", "/wiki/Three", "/wiki/Seed"),
    "/wiki/Also_two": article("Also_two", "/wiki/Main_Page_of_1900"),
    "/wiki/New": article("New"),
    "/wiki/Main_Page_of_1900": article("Main_Page_of_1900"),
    "/wiki/Three": article("Three", "/wiki/Four"),
    "/wiki/Four": article("Four", "/wiki/Five"),
    "/wiki/Five": article("Five", "/wiki/Six", "/wiki/Two"),
}  # fmt: skip
FORBIDDEN = {
    "/wiki/Six": article("Six"),
    "/wiki/Main_Page": article("Main Page"),
    "/wiki/Help:Authority_control": article("Help"),
    "/wiki/Talk%3ASeed": article("Talk"),
    "/wiki/Two?at=12:30": article("Two at half past"),
    "/w/index.php": article("index"),
    "/": article("root"),
    "/wiki": article("wiki"),
}


def encyclopaedia() -> dict[str, rig.Answer]:
    pages: dict[str, rig.Answer] = {path: page(body) for path, body in (TREE | FORBIDDEN).items()}
    pages["/wiki/Old"] = page("<p>moved</p>", "301 Moved Permanently", Location="/wiki/New")
    pages["/wiki/Dead"] = page("<p>no such article</p>" * 99, "404 Not Found")
    pages["/wiki/Three"] = page(gzip.compress(TREE["/wiki/Three"]), Content_Encoding="gzip")
    return pages


def files(folder: Path) -> tuple[list[str], re.Match[str]]:
    """Both files, in exactly the stated form."""
    text = (folder / "URLsCrawled.txt").read_text(encoding="utf-8")
    assert text.endswith("\n")
    urls = text.split("\n")[:-1]
    assert all(re.fullmatch(r"https?://\S+", url) for url in urls)
    assert len(urls) == len(set(urls))
    found = STATS.fullmatch((folder / "stats.txt").read_text(encoding="utf-8"))
    assert found is not None, (folder / "stats.txt").read_text()
    return urls, found


@dataclass(frozen=True)
class Done:
    """A crawl by the assignment as it is, delay and all."""

    folder: Path
    url: str
    hits: list[rig.Hit]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    folder = tmp_path_factory.mktemp("assignment")
    with site(encyclopaedia()) as server:
        ok("crawl", server.url + "/wiki/Seed", "--preset", "assignment", "-q", cwd=folder,
           timeout=60)  # fmt: skip
        yield Done(folder, server.url, server.hits)


def test_exactly_the_right_pages_are_asked_for(done: Done) -> None:
    """Depth 5 and no deeper; no colon, no Main Page, nothing outside; each once."""
    asked = [hit.path for hit in done.hits if hit.path != "/robots.txt"]
    assert sorted(asked) == sorted([*TREE, "/wiki/Old", "/wiki/Dead"])


def test_breadth_first(done: Done) -> None:
    """The seed, then what it links to, then what these link to."""
    order = [hit.path for hit in done.hits if hit.path in TREE]
    assert order[0] == "/wiki/Seed"
    assert order.index("/wiki/Three") > max(map(order.index, ("/wiki/Two", "/wiki/Also_two")))
    assert order[-2:] == ["/wiki/Four", "/wiki/Five"]


def test_urls_crawled_lists_each_page_once(done: Done) -> None:
    """Beside the archive, in the order of crawling; neither the dead link nor the redirect."""
    urls, _ = files(done.folder)
    order = [hit.path for hit in done.hits if hit.path in TREE]
    assert urls == [done.url + path for path in order]


def test_the_statistics_are_those_of_the_pages(done: Done) -> None:
    """Of the documents without any coding; the average is rounded; the seed has depth 1."""
    _, found = files(done.folder)
    sizes = [len(body) for body in TREE.values()]
    assert [int(number) for number in found.groups()] == [
        max(sizes), min(sizes), round(sum(sizes) / len(sizes)), 5,
    ]  # fmt: skip


def test_at_least_a_second_between_requests_and_one_at_a_time(done: Done) -> None:
    """From the end of an answer to the next request, robots.txt included: the server's clock."""
    hits = sorted(done.hits, key=lambda hit: hit.start)
    gaps = [after.start - before.end for before, after in pairwise(hits)]
    assert len(gaps) >= 10
    assert min(gaps) >= 0.99, gaps


def test_what_was_left_out_has_reasons(done: Done) -> None:
    told = ok("status", "--json", cwd=done.folder).json()
    assert told["crawls"][0]["state"] == "finished"
    assert told["crawls"][0]["queued"] == 0
    left = {url.removeprefix(done.url) for row in told["left_out"] for url in row["examples"]}
    assert left & {"/wiki/Six", "/wiki/Main_Page", "/wiki/Help:Authority_control"}
    assert rig.run("scope", done.url + "/wiki/Six", cwd=done.folder).code == 1
    assert rig.run("scope", done.url + "/wiki/Help:Authority_control", cwd=done.folder).code == 1
    assert rig.run("scope", done.url + "/wiki/Two", cwd=done.folder).code == 0


# -- Without the wait -----------------------------------------------------------------------------


def assignment(
    folder: Path, server: rig.Server, *words: object, delay: float = 0, code: int = 0
) -> rig.Result:
    """A crawl by the preset with another delay, since what is said on the command line wins."""
    seed = server.url + "/wiki/Seed"
    words = ("--preset", "assignment", *words)
    return crawl(folder / "archive", seed, *words, delay=delay, code=code)


def wide(count: int) -> dict[str, rig.Answer]:
    names = [f"/wiki/Page_{no}" for no in range(count)]
    pages: dict[str, rig.Answer] = {name: page(article(name)) for name in names}
    return pages | {"/wiki/Seed": page(article("Seed", *names))}


def asked_for(server: rig.Server, hits: int) -> bool:
    return len(server.hits) >= hits


def test_so_many_pages_and_no_more(tmp_path: Path) -> None:
    """Item 4: stop when Numpages unique pages are crawled."""
    with site(wide(30)) as server:
        assignment(tmp_path, server, "--max-pages", 12)
        urls, found = files(tmp_path)
        assert len([path for path in server.paths() if path != "/robots.txt"]) == 12
    assert len(urls) == 12
    assert found[4] == "2"


def test_numpages_are_pages(tmp_path: Path) -> None:
    """Dead links and redirects are not listed as crawled, so they do not count as pages either."""
    pages = wide(30)
    for no in range(0, 30, 2):
        pages[f"/wiki/Page_{no}"] = page("<p>dead</p>", "404 Not Found")
    with site(pages) as server:
        assignment(tmp_path, server, "--max-pages", 12)
    assert len(files(tmp_path)[0]) == 12


def test_pictures_under_the_folder_are_not_pages(tmp_path: Path) -> None:
    """Item 9b is about links to articles; what a page shows takes nobody's place."""
    pages = wide(6)
    shown = "".join(f'<img src="/wiki/picture_{no}.png">' for no in range(20))
    body = article("Seed", *(f"/wiki/Page_{no}" for no in range(6)))
    pages["/wiki/Seed"] = page(shown.encode() + body)
    pages |= {f"/wiki/picture_{no}.png": page("PNG", media="image/png") for no in range(20)}
    with site(pages) as server:
        assignment(tmp_path, server, "--max-pages", 7)
    assert len(files(tmp_path)[0]) == 7


def test_the_list_grows_while_the_crawl_runs(tmp_path: Path) -> None:
    """Item 10: keep updating the file as you crawl each URL; whole lines only."""
    with site(wide(40)) as server:
        process = rig.start("crawl", server.url + "/wiki/Seed", "--preset", "assignment",
                            "-a", tmp_path / "archive", "--delay", 0.1, "-q")  # fmt: skip
        try:
            path, seen = tmp_path / "URLsCrawled.txt", []
            for hits in (8, 16, 24):
                wait_for(partial(asked_for, server, hits), 20, "the crawl gets on")
                time.sleep(0.05)
                text = path.read_text()
                assert text.endswith("\n")
                seen.append(len(text.splitlines()))
                assert abs(seen[-1] - (hits - 1)) <= 2
            assert seen == sorted(set(seen))
        finally:
            rig.end(process)
            process.communicate()


def test_after_an_interruption_the_files_are_right(tmp_path: Path) -> None:
    """They hold what was crawled so far, then all of it: each URL once, from both runs."""
    with site(encyclopaedia()) as server:
        process = rig.start("crawl", server.url + "/wiki/Seed", "--preset", "assignment",
                            "-a", tmp_path / "archive", "--delay", 0.2, "-q")  # fmt: skip
        try:
            wait_for(lambda: "/wiki/Also_two" in server.paths(), 20, "the crawl gets on")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        assert process.returncode == 130
        before, _ = files(tmp_path)
        assert server.url + "/wiki/Seed" in before
        crawl(tmp_path / "archive")
        urls, found = files(tmp_path)
        assert urls[: len(before)] == before
        assert sorted(urls) == sorted(server.url + path for path in TREE)
        sizes = [len(body) for body in TREE.values()]
        assert found.groups() == (
            str(max(sizes)), str(min(sizes)), str(round(sum(sizes) / len(sizes))), "5",
        )  # fmt: skip
        assert server.paths().count("/wiki/Seed") == 1


def test_after_a_kill_the_files_are_right(tmp_path: Path) -> None:
    """Whatever a killed run left in the file."""
    with site(encyclopaedia()) as server:
        process = rig.start("crawl", server.url + "/wiki/Seed", "--preset", "assignment",
                            "-a", tmp_path / "archive", "--delay", 0.2, "-q")  # fmt: skip
        wait_for(lambda: "/wiki/Three" in server.paths(), 20, "the crawl gets on")
        process.kill()
        process.communicate()
        (tmp_path / "URLsCrawled.txt").write_text("http://half.of/a/li")
        crawl(tmp_path / "archive")
        assert sorted(files(tmp_path)[0]) == sorted(server.url + path for path in TREE)
        assert files(tmp_path)[1][4] == "5"


def test_the_delay_is_kept_over_an_interruption(tmp_path: Path) -> None:
    """At least a second between requests to the server, whoever pressed Ctrl-C in between."""
    with site(wide(10)) as server:
        process = rig.start("crawl", server.url + "/wiki/Seed", "--preset", "assignment",
                            "-a", tmp_path / "archive", "-q")  # fmt: skip
        try:
            wait_for(lambda: len(server.hits) >= 3, 20, "the crawl gets on")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        ok("crawl", "-a", tmp_path / "archive", "-q", "--max-pages", 3)
        hits = sorted(server.hits, key=lambda hit: hit.start)
        assert len(hits) >= 4
        gaps = [after.start - before.end for before, after in pairwise(hits)]
        assert min(gaps) >= 0.99, gaps


def test_a_second_crawl_that_finds_all_unchanged(tmp_path: Path) -> None:
    """Every page is confirmed by 304; it was crawled all the same, and while the crawl runs too."""

    def answer(body: bytes) -> rig.Answer:
        same, whole = page("", "304 Not Modified", ETag='"1"'), page(body, ETag='"1"')
        return lambda head: same if b"If-None-Match" in head else whole

    with site({path: answer(body) for path, body in TREE.items()}) as server:
        assignment(tmp_path, server)
        first = (tmp_path / "URLsCrawled.txt").read_text(), (tmp_path / "stats.txt").read_text()
        assert len(first[0].splitlines()) == len(TREE) - 1  # nothing leads to /wiki/New here
        for name in ("URLsCrawled.txt", "stats.txt"):
            (tmp_path / name).unlink()
        process = rig.start("crawl", server.url + "/wiki/Seed", "--preset", "assignment",
                            "-a", tmp_path / "archive", "--delay", 0.3, "-q")  # fmt: skip
        wait_for(lambda: (tmp_path / "URLsCrawled.txt").exists(), 20, "the list is begun")
        assert process.poll() is None, "the list must grow while the crawl runs"
        process.communicate(timeout=30)
        files(tmp_path)
        second = (tmp_path / "URLsCrawled.txt").read_text(), (tmp_path / "stats.txt").read_text()
        assert second == first
        kinds = {row["kind"] for row in rows_of(tmp_path / "archive")}
        assert kinds == {"response", "revisit"}


def test_a_seed_that_is_dead_leaves_empty_figures(tmp_path: Path) -> None:
    """No page: an empty list, and statistics of nothing in the same format."""
    with site({}) as server:
        assignment(tmp_path, server, code=1)
    assert (tmp_path / "URLsCrawled.txt").read_text() == ""
    found = STATS.fullmatch((tmp_path / "stats.txt").read_text())
    assert found is not None
    assert set(found.groups()) == {"0"}


def test_other_crawls_write_no_such_files(tmp_path: Path) -> None:
    with site(encyclopaedia()) as server:
        crawl(tmp_path / "archive", server.url + "/wiki/Seed", "--depth", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive"]


def test_the_rules_follow_the_seed(tmp_path: Path) -> None:
    """The folder is that of the seed; a colon in the seed itself is no reason to leave it out."""
    seed = "/w/Help:Contents"
    pages: dict[str, rig.Answer] = {
        seed: page(article("Help", "/w/Plain", "/w/Help:Other", "/wiki/Elsewhere", "Deep/er")),
        "/w/Plain": Reply(page(article("Plain")).pieces, "keep"),
        "/w/Deep/er": page(article("Deep")),
    }
    with site(pages) as server:
        crawl(tmp_path / "archive", server.url + seed, "--preset", "assignment")
        assert sorted(server.paths()) == sorted([*pages, "/robots.txt"])
        assert len(files(tmp_path)[0]) == 3
