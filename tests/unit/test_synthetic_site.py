from __future__ import annotations

import doctest
import importlib
import math
import re
import statistics
import struct
import zlib
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof.clock import DAY, SECOND, http_date, parse_http_date
from asof.errors import UsageError
from asof.testing import START, Kind, Rates, SiteSpec, SyntheticSite
from support.laws import examples

BUSY = SiteSpec(
    seed=5, pages=60, rates=Rates.exponential(1.5), static=0.2, asset_rate=0.3,
    appearing=9, vanishing=6, turnover=20.0, images=11, css=3, scripts=2,
    etag="mixed", sitemap="index", redirects=6,
)  # fmt: skip
MOMENTS = [START, START + 3 * DAY, START + 11 * DAY, START + 40 * DAY]
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Outline(HTMLParser):
    """Anchors and requisites of a page; fails on tags that are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.anchors: list[str] = []
        self.requisites: list[str] = []
        self.open: list[str] = []
        self.headings = 0
        self.feed(html)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given_ = dict(attrs)
        if tag == "a":
            self.anchors.append(given_["href"] or "")
        if tag in ("link", "img", "script"):
            self.requisites.append(given_.get("href") or given_["src"] or "")
        if tag not in VOID:
            self.open.append(tag)
        self.headings += tag == "h1"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def crawl(site: SyntheticSite, t: int, host: int = 0) -> set[str]:
    """Every path that a polite reader of links, stylesheets, robots and sitemaps asks for."""
    origin = site.origins[host]
    asked: set[str] = set()
    queue = ["/robots.txt", "/"]
    while queue:
        path = queue.pop()
        if path in asked or path.startswith("/desk/"):
            continue
        asked.add(path)
        response = site.respond("GET", path, (), t, host=host)
        found: list[str] = [response.header("Location") or ""]
        kind = (response.header("Content-Type") or "").partition(";")[0]
        text = response.content.decode("latin-1")
        if kind == "text/html":
            outline = Outline(response.content.decode())
            found += outline.anchors + outline.requisites
        elif kind == "text/css":
            found += re.findall(r'url\("([^"]+)"\)', text)
        elif kind == "application/xml":
            found += re.findall(r"<loc>([^<]+)</loc>", text)
        elif path == "/robots.txt":
            found += re.findall(r"Sitemap: (\S+)", text)
        for link in filter(None, found):
            url = urlsplit(urljoin(origin + path, link))
            if f"{url.scheme}://{url.netloc}" == origin:
                queue.append(url.path)
    return asked


def everything(site: SyntheticSite, t: int) -> dict[str, bytes]:
    return {path: site.respond("GET", path, (), t).wire() for path in sorted(site.expected(t))}


def test_equal_specs_make_byte_for_byte_equal_webs() -> None:
    one, other = SyntheticSite(BUSY), SyntheticSite(BUSY)
    for t in MOMENTS:
        assert everything(one, t) == everything(other, t)


def test_another_seed_makes_another_web() -> None:
    other = SyntheticSite(SiteSpec(seed=6, pages=60))
    assert set(SyntheticSite(SiteSpec(seed=5, pages=60)).paths(START)) != set(other.paths(START))


def test_the_order_of_questions_makes_no_difference() -> None:
    forward, backward = SyntheticSite(BUSY), SyntheticSite(BUSY)
    early = {(t, path): forward.version(path, t) for t in MOMENTS for path in forward.paths(t)}
    late = {
        (t, path): backward.version(path, t)
        for t in reversed(MOMENTS)
        for path in reversed(backward.paths(t))
    }
    assert early == late
    assert everything(forward, MOMENTS[1]) == everything(backward, MOMENTS[1])


@settings(max_examples=examples(60), deadline=None)
@given(
    st.sampled_from(sorted(SyntheticSite(BUSY).expected(START) - {"/robots.txt"})),
    st.integers(0, 30 * DAY),
    st.integers(0, 30 * DAY),
)
def test_content_differs_exactly_when_the_true_history_says_so(path: str, a: int, b: int) -> None:
    site = SyntheticSite(BUSY)
    t0, t1 = START + min(a, b), START + max(a, b)
    changes = site.changes(path, t0, t1)
    assert len(changes) == site.version(path, t1) - site.version(path, t0)
    assert changes == sorted(set(changes))
    assert all(t0 < at <= t1 for at in changes)
    before, after = (site.respond("GET", path, (), t) for t in (t0, t1))
    assert ((before.status, before.content) != (after.status, after.content)) is bool(changes)
    if changes:
        last = site.respond("GET", path, (), changes[-1])
        assert (last.status, last.content) == (after.status, after.content)
        assert site.modified(path, t1) == changes[-1]


def test_changes_come_at_the_given_rates() -> None:
    days = 50
    site = SyntheticSite(SiteSpec(seed=3, pages=400, rates=Rates.uniform(1.0)))
    end = START + days * DAY
    total = expected = 0.0
    for path in site.paths(START):
        mean = site.rate(path) * days
        count = site.version(path, end)
        assert abs(count - mean) <= 6 * math.sqrt(mean) + 3  # one in a billion by chance
        total, expected = total + count, expected + mean
    assert expected == pytest.approx(400 * days)
    assert abs(total - expected) < 5 * math.sqrt(expected)


def test_gaps_between_changes_are_exponential() -> None:
    site = SyntheticSite(SiteSpec(seed=9, pages=1, rates=Rates.fixed(24.0), links=1))
    times = site.changes("/", START, START + 300 * DAY)
    gaps = [(b - a) / (DAY / 24) for a, b in pairwise(times)]
    assert len(gaps) > 6_500
    assert statistics.fmean(gaps) == pytest.approx(1, abs=0.06)
    assert statistics.pstdev(gaps) == pytest.approx(1, abs=0.08)
    assert sum(gap > 1 for gap in gaps) / len(gaps) == pytest.approx(math.exp(-1), abs=0.03)


def test_rates_are_quantile_grids_with_exact_means() -> None:
    assert Rates.uniform(1.0).grid(4) == (0.25, 0.75, 1.25, 1.75)
    exponential = Rates.exponential(2.0).grid(1000)
    assert math.fsum(exponential) == pytest.approx(2000)
    assert exponential[0] / exponential[-1] == pytest.approx(
        math.log1p(-0.0005) / math.log(0.0005), rel=1e-9
    )
    lognormal = Rates.lognormal(0.5).grid(1001)
    assert math.fsum(lognormal) == pytest.approx(500.5)
    upper = statistics.NormalDist().inv_cdf(1000.5 / 1001)
    assert lognormal[-1] / lognormal[500] == pytest.approx(math.exp(2 * upper))


def test_fixed_rates_are_given_out_in_page_order() -> None:
    site = SyntheticSite(SiteSpec(pages=8, rates=Rates.fixed(3.0, 0.0)))
    assert [site.rate(path) for path in site.paths(START)] == [3.0, 0.0] * 4


def test_the_static_share_never_changes() -> None:
    site = SyntheticSite(SiteSpec(pages=100, rates=Rates.uniform(5.0), static=0.3))
    still = [path for path in site.paths(START) if not site.version(path, START + 99 * DAY)]
    assert len(still) == 30


@pytest.mark.parametrize("text", ["exponential", "zipf:1", "uniform:1,2", "fixed:x", "uniform:-1"])
def test_rates_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="rates"):
        Rates.parse(text)


def test_rates_are_read_from_text() -> None:
    assert Rates.parse("lognormal:2") == Rates.lognormal(2.0)
    assert Rates.parse("fixed:3,0,0.5") == Rates.fixed(3.0, 0.0, 0.5)
    assert Rates.parse("none").grid(2) == (0.0, 0.0)


@pytest.mark.parametrize("t", MOMENTS)
def test_a_crawl_from_the_front_page_finds_exactly_what_is_expected(t: int) -> None:
    site = SyntheticSite(BUSY)
    assert crawl(site, t) == site.expected(t)
    assert set(site.paths(t)) <= site.expected(t)
    assert not site.forbidden() & site.expected(t)


@pytest.mark.parametrize("pages", [1, 2, 5, 6, 30, 41])
@pytest.mark.parametrize("images", [0, 1, 70])
@pytest.mark.parametrize("links", [1, 20])
def test_sites_of_every_shape_are_complete(pages: int, images: int, links: int) -> None:
    spec = SiteSpec(pages=pages, images=images, links=links, words=30, css=0, scripts=0)
    site = SyntheticSite(spec)
    assert len(site.paths(START)) == pages
    assert crawl(site, START) == site.expected(START)
    assert sum("/img/plate" in path for path in site.expected(START)) == images


def test_a_large_site_is_reachable_within_a_few_clicks() -> None:
    site = SyntheticSite(SiteSpec(pages=3000, words=10))
    depth = {"/": 0}
    queue = ["/"]
    for path in queue:
        for link in site.links(path, START):
            if link not in depth and link not in site.forbidden() and site.kind(link) is Kind.PAGE:
                depth[link] = depth[path] + 1
                queue.append(link)
    assert set(depth) == set(site.paths(START))
    assert max(depth.values()) <= 6


def test_hosts_are_sites_of_their_own_that_point_to_one_another() -> None:
    spec = SiteSpec(pages=50, hosts=3)
    site = SyntheticSite(spec).at([f"http://{name}.example" for name in "abc"])
    assert sum(len(site.paths(START, host=host)) for host in range(3)) == 50
    for host in range(3):
        assert crawl(site, START, host) == site.expected(START, host=host)
    assert {"http://b.example/", "http://c.example/"} <= set(site.links("/", START))
    assert site.urls(START) >= {"http://c.example/robots.txt", "http://a.example/"}
    titles = {site.respond("GET", "/", (), START, host=host).body[:300] for host in range(3)}
    assert len(titles) == 3


def test_the_same_web_under_other_origins_keeps_its_history() -> None:
    site = SyntheticSite(BUSY)
    moved = site.at(["http://127.0.0.1:8000"])
    t = MOMENTS[2]
    assert [site.version(p, t) for p in site.paths(t)] == [
        moved.version(p, t) for p in moved.paths(t)
    ]
    assert b"http://127.0.0.1:8000/sitemap.xml" in moved.respond("GET", "/robots.txt", (), t).body
    assert b"127.0.0.1" not in site.respond("GET", "/robots.txt", (), t).body


def test_pages_appear_and_vanish_and_their_links_with_them() -> None:
    site = SyntheticSite(BUSY)
    first, last = set(site.paths(START)), set(site.paths(START + 20 * DAY))
    assert len(first) == 60
    assert len(last - first) == 9
    assert len(first - last) == 6
    for path in last - first:
        (born, *_) = site.changes(path, START, START + 20 * DAY)
        assert site.respond("GET", path, (), born - 1).status == 404
        assert site.respond("GET", path, (), born).status == 200
        parents = [p for p in site.paths(born) if path in site.links(p, born)]
        assert parents
        assert all(path not in site.links(parent, born - 1) for parent in parents)
        assert all(born in site.changes(parent, born - 1, born) for parent in parents)
    for path in first - last:
        gone = site.changes(path, START, START + 20 * DAY)[-1]
        assert site.respond("GET", path, (), gone - 1).status == 200
        assert site.respond("GET", path, (), gone).status == 410
        assert all(path not in site.links(other, gone) for other in site.paths(gone))


def test_links_are_the_anchors_of_the_page() -> None:
    site = SyntheticSite(BUSY)
    for t in MOMENTS:
        for path in site.paths(t):
            outline = Outline(site.respond("GET", path, (), t).content.decode())
            assert set(outline.anchors) == set(site.links(path, t))
            assert outline.headings == 1


def test_editions_show_their_number_and_differ_in_a_few_sentences() -> None:
    site = SyntheticSite(SiteSpec(seed=2, pages=30, rates=Rates.fixed(1.0)))
    path = site.paths(START)[20]
    moments = [START, *site.changes(path, START, START + 30 * DAY)]
    texts = [site.respond("GET", path, (), t).content.decode() for t in moments]
    for number, (old, new) in enumerate(pairwise(texts), start=2):
        assert f"Edition {number}<" in new
        kept = set(re.split(r"(?<=[.”]) |</?p>", old)) & set(re.split(r"(?<=[.”]) |</?p>", new))
        assert len(kept) > 5
    headlines = [re.findall(r"<h1>(.*?)</h1>", text) for text in texts]
    assert headlines[0] != headlines[3]
    links = [site.links(path, t) for t in moments]
    assert len(set(links)) > 1


def test_texts_are_about_as_long_as_asked() -> None:
    site = SyntheticSite(SiteSpec(pages=80, words=400))
    lengths = []
    for path in site.paths(START):
        html = site.respond("GET", path, (), START).content.decode()
        text = html.partition('<div class="text">')[2].partition("</div>")[0]
        lengths.append(len(re.sub(r"<[^>]+>", " ", text).split()))
    assert statistics.fmean(lengths) == pytest.approx(400, rel=0.15)


def test_pictures_are_real_and_change_with_their_version() -> None:
    site = SyntheticSite(SiteSpec(pages=10, images=4, asset_rate=1.0))
    for path in ("/img/plate-2.png", "/img/plate-4.png"):
        data = site.respond("GET", path, (), START).body
        width, height = struct.unpack(">II", data[16:24])
        raw = zlib.decompress(data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8])
        assert len(raw) == (width + 1) * height
    for path in ("/img/plate-1.svg", "/img/plate-2.png", "/css/gazette.css", "/js/gazette.js"):
        later = site.changes(path, START, START + 30 * DAY)[0]
        assert (
            site.respond("GET", path, (), START).body != site.respond("GET", path, (), later).body
        )


def test_validators_are_honest_at_every_change() -> None:
    site = SyntheticSite(SiteSpec(seed=4, pages=6, rates=Rates.fixed(4000.0), words=40))
    for change in site.changes("/", START, START + DAY // 20):
        for t in (change - 1, change, change + 400_000, change + 1_500_000):
            response = site.respond("GET", "/", (), t)
            modified = parse_http_date(response.header("Last-Modified") or "")
            if modified is None:  # changed within this very second: no claim is made
                assert site.modified("/", t) // SECOND == t // SECOND
                continue
            assert modified == site.modified("/", t) // SECOND * SECOND < t
            since = (("If-Modified-Since", http_date(modified)),)
            for later in (t + SECOND // 10, t + 9 * SECOND, t + DAY // 100):
                unchanged = not site.changes("/", t, later)
                assert (site.respond("GET", "/", since, later).status == 304) is unchanged


def test_conditional_requests_follow_the_precedence_of_rfc_9110() -> None:
    site = SyntheticSite(SiteSpec(pages=5, rates=Rates.fixed(1.0)))
    t = START + DAY // 1000
    fresh = site.respond("GET", "/", (), t)
    etag, modified = fresh.header("ETag") or "", fresh.header("Last-Modified") or ""

    def status(*headers: tuple[str, str]) -> int:
        return site.respond("GET", "/", headers, t).status

    assert status(("If-None-Match", etag)) == 304
    assert status(("if-none-match", f'"other", W/{etag}')) == 304
    assert status(("If-None-Match", "*")) == 304
    assert status(("If-None-Match", '"other"')) == 200
    assert status(("If-Modified-Since", modified)) == 304
    assert status(("If-Modified-Since", "soon")) == 200
    assert status(("If-None-Match", '"other"'), ("If-Modified-Since", modified)) == 200
    zipped = site.respond("GET", "/", (("Accept-Encoding", "gzip"),), t)
    assert zipped.header("ETag") != etag
    assert zipped.content == fresh.body
    assert not site.respond("GET", "/", (("If-None-Match", etag),), t).body


@pytest.mark.parametrize(
    ("etag", "wanted"),
    [("strong", {'"'}), ("weak", {"W"}), ("none", {""}), ("mixed", {'"', "W", ""})],
)
def test_entity_tags_are_of_the_kind_asked_for(etag: str, wanted: set[str]) -> None:
    site = SyntheticSite(SiteSpec(pages=30, etag=etag))  # type: ignore[arg-type]
    tags = {site.respond("GET", p, (), START).header("ETag") or "" for p in site.paths(START)}
    assert {tag[:1] for tag in tags} == wanted


def test_features_can_be_switched_off() -> None:
    plain = SiteSpec(
        pages=12, etag="none", last_modified=False, conditional=False, gzip=False, chunked=0.0,
        redirects=0, errors=(), robots=False, sitemap="none", images=0, css=0, scripts=0,
    )  # fmt: skip
    site = SyntheticSite(plain)
    asked = (("Accept-Encoding", "gzip"), ("If-None-Match", "*"))
    for path in site.paths(START):
        response = site.respond("GET", path, asked, START)
        assert {name for name, _ in response.headers} == {"Date", "Content-Type"}
        assert (response.status, response.chunked) == (200, False)
    assert site.expected(START) == {*site.paths(START), "/robots.txt", "/favicon.svg"}
    assert site.respond("GET", "/robots.txt", (), START).status == 404


def test_redirects_of_all_kinds_and_chains_end_at_a_page() -> None:
    site = SyntheticSite(SiteSpec(pages=20, redirects=5, chain=4))
    statuses = []
    for number in range(1, 6):
        path, hops = f"/permalink/{number}", 0
        while site.kind(path) is Kind.REDIRECT:
            response = site.respond("GET", path, (), START)
            statuses.append(response.status)
            path, hops = response.header("Location") or "", hops + 1
        assert site.kind(path) is Kind.PAGE
        assert hops == (4 if number == 5 else 1)
    assert set(statuses) == {301, 302, 307, 308}


def test_errors_answer_with_their_status() -> None:
    site = SyntheticSite(SiteSpec(pages=20, errors=(404, 410, 500, 503), retry_after=7))
    for status in (404, 410, 500, 503):
        response = site.respond("GET", f"/lost/{status}", (), START)
        assert response.status == status
        assert response.header("Retry-After") == ("7" if status == 503 else None)
    assert site.respond("GET", "/nothing", (), START).status == 404
    assert site.respond("POST", "/", (), START).status == 405


def test_a_sitemap_index_lists_every_page_with_its_last_change() -> None:
    site = SyntheticSite(SiteSpec(pages=1200, words=10, sitemap="index", rates=Rates.uniform(1.0)))
    t = START + 5 * DAY
    index = site.respond("GET", "/sitemap.xml", (), t).body.decode()
    parts = re.findall(r"<loc>[^<]*(/sitemap-\d+\.xml)</loc>", index)
    assert len(parts) == 3
    found = {}  # type: ignore[var-annotated]
    for part in parts:
        text = site.respond("GET", part, (), t).body.decode()
        found |= dict(re.findall(r"<loc>[^<]*example([^<]*)</loc><lastmod>([^<]*)", text))
    assert set(found) == set(site.paths(t))
    assert site.expected(t) - site.expected(t, sitemaps=False) == set(parts)


@pytest.mark.parametrize(
    "wrong",
    [
        {"pages": 0},
        {"pages": 3, "hosts": 4},
        {"hosts": 0},
        {"links": 0},
        {"static": 1.5},
        {"chunked": -0.1},
        {"errors": (200,)},
        {"turnover": 0.0},
        {"asset_rate": -1.0},
        {"pages": 60_000},
    ],
)
def test_specs_that_make_no_sense_say_what_to_give_instead(
    wrong: dict[str, float | tuple[int]],
) -> None:
    with pytest.raises(UsageError, match="Give"):
        SiteSpec(**wrong)  # type: ignore[arg-type]


def test_questions_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="nothing at"):
        SyntheticSite(SiteSpec()).version("/no/such/page", START)
    with pytest.raises(UsageError, match="origins"):
        SyntheticSite(SiteSpec(hosts=2)).at(["http://only.example"])
    with pytest.raises(UsageError, match="can vanish"):
        SyntheticSite(SiteSpec(pages=10, vanishing=10))
    busy = SyntheticSite(SiteSpec(pages=1, rates=Rates.fixed(1e9)))
    with pytest.raises(UsageError, match="changes"):
        busy.version("/", START + DAY)


@pytest.mark.parametrize("module", ["asof.testing.spec", "asof.testing.simclock"])
def test_docstring_examples_hold(module: str) -> None:
    results = doctest.testmod(importlib.import_module(module))
    assert results.attempted
    assert not results.failed
