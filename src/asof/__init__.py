"""asof: a web archive that can say what a site looked like as of a moment.

from asof import Archive

with Archive.open("archive") as archive:
    page = archive.as_of("https://example.org/", "2026-03-01")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asof.api import Archive, capture, import_files, index
    from asof.catalog.memento import Memento
    from asof.change.categories import Category, Change
    from asof.change.comparison import Comparison
    from asof.change.near import Near
    from asof.change.similar import NearDuplicates
    from asof.coherence.quality import Quality
    from asof.cover.answer import CoverAnswer
    from asof.model import Capture, Crawl, Evidence, Proof, Validity
    from asof.search.question import Answer, Hit
    from asof.text.document import Document

_HOMES = {
    "asof.api": ("Archive", "capture", "import_files", "index"),
    "asof.catalog.memento": ("Memento",),
    "asof.change.categories": ("Category", "Change"),
    "asof.change.comparison": ("Comparison",),
    "asof.change.near": ("Near",),
    "asof.change.similar": ("NearDuplicates",),
    "asof.coherence.quality": ("Quality",),
    "asof.cover.answer": ("CoverAnswer",),
    "asof.model": ("Capture", "Crawl", "Evidence", "Proof", "Validity"),
    "asof.search.question": ("Answer", "Hit"),
    "asof.text.document": ("Document",),
}
__all__ = [
    "Answer", "Archive", "Capture", "Category", "Change", "Comparison", "CoverAnswer", "Crawl",
    "Document", "Evidence", "Hit", "Memento", "Near", "NearDuplicates", "Proof", "Quality",
    "Validity", "capture", "import_files", "index",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that `import asof` costs nothing."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'asof' has no attribute {name!r}")
