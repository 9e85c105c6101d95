"""What stands in scripts: what modules import, and texts in JavaScript and JSON that look like the
address of something, which are guesses.

Nothing is run or parsed. Of guesses, precision first: a text must stand alone in its quotes, not be
glued to another, and look like an absolute URL, or like a rooted path that ends in a known
extension or in a slash. Names of languages (`http://www.w3.org/2000/svg`), patterns, routes
(`/user/:id`), MIME types and paths made of one letter are not taken.
"""

import re
from collections.abc import Iterator

from asof.model import Hop
from asof.text.links.link import Link

# The most guesses that one document is good for.
MAX_GUESSES = 200

_LONGEST = 2000
# What begins like an address and is none is not looked at for ever.
_MOST_TRIED = 20_000
# The first slash of what may be an address, maybe escaped as PHP's JSON has it, and what stands
# before it. A search for a slash runs ten times as fast as one for a quote.
_SLASH = re.compile(
    r"""/(?:(?<=["'`]/)|(?<=["'`]\\/)|(?<=["'`]http:/)|(?<=["'`]https:/)"""
    r"""|(?<=["'`]http:\\/)|(?<=["'`]https:\\/))"""
)
_START = re.compile(r"""["'`](?:https?:)?\\?/\Z""")
# Without `$ * ( ) { }`: what is filled in or matched later is not an address yet.
_TEXT = re.compile(r"""(["'`])((?:[\w~!&+,;=:@%/?#.-]++|\\/|\\u002[fF])++)\1(?!\s*+\+)""", re.ASCII)
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_ABSOLUTE = re.compile(
    rf"(?:https?:)?//((?:{_LABEL}\.)+[a-z]{{2,24}})(?::\d{{1,5}})?(?:[/?#]\S*)?",
    re.ASCII | re.IGNORECASE,
)
_SEGMENT = r"[\w~%][\w~%.@+-]*+"
_EXTENSIONS = (
    "html? xhtml php[345]? aspx? jsp cgi cfm do js mjs css json xml rss atom txt pdf csv ics vcf "
    "png jpe?g gif svg webp avif ico bmp mp[34] webm ogg wav m4a vtt woff2? ttf otf eot wasm map "
    "webmanifest docx? xlsx? pptx? odt epub zip gz"
).replace(" ", "|")
_ROOTED = re.compile(
    rf"/(?:{_SEGMENT}/)*+(?:[\w~%][\w~%.@+-]*\.(?:{_EXTENSIONS})(?:\?[\w&=%.,:+-]*\w)?)?",
    re.ASCII | re.IGNORECASE,
)
# Hosts whose addresses in scripts are names of things: languages, vocabularies, examples.
_NAMES = re.compile(
    r"(?:.*\.)?(?:w3\.org|schema\.org|purl\.org|xmlns\.com|ogp\.me|json-schema\.org|jsonfeed\.org"
    r"|ns\.adobe\.com|openxmlformats\.org|sitemaps\.org|xml\.org|example\.(?:com|org|net)"
    r"|whatwg\.org|ecma-international\.org|momentjs\.com|reactjs\.org|fb\.me|mozilla\.org)",
    re.IGNORECASE,
)
# Folders of one letter, a number or a short word: fractions, keys, flags, dates.
_POOR = re.compile(r"/(?:(?:\w|\d+|[A-Z]{1,4})/(?:[\w-]{0,3}/)*)?", re.ASCII)

# Where a module says from where, behind what it wants of it; what that begins with, and what stands
# before a statement. `import(...)` is none.
_FROM = re.compile(
    r"""(?<![\w$.])(?:(from)|import)\s{0,9}(["'])((?:\.{0,2}/|https?://)[^"'\s\\]{1,2000})\2"""
)
_WANTED = re.compile(r"(?<![\w$.])(?:import|export)(?=[\s{*])")
_NAMES_WANTED = re.compile(r"[\w$*{},\s]*")
_BEFORE = re.compile(r"(?:[;}\n]|\*/|^)[ \t\r]*\Z")
# Imports stand at the top, so that no more than this is looked through of a script.
IMPORTS_REACH = 64 << 10


def module_imports(text: str) -> Iterator[Link]:
    """What a module needs before it runs. What is named by an import map is not known."""
    last = 0
    for each in _FROM.finditer(text, 0, IMPORTS_REACH):
        begun, start, last = last, each.start(), each.end()
        if each[1] is not None:
            *_, wanted = None, *_WANTED.finditer(text, begun, start)
            if wanted is None or not _NAMES_WANTED.fullmatch(text, wanted.end(), start):
                continue
            start = wanted.start()
        if _BEFORE.search(text[max(0, start - 80) : start]):
            yield Link(each[3], Hop.REQUISITE)


def script_links(text: str, most: int = MAX_GUESSES) -> Iterator[Link]:
    """At most `most` distinct guesses, in order."""
    seen: set[str] = set()
    position = 0
    for _ in range(_MOST_TRIED):
        slash = _SLASH.search(text, position)
        if slash is None or len(seen) >= most:
            return
        position = slash.end()
        start = _START.search(text, max(0, position - 9), position)
        found = start and _TEXT.match(text, start.start(), position + _LONGEST)
        if not start or not found:
            continue
        position = found.end()
        reference = found[2].replace("\\/", "/").replace("\\u002f", "/").replace("\\u002F", "/")
        # What stands before the quote may be what the text is joined to.
        glued = text[max(0, start.start() - 8) : start.start()].rstrip().endswith("+")
        if reference not in seen and not glued and is_address(reference):
            seen.add(reference)
            yield Link(reference, Hop.GUESS)


def is_address(text: str) -> bool:
    """Whether a text is likely to be a URL that can be asked for."""
    # Glued to something, or filled in later: `/find?q=`, `/user/:id`, `/page/%s.html`.
    if text[-1:] in "=&?_-#!" or "/:" in text.replace("://", "") or "%s" in text or ".." in text:
        return False
    absolute = _ABSOLUTE.fullmatch(text)
    if absolute is not None:
        return _NAMES.fullmatch(absolute[1]) is None
    return _ROOTED.fullmatch(text) is not None and _POOR.fullmatch(text) is None
