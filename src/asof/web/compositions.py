"""What a page is made of: its counts in headers, a page for people, JSON for programs."""

from dataclasses import replace
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import Response

from asof.clock import SECOND, Instant, iso, parse_moment
from asof.coherence.verdict import Reason
from asof.errors import UsageError
from asof.replay.choose import Choice, Policy
from asof.replay.composition import Composition, compose
from asof.report.composition_words import POLICIES, composition_json, counted, distance, why
from asof.web import address
from asof.web.machine import asked_url, json_answer
from asof.web.pages import Pages

_KEPT = 64


class Compositions:
    """The compositions of pages of one archive, kept for as long as nothing is written."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._made = lru_cache(_KEPT)(self._compose)

    def of(self, url: str, at: Instant, policy: Policy) -> Composition:
        return self._made(url, at, policy, self._pages.archive.ledger.version())

    def _compose(self, url: str, at: Instant, policy: Policy, version: object) -> Composition:
        return compose(self._pages.archive, self._pages.chooser, url, at, policy)

    def page(self, request: Request) -> Response:
        """The endpoint of `/-/composition/{stamp}/{url}`."""
        wanted = address.wanted(request.scope)
        if wanted is None:
            raise LookupError("routed here without such an address")
        if not wanted.stamp.isdigit():
            wanted = replace(wanted, stamp="now")
        moment = parse_moment(wanted.stamp, self._pages.clock.now())
        made = self.of(wanted.url, moment, wanted.policy)
        if made.root.capture is None:
            return self._pages.missing(wanted, moment)
        return self._pages.render(
            "composition.html", wanted=wanted, made=made, policies=POLICIES,
            why=why, distance=distance, counted=counted(made),
        )  # fmt: skip

    def json(self, request: Request) -> Response:
        """The endpoint of `/-/api/composition?url=&at=&policy=`."""
        query, pages = request.query_params, self._pages
        url, policy = asked_url(request), query.get("policy") or "coherent"
        if policy not in tuple(Policy):
            raise UsageError(f"{policy!r} is no policy.", hint=f"There are {', '.join(Policy)}.")
        moment = parse_moment(query.get("at") or "now", pages.clock.now())
        made = self.of(url, moment, Policy(policy))
        return json_answer(composition_json(made), 404 if made.root.capture is None else 200)


def verdict_header(choice: Choice) -> str:
    """What is known of a memento, as a structured field (RFC 9651)."""
    told = [choice.verdict.value, f'shown="{iso(choice.at)}"']
    for name, at in (("since", choice.since), ("until", choice.until)):
        told += [] if at is None else [f'{name}="{iso(at)}"']
    if choice.reason.value:
        told.append(f"reason={choice.reason.value}")
    if choice.reason is Reason.OTHER_URL and choice.capture is not None:
        written = address.written(choice.capture.url).replace("\\", "%5C")
        told.append(f'captured="{written}"')
    if choice.distance is not None:
        told.append(f"distance={choice.distance / SECOND:.3f}")
    return "; ".join(told)


def counts_header(composition: Composition) -> str:
    """How many resources of a page have each verdict, as a structured dictionary."""
    return ", ".join(f"{verdict}={count}" for verdict, count in composition.counts.items())
