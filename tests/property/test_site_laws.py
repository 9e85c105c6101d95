"""Laws of a site as of a moment: what is told of each address is what its history says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from asof.api import Archive
from asof.catalog.validity import validities
from asof.clock import SECOND
from asof.model import Capture, Grade, Location, State, Validity
from asof.replay.site import Course, Standing, course, courses, parts
from asof.replay.site_moments import LETTER, MOST_CODED, moments
from asof.replay.sites import Sites
from asof.url import surt
from asof.web.site_rows import ROWS, Row, Tree
from support import many_captures
from support.laws import examples

START = 1_700_000_000
PATHS = ("", "a/b?e=/f", "robots.txt")
URLS = ["https://www.example.org/", *(f"http://example.org/{path}" for path in PATHS)]
KINDS = {letter: standing for standing, letter in LETTER.items()}


def capture(number: int, half_second: int, **fields: Any) -> Capture:
    plain: dict[str, Any] = {
        "kind": "response", "status": 200, "media_type": "text/html", "size": 1,
        "record_id": f"record-{number:03}", "where": Location("file", number, 1),
        "at": (START * 2 + half_second) * SECOND // 2,
    }  # fmt: skip
    made = plain | fields
    return Capture(surt=surt(made["url"]), **made)


@st.composite
def captures(draw: st.DrawFn) -> list[Capture]:
    """Pages, redirects, errors and what is gone, at close dates; and 304s about some of them."""
    made = []
    for number in range(draw(st.integers(0, 16))):
        content = draw(st.sampled_from("AB"))
        modified = draw(st.none() | st.integers(START - 4, START + 10))
        made.append(
            capture(
                number, draw(st.integers(0, 20)), url=draw(st.sampled_from(URLS)),
                status=draw(st.sampled_from([200, 200, 200, 301, 404, 500])),
                digest=f"sha1:{content}", content=f"sha256:{content}", etag=f'"{content}"',
                last_modified=None if modified is None else modified * SECOND,
            )
        )  # fmt: skip
    for number, origin in enumerate(
        draw(st.lists(st.sampled_from(made), max_size=4)) if made else ()
    ):
        later = (origin.at * 2 // SECOND) - START * 2 + draw(st.integers(1, 12))
        made.append(
            capture(
                50 + number, later, url=origin.url, kind="revisit", status=304,
                digest=origin.digest, content=None, etag=draw(st.sampled_from([origin.etag, None])),
                profile="server-not-modified", refers_to_url=origin.url, refers_to_at=origin.at,
            )
        )  # fmt: skip
    return made


def said(history: Sequence[Validity], second: int) -> Standing:
    """The same by looking at each interval."""
    told = [each for each in history if each.state is not State.SILENT]
    begun = [each for each in told if each.since // SECOND <= second]
    later = [each for each in told if each.since // SECOND > second]
    if begun and second <= begun[-1].until // SECOND:
        return of_state(begun[-1], firmness(begun[-1], second))
    if later and (claim := later[0].claimed_since) is not None and claim // SECOND <= second:
        return of_state(later[0], Standing.CLAIMED)
    if begun:
        return of_state(begun[-1], Standing.POSSIBLE)
    silent = [each for each in history if each.state is State.SILENT]
    asked = any(each.since // SECOND <= second for each in silent)
    return Standing.SILENT if asked else Standing.NOT_YET


def firmness(validity: Validity, second: int) -> Standing:
    ends = {validity.since}
    for grade in (Grade.PROVEN, Grade.CONFIRMED):
        ends |= {each.shows for each in validity.evidence if each.grade is grade}
        if second <= max(ends) // SECOND:
            return Standing(grade.value)
    return Standing.CLAIMED


def of_state(validity: Validity, standing: Standing) -> Standing:
    others = {State.GONE: Standing.GONE, State.ELSEWHERE: Standing.ELSEWHERE}
    return others.get(validity.state, standing)


@given(captures())
def test_what_is_told_is_what_the_intervals_say(made: list[Capture]) -> None:
    found = validities(made)
    of_url = {each.url: each for each in courses(found)}
    assert of_url.keys() == {each.url for each in made} - {URLS[-1]}  # robots.txt is for crawlers
    for url, each in of_url.items():
        history = [validity for validity in found if validity.url == url]
        history.sort(key=lambda validity: (validity.since, validity.until))
        for second in range(START - 12, START + 30):
            at = second * SECOND + SECOND - 1
            assert each.at(at) is said(history, second), (url, second - START)
            since, until = each.stretch(at)
            inside = [since or at, until or at]
            assert {each.at(moment) for moment in inside} == {each.at(at)}
            for beyond in (since and since - 1, until and until + 1):
                assert beyond is None or each.at(beyond) is not each.at(at)


@settings(max_examples=examples(30))
@given(captures())
def test_a_site_says_of_each_address_what_its_history_says(made: list[Capture]) -> None:
    """Read one by one or all at once, with what the word of the host is worth."""
    with TemporaryDirectory() as place:
        folder = many_captures.build(Path(place) / "archive", made)
        with Archive.open(folder) as archive:
            found = {each.url: each for each in Sites(archive).of("example.org").courses}
            urls = sorted({each.url for each in made} - {URLS[-1]})
            assert sorted(found) == urls
            for url in urls:
                assert found[url] == course(url, archive.history(url))


@given(captures(), st.integers(1, 10**6), st.sampled_from([0, 20, MOST_CODED]))
def test_the_slider_knows_at_each_step_what_is_told(
    made: list[Capture], slow: int, most: int
) -> None:
    known = stretched([*courses(validities(made))], slow)
    found = moments(known, most)
    if found is None:
        assert len({each.begun[0] for each in known if each.begun}) < 2
        return
    axis = found.axis
    assert axis.moment(0) // SECOND == min(each.begun[0] for each in known if each.begun)
    assert axis.moment(axis.steps) // SECOND == max(each.last for each in known if each.begun)
    for step in range(axis.steps + 1):
        told = [each.at(axis.moment(step)) for each in known]
        assert [decoded(found.patterns[place], step) for place in found.pattern_of] == told
        assert {
            kind: found.counts[kind][step] for kind in Standing if found.counts[kind][step]
        } == Counter(told)
    assert sum(burst.answers for burst in found.bursts) <= sum(len(each.begun) for each in known)
    assert list(found.bursts) == sorted(found.bursts, key=lambda burst: burst.step)


def stretched(known: list[Course], slow: int) -> list[Course]:
    """The same over longer time, so that not every second is a step."""

    def later(second: int) -> int:
        return START + (second - START) * slow

    return [
        Course(each.parts, tuple(map(later, each.since)), each.standings,
               tuple(map(later, each.begun)), later(each.last))
        for each in known
    ]  # fmt: skip


def decoded(pattern: str, step: int) -> Standing:
    """As the script reads it."""
    at, found = 0, Standing.NOT_YET
    for letter, further in re.findall(r"([A-Z])([0-9a-z]*)", pattern):
        at += int(further or "0", 36)
        if at > step:
            break
        found = KINDS[letter]
    return found


def bare(url: str) -> Course:
    return Course(parts(url), (), (), (), 0)


path = st.lists(st.sampled_from(["a", "b", "", "c?d=/e", "..", "ü"]), max_size=12).map("/".join)
addresses = st.builds("{}://{}/{}".format, st.sampled_from(["http", "https"]),
                      st.sampled_from(["x.example", "y.example:8080"]), path)  # fmt: skip


@given(addresses | st.text())
def test_the_parts_of_an_address_are_the_address(url: str) -> None:
    assert "".join(parts(url)) == url


@given(
    st.sets(addresses | st.sampled_from([f"http://x.example/{n}" for n in range(700)]), max_size=60)
)
def test_every_address_is_in_the_tree_once(urls: set[str]) -> None:
    known = sorted(map(bare, urls), key=lambda each: each.parts)
    tree = Tree(known, [Standing.PROVEN] * len(known))
    _, last = tree.page(1)
    rows = [row for number in range(1, last + 1) for row in tree.page(number)[0]]
    assert [*leaves(rows)] == [*range(len(known))]
    for row in everything(rows):
        for each in known[row.first : row.first + row.count]:
            assert each.url.startswith(row.url)
        assert row.count > 1 or row.url == known[row.first].url


def leaves(rows: Sequence[Row]) -> list[int]:
    return [
        place
        for row in rows
        for place in (leaves(row.rows) if row.rows else range(row.first, row.first + row.count))
    ]


def everything(rows: Sequence[Row]) -> list[Row]:
    return [each for row in rows for each in (row, *everything(row.rows))]


@given(st.integers(1, 3), st.integers(1, 900))
def test_no_page_has_more_rows_than_there_is_room_for(folders: int, each: int) -> None:
    known = [
        bare(f"http://x.example/{folder}/{number:04}")
        for folder in range(folders)
        for number in range(each)
    ]
    tree = Tree(known, [Standing.GONE] * len(known))
    _, last = tree.page(1)
    for number in range(1, last + 1):
        assert len(everything(tree.page(number)[0])) <= ROWS
