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

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from asof.caret import clipped, error_at
from asof.cover.language import syntax
from asof.cover.language.bounds import Bound, Least
from asof.cover.language.parse import parse_condition
from asof.cover.language.unparse import unparse
from asof.errors import UsageError

ALTERNATIVES = 64
_BOUNDS = {("C", 1): "contained", ("C", 2): "containing", ("J", 1): "jaccard", ("D", 1): "dice"}
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


def parse_relation(text: str) -> syntax.Relation:
    """When d2 covers d1, as written by a person. Raises UsageError, pointing at the place.

    Kinds are checked as far as they are known without columns: see `kinds.type_check`. Every
    alternative must have a bound on content or an equality, or all pairs would have to be compared.
    """
    relation = syntax.Relation(parse_condition(text), text)
    analyse(relation)
    return relation


def analyse(relation: syntax.Relation) -> tuple[Alternative, ...]:
    """The alternatives of a relation, each taken apart into what the join can use.

    d2 covers d1 if any of them holds.
    """
    every = _normal(relation.condition, relation.text)
    return tuple(_anchored(_alternative(atoms), relation) for atoms in every)


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
                name = _BOUNDS[atom.measure.name, atom.measure.first]
                limit = Least(atom.threshold, atom.operator == ">")
                least[name] = max(limit, least.get(name, limit))
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


def _key(atom: syntax.CompareTest) -> Key | None:
    sides = (atom.left, atom.right)
    names = {side.of: side.name for side in sides if isinstance(side, syntax.AttributeOf)}
    return Key(names[1], names[2]) if atom.operator == "=" and len(names) == 2 else None


def _range(atom: syntax.CompareTest) -> AttributeRange | None:
    """left operator right as a limit of a(d2) - a(d1), if it is one in whole numbers.

    Broken constants are left alone: 0.1 is not exact in a column, and a range must be.
    """
    every = [*_terms(atom.left), *_terms(atom.right, -1)]
    terms = [(sign, value) for sign, value in every if isinstance(value, syntax.AttributeOf)]
    numbers = [sign * value.value for sign, value in every if isinstance(value, syntax.Number)]
    spans = [sign * value.value for sign, value in every if isinstance(value, syntax.Duration)]
    if len(terms) + len(numbers) + len(spans) < len(every) or atom.operator == "!=":
        return None
    if len(terms) != 2 or terms[0][1].name != terms[1][1].name or terms[0][0] == terms[1][0]:
        return None
    if any(number.denominator > 1 for number in numbers):
        return None
    if sum(map(abs, numbers)) > _EXACT_NUMBERS or sum(map(abs, spans)) > syntax.LONGEST:
        return None
    constant = int(sum(numbers) + sum(spans))
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


def _terms(value: syntax.Value, sign: int = 1) -> Iterator[tuple[int, syntax.Value]]:
    """What is added and taken away, also in sums within the sum."""
    if not isinstance(value, syntax.Sum):
        yield sign, value
        return
    for own, part in value.parts:
        yield from _terms(part, sign * own)
