"""What in a relation drives the join, and what is left to check pair by pair.

The relation becomes alternatives (disjunctive normal form), each a list of conditions that all
must hold. Paudel 2013 pushes "the meta-data constraints deep into the evaluation of the
content-based constraints" (section 3.2); here is decided which ones can be, and as what:

    bound    at least so much in common: C, J, D with a threshold from below
    keys     an attribute of d1 equal to one of d2: only such documents meet
    ranges   how much larger (later) an attribute of d2 is than the same one of d1
    sides    what d1, or d2, must be by itself
    residual the rest
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from asof.cover.language import syntax
from asof.cover.language.bounds import Bound, Least
from asof.cover.language.caret import clipped, error_at
from asof.cover.language.parse import parse_condition
from asof.cover.language.unparse import unparse
from asof.errors import UsageError

ALTERNATIVES = 64
_EXACT_NUMBERS = 1 << 50  # sums of floats are exact up to here, and so are ranges of them


@dataclass(frozen=True, slots=True)
class Key:
    """An attribute of d1 that must equal one of d2, nearly always the same."""

    d1: str
    d2: str

    @property
    def same(self) -> bool:
        """Whether it is one attribute: documents then fall apart into groups."""
        return self.d1 == self.d2


@dataclass(frozen=True, slots=True)
class AttributeRange:
    """low <= attribute(d2) - attribute(d1) <= high; None is no limit, strict ones exclude it.

    Limits are whole numbers, or microseconds. `plain`: written without arithmetic, so that the
    order alone decides, whatever the kind of the attribute.
    """

    attribute: str
    low: int | None
    high: int | None
    low_strict: bool
    high_strict: bool
    plain: bool
    source: syntax.CompareTest


@dataclass(frozen=True, slots=True)
class Alternative:
    """Conditions that all must hold: one way for d2 to cover d1."""

    bound: Bound
    keys: tuple[Key, ...]
    ranges: tuple[AttributeRange, ...]
    d1: tuple[syntax.CompareTest, ...]
    d2: tuple[syntax.CompareTest, ...]
    residual: tuple[syntax.Atom, ...]
    atoms: tuple[syntax.Atom, ...]

    @property
    def condition(self) -> syntax.Condition:
        """All of it, as one condition."""
        return self.atoms[0] if len(self.atoms) == 1 else syntax.And(self.atoms)


@dataclass(frozen=True, slots=True)
class Analysis:
    """A relation as alternatives: d2 covers d1 if any of them holds."""

    alternatives: tuple[Alternative, ...]


def parse_relation(text: str) -> syntax.Relation:
    """When d2 covers d1, as written by a person. Raises UsageError, pointing at the place.

    Kinds are checked as far as they are known without columns: see `kinds.type_check`. Every
    alternative must have a bound on content or an equality, or all pairs would have to be compared.
    """
    relation = syntax.Relation(parse_condition(text), text)
    analyse(relation)
    return relation


def analyse(relation: syntax.Relation) -> Analysis:
    """The alternatives of a relation, each taken apart into what the join can use."""
    return Analysis(
        tuple(
            _anchored(_alternative(atoms), relation)
            for atoms in _normal(relation.condition, relation.text)
        )
    )


def _normal(condition: syntax.Condition, text: str) -> list[tuple[syntax.Atom, ...]]:
    """Disjunctive normal form. An alternative is a set of bits, one for each different atom."""
    atoms: dict[syntax.Atom, int] = {}

    def walk(part: syntax.Condition) -> list[int]:
        match part:
            case syntax.Or():
                return _fewest((bits for inner in part.parts for bits in walk(inner)), text)
            case syntax.And():
                found = [0]
                for inner in part.parts:
                    more = walk(inner)
                    found = _fewest((a | b for a in found for b in more), text)
                return found
            case syntax.CompareTest() | syntax.ContentTest() | syntax.Contains():
                return [1 << atoms.setdefault(part, len(atoms))]
        raise AssertionError("no `not` is left in an upright condition")

    found = _absorbed(walk(syntax.upright(condition)))
    order = list(atoms)
    return [tuple(atom for place, atom in enumerate(order) if bits >> place & 1) for bits in found]


def _fewest(found: Iterable[int], text: str) -> list[int]:
    """Without repeats; when there are many, without those that another one makes needless."""
    kept = list(dict.fromkeys(found))
    if len(kept) > ALTERNATIVES:
        kept = _absorbed(kept)
    if len(kept) > ALTERNATIVES:
        raise UsageError(
            f"The relation comes to more than {ALTERNATIVES} alternatives: {clipped(text, 60)}.",
            hint="Multiplied out, `(a or b) and (c or d)` are four: use fewer `or` inside `and`.",
        )
    return kept


def _absorbed(found: list[int]) -> list[int]:
    """`a or (a and b)` is `a`."""
    least: list[int] = []
    for bits in sorted(found, key=int.bit_count):
        if not any(kept & bits == kept for kept in least):
            least.append(bits)
            if len(least) > ALTERNATIVES:
                break
    chosen = set(least)
    return [bits for bits in found if bits in chosen]


def _anchored(alternative: Alternative, relation: syntax.Relation) -> Alternative:
    if not alternative.bound.empty or alternative.keys:
        return alternative
    first, last = alternative.atoms[0].span, alternative.atoms[-1].span
    written = " and ".join(unparse(atom) for atom in alternative.atoms)
    raise error_at(
        relation.text,
        (first[0], max(last[1], first[1])),
        "without a bound on content or an equal attribute, all pairs would have to be compared: "
        + (written if len(written) <= 200 else written[:197] + "..."),
        "Add for instance C(d1,d2) >= 0.7 or hostname(d1) = hostname(d2), to each side of an or.",
    )


def _alternative(atoms: tuple[syntax.Atom, ...]) -> Alternative:
    least: dict[str, Least] = {}
    keys: list[Key] = []
    ranges: list[AttributeRange] = []
    sides: dict[int, list[syntax.CompareTest]] = {1: [], 2: []}
    residual: list[syntax.Atom] = []
    for atom in atoms:
        if not isinstance(atom, syntax.CompareTest):
            if isinstance(atom, syntax.ContentTest) and atom.operator in (">=", ">", "="):
                name, limit = _measure(atom.measure), Least(atom.threshold, atom.operator == ">")
                least[name] = _stronger(limit, least.get(name, limit))
            if not isinstance(atom, syntax.ContentTest) or atom.operator not in (">=", ">"):
                residual.append(atom)
            continue
        of = {attribute.of for attribute in syntax.attributes(atom)}
        if len(of) == 1:
            sides[of.pop()].append(atom)
        elif (key := _key(atom)) is not None:
            keys.append(key)
        elif (found := _range(atom)) is not None:
            ranges.append(found)
        else:
            residual.append(atom)
    return Alternative(
        Bound(**least),
        tuple(dict.fromkeys(keys)),
        tuple(ranges),
        tuple(sides[1]),
        tuple(sides[2]),
        tuple(residual),
        atoms,
    )


def _measure(measure: syntax.Measure) -> str:
    if measure.name == "C":
        return "contained" if measure.first == 1 else "containing"
    return "jaccard" if measure.name == "J" else "dice"


def _stronger(one: Least, other: Least) -> Least:
    return max(one, other, key=lambda limit: (limit.threshold, limit.strict))


def _key(atom: syntax.CompareTest) -> Key | None:
    if atom.operator != "=":
        return None
    match atom.left, atom.right:
        case syntax.AttributeOf(of=1) as d1, syntax.AttributeOf(of=2) as d2:
            return Key(d1.name, d2.name)
        case syntax.AttributeOf(of=2) as d2, syntax.AttributeOf(of=1) as d1:
            return Key(d1.name, d2.name)
    return None


def _range(atom: syntax.CompareTest) -> AttributeRange | None:
    """left operator right as a limit of a(d2) - a(d1), if it is one in whole numbers.

    Broken constants are left alone: 0.1 is not exact in a column, and a range must be.
    """
    left, right = _linear(atom.left), _linear(atom.right)
    if left is None or right is None or atom.operator == "!=":
        return None
    terms = [*left.terms, *((-sign, attribute) for sign, attribute in right.terms)]
    if len(terms) != 2 or terms[0][1].name != terms[1][1].name or terms[0][0] == terms[1][0]:
        return None
    if left.numbers + right.numbers > _EXACT_NUMBERS or left.spans + right.spans > syntax.LONGEST:
        return None
    constant = left.constant - right.constant
    later = next(sign for sign, attribute in terms if attribute.of == 2)
    # Either a2 - a1 + constant op 0, or a1 - a2 + constant op 0.
    operator: syntax.Operator = atom.operator if later == 1 else syntax.FLIPPED[atom.operator]
    limit = -constant if later == 1 else constant
    low = limit if operator in (">", ">=", "=") else None
    high = limit if operator in ("<", "<=", "=") else None
    plain = isinstance(atom.left, syntax.AttributeOf) and isinstance(atom.right, syntax.AttributeOf)
    return AttributeRange(
        terms[0][1].name, low, high, operator == ">", operator == "<", plain, atom
    )


@dataclass(frozen=True, slots=True)
class _Linear:
    """A sum of attributes and one constant, and how much went into it, sign or no sign."""

    terms: tuple[tuple[int, syntax.AttributeOf], ...] = ()
    constant: int = 0
    numbers: int = 0
    spans: int = 0


def _linear(value: syntax.Value) -> _Linear | None:
    """A sum of attributes and of whole constants, or None."""
    match value:
        case syntax.AttributeOf():
            return _Linear(((1, value),))
        case syntax.Number() if value.value.denominator == 1:
            return _Linear((), int(value.value), abs(int(value.value)))
        case syntax.Duration():
            return _Linear((), value.value, 0, abs(value.value))
        case syntax.Sum():
            parts = [(sign, _linear(term)) for sign, term in value.terms]
            found = [(sign, part) for sign, part in parts if part is not None]
            if len(found) < len(parts):
                return None
            return _Linear(
                tuple((sign * own, a) for sign, part in found for own, a in part.terms),
                sum(sign * part.constant for sign, part in found),
                sum(part.numbers for _, part in found),
                sum(part.spans for _, part in found),
            )
    return None
