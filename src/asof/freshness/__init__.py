"""RETURN: how often pages change, and how old a copy is (seeds 002 and 003)."""
