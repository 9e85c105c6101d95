"""Covers on Spark, with a real one: the same answers as the local engine, from the same files."""

from __future__ import annotations

import json
import logging
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from asof.change.shingles import Unit
from asof.cli import run as cli
from asof.cli.cover import cover_command
from asof.cli.cover_print import print_answer
from asof.cover.answer import CoverAnswer, DocumentAnswer, Figures, document_answers
from asof.cover.documents.collection import chosen
from asof.cover.documents.tables import read_table
from asof.cover.join.graph import components
from asof.cover.join.join import JoinLimits
from asof.cover.question import Question
from asof.cover.run import thin_out
from asof.cover.spark import candidates
from asof.cover.spark.answer import answer_on_spark, answers
from asof.cover.spark.components import connected
from asof.cover.spark.run import SparkSummary, cover_on_spark
from asof.cover.spark.session import check_installed, spark_session
from asof.cover.spark.submit import main as submit
from asof.errors import InputError, UsageError
from asof.report.cover_export import answer_json

pytestmark = pytest.mark.needs("java", "module:pyspark", "module:pandas")

# Small tables: what Java would compile for speed costs more than it saves.
QUICK = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}
WORDS = ["alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine"]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with spark_session("local[2]", QUICK) as session:
        yield session


def written(folder: Path, rows: list[dict[str, object]], parts: int = 2) -> Path:
    """Rows in several files, one of them in several groups, and files that are no documents."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    table = pa.Table.from_pylist(rows)
    step = -(-len(rows) // parts)
    for part in range(parts):
        name = f"part {part}%20.parquet"  # names that are unparse otherwise in addresses
        pq.write_table(table.slice(part * step, step), folder / name, row_group_size=7)
    (folder / "_SUCCESS").write_text("")
    (folder / ".part 0.parquet.crc").write_text("no documents")
    return folder


def documents(seed: int, count: int) -> list[dict[str, object]]:
    """Versions of a few texts, empty ones, copies, and attributes of all kinds, some missing."""
    draw = random.Random(seed)
    texts = [draw.choices(WORDS, k=draw.randrange(1, 30)) for _ in range(count // 5)]
    rows: list[dict[str, object]] = []
    for number in range(count):
        words = list(draw.choice(texts))
        for _ in range(draw.randrange(3)):
            words[draw.randrange(len(words))] = draw.choice(WORDS)
        words += draw.choices(WORDS, k=draw.choice([0, 0, 3, 9]))
        words = [] if draw.random() < 0.05 else words
        day = draw.randrange(1, 28)
        rows.append(
            {
                "id": f"d{number}",
                "text": None if draw.random() < 0.02 else " ".join(words),
                "site": draw.choice(["a", "b", "ä", None]),
                "owner": draw.choice(["a", "b", "x"]),
                "day": draw.choice([f"2010-01-{day:02}", None]),
                "at": draw.choice([datetime(2010, 1, day, tzinfo=UTC), None]),
                "rank": draw.choice([1.0, 2.5, -0.0, 0.0, None]),
                "size": draw.randrange(6),
                "mixed": draw.choice(["2010-01-01", "no date"]),
                "nothing": None,
            }
        )
    return rows


def told(relation: str, figures: Figures, documents: Iterable[DocumentAnswer]) -> dict[str, object]:
    return answer_json(figures, tuple(documents))


def asked(
    source: Path, relation: str, options: Question, k: int = 5, where: str | None = None
) -> Question:
    return replace(options, relation=relation, table=str(source), where=where, k=k)


def on_spark(
    spark: Any, source: Path, relation: str, options: Question, k: int, where: str | None
) -> dict[str, object]:
    target = source.with_name(f"{source.name}-answer")
    summary = cover_on_spark(spark, asked(source, relation, options, k, where), str(target))
    found = told(relation, summary, answers(spark, str(target)))
    return found | {"weights": (summary.weight, summary.weight_kept), "seconds": 0}


def local(
    source: Path,
    relation: str,
    options: Question,
    k: int,
    where: str | None,
    unit: Unit = "terms",
) -> Any:
    table = read_table(source)
    collection = table.collection(k, unit)
    if where is not None:
        collection = collection.only(chosen(where, table.columns, table.texts))
    outcome = thin_out(collection, replace(options, relation=relation), JoinLimits())
    weights = collection.weights
    kept = int(weights[outcome.cover.kept].sum())
    return told(relation, Figures.of(outcome), document_answers(outcome)) | {
        "weights": (int(weights.sum()), kept),
        "seconds": 0,
    }


@pytest.mark.parametrize(
    ("relation", "options", "where"),
    [
        ("C(d1,d2) >= 0.6", Question(""), None),
        (
            "C(d1,d2) >= 0.5 and day(d1) <= day(d2) and site(d1) = site(d2)"
            " or J(d1,d2) > 0.4 and not site(d1) = site(d2) and at(d2) - at(d1) < 5d"
            " or site(d1) = owner(d2) and rank(d1) < rank(d2)",
            Question(""),
            None,
        ),
        (
            "C(d2,d1) >= 0.7 and rank(d1) = rank(d2)"
            " or D(d1,d2) = 1 and mixed(d1) >= mixed(d2)"
            " or size(d1) = size(d2) and C(d1,d2) < 0.3 and owner(d1) != 'x' and length(d2) > 60",
            Question("", prefer="rank"),
            "length(d) > 9 or text contains 'oak' or rank(d) = 1",
        ),
        (
            "J(d1,d2) >= 0.5 and size(d1) * 2 <= size(d2) + 4",
            Question("", at_least=(2, "site"), prefer="day"),
            "not owner(d) = 'x'",
        ),
        ("C(d1,d2) >= 0.4 and nothing(d1) = nothing(d2)", Question("", solver="seed"), None),
    ],
    ids=["plain", "or", "prefer", "at-least", "no-edges"],
)
def test_same_answer(
    spark: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    relation: str,
    options: Question,
    where: str | None,
) -> None:
    """All of it is the same: pairs, components, who stays, what covers the others, how far."""
    monkeypatch.setattr(candidates, "CELL", 10)  # so that even few documents are shared out
    source = written(tmp_path / "docs", documents(len(relation), 90), parts=3)
    expected = local(source, relation, options, 3, where)
    assert on_spark(spark, source, relation, options, 3, where) == expected


def test_frequent_shingles_are_shared_out(
    spark: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A shingle that all documents have is cut into cells; ids that are numbers stay such.

    This and the next one by the two commands that there are.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setattr(candidates, "CELL", 4)
    draw = random.Random(5)
    rows: list[dict[str, object]] = [
        {"id": 2**63 + number, "text": "the same foot " + " ".join(draw.choices(WORDS, k=3))}
        for number in range(60)
    ]
    source = tmp_path / "docs.parquet"
    schema = pa.schema([("id", pa.uint64()), ("text", pa.string())])
    pq.write_table(pa.Table.from_pylist(rows, schema), source)
    relation, options = "C(d1,d2) >= 0.3", Question("")
    expected = local(source, relation, options, 7, None, "characters")
    assert len(expected["dropped"]) > 20
    assert isinstance(expected["kept"][0], int)
    out = tmp_path / "answer.csv"
    given = ["cover", relation, "--from", str(source), "-k", "7", "--terms", "characters"]
    assert cli([*given, "--engine", "spark", "--csv", str(out), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == [
        "documents", "edges", "components", "kept", "dropped", "optimal", "gap", "seconds",
    ]  # fmt: skip
    assert printed | {"weights": expected["weights"], "seconds": 0} == expected
    assert len(out.read_text("utf-8").splitlines()) == 61


def test_rounds_do_not_grow_with_the_diameter(spark: Any) -> None:
    """Two paths of 16,384, in order and shuffled: no more than three quarters are left of a round.

    A quarter fits one task: log(4) / log(4/3) is 4.8. The seed's way takes 16,383 rounds.
    """
    import pyarrow as pa

    count = 1 << 14
    line, other = list(range(count)), list(range(count, 2 * count))
    random.Random(3).shuffle(other)
    pairs = pa.table([line[:-1] + other[:-1], line[1:] + other[1:]], names=["i", "j"])
    found = connected(spark.createDataFrame(pairs).repartition(4), enough=count // 2)
    assert 1 <= found.rounds <= 5
    assert sorted(found.frame.groupBy("root").count().collect()) == [(0, count), (count, count)]


def test_components_of_any_graph(spark: Any) -> None:
    import pyarrow as pa

    draw = random.Random(11)
    ends = [(draw.randrange(120), draw.randrange(120)) for _ in range(70)]
    ends = [(a, b) for a, b in ends if a != b] + list(pairwise(range(200, 230)))
    edges = spark.createDataFrame(pa.table([*map(list, zip(*ends, strict=True))], names=["i", "j"]))
    found = connected(edges.repartition(3), enough=30)
    label = components(230, [a for a, _ in ends], [b for _, b in ends]).tolist()
    touched = {vertex for edge in ends for vertex in edge}
    assert {(v, root) for v, root in found.frame.collect()} == {(v, label[v]) for v in touched}
    assert found.rounds > 0


def test_what_is_submitted_writes_its_answer(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = written(tmp_path / "docs", documents(1, 40)), tmp_path / "answer"
    given = ["C(d1,d2) >= 0.6", "--from", str(source), "--to", str(target), "-k", "5"]
    assert submit(given) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["kept"] + printed.pop("dropped") == printed["documents"]
    summary = SparkSummary(**printed)
    expected = local(source, "C(d1,d2) >= 0.6", Question(""), 5, None)
    found = told("", summary, answers(spark, str(target)))
    assert found | {"weights": expected["weights"], "seconds": 0} == expected
    first = list(answers(spark, str(target), dropped=3))
    assert [row.id for row in first] == [each["id"] for each in expected["dropped"][:3]]
    assert submit(given) == 2
    assert "is there already" in capsys.readouterr().err


def test_people_read_the_same_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collection = read_table(written(tmp_path / "docs", documents(2, 50))).collection(2)
    outcome = thin_out(collection, Question("C(d1,d2) >= 0.5"), JoinLimits())
    asked = Question("C(d1,d2) >= 0.5")
    print_answer(CoverAnswer(asked, Figures.of(outcome), tuple(document_answers(outcome))))
    expected = capsys.readouterr().out
    names, kept = collection.names, outcome.cover.kept
    dropped = [
        DocumentAnswer(names[d.document], False, names[d.by], d.containment, d.jaccard, d.dice)
        for d in outcome.dropped
    ]
    assert len(dropped) > 10
    count = int(kept.sum())
    summary = SparkSummary(
        len(collection), outcome.edges, outcome.cover.components.count, count,
        int(collection.weights.sum()), int(collection.weights[kept].sum()),
        outcome.optimal, outcome.gap, outcome.seconds,
    )  # fmt: skip
    print_answer(CoverAnswer(asked, summary, tuple(dropped[:10])))
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("relation", "options", "where", "told"),
    [
        (
            "C(d1,d2) >= 0.6 and host(d1) = host(d2)",
            Question(""),
            None,
            "no attribute is called 'host'",
        ),
        ("C(d1,d2) >= 0.6 and size(d1) = site(d2)", Question(""), None, "cannot be compared"),
        ("C(d1,d2) >= 0.6", Question("", prefer="site"), None, "site is a text, and no quality"),
        ("C(d1,d2) >= 0.6", Question("", at_least=(1, "host")), None, "no attribute 'host'"),
        ("C(d1,d2) >= 0.6", Question(""), "size(d) > 100", "holds no such documents"),
    ],
)
def test_bad_questions(
    spark: Any, tmp_path: Path, relation: str, options: Question, where: str | None, told: str
) -> None:
    """The same objections as the local engine has."""
    source = written(tmp_path / "docs", documents(1, 20))
    question = asked(source, relation, options, where=where)
    with pytest.raises(UsageError, match=told):
        cover_on_spark(spark, question, str(tmp_path / "to"))


def test_bad_tables(spark: Any, tmp_path: Path) -> None:
    def refused(source: Path, told: str) -> None:
        with pytest.raises(InputError, match=told):
            cover_on_spark(spark, Question("C(d1,d2) >= 0.7", str(source)), str(tmp_path / "to"))

    whole = written(tmp_path / "whole", documents(1, 20), parts=1)
    data = next(whole.glob("*.parquet")).read_bytes()
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(data[: len(data) // 2])
    refused(broken, "cannot be read as Parquet")
    middle = tmp_path / "middle.parquet"
    middle.write_bytes(data[:4] + bytes(len(data) // 2) + data[len(data) // 2 + 4 :])
    refused(middle, "middle.parquet")
    refused(tmp_path / "missing.parquet", "cannot be read as Parquet")
    empty = tmp_path / "empty"
    empty.mkdir()
    refused(empty, "cannot be read as Parquet")
    rows = [{"id": "a", "text": "x"}, {"id": None, "text": "y"}]
    refused(written(tmp_path / "nameless", rows), "document 2: no id")  # type: ignore[arg-type]
    rows = [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]
    refused(written(tmp_path / "twice", rows), "the id 'a' stands there twice")  # type: ignore[arg-type]
    refused(written(tmp_path / "odd", [{"id": "a", "text": 7}], parts=1), "its text is no text")
    refused(written(tmp_path / "bare", [{"id": "a", "txt": "x"}], parts=1), "document has a text")


def test_a_table_of_no_documents(spark: Any, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = tmp_path / "none.parquet"
    pq.write_table(pa.table({"id": pa.array([], pa.string()), "text": ["x"][:0]}), source)
    with pytest.raises(UsageError, match=r"holds no documents.*Check the file"):
        cover_on_spark(spark, Question("C(d1,d2) >= 1", str(source)), str(tmp_path / "to"))


def test_qualities_beyond_whole_numbers(spark: Any, tmp_path: Path) -> None:
    """Spark's floor is a whole number of 64 bits, and fails beyond."""
    worth = [1.5, 1e19, -2.5, None]
    rows: list[dict[str, object]] = [
        {"id": at, "text": "same words", "worth": worth[at]} for at in range(4)
    ]
    asked = ("C(d1,d2) >= 1", Question("", prefer="worth"), 2, None)
    source = written(tmp_path / "docs", rows)
    expected = local(source, *asked)
    assert expected["kept"] == [1]
    assert on_spark(spark, source, *asked) == expected


def test_dates_are_texts_to_both(spark: Any, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": at, "text": datetime(2010, 1, at // 2 + 1, tzinfo=UTC)} for at in range(4)
    ]
    source = written(tmp_path / "docs", rows)
    asked = ("C(d1,d2) >= 1", Question(""), 2, None)
    expected = local(source, *asked)
    assert expected["kept"] == [0, 2]
    assert on_spark(spark, source, *asked) == expected


def test_local_mode_writes_where_temporary_files_go(spark: Any) -> None:
    assert spark.conf.get("spark.local.dir") == tempfile.gettempdir()


def test_whoever_stops_it_sees_no_stacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    @contextmanager
    def stopped(master: str | None) -> Iterator[Any]:
        logging.getLogger().error("Exception while sending command.")
        yield None

    def interrupted(session: Any, question: Question, target: str) -> SparkSummary:
        assert target.startswith("file:///")  # never a place of Hadoop's own, which nobody clears
        raise KeyboardInterrupt

    monkeypatch.setattr("asof.cover.spark.answer.spark_session", stopped)
    monkeypatch.setattr("asof.cover.spark.answer.cover_on_spark", interrupted)
    with pytest.raises(KeyboardInterrupt):
        answer_on_spark(Question("C(d1,d2) >= 1", str(tmp_path / "x.parquet")))
    assert not caplog.records
    logging.getLogger().error("heard again")
    assert caplog.records


def test_local_mode_listens_on_loopback_alone(spark: Any) -> None:
    assert spark.conf.get("spark.driver.bindAddress") == "127.0.0.1"
    java = spark.sparkContext._gateway.proc.pid
    inodes = set()
    for link in Path(f"/proc/{java}/fd").iterdir():
        try:
            inodes.add(str(link.readlink()))
        except FileNotFoundError:  # closed meanwhile
            continue
    listening = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{java}/net/{table}").read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and f"socket:[{cells[9]}]" in inodes:
                listening.append(cells[1].split(":")[0])
    assert listening
    loopback = {"0100007F", "0000000000000000FFFF00000100007F"}
    assert set(listening) <= loopback


@pytest.mark.parametrize("unsigned", [True, False])
def test_large_whole_numbers_are_told_apart(spark: Any, tmp_path: Path, unsigned: bool) -> None:
    """64 bits without a sign are a decimal to Spark: no float may be made of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = pa.uint64() if unsigned else pa.decimal128(25, 0)
    large = [2**60, 2**60 + 1, 2**60]
    source = tmp_path / "docs.parquet"
    ids = pa.array([2**61, 2**61 + 1, 7]).cast(kind)
    table = {"id": ids, "text": ["a", "b", "c"], "owner": pa.array(large).cast(kind)}
    pq.write_table(pa.table(table), source)
    asked = ("owner(d1) = owner(d2)", Question(""), 5, None)
    expected = local(source, *asked)
    assert expected["kept"] == [2**61, 2**61 + 1]
    assert on_spark(spark, source, *asked) == expected


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    with pytest.raises(UsageError, match=r"Spark needs Java.*Install Java 17"):
        check_installed()
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(UsageError, match=r"needs pyspark.*extra \[spark\]"):
        check_installed()
    with pytest.raises(UsageError, match="needs a place"):
        answer_on_spark(Question("C(d1,d2) >= 1", "x"), master="spark://h:7077")


@pytest.mark.parametrize(
    ("out", "told"), [("docs.parquet", "named twice"), ("no/such.csv", "is not a folder")]
)
def test_nothing_is_written_over_the_table(tmp_path: Path, out: str, told: str) -> None:
    """Said before the work, as the local engine does: no session is needed for it."""
    table = tmp_path / "docs.parquet"
    table.write_bytes(b"precious")
    asked = ["C(d1,d2) >= 1", "--engine", "spark", "--from", str(table)]
    found = CliRunner().invoke(cover_command, [*asked, "--csv", str(tmp_path / out)])
    assert isinstance(found.exception, UsageError)
    assert told in str(found.exception)
    assert table.read_bytes() == b"precious"


def test_workers_do_without_the_command_line() -> None:
    """On a cluster only what the stages use must be there: no click, no lxml."""
    code = """
import sys
import asof.cover.spark.submit
print([m for m in ("click", "lxml", "selectolax", "pyspark", "scipy") if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
