"""An HTML document as a row of tags, each with the text in front of it."""

from collections.abc import Iterable, Iterator
from itertools import islice

from asof.text.html.parts import ELEMENTS, WORDS
from asof.text.markup import Tag, tokens

try:
    # In C, where there was a compiler when asof was installed (ADR 7).
    from asof.text.html import _html_blocks

    _html_blocks.prepare(ELEMENTS, WORDS)
except ImportError:
    _html_blocks = None  # type: ignore[assignment]
compiled = _html_blocks

# What is true of a tag.
END = 1
EMPTY = 2  # it has no content, as it is written
UNSEEN = 4  # the title or script of a drawing, whose text is markup that nobody sees
_NO_TEXT = frozenset(("title", "script"))

# text in front, what is true of it, name, attributes as written, raw text of the element; an empty
# name stands for a comment or the end
Token = tuple[str, int, str, str, str]

# A hundred megabytes are nobody's page: what comes later is left out.
MOST_CHARACTERS = 1 << 24
MOST_TOKENS = 1_000_000


def tag_row(markup: str) -> Iterable[Token]:
    if compiled is not None and "\0" not in markup:
        try:
            return compiled.tag_row(markup[:MOST_CHARACTERS], MOST_TOKENS)
        except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 cannot hold
            pass
    return row_in_python(markup)


def row_in_python(markup: str) -> Iterator[Token]:
    return islice(_row(markup[:MOST_CHARACTERS]), MOST_TOKENS)


def _row(markup: str) -> Iterator[Token]:
    done = 0
    for token in tokens(markup):
        text = markup[done : token.start]
        if "\0" in text:
            text = text.replace("\0", "")  # as browsers do between tags
        done = token.after
        if isinstance(token, Tag):
            name, closing, _, inside, stop, end, after, foreign, _, empty = token
            unseen = UNSEEN if foreign and not closing and name in _NO_TEXT else 0
            said = (END if closing else 0) | (EMPTY if empty else 0) | unseen
            yield text, said, name, markup[inside:stop], markup[end:after]
        else:
            yield text, 0, "", "", ""
    yield markup[done:].replace("\0", ""), 0, "", "", ""
