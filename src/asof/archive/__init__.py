"""Archive: a folder on disk, opened; its stages handed to one another."""

from asof.archive.archive import Archive, Moment

__all__ = ["Archive", "Moment"]
