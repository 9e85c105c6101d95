"""`asof simulate coherence`: Figure 9 as a table, CSV, JSON and drawing; plans anyone can check."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof.report.words import percent
from support import rig

ROOT = Path(__file__).parents[2]
GOLDEN = ".9\n.5\n.3\n.2\n.1\n.05\n.02\n.01\n"
SMALL = ("--pages", 60, "--runs", 3, "--loads", "0.5,2")


def simulate(*words: object, cwd: Path, code: int = 0, **kw: Any) -> rig.Result:
    return rig.ok("simulate", "coherence", *words, cwd=cwd, code=code, **kw)


def planned(tmp_path: Path, text: str | bytes, *words: object) -> dict[str, Any]:
    data = text.encode() if isinstance(text, str) else text
    (tmp_path / "rates.txt").write_bytes(data)
    return simulate("--rates", "rates.txt", "--json", *words, cwd=tmp_path).json()


# -- Plans for known rates ------------------------------------------------------------------------


def test_the_golden_case_with_its_orders(tmp_path: Path) -> None:
    """Shape and figures of the JSON: expected C from 0 to 1, orders by line from 0."""
    told = planned(tmp_path, GOLDEN, "--eta", 0.6, "--eta", 0.45, "--orders")
    assert (told["pages"], told["mode"]) == (8, "inducible")
    fifo, lifo, bold, careful, optimal = told["strategies"]
    assert list(told) == ["pages", "mode", "strategies"]
    assert list(fifo) == list(lifo) == ["name", "expected", "seconds"]
    assert list(bold) == ["name", "eta", "expected", "seconds", "order"]
    assert list(optimal) == ["name", "expected", "seconds", "order"]
    assert [fifo["name"], lifo["name"], bold["name"], careful["name"], optimal["name"]] == [
        "fifo", "lifo", "threshold", "threshold", "optimal",
    ]  # fmt: skip
    assert (bold["eta"], careful["eta"]) == (0.45, 0.6)
    assert careful["order"] == [0, 2, 3, 4, 5, 6, 7, 1]
    assert 8 * careful["expected"] == pytest.approx(4.797980145, abs=1e-9)
    assert bold["order"] == optimal["order"] == [0, 3, 4, 5, 6, 7, 2, 1]
    assert 8 * optimal["expected"] == pytest.approx(4.800239311, abs=1e-9)
    rates = [float(line) for line in GOLDEN.split()]
    assert lifo["expected"] == pytest.approx(
        sum((1 - rate) ** (2 * k) for rate in rates for k in range(8)) / 64
    )
    assert fifo["expected"] == pytest.approx(
        (1 + sum((1 - rate) ** 8 for rate in rates) * 7 / 8) / 8
    )
    assert all(each["seconds"] >= 0 for each in told["strategies"])


def test_the_measurable_golden_case(tmp_path: Path) -> None:
    told = planned(tmp_path, GOLDEN, "--eta", 0.6, "--mode", "measurable", "--orders")
    assert told["mode"] == "measurable"
    fifo, lifo, threshold, optimal = told["strategies"]
    assert fifo["expected"] == lifo["expected"]
    assert threshold["order"] == optimal["order"] == list(range(8))
    assert 8 * optimal["expected"] == pytest.approx(5.749788666, abs=1e-9)


def test_orders_come_when_asked_for_and_all_etas_by_default(tmp_path: Path) -> None:
    told = planned(tmp_path, GOLDEN)
    assert all("order" not in each for each in told["strategies"])
    etas = [each["eta"] for each in told["strategies"] if each["name"] == "threshold"]
    assert etas == [0.45, 0.5, 0.55, 0.6, 0.65, 0.7]


def test_the_extremes(tmp_path: Path) -> None:
    """Pages that never change, and in every slot: all but the joker lost."""
    assert planned(tmp_path, "1\n")["strategies"][-1]["expected"] == 1
    assert {each["expected"] for each in planned(tmp_path, "0\n-0\n0.0\n")["strategies"]} == {1}
    restless = planned(tmp_path, "1\n1\n1\n1\n")
    assert {each["expected"] for each in restless["strategies"]} == {0.25}


def test_rates_from_stdin(tmp_path: Path) -> None:
    done = subprocess.run(
        [rig.ASOF, "simulate", "coherence", "--rates", "-", "--json"], input=GOLDEN.encode(),
        capture_output=True, check=True, cwd=tmp_path, timeout=60, env=rig.clean_environment(),
    )  # fmt: skip
    assert json.loads(done.stdout)["pages"] == 8


def test_a_table_for_people(tmp_path: Path) -> None:
    (tmp_path / "rates.txt").write_text(GOLDEN)
    told = simulate("--rates", "rates.txt", "--eta", 0.6, cwd=tmp_path)
    lines = told.out.decode().splitlines()
    assert lines[0] == "Expected coherence, inducible, 8 pages"
    assert lines[1].split() == ["strategy", "eta", "expected", "C", "gain", "seconds"]
    assert [line.split()[0] for line in lines[2:6]] == ["fifo", "lifo", "threshold", "optimal"]
    assert lines[4].split()[:5] == ["threshold", "0.6", "59.97", "%", "+10.81"]


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"0.5\nhot\n", "line 2: 'hot' is no probability"), (b"\x00" * 1000, "line 1: ")],
    ids=["word", "binary"],
)
def test_a_bad_file_is_refused_with_the_line(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "rates.txt").write_bytes(data)
    told = simulate("--rates", "rates.txt", "--json", cwd=tmp_path, code=2)
    assert told.out == b""
    assert said in told.err
    assert told.err.startswith("asof: rates.txt")


def test_a_file_that_never_ends_is_not_read_to_its_end(tmp_path: Path) -> None:
    told = simulate("--rates", "/dev/zero", cwd=tmp_path, code=2, fresh=True)
    assert "/dev/zero is larger than 128 MB." in told.err
    assert told.peak_rss < 400 << 20


# -- Simulations ----------------------------------------------------------------------------------


def test_a_simulation_in_all_its_forms(tmp_path: Path) -> None:
    """The table, the CSV and the JSON tell the same; the drawing is there in both formats."""
    files = ("--csv", "out.csv", "--plot", "out.svg", "--plot", "out.png")
    words = (*SMALL, "--eta", 0.6, "--family", "uniform", "--family", "lognormal")
    shown = simulate(*words, *files, cwd=tmp_path)
    told = simulate(*words, "--json", cwd=tmp_path).json()
    assert {key: told[key] for key in ("pages", "mode", "runs", "seed")} == {
        "pages": 60, "mode": "inducible", "runs": 3, "seed": 1,
    }  # fmt: skip
    sites = [(point["family"], point["load"]) for point in told["points"]]
    assert sites == [("uniform", 0.5), ("uniform", 2.0), ("lognormal", 0.5), ("lognormal", 2.0)]
    names = ["fifo", "lifo", "threshold", "optimal", "worst", "best"]
    assert [each["name"] for each in told["points"][0]["strategies"]] == names
    assert list(told["points"][0]["strategies"][2]) == ["name", "eta", "expected", "mean", "error"]
    assert list(told["points"][0]["strategies"][-1]) == ["name", "mean", "error"]

    rows = list(csv.DictReader((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()))
    flat = [
        (point["family"], point["load"], each["name"], each["mean"])
        for point in told["points"]
        for each in point["strategies"]
    ]
    assert [(row["family"], float(row["load"]), row["strategy"]) for row in rows] == [
        each[:3] for each in flat
    ]
    assert [float(row["mean"]) for row in rows] == pytest.approx([each[3] for each in flat])
    assert {row["expected"] for row in rows if row["strategy"] in ("best", "worst")} == {""}
    assert (tmp_path / "out.svg").read_text().startswith("<?xml")
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")

    table = [line.split() for line in shown.out.decode().splitlines()]
    assert table[3] == ["load", "worst", "FIFO", "LIFO", "η", "0.6", "optimal", "best", "gain"]
    order = [
        names.index(name) for name in ("worst", "fifo", "lifo", "threshold", "optimal", "best")
    ]
    means = [percent(flat[index][3]).removesuffix(" %") for index in order]
    assert table[4][:-1] == ["0.5", *means]
    assert shown.err.splitlines() == ["out.svg written", "out.png written", "out.csv written"]


def test_a_measurable_simulation_has_one_breadth_first_column(tmp_path: Path) -> None:
    shown = simulate(*SMALL, "--mode", "measurable", "--eta", 0.6, cwd=tmp_path).out.decode()
    names = ["load", "worst", "BFS", "η", "0.6", "optimal", "best", "gain"]
    assert shown.splitlines()[3].split() == names


def test_the_same_seed_tells_the_same_and_another_does_not(tmp_path: Path) -> None:
    first = simulate(*SMALL, "--json", cwd=tmp_path).out
    assert simulate(*SMALL, "--json", cwd=tmp_path).out == first
    assert simulate(*SMALL, "--seed", 2, "--json", cwd=tmp_path).out != first


def test_nothing_but_what_was_asked_for_is_written(tmp_path: Path) -> None:
    simulate(*SMALL, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_narrow_terminal_sees_the_best_threshold_alone(tmp_path: Path) -> None:
    shown = in_terminal("simulate", "coherence", *SMALL, cwd=tmp_path, columns=70)
    rows = [line for line in shown.splitlines() if line.lstrip().startswith("load  ")]
    assert [row.split() for row in rows] == [
        ["load", "worst", "FIFO", "LIFO", "threshold", "optimal", "best", "gain"]
    ]


def test_who_watches_sees_a_progress_bar(tmp_path: Path) -> None:
    shown = in_terminal("simulate", "coherence", *SMALL, "--json", cwd=tmp_path, columns=100)
    assert "simulating" in shown
    assert "/8" in shown  # two loads, each planned once and crawled three times


def in_terminal(*words: object, cwd: Path, columns: int) -> str:
    """What a person sees: stdout and stderr on a terminal of so many columns, without colours."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [rig.ASOF, *map(str, words)], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
        cwd=cwd, env=rig.clean_environment() | {"COLUMNS": str(columns), "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    try:
        while part := _read(ours):
            seen += part
        assert process.wait(60) == 0, seen
    finally:
        os.close(ours)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode()).replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that nobody holds the other end any more
        return b""


def test_bad_usage_is_refused_before_the_work(tmp_path: Path) -> None:
    """Here, or a long simulation would be lost in the end."""
    told = simulate("--pages", 1_000_000, "--plot", "figure.pdf", cwd=tmp_path, code=2)
    assert "figure.pdf is no name for a plot. Let it end in .png or .svg." in told.err
    told = simulate("--pages", 1_000_000, "--csv", "none/out.csv", cwd=tmp_path, code=2)
    assert "none is not a folder. Make it first." in told.err


def test_help_does_not_load_what_it_does_not_need(tmp_path: Path) -> None:
    """Neither numpy nor matplotlib for --help; no matplotlib without --plot."""
    code = (
        "import sys; from asof.cli import run; run(sys.argv[1:]);"
        "print([name for name in ('numpy', 'matplotlib', 'scipy') if name in sys.modules])"
    )
    for words, loaded in ((["--help"], "[]"), ([*map(str, SMALL)], "['numpy']")):
        done = subprocess.run(
            [rig.BIN / "python", "-c", code, "simulate", "coherence", *words],
            capture_output=True, text=True, check=True, cwd=tmp_path, timeout=60,
        )  # fmt: skip
        assert done.stdout.splitlines()[-1] == loaded


# -- The guide ------------------------------------------------------------------------------------


def shown_in_the_guide() -> Iterator[tuple[str, str]]:
    """Each command of the guide that is to be run, with what it is said to print."""
    text = (ROOT / "docs" / "simulate.md").read_text(encoding="utf-8")
    for body in re.findall(r"^```console run\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in body.split("$ ")[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def test_the_guide_shows_what_its_commands_say(tmp_path: Path) -> None:
    """Word by word; percentages may be off by the noise of another plan that is as good."""
    commands = list(shown_in_the_guide())
    assert len(commands) >= 4
    for command, output in commands:
        if command.startswith("asof "):
            told = rig.ok(*shlex.split(command)[1:], cwd=tmp_path)
            said = told.out.decode() + told.err
        else:
            said = subprocess.run(
                command, shell=True, cwd=tmp_path, check=True, capture_output=True, text=True
            ).stdout
        ours, guides = _timeless(said).split(), _timeless(output).split()
        assert len(ours) == len(guides), command
        assert [pair for pair in zip(ours, guides, strict=True) if not _alike(*pair)] == [], command


def _timeless(text: str) -> str:
    return re.sub(r'\d+\.\d{3}$|"seconds": [0-9.e-]+', "S", text, flags=re.MULTILINE)


def _alike(one: str, other: str) -> bool:
    number = r"[+-]?\d+\.\d"
    if re.fullmatch(number, one) and re.fullmatch(number, other):
        return abs(float(one) - float(other)) < 0.35
    return one == other
