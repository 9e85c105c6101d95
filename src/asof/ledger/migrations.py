"""From the schema of every earlier version to that of today, one step after the other.

All steps that a database needs run in one transaction: killed in between, it is what it was. A step
need not leave exactly what its version had, only what the next one reads.
"""

import sqlite3

from asof.ledger.schema import PATTERNS, PUBLIC_HOSTS, TARGETS, payload_key, url_key

# Keys, and payloads that need not be stored twice. What robots.txt had refused after it was queued
# looked like what was never queued.
_KEYS = """
ALTER TABLE crawls ADD COLUMN memory TEXT NOT NULL DEFAULT '';
CREATE TABLE payloads (
  key INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL REFERENCES segments(no),
  offset INTEGER NOT NULL
);
INSERT OR IGNORE INTO payloads
  SELECT payload_key(digest) AS key, segment, offset FROM captures
  WHERE kind = 'response' AND size > 0 AND truncated IS NULL AND key IS NOT NULL ORDER BY at;
ALTER TABLE targets ADD COLUMN key INTEGER;
UPDATE targets SET key = url_key(url);
UPDATE targets SET not_before = 1 WHERE state = 'left_out' AND reason LIKE 'robots.txt%'
"""

_COURSE = "ALTER TABLE crawls ADD COLUMN course TEXT"

# Until then a revisit had the number of its crawl with a minus, what was refused a `not_before` of
# 1, a guess a priority by depth plus 1000, and a place in a plan lay between 0 and 499.
_COLUMNS = f"""
DROP INDEX targets_queue;
ALTER TABLE targets RENAME TO old_targets;
{TARGETS.strip()}
INSERT OR IGNORE INTO targets
  SELECT no, abs(crawl), crawl < 0, key, url, host, state, guess,
    CASE WHEN guess THEN priority - 1000 WHEN placed THEN priority / 499 ELSE priority END,
    depth, hops, via, tries, iif(refused, 0, not_before), refused, reason
  FROM (
    SELECT *, priority >= 1000 AND rtrim(hops, 'R') LIKE '%X' AS guess,
      state = 'left_out' AND (not_before = 1 OR tries > 0) AS refused,
      crawl < 0 OR crawl IN
        (SELECT no FROM crawls WHERE json_extract(course, '$.newcomers') IS NOT NULL) AS placed
    FROM old_targets
  ) ORDER BY no;
DROP TABLE old_targets
"""

# Of captures before, nobody knows whether a cache had them; `asof reindex` finds it out.
_AGE = "ALTER TABLE captures ADD COLUMN age INTEGER"

# What a crawl had learnt of traps was kept at a clean end only: a resumed one learns it again.
_LEARNT = f"{PUBLIC_HOSTS}{PATTERNS.strip()}\nALTER TABLE crawls DROP COLUMN memory"

STEPS = {1: _KEYS, 2: _COURSE, 3: _COLUMNS, 4: _AGE, 5: _LEARNT}
"""SQL that makes a database of a version one of the next; it may call url_key and payload_key."""


def upgrade(db: sqlite3.Connection) -> None:
    """Bring an older database up to the schema, in the open transaction."""
    # The version is asked under the lock: another process may have done it meanwhile.
    for function in (url_key, payload_key):
        db.create_function(function.__name__, 1, function, deterministic=True)
    while (version := version_of(db)) in STEPS:
        run(db, STEPS[version], version + 1)


def run(db: sqlite3.Connection, script: str, version: int) -> None:
    """Run statements, after which the database has this version."""
    for statement in script.split(";\n"):
        db.execute(statement)
    db.execute(f"PRAGMA user_version = {version}")


def version_of(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
