"""A site as of a moment as plain files that a browser opens without a server.

Every page is composed for itself: its parts are those of the moment that it is shown as of. A part
that two pages need as of two moments, and that was not the same, is two files; one that depends on
others (a style sheet with pictures, a frame) is the same only if these are.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from typing import NamedTuple

from asof.archive.archive import OpenArchive
from asof.archive.export import Selection
from asof.catalog.listing import Listing
from asof.catalog.memento import Memento
from asof.clock import Instant
from asof.errors import AsofError
from asof.model import Capture, find_header
from asof.replay.choose import Choice, Chooser, Policy
from asof.replay.composition import (
    MOST_BYTES,
    MOST_PARTS,
    NOTHING,
    Composition,
    Needs,
    compose,
    moves,
    needed_by,
)
from asof.replay.file_names import FileNames, ending_of, reference
from asof.replay.links import NOWHERE, ReplayPlace
from asof.replay.on_disk import for_disk, is_harmless, marked, xml_for_disk
from asof.replay.rewrite import MAX_REWRITTEN, is_xml, kind_of, rewrite
from asof.text.kinds.media import media_of
from asof.url import LAST, is_web, key_ranges, surt

# As much as tells what a document is.
_START = 64 << 10
_HOPS = 10
_AT_ONCE = 500
_READ = 20_000  # records of which it is kept what they are and need
PAGES = (".html", ".xhtml", ".pdf", ".txt")


class Read(NamedTuple):
    """What a record is: the ending of its file, what its bytes are known by, what it needs.

    Without an ending it is no file: lost, an error of the server, or too large to be rewritten.
    """

    ending: str
    identity: str
    needs: Needs
    status: int | None = None
    is_moved: bool = False


@dataclass(frozen=True, slots=True)
class MirrorFile:
    """A file to be written: of a page with its composition, or of a part of one.

    `onward` is where a redirect leads: a reference to a file, and the URL. `is_source`: its text is
    there to be read, as it would do more than show something.
    """

    path: str
    choice: Choice
    data: Iterator[bytes]
    page: Composition | None = None
    onward: tuple[str, str] | None = None
    is_source: bool = False


@dataclass(frozen=True, slots=True)
class _Job:
    path: str
    choice: Choice
    page: Composition | None = None


class Mirror:
    """What is written where. `missing` are the URLs that are led to and are not in it; `note` gives
    the file in which the n-th of them is told of, by its number.
    """

    def __init__(
        self,
        archive: OpenArchive,
        chooser: Chooser,
        selection: Selection,
        at: Instant,
        policy: Policy,
        note: Callable[[int], str],
        *,
        scripts: bool = False,
    ) -> None:
        self._archive, self._chooser = archive, chooser
        self._at, self._policy, self._scripts = at, policy, scripts
        self._selection, self._note = selection, note
        self._names = FileNames()
        self._pages: dict[str, str | None] = {}
        self._parts: dict[tuple[str, str], str] = {}
        self._partial: set[str] = set()
        self._written: set[str] = set()
        self._jobs: deque[_Job] = deque()
        self._errors = False
        self.missing: dict[str, int] = {}
        self._read = lru_cache(_READ)(self._read_record)

    def files(self) -> Iterator[MirrorFile]:
        """All files, a page before the parts that only it has. Errors that servers answered with
        come out only where there is nothing else.
        """
        yield from self._all()
        if not self._written:
            self._errors = True
            self._pages.clear()
            self._read.cache_clear()
            yield from self._all()

    def _all(self) -> Iterator[MirrorFile]:
        for url in self._urls():
            path = self.page(url)
            if path is None or path in self._written:
                continue
            made = compose(self._archive, self._chooser, url, self._at, self._policy, self._needs)
            if made.root.capture is None or made.root.capture.url != url:
                continue  # it is another's file, whose turn comes
            self._jobs.append(_Job(path, made.root, made))
            while self._jobs:
                job = self._jobs.popleft()
                if job.path not in self._written:
                    self._written.add(job.path)
                    yield self._made(job)

    def _urls(self) -> Iterator[str]:
        """The URLs that are selected, by their keys."""
        wanted, after = self._selection, ""
        listing = Listing(self._archive.ledger, self._archive.clock)
        if wanted.url is not None:
            yield from dict.fromkeys(each.url for each in self._archive.captures(url=wanted.url))
            return
        while found := listing.urls(wanted.prefix or "", after, _AT_ONCE):
            after = found[-1].key
            yield from (each.url for each in found if is_web(each.url))

    def _is_selected(self, capture: Capture) -> bool:
        wanted = self._selection
        if not is_web(capture.url):
            return False
        if wanted.url is not None:
            return capture.surt == surt(self._archive.address(wanted.url))
        ranges = key_ranges(wanted.prefix) if wanted.prefix else (("", LAST),)
        return any(low <= capture.surt < high for low, high in ranges)

    # -- names -------------------------------------------------------------------------------------

    def page(self, url: str) -> str | None:
        """The file of a page, if there is one as of the moment."""
        if url not in self._pages:
            self._pages[url] = None  # also while it is looked for under another of its names
            choice = self._chooser.page(url, self._at, self._policy)
            if choice.capture is not None and self._is_selected(choice.capture):
                self._pages[url] = self._page(choice, choice.capture)
        return self._pages[url]

    def _page(self, choice: Choice, capture: Capture) -> str | None:
        if capture.url != choice.url:
            return self.page(capture.url)
        read = self._read(capture)
        if not read.ending:
            return None
        return self._names.give(choice.url, read.ending)

    def why_not(self, url: str) -> tuple[Choice, int | None]:
        """Of a URL that is not in the mirror: what would be shown, and the answer of its server."""
        choice = self._chooser.page(url, self._at, self._policy)
        return choice, None if choice.capture is None else self._read(choice.capture).status

    def _part(self, choice: Choice) -> str | None:
        """The file of a part of what is shown as of its moment, which will be written."""
        for _ in range(_HOPS):
            if choice.capture is None:
                return None
            read = self._read(choice.capture)
            if not read.is_moved:
                break
            if not read.needs.urls:
                return None
            choice = self._choose(read.needs.urls[0], choice.at)
        else:
            return None
        if not read.ending:
            return None
        key = choice.url, self._key(choice)
        if key not in self._parts:
            self._page_as_part(choice.url)
        if key not in self._parts:
            is_other = choice.url in self._partial or self._pages[choice.url] is not None
            self._partial.add(choice.url)
            path = self._names.give(choice.url, read.ending, key[1] if is_other else "")
            self._parts[key] = path
            self._jobs.append(_Job(path, choice))
        return self._parts[key]

    def _page_as_part(self, url: str) -> None:
        """A page has the right to the plain name, and is the part if it is the same."""
        path, choice = self.page(url), self._chooser.page(url, self._at, self._policy)
        if path is not None and choice.capture is not None and choice.capture.url == url:
            self._parts.setdefault((url, self._key(choice)), path)

    def _choose(self, url: str, at: Instant) -> Choice:
        return self._chooser.choose(url, at, self._policy)

    def _key(self, root: Choice) -> str:
        """What tells apart the versions of a file: its own bytes, and those of all that it needs
        as of the moment; where these are too many to look at, the moment.
        """
        met, waiting = {root.url: root}, deque([root])
        while waiting and len(met) < MOST_PARTS:
            for needed in self._needs(waiting.popleft()).urls:
                if needed not in met:
                    met[needed] = self._choose(needed, root.at)
                    waiting.append(met[needed])
        lines = [f"{url} {self._identity(choice)}" for url, choice in met.items()]
        if waiting:
            lines.append(str(root.at))
        return sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()

    def _identity(self, choice: Choice) -> str:
        return "" if choice.capture is None else self._read(choice.capture).identity

    def _needs(self, choice: Choice, room: int = MOST_BYTES) -> Needs:
        return NOTHING if choice.capture is None else self._read(choice.capture).needs

    def _read_record(self, capture: Capture) -> Read:
        try:
            memento = self._archive.read(capture)
            seen = Choice(capture.url, capture.at, capture)
            needs = needed_by(self._archive, seen, MOST_BYTES)
            status = memento.status
            if moves(memento):
                where = needs.urls[0] if needs.urls else ""
                is_ours = bool(where) and where != capture.url
                return Read(".html" if is_ours else "", where, needs, status, is_moved=True)
            if status is not None and status >= 400 and not self._errors:
                return Read("", "", NOTHING, status)
            media, ending = self._kind(memento)
        except AsofError as error:
            return Read("", "", Needs(error=error.with_traceback(None)))
        source = memento.source
        return Read(ending, f"{media} {source.content or source.record_id}", needs, status)

    def _kind(self, memento: Memento) -> tuple[str, str]:
        """The media type, and the ending of the file; none for what could not be made harmless."""
        start = b"".join(memento.payload(_START))
        media = media_of(start, _declared(memento), memento.capture.url)
        ending = ending_of(media)
        if kind_of(media) is None and not is_xml(media):
            return media, ending
        data, declared = b"".join(memento.payload(MAX_REWRITTEN + 1)), _declared(memento)
        if len(data) > MAX_REWRITTEN:
            return media, "" if kind_of(media) else ".txt"
        url, scripts = memento.capture.url, self._scripts
        if is_xml(media) and not is_harmless(data, media, url, declared, scripts=scripts):
            ending = ".txt"
        return media, ending

    # -- bytes -------------------------------------------------------------------------------------

    def _made(self, job: _Job) -> MirrorFile:
        choice, capture = job.choice, job.choice.capture
        if capture is None:
            raise LookupError("a file of nothing")
        read = self._read(capture)
        if read.is_moved:
            target = read.needs.urls[0]
            onward = self._lead(job.path, target), target
            return MirrorFile(job.path, choice, iter(()), job.page, onward)
        memento = self._archive.read(capture)
        media = read.identity.partition(" ")[0]
        kind, declared = kind_of(media), _declared(memento)
        is_source = not job.path.endswith(ending_of(media))
        if is_source or (kind is None and not is_xml(media)):
            data = marked(memento.payload(), declared, job.path)
            return MirrorFile(job.path, choice, data, job.page, is_source=is_source)
        known = {} if job.page is None else {each.url: each for each in job.page.resources}
        place = ReplayPlace(
            capture.url,
            partial(self._lead, job.path),
            lead_part=partial(self._lead_part, job.path, choice.at, known),
            on_disk=True,
            unscripted=not self._scripts,
        )
        whole, scripts = b"".join(memento.payload(MAX_REWRITTEN)), self._scripts
        if kind is None or is_xml(media):
            whole = xml_for_disk(whole, media, declared, place, scripts=scripts)
        else:
            whole = for_disk(rewrite(whole, kind, declared, place), kind, declared, scripts=scripts)
        return MirrorFile(job.path, choice, iter((whole,)), job.page)

    def _lead(self, source: str, url: str) -> str:
        path = self.page(url)
        if path is None:
            number = self.missing.setdefault(url, len(self.missing))
            return f"{reference(self._note(number), source)}#{number}"
        return reference(path, source)

    def _lead_part(self, source: str, at: Instant, known: dict[str, Choice], url: str) -> str:
        path = self._part(known.get(url) or self._choose(url, at))
        return NOWHERE if path is None else reference(path, source)


def _declared(memento: Memento) -> str | None:
    return find_header(memento.headers, "Content-Type") or memento.media_type
