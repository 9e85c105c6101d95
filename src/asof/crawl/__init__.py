"""The crawl: the only loop, which joins scope, frontier, fetch, WARC and catalog."""

from asof.crawl.request import CrawlRequest
from asof.crawl.run import run_crawl

__all__ = ["CrawlRequest", "run_crawl"]
