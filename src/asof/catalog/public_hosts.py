"""Which hosts of seeds were public when they were first looked up.

The ledger remembers them from crawl to crawl. When `asof reindex` has made it anew, the records of
what was captured still tell which address had answered.
"""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from asof.catalog.captures import Catalog
from asof.errors import AsofError
from asof.fetch.addresses import host_name, is_private
from asof.fetch.request import split_url
from asof.fetch.unfetched import Unfetched
from asof.ledger import Ledger
from asof.model import Capture
from asof.url import resolve
from asof.warc.file_names import path_of
from asof.warc.reader import read_record

_ALWAYS = (1 << 63) - 1


class PublicHosts:
    """Such hosts; `seeds` are those of the crawl that asks."""

    def __init__(self, ledger: Ledger, warc: Path, seeds: Sequence[str]) -> None:
        self._ledger = ledger
        self._warc = warc
        self._seeds: defaultdict[str, list[str]] = defaultdict(list)
        for seed in seeds:
            with suppress(Unfetched):  # such as port 0: a fetch will say so
                self._seeds[host_name(split_url(seed)[0])].append(seed)

    def has(self, host: str) -> bool:
        found = self._ledger.fetch("SELECT 1 FROM public_hosts WHERE host = ?", [host])
        return bool(found) or self._has_answered(host)

    def add(self, host: str) -> None:
        with self._ledger.transaction() as db:
            db.execute("INSERT OR IGNORE INTO public_hosts VALUES (?)", (host,))

    def _has_answered(self, host: str) -> bool:
        """Whether the last answer of a seed of this host, or of its robots.txt, was public."""
        catalog = Catalog(self._ledger)
        for seed in self._seeds[host]:
            for url in (seed, resolve(seed, "/robots.txt")):
                capture = None if url is None else catalog.as_of(url, _ALWAYS)
                if capture is not None and self._is_public(capture):
                    return True
        return False

    def _is_public(self, capture: Capture) -> bool:
        try:
            record = read_record(path_of(self._warc, capture.where.file), capture.where.offset)
        except AsofError:  # damaged, or gone
            return False
        address = record.header.get("WARC-IP-Address")
        return address is not None and is_private(address) is None
