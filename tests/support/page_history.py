"""The history of a site: which content stood at which path from when on.

Put `tests` on the path and import it. A `History` comes of a Git repository of rendered HTML
(support.git_history) or of the synthetic newspaper (`synthetic`). It is `fitted` to virtual time,
and remade for servers on whose disks files have other dates than those of their changes, or come
back. Everything here is pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from zlib import crc32

from asof.clock import DAY, SECOND, Instant
from asof.testing import START, Kind, Rates, SiteSpec, SyntheticSite

# Files are up to so much older than the history that is served.
_OLDEST = 400 * DAY
# The share of the newspaper's pages that never change.
_STILL = 0.2
# Changes of a page in a lap beyond which it makes no difference how often it changes.
MOST = 4.0


@dataclass(frozen=True, slots=True)
class Version:
    """What stands at a path from `at` on; None: nothing. `dated` is the date of the file."""

    at: Instant
    content: bytes | None
    dated: Instant


@dataclass(frozen=True)
class History:
    """The versions of each path in order of time, the first at `begin` or at its birth."""

    pages: Mapping[str, tuple[Version, ...]]
    begin: Instant
    end: Instant

    def version(self, path: str, t: Instant) -> Version | None:
        """What stands at a path at a moment."""
        versions = self.pages.get(path, ())
        place = bisect_right(versions, t, key=lambda version: version.at)
        return versions[place - 1] if place else None

    def stands(self, path: str, t: Instant) -> bytes | None:
        """The content at a moment, None if there is none."""
        version = self.version(path, t)
        return None if version is None else version.content

    def between(self, path: str, t0: Instant, t1: Instant) -> list[bytes | None]:
        """All that stood at a path from `t0` to `t1`, both included."""
        later = [v.content for v in self.pages.get(path, ()) if t0 < v.at <= t1]
        return [self.stands(path, t0), *later]

    def changes(self) -> list[int]:
        """How often each page changes after the begin."""
        return [sum(v.at > self.begin for v in versions) for versions in self.pages.values()]

    def remade(self, remake: Callable[[str, tuple[Version, ...]], Sequence[Version]]) -> History:
        """With other versions of each page."""
        pages = {path: tuple(remake(path, own)) for path, own in self.pages.items()}
        return replace(self, pages=pages)


def changing(versions: Sequence[Version]) -> tuple[Version, ...]:
    """Without versions that say the same as the one before, or stand for no time at all."""
    found: list[Version] = []
    for version in versions:
        if found and found[-1].at == version.at:
            found.pop()
        if not found or found[-1].content != version.content:
            found.append(version)
    return tuple(found)


def chance(*of: object) -> float:
    """A number from 0 to 1 that is a function of these."""
    return crc32(" ".join(map(str, of)).encode()) / 0x1_0000_0000


def age(path: str) -> Instant:
    """How old a file is when its history begins: at least a second."""
    return SECOND + int(chance("age", path) * _OLDEST)


def reckoned(changes: Iterable[int], laps: float) -> float:
    """How many changes there are, but of no page more than MOST a lap.

    Some pages change with each build. Reckoned in full, one of them would leave the others at rest.
    """
    return sum(min(often, MOST * laps) for often in changes)


def load_of(history: History, load: float, laps: float) -> float:
    """How often an average page changes in a lap: as wanted, or less if it is over too soon."""
    return min(load, reckoned(history.changes(), laps) / (laps * max(1, len(history.pages))))


def fitted(
    history: History,
    *,
    load: float,
    lap: float,
    laps: float,
    even: bool = False,
    start: Instant = START,
) -> History:
    """The history on virtual time: an average page changes `load` times in `lap` seconds.

    Bursts of changes stay bursts, unless they are to come evenly: then all that changed at one
    moment still changes at one moment, but these have equal gaps. It goes on for so many laps at
    least, if need be by a lower load.
    """
    changes = reckoned(history.changes(), laps)
    length = max(laps, changes / (max(1, len(history.pages)) * load))
    span = length * lap * SECOND
    moments = sorted({v.at for own in history.pages.values() for v in own if v.at > history.begin})
    if even:
        places = {at: (k + 1) / len(moments) for k, at in enumerate(moments)}
    else:
        whole = max(1, history.end - history.begin)
        places = {at: (at - history.begin) / whole for at in moments}

    def moved(path: str, versions: tuple[Version, ...]) -> Iterator[Version]:
        for version in versions:
            at = start + round(places.get(version.at, 0.0) * span)
            dated = at if version.at > history.begin else start - age(path)
            yield Version(at, version.content, dated)

    found = history.remade(lambda path, own: changing(list(moved(path, own))))
    return replace(found, begin=start, end=start + round(span))


def synthetic(seed: int, pages: int, load: float, laps: float, family: str = "") -> History:
    """The newspaper for so many times the while in which all its pages can be visited once.

    One page in five never changes, one in twenty appears, one in twenty vanishes.
    """
    mean = load / (1 - _STILL) / pages * 86_400  # changes a day, if a visit takes a second
    span = round(laps * pages * SECOND)
    few = max(1, pages // 20)
    spec = SiteSpec(
        seed=seed, pages=pages - few, rates=_rates(family, mean), static=_STILL, appearing=few,
        vanishing=few, turnover=span / DAY, links=4, words=40, css=1, images=0, scripts=0,
        redirects=0, errors=(), disallowed=0, sitemap="none", gzip=False,
    )  # fmt: skip
    site = SyntheticSite(spec)
    end = spec.start + span
    born = {path for at in (spec.start, end) for path in site.paths(at)}
    parts = {p for p in site.expected(spec.start) if site.kind(p) is Kind.CSS}
    return History({p: _printed(site, p, end) for p in sorted(born | parts)}, spec.start, end)


def _rates(family: str, mean: float) -> Rates:
    if family == "two-speed":  # four of five are thirty times slower than the fifth
        slow = mean / (0.8 + 0.2 * 30)
        return Rates.fixed(slow, slow, slow, slow, 30 * slow)
    if family == "lognormal":
        return Rates.lognormal(mean)
    return Rates.exponential(mean)


def _printed(site: SyntheticSite, path: str, end: Instant) -> tuple[Version, ...]:
    begin = site.spec.start
    found = []
    for at in [begin, *site.changes(path, begin, end)]:
        response = site.respond("GET", path, (), at)
        found.append(Version(at, response.content if response.status == 200 else None, at))
    return changing(found)


# -- histories as servers have them on their disks -------------------------------------------------


def at_rest(history: History) -> History:
    """Nothing changes any more: each page stays what it was first."""

    def first(path: str, versions: tuple[Version, ...]) -> list[Version]:
        content = next((v.content for v in versions if v.content is not None), None)
        return [Version(history.begin, content, history.begin - age(path))]

    return history.remade(first)


def without_returns(history: History) -> History:
    """No page has a content that it had before: where one came back, what replaced it stays."""

    def new(path: str, versions: tuple[Version, ...]) -> tuple[Version, ...]:
        first: dict[bytes | None, Version] = {}
        for version in versions:
            first.setdefault(version.content, version)
        return tuple(first.values())

    return history.remade(new)


def built_before(history: History, shortest: float, longest: float) -> History:
    """Files have the date at which they were built, so many seconds before they appear."""

    def lagging(path: str, versions: tuple[Version, ...]) -> Iterator[Version]:
        last = versions[0].dated - SECOND
        for version in versions:
            lag = shortest * (longest / shortest) ** chance("lag", version.at)
            is_new = version.at > history.begin
            built = version.at - int(lag * SECOND) if is_new else version.dated
            last = max(built, last + SECOND)
            yield replace(version, dated=min(last, version.at))

    return history.remade(lambda path, own: list(lagging(path, own)))


def rolled_back(history: History, lap: float) -> History:
    """Each change that stood for 2.5 laps is taken back, the older file with its older date.

    What stood for a shorter time stays, so that nobody who visits a page twice within 2 laps finds
    its old content both times: that is another case (`coming_back`).
    """
    stands = int(2.5 * lap * SECOND)

    def restored(path: str, old: Version, new: Version) -> Version | None:
        back = new.at + stands + int(chance("restored", path, new.at) * lap * SECOND)
        gone = old.content is None or new.content is None
        return None if gone else replace(old, at=back)

    return history.remade(lambda path, own: _taken_back(path, own, restored))


def coming_back(history: History, lap: float) -> History:
    """A-B-A: half of the changes are taken back within a lap, under the date of that."""

    def returned(path: str, old: Version, new: Version) -> Version | None:
        back = new.at + int((0.05 + chance("back", path, new.at)) * lap * SECOND)
        again = chance("again", path, new.at) < 0.5
        return replace(old, at=back, dated=back) if again else None

    return history.remade(lambda path, own: _taken_back(path, own, returned))


def _taken_back(
    path: str,
    versions: Sequence[Version],
    back: Callable[[str, Version, Version], Version | None],
) -> tuple[Version, ...]:
    """With what stood before a change once more, where that is wanted and nothing came before."""
    found = list(versions[:1])
    for new, after in zip_longest(versions[1:], versions[2:]):
        old = found[-1]
        found.append(new)
        again = back(path, old, new)
        if again is not None and (after is None or again.at < after.at):
            found.append(again)
    return changing(found)


def same_size_and_date(history: History) -> History:
    """All versions of a page have one size; half of the changes leave the file's date as it was."""

    def quiet(path: str, versions: tuple[Version, ...]) -> Iterator[Version]:
        size = max((len(v.content) for v in versions if v.content is not None), default=0)
        dated = versions[0].dated
        for version in versions:
            if chance("touched", path, version.at) < 0.5:
                dated = version.dated
            content = None if version.content is None else version.content.ljust(size)
            yield Version(version.at, content, dated)

    return history.remade(lambda path, own: list(quiet(path, own)))
