"""Numbers, times and strangers' words are told the same on every page and terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.cli.cover_print import print_answer
from asof.cli.output import where
from asof.cover.answer import CoverAnswer, Figures
from asof.cover.question import Question
from asof.report.render import environment
from asof.report.words import clipped, human_bytes, percent, plain, span

TEXT = "<b>&\"'\u202e\x1b[31m\x00\ud800\n\u2028x"


@pytest.mark.parametrize(("kept", "of", "told"), [(9, 111, "91.8 %"), (4, 10_000, "99.9 %")])
def test_the_terminal_rounds_as_the_pages_do(
    kept: int, of: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = Figures(of, 1, 1, kept, of, kept, True, 0, 0.1)
    print_answer(CoverAnswer(Question("J(d1,d2) = 1"), figures, ()))
    said = capsys.readouterr().out
    assert f"{told} fewer, and {told} fewer bytes" in said
    assert percent((of - kept) / of) == told


@pytest.mark.parametrize(
    ("gap", "complete", "told"),
    [
        (2, True, "A smaller set could have up to 2 documents fewer; not proven."),
        (1, True, "A smaller set could have up to 1 document fewer; not proven."),
        (0, True, "No smaller set does; that none of its size is better is not proven."),
        (5, False, "It was stopped: not all pairs were compared, so fewer might do."),
    ],
)
def test_the_terminal_is_as_sure_as_the_pages_are(
    gap: int, complete: bool, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = Figures(9, 1, 1, 3, 9, 3, False, gap, 0.1, complete)
    print_answer(CoverAnswer(Question("J(d1,d2) = 1"), figures, ()))
    assert told in capsys.readouterr().out.splitlines()


@given(st.integers(0, 10**17))
def test_a_length_of_time_is_never_said_to_be_longer_than_it_was(length: int) -> None:
    seconds = {"year": 365 * 86_400, "month": 30 * 86_400, "day": 86_400, "hour": 3600,
               "minute": 60, "second": 1}  # fmt: skip
    told = re.fullmatch(r"([\d,]+) (\w+?)s?", span(length))
    if told is not None:
        said = int(told[1].replace(",", "")) * seconds[told[2]]
        assert said * 10**6 <= length < 2 * said * 10**6


@given(st.integers(0, 10**14))
def test_sizes_have_at_most_three_digits_before_the_point(count: int) -> None:
    assert re.fullmatch(r"\d{1,3}(?:\.\d)? (?:B|kB|MB|GB|TB)", human_bytes(count))


def test_a_proposed_command_can_be_copied_whatever_the_folder_is_called() -> None:
    assert where(Path("archive")) == ""
    assert where(Path("old/web")) == " -a old/web"
    assert where(Path("my web; rm x")) == " -a 'my web; rm x'"


def test_a_long_name_keeps_both_ends() -> None:
    assert clipped("a" * 300) == "a" * 300
    assert clipped("ab" * 200 + "c").startswith("abab")
    assert clipped("ab" * 200 + "c").endswith("abc")


def test_whatever_a_template_puts_in_is_escaped_and_cannot_act() -> None:
    shown = environment().from_string("{{ x }}|{{ x | readable }}").render(x=TEXT)
    assert shown == "|".join(["&lt;b&gt;&amp;&#34;&#39;\ufffd\u241b[31m\u2400\ufffd \ufffdx"] * 2)


def test_a_form_sends_back_what_it_was_sent() -> None:
    shown = environment().from_string('<input value="{{ x | as_written }}">').render(x="a\u202e<b>")
    assert shown == '<input value="a\u202e&lt;b&gt;">'


@given(st.text())
def test_a_strangers_text_stays_on_one_line(text: str) -> None:
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", plain(text))


def test_a_page_knows_all_that_it_says() -> None:
    """A name that a template has not been given is an error, not a blank."""
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        environment().from_string("{{ nothing }}").render()


def test_a_file_carries_the_style_that_is_served() -> None:
    import asof.report
    from asof.report.render import style

    sheet = (Path(asof.report.__file__).parent / "static" / "asof.css").read_text(encoding="utf-8")
    assert [line for line in style().splitlines() if line not in sheet] == []
    assert "/*" not in style()
