"""The signature of a certificate: two lines at its end, over the very bytes before the last.

    ...
    "digest": "sha256:...",
    "signed": {"created": "2026-11-18T04:00:00.000000Z", "publicKey": "MCowBQ..."},
    "signature": "..."
    }

What is signed are the bytes of the file up to and with the line `"signed"`, as they lie there, so
that no two programs can differ about it: `head -n -2` writes them, and openssl checks them.
"""

import json
import re
from contextlib import suppress

from asof.clock import Instant, iso, parse_iso
from asof.coherence.certificate import Json, certificate_text
from asof.signing.keyring import Signer
from asof.signing.signature import (
    Malformed,
    Signature,
    from_base64,
    spki,
    to_base64,
    verifying_key,
)
from asof.signing.strict_json import members_once

_BEFORE = b',\n"signature": '
_SIGNED = re.compile(rb',\n"signed": (\{[^\n]{1,1000}\})$')
_VALUE = re.compile(rb'"([A-Za-z0-9+/=]{1,1000})"\n\}\n')


def sign(document: Json, signer: Signer, at: Instant) -> dict[str, object]:
    """The same certificate with a signature."""
    said = {"created": iso(at), "publicKey": to_base64(signer.public.der)}
    signed = {**document, "signed": said}
    text = "".join(certificate_text(signed)).removesuffix("\n}\n")
    return signed | {"signature": to_base64(signer.sign(f"{text},\n".encode()))}


def signature_of(data: bytes, document: Json | None) -> Signature | Malformed | None:
    """The signature of a file; `document` is what it holds, if it could be read."""
    head, mark, tail = data.rpartition(_BEFORE)
    if not mark:
        if document is not None and {"signed", "signature"} & document.keys():
            return Malformed("it does not stand at the end of the file")
        return None
    value, signed = _VALUE.fullmatch(tail), _SIGNED.search(head[-1100:])
    if value is None or signed is None:
        return Malformed("the last lines are not as asof writes them")
    said: object = None
    with suppress(ValueError, RecursionError):
        said = json.loads(signed[1], object_pairs_hook=members_once)
    if not isinstance(said, dict) or said.keys() != {"created", "publicKey"}:
        return Malformed("it does not say when and by which key")
    at = parse_iso(said["created"]) if isinstance(said["created"], str) else None
    key = verifying_key(from_base64(said["publicKey"]) or b"")
    made = from_base64(value[1].decode("ascii"))
    if at is None or key is None or made is None:
        return Malformed("its moment, key or value is none")
    return Signature(head + b",\n", made, spki(key), at)
