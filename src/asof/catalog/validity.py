"""From captures to validity intervals: how long a URL is known to have had one content.

Captures of one URL that follow each other with the same answer (status, content and, for a
redirect, where it leads: bodies of redirects are often equal when their targets are not) merge
into one interval. What each of them shows is read in asof.catalog.observe. A 304 that proves
nothing stands alone: it goes on with no content, begins none, and parts none.

What a server says about the past is evidence of another kind and stays apart, as `claimed_since`.
Of several Last-Modified values for one content the latest is taken. Each says "unchanged since
then", so the latest follows from every one of them: it is true if any of them is. Dropped are
claims that the archive contradicts: one after the first download of that content, and one before
the last sight of another content (Spaniol 2010 calls Last-Modified a claim to rely on with care).
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from asof.catalog.observe import Firmness, Observation, observe
from asof.clock import SECOND, Instant
from asof.model import Capture, Evidence, Grade, Proof, State, Validity

Parts = Callable[[Observation, Observation], bool]

_GRADES = {Firmness.BYTES: Grade.PROVEN, Firmness.STRONG: Grade.CONFIRMED}


def validities(captures: Iterable[Capture]) -> list[Validity]:
    """The intervals that the captures prove, ordered by URL and time.

    Captures may come in any order and of several URLs. Two captures of one instant with different
    contents (dates of whole seconds allow that) make two intervals that share that instant.
    """
    return intervals(each for seen in observe(captures).values() for each in seen)


def intervals(
    seen: Iterable[Observation], parts: Parts = lambda one, other: False
) -> list[Validity]:
    """The same by observations, those of each URL in order of time.

    `parts` says of two that follow each other with the same answer whether they are to be told
    apart all the same.
    """
    ordered = sorted(seen, key=attrgetter("capture.url"))
    by_url = groupby(ordered, key=attrgetter("capture.url"))
    return [each for _, own in by_url for each in _intervals(own, parts)]


def _intervals(seen: Iterable[Observation], parts: Parts) -> list[Validity]:
    runs: list[list[Observation]] = []
    alone: list[Observation] = []
    current: tuple[str, ...] | None = None
    for _, together in groupby(seen, key=attrgetter("at")):
        # Those of one instant that go on with the current answer come first, so that the outcome
        # does not depend on record ids.
        ranked = [(_answer(each), each.capture.record_id, each) for each in together]
        for answer, _, each in sorted(ranked, key=lambda rank: (rank[0] != current, rank[:2])):
            if each.state is State.SILENT and each.confirms:
                alone.append(each)
            elif answer == current and not parts(runs[-1][-1], each):
                runs[-1].append(each)
            else:
                runs.append([each])
                current = answer
    before: Instant | None = None
    found = [_interval([each], None) for each in alone]
    for run in runs:
        found.append(_interval(run, before))
        before = found[-1].until
    return sorted(found, key=attrgetter("since", "until"))


def _answer(seen: Observation) -> tuple[str, ...]:
    """What makes two captures the same."""
    return str(seen.status), seen.identity, seen.redirect or ""


def _interval(run: Sequence[Observation], before: Instant | None) -> Validity:
    first, last = run[0], run[-1]
    evidence = tuple(
        Evidence(
            _proof(each, first=index == 0),
            each.capture.at,
            each.capture.record_id,
            _GRADES.get(each.firmness, Grade.CLAIMED),
            each.capture.at - each.at,
        )
        for index, each in enumerate(run)
    )
    return Validity(
        url=first.capture.url,
        content=first.identity,
        status=first.status,
        since=first.at,
        until=last.at,
        evidence=evidence,
        claimed_since=_claim(run, before),
        state=first.state,
    )


def _proof(seen: Observation, *, first: bool) -> Proof:
    if seen.confirms:
        return Proof.NOT_MODIFIED
    if first and seen.capture.kind != "revisit":
        return Proof.DOWNLOAD
    return Proof.SAME_DIGEST


def _claim(run: Sequence[Observation], before: Instant | None) -> Instant | None:
    """The latest Last-Modified that nothing in the archive contradicts.

    HTTP dates are cut to the second: a claim is contradicted by another content seen at `before`
    only if that is past the claimed second, and is moved up to `before` within it.
    """
    since = run[0].at
    claims = [
        claimed if before is None else max(claimed, before)
        for claimed in (each.capture.last_modified for each in run)
        if claimed is not None
        and claimed <= since
        and (before is None or claimed + SECOND > before)
    ]
    return max(claims, default=None)
