"""The instrument that judges verdicts (bench/truth.py) is right itself.

Histories are what they are made of, each kind of server does what its name says, what is called
false is false by the bytes, and honest servers bring about no false verdicts.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import pytest

from asof.archive import OpenArchive
from asof.clock import SECOND, Instant, parse_http_date
from asof.model import Grade
from asof.testing import START, Response
from support.changing_web import ChangingWeb, copy_of
from support.git_history import Repository, git_history, within
from support.history_site import ORIGIN, HistorySite
from support.late_answers import LateResponse
from support.page_history import (
    History,
    Version,
    built_before,
    coming_back,
    fitted,
    load_of,
    rolled_back,
    same_size_and_date,
    synthetic,
    without_returns,
)
from support.server_kinds import KINDS, Group, Scene
from support.truth import Judge, Outcome, Sayings, Trial, path_of, tried, words
from support.truth_table import Row, bar_lines, bars, by_kind, table

PAGES, LAP, LAPS = 16, 16.0, 9.0
ROOT = Path(__file__).parents[2]


@cache
def newspaper(family: str = "") -> History:
    return synthetic(3, PAGES, 1.0, 1.3 * LAPS, family)


@cache
def on_time() -> History:
    return fitted(newspaper(), load=1.0, lap=LAP, laps=LAPS)


def moments(history: History, count: int = 60) -> list[Instant]:
    return [history.begin + (history.end - history.begin) * k // count for k in range(count)]


# -- histories -------------------------------------------------------------------------------------


def by_hand(history: History, path: str, t: Instant) -> bytes | None:
    content = None
    for version in history.pages[path]:
        if version.at <= t:
            content = version.content
    return content


def test_what_stood_when_is_what_a_look_at_all_versions_gives() -> None:
    history = on_time()
    for path in history.pages:
        for t0, t1 in zip(moments(history), moments(history)[3:], strict=False):
            assert history.stands(path, t0) == by_hand(history, path, t0)
            stood = {by_hand(history, path, t) for t in (t0, t1)} | {
                version.content for version in history.pages[path] if t0 < version.at <= t1
            }
            assert set(history.between(path, t0, t1)) == stood


def test_the_newspaper_has_births_deaths_and_pages_at_rest() -> None:
    history = newspaper()
    first = [versions[0].content for versions in history.pages.values()]
    last = [versions[-1].content for versions in history.pages.values()]
    assert None in first
    assert None in last
    assert 0 in history.changes()
    assert all(a.content != b.content for v in history.pages.values() for a, b in pairwise(v))


@pytest.mark.parametrize("even", [False, True])
def test_an_average_page_changes_as_often_as_wanted(even: bool) -> None:
    history = fitted(newspaper(), load=1.0, lap=LAP, laps=LAPS, even=even)
    assert load_of(newspaper(), 1.0, LAPS) == 1.0
    laps = (history.end - history.begin) / SECOND / LAP
    capped = [min(often, 4 * LAPS) for often in newspaper().changes()]
    assert sum(capped) / len(history.pages) / laps == pytest.approx(1.0, abs=0.01)
    times = sorted({v.at for own in history.pages.values() for v in own})
    gaps = {later - sooner for sooner, later in pairwise(times[1:])}
    assert (max(gaps) - min(gaps) <= 1) == even


def test_a_history_with_few_changes_goes_on_for_as_long_as_it_has_to() -> None:
    few = newspaper().remade(lambda path, versions: versions[:2])
    history = fitted(few, load=1.0, lap=LAP, laps=LAPS)
    assert (history.end - history.begin) / SECOND == pytest.approx(LAPS * LAP)
    assert load_of(few, 1.0, LAPS) < 0.2


def test_files_that_were_built_before_they_appear_have_dates_in_order() -> None:
    for path, versions in built_before(on_time(), 5.0, 50.0).pages.items():
        dates = [version.dated for version in versions]
        assert dates == sorted(dates)
        assert all(v.dated <= v.at for v in versions)
        lags = [v.at - v.dated for v in versions[1:]]
        assert all(lag > 4 * SECOND for lag in lags if lag < 50 * SECOND), path


def test_what_is_rolled_back_has_its_older_date_and_nobody_sees_it_come_and_go() -> None:
    restored = 0
    for path, versions in rolled_back(on_time(), LAP).pages.items():
        original = on_time().pages[path]
        for old, new, back in zip(versions, versions[1:], versions[2:], strict=False):
            if back not in original:
                restored += 1
                assert (back.content, back.dated) == (old.content, old.dated)
                assert back.at - new.at >= 2.5 * LAP * SECOND
    assert restored > 3


def test_what_comes_back_has_the_date_of_that() -> None:
    returned = 0
    for path, versions in coming_back(on_time(), LAP).pages.items():
        for old, back in zip(versions, versions[2:], strict=False):
            if back not in on_time().pages[path]:
                returned += 1
                assert back.content == old.content
                assert back.dated == back.at
    assert returned > 10
    assert without_returns(coming_back(on_time(), LAP)) == without_returns(on_time())


def test_files_of_one_size_keep_their_dates_half_of_the_time() -> None:
    kept = changed = 0
    for versions in same_size_and_date(on_time()).pages.values():
        assert len({len(v.content) for v in versions if v.content is not None}) <= 1
        kept += sum(a.dated == b.dated for a, b in pairwise(versions))
        changed += len(versions) - 1
    assert 0.3 < kept / changed < 0.7


# -- histories in Git ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Thirty commits on a site below `out`: page k of six changes every k-th time, others rest."""
    folder = tmp_path_factory.mktemp("site")
    me = ("-c", "user.name=n", "-c", "user.email=e@example", "-c", "commit.gpgsign=false")

    def git(*command: str, at: int = 0) -> None:
        when = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"}
        subprocess.run(["git", *me, *command], cwd=folder, check=True, env=when, stdout=-3)

    git("init", "-q", "-b", "main")
    (folder / "out").mkdir()
    for page in range(12):
        (folder / "out" / f"{page}.html").write_text(f"<p>{page}", encoding="ascii")
    for number in range(30):
        for page in range(1, 7):
            if number % page == 0:
                text = f'<p>{number}<a href="{page + 1}.html">a</a><a href=/b.html>b</a>'
                (folder / "out" / f"{page}.html").write_text(text, encoding="ascii")
        (folder / "out" / "new.html").write_text(
            "<p>new", encoding="ascii"
        ) if number == 9 else None
        (folder / "out" / "0.html").unlink() if number == 19 else None
        (folder / "notes.html").write_text(str(number), encoding="ascii")
        git("add", "-A")
        git("commit", "-q", "-m", str(number), at=1_700_000_000 + 3600 * number**2)
    return Repository(folder, "main", "out")


@pytest.mark.needs("git")
def test_each_version_is_that_of_its_commit(repository: Repository) -> None:
    history = git_history(repository, pages=50, load=1.0, laps=1000.0, seed="1")
    assert set(history.pages) == {f"/{n}.html" for n in (*range(12), "new")}
    assert history.pages["/0.html"][-1].content is None
    assert history.pages["/new.html"][0].at > history.begin
    assert len(history.pages["/7.html"]) == 1
    for number, commit in enumerate(repository.commits()):
        at = (1_700_000_000 + 3600 * number**2) * SECOND
        for path in history.pages if number else ():
            shown = subprocess.run(
                ["git", "show", f"{commit}:out{path}"],
                cwd=repository.folder, capture_output=True, check=False,
            )  # fmt: skip
            found = None if shown.returncode else within(shown.stdout, path, history.pages.keys())
            assert history.stands(path, at) == found, (number, path)


@pytest.mark.needs("git")
def test_a_sample_has_pages_at_rest_in_their_proportion(repository: Repository) -> None:
    def sample(seed: str, still: float | None = None) -> History:
        return git_history(repository, pages=6, load=0.1, laps=1.0, seed=seed, still=still)

    assert [len(sample(str(k)).pages) for k in range(4)] == [6] * 4
    assert Counter(sample("1", 0.5).changes())[0] == 3
    assert 1 <= Counter(sample("1").changes())[0] <= 3
    assert sample("1") == sample("1")
    assert len({tuple(sample(str(k)).pages) for k in range(6)}) > 1


def test_links_that_lead_out_of_the_sample_lead_nowhere() -> None:
    page = b"""<base href="/x/"><link href='a.css'><a href="b.html#c">b</a><a HREF=/d/e.html>e</a>
    <img src="i.png" alt="href=b.html"><meta content="text/html"><p style="color: url(k.png)">"""
    calm = within(page, "/d/a.html", {"/d/b.html", "/d/e.html"})
    assert b'<a href="b.html#c">' in calm
    assert b"<a HREF=/d/e.html>" in calm
    assert b"<link x-href='a.css'>" in calm
    assert b'x-src="i.png"' in calm
    assert b'<meta content="text/html">' in calm
    assert b"<base" not in calm
    assert b"url(" not in calm


# -- servers ---------------------------------------------------------------------------------------


def site_of(name: str, history: History | None = None, run: int = 1) -> HistorySite:
    return HistorySite(history or on_time(), KINDS[name].build(Scene(LAP, run)))


def ask(site: HistorySite, path: str, t: Instant, **headers: str) -> Response:
    given = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return site.respond("GET", path, given, t)


def conditions(response: Response) -> dict[str, str]:
    names = {"ETag": "if_none_match", "Last-Modified": "if_modified_since"}
    found = {told: response.header(name) for name, told in names.items()}
    return {name: value for name, value in found.items() if value}


def asked_again(
    site: HistorySite, gap: int = 4
) -> Iterator[tuple[str, Instant, Instant, Response]]:
    """All pages at many moments, and again some time later by what the first answer told."""
    times = moments(site.history)
    for t0, t1 in zip(times, times[gap:], strict=False):
        for path in site.history.pages:
            first = ask(site, path, t0)
            if first.status == 200 and conditions(first):
                yield path, t0, t1, ask(site, path, t1, **conditions(first))


def false_304s(site: HistorySite) -> tuple[int, int]:
    """How many 304 answers were false, of how many that would have been."""
    false = wanted = 0
    for path, t0, t1, response in asked_again(site):
        stood = site.history.stands(path, t1)
        changed = stood not in (None, site.history.stands(path, t0))
        wanted += changed
        false += changed and response.status == 304
    return false, wanted


HONEST = [k.name for k in KINDS.values() if k.group is Group.HONEST and not k.takes]
PROMPT = [name for name in HONEST if name not in ("noise", "failing")]


@pytest.mark.parametrize("name", PROMPT)
def test_an_honest_server_says_what_stands(name: str) -> None:
    site = site_of(name)
    for t in moments(site.history, 20):
        for path in site.history.pages:
            response = ask(site, path, t)
            stood = site.history.stands(path, t)
            assert response.status == (404 if stood is None else 200)
            assert stood is None or response.content == stood
    assert ask(site, "/elsewhere", START).status == 404


@pytest.mark.parametrize("name", [name for name in PROMPT if name != "gzip-at-rest"])
def test_an_honest_server_says_304_to_what_is_unchanged_only(name: str) -> None:
    false, wanted = false_304s(site_of(name))
    assert not false
    assert wanted or name == "none"


def test_nginx_has_a_weak_tag_where_it_compresses_only() -> None:
    site = site_of("gzip")
    path = next(iter(site.history.pages))
    zipped = ask(site, path, START, accept_encoding="gzip")
    whole = ask(site, path, START, accept_encoding="identity")
    assert zipped.header("Content-Encoding") == "gzip"
    assert gzip.decompress(zipped.body) == whole.body
    assert whole.header("Content-Encoding") is None
    version = site.history.version(path, START)
    assert version is not None
    tag = f'"{version.dated // SECOND:x}-{len(whole.body):x}"'
    assert (zipped.header("ETag"), whole.header("ETag")) == (f"W/{tag}", tag)
    again = ask(site, path, START, accept_encoding="gzip", if_none_match=f"W/{tag}")
    assert (again.status, again.header("ETag")) == (304, tag)


def test_a_site_at_rest_does_not_change() -> None:
    site = site_of("gzip-at-rest")
    assert set(site.history.changes()) == {0}
    assert all(own[0].dated < site.history.begin for own in site.history.pages.values())


def test_a_clock_is_off_by_hours() -> None:
    for run, hours in ((1, 3), (2, -5)):
        site = site_of("skew", run=run)
        response = ask(site, "/", START)
        assert parse_http_date(response.header("Date") or "") == START + hours * 3600 * SECOND
        version = site.history.version("/", START)
        assert version is not None
        told = parse_http_date(response.header("Last-Modified") or "")
        assert told == version.dated // SECOND * SECOND + hours * 3600 * SECOND


def test_cookies_and_languages() -> None:
    site = site_of("cookies")
    baked = {ask(site, "/", START).header("Set-Cookie") for _ in range(3)}
    assert len(baked) == 3
    site = site_of("language")
    english, german = ask(site, "/", START), ask(site, "/", START, accept_language="de")
    assert english.header("Vary") == german.header("Vary") == "Accept-Language"
    assert english.body != german.body
    assert english.header("ETag") != german.header("ETag")
    assert ask(site, "/", START, accept_language="de", **conditions(german)).status == 304


def test_one_answer_in_twenty_fails() -> None:
    site = site_of("failing")
    found = [site.respond("GET", "/", (), t) for t in moments(site.history, 2000)]
    errors = sum(each.status == 503 for each in found)
    cuts = sum(isinstance(each, LateResponse) and each.cut for each in found)
    assert 0.02 < errors / 2000 < 0.04
    assert 0.01 < cuts / 2000 < 0.03


@pytest.mark.parametrize("name", ["slow-start", "slow-end"])
def test_a_slow_answer_says_what_is_there_at_its_start_or_at_its_end(name: str) -> None:
    site = site_of(name)
    differed = 0
    for t in moments(site.history):
        for path in site.history.pages:
            response = ask(site, path, t)
            assert isinstance(response, LateResponse)
            assert 3 <= response.seconds <= 20
            at = t + int(response.seconds * SECOND) if name == "slow-end" else t
            assert (response.content if response.status == 200 else None) == site.history.stands(
                path, at
            )
            differed += site.history.stands(path, t) != site.history.stands(path, at)
    assert bool(differed) == (name == "slow-end")


def test_noise_is_new_in_each_answer_and_can_be_taken_out() -> None:
    site = site_of("noise")
    found = [ask(site, "/", START).body for _ in range(5)]
    assert len(set(found)) == 5
    assert {site.server.plain(body) for body in found} == {site.history.stands("/", START)}
    assert not conditions(ask(site, "/", START))
    assert len({tuple(words(site.server.plain(body))) for body in found}) == 1


@pytest.mark.parametrize("name", [k.name for k in KINDS.values() if k.group is Group.FALSE])
def test_a_false_server_says_304_to_what_has_changed(name: str) -> None:
    shares = {"304-always": (1, 1), "304-tenth": (0.05, 0.15), "periodic": (0.1, 0.2)}
    low, high = shares.get(name, (0.1, 0.7))
    site = site_of(name)
    false, wanted = false_304s(site)
    assert low <= false / wanted <= high
    for path in site.history.pages:
        stood = site.history.stands(path, START)
        assert ask(site, path, START).status == (404 if stood is None else 200)


def test_a_sly_server_is_honest_where_an_audit_that_can_be_foreseen_looks() -> None:
    site = site_of("sly")
    paths = list(site.history.pages)
    lies = set()
    for t0, t1 in zip(moments(site.history), moments(site.history)[4:], strict=False):
        told = {path: conditions(ask(site, path, t0)) for path in paths}
        for place, path in enumerate(paths):
            stood = [site.history.stands(path, t) for t in (t0, t1)]
            response = ask(site, path, t1, **told[path])
            if stood[0] != stood[1] and response.status == 304:
                lies.add((path, place))
    assert lies
    assert all(crc32(f"{ORIGIN}{path}".encode()) % 10 for path, _ in lies)
    assert max(place for _, place in lies) < len(paths) / 2


def test_dates_that_lag_lie_before_the_content_appears() -> None:
    for name in ("lag", "lag-short"):
        site = site_of(name)
        versions = [v for own in site.history.pages.values() for v in own[1:] if v.content]
        early = [v for v in versions if v.dated < v.at - SECOND // 2]
        assert len(early) > 0.9 * len(versions)
        assert false_304s(site)[0] == 0


def test_after_a_roll_back_a_server_that_goes_by_dates_says_304_with_an_older_one() -> None:
    site, found = site_of("rollback-no-tag"), 0
    for path, t0, t1, response in asked_again(site, gap=10):
        told = parse_http_date(response.header("Last-Modified") or "")
        before = site.history.version(path, t0)
        changed = site.history.stands(path, t0) != site.history.stands(path, t1)
        if changed and response.status == 304:
            assert before is not None
            assert told is not None
            assert told < before.dated
            found += 1
    assert found
    assert false_304s(site_of("rollback")) == (0, false_304s(site_of("rollback"))[1])


def test_a_cache_says_how_old_it_is_and_is_stale() -> None:
    site = site_of("cache-long")
    stale = 0
    for t in moments(site.history)[15:]:
        for path in site.history.pages:
            response = ask(site, path, t)
            if response.status == 200:
                date = parse_http_date(response.header("Date") or "")
                assert date is not None
                age = int(response.header("Age") or "-1")
                assert 0 <= age <= 1.5 * LAP
                assert abs(date + age * SECOND - t) <= 2 * SECOND
                stood = site.history.between(path, date, min(t, date + SECOND))
                assert response.body in stood
                stale += response.body != site.history.stands(path, t)
    assert stale


def test_replicas_take_turns_and_lag() -> None:
    site = site_of("replicas-2")
    changes = [(p, v.at) for p, own in site.history.pages.items() for v in own[1:] if v.content]
    turned = 0
    for path, at in changes:
        bodies = {ask(site, path, at).body for _ in range(2)}
        turned += len(bodies) == 2
        assert ask(site, path, at).header("Age") is None
    assert turned > 0.9 * len(changes)


def test_a_content_that_comes_back_has_its_tag_again() -> None:
    site, found = site_of("aba"), 0
    for path, own in site.history.pages.items():
        for a, b, c in zip(own, own[1:], own[2:], strict=False):
            if a.content is not None and a.content == c.content:
                answers = [ask(site, path, version.at) for version in (a, b, c)]
                tags = [each.header("ETag") for each in answers]
                assert tags[0] == tags[2] != tags[1]
                assert conditions(answers[0]) != conditions(answers[2])
                found += 1
    assert found
    assert "if_modified_since" not in conditions(ask(site_of("aba-undated"), "/", START))
    assert not conditions(ask(site_of("aba-bare"), "/", START))


# -- the truth -------------------------------------------------------------------------------------

SMALL = Trial(training=2)


def test_a_verdict_is_false_if_its_copy_did_not_stand(tmp_path: Path) -> None:
    """By the bytes of the archive; on a prompt server that is by what stood when it was asked."""
    history = fitted(newspaper(), load=2.0, lap=LAP, laps=SMALL.laps)
    site = HistorySite(history, KINDS["304-always"].build(Scene(LAP)))
    web = ChangingWeb(site, tmp_path / "archive")
    web.train(1, 8.0)
    crawled = web.crawl(coherence="inducible", audit=False)
    reference = crawled.reference
    with OpenArchive.open(web.folder, clock=web.clock) as archive:
        judge = Judge(site, archive, crawled)
        first: dict[str, Instant] = {}  # nothing is ever downloaded twice from such a server
        for capture in sorted(crawled.gathered.everything, key=lambda each: each.at):
            if capture.status == 200:
                first.setdefault(capture.url, capture.at)
        saying = crawled.having(Grade.PROVEN, Grade.CONFIRMED)
        for page in saying:
            path = path_of(page.url)
            at = min(first[page.url], copy_of(page).at)
            assert judge.is_true(page, reference) == (
                by_hand(site.history, path, at) == by_hand(site.history, path, reference)
            )
        said = judge.sayings(crawled.having(Grade.CONFIRMED), reference)
        assert said.false > 3
        assert said.contradicted == 0
        assert judge.unchanged().false >= said.false
        for page in crawled.measurement.pages:
            # Either it was there at the visit already, or it never became known.
            same = by_hand(site.history, path_of(page.url), first[page.url])
            stood = by_hand(site.history, path_of(page.url), reference)
            assert judge.is_standing(page.url, reference) == (same == stood)


@pytest.mark.parametrize("name", ["strong", "gzip", "none", "slow-end", "failing", "two-speed"])
def test_an_honest_server_brings_about_no_false_verdict(tmp_path: Path, name: str) -> None:
    found = tried(KINDS[name], newspaper(KINDS[name].family), SMALL, tmp_path / "archive")
    assert found.pages >= PAGES - 2
    assert not [words for words in found.wrong if not words.startswith("equivalent")]
    assert found.unchanged.all
    assert found.unchanged.false == 0 or name == "slow-end"
    assert found.staying <= found.standing <= found.pages
    assert not found.caught
    if name == "none":  # bytes on both sides: C is what truly stayed
        assert found.coherent == found.staying


def test_a_plan_expects_the_errors_that_a_server_makes(tmp_path: Path) -> None:
    """One answer in twenty fails; in this short history one in ten."""
    sound, failing = (
        tried(KINDS[name], newspaper(), SMALL, tmp_path / name) for name in ("both", "failing")
    )
    assert sound.expected is not None
    assert failing.expected is not None
    assert 0.8 * sound.expected < failing.expected < 0.88 * sound.expected


def test_measurable_crawls_are_judged_as_well(tmp_path: Path) -> None:
    trial = replace(SMALL, mode="measurable")
    found = tried(KINDS["both"], newspaper(), trial, tmp_path / "archive")
    assert not found.twice
    assert found.coherent > 1
    assert not found.wrong


def test_the_same_trial_comes_out_the_same(tmp_path: Path) -> None:
    one, other = (
        tried(KINDS["304-tenth"], newspaper(), SMALL, tmp_path / name) for name in ("one", "other")
    )
    assert one == other


# -- the table -------------------------------------------------------------------------------------


def outcome(**told: object) -> Outcome:
    grades = dict.fromkeys(Grade, Sayings(10))
    plain = Outcome(40, grades, 30, 35, 36, 30, 0.75, False, 0, 80, 1000, Sayings(20), 1.0)
    return replace(plain, **told)  # type: ignore[arg-type]


def false(grade: Grade, all: int, wrong: int, shown: int = 0) -> dict[str, object]:
    return {"grades": {**dict.fromkeys(Grade, Sayings(10)), grade: Sayings(all, wrong, shown)}}


@pytest.mark.parametrize(
    ("kind", "told", "broken"),
    [
        ("strong", {}, []),
        ("strong", false(Grade.CLAIMED, 100, 1), ["claimed false: 0"]),
        ("strong", {"coherent": 26, "expected": 0.65}, ["C at least 0.9 of what can be shown"]),
        ("strong", {"expected": 0.82}, ["promised within 0.05"]),
        ("strong", {"twice": False}, []),
        ("both", {"twice": False}, ["C at least 0.9 of what can be shown"]),
        ("noise", {"coherent": 2, "expected": 0.05}, []),
        ("gzip-at-rest", {}, ["nginx with gzip at rest: C = 100 %"]),
        ("sly", {"caught": True}, []),
        ("sly", {}, []),
        ("sly", {"lied": 1}, ["caught in 29 of 30 runs with lies"]),
        ("304-tenth", {"caught": True} | false(Grade.CONFIRMED, 20, 1),
         ["confirmed false: under 1 % of pages"]),
        ("lag", false(Grade.CLAIMED, 200, 1), []),
        ("lag", false(Grade.CLAIMED, 50, 1), ["claimed false: under 1 %"]),
        ("lag", false(Grade.CONFIRMED, 200, 1), ["confirmed false: 0"]),
        ("cache", false(Grade.PROVEN, 200, 1), []),
        ("cache", false(Grade.PROVEN, 50, 1), ["proven false: under 1 %"]),
        ("aba", false(Grade.PROVEN, 50, 3), []),
        ("aba", false(Grade.PROVEN, 50, 3, 1), ["proven false though the archive shows it: 0"]),
    ],
)  # fmt: skip
def test_bars(kind: str, told: dict[str, object], broken: list[str]) -> None:
    row = Row(KINDS[kind], (outcome(**told),))
    assert [bar.name for bar in bars([row]) if not bar.met] == broken
    assert len(table([row])) == 2
    assert sum("NOT MET" in line for line in bar_lines(bars([row]))) == len(broken)


def test_rows_are_sums_over_runs() -> None:
    found = [
        (KINDS["both"], outcome()),
        (KINDS["sly"], outcome(caught=True)),
        (KINDS["both"], outcome()),
    ]
    both, sly = by_kind(found)
    assert (both.pages, both.sayings(Grade.PROVEN).all, both.c, both.c_same) == (80, 20, 0.75, 0.75)
    assert (sly.caught, both.caught) == (1, 0)


def test_the_command_prints_a_table_and_ends_with_1_where_a_bar_is_not_met() -> None:
    command = [sys.executable, "bench/truth.py", "--pages", "8", "--runs", "1", "--training", "1"]
    chosen = ["--kinds", "gzip-at-rest", "--json", "--check"]
    env = {"PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'src'}"}
    done = subprocess.run(
        [*command, *chosen],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    told = json.loads(done.stdout)
    assert done.returncode == (0 if all(bar["met"] for bar in told["bars"]) else 1)
    assert told["kinds"]["gzip-at-rest"]["c_true"] == 1.0
    assert "gzip-at-rest" in done.stderr


def test_versions_hold_from_their_moment_on() -> None:
    history = History({"/a": (Version(5, b"x", 5), Version(9, None, 9))}, 0, 20)
    assert [history.stands("/a", t) for t in (4, 5, 8, 9)] == [None, b"x", b"x", None]
