"""`asof cover` as a user runs it: answers, their forms, and what is said about bad questions.

Most of it runs in the process of the test: to start one takes longer than all that is asked here.
"""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from asof.cli import run as cli
from support.rig import crawl, page, site, start
from support.rig import ok as run_apart

RULE = "C(d1,d2) >= 0.8"
KEYS = ["documents", "edges", "components", "kept", "dropped", "optimal", "gap", "seconds"]
LONG = " ".join(f"The harbour master wrote sentence {n} about boats and tides." for n in range(40))
FOOD = " ".join(f"Cooks of the valley praise recipe {n} with onions and rye." for n in range(40))
SEEDS = "C(d1,d2) >= 0.7 and timestamp(d1) <= timestamp(d2) and hostname(d1) = hostname(d2)"

DOCUMENTS = [
    {"id": "short", "text": "one two three four five six", "host": "a", "n": 1,
     "day": "2010-01-01"},
    {"id": "long", "text": "one two three four five six seven eight", "host": "a", "n": 2,
     "day": "2010-01-05"},
    {"id": "same", "text": "One, two; three four five SIX!", "host": "b", "n": 3,
     "day": "2010-01-03"},
    {"id": "apart", "text": "nothing of all that is said in here", "host": "b", "n": 4},
    {"id": "empty", "text": "", "host": "b", "n": 5, "day": "2010-01-09"},
]  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("cover") / "docs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in DOCUMENTS))
    return file


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Two crawls: one page grew in between, one is another, one is a picture."""
    folder = tmp_path_factory.mktemp("cover") / "archive"

    def article(title: str, text: str) -> str:
        links = "<a href='/food'>Food</a> <img src='/p.png'>"
        body = f"<main><h1>{title}</h1><p>{text}</p></main><nav>{links}</nav>"
        return f"<!doctype html><html lang=en><title>{title}</title><body>{body}</body></html>"

    with site({}) as server:
        server.pages.update(
            {
                "/": page(article("Boats", LONG)),
                "/food": page(article("Food", FOOD)),
                "/p.png": page(b"\x89PNG\r\n\x1a\n" + bytes(40), media="image/png"),
            }
        )
        crawl(folder, server.url + "/")
        server.pages["/"] = page(article("Boats", LONG + " At last, an expense was claimed."))
        crawl(folder, server.url + "/")
        return folder, server.url


@dataclass(frozen=True)
class Said:
    """What came of a command."""

    out: str
    err: str

    def json(self) -> dict:
        """The one JSON document on stdout."""
        return json.loads(self.out)


Cover = Callable[..., Said]


@pytest.fixture
def cover(capsys: pytest.CaptureFixture[str]) -> Cover:
    """Runs `asof cover`, which must end with the exit code."""

    def run(*args: object, code: int = 0) -> Said:
        capsys.readouterr()
        assert cli(["cover", *map(str, args)]) == code
        return Said(*capsys.readouterr())

    return run


@pytest.fixture
def refused(cover: Cover) -> Callable[..., str]:
    """Runs `asof cover`, which must say one thing about what is wrong, and exit 2."""

    def run(*args: object) -> str:
        said = cover(*args, code=2)
        assert said.out == ""
        assert said.err.startswith("asof: ")
        assert said.err.count("asof: ") == 1
        assert len(said.err) < 1000
        return said.err

    return run


# --- answers -------------------------------------------------------------------------------------


def test_json_has_the_shape_of_the_issue(table: Path) -> None:
    found = run_apart("cover", "C(d1,d2) >= 0.5", "--from", table, "--json").json()
    assert list(found) == KEYS
    assert found["documents"] == 5
    assert found["edges"] == 6, "all of short, long and same, both ways"
    assert found["components"] == 3
    assert found["kept"] == ["short", "apart", "empty"]
    assert found["dropped"] == [
        {"id": "long", "by": "short", "containment": 0.5, "jaccard": 0.5, "dice": 0.666667},
        {"id": "same", "by": "short", "containment": 1.0, "jaccard": 1.0, "dice": 1.0},
    ]
    assert found["optimal"] is True
    assert found["gap"] == 0
    assert found["seconds"] >= 0


def test_ids_that_were_numbers_are_numbers_again(cover: Cover, tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_text('{"id": 10, "text": "a b"}\n{"id": 2, "text": "a b"}\n')
    found = cover("J(d1,d2) = 1", "--from", file, "--json").json()
    assert found["kept"] == [10]
    assert [(each["id"], each["by"]) for each in found["dropped"]] == [(2, 10)]


def test_the_table_says_what_stays_and_what_goes(cover: Cover, table: Path) -> None:
    said = cover("C(d1,d2) >= 0.7", "--from", table).out
    assert "3 of 5 documents cover all of them: 40.0 % fewer" in said
    assert "No smaller set does: proven." in said
    assert "  short\n    100.0 % in long" in said


def test_metadata_and_missing_values_count(cover: Cover, table: Path) -> None:
    def kept(relation: str, *more: object) -> list[str]:
        return cover(relation, "--from", table, "--json", *more).json()["kept"]

    same_host = "C(d1,d2) >= 0.7 and host(d1) = host(d2)"
    assert kept(same_host) == ["long", "same", "apart", "empty"]
    earlier = "C(d1,d2) >= 0.7 and day(d1) <= day(d2)"
    assert kept(earlier) == ["long", "apart", "empty"]
    assert kept("host(d1) = host(d2) and day(d1) <= day(d2)") == ["long", "apart", "empty"]
    assert kept("host(d1) = host(d2)") == ["short", "same"]
    assert kept("host(d1) = host(d2)", "--prefer", "n") == ["long", "empty"]
    assert kept("host(d1) = host(d2)", "--prefer", "day") == ["long", "empty"]
    assert kept("host(d1) = host(d2)", "--at-least", "2 per host") == [
        "short", "long", "same", "apart",
    ]  # fmt: skip
    assert kept("C(d1,d2) >= 0.7", "--where", 'text contains "two three"') == ["long"]
    assert kept("C(d1,d2) >= 0.7", "--solver", "seed") == ["long", "apart", "empty"]
    assert kept("C(d1,d2) >= 0.7", "-k", 1, "--memory", "1MB") == ["short", "apart", "empty"]


def test_csv_has_every_document(cover: Cover, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = cover("C(d1,d2) >= 0.7", "--from", table, "--csv", out)
    assert "3 of 5" in result.out
    with out.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["id", "kept", "by", "containment", "jaccard", "dice"],
        ["short", "0", "long", "1.0", "0.5", "0.6666666666666666"],
        ["long", "1", "", "", "", ""],
        ["same", "0", "long", "1.0", "0.5", "0.6666666666666666"],
        ["apart", "1", "", "", "", ""],
        ["empty", "1", "", "", "", ""],
    ]


def test_explain_runs_nothing(cover: Cover, tmp_path: Path) -> None:
    relation = SEEDS + " and length(d1) * 2 > length(d2) and mime-type(d2) = 'text/html'"
    said = cover(relation, "--explain", "-a", tmp_path / "none").out
    for line in ("bounds the join", "partition key", "range", "d2 alone", "pair by pair"):
        assert line in said
    assert "hostname" in said
    both = cover(f"{SEEDS} or url(d1) = url(d2)", "--explain").out
    assert "Way 2 of 2" in both


def test_an_archive_is_thinned_out(cover: Cover, archive: tuple[Path, str]) -> None:
    folder, url = archive
    found = run_apart("cover", SEEDS, "-a", folder, "--json").json()
    assert found["documents"] == 3, "two versions of one page, and one of another"
    [gone] = found["dropped"]
    assert gone["id"].endswith(url + "/")
    assert gone["by"].endswith(url + "/")
    earlier, later = (gone[key].partition("/")[0] for key in ("id", "by"))
    assert earlier < later, "the earlier is covered by the later, also within a second"
    assert gone["containment"] >= 0.7
    assert found["optimal"] is True
    some = cover(SEEDS, "-a", folder, "--where", 'text contains "expense"', "--json").json()
    assert some["documents"] == 1
    said = cover("C(d1,d2) >= 0.7", "-a", folder, "--text", "full").out
    assert "2 of 3 documents" in said


def test_names_cannot_steer_a_terminal(cover: Cover, tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    rows = [{"id": f"\x1b[31m{n}\u202e\r\n", "text": "a b"} for n in range(2)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = cover("C(d1,d2) >= 0.5", "--from", file).out
    assert "\x1b" not in said
    assert "\r" not in said


def test_documents_without_text_and_of_one_word_are_defined(cover: Cover, tmp_path: Path) -> None:
    """Empty ones equal each other and nothing else; one word is one shingle."""
    file = tmp_path / "docs.jsonl"
    texts = ["", " ... ", "word", "Word!", "word and more of it here"]
    file.write_text("".join(json.dumps({"id": n, "text": t}) + "\n" for n, t in enumerate(texts)))
    found = cover("C(d1,d2) >= 0.1", "--from", file, "--json").json()
    assert found["kept"] == [0, 2, 4]
    assert [(each["id"], each["by"], each["jaccard"]) for each in found["dropped"]] == [
        (1, 0, 1.0),
        (3, 2, 1.0),
    ]


# --- bad questions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "said"),
    [
        ("C(d1,d2) >= 0.7 and hosst(d1) = host(d2)", "Column 21: no attribute is called 'hosst'"),
        ("C(d1,d2) >= 0.7 and host(d1) > 5", "Column 21: 'host' (text) and a number"),
        ("C(d1,d2) >= 0.7 and n(d1) = 'x'", "cannot be compared"),
        ("C(d1,d2) >= 0.7 and day(d1) + 7 < day(d2)", "604800s or 7d"),
        ("C(d1,d2) >= 0", "Column 13: expected a threshold above 0 and up to 1"),
        ("C(d1,d2) >= 1.5", "Column 13: expected a threshold above 0 and up to 1"),
        ("J(d1,d2) > 1", "more than 1 is never reached"),
        ("n(d1) < n(d2)", "all pairs would have to be compared"),
        ("C(d1,d2) >= 0.5 or n(d1) < n(d2)", "all pairs would have to be compared"),
        ("C(d1,d2) >= 0.5 and n(d1) / 0 > 1", "division by zero"),
        ("C(d1,d2) >= 0.5 and n(d1) / (2 - 2) > 1", "division by zero"),
        ("C(d1,d2) >= 1 / 0", "division by zero"),
        ("", "the relation is empty"),
        ("C(d1,d2) >= 0.7)", "this parenthesis was not opened"),
        ("C(d1,d2) >=", "expected a value"),
        ("__import__('os').system('true') = 1", "is no part of the language"),
        ("(" * 5000 + ")" * 5000, "nested deeper than 100"),
        ("not " * 2000 + "C(d1,d2) > 0.5", "nested deeper than 100"),
    ],
    ids=range(18),
)
def test_a_bad_relation_is_pointed_at(
    refused: Callable[..., str], table: Path, relation: str, said: str
) -> None:
    assert said in refused(relation, "--from", table)


def test_as_long_a_relation_as_the_system_takes(table: Path) -> None:
    longest = 32 * os.sysconf("SC_PAGE_SIZE") - 1  # of one argument, on Linux
    result = run_apart("cover", "(" * longest, "--from", table, code=2)
    assert f"{longest:,} characters" in result.err
    assert len(result.err) < 200
    assert result.seconds < 20


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--where", "hosst(d) = 'a'"), "no attribute is called 'hosst'"),
        (("--where", "n(d) = 'a'"), "cannot be compared"),
        (("--where", "C(d1,d2) > 0.5"), "filter"),
        (("--where", "host(d) = 'zz'"), "holds no such documents"),
        (("--prefer", "lenght"), "Did you mean length?"),
        (("--prefer", "host"), "no quality"),
        (("--prefer", "recency"), "timestamp"),
        (("--at-least", "many per host"), "2 per hostname"),
        (("--at-least", "0 per host"), "2 per hostname"),
        (("--at-least", "2 per hosst"), "Did you mean host?"),
        (("--at-least", "2 per host", "--solver", "seed"), "seed"),
        (("-k", "0"), "-k"),
        (("--memory", "much"), "number of bytes"),
        (("--csv", "none/such/out.csv"), "is not a folder"),
    ],
    ids=range(14),
)
def test_a_bad_option_is_named(
    refused: Callable[..., str], table: Path, args: tuple[str, ...], said: str
) -> None:
    assert said in refused("C(d1,d2) >= 0.7", "--from", table, *args)


def test_no_archive_an_empty_one_and_bad_files(refused: Callable[..., str], tmp_path: Path) -> None:
    relation = "C(d1,d2) >= 0.7"
    assert "no archive" in refused(relation, "-a", tmp_path / "none")
    (tmp_path / "archive" / "warc").mkdir(parents=True)
    assert cli(["reindex", "-a", str(tmp_path / "archive")]) == 0
    assert "holds no documents" in refused(relation, "-a", tmp_path / "archive")
    assert "none.jsonl" in refused(relation, "--from", tmp_path / "none.jsonl")
    assert "holds no Parquet files" in refused(relation, "--from", tmp_path)
    binary = tmp_path / "docs.jsonl"
    binary.write_bytes(bytes(range(256)) * 10)
    assert "not JSON" in refused(relation, "--from", binary)
    binary.write_bytes(b"")
    assert "holds no documents" in refused(relation, "--from", binary)
    damaged = tmp_path / "docs.parquet"
    damaged.write_bytes(b"PAR1 and nothing else")
    assert "is no Parquet file" in refused(relation, "--from", damaged)


# --- stopping ------------------------------------------------------------------------------------


def test_ctrl_c_gives_the_best_so_far(tmp_path: Path) -> None:
    """Pressed while the pairs are compared: what is dropped is covered, and nothing is proven."""
    chance = random.Random(6)
    rows = [
        {"id": n, "text": " ".join(f"w{chance.randrange(60)}" for _ in range(25)), "g": n % 2}
        for n in range(14_000)
    ]
    for n in range(1, len(rows), 10):  # equal documents are found first
        rows[n]["text"] = rows[n - 1]["text"]
    file = tmp_path / "docs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    relation = "C(d1,d2) >= 0.3 and g(d1) != g(d2) and C(d2,d1) >= 0.9"
    process = start("cover", relation, "-k", 1, "--from", file, "--json", "--time-limit", 1)
    try:
        until = time.monotonic() + 30
        while cpu_seconds(process.pid) < 2.5 and time.monotonic() < until:
            assert process.poll() is None, "ended before it could be stopped"
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, err
    assert b"Stopping" in err
    found = json.loads(out)
    assert list(found) == KEYS
    assert found["optimal"] is False
    assert found["gap"] >= 1
    assert len(found["dropped"]) == 1400
    kept = set(found["kept"])
    words = [set(str(row["text"]).split()) for row in rows]
    assert len(kept) + len(found["dropped"]) == len(rows)
    for each in found["dropped"]:
        assert each["by"] in kept
        one, other = words[each["id"]], words[each["by"]]
        assert each["containment"] == round(len(one & other) / len(one), 6)


def cpu_seconds(pid: int) -> float:
    """What a process has computed so far: on a busy machine a clock would say little."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_characters_are_terms_for_scripts_without_spaces(cover: Cover, tmp_path: Path) -> None:
    text = "渡船每天早上九点离开港口下午五点返回星期日没有渡船请在码头等候"
    file = tmp_path / "docs.jsonl"
    rows = [{"id": "long", "text": text + "票价是十元"}, {"id": "short", "text": text[:-4] + "!"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    rule = "C(d1,d2) >= 0.8"
    assert len(cover(rule, "--from", file, "--json").json()["kept"]) == 2, "each is one word"
    found = cover(rule, "--from", file, "-k", 6, "--terms", "characters", "--json").json()
    assert found["kept"] == ["long"]


def test_characters_of_an_archive_are_kept_apart_from_words(
    cover: Cover, archive: tuple[Path, str]
) -> None:
    by_words = [cover("J(d1,d2) >= 0.3", "-a", archive[0], "--json").json() for _ in range(2)]
    asked = ("J(d1,d2) >= 0.3", "-a", archive[0], "--terms", "characters", "--json")
    by_characters = [cover(*asked).json() for _ in range(2)]
    for one, again in (by_words, by_characters):
        assert one | {"seconds": 0} == again | {"seconds": 0}
    assert by_words[0]["dropped"][0]["jaccard"] != by_characters[0]["dropped"][0]["jaccard"]


@pytest.mark.parametrize("asked", [["--list"], ["--diff", "a", "b"], [RULE, "--explain"],
                                   [RULE, "--estimate"]])  # fmt: skip
def test_options_of_a_run_are_refused_where_nothing_runs(
    refused: Callable[..., str], table: Path, tmp_path: Path, asked: list[str]
) -> None:
    place = ["--from", str(table)] if RULE in asked else []
    for option in (["--save", "x"], ["--csv", tmp_path / "x"], ["--html", tmp_path / "x"]):
        assert "runs nothing" in refused(*asked, *place, *option)


def test_an_explanation_as_json(cover: Cover, table: Path) -> None:
    said = cover(RULE, "--from", table, "--explain", "--json").json()
    assert said["relation"] == RULE
    assert "bounds the join" in said["explained"]
