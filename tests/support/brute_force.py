"""Relations of covers drawn as trees, and answered by walking over all pairs of documents.

Shares no code with asof but the making of a collection: Python's sets, fractions and comparisons.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from operator import eq, ge, gt, le, lt, ne

from hypothesis import strategies as st

from asof.cover.documents.collection import Collection
from asof.cover.documents.tables import Table
from asof.cover.language.columns import number_column, text_column, time_column

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
        lambda which, sign, threshold, behind: About(*which, sign, threshold, behind),  # type: ignore[call-arg]
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


def all_pairs(papers: list[Paper], relation: Condition, k: int) -> set[tuple[int, int]]:
    return {
        (i, j)
        for i, j in permutations(range(len(papers)), 2)
        if relation.holds((papers[i], papers[j]), k)
    }


TIMES = Known("t(d1)", "<=", "t(d2)")
OFTEN = About("C", 1, ">=", "0.7", behind=False)
SAME = Known("host(d1)", "=", "host(d2)")
EMPTY = Paper("", None, None, None, None, None)
