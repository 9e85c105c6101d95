"""When pages are known, and definition 3.1, asked of captures at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from asof.catalog.observe import observe
from asof.clock import Instant
from asof.coherence.credibility import firm_runs
from asof.coherence.invariance import Bounds, Together, page_bounds
from asof.coherence.observations import Sights
from asof.coherence.proven_intervals import page_intervals
from asof.coherence.quality_report import Answer, Stretch
from asof.coherence.verdict import HostTrust
from asof.model import Capture, Validity


def bounds_of(
    captures: Iterable[Capture], since: Instant | None = None, until: Instant | None = None,
    host_trust: Mapping[str, HostTrust] | None = None,
) -> list[Bounds]:  # fmt: skip
    known = firm_runs(observe(captures), host_trust or {})
    return [each for url, runs, _ in known for each in page_bounds(url, runs, since, until)]


def stood_together(
    captures: Iterable[Capture], since: Instant | None = None, until: Instant | None = None,
    host_trust: Mapping[str, HostTrust] | None = None,
) -> tuple[Answer, Stretch | None]:  # fmt: skip
    together = Together()
    for bounds in bounds_of(captures, since, until, host_trust):
        together.add(bounds)
    return together.answer()


def known_intervals(
    seen: Sights, host_trust: Mapping[str, HostTrust], *, urls: Collection[str]
) -> list[Validity]:
    pages = sorted(firm_runs(seen, host_trust, urls), key=lambda page: page[0])
    return [each for page in pages for each in page_intervals(*page)]
