"""Of `asof cover`: relations by their names, and whether what is asked can be asked at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from asof.archive.folder import Folder
from asof.cli.output import say
from asof.config import FILE, is_relation_name, named_relations
from asof.cover.kept.named_relations import check_relation_name, save_relation
from asof.errors import UsageError

if TYPE_CHECKING:
    from asof.cover.language.columns import Column
    from asof.cover.language.syntax import Relation
    from asof.cover.options import CoverOptions


@dataclass(frozen=True, slots=True)
class Rule:
    """A relation as text, and the name and file that it has been found by, if it has."""

    text: str
    name: str | None = None
    file: Path | None = None

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Errors of the relation say where it stands: its columns are those of that line."""
        try:
            yield
        except UsageError as error:
            if self.name is None:
                raise
            what = f"The relation {self.name} of {self.file}:\n{error.what}"
            raise UsageError(what, hint=error.hint) from error


def rule_of(folder: Path, text: str) -> Rule:
    """The relation that is meant: by its name in the archive's asof.toml, or as it is written.

    No relation is a single name, so a single name is never one.
    """
    if not is_relation_name(text):
        return Rule(text)
    known = named_relations(folder)
    if text in known:
        return Rule(known[text], text, folder / FILE)
    from asof.cover.language.caret import listed, suggestion

    there = f"There are {listed(known)}." if known else ""
    how = "Write a relation such as 'C(d1,d2) >= 0.7'; --name NAME gives it a name."
    raise UsageError(
        f"{folder / FILE} has no relation {text!r}.", hint=suggestion(text, known) or there or how
    )


def name_relation(folder: Path, name: str, rule: Rule) -> None:
    """Give a relation, which has been found good, a name in the archive's asof.toml."""
    check_relation_name(name)
    before = named_relations(folder).get(name)
    path = save_relation(folder, name, rule.text)
    was = f" (it was: {before})" if before not in (None, rule.text) else ""
    say(f"{path}: {name} is a relation now: `asof cover {name}`{was}")


# -- before documents are read ---------------------------------------------------------------------


def checked(
    rule: Rule,
    where: str | None,
    options: CoverOptions,
    columns: Mapping[str, Column] | None,
    qualities: Iterable[str] = (),
) -> Relation:
    """The relation, if all that is asked can be: its parts are parsed, and of kinds that fit.

    Without `columns`, as far as can be seen without them. `qualities` can be preferred, too.
    """
    # Here, for all of this needs numpy, which takes longer to load than the rest.
    from asof.cover.language.analyse import parse_relation
    from asof.cover.language.kinds import type_check
    from asof.cover.language.parse import parse_filter
    from asof.cover.options import check_options

    with rule.blamed():
        relation = parse_relation(rule.text)
        if columns is not None:
            relation = type_check(relation, columns)
    if where is not None:
        chosen = parse_filter(where)
        if columns is not None:
            type_check(chosen, columns)
    if columns is not None:
        check_options(columns, options, qualities)
    return relation


def columns_of_archive(folder: Path) -> Mapping[str, Column] | None:
    """What documents of an archive are known by, and of which kind; None if there is no archive.

    They are the same for all archives, so none is opened.
    """
    from asof.cover.documents.archive_attributes import ARCHIVE_COLUMNS

    return ARCHIVE_COLUMNS if Folder(folder).exists() else None
