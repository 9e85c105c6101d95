"""What a change is called, by what it was recognised, and where the lines are drawn.

The categories are those of Spaniol 2010 ("incoherence categories"): removed contents, structural
(links added or deleted), content wise (major: text in large sections, minor: text in small ones).
"""

from dataclasses import dataclass
from enum import StrEnum


class Category(StrEnum):
    """What became of a document between two of its versions."""

    UNCHANGED = "unchanged"  # the same answer
    INSIGNIFICANT = "insignificant"  # noise only: clocks, counters, markup, punctuation
    MINOR = "minor"  # text changed in small sections
    MAJOR = "major"  # text added, removed or replaced in large sections; other bytes
    STRUCTURE = "structure"  # links added or removed, text as it was or changed a little
    MOVED = "moved"  # a redirect leads elsewhere, or the same content was found elsewhere
    REMOVED = "removed"  # was there; now not found, gone, or a page that only says so
    APPEARED = "appeared"  # there was no content before
    UNAVAILABLE = "unavailable"  # errors of the server, refusals, no answer; never there so far


class Stage(StrEnum):
    """What decided: the evidence, in the order in which it is asked for, cheapest first."""

    STATUS = "status"  # the answers differ in kind; no content was compared
    VALIDATOR = "validator"  # 304 Not Modified, or the same strong ETag
    LAST_MODIFIED = "last-modified"  # only the server's word
    PAYLOAD = "payload"  # digest of the bytes as stored
    ENTITY = "entity"  # digest of the decoded bytes
    MAIN_TEXT = "main-text"  # all that can be read is the same, noise taken away
    SHINGLES = "shingles"  # similarity of the texts
    EDIT_DISTANCE = "edit-distance"  # the same for short texts


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the lines are drawn. What they were tuned on: docs/change-categories.md."""

    # Below this share of words that stay, a text is another one. Words, not shingles: a table whose
    # figures all change has few shingles left, and is the same table.
    major: float = 0.60
    # So many words in a row that are new or gone are a large section: a good paragraph.
    large_section: int = 60
    # ... but not if they are less than this share of a long document.
    large_share: float = 0.01
    # A word changed costs up to five shingles: below so many words one sentence more or less would
    # decide, so that the words themselves are compared.
    small_text: int = 100
    # A main text that is small and less than this share of the page is no measure of the page: on
    # front pages the extractor may find three headlines of a hundred.
    scrap: float = 0.25
    # A page that says it was not found has hardly more words than that.
    soft_404: int = 150


@dataclass(frozen=True, slots=True)
class Change:
    """What changed between two versions, with the evidence.

    `similarity` is 1 for equal texts and None where no text was compared: by shingles, the share
    that both have (Jaccard), by edit distance, of words that need no edit. `kept` is the share of
    the old text that is still there, `known` the share of the new one that was there before.
    `added` and `removed` count words; `largest` is the longest row of such words.
    """

    category: Category
    stage: Stage
    similarity: float | None = None
    kept: float | None = None
    known: float | None = None
    added: int = 0
    removed: int = 0
    largest: int = 0
    links_added: tuple[str, ...] = ()
    links_removed: tuple[str, ...] = ()
    links_to_new: tuple[str, ...] = ()  # of those added: the contents are new themselves
    links_to_removed: tuple[str, ...] = ()  # of those removed: the contents are gone
    moved_to: str | None = None
    details: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The same as plain values; figures rounded to what they are worth."""
        return {
            "category": self.category.value,
            "stage": self.stage.value,
            "similarity": _rounded(self.similarity),
            "kept": _rounded(self.kept),
            "known": _rounded(self.known),
            "words_added": self.added,
            "words_removed": self.removed,
            "largest": self.largest,
            "links_added": list(self.links_added),
            "links_removed": list(self.links_removed),
            "links_to_new": list(self.links_to_new),
            "links_to_removed": list(self.links_to_removed),
            "moved_to": self.moved_to,
            "details": list(self.details),
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
