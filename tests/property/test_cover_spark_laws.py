"""Laws of what Spark's tasks do, without Spark: attributes, thresholds, forests."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.cover.documents.tables import Traits, column_of
from asof.cover.join.graph import components
from asof.cover.language.bounds import Bound, Least
from asof.cover.language.columns import Column, number_column, text_column, time_column
from asof.cover.spark.attributes import Attributes
from asof.cover.spark.candidates import cells, enough, need
from asof.cover.spark.components import _forest

SOME = st.none() | st.sampled_from(["", "a", "ä", "2010-01-01", "2010-02-01T10:00:00Z"])
VALUES = st.none() | st.integers(-3, 3) | st.floats() | st.booleans() | SOME


def same(one: Column, other: Column) -> bool:
    """Whether two columns say the same, whatever the numbers of their strings."""
    if one.kind != other.kind or not np.array_equal(one.known, other.known):
        return False
    if one.kind == "text":
        named = [[c.strings[code] for code in c.values[c.known]] for c in (one, other)]
        return named[0] == named[1]
    return np.array_equal(one.values[one.known], other.values[other.known])


@pytest.mark.needs("module:pyarrow")
@given(st.lists(st.tuples(st.none() | st.floats(), st.none() | st.integers(-9, 9), SOME)))
def test_attributes_come_back_as_they_went(
    rows: list[tuple[float | None, int | None, str]],
) -> None:
    columns = {
        "number": number_column([row[0] for row in rows]),
        "time": time_column(row[1] for row in rows),
        "text": text_column(row[2] for row in rows),
    }
    attributes = Attributes(tuple((name, column.kind) for name, column in columns.items()))
    table = dict(zip(attributes.places, attributes.arrays(columns), strict=True))
    half = len(rows) // 2
    parts = [{k: v.slice(0, half) for k, v in table.items()},
             {k: v.slice(half) for k, v in table.items()}]  # fmt: skip
    back = attributes.columns(parts)
    assert all(same(column, back[name]) for name, column in columns.items())


@given(st.lists(st.lists(VALUES), min_size=1))
def test_a_kind_can_be_decided_part_by_part(parts: list[list[object]]) -> None:
    found = [Traits.of(part) for part in parts]
    joined = Traits(
        any(part.known for part in found),
        all(part.numbers for part in found),
        all(part.moments for part in found),
    )
    assert joined.kind == column_of([value for part in parts for value in part]).kind


def computed(expression: str, **values: int) -> int | bool:
    """What Spark makes of an expression in whole numbers that are not negative."""
    python = re.sub(r"\b(\d+)L\b", r"\1", expression).replace(" div ", " // ")
    return eval(python, {"__builtins__": {}}, values)


@given(
    st.fractions(Fraction(1, 1000), 1, max_denominator=1000),
    st.sampled_from(["contained", "containing", "jaccard", "dice"]),
    st.integers(0, 400),
    st.integers(0, 400),
    st.integers(0, 400),
)
def test_thresholds_are_those_of_the_local_join(
    threshold: Fraction, measure: str, u: int, v: int, x: int
) -> None:
    shares = Bound(**{measure: Least(threshold)}).shares(400)
    sizes = np.array([u]), np.array([v])
    least = int(shares.need(*sizes)[0])
    assert computed(enough(shares, "x", "u", "v"), x=x, u=u, v=v) == (x >= least)
    assert computed(need(shares.alone, "u"), u=u) == int(shares.need_alone(sizes[0])[0])


@pytest.mark.parametrize(("many", "count"), [(1, 1), (1000, 1), (1001, 2), (3000, 3)])
def test_no_cell_has_more_than_its_share(many: int, count: int) -> None:
    assert computed(cells("many"), many=many) == count


@pytest.mark.needs("module:pyarrow")
@given(st.lists(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)))))
def test_a_forest_connects_what_its_edges_do(parts: list[list[tuple[int, int]]]) -> None:
    import pyarrow as pa

    batches = [
        pa.RecordBatch.from_arrays(
            [pa.array([edge[end] for edge in part], pa.int64()) for end in (0, 1)], ["a", "b"]
        )
        for part in parts
    ]
    stars = [tuple(row.values()) for batch in _forest(batches) for row in batch.to_pylist()]
    edges = [edge for part in parts for edge in part]
    label = components(31, [a for a, _ in edges], [b for _, b in edges])
    assert dict(stars) == {v: root for v, root in enumerate(label.tolist()) if v != root}
    assert len(stars) == len(dict(stars))
