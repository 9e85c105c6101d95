"""KEEP: records built from exchanges, written to WARC files, and read back from any of them."""
