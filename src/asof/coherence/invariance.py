"""Definition 3.1 over what is known: did all pages of a crawl ever stand together?

The seed's coherence needs to know when each page changed before and after its download, which no
crawler knows. Captures bound it from both sides: what was seen to be the same is *proven*; what was
seen to be different ends what is *possible*. So there are three answers: all proven intervals meet;
even the widest possible ones do not; or nobody knows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from asof.clock import Instant
from asof.coherence.observations import SameAnswers, alike
from asof.coherence.quality_report import Answer, Stretch
from asof.model import State


@dataclass(frozen=True, slots=True)
class Bounds:
    """The invariance interval of the content that a page was taken with, as far as it is known.

    It was there from `since` to `until`; not yet, or not any more, at `after` and `before`, None
    where nothing else was seen.
    """

    url: str
    since: Instant
    until: Instant
    after: Instant | None
    before: Instant | None


def page_bounds(
    url: str, runs: Sequence[SameAnswers], since: Instant | None, until: Instant | None
) -> Iterator[Bounds]:
    """The bounds of the content that a page was first taken with, if it was; by its firm runs.

    First from `since` on and not after `until`, if given: those of a crawl among captures of many.
    All sights bound what is known. Errors of servers and weak validators bound nothing.
    """
    taken = next((n for n, run in enumerate(runs) if _is_taken(run, since, until)), None)
    if taken is None:
        return
    run = runs[taken]
    earlier = [other.until for other in runs[:taken] if _differs(other, run)]
    later = [other.since for other in runs[taken + 1 :] if _differs(other, run)]
    after = max((at for at in earlier if at <= run.since), default=None)
    before = min((at for at in later if at >= run.until), default=None)
    yield Bounds(url, run.since, run.until, after, before)


class Together:
    """Whether pages that are told one by one cohere by definition 3.1, and when.

    Only the extremes are kept: there may be millions of pages.
    """

    def __init__(self) -> None:
        self._since: Stretch | None = None  # the first that a page is known from, and the last
        self._until: Stretch | None = None
        self._after: Instant | None = None
        self._before: Instant | None = None

    def add(self, page: Bounds) -> None:
        self._since = _widened(self._since, page.since)
        self._until = _widened(self._until, page.until)
        self._after = max((at for at in (self._after, page.after) if at is not None), default=None)
        self._before = min(
            (at for at in (self._before, page.before) if at is not None), default=None
        )

    def answer(self) -> tuple[Answer, Stretch | None]:
        """Proven, or possible where it is unknown. Nothing captured is nothing known."""
        if self._since is None or self._until is None:
            return "unknown", None
        if self._since[1] <= self._until[0]:
            return "coherent", (self._since[1], self._until[0])
        # Between two sights that differ lies a change: these ends are not part of what is possible.
        earliest, latest = self._after, self._before
        if earliest is not None and latest is not None and earliest >= latest:
            return "incoherent", None
        begins = self._since[0] if earliest is None else earliest
        ends = self._until[1] if latest is None else latest
        return "unknown", (min(begins, ends), max(begins, ends))


def _widened(stretch: Stretch | None, at: Instant) -> Stretch:
    return (at, at) if stretch is None else (min(stretch[0], at), max(stretch[1], at))


def _is_taken(run: SameAnswers, since: Instant | None, until: Instant | None) -> bool:
    if run.mixed or run.state not in (State.PRESENT, State.ELSEWHERE):
        return False
    return any(
        (since is None or since <= sight.at) and (until is None or sight.at <= until)
        for sight in run.seen
    )


def _differs(other: SameAnswers, run: SameAnswers) -> bool:
    return not other.mixed and alike(other.seen[0], run.seen[0]) is False
