"""Where there is no terminal, long work says a line now and then, with what is left of it."""

from __future__ import annotations

import time

import pytest

from asof.cli import output, progress_lines
from asof.cli.progress_lines import ProgressLines
from asof.report.words import human_bytes


def test_a_line_says_how_much_is_done_and_how_long_the_rest_takes() -> None:
    lines = ProgressLines()
    lines.begin("reading", 1000)
    start = lines._before[0][0]
    lines.advance(250)
    assert lines.line(start + 10) == "asof: reading: 250 of 1,000 (25.0 %), about 30.0 s left"


def test_the_pace_is_that_of_the_last_minute() -> None:
    lines = ProgressLines()
    lines.begin("reading", 100_000)
    start = lines._before[0][0]
    lines.advance(90_000)  # read before, and skipped
    for minute in range(8):
        lines.advance(10)
        said = lines.line(start + 10 * (minute + 1))
    assert said.endswith("(90.0 %), about 2:45:20 left")


def test_work_of_unknown_size_is_counted_and_bytes_are_told_as_bytes() -> None:
    lines = ProgressLines(human_bytes)
    lines.begin("importing", None)
    assert lines.line(1e9) == "asof: importing ..."
    lines.advance(2_500_000)
    assert lines.line(1e9) == "asof: importing: 2.5 MB"


@pytest.mark.parametrize("kind", ["count", "bytes", "stages"])
def test_every_bar_speaks_where_there_is_no_terminal(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_lines.spoken.__wrapped__, "__defaults__", (0.02,))  # type: ignore[attr-defined]
    if kind == "stages":
        with output.stage_progress() as show:
            show("joining", 5, 10)
            time.sleep(0.2)
    else:
        column = "DownloadColumn" if kind == "bytes" else "MofNCompleteColumn"
        with output.count_progress("joining", 10, column=column) as advance:
            advance(5)
            time.sleep(0.2)
    said = capsys.readouterr()
    assert not said.out
    amount = "5 B of 10 B" if kind == "bytes" else "5 of 10"
    assert said.err.startswith(f"asof: joining: {amount} (50.0 %)")


def test_short_work_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with output.count_progress("joining", 10) as advance:
        advance(10)
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("wished", "seconds"), [("2", 2), ("0.5", 0.5), ("", 10), ("often", 10), ("0", 10), ("nan", 10)]
)
def test_how_often_can_be_wished(
    wished: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASOF_PROGRESS", wished)
    assert progress_lines._pause() == seconds
