"""What a page is made of as of a moment: each resource it needs, and which capture shows it."""

import re
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from asof.archive.archive import OpenArchive
from asof.catalog.memento import Memento
from asof.clock import Instant
from asof.coherence.verdict import Reason
from asof.errors import AsofError
from asof.model import Hop, find_header
from asof.replay.choose import Choice, Chooser, Policy, Verdict
from asof.replay.rewrite import MAX_REWRITTEN, RewriteKind, is_xml, kind_of, kind_within
from asof.text.encoding.charset import charset_of, decoded
from asof.text.kinds.media import media_of
from asof.text.links.css import css_links
from asof.text.links.html_links import html_links
from asof.text.links.link import Links
from asof.text.links.scripts import IMPORTS_REACH, module_imports
from asof.url import resolve

# So many resources, so many documents inside documents (a frame, a sheet that imports others), and
# so many bytes of them that are looked through.
MOST_PARTS = 1000
DEEPEST = 5
MOST_BYTES = MAX_REWRITTEN
_SCRIPT = re.compile(r"(?:text|application)/(?:x-)?(?:java|ecma)script")


@dataclass(frozen=True, slots=True)
class Part:
    """A resource of a page, and the document that asks for it."""

    choice: Choice
    via: str


@dataclass(frozen=True, slots=True)
class Composition:
    """A page as of a moment. `is_whole` unless it has more parts than are looked at."""

    root: Choice
    asked: Instant
    policy: Policy
    parts: tuple[Part, ...] = ()
    is_whole: bool = True

    @property
    def shown(self) -> Instant:
        """The moment that the page and its parts are shown as of: at or before the asked one."""
        return self.root.at

    @property
    def resources(self) -> tuple[Choice, ...]:
        """The page itself, and its parts in the order in which they are met."""
        return (self.root, *map(attrgetter("choice"), self.parts))

    @property
    def counts(self) -> dict[Verdict, int]:
        found = Counter(choice.verdict for choice in self.resources)
        return {verdict: found[verdict] for verdict in Verdict if found[verdict]}


class Needs(NamedTuple):
    """What has to be there with a resource, the bytes that were read to know, and how much deeper
    it is: where something moved to is as deep. The error is why it cannot be read itself."""

    urls: tuple[str, ...] = ()
    size: int = 0
    step: int = 1
    error: AsofError | None = None


NOTHING = Needs()


def compose(
    archive: OpenArchive,
    chooser: Chooser,
    url: str,
    at: Instant,
    policy: Policy,
    read: Callable[[Choice, int], Needs] | None = None,
) -> Composition:
    """The page and all that it needs, chosen for one moment. Its root may be missing; one that
    cannot be read is an error, and of its parts those are missing.

    `read` is for who has read the same before (see `needed_by`).
    """
    read = read or partial(needed_by, archive)
    root = chooser.page(url, at, policy)
    parts = [Part(root, "")]
    met, waiting, room = {url}, deque([(0, 0)]), MOST_BYTES
    while waiting and room > 0:
        place, depth = waiting.popleft()
        choice = parts[place].choice
        needs = read(choice, room) if depth < DEEPEST else NOTHING
        if needs.error is not None:
            if choice is root:
                raise needs.error
            lost = Choice(choice.url, choice.at, reason=Reason.UNREADABLE)
            parts[place] = replace(parts[place], choice=lost)
        room -= needs.size
        for needed in needs.urls:
            if needed in met:
                continue
            if len(parts) > MOST_PARTS:
                return Composition(root, at, policy, tuple(parts[1:]), is_whole=False)
            met.add(needed)
            waiting.append((len(parts), depth + needs.step))
            parts.append(Part(chooser.choose(needed, root.at, policy), choice.url))
    return Composition(root, at, policy, tuple(parts[1:]), is_whole=not waiting)


def needed_by(archive: OpenArchive, choice: Choice, room: int) -> Needs:
    """What a resource refers to, if no more than so many bytes have to be read."""
    if choice.capture is None:
        return NOTHING
    try:
        memento = archive.read(choice.capture)
        moved = find_header(memento.headers, "Location") if moves(memento) else None
        if moved is not None:
            target = resolve(choice.capture.url, moved)
            return NOTHING if target is None else Needs((target,), step=0)
        is_error = memento.status is not None and memento.status >= 400
        return NOTHING if is_error else _requisites(memento, room)
    except AsofError as error:  # lost or damaged: nothing can be shown of it
        return Needs(error=error.with_traceback(None))


def moves(memento: Memento) -> bool:
    return memento.status is not None and 300 <= memento.status < 400


def _requisites(memento: Memento, room: int) -> Needs:
    """The URLs that a document needs to be shown, each once."""
    url, media = memento.capture.url, memento.media_type
    if media is not None and _SCRIPT.fullmatch(media):
        text = b"".join(memento.payload(min(room, IMPORTS_REACH))).decode("utf-8", "replace")
        needed = (resolve(url, link.reference) for link in module_imports(text))
        return Needs(tuple(dict.fromkeys(each for each in needed if each is not None)), len(text))
    if media is not None and kind_of(media) is None and not is_xml(media):
        return NOTHING
    data = b"".join(memento.payload(room))
    declared = find_header(memento.headers, "Content-Type")
    kind = kind_within(media or media_of(data, None, url), data, declared)
    if kind is None:
        return Needs(size=len(data))
    if kind is RewriteKind.CSS:
        text = decoded(data, charset_of(data, declared, sheet=True))
        links = Links(None, tuple(css_links(text)))
    else:
        links = html_links(data, declared, xml=kind is RewriteKind.XML)
    base = url if links.base is None else resolve(url, links.base) or url
    places = [(url, link) for link in links.early] + [(base, link) for link in links.found]
    needed = (resolve(place, link.reference) for place, link in places if link.hop is Hop.REQUISITE)
    return Needs(tuple(dict.fromkeys(each for each in needed if each is not None)), len(data))
