"""How an edition looks: HTML5, and the list of links in it; and the files for crawlers."""

import tomllib
from collections.abc import Iterable, Sequence

from asof.clock import Instant, iso, to_datetime
from asof.testing.chance import Purpose, mix
from asof.testing.edition import Edition, standfirst
from asof.testing.layout import CSS_PICTURE, FAVICON, Layout, Page
from asof.testing.spec import SiteSpec
from asof.testing.words import SECTIONS, author, read, sentence

_Link = tuple[str, str]
_Door = tuple[int, str, str]
_LEAD_CARDS = 6
_PAGES: dict[str, str] = tomllib.loads(read("pages.toml"))


class Press:
    """Prints the pages of one host. `neighbours` are (name, URL) of the other hosts.

    `doors` are (page, link, text) of links that lead out of the tree of pages.
    """

    def __init__(
        self, spec: SiteSpec, layout: Layout, neighbours: Sequence[_Link], doors: Sequence[_Door]
    ) -> None:
        self._spec = spec
        self._layout = layout
        self._neighbours = tuple(neighbours)
        self._extras = self._spread_extras(doors)
        self._footer = self._make_footer()

    def page(self, edition: Edition) -> bytes:
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
        return self.leaflet(title, _html("notice", title=title, text=text))

    def leaflet(self, title: str, body: str) -> bytes:
        """HTML of one's own, in the dress of the paper."""
        return self._document(f"{title} · {self._layout.paper.name}", "notice", None, "", body)

    def links(self, edition: Edition) -> tuple[str, ...]:
        """Every `href` of an anchor in the edition, in order, each once."""
        layout = self._layout
        found = ["/", *(layout.pages[k].path for k in layout.sections)]
        found += [page.path for page in edition.stories]
        found += [href for href, _ in self._extras.get(edition.page.index, ())]
        found += [*layout.sitemaps[:1], *(url for _, url in self._neighbours)]
        return tuple(dict.fromkeys(found))

    def requisites(self, page: Page) -> frozenset[str]:
        """Stylesheets, scripts and pictures that a page needs, what its stylesheet pulls in too."""
        layout = self._layout
        grain = (CSS_PICTURE,) if layout.css else ()
        return frozenset((*layout.css, *layout.scripts, *layout.images_of(page), *grain, FAVICON))

    def _document(self, title: str, kind: str, page: Page | None, ears: str, body: str) -> bytes:
        layout = self._layout
        here = page.section if page is not None else -1
        nav = "".join(
            f'<a href="{layout.pages[k].path}"{" aria-current=true" if k - 1 == here else ""}>'
            f"{SECTIONS[k - 1]}</a>"
            for k in layout.sections
        )
        return _html(
            "document", title=title, kind=kind, ears=ears, body=body, nav=nav, icon=FAVICON,
            level="h1" if kind == "front" else "p", paper=layout.paper, footer=self._footer,
            style=f'<link rel="stylesheet" href="{layout.css[0]}">\n' if layout.css else "",
            scripts="".join(f'<script src="{path}" defer></script>\n' for path in layout.scripts),
        ).encode()  # fmt: skip

    def _front(self, edition: Edition) -> str:
        first, stories = edition.stories[:1], edition.stories[1:]
        lead = "".join(f'<section class="lead">{self._teaser(p, "h2")}</section>\n' for p in first)
        more = self._list("In brief", stories[_LEAD_CARDS:], edition.page)
        cards = self._cards(stories[:_LEAD_CARDS], pictured=3)
        tides = self._tides(edition)
        return _html("front", lead=lead, cards=cards, tides=tides, more=more, **self._text(edition))

    def _section(self, edition: Edition) -> str:
        files = self._list("From the files", (), edition.page)
        aside = f"<aside>\n{files}</aside>\n" if files else ""
        cards = self._cards(edition.stories, pictured=6)
        return _html("section", cards=cards, aside=aside, **self._text(edition))

    def _story(self, edition: Edition) -> str:
        page = edition.page
        return _html(
            "story",
            kicker=_kicker(page),
            by=author(self._spec.seed, self._layout.host, page.index),
            number=edition.number,
            at=iso(edition.at),
            when=to_datetime(edition.at).strftime("%-d %B %Y, %H:%M:%S"),
            more=self._list("Read next", edition.stories, page),
            **self._text(edition),
        )

    def _text(self, edition: Edition) -> dict[str, str]:
        """What every page of the tree has."""
        return {
            "headline": edition.headline,
            "standfirst": standfirst(self._spec, self._layout, edition.page),
            "pictures": self._pictures(edition.page),
            "text": _paragraphs(edition.sentences),
        }

    def _cards(self, stories: Sequence[Page], *, pictured: int) -> str:
        teasers = (self._teaser(p, "h3", pictured=k < pictured) for k, p in enumerate(stories))
        return "".join(f'<article class="card">{teaser}</article>\n' for teaser in teasers)

    def _teaser(self, page: Page, level: str, *, pictured: bool = True) -> str:
        images = self._layout.images_of(page)[:1] if pictured else ()
        picture = "".join(f'<img src="{i}" alt="" width="640" height="360">' for i in images)
        said = standfirst(self._spec, self._layout, page)
        kicker = _kicker(page)
        return _html(
            "teaser", picture=picture, kicker=kicker, level=level, page=page, standfirst=said
        )

    def _pictures(self, page: Page) -> str:
        key = (self._spec.seed, self._layout.host, page.index, Purpose.PICTURE)
        return "".join(
            _html("figure", path=path, caption=sentence(mix(*key, k)))
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
        tides = [(("High", "Low")[k % 2], minute + 372 * k) for k in range(4)]
        rows = "".join(
            f"<tr><td>{name} water</td><td>{at // 60 % 24:02d}:{at % 60:02d}</td></tr>"
            for name, at in tides
        )
        return _html("tides", rows=rows)

    def _spread_extras(self, doors: Sequence[_Door]) -> dict[int, list[_Link]]:
        """Redirects, dead pages and forbidden pages, one to a permanent page in turn; doors."""
        layout = self._layout
        entries = [(step.path, f"Permalink no. {step.index + 1}") for step in layout.redirects
                   if step.path.count("/") == 2]  # fmt: skip
        entries += [(error.path, f"A lost cutting ({error.status})") for error in layout.errors]
        entries += [(path, f"Editors only: draft {k + 1}") for k, path in enumerate(layout.drafts)]
        found: dict[int, list[_Link]] = {}
        for k, entry in enumerate(entries):
            found.setdefault(layout.permanent[k % len(layout.permanent)], []).append(entry)
        for page, href, text in doors:
            found.setdefault(page, []).append((href, text))
        return found

    def _make_footer(self) -> str:
        layout = self._layout
        site_map = f'<a href="{layout.sitemaps[0]}">Site map</a>' if layout.sitemaps else ""
        others = "".join(f'<a href="{url}">{name}</a>' for name, url in self._neighbours)
        return _html("footer", paper=layout.paper, others=site_map + others)


def _html(name: str, **values: object) -> str:
    return _PAGES[name].format(**values)


def _kicker(page: Page) -> str:
    return SECTIONS[page.section] if page.section >= 0 else "News"


def _paragraphs(sentences: Sequence[str]) -> str:
    """Three to five sentences each."""
    out = []
    start = 0
    while start < len(sentences):
        size = 3 + (start + len(sentences)) % 3
        out.append(f"<p>{' '.join(sentences[start : start + size])}</p>\n")
        start += size
    return "".join(out)


def robots(spec: SiteSpec, layout: Layout, origin: str) -> bytes:
    """robots.txt (RFC 9309), with the Crawl-delay that many sites add."""
    lines = ["User-agent: *", "Disallow: /desk/"]
    if spec.crawl_delay is not None:
        lines.append(f"Crawl-delay: {spec.crawl_delay:g}")
    if layout.sitemaps:
        lines += ["", f"Sitemap: {origin}{layout.sitemaps[0]}"]
    return ("\n".join(lines) + "\n").encode()


def sitemap(entries: Iterable[tuple[str, Instant]], *, index: bool = False) -> bytes:
    """A sitemap, or an index of sitemaps, of (URL, last change).

    Dates go to the microsecond (the W3C format allows it): the file changes with every page.
    """
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    rows = "".join(
        f"<{inner}><loc>{url}</loc><lastmod>{iso(at)}</lastmod></{inner}>\n" for url, at in entries
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</{outer}>\n'
    ).encode()
