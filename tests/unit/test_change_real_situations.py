"""Situations seen in real histories of pages (docs/change-categories.md), with words of our own.

Pages are made as markup and read as the archive reads them, so that a change of the reader shows
here, too. Where a threshold moves by half or double, some situation gets another category.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from asof.change.cascade import compare
from asof.change.categories import Category, Change, Thresholds
from asof.change.digests import bytes_digest
from asof.change.version import Version
from asof.text.document import Document
from asof.text.html.page import read_html

URL = "https://site.example/section/page.html"
NOUNS = (
    *("harbour", "council", "museum", "river", "festival", "school", "bridge", "market", "library"),
    *("garden", "theatre", "railway", "orchard", "quarry", "mill", "castle", "forest", "bakery"),
    *("station", "college", "workshop", "gallery", "stadium", "clinic"),
)
VERBS = (
    *(
        "opened",
        "closed",
        "welcomed",
        "repaired",
        "measured",
        "painted",
        "counted",
        "sold",
        "moved",
    ),
    *("celebrated", "inspected", "restored", "planned", "delayed", "extended", "praised"),
)
KINDS = (
    *("old", "small", "famous", "quiet", "northern", "wooden", "new", "busy", "empty", "grand"),
    *("narrow", "bright", "common", "public", "lower", "hidden"),
)
ENDS = (
    *("before winter", "after debate", "with neighbours", "without ado", "in spring", "by night"),
    *("on Tuesday", "near town", "as planned", "at last"),
)


@cache
def sentence(number: int) -> str:
    """A sentence of some dozen words, the same for the same number."""
    chance = random.Random(number)
    first, second, third = chance.sample(NOUNS, 3)
    one, two, three = chance.sample(KINDS, 3)
    verb, end, count = chance.choice(VERBS), chance.choice(ENDS), chance.randrange(12, 990)
    return f"The {one} {first} by the {two} {second} {verb} {count} {three} {third} rooms {end}."


def paragraphs(start: int, count: int, each: int = 4) -> list[str]:
    return [
        " ".join(sentence(start * 100 + number * each + place) for place in range(each))
        for number in range(count)
    ]


def invented(count: int) -> str:
    """Words that are in no other text here."""
    chance = random.Random(count)
    return " ".join("".join(chance.choices("abdegiklmnoprstu", k=6)) for _ in range(count)) + "."


def markup(
    body: list[str],
    *,
    title: str = "Notes from the town",
    menu: tuple[str, ...] = ("start", "about", "contact"),
    beside: str = "",
    footer: str = "Made in the town hall",
    head: str = "",
) -> str:
    """A page as templates make them: menu, article, something beside, footer."""
    items = "".join(f'<li><a href="/{name}.html">{name.title()}</a></li>' for name in menu)
    text = "\n".join(line if line.startswith("<") else f"<p>{line}</p>" for line in body)
    return f"""<!doctype html><html lang="en"><head><title>{title}</title>{head}</head><body>
<header><nav><ul>{items}</ul></nav></header>
<main><article><h1>{title}</h1>{text}</article></main>
<aside>{beside}</aside><footer><p>{footer}</p></footer></body></html>"""


def version(html: str, **fields: Any) -> Version:
    def read() -> Document:
        page = read_html(html, URL)
        return Document(
            media_type="text/html",
            title=page.title,
            main=page.main,
            text=page.text,
            links=page.links,
            method=page.method,
            pictures=page.pictures,
        )

    digest = bytes_digest(html.encode())
    plain: dict[str, object] = {"payload": digest, "entity": digest}
    return Version(url=URL, read=read, **(plain | fields))  # type: ignore[arg-type] # by name


def link(name: str, text: str = "") -> str:
    return f'<a href="/{name}.html">{text or name}</a>'


def table(seed: int, rows: int = 40) -> str:
    """A table of figures with a date, all of them other ones for another seed."""
    chance = random.Random(seed)
    cells = "".join(
        f"<tr><td>Shares in the {noun} and other things</td>"
        f"<td>{chance.randrange(999)}</td><td>{chance.randrange(999)}</td></tr>"
        for noun in (NOUNS * 2)[:rows]
    )
    return f"<p>As of the close of day {seed}.</p><table>{cells}</table>"


def counted(first: int) -> str:
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return "There were " + ", ".join(f"on {day} {first + n} people" for n, day in enumerate(days))


def headlines(numbers: list[int]) -> list[str]:
    items = "".join(
        f'<li><a href="/news/{number}.html">{sentence(number)}</a></li>' for number in numbers
    )
    return [f"<ul>{items}</ul>"]


def listed(items: tuple[str, ...]) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def template(body: list[str]) -> str:
    """A page that a script is to fill."""
    text = "".join(f"<p>{line}</p>" for line in body)
    return (
        "<!doctype html><title>Notes</title><div id=content></div>"
        f'<script id="c" type="text/x-handlebars-template"><div>{text}</div></script>'
    )


def rows(lines: tuple[str, ...]) -> str:
    cells = "".join(f"<tr><td>{line.replace(' ', '<td>', 1)}</tr>" for line in lines)
    return f'<table class="sidebar">{cells}</table>'


BODY = paragraphs(1, 8)
NOTICES = ("3 March 2026: the sluice can overflow", "1 March 2026: the lamp", "2 May 2025: the oar")
MIRRORS = ("boat.example 7f:a9:02:dd:41", "mill.example 11:0e:c3:90:55", "oak.example 5b:5b:17:aa")
ADVERT = "https://ad.doubleclick.net/clk?id="

Pair = tuple[str, str]
SITUATIONS: dict[str, tuple[Category, Callable[[], Pair]]] = {
    "tokens in the markup": (
        Category.INSIGNIFICANT,
        lambda: (
            markup(BODY, head='<meta name="csrf" content="8f1e">'),
            markup(BODY, head='<meta name="csrf" content="77aa"><script>var t=1;</script>'),
        ),
    ),
    "the generator's version in the footer": (
        Category.INSIGNIFICANT,
        lambda: (
            markup(BODY, footer="Built with Maker 1.2"),
            markup(BODY, footer="Built with Maker 1.3"),
        ),
    ),
    "a teaser beside the main text": (
        Category.MINOR,
        lambda: (
            markup(BODY, beside=f"<p>{sentence(7001)}</p>"),
            markup(BODY, beside=f"<p>{sentence(7002)}</p>"),
        ),
    ),
    "a clock and a counter in the text": (
        Category.INSIGNIFICANT,
        lambda: (
            markup([*BODY, "Last updated: 3 March 2026, 10:20. 1,204 views."]),
            markup([*BODY, "Last updated: 9 April 2026, 08:00. 1,377 views."]),
        ),
    ),
    "another advertisement": (
        Category.INSIGNIFICANT,
        lambda: (
            markup(BODY, beside=f'<a href="{ADVERT}1">Buy</a>'),
            markup(BODY, beside=f'<a href="{ADVERT}2">Buy</a>'),
        ),
    ),
    "an advertisement that says so": (
        Category.INSIGNIFICANT,
        lambda: (
            markup(BODY, beside=f"<p>Advertisement</p><p>{sentence(7001)}</p>"),
            markup(BODY, beside=f"<p>Advertisement</p><p>{sentence(7002)}</p>"),
        ),
    ),
    "the keyword of version control": (
        Category.INSIGNIFICANT,
        lambda: (
            markup(BODY, footer="$Town: page.html,v 1.42 2026/03/03 21:29:51 ada Exp $"),
            markup(BODY, footer="$Town: page.html,v 1.43 2026/04/25 16:49:09 bob Exp $"),
        ),
    ),
    "numbers of sections with a full stop": (
        Category.INSIGNIFICANT,
        lambda: (
            markup([f"1.{n} {line}" for n, line in enumerate(BODY)]),
            markup([f"1.{n}. {line}" for n, line in enumerate(BODY)]),
        ),
    ),
    "a word spelled differently": (
        Category.MINOR,
        lambda: (markup(BODY), markup([BODY[0].replace("The", "A", 1), *BODY[1:]])),
    ),
    "a deadline moved": (
        Category.MINOR,
        lambda: (
            markup([*BODY, "Proposals are due on 3 March 2026."]),
            markup([*BODY, "Proposals are due on 17 March 2026."]),
        ),
    ),
    "sentences added here and there": (
        Category.MINOR,
        lambda: (
            markup(BODY),
            markup([f"{line} {sentence(8000 + n)}" for n, line in enumerate(BODY)]),
        ),
    ),
    "names added all over a list": (
        Category.MINOR,
        lambda: (
            markup([*BODY, *(f"{noun} society" for noun in NOUNS[::2])]),
            markup([*BODY, *(f"{noun} society" for noun in NOUNS)]),
        ),
    ),
    "the version in the title": (
        Category.MINOR,
        lambda: (markup(BODY, title="Manual 3.1.0"), markup(BODY, title="Manual 3.1.1")),
    ),
    "an entry in a list of notices": (
        Category.MINOR,
        lambda: (
            markup([*BODY, listed(NOTICES[1:])]),
            markup([*BODY, listed(NOTICES)]),
        ),
    ),
    "a mirror and its key in a table": (
        Category.MINOR,
        lambda: (
            markup([*BODY, rows(MIRRORS[1:])]),
            markup([*BODY, rows(MIRRORS)]),
        ),
    ),
    "one sign of a command": (
        Category.MINOR,
        lambda: (
            markup([*BODY, "<pre># rm -rf /usr/scratch\n# mount /mnt</pre>"]),
            markup([*BODY, "<pre># rm -rf /usr/scratch/*\n# mount /mnt</pre>"]),
        ),
    ),
    "an option of a command": (
        Category.MINOR,
        lambda: (
            markup([*BODY, "<pre>tar c --all x</pre>"]),
            markup([*BODY, "<pre>tar c -all x</pre>"]),
        ),
    ),
    "a figure beside the main text": (
        Category.MINOR,
        lambda: (
            markup(BODY, beside="<table><tr><td>harbours:<td>9698<tr><td>mills:<td>xxx</table>"),
            markup(BODY, beside="<table><tr><td>harbours:<td>9698<tr><td>mills:<td>73</table>"),
        ),
    ),
    "what stands for a picture": (
        Category.MINOR,
        lambda: (
            markup([*BODY, '<p>Open to <img src="a.png" alt="walkers"></p>']),
            markup([*BODY, '<p>Open to <img src="b.png" alt="riders"></p>']),
        ),
    ),
    "a picture that is built anew": (
        Category.INSIGNIFICANT,
        lambda: (
            markup([*BODY, '<p><img src="a.0f3c.png" alt="The mill"></p>']),
            markup([*BODY, '<p><img src="a.77aa.png" alt="The mill"></p>']),
        ),
    ),
    "capitals of a heading": (
        Category.INSIGNIFICANT,
        lambda: (markup([*BODY, "<h2>The mill</h2>"]), markup([*BODY, "<h2>THE MILL</h2>"])),
    ),
    "capitals of a name in code": (
        Category.MINOR,
        lambda: (
            markup([*BODY, "<pre>byte[] SomeArray = read();</pre>"]),
            markup([*BODY, "<pre>byte[] someArray = read();</pre>"]),
        ),
    ),
    "a word in a template that a script shows": (
        Category.MINOR,
        lambda: (
            template(BODY),
            template([BODY[0].replace("The", "A", 1), *BODY[1:]]),
        ),
    ),
    "a name in the footer": (
        Category.MINOR,
        lambda: (markup(BODY, footer="Write to Ada"), markup(BODY, footer="Write to Ada and Bob")),
    ),
    "all figures of a table": (
        Category.MINOR,
        lambda: (markup([table(1)]), markup([table(2)])),
    ),
    "a section moved": (
        Category.MINOR,
        lambda: (markup(BODY), markup([*BODY[4:], *BODY[:4]])),
    ),
    "a short notice corrected": (
        Category.MINOR,
        lambda: (
            markup([f"{sentence(1)} {sentence(2)} The doors open at ten."]),
            markup([f"{sentence(1)} {sentence(2)} The doors open at noon."]),
        ),
    ),
    "all figures of a short notice": (
        Category.MINOR,
        lambda: (markup([counted(10)]), markup([counted(40)])),
    ),
    "a remark in a long text": (
        Category.MINOR,
        lambda: (
            markup(paragraphs(3, 170)),
            markup([*paragraphs(3, 170), invented(80)]),
        ),
    ),
    "a large teaser beside the main text": (
        Category.MINOR,
        lambda: (markup(BODY), markup(BODY, beside=f"<p>{' '.join(paragraphs(5, 2))}</p>")),
    ),
    "an entry in the menu": (
        Category.STRUCTURE,
        lambda: (markup(BODY), markup(BODY, menu=("start", "about", "team", "contact"))),
    ),
    "a headline and its link": (
        Category.STRUCTURE,
        lambda: (markup(headlines(list(range(60)))), markup(headlines([99, *range(60)]))),
    ),
    "a link in a sentence": (
        Category.STRUCTURE,
        lambda: (markup(BODY), markup([*BODY, f"See {link('minutes', 'the minutes')}."])),
    ),
    "links corrected": (
        Category.STRUCTURE,
        lambda: (
            markup([*BODY, f"See {link('old', 'the minutes')}."]),
            markup([*BODY, f"See {link('new', 'the minutes')}."]),
        ),
    ),
    "a section of a hundred words": (
        Category.MAJOR,
        lambda: (markup(BODY), markup([*BODY, " ".join(paragraphs(6, 2))])),
    ),
    "a section removed": (
        Category.MAJOR,
        lambda: (markup(BODY), markup(BODY[:5])),
    ),
    "written anew": (
        Category.MAJOR,
        lambda: (markup(BODY), markup(paragraphs(20, 8))),
    ),
    "the news of another week": (
        Category.MAJOR,
        lambda: (markup(headlines(list(range(60)))), markup(headlines(list(range(100, 160))))),
    ),
    "two thirds of the news": (
        Category.MAJOR,
        lambda: (
            markup(headlines(list(range(60)))),
            markup(headlines([n if n % 3 == 0 else n + 500 for n in range(60)])),
        ),
    ),
    "a short notice replaced": (
        Category.MAJOR,
        lambda: (
            markup([sentence(1) + " " + sentence(2)]),
            markup(["Nothing is planned at the moment."]),
        ),
    ),
    "a page that says it is not there": (
        Category.REMOVED,
        lambda: (markup(BODY), markup(["Sorry! Try the menu."], title="Page not found")),
    ),
}  # fmt: skip


def outcome(name: str, thresholds: Thresholds | None = None) -> Change:
    old, new = SITUATIONS[name][1]()
    return compare(version(old), version(new), thresholds=thresholds or Thresholds())


@pytest.mark.parametrize("name", SITUATIONS)
def test_situation(name: str) -> None:
    change = outcome(name)
    assert change.category is SITUATIONS[name][0], change


@pytest.mark.parametrize("name", SITUATIONS)
def test_nothing_changes_between_a_page_and_itself(name: str) -> None:
    for html in SITUATIONS[name][1]():
        assert compare(version(html), version(html)).category is Category.UNCHANGED


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("major", 0.9),
        ("major", 0.2),
        ("large_section", 10),
        ("large_section", 150),
        ("large_share", 0.2),
        ("large_share", 0.0),
        ("small_text", 1),
        ("soft_404", 2),
    ],
)
def test_thresholds_cannot_move_unnoticed(setting: str, value: float) -> None:
    moved = replace(Thresholds(), **{setting: value})  # type: ignore[arg-type] # by name
    changed = [n for n in SITUATIONS if outcome(n, moved).category is not SITUATIONS[n][0]]
    assert changed, f"{setting} = {value} changes no situation"
