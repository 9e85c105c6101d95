"""How an edition looks: HTML5, and the list of links in it."""

from __future__ import annotations

from collections.abc import Sequence

from asof.clock import iso, to_datetime
from asof.testing.chance import Purpose, mix
from asof.testing.edition import Edition, standfirst
from asof.testing.layout import CSS_PICTURE, FAVICON, Layout, Page
from asof.testing.spec import SiteSpec
from asof.testing.words import SECTIONS, author, sentence

_LEAD_CARDS = 6


class Press:
    """Prints the pages of one host. `neighbours` are (name, URL) of the other hosts.

    `doors` are (page, link, text) of links that lead out of the tree of pages.
    """

    def __init__(
        self,
        spec: SiteSpec,
        layout: Layout,
        neighbours: Sequence[tuple[str, str]],
        doors: Sequence[tuple[int, str, str]] = (),
    ) -> None:
        self._spec = spec
        self._layout = layout
        self._neighbours = tuple(neighbours)
        self._extras = self._spread_extras(doors)
        self._footer = self._make_footer()

    def page(self, edition: Edition) -> bytes:
        """The HTML of an edition."""
        if edition.page.index == 0:
            body, kind = self._front(edition), "front"
        elif edition.page.index in self._layout.sections:
            body, kind = self._section(edition), "section"
        else:
            body, kind = self._story(edition), "story"
        name = self._layout.paper.name
        title = name if kind == "front" else f"{edition.headline} · {name}"
        day = to_datetime(edition.at).strftime("%A, %-d %B %Y")
        ears = f"<strong>Edition {edition.number}</strong><span>{day}</span>"
        return self._document(title, kind, edition.page, ears, body)

    def notice(self, title: str, text: str) -> bytes:
        """A page outside the tree: an error, a draft, a redirect's own words."""
        body = (
            f'<h1>{title}</h1>\n<p class="standfirst">{text}</p>\n'
            '<p><a href="/">Back to the front page</a></p>'
        )
        return self.leaflet(title, body)

    def leaflet(self, title: str, body: str) -> bytes:
        """HTML of one's own, in the dress of the paper."""
        return self._document(f"{title} · {self._layout.paper.name}", "notice", None, "", body)

    def links(self, edition: Edition) -> tuple[str, ...]:
        """Every `href` of an anchor in the edition, in order, each once."""
        layout = self._layout
        found = dict.fromkeys(["/", *(layout.pages[k].path for k in layout.sections)])
        found.update(dict.fromkeys(page.path for page in edition.stories))
        found.update(dict.fromkeys(href for href, _ in self._extras.get(edition.page.index, ())))
        if layout.sitemaps:
            found[layout.sitemaps[0]] = None
        found.update(dict.fromkeys(url for _, url in self._neighbours))
        return tuple(found)

    def requisites(self, page: Page) -> frozenset[str]:
        """Stylesheets, scripts and pictures that a page needs, what its stylesheet pulls in too."""
        layout = self._layout
        grain = (CSS_PICTURE,) if layout.css else ()
        return frozenset((*layout.css, *layout.scripts, *layout.images_of(page), *grain, FAVICON))

    def _document(self, title: str, kind: str, page: Page | None, ears: str, body: str) -> bytes:
        layout, paper = self._layout, self._layout.paper
        style = f'<link rel="stylesheet" href="{layout.css[0]}">\n' if layout.css else ""
        scripts = "".join(f'<script src="{path}" defer></script>\n' for path in layout.scripts)
        level = "h1" if kind == "front" else "p"
        here = page.section if page is not None else -1
        nav = "".join(
            f'<a href="{layout.pages[k].path}"{" aria-current=true" if k - 1 == here else ""}>'
            f"{SECTIONS[k - 1]}</a>"
            for k in layout.sections
        )
        return (
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<title>{title}</title>\n<link rel="icon" type="image/svg+xml" href="{FAVICON}">\n'
            f"{style}{scripts}</head>\n"
            f'<body class="{kind}">\n<header class="masthead">\n'
            f'<p class="ears"><span>Established {paper.founded}</span>{ears}</p>\n'
            f'<{level} class="title"><a href="/">{paper.name}</a></{level}>\n'
            f'<p class="motto">{paper.motto}</p>\n'
            f"<nav>{nav}</nav>\n</header>\n<main>\n{body}\n</main>\n{self._footer}\n</body>\n</html>\n"
        ).encode()

    def _front(self, edition: Edition) -> str:
        stories = edition.stories
        lead = (
            f'<section class="lead">{self._teaser(stories[0], "h2")}</section>\n' if stories else ""
        )
        cards = "".join(
            f'<article class="card">{self._teaser(story, "h3", pictured=k < 3)}</article>\n'
            for k, story in enumerate(stories[1 : 1 + _LEAD_CARDS])
        )
        more = stories[1 + _LEAD_CARDS :]
        return (
            f'{lead}<section class="cards">\n{cards}</section>\n<div class="columns">\n'
            '<section>\n<p class="label">From the window of the editor</p>\n'
            f'{self._pictures(edition.page)}<div class="text">\n{_paragraphs(edition.sentences)}'
            f"</div>\n</section>\n<aside>\n{self._tides(edition)}"
            f"{self._list('In brief', more, edition.page)}</aside>\n</div>"
        )

    def _section(self, edition: Edition) -> str:
        files = self._list("From the files", (), edition.page)
        aside = f"<aside>\n{files}</aside>\n" if files else ""
        cards = "".join(
            f'<article class="card">{self._teaser(story, "h3", pictured=k < 6)}</article>\n'
            for k, story in enumerate(edition.stories)
        )
        return (
            f'<p class="kicker">Section</p>\n<h1>{edition.headline}</h1>\n'
            f'<p class="standfirst">{standfirst(self._spec, self._layout, edition.page)}</p>\n'
            f'<section class="cards">\n{cards}</section>\n<div class="columns">\n<section>'
            f'{self._pictures(edition.page)}<div class="text">\n{_paragraphs(edition.sentences)}'
            f"</div></section>\n{aside}</div>"
        )

    def _story(self, edition: Edition) -> str:
        page = edition.page
        kicker = SECTIONS[page.section] if page.section >= 0 else "News"
        when = to_datetime(edition.at).strftime("%-d %B %Y, %H:%M:%S")
        by = author(self._spec.seed, self._layout.host, page.index)
        return (
            f'<p class="kicker">{kicker}</p>\n<h1>{edition.headline}</h1>\n'
            f'<p class="standfirst">{standfirst(self._spec, self._layout, page)}</p>\n'
            f'<p class="byline">By {by} · <strong>Edition {edition.number}</strong> · '
            f'<time datetime="{iso(edition.at)}">{when}</time></p>\n'
            f'<div class="columns">\n<article>\n{self._pictures(page)}'
            f'<div class="text">\n{_paragraphs(edition.sentences)}</div>\n</article>\n'
            f"<aside>\n{self._list('Read next', edition.stories, page)}</aside>\n</div>"
        )

    def _teaser(self, page: Page, level: str, *, pictured: bool = True) -> str:
        kicker = SECTIONS[page.section] if page.section >= 0 else "News"
        images = self._layout.images_of(page) if pictured else ()
        picture = f'<img src="{images[0]}" alt="" width="640" height="360">' if images else ""
        return (
            f'{picture}<div><p class="kicker">{kicker}</p>'
            f'<{level}><a href="{page.path}">{page.title}</a></{level}>'
            f"<p>{standfirst(self._spec, self._layout, page)}</p></div>"
        )

    def _pictures(self, page: Page) -> str:
        key = (self._spec.seed, self._layout.host, page.index, Purpose.PICTURE)
        return "".join(
            f'<figure><img src="{path}" alt="A view of the coast" width="640" height="360">'
            f"<figcaption>{sentence(mix(*key, k))}</figcaption></figure>\n"
            for k, path in enumerate(self._layout.images_of(page))
        )

    def _list(self, title: str, stories: Sequence[Page], page: Page) -> str:
        entries = [(story.path, story.title) for story in stories]
        entries += self._extras.get(page.index, ())
        if not entries:
            return ""
        items = "".join(f'<li><a href="{href}">{text}</a></li>' for href, text in entries)
        return f'<p class="label">{title}</p>\n<ul>{items}</ul>\n'

    def _tides(self, edition: Edition) -> str:
        """A small table that is new in every edition."""
        minute = mix(self._spec.seed, edition.number, Purpose.NOTICE) % 720
        names = ("High water", "Low water", "High water", "Low water")
        tides = [(name, minute + 372 * k) for k, name in enumerate(names)]
        rows = "".join(
            f"<tr><td>{name}</td><td>{at // 60 % 24:02d}:{at % 60:02d}</td></tr>"
            for name, at in tides
        )
        return f'<p class="label">Tides at the east quay</p>\n<table>{rows}</table>\n'

    def _spread_extras(
        self, doors: Sequence[tuple[int, str, str]]
    ) -> dict[int, list[tuple[str, str]]]:
        """Redirects, dead pages and forbidden pages, one to a permanent page in turn; doors."""
        layout = self._layout
        entries = [(step.path, f"Permalink no. {step.index + 1}") for step in layout.redirects
                   if step.path.count("/") == 2]  # fmt: skip
        entries += [(error.path, f"A lost cutting ({error.status})") for error in layout.errors]
        entries += [(path, f"Editors only: draft {k + 1}") for k, path in enumerate(layout.drafts)]
        found: dict[int, list[tuple[str, str]]] = {}
        for k, entry in enumerate(entries):
            found.setdefault(layout.permanent[k % len(layout.permanent)], []).append(entry)
        for page, href, text in doors:
            found.setdefault(page, []).append((href, text))
        return found

    def _make_footer(self) -> str:
        layout = self._layout
        site_map = f'<a href="{layout.sitemaps[0]}">Site map</a>' if layout.sitemaps else ""
        others = "".join(f'<a href="{url}">{name}</a>' for name, url in self._neighbours)
        return (
            f"<footer><span>{layout.paper.name}, a newspaper that does not exist, "
            f"printed for tests and demonstrations.</span>{site_map}{others}</footer>"
        )


def _paragraphs(sentences: Sequence[str]) -> str:
    """Three to five sentences each."""
    out = []
    start = 0
    while start < len(sentences):
        size = 3 + (start + len(sentences)) % 3
        out.append(f"<p>{' '.join(sentences[start : start + size])}</p>\n")
        start += size
    return "".join(out)
