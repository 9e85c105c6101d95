"""How often the pages of an archive change, as far as its captures tell (asof.freshness)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from asof.archive.archive import OpenArchive
from asof.clock import DAY, Instant
from asof.coherence.survival import Expected
from asof.coherence.verdict import HostTrust
from asof.freshness.history import gather
from asof.freshness.prior import Posterior, Prior, fit, posterior
from asof.model import Capture
from asof.url import host_of

# What is older says little of how often a page changes now: rates learnt on the whole past of a
# real site did worse than none (35-freshness.md).
RECENT: Instant = 2 * 365 * DAY


@dataclass(frozen=True, slots=True)
class LearntRates:
    """What is believed of each page: a gamma distribution of its rate, in changes a second.

    Never a single figure: plans on raw estimates from few observations fell below blind ones
    (20-coherence.md). A page that nobody knows has the distribution of those around it.
    """

    places: dict[str, int]
    known: Posterior
    prior: Prior

    def survival(self, urls: Sequence[str]) -> Expected:
        """The chance of each page to stay as it is, by length in seconds."""
        shape, rate = np.array(list(map(self._of, urls)), np.float64).reshape(-1, 2).T
        return Expected(shape.copy(), rate.copy())

    def mean(self, url: str) -> float:
        shape, rate = self._of(url)
        return shape / rate

    @property
    def anybody(self) -> Expected:
        """One page of which not even the host is known."""
        return Expected(np.array([self.prior.shape]), np.array([self.prior.rate]))

    def _of(self, url: str) -> tuple[float, float]:
        if (place := self.places.get(url)) is None:
            return self.prior.of(url)
        return float(self.known.shape[place]), float(self.known.rate[place])


def learn_rates(captures: Iterable[Capture], trust: Mapping[str, HostTrust]) -> LearntRates:
    """What captures in the order of their keys tell, by dates where these are trusted.

    Of a host that said 304 of what had changed nothing is learnt: what it sent in full is what it
    admitted, and changes more than the rest.
    """
    caught = {host for host, each in trust.items() if not each.trusts_validators}
    dated = {host for host, each in trust.items() if each.tells_time}
    worth = (capture for capture in captures if host_of(capture.url) not in caught)
    observed = gather(worth, trusted=dated.__contains__)
    prior = fit(observed)
    places = {url: place for place, url in enumerate(observed.urls)}
    return LearntRates(places, posterior(observed, prior), prior)


def recent_rates(archive: OpenArchive, trust: Mapping[str, HostTrust]) -> LearntRates:
    """What the last years tell."""
    return learn_rates(archive.catalog.captures(since=archive.clock.now() - RECENT), trust)
