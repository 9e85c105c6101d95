"""The live view: what it says, that it fits, that nothing in it can steer a terminal."""

from __future__ import annotations

import io
import sys
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from asof.cli import panel as module
from asof.cli.panel import snapshot_panel
from asof.cli.view import CrawlView, snapshot_line
from asof.crawl.summary import Meter, Snapshot
from asof.report.words import duration, printable, shortened

SNAPSHOT = Snapshot(
    elapsed=192.4, captured=1204, failed=12, left_out=2345, queued=3456, bytes=34_500_000, hosts=23,
    current="https://www.example.org/now",
    recent=(
        (200, "https://www.example.org/old"), (301, "https://blog.example.org/moved"),
        (200, "https://cdn.example.net/a.png"), (404, "https://www.example.org/missing"),
        (0, "https://dead.example.org/"), (200, f"https://www.example.org/{'long/' * 40}end"),
    ),
    busiest=(
        ("www.example.org", 2345, 0.0), ("blog.example.org", 345, 0.8),
        (f"{'very.' * 20}long.example", 22, 75.0), ("cdn.example.net", 3, -1.0),
    ),
    reasons=(("timeout", 8), ("dns", 3), ("tls", 1)), rate_now=12.3, active=5,
)  # fmt: skip
EMPTY = Snapshot(0.0, 0, 0, 0, 1, 0, 1, "")


def lines(snapshot: Snapshot, width: int) -> list[str]:
    """The view as a terminal of that width shows it, without colours."""
    console = Console(width=width, file=io.StringIO(), record=True, color_system=None)
    console.print(snapshot_panel(snapshot, width))
    return console.export_text().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_it_is_a_dozen_lines_that_fit(width: int) -> None:
    shown = lines(SNAPSHOT, width)
    assert len(shown) <= 12
    assert max(map(len, shown)) <= width


@pytest.mark.parametrize("width", [80, 120])
def test_it_tells_everything_at_common_widths(width: int) -> None:
    text = "\n".join(lines(SNAPSHOT, width))
    told = [
        "crawling", "3:12", "about 4:40 to go", "1,204 captured", "3,456 queued", "12 failed",
        "2,345 left out", "34.5 MB", "25 %", "12.3/s now", "6.3/s mean", "179.3 kB/s",
        "5 hosts active, 18 waiting", "www.example.org", "2,345 queued", "0.8 s", "1:15",
        "404 https://www.example.org/missing", "--- https://dead.example.org/",
        "timeout 8", "dns 3",
    ]  # fmt: skip
    assert [words for words in told if words not in text] == []


def test_the_newest_answer_stands_last_and_keeps_both_ends() -> None:
    urls = [line for line in lines(SNAPSHOT, 80) if "https://" in line]
    assert len(urls) == 4
    assert urls[-1].startswith("  200 https://www.example.org/long/")
    assert urls[-1].rstrip().endswith("long/end")


def test_a_wide_terminal_has_hosts_and_urls_side_by_side() -> None:
    both = [line for line in lines(SNAPSHOT, 120) if "queued" in line and "https://" in line]
    assert len(both) == 4


def test_before_the_first_answer_it_shows_what_there_is() -> None:
    text = "\n".join(lines(EMPTY, 80))
    assert "0 captured" in text
    assert "to go" not in text
    assert "failures" not in text
    assert "https://a.org/" in "\n".join(lines(replace(EMPTY, current="https://a.org/"), 80))


@pytest.mark.parametrize("state", ["paused", "stopping"])
def test_a_crawl_that_waits_or_ends_says_so_and_foretells_nothing(state: str) -> None:
    text = "\n".join(lines(replace(SNAPSHOT, state=state), 80))
    assert state in text
    assert "to go" not in text
    assert snapshot_line(replace(SNAPSHOT, state=state)).startswith(f"{state} · ")
    assert ("asof resume" in text) == (state == "paused")


hostile = st.text(st.characters(exclude_categories=()), max_size=60)


@given(
    url=hostile, host=hostile, reason=hostile, width=st.integers(1, 250),
    numbers=st.lists(st.integers(0, 10**12), min_size=6, max_size=6), wait=st.floats(-1, 1e7),
)  # fmt: skip
def test_no_snapshot_can_break_the_view_or_steer_the_terminal(
    url: str, host: str, reason: str, width: int, numbers: list[int], wait: float
) -> None:
    """Neither escape codes nor line breaks get through, at any width and with any figures."""
    captured, failed, left_out, queued, size, hosts = numbers
    snapshot = Snapshot(
        1.0, captured, failed, left_out, queued, size, hosts, url,
        recent=((200, url),), busiest=((host, queued, wait),), reasons=((reason, failed),),
    )  # fmt: skip
    console = Console(width=max(width, 40), file=io.StringIO(), color_system=None)
    console.print(snapshot_panel(snapshot, width))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert len(shown.splitlines()) <= 12
    assert all(line.isprintable() for line in shown.split("\n"))
    assert snapshot_line(snapshot).isprintable()


@given(hostile, st.integers(0, 30))
def test_a_shortened_text_fits_and_keeps_what_fits(text: str, room: int) -> None:
    short = shortened(text, room)
    assert len(short) <= room
    assert short.isprintable()
    if len(text) <= room:
        assert short == printable(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (59.9, "0:59"), (3599, "59:59"), (3600, "1:00:00"), (90061, "1 d 1:01:01")],
)
def test_lengths_of_time(seconds: float, text: str) -> None:
    assert duration(seconds) == text


# -- The view while a crawl runs ----------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic clock, to be set."""
    current = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: current[0])
    return current


def test_without_a_terminal_there_is_a_line_every_ten_seconds(
    now: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with CrawlView() as view:
        assert not view.is_live
        for tenth in range(251):
            now[0] = 100 + tenth / 10
            view.show(SNAPSHOT)
        view.say("Recovered.")
    assert capsys.readouterr().err.splitlines() == [snapshot_line(SNAPSHOT)] * 2 + ["Recovered."]


def test_a_silent_view_says_nothing(now: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with CrawlView(silent=True) as view:
        now[0] += 1000
        view.show(SNAPSHOT)
        view.say("Recovered.")
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_it_is_drawn_at_its_own_pace_and_goes_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thousand snapshots a second cost the crawl nothing: few of them are drawn."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    drawn: list[Snapshot] = []
    plain = snapshot_panel

    def counted(snapshot: Snapshot, width: int) -> object:
        drawn.append(snapshot)
        return plain(snapshot, width)

    monkeypatch.setattr(module, "snapshot_panel", counted)
    with CrawlView() as view:
        assert view.is_live
        for no in range(5000):
            view.show(replace(SNAPSHOT, captured=no))
        view.say("[Between] the lines")
    assert 1 <= len(drawn) < 50
    assert drawn[-1].captured == 4999
    text = terminal.getvalue()
    assert "[Between] the lines" in text
    assert "4,999" in text
    assert text.rstrip().endswith(("\x1b[2K", "\x1b[?25h")), "the view is wiped at the end"


# -- Rates --------------------------------------------------------------------------------------


def test_the_rate_now_is_that_of_the_last_ten_seconds() -> None:
    meter = Meter()
    for tenth in range(1000):
        rate = meter.rate(tenth / 10, tenth * 5)
    assert rate == pytest.approx(50.0, rel=0.03)
    for tenth in range(1000, 1120):
        rate = meter.rate(tenth / 10, 5000)
    assert rate == 0.0, "a stall shows after ten seconds"


def test_a_rate_needs_two_moments() -> None:
    meter = Meter()
    assert meter.rate(1.0, 0) == 0.0
    assert meter.rate(1.0, 10) == 0.0
    assert meter.rate(2.0, 10) == 10.0


def test_the_meter_remembers_the_last_few_answers() -> None:
    meter = Meter()
    for no in range(20):
        meter.recent.append((200, f"https://a.org/{no}"))
    assert meter.recent[-1] == (200, "https://a.org/19")
    assert len(meter.recent) == 6


def test_what_is_left_is_foretold_by_the_rate_now_else_by_the_mean() -> None:
    assert SNAPSHOT.remaining == pytest.approx(3456 / 12.3)
    assert replace(SNAPSHOT, rate_now=0.0).remaining == pytest.approx(3456 / (1204 / 192.4))
    assert EMPTY.remaining is None
