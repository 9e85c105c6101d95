"""The keys that a user has and trusts, in the folder of the user's configuration.

    ~/.config/asof/keys/FINGERPRINT.pem       own: the private key and its certificate, mode 0600
    ~/.config/asof/trusted/FINGERPRINT.pem    of others: a certificate, or a line as OpenSSH has it

A key's certificate is X.509, signed by the key itself: it says whose the key is and from when to
when it signs, so that nobody can change either without the fingerprint telling. A file's name is
its key's, so that a new key never takes the place of another.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
    load_ssh_public_key,
)
from cryptography.x509.oid import NameOID

from asof.clock import SECOND, Instant, from_datetime, to_datetime
from asof.errors import ConfigError, InputError, UsageError
from asof.files import atomic_file, open_plain
from asof.signing.signature import (
    PublicKey,
    first_certificate,
    spki,
    to_base64,
    usable,
    validity,
    verifying_key,
)

_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"
# Keys and certificates take a few hundred bytes, chains of them some thousands.
_MOST_BYTES = 1 << 16
_LEAST_DIGITS = 8  # of a fingerprint, to choose among one's own keys
_NAME_LENGTH = 64  # of a common name (RFC 5280, appendix A.1: ub-common-name)
_NOT_USED = "its key is neither Ed25519 nor ECDSA by P-256, P-384 or P-521"
_KEY_HINT = (
    "Name a file that `asof key show -o FILE` wrote, or a public key in PEM or OpenSSH form."
)


@dataclass(frozen=True, slots=True)
class OwnKey:
    """A key whose private part is here."""

    public: PublicKey
    path: Path


@dataclass(frozen=True, slots=True)
class Signer:
    """A key that is unlocked."""

    public: PublicKey
    _private: Ed25519PrivateKey

    def sign(self, message: bytes) -> bytes:
        return self._private.sign(message)

    def texts(self, message: bytes) -> tuple[str, str]:
        """The signature of some bytes, and the key that made it, as files have them."""
        return to_base64(self.sign(message)), to_base64(self.public.der)


def config_folder(environ: Mapping[str, str]) -> Path:
    """Where a user's configuration lies (XDG Base Directory 0.8: a relative path is ignored)."""
    given = Path(environ.get("XDG_CONFIG_HOME", ""))
    home = Path(environ.get("HOME", ""))
    if given.is_absolute():
        return given / "asof"
    if home.is_absolute():
        return home / ".config" / "asof"
    raise ConfigError("There is no place for keys.", hint="Set HOME, or XDG_CONFIG_HOME.")


@dataclass(frozen=True, slots=True)
class Keyring:
    """The two folders of keys; what is not there yet is empty."""

    folder: Path

    def own(self) -> list[OwnKey]:
        """The keys of the user, the newest first."""
        found = [OwnKey(read_key(path), path) for path in self._files("keys")]
        return sorted(found, key=lambda each: (-(each.public.since or 0), each.path.name))

    def trusted(self) -> list[PublicKey]:
        """The keys of others."""
        return [read_key(path) for path in self._files("trusted")]

    def known(self) -> list[PublicKey]:
        return [each.public for each in self.own()] + self.trusted()

    def new(self, name: str, days: int, now: Instant, passphrase: str = "") -> OwnKey:
        """A new key, valid from now on."""
        if not 0 < len(name) <= _NAME_LENGTH or not name.isprintable() or name != name.strip():
            told = f"The name has to be 1 to {_NAME_LENGTH} characters that can be printed."
            raise UsageError(told, hint="Give another with --name.")
        private = Ed25519PrivateKey.generate()
        certificate = _certificate(private, name, days, now)
        locked = BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
        data = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked)
        public = _of_certificate(certificate)
        path = self._path("keys", public)
        with atomic_file(path, mode=0o600) as file:
            file.write(data + certificate.public_bytes(Encoding.PEM))
        return OwnKey(public, path)

    def trust(self, path: Path) -> PublicKey:
        """Keep a key of somebody else as one that is known."""
        data = _read(path)
        if b"PRIVATE KEY" in data:
            told = f"{path} holds a private key, which nobody but its owner should have."
            raise UsageError(told, hint="Ask for what `asof key show -o FILE` writes.")
        key = _public(data, path)
        with atomic_file(self._path("trusted", key)) as file:
            file.write(data if _CERTIFICATE in data else f"{one_line(key)}\n".encode())
        return key

    def signing_key(self, wanted: str | None, now: Instant) -> OwnKey:
        """The newest valid key, of those that have this name or begin of a fingerprint."""
        every = self.own()
        if not every:
            raise UsageError("You have no key to sign with.", hint="Make one: `asof key new`.")
        named = [each for each in every if wanted is None or is_meant(each.public, wanted)]
        if not named:
            raise UsageError(f"You have no key {wanted!r}.", hint="`asof key list` shows them.")
        valid = [each for each in named if each.public.holds(now)]
        if not valid:
            told = f"Your key {named[0].public.name} signs no more; it was valid "
            hint = "Make a new one: `asof key new`."
            raise UsageError(f"{told}{validity(named[0].public)}.", hint=hint)
        if len(names := {each.public.name for each in valid}) > 1:
            told = f"You have several keys: {', '.join(sorted(names))}."
            raise UsageError(told, hint="Choose one with --key NAME.")
        return valid[0]

    def _files(self, kind: str) -> list[Path]:
        return sorted(self.folder.joinpath(kind).glob("*.pem"))

    def _path(self, kind: str, key: PublicKey) -> Path:
        folder = self.folder / kind
        folder.mkdir(0o700, parents=True, exist_ok=True)
        return folder / f"{key.fingerprint}.pem"


def is_meant(key: PublicKey, wanted: str) -> bool:
    """Whether a key is the one of this name, or of a fingerprint that begins so."""
    return key.name == wanted or (
        len(wanted) >= _LEAST_DIGITS and key.fingerprint.startswith(wanted.lower())
    )


def _certificate(
    private: Ed25519PrivateKey, name: str, days: int, now: Instant
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    since = to_datetime(now // SECOND * SECOND)
    built = x509.CertificateBuilder().subject_name(subject).issuer_name(subject)
    built = built.public_key(private.public_key()).serial_number(x509.random_serial_number())
    built = built.not_valid_before(since).not_valid_after(since + timedelta(days=days))
    return built.sign(private, None)


def _of_certificate(certificate: x509.Certificate) -> PublicKey:
    key = usable(certificate.public_key())
    if key is None:
        raise ValueError(_NOT_USED)
    if certificate.issuer != certificate.subject:
        raise InvalidSignature  # of somebody else, whose word for name and validity we cannot judge
    certificate.verify_directly_issued_by(certificate)
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    since, until = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    name = str(names[0].value) if names else ""
    return PublicKey(spki(key), name, from_datetime(since), from_datetime(until))


def read_key(path: Path) -> PublicKey:
    """The public key of a file, of any form that can be trusted."""
    return _public(_read(path), path)


def _public(data: bytes, path: Path) -> PublicKey:
    """A certificate, a public key in PEM, or a line of OpenSSH."""
    try:
        if _CERTIFICATE in data:
            return _of_certificate(first_certificate(data))
        is_pem = data.lstrip().startswith(b"-----BEGIN")
        loaded = load_pem_public_key(data) if is_pem else load_ssh_public_key(data.strip())
        key = usable(loaded)
        if key is None:
            raise ValueError(_NOT_USED)
    except InvalidSignature as error:
        told = f"{path} was changed, or its certificate is not signed by its own key."
        raise InputError(told, hint="Ask its owner for it again, or for the public key.") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InputError(f"{path} holds no public key ({error}).", hint=_KEY_HINT) from error
    comment = b"" if is_pem else b" ".join(data.split()[2:])
    return PublicKey(spki(key), comment.decode("utf-8", "replace") or path.stem)


def one_line(key: PublicKey) -> str:
    """A key and its name as OpenSSH writes them."""
    loaded = verifying_key(key.der)
    assert loaded is not None  # it was read from a key
    line = loaded.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode("ascii")
    return f"{line} {key.name}".strip()


def certificate_pem(own: OwnKey) -> bytes:
    """The certificate of a key, for others to trust."""
    return _CERTIFICATE + _read(own.path).partition(_CERTIFICATE)[2]


def unlock(own: OwnKey, passphrase: str = "") -> Signer | None:
    """The key, ready to sign; None where it takes another passphrase."""
    if own.path.stat().st_mode & 0o077:
        told = f"{own.path} can be read by others."
        raise ConfigError(told, hint=f"Use `chmod 600 {own.path}`, or make a new key.")
    data = _read(own.path).partition(_CERTIFICATE)[0]
    secret = passphrase.encode() or None
    if b"ENCRYPTED" not in data:
        secret = None
    elif secret is None:
        return None
    try:
        private = load_pem_private_key(data, secret)
    except ValueError as error:
        if secret is not None:
            return None
        raise ConfigError(f"{own.path} is damaged.", hint="Make a new key.") from error
    if not isinstance(private, Ed25519PrivateKey) or spki(private.public_key()) != own.public.der:
        told = f"{own.path} holds another key than its certificate."
        raise ConfigError(told, hint="Remove it, and make a new key.")
    return Signer(own.public, private)


def _read(path: Path) -> bytes:
    try:
        with os.fdopen(open_plain(path, os.O_RDONLY, follow=True), "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        told = f"{path} cannot be read: {error.strerror}."
        raise InputError(told, hint="Check its rights.") from error
    if len(data) > _MOST_BYTES:
        raise InputError(f"{path} is too large to be a key.", hint=_KEY_HINT)
    return data
