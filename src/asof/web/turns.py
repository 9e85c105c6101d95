"""How much one reader of a public server may ask for, so that the others can read as well.

A token bucket for each client address: so many requests a second, and a while's worth of them at
once, for a page may have hundreds of parts. What is sent counts, too. All processes of a server
share the buckets: a table of fixed size, in memory that they have in common, so that many clients
take no more of it than few. Two clients may meet in one bucket; which ones nobody can choose.
"""

import math
from collections import Counter
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address
from mmap import mmap
from os import urandom

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from asof.clock import SECOND, Clock

# Seconds whose requests can be asked for at once.
BURST_SECONDS = 20
# Answers under way for one client in a process. Browsers open 6 connections, proxies more.
AT_ONCE = 64
# As many bytes count as a request of their own.
BYTES = 1 << 20
# Buckets, of eight bytes each: of 1,000 clients at once, 1.5 % share theirs with another one.
_BUCKETS = 1 << 16


def turn(paid: int, now: int, gap: int, burst: int) -> tuple[int, int]:
    """Until when a bucket is paid for after a request, and how long it must wait, or 0.

    `gap` is the time that one request costs, `burst` the time that can be owed. This is the token
    bucket with one number to keep (the generic cell rate algorithm, ITU-T I.371).
    """
    paid = max(paid, now)
    wait = paid + gap - now - burst
    return (paid, wait) if wait > 0 else (paid + gap, 0)


class Buckets:
    """The table. What two processes write at once, one of them has not counted."""

    def __init__(self, clock: Clock, rate: int) -> None:
        self._clock = clock
        self._gap = SECOND // rate
        self._burst = max(BURST_SECONDS * SECOND, self._gap)
        self._key = urandom(16)
        self._table = memoryview(mmap(-1, 8 * _BUCKETS)).cast("q")

    def wait(self, client: str) -> float:
        """Seconds until a client may ask; 0 is now, and one request is counted."""
        place = self._place(client)
        self._table[place], wait = turn(self._table[place], self._now(), self._gap, self._burst)
        return wait / SECOND

    def charge(self, client: str, size: int) -> None:
        """Count what was sent to a client."""
        place = self._place(client)
        self._table[place] = max(self._table[place], self._now()) + size // BYTES * self._gap

    def _now(self) -> int:
        return int(self._clock.monotonic() * SECOND)

    def _place(self, client: str) -> int:
        digest = blake2b(reader(client).encode(), digest_size=4, key=self._key).digest()
        return int.from_bytes(digest) % _BUCKETS


def reader(client: str) -> str:
    """What is taken for one reader: an IPv4 address, or the network of an IPv6 one, as a household
    has 2^64 of these.
    """
    try:
        address = ip_address(client)
    except ValueError:
        return client
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or int(address) >> 64)
    return str(address)


class Turnstile:
    """Answers 429 to a client that asks for too much; it lies behind what knows who asks."""

    def __init__(self, app: ASGIApp, buckets: Buckets) -> None:
        self._app = app
        self._buckets = buckets
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client, size = scope["client"][0] if scope["client"] else "", 0
        who = reader(client)
        wait = 1.0 if self._under_way[who] >= AT_ONCE else self._buckets.wait(client)
        if wait > 0:
            await _refusal(wait)(scope, receive, send)
            return

        async def send_counted(message: Message) -> None:
            nonlocal size
            size += len(message.get("body", b""))
            await send(message)

        self._under_way[who] += 1
        try:
            await self._app(scope, receive, send_counted)
        finally:
            self._under_way[who] -= 1
            if not self._under_way[who]:
                del self._under_way[who]
            self._buckets.charge(client, size)


def _refusal(wait: float) -> PlainTextResponse:
    seconds = math.ceil(wait)
    told = f"You ask for more than one reader may. Ask again in {seconds} s.\n"
    headers = {"retry-after": str(seconds), "x-content-type-options": "nosniff"}
    return PlainTextResponse(told, 429, headers)
