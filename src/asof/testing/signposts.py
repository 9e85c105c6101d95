"""Files for crawlers: robots.txt and sitemaps."""

from __future__ import annotations

from collections.abc import Iterable

from asof.clock import Instant, iso
from asof.testing.layout import Layout
from asof.testing.spec import SiteSpec


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
