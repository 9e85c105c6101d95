"""The text of an HTML document in blocks: paragraphs, headings, list items, cells of tables.

A stack of open elements stands in for the tree: it knows what hides text, what links it, and which
part of the page it is in. Every block inherits that from the elements around it.

What counts as text: all that a reader could see where scripts do not run, `<noscript>`, closed
`<details>` and the options of a choice included. Left out: scripts, styles, templates, comments,
what `hidden` or `display:none` hides, and what stands for a picture or film (`alt`, `<object>`).
`<br>` ends a line, a block ends a line, the cells of a row are parted by tabs, and `<pre>` is kept
as it is.
"""

from collections.abc import Iterable, Sequence
from html import unescape
from typing import NamedTuple

from asof.text.html.parts import (
    BREAK,
    CELL,
    ELEMENTS,
    FIELD,
    HIDDEN,
    INLINE,
    KEPT,
    LAYOUT,
    LINKED,
    PLAIN,
    ROW,
    SPEAKS,
    VOID,
    WHOLE,
    Element,
    attributes_say,
    hides,
)
from asof.text.html.tag_row import (
    EMPTY,
    END,
    MOST_CHARACTERS,
    MOST_TOKENS,
    UNSEEN,
    Token,
    compiled,
    row_in_python,
)
from asof.text.markup import pairs

# So far up an end tag looks for its element; so hostile nesting takes linear time.
_FAR = 64
# Text is shown by a script if so many characters are hidden, this many times as many as are not.
MUCH = 500
MOSTLY = 4
# trafilatura takes 3.5 s for 100,000 paragraphs of one word; libxml2 compares all attributes of a
# tag with each other, and has not come to an end of half a million after a minute.
_MOST_TAGS = 60_000
_MOST_ATTRIBUTES = 1_000
_DATA = "ld+json"
_BREAK = "\0"  # stands for <br>; documents have none of these left


class Block(NamedTuple):
    """A piece of text between two borders of the layout."""

    text: str
    linked: int  # how many of its characters are in links, about
    name: str  # the element right around it
    said: int  # what the elements around it say of it
    beside: bool  # in one row of a table with the block in front of it


class Mark(NamedTuple):
    """An element that says something about the document, as written; `raw`: the text in it.

    Of a link that is all up to its end, tags left out; of a picture in a link it is `a`.
    """

    name: str
    attributes: str
    raw: str


class PageLayout(NamedTuple):
    """One pass over a document; `wild` says that it is a burden for whoever builds a tree of it."""

    blocks: list[Block]
    marks: list[Mark]
    wild: bool


def layout(markup: str) -> PageLayout:
    """The blocks of a document in order, and what stands between them.

    What is hidden is left out, unless that is nearly everything: then a script was to show it.
    """
    markup = markup[:MOST_CHARACTERS]
    return (_read_compiled(markup) if compiled else None) or layout_of(row_in_python(markup))


def layout_of(row: Iterable[Token]) -> PageLayout:
    """The same for a document, or a part of one, that has been taken apart."""
    reader = _Reader()
    reader.read(row)
    return PageLayout(_shown(reader.blocks), reader.marks, reader.wild)


def visible(row: Sequence[Token]) -> list[Token]:
    """A document that has been taken apart, without the text that `layout_of` leaves out."""
    reader = _Reader()
    seen: list[Token] = []
    for token in row:
        seen.append(("", *token[1:]) if reader.hides else token)
        reader.step(token)
    shown = _shown(reader.blocks)
    return list(row) if any(block.said & HIDDEN for block in shown) else seen


def _read_compiled(markup: str) -> PageLayout | None:
    """None for what the compiled reader leaves to the other."""
    assert compiled is not None
    try:
        found = compiled.read(markup, MOST_TOKENS, Block, Mark, settled, _MOST_ATTRIBUTES)
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 cannot hold
        return None
    if found is None:
        return None
    blocks, marks, count, wild = found
    return PageLayout(_shown(blocks), marks, bool(wild) or count > _MOST_TAGS)


def _shown(blocks: list[Block]) -> list[Block]:
    shown = [block for block in blocks if not block.said & HIDDEN]
    if len(shown) == len(blocks):
        return blocks
    seen = sum(len(block.text) for block in shown)
    hidden = sum(len(block.text) for block in blocks) - seen
    # React sends pages in hidden pieces that a script puts in their place.
    return blocks if hidden > max(MUCH, seen * MOSTLY) else shown


def joined(blocks: Iterable[Block]) -> str:
    return "".join([("\t" if beside else "\n") + text for text, _, _, _, beside in blocks])[1:]


class _Reader:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.marks: list[Mark] = []
        self.wild = False
        self._parts: list[str] = []
        self._linked = 0
        # The last link, as long as it is open: its place among the marks, and its text so far.
        self._link: int | None = None
        self._called: list[str] = []
        # The open elements, and what holds outside each.
        self._names: list[str] = []
        self._outside: list[int] = []
        self._said = 0  # what holds here
        self._around = ("", 0)  # name and what held where the block began
        self._row = 0  # 0: no cell yet in this row; 1: in the row's text; 2: at a further cell

    def read(self, row: Iterable[Token]) -> None:
        count = 0
        for token in row:
            count += 1
            self.step(token)
        self.wild |= count > _MOST_TAGS
        self._end_link()
        if self._parts:
            self._end_block()

    def step(self, token: Token) -> None:
        """A piece of text and the tag after it."""
        text, is_, name, attributes, raw = token
        end = bool(is_ & END)
        if text:
            self._text(text)
        element = ELEMENTS.get(name, PLAIN)
        if is_ & UNSEEN:
            if not is_ & EMPTY:
                self._push(name, HIDDEN)
            return
        if element.says & LINKED:
            self._end_link()
            self._link = None if end else len(self.marks)
        elif name == "img" and self._in_link:
            raw = "a"
        if element.kind & SPEAKS and not end and (name != "script" or _DATA in attributes):
            self.marks.append(Mark(name, attributes, raw))
        if element.kind & LAYOUT:
            self._border(element.kind, end)
            if end:
                self._close(name)
            elif not is_ & EMPTY:
                self._open(name, element, attributes)
        elif name and not is_ & EMPTY:
            self._plain(name, end, element, attributes, raw)
        if len(attributes) > _MOST_ATTRIBUTES and not self.wild:
            self.wild = len(pairs(attributes)) > _MOST_ATTRIBUTES

    @property
    def hides(self) -> bool:
        return bool(self._said & HIDDEN)

    @property
    def _in_link(self) -> bool:
        return self._link is not None and bool(self._said & LINKED)

    def _end_link(self) -> None:
        if self._link is not None:
            mark = self.marks[self._link]
            self.marks[self._link] = mark._replace(raw="".join(self._called))
        self._link, self._called = None, []

    def _part_link(self) -> None:
        if self._in_link:
            self._called.append(" ")

    def _text(self, text: str) -> None:
        if self._in_link:
            self._called.append(text)
        if self._parts:
            turned = (self._said ^ self._around[1]) & HIDDEN
            if turned & self._said:
                return  # something hidden in the middle of a text
            if turned:
                self._end_block()
        if not self._parts:
            if text.isspace() and not self._said & KEPT:
                return
            self._around = (self._names[-1] if self._names else "", self._said)
        self._parts.append(text)
        if self._said & LINKED:
            self._linked += len(text)

    def _plain(self, name: str, end: bool, element: Element, attributes: str, raw: str) -> None:
        """A tag that is no part of the layout."""
        if element.kind & BREAK:
            self._part_link()
            if self._parts:
                self._parts.append(_BREAK)
        elif end:
            self._close(name)
        elif element.kind & FIELD:
            if (text := raw.replace(_BREAK, "")) and not hides(attributes):
                self._text(text)
        elif not element.kind & VOID and hides(attributes):
            self._push(name, HIDDEN)

    def _border(self, kind: int, end: bool) -> None:
        if kind & INLINE:
            return
        self._part_link()
        if self._parts:
            if self._said & ~self._around[1] & HIDDEN:
                return  # in the middle of a text, but nobody sees it
            self._end_block()
        if kind & ROW:
            self._row = 0
        elif kind & CELL and not end:
            self._row = 2 if self._row else 1

    def _open(self, name: str, element: Element, attributes: str) -> None:
        if element.kind & VOID:
            return
        names = self._names
        if names and ELEMENTS.get(names[-1], PLAIN).group & element.ends:
            names.pop()
            self._said = self._outside.pop()
        own = element.says
        if own & LINKED:
            own |= HIDDEN if hides(attributes) else 0
        elif attributes and not element.kind & WHOLE:
            own |= attributes_say(attributes)
        self._push(name, own)

    def _push(self, name: str, own: int) -> None:
        self._names.append(name)
        self._outside.append(self._said)
        self._said |= own

    def _close(self, name: str) -> None:
        names, outside = self._names, self._outside
        if not names:
            return
        if names[-1] == name:
            names.pop()
            self._said = outside.pop()
        elif name in (near := names[-_FAR:]):
            place = len(names) - 1 - near[::-1].index(name)
            self._said = outside[place]
            del names[place:], outside[place:]

    def _end_block(self) -> None:
        name, said = self._around
        text = settled("".join(self._parts), said)
        self._parts = []
        linked, self._linked = self._linked, 0
        if text:
            beside = self._row == 2
            self.blocks.append(Block(text, min(linked, len(text)), name, said, beside))
            self._row = 1 if beside else self._row


def settled(text: str, said: int) -> str:
    """The text of a block as it is shown: references resolved, white space as in a browser."""
    if "&" in text:
        text = unescape(text)
    if said & KEPT:
        text = text.replace(_BREAK, "\n").strip("\r\n")
        return "" if text.isspace() else text.rstrip()
    if _BREAK in text:
        lines = (" ".join(line.split()) for line in text.split(_BREAK))
        return "\n".join(line for line in lines if line)
    return " ".join(text.split())
