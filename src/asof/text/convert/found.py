"""What a reader of one format gathers, and how it says that it cannot go on.

A reader fills a `Found` and stops with `Refused` where a document is encrypted, hostile or broken.
What it had found until then is kept: half a document is more than none.
"""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from asof.text.document import Document

# The most characters of one document: a novel has a million, a dictionary ten.
MAX_TEXT = 16_000_000
MAX_LINKS = 100_000
_LONGEST_LINK = 8192
_LONGEST_TITLE = 1000
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
# Line breaks of all times, and what nobody can see or store: controls, marks of byte order, and
# lone surrogates, which no encoding of Unicode has room for.
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028]")
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f\ufeff\ufffe\uffff\ud800-\udfff]")
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_ASCII_BREAKS = bytes.maketrans(b"\r\x0b\x0c\x1c\x1d\x1e", b"\n" * 6)
_ASCII_UNSEEN = bytes([*range(9), *range(0x0E, 0x1C), 0x1F, 0x7F])
_GAPS = re.compile(r"\n{3,}")
_HYPERLINK = re.compile(
    r"""HYPERLINK[\s(]+(?:\\[a-z]\s+)*(?:"([^"]+)"|([^\s"\\)]+))""", re.IGNORECASE
)
_WEB = re.compile(r"(?:https?|ftp|mailto):", re.IGNORECASE)

Source = TypeVar("Source")


class Refused(Exception):
    """A document cannot be read, or not to its end; `reason` says why in plain words.

    `page` is what was found before that.
    """

    def __init__(self, reason: str, page: Document | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.page = page or Document()


class Found:
    """The text, links and properties of a document, as its reader comes across them."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.date: str | None = None
        self.language: str | None = None
        self.problem: str | None = None  # why there is less than there could be; reading goes on
        self._parts: list[str] = []
        self._links: dict[str, None] = {}
        self._room = MAX_TEXT

    def add(self, text: str) -> None:
        """More text; a document that has too much of it is refused."""
        if not text:
            return
        self._parts.append(text[: self._room])
        self._room -= len(text)
        if self._room < 0:
            self._room = 0
            raise Refused(f"has more than {MAX_TEXT:,} characters, the rest is left out")

    def line(self, text: str = "") -> None:
        self.add(text)
        self.add("\n")

    def paragraph(self, text: str) -> None:
        """A block of text with an empty line after it."""
        if text.strip():
            self.add(f"{text}\n\n")

    def link(self, url: str | None) -> None:
        url = (url or "").strip()
        if url and len(url) <= _LONGEST_LINK and len(self._links) < MAX_LINKS:
            self._links[cleaned(url)] = None

    def links(self, urls: Iterable[str]) -> None:
        for url in urls:
            self.link(url)

    def within(self, page: Document) -> None:
        """The text and links of a document that stands in this one."""
        self.paragraph(page.text)
        self.links(page.links)

    @property
    def has_text(self) -> bool:
        return any(not part.isspace() for part in self._parts)

    def page(self, method: str) -> Document:
        """What was found so far. A document of an office has no furniture: all of it is main."""
        text = tidied("".join(self._parts))
        title = " ".join(cleaned(self.title or "").split())[:_LONGEST_TITLE]
        return Document(
            title=title or None,
            date=self.date,
            language=self.language,
            main=text,
            text=text,
            links=tuple(self._links),
            method=method,
        )


def filled(method: str, fill: Callable[[Source, Found], None], source: Source) -> Document:
    """What a document says, by the function that reads its format; raises `Refused`."""
    found = Found()
    try:
        fill(source, found)
    except MemoryError:
        raise
    except Exception as error:  # foreign bytes trip a reader in any way there is
        raise Refused(broken(error), found.page(method)) from error
    if found.problem is not None:
        raise Refused(found.problem, found.page(method))
    return found.page(method)


def broken(error: Exception) -> str:
    """The reason of a reader that stopped: its own, or that the document is damaged, and how."""
    if isinstance(error, Refused):
        return error.reason
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    what = " ".join(str(error).split())[:120]
    name = type(error).__name__
    return f"is damaged ({name}: {what})" if what else f"is damaged ({name})"


def field_links(instruction: str) -> list[str]:
    """The addresses in the code of a field, or in a formula that makes a link."""
    found = (match[1] or match[2] for match in _HYPERLINK.finditer(instruction))
    return [url for url in found if _WEB.match(url)]


def cleaned(text: str) -> str:
    """Text without characters that cannot be stored or seen; all line breaks are `\\n`."""
    if text.isascii():  # a tenth of the time that patterns take
        data = text.encode("ascii").replace(b"\r\n", b"\n")
        return data.translate(_ASCII_BREAKS, _ASCII_UNSEEN).decode("ascii")
    if not _ODD.search(text):
        return text
    text = _BREAKS.sub("\n", text).replace("\u2029", "\n\n")
    return _UNSEEN.sub("", text)


def tidied(text: str) -> str:
    """Clean text without blanks at the ends of lines and more than one empty line in a row."""
    lines = [line.rstrip(" \t\xa0") for line in cleaned(text).split("\n")]
    return _GAPS.sub("\n\n", "\n".join(lines)).lstrip("\n").rstrip()


def day_of(value: str | None) -> str | None:
    """The day of an ISO 8601 date, which is how office formats write theirs; None if it is none."""
    match = _DAY.match((value or "").strip())
    if match is None or not (1 <= int(match[2]) <= 12 and 1 <= int(match[3]) <= 31):
        return None
    # What no clock was set for: 1601 and 1899 are where calendars of software begin.
    return match[0] if int(match[1]) > 1903 else None


def tag_of(value: str | None) -> str | None:
    """A language tag as declared, in the form of BCP 47; None if it looks like none."""
    value = (value or "").strip()
    return value.replace("_", "-") if _TAG.fullmatch(value) else None
