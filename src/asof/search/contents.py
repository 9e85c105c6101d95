"""From captures to what the index holds: the contents of a URL, each over its interval.

A content is shown from the first capture that has it to the first that has something else: what
`asof get URL --at T` gives at any moment between, but that errors and refusals, which say nothing
of a content, end none. How long it is *known* to have been there is told with a hit.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, zip_longest
from operator import attrgetter

from asof.catalog.captures import Catalog
from asof.change.texts import Texts
from asof.clock import Instant
from asof.model import Capture, State
from asof.text.store import hashed

# Of several captures of one instant the last is shown, as in `Catalog.as_of`.
_ORDER = attrgetter("capture.at", "capture.record_id")

# The key of a content whose payload is not in the archive: of a revisit that names what may come.
LOST = 0


@dataclass(frozen=True, slots=True)
class Content:
    """A content over its interval; `key` is that of its text, or LOST."""

    surt: str
    url: str
    key: int
    since: Instant
    ended: Instant | None

    @property
    def id(self) -> int:
        return hashed(self.url, str(self.key), str(self.since))


def contents(catalog: Catalog, texts: Texts, captures: Iterable[Capture]) -> Iterator[Content]:
    """Of all captures of a key, the contents that may have a text."""
    # As they are in the catalog: by these their texts were read.
    stored = {(each.url, each.at, each.record_id): each for each in captures}
    for url, seen in catalog.shown(stored.values()).items():
        telling = (each for each in sorted(seen, key=_ORDER) if each.state is not State.SILENT)
        found = [next(same) for _, same in groupby(telling, attrgetter("state", "identity"))]
        for first, later in zip_longest(found, found[1:]):
            if first.state is not State.PRESENT:
                continue
            capture = stored[url, first.capture.at, first.capture.record_id]
            key = texts.key(capture)
            if key is not None or first.source is None:
                ended = None if later is None else later.capture.at
                yield Content(capture.surt, url, key or LOST, capture.at, ended)
