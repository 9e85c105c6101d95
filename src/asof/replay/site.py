"""What is known of each address of a site as of a moment, by the history of each.

The words are those of a history (`asof show`), and tell what was there, and how firmly:

    proven, confirmed, claimed   there, on both sides of the moment: by its bytes, by a strong 304,
                                 or only as the server says (a date of what was seen later, too)
    possible                     there when it was seen last, and nothing is known since
    elsewhere, gone              a redirect; not there (404, 410, 451)
    silent                       asked for, and nothing but errors and refusals came by then
    not-yet                      seen later only

An answer that says nothing (an error) neither begins nor ends what is known from another one. A
moment is a whole second, as the stamp of an address names it: what was seen within was seen then.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import attrgetter

from asof.clock import SECOND, Instant
from asof.coherence.observations import is_page
from asof.model import State, Validity

# Folders within folders; deeper ones are a part of the name.
DEEPEST = 8


class Standing(StrEnum):
    """What is known of an address at a moment, from the best to nothing."""

    PROVEN = "proven"
    CONFIRMED = "confirmed"
    CLAIMED = "claimed"
    POSSIBLE = "possible"
    ELSEWHERE = "elsewhere"
    GONE = "gone"
    SILENT = "silent"
    NOT_YET = "not-yet"


# There, as is known from both sides of the moment; and there for all that is known.
HELD = frozenset((Standing.PROVEN, Standing.CONFIRMED, Standing.CLAIMED))
THERE = HELD | {Standing.POSSIBLE}
_OTHERWISE = {State.ELSEWHERE: Standing.ELSEWHERE, State.GONE: Standing.GONE}


@dataclass(frozen=True, slots=True)
class Course:
    """What is known of an address, by time: of each second of `since` on until the next one.

    `parts` are its origin, its folders and its name. `begun` are the seconds in which an answer was
    seen that was another one than before, `last` that in which one was seen last.
    """

    parts: tuple[str, ...]
    since: tuple[int, ...]
    standings: tuple[Standing, ...]
    begun: tuple[int, ...]
    last: int

    @property
    def url(self) -> str:
        return "".join(self.parts)

    def at(self, moment: Instant) -> Standing:
        place = bisect_right(self.since, moment // SECOND)
        return self.standings[place - 1] if place else Standing.NOT_YET

    def stretch(self, moment: Instant) -> tuple[Instant | None, Instant | None]:
        """From when to when that is so; None where it has no beginning, or no end."""
        place = bisect_right(self.since, moment // SECOND)
        first = self.since[place - 1] * SECOND if place else None
        last = self.since[place] * SECOND - 1 if place < len(self.since) else None
        return first, last


def courses(histories: Iterable[Validity]) -> Iterator[Course]:
    """Of each URL that is something for readers; what is of one URL stands together."""
    for url, history in groupby(histories, attrgetter("url")):
        if is_page(url):
            yield course(url, list(history))


def course(url: str, history: Sequence[Validity]) -> Course:
    told = [each for each in history if each.state is not State.SILENT]
    told.sort(key=attrgetter("since", "until"))
    silent = [each.since // SECOND for each in history if each.state is State.SILENT]
    since, standings = zip(*joined(_changes(told, silent)), strict=True)
    return Course(
        parts(url), since, standings,
        tuple(dict.fromkeys(each.since // SECOND for each in told)),
        max(each.until for each in history) // SECOND,
    )  # fmt: skip


def joined(changes: Iterable[tuple[int, Standing]]) -> list[tuple[int, Standing]]:
    """From when on what is known, by changes of which a later one ends what was to come."""
    found: list[tuple[int, Standing]] = []
    for when, standing in changes:
        while found and found[-1][0] >= when:
            found.pop()
        if not found or found[-1][1] is not standing:
            found.append((when, standing))
    return found


def _changes(told: Sequence[Validity], silent: Sequence[int]) -> Iterator[tuple[int, Standing]]:
    if silent:
        yield min(silent), Standing.SILENT
    seen: int | None = None
    for each in told:
        yield from _steps(each, seen)
        seen = each.until // SECOND


def _steps(validity: Validity, seen: int | None) -> Iterator[tuple[int, Standing]]:
    """What one content makes known, after another one was `seen` last."""
    since = validity.since // SECOND
    claimed = since if validity.claimed_since is None else validity.claimed_since // SECOND
    claimed = claimed if seen is None else max(claimed, seen + 1)
    otherwise = _OTHERWISE.get(validity.state)
    if claimed < since:
        yield claimed, otherwise or Standing.CLAIMED
    if otherwise is not None:
        yield since, otherwise
        return
    yield since, Standing.PROVEN
    ends = (validity.proven_until, validity.confirmed_until, validity.until)
    after = (Standing.CONFIRMED, Standing.CLAIMED, Standing.POSSIBLE)
    for end, then in zip(ends, after, strict=True):
        yield end // SECOND + 1, then


def parts(url: str) -> tuple[str, ...]:
    """A URL as its origin, the folders of its path, and its name; together they are the URL."""
    scheme, slashes, rest = url.partition("://")
    path, mark, query = rest.partition("?")
    *folders, name = path.split("/", DEEPEST)
    name += mark + query
    if not folders:
        return (scheme + slashes + name,)
    return (scheme + slashes + folders[0] + "/", *(f"{each}/" for each in folders[1:]), name)
