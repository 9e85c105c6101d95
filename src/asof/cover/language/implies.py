"""Whether one relation follows from another, as far as can be seen from how they are written.

A rule that is changed is mostly made stricter: a higher threshold, one condition more. Its pairs
are then among those that the looser rule had. A `no` here may be wrong, a `yes` never is.
"""

from collections.abc import Iterator
from fractions import Fraction

from asof.cover.language.analyse import Alternative, analyse
from asof.cover.language.bounds import Least
from asof.cover.language.syntax import ContentTest, Relation

_Floor = tuple[str, int, Least]  # a measure, the document named first, and a bound from below


def implies(stricter: Relation, looser: Relation) -> bool:
    """Whether every pair that meets the first relation surely meets the second."""
    into = analyse(looser)
    return all(any(_alternative_implies(one, other) for other in into) for one in analyse(stricter))


def _alternative_implies(stricter: Alternative, looser: Alternative) -> bool:
    given = frozenset(stricter.atoms)
    tests = [atom for atom in stricter.atoms if isinstance(atom, ContentTest)]
    floors = [floor for atom in tests for floor in _floors(atom)]
    ceilings = [atom for atom in tests if atom.operator in ("<", "<=", "=")]
    return all(
        atom in given or (isinstance(atom, ContentTest) and _meets(atom, floors, ceilings))
        for atom in looser.atoms
    )


def _floors(atom: ContentTest) -> Iterator[_Floor]:
    """What a bound from below says about all measures.

    With x common shingles of a and b: J >= t says x >= t (a + b - x), so x / a >= t; Dice is
    2 J / (1 + J), and grows with J. Two empty documents measure 1 by each, an empty one and another
    measure 0.
    """
    if atom.operator not in (">=", ">", "="):
        return
    t, strict = atom.threshold, atom.operator == ">"
    name, first = atom.measure.name, atom.measure.first
    if name == "C":
        yield name, first, Least(t, strict)
        return
    jaccard = t if name == "J" else t / (2 - t)
    dice = t if name == "D" else 2 * t / (1 + t)
    yield "D", 1, Least(dice, strict)
    for other, of in (("J", 1), ("C", 1), ("C", 2)):
        yield other, of, Least(jaccard, strict)


def _meets(wanted: ContentTest, floors: list[_Floor], ceilings: list[ContentTest]) -> bool:
    name, first = wanted.measure.name, wanted.measure.first
    if wanted.operator in (">=", ">"):
        limit = Least(wanted.threshold, wanted.operator == ">")
        return any(at >= limit for of, start, at in floors if (of, start) == (name, first))
    if wanted.operator in ("<=", "<"):
        return any(
            _below(one) <= _below(wanted) for one in ceilings if one.measure == wanted.measure
        )
    return False


def _below(atom: ContentTest) -> tuple[Fraction, bool]:
    """Ceilings in order: below a number is less than at most that number."""
    return atom.threshold, atom.operator != "<"
