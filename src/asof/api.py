"""The front door: an archive, opened, and everything that can be asked of it in one line.

Commands call the same functions. What needs numpy or readers of documents is loaded when asked.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from asof.archive import archive as opened
from asof.archive.archive import Moment
from asof.errors import UsageError

if TYPE_CHECKING:
    from asof.archive.intake import Intake
    from asof.change.comparison import Comparison
    from asof.change.near import Measure, Near
    from asof.change.similar import Named, NearDuplicates
    from asof.coherence.quality import Quality
    from asof.cover.answer import CoverAnswer
    from asof.crawl.run import CrawlOutcome
    from asof.model import Validity
    from asof.replay.choose import Chooser
    from asof.replay.composition import Composition
    from asof.search.find import Finder
    from asof.search.index import Updated
    from asof.search.question import Answer
    from asof.text.document import Document


def capture(
    folder: str | Path,
    *urls: str,
    new: bool = False,
    talk: Callable[[str], None] = lambda line: None,
    **settings: object,
) -> CrawlOutcome:
    """Crawl sites into an archive, or go on with a crawl that was interrupted.

    `settings` are those of docs/settings.md: `capture("archive", url, delay=0, max_pages=100)`.
    With `new` no crawl is resumed; `talk` hears what a terminal would show.
    """
    from asof.crawl import CrawlRequest, run_crawl

    request = CrawlRequest(Path(folder), urls, settings, environ=os.environ, new=new)
    return run_crawl(request, talk=talk)


def import_files(folder: str | Path, *files: str | Path) -> list[Intake]:
    """Take in WARC, ARC, WACZ and TREC-Web files; what became of each, damage included.

    The others come in all the same before `asof.errors.InputError` tells of one that is none.
    """
    from asof.archive.folder import Folder
    from asof.archive.intake import files_of, import_files
    from asof.archive.scan import workers
    from asof.config import Config

    paths = files_of([Path(file) for file in files])
    size = sum(path.stat().st_size for path in paths if path.is_file())
    config = Config.load(Path(folder), os.environ)
    with workers(os.cpu_count() or 1, size) as spread:
        into = Folder(Path(folder))
        taken, refused = import_files(into, paths, spread, lambda done: None, config)
    if refused:
        raise refused[0]
    return taken


def index(folder: str | Path, stop: Callable[[], bool] = lambda: False) -> Updated:
    """Read the documents of an archive that were not read yet, and bring its index of words up to
    date: what was there before stays, and `stop` may end it at any time.
    """
    from asof.change.texts import Texts
    from asof.search.index import update

    with Archive.open(folder) as archive, Texts(archive, writable=True) as texts:
        texts.read_documents(os.cpu_count() or 1, stop=stop)
        return update(archive, texts, stop=stop)


class Archive(opened.OpenArchive):
    """An archive folder, opened for reading or (one at a time) for writing.

    Use it as a context manager. Iterators fetch as they go: none loads the archive.
    """

    def history(self, url: str) -> list[Validity]:
        """The contents a URL has had, each with how far it is proven, confirmed and claimed."""
        from asof.coherence.history import history

        return history(self, url)

    @cached_property
    def chooser(self) -> Chooser:
        """Which captures show what, as of any moment."""
        from asof.replay.choose import Chooser

        return Chooser(self)

    def composition(
        self, url: str, moment: Moment = "now", policy: str = "coherent"
    ) -> Composition:
        """What a page is made of as of a moment: each resource, its capture, and how sure it is.

        By `policy` the best evidence is shown (`coherent`), only what was not captured later
        without evidence (`strict`), or whatever is `nearest`.
        """
        from asof.replay.choose import Policy
        from asof.replay.composition import compose

        if policy not in tuple(Policy):
            raise UsageError(f"{policy!r} is no policy.", hint=f"There are {', '.join(Policy)}.")
        at = self.moment(moment)
        made = compose(self, self.chooser, self.address(url), at, Policy(policy))
        if made.root.capture is None:
            raise self.not_captured(url, moment)
        return made

    def text(self, url: str, moment: Moment = "now") -> Document:
        """What a URL said as of a moment: its text, main content, title, language, links."""
        from asof.change.texts import Texts
        from asof.text.document import Document

        capture = self.captured(url, moment)
        with Texts(self) as texts:
            return texts.document(capture) or Document(
                capture.media_type or "", error="holds no document that can be read"
            )

    def diff(
        self,
        url: str,
        before: Moment | None = None,
        after: Moment | None = None,
        *,
        full: bool = False,
    ) -> Comparison:
        """What changed between two moments; without any, between the last two contents."""
        from asof.change.comparison import compare_captures, two_captures
        from asof.change.texts import Texts

        with Texts(self) as texts:
            return compare_captures(texts, *two_captures(self, url, before, after), full=full)

    def similar(
        self,
        url: str,
        moment: Moment = "now",
        *,
        threshold: float = 0.8,
        measure: Measure = "jaccard",
        versions: bool = False,
    ) -> list[Near[Named]]:
        """What in the archive is near a document, the nearest first; `versions`: of all times."""
        from asof.change.similar import similar
        from asof.change.texts import Texts

        with Texts(self) as texts:
            return similar(self, texts, url, moment, threshold, measure, versions=versions)

    def near_duplicates(
        self, moment: Moment = "now", *, threshold: float = 0.8, versions: bool = False
    ) -> NearDuplicates:
        """All pairs of documents that are near each other, and groups of equal ones."""
        from asof.change.similar import near_duplicates
        from asof.change.texts import Texts

        with Texts(self) as texts:
            return near_duplicates(self, texts, moment, threshold, versions=versions)

    def search(
        self,
        words: str,
        *,
        as_of: Moment | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        prefix: str | None = None,
        media_type: str | None = None,
        language: str | None = None,
        order: str = "relevance",
        fold: bool = True,
        limit: int = 10,
        offset: int = 0,
    ) -> Answer:
        """The contents that say some words, each over its interval: those shown as of a moment, or
        as of any moment of a stretch; without either, of all times.

        By the index as it is: `asof reindex --search` brings it up to date. With `fold`,
        near-duplicates stand in the place of the first of them. docs/search.md has the language of
        questions.
        """
        from asof.search.question import Question, order_named, when

        return self.finder.find(
            Question(words, when(self, as_of, since, until), prefix, media_type, language,
                     order_named(order), fold, limit, offset)
        )  # fmt: skip

    @cached_property
    def finder(self) -> Finder:
        """Who answers questions by the index."""
        from asof.search.find import Finder

        return Finder(self)

    def quality(
        self, *crawls: str, prefix: str | None = None, moment: Moment | None = None
    ) -> Quality:
        """How complete and how coherent crawls are: those named, the newest, or a part."""
        from asof.coherence.quality import chosen, quality

        return quality(self, chosen(self, crawls, prefix, moment))

    def cover(
        self,
        relation: str,
        *,
        where: str | None = None,
        at_least: str | tuple[int, str] | None = None,
        prefer: str | None = None,
    ) -> CoverAnswer:
        """The smallest set of documents that covers all others by a relation, or by its name.

        `where` chooses documents, `at_least` keeps so many of each value ("2 per hostname"), and of
        the smallest sets the one of the highest `prefer` is taken. Nothing is removed. More options
        has `asof.cover.ask`; docs/cover.md has the language of relations.
        """
        from asof.cover.ask import ask, prepare
        from asof.cover.question import Question, parse_at_least

        least = parse_at_least(at_least) if isinstance(at_least, str) else at_least
        question = Question(relation, where=where, at_least=least, prefer=prefer)
        return ask(prepare(self.folder.root, question))
