"""SHOW: turn stored documents into documents that work inside the archive.

Rewriting is pure, and replaces nothing but references: all other bytes stay as they were captured,
in whatever encoding they are.
"""
