"""How much a crawl may take: pages, bytes and time, in all and of one host; room on the disk."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from asof.clock import Clock
from asof.config import Config

DISK_RESERVE = "disk-reserve"
# Seconds between two looks at the free room of the disk.
_LOOK_EVERY = 1.0


class CrawlLimits:
    """What has been taken, against what may be. `per_host` is the most pages of one host."""

    def __init__(self, config: Config, clock: Clock, folder: Path, per_host: int | None) -> None:
        self._config = config
        self._clock = clock
        self._folder = folder
        self._per_host = per_host
        self._started = clock.monotonic()
        self._next_look = self._started
        self.share = 1.0  # of the time, that may be spent so far
        self._pages = 0
        self._pages_of: Counter[str] = Counter()
        self._bytes_of: Counter[str] = Counter()
        self.bytes = 0

    def resume(self, pages_of: Mapping[str, int], bytes_of: Mapping[str, int]) -> None:
        """Begin, with what the crawl had taken before, by host; time counts anew in each run."""
        self._started = self._clock.monotonic()
        self._pages_of.update(pages_of)
        self._pages = sum(pages_of.values())
        self._bytes_of.update(bytes_of)
        self.bytes = sum(bytes_of.values())

    @property
    def counts_bytes(self) -> bool:
        config = self._config
        return config.max_bytes is not None or config.max_bytes_per_host is not None

    @property
    def full(self) -> bool:
        return self._config.max_pages is not None and self._pages >= self._config.max_pages

    def refusal(self, host: str) -> str | None:
        """Why nothing more may be taken of a host, or None."""
        if self._per_host is not None and self._pages_of[host] >= self._per_host:
            return f"more than {self._per_host} pages of one host"
        return self.glut(host)

    def glut(self, host: str) -> str | None:
        """Why no more bytes may come from a host, or None."""
        most = self._config.max_bytes_per_host
        if most is not None and self._bytes_of[host] >= most:
            return f"more than {most} bytes of one host"
        return None

    def take(self, host: str) -> None:
        """A page is about to be taken."""
        self._pages += 1
        self._pages_of[host] += 1

    def give_back(self, host: str) -> None:
        self._pages -= 1
        self._pages_of[host] -= 1

    def received(self, host: str, size: int) -> None:
        self.bytes += size
        if self._config.max_bytes_per_host is not None:
            self._bytes_of[host] += size

    @property
    def elapsed(self) -> float:
        return self._clock.monotonic() - self._started

    @property
    def time_left(self) -> float:
        limit = self._config.time_limit
        return float("inf") if limit is None else limit * self.share - self.elapsed

    def reached(self) -> str:
        """The limit that ends the crawl now, or an empty text."""
        if self._config.max_bytes is not None and self.bytes >= self._config.max_bytes:
            return "max-bytes"
        if self._config.time_limit is not None and self.time_left <= 0:
            return "time-limit"
        now = self._clock.monotonic()
        if now >= self._next_look:
            self._next_look = now + _LOOK_EVERY
            if self._config.room(self._folder) < 0:
                return DISK_RESERVE
        return ""
