"""The one SQLite database of an archive: schema, upgrades of older ones, and the transaction.

Catalog and frontier are tables of the same file, so that one transaction can hold both (the commit
protocol in ARCHITECTURE.md). The database is never the truth: `asof reindex` rebuilds it from the
WARC files, but for the queue of a crawl that was interrupted. Instants are integer microseconds
UTC.
"""

from asof.ledger.connection import (
    Ledger,
    connect_for_reading,
    discard,
    is_outdated,
    translate,
    translated,
)
from asof.ledger.derived import DamagedDatabase, DerivedDatabase, Form
from asof.ledger.schema import SCHEMA_VERSION, payload_key, url_key

__all__ = ["SCHEMA_VERSION", "DamagedDatabase", "DerivedDatabase", "Form", "Ledger",
           "connect_for_reading", "discard", "is_outdated", "payload_key", "translate",
           "translated", "url_key"]  # fmt: skip
