"""Pairs that were found before, and what is still to be joined: covers of archives that grow.

Whether a document covers another depends on these two alone (Paudel 2013, section 2). So a pair
that was found once holds wherever both documents are met again, known by their document_ids: in an
archive that has grown, in a part of it that a filter chooses, and for every relation that the one
it was found for follows from. Only pairs with a document that was not there are joined. The result
is that of a run from scratch.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from asof.cover.documents.collection import Collection, DocumentIds
from asof.cover.documents.sets import Edges, Flags
from asof.cover.join.join import JoinLimits
from asof.cover.join.pair_spool import PairSpool
from asof.cover.join.pairs import found_pairs, ordered
from asof.cover.join.ranking import KeptRanks
from asof.cover.language.analyse import parse_relation
from asof.cover.language.columns import Column
from asof.cover.language.evaluate import Pairs, prepared
from asof.cover.language.implies import implies
from asof.cover.language.kinds import type_check
from asof.cover.language.syntax import Relation, attributes
from asof.cover.language.unparse import unparse
from asof.cover.solve.proofs import Proofs
from asof.errors import UsageError

Schema = tuple[tuple[str, str], ...]
"""The attributes of a relation and their kinds: with others, it may mean something else."""

# With fewer known documents than this share, all pairs are joined at once: the two joins that new
# documents take are together as dear as one of all when half of scenario C is new.
_WORTH = 0.5
_BLOCK = 1 << 20  # pairs tested at a time, at some 50 bytes each


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """All pairs that a relation holds for among documents that have these ids."""

    document_ids: DocumentIds
    edges: Edges


@dataclass(frozen=True, slots=True)
class KeptPairs:
    """Pairs of one relation that were kept; both calls give None if they are gone or damaged."""

    relation: str  # in one text, whoever wrote it how
    schema: Schema
    document_ids: Callable[[], DocumentIds | None]  # without reading the pairs
    load: Callable[[], FoundPairs | None]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What earlier runs found: pairs, proofs of covers, and the ranks of shingles.

    `entries` are the pairs, the last used first; `keep` adds all pairs of a relation. `attributes`
    are those that ids vouch for; None is all. A relation that names others, such as one that was
    measured for this run, is answered anew.
    """

    entries: Callable[[], Iterable[KeptPairs]]
    keep: Callable[[str, Schema, FoundPairs], None]
    proofs: Proofs
    ranks: Callable[[DocumentIds], KeptRanks] | None = None
    attributes: frozenset[str] | None = None

    def knows(self, relation: Relation) -> bool:
        """Whether equal ids mean equal values of all that a relation names."""
        return self.attributes is None or named(relation) <= self.attributes


@dataclass(frozen=True, slots=True)
class _Base:
    """Pairs taken over: the documents that are not among them are `fresh`."""

    edges: Edges
    fresh: Flags

    @property
    def known(self) -> int:
        return self.fresh.size - int(self.fresh.sum())


def grown_pairs(
    collection: Collection, relation: Relation, limits: JoinLimits, earlier: Earlier
) -> tuple[Edges | PairSpool, int]:
    """What `found_pairs` gives, joining only what no earlier run has; complete ones are kept.

    And how many of the documents an earlier run had compared. More pairs than memory holds are a
    spool, which is not kept.
    """
    document_ids = collection.document_ids
    if document_ids is None or not earlier.knows(relation):
        return found_pairs(collection, relation, limits), 0
    base = _base(collection, relation, earlier)
    if base is not None and not base.fresh.any():
        return base.edges, base.known
    if base is None or base.known < _WORTH * len(collection):
        ranks = None if earlier.ranks is None else earlier.ranks(document_ids)
        base, edges = None, found_pairs(collection, relation, limits, ranks=ranks)
    else:
        edges = found_pairs(collection, relation, limits, fresh=base.fresh, known=base.edges)
    # After Ctrl-C there may be more pairs than were found.
    if not isinstance(edges, PairSpool) and not limits.cancel():
        names = sorted(named(relation))
        schema = tuple((name, collection.columns[name].kind) for name in names)
        earlier.keep(unparse(relation.condition), schema, FoundPairs(document_ids, edges))
    return edges, 0 if base is None else base.known


def named(relation: Relation) -> set[str]:
    return {attribute.name for attribute in attributes(relation.condition)}


def _base(collection: Collection, relation: Relation, earlier: Earlier) -> _Base | None:
    """The kept pairs that leave the fewest documents to be joined."""
    assert collection.document_ids is not None
    here = np.sort(collection.document_ids)
    fitting: list[tuple[int, KeptPairs]] = []
    own, columns = unparse(relation.condition), collection.columns
    # Those of this very relation first: they need no test.
    for entry in sorted(earlier.entries(), key=lambda entry: entry.relation != own):
        if any(name not in columns or columns[name].kind != kind for name, kind in entry.schema):
            continue
        exact = entry.relation == own
        if not exact and not _follows(relation, entry.relation, columns):
            continue
        document_ids = entry.document_ids()
        known = 0 if document_ids is None else _common(here, document_ids)
        if known:
            fitting.append((known, entry))
        if known == len(collection):  # nothing can do better
            break
    for _, entry in sorted(fitting, key=lambda one: -one[0]):
        found = entry.load()
        if found is not None:
            base = taken_over(collection, found)
            return base if entry.relation == own else _filtered(collection, relation, base)
    return None


def _common(ordered: DocumentIds, others: DocumentIds) -> int:
    if not ordered.size:
        return 0
    at = np.minimum(np.searchsorted(ordered, others), ordered.size - 1)
    return int((ordered[at] == others).sum())


def _follows(relation: Relation, kept: str, columns: Mapping[str, Column]) -> bool:
    """Whether all pairs of `relation` are among those of the kept one."""
    try:
        older = type_check(parse_relation(kept), columns)
    except UsageError:  # written by another version
        return False
    return implies(relation, older)


def _filtered(collection: Collection, relation: Relation, base: _Base) -> _Base:
    edges, sizes = base.edges, collection.sets.sizes
    test, holds = prepared(relation, collection.columns), np.empty(len(edges), np.bool_)
    for at in range(0, len(edges), _BLOCK):
        block = slice(at, at + _BLOCK)
        i, j = edges.i[block], edges.j[block]
        holds[block] = test(Pairs(i, j, edges.inter[block], sizes[i], sizes[j]))
    return _Base(Edges(edges.i[holds], edges.j[holds], edges.inter[holds]), base.fresh)


def taken_over(collection: Collection, found: FoundPairs) -> _Base:
    """The pairs of which both documents are here, by the places that they have here."""
    document_ids = collection.document_ids
    assert document_ids is not None
    place = np.full(found.document_ids.size, -1, np.int32)
    fresh = np.ones(len(collection), np.bool_)
    if found.document_ids.size:
        order = np.argsort(found.document_ids, kind="stable")
        at = np.searchsorted(found.document_ids[order], document_ids)
        there = order[np.minimum(at, order.size - 1)]
        fresh = found.document_ids[there] != document_ids
        place[there[~fresh]] = np.flatnonzero(~fresh)
    i, j = place[found.edges.i], place[found.edges.j]
    here = (i >= 0) & (j >= 0)
    edges = Edges(i[here], j[here], found.edges.inter[here])
    return _Base(ordered(len(collection), [edges]), fresh)
