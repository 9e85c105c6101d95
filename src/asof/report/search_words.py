"""What was found, in JSON and on a terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from asof.clock import iso, maybe_iso
from asof.report.terminal import harmless, wrapped
from asof.report.words import moment, number, readable, stretch
from asof.search.question import Answer, Hit, Stretch

_MARK, _STRONG, _DIM, _OFF = "\x1b[1;33m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
_BARS = "▁▂▃▄▅▆▇█"
_INDENT = "    "


def search_json(answer: Answer) -> dict[str, object]:
    """The shape of an answer in every JSON output."""
    asked = answer.question
    counts = ("hosts", "media_types", "languages", "presence")
    return {
        "query": asked.words,
        "as_of": maybe_iso(asked.when.at),
        "from": maybe_iso(asked.when.since),
        "to": maybe_iso(asked.when.until),
        **{name: getattr(asked, name) for name in ("prefix", "media_type", "language")},
        "sort": asked.order.value,
        "fold": asked.fold,
        "found": answer.found,
        "offset": asked.offset,
        "next": answer.next,
        "indexed": answer.indexed,
        "complete": answer.complete,
        "hits": [*map(_hit_json, answer.hits)],
        **{name: [each._asdict() for each in getattr(answer, name)] for name in counts},
    }


def _hit_json(hit: Hit) -> dict[str, object]:
    return asdict(hit) | {
        "since": iso(hit.since),
        "until": iso(hit.until),
        "ended": maybe_iso(hit.ended),
        "extract": [piece._asdict() for piece in hit.extract],
        "also": [{"url": each.url, "since": iso(each.since)} for each in hit.also],
    }


def shown_for(hit: Hit) -> str:
    """From when to when a content was seen, and whether something else came after it."""
    seen = f"seen {stretch(hit.since, hit.until)}"
    return seen if hit.ended is None else f"{seen}; something else since {moment(hit.ended)}"


def led(hit: Hit) -> str:
    """How many others led to a hit as of the moment for which it is told; nothing if none did."""
    return f"{number(hit.inlinks, 'other address')} led to it" if hit.inlinks else ""


def near(hit: Hit) -> str:
    """How many contents are told in the place of a hit, and of how many addresses."""
    others = {each.url for each in hit.also} - {hit.url}
    told = f" at {number(len(others), 'other address')}" if others else " at this address"
    return f"and {number(len(hit.also), 'content')} near it{told}"


def summary(answer: Answer) -> str:
    """How much was found, when it was there, and how the rest is seen."""
    over_time = ""
    if len(answer.presence) > 1:
        first, last = answer.presence[0].name, answer.presence[-1].name
        over_time = f"  {first} {spark(answer.presence)} {last}"
    if answer.found:
        told = number(answer.found, "content") + over_time
        return told if answer.next is None else f"{told}  (more: --offset {answer.next})"
    at = answer.question.when.at
    told = "Nothing says that" + ("" if at is None else f" as of {moment(at)}")
    if answer.presence:
        return f"{told}, but at other times:{over_time or ' ' + answer.presence[0].name}"
    return f"{told}. Fewer words find more; `asof search --help` has other ways to ask."


def terminal(answer: Answer, width: int, *, colour: bool) -> Iterator[str]:
    """Hits for people: title, address, when, and where in its text."""

    def painted(text: str, paint: str) -> str:
        return f"{paint}{harmless(text)}{_OFF}" if colour else harmless(text)

    for place, hit in enumerate(answer.hits, answer.question.offset + 1):
        yield f"{place:>3} {painted(hit.title or readable(hit.url), _STRONG)}"
        yield _INDENT + harmless(readable(hit.url))
        yield _INDENT + painted(" · ".join(filter(None, (shown_for(hit), led(hit)))), _DIM)
        pieces = [(harmless(each.text), each.marked) for each in hit.extract]
        for line in wrapped(pieces, width - len(_INDENT)):
            yield _INDENT + "".join(
                painted(text, _MARK) if marked else text for text, marked in line
            )
        if hit.also:
            yield _INDENT + painted(near(hit), _DIM)
        yield ""


def spark(presence: Sequence[Stretch]) -> str:
    """Contents over time as a line of bars; a gap where there was none."""
    most = max((each.contents for each in presence), default=0)
    return "".join(
        " " if not each.contents else _BARS[(each.contents * len(_BARS) - 1) // most]
        for each in presence
    )
