"""What a run will find, and how long it will take, before it is begun: as ranges.

A sample of documents says little of pairs: one document in a hundred leaves one pair in ten
thousand. So all documents are taken, with a sample of their shingles: those whose hash is within
bounds, the same in every document, so that what documents share is sampled as they are. Rules about
metadata then hold exactly, and measures on average. Some of the pairs that are found so are held
against all shingles, and how many are missed is told by sampling the shingles of true pairs again
and again. The cover that is found with a sample is mended with those documents that it does not
cover by all shingles: the smallest cover is no larger. Two samples tell how far they differ.
"""

from dataclasses import dataclass
from time import monotonic

import numpy as np

from asof.cover.documents.collection import Collection
from asof.cover.documents.sets import Counts, Edges, Flags, Items, Sets, searched, spread, starts_of
from asof.cover.join.join import UNLIMITED, JoinLimits
from asof.cover.join.overlaps import overlaps
from asof.cover.join.pair_spool import PairSpool
from asof.cover.join.pairs import found_pairs
from asof.cover.language.analyse import parse_relation
from asof.cover.language.evaluate import Pairs, Test, prepared
from asof.cover.language.kinds import type_check
from asof.cover.language.syntax import Relation
from asof.cover.solve.external import solve_external
from asof.cover.solve.solve import solve
from asof.errors import UsageError

# Shingles of a middling document that are taken at least: with 50 of them, a share of 0.7 comes out
# as 0.7 +- 0.065.
_ENOUGH = 50
_PROBE = 1 << 16  # shingles that tell how values are spread
_STEP = 1 << 16  # shingles looked at together: they stay in the cache
_CHECKED = 2000  # pairs, and dropped documents, that are held against all shingles
_AGAIN, _TIMES = 300, 6  # true pairs whose shingles are sampled again, and how often
_TIME_LIMIT = 5.0  # seconds for proofs: a cover that is not proven is good enough here
# How much wider than what two samples say the ranges are, by bench/cover_estimate.py: with 0.1 for
# edges, one range in 24 did not hold at --scenarios C --scale 0.1; as they are, all of 80 estimates
# at --scenarios BC --scale 0.08 did.
_EDGES, _KEPT, _FASTER, _SLOWER = 0.15, 0.05, 0.25, 2.0


@dataclass(frozen=True, slots=True)
class EstimatedRange:
    """From low to high, both possible."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run is expected to come to. `kept` is the share of documents that stay."""

    documents: int
    sample: float  # of the shingles
    seconds: EstimatedRange
    edges: EstimatedRange
    kept: EstimatedRange


@dataclass(frozen=True, slots=True)
class _Trial:
    """What one sample came to."""

    edges: float
    error: float  # of edges: one standard deviation, as far as it comes from counting a part
    fewest: float  # share kept if all pairs that were found are true
    most: float  # share kept if those that this does not cover are kept, too
    seconds: float  # of the whole run, if time grows with shingles


def estimate(
    collection: Collection,
    relation: str,
    *,
    sample: float = 0.01,
    seed: int = 0,
    limits: JoinLimits = UNLIMITED,
) -> Estimate:
    """What `asof.cover.run.thin_out` will come to, from a share of the shingles.

    More than `sample` are taken where documents are short, and all where they are very short.
    """
    if not 0 < sample <= 1:
        raise UsageError(f"A sample of {sample:g} is none.", hint="Give a share from 0 to 1.")
    written = type_check(parse_relation(relation), collection.columns)
    share = _share(collection.sets, sample)
    trial = _Sampling(collection, written, share, limits)
    if share == 1:
        one = trial.run(collection.sets, seed)
        edges, kept = EstimatedRange(one.edges, one.edges), EstimatedRange(one.fewest, one.most)
        return Estimate(len(collection), share, _seconds(one), edges, kept)
    both = stretch(collection.sets, 2 * share, seed)
    one = trial.run(sampled(both, (0.0, 0.5), seed), seed)
    two = trial.run(sampled(both, (0.5, 1.0), seed), seed + 1)
    few, many = sorted([one.edges, two.edges])
    wide = many - few + 2 * max(one.error, two.error) + _EDGES * many + 1
    edges = EstimatedRange(max(few - wide, 0.0), many + wide)
    low, high = min(one.fewest, two.fewest), max(one.most, two.most)
    kept = EstimatedRange(low * (1 - _KEPT), min(high * (1 + _KEPT / 5), 1.0))
    return Estimate(len(collection), share, _seconds(one, two), edges, kept)


def _seconds(*trials: _Trial) -> EstimatedRange:
    found = [each.seconds for each in trials]
    return EstimatedRange(_FASTER * min(found), _SLOWER * max(found))


def _share(sets: Sets, sample: float) -> float:
    sizes = sets.sizes[sets.sizes > 0]
    share = max(sample, _ENOUGH / float(np.median(sizes)) if sizes.size else 1.0)
    return share if share < 0.5 else 1.0  # two halves are a whole


@dataclass(frozen=True, slots=True)
class _Sampling:
    """A collection and a relation, tried with samples of one size."""

    collection: Collection
    relation: Relation
    share: float
    limits: JoinLimits

    def run(self, few: Sets, seed: int) -> _Trial:
        """The whole run with a sample of the shingles, and a look at what is true of it."""
        given, count = self.collection, len(self.collection)
        started = monotonic()
        thin = Collection(given.names, given.columns, few, given.weights)
        found = found_pairs(thin, self.relation, self.limits)
        joined = monotonic()
        if isinstance(found, PairSpool):
            with found:
                told = solve_external(found, time_limit=_TIME_LIMIT, limits=self.limits)
            kept, pairs = told.cover.kept, told.pairs
        else:
            cancel, pairs = self.limits.cancel, len(found)
            kept = solve(count, found.i, found.j, time_limit=_TIME_LIMIT, cancel=cancel).kept
        seconds = (joined - started) / self.share + (monotonic() - joined)
        fewest = float(kept.mean()) if count else 0.0
        if self.share == 1 or not pairs:
            return _Trial(pairs, 0.0, fewest, fewest, seconds)
        if isinstance(found, PairSpool):  # none are held against all shingles: wide ranges
            return _Trial(pairs, pairs / 2, fewest, 1.0, seconds)
        holds = prepared(self.relation, given.columns)
        rng = np.random.default_rng(seed)
        edges, error = self._edges(found, holds, rng)
        most = fewest + (1 - fewest) * self._uncovered(found, kept, holds, rng)
        return _Trial(edges, error, fewest, most, seconds)

    def _uncovered(self, found: Edges, kept: Flags, holds: Test, rng: np.random.Generator) -> float:
        """The share of dropped documents that no kept one covers by all shingles, at most about."""
        dropped = rng.permutation(np.flatnonzero(~kept))
        looked_at = np.zeros(kept.size, np.bool_)
        looked_at[dropped[:_CHECKED]] = True
        covered = np.zeros(kept.size, np.bool_)
        by_kept = np.flatnonzero(looked_at[found.i] & kept[found.j])
        covered[self._true(found, by_kept, holds).i] = True
        count = int(looked_at.sum())
        part = 1 - int(covered.sum()) / count
        rest = 1 - count / dropped.size
        return min(part + 2 * float(np.sqrt(part * (1 - part) * rest / count)), 1.0)

    def _true(self, found: Edges, chosen: Counts, holds: Test) -> Edges:
        i, j, sets = found.i[chosen], found.j[chosen], self.collection.sets
        inter = overlaps(sets, i, j)
        true = holds(Pairs(i, j, inter, sets.sizes[i], sets.sizes[j]))
        return Edges(i[true], j[true], inter[true])

    def _edges(self, found: Edges, holds: Test, rng: np.random.Generator) -> tuple[float, float]:
        """How many pairs there are, and a standard deviation of that."""
        chosen = rng.permutation(len(found))[:_CHECKED]
        true = self._true(found, chosen, holds)
        stands_for, apart = self._missed(true, holds, rng)
        part = len(true) / chosen.size
        rest = 1 - chosen.size / len(found)
        of_part = np.sqrt(part * (1 - part) * rest / chosen.size)
        error = float(len(found) * np.hypot(of_part * stands_for, part * apart))
        return len(found) * part * stands_for, error

    def _missed(self, true: Edges, holds: Test, rng: np.random.Generator) -> tuple[float, float]:
        """How many pairs each that was found stands for, and the error of that.

        A pair that other samples find in x of n cases stands for (n + 1) / (x + 1) pairs: with the
        sample that did find it, that is 1 / (its chance to be found) on average.
        """
        if not len(true):
            return 0.0, 0.0
        i, j = true.i[:_AGAIN], true.j[:_AGAIN]
        documents, places = np.unique(np.concatenate([i, j]), return_inverse=True)
        one, other = places[: i.size], places[i.size :]
        chosen = np.zeros(len(self.collection), np.bool_)
        chosen[documents] = True
        whole = self.collection.only(chosen).sets
        times = np.zeros(i.size, np.int64)
        for _ in range(_TIMES):
            few = sampled(whole, (0, self.share), int(rng.integers(1 << 63)))
            inter = overlaps(few, one, other)
            times += holds(Pairs(i, j, inter, few.sizes[one], few.sizes[other]))
        stands_for = (_TIMES + 1) / (times + 1)
        return float(stands_for.mean()), float(stands_for.std() / np.sqrt(i.size))


def stretch(sets: Sets, share: float, seed: int) -> Sets:
    """About a share of the shingles, those between two values: in all documents alike.

    Shingles are hashes, so what lies between two values is as good as chance; and as those of a
    document are sorted, two searches find them, and the rest is not even looked at. Of each
    document one is taken at least, the next above.
    """
    if not sets.items.size:
        return sets
    probe = np.sort(sets.items[:: max(1, sets.items.size // _PROBE)])
    first = np.random.default_rng(seed).random() * (1 - share)
    low, high = (probe[int(edge * (probe.size - 1))] for edge in (first, first + share))
    begins, after = sets.offsets[:-1], sets.offsets[1:]
    starts, ends = (searched(sets.items, begins, after, value) for value in (low, high))
    lost = (starts == ends) & (sets.sizes > 0)
    starts = np.where(lost & (starts == after), begins, starts)
    sizes = np.where(lost, 1, ends - starts)
    return Sets(starts_of(sizes), sets.items[spread(starts, sizes)])


def sampled(sets: Sets, within: tuple[float, float], seed: int) -> Sets:
    """The shingles of a sample, in all documents alike; of each document one at least.

    `within` is the part of all hashes that is taken. A document must not become an empty one, which
    would cover all other empty ones.
    """
    odd = np.random.default_rng(seed).integers(0, 1 << 63, dtype=np.uint64) * np.uint64(2)
    odd += np.uint64(1)
    low, high = (np.uint64(min(int(edge * 2.0**64), (1 << 64) - 1)) for edge in within)
    chosen = [np.empty(0, np.int64)]
    for start in range(0, sets.items.size, _STEP):
        mixed = _mixed(sets.items[start : start + _STEP], odd)
        chosen.append(np.flatnonzero((mixed >= low) & (mixed < high)) + start)
    places = np.concatenate(chosen)
    sizes = np.diff(np.searchsorted(places, sets.offsets))
    lost = np.flatnonzero((sizes == 0) & (sets.sizes > 0))
    lowest = [sets.offsets[one] + _mixed(sets[one], odd).argmin() for one in lost.tolist()]
    places = np.sort(np.concatenate([places, np.array(lowest, np.int64)]))
    sizes[lost] = 1
    return Sets(starts_of(sizes), sets.items[places])


def _mixed(items: Items, odd: np.uint64) -> Items:
    """Other numbers for the same shingles, one for each: whoever is below a bound is chance."""
    mixed = items * odd
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(0x94D049BB133111EB)  # of splitmix64
    return mixed
