"""How the composition of a page is told: as JSON, as lines for a terminal, and why in words."""

from collections.abc import Iterator

from asof.catalog.derive import record_uri
from asof.clock import SECOND, iso, maybe_iso, stamp
from asof.coherence.verdict import Reason
from asof.model import Grade
from asof.replay.choose import HOLDING, Choice, Policy, Verdict
from asof.replay.composition import Composition
from asof.report.quality_words import CAUSES, GRADES
from asof.report.words import moment, number, readable, span

_OWN = {
    (Verdict.MISSING, Reason.NONE): "never captured",
    (Verdict.MISSING, Reason.DATED_AFTER): "captured later, dated to after the moment",
    (Verdict.VIOLATED, Reason.DATED_AFTER): "dated to after the moment",
    (Verdict.VIOLATED, Reason.OTHER_CONTENT): "something else is known of that moment",
    (Verdict.POSSIBLE, Reason.OTHER_CONTENT): "something else was there later",
    (Verdict.DOUBTFUL, Reason.OTHER_CONTENT): "it changed around the moment, this is nearer",
    (Verdict.POSSIBLE, Reason.FAILED_AGAIN): "the server answered with an error",
    (Verdict.DOUBTFUL, Reason.FAILED_AGAIN): "the server answered with an error",
}
POLICIES = {
    Policy.COHERENT: "the best evidence",
    Policy.NEAREST: "the nearest capture, whatever it is",
    Policy.STRICT: "nothing that is doubtful",
}


def why(choice: Choice) -> str:
    """Why a capture was chosen, or none, in a few words."""
    key = choice.verdict, choice.reason
    if choice.reason is Reason.OTHER_URL and choice.capture is not None:
        return f"captured as {readable(choice.capture.url)}"
    if key in _OWN:
        return _OWN[key]
    if choice.verdict is Verdict.PROVEN and abs(choice.distance or 0) < SECOND:
        return "captured then"
    if choice.verdict in HOLDING and choice.reason is Reason.NONE:
        return GRADES[Grade(choice.verdict.value)]
    for grade in (Grade.UNKNOWN, Grade.CHANGED, Grade.EQUIVALENT):
        if (cause := CAUSES.get((grade, choice.reason.value))) is not None:
            return cause[0][0].lower() + cause[0][1:]
    return choice.reason.value.replace("-", " ")


def distance(choice: Choice) -> str:
    """How far from the moment a capture is: `3 days before`."""
    far = choice.distance
    if far is None:
        return "-"
    if abs(far) < SECOND:
        return "at that moment"
    return f"{span(abs(far))} {'before' if far < 0 else 'after'}"


def counted(composition: Composition) -> str:
    """`12 resources: 10 proven, 2 possible`."""
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in composition.counts.items())
    more = "" if composition.is_whole else "; there are more, which were not looked at"
    return f"{number(len(composition.resources), 'resource')}: {told}{more}"


def composition_lines(composition: Composition) -> Iterator[str]:
    """A table for a terminal."""
    shown, asked = moment(composition.shown), moment(composition.asked)
    told = "" if shown == asked else f"; shown as of {shown}"
    yield readable(composition.root.url)
    yield f"as of {asked}{told} (UTC, {composition.policy})"
    yield ""
    rows = [("verdict", "captured (UTC)", "from the moment", "why", "what")]
    for choice in composition.resources:
        at = "-" if choice.capture is None else stamp(choice.capture.at)
        row = (choice.verdict.value, at, distance(choice), why(choice), readable(choice.url))
        rows.append(row)
    *widths, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    for *words, url in rows:
        fitted = (word.ljust(width) for word, width in zip(words, widths, strict=True))
        yield "  ".join((*fitted, url))
    yield ""
    yield counted(composition)


def composition_json(composition: Composition) -> dict[str, object]:
    """The shape of a composition in every JSON output."""
    return {
        "url": composition.root.url,
        "asked": iso(composition.asked),
        "shown": iso(composition.shown),
        "policy": composition.policy.value,
        "counts": composition.counts,
        "whole": composition.is_whole,
        "resources": [choice_json(choice) for choice in composition.resources],
    }


def choice_json(choice: Choice) -> dict[str, object]:
    capture, far = choice.capture, choice.distance
    return {
        "url": choice.url,
        "capture": None if capture is None else {
            "url": capture.url,
            "at": iso(capture.at),
            "record_id": record_uri(capture.record_id),
            "status": capture.status,
            "media_type": capture.media_type,
        },
        "since": maybe_iso(choice.since),
        "until": maybe_iso(choice.until),
        "verdict": choice.verdict.value,
        "reason": choice.reason.value,
        "distance": None if far is None else far / SECOND,
    }  # fmt: skip
