"""Of `asof cover`: options that do not go together, and places that cannot be written to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import click
from click.core import ParameterSource

from asof.archive.folder import Folder
from asof.cover.kept.saved_covers import check_name
from asof.errors import UsageError

# What --again takes from the saved answer: the options that say what is asked.
_ASKED = {
    "table": "--from", "where": "--where", "k": "-k", "terms": "--terms", "which": "--text",
    "at_least": "--at-least", "prefer": "--prefer", "solver": "--solver",
    "time_limit": "--time-limit",
}  # fmt: skip
_WRITTEN = {"name": "--save", "csv_file": "--csv", "page_file": "--html"}


def check_alone(
    relation: str | None,
    again: str | None,
    names: tuple[str, str] | None,
    *,
    listing: bool,
    explain: bool,
    foretell: bool,
) -> None:
    """One thing is asked, and with what runs nothing no option that only a run heeds."""
    if [relation is not None, names is not None, again is not None, listing].count(True) != 1:
        raise UsageError(
            "Write only one of these: a relation or its name, --again, --diff, --list.",
            hint="`asof cover --help` has some.",
        )
    if listing or names is not None:
        what = "--list" if listing else "--diff"
        _refuse({**_ASKED, **_WRITTEN}, f"{what} runs nothing that {{}} could be for.")
    if explain or foretell:
        what = "--explain" if explain else "--estimate"
        _refuse(_WRITTEN, f"{what} runs nothing that {{}} could be for.")
    if again is not None:
        _refuse(_ASKED, "--again asks what was asked; {} would change it.")


def _refuse(options: Mapping[str, str], why: str) -> None:
    """An error if one of the options, by name and as it is written, was given."""
    context = click.get_current_context()
    for option, written in options.items():
        if context.get_parameter_source(option) is ParameterSource.COMMANDLINE:
            raise UsageError(why.format(written), hint=f"Leave {written} out.")


def check_engine(engine: str, for_spark: tuple[object, ...], local: tuple[object, ...]) -> None:
    """Options that only one of both engines heeds."""
    if engine == "local" and any(for_spark):
        raise UsageError("--master and --to are for Spark.", hint="Add --engine spark.")
    if engine == "spark" and any(local):
        raise UsageError(
            "--save, --name, --html, --estimate, --explain and --memory are for the local engine.",
            hint="Leave them out, or --engine spark.",
        )


def check_places(folder: Path, name: str | None, table: str | None, *files: Path | None) -> None:
    """What is to be written can be, and over nothing that is needed: before the work, not after."""
    if name is not None:
        check_name(name)
        Folder(folder).require()
    for out in files:
        if out is not None and not out.absolute().parent.is_dir():
            raise UsageError(f"There is no folder for {out}.", hint="Make it, or name another.")
    taken = {Path(table).resolve()} if table is not None else set()
    for out in files:
        if out is not None and (out.is_file() or not out.exists()):
            if out.resolve() in taken:
                raise UsageError(f"{out} is named twice.", hint="Write to a file of its own.")
            taken.add(out.resolve())


def least_of(wishes: tuple[str, ...]) -> tuple[int, str] | None:
    """What --at-least says: how many, and of each value of what."""
    if not wishes:
        return None
    if len(wishes) > 1:
        raise UsageError("--at-least stands there twice.", hint="One is all that can be wished.")
    at_least = wishes[0]
    found = re.fullmatch(r"\s*(\d{1,9})\s+per\s+(\S+)\s*", at_least)
    if found is None or not int(found[1]):
        raise UsageError(
            f"--at-least {at_least!r} is not understood.", hint="Write '2 per hostname'."
        )
    return int(found[1]), found[2]
