"""Small certificates and WACZ files, signed; and the same with something wrong in them."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from asof.clock import DAY, SECOND
from asof.coherence.certificate import FORMAT, VERSION, certificate_text, seal
from asof.coherence.signed import sign
from asof.signing.keyring import Signer
from asof.signing.signature import (
    PublicKey,
    SignatureVerdict,
    judge,
    spki,
)
from asof.warc.foreign.wacz_check import WaczChecked, check_wacz
from asof.warc.foreign.wacz_write import WaczPage, write_wacz

NOW = 1_790_000_000 * SECOND
WARC = gzip.compress(
    b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n", mtime=0
)


def signer(name: str = "Town archive", seed: int = 1) -> Signer:
    """Always the same key for a number, valid for a day around NOW."""
    private = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    public = PublicKey(spki(private.public_key()), name, NOW - DAY, NOW + DAY)
    return Signer(public, private)


def certificate(by: Signer | None = None) -> bytes:
    """A certificate that says little."""
    document: dict[str, Any] = {
        "format": FORMAT, "version": VERSION, "software": "asof/0",
        "choice": {"crawls": [], "prefix": None, "reference": None},
        "pages": [{"url": "http://a.example/\u00e9", "grade": "proven"}, {"url": "http://a.example/2"}],
        "files": [{"file": "a.warc.gz", "size": 1, "sha256": "0" * 64}],
    }  # fmt: skip
    document |= {"digest": seal(document)}
    return "".join(certificate_text(sign(document, by or signer(), NOW))).encode()


def wacz(path: Path, by: Signer | None = None, text: str = "Boats came in.") -> Path:
    warc = path.with_name("one.warc.gz")
    warc.write_bytes(WARC)
    write_wacz(
        path, [warc], ["a)/ 20260101000000 {}"], [WaczPage("http://a/", "Home", NOW, text)],
        title="Fish", software="asof 0", created=NOW, sign=(by or signer()).texts,
    )  # fmt: skip
    return path


def judged(result: WaczChecked, *known: PublicKey, now: int = NOW) -> SignatureVerdict:
    keys = known or (signer().public,)
    return judge(result.signature, keys, now, whole=not result.problems)


def checked(path: Path) -> WaczChecked:
    return check_wacz(path, lambda done: None)


def members(data: bytes) -> list[tuple[str, bytes]]:
    """What zipfile, which others use, finds in a ZIP."""
    with zipfile.ZipFile(io.BytesIO(data)) as zipped:
        return [(info.filename, zipped.read(info)) for info in zipped.infolist()]


def packed(path: Path, held: list[tuple[str, bytes]]) -> Path:
    """A ZIP of these members, as any tool makes it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in held:
            zipped.writestr(name, data)
    return path


def with_seal(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The same WACZ with another datapackage-digest.json, and checksums that are right."""
    held = dict(members(path.read_bytes()))
    said = json.loads(held["datapackage-digest.json"])
    change(said)
    held["datapackage-digest.json"] = json.dumps(said).encode()
    return packed(path, list(held.items()))


def with_manifest(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The same with another datapackage.json, whose digest is brought up, and the signature not."""
    held = dict(members(path.read_bytes()))
    said = json.loads(held["datapackage.json"])
    change(said)
    held["datapackage.json"] = json.dumps(said).encode()
    digest = json.loads(held["datapackage-digest.json"])
    digest["hash"] = f"sha256:{sha256(held['datapackage.json']).hexdigest()}"
    held["datapackage-digest.json"] = json.dumps(digest).encode()
    return packed(path, list(held.items()))
