"""The crawl: the only loop, which joins scope, frontier, fetch, WARC and catalog."""

from asof.crawl.loop import Crawler
from asof.crawl.request import CrawlRequest
from asof.crawl.run import run_crawl
from asof.crawl.summary import Snapshot, Summary

__all__ = ["CrawlRequest", "Crawler", "Snapshot", "Summary", "run_crawl"]
