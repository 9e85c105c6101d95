"""Reading an HTML page: one pass over its markup, and from that everything a `Document` has."""

import re

from asof.text.document import Document, Method
from asof.text.html.blocks import MOSTLY, MUCH, PageLayout, joined, layout
from asof.text.html.facts import Facts, guessed_day, language_of_page, title_of
from asof.text.html.main_content import main_content

# Markup that a script of the page is to show.
_TEMPLATE = re.compile(
    r"""<script(?=[^<>]{0,500}\stype\s{0,9}=\s{0,9}["']?text/[\w-]{0,20}(?:template|handlebars|mustache))"""
    r"[^<>]{0,1000}>",
    re.IGNORECASE,
)
_END = "</script>"


def read_html(markup: str, base: str | None = None, method: Method = "default") -> Document:
    """What an HTML page says. `base` is its address, against which its links are resolved.

    Never fails. Of a page of more than 16 million characters the rest is left out.
    """
    page, markup = _with_templates(layout(markup), markup)
    facts = Facts(page.marks)
    main, found_by = main_content(markup, page, facts, method)
    day = facts.day()
    if day is None and method == "default" and not page.wild:
        day = guessed_day(markup)
    links, anchors = facts.links(base)
    return Document(
        title=title_of(facts, page.blocks),
        date=day,
        language=language_of_page(facts),
        main=main,
        text=joined(page.blocks),
        links=links,
        anchors=anchors,
        pictures=facts.pictures(),
        method=found_by,
    )


def _with_templates(page: PageLayout, markup: str) -> tuple[PageLayout, str]:
    """A page with its templates in their place, if they are nearly all that it says."""
    named = "template" in markup or "handlebars" in markup or "mustache" in markup
    found = _TEMPLATE.search(markup) if named else None
    if found is None:
        return page, markup
    parts, done = [markup[: found.start()]], found.start()
    while found is not None and (end := markup.find(_END, found.end())) >= 0:
        parts += (markup[done : found.start()], "<div>", markup[found.end() : end], "</div>")
        done = end + len(_END)
        found = _TEMPLATE.search(markup, done)
    opened = "".join(parts) + markup[done:]
    whole = layout(opened)
    seen, said = (sum(len(block.text) for block in each.blocks) for each in (page, whole))
    return (whole, opened) if said - seen > max(MUCH, seen * MOSTLY) else (page, markup)
