"""What a document says, once it has been read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# How main content is found: by the best extractor, by the fastest, or by the tag distribution of
# seed 002 ("removing noise").
Method = Literal["default", "fast", "tags"]


@dataclass(frozen=True, slots=True)
class Page:
    """What the reader of one format finds in a document's characters or bytes."""

    title: str | None = None
    date: str | None = None  # the day that the document gives as its own, ISO 8601
    language: str | None = None  # as declared; a BCP 47 tag
    main: str = ""  # without navigation, advertisements and other furniture
    text: str = ""  # everything that a reader could see
    links: tuple[str, ...] = ()
    method: str = ""  # what found the main content


@dataclass(frozen=True, slots=True)
class Document:
    """A document as the archive reads it; `error` says why there is less than there could be."""

    media_type: str
    charset: str | None = None
    title: str | None = None
    language: str | None = None
    date: str | None = None
    main: str = ""
    text: str = ""
    links: tuple[str, ...] = ()
    method: str = ""
    error: str | None = None
