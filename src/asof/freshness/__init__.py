"""RETURN: how often pages change, and how old a copy is (Naumann 2011 and CS6200 2019)."""
