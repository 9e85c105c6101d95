"""The coherence certificate: what is claimed of a crawl, by which records, in a form to be checked.

A certificate is one JSON document. It names the files it speaks of, each by its size and the
SHA-256 of so many first bytes, and says of every URL what is known of it at
the moment of reference and by which records. Everything but the list of files, the choice of pages
and the version of asof follows from the files, so that a certificate is checked by making it anew
and comparing the two, field by field (asof.coherence.recheck); files that it should have named and
does not are looked for (asof.coherence.omitted). It rests on digests, validators and
dates alone: what pages say is not read, so that a change in mere noise is a change here.

`digest` is the SHA-256 of the canonical form of all the rest: keys sorted, no white space, ASCII
only. It is a seal against accidents and small changes, no signature: who can forge the files and
the certificate together can make it anew. Note the digest elsewhere, and that is in vain, too; or
have the certificate signed (asof.coherence.signed): `signed` and `signature` are of no digest.

Pure: nothing is read or written here.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import isfinite
from typing import cast

from asof.catalog.derive import record_uri
from asof.clock import Instant, iso, maybe_iso, parse_iso
from asof.coherence.lots import AuditLots
from asof.coherence.verdict import Measurement, PageVerdict
from asof.errors import InputError, why_no_json
from asof.model import Capture, CoherencePlan, Crawl, Evidence
from asof.signing.strict_json import members_once
from asof.warc.file_names import is_file_name

FORMAT = "asof-coherence-certificate"
# Of the form and of the rules of measuring: a certificate of another version is not recomputed.
VERSION = 2
# A page takes about 600 bytes and 25 values, so these are room for some 200,000 pages. They bound
# the memory that a hostile file can take.
MOST_BYTES = 128 << 20
MOST_VALUES = 6_000_000

Json = Mapping[str, object]
# The capture that a page's evidence is, by the URL and the evidence.
CaptureOf = Callable[[str, Evidence], Capture]

_ABOUT_ITSELF = ("digest", "signed", "signature")
_HINT = (
    "Make a new one with `asof quality --certificate FILE`, or name a WACZ; WARC files are "
    "verified by `asof import FILE`."
)
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class FileSum:
    """The first `size` bytes of a WARC file, by their SHA-256 in hexadecimal."""

    file: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Which captures count: those of some crawls, of a part of the web, or all; and as of when.

    `prefix` is a URL, a SURT key or prefix (`asof.url.key_ranges`). Without a `reference` it is
    that of the crawl's course, or the best that there is.
    """

    crawls: tuple[str, ...] = ()
    prefix: str | None = None
    reference: Instant | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What a document by anybody says it rests on; `digest` is what its seal should be."""

    choice: Choice
    files: tuple[FileSum, ...]
    software: str
    digest: str
    document: Json


# -- making ----------------------------------------------------------------------------------------


def certificate(
    measurement: Measurement, *, choice: Choice, crawls: Sequence[tuple[Crawl, AuditLots | None]],
    until: Instant, files: Sequence[FileSum], unsound: int, capture_of: CaptureOf, software: str,
) -> dict[str, object]:  # fmt: skip
    """The document, sealed.

    `until` is the last capture that counts, `unsound` how many records of the files are no
    evidence, as their digests do not hold.
    """
    counts, trust = measurement.counts, measurement.host_trust
    document: dict[str, object] = {
        "format": FORMAT,
        "version": VERSION,
        "software": software,
        "crawls": [_crawl(crawl, lots) for crawl, lots in crawls],
        "choice": {
            "crawls": list(choice.crawls),
            "prefix": choice.prefix,
            "reference": maybe_iso(choice.reference),
        },
        "mode": measurement.mode.value,
        "reference": iso(measurement.reference),
        "until": iso(until),
        "c": measurement.c,
        "counts": {"pages": len(measurement.pages)} | {g.value: counts[g] for g in counts},
        "standings": [
            asdict(trust[h]) | {"doubted": list(trust[h].doubted)} for h in sorted(trust)
        ],
        "pages": [_page(page, capture_of) for page in measurement.pages],
        "files": [asdict(item) for item in files],
        "unsound": unsound,
    }
    return document | {"digest": seal(document)}


def seal(document: Json) -> str:
    """The digest over all that a document states."""
    said = json.dumps(statement(document), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"sha256:{sha256(said.encode('ascii')).hexdigest()}"


def statement(document: Json) -> dict[str, object]:
    """A document without its seal and signature."""
    return {name: value for name, value in document.items() if name not in _ABOUT_ITSELF}


def certificate_text(document: Json) -> Iterator[str]:
    """The document as it is written: a line for each member, and for each page and file."""
    lead = "{\n"
    for name, value in document.items():
        yield f"{lead}{json.dumps(name)}: "
        if isinstance(value, list) and value:
            for place, item in enumerate(value):
                yield ("[\n " if place == 0 else ",\n ") + json.dumps(item)
            yield "]"
        else:
            yield json.dumps(value)
        lead = ",\n"
    yield "\n}\n"


def drawn_audits(document: Json) -> tuple[int, int]:
    """How many answers were drawn for an audit, by a document of ours; how many have none."""
    crawls = cast(Sequence[Json], document["crawls"])
    lots = [cast(Json, crawl["audits"]) for crawl in crawls if crawl["audits"] is not None]
    drawn = sum(cast(int, each["drawn"]) for each in lots)
    return drawn, sum(len(cast(Sequence[str], each["missing"])) for each in lots)


def _crawl(crawl: Crawl, lots: AuditLots | None) -> dict[str, object]:
    return {
        **crawl.facts(),
        "course": None if crawl.coherence_plan is None else _coherence_plan(crawl.coherence_plan),
        "audits": None if lots is None else asdict(lots) | {"missing": list(lots.missing)},
    }


def _coherence_plan(coherence_plan: CoherencePlan) -> dict[str, object]:
    said = coherence_plan.facts()
    for name, value in said.items():
        if isinstance(value, float) and not isfinite(value):
            said[name] = None  # a file that anybody may have written
    return said


def _page(page: PageVerdict, capture_of: CaptureOf) -> dict[str, object]:
    return {
        "url": page.url,
        "grade": page.grade.value,
        "reason": page.reason.value,
        "since": iso(page.since),
        "until": iso(page.until),
        "before": _evidence(page.url, page.before, capture_of),
        "after": _evidence(page.url, page.after, capture_of),
    }


def _evidence(url: str, evidence: Evidence | None, capture_of: CaptureOf) -> Json | None:
    return None if evidence is None else {
        "proof": evidence.proof.value,
        "at": iso(evidence.at),
        "record_id": record_uri(evidence.record_id),
        "digest": capture_of(url, evidence).digest,
    }  # fmt: skip


# -- reading ---------------------------------------------------------------------------------------


def weight(data: bytes) -> int:
    """At least so many values as some JSON has; what stands in texts counts, too."""
    return 1 + data.count(b",") + data.count(b"[") + data.count(b"{")


def read_certificate(data: bytes, name: str) -> Claim:
    """What a certificate claims and rests on; an InputError where it is none.

    Whether it is true, and its seal whole, is not asked here.
    """
    document = _parsed(data, name)
    if document.get("format") != FORMAT:
        raise InputError(f"{name} is not a coherence certificate.", hint=_HINT)
    if document.get("version") != VERSION or isinstance(document.get("version"), bool):
        raise _other_version(document.get("version"), name)
    if not isinstance(software := document.get("software"), str):
        raise _malformed(name, "software")
    choice, files = _read_choice(document, name), _read_files(document, name)
    try:
        digest = seal(document)
    except RecursionError as error:
        raise _too_deep(name) from error
    return Claim(choice, files, software, digest, document)


def _other_version(version: object, name: str) -> InputError:
    said = json.dumps(version)[:40]
    if isinstance(version, int) and not isinstance(version, bool) and version < VERSION:
        return InputError(
            f"{name} is a certificate of version {said}, made by other rules than those of today "
            f"(version {VERSION}); it cannot be checked any more.",
            hint=_HINT,
        )
    return InputError(
        f"{name} is a certificate of version {said}; this asof knows version {VERSION}.",
        hint="Check it with the asof that made it, or make a new one.",
    )


def _parsed(data: bytes, name: str) -> Json:
    if len(data) > MOST_BYTES or weight(data) > MOST_VALUES:
        raise too_large(name)
    try:
        found = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=members_once, parse_constant=_no_number, parse_float=_finite,
        )  # fmt: skip
    except ValueError as error:
        why = why_no_json(error)
        raise InputError(f"{name} is not a certificate: {why}.", hint=_HINT) from error
    except RecursionError as error:
        raise _too_deep(name) from error
    if not isinstance(found, dict):
        raise InputError(f"{name} is not a certificate: no JSON object.", hint=_HINT)
    return cast(Json, found)


def too_large(name: str) -> InputError:
    most = f"{MOST_BYTES >> 20} MiB, {MOST_VALUES:,} values"
    said = f"{name} is larger than a certificate can be ({most})."
    return InputError(said, hint="Certify parts of the site with --url PREFIX.")


def _no_number(name: str) -> float:
    raise ValueError(f"{name[:40]} is no number of JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if isfinite(number) else _no_number(digits)


def _read_choice(document: Json, name: str) -> Choice:
    said = document.get("choice")
    if not isinstance(said, dict):
        raise _malformed(name, "choice")
    crawls, prefix, reference = said.get("crawls"), said.get("prefix"), said.get("reference")
    if not isinstance(crawls, list) or not all(isinstance(each, str) for each in crawls):
        raise _malformed(name, "choice.crawls")
    if not isinstance(prefix, str | None):
        raise _malformed(name, "choice.prefix")
    moment = parse_iso(reference) if isinstance(reference, str) else None
    if reference is not None and moment is None:
        raise _malformed(name, "choice.reference")
    return Choice(tuple(crawls), prefix, moment)


def _read_files(document: Json, name: str) -> tuple[FileSum, ...]:
    said = document.get("files")
    if not isinstance(said, list) or not said:
        raise _malformed(name, "files")
    found = tuple(_read_file(item, f"files[{place}]", name) for place, item in enumerate(said))
    if len({item.file for item in found}) != len(found):
        raise _malformed(name, "files", "names a file twice")
    return found


def _read_file(said: object, where: str, name: str) -> FileSum:
    if not isinstance(said, dict):
        raise _malformed(name, where)
    file, size, digest = said.get("file"), said.get("size"), said.get("sha256")
    # A bare name: a certificate must not make anybody read files outside the archive.
    if not is_file_name(file):
        raise _malformed(name, f"{where}.file", "is not the name of a WARC file")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 < size < 1 << 62:
        raise _malformed(name, f"{where}.size")
    if not isinstance(digest, str) or _SHA256.fullmatch(digest) is None:
        raise _malformed(name, f"{where}.sha256")
    return FileSum(file, size, digest)


def _too_deep(name: str) -> InputError:
    return InputError(f"{name} is not a certificate: nested too deeply.", hint=_HINT)


def _malformed(name: str, where: str, how: str = "is missing or malformed") -> InputError:
    return InputError(f"{name} is a damaged certificate: `{where}` {how}.", hint=_HINT)
