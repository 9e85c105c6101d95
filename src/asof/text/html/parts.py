"""Which part of a page an element says that it is, by its name, role, class and other attributes.

Tables and small functions; `html_blocks` reads pages by them.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from asof.text.markup import WS, names, pairs

# What an element says of all that stands in it.
HIDDEN = 1  # nobody sees it
NOISE = 2  # navigation, advertisements, dialogs: by its element or role
DOUBTFUL = 4  # the same by its class or id, which mean what their author likes
CORE = 8  # the page's main part, by its element, role or class
REMARKS = 16  # what readers said about it
LINKED = 32  # the text of a link
KEPT = 64  # white space means something (pre)
HEADER = 128  # the head of a page or of a part of it

# What reading a page has to know of an element.
LAYOUT = 1  # it stands on the stack of open elements, and without INLINE it is a border of blocks
INLINE = 2  # it stands in the middle of a text
VOID = 4  # it has no content
SPEAKS = 8  # it says something about the document, or leads on
ROW = 16
CELL = 32
BREAK = 64
FIELD = 128  # its raw text is shown
WHOLE = 256  # its classes speak of the whole page


class Element(NamedTuple):
    """An element by its name."""

    says: int = 0
    kind: int = 0
    group: int = 0  # which implied end tags it has
    ends: int = 0  # the groups that its start tag ends (HTML, section 13.1.2.4)


_BLOCKS = names(
    "address article blockquote caption center details dir div dl fieldset figcaption figure form"
    " frameset h1 h2 h3 h4 h5 h6 head header hgroup legend listing main ol optgroup section"
    " search summary table tbody tfoot thead ul pre"
)
# What a browser does not show, or shows instead of something else. `noscript` is not here: an
# archive shows pages without their scripts, and many forums say everything there.
_HIDING = names("datalist audio video canvas defs metadata desc")
_NOISE = names("nav footer aside dialog menu")
_ANCHOR, _DEFINITION, _ITEM, _OPTION, _CELL, _ROW, _PARAGRAPH = (1 << bit for bit in range(7))
_BLOCK = Element(0, LAYOUT, 0, _PARAGRAPH)
# What is not here is text with a look of its own (b, span, font ...) and ends no block.
ELEMENTS: dict[str, Element] = (
    dict.fromkeys(_BLOCKS, _BLOCK)
    | dict.fromkeys(_HIDING, _BLOCK._replace(says=HIDDEN))
    | dict.fromkeys(_NOISE, _BLOCK._replace(says=NOISE))
    | dict.fromkeys(("article", "main"), _BLOCK._replace(says=CORE))
    | {"header": _BLOCK._replace(says=HEADER)}
    | dict.fromkeys(("button", "select"), Element(NOISE, LAYOUT | INLINE))
    | dict.fromkeys(("object", "template"), Element(HIDDEN, LAYOUT | INLINE))
    | dict.fromkeys(("svg", "math"), Element(0, LAYOUT | INLINE))
    | dict.fromkeys(("dd", "dt"), Element(0, LAYOUT, _DEFINITION, _DEFINITION | _PARAGRAPH))
    | dict.fromkeys(("td", "th"), Element(0, LAYOUT | CELL, _CELL, _CELL | _PARAGRAPH))
    | dict.fromkeys(("col", "embed", "input", "param", "source"), Element(0, VOID))
    | dict.fromkeys(("track", "wbr", "link"), Element(0, VOID))
    | dict.fromkeys(("area", "base", "img", "meta"), Element(0, VOID | SPEAKS))
    | dict.fromkeys(("script", "time", "title"), Element(0, SPEAKS))
    | dict.fromkeys(("iframe", "noembed", "noframes", "style"), Element())
    | {
        "a": Element(LINKED, LAYOUT | INLINE | SPEAKS, _ANCHOR, _ANCHOR),
        "body": _BLOCK._replace(kind=LAYOUT | WHOLE),
        "br": Element(0, VOID | BREAK),
        "hr": _BLOCK._replace(kind=LAYOUT | VOID),
        "html": _BLOCK._replace(kind=LAYOUT | WHOLE | SPEAKS),
        "li": Element(0, LAYOUT, _ITEM, _ITEM | _PARAGRAPH),
        "option": Element(0, LAYOUT, _OPTION, _OPTION | _PARAGRAPH),
        "p": Element(0, LAYOUT, _PARAGRAPH, _PARAGRAPH),
        "pre": _BLOCK._replace(says=KEPT),
        "textarea": Element(0, FIELD),
        "xmp": Element(0, FIELD),
        "tr": Element(0, LAYOUT | ROW, _ROW, _ROW | _CELL | _PARAGRAPH),
    }
)
# Every element that is not in the table.
PLAIN = Element()

# One of these is in whatever hides.
_MAY_HIDE = re.compile("[Ii][Dd][Dd][Ee][Nn]|[Oo][Nn][Ee]").search
_INVISIBLE = re.compile(rf"(?:^|[;{WS}])display[{WS}]*+:[{WS}]*+none", re.IGNORECASE | re.ASCII)
_NOISE_ROLES = names(
    "alertdialog banner complementary contentinfo dialog menu menubar navigation search toolbar"
)
_BY_ROLE = {"main": CORE} | dict.fromkeys(_NOISE_ROLES, NOISE)
# The words of classes and ids, by what authors of pages call such things; what begins like one of
# these, what is exactly one, and pairs of words (`author-box`, `articleBody`).
_BEGIN: dict[int, tuple[str, ...]] = {
    DOUBTFUL: (
        *("advert", "banner", "breadcrumb", "byline", "consent", "cookie", "copyright", "crumb"),
        *("disclaimer", "dropdown", "gdpr", "login", "masthead", "menu", "metadata", "modal"),
        *("navi", "newsletter", "outbrain", "overlay", "pager", "pagination", "paywall"),
        *("popular", "popup", "promo", "rail", "recommend", "related", "search", "share"),
        *("sharing", "sidebar", "signup", "skip", "social", "sponsor", "subscri", "taboola"),
        *("teaser", "toolbar", "trending", "utility", "widget"),
    ),
    REMARKS: ("commentlist", "disqus", "replies", "respond"),
}
_EXACT: dict[str, int] = (
    dict.fromkeys(("ad", "ads", "foot", "footer", "nav", "toc"), DOUBTFUL)
    | dict.fromkeys(("comment", "comments"), REMARKS)
    | {"main": CORE}
)
_DOUBTFUL_PAIRS = names(
    "authorbio authorbox authorinfo entrymeta morearticles morefrom morenews moreposts morestories"
    " mostread postmeta printonly readmore screenreader sidebar signup sronly tagcloud taglinks"
    " taglist tagscloud tagslinks tagslist visuallyhidden"
)
_CORE_PAIRS = names(
    "articlebody articlecontent articletext contentbody entrybody entrycontent maincontent"
    " pagecontent postbody postcontent storybody storycontent"
)
_PAIRS = dict.fromkeys(_DOUBTFUL_PAIRS, DOUBTFUL) | dict.fromkeys(_CORE_PAIRS, CORE)
_WORDS = re.compile("[A-Za-z]+").findall
# What the compiled reader has to know, sorted: word, rule (exactly, beginning, two words, role),
# what it says.
WORDS: tuple[tuple[str, int, int], ...] = tuple(
    sorted(
        [
            *((word, 0, says) for word, says in (_EXACT | _PAIRS).items()),
            *((word, 1, says) for says, words in _BEGIN.items() for word in words),
            *((word, 2, says) for word, says in _PAIRS.items()),
            *((word, 3, says) for word, says in _BY_ROLE.items()),
        ]
    )
)
_LONGEST_KNOWN = 1000


def attributes_say(written: str) -> int:
    """What the attributes of an element, as written, say of it."""
    # Pages, and those of one site, repeat themselves.
    return _known(written) if len(written) <= _LONGEST_KNOWN else _said(written)


def hides(written: str) -> bool:
    return _MAY_HIDE(written) is not None and bool(attributes_say(written) & HIDDEN)


def _said(written: str) -> int:
    said = 0
    for name, value in pairs(written):
        if name == "style":
            said |= HIDDEN if _INVISIBLE.search(value) else 0
        elif name == "hidden":
            said |= HIDDEN if value != "until-found" else 0
        elif name == "role":
            said |= _BY_ROLE.get(value, 0)
        elif name in ("class", "id", "itemprop"):
            said |= _of_words(value)
    return said


_known = lru_cache(maxsize=1 << 14)(_said)


def _of_words(value: str) -> int:
    said, before = 0, ""
    for word in map(str.lower, _WORDS(value)):
        said |= _word_says(word) | _PAIRS.get(before + word, 0)
        before = word
    return said & ~DOUBTFUL if said & REMARKS else said


@lru_cache(maxsize=1 << 14)
def _word_says(word: str) -> int:
    said = _EXACT.get(word, 0) | _PAIRS.get(word, 0)
    for part, beginnings in _BEGIN.items():
        if word.startswith(beginnings):
            said |= part
    return said
