"""WHICH: what belongs to a crawl, decided by rules that give their reason."""
