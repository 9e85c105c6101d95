"""Reading an HTML page: one pass over its markup, and from that everything a `Page` has."""

from __future__ import annotations

from asof.text.document import Method, Page
from asof.text.html.blocks import joined, layout
from asof.text.html.facts import Facts, guessed_day, language_of_page, title_of
from asof.text.html.main_content import main_content


def read_html(markup: str, base: str | None = None, method: Method = "default") -> Page:
    """What an HTML page says. `base` is its address, against which its links are resolved.

    Never fails. Of a page of more than 16 million characters the rest is left out.
    """
    page = layout(markup)
    facts = Facts(page.marks)
    main, found_by = main_content(markup, page, facts, method)
    day = facts.day()
    if day is None and method == "default" and not page.wild:
        day = guessed_day(markup)
    return Page(
        title=title_of(facts, page.blocks),
        date=day,
        language=language_of_page(facts),
        main=main,
        text=joined(page.blocks),
        links=facts.links(base),
        pictures=facts.pictures(),
        method=found_by,
    )
