"""Thumbnails for our own pages: where one is, and the answer when it is asked for."""

import re
from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from asof.archive import OpenArchive
from asof.clock import SECOND, Clock, Instant, parse_stamp, stamp
from asof.model import Capture
from asof.web import address
from asof.web.orders import comes_from_elsewhere
from asof.web.pictures.shelf import Shelf, looked_at

PLACE = "/-/thumb/"
_ASKED = re.compile(r"(\d{14})/(.+)", re.DOTALL | re.ASCII)
_MADE = "private, max-age=31536000, immutable"
# Seconds until a browser may ask again for one that is being made, and for one that cannot be.
_SOON, _LATE = 5, 3600

Ask = Callable[[Path, str, Instant], None]
"""Has the picture of a page made, some time: by the archive's folder, the URL, and the moment."""


class Thumbnails:
    """Those of one archive. Without anybody to `ask`, those that are there already."""

    def __init__(self, archive: OpenArchive, clock: Clock, ask: Ask | None = None) -> None:
        self._archive = archive
        self._shelf = Shelf(archive.folder, clock)
        self._ask = ask

    def of(self, capture: Capture | None) -> str:
        """The address of a thumbnail; empty where none is, and none will be."""
        seen = looked_at(self._archive, capture)
        if capture is None or seen is None:
            return ""
        found = self._shelf.find(seen)
        if not found and (found is not None or self._ask is None):
            return ""
        return f"{address.prefix.get()}{PLACE}{stamp(capture.at)}/{address.written(capture.url)}"

    def of_latest(self, url: str, until: Instant) -> str:
        """The same for what was captured of a URL last."""
        return self.of(self._archive.as_of(url, until))

    def one(self, request: Request) -> Response:
        """The endpoint of `/-/thumb/{stamp}/{url}`."""
        asked = _ASKED.fullmatch(address.rest(request.scope, PLACE))
        at = parse_stamp(asked[1]) if asked is not None else None
        if asked is None or at is None:
            return _none(_LATE)
        capture = self._archive.as_of(address.typed(asked[2]), at + SECOND - 1)
        if (seen := looked_at(self._archive, capture)) is None:
            return _none(_LATE)
        found = self._shelf.find(seen)
        if found:
            return Response(found, media_type="image/webp", headers={"cache-control": _MADE})
        if found is None and self._ask is not None and not comes_from_elsewhere(request.headers):
            self._ask(self._archive.folder.root, seen.capture.url, seen.capture.at)
        return _none(_SOON if found is None else _LATE)


def _none(seconds: int) -> Response:
    """No picture, which is no error: browsers would put that on the console of a page."""
    return Response(status_code=204, headers={"cache-control": f"private, max-age={seconds}"})
