"""How the client behaves: one frozen value, every limit with its reason."""

from dataclasses import dataclass
from pathlib import Path

from asof.http.wire import HEAD_LIMIT


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """Times are seconds, sizes bytes. A limit that is reached cuts the answer, and says so."""

    user_agent: str = "asof/0.1 (web archive)"
    accept: str = "text/html,application/xhtml+xml,*/*;q=0.8"
    # From the first look-up of the name to the end of the TLS handshake, over all addresses.
    connect_timeout: float = 20.0
    # Without a single byte.
    idle_timeout: float = 30.0
    # For the whole fetch, whatever happens in it.
    total_timeout: float = 600.0
    # A server that drips stays under the idle timeout for ever: after the grace time the body
    # must have come at this many bytes a second on average. 0 switches it off.
    min_rate: float = 100.0
    rate_grace: float = 60.0
    max_head: int = HEAD_LIMIT
    max_body: int = 1 << 30
    # Larger bodies go to a file while they arrive; 1 MiB holds 99 of 100 pages in memory.
    spool_over: int = 1 << 20
    verify_tls: bool = True
    # A file of certificates to trust besides those of the system.
    trust: Path | None = None
    # http://[user:password@]host:port
    proxy: str | None = None
    cookies: bool = False
    # How long a connection waits for its next request. Servers wait 5 s (Apache, Node) to 75 s
    # (nginx); one that closed meanwhile costs no more than a second try.
    keep_idle: float = 20.0
    # Over all hosts; the one that waited longest goes first.
    max_idle: int = 256
