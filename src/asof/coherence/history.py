"""The contents a URL has had, each with how far it is proven, confirmed and claimed.

The same grades as in a measurement, by the same rules: a 304 is worth what its host's word is
worth, that of a host that was caught nothing, and what was written again in between stands apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from asof.archive.archive import OpenArchive
from asof.catalog.observe import Observation, Silence
from asof.catalog.validity import intervals
from asof.coherence.credibility import weigh
from asof.coherence.observations import rewritten
from asof.coherence.trust_file import KeptTrust
from asof.coherence.verdict import HostTrust, Reason
from asof.model import Capture, State, Validity
from asof.url import host_of


class GradedHistories:
    """Of one archive; what is learnt of its hosts is kept for a while."""

    def __init__(self, archive: OpenArchive) -> None:
        self._archive = archive
        self._trust = KeptTrust(archive)

    def of(self, url: str) -> list[Validity]:
        return self._of(self._archive.catalog.observed(self._archive.address(url)))

    def among(self, together: Iterable[Capture]) -> list[Validity]:
        """The same by all the captures of some keys: those of each URL stand together."""
        return self._of(self._archive.catalog.shown(together))

    def _of(self, seen: Mapping[str, Sequence[Observation]]) -> list[Validity]:
        found: list[Validity] = []
        for name, own in seen.items():
            host = host_of(name)
            found += graded(own, self._trust.of(host) if _needs_trust(own) else HostTrust(host))
        return found


def history(archive: OpenArchive, url: str) -> list[Validity]:
    """The contents that a URL has had."""
    return GradedHistories(archive).of(url)


def graded(seen: Sequence[Observation], trust: HostTrust) -> list[Validity]:
    """What some observations of one URL show, if its host's word is worth so much."""
    doubted = trust.doubts(seen[0].capture.url)
    weighed = [_weighed(each, trust, doubted=doubted) for each in seen]
    return intervals(weighed, partial(rewritten, skew=trust.skew))


def _needs_trust(seen: Sequence[Observation]) -> bool:
    """Whether anything rests on a server's word: a 304, or the date of what was written again."""
    return any(each.confirms for each in seen) or any(
        one.identity == other.identity and rewritten(one, other, None)
        for one, other in pairwise(seen)
    )


def _weighed(sight: Observation, trust: HostTrust, *, doubted: bool) -> Observation:
    """A sight as firm as its host's word; a 304 that is not believed shows nothing."""
    if sight.why is not Silence.NONE:  # it shows as much as it shows, whoever says so
        return sight
    found = weigh(sight, trust, doubted=doubted)
    if isinstance(found, Observation):
        return found
    why = Silence.FALSE if found is Reason.FALSE_VALIDATORS else Silence.UNKNOWN
    return replace(sight, state=State.SILENT, status=304, redirect=None, why=why)
