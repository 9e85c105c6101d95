"""Covers that were saved by name, in `derived/covers/NAME.json`, and how two of them differ.

The first line of a file holds everything but the documents, so that a list of covers need not read
75,000 names of each. What was asked is saved with the answer: it can be asked again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from asof.archive.folder import Folder
from asof.caret import listed, suggestion
from asof.clock import SECOND, Instant
from asof.cover.answer import Figures
from asof.cover.question import Question
from asof.errors import ArchiveError, UsageError
from asof.files import atomic_file, input_file, storage_errors

if TYPE_CHECKING:
    from asof.cover.run import CoverOutcome

# What stands before the URL in the name of an archive's document (of_archive.document_names).
DOCUMENT_NAME = re.compile(r"([0-9]{14})(?:\.[0-9]{6}(?:-[0-9]+)?)?/(.+)", re.DOTALL)
# No separators, nothing hidden: a name cannot lead out of the folder, whoever chose it.
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}")
_FORMAT = 2
# Of the first line: a relation (twice) and a filter have 10,000 characters, of 12 bytes at most.
_HEAD = 1 << 19
_MOST = 1 << 62  # of any count
_LAST: Instant = 253_402_300_800 * SECOND - 1  # of year 9999
_KNOWN = {"text": ("main", "full"), "terms": ("words", "characters"), "solver": ("auto", "seed")}
_KINDS: dict[object, type] = {"str": str, "int": int, "float": float, "bool": bool}


@dataclass(frozen=True, slots=True)
class CoverFacts:
    """What there is to say of a saved cover without its documents.

    `numbers`: the ids of its documents were whole numbers, and go back as such. `complete`: all
    pairs were compared. `at` is when it was saved, None where that was not told; `question` what
    was asked, None where it cannot be asked again.
    """

    name: str
    relation: str
    documents: int
    kept: int
    size: int
    size_kept: int
    edges: int
    components: int
    optimal: bool
    gap: int
    complete: bool
    seconds: float
    numbers: bool
    at: Instant | None
    question: Question | None


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

    facts: CoverFacts
    kept: tuple[str, ...]
    dropped: tuple[Gone, ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """A document that one of two covers keeps and the other does not.

    `by` is what covers it where it was dropped; None where it was not there at all.
    """

    document: str
    other: Literal["dropped", "absent"]
    by: str | None


@dataclass(frozen=True, slots=True)
class CoverDifference:
    """From cover `a` to cover `b`: what is kept by one of them only, and how many by both."""

    a: SavedCover
    b: SavedCover
    only_a: tuple[Moved, ...]
    only_b: tuple[Moved, ...]
    both: int


def save_cover(
    folder: Folder,
    name: str,
    outcome: CoverOutcome,
    question: Question | None = None,
    at: Instant | None = None,
) -> Path:
    """Save an outcome; one of that name is replaced. The file is whole or is not there."""
    path = cover_path(folder, name)
    names, told = outcome.collection.names, Figures.of(outcome)
    facts = CoverFacts(
        name, outcome.relation, told.documents, told.kept, told.weight, told.weight_kept,
        told.edges, told.components, told.optimal, told.gap, told.complete, told.seconds,
        outcome.collection.numbers, at, question,
    )  # fmt: skip
    gone = [
        [names[each.document], names[each.by], each.containment, each.jaccard, each.dice]
        for each in outcome.dropped
    ]
    # In ASCII, so that half a surrogate pair in a name comes back as it was.
    head = json.dumps({"format": _FORMAT, **asdict(facts)})[:-1]
    body = f'"names": {json.dumps(outcome.kept)},\n"dropped": {json.dumps(gone)}'
    with storage_errors(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as file:
        file.write(f"{head},\n{body}}}\n".encode("ascii"))
    return path


def load_cover(folder: Folder, name: str) -> SavedCover:
    """A cover by its name; an error that says which ones there are, if there is none of it."""
    with _read(folder, name) as path, input_file(path) as file:
        return _cover(name, json.loads(file.read()))


def cover_facts(folder: Folder, name: str) -> CoverFacts:
    """What is said of a cover, without reading its documents."""
    with _read(folder, name) as path:
        with input_file(path) as file:
            line = file.readline(_HEAD)
        return _facts(name, json.loads(line.rstrip().removesuffix(b",") + b"}"))


def delete_cover(folder: Folder, name: str) -> None:
    """Delete a saved cover; no document is touched."""
    with _read(folder, name) as path:
        path.unlink()


@contextmanager
def _read(folder: Folder, name: str) -> Iterator[Path]:
    """The file of a cover; what goes wrong with it is told as an error of the archive's."""
    path = cover_path(folder, name)
    try:
        yield path
    except FileNotFoundError:
        names = cover_names(folder)
        there = f"There are {listed(names)}." if names else "None was saved yet: see --save."
        hint = suggestion(name, names) or there
        raise UsageError(f"There is no cover {name!r}.", hint=hint) from None
    except OSError as error:
        what = f"{path} cannot be read ({error.strerror})."
        raise ArchiveError(what, hint="Check its rights.") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ArchiveError(f"{path} is damaged.", hint="Run `asof cover --save` again.") from error


def cover_names(folder: Folder) -> list[str]:
    found = (path.stem for path in _place(folder).glob("*.json") if path.is_file())
    return sorted(name for name in found if _NAME.fullmatch(name))


def saved_covers(folder: Folder) -> list[tuple[str, CoverFacts | None]]:
    """All covers by name, the latest first; None for one that cannot be read."""
    found: list[tuple[str, CoverFacts | None]] = []
    for name in cover_names(folder):
        facts = None
        with suppress(ArchiveError, UsageError):  # damaged, or removed at this moment
            facts = cover_facts(folder, name)
        found.append((name, facts))
    return sorted(found, key=lambda one: -(one[1].at or 0) if one[1] is not None else 1)


def asked_again(folder: Folder, name: str) -> Question:
    """What to ask to have a saved cover made once more, of the documents as they are now."""
    facts = cover_facts(folder, name)
    if facts.question is None:
        raise UsageError(
            f"What the cover {name!r} was asked for is not recorded.",
            hint="Write its relation: `asof cover --list` shows it.",
        )
    return facts.question


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


def cover_path(folder: Folder, name: str) -> Path:
    return _place(folder) / f"{check_name(name)}.json"


def _place(folder: Folder) -> Path:
    return folder.root / "derived" / "covers"


# -- what is read back, whoever wrote it -----------------------------------------------------------


def _cover(name: str, given: Any) -> SavedCover:  # noqa: ANN401, whatever the file holds
    facts = _facts(name, given)
    if not isinstance(given["names"], list):
        raise TypeError("no list")
    kept = tuple(_as(str, one) for one in given["names"])
    dropped = tuple(
        Gone(_as(str, one), _as(str, by), *(_as(float, each, 1) for each in measures))
        for one, by, *measures in given["dropped"]
    )
    if len(kept) != facts.kept or len(kept) + len(dropped) != facts.documents:
        raise ValueError("not all documents are there")
    if facts.numbers:
        for one in (*kept, *(name for gone in dropped for name in (gone.document, gone.by))):
            int(one)
    return SavedCover(facts, kept, dropped)


def _facts(name: str, given: Any) -> CoverFacts:  # noqa: ANN401, whatever the file holds
    if given["format"] != _FORMAT:
        raise ValueError("of another version")
    values = {field.name: given[field.name] for field in fields(CoverFacts)}
    for field in fields(CoverFacts):
        if field.type in _KINDS:
            _as(_KINDS[field.type], values[field.name])
    _as(int, 0 if values["at"] is None else values["at"], _LAST)
    if values["kept"] > values["documents"] or values["size_kept"] > values["size"]:
        raise ValueError("a part that is more than the whole")
    asked = values["question"]
    told = {"name": name, "question": None if asked is None else _question(asked)}
    return CoverFacts(**{**values, **told})


def _question(given: Any) -> Question:  # noqa: ANN401, whatever the file holds
    values = {field.name: given[field.name] for field in fields(Question)}
    _as(str, values["relation"])
    _as(float, values["time_limit"])
    for key in ("table", "where", "prefer"):
        _as(str, "" if values[key] is None else values[key])
    if not _as(int, values["k"]) or any(values[key] not in known for key, known in _KNOWN.items()):
        raise ValueError("nothing that could be asked")
    if (least := values["at_least"]) is not None:
        count, attribute = least
        values["at_least"] = (_as(int, count), _as(str, attribute))
    return Question(**values)


def _as(kind: type, given: object, most: float = _MOST) -> Any:  # noqa: ANN401, of that kind
    """What was given, if it is of that kind, and a number from 0 to the most."""
    if type(given) is not kind and not (kind is float and type(given) is int):
        raise TypeError(f"no {kind.__name__}")
    if isinstance(given, int | float) and not 0 <= given <= most:  # nor nan
        raise ValueError("out of range")
    return float(given) if kind is float else given  # type: ignore[arg-type]
