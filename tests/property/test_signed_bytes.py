"""No byte of a signed file can be another without the check telling.

Of a ZIP some bytes hold no content: who made it, attributes of files, and bits by which deflate
says the same otherwise. Whatever is changed there, every name and every content is what was signed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof.coherence.certificate import read_certificate
from asof.coherence.signed import signature_of
from asof.errors import InputError
from asof.signing.signature import SignatureState, judge
from support.signed import NOW, certificate, checked, judged, members, signer, wacz

CERTIFICATE = certificate()
# Of an entry of a ZIP's directory: who made it, internal and external attributes.
NO_CONTENT = {4, 5, *range(36, 42)}


def state(data: bytes) -> str:
    try:
        document = read_certificate(data, "c.json").document
    except InputError:
        document = None
    found = signature_of(data, document)
    return judge(found, [signer().public], NOW).state


def flipped(data: bytes, place: int, bits: int) -> bytes:
    return data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :]


def test_every_flip_of_a_certificate_is_told() -> None:
    assert state(CERTIFICATE) == "good"
    for place in range(len(CERTIFICATE)):
        for bit in range(8):
            assert state(flipped(CERTIFICATE, place, 1 << bit)) != "good", (place, bit)


@given(st.integers(0, len(CERTIFICATE) - 1), st.integers(1, 255))
def test_any_other_byte_in_a_certificate_is_told(place: int, bits: int) -> None:
    assert state(flipped(CERTIFICATE, place, bits)) != "good"


@given(st.integers(0, len(CERTIFICATE)), st.binary(min_size=1, max_size=40))
def test_what_is_put_into_a_certificate_is_told(place: int, more: bytes) -> None:
    assert state(CERTIFICATE[:place] + more + CERTIFICATE[place:]) != "good"


@given(st.integers(0, len(CERTIFICATE) - 1), st.integers(1, 300))
def test_what_is_cut_out_of_a_certificate_is_told(place: int, length: int) -> None:
    assert state(CERTIFICATE[:place] + CERTIFICATE[place + length :]) != "good"


def flips_of_a_wacz(folder: Path, bits: range) -> None:
    data = wacz(folder / "good.wacz").read_bytes()
    held, other = members(data), folder / "other.wacz"
    heads = [place for place in range(len(data)) if data.startswith(b"PK\x01\x02", place)]
    assert judged(checked(folder / "good.wacz")).state is SignatureState.GOOD
    for place in range(len(data)):
        for bit in bits or [place % 8]:
            changed = flipped(data, place, 1 << bit)
            other.write_bytes(changed)
            try:
                verdict = judged(checked(other))
            except InputError:
                continue
            if verdict.state is SignatureState.GOOD:
                assert members(changed) == held, (place, bit)
                head = max((head for head in heads if head <= place), default=None)
                assert head is None or place - head in NO_CONTENT, (place, bit)


def test_every_flip_of_a_wacz_is_told_or_holds_no_content(tmp_path: Path) -> None:
    flips_of_a_wacz(tmp_path, range(0))


@pytest.mark.long
def test_every_bit_of_a_wacz(tmp_path: Path) -> None:
    flips_of_a_wacz(tmp_path, range(8))


@given(st.data())
def test_bytes_put_into_a_wacz_are_told(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("put")
    whole = wacz(folder / "good.wacz").read_bytes()
    place = data.draw(st.integers(0, len(whole)))
    more = data.draw(st.binary(min_size=1, max_size=40))
    (folder / "other.wacz").write_bytes(whole[:place] + more + whole[place:])
    try:
        verdict = judged(checked(folder / "other.wacz"))
    except InputError:
        return
    assert verdict.state is not SignatureState.GOOD
