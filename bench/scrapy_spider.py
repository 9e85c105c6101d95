"""Scrapy with a WARC writer, for bench/crawl.py; runs in an environment of its own.

    python bench/scrapy_spider.py OUT.warc.gz SEED...

Follows links and assets of all kinds that the site has, on the hosts of the seeds. Every response
is written by warcio as it passes the innermost downloader middleware, so that robots.txt,
redirects and errors are kept, too. No request records and no fsync: less than asof and wget do.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from http import HTTPStatus
from urllib.parse import urlsplit

import scrapy  # type: ignore[import-not-found]
from scrapy.crawler import Crawler, CrawlerProcess  # type: ignore[import-not-found]
from scrapy.http import HtmlResponse, Request, Response  # type: ignore[import-not-found]
from scrapy.linkextractors import LinkExtractor  # type: ignore[import-not-found]
from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]
from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

_CSS_URL = re.compile(r"""url\(\s*["']?([^"')]+)["']?\s*\)""")


class Keep:
    """A downloader middleware that writes each response, digests and all, and passes it on."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "wb")  # noqa: SIM115 (open until the process ends)
        self._writer = WARCWriter(self._file, gzip=True)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Keep:
        """As Scrapy makes its middlewares."""
        return cls(crawler.settings["WARC_PATH"])

    def process_response(self, request: Request, response: Response) -> Response:
        """Write the response as a record of its own gzip member."""
        reason = HTTPStatus(response.status).phrase
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            for value in values
        ]
        head = StatusAndHeaders(f"{response.status} {reason}", headers, protocol="HTTP/1.1")
        record = self._writer.create_warc_record(
            response.url, "response", payload=io.BytesIO(response.body), http_headers=head
        )
        self._writer.write_record(record)
        return response


class Everything(scrapy.Spider):  # type: ignore[misc]
    """Follows all there is on the hosts of the seeds."""

    name = "everything"

    def __init__(self, seeds: list[str]) -> None:
        super().__init__()
        self.start_urls = seeds
        self._extractor = LinkExtractor(
            tags=("a", "area", "link", "img", "script"),
            attrs=("href", "src"),
            deny_extensions=(),
            allow_domains=[urlsplit(seed).netloc for seed in seeds],
        )

    def parse(self, response: Response) -> Iterator[Request]:
        """Go on to what a page, a style sheet or a redirect names."""
        location = response.headers.get("Location")
        if location is not None:
            yield response.follow(location.decode("latin-1"), self.parse)
        elif isinstance(response, HtmlResponse):
            for link in self._extractor.extract_links(response):
                yield Request(link.url, self.parse)
        elif response.url.endswith(".css"):
            for reference in _CSS_URL.findall(response.text):
                yield response.follow(reference, self.parse)


SETTINGS = {
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": True,
    "REDIRECT_ENABLED": False,  # the spider follows them, so that each hop is a response
    "HTTPERROR_ALLOW_ALL": True,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
    "DOWNLOADER_MIDDLEWARES": {Keep: 999},
}


def main() -> None:
    path, *seeds = sys.argv[1:]
    process = CrawlerProcess({**SETTINGS, "WARC_PATH": path})
    process.crawl(Everything, seeds=seeds)
    process.start()


if __name__ == "__main__":
    main()
