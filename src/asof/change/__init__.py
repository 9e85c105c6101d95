"""COMPARE: how alike documents are, and what changed between two captures of one."""
