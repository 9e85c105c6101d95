"""When it is counted what an archive holds: a small one whenever it is asked, a large one beside.

What was counted of a large one is kept in `derived/inventory.db` with what was committed then.
While a crawl writes, readers are told what there was a minute ago rather than made to wait.
"""

from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from threading import Lock, Thread

from asof.archive.archive import OpenArchive
from asof.catalog.inventory import Holding, Inventory, KeptInventory, Totals, count, totals_of
from asof.catalog.listing import Listing
from asof.errors import AsofError
from asof.ledger import DamagedDatabase, discard

# Of so many captures a count takes 40 ms.
SMALL = 20_000
# Seconds between two counts of a large archive; where one takes long, so many times as long.
_APART, _TIMES = 60.0, 20


class Stocktaking:
    """The inventory of one archive, for those who ask again and again."""

    def __init__(self, archive: OpenArchive) -> None:
        self._archive = archive
        self._listing = Listing(archive.ledger, archive.clock)
        self._small: tuple[object, tuple[Holding, ...], Totals] | None = None
        self._turn = Lock()
        self._due = 0.0

    def inventory(self, after: str = "", limit: int = 1) -> Inventory | None:
        """What is held in all, and of the hosts beyond a key; None while it is counted first."""
        if not self._listing.has_more_than(SMALL):
            return self._of_small(after, limit)
        try:
            with closing(self._kept()) as kept:
                state = kept.state()
                if state is None or state[0] != self._listing.committed():
                    self._count_beside()
                if state is not None:
                    return Inventory(state[1], kept.holdings(after, limit))
        except DamagedDatabase:
            with suppress(OSError):  # of an archive that cannot be written it stays as it is
                discard(self._archive.folder.inventory)
            self._count_beside()
        except AsofError:  # there is none yet
            self._count_beside()
        return None

    def exact(self) -> tuple[Holding, ...]:
        """All there is now, whatever it takes."""
        with suppress(AsofError), closing(self._kept()) as kept:
            state = kept.state()
            if state is not None and state[0] == self._listing.committed():
                return kept.holdings("", 1 << 62)
        return tuple(count(self._archive.ledger))

    def _kept(self) -> KeptInventory:
        return KeptInventory(self._archive.folder.inventory, writable=False)

    def _of_small(self, after: str, limit: int) -> Inventory:
        version, known = self._archive.ledger.version(), self._small
        if known is None or known[0] != version:
            found = tuple(count(self._archive.ledger))
            known = self._small = version, found, totals_of(found)
        beyond = (each for each in known[1] if each.key > after)
        return Inventory(known[2], tuple(islice(beyond, limit)))

    def _count_beside(self) -> None:
        """Count in a thread of its own, unless one does so or did a moment ago."""
        clock = self._archive.clock
        with self._turn:
            if clock.monotonic() < self._due:
                return
            self._due = float("inf")
        root = self._archive.folder.root

        def run() -> None:
            began = clock.monotonic()
            try:
                take_stock(root)
            finally:
                ended = clock.monotonic()
                self._due = ended + max(_APART, _TIMES * (ended - began))

        Thread(target=run, daemon=True).start()


def take_stock(root: Path) -> None:
    """Count a large archive and keep it, unless what is kept is of today or another does so."""
    with suppress(AsofError, OSError), OpenArchive.open(root) as archive:
        listing = Listing(archive.ledger, archive.clock)
        if not listing.has_more_than(SMALL):
            return
        with closing(KeptInventory(archive.folder.inventory, writable=True)) as kept:
            # Before it is counted: what comes meanwhile makes another count due.
            committed, state = listing.committed(), kept.state()
            if state is None or state[0] != committed:
                kept.keep(archive.ledger, committed)
