"""Covers that were saved by name, in `derived/covers/NAME.json`, and how two of them differ."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from asof.archive.folder import Folder, storage_errors
from asof.errors import ArchiveError, UsageError
from asof.warc.whole import whole_file

if TYPE_CHECKING:
    from asof.cover.run import Outcome

# No separators, nothing hidden: a name cannot lead out of the folder, whoever chose it.
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}")
_FORMAT = 1

Fate = Literal["kept", "dropped", "absent"]


@dataclass(frozen=True, slots=True)
class Gone:
    """A document that was dropped, the one that covers it, and how far."""

    document: str
    by: str
    containment: float
    jaccard: float
    dice: float


@dataclass(frozen=True, slots=True)
class SavedCover:
    """An outcome as it was saved: documents by their names, in the order of the collection."""

    name: str
    relation: str
    kept: tuple[str, ...]
    dropped: tuple[Gone, ...]
    edges: int
    optimal: bool
    gap: int
    seconds: float

    @property
    def documents(self) -> int:
        """How many there were."""
        return len(self.kept) + len(self.dropped)


@dataclass(frozen=True, slots=True)
class Moved:
    """A document that one of two covers keeps and the other does not.

    `by` is what covers it where it was dropped; None where it was not there at all.
    """

    document: str
    other: Fate
    by: str | None


@dataclass(frozen=True, slots=True)
class CoverDifference:
    """From cover `a` to cover `b`: what is kept by one of them only, and how many by both."""

    a: SavedCover
    b: SavedCover
    only_a: tuple[Moved, ...]
    only_b: tuple[Moved, ...]
    both: int


def save_cover(folder: Folder, name: str, outcome: Outcome) -> Path:
    """Save an outcome; one of that name is replaced. The file is whole or is not there."""
    path = _path(folder, name)
    names = outcome.collection.names
    gone = [
        [names[each.document], names[each.by], each.containment, each.jaccard, each.dice]
        for each in outcome.dropped
    ]
    saved = {
        "format": _FORMAT,
        "relation": outcome.relation,
        "edges": outcome.edges,
        "optimal": outcome.optimal,
        "gap": outcome.gap,
        "seconds": outcome.seconds,
        "kept": outcome.kept,
        "dropped": gone,
    }
    with storage_errors(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(json.dumps(saved).encode("ascii"))
    return path


def load_cover(folder: Folder, name: str) -> SavedCover:
    """A cover by its name; an error that says which ones there are, if there is none of it."""
    path = _path(folder, name)
    try:
        given = json.loads(path.read_bytes())
        return _read(name, given)
    except FileNotFoundError:
        raise _unknown(folder, name) from None
    except OSError as error:
        raise ArchiveError(
            f"{path} cannot be read ({error.strerror}).", hint="Check its rights."
        ) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ArchiveError(f"{path} is damaged.", hint="Run `asof cover --save` again.") from error


def cover_names(folder: Folder) -> list[str]:
    """The names of all covers, in order."""
    found = (path.stem for path in _place(folder).glob("*.json") if path.is_file())
    return sorted(name for name in found if _NAME.fullmatch(name))


def diff_covers(a: SavedCover, b: SavedCover) -> CoverDifference:
    """What is kept by one of two covers only, each in the order of its own collection."""
    in_a, in_b = frozenset(a.kept), frozenset(b.kept)
    return CoverDifference(a, b, _moved(a, b, in_b), _moved(b, a, in_a), len(in_a & in_b))


def _moved(here: SavedCover, there: SavedCover, kept_there: frozenset[str]) -> tuple[Moved, ...]:
    covered = {gone.document: gone.by for gone in there.dropped}
    return tuple(
        Moved(name, "dropped" if name in covered else "absent", covered.get(name))
        for name in here.kept
        if name not in kept_there
    )


def check_name(name: str) -> str:
    """The same name, if it can be one: before the work, not after it."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name[:80]!r} cannot be the name of a cover.",
            hint="Use up to 80 letters (A to Z), digits, '.', '_' and '-', with no '.' in front.",
        )
    return name


def _place(folder: Folder) -> Path:
    return folder.root / "derived" / "covers"


def _path(folder: Folder, name: str) -> Path:
    return _place(folder) / f"{check_name(name)}.json"


def _unknown(folder: Folder, name: str) -> UsageError:
    from asof.cover.pointer import listed, suggestion

    names = cover_names(folder)
    there = f"There are {listed(names)}." if names else "None was saved yet: see --save."
    return UsageError(f"There is no cover {name!r}.", hint=suggestion(name, names) or there)


def _read(name: str, given: Any) -> SavedCover:  # noqa: ANN401, whatever the file holds
    if given["format"] != _FORMAT:
        raise ValueError("of another version")
    if not isinstance(given["kept"], list):
        raise TypeError("no list")
    kept = tuple(_text(one) for one in given["kept"])
    dropped = tuple(
        Gone(_text(one), _text(by), float(containment), float(jaccard), float(dice))
        for one, by, containment, jaccard, dice in given["dropped"]
    )
    return SavedCover(
        name, _text(given["relation"]), kept, dropped,
        int(given["edges"]), bool(given["optimal"]), int(given["gap"]), float(given["seconds"]),
    )  # fmt: skip


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise TypeError("no text")
    return given
