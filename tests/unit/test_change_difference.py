"""Differences for people: what is aligned, what is marked, and how it is shown."""

from __future__ import annotations

import json
import random
import re
import time
from html.parser import HTMLParser

import pytest
from wcwidth import wcswidth

from asof.caret import cells
from asof.change.alignment import Match, common
from asof.change.difference import Difference, Row, as_json, difference
from asof.report.difference_page import page
from asof.report.difference_terminal import Fold, folded, terminal
from asof.report.terminal import harmless, wrapped


def shown(found: Difference) -> list[str]:
    """One line a row, marks in brackets."""
    told = []
    for row in found.rows:
        sides = []
        for line in (row.old, row.new):
            spans = line.spans if line else ()
            text = "".join(f"[{span.text}]" if span.marked else span.text for span in spans)
            sides.append(text.replace("\n", "") if line else "-")
        told.append(f"{row.kind}: {sides[0]} | {sides[1]}")
    return told


def both_texts(found: Difference) -> tuple[str, str]:
    """What was compared, put together again."""
    old = "".join(row.old.text for row in found.rows if row.old)
    return old[:-1], "".join(row.new.text for row in found.rows if row.new)[:-1]


class TestAlignment:
    def test_stretches_in_order(self) -> None:
        assert common("abcdef", "xabyef") == [Match(0, 1, 2), Match(4, 4, 2)]
        assert common("", "a") == []
        assert common("aa", "aa") == [Match(0, 0, 2)]

    def test_what_stands_once_is_what_people_align_by(self) -> None:
        """By length alone the braces would be the common part, and the name would not."""
        old = ["{", "}", "{", "}", "alpha", "{", "}"]
        new = ["alpha", "{", "}", "{", "}", "{", "}"]
        assert common(old, new)[0][:2] == (4, 0)

    def test_a_large_comparison_is_cut_and_still_true(self) -> None:
        chance = random.Random(1)
        old, new = ([chance.choice("ab") for _ in range(500)] for _ in range(2))
        matches = common(old, new, largest=100)
        assert matches
        for match in matches:
            one = old[match.old : match.old + match.length]
            assert one == new[match.new : match.new + match.length]


class TestMarks:
    def test_nothing_changed(self) -> None:
        assert shown(difference("a\nb", "a\nb")) == ["same: a | a", "same: b | b"]

    def test_words_inside_a_line(self) -> None:
        found = difference("The quick brown fox jumps.", "The quick red fox jumps.")
        assert shown(found) == [
            "changed: The quick [brown] fox jumps. | The quick [red] fox jumps."
        ]

    def test_sentences_of_a_paragraph(self) -> None:
        old = "One is here. Two is there. Three is all."
        assert shown(difference(old, "One is here. Three is all.")) == [
            "same: One is here.  | One is here. ",
            "removed: [Two is there. ] | -",
            "same: Three is all. | Three is all.",
        ]

    def test_sentences_without_spaces(self) -> None:
        found = difference("今日は晴れ。明日は雨。", "今日は晴れ。明日は雪。")
        assert shown(found)[0] == "same: 今日は晴れ。 | 今日は晴れ。"
        assert shown(found)[1] == "changed: 明日は[雨]。 | 明日は[雪]。"

    def test_a_paragraph_that_was_split(self) -> None:
        found = difference("One is here. Two is there.", "One is here.\nTwo is there.")
        assert [row.kind for row in found.rows] == ["changed", "same"]
        assert found.rows[0].new is not None
        assert found.rows[0].new.spans[-1].text == "\n"
        assert found.rows[0].new.spans[-1].marked

    def test_lines_that_have_nothing_in_common_are_not_paired(self) -> None:
        kinds = [row.kind for row in difference("alpha beta", "gamma delta").rows]
        assert kinds == ["removed", "added"]

    def test_an_added_line_does_not_upset_the_next(self) -> None:
        old = "first one here\nsecond one there"
        new = "something else entirely\nfirst one HERE\nsecond one THERE"
        assert [row.kind for row in difference(old, new).rows] == ["added", "changed", "changed"]

    def test_short_islands_between_marks_are_marked_too(self) -> None:
        found = difference("start alpha of beta gone end", "start one of two here end")
        assert shown(found) == [
            "changed: start [alpha of beta gone] end | start [one of two here] end"
        ]

    @pytest.mark.parametrize("mark", ["👩‍👩‍👧", "e\u0301", "🇩🇪", "👍🏽", "ก็", "हिन्दी"])
    def test_what_is_one_sign_is_marked_as_one(self, mark: str) -> None:
        found = difference(f"some words {mark} and more", "some words x and more")
        assert f"[{mark}]" in shown(found)[0]

    def test_numbers_of_lines(self) -> None:
        rows = difference("a\nb\nc", "a\nc").rows
        assert [(row.old and row.old.number, row.new and row.new.number) for row in rows] == [
            (1, 1),
            (2, None),
            (3, 2),
        ]

    @pytest.mark.parametrize(
        ("old", "new"), [("", ""), ("", "a"), ("a", ""), ("\n", ""), ("a\n", "a")]
    )
    def test_edges(self, old: str, new: str) -> None:
        found = difference(old, new)
        assert both_texts(found) == (old, new)
        assert all(row.same for row in found.rows) == (old == new)


class TestSpeed:
    """Bounds that what is quadratic would miss by far, also on a busy machine."""

    LINES = 20_000

    def lines(self, seed: int, choices: list[str]) -> str:
        return "\n".join(random.Random(seed).choices(choices, k=self.LINES))

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("repeated", "repeated again"),
            ("all other", "none alike"),
            ("each line", "each line more"),
        ],
    )
    def test_long_texts(self, old: str, new: str) -> None:
        texts = {
            "repeated": self.lines(1, ["", "<td>", "x y"]),
            "repeated again": self.lines(2, ["", "<td>", "x y"]),
            "all other": "\n".join(f"old {n} {n}" for n in range(self.LINES)),
            "none alike": "\n".join(f"new{n} thing{n} x{n}" for n in range(self.LINES)),
            "each line": "\n".join(f"this is line {n} of it" for n in range(self.LINES)),
            "each line more": "\n".join(f"this is line {n} of them" for n in range(self.LINES)),
        }
        start = time.process_time()
        found = difference(texts[old], texts[new])
        assert time.process_time() - start < 20
        assert both_texts(found) == (texts[old], texts[new])

    def test_one_long_line(self) -> None:
        old, new = (" ".join(random.Random(s).choices("ab", k=60_000)) for s in (1, 2))
        start = time.process_time()
        assert both_texts(difference(old, new))[1] == new
        assert time.process_time() - start < 20


class TestFolding:
    def folds(self, count: int, changed: set[int], context: int = 2) -> list[str]:
        old = "\n".join(f"l{n}" for n in range(count))
        new = "\n".join(f"new{n}" if n in changed else f"l{n}" for n in range(count))
        rows = difference(old, new).rows
        return [
            str(item) if isinstance(item, Fold) else item.kind for item in folded(rows, context)
        ]

    def test_around_a_change(self) -> None:
        assert self.folds(20, {10}) == [
            "8 lines unchanged", "same", "same", "removed", "added", "same", "same",
            "7 lines unchanged",
        ]  # fmt: skip

    def test_one_line_is_not_folded(self) -> None:
        assert self.folds(7, {0, 6}, 2).count("same") == 5

    def test_without_context(self) -> None:
        assert self.folds(5, {2}, 0) == [
            "2 lines unchanged",
            "removed",
            "added",
            "2 lines unchanged",
        ]

    def test_everything_is_there_once(self) -> None:
        rows = difference("a\nb\nc\nd\ne\nf", "a\nb\nX\nd\ne\nf").rows
        unfolded: list[Row] = []
        for item in folded(rows, 1):
            unfolded += item.rows if isinstance(item, Fold) else [item]
        assert unfolded == list(rows)


OLD = (
    "Title\nThe quick brown fox jumps over the lazy dog and away.\n"
    "漢字かな混じり文、これは長い。\nend 👩\u200d👩\u200d👧 e\u0301"
)
NEW = (
    "Title\nThe quick red fox jumps over the lazy dog and away.\n"
    "漢字カナ混じり文、これは長い。\nend 👩\u200d👩\u200d👧 e\u0301 x"
)
PLAIN = re.compile(r"\x1b\[[0-9;]*m")


class TestTerminal:
    @pytest.mark.parametrize("width", [10, 40, 60, 61, 80, 133, 200])
    @pytest.mark.parametrize("colour", [True, False])
    def test_no_line_is_wider(self, width: int, colour: bool) -> None:
        for line in terminal(difference(OLD, NEW), width, colour=colour):
            assert wcswidth(PLAIN.sub("", line)) <= max(width, 14)

    @pytest.mark.parametrize("width", [60, 61, 100])
    def test_the_middle_is_in_one_column(self, width: int) -> None:
        lines = [PLAIN.sub("", line) for line in terminal(difference(OLD, NEW), width, colour=True)]
        bars = {wcswidth(line[: line.index("│")]) for line in lines if "│" in line}
        assert len(bars) == 1

    def test_without_colour_marks_are_written(self) -> None:
        text = "\n".join(terminal(difference(OLD, NEW), 120))
        assert "\x1b" not in text
        assert "[-brown-]" in text
        assert "{+red+}" in text

    def test_narrow_terminals_have_one_column(self) -> None:
        text = list(terminal(difference("a b c d", "a b c x"), 40, names=("then", "now")))
        assert text == ["--- then", "+++ now", "1 - a b c [-d-]", "1 + a b c {+x+}"]

    def test_no_difference(self) -> None:
        assert list(terminal(difference("a", "a"))) == ["no difference in the text"]

    def test_names_are_shown_and_harmless(self) -> None:
        text = "\n".join(terminal(difference("a", "b"), 80, names=("x\x1b[2J\nz", "y" * 90)))
        assert "\x1b" not in text
        assert "x␛[2J z" in text

    @pytest.mark.parametrize("colour", [True, False])
    @pytest.mark.parametrize(
        "evil",
        ["\x1b]0;t\x07", "\x9b31m", "\r", "\x08", "\u202e", "\u2066", "\u2028", "\ud800", "\x00"],
    )  # fmt: skip
    def test_archived_text_cannot_act(self, evil: str, colour: bool) -> None:
        for old, new in ((f"a {evil} b", "a b"), ("a b", f"a {evil} b"), (evil, evil + "x")):
            text = "\n".join(terminal(difference(old, new), 100, colour=colour))
            text = PLAIN.sub("", text)
            assert not re.search(
                "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800]", text
            )
            text.encode()

    def test_a_changed_end_of_line_is_shown(self) -> None:
        text = "\n".join(terminal(difference("One here. Two.", "One here.\nTwo."), 80))
        assert "{+¶+}" in text


class TestColumns:
    def test_widths(self) -> None:
        assert [cells(text) for text in ("abc", "漢字", "e\u0301", "👩‍👩‍👧")] == [3, 4, 1, 2]

    def test_breaks_at_blanks_and_inside_long_words(self) -> None:
        lines = wrapped([("ab cdefghij ", False), ("k", True)], 4)
        assert ["".join(text for text, _ in line) for line in lines] == ["ab ", "cdef", "ghij", "k"]
        assert lines[-1] == [("k", True)]

    def test_wide_signs_are_not_cut_in_two(self) -> None:
        lines = wrapped([("漢字漢字", False)], 3)
        assert ["".join(text for text, _ in line) for line in lines] == ["漢", "字", "漢", "字"]

    def test_tabs_are_blanks(self) -> None:
        assert harmless("a\tb") == "a b"


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


class TestPage:
    EVIL = '<script>alert(1)</script> <img src=x onerror="alert(1)"> &lt; \' </style></details>'

    def read(self, text: str) -> _Tags:
        parser = _Tags()
        parser.feed(text)
        parser.close()
        return parser

    @pytest.mark.parametrize("where", ["old", "new", "title", "names", "notes", "fold"])
    def test_archived_text_is_only_text(self, where: str) -> None:
        evil = self.EVIL
        lines = "\n".join([evil, *"abcdefghij"])
        old, new = {
            "old": (f"a {evil} b", "a b"),
            "new": ("a b", f"a {evil} b"),
            "fold": (lines + "\nx", lines + "\ny"),
        }.get(where, ("a", "b"))
        told = self.read(
            page(
                difference(old, new),
                title=evil if where == "title" else "t",
                names=(evil, evil) if where == "names" else ("a", "b"),
                notes=[evil] if where == "notes" else [],
            )
        )
        names = {tag for tag, _ in told.tags}
        assert names <= {
            "html", "head", "meta", "title", "style", "body", "h1", "ul", "li", "div", "span",
            "ins", "del", "details", "summary", "p", "header", "main", "footer",
        }  # fmt: skip
        assert not [attrs for _, attrs in told.tags if set(attrs) & {"src", "href", "onerror"}]
        assert evil in told.text

    def test_it_needs_nothing_and_runs_nothing(self) -> None:
        told = self.read(page(difference("a", "b")))
        policies = [a["content"] for tag, a in told.tags if a.get("http-equiv")]
        assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]
        assert "url(" not in page(difference("a", "b"))

    def test_marks(self) -> None:
        text = page(difference("a b c d e", "a b c d f"))
        assert "<del>e</del>" in text
        assert "<ins>f</ins>" in text

    def test_it_can_be_written(self) -> None:
        page(difference("\ud800 \x00", "\udfff")).encode()

    def test_folds_are_in_the_file_as_long_as_there_is_room(self) -> None:
        lines = "\n".join(f"line {n}." for n in range(4000))
        text = page(difference(f"{lines}\nx\n{lines}\nx", f"{lines}\ny\n{lines}\ny"))
        assert "3,997 lines unchanged</summary>" in text
        assert "<p class=fold>3,994 lines unchanged</p>" in text
        assert text.count("line 1500.") == 2  # old and new, once each

    def test_no_difference(self) -> None:
        assert "No difference" in page(difference("a", "a"))


def test_json_names_what_changed() -> None:
    found = as_json(difference("same\nold word here now", "same\nnew word here now"))
    assert json.loads(json.dumps(found)) == {
        "counts": {"same": 1, "changed": 1, "removed": 0, "added": 0},
        "parts": [
            {"kind": "same", "old": [0, 5], "new": [0, 5]},
            {
                "kind": "changed",
                "old": [5, 23],
                "new": [5, 23],
                "old_line": 2,
                "new_line": 2,
                "words": [["removed", "old"], ["added", "new"], ["same", " word here now\n"]],
            },
        ],
    }
