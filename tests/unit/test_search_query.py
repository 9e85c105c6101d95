"""The language of questions: what is read, and where an error points."""

# ruff: noqa: RUF001 (texts in many scripts)
from __future__ import annotations

import re

import pytest

from asof.errors import UsageError
from asof.search.query import Every, Field, Some, Term, Without, parse, terms, written


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("climate change", "climate change"),
        ("a AND b", "a b"),
        ("a b OR c", "a b OR c"),
        ("a (b | c)", "a (b OR c)"),
        ("a|b||c", "a OR b OR c"),
        ("(a (b)) OR (c OR d)", "a b OR c OR d"),
        ("a -b NOT c -(d OR e)", "a -b -c -(d OR e)"),
        ('a -"b c" NOT(d e)', 'a -"b c" -(d e)'),
        ("a or not and", "a or not and"),
        (
            "„Guten Tag“ «bon jour» »Gruß Gott« 「東京 都」",
            '"guten tag" "bon jour" "gruss gott" "東京 都"',
        ),
        ("merg* Wort~ word~2", "merg* wort~ word~2"),
        ('"climate chan"*', '"climate chan"*'),
        ("title:a url:B title:(c OR url:d)", "title:a url:b (title:c OR url:d)"),
        ('Title:"some words" -url:x', 'title:"some words" -url:x'),
        ('anchor:A Anchor:"A bc"* -anchor:xyz~', 'anchor:a anchor:"a bc"* -anchor:xyz~'),
        ("link:Example.org/A#x", 'link:"example.org/A"'),
        ('-link:"HTTPS://a.example/ä b" x', '-link:"https://a.example/%C3%A4%20b" x'),
        ("e-mail user@example.org", "e-mail user-example-org"),
        ("foo:bar 12:30 http://example.org/a?b=1", "foo-bar 12-30 example-org-a-b-1"),
        ("url:https://example.org/a", "url:example-org-a"),
        ("site:example.org time:12:30", "site-example-org time-12-30"),
        ("東京都", "東京都"),
        ('"東京都 2020"', '"東京都 2020"'),
        ("（东京 OR 京都） －上海", "(东京 OR 京都) -上海"),
        ("他说“你好”", '他说 "你好"'),
        ('צה"ל', "צה-ל"),
        ("don’t", "don-t"),
        ("а́б ЁЛКА", "аб елка"),
        ("हिन्दी", "हिन-दी"),
        ("한국어 ไทย", "한국어 ไทย"),
        ("a --- & b - c --help", "a b c help"),
        ("a () OR &", "a"),
        ("a -&", "a"),
    ],
    ids=ascii,
)
def test_questions_are_understood(text: str, canonical: str) -> None:
    assert written(parse(text)) == canonical


def test_the_tree_tells_what_a_term_is() -> None:
    asked = parse('merg* title:"Some Words" (wort~2 OR e-mail) -x')
    assert asked == Every(
        (
            Term(("merg",), None, False, True, 0, (0, 5)),
            Term(("some", "words"), Field.TITLE, True, False, 0, (6, 24)),
            Some(
                (
                    Term(("wort",), None, False, False, 2, (26, 32)),
                    Term(("e", "mail"), None, False, False, 0, (36, 42)),
                )
            ),
            Without(Term(("x",), None, False, False, 0, (45, 46))),
        )
    )
    assert [term.words[0] for term in terms(asked)] == ["merg", "some", "wort", "e"]


@pytest.mark.parametrize(
    ("text", "words", "prefix"),
    [
        ("東京都", ("東京", "京都"), False),
        ("東京*", ("東京",), False),
        ("年", ("年",), True),
        ("年*", ("年",), True),
        ('"2020 年"', ("2020", "年"), True),
        ('"東京都 2020"', ("東京", "京都", "都", "2020"), False),
        ('"東京 京都"', ("東京", "京", "京都"), False),
        ("ไทย", ("ไท", "ทย"), False),
    ],
)
def test_the_last_of_a_run_may_go_on(text: str, words: tuple[str, ...], prefix: bool) -> None:
    term = parse(text)
    assert isinstance(term, Term)
    assert (term.words, term.prefix) == (words, prefix)


WRONG = [
    ("---", 1, "there is no word"),
    ("AND", 1, "there is no word"),
    ('a "b c', 3, 'begins with " does not end'),
    ("„b c", 1, "begins with „ does not end"),
    ("a (b (c)", 3, "this parenthesis is not closed"),
    ("a) b", 2, "this parenthesis was not opened"),
    ("OR a", 1, "one is missing"),
    ("a OR", 3, "one is missing"),
    ("a OR OR b", 6, "one is missing"),
    ("(a |) b", 4, "one is missing"),
    ("-a NOT b", 1, "only what is not wanted"),
    ("a OR -b", 6, "only what is not wanted"),
    ("a -(-b)", 4, "only what is not wanted"),
    ("a NOT", 3, "excludes what comes after it"),
    ("NOT NOT a", 1, "excludes what comes after it"),
    ("a b*", 3, "begin with a single letter"),
    ("m*r", 2, "only stand at the end of a word"),
    ("word~3", 5, "in one letter or in two"),
    ("e-mail~", 1, "not a single word"),
    ("東京~", 1, "not a single word"),
    ("ab~2", 1, "nearly every short word"),
    ("x titel:y", 3, "Did you mean title: ?"),
    ("uri:y", 1, "Did you mean url: ?"),
    ("title: x", 1, "nothing stands directly after title:"),
    ("(" * 21 + "a" + ")" * 21, 21, "more than 20 deep"),
    ("a " * 65, 129, "more than 64 words"),
]


@pytest.mark.parametrize(("text", "column", "words"), WRONG, ids=lambda v: ascii(v)[:30])
def test_errors_point_at_what_cannot_be_read(text: str, column: int, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    said = str(caught.value)
    assert re.match(r"Column (\d+):", said)[1] == str(column)  # type: ignore[index]
    assert words in said


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "is empty"), (" \t\n", "is empty"), ("a" * 1001, "1,001 characters long; at most 1,000")],
    ids=["nothing", "spaces", "long"],
)
def test_what_is_no_question_is_said_without_pointing(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        parse(text)
    assert caught.value.exit_code == 2
    assert "^" not in str(caught.value)


def test_the_limits_themselves_are_allowed() -> None:
    assert isinstance(parse("a " * 64), Every)
    assert isinstance(parse("(" * 20 + "a" + ")" * 20), Term)
    assert isinstance(parse("a" * 100 + " " * 899 + "b"), Every)
