"""The relation language: what is read, how it is understood, and what is said about the rest."""

from __future__ import annotations

import re
import sys
import time
from fractions import Fraction

import pytest

from asof.clock import DAY, parse_iso
from asof.cover.language.analyse import analyse, parse_relation
from asof.cover.language.lexer import contains
from asof.cover.language.parse import parse_condition, parse_filter
from asof.cover.language.syntax import (
    And,
    AttributeOf,
    CompareTest,
    Contains,
    ContentTest,
    Duration,
    Measure,
    Moment,
    Number,
    Or,
    Sum,
    TextValue,
    upright,
)
from asof.cover.language.unparse import unparse
from asof.errors import UsageError
from asof.report.relation_words import explain

SEED = "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2) and hostname(d1) = hostname(d2)"


def complaint(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_relation(text)
    return str(caught.value)


class TestReading:
    def test_the_seeds_own_notation_says_the_same_as_ascii(self) -> None:
        symbols = (
            "Cov(d_i, d_j) = C(sh(d_i), sh(d_j)) ≥ 0.7 ∧ timestamp(d_i) ≤ timestamp(d_j)\n"
            "  ∧ hostname(d_i) = hostname(d_j);"
        )
        assert parse_relation(symbols) == parse_relation(SEED)
        assert parse_relation(SEED.replace("and", "AND").replace("d1", "di")) == parse_relation(
            SEED
        )

    def test_what_it_is_made_of(self) -> None:
        assert parse_relation(SEED).condition == And(
            (
                ContentTest(Measure("C", 1), ">=", Fraction(7, 10)),
                CompareTest(AttributeOf("timestamp", 1), "<=", AttributeOf("timestamp", 2)),
                CompareTest(AttributeOf("hostname", 1), "=", AttributeOf("hostname", 2)),
            )
        )

    @pytest.mark.parametrize(
        ("text", "measure", "operator", "threshold"),
        [
            ("C(d1,d2) > 0.7", Measure("C", 1), ">", "7/10"),
            ("0.7 <= C(d2, d1)", Measure("C", 2), ">=", "7/10"),
            ("7/10 < J(d2,d1)", Measure("J", 1), ">", "7/10"),
            ("D(sh(d1), d2) = 1", Measure("D", 1), "=", "1"),
            ("J(d1,d2) != 1", Measure("J", 1), "!=", "1"),
            ("C(d1,d2) >= 1/3", Measure("C", 1), ">=", "1/3"),
            ("C(d1,d2) >= 1e-3 * 2", Measure("C", 1), ">=", "1/500"),
            ("C(d1,d2) >= .123456789012345678", Measure("C", 1), ">=", "0.123456789012345678"),
        ],
    )
    def test_thresholds_are_exact_and_stand_on_either_side(
        self, text: str, measure: Measure, operator: str, threshold: str
    ) -> None:
        found = parse_condition(text)
        assert found == ContentTest(measure, operator, Fraction(threshold))  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("12", Number(Fraction(12))),
            ("-1.5", Number(Fraction(-3, 2))),
            ("7d", Duration(7 * DAY)),
            ("12h", Duration(DAY // 2)),
            ("30m", Duration(DAY // 48)),
            ("1.5s", Duration(1_500_000)),
            ("2w - 1d", Duration(13 * DAY)),
            ("2 * 7d / 14", Duration(DAY)),
            ("1w/1d", Number(Fraction(7))),
            ("2010-01-31", Moment(parse_iso("2010-01-31") or 0)),
            ("2010-01-31T12:00:00+01:00", Moment(parse_iso("2010-01-31T11:00:00Z") or 0)),
            ("2010-01-31 + 1d", Moment(parse_iso("2010-02-01") or 0)),
            ("2010-01-31 - 2010-01-30", Duration(DAY)),
            ("'it''s'", TextValue("it's")),
            ('"say ""so"""', TextValue('say "so"')),
            ("a-b.c:d(d2)", AttributeOf("a-b.c:d", 2)),
            ("`My Column`(d1)", AttributeOf("My Column", 1)),
            ("`C`(d1)", AttributeOf("C", 1)),
            ("größe(d1)", AttributeOf("größe", 1)),
        ],
    )
    def test_values(self, text: str, value: object) -> None:
        found = parse_condition(f"x(d1) = {text}")
        assert isinstance(found, CompareTest)
        assert found.right == value

    def test_what_binds_tighter(self) -> None:
        assert parse_condition("a(d1)=1 or b(d1)=2 and not c(d1)=3 or d(d1)=4") == parse_condition(
            "(a(d1)=1) or ((b(d1)=2) and (not (c(d1)=3))) or (d(d1)=4)"
        )
        assert parse_condition("a(d1) + 2*b(d1) - -c(d1)/4 < 3") == parse_condition(
            "((a(d1) + (2*b(d1))) - ((-c(d1))/4)) < 3"
        )
        found = parse_condition("a(d1)-b(d1)-1 = 0")
        assert isinstance(found, CompareTest)
        assert isinstance(found.left, Sum)
        assert [sign for sign, _ in found.left.parts] == [1, -1, -1]

    def test_not_turns_every_comparison_round(self) -> None:
        text = "not (C(d1,d2) >= 0.7 and (a(d1) = 1 or not b(d1) < c(d2)))"
        turned = "C(d1,d2) < 0.7 or (a(d1) != 1 and b(d1) < c(d2))"
        assert upright(parse_condition(text)) == parse_condition(turned)

    def test_a_filter_speaks_of_one_document_and_its_text(self) -> None:
        found = parse_filter('mime-type(d) = "text/html" and not text contains "expense"')
        assert isinstance(found.condition, And)
        assert found.condition.parts[0] == CompareTest(
            AttributeOf("mime-type", 1), "=", TextValue("text/html")
        )
        assert parse_filter("text(d) contains 'x y'").condition == Contains("x y")
        assert parse_filter("x(d) = 1 or x(d) = 2").condition == Or(
            (
                CompareTest(AttributeOf("x", 1), "=", Number(Fraction(1))),
                CompareTest(AttributeOf("x", 1), "=", Number(Fraction(2))),
            )
        )

    def test_a_text_contains_terms_in_a_row(self) -> None:
        assert contains("The EXPENSE-claims of 2009", "expense claims")
        assert not contains("expenses", "expense")
        assert not contains("claims expense", "expense claims")


WRONG = [
    ("", 1, "the relation is empty"),
    (" \n ", 1, "the relation is empty"),
    ("C(d1,d2) >= 1.5", 13, "expected a threshold above 0 and up to 1"),
    ("C(d1,d2) >= 0", 13, "expected a threshold above 0 and up to 1"),
    ("C(d1,d2) >= -0.5", 13, "expected a threshold above 0 and up to 1"),
    ("C(d1,d2) > 1", 12, "more than 1 is never reached"),
    ("C(d1,d2) >= 70%", 15, "Write 70% as 0.7."),
    ("C(d1,d2) >= '0.7'", 13, "expected a number to compare C with"),
    ("C(d1,d2) >= J(d1,d2)", 13, "expected a number to compare C with"),
    ("C(d1,d2) >= quality(d1)", 13, "expected a number to compare C with"),
    ("C(d1,d2) + 0.1 >= 0.7", 1, "C cannot be calculated with"),
    ("C(d1,d2) >= 0.5/0", 17, "division by zero"),
    ("C(d1,d2) >= 0.5 and a(d1)/(2-2) = 1", 28, "division by zero"),
    ("C(d1,d2)", 1, "a relation is a condition, found a measure"),
    ("C(d1) >= 0.7", 1, "expected two different documents for C"),
    ("C(d1,d1) >= 0.7", 1, "expected two different documents for C"),
    ("C(d1,d2,d1) >= 0.7", 8, "found a third document"),
    ("C(d1,d3) >= 0.7", 6, "expected d1 or d2, found 'd3'"),
    ("C(d1 d2) >= 0.7", 6, "expected , or ), found 'd2'"),
    ("C(sh(d1,d2)) >= 0.7", 8, "expected ), found ','"),
    ("c(d1,d2) >= 0.7", 1, "Did you mean C?"),
    ("Jaccard(d1,d2) >= 0.7", 1, "Did you mean J?"),
    ("foo(d1,d2) >= 0.7", 1, "'foo' is no measure of two documents"),
    ("hostname = 'x'", 10, "Write hostname(d1)"),
    ("hostname(d1) == hostname(d2)", 14, "Did you mean = ?"),
    ("hostname(d1) <> hostname(d2)", 14, "Did you mean != ?"),
    ("a(d1)=a(d2) && b(d1)=1", 13, "Did you mean and ?"),
    ("a(d1)=a(d2), b(d1)=1", 12, "Join conditions with and."),
    ("a(d1)=a(d2) b(d1)=1", 13, "expected an operator, found 'b'"),
    ("a(d1)=a(d2) and", 16, "expected a value or a condition, found the end"),
    ("a(d1)=a(d2) and and b(d1)=1", 17, "expected a value or a condition, found 'and'"),
    ("a(d1) = 1 = 1", 11, "found a second comparison"),
    ("0.5 <= C(d1,d2) <= 0.9", 17, "0.5 <= x and x <= 0.9"),
    ("(a(d1)=a(d2)", 1, "this parenthesis is not closed"),
    ("a(d1)=a(d2))", 12, "this parenthesis was not opened"),
    ("()", 2, "expected a value or a condition, found ')'"),
    ("a(d1) and a(d1)=a(d2)", 1, "and joins conditions, found a value"),
    ("not a(d1)", 5, "not stands before a condition, found a value"),
    ("(a(d1)=1) + 2 = 3", 2, "expected a value beside +, found a condition"),
    ("1 = 1", 1, "two constants are compared"),
    ("a(d1) = + 1", 9, "Leave the + out."),
    ("a(d1) = 7days", 9, "Did you mean 7d?"),
    ("a(d1) = 7x", 9, "'x' is not a unit of time"),
    ("a(d1) = 0.0000001s", 9, "finer than a microsecond"),
    ("a(d1) = 9999999999w", 9, "the span of time is too long"),
    ("a(d1) = 2010-02-30", 9, "2010-02-30 is not a date"),
    ("timestamp(d1) >= timestamp(d2) - 604,800,000", 34, "Write 604,800,000 as 604800000."),
    ("a(d1) = 1e31", 9, "the number is too long or too large"),
    ("a(d1) = 1e30 * 1e30", 9, "too large or too fine"),
    ("a(d1) = 9999-12-31 + 99999w", 9, "too large or too fine"),
    ("a(d1) = 'abc", 9, "the string that begins with ' does not end"),
    ('a(d1) = "abc', 9, 'the string that begins with " does not end'),
    ("a(d1) = `abc", 9, "the string that begins with ` does not end"),
    ("a(d1) = 'x\0'", 11, "U+0000 a control character cannot stand in a string"),
    ("\0", 1, "U+0000 a control character is no part of the language"),
    ("a(d1) = \ud800", 9, "U+D800"),
    ("a(d1) = \u2018x\u2019", 9, "Did you mean ' ?"),
    ("\u0421(d1,d2) >= 0.7", 1, "U+0421 CYRILLIC CAPITAL LETTER ES"),
    ("C(\u05011,d2) >= 0.7", 3, "U+0501 CYRILLIC SMALL LETTER KOMI DE"),
    ("C\uff08d1,d2) >= 0.7", 2, "Did you mean ( ?"),
    ("C(d1,d2) >= \uff10.7", 13, "Did you mean 0 ?"),
    ("C(d1,d2)\u200b>= 0.7", 9, "U+200B ZERO WIDTH SPACE"),
    ("C(d1,d2)\u00a0>= 0.7", 9, "U+00A0 NO-BREAK SPACE"),
    ("text contains 'x'", 6, "expected ( after 'text'"),
    ("text(d1) contains 'x'", 1, "only a filter can ask what a text contains"),
    ("Cov(d2,d1) = C(d1,d2) >= 1", 1, "expected Cov(d1,d2): d2 covers d1"),
    ("Cov = C(d1,d2) >= 1", 1, "expected Cov(d1,d2) = here"),
    ("; ", 1, "expected a value or a condition"),
    ("a(d1) = 'x' + 1", 9, "expected a number or a time beside +, found text"),
    ("a(d1) = 7d * 7d", 14, "a span of time and a span of time cannot be joined by *"),
    ("7d + 1 = a(d1)", 6, "write 604800s or 7d"),
    ("'yesterday' - 7d < a(d1)", 1, "expected a date beside a span of time"),
    ("timestamp(d1) <= timestamp(d2)", 1, "all pairs would have to be compared"),
    ("C(d1,d2) < 0.5", 1, "all pairs would have to be compared"),
    ("not C(d1,d2) >= 0.5", 5, "all pairs would have to be compared: C(d1,d2) < 0.5"),
    ("C(d1,d2) >= 0.5 or a(d1) < a(d2)", 20, "to each side of an or"),
    ("a(d1) = 'x' and a(d2) = 'x'", 1, "all pairs would have to be compared"),
]


class TestComplaints:
    @pytest.mark.parametrize(("text", "column", "words"), WRONG, ids=lambda v: ascii(v)[:40])
    def test_each_points_at_its_column(self, text: str, column: int, words: str) -> None:
        said = complaint(text)
        assert re.match(r"Column (\d+):", said)[1] == str(column)  # type: ignore[index]
        assert words in said
        said.encode()

    def test_the_caret_stands_under_what_is_meant(self) -> None:
        lines = complaint("C(d1,d2) >= 1.5 and a(d1) = 1").splitlines()
        assert lines[1] == "  C(d1,d2) >= 1.5 and a(d1) = 1"
        assert lines[2].rstrip() == "              ^^^"

    def test_the_caret_counts_wide_letters_twice_and_long_texts_are_cut(self) -> None:
        lines = complaint("日本(d1) = %").splitlines()
        assert lines[2].rstrip() == " " * 2 + " " * len("日本(d1) = ") + "  ^"
        lines = complaint("a(d1) = 1 or " * 50 + "%" + " or b(d1) = 2" * 50).splitlines()
        assert max(map(len, lines)) < 90
        assert lines[1][lines[2].index("^")] == "%"

    def test_a_line_is_named_where_there_are_some(self) -> None:
        assert complaint("C(d1,d2) >= 0.7\n  and x = 1").startswith("Line 2, column 9:")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("hostname(d1) = 'x'", "expected d, found 'd1'"),
            ("C(d,d) > 0.5", "a filter has only d"),
            ("text contains ''", "expected a word in quotes after contains"),
            ("text contains '...'", "expected a word in quotes after contains"),
            ("text contains word", "expected a word in quotes after contains"),
            ("text = 'x'", 'Write text contains "expense".'),
            ("", "the filter is empty"),
        ],
    )
    def test_of_filters(self, text: str, words: str) -> None:
        with pytest.raises(UsageError, match=re.escape(words)):
            parse_filter(text)


ATOM = "C(d1,d2)>.5"
HOSTILE = {
    "10 MB of parentheses": "(" * 10_000_000,
    "10 MB of closing ones": ")" * 10_000_000,
    "as many as are read": "(" * 10_000,
    "closed ones": "(" * 4_000 + ATOM + ")" * 1_900,
    "one too many": "(" * 101 + ATOM + ")" * 101,
    "not": "not " * 2_000 + ATOM,
    "minus": "a(d1) = " + "-" * 9_000 + "1",
    "long number": "a(d1) = " + "9" * 9_000,
    "long fraction": "a(d1) = 0." + "3" * 9_000,
    "huge exponent": "a(d1) = 1e" + "9" * 4_000,
    "huge span": "a(d1) = " + "9" * 30 + "w",
    "quotes": "a(d1) = '" + "''" * 4_900,
    "backquotes": "`" * 9_999,
    "nul": "\0" * 9_999,
    "long name": "a" * 9_000 + "(d1,d2) = 1",
    "nested sums": "a(d1)+(" * 1_000,
    "alternating": "(a(d1)=1 or b(d1)=2 and " * 101,
    "documents": "C(" + "d1," * 3_000,
    "alternatives": " and ".join(f"(C(d1,d2)>.{n} or J(d1,d2)>.{n})" for n in range(1, 300)),
    "products": "a(d1) = " + "*".join(["1e30"] * 1_500),
}
ALLOWED = {
    "parentheses": "(" * 100 + ATOM + ")" * 100,
    "not": "not " * 98 + ATOM,
    "long and": " and ".join([ATOM] * 600),
    "long or": " or ".join([ATOM] * 600),
    "long sum": ATOM + " and a(d1) = " + "+".join(["b(d2)"] * 1_500),
    "deep sum": ATOM + " and a(d1) = b(d2)" + "-(b(d2)" * 90 + ")" * 90,
    "deep product": ATOM + " and a(d1) = b(d2)" + "+(b(d2)*(b(d2)" * 45 + "))" * 45,
    "deep conditions": ATOM + " and " + "(a(d1)=1 or (b(d1)=b(d2) and " * 45 + ATOM + "))" * 45,
    "absorbed": " and ".join(f"({ATOM} or J(d1,d2)>.5)" for _ in range(300)),
}


class TestHostile:
    @pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
    def test_ends_soon_with_a_short_sentence(self, text: str) -> None:
        began = time.process_time()
        said = complaint(text)
        assert time.process_time() - began < 1
        assert len(said) < 700

    @pytest.mark.parametrize("text", ALLOWED.values(), ids=ALLOWED.keys())
    def test_the_deepest_and_longest_allowed_are_read_and_walked(self, text: str) -> None:
        began = time.process_time()
        frame, used = sys._getframe(), 0
        while frame is not None:
            frame, used = frame.f_back, used + 1  # type: ignore[assignment]
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(used + 500)  # half of the usual: callers have frames, too
        try:
            relation = parse_relation(text)
            assert analyse(relation)
            assert unparse(relation.condition)
            assert explain(relation)
        finally:
            sys.setrecursionlimit(limit)
        assert time.process_time() - began < 2
