"""Rewritten documents, kept for the next reader of the same page."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

from asof.replay.rewrite import Rewritten

# Bytes that a process keeps; two thirds of what it takes to show a page is rewriting it.
MOST_KEPT = 32 << 20


class KeptDocuments:
    """The documents that were asked for last, as many as there is room for."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Rewritten] = OrderedDict()
        self._size = 0
        self._turn = Lock()

    def get(self, key: Hashable, make: Callable[[], Rewritten]) -> Rewritten:
        """What is known by a key; else it is made, at worst by two at once."""
        with self._turn:
            if (known := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return known
        made = make()
        with self._turn:
            if key not in self._known and len(made.data) <= MOST_KEPT // 8:
                self._known[key] = made
                self._size += len(made.data)
            while self._size > MOST_KEPT:
                self._size -= len(self._known.popitem(last=False)[1].data)
        return made
