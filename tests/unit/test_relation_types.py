"""Types of the relation language: what fits, and what is said when it does not."""

from __future__ import annotations

import re

import numpy as np
import pytest

from asof.clock import parse_iso
from asof.cover.language.analyse import parse_relation
from asof.cover.language.columns import (
    MISSING_TIME,
    Column,
    number_column,
    text_column,
    time_column,
)
from asof.cover.language.kinds import type_check
from asof.cover.language.parse import parse_filter
from asof.cover.language.syntax import CompareTest, Moment
from asof.errors import UsageError

COLUMNS = {
    "hostname": text_column(["a"]),
    "url": text_column(["u"]),
    "mime-type": text_column(["text/html"]),
    "timestamp": time_column([0]),
    "modified": time_column([None]),
    "length": number_column([1]),
    "inlinks": number_column([2]),
}
KEY = "hostname(d1) = hostname(d2) and "


@pytest.mark.parametrize(
    "condition",
    [
        "timestamp(d1) + 7d <= timestamp(d2)",
        "7d + timestamp(d1) <= timestamp(d2)",
        "timestamp(d2) - timestamp(d1) < 2 * 7d",
        "timestamp(d2) - modified(d2) < length(d1) * 1s",
        "(timestamp(d2) - timestamp(d1)) / 1d > length(d1) / inlinks(d2)",
        "(timestamp(d2) - timestamp(d1)) / 2 > 1h",
        "timestamp(d1) >= 2010-01-01",
        "'2010-01-01' <= timestamp(d1)",
        "timestamp(d1) - '2010-01-01' <= 7d",
        "'2010-01-01' + 7d <= timestamp(d1)",
        "'2010-01-01' = url(d1)",
        "url(d1) < hostname(d2)",
        "-length(d1) * 2 + inlinks(d2) / 3 != 0.5",
        "mime-type(d1) != 'text/html'",
    ],
)
def test_what_fits(condition: str) -> None:
    type_check(parse_relation(KEY + condition), COLUMNS)


@pytest.mark.parametrize(
    ("condition", "column", "words"),
    [
        ("hostnam(d1) = 'x'", 1, "Did you mean hostname?"),
        ("Hostname(d1) = 'x'", 1, "Did you mean hostname?"),
        ("h\u043estname(d1) = 'x'", 1, "U+043E CYRILLIC SMALL LETTER O"),
        ("colour(d1) = 'x'", 1, "Known: hostname, inlinks, length, mime-type, modified, timestamp"),
        ("hostname(d1) = 5", 1, "'hostname' (text) and a number cannot be compared by ="),
        ("length(d1) = '5'", 1, "Write numbers without quotes"),
        ("length(d1) > timestamp(d1)", 1, "(a number) and 'timestamp' (a time) cannot be"),
        ("hostname(d1) + 1 = length(d1)", 1, "hostname is text"),
        ("length(d1) * url(d2) = 1", 14, "url is text"),
        ("timestamp(d1) >= timestamp(d2) - 604800000", 34, "write 604800s or 7d"),
        ("timestamp(d1) + timestamp(d2) > 7d", 17, "Add a span such as 7d to a time."),
        ("timestamp(d1) * 2 > timestamp(d2)", 17, "cannot be joined by *"),
        ("timestamp(d1) < 7d", 1, "Compare two times, or the difference of two times"),
        ("timestamp(d1) - timestamp(d2) < 7", 1, "A span of time has a unit"),
        ("timestamp(d1) > 'yesterday'", 17, "expected a date beside a time, found the text"),
        ("timestamp(d1) > '2010-13-01'", 17, "Write a date as 2010-01-31"),
        ("-timestamp(d1) < timestamp(d2)", 2, "a time cannot be taken from nothing"),
        ("length(d1) / 7d > 1", 14, "cannot be joined by /"),
    ],
)
def test_what_does_not_is_pointed_at(condition: str, column: int, words: str) -> None:
    relation = parse_relation(KEY + condition)
    with pytest.raises(UsageError, match=re.escape(words)) as caught:
        type_check(relation, COLUMNS)
    assert str(caught.value).startswith(f"Column {len(KEY) + column}:")


def test_a_string_becomes_a_date_where_a_time_is_meant() -> None:
    found = type_check(parse_filter("timestamp(d) >= '2010-01-01'"), COLUMNS).condition
    assert isinstance(found, CompareTest)
    assert found.right == Moment(parse_iso("2010-01-01") or 0)


def test_an_archive_without_columns_says_so() -> None:
    with pytest.raises(UsageError, match=r"Known: none\."):
        type_check(parse_relation("a(d1) = a(d2)"), {})


class TestColumns:
    def test_what_is_missing(self) -> None:
        assert text_column(["b", None, "a", "b"]).known.tolist() == [True, False, True, True]
        assert text_column(["b", None, "a", "b"]).values.tolist() == [0, -1, 1, 0]
        numbers = number_column([1, None, float("inf"), float("nan")])
        assert numbers.known.tolist() == [True, False, False, False]
        assert time_column([5, None]).known.tolist() == [True, False]
        assert np.array(["NaT"], "datetime64[us]").astype(np.int64)[0] == MISSING_TIME

    @pytest.mark.parametrize(
        ("kind", "values"),
        [("number", np.array([1])), ("time", np.array([1.0])), ("time", np.array([1 << 60]))],
    )
    def test_arrays_of_another_kind_are_refused(self, kind: str, values: np.ndarray) -> None:
        with pytest.raises(ValueError, match=r"column of|years"):
            Column(kind, values)  # type: ignore[arg-type]
