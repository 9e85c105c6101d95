"""What changed at a URL between two moments: the captures, the kind of change, the difference."""

from dataclasses import dataclass, replace

from asof.archive.archive import Moment, OpenArchive
from asof.change.cascade import compare
from asof.change.categories import Change
from asof.change.difference import Difference, difference
from asof.change.texts import Texts
from asof.errors import NotCaptured
from asof.model import Capture, State
from asof.text.document import Document


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two captures of a URL, and how the later differs from the earlier."""

    old: Capture
    new: Capture
    states: tuple[State, State]
    change: Change
    difference: Difference


def compare_captures(
    texts: Texts, old: Capture, new: Capture, *, full: bool, most: int | None = None
) -> Comparison:
    """`full`: by all of their texts, not by their main content alone.

    No more than so many characters of each are looked through for what to mark.
    """
    before, after = texts.version(old), texts.version(new)
    documents = [texts.read(each) for each in (old, new)]
    change = compare(before, after)
    was, now = ("" if each is None else each.title or "" for each in documents)
    if was != now:  # compared with the text, and no part of it
        change = replace(change, details=(f"title: {was!r} became {now!r}", *change.details))
    sides = [_text(each, full=full) for each in documents]
    if most is not None and max(map(len, sides)) > most:
        note = f"changes are marked in the first {most:,} characters"
        change = replace(change, details=(*change.details, note))
    marked = difference(*(side[:most] for side in sides))
    return Comparison(old, new, (before.state, after.state), change, marked)


def two_captures(
    archive: OpenArchive, url: str, before: Moment | None, after: Moment | None
) -> tuple[Capture, Capture]:
    """The captures as of two moments; without any, of the last two contents."""
    if before is None:
        return _last_two(archive, url)
    moments = (before, "now" if after is None else after)
    old, new = (archive.captured(url, moment, use="a moment of") for moment in moments)
    return old, new


def _last_two(archive: OpenArchive, url: str) -> tuple[Capture, Capture]:
    """The last capture, and the one before it that has another content, if there is one."""
    seen = archive.catalog.observations(archive.address(url))
    if not seen:
        raise archive.not_captured(url, "now")
    *earlier, last = seen
    if not earlier:
        raise NotCaptured(f"{url} has one capture only.", hint="Crawl again, then ask again.")
    others = [each for each in earlier if each.identity != last.identity]
    return (others or earlier)[-1].capture, last.capture


def _text(document: Document | None, *, full: bool) -> str:
    if document is None:
        return ""
    return document.text if full else document.main or document.text
