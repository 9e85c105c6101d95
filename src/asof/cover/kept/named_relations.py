"""Giving a relation a name: a line in the table `[relations]` of an archive's asof.toml.

The file is its user's: every other line of it stays as it is, and so do its rights and the comment
behind a relation that is replaced. What tomlkit makes of it is read as TOML by Python, and it is
written only if it says what it said before, and the new relation.
"""

import re
import stat
import tomllib
from pathlib import Path

from asof.config import FILE, RELATIONS, is_relation_name, named_relations
from asof.errors import ConfigError, UsageError
from asof.files import atomic_file


def check_relation_name(name: str) -> str:
    """The same name, if it can be one."""
    if not is_relation_name(name):
        raise UsageError(
            f"{name[:80]!r} cannot be the name of a relation.",
            hint="Use up to 80 letters (A to Z), digits, '_' and '-', a letter in front.",
        )
    return name


def save_relation(folder: Path, name: str, relation: str) -> Path:
    """Give a relation a name in asof.toml of an archive; one of that name is replaced."""
    check_relation_name(name)
    path = folder / FILE
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}.", hint="Make it, or name another with -a.")
    if named_relations(folder).get(name) == relation:  # reads the file, and tells what is wrong
        return path
    before = path.read_bytes().decode("utf-8") if path.is_file() else ""  # line ends as they are
    try:
        data = _with(before, name, relation).encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("The relation has half a character in it.", hint="Mend it.") from error
    except ValueError:  # tomlkit stumbles over what Python's reader takes
        data = b""
    if not _says(data, before, name, relation):
        raise ConfigError(
            f"{path} has its relations in a form that is not changed here.",
            hint=f"Write it there yourself: {name} = {relation!r}",
        )
    # A proxy's password may stand in it: it is to be seen by no more people than before.
    mode = stat.S_IMODE(path.stat().st_mode) if path.is_file() else None
    with atomic_file(path, mode=mode) as file:
        file.write(data)
    return path


def _says(data: bytes, before: str, name: str, relation: str) -> bool:
    """Whether a text says what the one before says, and the relation."""
    meant = tomllib.loads(before)
    meant.setdefault(RELATIONS, {})[name] = relation
    try:
        return tomllib.loads(data.decode("utf-8")) == meant
    except tomllib.TOMLDecodeError:
        return False


def _with(text: str, name: str, relation: str) -> str:
    """The text with a line of the table put in, or another one in its place."""
    import tomlkit  # 27 ms, for a command that seldom needs it

    try:  # without escapes where that is possible, as relations have quotes
        value = tomlkit.string(relation, literal=True)
    except ValueError:
        value = tomlkit.string(relation)
    document = tomlkit.parse(text)
    if RELATIONS not in document:
        document[RELATIONS] = tomlkit.table()
    document[RELATIONS][name] = value
    written = document.as_string()
    crlf = text.partition("\n")[0].endswith("\r")
    return re.sub(r"(?<!\r)\n", "\r\n", written) if crlf else written
