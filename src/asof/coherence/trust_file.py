"""What was learnt of a host, kept until more is captured of it.

The word of a host is weighed by all captures there are of it. One page of its history needs no more
than the result, which is kept in `derived/trust/`; nothing breaks where that cannot be written. Of
hosts with many captures it takes a while: a server learns that before somebody waits for it.
"""

import json
from contextlib import suppress
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from threading import Lock

from asof.archive.archive import OpenArchive
from asof.catalog.listing import MANY, Listing
from asof.coherence.verdict import HostTrust
from asof.errors import AsofError
from asof.files import atomic_file, input_file
from asof.url import LAST, host_of, surt

_FORMAT = 1  # of the file, and of how hosts are judged
# Seconds for which a long-lived reader goes by what it learnt while a crawl writes; where learning
# takes long, so many times as long.
_KEPT, _TIMES = 60.0, 20
_MOST_HOSTS = 4096


def trust_in(archive: OpenArchive, host: str) -> HostTrust:
    """What the word of one host is worth, by everything that the archive has of it."""
    stamp = _stamp_of_host(archive, host)
    path = archive.folder.root / "derived" / "trust" / f"{_digest(host)}.json"
    if (known := _read(path, host, stamp)) is not None:
        return known
    from asof.coherence.gather import learn_trust_in  # numpy, which nothing else here needs

    found = learn_trust_in(archive, [host])[host]
    with suppress(OSError, AsofError):  # where nothing can be written it is learnt again
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as file:
            file.write(json.dumps({"stamp": stamp, "trust": asdict(found)}).encode("ascii"))
    return found


def learn_ahead(folder: Path) -> None:
    """Learn of the hosts with many captures, for those who will ask."""
    with suppress(AsofError), OpenArchive.open(folder) as archive:
        listing, after = Listing(archive.ledger, archive.clock), ""
        while hosts := listing.hosts(after):
            after = hosts[-1].key
            for name in (host_of(host.prefix) for host in hosts if host.captures > MANY):
                trust_in(archive, name)


class KeptTrust:
    """The same for those who ask again and again: learnt anew at most every minute or so.

    One learns at a time; who has an older answer goes by that meanwhile, the others wait.
    """

    def __init__(self, archive: OpenArchive) -> None:
        self._archive = archive
        self._known: dict[str, tuple[HostTrust, str, float]] = {}
        self._turn = Lock()

    def of(self, host: str) -> HostTrust:
        known = self._known.get(host)
        if known is not None and self._is_good(known):
            return known[0]
        if known is not None and self._turn.locked():
            return known[0]
        with self._turn:
            known = self._known.get(host)
            return known[0] if known is not None and self._is_good(known) else self._learnt(host)

    def _is_good(self, known: tuple[HostTrust, str, float]) -> bool:
        _, stamp, until = known
        return self._archive.clock.monotonic() < until or stamp == stamp_of(self._archive)

    def _learnt(self, host: str) -> HostTrust:
        clock, stamp = self._archive.clock, stamp_of(self._archive)
        begun = clock.monotonic()
        trust = trust_in(self._archive, host)
        ended = clock.monotonic()
        if len(self._known) >= _MOST_HOSTS:
            self._known.clear()
        self._known[host] = trust, stamp, ended + max(_KEPT, _TIMES * (ended - begun))
        return trust


def stamp_of(archive: OpenArchive) -> str:
    """What tells whether anything was captured since."""
    return _digest(json.dumps([_FORMAT, [*archive.committed().items()]]))


def _stamp_of_host(archive: OpenArchive, host: str) -> str:
    """The same for one host: which captures there are of it, and where they lie."""
    low = surt(f"http://{host}/").partition(")")[0] + ")"
    sql = "SELECT count(*), max(at), sum(segment), sum(offset % 1000003), sum(length) FROM captures"
    found = archive.ledger.fetch(f"{sql} WHERE surt >= ? AND surt < ?", [low, low + LAST])
    return _digest(json.dumps([_FORMAT, host, *found]))


def _read(path: Path, host: str, stamp: str) -> HostTrust | None:
    try:
        with input_file(path) as file:
            kept = json.loads(file.read())
        trust = HostTrust(**kept["trust"] | {"doubted": tuple(kept["trust"]["doubted"])})
    except (OSError, ValueError, LookupError, TypeError):  # not there, or not by us
        return None
    return trust if kept["stamp"] == stamp and trust.host == host else None


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=12).hexdigest()
