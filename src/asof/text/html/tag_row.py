"""An HTML document as a row of tags, each with the text in front of it.

One pattern, run by the regular expression engine over the whole document, as a browser's tokenizer
would go (HTML, section 13.2.5) and without a tree: linear time and no recursion, whatever the
nesting. Comments and the text of scripts and styles never become text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from asof.text.markup import WS, any_case

# text in front, "/" of an end tag, name as written, attributes as written, raw text of the element
Token = tuple[str, str, str, str, str]

# A hundred megabytes are nobody's page: what comes later is left out.
MOST_CHARACTERS = 1 << 24
MOST_TOKENS = 1_000_000
# Up to here all tokens at once, which is faster; beyond it one by one, which needs no memory.
_AT_ONCE = 1 << 21

_RAW = "script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"
_RAW_NAME = "|".join(any_case(name) for name in _RAW)
_NAME = rf"(?:=[^{WS}/>=]*+|[^{WS}/>=]++)"
_VALUE = rf"""(?:"[^"]*+"|'[^']*+'|[^{WS}>"'][^{WS}>]*+|(?=>))"""
# Attributes as nearly all are written; then as they may be written.
_PLAIN = r'(?: [A-Za-z:_-]++="[^"]*+")'
_CAREFUL = rf"(?:[{WS}/]*+{_NAME}(?:[{WS}]*+=[{WS}]*+{_VALUE}|(?![{WS}]*+=)))"
_TOKENS = re.compile(
    # 1: text; a less-than sign that begins no tag belongs to it
    r"([^<]*+(?:<(?![A-Za-z/!?])[^<]*+)*+)"
    r"(?:<(?:"
    # 2: end tag; 3: the name of an element whose content is text
    rf"(?:(/)|(?:(?=({_RAW_NAME})[{WS}/>]))?)"
    # 4, 5: name and attributes; 6: what stands in a raw text element, up to its end tag
    rf"([A-Za-z][^{WS}/>]*+)({_PLAIN}*+{_CAREFUL}*+)[{WS}/]*+>"
    rf"(?(3)((?:[^<]++|<(?!/(?ai:\3)[{WS}/>]))*+))"
    # comments, doctypes and the like
    r"|!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))|(?:[!?]|/(?![A-Za-z]))[^>]*+(?:>|\Z)"
    # the document ends inside a tag: so does everything
    r"|[A-Za-z/][^\0]*+\Z)|\Z)"
)


def tokens(markup: str) -> Iterable[Token]:
    """The tags of a document in order; an empty name stands for a comment or the end."""
    markup = markup[:MOST_CHARACTERS]
    if "\0" in markup:
        markup = markup.replace("\0", "")  # as browsers do between tags
    if len(markup) <= _AT_ONCE:
        return [
            (text, end, name, inside, raw)
            for text, end, _, name, inside, raw in _TOKENS.findall(markup)
        ]
    found = islice(_TOKENS.finditer(markup), MOST_TOKENS)
    return ((m[1], m[2] or "", m[4] or "", m[5] or "", m[6] or "") for m in found)
