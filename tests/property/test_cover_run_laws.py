"""Laws of `cover`: pairs and covers equal brute force, by an evaluator that shares no code.

Relations are drawn as trees of this file's own, written out in the language, and answered both by
asof and by walking over all pairs of documents with Python's sets, fractions and comparisons.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from operator import eq, ge, gt, le, lt, ne

import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from asof.cover.documents.collection import Collection, chosen
from asof.cover.documents.tables import Table
from asof.cover.join.pairs import Limits, found_pairs
from asof.cover.language.analyse import parse_relation
from asof.cover.language.columns import number_column, text_column, time_column
from asof.cover.language.kinds import type_check
from asof.cover.options import CoverOptions
from asof.cover.run import Outcome, thin_out
from asof.cover.solve.solve import solve
from asof.errors import UsageError

DAY = 86_400_000_000
START = 1_262_304_000_000_000  # 2010-01-01
COMPARE = {"=": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge}
TURNED = {"=": "!=", "!=": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}
FLIPPED = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

Value = str | float | int | None


@dataclass(frozen=True)
class Paper:
    """A document: `host` and `tag` are text, `n` and `m` numbers, `t` days after New Year 2010."""

    text: str
    host: str | None
    tag: str | None
    n: float | None
    m: float | None
    t: int | None


WORDS = st.sampled_from(["a", "b", "c", "D", "d", "é"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join) | st.sampled_from(
    ["", " . ", "a b c d e f", "a b c d e f g", "A, b c! d e f", "x"]
)
NUMBERS = st.none() | st.sampled_from([-2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0])
PAPERS = st.builds(
    Paper,
    TEXTS,
    st.none() | st.sampled_from(["a", "b", "B", "é"]),
    st.none() | st.sampled_from(["a", "b", ""]),
    NUMBERS,
    NUMBERS,
    st.none() | st.integers(0, 12),
)


def several(most: int) -> st.SearchStrategy[list[Paper]]:
    """Papers, some of them twice."""
    return st.lists(PAPERS, max_size=most).flatmap(
        lambda some: st.just(some) | st.permutations([*some, *some[: max(0, most - len(some))]])
    )


def collection_of(papers: list[Paper], k: int) -> Collection:
    columns = {
        "host": text_column(paper.host for paper in papers),
        "tag": text_column(paper.tag for paper in papers),
        "n": number_column([paper.n for paper in papers]),
        "m": number_column([paper.m for paper in papers]),
        "t": time_column(None if p.t is None else START + p.t * DAY for p in papers),
    }
    texts = tuple(paper.text for paper in papers)
    return Table(tuple(f"p{at}" for at in range(len(papers))), texts, columns).collection(k)


# --- relations as trees: (text, test of two papers when upright or turned round) -----------------


def shingles(paper: Paper, k: int) -> frozenset[tuple[str, ...]]:
    terms = re.findall(r"\w+", paper.text.lower())
    if len(terms) < k:
        return frozenset([tuple(terms)] if terms else [])
    return frozenset(tuple(terms[at : at + k]) for at in range(len(terms) - k + 1))


def measure(name: str, first: int, pair: tuple[Paper, Paper], k: int) -> Fraction:
    one, other = shingles(pair[first - 1], k), shingles(pair[2 - first], k)
    if not one and not other:
        return Fraction(1)
    common = len(one & other)
    part, whole = {
        "C": (common, len(one)),
        "J": (common, len(one | other)),
        "D": (2 * common, len(one) + len(other)),
    }[name]
    return Fraction(part, whole) if whole else Fraction(0)


class Condition:
    """Something that is written, and that holds or not for two papers and a k."""

    written: str

    def holds(self, pair: tuple[Paper, Paper], k: int, *, turned: bool = False) -> bool:
        raise NotImplementedError


@dataclass(frozen=True)
class About(Condition):
    """A measure of content."""

    name: str
    first: int
    sign: str
    threshold: str
    behind: bool

    @property
    def written(self) -> str:  # type: ignore[override]
        said = f"{self.name}(d{self.first},d{3 - self.first})"
        if self.behind:
            return f"{self.threshold} {FLIPPED[self.sign]} {said}"
        return f"{said} {self.sign} {self.threshold}"

    def holds(self, pair: tuple[Paper, Paper], k: int, *, turned: bool = False) -> bool:
        sign = TURNED[self.sign] if turned else self.sign
        return COMPARE[sign](measure(self.name, self.first, pair, k), Fraction(self.threshold))


@dataclass(frozen=True)
class Known(Condition):
    """A comparison of metadata, with its two sides as written and as Python has them."""

    left: str
    sign: str
    right: str

    @property
    def written(self) -> str:  # type: ignore[override]
        return f"{self.left} {self.sign} {self.right}"

    def holds(self, pair: tuple[Paper, Paper], k: int, *, turned: bool = False) -> bool:
        sign = TURNED[self.sign] if turned else self.sign
        try:
            left, right = valued(self.left, pair), valued(self.right, pair)
        except (TypeError, ZeroDivisionError):  # a value that is not known
            return False
        return left is not None and right is not None and COMPARE[sign](left, right)


def valued(side: str, pair: tuple[Paper, Paper]) -> Value:
    """What a side comes to, by Python's own arithmetic: dates are days."""
    code = re.sub(r"2010-01-(\d\d)", lambda found: str(int(found[1]) - 1), side)
    code = re.sub(r"(\w+)\(d([12])\)", r"d\2.\1", code)
    code = re.sub(r"(\d+)w", lambda found: str(7 * int(found[1])), code)
    code = re.sub(r"(\d+)h", lambda found: str(int(found[1]) / 24), code)
    code = re.sub(r"\b(\d+)d\b", r"\1", code)
    return eval(code, {"__builtins__": {}}, {"d1": pair[0], "d2": pair[1]})


@dataclass(frozen=True)
class Joined(Condition):
    """Conditions joined by and, by or."""

    word: str
    parts: tuple[Condition, ...]

    @property
    def written(self) -> str:  # type: ignore[override]
        return "(" + f" {self.word} ".join(part.written for part in self.parts) + ")"

    def holds(self, pair: tuple[Paper, Paper], k: int, *, turned: bool = False) -> bool:
        found = [part.holds(pair, k, turned=turned) for part in self.parts]
        return all(found) if (self.word == "and") != turned else any(found)


@dataclass(frozen=True)
class Denied(Condition):
    """not."""

    part: Condition

    @property
    def written(self) -> str:  # type: ignore[override]
        return f"not ({self.part.written})"

    def holds(self, pair: tuple[Paper, Paper], k: int, *, turned: bool = False) -> bool:
        return self.part.holds(pair, k, turned=not turned)


THRESHOLDS = st.sampled_from(["0.05", "1/3", "0.5", "0.6", "2/3", "0.7", "0.999", "1"])
SIGNS = st.sampled_from(list(COMPARE))
MEASURES = st.sampled_from([("C", 1), ("C", 2), ("J", 1), ("D", 1), ("J", 2)])


def about(signs: st.SearchStrategy[str]) -> st.SearchStrategy[Condition]:
    made = st.builds(
        lambda which, sign, threshold, behind: About(*which, sign, threshold, behind),
        MEASURES, signs, THRESHOLDS, st.booleans(),
    )  # fmt: skip
    return made.filter(lambda found: (found.sign, found.threshold) != (">", "1"))


SIDES = [
    *(("host(d1)", "host(d2)"), ("tag(d2)", "tag(d1)"), ("host(d1)", "tag(d2)")),
    *(("host(d1)", "'a'"), ("'b'", "host(d2)"), ("tag(d1)", "''"), ("tag(d2)", "host(d2)")),
    *(("n(d1)", "n(d2)"), ("m(d2)", "m(d1)"), ("n(d1)", "m(d2)"), ("n(d1)", "m(d1)")),
    *(("n(d1) + 2", "n(d2)"), ("n(d2) - n(d1)", "1"), ("n(d2) - n(d1)", "0.5"), ("m(d2)", "1")),
    *(("n(d1) * 2", "n(d2)"), ("n(d1) / m(d2)", "2"), ("n(d1) / (m(d1) - 1)", "n(d2)")),
    *(("- n(d1) + 1", "n(d2) * m(d2)"), ("1", "n(d1)"), ("n(d1) - 3 + n(d1)", "m(d1)")),
    *(("t(d1)", "t(d2)"), ("t(d2)", "t(d1)"), ("t(d1) + 3d", "t(d2)"), ("t(d2) - t(d1)", "1w")),
    *(("t(d1)", "2010-01-05"), ("2010-01-07", "t(d2)"), ("t(d1) - 2d", "t(d2) - 1w")),
    *(("t(d1) - t(d2)", "36h"), ("(t(d2) - t(d1)) / 2d", "1"), ("t(d2)", "t(d1) - 12h + 2d")),
]
KNOWN = st.builds(
    lambda sides, sign: Known(sides[0], sign, sides[1]), st.sampled_from(SIDES), SIGNS
)
ATOMS = about(SIGNS) | KNOWN
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: (
        st.builds(
            lambda word, parts: Joined(word, tuple(parts)),
            st.sampled_from(["and", "or"]),
            st.lists(inner, min_size=2, max_size=3),
        )
        | inner.map(Denied)
    ),
    max_leaves=5,
)
ANCHORS = (
    about(st.sampled_from([">=", ">", "="]))
    | about(st.sampled_from(["<"])).map(Denied)
    | st.sampled_from(
        [
            Known("host(d1)", "=", "host(d2)"),
            Known("n(d2)", "=", "n(d1)"),
            Known("t(d1)", "=", "t(d2)"),
            Known("tag(d1)", "=", "host(d2)"),
            Known("n(d1)", "=", "m(d2)"),
            Denied(Known("tag(d1)", "!=", "tag(d2)")),
        ]
    )
)
WAYS = ANCHORS | st.builds(lambda a, c: Joined("and", (a, c)), ANCHORS, CONDITIONS)
RELATIONS = st.lists(WAYS, min_size=1, max_size=2).map(
    lambda ways: ways[0] if len(ways) == 1 else Joined("or", tuple(ways))
)
LIMITS = st.sampled_from([Limits(), Limits(threads=1), Limits(memory=1, threads=2)])


def all_pairs(papers: list[Paper], relation: Condition, k: int) -> set[tuple[int, int]]:
    return {
        (i, j)
        for i, j in permutations(range(len(papers)), 2)
        if relation.holds((papers[i], papers[j]), k)
    }


def ran(found: Collection, relation: Condition, options: CoverOptions, limits: Limits) -> Outcome:
    try:
        return thin_out(found, relation.written, options, limits)
    except UsageError as error:
        assume("alternatives" not in str(error))
        raise


TIMES = Known("t(d1)", "<=", "t(d2)")
OFTEN = About("C", 1, ">=", "0.7", behind=False)
SAME = Known("host(d1)", "=", "host(d2)")
EMPTY = Paper("", None, None, None, None, None)


@given(several(9), RELATIONS, st.sampled_from([1, 2, 5]), LIMITS)
@example([], OFTEN, 5, Limits())
@example([EMPTY, EMPTY, Paper("a", "a", None, 0.0, -0.5, 3)], OFTEN, 5, Limits())
@example([EMPTY] * 3, Joined("and", (OFTEN, TIMES, SAME)), 2, Limits())
@settings(max_examples=120, deadline=None)
def test_covering_pairs_are_those_of_brute_force(
    papers: list[Paper], relation: Condition, k: int, limits: Limits
) -> None:
    found = collection_of(papers, k)
    try:
        written = type_check(parse_relation(relation.written), found.columns)
    except UsageError as error:
        assume("alternatives" not in str(error))
        raise
    edges = found_pairs(found, written, limits)
    pairs = list(zip(edges.i.tolist(), edges.j.tolist(), strict=True))
    assert pairs == sorted(set(pairs)), "each once, in order"
    assert set(pairs) == all_pairs(papers, relation, k)
    sets = [shingles(paper, k) for paper in papers]
    common = [len(sets[i] & sets[j]) for i, j in pairs]
    assert edges.inter.tolist() == common


# --- covers ---------------------------------------------------------------------------------------


def coverers(count: int, pairs: set[tuple[int, int]]) -> list[int]:
    """For each document, as bits, those that cover it."""
    by = [1 << at for at in range(count)]
    for i, j in pairs:
        by[i] |= 1 << j
    return by


def covers(count: int, pairs: set[tuple[int, int]], groups: list[int], least: int) -> list[int]:
    """All smallest covers that hold `least` of each group, as bits."""
    by = coverers(count, pairs)
    members = [
        sum(1 << at for at, group in enumerate(groups) if group == each)
        for each in sorted({group for group in groups if group >= 0})
    ]
    for size in range(count + 1):
        found = [
            bits
            for some in combinations(range(count), size)
            for bits in [sum(1 << at for at in some)]
            if all(bits & mask for mask in by)
            and all((bits & m).bit_count() >= min(least, m.bit_count()) for m in members)
        ]
        if found:
            return found
    raise AssertionError("all documents cover all documents")


def components(count: int, pairs: set[tuple[int, int]]) -> int:
    label = list(range(count))
    for _ in range(count):
        for i, j in pairs:
            label[i] = label[j] = min(label[i], label[j])
    return len(set(label))


def sound(outcome: Outcome, papers: list[Paper], pairs: set[tuple[int, int]], k: int) -> None:
    """Everything is covered by what stays, and dropped documents say by how much."""
    kept = np.flatnonzero(outcome.cover.kept).tolist()
    assert outcome.kept == [f"p{at}" for at in kept]
    assert outcome.edges == len(pairs)
    gone = [each.document for each in outcome.dropped]
    assert sorted([*kept, *gone]) == list(range(len(papers)))
    for each in outcome.dropped:
        assert each.by == min(j for j in kept if (each.document, j) in pairs)
        pair = papers[each.document], papers[each.by]
        assert each.containment == float(measure("C", 1, pair, k))
        assert each.jaccard == float(measure("J", 1, pair, k))
        assert each.dice == float(measure("D", 1, pair, k))
    sizes = [len(paper.text.encode()) for paper in papers]
    documents, weight = outcome.saved
    assert documents == (len(gone) / len(papers) if papers else 0)
    assert weight == (sum(sizes[at] for at in gone) / sum(sizes) if sum(sizes) else 0)
    assert outcome.complete


@given(several(8), RELATIONS, st.sampled_from([1, 2]))
@settings(max_examples=60, deadline=None)
def test_a_cover_is_the_smallest_and_covers_everything(
    papers: list[Paper], relation: Condition, k: int
) -> None:
    outcome = ran(collection_of(papers, k), relation, CoverOptions(), Limits())
    pairs = all_pairs(papers, relation, k)
    sound(outcome, papers, pairs, k)
    best = covers(len(papers), pairs, [-1] * len(papers), 0)
    assert len(outcome.kept) == best[0].bit_count()
    assert outcome.cover.optimal
    assert outcome.cover.gap == 0
    assert outcome.cover.components.count == components(len(papers), pairs)
    seeds = ran(collection_of(papers, k), relation, CoverOptions(solver="seed"), Limits())
    sound(seeds, papers, pairs, k)
    assert len(seeds.kept) == len(outcome.kept), "up to ten documents, the seed's is brute force"


@given(several(7), RELATIONS, st.integers(1, 3), st.sampled_from(["host", "tag", "n", "t"]))
@settings(max_examples=50, deadline=None)
def test_at_least_so_many_of_each_value_are_kept(
    papers: list[Paper], relation: Condition, least: int, attribute: str
) -> None:
    options = CoverOptions(at_least=(least, attribute))
    outcome = ran(collection_of(papers, 2), relation, options, Limits())
    pairs = all_pairs(papers, relation, 2)
    sound(outcome, papers, pairs, 2)
    values = [getattr(paper, attribute) for paper in papers]
    known = sorted({value for value in values if value is not None})
    groups = [-1 if value is None else known.index(value) for value in values]
    best = covers(len(papers), pairs, groups, least)
    assert sum(1 << at for at in np.flatnonzero(outcome.cover.kept).tolist()) in best
    assert outcome.cover.optimal


@given(several(7), RELATIONS, st.sampled_from(["n", "m", "t"]))
@settings(max_examples=50, deadline=None)
def test_of_the_smallest_covers_the_best_is_taken(
    papers: list[Paper], relation: Condition, attribute: str
) -> None:
    outcome = ran(collection_of(papers, 2), relation, CoverOptions(prefer=attribute), Limits())
    pairs = all_pairs(papers, relation, 2)
    sound(outcome, papers, pairs, 2)
    values = [getattr(paper, attribute) for paper in papers]
    lowest = min((value for value in values if value is not None), default=0)
    worth = [lowest if value is None else value for value in values]

    def total(bits: int) -> float:
        return sum(each for at, each in enumerate(worth) if bits >> at & 1)

    best = covers(len(papers), pairs, [-1] * len(papers), 0)
    kept = sum(1 << at for at in np.flatnonzero(outcome.cover.kept).tolist())
    assert kept in best
    assert total(kept) == max(total(bits) for bits in best)


@given(several(9), RELATIONS, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_neither_the_order_of_edges_nor_of_documents_changes_the_number(
    papers: list[Paper], relation: Condition, chance: object
) -> None:
    outcome = ran(collection_of(papers, 2), relation, CoverOptions(), Limits())
    pairs = sorted(all_pairs(papers, relation, 2))
    chance.shuffle(pairs)  # type: ignore[attr-defined]
    i, j = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    again = solve(len(papers), np.array(i, np.int32), np.array(j, np.int32))
    assert again.kept.tolist() == outcome.cover.kept.tolist()
    assert again.by.tolist() == outcome.cover.by.tolist()
    other = list(papers)
    chance.shuffle(other)  # type: ignore[attr-defined]
    moved = ran(collection_of(other, 2), relation, CoverOptions(), Limits())
    assert len(moved.kept) == len(outcome.kept)
    assert moved.edges == outcome.edges


@given(several(8), RELATIONS, st.sampled_from(["host", "tag"]), st.sampled_from(["a", "b", ""]))
@settings(max_examples=40, deadline=None)
def test_a_filter_leaves_the_pairs_of_the_others_as_they_were(
    papers: list[Paper], relation: Condition, attribute: str, value: str
) -> None:
    whole = collection_of(papers, 2)
    texts = [paper.text for paper in papers]
    picked = chosen(f"{attribute}(d) = '{value}' or text contains 'c'", whole.columns, texts)
    wanted = [
        at
        for at, paper in enumerate(papers)
        if getattr(paper, attribute) == value or "c" in paper.text.lower().split()
    ]
    assert np.flatnonzero(picked).tolist() == [
        at for at in range(len(papers)) if at in wanted or "c!" in papers[at].text
    ]
    some = whole.only(picked)
    left = [paper for paper, keep in zip(papers, picked.tolist(), strict=True) if keep]
    outcome = ran(some, relation, CoverOptions(), Limits())
    assert outcome.edges == len(all_pairs(left, relation, 2))
    assert some.weights.tolist() == [len(paper.text.encode()) for paper in left]


@given(several(9), RELATIONS, st.integers(0, 6))
@settings(max_examples=40, deadline=None)
def test_whoever_stops_it_gets_a_cover_all_the_same(
    papers: list[Paper], relation: Condition, after: int
) -> None:
    """Stopped at any moment: what is dropped is truly covered, and nothing is claimed as proven."""
    asked = 0

    def cancel() -> bool:
        nonlocal asked
        asked += 1
        return asked > after

    outcome = ran(collection_of(papers, 2), relation, CoverOptions(), Limits(cancel=cancel))
    pairs = all_pairs(papers, relation, 2)
    kept = set(np.flatnonzero(outcome.cover.kept).tolist())
    assert kept | {each.document for each in outcome.dropped} == set(range(len(papers)))
    for each in outcome.dropped:
        assert each.by in kept
        assert (each.document, each.by) in pairs
    best = covers(len(papers), pairs, [-1] * len(papers), 0)[0].bit_count()
    if not outcome.complete:
        assert not outcome.optimal
    assert len(kept) - outcome.gap <= best
