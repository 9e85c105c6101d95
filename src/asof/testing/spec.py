"""What a synthetic web is made of: one frozen `SiteSpec`, and the `Rates` at which it changes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from asof.clock import Instant
from asof.errors import UsageError
from asof.testing.chance import Purpose, mix
from asof.testing.simclock import START

Etag = Literal["strong", "weak", "none", "mixed"]
Sitemap = Literal["none", "single", "index"]
TRAPS = ("calendar", "path", "session", "parameters", "nonsense")

_MOST_PAGES = 1_000_000
# Host names and listening ports are one each; beyond this a process runs out of descriptors.
_MOST_HOSTS = 4_096
# The sitemaps.org protocol allows 50,000 addresses in one file.
_SITEMAP_LIMIT = 50_000
_MOST = {"links": 1_000, "words": 100_000, "chain": 20, "disallowed": 1_000} | dict.fromkeys(
    ("css", "images", "scripts", "appearing", "vanishing", "redirects"), _MOST_PAGES
)
_ERROR_STATUSES = frozenset({400, 401, 403, 404, 410, 418, 429, 451, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Rates:
    """How often pages change: changes a day, as a fixed list or a quantile grid of a family.

    A grid has no random numbers in it: of n pages, number k gets the quantile u = (k+0.5)/n of
    the family, rescaled so that the mean of the grid is exact. Which page gets which rate is a
    shuffle by the site's seed. A fixed list is given out in page order, over and over.

    >>> Rates.uniform(2.0).grid(4)
    (0.5, 1.5, 2.5, 3.5)
    """

    family: Literal["fixed", "uniform", "exponential", "lognormal"]
    mean: float = 0.0
    values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        numbers = self.values if self.family == "fixed" else (self.mean,)
        if not numbers or not all(math.isfinite(rate) and rate >= 0 for rate in numbers):
            raise UsageError(
                f"{numbers} are not change rates.",
                hint="Give one or more finite numbers of changes a day, zero or more.",
            )

    @classmethod
    def fixed(cls, *values: float) -> Rates:
        """These rates in page order, repeated; the front page is first."""
        return cls("fixed", values=values)

    @classmethod
    def uniform(cls, mean: float) -> Rates:
        """Evenly spread from 0 to twice the mean."""
        return cls("uniform", mean)

    @classmethod
    def exponential(cls, mean: float) -> Rates:
        """Most pages are slow, a few are fast."""
        return cls("exponential", mean)

    @classmethod
    def lognormal(cls, mean: float) -> Rates:
        """Nearly all pages are slow, very few are very fast (sigma 2)."""
        return cls("lognormal", mean)

    @classmethod
    def parse(cls, text: str) -> Rates:
        """`exponential:0.5`, `lognormal:2`, `uniform:1`, `fixed:3,0,0.5` or `none`."""
        if text == "none":
            return cls.fixed(0.0)
        family, _, numbers = text.partition(":")
        try:
            values = tuple(float(number) for number in numbers.split(","))
        except ValueError:
            values = ()
        match family:
            case "fixed" if values:
                return cls.fixed(*values)
            case "uniform" | "exponential" | "lognormal" if len(values) == 1:
                return cls(family, values[0])
        raise UsageError(
            f"{text!r} does not describe change rates.",
            hint="Write none, fixed:3,0,0.5, uniform:1, exponential:0.5 or lognormal:2.",
        )

    def grid(self, pages: int) -> tuple[float, ...]:
        """The rates of that many pages, slowest first (a fixed list: in its own order)."""
        if self.family == "fixed":
            return tuple(self.values[k % len(self.values)] for k in range(pages))
        levels = [(k + 0.5) / pages for k in range(pages)]
        if self.family == "uniform":
            return tuple(2 * self.mean * u for u in levels)
        if self.family == "exponential":
            shape = [-math.log1p(-u) for u in levels]
        else:
            normal = NormalDist()
            shape = [math.exp(2 * normal.inv_cdf(u)) for u in levels]
        scale = self.mean * pages / math.fsum(shape) if shape else 0.0
        return tuple(scale * value for value in shape)


@dataclass(frozen=True, slots=True)
class SiteSpec:
    """A synthetic web in full. Equal specs make byte for byte equal webs.

    Size: `pages` exist at `start`, over all `hosts`. Beside its navigation a page carries about
    `links` links to other pages and a text of about `words` words; each host has `css`
    stylesheets, `images` and `scripts`.

    Change: page content by `rates` (changes a day), with a `static` share of pages that never
    change; stylesheets, images and scripts at `asset_rate`. Within `turnover` days after
    `start`, `appearing` pages are added and `vanishing` ones taken away, links to them included.

    Protocol: validators by `etag` ("mixed": some pages of each kind) and `last_modified`, 304
    answers if `conditional`, `gzip` when asked for, a `chunked` share of pages. Each host has
    `redirects` (301, 302, 307, 308 in turn; every fifth is a chain of `chain` hops), one dead
    page for each status in `errors` (503 and 429 say Retry-After `retry_after`), and, if
    `robots`, a robots.txt with an optional `crawl_delay` that forbids `disallowed` linked pages.

    Traps: pages without end, of the kinds in `traps` (see asof.testing.traps), on every host.
    """

    seed: int = 1
    pages: int = 40
    hosts: int = 1
    links: int = 8
    words: int = 260
    css: int = 1
    images: int = 12
    scripts: int = 1
    rates: Rates = Rates("exponential", 0.2)
    static: float = 0.0
    asset_rate: float = 0.0
    appearing: int = 0
    vanishing: int = 0
    turnover: float = 30.0
    etag: Etag = "strong"
    last_modified: bool = True
    conditional: bool = True
    gzip: bool = True
    chunked: float = 0.25
    redirects: int = 5
    chain: int = 3
    errors: tuple[int, ...] = (404, 410, 500, 503)
    retry_after: int = 1
    robots: bool = True
    disallowed: int = 2
    crawl_delay: float | None = None
    sitemap: Sitemap = "single"
    start: Instant = START
    traps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._need(1 <= self.hosts <= _MOST_HOSTS, "hosts", f"1 to {_MOST_HOSTS}")
        self._need(
            self.hosts <= self.pages <= _MOST_PAGES, "pages", f"{self.hosts} to {_MOST_PAGES:,}"
        )
        for name, most in _MOST.items():
            least = 1 if name in ("links", "chain") else 0
            self._need(least <= getattr(self, name) <= most, name, f"{least} to {most:,}")
        for name in ("static", "chunked"):
            self._need(0 <= getattr(self, name) <= 1, name, "a share from 0 to 1")
        self._need(0 <= self.asset_rate < math.inf, "asset_rate", "changes a day, zero or more")
        self._need(0 < self.turnover < math.inf, "turnover", "a number of days above zero")
        self._need(set(self.errors) <= _ERROR_STATUSES, "errors", f"of {sorted(_ERROR_STATUSES)}")
        self._need(set(self.traps) <= set(TRAPS), "traps", f"of {list(TRAPS)}")
        self._need(
            self.sitemap != "single" or self.pages + self.appearing <= _SITEMAP_LIMIT * self.hosts,
            "sitemap",
            f"'index' when a host has more than {_SITEMAP_LIMIT:,} pages",
        )

    def _need(self, held: bool, name: str, wanted: str) -> None:
        if not held:
            raise UsageError(
                f"A synthetic site cannot have {name}={getattr(self, name)!r}.",
                hint=f"Give {wanted}.",
            )

    def page_rates(self) -> tuple[float, ...]:
        """Changes a day of every page that exists at the start, by running number."""
        if self.rates.family == "fixed" and not self.static:
            return self.rates.grid(self.pages)
        still = round(self.static * self.pages)
        rates = (0.0,) * still + self.rates.grid(self.pages - still)
        order = sorted(range(self.pages), key=lambda k: mix(self.seed, Purpose.RATE, k))
        return tuple(rates[k] for k in order)
