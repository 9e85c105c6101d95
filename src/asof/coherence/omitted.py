"""What lies beside the files of a certificate and would have had a say.

A certificate is of the whole: who could leave out the files that speak against it could certify
anything. So these may not be omitted:

- any file of the crawls that it speaks of, and what these files hold beyond the certified bytes;
- captures of the same hosts up to its last capture (`until`), in whichever file: how far a host is
  trusted is learnt from all of them, so each could convict it.

What was captured later, by other crawls, does not matter. Files of ours that were begun after
`until` are not read for that; all others are. A record that the certified files hold, too, is not
omitted, and one whose digests do not hold is no evidence.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from asof.archive.folder import Folder
from asof.archive.scan import FileRange, Spread, ranges
from asof.catalog.referents import ANSWERS
from asof.catalog.rows import capture_of
from asof.clock import Instant, iso, parse_iso
from asof.coherence.certified_files import Scanned, read_sound
from asof.coherence.gather import GatheredCaptures, Progress, site_of
from asof.model import Capture
from asof.warc.info import read_crawl
from asof.warc.reader import scan
from asof.warc.record import StoredRecord

_REMEDY = "make the certificate anew, of all files"


def omitted(
    folder: Folder, scanned: Scanned, gathered: GatheredCaptures, *, spread: Spread,
    progress: Progress,
) -> Iterator[str]:  # fmt: skip
    """What a certificate of the files that were scanned omits, each by its file."""
    crawls = {crawl.id for crawl in gathered.crawls}
    ours = {crawl.id for crawl in gathered.crawls if not crawl.imported}
    until = gathered.until
    grown: list[FileRange] = []
    others: list[FileRange] = []
    for path in folder.segment_files():
        if (size := scanned.sizes.get(path.name)) is not None:
            progress(size)
            if (more := path.stat().st_size - size) > 0:
                rest = FileRange(path, size, None, more)
                (grown if scanned.owners.get(path.name) in crawls else others).append(rest)
            continue
        owner, begun = _beginning(path)
        imported = folder.is_imported(path.name)
        if owner in crawls and not (imported and owner in ours):
            progress(path.stat().st_size)
            yield f"files[{path.name}]: is not named, and is of the crawl {owner}; {_REMEDY}"
        elif owner is None or imported or begun <= until:
            others += ranges(path)
        else:
            progress(path.stat().st_size)
    for found in _unnamed(grown, partial(_answers, None, until), scanned, spread, progress):
        yield (
            f"files[{found[0].where.file}]: goes on after the bytes that are named, with captures "
            f"of the crawl ({_told(found)}); {_REMEDY}"
        )
    sites = frozenset(site_of(c.surt) for c in gathered.counted)
    for found in _unnamed(others, partial(_answers, sites, until), scanned, spread, progress):
        yield (
            f"files[{found[0].where.file}]: holds earlier captures of the same hosts, which are "
            f"not named ({_told(found)}); {_REMEDY}"
        )


def _beginning(path: Path) -> tuple[str | None, Instant]:
    """The crawl that a file of ours is of, and when it was begun."""
    record = next(scan(path), None)
    if not isinstance(record, StoredRecord) or (crawl := read_crawl(record)) is None:
        return None, 0
    return crawl.id, parse_iso(record.header.get("WARC-Date") or "") or crawl.started


def _unnamed(
    work: Sequence[FileRange], answers: Callable[[FileRange], list[Capture]], scanned: Scanned,
    spread: Spread, progress: Progress,
) -> Iterator[list[Capture]]:  # fmt: skip
    """The answers of each file that has some which the certified files have not."""
    by_file: dict[str, list[Capture]] = defaultdict(list)
    for source, found in zip(work, spread(answers, work), strict=True):
        if new := [capture for capture in found if not scanned.holds(capture)]:
            by_file[source.path.name] += new
        progress(source.size)
    yield from by_file.values()


def _answers(sites: frozenset[str] | None, until: Instant, source: FileRange) -> list[Capture]:
    """The sound answers in a range: all, or those of some hosts up to a moment; in a worker."""
    found = (capture_of(each, source.path.name, None) for each in read_sound(source).rows)
    answers = [capture for capture in found if capture.kind in ANSWERS]
    if sites is None:
        return answers
    return [each for each in answers if each.at <= until and site_of(each.surt) in sites]


def _told(found: Sequence[Capture]) -> str:
    return f"{len(found):,} in all, first {found[0].url[:200]} of {iso(found[0].at)}"
