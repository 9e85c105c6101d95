"""REDUCE: the smallest set of documents that covers all others by the user's rule (Paudel 2013)."""
