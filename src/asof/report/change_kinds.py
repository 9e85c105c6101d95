"""The categories of changes in five kinds, as pictures have them: a colour each."""

from enum import StrEnum

from asof.change.categories import Category


class Kind(StrEnum):
    """What a change comes to, the least first."""

    UNKNOWN = "unlooked"  # nobody has compared
    SILENT = "silent"
    NOISE = "noise"
    MINOR = "minor"
    CONTENT = "content"
    GONE = "gone"


_KINDS = {
    Category.UNCHANGED: Kind.NOISE,
    Category.INSIGNIFICANT: Kind.NOISE,
    Category.MINOR: Kind.MINOR,
    Category.MAJOR: Kind.CONTENT,
    Category.STRUCTURE: Kind.CONTENT,
    Category.APPEARED: Kind.CONTENT,
    Category.MOVED: Kind.GONE,
    Category.REMOVED: Kind.GONE,
    Category.UNAVAILABLE: Kind.SILENT,
}
# How the key of a picture says it.
TOLD = {
    Kind.NOISE: "only noise changed",
    Kind.MINOR: "a minor change",
    Kind.CONTENT: "new content or links",
    Kind.GONE: "gone, or moved",
    Kind.SILENT: "the server did not say",
    Kind.UNKNOWN: "not compared yet",
}
_RANKS = {kind: rank for rank, kind in enumerate(Kind)}


def kind_of(category: Category | None) -> Kind:
    return Kind.UNKNOWN if category is None else _KINDS[category]


def graver(one: Kind, other: Kind) -> Kind:
    """The one that comes to more."""
    return one if _RANKS[one] >= _RANKS[other] else other
