"""TLS: what we accept, and what a handshake settled."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

from asof.model import Tls


def strict_context(trust: Path | None) -> ssl.SSLContext:
    """Certificates must verify against the system's authorities, or those in `trust`."""
    context = ssl.create_default_context()
    if trust is not None:
        context.load_verify_locations(trust)
    context.set_alpn_protocols(["http/1.1"])
    return context


def lenient_context() -> ssl.SSLContext:
    """Any certificate, and the old versions and ciphers of servers that nobody looks after."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.options |= getattr(ssl, "OP_LEGACY_SERVER_CONNECT", 0x4)
    context.set_alpn_protocols(["http/1.1"])
    return context


def settled(session: ssl.SSLObject, problem: str = "") -> Tls:
    """What the handshake settled; `problem` says why the certificate would not be trusted."""
    cipher = session.cipher()
    return Tls(session.version() or "", cipher[0] if cipher else "", not problem, problem)


def session_of(transport: asyncio.Transport | None) -> ssl.SSLObject | None:
    """The TLS session under a transport, if it has one."""
    session = transport.get_extra_info("ssl_object") if transport is not None else None
    return session if isinstance(session, ssl.SSLObject) else None
