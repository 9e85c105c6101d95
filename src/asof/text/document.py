"""What a document says, once it has been read."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

# How main content is found: by the best extractor, by the fastest, or by the tag distribution of
# Naumann 2011 ("removing noise").
Method = Literal["default", "fast", "tags"]


@dataclass(frozen=True, slots=True)
class Document:
    """A document as the archive reads it; `error` says why there is less than there could be.

    The reader of one format leaves media type and charset to its caller; the language that it finds
    is the declared one, a BCP 47 tag.
    """

    media_type: str = ""
    charset: str | None = None
    title: str | None = None
    language: str | None = None
    date: str | None = None  # the day that the document gives as its own, ISO 8601
    main: str = ""  # without navigation, advertisements and other furniture
    text: str = ""  # everything that a reader could see
    links: tuple[str, ...] = ()
    method: str = ""  # what found the main content
    error: str | None = None
    pictures: tuple[str, ...] = ()  # what is said in place of each
    anchors: tuple[str, ...] = ()  # what each link is called, a text a line; none, or one a link

    def facts(self) -> tuple[str | None, ...]:
        """What is said of the document, in short words; what it says itself is `contents`."""
        return tuple(getattr(self, name) for name in FACTS)

    def contents(self) -> tuple[str | None, str, *tuple[tuple[str, ...], ...]]:
        """Main content, unless it is all of the text; text, links, pictures and anchors."""
        main = None if self.main == self.text else self.main
        return main, self.text, self.links, self.pictures, self.anchors


FACTS = ("media_type", "charset", "title", "language", "date", "method", "error")


def document_of(facts: Iterable[object], contents: Iterable[object]) -> Document:
    """The document that gave these; whatever they are, it holds nothing but text."""
    said = (None if fact is None else str(fact) for fact in facts)
    media_type, charset, title, language, date, method, error = said
    main, whole, *lists = contents
    text = str(whole)
    links, pictures, anchors = map(_texts, lists)
    if anchors and len(anchors) != len(links):
        raise TypeError("an anchor belongs to each link")
    return Document(
        media_type or "", charset, title, language, date, text if main is None else str(main),
        text, links, method or "", error, pictures, anchors,
    )  # fmt: skip


def _texts(said: object) -> tuple[str, ...]:
    if not isinstance(said, list | tuple):
        raise TypeError("links, pictures and anchors are lists")
    return tuple(map(str, said))
