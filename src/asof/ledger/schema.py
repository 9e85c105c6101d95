"""The tables of the database, and the keys that stand in them for URLs and digests.

A change here is a new version, with a step to it (asof.ledger.migrations).
"""

from hashlib import blake2b

SCHEMA_VERSION = 6

_CATALOG = """
CREATE TABLE crawls (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  seeds TEXT NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER,
  state TEXT NOT NULL,
  settings TEXT NOT NULL,
  note TEXT NOT NULL DEFAULT '',
  course TEXT
);
CREATE TABLE segments (
  no INTEGER PRIMARY KEY,
  file TEXT NOT NULL UNIQUE,
  crawl INTEGER REFERENCES crawls(no),
  committed INTEGER NOT NULL,
  sealed INTEGER NOT NULL DEFAULT 0
);
-- Key (surt, at, ...): a point lookup is one descent, a history one range scan. The record id
-- makes the key unique and a second import of the same record a no-op.
CREATE TABLE captures (
  surt TEXT NOT NULL,
  at INTEGER NOT NULL,
  record_id TEXT NOT NULL,
  url TEXT NOT NULL,
  kind TEXT NOT NULL,
  status INTEGER,
  media_type TEXT,
  digest TEXT,
  content TEXT,
  size INTEGER NOT NULL,
  segment INTEGER NOT NULL REFERENCES segments(no),
  offset INTEGER NOT NULL,
  length INTEGER NOT NULL,
  etag TEXT,
  last_modified INTEGER,
  redirect TEXT,
  truncated TEXT,
  profile TEXT,
  refers_to_url TEXT,
  refers_to_at INTEGER,
  anomalies TEXT,
  age INTEGER,
  PRIMARY KEY (surt, at, record_id)
) WITHOUT ROWID;
-- Where a payload lies, by the first 60 bits of its digest: the record has the last word.
CREATE TABLE payloads (
  key INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL REFERENCES segments(no),
  offset INTEGER NOT NULL
);
"""
TARGETS = """
-- The targets of crawls, and the queue of each. A crawl that visits its pages twice has a second
-- queue, of revisits. A guess is taken after all others. Refused is what was left out for what it
-- is, after it had been queued: being found again, elsewhere, does not help it.
-- `key` is a 64-bit hash of the URL: an index of such keys stays in memory far longer than one of
-- the URLs themselves, and every link of every page is looked up in it.
CREATE TABLE targets (
  no INTEGER PRIMARY KEY,
  crawl INTEGER NOT NULL REFERENCES crawls(no),
  revisit INTEGER NOT NULL DEFAULT 0,
  key INTEGER NOT NULL,
  url TEXT NOT NULL,
  host TEXT NOT NULL,
  state TEXT NOT NULL,
  guess INTEGER NOT NULL DEFAULT 0,
  priority REAL NOT NULL,
  depth INTEGER NOT NULL,
  hops TEXT NOT NULL,
  via TEXT,
  tries INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL DEFAULT 0,
  refused INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  UNIQUE (crawl, key, revisit)
);
CREATE INDEX targets_queue ON targets (crawl, revisit, host, guess, priority, no)
  WHERE state = 'queued';
"""
PATTERNS = """
-- What the pages of an unfinished crawl tell about traps, by pattern of URLs and by host.
CREATE TABLE patterns (
  no INTEGER PRIMARY KEY,
  crawl INTEGER NOT NULL REFERENCES crawls(no),
  key TEXT NOT NULL,
  state TEXT NOT NULL,
  marks BLOB NOT NULL,
  UNIQUE (crawl, key)
);
"""
PUBLIC_HOSTS = """
-- Seeds' hosts that had none but public addresses when they were first looked up.
CREATE TABLE public_hosts (host TEXT PRIMARY KEY) WITHOUT ROWID;
"""
SCHEMA = _CATALOG + TARGETS + PATTERNS + PUBLIC_HOSTS

_LETTERS = 12  # of 5 bits each: what fits into an integer of SQLite
# int() reads base 32, but with other digits than RFC 4648.
_DIGITS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789abcdefghijklmnopqrstuv")


def url_key(url: str) -> int:
    """The 64-bit key of a URL. Two of a million URLs share one with a chance of 1 to 40 million."""
    return int.from_bytes(blake2b(url.encode(), digest_size=8).digest(), "big", signed=True)


def payload_key(digest: str | None) -> int | None:
    """The key of a digest as records write it; None when there is none or it is no base32."""
    value = (digest or "").partition(":")[2][:_LETTERS]
    try:
        return int(value.translate(_DIGITS), 32) if len(value) == _LETTERS else None
    except ValueError:
        return None
