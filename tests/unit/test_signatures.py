"""Keys as they are kept and read, and what a signature is found to be worth."""

from __future__ import annotations

import json
import stat
from base64 import b64decode, encodebytes
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from asof.clock import DAY, SECOND
from asof.coherence.certificate import read_certificate, seal
from asof.coherence.signed import signature_of
from asof.errors import ConfigError, InputError, UsageError
from asof.signing.keyring import (
    Keyring,
    certificate_pem,
    config_folder,
    one_line,
    read_key,
    unlock,
)
from asof.signing.signature import (
    Malformed,
    PublicKey,
    Signature,
    SignatureState,
    from_base64,
    judge,
    spki,
    to_base64,
)
from support.signed import NOW, certificate, checked, judged, signer, wacz, with_seal


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    return Keyring(tmp_path / "config")


# -- the keyring -----------------------------------------------------------------------------------


def test_a_new_key_is_read_by_its_owner_alone(ring: Keyring) -> None:
    made = ring.new("Town archive", 10, NOW)
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700
    assert ring.own() == [made]
    assert (made.public.since, made.public.until) == (NOW, NOW + 10 * DAY)
    assert b"PRIVATE" not in certificate_pem(made)


def test_keys_never_take_the_place_of_each_other(ring: Keyring) -> None:
    first, second = ring.new("A", 10, NOW), ring.new("A", 10, NOW + SECOND)
    assert ring.own() == [second, first]
    assert ring.signing_key(None, NOW + DAY) == second
    assert ring.signing_key(first.public.fingerprint[:12], NOW + DAY) == first


def test_which_key_signs_is_asked_where_it_is_not_clear(ring: Keyring) -> None:
    with pytest.raises(UsageError, match="no key to sign with"):
        ring.signing_key(None, NOW)
    ring.new("A", 10, NOW)
    assert ring.signing_key(None, NOW).public.name == "A"
    ring.new("B", 10, NOW)
    with pytest.raises(UsageError, match=r"several keys: A, B.*--key"):
        ring.signing_key(None, NOW)
    assert ring.signing_key("B", NOW).public.name == "B"
    with pytest.raises(UsageError, match="no key 'C'"):
        ring.signing_key("C", NOW)
    with pytest.raises(UsageError, match="signs no more"):
        ring.signing_key("A", NOW + 11 * DAY)


@pytest.mark.parametrize("name", ["", " A", "a\nb", "\x1b[2J", "x" * 65, "\u202eabc"])
def test_a_name_is_short_and_can_be_printed(ring: Keyring, name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        ring.new(name, 10, NOW)


def test_a_passphrase_unlocks(ring: Keyring) -> None:
    made = ring.new("A", 10, NOW, "open sesame")
    assert b"ENCRYPTED" in made.path.read_bytes()
    assert unlock(made) is None
    assert unlock(made, "open") is None
    found = unlock(made, "open sesame")
    assert found is not None
    signature = Signature(b"x", found.sign(b"x"), found.public.der, NOW)
    assert judge(signature, ring.known(), NOW).state is SignatureState.GOOD


def test_a_private_key_that_others_can_read_does_not_sign(ring: Keyring) -> None:
    made = ring.new("A", 10, NOW)
    made.path.chmod(0o640)
    with pytest.raises(ConfigError, match="read by others"):
        unlock(made)


def test_a_link_is_not_written_through(ring: Keyring, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    other.write_bytes(b"mine")
    made = ring.new("A", 10, NOW)
    exported = tmp_path / "a.pem"
    exported.write_bytes(certificate_pem(made))
    (ring.folder / "trusted").mkdir()
    (ring.folder / "trusted" / f"{made.public.fingerprint}.pem").symlink_to(other)
    with pytest.raises(UsageError, match="symbolic link"):
        ring.trust(exported)
    assert other.read_bytes() == b"mine"


def test_a_key_of_another_is_trusted_in_every_form(ring: Keyring, tmp_path: Path) -> None:
    made = Keyring(tmp_path / "theirs").new("Town archive", 10, NOW)
    file = tmp_path / "town.pem"
    file.write_bytes(certificate_pem(made))
    assert ring.trust(file) == made.public
    assert ring.trusted() == [made.public]
    file.write_text(one_line(made.public))
    assert ring.trust(file) == PublicKey(made.public.der, "Town archive")
    private = ec.generate_private_key(ec.SECP384R1())
    file.write_bytes(
        private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    assert ring.trust(file) == PublicKey(spki(private.public_key()), "town")
    assert len(ring.trusted()) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"Town", b"Dove"), (b"2609", b"2509"), (b"2609", b"3609")],
    ids=["issuer", "since", "earlier"],
)
def test_a_certificate_that_says_something_else_is_refused(
    tmp_path: Path, old: bytes, new: bytes
) -> None:
    made = Keyring(tmp_path).new("Town archive", 10, NOW)
    data = b64decode(b"".join(certificate_pem(made).splitlines()[1:-1]))
    file = tmp_path / "forged.pem"
    for forged in (data.replace(old, new), data.replace(old, new, 1)):
        pem = encodebytes(forged)
        file.write_bytes(b"-----BEGIN CERTIFICATE-----\n" + pem + b"-----END CERTIFICATE-----\n")
        with pytest.raises(InputError, match="was changed"):
            read_key(file)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\0" * 100, b"ssh-ed25519", b"ssh-ed25519 AAAA", b"x" * 70_000,
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        b"-----BEGIN CERTIFICATE-----",
        b"-----BEGIN PUBLIC KEY-----\n!\n-----END PUBLIC KEY-----\n",
        rsa.generate_private_key(65537, 2048).public_key().public_bytes(
            Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        ec.generate_private_key(ec.SECP256K1()).public_key().public_bytes(
            Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
    ],
    ids=range(10),
)  # fmt: skip
def test_what_is_no_key_is_refused_in_a_sentence(
    ring: Keyring, tmp_path: Path, data: bytes
) -> None:
    file = tmp_path / "k.pem"
    file.write_bytes(data)
    with pytest.raises(InputError):
        ring.trust(file)
    assert ring.trusted() == []


def test_a_private_key_is_not_taken_for_somebody_s_public_one(ring: Keyring) -> None:
    made = ring.new("A", 10, NOW)
    with pytest.raises(UsageError, match="private key"):
        ring.trust(made.path)


def test_where_keys_lie() -> None:
    assert config_folder({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}) == Path("/c/asof")
    assert config_folder({"XDG_CONFIG_HOME": "c", "HOME": "/h"}) == Path("/h/.config/asof")
    with pytest.raises(ConfigError):
        config_folder({})


# -- what a signature is worth ---------------------------------------------------------------------


def signed(at: int = NOW, message: bytes = b"x") -> Signature:
    return Signature(message, signer().sign(b"x"), signer().public.der, at)


def test_each_state_has_its_sentence() -> None:
    known = [signer().public]
    cases = {
        SignatureState.GOOD: (signed(), known, NOW),
        SignatureState.FOREIGN: (signed(), [signer(seed=2).public], NOW),
        SignatureState.CHANGED: (signed(message=b"y"), known, NOW),
        SignatureState.OUTSIDE: (signed(NOW - 2 * DAY), known, NOW),
        SignatureState.MISSING: (None, known, NOW),
        SignatureState.MALFORMED: (Malformed("it is odd"), known, NOW),
    }
    told = set()
    for state, (found, keys, now) in cases.items():
        verdict = judge(found, keys, now)
        assert verdict.state is state
        assert verdict.as_json()["state"] == state.value
        told.add(verdict.told)
    assert len(told) == len(SignatureState)


def test_a_key_signs_within_its_validity_alone() -> None:
    known = [signer().public]
    for at, state in [(-DAY, "good"), (-DAY - 1, "outside-validity"), (DAY, "good"),
                      (DAY + 1, "outside-validity")]:  # fmt: skip
        assert judge(signed(NOW + at), known, NOW + 9 * DAY).state == state
    later = judge(signed(), known, NOW + 9 * DAY)
    assert later.state == "good"
    assert "the key was valid" in later.told
    early = judge(signed(NOW + DAY), known, NOW - DAY)
    assert (early.state, "to come" in early.told) == ("outside-validity", True)


@pytest.mark.parametrize(
    "text", ["", "AA==\n", "AB==", "AA", "A A=", "\u00e9", None, 3, "AA==AA=="]
)
def test_base64_has_one_form(text: object) -> None:
    """`AB==` is the byte of `AA==` with a bit more."""
    assert from_base64(text) is None


def test_the_seal_is_of_what_is_stated_and_not_of_the_signature() -> None:
    data = certificate()
    claim = read_certificate(data, "c.json")
    assert claim.document["digest"] == claim.digest == seal(claim.document)
    found = signature_of(data, claim.document)
    assert isinstance(found, Signature)
    assert found.message == b"".join(data.splitlines(keepends=True)[:-2])


def test_a_certificate_in_another_form_is_malformed_not_unsigned() -> None:
    document = json.loads(certificate())
    for data in (json.dumps(document), json.dumps(document, indent=1)):
        assert isinstance(signature_of(data.encode(), document), Malformed)
    del document["signed"], document["signature"]
    assert signature_of(json.dumps(document).encode(), document) is None


# -- WACZ files that others signed -----------------------------------------------------------------


@pytest.mark.parametrize("curve", [ec.SECP256R1(), ec.SECP384R1()])
@pytest.mark.parametrize("raw", [True, False])
def test_ecdsa_of_other_tools_is_verified(
    tmp_path: Path, curve: ec.EllipticCurve, raw: bool
) -> None:
    """As ArchiveWeb.page (two numbers) and authsign (DER) write it."""
    private = ec.generate_private_key(curve)
    path = wacz(tmp_path / "a.wacz")

    def sign(said: dict) -> None:
        value = private.sign(said["hash"].encode(), ec.ECDSA(SHA256()))
        if raw:
            width = (curve.key_size + 7) // 8
            value = b"".join(each.to_bytes(width) for each in decode_dss_signature(value))
        said["signedData"] |= {
            "signature": to_base64(value), "publicKey": to_base64(spki(private.public_key()))
        }  # fmt: skip

    result = checked(with_seal(path, sign))
    assert result.problems == ()
    assert judged(result, PublicKey(spki(private.public_key()))).state == "good"
    assert judged(result).state == "foreign-key"


def test_the_key_of_a_domain_s_certificate_is_used(tmp_path: Path) -> None:
    ring = Keyring(tmp_path / "c")
    made = ring.new("archive.example", 10, NOW)
    by = unlock(made)
    assert by is not None

    def sign(said: dict) -> None:
        data = said["signedData"]
        del data["publicKey"]
        data |= {"domain": "archive.example", "domainCert": certificate_pem(made).decode()}

    result = checked(with_seal(wacz(tmp_path / "a.wacz", by), sign))
    assert judged(result, made.public).state == "good"
    foreign = judged(result)
    assert (foreign.state, "archive.example" in foreign.told) == ("foreign-key", True)
