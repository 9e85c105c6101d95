"""Why no response came, and the one place where errors of the machine become such a reason."""

import errno
import socket
import ssl
from dataclasses import dataclass

from asof.model import Tls

_UNREACHABLE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN,
                errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EACCES, errno.EPERM,
                errno.EINVAL}  # fmt: skip


@dataclass(eq=False)
class Unfetched(Exception):
    """No response, and why. `HttpClient.fetch` makes a `Failure` of it; it goes no further.

    The fields are those of `Failure`; `request`, `peer` and `tls` as far as the fetch got.
    """

    reason: str
    detail: str
    transient: bool = False
    tls: Tls | None = None
    peer: str = ""
    request: bytes = b""


def no_name(host: str, error: Exception) -> Unfetched:
    """The name could not be looked up. Only a failing name server is worth another try."""
    detail = getattr(error, "strerror", None) or str(error)
    again = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
    return Unfetched("dns", f"{host}: {detail}", transient=again)


def no_connection(error: OSError | ValueError) -> Unfetched:
    if isinstance(error, ssl.SSLError):
        # OpenSSL's words, for people to look up; errors raised in Python lack these attributes.
        message = getattr(error, "verify_message", "") or getattr(error, "reason", "")
        return _no_tls(message.strip(" .").replace("_", " ") or str(error))
    if isinstance(error, ValueError):
        # A host name that TLS cannot carry: an empty label, or a leading dot.
        return _no_tls(str(error))
    if isinstance(error, TimeoutError):
        return Unfetched("timeout", "no connection in time", transient=True)
    detail = error.strerror or str(error) or "the connection was reset"
    if isinstance(error, ConnectionRefusedError):
        return Unfetched("refused", detail, transient=True)
    return Unfetched(
        "unreachable" if error.errno in _UNREACHABLE else "reset", detail, transient=True
    )


def _no_tls(problem: str) -> Unfetched:
    return Unfetched("tls", problem, tls=Tls("", "", verified=False, problem=problem))
