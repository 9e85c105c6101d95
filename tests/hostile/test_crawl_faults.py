"""A crawl of servers that misbehave: it goes on, ends, stays small, and says what became of each.

One crawl meets everything at once, as a crawl does; the tests ask what it made of it. Where an
answer came it is kept, with what is odd about it; where none came, or one was not worth following,
`asof status` names the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support import misbehaving as bad
from support import rig
from support.misbehaving import HTML, OK, Behaviour, Server, Stage, page, sends

MB = 1 << 20
PEAK = 300 * MB
SETTINGS = {
    "ASOF_CONNECT_TIMEOUT": "2",
    "ASOF_IDLE_TIMEOUT": "1.5",
    "ASOF_FETCH_TIMEOUT": "3",
    "ASOF_MAX_BODY": str(8 * MB),
    "ASOF_MAX_CRAWL_DELAY": "0.5",
    "ASOF_RETRIES": "1",
    "ASOF_RETRY_DELAY": "0.1",
    "ASOF_COOKIES": "1",
}
# The slowest host has some twenty seconds of time-outs to sit through.
SECONDS = 90
ORDINARY = [f"/page/{n}" for n in range(12)]
CHAIN = 200  # redirects that a server has in store
CHAIN_TAKEN = 30  # that a crawler follows at most; browsers stop at 20
MANY = 100_000
# nginx and Apache refuse a header line of more than 8 KiB by default, and so the whole request.
REQUEST_LIMIT = 8 << 10
LONG = 2 * MB


@dataclass(frozen=True)
class Kept:
    """The answer is in the archive, cut in one of these ways, with at least these anomalies."""

    truncated: tuple[str | None, ...]
    noted: frozenset[str]
    status: int | None


def odd(*anomalies: str, truncated: str | None = None, status: int | None = 200) -> Kept:
    return Kept((truncated,), frozenset(anomalies), status)


CUT = odd(truncated="length")
LATE = odd(truncated="time")
EITHER = Kept(("length", "time"), frozenset(), 200)
LOST = odd(truncated="disconnect")
FINE = odd()
MOVED = odd(status=302)
BUSY = odd(status=503)


def _later(value: str) -> Behaviour:
    return page("busy", "503 Service Unavailable", Retry_After=value)


def _coded(coding: str, body: bytes) -> Behaviour:
    return page(body, Content_Encoding=coding)


CHUNKED = HTML + "Transfer-Encoding: chunked\r\n\r\n"
GZIPPED = bad.wrapped(b"<p>fine</p>" * 500, 1)
KEPT: dict[str, tuple[Behaviour, Kept]] = {
    # time
    "/drip/body": (bad.endless(HTML + "\r\n", b".", 0.2), LATE),
    "/drip/chunks": (bad.endless(CHUNKED, b"1\r\n.\r\n", 0.2), LATE),
    # size
    "/endless/body": (bad.endless(HTML + "\r\n", b"<p>more</p>" * 6000), CUT),
    "/endless/chunks": (bad.endless(CHUNKED, b"1000\r\n" + b"." * 4096 + b"\r\n"), CUT),
    "/endless/crumbs": (bad.endless(CHUNKED, b"5\r\nhello\r\n" * 5000), EITHER),
    "/endless/headers": (bad.endless(OK, b"X-More: of these\r\n" * 500),
                         odd("head-too-long", truncated="length")),
    "/endless/interim": (bad.endless("", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
                         odd("head-too-long", truncated="length", status=None)),
    "/flood/headers": (sends(OK + bad.header_lines(20_000) + "Content-Length: 2\r\n\r\nok"), FINE),
    "/flood/interim": (sends("HTTP/1.1 103 Early Hints\r\n\r\n" * 5000 + OK
                             + "Content-Length: 2\r\n\r\nok"), FINE),
    "/flood/cookies": (bad.cookies(200, 3000), FINE),
    # lengths
    "/length/short": (sends(HTML + "Content-Length: 100\r\n\r\nten bytes."), LOST),
    "/length/long": (sends(HTML + "Content-Length: 3\r\n\r\nten bytes."), odd("surplus-bytes")),
    "/length/negative": (sends(HTML + "Content-Length: -5\r\n\r\nten bytes."), odd("bad-length")),
    "/length/huge": (sends(HTML + f"Content-Length: {10**17}\r\n\r\nten bytes."), LOST),
    "/length/absurd": (sends(HTML + f"Content-Length: {10**40}\r\n\r\n..."), odd("bad-length")),
    "/length/chunk": (sends(CHUNKED + "-1\r\nabc"), odd("bad-chunk-size")),
    # the connection
    "/reset/body": (bad.reset_in_body, LOST),
    "/http/0.9": (sends("<p>no head at all</p>"), odd("http-0.9", status=None)),
    # codings
    "/coding/unknown": (_coded("x-junk, rot13", b"<p>junk</p>"), FINE),
    "/coding/brotli": (_coded("identity, br", bad.noise(5000)), FINE),
    "/coding/zstd": (_coded("zstd", b"\x28\xb5\x2f\xfd" + bad.noise(5000)), FINE),
    "/coding/cut": (_coded("gzip", GZIPPED[: len(GZIPPED) // 2]), FINE),
    "/coding/six": (_coded(", ".join(["gzip"] * 6), bad.wrapped(b"deep", 6)), FINE),
    "/coding/charset": (page(b"\xff\xfe\xff<p>junk", media="text/html; charset=klingon"), FINE),
    "/coding/type": (page(b"<p>junk", media=";;;\xff=\x01"), FINE),
    "/bomb/gzip": (bad.bombed(1000, Content_Encoding="gzip"), FINE),
    "/bomb/nested": (bad.bombed(1000, 2, Content_Encoding="gzip, gzip, gzip"), FINE),
    "/bomb/unnamed": (bad.bombed(1000, media="application/gzip"), FINE),
    # places
    "/location/loop": (bad.redirect("/location/pool"), MOVED),
    "/location/pool": (bad.redirect("/location/loop"), MOVED),
    "/location/self": (bad.redirect("/location/self"), MOVED),
    "/location/junk": (bad.redirect("http://[::bad/"), MOVED),
    "/location/huge": (bad.redirect("/" + "y" * LONG),
                       odd("head-too-long", truncated="length", status=302)),
    "/location/long": (bad.redirect("/long/move" + "y" * 200_000), MOVED),
    "/location/out": (bad.redirect("http://elsewhere.invalid/"), MOVED),
    "/links/many": (page(bad.many_links(MANY, "/many/")), FINE),
    "/links/long": (page(bad.links("/long/link" + "y" * LONG, "/after-long")), FINE),
    # patience
    "/later/huge": (_later("99999999999999999999"), BUSY),
    "/later/past": (_later("Mon, 01 Jan 1990 00:00:00 GMT"), BUSY),
    "/later/date": (_later("Tue, 01 Jan 2999 00:00:00 GMT"), BUSY),
    "/later/minus": (_later("-1"), BUSY),
    "/later/odd": (_later("\xb2"), BUSY),  # a digit to Python, and no number
}  # fmt: skip
FAILED: dict[str, tuple[Behaviour, str]] = {
    "/drip/head": (bad.endless(OK + "X-Drip: ", b".", 0.2), "timeout"),
    "/silence": (bad.silence, "timeout"),
    "/hang-up": (bad.hang_up, "empty"),
    "/reset/at-once": (bad.reset_at_once, "reset"),
}
# What robots.txt does, and why the site was then left alone; None when it is crawled.
ROBOTS: dict[str, tuple[Behaviour, str | None]] = {
    "silent": (bad.silence, "timeout"),
    "drip": (bad.endless(OK + "\r\n", b"#", 0.2), "robots.txt unavailable"),
    "cut": (sends(OK + "Content-Length: 99\r\n\r\nUser-agent: *\nDis"), "robots.txt unavailable"),
    "failing": (page("sorry", "500 Broken"), "robots.txt unavailable"),
    "reset": (bad.reset_at_once, "reset"),
    "huge": (page("# filler\n" * (5 * MB // 9), media="text/plain"), None),
    "html": (page("<!doctype html><title>none</title>"), None),
    "binary": (page(bad.noise(50_000), media="text/plain"), None),
    "bomb": (bad.bombed(1000, Content_Encoding="gzip"), None),
    "moved": (bad.redirect("/robots.txt"), None),
    "moving": (bad.redirect("/moving/0"), None),
    "long": (bad.redirect("/" + "y" * 200_000), None),
}
TLS = ("wrong_name", "expired", "unknown", "plain")


def _front() -> Behaviour:
    """Links to all that is bad, with what is ordinary in between and at the end."""
    wicked = [*KEPT, *FAILED, "/chain/0", "/more/0", "/last"]
    mixed = [
        path
        for n, fault in enumerate(wicked)
        for path in (fault, *ORDINARY[n // 4 : n // 4 + 1][: n % 4 == 0])
    ]
    return page(bad.links(*mixed))


def _routes() -> dict[str, Behaviour]:
    ordinary = {path: page(f"<p>An ordinary page, {path}.</p>") for path in (*ORDINARY, "/last")}
    return {
        "/": _front(),
        "/chain/*": bad.redirect_on(CHAIN),
        "/more/*": bad.more(60),
        "/after-long": page("after the long link"),
        **{path: behaviour for path, (behaviour, _) in (KEPT | FAILED).items()},
        **ordinary,
    }


@dataclass
class Crawled:
    """What a crawl of all this came to. Rows and failures are by URL."""

    archive: Path
    result: Any
    site: Server
    vanishing: Server
    robots: dict[str, Server]
    tls: dict[str, str]
    rows: dict[str, list[dict[str, Any]]]
    failures: dict[str, set[str]]
    status: dict[str, Any]

    def last(self, path: str) -> dict[str, Any]:
        """The last capture of a path of the main site."""
        return self.rows[self.site.url + path][-1]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("faults")
    archive, trust = folder / "archive", folder / "trust.pem"
    made = bad.Certificates()
    trust.write_bytes(made.trust)
    bad.bomb(1000)  # a second of work that the servers should not be doing
    with Stage() as stage:
        site = stage.open(_routes())
        here = [f"/here/{n}" for n in range(20)]
        vanishing = stage.open({"/": page(bad.links(*here)), "/here/*": bad.vanish_after(5)})
        robots = {
            name: stage.open(
                {
                    "/": page(bad.links("/fine")),
                    "/fine": page("fine"),
                    "/moving/*": bad.redirect_on(CHAIN),
                    "/robots.txt": behaviour,
                }
            )
            for name, (behaviour, _) in ROBOTS.items()
        }
        plain = stage.open({"/": page("plain")})
        secure = {
            name: stage.open({"/": page("secret")}, tls=getattr(made, name)()).url
            for name in ("good", *TLS[:-1])
        }
        tls = secure | {"plain": plain.url.replace("http:", "https:")}
        servers = (site, vanishing, *robots.values())
        seeds = [f"{url}/" for url in (*(server.url for server in servers), *tls.values())]
        result = rig.run(
            "crawl", *seeds, "-a", archive, "--delay", "0", "--exclude", "/many/", "--json",
            timeout=4 * SECONDS, env=SETTINGS | {"SSL_CERT_FILE": str(trust)}, fresh=True,
        )  # fmt: skip
        rows: dict[str, list[dict[str, Any]]] = {}
        for row in rig.rows_of(archive):
            rows.setdefault(row["url"], []).append(row)
        status = rig.ok("status", "-a", archive, "--json").json()["crawls"][0]
        yield Crawled(
            archive, result, site, vanishing, robots, tls, rows, rig.failures_of(archive), status
        )


def test_the_crawl_ends_by_itself_and_in_time(crawled: Crawled) -> None:
    """No error, no limit reached, nothing left in the queue."""
    assert crawled.result.code == 0, str(crawled.result)
    assert crawled.status["state"] == "finished"
    assert crawled.status["ended_by"] == "done"
    assert crawled.status["queued"] == 0
    assert crawled.result.seconds < SECONDS


def test_memory_stays_small(crawled: Crawled) -> None:
    """With bombs of a gigabyte, endless bodies and a hundred thousand links in one crawl."""
    assert crawled.result.peak_rss < PEAK, f"{crawled.result.peak_rss // MB} MB"


def test_every_ordinary_page_is_captured(crawled: Crawled) -> None:
    """Whatever stood beside it, and asked for once only."""
    for path in (*ORDINARY, "/last", "/after-long"):
        assert [row["status"] for row in crawled.rows[crawled.site.url + path]] == [200]
        assert crawled.site.paths.count(path) == 1


def test_the_files_are_sound(crawled: Crawled) -> None:
    """By warcio and by our own check, which stays small as well; nothing is left in the spool."""
    rig.warcio_check(rig.warcs(crawled.archive))
    checked = rig.ok("check", "-a", crawled.archive, fresh=True)
    assert checked.peak_rss < PEAK, f"{checked.peak_rss // MB} MB"
    assert not list(crawled.archive.glob("spool/*"))


@pytest.mark.parametrize("path", KEPT)
def test_an_odd_answer_is_kept_and_what_is_odd_is_named(crawled: Crawled, path: str) -> None:
    """As `asof list --json` shows it."""
    wanted = KEPT[path][1]
    row = crawled.last(path)
    assert row["status"] == wanted.status
    assert row["truncated"] in wanted.truncated
    assert wanted.noted <= set(row["anomalies"]), row["anomalies"]


@pytest.mark.parametrize("path", FAILED)
def test_no_answer_has_a_reason(crawled: Crawled, path: str) -> None:
    """Tried twice, written into the WARC, and counted in the status."""
    reason = FAILED[path][1]
    assert crawled.site.url + path not in crawled.rows
    assert crawled.failures[crawled.site.url + path] == {reason}
    # Twice, and each time once more where it may have been an old connection that failed.
    assert 2 <= crawled.site.paths.count(path) <= 4
    assert crawled.status["reasons"][reason] >= 1


def test_every_failure_is_counted_by_its_reason(crawled: Crawled) -> None:
    """The status has no failures but those that were arranged here."""
    wanted = Counter(reason for _, reason in FAILED.values())
    wanted.update(reason for _, reason in ROBOTS.values() if reason)
    wanted.update(["tls"] * len(TLS))
    # Five pages were served and the sixth was cut short; the rest is refused.
    wanted["refused"] = 20 - 6
    reasons = crawled.status["reasons"]
    assert {reason: reasons.get(reason) for reason in wanted} == dict(wanted), reasons
    # Told by robots.txt, if only by its absence: that is left out rather than failed.
    del wanted["robots.txt unavailable"]
    assert crawled.status["failed"] == wanted.total()


def test_redirects_without_end_are_given_up(crawled: Crawled) -> None:
    """Each leads to a new URL, so nothing but their number tells; the status does as well."""
    asked = [path for path in crawled.site.paths if path.startswith("/chain/")]
    assert 5 <= len(asked) <= CHAIN_TAKEN
    assert any("redirect" in reason for reason in crawled.status["reasons"])


def test_redirects_in_a_circle_are_followed_once(crawled: Crawled) -> None:
    for path in ("/location/loop", "/location/pool", "/location/self"):
        assert crawled.site.paths.count(path) == 1


def test_a_redirect_out_of_scope_is_left_out(crawled: Crawled) -> None:
    """Not asked for, and counted with the reason that a link there would have."""
    assert not [url for url in crawled.failures if "elsewhere.invalid" in url]
    assert [reason for reason in crawled.status["reasons"] if "host" in reason or "scope" in reason]


def test_a_flood_of_links_is_counted(crawled: Crawled) -> None:
    """All of them were found, and left out because of the pattern."""
    counts = [n for reason, n in crawled.status["reasons"].items() if "/many/" in reason]
    assert counts == [MANY]


def test_a_url_of_megabytes_is_left_out_with_a_reason(crawled: Crawled) -> None:
    """One in a link, one in a redirect; they are no targets, but they were there."""
    assert not [path for path in crawled.site.paths if len(path) > 60_000]
    counts = [n for reason, n in crawled.status["reasons"].items() if "long" in reason.lower()]
    assert sum(counts) >= 2, crawled.status["reasons"]


def test_cookies_do_not_make_requests_too_long(crawled: Crawled) -> None:
    """A page that sets 200 cookies of 3 kB must not get all later requests refused."""
    longest = max(len(head) for _, head in crawled.site.asked)
    assert longest < REQUEST_LIMIT, longest


def test_pages_that_always_have_new_links(crawled: Crawled) -> None:
    """No page twice; how far to go is for the limits and the rules against traps."""
    asked = [path for path in crawled.site.paths if path.startswith("/more/")]
    assert 1 <= len(asked) == len(set(asked)) <= 60


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_that_misbehave(crawled: Crawled, name: str) -> None:
    """Not to be had whole: the site is left alone, with a reason. Nonsense: all is allowed."""
    server, reason = crawled.robots[name], ROBOTS[name][1]
    pages = [path for path in server.paths if path in ("/", "/fine")]
    assert pages == ([] if reason else ["/", "/fine"])
    if reason:
        assert server.paths.count("/robots.txt") >= 2, "a failure may pass"
        assert crawled.status["reasons"][reason] >= 1
    assert len(server.paths) <= 2 + 6 * 2, (
        "robots.txt: five redirects at most (RFC 9309), tried twice"
    )


@pytest.mark.parametrize("name", TLS)
def test_a_certificate_that_is_not_right(crawled: Crawled, name: str) -> None:
    """Nothing is asked for over such a connection; a good one beside it is used."""
    url = crawled.tls[name] + "/"
    assert url not in crawled.rows
    assert crawled.failures[crawled.tls[name] + "/robots.txt"] == {"tls"}
    assert crawled.tls["good"] + "/" in crawled.rows


def test_a_host_that_vanishes(crawled: Crawled) -> None:
    """What it gave is kept, the page in between as far as it came; the rest has a reason."""
    rows = {url: row for url, row in crawled.rows.items() if url.startswith(crawled.vanishing.url)}
    pages = [row[-1] for url, row in rows.items() if "/here/" in url]
    assert Counter(row["truncated"] for row in pages) == {None: 5, "disconnect": 1}
    gone = [url for url in crawled.failures if url.startswith(crawled.vanishing.url)]
    assert all(crawled.failures[url] == {"refused"} for url in gone)
    # After five failures in a row the host is given up: nobody waits for the other nine.
    assert len(gone) == 5
    assert crawled.status["reasons"]["refused"] >= 20 - 6


def test_bombs_are_kept_as_they_came(crawled: Crawled) -> None:
    """The bytes on the wire, not what they would become; another host's bomb is the same one."""
    stored = {row["digest"]: row["size"] for rows in crawled.rows.values() for row in rows
              if row["kind"] == "response"}  # fmt: skip
    assert stored[crawled.last("/bomb/gzip")["digest"]] == len(bad.bomb(1000))
    assert crawled.last("/bomb/nested")["size"] < 10_000
