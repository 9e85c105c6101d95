"""The addresses under a prefix of an archive, each with what is known of it over time.

All of them are read together, by the same reading as the history of one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from threading import Lock

from asof.archive.archive import OpenArchive
from asof.catalog.listing import Listing
from asof.coherence.history import GradedHistories
from asof.model import Capture
from asof.replay.site import Course, courses
from asof.replay.site_moments import Moments, moments
from asof.url import key_ranges

# One answer: addresses, captures that are read for them, and letters of addresses, each and as many
# more as are read at once. What there is beyond follows in another.
MOST_URLS, MOST_CAPTURES, MOST_LETTERS = 5_000, 100_000, 2_000_000
_KEYS_AT_ONCE, _CAPTURES_AT_ONCE = 100, 1_000
_KEPT = 8  # of 5,000 addresses with ten captures each, 6 MB


@dataclass(frozen=True, slots=True)
class Site:
    """The addresses under a prefix, as a tree has them; beyond the key `next` there are more.

    Of what was seen within one second there are no `moments` to pick from.
    """

    prefix: str
    courses: tuple[Course, ...]
    moments: Moments | None
    next: str | None = None


class Sites:
    """Of one archive; those asked for last are kept for as long as nothing is captured."""

    def __init__(self, archive: OpenArchive) -> None:
        self._archive = archive
        self._graded = GradedHistories(archive)
        self._listing = Listing(archive.ledger, archive.clock)
        self._turn = Lock()  # many who ask for a large one at once would each read all of it
        self._kept = lru_cache(_KEPT)(self._read)

    def of(self, prefix: str, after: str = "") -> Site:
        """The site under a prefix (see `asof.url.key_ranges`), beyond the key `after`."""
        with self._turn:
            return self._kept(prefix, after, self._listing.committed())

    def _read(self, prefix: str, after: str, committed: int) -> Site:
        found: list[Course] = []
        captures = letters = 0
        last = ""
        for key, lot in self._lots(prefix, after):
            if len(found) >= MOST_URLS or captures >= MOST_CAPTURES or letters >= MOST_LETTERS:
                break
            found += (own := list(courses(self._graded.among(lot))))
            captures += len(lot)
            letters += sum(len(each.url) for each in own)
            last = key
        else:
            last = ""
        found.sort(key=attrgetter("parts"))
        return Site(prefix, tuple(found), moments(found), last or None)

    def _lots(self, prefix: str, after: str) -> Iterator[tuple[str, list[Capture]]]:
        """The captures under a prefix: those of one key together, of several while they are few."""
        lot: list[Capture] = []
        keys = 0
        for low, high in key_ranges(prefix):
            start = max(low, after + "\0") if after else low
            for key, own in groupby(self._archive.catalog.scan(start, high), attrgetter("surt")):
                lot += own
                keys += 1
                if keys == _KEYS_AT_ONCE or len(lot) >= _CAPTURES_AT_ONCE:
                    yield key, lot
                    lot, keys = [], 0
        if lot:
            yield lot[-1].surt, lot
