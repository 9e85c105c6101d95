"""Traps that only their pages give away: a budget for each pattern of URLs, by what they bring.

Spaniol 2010, "Pitfalls": crawlers do not recognise patterns of "identical" contents. Two kinds of
evidence are kept, by pattern (`example.org/calendar/#/#/`):

*They repeat themselves.* Each page whose text brings nothing new to its pattern costs one page of
the pattern's budget (an eighth, if it leads to something new elsewhere); each page with new text
gives sixteen back. A series of a million articles never runs out; a calendar of empty months, a
list under ever more filters, a page that is found everywhere end after a dozen pages.

*They only lead to more of their kind.* Generated nonsense is always new. But its pages link to
new pages of their kind, and to nothing else that the ones before did not link to: no known page
of their kind, no page outside. In a real series each page in eight does, and the count goes down.
A mere chain (next, next) has much more room, and so has what is linked from many pages outside.
A maze whose pages are of ever new patterns cannot be told from a large tree: nothing stops it here.

The budgets begin small and grow with the pages that the host has given: a large site is worth
more doubt. They were set on the synthetic traps, so that these make up less than 5 % of 1,000
pages (tests/unit/test_traps_crawl.py). No budget keeps a crawl from seeds, from what a sitemap or
a feed lists, from what a page needs, and from pages linked by sound pages of another kind.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from zlib import crc32

from asof.model import Hop, Target
from asof.scope.traps import MAX_LENGTH, TrapPlace, place_of

# Series under watch, at most 3 KB each, and hosts; what was met longest ago is forgotten.
_MOST_SERIES = 20_000
_LONGEST = 500
# Budgets in pages: the least, the most, and how many good pages of the host add one. It is the most
# on a host that has little else: not even twice as much.
_REPEATS = (8, 50, 250)
_KIN = (10, 1_000, 250)
_LITTLE_ELSE = 2
# What a page costs and gives back, in eighths of a page.
_PAGE = 8
_LEADS_ON = 1
_BACK = 16 * _PAGE
# How many pages that keep to their kind are made up for by one link to a known page of the kind, or
# to one outside.
_TIED = 8
_TIES = 1_021
# A combination of parameters with so many new texts is not judged by the others.
_PROVEN = 3
# What sound pages link to (an application that shows everything by script) is given up last.
_RECOMMENDED = 8 * _REPEATS[1]
# Next, next, next: a diary without an index, a book of many leaves.
_CHAIN = 10_000
_BRANCHING = 1.5
# Before this many pages in a row their links to known pages are not looked at.
_SUSPECT = 3
# A text is new that has 1 % of marks not seen before, be it the title: products differ by little
# else. From two parameters on it takes 4 % for each: filters show in titles.
_NEW, _NEW_FILTERED = 1, 4
# Marks that a series remembers; beyond, it begins anew, and takes some old text for new.
_FULL = 3_000
# Texts of a pattern that brings new ones are looked at more and more seldom, down to one in 16.
_SELDOM = 16
_LISTED = (Hop.SITEMAP.value, Hop.FEED.value)
_PART = Hop.REQUISITE.value

# What is known under a key: where it began and numbers, and all marks as one number, those of texts
# in its lowest bits; None when it was forgotten.
State = tuple[tuple[str | int, ...], int]
Learnt = tuple[str, State | None]
_SEEN = 8_192


@dataclass(slots=True, eq=False)
class _Series:
    """What is known of a pattern, or of all queries of one path."""

    first: str
    pages: int = 0
    # Repetition: what is spent of the budget, the marks seen, the page whose text is looked at
    # next, and how many brought something: lately in a row, and ever.
    debt: int = 0
    seen: int = 0
    look: int = 1
    sound: int = 0
    good: int = 0
    # Kin: pages that keep to it, the new ones they led to, marks of where else they link, and
    # how many were found from outside.
    run: int = 0
    kin: int = 0
    ties: int = 0
    doors: int = 0

    def judge(self, text: int, share: int, *, shows: bool, leads_on: bool, old: bool) -> bool:
        """Take in the text of a page; whether it brought something. `old`: known from elsewhere."""
        unseen = (text & ~self.seen).bit_count()
        new = unseen > 0 and unseen * 100 >= text.bit_count() * share
        if new:
            self.remember(text)
        if shows or (new and not old):
            self.debt = max(0, self.debt - _BACK)
            self.sound += 1
            self.good += 1
        else:
            self.debt += _LEADS_ON if leads_on else _PAGE
            self.sound = 0
            new = False
        # After three good texts in a row every second one is looked at, then every fourth ...
        self.look = self.pages + min(_SELDOM, 1 << max(0, self.sound - 2))
        return new or shows

    def remember(self, text: int) -> None:
        self.seen |= text
        if self.seen.bit_count() > _FULL:
            self.seen = text


class Patterns:
    """The budgets of one crawl. Plain memory: what `take_changes` gives belongs into the commit of
    the pages it came from, and `restore` goes on with what was committed.
    """

    def __init__(self) -> None:
        self._series: dict[str, _Series] = {}
        self._hosts: dict[str, int] = {}
        self._wary: set[str] = set()  # hosts with a series that has spent the least budget
        self._changed: dict[str, None] = {}  # keys of series, and hosts

    # --- before a fetch ------------------------------------------------------------------------

    def allows(self, target: Target) -> str | None:
        """None: fetch it. A text: the budget of its pattern is used up, for this reason."""
        last = target.hops[-1:]
        if target.via is None or not last or last in _LISTED:
            return None
        if last == _PART and target.hops[-2:-1] != _PART:
            return None  # a part of a page; but frames in frames may go on for ever
        if target.url.split("/", 3)[2] not in self._wary:
            return None
        place = place_of(target.url)
        return self._repeating(place, target.via) or self._inbred(place, target.via)

    def _repeating(self, place: TrapPlace, via: str) -> str | None:
        own = self._series.get(place.pattern)
        keys = [place.pattern]
        # Filters make a pattern of each combination, so all queries of a path count together; but
        # a combination that has proven itself goes on.
        if place.parameters and (own is None or own.good < _PROVEN):
            keys.append(place.queries)
        for key in keys:
            series = self._series.get(key)
            if series is None or not series.debt:
                continue
            spent = self._is_spent(place, series.debt // _PAGE, _REPEATS)
            # Whether the page that links to it is of another kind and has something to say.
            if spent and (there := place_of(via)).path != place.path and not self._repeats(there):
                spent = series.debt >= _RECOMMENDED * _PAGE
            if spent:
                return f"trap: pages like {key} keep repeating themselves"
        return None

    def _inbred(self, place: TrapPlace, via: str) -> str | None:
        series = self._series.get(place.pattern)
        # Ten doors from outside are worth a hundred pages more: it may be a tree, with its leaves
        # yet to come.
        if series is None or not self._is_spent(place, series.run, _KIN, series.doors**2):
            return None
        chain = series.kin < series.run * _BRANCHING
        if (chain and series.run < _CHAIN) or place_of(via).path != place.path:
            return None
        return f"trap: pages like {place.pattern} only lead to more of their kind"

    def _repeats(self, place: TrapPlace) -> bool:
        """Whether the latest pages of a pattern, or of all queries of its path, brought nothing."""
        found = map(self._series.get, (place.pattern, place.queries))
        return any(series is not None and series.debt > 0 for series in found)

    def _is_spent(
        self, place: TrapPlace, pages: int, limits: tuple[int, int, int], more: int = 0
    ) -> bool:
        least, most, share = limits
        good = self._hosts.get(place.host, 0)
        budget = min(most, least + good // share + more)
        return pages >= (budget if good >= _LITTLE_ELSE * budget else most)

    # --- after a page was kept -----------------------------------------------------------------

    def wants_text(self, url: str, new: Sequence[Target] = ()) -> bool:
        """Whether `learn` should be told the fingerprint of this page, which costs some time."""
        place = place_of(url)
        for key in _keys(place):
            series = self._series.get(key)
            if series is None or series.pages + 1 >= series.look:
                return True
        return _asks_itself(place, url, new)

    def learn(
        self,
        target: Target,
        text: int | None = None,
        found: Iterable[Target] = (),
        new: Sequence[Target] = (),
    ) -> None:
        """Take in an HTML page that was kept: its text's fingerprint, and where it leads.

        `found` is all it leads to (looked at under suspicion only); `new` the part of it that was
        queued now, for the first time in this crawl (as far as the crawl remembers).
        """
        place = place_of(target.url)
        # An address with a query is no picture of the page's own: counters, what evades caches.
        shows = any(onward.hops.endswith(_PART) and "?" not in onward.url for onward in new)
        away, kin = self._whither(place, new)
        if text is not None and _asks_itself(place, target.url, new):
            self._at(place.queries, target.url).remember(text)
        fresh = self._learn_text(target, place, text, shows=shows, leads_on=away is not None)
        series = None if away is None else self._series.get(away.pattern)
        if away is not None and series is not None and not self._repeats(place):
            # All that it leads to are counted where that may matter one day.
            those = (place_of(onward.url).pattern == away.pattern for onward in new)
            series.doors += sum(those) if series.run else 1
            self._changed[away.pattern] = None
        kin = 0 if shows else kin
        run = self._learn_kin(target, place, kin, found, new)
        if fresh and run <= _SUSPECT:
            self._hosts[place.host] = self._hosts.pop(place.host, 0) + 1
            self._changed[place.host] = None
            if len(self._hosts) > _MOST_SERIES:
                self._changed[oldest := next(iter(self._hosts))] = None
                del self._hosts[oldest]

    def _whither(self, place: TrapPlace, new: Sequence[Target]) -> tuple[TrapPlace | None, int]:
        """The first new place elsewhere that a page leads to; without one, how many of its kind.

        Nearly every page leads elsewhere by one of its first links, so few have to be looked at.
        """
        kin = 0
        for onward in new:
            if onward.hops.endswith(_PART):
                continue
            there = place_of(onward.url)
            if there.path == place.path:
                kin += 1
            elif not self._repeats(there):
                return there, 0
        return None, kin

    def _learn_text(
        self, target: Target, place: TrapPlace, text: int | None, *, shows: bool, leads_on: bool
    ) -> bool:
        """Whether the page brought something, as far as anybody looked."""
        old = False
        for key in _keys(place):
            series = self._at(key, target.url)
            series.pages += 1
            if text is not None:
                share = _NEW if place.parameters < 2 else _NEW_FILTERED * place.parameters
                old = not series.judge(text, share, shows=shows, leads_on=leads_on, old=old)
                self._watch(place.host, series)
        return not old

    def _learn_kin(
        self,
        target: Target,
        place: TrapPlace,
        kin: int,
        found: Iterable[Target],
        new: Sequence[Target],
    ) -> int:
        """How many pages have now led to nothing but new ones of their kind."""
        series = self._series.get(place.pattern)
        if series is None:
            return 0
        if kin:
            series.run += 1
            series.kin += kin
        ties = int(not kin)
        if kin and series.run > _SUSPECT:
            ties = _ties(target, series, place, found, new)
        if ties:
            rest = max(0, series.run - ties * _TIED)
            series.kin = series.kin * rest // max(1, series.run)
            series.run = rest
        self._watch(place.host, series)
        return series.run

    def _watch(self, host: str, series: _Series) -> None:
        if series.debt >= _REPEATS[0] * _PAGE or series.run >= _KIN[0]:
            self._wary.add(host)

    # --- memory --------------------------------------------------------------------------------

    def _at(self, key: str, url: str) -> _Series:
        """The series of a key, which is now the last to be forgotten."""
        series = self._series.pop(key, None) or _Series(url[:_LONGEST])
        self._series[key] = series
        self._changed[key] = None
        if len(self._series) > _MOST_SERIES:
            self._changed[oldest := next(iter(self._series))] = None
            del self._series[oldest]
        return series

    def take_changes(self) -> tuple[Learnt, ...]:
        """What was learnt since this was asked last, that which was met last at the end."""
        changed, self._changed = self._changed, {}
        return tuple((key, self._state(key)) for key in changed)

    def _state(self, key: str) -> State | None:
        if "/" not in key:  # a host
            return (("", self._hosts[key]), 0) if key in self._hosts else None
        if (s := self._series.get(key)) is None:
            return None
        plain = (s.first, s.pages, s.debt, s.look, s.sound, s.good, s.run, s.kin, s.doors)
        return plain, s.ties << _SEEN | s.seen

    def restore(self, rows: Iterable[tuple[str, str, bytes]]) -> None:
        """Go on with what was learnt: keys, and what `written` made of it."""
        for key, text, marks in rows:
            first, pages, *more = json.loads(text)
            if "/" not in key:
                self._hosts[key] = pages
                continue
            debt, look, sound, good, run, kin, doors = more
            ties, seen = divmod(int.from_bytes(marks), 1 << _SEEN)
            series = _Series(first, pages, debt, seen, look, sound, good, run, kin, ties, doors)
            self._series[key] = series
            self._watch(key.partition("/")[0], series)


def written(state: State) -> tuple[str, bytes]:
    """What is known of a series or a host, as it is kept."""
    plain, marks = state
    return json.dumps(plain), marks.to_bytes((marks.bit_length() + 7) // 8)


def _keys(place: TrapPlace) -> tuple[str, ...]:
    """Under which a text is judged; none where there can be but one page."""
    if place.parameters:
        return place.queries, place.pattern
    return (place.pattern,) if place.general else ()


def _asks_itself(place: TrapPlace, url: str, new: Iterable[Target]) -> bool:
    """Whether a page without a query links to queries of its own path: it is the whole list."""
    return not place.parameters and any(each.url.startswith(f"{url}?") for each in new)


def _ties(
    target: Target,
    series: _Series,
    place: TrapPlace,
    found: Iterable[Target],
    new: Sequence[Target],
) -> int:
    """How often a page links to a known one of its kind, or out to where none before it did.

    Pages above it do not count: where it was found, where the series began, folders of its path.
    """
    skipped = {onward.url for onward in new} | {target.url, target.via, series.first}
    known = ties = 0
    for onward in found:
        url = onward.url
        if url in skipped or len(url) > MAX_LENGTH:
            continue
        if target.url.startswith(url.rstrip("/") + "/"):
            continue
        there = place_of(url)
        if there.path == place.path and not onward.hops.endswith(_PART):
            known += 1
        elif there.host == place.host or not there.parameters:  # no "share this page" elsewhere
            ties |= 1 << crc32(url.encode()) % _TIES
    # The first page that is looked at shows where all of them link to.
    unseen = ties & ~series.ties if series.ties else 0
    series.ties = ties | 1 if series.ties.bit_count() > _TIES // 2 else series.ties | ties | 1
    return known + unseen.bit_count()
