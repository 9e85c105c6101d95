"""FIND: captures by URL and time, their validity, and indexes in the formats of others.

`derive` turns a stored record into a catalog row, the same way for a crawl, an import and a
reindex; `captures` is the catalog in the ledger; `validity` merges captures into intervals;
`memento` reads a capture back; `cdxj` and `parquet` write indexes.
"""
