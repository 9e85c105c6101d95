"""asof: a web archive that can say what a site looked like as of a moment.

from asof import Archive

with Archive.open("archive") as archive:
    page = archive.as_of("https://example.org/", "2026-03-01")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asof.archive import Archive
    from asof.catalog.memento import Memento
    from asof.model import Capture, Crawl, Evidence, Proof, Validity

__all__ = ["Archive", "Capture", "Crawl", "Evidence", "Memento", "Proof", "Validity"]

_HOMES = {
    "Archive": "asof.archive",
    "Memento": "asof.catalog.memento",
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that `import asof` costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'asof' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES.get(name, "asof.model")), name)
