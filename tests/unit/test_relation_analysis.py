"""What drives the join, how relations are explained, and how they are held against pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from asof.clock import DAY, parse_iso
from asof.cover.join.pushdown import Pushdown, push_down
from asof.cover.language.analyse import Alternative, Key, analyse, parse_relation
from asof.cover.language.bounds import Bound, Least
from asof.cover.language.columns import Column, number_column, text_column, time_column
from asof.cover.language.evaluate import Pairs, meets, prepared
from asof.cover.language.kinds import type_check
from asof.cover.language.parse import parse_condition, parse_filter
from asof.cover.language.unparse import unparse
from asof.errors import UsageError
from asof.report.relation_words import explain


def only(text: str) -> Alternative:
    (alternative,) = analyse(parse_relation(text))
    return alternative


class TestAnalysis:
    def test_the_relation_of_the_seed(self) -> None:
        found = only(
            "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2) and hostname(d1) = hostname(d2)"
        )
        assert found.bound == Bound(contained=Least(Fraction(7, 10)))
        assert found.keys == (Key("hostname", "hostname"),)
        (limit,) = found.ranges
        assert (limit.attribute, limit.low, limit.high, limit.plain) == ("timestamp", 0, None, True)
        assert found.residual == found.d1 == found.d2 == ()

    def test_the_strongest_bound_of_each_measure(self) -> None:
        found = only("C(d1,d2) >= .5 and C(d1,d2) > .5 and C(d2,d1) = 1/3 and J(d1,d2) > .2")
        half, third = Fraction(1, 2), Fraction(1, 3)
        assert found.bound == Bound(Least(half, True), Least(third), Least(Fraction(1, 5), True))
        assert [unparse(atom) for atom in found.residual] == ["C(d2,d1) = 1/3"]

    @pytest.mark.parametrize(
        ("text", "low", "high"),
        [
            ("t(d1) <= t(d2)", (0, False), None),
            ("t(d1) < t(d2)", (0, True), None),
            ("t(d1) > t(d2)", None, (0, True)),
            ("t(d1) >= t(d2) - 7d", None, (7 * DAY, False)),
            ("t(d1) + 7d <= t(d2)", (7 * DAY, False), None),
            ("t(d2) - t(d1) < 7d", None, (7 * DAY, True)),
            ("t(d1) - t(d2) < 7d", (-7 * DAY, True), None),
            ("7d >= t(d1) - t(d2)", (-7 * DAY, False), None),
            ("t(d1) + 1 = t(d2)", (1, False), (1, False)),
            ("-t(d1) >= 5 - (t(d2) - 2)", (7, False), None),
        ],
    )
    def test_ranges(self, text: str, low: object, high: object) -> None:
        (limit,) = only(f"J(d1,d2) >= .5 and {text}").ranges
        assert (None if limit.low is None else (limit.low, limit.low_strict)) == low
        assert (None if limit.high is None else (limit.high, limit.high_strict)) == high

    @pytest.mark.parametrize(
        "text",
        [
            "t(d1) != t(d2)",
            "t(d1) <= u(d2)",
            "t(d1) * 2 <= t(d2)",
            "t(d1) + t(d2) >= 5",
            "t(d1) + 0.5 <= t(d2)",
            "t(d1) + t(d1) <= t(d2)",
            "t(d1) + 1e29 <= t(d2) + 1e29",
            "J(d1,d2) < 1",
        ],
    )
    def test_what_has_to_wait_for_the_pair(self, text: str) -> None:
        found = only(f"J(d1,d2) >= .5 and {text}")
        assert found.residual == (parse_condition(text),)
        assert found.ranges == ()

    def test_conditions_of_one_document(self) -> None:
        found = only("J(d1,d2)>=.5 and a(d1) = 'x' and not b(d2) < 5 and a(d2) != c(d2)")
        assert [unparse(atom) for atom in found.d1] == ['a(d1) = "x"']
        assert [unparse(atom) for atom in found.d2] == ["b(d2) >= 5", "a(d2) != c(d2)"]

    def test_alternatives_and_those_that_another_makes_needless(self) -> None:
        text = "(C(d1,d2)>.5 or a(d1)=a(d2)) and (b(d1)=b(d2) or C(d1,d2)>.5)"
        found = analyse(parse_relation(text))
        assert [unparse(way.condition) for way in found] == [
            "C(d1,d2) > 0.5",
            "a(d1) = a(d2) and b(d1) = b(d2)",
        ]

    def test_too_many_alternatives_are_refused(self) -> None:
        ways = [f"(C(d1,d2)>=.{n} or D(d1,d2)>=.{n})" for n in range(1, 8)]
        assert len(analyse(parse_relation(" and ".join(ways[:6])))) == 64
        with pytest.raises(UsageError, match="more than 64 alternatives"):
            parse_relation(" and ".join(ways))


class TestExplanation:
    def test_says_what_each_part_does(self) -> None:
        said = explain(
            parse_relation(
                "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2) and length(d1)*2 > length(d2)"
                " and hostname(d1) = hostname(d2) and timestamp(d2) - timestamp(d1) < 7d"
                " and language(d1) = 'de' and url(d1) = link(d2)"
            )
        )
        for line in (
            "bounds the join  C(d1,d2) >= 0.7: at least 70 % of d1's shingles are in d2",
            "partition key    hostname: only documents of one hostname are compared",
            "joined by        url of d1 and link of d2, which are equal",
            "range            timestamp: that of d2 is >= that of d1",
            "                 timestamp: that of d2 less that of d1 is < 1w",
            'd1 alone         language(d1) = "de"',
            "pair by pair     length(d1) * 2 > length(d2)",
        ):
            assert f"\n  {line}" in said

    def test_of_alternatives_and_of_no_content(self) -> None:
        said = explain(parse_relation("J(d1,d2) > 2/3 or a(d1) = a(d2) or D(d1,d2) = 1"))
        assert "Way 1 of 3: J(d1,d2) > 2/3\n" in said
        assert "more than about 66.67 % of all shingles of both" in said
        assert "nothing in their content: all that meet are compared" in said
        assert "D(d1,d2) >= 1: all of their shingles" in said


def holds(text: str, columns: dict[str, Column], i: int = 0, j: int = 1, **content: int) -> bool:
    """Whether one pair meets the relation."""
    relation = type_check(parse_relation(f"key(d1) = key(d2) and ({text})"), columns | KEY)
    numbers = {"inter": 0, "size_i": 0, "size_j": 0} | content
    arrays = {name: np.array([number]) for name, number in numbers.items()}
    found = prepared(relation, columns | KEY)(Pairs(np.array([i]), np.array([j]), **arrays))
    assert found.dtype == np.bool_
    assert found.shape == (1,)
    return bool(found[0])


KEY = {"key": text_column(["k"] * 4)}


class TestEvaluation:
    def test_a_threshold_is_met_exactly(self) -> None:
        for text, expected in [
            (">= 0.7", True),
            ("> 0.7", False),
            ("= 0.7", True),
            ("!= .7", False),
        ]:
            assert holds(f"C(d1,d2) {text}", {}, inter=7, size_i=10, size_j=99) is expected
        tight = "0.6999999999999999999999999999999999999"
        assert holds(f"C(d1,d2) > {tight}", {}, inter=7, size_i=10, size_j=99)
        assert not holds(f"C(d1,d2) <= {tight}", {}, inter=7, size_i=10, size_j=99)
        assert not holds(f"C(d1,d2) = {tight}", {}, inter=7, size_i=10, size_j=99)
        assert holds(f"C(d1,d2) != {tight}", {}, inter=7, size_i=10, size_j=99)

    @pytest.mark.parametrize("measure", ["C(d1,d2)", "C(d2,d1)", "J(d1,d2)", "D(d1,d2)"])
    def test_empty_documents_are_alike_only_among_themselves(self, measure: str) -> None:
        assert holds(f"{measure} = 1", {})
        assert not holds(f"{measure} >= 1e-30", {}, size_i=3)
        assert not holds(f"{measure} >= 1e-30", {}, size_j=3)

    def test_nothing_holds_for_what_is_missing(self) -> None:
        columns = {
            "t": text_column([None, "x"]),
            "n": number_column([None, 1]),
            "m": time_column([None, 5]),
        }
        for operator in ("=", "!=", "<", ">", "<=", ">="):
            for name, constant in [("t", "'x'"), ("n", "1"), ("m", "2010-01-01")]:
                for text in (
                    f"{name}(d1) {operator} {name}(d2)",
                    f"{name}(d1) {operator} {name}(d1)",
                    f"{constant} {operator} {name}(d1)",
                ):
                    assert not holds(text, columns)
                    assert not holds(f"not ({text})", columns)

    def test_nothing_holds_for_a_division_by_zero(self) -> None:
        columns = {"n": number_column([0, 4])}
        assert holds("1 / n(d2) = 0.25", columns)
        for operator in ("=", "!=", "<", ">", "<=", ">="):
            assert not holds(f"1 / n(d1) {operator} 5", columns)
            assert not holds(f"not n(d1) / n(d1) {operator} 1", columns)
            assert not holds(f"1 / (1 / n(d1)) {operator} 0", columns)

    def test_times_are_exact_to_the_microsecond(self) -> None:
        last = parse_iso("9998-12-31T23:59:59.999999Z")
        columns = {"t": time_column([last, (last or 0) + 1])}
        assert holds("t(d1) < t(d2)", columns)
        assert holds("t(d2) - t(d1) = 0.000001s", columns)
        assert holds("t(d1) + 60000w < t(d2) + 60000w", columns)
        assert holds("t(d1) > 2010-01-01", columns)
        assert not holds("t(d1) + 3000000w + 3000000w = t(d1)", columns)  # beyond 64 bits: floats

    def test_text_is_ordered_by_code_points_also_between_columns(self) -> None:
        columns = {"a": text_column(["b", "é"]), "b": text_column(["a", "é"])}
        assert holds("a(d1) > b(d1)", columns)
        assert holds("a(d2) = b(d2)", columns)
        assert holds("a(d1) < a(d2) and 'c' > a(d1) and a(d2) >= 'z'", columns)
        assert not holds("a(d1) = b(d1)", columns)

    def test_decimals_are_those_of_columns(self) -> None:
        assert holds("n(d1) = 0.1", {"n": number_column([0.1])})

    def test_a_filter_chooses_documents(self) -> None:
        columns = {"hostname": text_column(["a", "b", None])}
        written = type_check(parse_filter("hostname(d) = 'a' or not text contains 'x'"), columns)
        texts = np.array([True, True, False])
        asked = []
        found = meets(
            written.condition,
            columns,
            3,
            lambda phrase: (asked.append(phrase), texts)[1],
        )
        assert found.tolist() == [True, False, True]
        assert asked == ["x"]


class TestPushing:
    COLUMNS = {  # noqa: RUF012 (never changed)
        "host": text_column(["a", "b", None, "a"]),
        "t": time_column([5, 3, 4, None]),
        "n": number_column([1, 2, 3, 4]),
        "x": number_column([0.5, 2, 3, 4]),
    }

    def pushdown(self, text: str) -> Pushdown:
        relation = type_check(parse_relation(f"J(d1,d2) >= .5 and {text}"), self.COLUMNS)
        (alternative,) = analyse(relation)
        return push_down(alternative, self.COLUMNS, 4)

    def test_a_key_is_a_partition_and_missing_values_are_masked(self) -> None:
        found = self.pushdown("host(d1) = host(d2)")
        assert found.partition.tolist() == [1, 2, 0, 1]
        assert found.d1.tolist() == found.d2.tolist() == [True, True, False, True]
        assert found.residual is None

    def test_two_keys_are_one_partition(self) -> None:
        found = self.pushdown("host(d1) = host(d2) and n(d1) = n(d2)")
        assert np.unique(found.partition).size == 4  # type: ignore[arg-type]

    def test_the_narrowest_window_of_a_time(self) -> None:
        found = self.pushdown("t(d1) < t(d2) and t(d2) - t(d1) <= 7d and t(d1) < t(d2) + 1d")
        assert found.window == (1, 7 * DAY)
        assert found.position.tolist() == [5, 3, 4, 0]
        assert found.d1.tolist() == [True, True, True, False]

    def test_numbers_are_positions_if_whole_or_only_ordered(self) -> None:
        assert self.pushdown("n(d1) + 2 <= n(d2)").window == (2, None)
        assert self.pushdown("x(d1) < x(d2)").window == (1, None)
        assert self.pushdown("x(d1) < x(d2)").position.tolist() == [0, 1, 2, 3]
        left = self.pushdown("x(d1) + 2 <= x(d2)")
        assert left.window is None
        assert unparse(left.residual) == "x(d1) + 2 <= x(d2)"  # type: ignore[arg-type]

    def test_a_second_attribute_waits_for_the_pairs(self) -> None:
        found = self.pushdown("n(d1) <= n(d2) and t(d1) <= t(d2)")
        assert found.position.tolist() == [5, 3, 4, 0]
        assert unparse(found.residual) == "n(d1) <= n(d2)"  # type: ignore[arg-type]

    def test_keys_of_two_attributes_meet_by_codes(self) -> None:
        found = self.pushdown("n(d1) = x(d2)")
        d1, d2 = found.meet  # type: ignore[misc]
        assert (d1[:, None] == d2[None, :]).tolist() == [
            [n == x for x in (0.5, 2, 3, 4)] for n in (1, 2, 3, 4)
        ]
        assert found.partition is None
        assert unparse(found.residual) == "n(d1) = x(d2)"  # type: ignore[arg-type]
