"""The crawl: the only loop, which joins scope, frontier, fetch, WARC and catalog."""

from asof.crawl.loop import Crawler
from asof.crawl.run import CrawlRequest, run_crawl
from asof.crawl.summary import Snapshot, Summary

__all__ = ["CrawlRequest", "Crawler", "Snapshot", "Summary", "run_crawl"]
