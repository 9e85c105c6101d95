"""Which 304 answers were drawn for an audit, and whether the audit was made.

The lot is a keyed hash of the URL: nobody can foresee it without the secret of the crawl, and
anybody can draw it again afterwards, for the secret stands in the files (asof.crawl.audit).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from operator import attrgetter

from asof.coherence.verdict import Mode
from asof.model import Capture, Crawl

ONE_IN = 10


def draw(secret: str, url: str) -> int:
    """A number that only those can know who know the secret."""
    drawn = blake2b(url.encode("utf-8", "surrogatepass"), key=secret.encode()[:64], digest_size=8)
    return int.from_bytes(drawn.digest())


@dataclass(frozen=True, slots=True)
class AuditLots:
    """How many answers of a crawl were drawn, and the URLs of those that no bytes followed."""

    drawn: int
    missing: tuple[str, ...]


def audit_lots(crawl: Crawl, captures: Iterable[Capture]) -> AuditLots | None:
    """The 304 answers on which a crawl rests, as far as the lot alone says that they are audited.

    More are: among the first of a host, and of suspects. None for a crawl that made no audits. That
    one is missing may have honest reasons, which no file tells: the crawl was stopped, the next
    request failed, the server was busy.
    """
    plan = crawl.coherence_plan
    if plan is None or not plan.secret or crawl.settings.get("audit") is False:
        return None
    by_url: dict[str, list[Capture]] = defaultdict(list)
    for capture in captures:
        if capture.crawl == crawl.id:
            by_url[capture.url].append(capture)
    drawn, missing = 0, []
    for url, seen in sorted(by_url.items()):
        if draw(plan.secret, url) % ONE_IN:
            continue
        seen.sort(key=attrgetter("at", "where.file", "where.offset"))
        told = _decisive(seen, crawl)
        drawn += told is not None
        if told is not None and not any(_brought(each) for each in seen[told + 1 :]):
            missing.append(url)
    return AuditLots(drawn, tuple(missing))


def _decisive(seen: Sequence[Capture], crawl: Crawl) -> int | None:
    """The place of the first 304 to the look on which all rests.

    That is the visit of a measurable crawl, and in an inducible one the revisit: what was not seen
    before the turning point is new, and asked for without audits.
    """
    plan = crawl.coherence_plan
    if plan is None or plan.turn is None or plan.mode not in (Mode.MEASURABLE, Mode.INDUCIBLE):
        return None
    first = plan.turn if plan.mode == Mode.INDUCIBLE else seen[0].at - 1
    if plan.mode == Mode.INDUCIBLE and seen[0].at > first:
        return None
    return next((n for n, each in enumerate(seen) if each.at > first and each.status == 304), None)


def _brought(capture: Capture) -> bool:
    """Whether an answer tells what is there; a 304 tells nothing new, and a busy server nothing."""
    return capture.status is not None and capture.status != 304 and capture.status < 500
