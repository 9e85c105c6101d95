"""Making a certificate of coherence from the WARC files (`recheck.py` checks one).

Both ways read the same: the first bytes of the files that matter, up to a size that is written
down; every record whose digests hold becomes a capture, and coherence is measured of these
(asof.coherence.gather). The catalog is asked only which files matter, when a certificate is made,
and must agree with them; a check never opens it.
"""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from asof.archive.archive import OpenArchive
from asof.archive.scan import Spread
from asof.coherence.certificate import (
    MOST_BYTES,
    MOST_VALUES,
    Choice,
    FileSum,
    Json,
    certificate,
    certificate_text,
    too_large,
    weight,
)
from asof.coherence.certified_files import file_sums, scan_files
from asof.coherence.gather import (
    Catalogued,
    GatheredCaptures,
    Progress,
    capture_at,
    gather,
    measured,
)
from asof.coherence.lots import audit_lots
from asof.coherence.verdict import Measurement
from asof.errors import ArchiveError, NotCaptured, UsageError
from asof.files import output_file


def certify(
    archive: OpenArchive, choice: Choice, *, spread: Spread, progress: Progress
) -> dict[str, object]:
    """The certificate of what was chosen, made from the files.

    An ArchiveError where the catalog says otherwise: then one of the two is damaged.
    """
    if archive.is_behind():
        raise ArchiveError(
            f"WARC files in {archive.folder.root} hold more than its catalog.",
            hint="Go on with the crawl that was interrupted, or run `asof reindex`.",
        )
    known = gather(Catalogued(archive), choice)
    committed = _files(archive, known)
    scanned = scan_files(archive.folder, committed, spread, progress)
    if scanned.missing:
        raise _incomplete(scanned.missing)
    sums = file_sums(archive.folder, committed, spread, progress)
    try:
        found = gather(scanned, choice)
    except (NotCaptured, UsageError) as error:
        raise _disagreement(archive) from error
    measurement = measured(found)
    # The catalog does not judge digests: where some do not hold, the files know better. Of how a
    # crawl stands the catalog knows more; where all else is the same, so is what is measured.
    is_same = scanned.unsound or replace(found, crawls=()) == replace(known, crawls=())
    if not is_same and measurement != measured(known):
        raise _disagreement(archive)
    return certificate_of(found, measurement, sums, scanned.unsound, f"asof/{version('asof')}")


def _disagreement(archive: OpenArchive) -> ArchiveError:
    return ArchiveError(
        f"The files of {archive.folder.root} and its catalog do not say the same.",
        hint="`asof check` shows what is damaged; `asof reindex` rebuilds the catalog.",
    )


def _incomplete(missing: Sequence[str]) -> ArchiveError:
    return ArchiveError(
        f"A certificate is of whole crawls, and of these is missing: {', '.join(missing[:5])}"
        f"{', and more' if len(missing) > 5 else ''}.",
        hint="Put the files back, then `asof reindex`.",
    )


def write_certificate(document: Json, out: Path) -> None:
    """Write a certificate, whole or not at all; not one that nobody would read."""
    size = values = 0
    with output_file(out) as file:
        for text in certificate_text(document):
            data = text.encode()
            size += file.write(data)
            values += weight(data)
            if size > MOST_BYTES or values > MOST_VALUES:
                raise too_large(str(out))


def _files(archive: OpenArchive, known: GatheredCaptures) -> dict[str, int]:
    """The files that matter, and how much of each is committed.

    Those that hold captures of the hosts, each with those of the same crawl before it, and all of
    the crawls that are spoken of (asof.coherence.omitted).
    """
    wanted = {capture.where.file for capture in (*known.everything, *known.elsewhere)}
    crawls = {crawl.id for crawl in known.crawls}
    found: dict[str, int] = {}
    for segment in sorted(archive.segments(), key=lambda segment: segment.file, reverse=True):
        if segment.committed and (segment.file in wanted or segment.crawl in crawls):
            found[segment.file] = segment.committed
            if segment.crawl is not None:
                crawls.add(segment.crawl)
    there = {path.name for path in archive.folder.segment_files()}
    if not found.keys() <= there:
        raise _incomplete(sorted(found.keys() - there))
    return dict(sorted(found.items()))


def certificate_of(
    found: GatheredCaptures, measurement: Measurement, sums: Sequence[FileSum], unsound: int,
    software: str,
) -> dict[str, object]:  # fmt: skip
    by_key = capture_at(found.everything)
    return certificate(
        measurement, choice=found.choice, until=found.until, files=sums, unsound=unsound,
        crawls=[(crawl, audit_lots(crawl, found.everything)) for crawl in found.crawls],
        capture_of=lambda url, evidence: by_key[url, evidence.at, evidence.record_id],
        software=software,
    )  # fmt: skip
