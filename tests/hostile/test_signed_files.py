"""Signed files by somebody who means harm: each is told for what it is, and none does any."""

from __future__ import annotations

import io
import json
import time
import tracemalloc
import zipfile
import zlib
from base64 import b64decode, encodebytes
from collections.abc import Callable
from contextlib import suppress
from hashlib import md5, sha256
from pathlib import Path
from struct import pack
from typing import Any

import pytest

from asof.coherence.signed import signature_of
from asof.errors import InputError
from asof.signing.keyring import Keyring, certificate_pem, read_key
from asof.signing.signature import Malformed, Signature, judge, to_base64
from asof.warc.foreign.wacz_check import MOST_PROBLEMS
from support.signed import (
    NOW,
    WARC,
    certificate,
    checked,
    judged,
    members,
    packed,
    signer,
    wacz,
    with_manifest,
    with_seal,
)

MB = 1 << 20
MALLORY = signer("Mallory", seed=66)


def state_of(path: Path) -> str:
    return judged(checked(path)).state


def told_of(path: Path) -> str:
    result = checked(path)
    assert judged(result).state != "good"
    return "\n".join(result.problems)


# -- certificates ----------------------------------------------------------------------------------


def certificate_state(data: bytes) -> str:
    document = None
    with suppress(ValueError, RecursionError):
        document = json.loads(data)
    return judge(signature_of(data, document), [signer().public], NOW).state


def test_a_replaced_key_makes_a_foreign_or_a_false_signature() -> None:
    data = certificate()
    ours, theirs = to_base64(signer().public.der), to_base64(MALLORY.public.der)
    assert certificate_state(data.replace(ours.encode(), theirs.encode())) == "changed"
    assert certificate_state(certificate(MALLORY)) == "foreign-key"


def test_a_signature_of_another_certificate_is_false() -> None:
    other = certificate().replace(b"a.example/2", b"a.example/3")
    assert certificate_state(other) == "changed"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"signature": "', b'"signature": 7, "x": "'),
        (b'"signature": "', b'"signature":"'),
        (b"}\n", b"}"),
        (b'{"created"', b'{"created": "2026-01-01T00:00:00Z", "created"'),
        (b'"publicKey"', b'"publickey"'),
        (b'"publicKey": "', b'"publicKey": "AAAA'),
        (b'"created": "2', b'"created": "x2'),
        (b'"created": "2', b'"created": {"created": "2'),
        (b'"signed": {', b'"signed": ' + b"[" * 900 + b"{"),
        (b'"signed": {', b'"signed": ' + b"[" * 100_000 + b"{"),
        (b'"signature": "', b'"signature": "' + b"A" * 5_000_000),
        (b'=="\n', b'="\n'),
        (b'=="\n', b'==\\u0000"\n'),
    ],
)
def test_a_malformed_signature_of_a_certificate_is_called_so(old: bytes, new: bytes) -> None:
    data = certificate()
    head, _, tail = data.rpartition(b',\n"signed": ')
    changed = head + b',\n"signed": ' + tail
    changed = changed.replace(old, new) if old != b"}\n" else data[:-1]
    assert changed != data
    assert certificate_state(changed) == "malformed"


def test_two_signatures_are_not_two_words() -> None:
    """The last counts for the bytes before it, and a JSON reader refuses the names."""
    data = certificate()
    twice = data[:-3] + b",\n" + data.rpartition(b'"digest"')[2].partition(b"\n")[2]
    assert certificate_state(twice) == "changed"


# -- WACZ ------------------------------------------------------------------------------------------


def break_signed_data(said: dict[str, Any], **new: object) -> None:
    said["signedData"] |= new


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said.update(signedData=None),
        lambda said: said.update(signedData=[]),
        lambda said: said.update(signedData="sha256"),
        lambda said: said["signedData"].update(algorithm="none"),
        lambda said: said["signedData"].update(signature=""),
        lambda said: said["signedData"].update(signature=None),
        lambda said: said["signedData"].update(signature="!"),
        lambda said: said["signedData"].update(publicKey="AAAA"),
        lambda said: said["signedData"].update(publicKey={}),
        lambda said: said["signedData"].update(created="yesterday"),
        lambda said: said["signedData"].update(created=1),
        lambda said: said["signedData"].pop("signature"),
        lambda said: said["signedData"].pop("publicKey"),
        lambda said: (said["signedData"].pop("publicKey"),
                      said["signedData"].update(domainCert="-----BEGIN CERTIFICATE-----")),
        lambda said: said["signedData"].update(hash="sha256:\u00e9"),
    ],
)  # fmt: skip
def test_a_malformed_signature_is_called_so(
    tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    result = checked(with_seal(wacz(tmp_path / "a.wacz"), change))
    assert isinstance(result.signature, Malformed)
    assert judged(result).state == "malformed"


@pytest.mark.parametrize(
    "change",
    [
        lambda said: break_signed_data(said, publicKey=to_base64(MALLORY.public.der)),
        lambda said: break_signed_data(said, signature=to_base64(bytes(64))),
        lambda said: break_signed_data(said, signature=to_base64(MALLORY.sign(b"x"))),
        lambda said: break_signed_data(said, created="2020-01-01T00:00:00Z"),
        lambda said: break_signed_data(said, hash=f"sha256:{'0' * 64}"),
        lambda said: said.update(hash=f"sha256:{'0' * 64}"),
        lambda said: said.update(hash="md5:0"),
        lambda said: said.pop("hash"),
    ],
)
def test_a_seal_that_was_changed_is_told(
    tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    assert state_of(with_seal(wacz(tmp_path / "a.wacz"), change)) == "changed"


def test_who_signs_anew_is_a_stranger(tmp_path: Path) -> None:
    assert state_of(wacz(tmp_path / "a.wacz", MALLORY)) == "foreign-key"


def test_the_signature_of_another_wacz_is_not_this_one_s(tmp_path: Path) -> None:
    other = dict(members(wacz(tmp_path / "b.wacz", text="Other boats.").read_bytes()))
    held = dict(members(wacz(tmp_path / "a.wacz").read_bytes()))
    held["datapackage-digest.json"] = other["datapackage-digest.json"]
    assert state_of(packed(tmp_path / "c.wacz", list(held.items()))) == "changed"
    mine = json.loads(dict(members((tmp_path / "a.wacz").read_bytes()))["datapackage-digest.json"])
    mine["signedData"] = json.loads(other["datapackage-digest.json"])["signedData"]
    held["datapackage-digest.json"] = json.dumps(mine).encode()
    assert "of another datapackage.json" in told_of(packed(tmp_path / "d", list(held.items())))


def test_a_changed_manifest_is_told_though_its_digest_was_brought_up(tmp_path: Path) -> None:
    path = with_manifest(wacz(tmp_path / "a.wacz"), lambda said: said.update(title="Flesh"))
    assert "of another datapackage.json" in told_of(path)


def test_what_the_manifest_does_not_name_is_named(tmp_path: Path) -> None:
    held = members(wacz(tmp_path / "a.wacz").read_bytes())
    path = packed(tmp_path / "b.wacz", [*held, ("archive/more.warc.gz", WARC)])
    assert "archive/more.warc.gz is not named by datapackage.json" in told_of(path)


def test_what_the_manifest_names_and_is_gone_is_named(tmp_path: Path) -> None:
    held = members(wacz(tmp_path / "a.wacz").read_bytes())
    assert "archive/one.warc.gz is missing" in told_of(packed(tmp_path / "b.wacz", held[1:]))


def test_digests_that_can_be_forged_do_not_count(tmp_path: Path) -> None:
    def weaken(said: dict[str, Any]) -> None:
        said["resources"][0]["hash"] = f"md5:{md5(WARC).hexdigest()}"

    assert "no digest" in told_of(with_manifest(wacz(tmp_path / "a.wacz"), weaken))


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_manifests_are_told(tmp_path: Path, first: bool) -> None:
    held = members(wacz(tmp_path / "a.wacz").read_bytes())
    forged = ("datapackage.json", b'{"resources": []}')
    path = packed(tmp_path / "b.wacz", [forged, *held] if first else [*held, forged])
    assert "datapackage.json is there 2 times" in told_of(path)


def test_an_entry_that_the_directory_does_not_list_is_told(tmp_path: Path) -> None:
    """A reader that goes through the file from its start would find it."""
    data = wacz(tmp_path / "a.wacz").read_bytes()
    hidden = io.BytesIO()
    with zipfile.ZipFile(hidden, "w") as zipped:
        zipped.writestr("archive/hidden.warc.gz", WARC)
    local = hidden.getvalue().partition(b"PK\x01\x02")[0]
    path = tmp_path / "b.wacz"
    path.write_bytes(local + data)  # zipfile and others shift all offsets
    assert members(path.read_bytes()) == members(data)
    assert "belong to no entry" in told_of(path)


def test_another_name_in_the_entry_itself_is_told(tmp_path: Path) -> None:
    path = wacz(tmp_path / "a.wacz")
    path.write_bytes(path.read_bytes().replace(b"one.warc.gz", b"two.warc.gz", 1))
    assert "archive/one.warc.gz is described in two ways" in told_of(path)


@pytest.mark.parametrize("more", [b"x", b"PK\x05\x06", b"\0" * 70_000])
def test_bytes_after_the_end_are_told(tmp_path: Path, more: bytes) -> None:
    path = wacz(tmp_path / "a.wacz")
    path.write_bytes(path.read_bytes() + more)
    assert state_of(path) != "good"


def test_a_comment_of_the_zip_is_told(tmp_path: Path) -> None:
    path = wacz(tmp_path / "a.wacz")
    with zipfile.ZipFile(path, "a") as zipped:
        zipped.comment = b"signed by the king"
    assert "after its directory" in told_of(path)


@pytest.mark.parametrize("more", [b"", b"hidden"])
def test_what_is_packed_has_one_end(tmp_path: Path, more: bytes) -> None:
    """Other tools refuse what is packed in a stream without an end; behind an end some may hide."""
    deflate = zlib.compressobj(wbits=-15)
    stream = deflate.compress(WARC) + deflate.flush(zlib.Z_FINISH if more else zlib.Z_SYNC_FLUSH)
    path = packed(tmp_path / "a.wacz", [("archive/one.warc.gz", WARC)])
    data = path.read_bytes()
    local, middle, end = data.index(b"PK\3\4"), data.index(b"PK\1\2"), data.index(b"PK\5\6")
    head, listed, tail = (bytearray(data[local : local + 30 + 19]), bytearray(data[middle:end]),
                          bytearray(data[end:]))  # fmt: skip
    head[18:22] = listed[20:24] = pack("<I", len(stream + more))
    tail[16:20] = pack("<I", len(head + stream + more))
    path.write_bytes(head + stream + more + listed + tail)
    assert members(path.read_bytes()) == [("archive/one.warc.gz", WARC)]
    assert "what it is packed in" in told_of(path)


@pytest.mark.parametrize("name", ["datapackage.json", "datapackage-digest.json"])
def test_huge_manifests_are_not_read(tmp_path: Path, name: str) -> None:
    """A hundred megabytes of blanks that deflate made small."""
    held = dict(members(wacz(tmp_path / "a.wacz").read_bytes()))
    path = tmp_path / "b.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped:
        for each, data in held.items():
            with zipped.open(each, "w", force_zip64=True) as member:
                member.write(data)
                for _ in range(25 if each == name else 0):
                    member.write(b" " * (4 * MB))
    started = time.monotonic()
    tracemalloc.start()
    result = checked(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert any("too large" in problem for problem in result.problems)
    assert judged(result).state != "good"
    assert peak < 64 * MB
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("name", ["datapackage.json", "datapackage-digest.json"])
@pytest.mark.parametrize(
    "data",
    [b"[" * 500_000, b'{"a":' * 500_000, b"", b"\xff", b"null", b"[]", b'"x"', b"1e999",
     b'{"resources": 7, "path": 7}', b'{"resources": [7, {"path": 7}, {"path": "x", "hash": 7}]}',
     b'{"path": "datapackage.json", "path": "x"}', b'{"path": "\\ud800"}'],
    ids=range(12),
)  # fmt: skip
def test_odd_json_is_told(tmp_path: Path, name: str, data: bytes) -> None:
    held = dict(members(wacz(tmp_path / "a.wacz").read_bytes()))
    path = packed(tmp_path / "b.wacz", list((held | {name: data}).items()))
    result = checked(path)
    assert result.problems
    assert judged(result).state != "good"


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    held = members(wacz(tmp_path / "a.wacz").read_bytes())
    bomb = b"\0" * (20 * MB)
    path = packed(tmp_path / "b.wacz", [*held, ("archive/bomb.warc", bomb)])

    def name_it(said: dict[str, Any]) -> None:
        digest = f"sha256:{sha256(bomb).hexdigest()}"
        said["resources"].append({"path": "archive/bomb.warc", "hash": digest})

    assert "more than 100 times" in told_of(with_manifest(path, name_it))


def test_links_and_many_strangers_are_told_in_bounds(tmp_path: Path) -> None:
    held = members(wacz(tmp_path / "a.wacz").read_bytes())
    path = tmp_path / "b.wacz"
    with zipfile.ZipFile(path, "w") as zipped:
        link = zipfile.ZipInfo("archive/link.warc.gz")
        link.external_attr = 0o120777 << 16
        zipped.writestr(link, "/etc/passwd")
        for name, data in [*held, *((f"x/{n}", b"") for n in range(3000))]:
            zipped.writestr(name, data)
    result = checked(path)
    assert "archive/link.warc.gz is a symbolic link, not a file" in result.problems
    assert len(result.problems) <= MOST_PROBLEMS + 10


@pytest.mark.parametrize("cut", range(0, 1800, 97))
def test_a_torn_file_is_never_good(tmp_path: Path, cut: int) -> None:
    path = wacz(tmp_path / "a.wacz")
    path.write_bytes(path.read_bytes()[:cut])
    try:
        result = checked(path)
    except InputError:
        return
    assert judged(result).state != "good"


def test_an_unsigned_wacz_is_unsigned(tmp_path: Path) -> None:
    result = checked(with_seal(wacz(tmp_path / "a.wacz"), lambda said: said.pop("signedData")))
    assert result.problems == ()
    assert judged(result).state == "missing"
    assert not isinstance(result.signature, Signature)


@pytest.mark.parametrize("change", ["version", "serial"])
def test_an_odd_certificate_of_a_domain_is_malformed_or_foreign(
    tmp_path: Path, change: str, recwarn: pytest.WarningsRecorder
) -> None:
    """Of a version that does not exist, or with a number below zero."""
    data = bytearray(b64decode(b"".join(_pem(tmp_path).splitlines()[1:-1])))
    version = data.index(b"\xa0\x03\x02\x01\x02")
    if change == "version":
        data[version + 4] = 27
    else:
        data[version + 7] |= 0x80
    odd = b"-----BEGIN CERTIFICATE-----\n" + encodebytes(data) + b"-----END CERTIFICATE-----\n"

    def sign(said: dict[str, Any]) -> None:
        said["signedData"].pop("publicKey")
        said["signedData"]["domainCert"] = odd.decode()

    result = checked(with_seal(wacz(tmp_path / "a.wacz"), sign))
    assert judged(result).state == ("malformed" if change == "version" else "changed")
    (tmp_path / "k.pem").write_bytes(odd)
    with pytest.raises(InputError):
        read_key(tmp_path / "k.pem")
    assert not recwarn.list


def _pem(folder: Path) -> bytes:
    return certificate_pem(Keyring(folder / "keys").new("archive.example", 10, NOW))
