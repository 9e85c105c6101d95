"""KEEP: records built from exchanges, written to WARC files, and read back from any of them.

build    Exchange, Failure -> Record          write     Record -> file, all or nothing
reader   file -> StoredRecord, Damage         verify    StoredRecord -> problems
header, records, members, frames, runs        the parts that the reader is made of
"""
