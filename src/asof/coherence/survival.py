"""How likely a page is to stay unchanged over a length of time: all that planning needs to know.

A planner never sees rates, only survivals, so the discrete model of Spaniol 2009, real time, and
the posterior of a page that was seen twice are one problem to it.
"""

from abc import abstractmethod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Pages = NDArray[np.intp]
Floats = NDArray[np.float64]

# Stands for an infinite rate: times 0 it is 0 (Spaniol 2009: the joker is safe, 0^0 = 1), times any
# length of a crawl it is certain change, and it does not overflow.
_CERTAIN = 1e200


class Survival(Protocol):
    """The chance of each page to be the same at the end of a length of time as at its start.

    A survival is 1 at length 0, never rises with the length, and never overflows; an infinite
    length is not asked for (a page that is not seen again counts as lost).
    """

    # How fast each page changes, to sort by: the hotter of two pages changes more.
    heat: Floats

    def __len__(self) -> int:
        return len(self.heat)

    @abstractmethod
    def hazard(self, pages: Pages, lengths: Floats) -> Floats:
        """-log of the survival: where a survival is 0 to a computer, this still tells which.

        A new array each time, which `at` overwrites.
        """
        ...

    def at(self, pages: Pages, lengths: Floats) -> Floats:
        """The survival of pages over lengths, element by element (arrays broadcast)."""
        hazard = self.hazard(pages, lengths)
        np.negative(hazard, out=hazard)
        return np.exp(hazard, out=hazard)


def chances(survival: Survival, pages: Pages, lengths: Floats) -> Floats:
    """The survival of pages over lengths; an infinite one is "not seen again", and counts 0."""
    seen = np.isfinite(lengths)
    if seen.all():
        return survival.at(pages, lengths)
    return np.where(seen, survival.at(pages, np.where(seen, lengths, 0.0)), 0.0)


class Discrete(Survival):
    """The model of Spaniol 2009, equations 2 and 4: (1 - rate)^length, lengths in slots."""

    def __init__(self, rates: Floats) -> None:
        self.heat = _checked(rates, "change probability", 1.0)
        with np.errstate(divide="ignore"):
            self._decay = np.minimum(-np.log1p(-self.heat), _CERTAIN)

    def hazard(self, pages: Pages, lengths: Floats) -> Floats:
        return self._decay[pages] * lengths


class Poisson(Survival):
    """Changes at a constant rate in real time: e^(-rate * length), in one unit of time for both."""

    def __init__(self, rates: Floats) -> None:
        self.heat = _checked(rates, "change rate", np.inf)
        self._decay = np.minimum(self.heat, _CERTAIN)

    def hazard(self, pages: Pages, lengths: Floats) -> Floats:
        return self._decay[pages] * lengths


class Expected(Survival):
    """Under a gamma posterior of the rate, the mean of e^(-r * length): (rate/(rate+length))^shape.

    It falls slower than that of the mean rate, the more so the less is known of the page: who
    plans on bare estimates from few observations takes luck for knowledge (20-coherence.md).
    """

    def __init__(self, shape: Floats, rate: Floats) -> None:
        self._shape = _checked(shape, "shape", np.inf)
        self._rate = _checked(rate, "rate", np.inf)
        if self._shape.shape != self._rate.shape:
            raise ValueError("a shape and a rate for each page")
        if not (self._rate > 0).all():
            raise ValueError("a rate of 0 is no posterior")
        self.heat = self._shape / self._rate

    def hazard(self, pages: Pages, lengths: Floats) -> Floats:
        return self._shape[pages] * np.log1p(lengths / self._rate[pages])


class Since(Survival):
    """The same of pages that must have stayed as they are for some time already, each for its own.

    A page that is seen at the moment itself has a length of 0, and need not.
    """

    def __init__(self, survival: Survival, before: Floats) -> None:
        self._survival = survival
        self._before = _checked(before, "time", np.inf)
        self.heat = survival.heat

    def hazard(self, pages: Pages, lengths: Floats) -> Floats:
        found = self._survival.hazard(pages, lengths + self._before[pages])
        return np.where(lengths > 0, found, 0.0)


def _checked(values: Floats, what: str, most: float) -> Floats:
    checked: Floats = np.ascontiguousarray(values, dtype=np.float64)
    if checked.ndim != 1:
        raise ValueError(f"one {what} for each page")
    if not ((checked >= 0) & (checked <= most)).all():
        raise ValueError(f"a {what} is not between 0 and {most:g}")
    return checked
