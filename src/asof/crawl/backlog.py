"""What waits to be written: when it is enough for a commit, and when too much to go on."""

from __future__ import annotations

from asof.archive.journal import CommitGroup, Journal
from asof.frontier.queue import Changes, Frontier

# Changes to the queue that wait in memory, at most about so many: pages with thousands of links
# bring them faster than the database takes them.
_MOST_CHANGES = 20_000


class Backlog:
    """The open group of records and the changes to the queue that belong to them.

    `thirsty` says that a host waits for targets that are known, but not in the database yet.
    """

    def __init__(self, journal: Journal, frontier: Frontier) -> None:
        self._journal = journal
        self._frontier = frontier
        self._apiece = 0.0  # changes that a record brought, lately
        self.thirsty = False

    def __bool__(self) -> bool:
        return bool(self._journal.pending or self._frontier.pending)

    def is_due(self) -> bool:
        """Whether a commit should begin."""
        if self.thirsty or self._journal.due():
            return True
        return self._frontier.pending >= _MOST_CHANGES // 2

    def is_crowded(self, visits: int) -> bool:
        """Whether nothing should be begun before something is written; `visits` are under way."""
        expected = self._frontier.pending + visits * self._apiece
        return expected >= _MOST_CHANGES or self._journal.full

    def take(self) -> tuple[CommitGroup, Changes]:
        """All of it, to be written."""
        self.thirsty = False
        group, changes = self._journal.take(), self._frontier.take_changes()
        if group.units:
            self._apiece = (len(changes.found) + len(changes.left_out)) / len(group.units)
        return group, changes
