"""A report says what was measured, and nothing else: JSON, text, advice and the page."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.change.categories import Category
from asof.clock import DAY, SECOND, parse_moment
from asof.coherence.plan import Plan
from asof.coherence.quality_report import Report, WholeCoherence, cause, offenders
from asof.coherence.survival import Poisson
from asof.coherence.verdict import Best, Coverage, HostTrust, Measurement, Mode, PageVerdict, Reason
from asof.crawl.plan import HostPlan, Itinerary
from asof.frontier.completeness import Share
from asof.model import CoherencePlan, Crawl, CrawlState, Grade, Proof, Target
from asof.report import quality_words, words
from asof.report.plan_text import plan_json, plan_lines
from asof.report.quality_advice import advice, gains
from asof.report.quality_commands import crawl_of_part, diff, listing
from asof.report.quality_drawing import BINS, SINGLE_ROWS, TimeWindow, window_of
from asof.report.quality_json import report_json
from asof.report.quality_page import page
from asof.report.quality_text import report_text
from support import made_up_report
from support.made_up_report import SITE, made_up, verdict

T = made_up_report.START + 3600 * SECOND
EVIL = (
    "'\"><script>alert(1)</script><img src=x onerror=alert(1)>&lt;</style></title>\u202e\x1b[31m`"
)


def page_at(number: int, grade: Grade, **how: Any) -> PageVerdict:
    """A page seen `number` seconds before T and as long after it; not after if it is unknown."""
    after = None if grade is Grade.UNKNOWN else T + number * SECOND
    how.setdefault("number", number)
    url = how.pop("url", f"{SITE}/part/{number}")
    found: PageVerdict = verdict(url, grade, T - number * SECOND, how.pop("after", after), **how)
    return found


def report_of(*pages: PageVerdict, mode: Mode = Mode.INDUCIBLE, **rest: Any) -> Report:
    """A finished crawl that brought these pages."""
    hosts = {each.host: each for each in rest.pop("hosts", ())}
    coherence_plan = rest.pop(
        "coherence_plan", CoherencePlan("inducible", "auto", None, len(pages), None, T)
    )
    state = rest.pop("state", CrawlState.FINISHED)
    settings = rest.pop("settings", {"conditional": True})
    crawl = Crawl(
        "20260301115500-ab12",
        (f"{SITE}/",),
        made_up_report.START,
        state,
        T + DAY,
        settings,
        coherence_plan=coherence_plan,
    )
    return Report((crawl,), Measurement(mode, T, pages, hosts), **rest)


def proven(count: int, start: int = 0) -> list[PageVerdict]:
    return [page_at(n, Grade.PROVEN) for n in range(start, start + count)]


# -- causes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grade", "reason", "category", "name"),
    [
        (Grade.CHANGED, Reason.OTHER_CONTENT, "major", "major"),
        (Grade.CHANGED, Reason.OTHER_CONTENT, None, "other"),
        (Grade.CHANGED, Reason.OTHER_CONTENT, "unchanged", "other"),
        (Grade.CHANGED, Reason.REMOVED, None, "removed"),
        (Grade.CHANGED, Reason.APPEARED, None, "appeared"),
        (Grade.EQUIVALENT, Reason.WEAK_VALIDATOR, None, "weak-validator"),
        (Grade.EQUIVALENT, Reason.OTHER_CONTENT, "insignificant", "insignificant"),
        (Grade.EQUIVALENT, Reason.OTHER_CONTENT, None, "insignificant"),
        (Grade.UNKNOWN, Reason.NO_DATE, "minor", "no-date"),
    ],
)
def test_a_page_has_one_cause(
    grade: Grade, reason: Reason, category: str | None, name: str
) -> None:
    assert cause(page_at(1, grade, reason=reason, category=category)) == name


def test_every_cause_has_words() -> None:
    told = {(Grade.CHANGED, each.value) for each in Category if each is not Category.UNCHANGED}
    certain = {Reason.NONE, Reason.APPEARED, Reason.REMOVED, Reason.OTHER_CONTENT}
    told |= {
        (Grade.UNKNOWN, each.value) for each in set(Reason) - certain - {Reason.WEAK_VALIDATOR}
    }
    told |= {(Grade.CHANGED, "other"), (Grade.EQUIVALENT, "weak-validator")}
    assert told <= quality_words.CAUSES.keys()
    assert all(title and meaning.endswith(".") for title, meaning in quality_words.CAUSES.values())


def test_what_has_no_words_yet_is_still_named() -> None:
    assert quality_words.titled(Grade.CHANGED, "brand-new") == ("Brand new", "")
    assert quality_words.titled(Grade.UNKNOWN, "") == ("Unknown", "")


def test_the_gravest_come_first_and_in_a_group_the_longest_apart() -> None:
    groups = offenders(
        [
            page_at(1, Grade.EQUIVALENT, category="insignificant"),
            page_at(2, Grade.UNKNOWN, reason=Reason.NOT_SEEN_AGAIN),
            page_at(3, Grade.CHANGED, category="minor"),
            page_at(4, Grade.CHANGED, category="minor"),
            page_at(5, Grade.CHANGED, category="removed"),
            page_at(6, Grade.CHANGED, category="structure"),
            page_at(7, Grade.PROVEN),
        ]
    )
    names = [group.name for group in groups]
    assert names == ["removed", "structure", "minor", "not-seen-again", "insignificant"]
    assert [each.url[-1] for each in groups[2].pages] == ["4", "3"]


def test_each_page_that_is_not_coherent_is_in_one_group() -> None:
    report = made_up(400)
    listed = [each.url for group in offenders(report.measurement.pages) for each in group.pages]
    assert sorted(listed) == sorted(p.url for p in report.measurement.pages if not p.is_coherent)


# -- words -----------------------------------------------------------------------------------------


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_percent_never_flatters(share: tuple[int, int]) -> None:
    taken, found = share
    told = float(words.percent(taken / found).removesuffix(" %"))
    assert (told == 100.0) == (taken == found)
    assert taken * 1000 // found == round(told * 10)


def test_percent_of_nothing() -> None:
    assert words.percent(None) == "-"
    assert words.percent(float("nan")) == "-"


@pytest.mark.parametrize(
    ("length", "told"),
    [
        (0, "less than a second"),
        (SECOND, "1 second"),
        (90 * SECOND, "90 seconds"),
        (30 * 60 * SECOND, "30 minutes"),
        (28 * 3600 * SECOND, "28 hours"),
        (14 * DAY, "14 days"),
        (800 * DAY, "2 years"),
    ],
)
def test_spans(length: int, told: str) -> None:
    assert words.span(length) == told


@pytest.mark.parametrize("url", [f"{SITE}/a b'$(x)?`q`", f"{SITE}/plain", EVIL])
def test_the_diff_command_can_be_pasted(url: str) -> None:
    told = diff(page_at(30, Grade.CHANGED, url=url), " -a 'my archive'")
    assert told is not None
    name, verb, address, old, new, *place = shlex.split(told)
    assert (name, verb, address, place) == ("asof", "diff", url, ["-a", "my archive"])
    # A moment means the end of its second: it finds the one sight and not yet the other.
    assert T - 30 * SECOND <= parse_moment(old, 0) < T + 30 * SECOND <= parse_moment(new, 0)


def test_sights_in_one_second_are_told_apart() -> None:
    told = diff(verdict(f"{SITE}/", Grade.CHANGED, T + 1, T + 2))
    assert told is not None
    assert [parse_moment(text, 0) for text in told.split()[3:]] == [T + 1, T + 2]
    assert diff(page_at(1, Grade.UNKNOWN)) is None


@pytest.mark.parametrize(
    ("pages", "told"),
    [
        ([], "No page was captured that could be measured as of"),
        (proven(1), "The one page is known"),
        (proven(3), "All 3 pages are known"),
        (
            [*proven(1), page_at(5, Grade.CHANGED), page_at(6, Grade.UNKNOWN)],
            "Of 3 pages, 1 is known to stand in the archive as on 1 Mar 2026, 12:55:00 UTC. 1"
            " changed around that moment and of 1 it is not known.",
        ),
        (
            [*proven(1), page_at(5, Grade.EQUIVALENT)],
            "Of 2 pages, 1 is known to stand in the archive as on 1 Mar 2026, 12:55:00 UTC. 1"
            " differs at most in noise.",
        ),
        (
            [*proven(1), page_at(5, Grade.EQUIVALENT), page_at(6, Grade.EQUIVALENT)],
            "Of 3 pages, 1 is known to stand in the archive as on 1 Mar 2026, 12:55:00 UTC. 2"
            " differ at most in noise.",
        ),
    ],
)
def test_the_headline_says_it_plainly(pages: list[PageVerdict], told: str) -> None:
    assert quality_words.headline(report_of(*pages)).startswith(told)


# -- JSON ------------------------------------------------------------------------------------------


def test_the_json_has_stable_keys_and_only_values_of_json() -> None:
    report = replace(made_up(300), curve=(Coverage(T, 0.5, float("nan")),), observable=(T, T + 1))
    found = json.loads(json.dumps(report_json(report, most=5), allow_nan=False))
    assert list(found) == [
        "crawls", "part", "coherence", "plan", "best", "curve", "incoherent", "hosts", "advice",
    ]  # fmt: skip
    assert found["coherence"]["pages"] == sum(found["coherence"]["grades"].values()) == 300
    assert found["coherence"]["c"] == round(report.measurement.c or 0, 6)
    assert found["coherence"]["observable"]["since"] == "2026-03-01T12:55:00.000000Z"
    assert found["curve"] == [
        {"at": "2026-03-01T12:55:00.000000Z", "provable": 0.5, "expected": None}
    ]
    assert found["plan"]["measured"] == found["coherence"]["c"]
    assert all(len(group["pages"]) <= 5 for group in found["incoherent"])
    missed = 300 - found["coherence"]["coherent"]
    assert sum(group["count"] for group in found["incoherent"]) == missed
    assert found["advice"] == list(advice(report))


def test_some_pages_of_each_cause_are_listed() -> None:
    found: Any = report_json(made_up(300), most=1)
    assert all(len(group["pages"]) == 1 for group in found["incoherent"])


def test_json_of_nothing() -> None:
    found: Any = report_json(Report((), Measurement(Mode.OFF, T, ())))
    assert found["coherence"]["c"] is None
    assert found["plan"] is None
    assert found["best"] is None


# -- text ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 10, 3000])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_text_fits_and_is_short_for_any_size(count: int, width: int) -> None:
    lines = report_text(made_up(count), width)
    assert len(lines) < 150
    wide = [line for line in lines if len(line) > width and " asof " not in line]
    assert [line for line in wide if len(line.split()) > 3] == []
    assert lines[1] == "  https://www.example.org/"


def test_text_counts_what_it_does_not_list() -> None:
    report = report_of(*[page_at(n, Grade.CHANGED, category="major") for n in range(1, 12)])
    lines = report_text(report, 100)
    assert "  11  Major. Text changed in large sections, or other bytes." in lines
    assert "      ... and 8 more" in lines
    assert sum("asof diff " in line for line in lines) == 3


def test_nothing_in_the_text_acts_on_a_terminal() -> None:
    evil = report_of(
        page_at(1, Grade.CHANGED, url=SITE + EVIL),
        page_at(2, Grade.UNKNOWN, url=SITE + EVIL, reason=Reason.NO_DATE),
        hosts=[HostTrust(EVIL, 1, 3, 0, 2, 5 * 3600 * SECOND, False, False)],
        part=EVIL,
    )
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", "".join(report_text(evil, 80)))


def test_a_long_address_keeps_both_ends() -> None:
    url = f"{SITE}/{'x' * 300}/end漢字"
    lines = report_text(report_of(page_at(1, Grade.UNKNOWN, url=url)), 60)
    shown = next(line for line in lines if line.endswith("/end漢字"))
    assert shown.startswith("      https://www.example.org/x")
    assert "…" in shown


# -- advice ----------------------------------------------------------------------------------------

FAILED = [
    page_at(n, Grade.UNKNOWN, reason=Reason.FAILED_AGAIN, url=f"{SITE}/{n}") for n in range(1, 7)
]
ONCE = [page_at(n, Grade.UNKNOWN, reason=Reason.NOT_SEEN_AGAIN) for n in range(1, 7)]
NOISE = [page_at(n, Grade.EQUIVALENT, category="insignificant") for n in range(1, 7)]
CHANGED = [page_at(n, Grade.CHANGED, url=f"{SITE}/news/{n}") for n in range(100, 110)]
PLAN = CoherencePlan("inducible", "threshold", 0.9, 20, 0.6, T)
WEAK = [page_at(n, Grade.EQUIVALENT, reason=Reason.WEAK_VALIDATOR) for n in range(10)]
LIAR = HostTrust("liar.example", 0, 0, 5, 2, 0, False, False)
LATE = HostTrust("late.example", 0, 0, 0, 0, 7200 * SECOND, False, True)
CONFIRMED = [page_at(n, Grade.CONFIRMED, proof=Proof.NOT_MODIFIED) for n in range(1, 7)]
RULES = [
    (report_of(), "Nothing was captured that could be measured"),
    (
        report_of(*ONCE, coherence_plan=None),
        "Coherence was not sought: most pages were seen once, which",
    ),
    (
        report_of(*ONCE, coherence_plan=CoherencePlan("off", "")),
        "Coherence was not sought: most pages",
    ),
    (
        report_of(*proven(1), *CHANGED, coherence_plan=None, mode=Mode.OFF),
        "Coherence was not sought: the pages were not visited before and after one moment.",
    ),
    (
        report_of(*ONCE, state=CrawlState.RUNNING),
        "The crawl still runs. Look again when its revisits",
    ),
    (
        report_of(*ONCE, coherence_plan=replace(PLAN, turn=None), state=CrawlState.INTERRUPTED),
        "The crawl was interrupted before its turning point was reached. Let it go on first: `asof",
    ),
    (
        report_of(*ONCE, state=CrawlState.INTERRUPTED),
        "The crawl was interrupted before its revisits were done. Let it go on first: `asof",
    ),
    (
        report_of(*ONCE, coherence_plan=None, state=CrawlState.INTERRUPTED),
        f"The crawl was interrupted before it was complete. Let it go on first: `asof crawl {SITE}",
    ),
    (
        report_of(*ONCE, coherence_plan=replace(PLAN, turn=None)),
        "The crawl ended before its turning point, so that no page was looked at again.",
    ),
    (
        report_of(*proven(10), *CHANGED, coherence_plan=PLAN),
        "The plan threshold expected 90.0 %, 50.0 % came of it: the site changes faster",
    ),
    (
        report_of(*proven(10), *FAILED, *ONCE, coherence_plan=PLAN),
        "The plan threshold expected 90.0 %, 45.4 % came of it: not since more has changed",
    ),
    (
        report_of(*proven(40), coherence_plan=replace(PLAN, expected=0.5)),
        "The plan threshold expected 50.0 %, 100.0 % came of it: the site changes more slowly",
    ),
    (report_of(*proven(50), coherence_plan=PLAN), "The plan knew 20 of 50 pages"),
    (
        report_of(*proven(10), *ONCE),
        "6 pages were not seen after the moment. Crawled again soon and measured together, about 6",
    ),
    (
        report_of(*proven(20, start=1), *CHANGED, *proven(10, start=120)),
        "Pages seen up to 3 minutes apart are coherent to 100.0 %, those seen further apart",
    ),
    (
        report_of(*proven(5), *CHANGED),
        f"Most pages changed around the moment under {SITE}/news/ (10 of 10).",
    ),
    (
        report_of(*proven(5), *NOISE),
        "6 pages differ only in noise: dates, clocks, counters, ads an",
    ),
    (report_of(*proven(5), NOISE[0]), "1 page differs only in noise"),
    (report_of(*NOISE), "no order of visits helps there."),
    (report_of(*FAILED), "www.example.org failed 6 times when asked again."),
    (report_of(*proven(2), hosts=[LIAR]), "liar.example was caught with 2 false confirmations"),
    (
        report_of(*proven(10), *WEAK, coherence_plan=PLAN),
        "not since more has changed, but since the evidence of 10 pages is weak or missing",
    ),
    (
        report_of(*[page_at(1, Grade.UNKNOWN, reason=Reason.NO_DATE)], mode=Mode.MEASURABLE),
        "Of 1 page the date is missing or cannot be trusted.",
    ),
    (
        report_of(page_at(1, Grade.UNKNOWN, reason=Reason.UNPROVED_DATES), mode=Mode.MEASURABLE),
        "Of 1 page the date is missing or cannot be trusted. Visiting",
    ),
    (
        report_of(page_at(1, Grade.UNKNOWN, reason=Reason.UNTRUSTED_DATES)),
        "Of 1 page the server only said that nothing had changed, and it is not believed.",
    ),
    (report_of(*proven(2), hosts=[LATE]), "The clock of late.example is 2 hours ahead."),
    (
        report_of(*proven(1), *ONCE, best=Best(T + DAY, T + DAY, 5)),
        "4 more pages are proven as of 2 Mar 2026, 12:55:00 UTC than at the moment",
    ),
    (report_of(*proven(2), vertical=Share(5, 2)), "Found and not taken: 3 URLs."),
    (report_of(*CONFIRMED), "Nothing to improve: every page is coherent"),
    (
        report_of(*CONFIRMED, *CHANGED[:4]),
        "4 pages changed around the moment, here and there. The next plan knows which",
    ),
]


@pytest.mark.parametrize(("report", "told"), RULES, ids=[told[:40] for _, told in RULES])
def test_advice_names_cause_and_remedy(report: Report, told: str) -> None:
    assert any(told in sentence for sentence in advice(report)), advice(report)


@pytest.mark.parametrize("told", [told for _, told in RULES], ids=[told[:40] for _, told in RULES])
def test_no_advice_without_its_cause(told: str) -> None:
    report = report_of(*CONFIRMED)
    assert (told in advice(report)[0]) == told.startswith("Nothing to improve")


def test_every_sentence_of_advice_is_said_by_a_rule() -> None:
    folder = Path(quality_words.__file__).parent
    told = tomllib.loads((folder / "quality_words.toml").read_text(encoding="utf-8"))["advice"]
    rules = (folder / "quality_advice.py").read_text(encoding="utf-8")
    assert [name for name in told if f'"{name}"' not in rules] == []
    assert not any(sentence.endswith(".") for sentence in told.values())


def test_a_plan_that_missed_by_chance_only_gets_no_blame() -> None:
    pages = [*proven(4), page_at(9, Grade.CHANGED)]  # 80 % of five pages: one more or less is luck
    assert not any("came of it" in told for told in advice(report_of(*pages, coherence_plan=PLAN)))


def test_a_command_stands_last_and_is_one_that_exists() -> None:
    said = [told for report, _ in RULES for told in advice(report) if "`" in told]
    assert len(said) > 10
    for told in said:
        assert re.search(
            r": `asof crawl \S+( --scope path)? --coherence inducible"
            r"( --(delay S|no-conditional))?`$|first: `asof crawl \S+`$",
            told,
        ), told


def test_nothing_is_praised_that_has_faults() -> None:
    """At 87.8 % no rule has a cause to name; that is no reason to say that all is well."""
    odd = [page_at(n, Grade.UNKNOWN, reason=Reason.TRUNCATED, after=T + n) for n in range(1, 3)]
    report = report_of(*CONFIRMED, *proven(9, start=20), *odd, coherence_plan=PLAN)
    assert advice(report) == ()
    assert "What would help" not in report_text(report)
    assert "What would help" not in read(page(report)).text
    for count in range(5):
        told = advice(report_of(*CONFIRMED, *CHANGED[:count]))
        assert any("Nothing to improve" in each for each in told) == (not count)


def test_pages_downloaded_twice_are_not_said_to_be_seen_once() -> None:
    twice = [replace(each, since=each.since - DAY) for each in ONCE]
    for pages in (twice, [*CHANGED, *ONCE]):
        told = advice(report_of(*pages, coherence_plan=None, mode=Mode.OFF))
        assert "seen once" not in told[0]


@pytest.mark.parametrize("state", [CrawlState.INTERRUPTED, CrawlState.RUNNING])
@pytest.mark.parametrize("coherence_plan", [None, PLAN, replace(PLAN, turn=None)])
def test_a_crawl_that_can_go_on_is_not_begun_anew(
    state: CrawlState, coherence_plan: CoherencePlan | None
) -> None:
    report = report_of(
        *proven(10), *ONCE, *CHANGED, *FAILED, state=state, coherence_plan=coherence_plan
    )
    told = advice(report)
    assert [each for each in told[1:] if "`" in each] == []
    assert told[0].endswith(f"first: `asof crawl {SITE}/`") == (state is CrawlState.INTERRUPTED)


def test_a_part_is_crawled_within_its_scope_and_from_a_page_that_is_there() -> None:
    index = page_at(3, Grade.CHANGED, url=f"{SITE}/news/")
    with_index = advice(report_of(*proven(5), *CHANGED, index))
    command = f"asof crawl {SITE}/news/ --scope path --coherence inducible"
    assert any(each.endswith(f": `{command}`") for each in with_index)
    without = [each for each in advice(report_of(*proven(5), *CHANGED)) if "such a part" in each]
    assert [each[-13:] for each in without] == ["less changes."]
    assert crawl_of_part(report_of(*proven(1)), f"{SITE}/part/") is None
    whole = report_of(page_at(1, Grade.PROVEN, url=f"{SITE}/"))
    assert crawl_of_part(whole, f"{SITE}/") == f"asof crawl {SITE}/ --coherence inducible"


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (
            report_of(*ONCE, part=f"{SITE}/part/"),
            f"{SITE}/part/ --scope path --coherence inducible",
        ),
        (report_of(*ONCE, part=f"{SITE}/"), f"{SITE}/ --coherence inducible"),
        (report_of(*ONCE, part="org,example)/a"), f"{SITE}/ --coherence inducible"),
        (
            report_of(*ONCE, settings={"scope": "path"}),
            f"{SITE}/ --scope path --coherence inducible",
        ),
        (report_of(*ONCE, settings={"scope": "host"}), f"{SITE}/ --coherence inducible"),
    ],
)
def test_another_crawl_has_the_scope_of_this_one(report: Report, told: str) -> None:
    said = advice(replace(report, crawls=(replace(report.crawls[0], coherence_plan=None),)))
    assert said[0].endswith(f"`asof crawl {told}`")


def test_every_command_finds_the_archive() -> None:
    place = " -a '/srv/my archive'"
    commands = []
    for report, _ in RULES:
        here = replace(report, place=place)
        lines = [
            line for line in report_text(here) if re.search(r" asof (crawl|diff|quality) ", line)
        ]
        assert all(line.endswith(place) for line in lines), lines
        shown = re.findall(r"<code>(asof .*?)</code>", page(here))
        assert all("/srv/my archive" in each for each in shown), shown
        commands += [shlex.split(line)[:2] for line in lines]
    assert {"crawl", "diff"} <= {name for _, name in commands}
    assert listing(here) == f"asof quality 20260301115500-ab12 --json{place}"
    part = replace(here, part="org,example)/a")
    assert listing(part) == f"asof quality --url 'org,example)/a' --json{place}"


# -- before the turning point ----------------------------------------------------------------------


@pytest.mark.parametrize("state", [CrawlState.INTERRUPTED, CrawlState.RUNNING])
def test_before_the_turning_point_nothing_is_measured(state: CrawlState) -> None:
    coherence_plan = replace(PLAN, turn=None)
    report = report_of(
        *proven(1), *ONCE, *CHANGED, state=state, coherence_plan=coherence_plan, mode=Mode.OFF,
        vertical=Share(40, 17), best=Best(T, T, 1),
    )  # fmt: skip
    text = "\n".join(report_text(report, 120))
    shown = read(page(report)).text
    shown = shown[shown.index("Quality of a crawl") :]
    for told in (text, shown):
        assert "Not measured yet: the visits are not finished" in told
        assert "17 pages were visited so far." in " ".join(told.split())
        assert "5.8 %" not in told
        assert "unknown" not in told
        assert "Not coherent" not in told
        assert "17 taken of 40 URLs found" in told
    found: Any = report_json(report)
    assert (found["coherence"]["measured"], found["coherence"]["c"]) == (False, round(1 / 17, 6))


def test_what_can_be_measured_is() -> None:
    coherence_plan = replace(PLAN, turn=None)
    early = report_of(*ONCE, state=CrawlState.INTERRUPTED, coherence_plan=coherence_plan)
    assert not early.is_measured
    assert replace(early, part=f"{SITE}/").is_measured
    assert replace(early, crawls=early.crawls * 2).is_measured
    assert report_of(*ONCE, state=CrawlState.INTERRUPTED, coherence_plan=PLAN).is_measured
    assert report_of(*ONCE, state=CrawlState.INTERRUPTED, coherence_plan=None).is_measured
    assert report_of(*ONCE, coherence_plan=coherence_plan).is_measured
    assert report_json(report_of(*ONCE))["coherence"]["measured"] is True  # type: ignore[index]


def test_asking_again_gains_most_where_neighbours_stayed() -> None:
    def waits(number: int, part: str) -> PageVerdict:
        url = f"{SITE}/{part}/{number}"
        return page_at(number, Grade.UNKNOWN, url=url, reason=Reason.NOT_SEEN_AGAIN)

    def seen(number: int, part: str, grade: Grade) -> PageVerdict:
        return page_at(number, grade, url=f"{SITE}/{part}/{number}")

    calm = [seen(n, "calm", Grade.PROVEN) for n in range(50)]
    wild = [seen(n, "wild", Grade.CHANGED) for n in range(50)]
    waiting = [waits(n, "calm") for n in range(50, 60)] + [waits(n, "wild") for n in range(50, 62)]
    found = gains((*calm, *wild, *waiting))
    assert [(gain.prefix, gain.pages) for gain in found] == [
        (f"{SITE}/calm/", 10),
        (f"{SITE}/wild/", 12),
    ]
    assert 9.5 < found[0].expected < 10
    assert 0 < found[1].expected < 0.5


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_gains_never_promise_more_than_waits(stayed: int, changed: int, waiting: int) -> None:
    pages = [page_at(n, Grade.PROVEN) for n in range(stayed)]
    pages += [page_at(n, Grade.CHANGED) for n in range(changed)]
    pages += [page_at(n, Grade.UNKNOWN, reason=Reason.FAILED_AGAIN) for n in range(waiting)]
    assert sum(gain.pages for gain in gains(tuple(pages))) == waiting
    assert all(0 < gain.expected < gain.pages for gain in gains(tuple(pages)))


# -- the page --------------------------------------------------------------------------------------

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Strict(HTMLParser):
    """Reads a page and minds every tag that is not closed, or closed without being open."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), attrs
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(text: str) -> Strict:
    parser = Strict()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser


def rects(told: Strict, kind: str) -> list[dict[str, str | None]]:
    return [attrs for _, attrs in told.tags if kind in (attrs.get("class") or "").split()]


@pytest.mark.parametrize("count", [0, 1, 2, 10, 60, 61, SINGLE_ROWS, SINGLE_ROWS + 1, 5000])
def test_the_page_is_well_formed_for_any_size(count: int) -> None:
    told = read(page(made_up(count)))
    rows = len(rects(told, "hit"))
    assert rows == count if count <= SINGLE_ROWS else BINS / 2 < rows <= BINS
    assert words.percent(made_up(count).measurement.c) in told.text
    assert len(rects(told, "labels")) == (0 < count <= 60)


def test_fifty_thousand_pages_are_a_small_file() -> None:
    text = page(made_up(50_000))
    assert len(text.encode()) < 1_000_000
    assert "Each row stands for 313 pages" in text


def test_one_page_more_costs_no_more_than_a_row() -> None:
    assert page(made_up(200)) == page(made_up(200))
    assert len(page(made_up(5000))) < 2 * len(page(made_up(2000)))


def test_the_page_needs_nothing_and_runs_nothing() -> None:
    told = read(page(made_up(100)))
    names = {tag for tag, _ in told.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "base", "use"}
    assert not any(
        name in ("src", "href", "xlink:href") or name.startswith("on")
        for _, attrs in told.tags
        for name in attrs
    )
    policies = [attrs for tag, attrs in told.tags if tag == "meta" and "http-equiv" in attrs]
    assert [each["content"] for each in policies] == [
        "default-src 'none'; style-src 'unsafe-inline'"
    ]
    assert "url(" not in page(made_up(100))
    assert "@import" not in page(made_up(100))


@pytest.mark.parametrize("where", ["url", "host", "part", "seed", "plan", "category", "id"])
def test_what_strangers_wrote_is_only_text(where: str) -> None:
    def put(name: str, plain: str) -> str:
        return plain + EVIL if where == name else plain

    pages = [
        page_at(n, grade, url=put("url", f"{SITE}/{n}"), category=put("category", "major"))
        for n, grade in enumerate(Grade)
    ]
    host = HostTrust(put("host", "host.example"), 1, 3, 0, 2, 5 * 3600 * SECOND, False, False)
    report = report_of(*pages, hosts=[host], part=put("part", ""))
    crawl = replace(
        report.crawls[0],
        id=put("id", "1"),
        seeds=(put("seed", SITE),),
        coherence_plan=CoherencePlan("inducible", put("plan", "auto"), 0.95, 3, None, T),
    )
    told = read(page(replace(report, crawls=(crawl,))))
    assert "script" not in {tag for tag, _ in told.tags}
    assert not any(name.startswith("on") for _, attrs in told.tags for name in attrs)
    shown = told.text + "".join(str(value) for _, attrs in told.tags for value in attrs.values())
    assert "<script>alert(1)</script>" in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", told.text)


def test_changed_pages_have_their_difference() -> None:
    report = report_of(page_at(3, Grade.CHANGED, category="minor"), page_at(4, Grade.PROVEN))
    told = read(page(report))
    assert f"asof diff {SITE}/part/3 20260301125457 20260301125503" in told.text


def test_long_lists_are_folded_and_counted() -> None:
    few = [page_at(n, Grade.CHANGED, category="removed") for n in range(1, 4)]
    many = [page_at(n, Grade.CHANGED, category="minor") for n in range(1, 251)]
    told = read(page(report_of(*few, *many)))
    folds = [attrs for tag, attrs in told.tags if tag == "details"]
    assert ["open" in attrs for attrs in folds] == [True, False]
    assert "and 150 more pages" in told.text
    assert "asof quality 20260301115500-ab12 --json lists every one" in told.text
    assert len(re.findall(r"asof diff ", told.text)) == 103


# -- the pictures ----------------------------------------------------------------------------------


def test_bars_dots_and_line_stand_where_they_belong() -> None:
    told = read(page(report_of(page_at(0, Grade.PROVEN), page_at(50, Grade.PROVEN))))
    window = window_of(report_of(page_at(0, Grade.PROVEN), page_at(50, Grade.PROVEN)))
    assert (window.start, window.end) == (T - 52 * SECOND, T + 52 * SECOND)
    wide, joker = (a for a in rects(told, "proven") if "x" in a)  # the first visited on top
    assert (wide["x"], wide["width"]) == ("19.2", "961.5")
    assert (joker["x"], joker["width"]) == ("500.0", "1.0")
    assert [a["x1"] for a in rects(told, "mark") if a["y2"] == "40"] == ["500.0"]
    # Both are visited; the joker, last visited and first revisited, has one dot.
    assert rects(told, "visit")[0]["d"] == "M19.2 10h0M500.0 30h0"
    assert rects(told, "again")[0]["d"] == "M980.8 10h0"


def test_a_changed_page_shows_doubt_and_no_bar() -> None:
    told = read(page(report_of(page_at(10, Grade.CHANGED), page_at(20, Grade.UNKNOWN))))
    assert [a["class"] for a in rects(told, "doubt")] == ["doubt unknown", "doubt changed"]
    assert len(rects(told, "other")[0]["d"].split("M")) == 2
    assert not [a for a in rects(told, "changed") if "width" in a]


def test_sights_of_other_crawls_do_not_squeeze_the_picture() -> None:
    old = verdict(f"{SITE}/old", Grade.PROVEN, T - 900 * DAY, T + 900 * DAY)
    report = report_of(old, page_at(60, Grade.PROVEN))
    window = window_of(report)
    assert window.end - window.start < 200 * SECOND
    assert window.x(old.since) == 0
    assert window.x(old.until) == 1000
    read(page(report))


@given(st.integers(-(10**17), 10**17), st.integers(0, 10**15), st.integers(-(10**17), 10**17))
def test_a_moment_never_leaves_its_window(start: int, length: int, at: int) -> None:
    window = TimeWindow(start, start + length)
    assert 0 <= window.x(at) <= 1000


def test_densities_tell_how_many_are_known() -> None:
    pages = [page_at(n, Grade.PROVEN if n % 2 else Grade.CHANGED) for n in range(1, 401)]
    told = read(page(report_of(*pages)))
    # Rows of three have one or two that are known; one of the two levels each.
    assert {a["fill-opacity"] for a in rects(told, "shade")} <= {"0.35", "0.7", "1"}
    assert len(rects(told, "shade")) > 1


def test_the_curve_rises_in_steps_and_never_leaves_the_picture() -> None:
    curve = tuple(Coverage(T + n * SECOND, n % 3 / 2, 1.0) for n in range(5000))
    told = read(page(replace(report_of(*proven(3)), curve=curve)))
    (line,) = (attrs for attrs in rects(told, "line") if "d" in attrs)
    xs, ys = (
        [float(n) for n in re.findall(pattern, line["d"] or "")]
        for pattern in (r"H([\d.]+)", r"V([\d.]+)")
    )
    assert xs == sorted(xs)
    assert len(xs) <= 1201
    assert set(ys) <= {0.0, 50.0, 100.0}
    assert (min(ys), max(ys)) == (0.0, 100.0)  # thinning flatters nobody: peaks stay, and valleys
    assert rects(told, "expected")


@pytest.mark.parametrize(
    "curve", [(), (Coverage(T, 0.5, 0.5),), (Coverage(T, 0.2, float("nan")),) * 2]
)
def test_odd_curves(curve: tuple[Coverage, ...]) -> None:
    told = read(page(replace(report_of(*proven(3)), curve=curve)))
    assert len([attrs for attrs in rects(told, "line") if "d" in attrs]) == bool(curve)
    assert "nan" not in told.text


@pytest.mark.parametrize("span", [1, SECOND, 90 * SECOND, 3600 * SECOND, 40 * DAY, 9000 * DAY])
def test_the_axis_has_a_few_round_moments(span: int) -> None:
    curve = (Coverage(T, 0.1, 0.1), Coverage(T + span, 0.2, 0.2))
    told = read(page(Report((), Measurement(Mode.OFF, T, ()), curve=curve)))
    assert 2 <= len(rects(told, "tick")) <= 7


def test_moments_within_a_second_are_told_apart() -> None:
    curve = (Coverage(T, 0.1, 0.1), Coverage(T + SECOND, 0.2, 0.2))
    told = read(page(Report((), Measurement(Mode.OFF, T, ()), curve=curve)))
    assert "12:55:00.2" in told.text
    assert "12:55:00.8" in told.text


@pytest.mark.parametrize(
    ("whole", "told"),
    [
        (
            WholeCoherence("coherent", (T, T)),
            "Yes: all pages are known to hold together, 1 Mar 2026, 12:55:00",
        ),
        (WholeCoherence("coherent"), "Yes: all pages are known to hold together."),
        (WholeCoherence("incoherent"), "No: there is no moment at which all stored pages"),
        (
            WholeCoherence(),
            "Not known: what was seen proves no moment for all pages, and rules none out. C counts"
            " more: dates that are trusted, and what other crawls have seen.",
        ),
    ],
)
def test_definition_3_1_has_three_answers(whole: WholeCoherence, told: str) -> None:
    report = replace(report_of(*proven(2)), whole=whole)
    assert told in read(page(report)).text
    assert told in " ".join(" ".join(report_text(report, 200)).split())


def test_below_a_whole_c_needs_no_excuse() -> None:
    told = quality_words.whole_sentence(report_of(*proven(2), *ONCE))
    assert told == "Not known: what was seen proves no moment for all pages, and rules none out."


@pytest.mark.parametrize(
    ("trusted", "stretch", "answer", "told"),
    [
        ([], None, None, "Not known: the dates of this host are not trusted (yet)."),
        ([False], None, None, "Not known: the dates of this host are not trusted (yet)."),
        ([True, False], None, None, "Not known: the dates of 1 of 2 hosts are not trusted (yet)."),
        ([True, True], None, False, "No: no moment lies between the Last-Modified and the downlo"),
        ([True], (T, T), True, "Yes, by the servers' own dates: 1 Mar 2026, 12:55:00 UTC."),
        ([False], (T, T), True, "Yes: 1 Mar 2026, 12:55:00 UTC."),
    ],
)
def test_definition_3_2_has_three_answers(
    trusted: list[bool], stretch: tuple[int, int] | None, answer: bool | None, told: str
) -> None:
    hosts = [HostTrust(f"{n}.example", trusts_dates=each) for n, each in enumerate(trusted)]
    report = report_of(*proven(2), hosts=hosts, observable=stretch)
    assert quality_words.observable_sentence(report).startswith(told)
    assert report_json(report)["coherence"]["is_observable"] is answer  # type: ignore[index]
    assert told in read(page(report)).text


def test_errors_are_told_where_they_were_counted() -> None:
    report = report_of(*proven(138), vertical=Share(1795, 1754), errors=41)
    text = " ".join(" ".join(report_text(report, 200)).split())
    assert "errors 41 of 1,754 taken URLs answered with an error (404 and the like); C does" in text
    assert (
        "1,754 taken of 1,795 URLs found; 41 with an error (404 and the like), not in C"
        in read(page(report)).text
    )
    assert report_json(report)["coherence"]["errors"] == 41  # type: ignore[index]
    for errors in (None, 0):
        none = replace(report, errors=errors)
        assert "with an error" not in "".join(report_text(none, 200))
        assert "404 and the like" not in page(none)


def test_the_picture_says_what_its_bars_are() -> None:
    told = read(page(report_of(*proven(2), *CHANGED))).text
    assert "the time over which a page is known to have been what it was at the moment" in told
    assert "counts if its bar" not in told
    many = read(page(made_up(SINGLE_ROWS + 1))).text
    assert "known to have been at that time what they were at the moment of reference" in many


def test_dates_that_were_wrong_are_not_those_that_were_never_checked() -> None:
    wrong, unproved = (
        quality_words.titled(Grade.UNKNOWN, reason.value)
        for reason in (Reason.UNTRUSTED_DATES, Reason.UNPROVED_DATES)
    )
    assert wrong != unproved
    assert "wrong" in wrong[1]
    assert "never found wrong" in unproved[1]


def test_the_docs_have_every_reason_in_the_same_words() -> None:
    text = (Path(__file__).parents[2] / "docs" / "coherence.md").read_text(encoding="utf-8")
    for reason in set(Reason) - {Reason.NONE}:
        row = next(row for row in text.splitlines() if row.startswith(f"| `{reason.value}` |"))
        told = [
            meaning
            for (_, name), (_, meaning) in quality_words.CAUSES.items()
            if name == reason.value
        ]
        assert all(meaning.rstrip(".") in row for meaning in told[:1]), (reason, told, row)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("state", CrawlState)
def test_every_mode_and_state_has_a_page(mode: Mode, state: CrawlState) -> None:
    report = report_of(*ONCE, mode=mode, state=state, coherence_plan=None)
    crawl = replace(report.crawls[0], ended=None)
    told = read(page(replace(report, crawls=(crawl, crawl))))
    assert quality_words.method(mode) in told.text
    assert report_text(replace(report, crawls=(crawl, crawl)), 80)


def test_an_outcome_is_held_against_the_plan_only_where_both_speak_of_the_same() -> None:
    report = report_of(*proven(4), coherence_plan=PLAN)
    assert report.planned == PLAN
    asked = replace(report, measurement=replace(report.measurement, mode=Mode.OFF))
    part = replace(report, part=f"{SITE}/part/")
    both = replace(report, crawls=report.crawls * 2)
    for other in (asked, part, both):
        assert other.coherence_plan == PLAN
        assert other.planned is None
        assert "Plan and outcome" not in page(other)
        assert report_json(other)["plan"] is None


def test_the_moment_is_named_for_what_it_is() -> None:
    report = report_of(*proven(2), mode=Mode.OFF)
    assert quality_words.reference_name(report) == "a moment that was chosen afterwards"
    best = replace(report, best=Best(T - 1, T + 1, 2))
    assert quality_words.reference_name(best) == "the moment at which most pages hold together"


def test_intervals_that_nobody_believes_are_not_sold_as_coherence() -> None:
    doubted = replace(page_at(5, Grade.UNKNOWN), reason=Reason.UNTRUSTED_DATES)
    report = report_of(*proven(1), doubted, best=Best(T - 1, T + 1, 2))
    assert quality_words.best_sentence(report).endswith(
        "100.0 %, if every confirmation is believed)"
    )
    plain = report_of(*proven(2), best=Best(T - 1, T + 1, 2))
    assert quality_words.best_sentence(plain).endswith("(2 of 2 pages, 100.0 %)")


# -- the plan before a crawl -----------------------------------------------------------------------


def itinerary(slots: list[float], step: float, dead: int = 0) -> Itinerary:
    urls = [f"http://a.example/{n}" for n in range(len(slots))]
    plan = Plan("auto", np.arange(len(slots)), np.array(slots), 1.0)
    rates = Poisson(np.full(len(slots), 1e-6))
    host = HostPlan("a.example", tuple(map(Target, urls)), rates, step, plan)
    gone = tuple(Target(f"http://a.example/gone/{n}") for n in range(dead))
    names = {"threshold": 0.5, "auto": 1.0}
    return Itinerary(CoherencePlan("inducible", "auto", 1.0, len(slots)), (host,), names, gone)


def plan_text(shown: Itinerary) -> str:
    return "\n".join(plan_lines(shown))


def test_a_plan_speaks_of_nothing_internal() -> None:
    told = plan_text(itinerary([0.0, 2.0], 1.0))
    assert "Spaniol et al. 2009, Figures 7 and 8" in told
    assert "seed 0" not in told


def test_short_slots_are_told_apart() -> None:
    told = plan_text(itinerary([0.0, 0.2, 0.4, 61.0, float("inf")], 0.1))
    shown = re.findall(r"^ +(\S+(?: s| again)?) +\d+\.\d %", told, re.MULTILINE)
    assert shown == ["0.0 s", "0.2 s", "0.4 s", "1:01", "not again"]
    assert "The visits take about 0.5 s, the revisits 0.3 s." in told


def test_dead_addresses_take_their_time() -> None:
    assert "First" not in plan_text(itinerary([0.0, 2.0], 1.0))
    told = plan_text(itinerary([0.0, 2.0], 1.0, dead=90))
    assert (
        "First 90 URLs that answered with an error last time are asked again: about 1:30." in told
    )
    assert "The visits take about 2.0 s, the revisits as long again." in told
    assert plan_json(itinerary([0.0], 1.0, dead=1))["dead"] == 1
