"""Checking a certificate of coherence against the WARC files that it names, and nothing else.

Other files of the archive change no verdict here, but are looked through for what the certificate
should have named (asof.coherence.omitted).
"""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from asof.archive.folder import Folder
from asof.archive.scan import Spread
from asof.coherence.certificate import (
    MOST_BYTES,
    Claim,
    FileSum,
    Json,
    drawn_audits,
    statement,
)
from asof.coherence.certified_files import file_sums, scan_files
from asof.coherence.certify import certificate_of
from asof.coherence.differences import differences
from asof.coherence.gather import Progress, gather, measured
from asof.coherence.omitted import omitted
from asof.errors import InputError, NotCaptured, UsageError
from asof.files import input_file
from asof.warc.file_names import path_of

# More of what differs is not said: one wrong file can make every page differ.
MOST_DIFFERENCES = 1000


@dataclass(frozen=True, slots=True)
class Rechecked:
    """What became of a certificate: what differs from the files, nothing if all holds.

    `document` is the certificate as the files give it now, None if they give none at all.
    """

    claim: Claim
    differences: tuple[str, ...]
    document: Json | None

    @property
    def ok(self) -> bool:
        return not self.differences

    @property
    def audits(self) -> tuple[int, int]:
        """How many answers were drawn for an audit, and how many of them were not audited."""
        return (0, 0) if self.document is None else drawn_audits(self.document)

    @property
    def summary(self) -> str:
        """What the certificate says, in a line; only of use when it holds."""
        said = self.claim.document
        counts = said.get("counts")
        pages = counts.get("pages") if isinstance(counts, dict) else None
        files = len(self.claim.files)
        held = ", ".join(
            f"{count} {noun}{'' if count == 1 else 's'}"
            for count, noun in ((pages, "page"), (files, "file"))
        )
        return f"C = {said.get('c')} as of {said.get('reference')}, {held}"


def certificate_bytes(path: Path) -> bytes:
    """A file that may be a certificate, up to more than one can have."""
    try:
        with input_file(path) as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        what = f"{path} cannot be read: {error.strerror}."
        raise InputError(what, hint="Name a certificate of `asof quality`.") from error


def recheck(folder: Folder, claim: Claim, *, spread: Spread, progress: Progress) -> Rechecked:
    """Make a certificate anew from the files that it names, and compare the two."""
    said: list[str] = []
    if claim.document.get("digest") != claim.digest:
        said.append(f"digest: the certificate was changed; its seal should be {claim.digest}")
    there: dict[str, int] = {}
    lost: list[FileSum] = []
    for item in sorted(claim.files, key=lambda item: item.file):
        if trouble := _trouble(path_of(folder.warc, item.file), item.size):
            said.append(f"files[{item.file}]: {trouble}")
            lost.append(item)
        else:
            there[item.file] = item.size
    sums = file_sums(folder, there, spread, progress)
    scanned = scan_files(folder, there, spread, progress)
    said += [
        f"files[{name}]: is not named, and another file of its crawl says that it follows it"
        for name in scanned.missing
    ]
    try:
        found = gather(scanned, claim.choice)
    except (NotCaptured, UsageError) as error:
        return Rechecked(claim, (*said, f"choice: {error.what}"), None)
    listed = sorted((*sums, *lost), key=lambda item: item.file)
    document = certificate_of(found, measured(found), listed, scanned.unsound, claim.software)
    said += omitted(folder, scanned, found, spread=spread, progress=progress)
    said += islice(differences(statement(claim.document), statement(document)), MOST_DIFFERENCES)
    return Rechecked(claim, tuple(said), document)


def _trouble(path: Path, size: int) -> str:
    if not path.is_file():
        return "the file is missing"
    actual = path.stat().st_size
    return f"the file has {actual:,} bytes, not {size:,}" if actual < size else ""
