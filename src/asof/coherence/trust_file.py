"""What was learnt of a host, kept until the archive changes.

The word of a host is weighed by all captures there are of it. One page of its history needs no more
than the result, which is kept in `derived/trust/`; nothing breaks where that cannot be written.
"""

import json
from contextlib import suppress
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path

from asof.archive.archive import OpenArchive
from asof.coherence.verdict import HostTrust
from asof.files import atomic_file

_FORMAT = 1  # of the file, and of how hosts are judged


def trust_in(archive: OpenArchive, host: str) -> HostTrust:
    """What the word of one host is worth, by everything that the archive has of it."""
    stamp = stamp_of(archive)
    path = archive.folder.root / "derived" / "trust" / f"{_digest(host)}.json"
    if (known := _read(path, host, stamp)) is not None:
        return known
    from asof.coherence.gather import learn_trust_in  # numpy, which nothing else here needs

    found = learn_trust_in(archive, [host])[host]
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as file:
            file.write(json.dumps({"stamp": stamp, "trust": asdict(found)}).encode("ascii"))
    return found


def stamp_of(archive: OpenArchive) -> str:
    """What tells whether anything was captured since."""
    files = [[segment.file, segment.committed] for segment in archive.segments()]
    return _digest(json.dumps([_FORMAT, files]))


def _read(path: Path, host: str, stamp: str) -> HostTrust | None:
    try:
        kept = json.loads(path.read_bytes())
        trust = HostTrust(**kept["trust"] | {"doubted": tuple(kept["trust"]["doubted"])})
    except (OSError, ValueError, LookupError, TypeError):  # not there, or not by us
        return None
    return trust if kept["stamp"] == stamp and trust.host == host else None


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=12).hexdigest()
