"""Checking a WACZ: that every byte of it is what its manifest says, and what is signed of it.

The format of signatures is wacz-auth 0.1.0: `signedData` in datapackage-digest.json has a signature
of the digest of datapackage.json, which has the digests of all the rest. What is in the ZIP and not
in the manifest is signed by nobody, so it is told. Nothing is held in memory but manifests.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import new, sha256
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from asof.clock import parse_iso
from asof.signing.signature import (
    Malformed,
    Signature,
    certified_key,
    from_base64,
    spki,
    verifying_key,
)
from asof.signing.strict_json import members_once
from asof.warc.foreign.wacz import (
    MAX_RATIO,
    Digests,
    parse_json,
    read_manifest,
    read_small,
    wacz_listing,
)
from asof.warc.foreign.zip_reader import (
    BadEntry,
    ZipEntry,
    ZipListing,
    loose_ends,
    open_zip,
    printable,
    unpack,
)

MANIFEST, SEAL = "datapackage.json", "datapackage-digest.json"
# More is not said: one directory can have 200,000 entries that nobody signed.
MOST_PROBLEMS = 1000
# All that a signature may consist of: the anonymous one, and that of a domain.
_PROPERTIES = frozenset(
    ("hash", "created", "software", "version", "signature", "publicKey", "domain", "domainCert",
     "timeSignature", "timestampCert", "crossSignedCert")
)  # fmt: skip
# Digests for which nobody can make two contents.
_STRONG = ("sha256", "sha512")


@dataclass(frozen=True, slots=True)
class WaczChecked:
    """What a WACZ holds, what of it does not hold, and the signature as it stands there."""

    files: int
    problems: tuple[str, ...]
    signature: Signature | Malformed | None


def check_wacz(path: Path, progress: Callable[[int], None]) -> WaczChecked:
    """Read all of a WACZ; an InputError where it is no ZIP at all."""
    listing = wacz_listing(path)
    with open_zip(path) as file:
        digests, _, wrong = read_manifest(file, listing)
        found, more = _signature(file, listing)
        layout = [*_twice(listing), *loose_ends(file, listing)]
        told = [reason for _, reason in (*listing.problems, *wrong)] + more + layout
        problems = list(islice(chain(told, _coverage(listing, digests)), MOST_PROBLEMS))
        if not layout:  # entries that overlap could make us read for ever
            for entry in listing.entries:
                problems += _content(file, entry, digests, progress)
    return WaczChecked(len(listing.entries), tuple(problems[:MOST_PROBLEMS]), found)


def _twice(listing: ZipListing) -> Iterator[str]:
    names = Counter(entry.name for entry in listing.entries)
    return (f"{name} is there {count} times" for name, count in names.items() if count > 1)


def _coverage(listing: ZipListing, digests: Digests) -> Iterator[str]:
    """What is missing, and what nobody vouches for."""
    names = {entry.name for entry in listing.entries}
    if MANIFEST not in names:
        yield f"there is no {MANIFEST}"
    yield from (f"{name} is missing" for name in digests if name not in names)
    named = {MANIFEST, SEAL, *digests}
    for entry in listing.entries:
        folder = entry.name.endswith("/") and not entry.size
        if entry.is_symlink:
            yield f"{entry.name} is a symbolic link, not a file"
        elif not folder and entry.name not in named:
            yield f"{entry.name} is not named by {MANIFEST}, so that nobody vouches for it"


def _content(
    file: BinaryIO, entry: ZipEntry, digests: Digests, progress: Callable[[int], None]
) -> Iterator[str]:
    algorithm, wanted = digests.get(entry.name, ("sha256", ""))
    if entry.size > MAX_RATIO * max(entry.packed, 1 << 16):
        yield f"{entry.name} unpacks to more than {MAX_RATIO} times its size"
        return
    digest = new(algorithm, usedforsecurity=False)
    try:
        for piece in unpack(file, entry):
            digest.update(piece)
    except BadEntry as error:
        yield f"{entry.name} {error}"
        return
    progress(entry.packed)
    if entry.name in digests:
        if algorithm not in _STRONG or not wanted:
            yield f"{entry.name} has no digest in {MANIFEST} that can be relied on"
        elif digest.hexdigest() != wanted:
            yield f"{entry.name} does not match its digest in {MANIFEST}"


def _signature(
    file: BinaryIO, listing: ZipListing
) -> tuple[Signature | Malformed | None, list[str]]:
    """The signature, and what it contradicts."""
    entries = {entry.name: entry for entry in reversed(listing.entries)}
    if MANIFEST not in entries or SEAL not in entries:
        return None, []
    manifest, _ = read_small(file, entries[MANIFEST])
    seal, wrong = read_small(file, entries[SEAL])
    try:
        said = json.loads(seal, object_pairs_hook=members_once)
    except (ValueError, RecursionError) as error:
        told = f"{SEAL} is damaged ({str(error)[:80]})"
        return None, [reason for _, reason in wrong] or [told]
    if not isinstance(said, dict) or said.get("path") != MANIFEST:
        return None, [f"{SEAL} is not about {MANIFEST}"]
    actual = f"sha256:{sha256(manifest).hexdigest()}"
    problems = [] if said.get("hash") == actual else [f"{SEAL} has another digest of {MANIFEST}"]
    if "signedData" not in said:
        return None, problems
    found = _signed_data(said["signedData"])
    if isinstance(found, Signature):
        if found.message != actual.encode():
            problems.append(f"the signature is of another {MANIFEST}")
        if found.at != parse_iso(str((parse_json(manifest) or {}).get("created"))):
            problems.append("the moment of the signature is not that of the package")
    return found, problems


def _signed_data(said: object) -> Signature | Malformed:
    """A signature as wacz-auth 0.1.0 has it."""
    if not isinstance(said, dict):
        return Malformed("signedData is no object")
    if unknown := said.keys() - _PROPERTIES:
        return Malformed(
            f"signedData has a property that its format forbids: {_shown(min(unknown))}"
        )
    if not all(isinstance(value, str) for value in said.values()):
        return Malformed("signedData holds something else than text")
    value, at = from_base64(said.get("signature")), parse_iso(said.get("created", ""))
    if value is None:
        return Malformed("its signature is not base64")
    if at is None:
        return Malformed("its moment is no date")
    key = _key(said)
    if key is None:
        return Malformed("its key is none that can be used")
    if not said.get("hash", "").isascii():
        return Malformed("its hash is none")
    return Signature(said.get("hash", "").encode(), value, key, at, _shown(said.get("domain", "")))


def _key(said: Mapping[str, str]) -> bytes | None:
    """The key itself, or that of a domain's certificate, whose chain is not judged here."""
    if "publicKey" in said:
        key = verifying_key(from_base64(said["publicKey"]) or b"")
    else:
        key = certified_key(said.get("domainCert", ""))
    return None if key is None else spki(key)


def _shown(name: str) -> str:
    return printable(name.encode("utf-8", "replace"))
