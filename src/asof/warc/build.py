"""From what was fetched to records of WARC 1.1. Pure: nothing is written here.

An exchange becomes three records, in this order: its request, its response (or a revisit, where
the payload is in the archive already), and metadata about how it came about. What the catalog says
of a capture can be derived from the response record alone.
"""

import ipaddress
import re
from functools import lru_cache
from hashlib import sha256
from itertools import chain

from asof.clock import iso
from asof.model import Body, Capture, Exchange, Failure, Headers, Target, Tls
from asof.warc.compose import FIELDS_TYPE, compose, format_fields, new_record_id
from asof.warc.digest import digest_of, digest_text
from asof.warc.record import Record
from asof.warc.revisit import IDENTICAL_PAYLOAD, NOT_MODIFIED, Referent, kept_block, reference

REQUEST_TYPE = "application/http; msgtype=request"
RESPONSE_TYPE = "application/http; msgtype=response"

_PACKED = re.compile(
    r"(image/(?!svg|bmp|x-)|video/|audio/(?!midi|x-wav|wav)|font/woff|application/font-woff"
    r"|application/(zip|gzip|x-gzip|x-7z|x-rar|x-bzip|x-xz|zstd|java-archive|epub|vnd\.open))",
    re.IGNORECASE,
)

# WARC-Cipher-Suite asks for the name that IANA gave a suite. TLS 1.3 has no other names; of the
# older ones these are still met.
_SUITES = {
    "ECDHE-RSA-AES128-GCM-SHA256": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "ECDHE-RSA-AES256-GCM-SHA384": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "ECDHE-ECDSA-AES128-GCM-SHA256": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "ECDHE-RSA-CHACHA20-POLY1305": "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "ECDHE-ECDSA-CHACHA20-POLY1305": "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "ECDHE-RSA-AES128-SHA": "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "ECDHE-RSA-AES256-SHA": "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "AES128-GCM-SHA256": "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "AES256-GCM-SHA384": "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "AES128-SHA": "TLS_RSA_WITH_AES_128_CBC_SHA",
    "AES256-SHA": "TLS_RSA_WITH_AES_256_CBC_SHA",
}


def exchange_records(
    exchange: Exchange, *, target: Target, refers_to: Capture | None = None, record_id: str = ""
) -> tuple[Record, ...]:
    """The request, the response or revisit, and the metadata of one exchange.

    `refers_to` is the earlier capture that this exchange repeats or, answered by 304, confirms. It
    makes a revisit only where that loses nothing: the stored payloads must be equal byte for byte.
    `record_id` is that of the answer, if it has one.
    """
    record_id = record_id or new_record_id()
    event = (("WARC-Date", iso(exchange.started)), ("WARC-Target-URI", exchange.url))
    origin = (*event, *_address(exchange.peer))
    concurrent = ("WARC-Concurrent-To", record_id)
    kind, fields, block = _answer(exchange, refers_to)
    said = (*origin, *fields, *_circumstances(exchange), ("Content-Type", RESPONSE_TYPE))
    answer = (("WARC-Type", kind), ("WARC-Record-ID", record_id), *[f for f in said if f[1]])
    times = exchange.timings
    timings = (
        ("fetchTimeMs", times.total // 1000),
        ("connectTimeMs", times.connect // 1000),
        ("firstByteMs", times.first_byte // 1000),
    )
    about = format_fields((*_path_fields(target), *timings))
    return (
        compose("request", (*origin, concurrent), REQUEST_TYPE, exchange.request),
        Record(answer, block, packed=kind == "response" and any(map(_is_packed, exchange.headers))),
        compose("metadata", (*event, concurrent), FIELDS_TYPE, about),
    )


def _is_packed(header: tuple[str, str]) -> bool:
    """Whether a header says that a payload is compressed by its nature, or on its way."""
    name = header[0].lower()
    return name == "content-encoding" or bool(name == "content-type" and _PACKED.match(header[1]))


def failure_record(failure: Failure, target: Target) -> Record:
    block = format_fields(
        (
            ("fetchFailure", failure.reason),
            ("fetchFailureDetail", failure.detail),
            ("fetchFailureTransient", "yes" if failure.transient else "no"),
            *_path_fields(target),
            ("tlsProblem", failure.tls.problem if failure.tls else ""),
        )
    )
    fields = (
        ("WARC-Date", iso(failure.started)),
        ("WARC-Target-URI", failure.url),
        *_address(failure.peer),
        *_protocols(failure.tls),
    )
    return compose("metadata", fields, FIELDS_TYPE, block)


def _answer(exchange: Exchange, refers_to: Capture | None) -> tuple[str, Headers, tuple[Body, ...]]:
    """The type of the record that holds the answer, its fields (some are empty), its block."""
    head = Body(len(exchange.head), exchange.head)
    if refers_to is not None and exchange.status == 304:
        # It is this URL that has not changed since, wherever its payload lies.
        said = reference(_held(refers_to), Referent(refers_to.url, refers_to.at))
        kept = () if exchange.body.size else kept_block(exchange.head)
        fields = (
            ("WARC-Profile", NOT_MODIFIED),
            *said,
            *(kept or (_block_digest(exchange),)),
            ("WARC-Payload-Digest", refers_to.digest or ""),
        )
        return "revisit", fields, () if kept else (head, exchange.body)
    payload_digest = ("WARC-Payload-Digest", _payload_digest(exchange))
    if refers_to is not None and is_revisit(exchange, refers_to):
        # Only the head is kept. That is what the profile means, and no truncation: WARC-Truncated
        # would tell readers that the payload is lost (WARC 1.1 section 6.7.2 makes it optional).
        held = _held(refers_to)
        fields = (
            ("WARC-Profile", IDENTICAL_PAYLOAD),
            *reference(held, held),
            ("WARC-Block-Digest", digest_text(sha256(exchange.head).digest())),
            payload_digest,
        )
        return "revisit", fields, (head,)
    return "response", (_block_digest(exchange), payload_digest), (head, exchange.body)


def is_revisit(exchange: Exchange, refers_to: Capture) -> bool:
    """Whether an exchange that repeats or confirms a capture is kept without its payload."""
    if exchange.status == 304:
        return True
    digest = _payload_digest(exchange)
    return bool(digest) and digest == refers_to.digest


def _block_digest(exchange: Exchange) -> tuple[str, str]:
    block = chain([exchange.head], exchange.body.chunks())
    return "WARC-Block-Digest", digest_text(digest_of(sha256, block))


def _payload_digest(exchange: Exchange) -> str:
    """Empty where other readers would look for the payload elsewhere: after the first of several
    heads, or after the first empty line of an answer that has no head.
    """
    if exchange.head_start or not exchange.head:
        return ""
    return digest_text(exchange.payload_digest)


def _held(capture: Capture) -> Referent:
    """Where the payload of a capture lies; what it refers to, if it is a revisit itself."""
    url, at = capture.refers_to_url, capture.refers_to_at
    if capture.kind == "revisit" and url and at is not None:
        return Referent(url, at)
    return Referent(capture.url, capture.at, capture.record_id)


def _circumstances(exchange: Exchange) -> Headers:
    start = exchange.head[exchange.head_start :][:8].upper()
    version = ("1.0" if start == b"HTTP/1.0" else "1.1") if start else "0.9"
    return (
        ("WARC-Truncated", exchange.truncated),
        ("WARC-Protocol", f"http/{version}"),
        *_protocols(exchange.tls),
        ("WARC-Asof-Anomalies", ", ".join(exchange.anomalies)),
    )


def _protocols(tls: Tls | None) -> Headers:
    """The fields WARC-Protocol and WARC-Cipher-Suite, as proposed to the IIPC, and our own."""
    if tls is None:
        return ()
    fields = []
    if tls.version:
        version = tls.version.lower().replace("sslv", "ssl/").replace("tlsv", "tls/")
        fields.append(("WARC-Protocol", f"{version}.0" if version == "tls/1" else version))
    if tls.cipher:
        fields.append(("WARC-Cipher-Suite", _SUITES.get(tls.cipher, tls.cipher)))
    if not tls.verified or tls.problem:
        fields.append(("WARC-Asof-TLS-Problem", tls.problem or "the certificate was not verified"))
    return tuple(fields)


@lru_cache(maxsize=1024)
def _address(peer: str) -> Headers:
    """WARC-IP-Address, if the peer is one; a scope id means nothing on another machine."""
    try:
        return (("WARC-IP-Address", str(ipaddress.ip_address(peer.partition("%")[0]))),)
    except ValueError:
        return ()


def _path_fields(target: Target) -> tuple[tuple[str, object], ...]:
    """How the crawl came to the URL; names as Heritrix writes them, where it has them."""
    return (
        ("via", target.via),
        ("hopsFromSeed", target.hops),
        ("depth", target.depth),
        ("tries", target.tries or None),
    )
