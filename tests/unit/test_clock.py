from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.clock import (
    DAY,
    SECOND,
    SystemClock,
    from_datetime,
    http_date,
    iso,
    parse_http_date,
    parse_iso,
    parse_moment,
    parse_stamp,
    stamp,
    to_datetime,
    when,
)
from asof.errors import UsageError

FIRST = from_datetime(datetime.min.replace(tzinfo=UTC))
LAST = from_datetime(datetime.max.replace(tzinfo=UTC))
NOW = from_datetime(datetime(2026, 11, 15, 19, 5, 12, tzinfo=UTC))

instants = st.integers(FIRST, LAST)
# formatdate and the two-digit years of RFC 850 make HTTP dates before 1000 ambiguous.
http_instants = st.integers(from_datetime(datetime(1000, 1, 1, tzinfo=UTC)), LAST)


def at(text: str) -> int:
    return from_datetime(datetime.fromisoformat(text).replace(tzinfo=UTC))


class TestWriting:
    @given(instants)
    def test_datetime_round_trip_is_exact(self, instant: int) -> None:
        assert from_datetime(to_datetime(instant)) == instant

    @given(instants)
    def test_iso_is_read_back_exactly(self, instant: int) -> None:
        assert parse_iso(iso(instant)) == instant

    @given(instants)
    def test_iso_has_one_shape_in_every_year(self, instant: int) -> None:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", iso(instant))

    @given(instants)
    def test_people_read_a_year_before_1000_with_its_four_digits(self, instant: int) -> None:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", when(instant))

    @given(instants, instants)
    def test_text_sorts_as_time_does(self, one: int, other: int) -> None:
        assert (iso(one) <= iso(other)) == (one <= other)
        assert (stamp(one) <= stamp(other)) == (one // SECOND <= other // SECOND)

    @given(instants)
    def test_a_stamp_is_the_start_of_its_second(self, instant: int) -> None:
        assert len(stamp(instant)) == 14
        assert parse_stamp(stamp(instant)) == instant // SECOND * SECOND

    @given(http_instants)
    def test_http_dates_are_read_back_to_the_second(self, instant: int) -> None:
        assert parse_http_date(http_date(instant)) == instant // SECOND * SECOND


class TestReadingIso:
    @pytest.mark.parametrize(
        ("text", "meaning"),
        [
            ("2026", "2026-01-01"),
            ("2026-11", "2026-11-01"),
            ("2026-11-15", "2026-11-15"),
            ("2026-11-15Z", "2026-11-15"),
            ("2026-11-15T19:05Z", "2026-11-15T19:05"),
            ("2026-11-15 19:05:12", "2026-11-15T19:05:12"),
            (" 2026-11-15T19:05:12Z ", "2026-11-15T19:05:12"),
            ("2026-11-15T19:05:12.5Z", "2026-11-15T19:05:12.500000"),
            ("2026-11-15T19:05:12.123456789Z", "2026-11-15T19:05:12.123456"),
            ("2026-11-15T19:05:12+01:00", "2026-11-15T18:05:12"),
            ("2026-11-15T19:05:12-0530", "2026-11-16T00:35:12"),
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59"),
        ],
    )
    def test_forms_that_warc_files_carry(self, text: str, meaning: str) -> None:
        assert parse_iso(text) == at(meaning)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "yesterday",
            "0000-01-01",
            "2026-13-01",
            "2026-02-29",
            "2026-11-15T24:00Z",
            "2026-11-15T19:05:61Z",
            "2026-11-15T19:05:12,5Z",
            "2026-1105",
            "2026-11:05",
            "٢٠٢٦-11-15",
            # A zone that leads out of the calendar: could be read, but never written again.
            "0001-01-01T00:00:00+05:00",
            "9999-12-31T23:59:59-05:00",
        ],
    )
    def test_what_is_no_date_is_none(self, text: str) -> None:
        assert parse_iso(text) is None

    @given(st.integers(FIRST + DAY, LAST - DAY), st.integers(-1439, 1439))
    def test_every_zone_names_the_same_instant(self, instant: int, minutes: int) -> None:
        local = to_datetime(instant).astimezone(timezone(timedelta(minutes=minutes)))
        assert parse_iso(local.isoformat()) == instant

    @given(st.text(max_size=40) | st.from_regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([+-]\d{4}|Z)"))
    def test_whatever_is_read_can_be_written(self, text: str) -> None:
        instant = parse_iso(text)
        assert instant is None or parse_iso(iso(instant)) == instant


class TestReadingHttpDates:
    @pytest.mark.parametrize(
        "text",
        [
            "Sun, 06 Nov 1994 08:49:37 GMT",  # RFC 9110 section 5.6.7: IMF-fixdate
            "Sunday, 06-Nov-94 08:49:37 GMT",  # RFC 850
            "Sun Nov  6 08:49:37 1994",  # asctime
            "Sun, 06 Nov 1994 08:49:37 +0000",
            "06 Nov 1994 10:49:37 +0200",
        ],
    )
    def test_the_forms_of_rfc_9110_and_near_ones(self, text: str) -> None:
        assert parse_http_date(text) == 784_111_777 * SECOND

    @pytest.mark.parametrize(
        "text",
        ["", "0", "-1", "never", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:00:00 GMT"],
    )
    def test_what_is_no_date_is_none(self, text: str) -> None:
        assert parse_http_date(text) is None

    @given(st.text(max_size=60))
    def test_foreign_text_never_raises(self, text: str) -> None:
        instant = parse_http_date(text)
        assert instant is None or FIRST <= instant <= LAST


class TestMoments:
    @given(instants)
    def test_the_stamp_of_a_capture_finds_that_capture(self, instant: int) -> None:
        moment = parse_moment(stamp(instant), NOW)
        assert instant <= moment < instant + SECOND

    @given(instants)
    def test_the_iso_date_of_a_capture_is_exact(self, instant: int) -> None:
        assert parse_moment(iso(instant), NOW) == instant

    @pytest.mark.parametrize(
        ("text", "last"),
        [
            ("2026", "2026-12-31T23:59:59.999999"),
            ("2024-02", "2024-02-29T23:59:59.999999"),
            ("2023-02", "2023-02-28T23:59:59.999999"),
            ("1900-02", "1900-02-28T23:59:59.999999"),  # a century is no leap year
            ("2000-02", "2000-02-29T23:59:59.999999"),  # but every fourth is
            ("202402", "2024-02-29T23:59:59.999999"),
            ("2024", "2024-12-31T23:59:59.999999"),
            ("2026-11-15", "2026-11-15T23:59:59.999999"),
            ("20261115", "2026-11-15T23:59:59.999999"),
            ("2026111519", "2026-11-15T19:59:59.999999"),
            ("2026-11-15T19:05", "2026-11-15T19:05:59.999999"),
            ("202611151905", "2026-11-15T19:05:59.999999"),
            ("2026-11-15T19:05:12Z", "2026-11-15T19:05:12.999999"),
            ("20261115190512", "2026-11-15T19:05:12.999999"),
            ("2026-11-15T19:05:12+02:00", "2026-11-15T17:05:12.999999"),
            ("2026-11-15T19:05:12.5", "2026-11-15T19:05:12.500000"),
            ("9999", "9999-12-31T23:59:59.999999"),
        ],
    )
    def test_a_moment_is_the_end_of_the_unit_that_was_named(self, text: str, last: str) -> None:
        assert parse_moment(text, NOW) == at(last)

    @given(instants, st.sampled_from([4, 6, 8, 10, 12, 14]))
    def test_a_unit_ends_where_the_next_begins(self, instant: int, digits: int) -> None:
        end = parse_moment(stamp(instant)[:digits], NOW)
        assert stamp(end)[:digits] == stamp(instant)[:digits]
        assert end == LAST or stamp(end + 1)[:digits] != stamp(instant)[:digits]

    def test_now_is_given_by_the_caller(self) -> None:
        assert parse_moment(" now ", NOW) == NOW

    @pytest.mark.parametrize("text", ["", "soon", "20261", "2026-13", "20260231", "²⁰²⁶", "-1"])
    def test_anything_else_is_bad_usage_that_shows_the_forms(self, text: str) -> None:
        with pytest.raises(UsageError, match="is not a moment") as caught:
            parse_moment(text, NOW)
        assert "2026-11-15" in caught.value.hint


class TestSystemClock:
    def test_now_is_wall_time_in_microseconds(self) -> None:
        assert abs(SystemClock().now() - from_datetime(datetime.now(UTC))) < 10 * SECOND

    def test_sleep_lets_monotonic_time_pass(self) -> None:
        clock = SystemClock()
        before = clock.monotonic()
        asyncio.run(clock.sleep(0.02))
        assert clock.monotonic() - before >= 0.019


@pytest.mark.parametrize(
    "text", ["2026", "202611", "2026-11-15", "20261115190512", "2026-11-15T19"]
)
def test_where_a_stretch_begins_a_moment_means_the_start_of_its_unit(text: str) -> None:
    if text.endswith("T19"):
        with pytest.raises(UsageError):
            parse_moment(text, 0, start=True)
        return
    begin, end = parse_moment(text, 0, start=True), parse_moment(text, 0)
    assert stamp(begin).startswith(text.replace("-", ""))
    assert stamp(end).startswith(text.replace("-", ""))
    assert begin < end
    assert not stamp(end + 1).startswith(text.replace("-", ""))
    assert not stamp(begin - 1).startswith(text.replace("-", ""))
