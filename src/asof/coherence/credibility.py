"""Which sights of a page can be believed, given what its host's word was found to be worth."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from asof.catalog.observe import Firmness, Observation, Silence
from asof.clock import DAY, SECOND, Instant
from asof.coherence.observations import SameAnswers, Sights, asked_by, is_page, runs
from asof.coherence.verdict import MARGIN, HostTrust, Reason
from asof.url import host_of

# A Last-Modified so long before the download cannot hide a second change in its second (RFC 9110
# section 8.8.2.2, with the 60 s of RFC 7232 before it); where the clock is not known, longer.
_STRONG_DATE: Instant = 60 * SECOND
_STRONG_DATE_UNSET: Instant = DAY


def credible(
    seen: Sequence[Observation], trust: HostTrust, *, doubted: bool,
    lost: frozenset[str] = frozenset(),
) -> tuple[list[Observation], list[tuple[Observation, Reason]]]:  # fmt: skip
    """Sights as firm as the host's word makes them, and those that show nothing, with the reason.

    `doubted` says that the page's own dates were found wrong; `lost` are the crawls whose clock
    ran back over the moment in question. No firmness DATED is left: a 304 by date is as good as a
    strong one, or weak.
    """
    weighed = [(weigh(sight, trust, doubted=doubted, lost=lost), sight) for sight in seen]
    firm = [found for found, _ in weighed if isinstance(found, Observation)]
    return firm, [(sight, found) for found, sight in weighed if isinstance(found, Reason)]


def weigh(
    sight: Observation, trust: HostTrust, *, doubted: bool, lost: frozenset[str] = frozenset()
) -> Observation | Reason:
    """A sight as firm as the host's word makes it, or the reason why it shows nothing."""
    why = _disbelief(sight, trust, doubted, lost)
    if why is not Reason.NONE:
        return why
    if sight.firmness is Firmness.DATED:
        is_strong = _is_strong_date(sight, trust.skew)
        return replace(sight, firmness=Firmness.STRONG if is_strong else Firmness.WEAK)
    if sight.firmness is Firmness.STRONG and _may_hide(sight, trust.skew):
        return replace(sight, firmness=Firmness.WEAK)
    return sight


def firm_runs(
    seen: Sights, host_trust: Mapping[str, HostTrust], urls: Collection[str] | None = None
) -> Iterator[tuple[str, list[SameAnswers], HostTrust]]:
    """The intervals of each page by what is firm: no errors, no weak validators, no false words."""
    for url, sights in seen.items():
        if is_page(url) and (urls is None or url in urls):
            host = host_of(url)
            trust = host_trust.get(host) or HostTrust(host)
            firm, _ = credible(sights, trust, doubted=trust.doubts(url))
            strong = [sight for sight in firm if sight.firmness >= Firmness.STRONG]
            yield url, runs(strong, by_tag=trust.trusts_validators, skew=trust.skew), trust


def _disbelief(sight: Observation, trust: HostTrust, doubted: bool, lost: frozenset[str]) -> Reason:
    if sight.capture.crawl in lost:
        return Reason.CRAWLER_CLOCK
    if sight.why is not Silence.NONE:
        return Reason(sight.why.value)
    if sight.is_bytes:
        return Reason.NONE
    if not trust.trusts_validators:
        return Reason.FALSE_VALIDATORS
    # A 304 by date repeats the date: where that did not move with the content, it is worth nothing.
    is_wrong = doubted or (trust.dates_wrong > 0 and not trust.trusts_dates)
    return Reason.UNTRUSTED_DATES if is_wrong and _is_by_date(sight) else Reason.NONE


def _is_by_date(sight: Observation) -> bool:
    """Whether a 304 rests on Last-Modified: there is no ETag, or only a weak one and the date."""
    asked = asked_by(sight)
    return sight.firmness is Firmness.DATED or (
        sight.firmness is Firmness.WEAK and not asked.etag and asked.last_modified is not None
    )


def _dated_and_taken(sight: Observation) -> tuple[Instant, Instant] | None:
    """The Last-Modified that a 304 was given by, and when what has it was downloaded; if known."""
    dated = asked_by(sight).last_modified
    taken = sight.capture.refers_to_at if sight.confirmed is None else sight.confirmed.at
    return None if dated is None or taken is None else (dated, taken)


def _may_hide(sight: Observation, skew: int | None) -> bool:
    """Whether a page was taken so soon after it changed that its ETag may be that of two contents.

    Servers of files (nginx, Apache) make strong ETags of the second of the change and the size.
    """
    known = _dated_and_taken(sight)
    return known is not None and known[0] + MARGIN > known[1] + (skew or 0)


def _is_strong_date(sight: Observation, skew: int | None) -> bool:
    """Whether a Last-Modified that a 304 was given by is too old to hide a change.

    Two changes within one second have one date, so one of the second of the download may be that
    of an earlier content. Date and download must be by one clock, the server's.
    """
    known = _dated_and_taken(sight)
    age = _STRONG_DATE_UNSET if skew is None else _STRONG_DATE
    return known is not None and known[0] + age <= known[1] + (skew or 0)
