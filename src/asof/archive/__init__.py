"""An archive: a folder on disk, opened; journal, commit, recovery, import, export, check."""

from asof.archive.archive import OpenArchive as OpenArchive
