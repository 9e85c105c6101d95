"""Who says that some bytes are what they were, and what is to be thought of it.

Our keys are Ed25519 (RFC 8032). Those of others may be ECDSA, the one algorithm that the format of
signed WACZ files names (wacz-auth 0.1.0). A key is known by its fingerprint: the SHA-256 of its
SubjectPublicKeyInfo (RFC 5280, section 4.1). Pure: nothing is read or written here.
"""

from __future__ import annotations

import warnings
from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_der_public_key,
)

from asof.clock import DAY, Instant, iso, when

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

VerifyingKey = Ed25519PublicKey | EllipticCurvePublicKey
# P-256, P-384 and P-521: what those who sign WACZ files use, and what OpenSSH can write down.
_CURVES = ("secp256r1", "secp384r1", "secp521r1")
# Clocks differ; more than that, and a moment lies in the future.
_AHEAD = DAY


class SignatureState(StrEnum):
    """What became of a signature; each has an exit code of its own in `asof check`."""

    GOOD = "good"
    FOREIGN = "foreign-key"
    CHANGED = "changed"
    OUTSIDE = "outside-validity"
    MISSING = "missing"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key by its SubjectPublicKeyInfo; whose it is, and from when to when it signs."""

    der: bytes
    name: str = ""
    since: Instant | None = None
    until: Instant | None = None

    @property
    def fingerprint(self) -> str:
        return sha256(self.der).hexdigest()

    def holds(self, at: Instant) -> bool:
        """Whether the key is valid at a moment."""
        begun = self.since is None or self.since <= at
        return begun and (self.until is None or at <= self.until)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a file says: which bytes are signed, by which key (its SubjectPublicKeyInfo), when."""

    message: bytes
    value: bytes
    key: bytes
    at: Instant
    domain: str = ""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A signature that cannot be read, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class SignatureVerdict:
    """What is to be thought of a signature; `key` is the known one that made it."""

    state: SignatureState
    told: str
    found: Signature | None = None
    key: PublicKey | None = None

    def as_json(self) -> dict[str, object]:
        found, key = self.found, self.key
        return {
            "state": self.state.value,
            "told": self.told,
            "key": None if found is None else PublicKey(found.key).fingerprint,
            "name": None if key is None else key.name,
            "at": None if found is None else iso(found.at),
        }


def judge(
    found: Signature | Malformed | None,
    known: Iterable[PublicKey],
    now: Instant,
    *,
    whole: bool = True,
) -> SignatureVerdict:
    """A signature by the keys that somebody knows; `whole` is whether the rest of the file is."""
    if found is None:
        return SignatureVerdict(SignatureState.MISSING, "It is not signed.")
    if isinstance(found, Malformed):
        told = f"The signature cannot be read: {found.reason}."
        return SignatureVerdict(SignatureState.MALFORMED, told)
    if not whole or not _holds(found):
        told = "Changed since it was signed: the signature is not of these bytes."
        return SignatureVerdict(SignatureState.CHANGED, told, found)
    fingerprint = PublicKey(found.key).fingerprint
    key = next((each for each in known if each.der == found.key), None)
    if key is None:
        whose = f" (of {found.domain}, as it says itself)" if found.domain else ""
        told = (
            f"Signed on {when(found.at)} UTC by a key that is not trusted here: "
            f"{fingerprint}{whose}. If you know whose it is, `asof key trust FILE` takes it."
        )
        return SignatureVerdict(SignatureState.FOREIGN, told, found)
    signed = f"Signed on {when(found.at)} UTC by {key.name or 'a key without a name'}"
    if found.at > now + _AHEAD:
        told = f"{signed}: that moment is still to come."
        return SignatureVerdict(SignatureState.OUTSIDE, told, found, key)
    if not key.holds(found.at):
        told = f"{signed}, whose key was not valid then: {validity(key)}."
        return SignatureVerdict(SignatureState.OUTSIDE, told, found, key)
    since = "" if key.holds(now) else f"; the key was valid {validity(key)}"
    told = f"{signed} (key {fingerprint}){since}."
    return SignatureVerdict(SignatureState.GOOD, told, found, key)


def validity(key: PublicKey) -> str:
    """From when to when a key signs, in words."""
    since = "" if key.since is None else f"from {when(key.since)} UTC "
    return since + ("without an end" if key.until is None else f"to {when(key.until)} UTC")


def _holds(found: Signature) -> bool:
    key = verifying_key(found.key)
    try:
        if isinstance(key, Ed25519PublicKey):
            key.verify(found.value, found.message)
        elif key is not None:
            key.verify(_dss(found.value, key), found.message, ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return key is not None


def _dss(value: bytes, key: EllipticCurvePublicKey) -> bytes:
    """An ECDSA signature in DER; browsers write its two numbers one after the other (IEEE 1363)."""
    width = (key.key_size + 7) // 8
    if len(value) != 2 * width:
        return value
    first, second = value[:width], value[width:]
    return encode_dss_signature(int.from_bytes(first), int.from_bytes(second))


def verifying_key(der: bytes) -> VerifyingKey | None:
    """The key of a SubjectPublicKeyInfo; None where it is none that is used here."""
    try:
        return usable(load_der_public_key(der))
    except (ValueError, UnsupportedAlgorithm):
        return None


def certified_key(pem: str) -> VerifyingKey | None:
    """The key of the first certificate of a chain, or None; who vouches for it is not judged."""
    try:
        return usable(first_certificate(pem.encode("utf-8", "replace")).public_key())
    except ValueError:
        return None


def first_certificate(pem: bytes) -> Certificate:
    """A certificate that anybody may have made; a ValueError where it is none."""
    from cryptography import x509  # only few need it, and it is large

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a later version of the library will refuse
        try:
            found = x509.load_pem_x509_certificate(pem)
            found.public_key()
        except (x509.InvalidVersion, UnsupportedAlgorithm) as error:
            raise ValueError(str(error)) from error
    return found


def usable(key: object) -> VerifyingKey | None:
    """A key of an algorithm that is used here, or None."""
    if isinstance(key, EllipticCurvePublicKey):
        return key if key.curve.name in _CURVES else None
    return key if isinstance(key, Ed25519PublicKey) else None


def spki(key: VerifyingKey) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def to_base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def from_base64(text: object) -> bytes | None:
    """The bytes of base64 in its one canonical form (RFC 4648, section 3.5), or None."""
    if not isinstance(text, str) or not text.isascii():
        return None
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        return None
    return data if data and to_base64(data) == text else None
