"""The reading list of a cover: complete when small, bounded when large, harmless always."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof.cover.join.join import JoinLimits
from asof.cover.language.columns import number_column, text_column, time_column
from asof.cover.question import Question
from asof.cover.run import thin_out
from asof.report.reading_list import ROOM, page
from support.covered import collection, covered, versions
from support.laws import examples

VOID = {"meta", "br"}


class Tree(HTMLParser):
    """Elements that open and close in order; what is in them, by class."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.items: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "li":
            self.items.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "li" in self.open:
            self.items[-1] += data


def test_every_document_is_there_with_what_covers_it_and_how_far() -> None:
    outcome = covered(
        collection(
            [[1, 2, 3, 4], [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 9], [20, 21]],
            ["part", "whole", "mostly", "alone"],
        ),
        "C(d1,d2) >= 0.7",
    )
    assert outcome.kept == ["whole", "alone"]
    text = page(outcome, title="Harbours", notes=["Quality decides."])
    shown = [" ".join(item.split()) for item in Tree(text).items]
    assert shown == [
        "2 stay",
        "2 covered by these",
        "whole",
        "partC 100.0 %J 50.0 %D 66.6 %",
        "mostlyC 75.0 %J 33.3 %D 50.0 %",
        "alone",
    ]
    for sentence in (
        "2 of 4 documents cover all of them.",
        "No smaller set does: proven. Quality decides.",
        "<code>C(d1,d2) &gt;= 0.7</code>",
        "44.4 % fewer<small>100 of 180 stay",
        "<title>Harbours - asof</title>",
    ):
        assert sentence in text


def test_versions_of_one_address_are_told_apart_by_their_time() -> None:
    text = page(versions(1, 3))
    assert text.count("http://a.example/0</bdi>") == 1  # of the one that stays
    assert text.count("Page 0") == 1
    assert ">1 Jan 2010, 00:00:00</a>" in text
    assert ">1 Jan 2010, 00:00:01</a>" in text
    assert text.count("same address") == 2
    assert Tree(text).links == ["http://a.example/0"] * 3
    assert "at these addresses today" in text


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://a.example/diff?x=1", True),
        ("HTTP://a.example/", True),
        ("/diff/a:b", False),  # it would lead nowhere from the file
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("java\nscript:alert(1)", False),
        ("http://a.example/\nx", False),
        ("", False),
    ],
)
def test_links_lead_to_pages_only(url: str, kept: bool) -> None:
    outcome = covered(collection([[1, 2]], ["one"], url=text_column([url])))
    assert Tree(page(outcome)).links == [url] * kept


def test_many_covered_documents_are_folded_and_cut_with_their_count() -> None:
    text = page(versions(1, 60))
    assert "<summary>covers 59 documents</summary>" in text
    assert "and 9 more (--csv FILE has all of them)" in text
    assert text.count("same address") == 50


def test_long_lists_come_in_folds_of_which_the_first_is_open() -> None:
    text = page(versions(250, 2))
    assert re.findall(r"<details( open)?><summary><b>(.*?)</b> <span>(.*?)</span>", text) == [
        (" open", "1 to 100", "of 250, which cover 100 others"),
        ("", "101 to 200", "of 250, which cover 100 others"),
        ("", "201 to 250", "of 250, which cover 50 others"),
    ]


@pytest.mark.parametrize("room", [0, 5_000, 40_000])
def test_the_page_ends_before_it_is_too_large_and_says_what_is_left(room: int) -> None:
    outcome = versions(300, 2)
    text, frame = page(outcome, room=room), len(page(versions(0, 0)))
    assert len(text.encode()) < frame + room + 3_000
    shown = text.count('<p class="name"><a href')
    left = re.search(r"([\d,]+) (?:more )?documents? would make this page too large", text)
    assert left is not None
    assert shown + 2 * int(left[1]) == 600
    assert f"They cover {left[1]} documents." in text
    Tree(text)


def test_a_page_of_75_000_documents_can_be_opened() -> None:
    text = page(versions(37_500, 2))
    assert 6 << 20 < len(text.encode()) < ROOM + (1 << 20)
    assert "37,500 of 75,000 documents cover all of them." in text


def test_what_is_empty_stopped_or_unproven_is_said() -> None:
    text = page(covered(collection([], [])))
    assert "0 of 0 documents" in text
    assert "<section>" not in text
    two = collection([[1, 2], [1, 2]], ["a", "b"])
    text = page(thin_out(two, Question("C(d1,d2) >= 0.5"), JoinLimits(cancel=lambda: True)))
    assert "It was stopped" in text


def test_times_that_no_calendar_has_and_columns_of_other_kinds_are_left_out() -> None:
    found = collection(
        [[1], [2]],
        ["a", "b"],
        url=number_column([1.0, 2.0]),
        timestamp=time_column([-(1 << 58), None]),
        title=text_column([" ", None]),
    )
    assert '<p class="told">' not in page(covered(found))


HOSTILE = st.text(
    st.one_of(st.sampled_from("<>&\"'`\n\r\t\0\u202e\ud800=/ "), st.characters()), max_size=400
)


@given(st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE), min_size=1, max_size=4), HOSTILE)
@settings(max_examples=examples(100), deadline=None)
def test_nothing_that_documents_say_becomes_a_part_of_the_page(
    told: list[tuple[str, str, str]], title: str
) -> None:
    found = collection(
        [[1, 2]] * len(told),
        [name for name, _, _ in told],
        url=text_column(f"http://{url}" for _, url, _ in told),
        title=text_column(title for _, _, title in told),
    )
    text = page(covered(found), title=title, notes=[title])
    tree = Tree(text.encode().decode())  # no half of a surrogate pair
    assert tree.names <= {
        "html", "head", "meta", "title", "style", "body", "header", "span", "main", "p", "h1",
        "bdi", "code", "div", "small", "ul", "li", "dl", "dt", "dd", "section", "h2", "details",
        "summary", "b", "a", "svg", "rect", "q", "footer",
    }  # fmt: skip
    assert not {name for name in tree.attributes if name.startswith("on")}
    assert all(link.startswith("http://") for link in tree.links)
    assert "\u202e" not in text
