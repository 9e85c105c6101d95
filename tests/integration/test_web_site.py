"""A site as of a moment: the page, its JSON and the terminal say the same, and within bounds."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from asof.api import Archive
from asof.clock import DAY, SECOND, iso, parse_moment
from asof.replay import sites
from asof.replay.site import Course, Standing, course
from asof.replay.site_moments import moments
from asof.report.site_words import LABELS
from asof.web.site import data_of
from asof.web.site_rows import ROWS
from support import lived_site, many_captures, rig, served_archive
from support.lived_site import SITE
from support.served_archive import Page, Server

MOMENTS = (
    "2025",
    "2026-01-01T10:03:00Z",
    "2026-01",
    "2026-02-15",
    "2026-03",
    "202604",
    "2026",
    "now",
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lived_site.build(tmp_path_factory.mktemp("lived") / "archive")


@pytest.fixture(scope="module")
def server(archive: Path) -> Iterator[Server]:
    with served_archive.serving(archive) as running:
        yield running


class Map(HTMLParser):
    """What the page says of each address, of the whole, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.standings: dict[str, str] = {}
        self.links: list[str] = []
        self.folders: list[str] = []
        self._row = ""
        self.feed(text)
        self.counts = {
            name: int(count.replace(",", ""))
            for name, count in re.findall(r'data-standing="([\w-]+)".*?class="n">([\d,]+)<', text)
        }

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if tag == "li" and "data-first" in named:
            self._row = named["class"]
        if tag == "a" and named.get("class") == "name" and self._row.startswith("is-"):
            url = re.sub(r"^/\d{14}/", "", named["href"])
            self.standings[url] = self._row.removeprefix("is-")
        if tag == "a":
            self.links.append(named["href"])
            self.folders += [named["href"]] * (self._row == "folder")


def asked(server: Server, url: str, at: str = "now", more: str = "") -> Any:
    answer = server.ask(f"/-/api/site?url={quote(url, safe='')}&at={at}{more}")
    assert answer.status == 200, answer.text
    return json.loads(answer.body)


@pytest.mark.parametrize("at", MOMENTS[:-1])
@pytest.mark.parametrize("prefix", [SITE, "site.example", f"{SITE}old/", "http://none.example/"])
def test_json_is_what_the_terminal_prints(
    archive: Path, server: Server, prefix: str, at: str
) -> None:
    printed = rig.run("site", prefix, "--at", at, "-a", archive, "--json")
    assert asked(server, prefix, at) == printed.json()
    assert printed.code == (1 if "none" in prefix else 0)


@pytest.mark.parametrize("at", MOMENTS)
def test_the_page_says_what_its_json_says(server: Server, at: str) -> None:
    told, page = asked(server, SITE, at), Map(server.ask(f"/site?url={SITE}&at={at}").text)
    assert page.standings == {each["url"]: each["standing"] for each in told["urls"]}
    assert page.counts == told["counts"]
    assert sum(page.counts.values()) == told["addresses"] == len(lived_site.FATES)


def test_the_terminal_has_a_line_for_each_address(archive: Path) -> None:
    done = rig.ok("site", SITE, "--at", "2026-03-15", "-a", archive)
    said = dict(
        line.split(maxsplit=1)[::-1]
        for line in done.out.decode().replace("no proof", "none").splitlines()
    )
    assert said[f"{SITE}news/stays.html"] == "proven"
    assert said[f"{SITE}old/goes.html"] == "gone"
    assert said[f"{SITE}old/deep/er/never.html?id=%3Cb%3E"] == "none"
    assert said[f"{SITE}news/новое.html"] == "possible"
    assert (
        "10 addresses as of 15 Mar 2026, 23:59:59 (UTC): 5 there (2 proven, 3 possible)" in done.err
    )


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("news/stays.html", "not-yet proven proven proven proven proven possible"),
        ("news/later.html", "not-yet not-yet not-yet proven proven proven possible"),
        ("old/goes.html", "not-yet proven possible gone gone gone gone"),
        ("old/moves.html", "not-yet possible elsewhere elsewhere elsewhere elsewhere elsewhere"),
        ("old/back.html", "not-yet possible gone gone proven proven possible"),
        ("old/deep/er/fails.html", "not-yet silent silent silent possible possible possible"),
    ],
)
def test_what_became_of_an_address_is_told(server: Server, path: str, told: str) -> None:
    said = []
    for at in (
        "2025",
        "2026-01-15",
        "2026-02-15",
        "2026-03-15",
        "2026-04-15",
        "2026-05-15",
        "2027",
    ):
        (row,) = [each for each in asked(server, SITE, at)["urls"] if each["url"] == SITE + path]
        said.append(row["standing"])
    assert " ".join(said) == told


def test_it_says_what_the_history_of_each_url_says(archive: Path, server: Server) -> None:
    """As of the second of each capture, and in between."""
    with Archive.open(archive) as opened:
        times = sorted({each.at for each in opened.captures()})
        known = {
            SITE + path: course(SITE + path, opened.history(SITE + path))
            for path in lived_site.FATES
        }
    for at in [*times[::7], *(at + 10 * DAY for at in times[::9])]:
        moment = parse_moment(iso(at)[:19], at)
        told = asked(server, SITE, iso(at)[:19])["urls"]
        assert {each["url"]: each["standing"] for each in told} == {
            url: each.at(moment) for url, each in known.items()
        }


def test_the_moments_are_told_where_much_was_new(server: Server) -> None:
    over = asked(server, SITE)["over_time"]
    assert [each["at"][:7] for each in over["new"]] == [
        f"2026-{month}" for month in lived_site.MONTHS
    ]
    assert len(over["there"]) == over["steps"] + 1
    page = server.ask(f"/site?url={SITE}").text
    stops = [link for link in Map(page).links if "at=2026" in link and link.startswith("/site")]
    for link, each in zip(stops, over["new"], strict=True):
        assert json.loads(server.ask(f"/-/api{link}").body)["at"] == each["at"]


def test_pages_lead_to_the_site(server: Server) -> None:
    for page, where in (
        (f"/captures?prefix={SITE}news/", f"/site?url={quote(SITE + 'news/', safe='')}"),
        (
            f"/captures?url={SITE}news/stays.html&at=2026-03",
            f"/site?url={quote(SITE, safe='')}&at=2026-03",
        ),
        ("/site", f"/site?url={quote(SITE, safe='')}"),
    ):
        assert where in Map(server.ask(page).text).links, page


@pytest.fixture(scope="module")
def large_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of 5,000 pages and one of 6,000: most seen six times, changing as they like."""
    made = [
        many_captures.capture(
            f"http://{host}.example/{number % 9}/section-{number % 6}/{number}-page-of-a-kind",
            step * 7 + (number * step % 7 if number % 3 else 0) % 2,
            step=37 * DAY // 7 + number * 61 * SECOND,
            status=404 if step > 3 and number % 11 == 0 else 200,
        )
        for host, count in (("large", 5_000), ("larger", 6_000))
        for number in range(count)
        for step in range(6 if host == "large" else 1)
    ]
    return many_captures.build(tmp_path_factory.mktemp("large") / "archive", made)


@pytest.fixture(scope="module")
def large(large_archive: Path) -> Iterator[Server]:
    with served_archive.serving(large_archive) as running:
        yield running


def test_the_data_of_5000_pages_is_small_and_comes_as_it_is(large: Server) -> None:
    page = large.ask("/site?url=http://large.example/", Accept_Encoding="gzip, br")
    assert page.headers["Content-Encoding"] is None
    found = re.search(r'<script type="application/json" id="known">(.*?)</script>', page.text)
    assert found is not None
    assert len(json.loads(found[1])["of"]) == 5_000
    assert len(found[1].encode()) < 200_000
    assert len(page.body) < 200_000
    assert "5,000 addresses" in page.text


def test_histories_that_never_rest_get_fewer_steps() -> None:
    """A state that changes with every step would take 5,000 times 480 letters and more."""
    chance, known = random.Random(1), []
    for number in range(5_000):
        since = tuple(sorted(chance.sample(range(10**6), 30)))
        turns = tuple(Standing.PROVEN if turn % 2 else Standing.POSSIBLE for turn in range(30))
        known.append(Course((f"http://x.example/{number}",), since, turns, since, since[-1]))
    found = moments(known)
    assert found is not None
    assert found.axis.steps < 480
    assert len(data_of(found)) < 200_000


def test_a_folded_folder_is_a_page_of_its_own(large: Server) -> None:
    waiting, met = ["/site?url=http://large.example/&at=20200601000000"], set[str]()
    found: dict[str, str] = {}
    while waiting:
        page = Map(large.ask(where := waiting.pop()).text)
        assert len(page.standings) + len(page.folders) <= ROWS
        assert found.keys().isdisjoint(page.standings)
        found |= page.standings
        met.add(where)
        waiting += [each for each in page.folders if each not in met]
    whole = asked(large, "http://large.example/", "20200601000000")
    assert found == {each["url"]: each["standing"] for each in whole["urls"]}
    assert len(met) > 9


def test_what_is_too_much_for_one_answer_is_had_in_several(
    large: Server, large_archive: Path
) -> None:
    where, at = "http://larger.example/", "2020-06"
    first = asked(large, where, at)
    assert sites.MOST_URLS <= first["addresses"] < 5_200
    rest = asked(large, where, at, f"&after={quote(first['next'], safe='')}")
    assert rest["next"] is None
    both = [each["url"] for each in (*first["urls"], *rest["urls"])]
    assert len(both) == len(set(both)) == 6_000
    words = ("site", where, "--at", at, "-a", large_archive, "--json")
    assert "There are more addresses: --after" in (done := rig.ok(*words)).err
    assert done.json() == first
    assert rig.ok(*words, "--after", first["next"]).json() == rest
    page = large.ask("/site?url=http://larger.example/").text
    assert "there are more addresses" in page
    (onward,) = [each for each in Map(page).links if "after=" in each]
    assert "further on" in large.ask(onward).text


def test_rows_of_one_folder_are_paged(large: Server) -> None:
    flat = "/site?url=http://larger.example/1/section-1/"
    one = Map(large.ask(flat).text)
    assert 0 < len(one.standings) <= 300


def test_other_moments_of_5000_pages_take_no_time(large: Server) -> None:
    """They were read once: 5 ms, and an allowance for what else this machine does."""
    took = []
    for month in range(1, 10):
        begun = time.perf_counter()
        assert large.ask(f"/site?url=http://large.example/&at=20200{month}").status == 200
        took.append(time.perf_counter() - begun)
    assert min(took) < 0.1


def test_what_is_captured_meanwhile_is_seen(tmp_path: Path) -> None:
    folder = served_archive.build(tmp_path / "a", [Page(SITE, "2026-01-01T00:00:00Z", b"one")])
    with served_archive.serving(folder) as server:
        assert asked(server, SITE, "2026")["counts"]["possible"] == 1
        more = served_archive.build(
            tmp_path / "b", [Page(f"{SITE}b", "2026-01-02T00:00:00Z", b"two")]
        )
        rig.ok("import", next((more / "warc").iterdir()), "-a", folder)
        assert asked(server, SITE, "2026")["counts"]["possible"] == 2


HOSTILE = [
    "http://evil.example/</script><script>alert(1)</script>", "http://evil.example/" + "a/" * 3000,
    "http://evil.example/\u202egnp.exe", "http://evil.example/" + "%F0%9F%98%80" * 400,
    "http://evil.example/a?q='\"><img src=x>", "http://evil.example//..//x", "http://evil.example/\x1b[2J",
    "http://user:pw@evil.example/", "HTTP://EVIL.example/Case", "http://evil.example",
]  # fmt: skip


def test_hostile_addresses_are_shown_and_do_nothing(tmp_path: Path) -> None:
    made = [many_captures.capture(url, n, step=DAY) for n, url in enumerate(HOSTILE * 2)]
    folder = many_captures.build(tmp_path / "archive", made)
    with served_archive.serving(folder) as server:
        told, page = (
            asked(server, "evil.example", "2020"),
            server.ask("/site?url=evil.example&at=2020"),
        )
        assert {each["url"] for each in told["urls"]} == set(HOSTILE)
        assert page.status == 200
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        assert not re.search("[\x1b\u202e]", page.text)
        for link in Map(page.text).links:
            assert server.ask(link).status in (200, 404, 500), link  # 500: there are no records


@pytest.mark.parametrize("query", [
    "url=", "", "url=http://none.example/", f"url={SITE}&at=9999", f"url={SITE}&at=0001",
    f"url={SITE}&page=99", f"url={SITE}&page=-1", f"url={SITE}&page=x", f"url={SITE}&after=zz",
    f"url={SITE}&after=%00", "url=%00", "url=%5B", "url=" + "x" * 9000, "url=http://(org,(",
    "url=%F0%9F%98%80", "url=%FF", f"url={SITE}&at=someday", f"url={SITE}&at=%00",
])  # fmt: skip
def test_odd_questions_are_answered(server: Server, query: str) -> None:
    status = 400 if query.endswith(("someday", "at=%00")) else 200
    assert server.ask(f"/site?{query}").status == status
    machine = server.ask(f"/-/api/site?{query}")
    assert machine.status == (400 if query in ("", "url=") else status)


def test_every_standing_has_its_words() -> None:
    assert list(LABELS) == list(Standing)
    sheet = Path(sites.__file__).parents[1] / "report/static/asof.css"
    for standing in Standing:
        assert f"rect.is-{standing}" in sheet.read_text(encoding="utf-8")
