"""Connections that wait for their next request."""

from __future__ import annotations

from asof.fetch.connection import Connection
from asof.fetch.request import Place


class Pool:
    """Idle connections by place. The one used last goes first: it is the least likely stale."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._idle: dict[Place, list[Connection]] = {}
        # Which waits where, the longest waiting first.
        self._order: dict[Connection, Place] = {}

    def take(self, place: Place) -> Connection | None:
        """An open connection to this place, no longer in the pool; None when there is none."""
        waiting = self._idle.get(place)
        while waiting:
            connection = waiting.pop()
            del self._order[connection]
            if connection.open:
                return connection
        return None

    def give(self, place: Place, connection: Connection) -> None:
        self._idle.setdefault(place, []).append(connection)
        self._order[connection] = place
        connection.rest()
        if len(self._order) > self._most:
            oldest = next(iter(self._order))
            self.drop(oldest)
            oldest.abort()

    def drop(self, connection: Connection) -> None:
        place = self._order.pop(connection, None)
        if place is None:
            return
        waiting = self._idle[place]
        waiting.remove(connection)
        if not waiting:
            del self._idle[place]
