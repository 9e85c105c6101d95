"""The error tree. Every error says what happened, where, and ends with what to do next.

    AsofError
    ├── UsageError        a bad argument, URL, moment or setting        -> exit code 2
    │   └── ConfigError   asof.toml or an option has an unknown key or a bad value
    ├── ArchiveError      the folder is not an archive, is locked, or is of another version -> 2
    ├── InputError        a foreign file cannot be read at all          -> 2
    ├── NotCaptured       nothing in the archive answers the question   -> 1
    ├── DamageError       a stored record cannot be read back           -> 1
    └── StorageError      the disk is full or failing; state is kept, work resumes -> 1

Expected failures of the web (a dead page, a refused connection) are values, not errors: see
`asof.model.Failure`.
"""

import json


class AsofError(Exception):
    """Base of everything asof raises on purpose; `str()` is one sentence for a person."""

    exit_code = 1

    def __init__(self, what: str, *, hint: str = "") -> None:
        self.what = what
        self.hint = hint
        apart = "" if hint.startswith("\n") else " "  # a hint on a line of its own
        super().__init__(what if not hint else f"{what}{apart}{hint}")

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process borders (parallel scans), keyword arguments and all."""
        return _revive, (type(self), self.args, self.__dict__)


def _revive(kind: type[AsofError], args: tuple[object, ...], state: dict[str, object]) -> AsofError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class UsageError(AsofError):
    """What the user asked for makes no sense as written."""

    exit_code = 2


class ConfigError(UsageError):
    """asof.toml, the environment or an option holds an unknown key or a bad value.

    `setting` is the one that a caller gave a bad value, by its name in asof.toml.
    """

    def __init__(self, what: str, *, hint: str = "", setting: str = "") -> None:
        self.setting = setting
        super().__init__(what, hint=hint)


class ArchiveError(AsofError):
    """The folder is not an archive, is in use by another writer, or is of another version."""

    exit_code = 2


class InputError(AsofError):
    """A foreign file is missing, unreadable, or of no known format."""

    exit_code = 2


class NotCaptured(AsofError):
    """The archive holds nothing that answers the question."""


class DamageError(AsofError):
    """A stored record cannot be read back; carries the file and the offset."""

    def __init__(self, what: str, *, file: str, offset: int, hint: str = "") -> None:
        self.file = file
        self.offset = offset
        super().__init__(f"{file} at offset {offset}: {what.rstrip('.')}.", hint=hint)


class StorageError(AsofError):
    """The disk is full or failing. Everything committed is safe and the work can be resumed."""


def why_no_json(error: Exception) -> str:
    """That a text is not JSON, and where, for those who do not know its grammar."""
    why = str(error)
    if isinstance(error, json.JSONDecodeError):
        why = f"line {error.lineno}, " if "\n" in error.doc else ""
        why += f"column {error.colno}"
    elif isinstance(error, UnicodeDecodeError | RecursionError):
        why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else "it is too deep"
    return f"not JSON ({why})"


def missing_extra(purpose: str, package: str, extra: str) -> UsageError:
    """That a package is missing which only some need, and how it comes to where asof is."""
    return UsageError(
        f"{purpose} needs {package}, which is not installed.",
        hint=f"Install it beside asof: `pip install {package}`, or `pipx inject asof {package}`; "
        f"the extra [{extra}] brings it.",
    )
