"""asof: a web archive that can say what a site looked like as of a moment.

from asof import Archive

with Archive.open("archive") as archive:
    page = archive.as_of("https://example.org/", "2026-03-01")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asof.api import Archive
    from asof.catalog.memento import Memento
    from asof.change.categories import Category, Change
    from asof.change.comparison import Comparison
    from asof.change.near import Near
    from asof.change.similar import NearDuplicates
    from asof.coherence.quality import Quality
    from asof.cover.answer import CoverAnswer
    from asof.model import Capture, Crawl, Evidence, Proof, Validity
    from asof.text.document import Document

_HOMES = {
    "Archive": "asof.api",
    "Capture": "asof.model",
    "Category": "asof.change.categories",
    "Change": "asof.change.categories",
    "Comparison": "asof.change.comparison",
    "CoverAnswer": "asof.cover.answer",
    "Crawl": "asof.model",
    "Document": "asof.text.document",
    "Evidence": "asof.model",
    "Memento": "asof.catalog.memento",
    "Near": "asof.change.near",
    "NearDuplicates": "asof.change.similar",
    "Proof": "asof.model",
    "Quality": "asof.coherence.quality",
    "Validity": "asof.model",
}
__all__ = [
    "Archive",
    "Capture",
    "Category",
    "Change",
    "Comparison",
    "CoverAnswer",
    "Crawl",
    "Document",
    "Evidence",
    "Memento",
    "Near",
    "NearDuplicates",
    "Proof",
    "Quality",
    "Validity",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that `import asof` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'asof' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
