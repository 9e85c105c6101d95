"""Small pictures of pages, kept below an archive's `derived/` and made again at will.

A file is named by the URL, the digest of its content and the width: captures of one content share
it. An empty one says that there can be none. What is no whole picture is removed when it is met.
"""

import errno
import os
from hashlib import sha256
from pathlib import Path

from asof.archive import OpenArchive
from asof.archive.folder import Folder
from asof.catalog.observe import Observation
from asof.clock import DAY, SECOND, Clock
from asof.files import atomic_file, open_plain, refuse_link, storage_errors
from asof.model import Capture, State
from asof.text.kinds.media import PAGES

WIDTH, HEIGHT = 160, 100
# Of one archive. Its folder is looked through whenever it is opened; a picture has 3 KB, usually.
MOST, MOST_BYTES = 2_000, 16 << 20
LARGEST = 64 << 10
# When there are too many, so much of what may be is kept.
_KEPT = 0.9
# Microseconds until it is tried again to picture what could not be.
_AGAIN = DAY


def looked_at(archive: OpenArchive, capture: Capture | None) -> Observation | None:
    """What a capture shows, if that is a page that can be pictured: redirects have the look of
    where they lead, and errors none that anybody looks for.
    """
    seen = None if capture is None else archive.catalog.observation(capture)
    if seen is None or seen.state is not State.PRESENT or seen.source is None:
        return None
    return seen if seen.source.media_type in PAGES else None


class Shelf:
    """The pictures of one archive."""

    def __init__(self, folder: Folder, clock: Clock) -> None:
        self._place = folder.root / "derived" / "pictures"
        self._clock = clock

    def find(self, seen: Observation) -> bytes | None:
        """The picture of what a URL showed; empty where there can be none, None if it has not been
        made.
        """
        path = self._path(seen)
        try:
            with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
                data, made = file.read(LARGEST + 1), os.fstat(file.fileno()).st_mtime
        except OSError:
            return None
        if is_whole(data) or (not data and self._clock.now() / SECOND < made + _AGAIN / SECOND):
            return data
        path.unlink(missing_ok=True)
        return None

    def prepare(self) -> None:
        """Make sure that pictures can be kept, before one is taken."""
        refuse_link(self._place)
        with storage_errors(self._place):
            self._place.mkdir(parents=True, exist_ok=True)
            if not os.access(self._place, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self._place))

    def keep(self, seen: Observation, picture: bytes) -> None:
        """Put a picture there, or that there is none; the oldest make room for it."""
        with atomic_file(self._path(seen)) as file:
            file.write(picture if is_whole(picture) else b"")
        self._make_room()

    def _path(self, seen: Observation) -> Path:
        named = sha256(f"{seen.capture.url}\n{seen.identity}".encode("utf-8", "surrogatepass"))
        return self._place / f"{named.hexdigest()}-{WIDTH}.webp"

    def _make_room(self) -> None:
        found = []
        with os.scandir(self._place) as entries:
            for entry in entries:
                about = entry.stat(follow_symlinks=False)
                found.append((about.st_mtime, about.st_size, entry.path))
        count, size = len(found), sum(each for _, each, _ in found)
        if count <= MOST and size <= MOST_BYTES:
            return
        for _, each, path in sorted(found):
            if count <= MOST * _KEPT and size <= MOST_BYTES * _KEPT:
                break
            Path(path).unlink(missing_ok=True)
            count, size = count - 1, size - each


def is_whole(data: bytes) -> bool:
    """Whether it is a WebP that is as long as it says (RFC 9649, section 2.4)."""
    is_webp = data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) <= LARGEST
    return is_webp and int.from_bytes(data[4:8], "little") + 8 == len(data)
