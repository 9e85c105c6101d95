"""The names of an archive's WARC files, and where those lie.

An archive may come from anywhere, its catalog too: what that calls a file is one of the archive's
own, beside the others, or nothing is opened.
"""

import re
from pathlib import Path
from typing import TypeGuard

from asof.errors import ArchiveError

SUFFIXES = (".warc.gz", ".warc.zst", ".warc")
IMPORTED = "import-"
"""What the label of a WARC file that others made begins with: `NNNNNN-import-...`."""
_NAME = re.compile(r"[^/\x00]+\.warc(?:\.gz|\.zst)?")
_LONGEST = 255  # bytes of a name, for most file systems


def is_file_name(name: object) -> TypeGuard[str]:
    """Whether a WARC file can be called so: a bare name, which leads nowhere else."""
    is_bare = isinstance(name, str) and _NAME.fullmatch(name) is not None
    return is_bare and len(str(name).encode("utf-8", "surrogatepass")) <= _LONGEST


def known_name(name: object) -> str:
    """What a catalog, or what was made of one, calls a WARC file, if it can be called so."""
    if is_file_name(name):
        return name
    raise ArchiveError(
        f"The catalog names {str(name)[:200]!r}, which is no WARC file of the archive.",
        hint="Run `asof reindex` to rebuild it from the WARC files.",
    )


def path_of(warc: Path, name: str) -> Path:
    """Where such a file lies: the one way from a name to a path."""
    return warc / known_name(name)
