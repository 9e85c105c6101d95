"""The calendar of a URL and the picture of a site, as brute force counts and draws them."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from asof.change.arrivals import Arrival
from asof.change.categories import Category
from asof.clock import DAY, to_datetime
from asof.model import Evidence, Proof, Validity
from asof.report.change_kinds import TOLD, Kind, graver, kind_of
from asof.web.calendars import YEARS_SHOWN, calendar, days, years
from asof.web.sparkline import HEIGHT, WIDTH, sparkline

FIRST, LAST = -719_162 * DAY, 2_932_896 * DAY + DAY - 1  # of the years 1 to 9999
moments = st.integers(FIRST, LAST) | st.integers(0, 800 * DAY) | st.integers(-2, 2)


def arrival(at: int, change: Category | None) -> Arrival:
    evidence = (Evidence(Proof.DOWNLOAD, at, "r"),)
    return Arrival(Validity("http://a.example/", "c", 200, at, at, evidence), change)


@given(st.lists(moments, min_size=1, max_size=60), st.data())
def test_every_capture_is_on_its_day(times: list[int], data: st.DataObject) -> None:
    times.sort()
    changes = st.none() | st.sampled_from(Category)
    came = [arrival(at, data.draw(changes)) for at in times[::3]]
    known = years(times)
    dates = [to_datetime(at).date() for at in times]
    assert {each.year: each.captures for each in known} == Counter(day.year for day in dates)
    assert all(sum(each.months) == each.captures for each in known)
    year = data.draw(st.sampled_from(known)).year
    shown = calendar(known, times, came, year)
    assert shown.days == days(times, came, year)
    assert {day: found.captures for day, found in shown.days.items()} == Counter(
        day for day in dates if day.year == year
    )
    for found in shown.days.values():
        own = [e.change for e in came if to_datetime(e.validity.since).date() == found.day]
        assert found.contents == len(own)
        gravest = max(map(kind_of, own), key=list(Kind).index, default=None)
        assert found.change == gravest
        assert 1 <= found.shade <= 4
    drawn = {
        month.first.replace(day=day) for month in shown.months for week in month.weeks
        for day in week if day
    }  # fmt: skip
    assert shown.days.keys() <= drawn
    assert sum(month.captures for month in shown.months) == sum(
        found.captures for found in shown.days.values()
    )


@given(st.sets(st.integers(1, 200), min_size=1), st.integers(1, 200))
def test_years_are_shown_around_the_one_that_is_asked_for(some: set[int], asked: int) -> None:
    known = years([(date(year, 7, 1).toordinal() - 719_163) * DAY for year in some])
    shown = calendar(known, [], [], asked)
    here = [each.year for each in shown.years]
    assert len(here) == min(len(some), YEARS_SHOWN)
    assert asked in here or asked not in some
    ordered = sorted(some)
    place = ordered.index(here[0])
    assert ordered[place : place + len(here)] == here
    assert shown.earlier == (ordered[place - 1] if place else None)
    assert shown.later == next(iter(ordered[place + len(here) :]), None)


def test_a_day_is_read_out_with_what_happened() -> None:
    at = 59 * DAY
    found = days([at, at + 1], [arrival(at, Category.REMOVED), arrival(at + 1, None)], 1970)
    assert [day.label for day in found.values()] == ["1 Mar, 2 captures, gone, or moved"]
    assert {kind_of(category) for category in [None, *Category]} == set(Kind) == TOLD.keys()
    assert graver(Kind.MINOR, Kind.NOISE) is graver(Kind.NOISE, Kind.MINOR) is Kind.MINOR


@given(st.dictionaries(st.integers(0, 119_987), st.integers(1, 10**9), min_size=1, max_size=90))
def test_a_sparkline_stays_in_its_box(counts: dict[int, int]) -> None:
    picture = sparkline(counts.items(), min(counts), max(counts))
    bars = re.findall(r"M([\d.]+) (\d+)v-([\d.]+)h([\d.]+)v\3z", picture.path)
    assert 1 <= len(bars) <= min(len(counts), 60)
    for x, bottom, height, width in bars:
        assert float(x) + float(width) <= WIDTH + 1
        assert 1 <= float(height) <= HEIGHT == int(bottom)
    assert max(float(height) for _, _, height, _ in bars) == HEIGHT
    assert picture.most == max(counts.values()) == counts[picture.place]
